#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damage: wherever stock verify fails varve verify fails too and names the revision; truncated
# files give a clear error; nothing crashes or hangs.
#
# usage: corrupt.sh [FORMAT...]    default 1 6 8
set -u
. "$(dirname "$0")/helpers/lib.sh"
shopt -s nullglob # a logical pack has no manifest
[ $# -gt 0 ] || set -- 1 6 8
POSITIONS=9    # bytes flipped in each file, spread over it and its last 40 bytes
LIMIT=20       # seconds that a verify of this small history may take
SHARD=8

make() { # make FORMAT DIR packed|unpacked
    create svnadmin "$1" "$2" $SHARD
    svnadmin load -q --no-flush-to-disk -r 0:30 "$2" <"$(sample --small)"
    [ "$3" = unpacked ] || svnadmin pack -q "$2"
}

flip() { # flip FILE OFFSET: change one byte, whatever it is
    python3 - "$1" "$2" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 0x15]))
END
}

positions() { # positions FILE: offsets to be flipped
    local size i
    size=$(stat -c %s "$1")
    for i in $(seq 0 $((POSITIONS - 1))); do
        if [ $((i % 3)) = 2 ]; then
            echo $((size > 40 ? size - 1 - i * 3 : size - 1))
        else
            echo $((size * i / POSITIONS))
        fi
    done | sort -nu
}

# Verify with both; stock's complaint must be matched by one of varve that names what is hit.
# Counts into CAUGHT (both), MISSED (varve only was content), VAGUE, BAD (crash, hang).
judge() { # judge DIR WHAT PATTERN
    local stock varve
    timeout $LIMIT svnadmin verify -q "$1" >"$T/stock.err" 2>&1; stock=$?
    timeout $LIMIT "$VARVE" verify -q "$1" >"$T/varve.err" 2>&1; varve=$?
    if [ $varve -gt 1 ]; then
        BAD=$((BAD + 1)); echo "# $2: exit $varve"
    elif [ $stock != 0 ] && [ $varve = 0 ]; then
        MISSED=$((MISSED + 1)); echo "# $2: only stock noticed"; explain <"$T/stock.err"
    elif [ $varve = 1 ]; then
        CAUGHT=$((CAUGHT + 1))
        grep -q 'E[0-9]\{6\}' "$T/varve.err" && grep -Eiq "$3" "$T/varve.err" ||
            { VAGUE=$((VAGUE + 1)); echo "# $2: the error does not say where"; explain <"$T/varve.err"; }
    fi
}

verdict() { # verdict NAME
    is "$1: nothing crashes or hangs" $BAD 0
    is "$1: what stock finds varve finds ($CAUGHT found)" $MISSED 0
    is "$1: errors say where" $VAGUE 0
    [ $CAUGHT -gt 0 ]
    result $? "$1: some damage was found at all"
}

start_count() { CAUGHT=0 MISSED=0 VAGUE=0 BAD=0; }

flip_all() { # flip_all NAME DIR PATTERN FILE...: PATTERN: what an error must mention
    local name=$1 dir=$2 pattern=$3 file offset; shift 3
    start_count
    for file; do
        cp -p "$file" "$T/good"
        chmod u+w "$file"
        for offset in $(positions "$file"); do
            flip "$file" "$offset"
            judge "$dir" "${file#"$dir/"} at $offset" "$pattern"
            cp -p "$T/good" "$file" && chmod u+w "$file"
        done
    done
    verdict "$name"
}

truncate_all() { # truncate_all NAME DIR FILE...
    local name=$1 dir=$2 file size; shift 2
    start_count
    for file; do
        size=$(stat -c %s "$file")
        cp -p "$file" "$T/good"
        chmod u+w "$file"
        for size in 0 1 $((size / 2)) $((size - 1)); do
            head -c $size "$T/good" >"$file"
            judge "$dir" "${file#"$dir/"} cut to $size" .
        done
        cp -p "$T/good" "$file"
    done
    verdict "$name"
}

lines() { # lines FILE: what scripts read of it
    grep -a -E '^\* |^-----' "$1"
}

# The same lines and the same exit status as stock, with and without --keep-going.
lines_alike() { # lines_alike NAME DIR
    local stock varve option
    for option in --quiet --keep-going -r0:HEAD; do
        svnadmin verify $option "$2" >"$T/stock.out" 2>&1; stock=$?
        timeout $LIMIT "$VARVE" verify $option "$2" >"$T/varve.out" 2>&1; varve=$?
        is "$1, $option: exit status" $varve $stock
        lines "$T/stock.out" >"$T/stock.lines"; lines "$T/varve.out" >"$T/varve.lines"
        same "$1, $option: lines" "$T/varve.lines" "$T/stock.lines"
    done
}

rev_file() { # rev_file DIR REV: where an unpacked revision is
    if [ -f "$1/db/revs/$2" ]; then echo "$1/db/revs/$2"; else echo "$1/db/revs/$(($2 / SHARD))/$2"; fi
}

for format; do
    dir=$T/f$format
    make "$format" "$dir" unpacked
    check "format $format: the undamaged one is well" "$VARVE" verify -q "$dir"
    # A text edit; a copy with edits; replacements.
    flip_all "format $format, a byte of a revision file" "$dir" 'revision|r[0-9]|/[0-9]+' \
        "$(rev_file "$dir" 3)" "$(rev_file "$dir" 18)" "$(rev_file "$dir" 28)"
    truncate_all "format $format, a revision file cut off" "$dir" "$(rev_file "$dir" 4)" "$(rev_file "$dir" 15)"
    flip_all "format $format, a byte of current" "$dir" . "$dir/db/current"
    props=$(rev_file "$dir" 9 | sed 's,/revs/,/revprops/,')
    flip_all "format $format, a byte of revision properties" "$dir" 'revision|r[0-9]' "$props"

    # The first item of revision 3 is a text: its delta, behind the header line.
    cp -p "$(rev_file "$dir" 3)" "$T/good" && chmod u+w "$(rev_file "$dir" 3)"
    flip "$(rev_file "$dir" 3)" 50
    lines_alike "format $format, a damaged text" "$dir"
    cp -p "$T/good" "$(rev_file "$dir" 3)"

    if [ -f "$dir/db/rep-cache.db" ]; then
        sqlite3 "$dir/db/rep-cache.db" "update rep_cache set revision = 99 where revision = 30"
        lines_alike "format $format, a rep-cache row behind the youngest revision" "$dir"
        sqlite3 "$dir/db/rep-cache.db" "update rep_cache set revision = 30, offset = 7777777 where revision = 99"
        check_fails "format $format: a rep-cache row of no representation" timeout $LIMIT "$VARVE" verify -q "$dir"
        sqlite3 "$dir/db/rep-cache.db" "delete from rep_cache"
        check "format $format: without rows all is well" timeout $LIMIT "$VARVE" verify -q "$dir"
    fi
    rm -f "$(rev_file "$dir" 20)"
    check_fails "format $format: a revision file is missing" timeout $LIMIT "$VARVE" verify -q "$dir"
    rm -rf "$dir"
    case $format in 1 | 2 | 3) continue ;; esac

    make "$format" "$dir" packed
    flip_all "format $format, a byte of a pack" "$dir" 'revision|r[0-9]|/[0-9]+|pack' \
        "$dir/db/revs/1.pack/pack" "$dir"/db/revs/2.pack/manifest*
    truncate_all "format $format, a pack cut off" "$dir" "$dir/db/revs/0.pack/pack"
    if [ "$format" != 4 ]; then
        truncate_all "format $format, packed revision properties cut off" "$dir" \
            "$dir"/db/revprops/1.pack/[0-9]*.0 "$dir/db/revprops/1.pack/manifest"
        flip_all "format $format, a byte of packed revision properties" "$dir" 'revision|r[0-9]|shard|pack' \
            "$dir"/db/revprops/1.pack/[0-9]*.0 "$dir/db/revprops/1.pack/manifest"
    fi
    rm -rf "$dir"
done

done_testing
