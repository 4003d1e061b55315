/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of changed paths: written and read again the same. */
#include "fsfs/format/changes.h"
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

static void format_all(struct buf *out, const struct changes *changes)
{
    for (size_t i = 0; i < changes->n; i++)
        change_format(out, &changes->list[i], 8);
    buf_char(out, '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct changes *changes, *again;
    size_t used;
    AUTO_BUF(first);
    AUTO_BUF(second);
    struct err *err = changes_parse(&changes, &used, str_make((const char *)data, size));
    if (err) {
        err_free(err);
        return 0;
    }
    must(used <= size, "more used than there was");
    format_all(&first, changes);
    err = changes_parse(&again, &used, buf_view(&first));
    must(!err && used == first.n && again->n == changes->n, "written again it cannot be read");
    for (size_t i = 0; i < changes->n; i++)
        must(str_eq(again->list[i].path, changes->list[i].path) &&
                 str_eq(again->list[i].copyfrom_path, changes->list[i].copyfrom_path) &&
                 again->list[i].action == changes->list[i].action,
             "written again it is another one");
    format_all(&second, again);
    must(str_eq(buf_view(&first), buf_view(&second)), "written twice, two texts");
    shared_unref(again);
    shared_unref(changes);
    return 0;
}
