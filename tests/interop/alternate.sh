#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stock and varve commit to one repository: 200 times in turns, then both at the same moment.
#
# usage: alternate.sh [FORMAT...]    default 8 and 6
set -u
. "$(dirname "$0")/helpers/lib.sh"
[ $# -gt 0 ] || set -- 8 6

commit() { # commit URL WHO N: an edit of WHO's own file and, every third time, of a property
    printf 'line %s\n' $(seq "$3") >"$T/$2.text"
    local property=()
    [ $(($3 % 3)) != 0 ] || property=(propset "last-$2" "$3" "$1/trunk")
    svnmucc -m "$2 $3" put "$T/$2.text" "$1/trunk/$2/file" "${property[@]}" >>"$T/$2.commits" 2>&1
}

in_turns() { # in_turns DIR
    local i failed=0
    for i in $(seq 100); do
        commit "file://$1" stock "$i" || failed=$((failed + 1))
        commit "$URL_varve/${1##*/}" varve "$i" || failed=$((failed + 1))
    done
    return $failed
}

# Property changes of one directory at the same moment may conflict, rightly: so only files.
at_once() { # at_once URL WHO: 100 commits, each tried once
    local i failed=0
    for i in $(seq 100); do
        echo "$2 $i" >"$T/$2.text"
        svnmucc -m "$2 at once $i" put "$T/$2.text" "$1/trunk/$2/at-once" >>"$T/$2.commits" 2>&1 ||
            failed=$((failed + 1))
    done
    return $failed
}

both_verify() { # both_verify NAME DIR
    check "$1: stock verifies" svnadmin verify -q "$2"
    check "$1: varve verifies" "$VARVE" verify -q "$2"
    svnadmin dump -q "$2" >"$T/wanted.dump"
    "$VARVE" dump -q "$2" >"$T/got.dump"
    same "$1: both dump the same" "$T/got.dump" "$T/wanted.dump"
}

mkdir "$T/repos"
start_varve "$T/repos"
for format; do
    dir=$T/repos/f$format
    create svnadmin "$format" "$dir" 16
    svnmucc -m layout mkdir "file://$dir/trunk" mkdir "file://$dir/trunk/stock" \
        mkdir "file://$dir/trunk/varve" >/dev/null
    check "format $format: 200 commits in turns" in_turns "$dir"
    is "format $format: as many revisions" "$(youngest "$dir")" 201
    both_verify "format $format, in turns" "$dir"

    at_once "$URL_varve/f$format" varve &
    varve=$!
    at_once "file://$dir" stock
    is "format $format: commits of stock that failed, at the same moment" $? 0
    wait $varve
    is "format $format: commits of varve that failed, at the same moment" $? 0
    is "format $format: all revisions are there" "$(youngest "$dir")" 401
    both_verify "format $format, at the same moment" "$dir"
    is "format $format: nothing is left in transactions" "$(ls "$dir/db/transactions")" ""
done
done_testing
