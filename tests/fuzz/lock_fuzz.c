/* SPDX-License-Identifier: Apache-2.0 */
/* Lock files: written and read again the same. */
#include "fsfs/txn/locks.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA(arena);
    AUTO_BUF(text);
    struct lock lock, again;
    bool has_lock, has_again;
    struct str *children, *children_again;
    size_t n, n_again;
    struct err *err =
        lock_parse(&lock, &has_lock, &children, &n, str_make((const char *)data, size), arena);
    if (err) {
        err_free(err);
        return 0;
    }
    lock_format(&text, has_lock ? &lock : NULL, children, n);
    err = lock_parse(&again, &has_again, &children_again, &n_again, buf_view(&text), arena);
    must(!err && has_again == has_lock && n_again == n, "written again it cannot be read");
    must(!has_lock || (str_eq(again.path, lock.path) && str_eq(again.token, lock.token) &&
                       again.created_us == lock.created_us && again.expires_us == lock.expires_us),
         "written again it is another one");
    for (size_t i = 0; i < n; i++)
        must(str_eq(children[i], children_again[i]), "written again it has other children");
    return 0;
}
