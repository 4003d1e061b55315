/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/digest.h"
#include "fsfs/read/index.h"
#include <stdlib.h>

enum { PACKED_MAX = 10 }; /* bytes of an integer */

/* ---- packed integers ---- */

static void packed_put(struct buf *out, uint64_t n)
{
    buf_reserve(out, PACKED_MAX);
    while (n >= 0x80) {
        out->p[out->n++] = (char)(n | 0x80);
        n >>= 7;
    }
    out->p[out->n++] = (char)n;
}

static void packed_put_difference(struct buf *out, uint64_t now, uint64_t before)
{
    const int64_t n = (int64_t)(now - before);
    packed_put(out, n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1);
}

/* ---- L2P ---- */

static int l2p_order(const void *a, const void *b)
{
    const struct l2p_entry *x = a, *y = b;
    if (x->rev != y->rev)
        return x->rev < y->rev ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* The items by revision and number. */
static struct err *l2p_sort(struct l2p_entry **out, size_t *count, const struct p2l_entry *entries,
                            size_t n, struct arena *arena)
{
    struct l2p_entry *list = arena_array(arena, n, sizeof *list);
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (entries[i].type != ITEM_UNUSED)
            list[used++] = (struct l2p_entry){entries[i].rev, entries[i].item, entries[i].offset};
    qsort(list, used, sizeof *list, l2p_order);
    for (size_t i = 1; i < used; i++)
        if (list[i].rev == list[i - 1].rev && list[i].item == list[i - 1].item)
            return err_make(E_FS_INDEX_CORRUPTION, "Revision %lld has item %llu twice",
                            (long long)list[i].rev, (unsigned long long)list[i].item);
    *out = list;
    *count = used;
    return NULL;
}

/* The pages of one revision, whose items are LIST: bytes to PAGES, sizes to TABLE. Returns their
 * number. */
static uint64_t l2p_revision_put(struct buf *pages, struct buf *table, const struct l2p_entry *list,
                                 size_t n, uint64_t page_size)
{
    const uint64_t slots = n ? list[n - 1].item + 1 : 0;
    const uint64_t count = slots ? (slots - 1) / page_size + 1 : 1;
    size_t next = 0;
    for (uint64_t page = 0; page < count; page++) {
        const size_t start = pages->n;
        const uint64_t first = page * page_size;
        const uint64_t end = slots - first < page_size ? slots : first + page_size;
        uint64_t before = 0;
        for (uint64_t slot = first; slot < end; slot++) {
            const bool used = next < n && list[next].item == slot;
            const uint64_t entry = used ? list[next++].offset + 1 : 0;
            packed_put_difference(pages, entry, before);
            before = entry;
        }
        packed_put(table, pages->n - start);
        packed_put(table, end - first);
    }
    return count;
}

static void l2p_put(struct buf *out, const struct l2p_entry *list, size_t count, revnum first_rev,
                    int64_t rev_count, uint64_t page_size)
{
    AUTO_BUF(revs);
    AUTO_BUF(table);
    AUTO_BUF(pages);
    size_t next = 0;
    uint64_t page_count = 0;
    for (revnum rev = first_rev; rev < first_rev + rev_count; rev++) {
        const size_t first = next;
        while (next < count && list[next].rev == rev)
            next++;
        const uint64_t added =
            l2p_revision_put(&pages, &table, list + first, next - first, page_size);
        packed_put(&revs, added);
        page_count += added;
    }
    buf_str(out, S("L2P-INDEX\n"));
    packed_put(out, (uint64_t)first_rev);
    packed_put(out, page_size);
    packed_put(out, (uint64_t)rev_count);
    packed_put(out, page_count);
    buf_str(out, buf_view(&revs));
    buf_str(out, buf_view(&table));
    buf_str(out, buf_view(&pages));
}

/* ---- P2L ---- */

struct p2l_pages {
    struct buf bytes, table;
    uint64_t page_size, page_end; /* where the data of the open page end */
    size_t page_start;            /* in BYTES */
    bool fresh;                   /* the open page has no entry yet */
    uint64_t compound, rev;       /* of the entry before */
    uint64_t first_rev;
};

static void p2l_page_close(struct p2l_pages *pages)
{
    packed_put(&pages->table, pages->bytes.n - pages->page_start);
    pages->page_start = pages->bytes.n;
    pages->page_end += pages->page_size;
    pages->fresh = true;
}

/* An entry stands in the page that holds its last byte. */
static void p2l_entry_put(struct p2l_pages *pages, const struct p2l_entry *entry)
{
    while (entry->offset + entry->size > pages->page_end)
        p2l_page_close(pages);
    if (pages->fresh) {
        packed_put(&pages->bytes, entry->offset);
        pages->rev = pages->first_rev;
        pages->compound = 0;
        pages->fresh = false;
    }
    const uint64_t compound = entry->item * 8 + (uint64_t)entry->type;
    packed_put(&pages->bytes, entry->size);
    packed_put_difference(&pages->bytes, compound, pages->compound);
    packed_put_difference(&pages->bytes, (uint64_t)entry->rev, pages->rev);
    packed_put(&pages->bytes, entry->checksum);
    pages->compound = compound;
    pages->rev = (uint64_t)entry->rev;
}

static void p2l_put(struct buf *out, const struct p2l_entry *entries, size_t n, revnum first_rev,
                    uint64_t data_size, uint64_t page_size)
{
    struct p2l_pages pages = {.page_size = page_size,
                              .page_end = page_size,
                              .fresh = true,
                              .first_rev = (uint64_t)first_rev};
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].offset > end) { /* padding between items */
            const struct p2l_entry gap = {
                .offset = end, .size = entries[i].offset - end, .rev = first_rev};
            p2l_entry_put(&pages, &gap);
        }
        p2l_entry_put(&pages, &entries[i]);
        end = entries[i].offset + entries[i].size;
    }
    const uint64_t rest = (page_size - data_size % page_size) % page_size;
    const struct p2l_entry filler = {.offset = data_size, .size = rest, .rev = (revnum)pages.rev};
    p2l_entry_put(&pages, &filler);
    p2l_page_close(&pages);
    buf_str(out, S("P2L-INDEX\n"));
    packed_put(out, (uint64_t)first_rev);
    packed_put(out, data_size);
    packed_put(out, page_size);
    packed_put(out, (data_size - 1) / page_size + 1);
    buf_str(out, buf_view(&pages.table));
    buf_str(out, buf_view(&pages.bytes));
    buf_free(&pages.table);
    buf_free(&pages.bytes);
}

/* ---- both and the footer ---- */

static void footer_section_put(struct buf *footer, uint64_t offset, struct str section)
{
    uint8_t md5[MD5_SIZE];
    md5_of(md5, section);
    buf_u64(footer, offset);
    buf_char(footer, ' ');
    buf_hex(footer, md5, MD5_SIZE);
}

/* What the indexes can express. Items come from what others wrote when a shard is packed. */
static struct err *entries_check(const struct p2l_entry *entries, size_t n, revnum first_rev,
                                 int64_t rev_count, uint64_t data_size)
{
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        const struct p2l_entry *e = &entries[i];
        if (e->offset < end || e->size == 0 || e->offset > data_size ||
            e->size > data_size - e->offset)
            return err_make(E_FS_INDEX_CORRUPTION,
                            "Items overlap or end behind the data at offset %llu",
                            (unsigned long long)e->offset);
        /* An item takes a byte at least, and numbers are given out without large gaps. */
        if (e->rev < first_rev || e->rev - first_rev >= rev_count || e->item > data_size)
            return err_make(E_FS_INDEX_OVERFLOW, "Item index %llu too large in revision %lld",
                            (unsigned long long)e->item, (long long)e->rev);
        end = e->offset + e->size;
    }
    if (end != data_size || n == 0)
        return err_make(E_FS_INDEX_CORRUPTION, "Items end at %llu of %llu bytes",
                        (unsigned long long)end, (unsigned long long)data_size);
    return NULL;
}

struct err *index_append(struct buf *out, const struct p2l_entry *entries, size_t n,
                         revnum first_rev, int64_t rev_count, uint64_t data_size,
                         int64_t l2p_page_size, int64_t p2l_page_size, struct arena *arena)
{
    if (l2p_page_size <= 0 || (l2p_page_size & (l2p_page_size - 1)) || p2l_page_size <= 0 ||
        (p2l_page_size & (p2l_page_size - 1)))
        return err_make(E_BAD_CONFIG_VALUE,
                        "Index page sizes must be powers of two, not %lld and %lld",
                        (long long)l2p_page_size, (long long)p2l_page_size);
    struct l2p_entry *list;
    size_t count;
    TRY(entries_check(entries, n, first_rev, rev_count, data_size));
    TRY(l2p_sort(&list, &count, entries, n, arena));
    AUTO_BUF(footer);
    const size_t l2p = out->n;
    l2p_put(out, list, count, first_rev, rev_count, (uint64_t)l2p_page_size);
    const size_t p2l = out->n;
    p2l_put(out, entries, n, first_rev, data_size, (uint64_t)p2l_page_size);
    footer_section_put(&footer, data_size, str_make(out->p + l2p, p2l - l2p));
    buf_char(&footer, ' ');
    footer_section_put(&footer, data_size + (p2l - l2p), str_make(out->p + p2l, out->n - p2l));
    buf_str(out, buf_view(&footer));
    buf_char(out, (char)footer.n);
    return NULL;
}
