#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# log and mergeinfo: every option, every range.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8

log_plain() {
    svn log "$URL"; svn log -v "$URL"; svn log -q -v "$URL/trunk"
    svn log -v "$URL/trunk/src/lib"; svn log -v "$URL/trunk/src/lib/feature.c"
}
both "log and log -v" log_plain

log_merged() {
    svn log -g "$URL/trunk"; svn log -v -g "$URL/trunk"; svn log -g -v "$URL/branches/one"
    svn log -g -v -r 30:HEAD "$URL"; svn log -q -g -l 5 "$URL/trunk/src/main.c"
    svn log -g --xml -v "$URL/branches/one/src/main.c"
}
both "log -g" log_merged

log_ranges() {
    svn log -q -r 1:10 "$URL"; svn log -q -r 10:1 "$URL"; svn log -v -r HEAD:130 "$URL"
    svn log -c 3,7,-9 "$URL"; svn log -r 5 -r 9:7 "$URL"
    svn log -q -l 4 "$URL"; svn log -q -l 4 -r 1:HEAD "$URL/trunk"; svn log -l 0 -q "$URL"
    svn log -q -r '{2001-09-09T12:00}:{2001-09-10}' "$URL"
    svn log -q -r '{2000-01-01}:{2001-09-09T03:00}' "$URL"
    svn log -r 0 "$URL"; svn log -r 9999 "$URL"; svn log -r 0:3 -v "$URL"
}
both "log of ranges, dates and limits" log_ranges

log_histories() {
    svn log -q --stop-on-copy "$URL/branches/feature"; svn log -q "$URL/branches/feature"
    svn log -q "$URL/branches/two"; svn log -q "$URL/branches/two@23"; svn log -q "$URL/tags/mixed/doc"
    svn log -v "$URL/trunk/r/b"; svn log -q "$URL/trunk/r/f@28"; svn log -q "$URL/trunk/src/copied1.c"
    svn log -q "$URL" trunk/doc branches/one tags/one-file
    svn log -q "$URL/trunk" nope README; svn log "$URL/nope"; svn log "$URL/trunk/src@1"
    svn log -r 3:20 "$URL/branches/two@20"
}
both "log of copied, deleted and replaced things" log_histories

log_properties() {
    svn log --xml --with-all-revprops "$URL"; svn log --xml -v "$URL"
    svn log --xml --with-revprop x:binary --with-revprop svn:author -r 125:HEAD "$URL"
    svn log --xml --with-no-revprops -r 1:3 "$URL"
}
both "log --xml and revision properties" log_properties

log_search() {
    svn log --search branch "$URL"; svn log -v --search '*/names*' "$URL"
    svn log --search copy --search-and tag -q "$URL"; svn log --diff -c 3 "$URL/trunk"
    svn log -v --incremental -l 2 "$URL"
}
both "log --search and --diff" log_search

log_wc() {
    svn checkout -q -r 60 "$URL/trunk" wc && cd wc
    svn log -q; svn log -q -r BASE:1 src; svn log -q -r COMMITTED README; svn log -q -r HEAD:BASE
}
both "log of a working copy" log_wc

merge_information() {
    svn mergeinfo "$URL/branches/feature" "$URL/trunk"
    svn mergeinfo --show-revs merged "$URL/branches/feature" "$URL/trunk"
    svn mergeinfo --show-revs eligible "$URL/trunk" "$URL/branches/feature"
    svn mergeinfo --show-revs eligible --log "$URL/branches/feature" "$URL/branches/one"
    svn mergeinfo --show-revs merged -R "$URL/branches/feature" "$URL/branches/one"
    svn mergeinfo --show-revs merged "$URL/trunk/src" "$URL/branches/one/src"
    svn mergeinfo --show-revs eligible -r 5:30 "$URL/trunk" "$URL/branches/one"
    svn mergeinfo "$URL/nope" "$URL/trunk"
}
both "mergeinfo" merge_information
done_testing
