/* SPDX-License-Identifier: Apache-2.0 */
/* server_config.h - what conf/svnserve.conf says of who may do what (docs/admin.md), the
 * password file and the rule file.
 *
 * Read afresh for each connection: administrators edit these files while the server runs. */
#ifndef VARVE_REPO_ADMIN_SERVER_CONFIG_H
#define VARVE_REPO_ADMIN_SERVER_CONFIG_H

#include "base/ini.h"
#include "repo/access/authz.h"
#include "repo/admin/repo.h"

enum username_case { USERNAME_AS_IS, USERNAME_UPPER, USERNAME_LOWER };

struct server_config {
    enum access_level anon_access, auth_access;
    struct str realm; /* the repository's UUID where none is set */
    enum username_case username_case;
    bool has_passwords; /* a password-db could be read */
    struct ini passwords;
    bool use_sasl;             /* Cyrus SASL says who may come in; there is no password-db then */
    uint32_t min_ssf, max_ssf; /* the least and most of a security layer: 0 none, 1 integrity only,
                                  else bits of a key */
    struct authz *authz;       /* the rules of authz-db; NULL: none are configured */
    struct hook_settings hooks;
};

/* Read the configuration of REPO, from CONFIG_FILE where that is not NULL. READ_ONLY lowers write
 * to read. The rules live as long as ARENA. Errors: E_MALFORMED_FILE, E_AUTHN_FAILED for a missing
 * or damaged password-db, E_AUTHZ_INVALID_CONFIG for rules that cannot be read or have mistakes,
 * E_BAD_CONFIG_VALUE: no repository is served with less protection than it asks for. */
struct err *server_config_read(struct server_config *out, const struct repo *repo,
                               const char *config_file, bool read_only, struct arena *arena);

/* The password of USER; p NULL where there is none. */
struct str server_config_password(const struct server_config *config, struct str user);

#endif
