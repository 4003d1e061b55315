/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/hooks.h"

#include "base/ini.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 1 << 20, /* bytes of a hook's output that are kept; more is read and dropped */
    ARGS_MAX = 8,
};

/* One run of a hook. */
struct run {
    const struct repo *repo;
    const char *hook;           /* "pre-commit" */
    const char *action;         /* "Commit": what is blocked; NULL for post- hooks */
    const char *args[ARGS_MAX]; /* behind the repository's path; ended by NULL */
    struct str input;
    struct buf *output; /* where standard output is kept; NULL: dropped */
};

static const char *hook_path(const struct repo *repo, const char *hook, struct arena *arena)
{
    return arena_printf(arena, "%s/hooks/%s", repo->path, hook).p;
}

/* *PATH: the file to run; NULL where there is none. A link that leads nowhere is a mistake that
 * must not go unnoticed. */
static struct err *find_hook(const char **path, const struct repo *repo, const char *hook,
                             struct arena *arena)
{
    struct stat info;
    *path = hook_path(repo, hook, arena);
    if (stat(*path, &info) == 0 && S_ISREG(info.st_mode))
        return NULL;
    if (lstat(*path, &info) == 0 && S_ISLNK(info.st_mode))
        return err_make(E_REPOS_HOOK_FAILURE, "Failed to run '%s' hook; broken symlink", *path);
    *path = NULL;
    return NULL;
}

bool hook_exists(const struct repo *repo, const char *hook)
{
    AUTO_ARENA(arena);
    const char *path;
    struct err *err = find_hook(&path, repo, hook, arena);
    bool exists = path || err;
    err_free(err);
    return exists;
}

/* The environment that conf/hooks-env gives: the hook's own section, else [default]. */
static struct err *hook_environment(char ***out, const struct repo *repo, const char *hook,
                                    struct arena *arena)
{
    struct ini ini;
    TRY(ini_read(&ini, arena_printf(arena, "%s/conf/hooks-env", repo->path).p, true,
                 INI_CASE_SENSITIVE, arena));
    const struct ini_section *section = ini_section(&ini, str_of(hook));
    if (!section)
        section = ini_section(&ini, S("default"));
    size_t n = section ? section->count : 0;
    char **env = arena_array(arena, n + 1, sizeof *env);
    for (size_t i = 0; i < n; i++) {
        struct str line = arena_printf(arena, "%.*s=%.*s", STR(section->options[i].key),
                                       STR(section->options[i].value));
        env[i] = arena_cstr(arena, line);
    }
    env[n] = NULL;
    *out = env;
    return NULL;
}

/* A descriptor from which INPUT can be read: a file without a name, so that the hook may read it
 * when and as often as it likes. */
static struct err *input_fd(int *fd, struct str input)
{
    *fd = input.n ? open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                  : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return err_errno(errno, "Can't set up a hook's standard input");
    while (input.n) {
        ssize_t put = write(*fd, input.p, input.n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            struct err *err = err_errno(errno, "Can't write a hook's standard input");
            close(*fd);
            return err;
        }
        input = str_skip(input, (size_t)put);
    }
    lseek(*fd, 0, SEEK_SET);
    return NULL;
}

static int spawn(pid_t *pid, const char *path, char *const *argv, char *const *env, int in, int out,
                 int err_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes,
                               &none); /* the server's threads block signals; a hook must not */
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(pid, path, &actions, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Read one pipe's next piece; false at its end. */
static bool drain(int fd, struct buf *to)
{
    char piece[4096];
    ssize_t got;
    do
        got = read(fd, piece, sizeof piece);
    while (got < 0 && errno == EINTR);
    if (got > 0 && to && to->n < OUTPUT_MAX)
        buf_add(to, piece, (size_t)got);
    return got > 0;
}

/* Read both pipes to their ends. */
static void collect(int out_fd, struct buf *out, int err_fd, struct buf *errors)
{
    struct pollfd fds[2] = {{.fd = err_fd, .events = POLLIN}, {.fd = out_fd, .events = POLLIN}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        if (fds[0].fd >= 0 && fds[0].revents && !drain(err_fd, errors))
            fds[0].fd = -1;
        if (fds[1].fd >= 0 && fds[1].revents && !drain(out_fd, out))
            fds[1].fd = -1;
    }
}

/* Valid UTF-8 as it is; other bytes as ?\NNN. */
static struct str shown_output(const struct buf *errors, struct arena *arena)
{
    struct str text = buf_view(errors);
    if (utf8_is_valid(text))
        return text;
    AUTO_BUF(shown);
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x80)
            buf_char(&shown, text.p[i]);
        else
            buf_printf(&shown, "?\\%03u", c);
    }
    return arena_str(arena, buf_view(&shown));
}

static struct err *judge(const struct run *run, int status, const struct buf *errors,
                         struct arena *arena)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    struct str output = shown_output(errors, arena);
    if (!WIFEXITED(status))
        return err_make(E_REPOS_HOOK_FAILURE,
                        "'%s' hook failed (did not exit cleanly: apr_exit_why_e was %d, exitcode "
                        "was %d).  %.*s",
                        run->hook, WCOREDUMP(status) ? 6 : 2, WTERMSIG(status), STR(output));
    struct str tail =
        output.n ? arena_printf(arena, " with output:\n%.*s", STR(output)) : S(" with no output.");
    if (run->action)
        return err_make(E_REPOS_HOOK_FAILURE, "%s blocked by %s hook (exit code %d)%.*s",
                        run->action, run->hook, WEXITSTATUS(status), STR(tail));
    return err_make(E_REPOS_HOOK_FAILURE, "%s hook failed (exit code %d)%.*s", run->hook,
                    WEXITSTATUS(status), STR(tail));
}

static struct err *run_in(const struct run *run, const char *path, char *const *env, int in,
                          struct arena *arena)
{
    char *argv[ARGS_MAX + 2] = {(char *)path, run->repo->path};
    for (int i = 0; i < ARGS_MAX && run->args[i]; i++)
        argv[2 + i] = (char *)run->args[i];
    int out_pipe[2], err_pipe[2], status;
    AUTO_BUF(errors);
    pid_t pid;
    if (pipe2(out_pipe, O_CLOEXEC) != 0)
        return err_errno(errno, "Can't create pipe for hook '%s'", path);
    if (pipe2(err_pipe, O_CLOEXEC) != 0) {
        close(out_pipe[0]);
        close(out_pipe[1]);
        return err_errno(errno, "Can't create pipe for hook '%s'", path);
    }
    int failed = spawn(&pid, path, argv, env, in, out_pipe[1], err_pipe[1]);
    close(out_pipe[1]);
    close(err_pipe[1]);
    if (!failed)
        collect(out_pipe[0], run->output, err_pipe[0], &errors);
    close(out_pipe[0]);
    close(err_pipe[0]);
    if (failed) /* to users a hook that cannot be run is one that refuses: its path is none of their
                   business */
        return judge(run, W_EXITCODE(255, 0), &errors, arena);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(errno, "Can't wait for hook '%s'", path);
    return judge(run, status, &errors, arena);
}

/* Run the hook if it is there. *THERE may be NULL. */
static struct err *run_hook(bool *there, const struct run *run)
{
    AUTO_ARENA(arena);
    const char *path;
    char **env;
    int in;
    TRY(find_hook(&path, run->repo, run->hook, arena));
    if (there)
        *there = path;
    if (!path)
        return NULL;
    TRY(hook_environment(&env, run->repo, run->hook, arena));
    TRY(input_fd(&in, run->input));
    struct err *err = run_in(run, path, env, in, arena);
    close(in);
    return err;
}

/* ---- the nine ---- */

static const char *number(revnum rev, struct arena *arena)
{
    return arena_printf(arena, "%lld", (long long)rev).p;
}

struct err *hook_start_commit(const struct repo *repo, struct str user, bool client_mergeinfo,
                              struct str txn)
{
    AUTO_ARENA(arena);
    struct run run = {.repo = repo,
                      .hook = "start-commit",
                      .action = "Commit",
                      .args = {arena_cstr(arena, user), client_mergeinfo ? "mergeinfo" : "",
                               arena_cstr(arena, txn)}};
    return run_hook(NULL, &run);
}

/* What is legal in a URI stays, and so does a '%' that is there. */
static void add_token_path(struct buf *out, struct str path, struct arena *arena)
{
    while (path.n) {
        size_t percent = str_find(path, '%');
        struct str part = percent == SIZE_MAX ? path : str_make(path.p, percent);
        buf_str(out, path_uri_encode(part, arena));
        path = str_skip(path, part.n);
        if (path.n) {
            buf_char(out, '%');
            path = str_skip(path, 1);
        }
    }
}

struct err *hook_pre_commit(const struct repo *repo, struct str txn,
                            const struct hook_lock_token *tokens, size_t n)
{
    AUTO_ARENA(arena);
    AUTO_BUF(input);
    if (n)
        buf_cstr(&input, "LOCK-TOKENS:\n");
    for (size_t i = 0; i < n; i++) {
        add_token_path(&input, tokens[i].path, arena);
        buf_printf(&input, "|%.*s\n", STR(tokens[i].token));
    }
    if (n)
        buf_char(&input, '\n');
    struct run run = {.repo = repo,
                      .hook = "pre-commit",
                      .action = "Commit",
                      .args = {arena_cstr(arena, txn)},
                      .input = buf_view(&input)};
    return run_hook(NULL, &run);
}

struct err *hook_post_commit(const struct repo *repo, revnum rev, struct str txn)
{
    AUTO_ARENA(arena);
    struct run run = {
        .repo = repo, .hook = "post-commit", .args = {number(rev, arena), arena_cstr(arena, txn)}};
    return run_hook(NULL, &run);
}

static struct err *revprop_hook(bool *there, const struct repo *repo, const char *hook,
                                const char *action_word, revnum rev, struct str user,
                                struct str name, char action, const struct str *input)
{
    AUTO_ARENA(arena);
    struct run run = {.repo = repo,
                      .hook = hook,
                      .action = action_word,
                      .args = {number(rev, arena), arena_cstr(arena, user), arena_cstr(arena, name),
                               arena_cstr(arena, str_make(&action, 1))},
                      .input = input ? *input : S("")};
    return run_hook(there, &run);
}

struct err *hook_pre_revprop_change(const struct repo *repo, revnum rev, struct str user,
                                    struct str name, char action, const struct str *value)
{
    bool there;
    TRY(revprop_hook(&there, repo, "pre-revprop-change", "Revprop change", rev, user, name, action,
                     value));
    if (!there)
        return err_make(E_REPOS_DISABLED_FEATURE,
                        "Repository has not been enabled to accept revision propchanges;\n"
                        "ask the administrator to create a pre-revprop-change hook");
    return NULL;
}

struct err *hook_post_revprop_change(const struct repo *repo, revnum rev, struct str user,
                                     struct str name, char action, const struct str *old_value)
{
    return revprop_hook(NULL, repo, "post-revprop-change", NULL, rev, user, name, action,
                        old_value);
}

struct err *hook_pre_lock(struct str *token, const struct repo *repo, struct str path,
                          struct str user, struct str comment, bool steal, struct arena *arena)
{
    AUTO_BUF(output);
    struct run run = {.repo = repo,
                      .hook = "pre-lock",
                      .action = "Lock",
                      .args = {arena_cstr(arena, path), arena_cstr(arena, user),
                               arena_cstr(arena, comment), steal ? "1" : "0"},
                      .output = &output};
    TRY(run_hook(NULL, &run));
    *token = arena_str(arena, buf_view(&output));
    return NULL;
}

static struct err *paths_hook(const struct repo *repo, const char *hook, const struct str *paths,
                              size_t n, struct str user)
{
    AUTO_ARENA(arena);
    AUTO_BUF(input);
    for (size_t i = 0; i < n; i++)
        buf_printf(&input, "%.*s\n", STR(paths[i]));
    struct run run = {
        .repo = repo, .hook = hook, .args = {arena_cstr(arena, user)}, .input = buf_view(&input)};
    return run_hook(NULL, &run);
}

struct err *hook_post_lock(const struct repo *repo, const struct str *paths, size_t n,
                           struct str user)
{
    return paths_hook(repo, "post-lock", paths, n, user);
}

struct err *hook_pre_unlock(const struct repo *repo, struct str path, struct str user,
                            struct str token, bool break_lock)
{
    AUTO_ARENA(arena);
    struct run run = {.repo = repo,
                      .hook = "pre-unlock",
                      .action = "Unlock",
                      .args = {arena_cstr(arena, path), arena_cstr(arena, user),
                               arena_cstr(arena, token), break_lock ? "1" : "0"}};
    return run_hook(NULL, &run);
}

struct err *hook_post_unlock(const struct repo *repo, const struct str *paths, size_t n,
                             struct str user)
{
    return paths_hook(repo, "post-unlock", paths, n, user);
}
