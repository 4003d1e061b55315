#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random edit histories: the deltas that svnadmin dumps and stores for them are byte for byte those
# of our search and encoder, and expand to the texts. zlib sections may differ in bytes, for another
# library makes them, but not in what they hold, and come out no more than 1 % larger.
#
# usage: deltas.sh [FIRST-SEED [HISTORIES]]    SVNDIFF_TOOL names the helper, if not from VARVE's build
set -u
. "$(dirname "$0")/helpers/lib.sh"
first=${1:-1} histories=${2:-12} revisions=40
tool=${SVNDIFF_TOOL:-$(dirname "$VARVE")/../../tests/unit/delta/svndiff-tool}
[ -x "$tool" ] || skip_all "no svndiff-tool at $tool"

history() { # history FORMAT SEED: the repository is $T/repo
    rm -rf "$T/repo"
    "$tool" history "$2" $revisions >"$T/history.dump" &&
        create svnadmin "$1" "$T/repo" && load svnadmin "$T/repo" "$T/history.dump"
}

dumped() { svnadmin dump -q --deltas "$T/repo" | "$tool" check "$1" $revisions; }

# The base of a change is the revision before it up to a file's 16th: later ones skip.
stored() { # stored SEED SVNDIFF-VERSION
    for revision in $(seq 15); do
        "$tool" reps "$1" "$revision" "$2" <"$T/repo/db/revs/0/$revision" || return
    done
}

for seed in $(seq "$first" $((first + histories - 1))); do
    case $((seed % 4)) in 0) format=6 version=1 ;; 1) format=1 version=0 ;; *) format=8 version=2 ;; esac
    check "seed $seed: format $format stores it" history $format "$seed"
    check "seed $seed: dumped deltas are ours" dumped "$seed"
    [ $format = 1 ] && continue # linear, and nothing that format 6 would not show
    check "seed $seed: stored deltas are ours" stored "$seed" $version
    read -r differ theirs ours < <(awk '{d += $3; t += $5; o += $8} END {print d, t, o}' "$T/check.out")
    if [ $version = 1 ]; then
        [ $((ours * 100)) -le $((theirs * 101)) ]
        result $? "seed $seed: zlib sections are as small ($ours of $theirs bytes)"
    else
        is "seed $seed: stored svndiff$version documents that differ" "$differ" 0
    fi
done
done_testing
