/* SPDX-License-Identifier: Apache-2.0 */
/* Hash dumps: names in order, each once; written and read again the same.
 *
 *   [0: END; 1: PROPS-END with deletions; 2: increments to the end of the text] [dump] */
#include "fsfs/format/props.h"
#include <stdint.h>
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

static void check_list(const struct prop *list, size_t n)
{
    AUTO_BUF(text);
    struct props *again;
    for (size_t i = 1; i < n; i++)
        must(str_cmp(list[i - 1].name, list[i].name) < 0, "not in order");
    hashdump_format(&text, list, n, S("END"));
    must(!props_parse(&again, buf_view(&text)) && again->n == n, "written again it cannot be read");
    for (size_t i = 0; i < n; i++)
        must(str_eq(again->list[i].name, list[i].name) &&
                 str_eq(again->list[i].value, list[i].value) &&
                 props_get(again, list[i].name) == &again->list[i].value,
             "written again it is another one");
    shared_unref(again);
}

static void check_deleted(const struct str *deleted, size_t n, const struct prop *list,
                          size_t list_n)
{
    struct props set = {.n = list_n, .list = (struct prop *)list};
    for (size_t i = 0; i < n; i++) {
        must(i == 0 || str_cmp(deleted[i - 1], deleted[i]) < 0, "deletions not in order");
        must(!props_get(&set, deleted[i]), "set and deleted");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    AUTO_ARENA(arena);
    const struct str terminators[] = {S("END"), S("PROPS-END"), S("")};
    const int kind = data[0] % 3;
    struct prop *list;
    struct str *deleted = NULL;
    size_t n, deleted_n = 0, pos = 1;
    struct err *err =
        hashdump_parse(&list, &n, kind ? &deleted : NULL, &deleted_n,
                       str_make((const char *)data, size), &pos, terminators[kind], arena);
    if (!err) {
        must(pos <= size, "more used than there was");
        check_list(list, n);
        check_deleted(deleted, deleted_n, list, n);
    }
    err_free(err);
    return 0;
}
