#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# svnrdump: dump streams read through the server, whole, in ranges and of parts, byte for byte as through
# stock svnserve; and loaded through it.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
command -v svnrdump >/dev/null || skip_all "svnrdump is not installed"
serve_both 8 --brief

svnrdump() { command svnrdump --config-dir "$T/config" --non-interactive "$@"; }

dumped() { # dumped ARGUMENT...: a digest of the stream, and what was said beside it
    svnrdump dump "$@" >"$T/$SIDE.stream" 2>"$T/$SIDE.said"
    echo "$*: exit $?: $(wc -c <"$T/$SIDE.stream") $(md5sum <"$T/$SIDE.stream")" && cat "$T/$SIDE.said"
}

# ---- dump ----------------------------------------------------------------------------------

svnadmin dump -q -r 0:20 "$T/stock/repos" >"$T/young"

whole() { dumped -q "$URL" && cp "$T/$SIDE.stream" "$T/$SIDE.whole" && dumped "$URL" -r 0:4; }
both "a dump of everything" whole

reloaded() { # what was dumped is what is there
    create svnadmin 8 "$T/reloaded" && svnadmin load -q --no-flush-to-disk "$T/reloaded" <"$T/varve.whole" &&
        cmp <(svnadmin dump -q "$T/reloaded") <(svnadmin dump -q "$T/varve/repos")
}
check "which gives the same repository again" reloaded

ranges() {
    local range
    for range in 0 1 17 2:9 16:24 28:34 60:62 69:HEAD HEAD; do
        dumped -q "$URL" -r $range; dumped -q --incremental "$URL" -r $range
    done
    dumped -q "$URL" -r 9:2; dumped -q "$URL" -r 9999; dumped -q "$URL" -r 5:9999; dumped -q "$URL" -r '{2001-09-10}:30'
    dumped --incremental -r 14:15 "$URL"
}
both "ranges, also incremental" ranges

# A copy from outside the part comes as all that it holds, which stock tells in the order of a hash.
dumped_lines() {
    svnrdump dump "$@" >"$T/$SIDE.stream" 2>"$T/$SIDE.said"
    echo "$*: exit $?: $(wc -c <"$T/$SIDE.stream") $(LC_ALL=C sort -s "$T/$SIDE.stream" | md5sum)" && cat "$T/$SIDE.said"
}
parts() {
    local part
    for part in trunk trunk/src branches/two branches/one/src/lib tags trunk/r trunk/r/f trunk/names nope; do
        dumped_lines -q "$URL/$part"
    done
    dumped_lines -q "$URL/trunk/src" -r 3:40; dumped_lines -q --incremental "$URL/branches/feature" -r 34:40; dumped_lines -q "$URL/trunk@3" -r 1:3
}
both "parts of the tree" parts

# ---- load -----------------------------------------------------------------------------------

# target NAME [FORMAT]: an empty repository beside the other.
target() { twin "$T/$SIDE/$1" "${2:-}"; }
unlocked() { svn propdel -q --revprop -r 0 svn:rdump-lock "$(beside "$1")"; } # a load that failed leaves its lock behind
beside() { echo "${URL%/repos}/$1"; }
holds() { svnadmin dump -q "$T/$SIDE/$1" | sed -E 's/^20[2-9][0-9]-[0-9T:.-]+Z$/NOW/' | md5sum; svnadmin verify -q "$T/$SIDE/$1"; }

loads() {
    target all && svnrdump load "$(beside all)" <"$T/stock.whole" | grep -c Loaded; holds all
    target old 4 && svnrdump load -q "$(beside old)" <"$T/young"; holds old
}
both "a load of everything" loads

same_as_source() {
    cmp <(svnadmin dump -q -r 1:HEAD "$T/varve/all" | grep -a -v '^UUID:') \
        <(svnadmin dump -q -r 1:HEAD "$T/varve/repos" | grep -a -v '^UUID:')
}
check "gives the same history" same_as_source

into_more() { # onto what is there, with and without some properties, and into a folder
    target more && svn mkdir -q -m one "$(beside more)/one" "$(beside more)/trunk"
    svnadmin dump -q --deltas "$REPOS" -r 1:12 >"$T/$SIDE.part"
    svnrdump load "$(beside more)" <"$T/$SIDE.part"; unlocked more; svnrdump load -q "$(beside more)/one" <"$T/$SIDE.part"; holds more
    target skip && svnrdump load -q --skip-revprop svn:author --skip-revprop svn:log "$(beside skip)" <"$T/$SIDE.part"
    svn log -q -r 1:3 "$(beside skip)"; holds skip
}
both "into what is not empty, and without some properties" into_more

refusals() {
    target strict && rm "$T/$SIDE/strict/hooks/pre-revprop-change" && svnrdump load "$(beside strict)" <"$T/stock.part"
    target busy && head -c 20000 "$T/stock.part" | svnrdump load -q "$(beside busy)"; svnlook youngest "$T/$SIDE/busy"
    svn proplist --revprop -v -r 0 "$(beside busy)" | sed -E 's/[0-9a-f-]{36}/UUID/; s/^( +)[^ ]+:UUID/\1HOST:UUID/'; unlocked busy
    svnrdump load "$(beside nowhere)" <"$T/stock.part"; svnrdump dump "$(beside nowhere)"; unlocked busy
    printf '#!/bin/sh\nsvnlook changed -t "$2" "$1" >&2; exit 1\n' >"$T/$SIDE/busy/hooks/pre-commit" && chmod +x "$T/$SIDE/busy/hooks/pre-commit"
    svnrdump load "$(beside busy)" <"$T/stock.part"
}
both_in_any_order "loads that are refused" refusals

same_history "after all"
done_testing
