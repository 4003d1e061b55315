#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill.sh [COUNT]: loads and commits that share a batch, ended by SIGKILL at a random moment, COUNT times. After each:
# `svnadmin recover`, a commit by stock and recover, or a commit by varve and recover; stock's verify passes, and
# everything that was acknowledged is in HEAD.
set -u
. "$(dirname "$0")/../interop/helpers/lib.sh"
COUNT=${1:-12}
RANDOM=${SEED:-7}
R=$T/root/repos
CLIENTS=6 REVISIONS=3000

# REVISIONS revisions, each of one folder: its name is the revision's number.
stream() {
    printf 'SVN-fs-dump-format-version: 2\n\n'
    for ((i = 1; i <= REVISIONS; i++)); do
        printf 'Revision-number: %d\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n' "$i"
        printf 'Node-path: n%d\nNode-kind: dir\nNode-action: add\n\n\n' "$i"
    done
}
pause() { sleep "0.$(printf '%03d' $((RANDOM % $1 + 5)))"; } # pause MILLISECONDS: up to as many
kill_now() { kill -9 "$1" 2>/dev/null; wait "$1" 2>/dev/null; }

killed_load() {
    "$VARVE" load "$R" <"$T/stream" >"$T/told" 2>&1 &
    local pid=$!
    pause 400
    kill_now $pid
    # A line that the kill cut says nothing.
    sed -n 's/^-* Committed revision \([0-9][0-9]*\) >>>$/n\1/p' "$T/told" >"$T/acknowledged"
}
client() { # client NUMBER: folders, one after the other, named as they are acknowledged
    for i in $(seq 500); do
        svn mkdir -q -m x "$URL_varve/repos/c$1-$i" 2>/dev/null || return
        echo "c$1-$i"
    done >>"$T/acknowledged"
}
killed_commits() {
    local clients=() i
    : >"$T/acknowledged"
    start_varve "$T/root"
    for ((i = 0; i < CLIENTS; i++)); do client $i & clients+=($!); done
    sleep 0.2
    pause 600
    kill_now "$PID_varve"
    wait "${clients[@]}"
}

above_head() { # how many revision files are above the head
    find "$R/db/revs" -type f -name '[0-9]*' | sed 's,.*/,,' |
        awk -v head="$(youngest "$R")" '$0 > head + 0 { n++ } END { print n + 0 }'
}
judge() { # judge WHAT: what the kill left, and what is made of it
    case $1 in
    stock) svn mkdir -q -m x "file://$R/after" && echo after >>"$T/acknowledged" ;;
    varve) printf '%s\n\n' 'SVN-fs-dump-format-version: 2' 'Revision-number: 1
Prop-content-length: 10
Content-length: 10

PROPS-END' 'Node-path: after
Node-kind: dir
Node-action: add' | "$VARVE" load -q "$R" && echo after >>"$T/acknowledged" &&
        [ -z "$(find "$R/db" -name '*.tmp')" ] ;;
    esac || return
    svnadmin recover "$R" >/dev/null && svnadmin verify -q "$R" &&
        svn list "file://$R" | sed 's,/$,,' | sort >"$T/listed" &&
        sort "$T/acknowledged" | comm -23 - "$T/listed" | sed 's/^/lost: /' >"$T/lost" &&
        cat "$T/lost" && [ ! -s "$T/lost" ]
}

mkdir "$T/root"
stream >"$T/stream"
acts=(load commits) afters=(recover stock varve) cut=0 acknowledged=0
for ((n = 0; n < COUNT; n++)); do
    act=${acts[n % 2]} after=${afters[n / 2 % 3]}
    rm -rf "$R" && svnadmin create "$R" && allow_everything "$R"
    "killed_$act"
    acknowledged=$((acknowledged + $(wc -l <"$T/acknowledged")))
    [ "$(youngest "$R")" -gt 0 ] && cut=$((cut + 1))
    above=$(above_head)
    judge "$after" >"$T/judged" 2>&1 && [ "$above" -le 1 ]
    result $? "$n: $act killed at r$(youngest "$R"), $above above it; then $after" || explain <"$T/judged"
done
[ "$cut" -gt 0 ] && [ "$acknowledged" -gt 0 ]
result $? "kills met work: $cut of $COUNT, $acknowledged revisions were acknowledged"
done_testing
