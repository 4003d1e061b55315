/* SPDX-License-Identifier: Apache-2.0 */
/* fresh.h - repositories that change behind the filesystem's back: opened afresh, with nothing
 * cached. */
#ifndef VARVE_TESTS_FSFS_FRESH_H
#define VARVE_TESTS_FSFS_FRESH_H

#include "base/cache.h"
#include "stock.h"

/* Valid until the next call. */
static MAY_BE_UNUSED struct fsfs *fresh_open(struct stock *stock, const char *name)
{
    static struct fsfs *open;
    fsfs_close(open);
    cache_clear();
    return open = stock_open(stock, name);
}

#endif
