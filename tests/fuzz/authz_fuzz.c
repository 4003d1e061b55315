/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache.h"
#include "base/shared.h"
#include "repo/access/authz.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the header promises of every answer. */
static void ask(struct authz *authz, struct str repository, struct str user, struct str path)
{
    AUTO_ARENA(arena);
    const struct authz_view *view = authz_view(authz, repository, user, arena);
    int rights = authz_view_rights(view, path, false), any = authz_view_any(view);
    int below = authz_view_rights(view, path, true);
    int everywhere = authz_view_everywhere(view);
    if (rights & ~any || below & ~rights || everywhere & ~rights)
        abort();
}

/* A rule file; behind a line "===", a path to ask about; behind another, global groups. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str parts[3] = {{(const char *)data, size}};
    int count = 1;
    for (size_t i = 0; i + 5 <= size && count < 3; i++) {
        if (memcmp(data + i, "\n===\n", 5) != 0)
            continue;
        parts[count - 1].n = (size_t)((const char *)data + i + 1 - parts[count - 1].p);
        parts[count++] = str_make((const char *)data + i + 5, size - i - 5);
    }
    struct authz *authz;
    struct err *err = authz_parse(&authz, parts[0], count == 3 ? &parts[2] : NULL);
    if (!err) {
        static const struct str users[] = {{"u", 1}, {"v", 1}, {"nobody", 6}, {NULL, 0}};
        for (int i = 0; i < 4; i++) {
            ask(authz, S("r"), users[i], S("/"));
            ask(authz, S("s"), users[i], S("/a/b/a/a"));
            ask(authz, S("r"), users[i], count > 1 && parts[1].n ? parts[1] : S("/x"));
        }
        shared_unref(authz);
        cache_clear();
    }
    err_free(err);
    return 0;
}
