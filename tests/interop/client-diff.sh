#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# status -u and diff, in all their forms.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 6

status_u() {
    svn checkout -q -r 12 "$URL/trunk" wc && cd wc
    svn status -u; svn status -u -v; svn status -u -v -r 20
    echo edit >>README; svn rm -q odd/1; svn propset -q p v src
    svn status -u
    svn status -u --depth files; svn status -u --depth immediates src
    svn status -u --xml
    svn status -u src/main.c README
}
both_in_any_order "status -u" status_u

status_gone() {
    svn checkout -q -r 30 "$URL/branches/two" wc
    svn checkout -q -r 19 "$URL/branches/two/src" gone
    svn status -u -v wc; svn status -u gone
}
both_in_any_order "status -u of moved and deleted directories" status_gone

diff_revisions() {
    svn diff -r 2:9 "$URL/trunk"
    svn diff -r 28:20 "$URL"
    svn diff -c 15 "$URL"; svn diff -c 33 "$URL"; svn diff -c -12 "$URL"
    svn diff --summarize -r 10:60 "$URL"
    svn diff --summarize --xml -r 20:40 "$URL"
    svn diff -r 20:30 --depth files "$URL/trunk/src"
}
both_in_any_order "diff of revisions" diff_revisions

diff_urls() {
    svn diff "$URL/trunk@40" "$URL/branches/feature@40"
    svn diff "$URL/branches/feature" "$URL/trunk" --summarize
    svn diff --old "$URL/trunk" --new "$URL/branches/one" src
    svn diff "$URL/trunk/src/main.c@3" "$URL/trunk/src/copied.c@60"
    svn diff --notice-ancestry "$URL/trunk/r@27" "$URL/trunk/r@28"
    svn diff --show-copies-as-adds -c 19 "$URL"
    svn diff --git -c 21 "$URL"
    svn diff --properties-only -r 12:16 "$URL/trunk"
    svn diff --no-diff-deleted -c 25 "$URL" | head -n 100
    svn diff "$URL/nope" "$URL/trunk"
}
both_in_any_order "diff of two places" diff_urls

diff_wc() {
    svn checkout -q -r 40 "$URL/trunk" wc && cd wc
    sed -i '5s/$/ local/' src/main.c; svn rm -q src/lib/b.c; echo new >new; svn add -q new
    svn diff; svn diff -r 20; svn diff -r HEAD src; svn diff -r BASE:HEAD --summarize
    svn diff -r 2:BASE src; svn diff -r PREV src/main.c; svn diff -r COMMITTED src
    svn diff --old . --new "$URL/branches/feature" src
}
both_in_any_order "diff of a working copy" diff_wc

diff_patch() {
    svn checkout -q -r 30 "$URL/trunk/src" wc
    svn diff -r 30:60 "$URL/trunk/src@60" >changes
    svn patch changes wc && rm changes && svn status wc
}
both_in_any_order "diff and patch" diff_patch
done_testing
