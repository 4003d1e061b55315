#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A repository that varve writes is no more than 3 % larger than stock's of the same history.
set -u
. "$(dirname "$0")/helpers/lib.sh"

size() { find "$1/db/revs" "$1/db/revprops" -type f -printf '%s\n' | awk '{n += $1} END {print n}'; }

compare() { # compare NAME FORMAT DUMP
    create svnadmin "$2" "$T/stock"
    create "$VARVE" "$2" "$T/varve"
    load svnadmin "$T/stock" "$3" && load "$VARVE" "$T/varve" "$3"
    local stock varve
    stock=$(size "$T/stock") varve=$(size "$T/varve")
    [ "$varve" -gt 0 ] && [ $((varve * 100)) -le $((stock * 103)) ]
    result $? "$1, format $2: $varve bytes, stock $stock"
    rm -rf "$T/stock" "$T/varve"
}

"$HERE/../../../bench/generate" --shape small --revisions 600 >"$T/history.dump"
for format in 1 4 6 7 8; do
    compare "sample history" $format "$(sample --small)"
    compare "generated history" $format "$T/history.dump"
done
done_testing
