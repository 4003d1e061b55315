#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory of the server: never more than docs/admin.md states, whatever clients ask; others are served meanwhile. The
# server may have what the formula says and a tenth; an allocation beyond that would be its end.
set -u
. "$(dirname "$0")/helpers/lib.sh"
sanitized && skip_all "sanitizers take more"

CACHE=16 CLIENTS=100 REQUESTS=96 COMMIT=32 COMMITS=6
FORMULA=$((64 + CACHE + CLIENTS + REQUESTS + COMMITS * COMMIT)) # in MB

mkdir "$T/root"
create svnadmin 8 "$T/root/repos"
printf '[general]\nanon-access = write\n' >"$T/root/repos/conf/svnserve.conf"
head -c 3000000 /dev/urandom >"$T/large"
echo small >"$T/small"
puts=(put "$T/small" file mkdir dir)
for i in 1 2 3 4 5 6 7 8; do puts+=(put "$T/large" "large$i"); done
command svnmucc -m r1 -U "file://$T/root/repos" "${puts[@]}" put "$T/large" large >"$T/out"
command svnmucc -m r2 -U "file://$T/root/repos" propset svn:mergeinfo "$(printf '/trunk%d:1\n' $(seq 2000))" dir >"$T/out"
python3 "$HERE/memory.py" --dump | "$VARVE" load -q --no-flush-to-disk "$T/root/repos"
puts=(mkdir heap)
for ((i = 0; i < 64; i++)); do
    head -c 3000000 /dev/urandom >"$T/heap$i"
    puts+=(put "$T/heap$i" "heap/$i")
done
command svnmucc -m heap -U "file://$T/root/repos" "${puts[@]}" >"$T/out"

# What is freed goes back at once: the address space is what is counted.
limited() {
    ulimit -v $((FORMULA * 1024 * 11 / 10))
    MALLOC_CONF=retain:false,dirty_decay_ms:0,muzzy_decay_ms:0 exec "$VARVE" "$@"
}
ROOT=$T/root start varve limited serve -M $CACHE --max-connections $CLIENTS --max-request-memory 32 \
    --max-requests-memory $REQUESTS --max-commit-memory $COMMIT

sed -n 's/^    {S("\([a-z0-9-]*\)"), cmd_.*/\1/p' "$HERE/../../../src/svn/session.c" >"$T/commands"
[ "$(wc -l <"$T/commands")" -gt 30 ] &&
    while read -r command; do
        grep -q "( $command (" "$HERE/memory.py" "$HERE/conversation.py" || echo "$command"
    done <"$T/commands" >"$T/out"
is "every command is among what is asked" "$(<"$T/out")" ""

while read -r wanted attack; do
    timeout 100 python3 "$HERE/memory.py" "$PORT_varve" "$attack" >"$T/out" 2>&1
    is "$attack: $wanted, others are served" "$(head -n 2 "$T/out" | tr '\n' ' ')" "served $wanted "
    sed 1,2d "$T/out" | explain
    kill -0 "$PID_varve" 2>/dev/null || { is "the server is up" "$(tail -n 2 "$T/varve.out")" ""; break; }
done < <(python3 "$HERE/memory.py" --list)
grep VmPeak "/proc/$PID_varve/status" | explain
echo "# of $((FORMULA * 1024)) kB"

# ---- who takes nothing -------------------------------------------------------------------------
# 60 texts of 3 MB that are being sent, and nobody takes them: 180 MB, if all were to wait for the end.
stop varve
CLIENTS=80 REQUESTS=32
FORMULA=$((64 + CACHE + CLIENTS + REQUESTS))
ROOT=$T/root start varve limited serve -M $CACHE --max-connections $CLIENTS --max-request-memory 16 \
    --max-requests-memory $REQUESTS --max-commit-memory 1
timeout 100 python3 "$HERE/memory.py" "$PORT_varve" --stalled >"$T/out" 2>&1
is "who wants little is served at once, who wants a text when those who take nothing are gone; they are told" "$(<"$T/out")" \
    "$(printf 'served\nserved\nE210003 The client made no progress within 5 seconds, and others want the memory that its request takes')"
kill -0 "$PID_varve" 2>/dev/null
result $? "the server is up" || tail -n 2 "$T/varve.out" | explain
grep VmPeak "/proc/$PID_varve/status" | explain
echo "# of $((FORMULA * 1024)) kB"
done_testing
