/* SPDX-License-Identifier: Apache-2.0 */
/* A new filesystem with its revision 0. */
#include "base/date.h"
#include "fsfs/fs.h"
#include "store/posix/posix.h"

/* ---- revision 0 ---- */

/* Revision 0 is the same in every repository: an empty directory, its node-revision, no changed
 * paths. Byte offsets are item names here, so the node-revision at 17 says that it is at 17. */
static const char rev0_physical[] = "PLAIN\nEND\nENDREP\n"
                                    "id: 0.0.r0/17\n"
                                    "type: dir\n"
                                    "count: 0\n"
                                    "text: 0 0 4 4 2d2977d1c96f487abe4a1e202dd03b4e\n"
                                    "cpath: /\n"
                                    "\n"
                                    "\n"
                                    "17 107\n";

/* The same with item numbers, followed by both indexes in their default page sizes and the footer;
 * docs/formats/fsfs.md takes such a file apart. */
static const char rev0_logical[] =
    "PLAIN\nEND\nENDREP\n"
    "id: 0.0.r0/2\n"
    "type: dir\n"
    "count: 0\n"
    "text: 0 3 4 4 2d2977d1c96f487abe4a1e202dd03b4e\n"
    "cpath: /\n"
    "\n"
    "\n"
    /* L2P: revision 0, pages of 8192, one revision, one page: item 1 at 106, 2 at 17, 3 at 0 */
    "L2P-INDEX\n"
    "\0\x80\x40\1\1"
    "\1"
    "\6\4"
    "\0\xd6\1\xb1\1\x21"
    /* P2L: revision 0, 107 bytes, pages of 1 MiB, one page: three items and the filler */
    "P2L-INDEX\n"
    "\0\x6b\x80\x80\x40\1"
    "\x1f"
    "\0"
    "\x11\x34\0\xf5\xd6\x8c\x81\6"
    "\x59\x9\0\xc8\xfc\xf6\x81\4"
    "\1\xd\0\x9d\x9e\xa9\x94\xf"
    "\x95\xff\x3f\x1b\0\0"
    "107 4ee826c7290508829f5acb14d0e26d72 131 b1754ac6e481d792be0bcd2649b33b01"
    "\x49";

/* ---- fsfs.conf ---- */

static const char config_template[] =
    "# Settings of this repository's storage (FSFS). Every line below is a comment that shows a\n"
    "# default value: take the '#' away to change one. Changes are noticed when the repository is\n"
    "# next opened; they concern what is written from then on and never what is there already.\n"
    "\n"
    "[memcached-servers]\n"
    "# Servers that share cached data between machines, one \"name = host:port\" a line.\n"
    "# Programs that have no use for them ignore this section.\n"
    "\n"
    "[caches]\n"
    "# Whether a fault of such a cache is an error (true) or as good as an empty cache.\n"
    "# fail-stop = false\n"
    "\n"
    "[rep-sharing]\n"
    "# Store equal contents once, wherever and whenever they are committed.\n"
    "# enable-rep-sharing = true\n"
    "\n"
    "[deltification]\n"
    "# Store directories and property lists as differences too. Saves space where folders are\n"
    "# large and change often; costs a little time when they are read cold.\n"
    "# enable-dir-deltification = true\n"
    "# enable-props-deltification = true\n"
    "#\n"
    "# How many versions back the base of a difference may lie. Past that many a text is stored\n"
    "# on its own. Lower numbers mean larger repositories.\n"
    "# max-deltification-walk = 1023\n"
    "#\n"
    "# The newest so many versions of a file form a plain chain, each on the one before, which\n"
    "# gives the smallest differences; older ones are reached by leaps. 0 or 1: leaps only.\n"
    "# max-linear-deltification = 16\n"
    "#\n"
    "# How stored differences are compressed: none, lz4 (fast; from format 8 on), zlib (smaller),\n"
    "# zlib-1 ... zlib-9. Formats below 8 begin with zlib.\n"
    "# compression = lz4\n"
    "#\n"
    "# The old name for zlib's level, 0 to 9. Not together with `compression`.\n"
    "# compression-level = 5\n"
    "\n"
    "[packed-revprops]\n"
    "# How many KiB of revision properties go into one file when shards are packed: larger files\n"
    "# are fewer, smaller ones are faster to change. 64 when they are compressed.\n"
    "# revprop-pack-size = 16\n"
    "#\n"
    "# Compress those files.\n"
    "# compress-packed-revprops = false\n"
    "\n"
    "[io]\n"
    "# From format 7 on. Powers of two; the defaults suit disks and flash alike.\n"
    "# KiB that packs are aligned to and read in:\n"
    "# block-size = 64\n"
    "# Entries in a page of the index from items to offsets:\n"
    "# l2p-page-size = 8192\n"
    "# KiB of data that a page of the index from offsets to items describes:\n"
    "# p2l-page-size = 1024\n"
    "\n"
    "[debug]\n"
    "# Check each revision in full before it becomes visible. Slow.\n"
    "# verify-before-commit = false\n";

/* ---- creating ---- */

static struct err *record_set(struct store *store, enum record_kind kind, struct str bytes)
{
    return record_put(store, (struct record_key){.kind = kind}, bytes);
}

static struct err *write_uuid(struct store *store, const struct fsfs_create_options *options)
{
    char made[37];
    const char *uuid = options->uuid;
    if (!uuid) {
        uuid_make(made);
        uuid = made;
    }
    AUTO_BUF(text);
    buf_printf(&text, "%s\n", uuid);
    if (options->format >= 7) {
        char instance[37];
        uuid_make(instance);
        buf_printf(&text, "%s\n", instance);
    }
    return record_set(store, RECORD_UUID, buf_view(&text));
}

static struct err *write_format(struct store *store, const struct fsfs_format *format)
{
    AUTO_BUF(text);
    buf_printf(&text, "%d\n", format->format);
    if (format->format >= 3 && format->shard_size)
        buf_printf(&text, "layout sharded %lld\n", (long long)format->shard_size);
    else if (format->format >= 3)
        buf_cstr(&text, "layout linear\n");
    if (format->format >= 7)
        buf_cstr(&text, format->logical ? "addressing logical\n" : "addressing physical\n");
    return record_set(store, RECORD_FORMAT, buf_view(&text));
}

static struct err *publish_draft(struct store *store, struct draft *draft, struct str revprops)
{
    struct publication rev0 = {0, draft, revprops, 1, 1};
    revnum durable;
    TRY(lease_take(store, LEASE_WRITE));
    struct err *err = store_publish(&durable, store, &rev0, 1);
    lease_drop(store, LEASE_WRITE);
    return err;
}

static struct err *write_rev0(struct store *store, bool logical, const char *date)
{
    char now[DATE_LONG_SIZE + 1];
    if (!date) {
        date_format(now, date_now_us());
        date = now;
    }
    AUTO_BUF(revprops);
    hashdump_format(&revprops, &(struct prop){S("svn:date"), str_of(date)}, 1, S("END"));
    struct draft *draft;
    TRY(draft_begin(&draft, store, S("0")));
    struct err *err =
        draft_append(draft, logical ? str_make(rev0_logical, sizeof rev0_logical - 1)
                                    : str_make(rev0_physical, sizeof rev0_physical - 1));
    if (!err)
        err = publish_draft(store, draft, buf_view(&revprops));
    draft_drop(draft);
    return err;
}

/* All but `format`, which comes last: without it nobody takes an unfinished filesystem for a whole
 * one. */
static struct err *fill(struct store *store, const struct fsfs_format *format,
                        const struct fsfs_create_options *options)
{
    TRY(store_create(store));
    TRY(record_set(store, RECORD_FS_TYPE, S("fsfs\n")));
    TRY(write_uuid(store, options));
    if (format->format >= 4) {
        TRY(record_set(store, RECORD_CONFIG,
                       str_make(config_template, sizeof config_template - 1)));
        TRY(record_set(store, RECORD_MIN_UNPACKED, S("0\n")));
    }
    TRY(write_rev0(store, format->logical, options->date));
    return write_format(store, format);
}

struct err *fsfs_create_in(struct store *store, const struct fsfs_create_options *options)
{
    if (options->format < FSFS_FORMAT_MIN || options->format > FSFS_FORMAT_MAX ||
        options->format == 5)
        return err_make(E_FS_UNSUPPORTED_FORMAT, "Can't create a filesystem of format '%d'",
                        options->format);
    if (options->uuid && !uuid_is_valid(str_of(options->uuid)))
        return err_make(E_BAD_UUID, "Malformed UUID '%s'", options->uuid);
    struct fsfs_format format = {.format = options->format};
    format.shard_size = format.format >= 3 ? options->shard_size : 0;
    format.logical = format.format >= 7 && format.shard_size > 0 && !options->physical;
    store_set_layout(store, fsfs_store_layout(&format));
    return fill(store, &format, options);
}

struct err *fsfs_create(const char *db_path, const struct fsfs_create_options *options)
{
    struct store *store;
    TRY(posix_open(&store, db_path, NULL));
    struct err *err = fsfs_create_in(store, options);
    store_close(store);
    return err;
}
