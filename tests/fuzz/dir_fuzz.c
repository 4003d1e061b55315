/* SPDX-License-Identifier: Apache-2.0 */
/* Directory listings: sorted, without doubles, every name found; written and read again the same.
 */
#include "fsfs/read/dir.h"
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
    struct dir *dir, *again;
    struct err *err = dir_parse(&dir, str_make((const char *)data, size));
    if (err) {
        err_free(err);
        return 0;
    }
    AUTO_BUF(text);
    for (size_t i = 0; i < dir->n; i++) {
        must(i == 0 || str_cmp(dir->list[i - 1].name, dir->list[i].name) < 0, "not in order");
        must(dir_find(dir, dir->list[i].name) == &dir->list[i], "not found");
    }
    dir_format(&text, dir->list, dir->n);
    err = dir_parse(&again, buf_view(&text));
    must(!err && again->n == dir->n, "written again it cannot be read");
    for (size_t i = 0; i < dir->n; i++)
        must(str_eq(again->list[i].name, dir->list[i].name) &&
                 again->list[i].kind == dir->list[i].kind &&
                 noderev_id_eq(&again->list[i].id, &dir->list[i].id),
             "written again it is another one");
    shared_unref(again);
    shared_unref(dir);
    return 0;
}
