/* SPDX-License-Identifier: Apache-2.0 */
/* The indexes of logically addressed bodies. What P2L gives, written again, must be read back the
 * same, and L2P must agree with it.
 *
 *   ['l'] [L2P index]   ['p'] [P2L index]   ['f'] [end of a body] */
#include "fsfs/read/index.h"
#include "fsfs/read/index_int.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { L2P_PAGE = 64, P2L_PAGE = 1024, DATA_MAX = 1 << 20, REVS_MAX = 1000 };

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static bool is_ok(struct err *err)
{
    const bool ok = !err;
    err_free(err);
    return ok;
}

static void l2p(struct str index, struct arena *arena)
{
    static const uint64_t items[] = {0, 1, 2, 3, 63, 64, 8191, 8192, UINT32_MAX, UINT64_MAX};
    for (revnum rev = -1; rev < 4; rev++)
        for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
            uint64_t offset;
            is_ok(l2p_parse(index, rev, items[i], &offset, arena));
        }
}

static bool same(const struct p2l_entry *a, const struct p2l_entry *b)
{
    return a->offset == b->offset && a->size == b->size && a->type == b->type && a->rev == b->rev &&
           a->item == b->item && a->checksum == b->checksum;
}

static void write_again(const struct p2l_entry *entries, size_t n, struct arena *arena)
{
    AUTO_BUF(out);
    revnum first = INT64_MAX, last = 0;
    for (size_t i = 0; i < n; i++) {
        first = entries[i].rev < first ? entries[i].rev : first;
        last = entries[i].rev > last ? entries[i].rev : last;
    }
    const uint64_t end = entries[n - 1].offset + entries[n - 1].size;
    if (last - first >= REVS_MAX || end > DATA_MAX)
        return;
    if (!is_ok(index_append(&out, entries, n, first, last - first + 1, end, L2P_PAGE, P2L_PAGE,
                            arena)))
        return;
    struct index_footer footer;
    must(is_ok(index_footer_parse(&footer, buf_view(&out), end + out.n)), "the footer is wrong");
    must(footer.l2p_offset == end, "the footer names another offset");
    const struct str index = {out.p + (footer.p2l_offset - end),
                              footer.footer_offset - footer.p2l_offset};
    const struct str l2p_index = {out.p, footer.p2l_offset - end};
    struct p2l_entry *again;
    size_t count;
    must(is_ok(p2l_parse(&again, &count, index, arena)), "P2L is not readable");
    must(count == n, "P2L has other entries");
    for (size_t i = 0; i < n; i++) {
        uint64_t offset;
        must(same(&again[i], &entries[i]), "P2L has another entry");
        if (entries[i].type != ITEM_UNUSED)
            must(is_ok(l2p_parse(l2p_index, entries[i].rev, entries[i].item, &offset, arena)) &&
                     offset == entries[i].offset,
                 "L2P finds another place");
    }
}

static void p2l(struct str index, struct arena *arena)
{
    struct p2l_entry *entries;
    size_t n;
    if (is_ok(p2l_parse(&entries, &n, index, arena)))
        write_again(entries, n, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA(arena);
    const struct str rest = str_skip(str_make((const char *)data, size), 1);
    struct index_footer footer;
    switch (size ? data[0] : 0) {
    case 'l':
        l2p(rest, arena);
        break;
    case 'p':
        p2l(rest, arena);
        break;
    case 'f':
        if (is_ok(index_footer_parse(&footer, rest, (uint64_t)rest.n + 1000)))
            must(footer.l2p_offset < footer.p2l_offset && footer.p2l_offset < footer.footer_offset,
                 "offsets out of order");
        break;
    default:
        break;
    }
    return 0;
}
