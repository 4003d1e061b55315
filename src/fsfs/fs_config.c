/* SPDX-License-Identifier: Apache-2.0 */
/* fsfs.conf and the `format` record: the settings of one filesystem. */
#include "base/ini.h"
#include "base/num.h"
#include "fsfs/fs.h"

/* ---- format ---- */

/* A number of digits only; the words of the errors are those that administrators know. */
static struct err *digits_parse(int64_t *out, struct str digits, struct str line, const char *name)
{
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return err_make(E_BAD_VERSION_FILE_FORMAT,
                            "Format file '%s' contains unexpected non-digit '%c' within '%.*s'",
                            name, digits.p[i], STR(line));
    if (digits.n == 0)
        return err_make(E_INCORRECT_PARAMS, "Could not convert '' into a number");
    if (!num_i64(out, digits) || *out > INT32_MAX)
        return err_make(E_INCORRECT_PARAMS, "Number '%.*s' is out of range '[%d, %d]'", STR(digits),
                        INT32_MIN, INT32_MAX);
    return NULL;
}

static struct err *check_number(int64_t format)
{
    if (format == 5)
        return err_make(E_FS_UNSUPPORTED_FORMAT,
                        "Found format '5', only created by unreleased dev builds; see "
                        "http://subversion.apache.org/docs/release-notes/1.7#revprop-packing");
    if (format < FSFS_FORMAT_MIN || format > FSFS_FORMAT_MAX)
        return err_make(E_FS_UNSUPPORTED_FORMAT,
                        "Expected FS format between '%d' and '%d'; found format '%lld'",
                        FSFS_FORMAT_MIN, FSFS_FORMAT_MAX, (long long)format);
    return NULL;
}

static struct err *option_parse(struct fsfs_format *out, struct str line, const char *name)
{
    const struct str sharded = S("layout sharded ");
    if (out->format >= 3 && str_eq(line, S("layout linear"))) {
        out->shard_size = 0;
        return NULL;
    }
    if (out->format >= 3 && str_starts(line, sharded))
        return digits_parse(&out->shard_size, str_skip(line, sharded.n), line, name);
    if (out->format >= 7 && str_eq(line, S("addressing physical"))) {
        out->logical = false;
        return NULL;
    }
    if (out->format >= 7 && str_eq(line, S("addressing logical"))) {
        out->logical = true;
        return NULL;
    }
    return err_make(E_BAD_VERSION_FILE_FORMAT,
                    "'%s' contains invalid filesystem format option '%.*s'", name, STR(line));
}

/* The next line of TEXT, with or without its LF. */
static bool loose_line(struct str *line, struct str text, size_t *pos)
{
    if (str_line(line, text, pos))
        return true;
    *line = str_skip(text, *pos);
    *pos = text.n;
    return line->n > 0;
}

struct err *fsfs_format_parse(struct fsfs_format *out, struct str text, const char *name)
{
    *out = (struct fsfs_format){0};
    size_t pos = 0;
    struct str line;
    if (!loose_line(&line, text, &pos))
        return err_make(E_BAD_VERSION_FILE_FORMAT, "Can't read first line of format file '%s'",
                        name);
    int64_t format;
    TRY(digits_parse(&format, line, line, name));
    TRY(check_number(format));
    out->format = (int)format;
    while (loose_line(&line, text, &pos) && line.n)
        TRY(option_parse(out, line, name));
    if (out->logical && !out->shard_size)
        return err_make(E_BAD_VERSION_FILE_FORMAT,
                        "'%s' specifies logical addressing for a non-sharded repository", name);
    return NULL;
}

/* ---- fsfs.conf ---- */

static const struct str no_value = {NULL, 0};

static struct err *number_get(int64_t *out, const struct ini *ini, struct str section,
                              struct str key, int64_t fallback)
{
    struct str value = ini_get(ini, section, key, no_value);
    *out = fallback;
    if (value.p && !num_i64(out, value))
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%.*s' into a number", STR(value));
    return NULL;
}

/* "none", "lz4", "zlib", "zlib-1" .. "zlib-9" */
static struct err *compression_parse(struct fsfs_config *out, struct str value, int format)
{
    int64_t level = 5;
    bool is_level = str_starts(value, S("zlib-"));
    if (is_level && !num_i64(&level, str_skip(value, 5)))
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%.*s' into a number",
                        STR(str_skip(value, 5)));
    if (str_eq(value, S("none"))) {
        out->compression = COMPRESS_NONE;
    } else if (str_eq(value, S("lz4"))) {
        if (format < 8)
            return err_make(E_BAD_CONFIG_VALUE,
                            "Compression type 'lz4' requires filesystem format 8 or higher");
        out->compression = COMPRESS_LZ4;
    } else if (str_eq(value, S("zlib")) || (is_level && level >= 1 && level <= 9)) {
        out->compression = COMPRESS_ZLIB;
        out->zlib_level = (int)level;
    } else {
        return err_make(E_BAD_CONFIG_VALUE, "Invalid 'compression' value '%.*s' in the config",
                        STR(value));
    }
    return NULL;
}

static struct err *compression_get(struct fsfs_config *out, const struct ini *ini, int format)
{
    struct str section = S("deltification");
    struct str kind = ini_get(ini, section, S("compression"), no_value);
    struct str old = ini_get(ini, section, S("compression-level"), no_value);
    if (kind.p && old.p)
        return err_make(E_BAD_CONFIG_VALUE, "The 'compression' and 'compression-level' config "
                                            "options are mutually exclusive");
    if (kind.p)
        return compression_parse(out, kind, format);
    if (old.p) {
        int64_t level;
        TRY(number_get(&level, ini, section, S("compression-level"), 5));
        out->compression = COMPRESS_ZLIB;
        out->zlib_level = level < 0 ? 0 : level > 9 ? 9 : (int)level;
    }
    return NULL;
}

static struct err *deltification_get(struct fsfs_config *out, const struct ini *ini, int format)
{
    struct str section = S("deltification");
    TRY(ini_get_bool(&out->dir_deltification, ini, section, S("enable-dir-deltification"), true));
    TRY(ini_get_bool(&out->props_deltification, ini, section, S("enable-props-deltification"),
                     true));
    TRY(number_get(&out->max_deltification_walk, ini, section, S("max-deltification-walk"),
                   out->max_deltification_walk));
    TRY(number_get(&out->max_linear_deltification, ini, section, S("max-linear-deltification"),
                   out->max_linear_deltification));
    return compression_get(out, ini, format);
}

static struct err *revprops_get_settings(struct fsfs_config *out, const struct ini *ini)
{
    struct str section = S("packed-revprops");
    TRY(ini_get_bool(&out->compress_packed_revprops, ini, section, S("compress-packed-revprops"),
                     false));
    int64_t kib;
    TRY(number_get(&kib, ini, section, S("revprop-pack-size"),
                   out->compress_packed_revprops ? 64 : 16));
    kib = kib < 0 ? 0 : kib > REVPROP_PACK_MAX / 1024 ? REVPROP_PACK_MAX / 1024 : kib;
    out->revprop_pack_size = kib * 1024;
    return NULL;
}

/* A power of two, in units of UNIT bytes or entries. */
static struct err *power_get(int64_t *out, const struct ini *ini, struct str key, int64_t fallback,
                             int64_t unit)
{
    int64_t n;
    TRY(number_get(&n, ini, S("io"), key, fallback));
    if (n <= 0)
        return err_make(E_BAD_CONFIG_VALUE, "%lld is too small for fsfs.conf setting '%.*s'.",
                        (long long)n, STR(key));
    if (n & (n - 1))
        return err_make(E_BAD_CONFIG_VALUE,
                        "%lld is invalid for fsfs.conf setting '%.*s' because it is not a power "
                        "of 2.",
                        (long long)n, STR(key));
    if (n > INT64_MAX / unit)
        return err_make(E_BAD_CONFIG_VALUE, "%lld is too large for fsfs.conf setting '%.*s'.",
                        (long long)n, STR(key));
    *out = n * unit;
    return NULL;
}

static struct err *io_get(struct fsfs_config *out, const struct ini *ini)
{
    TRY(power_get(&out->block_size, ini, S("block-size"), 64, 1024));
    TRY(power_get(&out->l2p_page_size, ini, S("l2p-page-size"), 8192, 1));
    return power_get(&out->p2l_page_size, ini, S("p2l-page-size"), 1024, 1024);
}

static struct fsfs_config defaults(int format)
{
    return (struct fsfs_config){
        .rep_sharing = format >= 4,
        .dir_deltification = format >= 4,
        .props_deltification = format >= 4,
        .max_deltification_walk = 1023,
        .max_linear_deltification = 16,
        .compression = format >= 8   ? COMPRESS_LZ4
                       : format >= 2 ? COMPRESS_ZLIB
                                     : COMPRESS_NONE,
        .zlib_level = 5,
        .revprop_pack_size = 16 * 1024,
        .block_size = 64 * 1024,
        .l2p_page_size = 8192,
        .p2l_page_size = 1024 * 1024,
    };
}

struct err *fsfs_config_parse(struct fsfs_config *out, struct str text, int format,
                              const char *name)
{
    *out = defaults(format);
    if (format < 4)
        return NULL; /* has no such file */
    AUTO_ARENA(arena);
    struct ini ini;
    bool fail_stop; /* about memcached, which nothing here uses; still checked, as a wrong value is
                       a mistake */
    TRY(ini_parse(&ini, text, name, 0, arena));
    TRY(ini_get_bool(&fail_stop, &ini, S("caches"), S("fail-stop"), false));
    TRY(ini_get_bool(&out->rep_sharing, &ini, S("rep-sharing"), S("enable-rep-sharing"), true));
    TRY(deltification_get(out, &ini, format));
    if (format >= 6)
        TRY(revprops_get_settings(out, &ini));
    if (format >= 7)
        TRY(io_get(out, &ini));
    TRY(ini_get_bool(&out->pack_after_commit, &ini, S("debug"), S("pack-after-commit"), false));
    TRY(ini_get_bool(&out->verify_before_commit, &ini, S("debug"), S("verify-before-commit"),
                     false));
    return ini_get_bool(&out->allow_sha1_collisions, &ini, S("varve"), S("allow-sha1-collisions"),
                        false);
}
