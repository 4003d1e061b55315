/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err *err_new(int code, struct err *cause, const char *fmt, va_list args)
{
    struct err *err = mem_alloc(sizeof *err);
    err->code = code;
    err->cause = cause;
    err->is_limit = cause && cause->is_limit;
    if (vasprintf(&err->text, fmt, args) < 0)
        err->text = mem_strdup(fmt);
    return err;
}

struct err *err_make(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct err *err = err_new(code, NULL, fmt, args);
    va_end(args);
    return err;
}

/* The system's words for ERRNUM; strerror_r's GNU form may or may not use SPACE. */
static const char *errno_words(int errnum, char *space, size_t n)
{
    return strerror_r(errnum, space, n);
}

struct err *err_errno(int errnum, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct err *err = err_new(errnum, NULL, fmt, args);
    va_end(args);
    char space[128];
    char *text;
    if (asprintf(&text, "%s: %s", err->text, errno_words(errnum, space, sizeof space)) >= 0) {
        free(err->text);
        err->text = text;
    }
    return err;
}

struct err *err_wrap(struct err *cause, int code, const char *fmt, ...)
{
    if (!cause)
        return NULL;
    va_list args;
    va_start(args, fmt);
    struct err *err = err_new(code ? code : cause->code, cause, fmt, args);
    va_end(args);
    return err;
}

struct err *err_join(struct err *first, struct err *later)
{
    if (!first)
        return later;
    struct err *last = first;
    while (last->cause)
        last = last->cause;
    last->cause = later;
    return first;
}

void err_free(struct err *err)
{
    while (err) {
        struct err *cause = err->cause;
        free(err->text);
        free(err);
        err = cause;
    }
}

_Bool err_has(const struct err *err, int code)
{
    for (; err; err = err->cause) {
        if (err->code == code)
            return 1;
    }
    return 0;
}

_Bool err_is_system(const struct err *err)
{
    enum { SYSTEM_CODES_END = 120000 };
    return err->code < SYSTEM_CODES_END || err->is_limit;
}

struct err *err_blame(struct err *cause, int code, const char *fmt, ...)
{
    if (!cause || err_is_system(cause))
        return cause;
    va_list args;
    va_start(args, fmt);
    struct err *err = err_new(code ? code : cause->code, cause, fmt, args);
    va_end(args);
    return err;
}

/* One line for one error; one write, so that lines of several threads do not mix. */
static void print_line(const struct err *err, const char *prog, const char *kind, char letter)
{
    char space[128];
    const char *text = err->text;
    if (!*text)
        text = err->code < E_BAD_CONTAINING_POOL ? errno_words(err->code, space, sizeof space)
                                                 : "Unspecified error";
    AUTO_BUF(line);
    buf_printf(&line, "%s: %s%c%06d: %s\n", prog, kind, letter, err->code, text);
    fwrite(line.p, 1, line.n, stderr);
}

void err_print(const struct err *err, const char *prog)
{
    for (; err; err = err->cause)
        print_line(err, prog, "", 'E');
}

void err_print_warning(const struct err *err, const char *prog)
{
    for (; err; err = err->cause)
        print_line(err, prog, "warning: ", 'W');
}

static struct {
    void (*tell)(void *arg, const struct err *err);
    void *arg;
} warned;

void err_warn(const struct err *err)
{
    if (warned.tell)
        warned.tell(warned.arg, err);
    else
        err_print_warning(err, "varve");
}

void err_warn_to(void (*tell)(void *arg, const struct err *err), void *arg)
{
    warned.tell = tell;
    warned.arg = arg;
}
