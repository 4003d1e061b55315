/* SPDX-License-Identifier: Apache-2.0 */
/* testing.h - what every unit test includes: cmocka, and assertions for varve's own types. */
#ifndef VARVE_TESTS_TESTING_H
#define VARVE_TESTS_TESTING_H

#include "base/err.h"
#include "base/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Success; otherwise the chain is printed. */
static inline void assert_ok_at(struct err *err, const char *expr, const char *file, int line)
{
    if (!err)
        return;
    for (const struct err *e = err; e; e = e->cause)
        print_error("%s: E%06d: %s\n", expr, e->code, e->text);
    err_free(err);
    _fail(file, line);
}
#define assert_ok(expr) assert_ok_at((expr), #expr, __FILE__, __LINE__)

/* A failure whose chain holds CODE and, where TEXT is not NULL, an error whose text contains TEXT.
 */
static inline void assert_err_at(struct err *err, int code, const char *text, const char *expr,
                                 const char *file, int line)
{
    _Bool text_found = !text;
    for (const struct err *e = err; e && text; e = e->cause)
        text_found |= strstr(e->text, text) != NULL;
    if (!err_has(err, code) || !text_found) {
        print_error("%s: wanted E%06d '%s', got:\n", expr, code, text ? text : "");
        for (const struct err *e = err; e; e = e->cause)
            print_error("  E%06d: %s\n", e->code, e->text);
        err_free(err);
        _fail(file, line);
    }
    err_free(err);
}
#define assert_err(expr, code, text)                                                               \
    assert_err_at((expr), (code), (text), #expr, __FILE__, __LINE__)

static inline void assert_str_at(struct str got, struct str want, const char *expr,
                                 const char *file, int line)
{
    if (str_eq(got, want))
        return;
    print_error("%s is '%.*s', not '%.*s'\n", expr, STR(got), STR(want));
    _fail(file, line);
}
#define assert_str(got, want)    assert_str_at((got), S(want), #got, __FILE__, __LINE__)
#define assert_str_eq(got, want) assert_str_at((got), (want), #got, __FILE__, __LINE__)

#endif
