#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is left out, and copies of it: dumps with filters and replays under path rules, drawn at random, are those of
# stock tools (random_filters.py); a mirror of what may not be read is made.
set -u
. "$(dirname "$0")/helpers/lib.sh"
command -v svnsync >/dev/null || skip_all "svnsync is not installed"

agree() { # agree KIND SEED COUNT
    mkdir "$T/$1"
    check "$3 cases of $1, seed $2" python3 "$HERE/random_filters.py" "$VARVE" "$T/$1" "$1" "$2" "$3"
}
agree dump 31 600
agree replay 32 150

# ---- a part of what was copied is hidden -----------------------------------------------------
mkdir "$T/root"
create svnadmin 8 "$T/root/repos"
FILE=file://$T/root/repos
echo text >"$T/text"
svnmucc -m 1 mkdir "$FILE/A" put "$T/text" "$FILE/A/f" put "$T/text" "$FILE/iota" >/dev/null
svnmucc -m 2 cp 1 "$FILE" "$FILE/branch" rm "$FILE/branch/A" >/dev/null
svnmucc -m 3 cp 2 "$FILE/A" "$FILE/C" rm "$FILE/C/f" >/dev/null
svnmucc -m 4 cp 3 "$FILE/A/f" "$FILE/g" put "$T/text" "$FILE/g" >/dev/null
is "the history is there" "$(youngest "$T/root/repos")" 4
printf '[general]\nanon-access = read\nauthz-db = authz\n' >"$T/root/repos/conf/svnserve.conf"
printf '[/]\n* = r\n[/A]\n* =\n' >"$T/root/repos/conf/authz"
start_stock "$T/root"
start_varve "$T/root"
for side in stock varve; do
    url=URL_$side
    create svnadmin 8 "$T/mirror-$side"
    check "the mirror is made from $side" svnsync init -q --non-interactive "file://$T/mirror-$side" "${!url}/repos"
    check "and filled" svnsync sync -q --non-interactive "file://$T/mirror-$side"
    svnadmin dump -q -r 1:HEAD "$T/mirror-$side" | grep -av ^UUID >"$T/$side.dump"
done
same "both mirrors hold the same" "$T/varve.dump" "$T/stock.dump"
is "and nothing of what is hidden" "$(svnlook tree --full-paths "$T/mirror-varve" | xargs)" "/ C/ branch/ branch/iota g iota"

# ---- dumps ----------------------------------------------------------------------------------------
dumps() { # dumps NAME OPTIONS...: the same stream, exit status and error
    local name=$1 stock varve; shift
    svnadmin dump -q "$@" "$T/root/repos" >"$T/stock.dump" 2>"$T/stock.err"; stock=$?
    stock_status=$stock
    "$VARVE" dump -q "$@" "$T/root/repos" >"$T/varve.dump" 2>"$T/varve.err"; varve=$?
    same "$name: the stream" "$T/varve.dump" "$T/stock.dump"
    is "$name: exit status" $varve $stock
    is "$name: error" "$(grep -o 'E[0-9]\{6\}' "$T/varve.err" | tail -1)" "$(grep -o 'E[0-9]\{6\}' "$T/stock.err" | tail -1)"
}
loads() { # loads NAME: the last dump makes a repository
    svnadmin create "$T/loaded"
    check "$1: it can be loaded" svnadmin load -q "$T/loaded" <"$T/varve.dump"
    rm -rf "$T/loaded"
}
dumps "what was deleted from a copy of what is left out" --exclude /A
loads "what was deleted from a copy of what is left out"
svnmucc -m 5 cp 4 "$FILE/A" "$FILE/D" >/dev/null
svnmucc -m 6 cp 5 "$FILE/D" "$FILE/E" put "$T/text" "$FILE/E/f" >/dev/null
dumps "a file that was changed in a copy from outside" --include /E/f
is "which cannot be said in a stream" "$stock_status" 1
done_testing
