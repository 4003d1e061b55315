#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A server that runs out of descriptors says so: to clients, and in its log. Nothing is called
# damaged or missing, since nothing is; and when there are descriptors again all is well.
set -u
. "$(dirname "$0")/helpers/lib.sh"

CLIENTS=20 ROUNDS=3
mkdir "$T/root"
create "$VARVE" 8 "$T/root/repo"
load "$VARVE" "$T/root/repo" "$(sample --small)"
start_stock "$T/root"
HEAD=$(youngest "$T/root/repo")
command svn export -q -r "$HEAD" "$URL_stock/repo" "$T/wanted"
tree "$T/wanted" | sed 's/ wanted/ got/' >"$T/wanted.tree"

client() { # client NUMBER ROUND: what it is told goes to told.NUMBER.ROUND
    local out=$T/told.$1.$2
    case $(($1 % 4)) in
    0) svn export -q -r "$HEAD" "$URL_varve/repo" "$T/got.$1" && tree "$T/got.$1" | cmp - "$T/wanted.tree"; rm -rf "$T/got.$1" ;;
    1) svn log -v "$URL_varve/repo" >/dev/null ;;
    2) svn mkdir -q -m message "$URL_varve/repo/made-$1-$2" ;;
    3) svn ls -vR "$URL_varve/repo" >/dev/null && svn ps -q --revprop -r 1 svn:log "$1-$2" "$URL_varve/repo" ;;
    esac >"$out" 2>&1
}

for limit in 20 28; do
    rm -f "$T"/told.* "$T/varve.log"
    ROOT=$T/root start varve prlimit --nofile=$limit:$limit "$VARVE" serve
    for round in $(seq $ROUNDS); do
        pids=()
        for i in $(seq $CLIENTS); do client "$i" "$round" & pids+=($!); done
        wait "${pids[@]}"
    done
    cat "$T"/told.* "$T/varve.log" "$T/varve.out" >"$T/said"
    grep -iE "corrupt|damaged|malformed|No repository|No such revision|not found|non-existent|Another|differ" "$T/said" |
        sort | uniq -c >"$T/blame"
    is "with $limit descriptors nothing is called damaged or missing" "$(head -n 5 "$T/blame")" ""
    check "  clients were told what it was" grep -q "Too many open files" "$T/said"
    check "  afterwards the server answers" svn log -q -l 1 "$URL_varve/repo"
    stop varve
done
done_testing
