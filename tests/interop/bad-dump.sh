#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dump streams that are cut off, altered or never were any: refused at the same place and for
# the same reason as by stock, with a sound repository left behind.
set -u
. "$(dirname "$0")/lib.sh"
LIMIT=20 # seconds

svnadmin create "$T/empty"
cp -a "$T/empty" "$T/source"
svnadmin load -q -r 0:20 "$T/source" <"$(sample --small)"
svnadmin dump -q -r 0:12 "$T/source" >"$T/good.dump"

loads_like_stock() { # loads_like_stock NAME FILE: the same verdict, and no crash
    local stock varve
    rm -rf "$T/a" "$T/b"
    cp -a "$T/empty" "$T/a" && cp -a "$T/empty" "$T/b"
    timeout $LIMIT svnadmin load -q --no-flush-to-disk "$T/a" <"$2" >/dev/null 2>"$T/stock.err"; stock=$?
    timeout $LIMIT "$VARVE" load -q --no-flush-to-disk "$T/b" <"$2" >/dev/null 2>"$T/varve.err"; varve=$?
    is "$1: exit status" $varve $stock
    is "$1: error" "$(grep -o 'E[0-9]\{6\}' "$T/varve.err" | tail -1)" "$(grep -o 'E[0-9]\{6\}' "$T/stock.err" | tail -1)"
    is "$1: revisions kept" "$(youngest "$T/b")" "$(youngest "$T/a")"
    check "$1: what was loaded is well" svnadmin verify -q "$T/b"
}

: >"$T/bad"
loads_like_stock "an empty stream" "$T/bad"
echo "hello" >"$T/bad"
loads_like_stock "not a dump stream" "$T/bad"
sed 's/dump-format-version: 2/dump-format-version: 9/' "$T/good.dump" >"$T/bad"
loads_like_stock "a version from the future" "$T/bad"
size=$(stat -c %s "$T/good.dump")
for part in 3 5 9; do
    head -c $((size * part / 10)) "$T/good.dump" >"$T/bad"
    loads_like_stock "a stream that ends after $part tenths" "$T/bad"
done
sed '0,/^Text-content-md5: ./s/^Text-content-md5: ./Text-content-md5: f/' "$T/good.dump" >"$T/bad"
loads_like_stock "a wrong checksum" "$T/bad"
sed 's/^Node-path: trunk\/src\/main.c/Node-path: trunk\/nope\/main.c/' "$T/good.dump" >"$T/bad"
loads_like_stock "a node in a directory that is not there" "$T/bad"
sed 's/^Node-action: change/Node-action: alter/' "$T/good.dump" >"$T/bad"
loads_like_stock "an unknown action" "$T/bad"
sed 's/^Prop-content-length: [0-9]*/Prop-content-length: 99999999999999999999/' "$T/good.dump" >"$T/bad"
loads_like_stock "a length beyond all numbers" "$T/bad"
sed 's/^Text-content-length: [0-9]*/Text-content-length: 9999999999/' "$T/good.dump" >"$T/bad"
loads_like_stock "a text longer than the stream" "$T/bad"
sed 's/^K 7$/K 700/' "$T/good.dump" >"$T/bad"
loads_like_stock "a property name longer than its block" "$T/bad"
sed 's/^Node-copyfrom-rev: .*/Node-copyfrom-rev: 999/' "$(sample --small)" | head -c 5000000 >"$T/bad"
loads_like_stock "a copy from a revision that is not there" "$T/bad"
done_testing
