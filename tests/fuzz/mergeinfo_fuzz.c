/* SPDX-License-Identifier: Apache-2.0 */
/* Mergeinfo: what was read is written in canonical form and read again the same; the arithmetic
 * holds: everything is gained from nothing, nothing from itself, and halves add up to the whole. */
#include "repo/history/mergeinfo.h"
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

static struct str formatted(const struct mergeinfo *mi, struct arena *arena)
{
    AUTO_BUF(text);
    mergeinfo_format(&text, mi);
    return arena_str(arena, buf_view(&text));
}

static void read_again(const struct mergeinfo *mi, struct arena *arena)
{
    struct mergeinfo again;
    struct str text = formatted(mi, arena);
    struct err *err = mergeinfo_parse(&again, text, arena);
    must(!err, "written again it cannot be read");
    must(str_eq(formatted(&again, arena), text), "written twice, two texts");
}

static bool same_revisions(const struct mergeinfo *a, const struct mergeinfo *b,
                           struct arena *arena)
{
    struct mergeinfo added, deleted;
    mergeinfo_diff(&added, &deleted, a, b, arena);
    return added.n == 0 && deleted.n == 0;
}

/* From A by what it lacks to all of A and B, which has over B what A had. */
static void compare(const struct mergeinfo *a, const struct mergeinfo *b, struct arena *arena)
{
    struct mergeinfo added, deleted, sum = *a, nothing, over;
    mergeinfo_diff(&added, &deleted, a, b, arena);
    mergeinfo_merge(&sum, &added, arena);
    mergeinfo_diff(&nothing, &over, &sum, b, arena);
    must(nothing.n == 0, "with what B has more, A has not all of B");
    must(same_revisions(&over, &deleted, arena), "what A has more is not what it had");
    must(same_revisions(a, a, arena), "it differs from itself");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA(arena);
    size_t half = size / 2;
    struct mergeinfo all, first, second, none = {0};
    struct err *err = mergeinfo_parse(&all, str_make((const char *)data, size), arena);
    if (!err) {
        read_again(&all, arena);
        compare(&none, &all, arena);
    }
    err_free(err);
    err = mergeinfo_parse(&first, str_make((const char *)data, half), arena);
    if (!err)
        err = mergeinfo_parse(&second, str_make((const char *)data + half, size - half), arena);
    if (!err) {
        compare(&first, &second, arena);
        compare(&second, &first, arena);
        mergeinfo_merge(&first, &second, arena);
        read_again(&first, arena);
    }
    err_free(err);
    return 0;
}
