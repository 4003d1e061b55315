/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/hooks.h"

#include "base/ini.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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

/* The environment that the file gives: the hook's own section, [default] where that is absent or
 * empty. */
static struct err *hook_environment(char ***out, const struct repo *repo, const char *hook,
                                    struct arena *arena)
{
    struct ini ini;
    const char *file = repo->hooks.env_file;
    if (!file)
        file = arena_printf(arena, "%s/conf/hooks-env", repo->path).p;
    TRY(ini_read(&ini, file, true, INI_CASE_SENSITIVE, arena));
    const struct ini_section *section = ini_section(&ini, str_of(hook));
    if (!section || !section->count)
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

/* A descriptor from which INPUT can be read: a file in memory, so that the hook may read it when
 * and as often as it likes. */
static struct err *input_fd(int *fd, struct str input)
{
    *fd =
        input.n ? memfd_create("hook-input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
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

/* What one running hook has to do with us. */
struct child {
    pid_t pid;
    int in, out, errors;     /* its descriptors 0, 1, 2 */
    int out_end, errors_end; /* where we read what it writes; -1: nowhere, or at the end */
    unsigned time_limit_s;
    int64_t deadline_us; /* INT64_MAX: none */
};

static int spawn(struct child *child, const char *path, char *const *argv, char *const *env)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child->out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child->errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes,
                               &none); /* the server's threads block signals; a hook must not */
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              (child->time_limit_s ? POSIX_SPAWN_SETPGROUP : 0));
    int failed = posix_spawn(&child->pid, path, &actions, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Milliseconds until DEADLINE_US, at least 1 where it is to come; -1 where there is none. */
static int wait_ms(int64_t deadline_us)
{
    if (deadline_us == INT64_MAX)
        return -1;
    int64_t left = deadline_us - monotonic_us();
    return left <= 0 ? 0 : (int)(left / 1000) + 1;
}

/* Read one pipe's next piece; closed at its end. */
static void drain(int *fd, struct buf *to)
{
    char piece[4096];
    ssize_t got;
    do
        got = read(*fd, piece, sizeof piece);
    while (got < 0 && errno == EINTR);
    if (got > 0 && to->n < OUTPUT_MAX)
        buf_add(to, piece, (size_t)got);
    if (got <= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* Read both pipes to their ends: false where the deadline came first. */
static bool collect(struct child *child, struct buf *out, struct buf *errors)
{
    while (child->out_end >= 0 || child->errors_end >= 0) {
        struct pollfd fds[2] = {{.fd = child->errors_end, .events = POLLIN},
                                {.fd = child->out_end, .events = POLLIN}};
        int ready = poll(fds, 2, wait_ms(child->deadline_us));
        if (ready == 0)
            return false;
        if (ready < 0 && errno != EINTR)
            return true;
        if (ready < 0)
            continue;
        if (fds[0].revents)
            drain(&child->errors_end, errors);
        if (fds[1].revents)
            drain(&child->out_end, out);
    }
    return true;
}

/* Wait until the hook has exited: false where the deadline came first. */
static bool reap(int *status, const struct child *child)
{
    bool limited = child->deadline_us != INT64_MAX;
    for (int pause_ms = 1;; pause_ms = pause_ms < 32 ? 2 * pause_ms : pause_ms) {
        pid_t got = waitpid(child->pid, status, limited ? WNOHANG : 0);
        if (got == child->pid)
            return true;
        if (got < 0 &&
            errno != EINTR) { /* somebody else reaped it: it did not say that it allows */
            *status = W_EXITCODE(255, 0);
            return true;
        }
        int left_ms = wait_ms(child->deadline_us);
        if (limited && left_ms == 0)
            return false;
        if (got == 0)
            poll(NULL, 0, pause_ms < left_ms ? pause_ms : left_ms);
    }
}

/* See the hook to its end. *LATE: it was killed at its time limit. */
static void see_through(int *status, bool *late, struct child *child, struct buf *out,
                        struct buf *errors)
{
    collect(child, out, errors);
    *late = !reap(status, child);
    if (!*late)
        return;
    kill(-child->pid, SIGKILL);
    child->deadline_us = INT64_MAX;
    reap(status, child);
}

/* What the server's environment says of the characters that programs write. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* Valid UTF-8 as it is, whatever the locale; else users get what stock servers make of it. */
static struct str shown_output(const struct buf *errors, struct arena *arena)
{
    struct str text = buf_view(errors);
    if (utf8_is_valid(text))
        return text;
    if (locale_is_utf8())
        return S("[Error output could not be translated from the native locale to UTF-8.]");
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

static struct err *judge(const struct run *run, int status, bool late, const struct buf *errors,
                         struct arena *arena)
{
    if (!late && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    struct str output = shown_output(errors, arena);
    struct str tail =
        output.n ? arena_printf(arena, " with output:\n%.*s", STR(output)) : S(" with no output.");
    if (!late && !WIFEXITED(status))
        return err_make(E_REPOS_HOOK_FAILURE,
                        "'%s' hook failed (did not exit cleanly: apr_exit_why_e was %d, exitcode "
                        "was %d).  %.*s",
                        run->hook, WCOREDUMP(status) ? 6 : 2, WTERMSIG(status), STR(tail));
    struct str why = late ? arena_printf(arena, "killed after its time limit of %u seconds",
                                         run->repo->hooks.time_limit_s)
                          : arena_printf(arena, "exit code %d", WEXITSTATUS(status));
    if (run->action)
        return err_make(E_REPOS_HOOK_FAILURE, "%s blocked by %s hook (%.*s)%.*s", run->action,
                        run->hook, STR(why), STR(tail));
    return err_make(E_REPOS_HOOK_FAILURE, "%s hook failed (%.*s)%.*s", run->hook, STR(why),
                    STR(tail));
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Where the hook writes to. Standard output leads nowhere unless it is WANTED: what the hook leaves
 * running may keep that one. */
static struct err *open_outputs(struct child *child, bool wanted, const char *path)
{
    int ends[2];
    child->out = child->out_end = child->errors_end = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(errno, "Can't create pipe for hook '%s'", path);
    child->errors_end = ends[0];
    child->errors = ends[1];
    if (!wanted) {
        child->out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    } else if (pipe2(ends, O_CLOEXEC) == 0) {
        child->out_end = ends[0];
        child->out = ends[1];
    }
    if (child->out >= 0)
        return NULL;
    struct err *err = err_errno(errno, "Can't create pipe for hook '%s'", path);
    close_fd(&child->errors);
    close_fd(&child->errors_end);
    return err;
}

static struct err *run_in(const struct run *run, const char *path, char *const *env, int in,
                          struct arena *arena)
{
    char *argv[ARGS_MAX + 2] = {(char *)path, run->repo->path};
    for (int i = 0; i < ARGS_MAX && run->args[i]; i++)
        argv[2 + i] = (char *)run->args[i];
    AUTO_BUF(errors);
    struct child child = {.in = in, .time_limit_s = run->repo->hooks.time_limit_s};
    child.deadline_us =
        child.time_limit_s ? monotonic_us() + child.time_limit_s * 1000000LL : INT64_MAX;
    TRY(open_outputs(&child, run->output, path));
    /* To users a hook that cannot be run is one that refuses: its path is none of their business.
     */
    int status = W_EXITCODE(255, 0);
    bool late = false;
    int failed = spawn(&child, path, argv, env);
    close_fd(&child.out);
    close_fd(&child.errors);
    if (!failed)
        see_through(&status, &late, &child, run->output, &errors);
    close_fd(&child.out_end);
    close_fd(&child.errors_end);
    return judge(run, status, late, &errors, arena);
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
