#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A tree of 20,000 folders in each other: written, read by every command, verified, dumped, loaded. What
# the answers must be is tried with svnserve on one of 200. Each level costs the server the same.
set -u
. "$(dirname "$0")/helpers/lib.sh"
REVISIONS=10

served() { # served NAME: a repository that anna may write to
    mkdir -p "$T/$1"
    create svnadmin 8 "$T/$1/repos"
    printf '[general]\nanon-access = write\npassword-db = passwd\n' >"$T/$1/repos/conf/svnserve.conf"
    printf '[users]\nanna = secret\n' >"$T/$1/repos/conf/passwd"
}

right() { # right NAME ARGUMENT...: all that deep.py says is right
    timeout 500 python3 "$HERE/deep.py" "${@:2}" >"$T/said" 2>&1 && [ -s "$T/said" ] &&
        ! grep -v ': right$' "$T/said" >"$T/wrong"
    local status=$?
    result $status "$1"
    [ $status = 0 ] || grep -v ': right$' "$T/said" | explain
}

served stock
start_stock "$T/stock"
right "svnserve makes a tree" grow "$PORT_stock" $REVISIONS 20
right "svnserve reads it" read "$PORT_stock" $REVISIONS 20
right "svnserve changes it" change "$PORT_stock" $REVISIONS 20
stop stock

served varve
repos=$T/varve/repos
SERVE_OPTIONS="--max-commit-memory 4096" start_varve "$T/varve"
right "a tree of 20,000 levels is made" grow "$PORT_varve" $REVISIONS 2000
right "every command reads it" read "$PORT_varve" $REVISIONS 2000
peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$PID_varve/status")
if sanitized; then
    skip "that takes less than 300 MB beside what its answers say" "sanitizers take more"
else
    check "that takes less than 300 MB beside what its answers say" test "$peak" -lt 300000
fi

check "it is dumped" "$VARVE" dump -q -F "$T/dump" "$repos"
is "each folder once" "$(grep -a -c '^Node-kind: dir' "$T/dump")" $((REVISIONS * 2001 - 1))
create svnadmin 8 "$T/loaded"
check "loaded" "$VARVE" load -q -F "$T/dump" "$T/loaded"
check "verified" "$VARVE" verify -q "$T/loaded"
same "and is the same" <("$VARVE" dump -q "$T/loaded" | grep -a -v '^UUID') <(grep -a -v '^UUID' "$T/dump")
rm -rf "$T/loaded" "$T/dump"

right "its bottom is changed" change "$PORT_varve" $REVISIONS 2000
check "that revision is verified" "$VARVE" verify -q -r HEAD "$repos"

served once
stop varve
SERVE_OPTIONS="--max-commit-memory 4096" start_varve "$T/once"
right "8,000 levels are one commit" once "$PORT_varve" 8000
check "and verified" "$VARVE" verify -q "$T/once/repos"
done_testing
