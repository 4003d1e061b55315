/* SPDX-License-Identifier: Apache-2.0 */
/* ini.h - configuration files in Subversion's INI dialect.
 *
 * '#' comments in column 1 only, "key = value" or "key: value", lines that start with white space
 * continue a value, %(name)s is replaced from the same section or [DEFAULT], a UTF-8 BOM is
 * skipped. Names of sections and keys compare without case unless CASE_SENSITIVE. The file's order
 * is kept; an option that is set again keeps its place and takes the new value. A pure function of
 * its bytes. */
#ifndef VARVE_BASE_INI_H
#define VARVE_BASE_INI_H

#include "base/arena.h"
#include <stdint.h>

enum {
    INI_CASE_SENSITIVE = 1,
    INI_NO_EXPANSION = 2, /* %(name)s stays: authz files, passwords */
};

struct ini_option {
    struct str key;   /* as written */
    struct str value; /* trimmed, expanded */
    unsigned line;
};
struct ini_section {
    struct str name;
    struct ini_option *options;
    size_t count;
    unsigned line; /* of its first header */
};
struct ini {
    struct ini_section *sections; /* same-named sections are united at the place of the first */
    size_t count;
    int flags;
};

/* The file as a cursor, for those who mind the order and repetitions of what is in it. TEXT must
 * live as long as what is read; ARENA takes values that span lines. */
enum ini_kind { INI_END, INI_SECTION, INI_OPTION };
struct ini_item {
    enum ini_kind kind;
    struct str name;  /* of the section; the option's key, as written */
    struct str value; /* of an option: trimmed, with %(names)s as they are */
    unsigned line;
};
struct ini_reader {
    struct str text;
    size_t pos;
    unsigned line; /* of the line that was taken last, headers of sections not counted */
    bool in_section;
    struct arena *arena;
};
void ini_reader_init(struct ini_reader *reader, struct str text, struct arena *arena);
struct err *ini_next(struct ini_item *item, struct ini_reader *reader);

/* Parse TEXT. Errors: E_MALFORMED_FILE "line N: ..." inside "Error while parsing config file:
 * NAME:"; only the inner one where NAME is NULL (the caller then says what kind of file it was). */
struct err *ini_parse(struct ini *out, struct str text, const char *name, int flags,
                      struct arena *arena);
/* The same from a file; a missing file is an empty one where MAY_BE_MISSING. */
struct err *ini_read(struct ini *out, const char *path, bool may_be_missing, int flags,
                     struct arena *arena);

const struct ini_section *ini_section(const struct ini *ini, struct str name); /* or NULL */
/* The value of KEY in SECTION; in [DEFAULT] where SECTION has other options only; or FALLBACK. */
struct str ini_get(const struct ini *ini, struct str section, struct str key, struct str fallback);
/* true/yes/on/1, false/no/off/0; else E_BAD_CONFIG_VALUE naming section and key. */
struct err *ini_get_bool(bool *out, const struct ini *ini, struct str section, struct str key,
                         bool fallback);
/* Not a number: E_INCORRECT_PARAMS. */
struct err *ini_get_i64(int64_t *out, const struct ini *ini, struct str section, struct str key,
                        int64_t fallback);

#endif
