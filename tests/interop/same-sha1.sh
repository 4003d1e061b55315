#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two contents with one SHA-1: refused as by stock tools, since working copies would show one of them
# for both; with the setting that allows it, or where nothing is shared, both are kept.
set -u
. "$(dirname "$0")/helpers/lib.sh"

# The published pair: after 192 bytes that are alike, blocks that lead to the same state, so that the
# digests stay equal whatever is put behind both.
python3 - "$T" <<'PY'
import hashlib, sys
head = bytes.fromhex(
    "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f4865696768742033"
    "203020522f547970652034203020522f537562747970652035203020522f46696c7465722036203020522f436f6c6f72"
    "53706163652037203020522f4c656e6774682038203020522f42697473506572436f6d706f6e656e7420383e3e0a7374"
    "7265616d0affd8fffe00245348412d3120697320646561642121212121852fec092339759c39b1a1c63c4c97e1fffe01")
blocks = bytes.fromhex(
    "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530afedfb7"
    "6038e972722fe7ad728f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a332ec37fac3514"
    "e74ddc0f2cc1a874cd0c78305a21566461309789606bd0bf3f98cda8044629a1")
change = bytes.fromhex(
    "0c000002c0000010b400001c3c000004bc00001a200000102400001cec0000140c000002c0000010b400001c2c000004"
    "bc000018b00000100000000cb8000010") * 2
other = bytes(a ^ b for a, b in zip(blocks, change))
for size, behind in ("small", 0), ("middle", 200000), ("large", 5000000):
    texts = [head + b + bytes(i * i % 251 for i in range(behind)) for b in (blocks, other)]
    assert texts[0] != texts[1] and len({hashlib.sha1(t).digest() for t in texts}) == 1
    for name, text in zip(("one", "two"), texts):
        open(f"{sys.argv[1]}/{size}-{name}", "wb").write(text)
PY
check "there is a pair" test -s "$T/large-two"

mkdir "$T/stock" "$T/varve"
start_stock "$T/stock"
start_varve "$T/varve"
NAME=0
new() { # new FORMAT [SETTINGS]: a pair of empty repositories
    NAME=$((NAME + 1)); local side
    for side in stock varve; do
        create svnadmin "$1" "$T/$side/$NAME"
        [ -z "${2:-}" ] || printf '%b' "$2" >"$T/$side/$NAME/db/fsfs.conf"
    done
}
outcome() { grep -a -o -m 1 'E[0-9]\{6\}: SHA1 of' "$T/out" || grep -a -o '^r[0-9]* committed' "$T/out"; }
commit() { # commit SIDE ARGUMENTS...: what comes of svnmucc there
    local url=URL_$1; shift
    svnmucc -m x -U "${!url}/$NAME" "$@" >"$T/out" 2>&1; outcome
}
both() { # both NAME WANTED ARGUMENTS...: of varve, and of stock
    local name=$1 wanted=$2; shift 2
    is "$name: stock" "$(commit stock "$@")" "$wanted"
    is "$name" "$(commit varve "$@")" "$wanted"
}
refused="E160067: SHA1 of"

for size in small middle large; do
    new 8
    both "$size, one" "r1 committed" put "$T/$size-one" a
    both "$size, then the other" "$refused" put "$T/$size-two" b
    is "  the youngest revision is what it was" "$(youngest "$T/varve/$NAME")" 1
    both "  the same again is shared" "r2 committed" put "$T/$size-one" c
    new 8
    both "$size, both in one commit" "$refused" put "$T/$size-one" a put "$T/$size-two" b
done
new 8
commit varve put "$T/small-one" a >"$T/null"
commit varve put "$T/small-two" b >"$T/null"
check "the error tells the path and the revision" grep -q "SHA1 of '/b' and of a representation in revision 1 matches (f92d74e3874587aaf443d1db961d4e26dde13e9c)" "$T/out"

for format in 4 6 7; do
    new $format
    both "format $format" "$refused" put "$T/small-one" a put "$T/small-two" b
done
new 3
both "format 3, which shares nothing" "r1 committed" put "$T/small-one" a put "$T/small-two" b
new 8 '[rep-sharing]\nenable-rep-sharing = false\n'
both "sharing is off" "r1 committed" put "$T/small-one" a put "$T/small-two" b
check "  both are kept" cmp <(svn cat "$URL_varve/$NAME/b") "$T/small-two"

svnadmin dump -q "$T/stock/$NAME" >"$T/both.dump"
loaded() { "$1" load -q "$2" <"$T/both.dump" >"$T/out" 2>&1; outcome; youngest "$2"; }
new 8
is "a load of both: stock" "$(loaded svnadmin "$T/stock/$NAME")" "$refused"$'\n0'
is "a load of both" "$(loaded "$VARVE" "$T/varve/$NAME")" "$refused"$'\n0'
# The same in two revisions, of which neither is there for good while the other one is loaded.
new 8 '[rep-sharing]\nenable-rep-sharing = false\n'
commit stock put "$T/small-one" a >"$T/null"
commit stock put "$T/small-two" b >"$T/null"
svnadmin dump -q "$T/stock/$NAME" >"$T/both.dump"
new 8
is "a load of one after the other: stock" "$(loaded svnadmin "$T/stock/$NAME")" "$refused"$'\n1'
is "a load of one after the other" "$(loaded "$VARVE" "$T/varve/$NAME")" "$refused"$'\n1'

allow='[varve]\nallow-sha1-collisions = true\n'
new 8 "$allow"
check "a load of both, allowed" "$VARVE" load -q "$T/varve/$NAME" <"$T/both.dump"
for size in small middle large; do
    is "  $size, allowed" "$(commit varve put "$T/$size-one" $size-a put "$T/$size-two" $size-b | cut -d' ' -f2)" committed
    is "  $size, once more" "$(commit varve put "$T/$size-two" $size-c | cut -d' ' -f2)" committed
    for name in a:one b:two c:two; do
        check "    $size-${name%:*} is what it should be" cmp <(svn cat "$URL_varve/$NAME/$size-${name%:*}") "$T/$size-${name#*:}"
    done
done
is "a wrong value of the setting: as of any other" "$(printf '[varve]\nallow-sha1-collisions = perhaps\n' >"$T/varve/$NAME/db/fsfs.conf"; svn info "$URL_varve/$NAME" 2>&1 | grep -o 'E[0-9]*' | tail -n 1)" E125009
printf '%b' "$allow" >"$T/varve/$NAME/db/fsfs.conf"
check "stock finds it in order" svnadmin verify -q "$T/varve/$NAME"
check "so does varve" "$VARVE" verify -q "$T/varve/$NAME"

# A row that names a text with another SHA-1 is no collision, though stock takes it for one.
new 8
commit varve put "$T/small-one" a >"$T/null"
tr '%' '#' <"$T/small-one" >"$T/third"
stop varve
python3 - "$T/varve/$NAME/db/rep-cache.db" "$(sha1sum <"$T/third" | cut -c 1-40)" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE rep_cache SET hash = ? WHERE expanded_size = 320", sys.argv[2:])
assert db.total_changes == 1
db.commit()
PY
start_varve "$T/varve"
is "a wrong row of the rep-cache keeps nobody from committing" "$(commit varve put "$T/third" b)" "r2 committed"
check "  the text is right" cmp <(svn cat "$URL_varve/$NAME/b") "$T/third"

done_testing
