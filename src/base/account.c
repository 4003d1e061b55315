/* SPDX-License-Identifier: Apache-2.0 */
#include "base/account.h"

#include "base/buf.h"
#include <stdatomic.h>
#include <stdlib.h>

enum {
    STEP = 64 << 10, /* what an account takes from the total at once */
    OWNER = 1,       /* what the owner adds to what is used, as long as there is one */
};

struct account {
    atomic_size_t used;      /* and one more for the owner */
    atomic_size_t granted;   /* what it may use before it asks the total: free share and steps */
    atomic_bool refused;     /* the last step went beyond the total */
    atomic_size_t pinned;    /* bytes of objects: one that is held twice counts twice */
    atomic_bool pin_refused; /* one of them went beyond the total */
    struct account_terms terms;
};

_Thread_local struct account *account_current;

static atomic_size_t total_taken; /* read it by way of as_total */
static size_t total_limit;
static const char *total_text;

void account_set_total(size_t limit, const char *text)
{
    total_limit = limit;
    total_text = text;
}

/* What one thread has let go of and another one has not said yet that it holds may make SUM less
 * than nothing. */
static size_t as_total(size_t sum)
{
    return sum > SIZE_MAX / 2 ? 0 : sum;
}

size_t account_total(void)
{
    return as_total(atomic_load_explicit(&total_taken, memory_order_relaxed));
}

struct account *account_new(const struct account_terms *terms)
{
    struct account *account = mem_zalloc(sizeof *account);
    atomic_init(&account->used, OWNER);
    atomic_init(&account->granted, terms->free + OWNER);
    account->terms = *terms;
    return account;
}

/* What this thread has pinned more than let go, and has not said yet: objects come and go all the
 * time, and the total is everybody's. */
static _Thread_local ptrdiff_t pins_unsaid;

static void say_pins(void)
{
    atomic_fetch_add(&total_taken, (size_t)pins_unsaid); /* modulo 2^n, as unsigned numbers go */
    pins_unsaid = 0;
}

static void count_pins(ptrdiff_t bytes)
{
    pins_unsaid += bytes;
    if (pins_unsaid >= STEP || pins_unsaid <= -STEP)
        say_pins();
}

void account_pin(struct account *account, struct shared *object)
{
    if (!account)
        return;
    size_t bytes = object->bytes;
    size_t pinned =
        atomic_fetch_add_explicit(&account->pinned, bytes, memory_order_relaxed) + bytes;
    if (atomic_fetch_add_explicit(&object->pins, 1, memory_order_relaxed))
        return;
    count_pins((ptrdiff_t)bytes);
    if (pinned > account->terms.free && total_limit && account_total() > total_limit)
        atomic_store_explicit(&account->pin_refused, true, memory_order_relaxed);
}

void account_unpin(struct account *account, struct shared *object)
{
    if (!account)
        return;
    size_t bytes = object->bytes;
    size_t pinned =
        atomic_fetch_sub_explicit(&account->pinned, bytes, memory_order_relaxed) - bytes;
    if (pinned <= account->terms.free &&
        atomic_load_explicit(&account->pin_refused, memory_order_relaxed))
        atomic_store_explicit(&account->pin_refused, false, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&object->pins, 1, memory_order_relaxed) == 1)
        count_pins(-(ptrdiff_t)bytes);
}

void account_close(struct account *account)
{
    say_pins();
    account_credit(account, OWNER);
}

static size_t free_share(const struct account *account)
{
    return account->terms.free + OWNER;
}

static void take_steps(struct account *account, size_t n)
{
    size_t taken = as_total(atomic_fetch_add(&total_taken, n) + n);
    atomic_fetch_add(&account->granted, n);
    if (total_limit && taken > total_limit)
        atomic_store(&account->refused, true);
}

/* Keep KEEP (or the free share, where that is more) of what was granted. */
static void return_steps(struct account *account, size_t keep)
{
    size_t granted = atomic_load(&account->granted);
    if (keep < free_share(account))
        keep = free_share(account);
    while (granted > keep)
        if (atomic_compare_exchange_weak(&account->granted, &granted, keep)) {
            atomic_fetch_sub(&total_taken, granted - keep);
            atomic_store(&account->refused, false);
            return;
        }
}

void account_set_terms(struct account *account, const struct account_terms *terms)
{
    size_t before = account->terms.free;
    account->terms = *terms;
    if (terms->free >= before) { /* modulo 2^n, as unsigned numbers go */
        atomic_fetch_add(&account->granted, terms->free - before);
        return;
    }
    atomic_fetch_sub(&account->granted, before - terms->free);
    account_charge(account, 0);
}

void account_charge(struct account *account, size_t n)
{
    if (!account)
        return;
    size_t used = atomic_fetch_add_explicit(&account->used, n, memory_order_relaxed) + n;
    size_t granted = atomic_load_explicit(&account->granted, memory_order_relaxed);
    if (used > granted)
        take_steps(account, (used - granted + STEP - 1) / STEP * STEP);
}

void account_credit(struct account *account, size_t n)
{
    if (!account)
        return;
    /* Before the N are gone, which keep the account. Not at once: what goes up and down around a
     * step would always have to ask. */
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed) - n;
    size_t granted = atomic_load_explicit(&account->granted, memory_order_relaxed);
    if (granted > free_share(account) && used + 2 * STEP < granted)
        return_steps(account, used + STEP);
    if (atomic_fetch_sub_explicit(&account->used, n, memory_order_acq_rel) != n)
        return;
    atomic_fetch_sub(&total_taken, atomic_load(&account->granted) - free_share(account));
    free(account);
}

void *account_grow(struct account *account, void *array, size_t *cap, size_t size)
{
    size_t more = *cap ? *cap : 16;
    *cap += more;
    account_charge(account, more * size);
    return mem_realloc(array, *cap * size);
}

void account_release(struct account *account, void *array, size_t cap, size_t size)
{
    account_credit(account, cap * size);
    free(array);
}

static struct err *refusal(int code, const char *text)
{
    struct err *err = err_make(code, "%s", text);
    err->is_limit = true;
    return err;
}

struct err *account_check_more(const struct account *account, size_t extra)
{
    if (!account)
        return NULL;
    const struct account_terms *terms = &account->terms;
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed) - OWNER;
    if (terms->limit && (used > terms->limit || extra > terms->limit - used))
        return refusal(terms->code, terms->text);
    size_t granted = atomic_load_explicit(&account->granted, memory_order_relaxed);
    bool refused = atomic_load_explicit(&account->refused, memory_order_relaxed) ||
                   atomic_load_explicit(&account->pin_refused, memory_order_relaxed);
    size_t wanted = extra > granted || used + OWNER > granted - extra ? extra : 0;
    if (total_limit && !refused && wanted) {
        size_t taken = account_total();
        refused = taken > total_limit || wanted > total_limit - taken;
    }
    return refused ? refusal(terms->code, total_text) : NULL;
}

bool account_is_in_the_way(const struct account *account)
{
    return account && total_limit && account_total() > total_limit / 2 &&
           (atomic_load(&account->granted) > free_share(account) ||
            atomic_load(&account->pinned) > account->terms.free);
}
