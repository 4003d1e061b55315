/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - who answers for memory.
 *
 * An account adds up what is taken from the system in somebody's name. Arenas, buffers and maps
 * charge it, block by block, with no help from those who use them: each belongs for good to the
 * account that was the thread's own when it was made. Without one (tools, worker threads) nothing
 * is counted.
 *
 *     struct account *account = account_new(&terms);
 *     struct account *outer = account_enter(account);
 *     ... account_check() in loops whose length a client decides ...
 *     account_enter(outer);
 *     account_close(account);
 *
 * An allocation never fails for want of credit: it makes the next check fail. So the check stands
 * where input is read, answers are written and places in the repository are looked up, and what is
 * taken between two checks has a bound.
 *
 * All accounts of the process share one total. An account takes from it in steps, and only what is
 * above its free share, so that small requests are served whoever fills the total.
 *
 * Shared objects (shared.h) that an account holds cannot be freed by the cache. They count in the
 * total too, each once, however many hold it. */
#ifndef VARVE_BASE_ACCOUNT_H
#define VARVE_BASE_ACCOUNT_H

#include "base/err.h"
#include "base/shared.h"
#include <stdbool.h>
#include <stddef.h>

struct account;

struct account_terms {
    size_t limit; /* bytes; 0: no limit of its own */
    size_t free;  /* of them, bytes that are not taken from the total */
    int code;     /* the error where a limit is met: this one, with TEXT, or the total's */
    const char *text;
};

/* The caller's, until it is closed: it goes when all that was charged has been given back. */
struct account *account_new(const struct account_terms *terms);
void account_close(struct account *account);
/* By the thread that uses it. */
void account_set_terms(struct account *account, const struct account_terms *terms);

/* What all accounts may take above their free shares; LIMIT 0: any amount. TEXT tells the one who
 * meets it. For the process, before the first account. */
void account_set_total(size_t limit, const char *text);
/* What they have taken. Threads that are alive may not have said yet what they hold of objects. */
size_t account_total(void);

/* The thread's account: NULL where nobody counts. */
extern _Thread_local struct account *account_current;
/* Make ACCOUNT the thread's own. Returns the one before. */
static inline struct account *account_enter(struct account *account)
{
    struct account *before = account_current;
    account_current = account;
    return before;
}

/* N bytes were taken, or given back: by any thread. ACCOUNT may be NULL. */
void account_charge(struct account *account, size_t n);
void account_credit(struct account *account, size_t n);

/* ARRAY on the heap, of *CAP elements of SIZE bytes, with room for twice as many (16 to begin
 * with), charged to ACCOUNT; and its end. */
void *account_grow(struct account *account, void *array, size_t *cap, size_t size);
void account_release(struct account *account, void *array, size_t cap, size_t size);

/* ACCOUNT (NULL is fine) holds OBJECT, or no longer does. As with memory, the next check fails if
 * it was too much. */
void account_pin(struct account *account, struct shared *object);
void account_unpin(struct account *account, struct shared *object);

/* Would ACCOUNT (NULL is fine) with EXTRA more bytes have too much? */
struct err *account_check_more(const struct account *account, size_t extra);
/* Has the thread's account? */
static inline struct err *account_check(void)
{
    return account_current ? account_check_more(account_current, 0) : NULL;
}
/* Does ACCOUNT hold a part of a total that is nearly used up? */
bool account_is_in_the_way(const struct account *account);

#endif
