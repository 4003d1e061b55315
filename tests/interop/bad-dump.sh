#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dump streams that are cut off, altered or never were any: refused at the same place and for
# the same reason as by stock, with a sound repository left behind.
set -u
. "$(dirname "$0")/helpers/lib.sh"
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
    svnadmin dump -q "$T/a" | grep -av ^UUID >"$T/a.dump"
    svnadmin dump -q "$T/b" | grep -av ^UUID >"$T/b.dump"
    same "$1: what they hold" "$T/b.dump" "$T/a.dump"
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

# Not quite right, and loaded all the same.
sed -E '/^Revision-number: 3$/,/^$/s/^(Prop-c|C)(ontent-length:) .*/\1\2 102/' "$T/good.dump" >"$T/bad"
loads_like_stock "a property block that is longer than declared" "$T/bad"
sed -E '/^Revision-number: 3$/,/^$/s/^(Prop-c|C)(ontent-length:) .*/\1\2 130/' "$T/good.dump" >"$T/bad"
loads_like_stock "a property block that is shorter than declared" "$T/bad"
sed -E 's/^(Text-content-(md5|sha1)): .*/\1: 00000000000000000000000000000000/; s/^(Text-content-sha1: .*)/\100000000/' "$T/good.dump" >"$T/bad"
loads_like_stock "digests that are not known" "$T/bad"
sed 's/^Text-content-sha1: ./Text-content-sha1: f/' "$T/good.dump" >"$T/bad"
loads_like_stock "wrong SHA-1 digests" "$T/bad"
sed -E 's/^(Revision-number: .*)/  # before a revision\n\1/; s/^(Node-[a-z]*):./\1:\t/' "$T/good.dump" >"$T/bad"
loads_like_stock "remarks and tabs" "$T/bad"
sed '/^Node-copyfrom-rev:/d' "$(sample --small)" | head -c 5000000 >"$T/bad"
loads_like_stock "copies from no revision" "$T/bad"
at=$(grep -abo '^Revision-number: 9$' "$T/good.dump" | cut -d: -f1)
for more in 5 19 40 120; do
    head -c $((at + more)) "$T/good.dump" >"$T/bad"
    loads_like_stock "a stream that ends $more bytes after its last whole revision" "$T/bad"
done

# Revision 0 is what the stream says it is, where there is nothing else.
printf 'SVN-fs-dump-format-version: 2\n\nRevision-number: 0\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n' >"$T/bad"
loads_like_stock "a revision 0 without properties" "$T/bad"
cat "$T/good.dump" "$T/bad" >"$T/both"
loads_like_stock "a revision 0 after others" "$T/both"

# A part of a history whose mergeinfo names what is not in that part.
printf 'SVN-fs-dump-format-version: 2\n\nRevision-number: 6\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\nNode-path: a\nNode-kind: dir\nNode-action: add\nProp-content-length: 49\nContent-length: 49\n\nK 13\nsvn:mergeinfo\nV 8\n/trunk:2\nPROPS-END\n\n\n' >"$T/bad"
loads_like_stock "mergeinfo that names revisions before the stream only" "$T/bad"
done_testing
