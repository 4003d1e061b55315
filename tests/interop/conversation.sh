#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Raw conversations with varve serve and stock svnserve, good and bad: the same answers where both serve, no harm where
# the peer is hostile; and peers that leave at any point leave nothing behind.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8
talk() { timeout 300 python3 "$HERE/conversation.py" "$@"; }

# ---- the same answers ------------------------------------------------------------------------
# Tolerated: the words of some errors (OTHER_WORDS in conversation.py), never their codes.
talk say-all "$PORT_stock" agreed "$T/told-stock"
talk say-all "$PORT_varve" agreed "$T/told-varve"
for told in "$T"/told-stock/*; do
    same "$(basename "$told")" "$T/told-varve/$(basename "$told")" "$told"
done
[ "$(ls "$T/told-stock" | wc -l)" -gt 60 ]
result $? "all conversations were held"

# ---- what a server has while nobody is there -----------------------------------------------------
as_before() { [ "$(sockets)" = 1 ] && [ "$(threads)" -le "$THREADS" ] && [ "$(descriptors)" -le "$DESCRIPTORS" ]; }
at_rest() {
    within 15 as_before && return
    echo "sockets $(sockets), descriptors $(descriptors) of $DESCRIPTORS, threads $(threads) of $THREADS"
    return 1
}
nothing_left() {
    at_rest || return 1
    local left
    left=$(find "$T/varve/repos/db/transactions" "$T/varve/repos/db/txn-protorevs" -mindepth 1 | head -n 3)
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# A large file, a commit and an export: what the server keeps from then on (its pool, its cache, files of the repository) is not counted.
head -c 60000000 /dev/urandom >"$T/large"
check "a large file is committed" svnmucc -m large put "$T/large" "$URL_varve/repos/trunk/large"
check "and exported" svn export -q "$URL_varve/repos" "$T/export"
sleep 1
DESCRIPTORS=$(descriptors) THREADS=$(threads)
HEAD=$(youngest "$T/varve/repos")

# ---- peers that leave ---------------------------------------------------------------------------
for name in "at once" "after half a greeting" "before it is told of the repository" "within a command" "within a report" "before an export" \
    "within a commit" "within a large text"; do
    for manner in fin reset; do
        talk leave "$PORT_varve" "$name" "$manner"
        check "a client that leaves $name ($manner) leaves nothing behind" nothing_left
    done
done
talk leave-export "$PORT_varve" 5
check "a client that leaves while it is sent a file leaves nothing behind" nothing_left
is "none of them committed" "$(youngest "$T/varve/repos")" "$HEAD"

# ---- errors while the client is sending ----------------------------------------------------------
talk flood "$PORT_varve" 50 >"$T/flood"
grep -q "failure ( 160028 \|failure ( 170004 " "$T/flood" && tail -n 1 "$T/flood" | grep -q "^( success ( $HEAD ) )"
result $? "a commit that failed early takes 50 MB more, and the session goes on"
check "and leaves nothing behind" nothing_left

# ---- hostile peers ----------------------------------------------------------------------------------
talk say-all "$PORT_varve" hostile "$T/told-hostile"
! grep -l "<hangs>" "$T"/told-hostile/* >"$T/hanging"
result $? "no hostile conversation hangs"
! grep -l "root:" "$T"/told-hostile/* >"$T/leaking"
result $? "none reads what is outside the repository"
for name in "ends within a text" "ends within a file" "never opens the root" "opens a text twice" "commits a path that leaves" "deletes the root"; do
    grep -q "^( failure " "$T/told-hostile/$name"
    result $? "refused: a commit that $name"
done
check "nothing is left behind by hostile peers" nothing_left
check "the server still serves" svn info "$URL_varve/repos"
check "stock verifies the repository" svnadmin verify -q "$T/varve/repos"

# ---- limits ---------------------------------------------------------------------------------------------
ROOT=$T/varve start limited "$VARVE" serve --max-request-size 1
talk big-request "$PORT_limited" 500000 >"$T/small"
! grep -q "failure ( 210009" "$T/small"
result $? "a request within --max-request-size is served"
talk big-request "$PORT_limited" 1100000 >"$T/big"
grep -q "failure ( 210009" "$T/big"
result $? "a request over --max-request-size is refused with E210009"
done_testing
