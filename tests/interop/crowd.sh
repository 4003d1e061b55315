#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many clients at once, each connected all the time, doing checkouts, commits to files of their own
# and logs: all come to their end, the repository is whole, the server's memory stays within what
# docs/admin.md says. And clients that vanish anywhere leave nothing behind.
#
# usage: crowd.sh [CLIENTS [SECONDS]]      default: 200 clients, 5 seconds; the full load is 500 60
set -u
. "$(dirname "$0")/helpers/lib.sh"
clients=${1:-200} seconds=${2:-5}
go() { timeout $((seconds + 240)) python3 "$HERE/crowd.py" "$@"; }

mkdir "$T/root"
create svnadmin 8 "$T/root/repos" 64
load svnadmin "$T/root/repos" "$(sample --small)" >/dev/null
# The newest tree of the sample is large: what clients check out is smaller.
svn rm -q -m "less" "file://$T/root/repos/"{branches,tags} "file://$T/root/repos/trunk/"{many,large}
svn mkdir -q -m "what raw conversations speak of" "file://$T/root/repos/trunk/kept"
CACHE_MB=64
ROOT=$T/root start varve "$VARVE" serve -M $CACHE_MB

as_before() { [ "$(descriptors)" -le "$DESCRIPTORS" ] && [ "$(threads)" -le "$THREADS" ]; }
at_rest() {
    within 10 as_before && return
    echo "descriptors $(descriptors) of $DESCRIPTORS, threads $(threads) of $THREADS"
    ls -l "/proc/$PID_varve/fd"
    return 1
}
nothing_left() {
    local left
    left=$(find "$T/root/repos/db/transactions" "$T/root/repos/db/txn-protorevs" "$T/root/repos/db/locks" -mindepth 1 | head -n 3)
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

go work "$PORT_varve" 4 1 >"$T/out" # what the server has from now on: its pool, its cache
sleep 1
DESCRIPTORS=$(descriptors) THREADS=$(threads) BEFORE=$(youngest "$T/root/repos")

go work "$PORT_varve" "$clients" "$seconds" >"$T/out" 2>&1
grep '^#' "$T/out"
is "all clients come to their end" "$(grep -v '^#' "$T/out")" "$clients clients came to their end"
[ "$(youngest "$T/root/repos")" -ge $((BEFORE + clients)) ]
result $? "each of them has committed"
check "the server is at rest afterwards" at_rest
check "nothing is left behind" nothing_left
# The bound of docs/admin.md: the cache, 64 MB, and 1 MB for each client at work.
peak_kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$PID_varve/status")
echo "# peak memory $peak_kb kB with $clients clients"
if sanitized; then
    skip "memory stays within its bound" "sanitizers take more"
else
    [ "$peak_kb" -le $(((CACHE_MB + 64 + clients) * 1024)) ]
    result $? "memory stays within its bound"
fi

go vanish "$PORT_varve" $((clients * 2)) 7
check "after clients that vanish the server is at rest" at_rest
check "they leave nothing behind" nothing_left
check "commits go on" svn mkdir -m m "$URL_varve/repos/afterwards"
check "stock verifies the repository" svnadmin verify -q "$T/root/repos"
done_testing
