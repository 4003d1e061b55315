/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - errors as values.
 *
 * Anything that can fail returns `struct err *`; NULL is success. An error holds a code
 * (errcode.h, or an errno value), a text that names the object, and the error that caused
 * it. The outermost error is the most general one; wire and tools print the chain from
 * outermost to innermost.
 *
 * Ownership: who receives an error either returns it, hands it to err_wrap, or frees it.
 * Allocation failure is not an error value: the process reports it and aborts, since no
 * size that comes from outside reaches an allocation unchecked. */
#ifndef VARVE_BASE_ERR_H
#define VARVE_BASE_ERR_H

#include "base/errcode.h"
#include <stddef.h>

struct err {
    int code;          /* E_* of errcode.h, or an errno value */
    char *text;        /* may be empty: the reader then knows a default for the code */
    struct err *cause; /* or NULL */
    _Bool is_limit;    /* it, or what caused it, is a bound on the memory that we take */
};

/* A new error. */
struct err *err_make(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

/* A new error for an errno value: the text gets ": " and the system's words behind it. */
struct err *err_errno(int errnum, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

/* An error around CAUSE, which it owns from now on. CODE 0 takes the code of CAUSE. NULL stays
 * NULL. */
struct err *err_wrap(struct err *cause, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), warn_unused_result));

/* Append LATER (may be NULL) to the end of FIRST's chain (may be NULL); returns the chain. */
struct err *err_join(struct err *first, struct err *later) __attribute__((warn_unused_result));

/* Free an error and its causes; NULL is fine. */
void err_free(struct err *err);

/* True if ERR or one of its causes has CODE. */
_Bool err_has(const struct err *err, int code);

/* True where ERR is a failure of the machine: its code is an errno value, or we were about to take
 * more of it than we may. */
_Bool err_is_system(const struct err *err);

/* err_wrap for a text that calls damaged what was read. A failure of the machine passes as it is:
 * what could not be read may be sound. */
struct err *err_blame(struct err *cause, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), warn_unused_result));

/* Print the chain to stderr as the tools do: "PROG: E160004: text\n", one line per error. */
void err_print(const struct err *err, const char *prog);

/* The same as a warning: "PROG: warning: W160004: text\n". */
void err_print_warning(const struct err *err, const char *prog);

/* Tell the administrator of ERR, after which all goes on: to standard error as a warning, or to who
 * asked for it with err_warn_to (before there are other threads; TELL NULL: standard error again).
 */
void err_warn(const struct err *err);
void err_warn_to(void (*tell)(void *arg, const struct err *err), void *arg);

/* Return from the calling function with the error of EXPR, if it has one. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        struct err *try_err_ = (expr);                                                             \
        if (__builtin_expect(try_err_ != NULL, 0))                                                 \
            return try_err_;                                                                       \
    } while (0)

/* Jump to LABEL with the error of EXPR in the variable ERR, if it has one. */
#define TRY_GOTO(err, expr, label)                                                                 \
    do {                                                                                           \
        (err) = (expr);                                                                            \
        if (__builtin_expect((err) != NULL, 0))                                                    \
            goto label;                                                                            \
    } while (0)

#endif
