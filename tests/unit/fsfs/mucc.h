/* SPDX-License-Identifier: Apache-2.0 */
/* mucc.h - edits of a transaction as lines, in the words of svnmucc:
 *
 *   mkdir P | touch P | put FILE P | rm P | cp REV FROM P | ps NAME VALUE P | pd NAME P
 *
 * Words have no spaces but '_' stands for one in VALUE. FILE is in the test's folder. REV may be B,
 * mucc_base. */
#ifndef VARVE_TESTS_FSFS_MUCC_H
#define VARVE_TESTS_FSFS_MUCC_H

#include "fsfs/txn/commit.h"
#include "stock.h"

static const char *mucc_root = ""; /* the folder that paths are below */
static revnum mucc_base;           /* the revision B */

static struct str mucc_path(struct stock *stock, struct str word)
{
    if (str_eq(word, S(".")))
        return *mucc_root ? str_of(mucc_root) : S("/");
    return arena_printf(stock->arena, "%s/%.*s", mucc_root, STR(word));
}

static struct err *mucc_put(struct stock *stock, struct txn *txn, struct str file, struct str path)
{
    AUTO_BUF(content);
    assert_ok(file_read_all(
        &content, arena_printf(stock->arena, "%s/%.*s", stock->root, STR(file)).p, 1u << 30));
    const struct txn_node *there;
    TRY(txn_find(&there, txn, path, stock->arena));
    if (!there)
        TRY(txn_make_file(txn, path));
    struct txn_text *text;
    TRY(txn_text_begin(&text, txn, path, NULL));
    for (struct str rest = buf_view(&content); rest.n; rest = str_skip(rest, 77777)) {
        struct err *err = txn_text_write(text, str_make(rest.p, rest.n < 77777 ? rest.n : 77777));
        if (err) {
            txn_text_abandon(text);
            return err;
        }
    }
    return txn_text_end(text, NULL, NULL);
}

static struct err *mucc_line(struct stock *stock, struct txn *txn, struct str line)
{
    struct str verb = str_word(&line), words[3];
    size_t n = 0;
    while (line.n && n < 3)
        words[n++] = str_word(&line);
    struct str path = mucc_path(stock, words[n - 1]);
    if (str_eq(verb, S("mkdir")))
        return txn_make_dir(txn, path);
    if (str_eq(verb, S("touch")))
        return txn_make_file(txn, path);
    if (str_eq(verb, S("put")))
        return mucc_put(stock, txn, words[0], path);
    if (str_eq(verb, S("rm")))
        return txn_delete(txn, path);
    if (str_eq(verb, S("pd")))
        return txn_set_prop(txn, path, words[0], NULL);
    if (str_eq(verb, S("ps"))) {
        struct str value = arena_str(stock->arena, words[1]);
        for (size_t i = 0; i < value.n; i++)
            if (value.p[i] == '_')
                ((char *)value.p)[i] = ' ';
        return txn_set_prop(txn, path, words[0], &value);
    }
    uint64_t rev = (uint64_t)mucc_base;
    assert_true(str_eq(verb, S("cp")) && (str_eq(words[0], S("B")) || num_u64(&rev, words[0])));
    return txn_copy(txn, path, (revnum)rev, mucc_path(stock, words[1]));
}

/* Apply LINES to TXN; stops at the first error. */
static MAY_BE_UNUSED struct err *mucc_edit(struct stock *stock, struct txn *txn, const char *lines)
{
    struct str text = str_of(lines), line;
    size_t pos = 0;
    while (str_line(&line, text, &pos))
        TRY(mucc_line(stock, txn, line));
    return NULL;
}

/* A transaction on the youngest revision with LINES applied. */
static MAY_BE_UNUSED struct txn *mucc_txn(struct stock *stock, struct fsfs *fs, const char *lines)
{
    revnum youngest;
    struct txn *txn;
    assert_ok(fsfs_youngest(&youngest, fs));
    assert_ok(txn_begin(&txn, fs, youngest));
    struct str log = S("m"), author = S("ann");
    txn_set_revprop(txn, S("svn:log"), &log);
    txn_set_revprop(txn, S("svn:author"), &author);
    assert_ok(mucc_edit(stock, txn, lines));
    return txn;
}

static MAY_BE_UNUSED revnum mucc_commit(struct stock *stock, struct fsfs *fs, const char *lines)
{
    static const struct commit_options options;
    revnum rev;
    assert_ok(txn_commit(&rev, NULL, mucc_txn(stock, fs, lines), &options));
    return rev;
}

#endif
