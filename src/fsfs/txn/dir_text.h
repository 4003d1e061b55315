/* SPDX-License-Identifier: Apache-2.0 */
/* dir_text.h - the text of a changed directory, and its delta against the one before. */
#ifndef VARVE_FSFS_TXN_DIR_TEXT_H
#define VARVE_FSFS_TXN_DIR_TEXT_H

#include "delta/encode.h"
#include "delta/svndiff.h"
#include "fsfs/txn/txn_int.h"

/* The text of a directory, made of runs of the text that it had before and of what is new. */
struct dir_run {
    bool is_old;
    size_t at; /* in the old text where IS_OLD, else in the new one */
    size_t n;
};
struct dir_text {
    struct buf text;
    size_t old_n;         /* bytes of the old text */
    struct dir_run *runs; /* NULL where the old text was of no use */
    size_t run_count, run_cap;
    struct account *account; /* of the transaction, for the runs */
};
struct err *dir_text_make(struct dir_text *out, struct txn *txn, const struct txn_node *dir);
/* The svndiff of it against the old text, without a search. */
void dir_text_delta(struct buf *out, const struct dir_text *dt,
                    const struct svndiff_params *params);
void dir_text_free(struct dir_text *dt);

#endif
