/* SPDX-License-Identifier: Apache-2.0 */
/* The `format` file and fsfs.conf: what is accepted is usable.
 *
 *   [0: format file; else fsfs.conf of that format] [text] */
#include "fsfs/fs.h"
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

static bool is_power(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static struct err *check_format(struct str text)
{
    struct fsfs_format format;
    TRY(fsfs_format_parse(&format, text, "format"));
    must(format.format >= 1 && format.format <= 8 && format.format != 5, "no such format");
    must(format.shard_size >= 0, "a negative shard");
    must(format.format >= 3 || format.shard_size == 0, "shards before their time");
    must(!format.logical || (format.format >= 7 && format.shard_size > 0),
         "logical where it cannot be");
    return NULL;
}

static struct err *check_config(struct str text, int format)
{
    struct fsfs_config c;
    TRY(fsfs_config_parse(&c, text, format, "fsfs.conf"));
    must(c.compression != COMPRESS_LZ4 || format >= 8, "LZ4 before its time");
    must(c.zlib_level >= 0 && c.zlib_level <= 9, "no such level");
    must(is_power(c.block_size) && is_power(c.l2p_page_size) && is_power(c.p2l_page_size),
         "no power of two");
    must(c.revprop_pack_size >= 0, "a negative size");
    must(format >= 4 || !c.rep_sharing, "sharing before its time");
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = str_skip(str_make((const char *)data, size), 1);
    int format = data[0] % 9;
    err_free(format ? check_config(text, format) : check_format(text));
    return 0;
}
