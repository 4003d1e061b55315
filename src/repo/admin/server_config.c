/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/server_config.h"

#include "base/num.h"
#include "base/path.h"
#include "repo/admin/authz_file.h"
#include <errno.h>

enum {
    SSF_MIN_DEFAULT = 0,
    SSF_MAX_DEFAULT = 256,
    HOOK_SECONDS_MAX = 7 * 24 * 3600,
};

static enum access_level level_of(struct str word, bool read_only)
{
    if (str_eq(word, S("write")))
        return read_only ? ACCESS_LEVEL_READ : ACCESS_LEVEL_WRITE;
    return str_eq(word, S("read")) ? ACCESS_LEVEL_READ : ACCESS_LEVEL_NONE;
}

static enum username_case case_of(struct str word)
{
    if (str_eq(word, S("upper")))
        return USERNAME_UPPER;
    return str_eq(word, S("lower")) ? USERNAME_LOWER : USERNAME_AS_IS;
}

/* File names in a configuration are relative to its folder. */
static char *beside(const char *config_file, struct str name, struct arena *arena)
{
    if (name.n && name.p[0] == '/')
        return arena_cstr(arena, name);
    return arena_cstr(arena, path_join(path_dirname(str_of(config_file)), name, arena));
}

/* A password file that we may not read is as good as none; one that is missing or damaged is an
 * error. */
static struct err *read_passwords(struct server_config *out, const char *path, struct arena *arena)
{
    struct err *err = ini_read(&out->passwords, path, false, 0, arena);
    if (err_has(err, EACCES)) {
        err_free(err);
        return NULL;
    }
    out->has_passwords = !err;
    return err_wrap(err, E_AUTHN_FAILED, "Authentication failed");
}

/* The strength of a security layer that KEY asks for. */
static struct err *read_ssf(uint32_t *out, const struct ini *ini, struct str key, uint32_t fallback)
{
    const struct str none = {0};
    struct str word = ini_get(ini, S("sasl"), key, none);
    int64_t n = fallback;
    if (word.p && !num_i64(&n, word))
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%.*s' into a number", STR(word));
    if (n < 0 || n > UINT32_MAX)
        return err_make(E_INCORRECT_PARAMS, "Number '%.*s' is out of range '[0, %u]'", STR(word),
                        UINT32_MAX);
    *out = (uint32_t)n;
    return NULL;
}

static struct err *read_sasl(struct server_config *out, const struct ini *ini)
{
    TRY(ini_get_bool(&out->use_sasl, ini, S("sasl"), S("use-sasl"), false));
    if (!out->use_sasl)
        return NULL;
    TRY(read_ssf(&out->min_ssf, ini, S("min-encryption"), SSF_MIN_DEFAULT));
    return read_ssf(&out->max_ssf, ini, S("max-encryption"), SSF_MAX_DEFAULT);
}

/* The rules of authz-db, with the groups of groups-db. The option with no value names a folder, not
 * a file: a mistake that must not open everything. */
static struct err *read_rules(struct server_config *out, const struct ini *ini,
                              const struct repo *repo, const char *config_file, struct arena *arena)
{
    struct str unset = {0}, folder = path_dirname(str_of(config_file));
    struct str rules = ini_get(ini, S("general"), S("authz-db"), unset);
    struct str groups = ini_get(ini, S("general"), S("groups-db"), unset);
    if (!rules.p)
        return NULL;
    struct authz_place place = {.kind = "config"};
    place.rules = authz_file_name(rules, folder, str_of(repo->path), arena);
    if (groups.p)
        place.groups = authz_file_name(groups, folder, str_of(repo->path), arena);
    return err_wrap(authz_load(&out->authz, &place, arena), E_AUTHZ_INVALID_CONFIG,
                    "Invalid authz configuration");
}

/* The environment's file is relative to the repository's own conf/, wherever CONFIG_FILE is. */
static struct err *read_hooks(struct hook_settings *out, const struct ini *ini,
                              const struct repo *repo, struct arena *arena)
{
    const struct str none = {0};
    struct str name = ini_get(ini, S("general"), S("hooks-env"), none);
    if (name.p)
        out->env_file = beside(arena_printf(arena, "%s/conf/hooks-env", repo->path).p, name, arena);
    struct str limit = ini_get(ini, S("varve"), S("hook-timeout"), none);
    uint64_t seconds = 0;
    if (limit.p && (!num_u64(&seconds, limit) || seconds > HOOK_SECONDS_MAX))
        return err_make(E_BAD_CONFIG_VALUE,
                        "Config error: '[varve] hook-timeout' is '%.*s', not a number of seconds "
                        "from 0 to %d",
                        STR(limit), HOOK_SECONDS_MAX);
    out->time_limit_s = (unsigned)seconds;
    return NULL;
}

struct err *server_config_read(struct server_config *out, const struct repo *repo,
                               const char *config_file, bool read_only, struct arena *arena)
{
    *out = (struct server_config){0};
    const char *path = config_file;
    if (!path)
        path = arena_printf(arena, "%s/conf/svnserve.conf", repo->path).p;
    struct ini ini;
    TRY(ini_read(&ini, path, true, 0, arena));
    struct str general = S("general");
    out->anon_access = level_of(ini_get(&ini, general, S("anon-access"), S("read")), read_only);
    out->auth_access = level_of(ini_get(&ini, general, S("auth-access"), S("write")), read_only);
    out->realm = ini_get(&ini, general, S("realm"), arena_str(arena, str_of(repo->fs->uuid)));
    out->username_case = case_of(ini_get(&ini, general, S("force-username-case"), S("none")));
    TRY(read_hooks(&out->hooks, &ini, repo, arena));
    TRY(read_rules(out, &ini, repo, path, arena));
    TRY(read_sasl(out, &ini));
    if (out->use_sasl)
        return NULL;
    const struct str none = {0};
    struct str passwords = ini_get(&ini, general, S("password-db"), none);
    return passwords.p ? read_passwords(out, beside(path, passwords, arena), arena) : NULL;
}

struct str server_config_password(const struct server_config *config, struct str user)
{
    if (!config->has_passwords)
        return (struct str){0};
    return ini_get(&config->passwords, S("users"), user, (struct str){0});
}
