/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/read/index.h"
#include "base/digest.h"
#include "base/num.h"
#include "fsfs/read/index_int.h"
#include <stdlib.h>

enum {
    FOOTER_MAX = 255, /* its length is one byte */
    HEAD_FIRST_VIEW =
        16 * 1024, /* bytes of an index tried first for its page table: enough for most packs */
    L2P_WHOLE_MAX = 1024 * 1024, /* bytes: larger ones are read where they are needed */
    DIGEST_CHUNK = 256 * 1024,   /* bytes digested at a time */
    P2L_ENTRY_MIN = 4,           /* bytes: four integers */
};

static struct err *corrupt(const char *what)
{
    return err_make(E_FS_INDEX_CORRUPTION, "%s", what);
}

/* ---- the footer ---- */

/* The offsets of the footer, and where its MD5s stand. */
static struct err *footer_parse(struct index_footer *out, struct str *l2p_md5, struct str *p2l_md5,
                                struct str tail, uint64_t body_size)
{
    size_t length = tail.n ? (unsigned char)tail.p[tail.n - 1] : 0;
    if (length == 0 || tail.n < length + 1 || body_size < length + 1)
        return corrupt("Index footer has no valid length");
    struct str text = {tail.p + tail.n - 1 - length, length};
    struct str l2p = str_word(&text);
    *l2p_md5 = str_word(&text);
    struct str p2l = str_word(&text);
    *p2l_md5 = text;
    if (!num_u64(&out->l2p_offset, l2p) || !num_u64(&out->p2l_offset, p2l))
        return corrupt("Malformed index footer");
    out->footer_offset = body_size - 1 - length;
    if (out->l2p_offset == 0 || out->l2p_offset >= out->p2l_offset ||
        out->p2l_offset >= out->footer_offset)
        return corrupt("Offsets in the index footer are out of order");
    return NULL;
}

struct err *index_footer_parse(struct index_footer *out, struct str tail, uint64_t body_size)
{
    struct str l2p_md5, p2l_md5;
    TRY(footer_parse(out, &l2p_md5, &p2l_md5, tail, body_size));
    if (!num_unhex(out->l2p_md5, MD5_SIZE, l2p_md5) || !num_unhex(out->p2l_md5, MD5_SIZE, p2l_md5))
        return corrupt("Malformed index footer");
    return NULL;
}

static struct err *footer_get(struct index_footer *out, struct fsfs *fs, struct body *body,
                              struct arena *arena)
{
    size_t n = body->size < FOOTER_MAX + 1 ? body->size : FOOTER_MAX + 1;
    const struct item_place place = {body, body->size - n, body->size};
    struct str tail;
    TRY(item_view(&tail, fs, &place, n, arena));
    return index_footer_parse(out, tail, body->size);
}

/* The bytes of BODY's section [FROM, TO). */
static struct err *section_view(struct str *out, struct fsfs *fs, struct body *body, uint64_t from,
                                uint64_t to, struct arena *arena)
{
    const struct item_place place = {body, from, to};
    if (to - from > SIZE_MAX / 2)
        return corrupt("Index is too large");
    return item_view(out, fs, &place, (size_t)(to - from), arena);
}

/* ---- packed integers ---- */

bool packed_take(uint64_t *out, struct str *from)
{
    if (from->n && !((unsigned char)from->p[0] & 0x80)) { /* most are small */
        *out = (unsigned char)from->p[0];
        from->p++;
        from->n--;
        return true;
    }
    uint64_t value = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < from->n; i++, shift += 7) {
        const uint64_t group = (unsigned char)from->p[i] & 0x7f;
        if (shift > 63 || (shift == 63 && group > 1))
            return false;
        value |= group << shift;
        if (!((unsigned char)from->p[i] & 0x80)) {
            *out = value;
            *from = str_skip(*from, i + 1);
            return true;
        }
    }
    return false;
}

/* Add the signed difference at the front of *FROM to *VALUE, modulo 2^64: bounds are the caller's
 * to check. */
static bool packed_add_difference(uint64_t *value, struct str *from)
{
    uint64_t n;
    if (!packed_take(&n, from))
        return false;
    *value += n & 1 ? ~(n >> 1) : n >> 1;
    return true;
}

static bool is_power_of_two(uint64_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* ---- L2P: the page table ---- */

struct page_place {
    uint64_t offset; /* from the start of the index */
    uint64_t bytes, entries;
};

/* The head of an L2P index, parsed; cached for bodies that are larger than a block. */
struct l2p_head {
    struct shared shared;
    struct index_footer footer; /* of the body; zero where the index was parsed alone */
    uint64_t first_rev, page_size, rev_count, page_count;
    struct page_place *pages;
    uint64_t *rev_pages; /* rev_count + 1: where each revision's pages begin */
};

static struct l2p_head *head_new(uint64_t rev_count, uint64_t page_count)
{
    const size_t bytes = sizeof(struct l2p_head) + page_count * sizeof(struct page_place) +
                         (rev_count + 1) * sizeof(uint64_t);
    struct l2p_head *head = mem_zalloc(bytes);
    shared_init(&head->shared, bytes, shared_free_plain);
    head->pages = (struct page_place *)(head + 1);
    head->rev_pages = (uint64_t *)(head->pages + page_count);
    return head;
}

/* What stands before the tables. *WHOLE false where TEXT ends first. */
struct l2p_start {
    uint64_t first_rev, page_size, rev_count, page_count;
};
static struct err *start_parse(struct l2p_start *out, bool *whole, struct str *text,
                               uint64_t index_size)
{
    const struct str magic = S("L2P-INDEX\n");
    if (!str_starts(*text, magic))
        return corrupt("L2P index does not begin as one");
    *text = str_skip(*text, magic.n);
    *whole = packed_take(&out->first_rev, text) && packed_take(&out->page_size, text) &&
             packed_take(&out->rev_count, text) && packed_take(&out->page_count, text);
    if (!*whole)
        return NULL;
    if (!is_power_of_two(out->page_size))
        return corrupt("L2P index page size is not a power of two");
    /* Each revision and each page takes bytes of its own, so these bound what is allocated. */
    if (out->rev_count == 0 || out->rev_count > index_size || out->page_count > index_size ||
        out->first_rev > INT64_MAX - out->rev_count)
        return corrupt("L2P index counts are implausible");
    return NULL;
}

static struct err *tables_parse(struct l2p_head *head, bool *whole, struct str text, struct str all,
                                uint64_t index_size)
{
    uint64_t page = 0;
    for (uint64_t i = 0; i < head->rev_count; i++) {
        uint64_t n;
        if (!(*whole = packed_take(&n, &text)))
            return NULL;
        if (n > head->page_count - page)
            return corrupt("L2P index has more pages for its revisions than in all");
        page += n;
        head->rev_pages[i + 1] = page;
    }
    if (page != head->page_count)
        return corrupt("L2P index has pages that belong to no revision");
    for (uint64_t i = 0; i < head->page_count; i++) {
        struct page_place *place = &head->pages[i];
        if (!(*whole = packed_take(&place->bytes, &text) && packed_take(&place->entries, &text)))
            return NULL;
        if (place->entries > head->page_size || place->entries > place->bytes)
            return corrupt("L2P index page holds more entries than it may");
    }
    uint64_t at = (uint64_t)(text.p - all.p);
    for (uint64_t i = 0; i < head->page_count; i++) {
        if (head->pages[i].bytes > index_size - at)
            return corrupt("L2P index pages reach behind the index");
        head->pages[i].offset = at;
        at += head->pages[i].bytes;
    }
    if (at != index_size)
        return corrupt("L2P index has bytes that belong to no page");
    return NULL;
}

/* Parse the head of an index of INDEX_SIZE bytes of which TEXT is the beginning. *OUT NULL where
 * TEXT is too short. */
static struct err *head_parse(struct l2p_head **out, struct str text, uint64_t index_size)
{
    struct str rest = text;
    struct l2p_start start;
    bool whole;
    *out = NULL;
    TRY(start_parse(&start, &whole, &rest, index_size));
    if (!whole)
        return NULL;
    struct l2p_head *head = head_new(start.rev_count, start.page_count);
    head->first_rev = start.first_rev;
    head->page_size = start.page_size;
    head->rev_count = start.rev_count;
    head->page_count = start.page_count;
    struct err *err = tables_parse(head, &whole, rest, text, index_size);
    if (!err && whole)
        *out = head;
    else
        shared_unref(head);
    return err;
}

static struct err *head_read(struct l2p_head **out, struct fsfs *fs, struct body *body,
                             const struct index_footer *footer)
{
    AUTO_ARENA(scratch);
    const uint64_t size = footer->p2l_offset - footer->l2p_offset;
    *out = NULL;
    for (uint64_t n = HEAD_FIRST_VIEW; !*out; n *= 8) {
        const uint64_t shown = n < size ? n : size;
        struct str text;
        TRY(section_view(&text, fs, body, footer->l2p_offset, footer->l2p_offset + shown, scratch));
        TRY(head_parse(out, text, size));
        if (!*out && shown == size)
            return corrupt("L2P index ends inside its page table");
    }
    (*out)->footer = *footer;
    return NULL;
}

/* ---- L2P: lookups ---- */

static struct err *page_of(const struct page_place **page, uint64_t *slot,
                           const struct l2p_head *head, revnum rev, uint64_t item)
{
    if (rev < (revnum)head->first_rev || (uint64_t)rev - head->first_rev >= head->rev_count)
        return err_make(E_FS_INDEX_REVISION, "Revision %lld not covered by item index",
                        (long long)rev);
    const uint64_t *pages = &head->rev_pages[(uint64_t)rev - head->first_rev];
    const uint64_t number = item / head->page_size;
    *slot = item % head->page_size;
    if (number >= pages[1] - pages[0] || *slot >= head->pages[pages[0] + number].entries)
        return err_make(E_FS_INDEX_OVERFLOW, "Item index %llu too large in revision %lld",
                        (unsigned long long)item, (long long)rev);
    *page = &head->pages[pages[0] + number];
    return NULL;
}

/* An entry is the offset plus 1; 0 is an unused slot. */
static struct err *entry_offset(uint64_t *offset, uint64_t entry, revnum rev, uint64_t item)
{
    if (entry == 0)
        return err_make(E_FS_INDEX_CORRUPTION, "Item index %llu of revision %lld is not in use",
                        (unsigned long long)item, (long long)rev);
    *offset = entry - 1;
    return NULL;
}

struct err *l2p_parse(struct str index, revnum rev, uint64_t item, uint64_t *offset,
                      struct arena *arena)
{
    struct l2p_head *head;
    TRY(head_parse(&head, index, index.n));
    if (!head)
        return corrupt("L2P index ends inside its page table");
    const struct page_place *page;
    uint64_t slot, entry = 0;
    bool whole = true;
    struct err *err = page_of(&page, &slot, head, rev, item);
    if (!err) {
        struct str text = {index.p + page->offset, page->bytes};
        for (uint64_t i = 0; i <= slot && whole; i++)
            whole = packed_add_difference(&entry, &text);
    }
    shared_unref(head);
    if (err)
        return err;
    if (!whole)
        return corrupt("L2P index page ends inside an entry");
    return entry_offset(offset, entry, rev, item);
}

struct l2p_page {
    struct shared shared;
    uint64_t data_end; /* where the items of the body end */
    uint64_t n;
    uint64_t entries[];
};

static struct err *page_parse(struct l2p_page **out, struct str text, uint64_t n, uint64_t data_end)
{
    const size_t bytes = sizeof(struct l2p_page) + n * sizeof(uint64_t);
    struct l2p_page *page = mem_alloc(bytes);
    shared_init(&page->shared, bytes, shared_free_plain);
    page->data_end = data_end;
    page->n = n;
    uint64_t entry = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!packed_add_difference(&entry, &text)) {
            shared_unref(page);
            return corrupt("L2P index page ends inside an entry");
        }
        page->entries[i] = entry;
    }
    *out = page;
    return NULL;
}

enum { HEAD_KEY = 0 }; /* pages follow from 1 on */

/* Of a pack, most pages will be wanted: they are asked for with the table that leads to them, in
 * the whole blocks in which they will be read. */
static void l2p_prefetch(struct body *body, const struct index_footer *footer)
{
    const uint64_t start = footer->l2p_offset / ITEM_BLOCK * ITEM_BLOCK;
    uint64_t end = (footer->p2l_offset + ITEM_BLOCK - 1) / ITEM_BLOCK * ITEM_BLOCK;
    if (end > body->size)
        end = body->size;
    if (body->packed && end - start <= L2P_WHOLE_MAX)
        body_prefetch(body, &(struct span){.offset = start, .n = (size_t)(end - start)}, 1);
}

static struct err *head_get(const struct l2p_head **out, struct fsfs *fs, struct body *body,
                            struct arena *arena)
{
    const struct cache_key key = fsfs_cache_key(fs, CACHE_L2P, body->identity, HEAD_KEY);
    if ((*out = cache_get(key, arena)))
        return NULL;
    struct index_footer footer;
    struct l2p_head *head;
    AUTO_ARENA(scratch);
    TRY(footer_get(&footer, fs, body, scratch));
    l2p_prefetch(body, &footer);
    TRY(head_read(&head, fs, body, &footer));
    cache_put(key, &head->shared);
    *out = arena_keep(arena, &head->shared);
    return NULL;
}

static struct err *page_get(const struct l2p_page **out, struct fsfs *fs, struct body *body,
                            const struct l2p_head *head, const struct page_place *place,
                            struct arena *arena)
{
    const uint64_t number = (uint64_t)(place - head->pages);
    const struct cache_key key = fsfs_cache_key(fs, CACHE_L2P, body->identity, 1 + number);
    if ((*out = cache_get(key, arena)))
        return NULL;
    AUTO_ARENA(scratch);
    const uint64_t start = head->footer.l2p_offset + place->offset;
    struct str text;
    TRY(section_view(&text, fs, body, start, start + place->bytes, scratch));
    struct l2p_page *page;
    TRY(page_parse(&page, text, place->entries, head->footer.l2p_offset));
    cache_put(key, &page->shared);
    *out = arena_keep(arena, &page->shared);
    return NULL;
}

/* The index of a body that is a single cached block. */
static struct err *small_index(struct str *index, uint64_t *data_end, struct fsfs *fs,
                               struct body *body, struct arena *arena)
{
    struct str all, l2p_md5, p2l_md5; /* the MD5s are for verification */
    struct index_footer footer;
    TRY(section_view(&all, fs, body, 0, body->size, arena));
    TRY(footer_parse(&footer, &l2p_md5, &p2l_md5, all, body->size));
    *index = str_make(all.p + footer.l2p_offset, (size_t)(footer.p2l_offset - footer.l2p_offset));
    *data_end = footer.l2p_offset;
    return NULL;
}

/* The first page of a small revision's index: nearly always there is no other. */
static struct err *small_page_get(const struct l2p_page **out, struct fsfs *fs, struct body *body,
                                  revnum rev, struct arena *arena)
{
    const struct cache_key key = fsfs_cache_key(fs, CACHE_L2P, body->identity, 1);
    if ((*out = cache_get(key, arena)))
        return NULL;
    AUTO_ARENA(scratch);
    struct str index;
    uint64_t data_end, slot;
    struct l2p_head *head;
    const struct page_place *place;
    struct l2p_page *page = NULL;
    TRY(small_index(&index, &data_end, fs, body, scratch));
    TRY(head_parse(&head, index, index.n));
    if (!head)
        return corrupt("L2P index ends inside its page table");
    struct err *err = page_of(&place, &slot, head, rev, 0);
    if (!err)
        err = page_parse(&page, str_make(index.p + place->offset, place->bytes), place->entries,
                         data_end);
    shared_unref(head);
    if (err)
        return err;
    cache_put(key, &page->shared);
    *out = arena_keep(arena, &page->shared);
    return NULL;
}

/* In a small body. A log asks for the changed paths and no more: those and the root are looked up
 * in place, others in a page that is kept. */
static struct err *place_small(struct item_place *out, struct fsfs *fs, revnum rev, uint64_t item,
                               struct arena *arena)
{
    if (item >= ITEM_INDEX_FIRST_FREE) {
        const struct l2p_page *page;
        TRY(small_page_get(&page, fs, out->body, rev, arena));
        out->limit = page->data_end;
        if (item < page->n)
            return entry_offset(&out->offset, page->entries[item], rev, item);
    }
    struct str index;
    TRY(small_index(&index, &out->limit, fs, out->body, arena));
    return l2p_parse(index, rev, item, &out->offset, arena);
}

static struct err *place_large(struct item_place *out, struct fsfs *fs, revnum rev, uint64_t item,
                               struct arena *arena)
{
    const struct l2p_head *head;
    const struct page_place *place;
    const struct l2p_page *page;
    uint64_t slot;
    TRY(head_get(&head, fs, out->body, arena));
    TRY(page_of(&place, &slot, head, rev, item));
    TRY(page_get(&page, fs, out->body, head, place, arena));
    out->limit = head->footer.l2p_offset;
    return entry_offset(&out->offset, page->entries[slot], rev, item);
}

struct err *l2p_place(struct item_place *out, struct fsfs *fs, struct body *body, revnum rev,
                      uint64_t item, struct arena *arena)
{
    out->body = body;
    const bool is_small = body->size <= ITEM_BLOCK && !body->packed;
    struct err *err =
        is_small ? place_small(out, fs, rev, item, arena) : place_large(out, fs, rev, item, arena);
    if (!err && out->offset >= out->limit)
        err =
            err_make(E_FS_INDEX_CORRUPTION, "Item index %llu of revision %lld lies behind the data",
                     (unsigned long long)item, (long long)rev);
    if (err && err->code == E_FS_INDEX_CORRUPTION)
        return err_blame(err, 0, "Index of '%.*s' is damaged", STR(body_name(body, arena)));
    return err;
}

struct err *l2p_lookup(uint64_t *offset, struct fsfs *fs, struct body *body, revnum rev,
                       uint64_t item, struct arena *arena)
{
    struct item_place place;
    TRY(l2p_place(&place, fs, body, rev, item, arena));
    *offset = place.offset;
    return NULL;
}

struct err *l2p_item_count(uint64_t *count, struct fsfs *fs, struct body *body, revnum rev,
                           struct arena *arena)
{
    const struct l2p_head *head;
    TRY(head_get(&head, fs, body, arena));
    if (rev < (revnum)head->first_rev || (uint64_t)rev - head->first_rev >= head->rev_count)
        return err_make(E_FS_INDEX_REVISION, "Revision %lld not covered by item index",
                        (long long)rev);
    const uint64_t *pages = &head->rev_pages[(uint64_t)rev - head->first_rev];
    *count = 0;
    if (pages[1] > pages[0])
        *count = (pages[1] - pages[0] - 1) * head->page_size + head->pages[pages[1] - 1].entries;
    return NULL;
}

/* The used slots of the page at PLACE, which begins with item FIRST of REV, appended to OUT. */
static struct err *page_entries(struct buf *out, struct str text, const struct page_place *place,
                                revnum rev, uint64_t first)
{
    uint64_t entry = 0;
    for (uint64_t i = 0; i < place->entries; i++) {
        if (!packed_add_difference(&entry, &text))
            return corrupt("L2P index page ends inside an entry");
        const struct l2p_entry found = {rev, first + i, entry - 1};
        if (entry)
            buf_add(out, &found, sizeof found);
    }
    return NULL;
}

static struct err *head_entries(struct buf *out, struct fsfs *fs, struct body *body,
                                const struct l2p_head *head)
{
    AUTO_ARENA(scratch);
    const struct arena_mark mark = arena_mark(scratch);
    const uint64_t count = body->packed ? (uint64_t)fs->shard_size : 1;
    if ((revnum)head->first_rev != body->first_rev || head->rev_count != count)
        return corrupt("L2P index is that of other revisions");
    for (uint64_t i = 0; i < head->rev_count; i++)
        for (uint64_t page = head->rev_pages[i]; page < head->rev_pages[i + 1]; page++) {
            const struct page_place *place = &head->pages[page];
            const uint64_t start = head->footer.l2p_offset + place->offset;
            struct str text;
            arena_rewind(scratch, mark);
            TRY(section_view(&text, fs, body, start, start + place->bytes, scratch));
            TRY(page_entries(out, str_make(text.p, place->bytes), place,
                             body->first_rev + (revnum)i,
                             (page - head->rev_pages[i]) * head->page_size));
        }
    return NULL;
}

static struct err *entries_read(struct buf *out, struct fsfs *fs, struct body *body,
                                struct arena *arena)
{
    struct index_footer footer;
    struct l2p_head *head;
    TRY(footer_get(&footer, fs, body, arena));
    TRY(head_read(&head, fs, body, &footer));
    struct err *err = head_entries(out, fs, body, head);
    shared_unref(head);
    return err;
}

struct err *l2p_entries(struct l2p_entry **out, size_t *n, struct fsfs *fs, struct body *body,
                        struct arena *arena)
{
    AUTO_BUF(entries);
    struct err *err = entries_read(&entries, fs, body, arena);
    if (err)
        return err_blame(err, 0, "Index of '%.*s' is damaged", STR(body_name(body, arena)));
    *n = entries.n / sizeof(struct l2p_entry);
    *out = arena_alloc(arena, entries.n);
    if (entries.n)
        memcpy(*out, entries.p, entries.n);
    return NULL;
}

bool l2p_is_at_hand(struct fsfs *fs, const struct body *body, struct arena *arena)
{
    const uint64_t identity = body->identity;
    return body->size <= ITEM_BLOCK
               ? cache_peek(fsfs_cache_key(fs, CACHE_BLOCK, identity, 0), arena) != NULL
               : cache_peek(fsfs_cache_key(fs, CACHE_L2P, identity, HEAD_KEY), arena) != NULL;
}

/* ---- P2L ---- */

struct p2l_head {
    uint64_t first_rev, data_size, page_size, page_count;
};

static struct err *p2l_head_parse(struct p2l_head *out, struct str *text)
{
    const struct str magic = S("P2L-INDEX\n");
    if (!str_starts(*text, magic))
        return corrupt("P2L index does not begin as one");
    *text = str_skip(*text, magic.n);
    if (!packed_take(&out->first_rev, text) || !packed_take(&out->data_size, text) ||
        !packed_take(&out->page_size, text) || !packed_take(&out->page_count, text))
        return corrupt("P2L index ends inside its head");
    if (!is_power_of_two(out->page_size))
        return corrupt("P2L index page size is not a power of two");
    if (out->data_size == 0 || out->page_count != (out->data_size - 1) / out->page_size + 1)
        return corrupt("P2L index pages do not cover the data");
    if (out->page_count > text->n || out->first_rev > INT64_MAX)
        return corrupt("P2L index page count is implausible");
    return NULL;
}

/* Take one entry that begins at OFFSET. COMPOUND and REV run on within a page. */
static struct err *p2l_entry_take(struct p2l_entry *out, struct str *page, uint64_t offset,
                                  uint64_t *compound, uint64_t *rev)
{
    uint64_t checksum;
    out->offset = offset;
    if (!packed_take(&out->size, page) || !packed_add_difference(compound, page) ||
        !packed_add_difference(rev, page) || !packed_take(&checksum, page))
        return corrupt("P2L index page ends inside an entry");
    out->type = (int)(*compound & 7);
    out->item = *compound >> 3;
    out->rev = (revnum)*rev;
    out->checksum = (uint32_t)checksum;
    uint64_t end;
    if (out->type >= ITEM_TYPES || *rev > INT64_MAX || checksum > UINT32_MAX ||
        !add_u64(&end, offset, out->size))
        return corrupt("P2L index holds an impossible entry");
    if (out->type == ITEM_UNUSED && (out->item || checksum))
        return corrupt("P2L index gives an unused range an item or a checksum");
    if (out->type == ITEM_CHANGES && out->item != ITEM_INDEX_CHANGES)
        return corrupt("P2L index gives a changed path list another item number than 1");
    return NULL;
}

/* The entries of one page appended to OUT (an array of struct p2l_entry); *END is where the last
 * one ended. */
static struct err *p2l_page_parse(struct buf *out, struct str page, uint64_t *end,
                                  const struct p2l_head *head)
{
    uint64_t compound = 0, rev = head->first_rev, start;
    if (page.n == 0)
        return NULL; /* it lies within a larger item */
    if (!packed_take(&start, &page) || start != *end)
        return corrupt("P2L index leaves out bytes of the data, or has them twice");
    while (page.n) {
        struct p2l_entry entry;
        TRY(p2l_entry_take(&entry, &page, *end, &compound, &rev));
        *end += entry.size;
        if (entry.offset >= head->data_size)
            continue; /* fills the last page */
        if (*end > head->data_size || entry.size == 0)
            return corrupt("P2L index holds an item that reaches behind the data, or none at all");
        buf_add(out, &entry, sizeof entry);
    }
    return NULL;
}

static struct err *p2l_pages_parse(struct buf *out, struct str index, uint64_t *data_size)
{
    struct p2l_head head;
    TRY(p2l_head_parse(&head, &index));
    struct str pages = index;
    for (uint64_t i = 0; i < head.page_count; i++) {
        uint64_t bytes;
        if (!packed_take(&bytes, &pages))
            return corrupt("P2L index ends inside its page table");
    }
    uint64_t end = 0;
    for (uint64_t i = 0; i < head.page_count; i++) {
        uint64_t bytes;
        packed_take(&bytes, &index);
        if (bytes > pages.n)
            return corrupt("P2L index pages reach behind the index");
        TRY(p2l_page_parse(out, str_make(pages.p, bytes), &end, &head));
        pages = str_skip(pages, bytes);
    }
    if (pages.n)
        return corrupt("P2L index has bytes that belong to no page");
    if (end < head.data_size)
        return corrupt("P2L index does not cover all data");
    *data_size = head.data_size;
    return NULL;
}

static struct err *p2l_parse_sized(struct p2l_entry **out, size_t *n, uint64_t *data_size,
                                   struct str index, struct arena *arena)
{
    AUTO_BUF(entries);
    TRY(p2l_pages_parse(&entries, index, data_size));
    *n = entries.n / sizeof(struct p2l_entry);
    *out = arena_alloc(arena, entries.n);
    memcpy(*out, entries.p, entries.n);
    return NULL;
}

struct err *p2l_parse(struct p2l_entry **out, size_t *n, struct str index, struct arena *arena)
{
    uint64_t data_size;
    return p2l_parse_sized(out, n, &data_size, index, arena);
}

static struct err *p2l_read(struct p2l_entry **out, size_t *n, struct fsfs *fs, struct body *body,
                            struct arena *arena)
{
    AUTO_ARENA(scratch);
    struct index_footer footer;
    struct str index;
    uint64_t data_size;
    TRY(footer_get(&footer, fs, body, scratch));
    TRY(section_view(&index, fs, body, footer.p2l_offset, footer.footer_offset, scratch));
    TRY(p2l_parse_sized(out, n, &data_size, index, arena));
    if (data_size != footer.l2p_offset)
        return corrupt("P2L index covers another size than that of the data");
    return NULL;
}

struct err *p2l_entries(struct p2l_entry **out, size_t *n, struct fsfs *fs, struct body *body,
                        struct arena *arena)
{
    return err_blame(p2l_read(out, n, fs, body, arena), 0, "Index of '%.*s' is damaged",
                     STR(body_name(body, arena)));
}

/* ---- digests ---- */

static struct err *section_check(struct fsfs *fs, struct body *body, const char *which,
                                 uint64_t from, uint64_t to, const uint8_t expected[MD5_SIZE],
                                 struct arena *arena)
{
    struct digest *digest = digest_new(DIGEST_MD5);
    struct err *err = NULL;
    for (uint64_t at = from; at < to && !err;) {
        const uint64_t n = to - at < DIGEST_CHUNK ? to - at : DIGEST_CHUNK;
        const struct arena_mark mark = arena_mark(arena);
        struct str bytes = {0};
        err = section_view(&bytes, fs, body, at, at + n, arena);
        if (!err)
            digest_add(digest, bytes);
        arena_rewind(arena, mark);
        at += n;
    }
    uint8_t actual[MD5_SIZE];
    digest_md5(digest, actual);
    digest_free(digest);
    if (!err && memcmp(actual, expected, MD5_SIZE) != 0)
        err = checksum_mismatch(expected, actual, MD5_SIZE, "%s checksum mismatch in file %.*s",
                                which, STR(body_name(body, arena)));
    return err;
}

struct err *index_check_digests(struct fsfs *fs, struct body *body, struct arena *arena)
{
    AUTO_ARENA(scratch);
    struct index_footer footer;
    struct err *err = footer_get(&footer, fs, body, scratch);
    if (err)
        return err_blame(err, 0, "Index of '%.*s' is damaged", STR(body_name(body, scratch)));
    TRY(section_check(fs, body, "L2P index", footer.l2p_offset, footer.p2l_offset, footer.l2p_md5,
                      scratch));
    return section_check(fs, body, "P2L index", footer.p2l_offset, footer.footer_offset,
                         footer.p2l_md5, scratch);
}
