#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every format: what stock tools made, varve reads the same; what varve made, stock tools read.
#
# usage: formats.sh [FORMAT...]    formats as in helpers/lib.sh; default all of them, and these mixtures:
#   up6    format 6 upgraded to 8 half-way through its history, some shards packed before
#   up1    format 1 upgraded to 8 half-way: linear, old-style node ids below new ones
set -u
. "$(dirname "$0")/helpers/lib.sh"
[ $# -gt 0 ] || set -- $FORMATS up6 up1

SHARD=8 # small shards, so that the sample history fills many

# Both tools' dumps of one repository under many options; each pair of outputs must be equal.
compare_dumps() { # compare_dumps NAME DIR
    local name=$1 dir=$2 options
    while read -r options; do
        # shellcheck disable=SC2086
        svnadmin dump "$dir" $options >"$T/wanted.dump" 2>"$T/wanted.err"
        local wanted=$?
        # shellcheck disable=SC2086
        "$VARVE" dump "$dir" $options >"$T/got.dump" 2>"$T/got.err"
        is "$name: exit status of dump $options" $? $wanted
        same "$name: dump $options" "$T/got.dump" "$T/wanted.dump"
        sed -i "s/^varve: /svnadmin: /; s/Try 'varve help'/Try 'svnadmin help'/" "$T/got.err"
        same "$name: messages of dump $options" "$T/got.err" "$T/wanted.err"
    done <<END

--deltas
-r 20:40 --incremental
-r 30
-r 45:70 --deltas
-r 60:90 --incremental --deltas
-q --include /trunk/src --include /trunk/r
-q --exclude /branches --exclude /tags --exclude /trunk/names
-q --pattern --exclude /*/*/s*
-r 100:99
-r 400
END
}

make_stock() { # make_stock FORMAT DIR FILE
    case $1 in
    up6 | up1)
        create svnadmin "${1#up}" "$2" $SHARD
        svnadmin load -q --no-flush-to-disk -r 0:60 "$2" <"$3"
        [ "$1" = up1 ] || svnadmin pack -q "$2" >/dev/null
        svnadmin upgrade "$2" >/dev/null
        svnadmin load -q --no-flush-to-disk -r 61:9999 "$2" <"$3"
        ;;
    *)
        create svnadmin "$1" "$2" $SHARD
        load svnadmin "$2" "$3"
        ;;
    esac
}

compare_info() { # compare_info NAME DIR OTHER
    svnadmin info "$2" >"$T/wanted"
    "$VARVE" info "$3" | sed "s#$3#$2#" >"$T/got"
    same "$1" "$T/got" "$T/wanted"
}

stock_made() { # stock_made FORMAT
    local dir=$T/stock-$1 state=unpacked
    make_stock "$1" "$dir" "$(sample --small)"
    for state in unpacked packed; do
        if [ $state = packed ]; then
            case $1 in 1 | 2 | 3 | up1) continue ;; esac
            svnadmin pack -q "$dir" >/dev/null
        fi
        compare_dumps "format $1 by stock, $state" "$dir"
        check "format $1 by stock, $state: varve verifies it" "$VARVE" verify -q "$dir"
        compare_info "format $1 by stock, $state: info" "$dir" "$dir"
        is "format $1 by stock, $state: youngest" "$("$VARVE" youngest "$dir")" "$(svnlook youngest "$dir")"
        is "format $1 by stock, $state: uuid" "$("$VARVE" uuid "$dir")" "$(svnlook uuid "$dir")"
    done
}

varve_made() { # varve_made FORMAT
    local dir=$T/varve-$1 stock=$T/stock-$1
    create "$VARVE" "$1" "$dir" $SHARD
    check "format $1 by varve: load" load "$VARVE" "$dir" "$(sample --small)"
    check "format $1 by varve: stock verifies it" svnadmin verify -q "$dir"
    check "format $1 by varve: varve verifies it" "$VARVE" verify -q "$dir"
    svnadmin dump -q "$stock" >"$T/wanted.dump"
    svnadmin dump -q "$dir" >"$T/got.dump"
    same "format $1 by varve: stock dumps the same history" "$T/got.dump" "$T/wanted.dump"
    "$VARVE" dump -q "$dir" >"$T/got.dump"
    same "format $1 by varve: varve dumps the same history" "$T/got.dump" "$T/wanted.dump"
    same "format $1 by varve: the format file" "$dir/db/format" "$stock/db/format"
    case $1 in 1 | 2 | 3) ;; *) varve_made_packed "$1" "$dir" ;; esac
    compare_info "format $1 by varve: info" "$stock" "$dir"
    check "format $1 by varve: stock commits to it" \
        svnmucc mkdir "file://$dir/by-stock" -m "commit"
    check "format $1 by varve: varve verifies that" "$VARVE" verify -q "$dir"
}

varve_made_packed() { # varve_made_packed FORMAT DIR
    local dir=$2
    check "format $1 by varve: stock packs it" svnadmin pack -q "$dir"
    check "format $1 by varve: stock verifies the packs" svnadmin verify -q "$dir"
    "$VARVE" dump -q "$dir" >"$T/got.dump"
    same "format $1 by varve: varve dumps the packs" "$T/got.dump" "$T/wanted.dump"
}

for format; do
    stock_made "$format"
    case $format in up*) ;; *) varve_made "$format" ;; esac
done
done_testing
