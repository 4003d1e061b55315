#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What update, switch, status and diff answer to reports of every shape, item for item as stock svnserve: anchors at
# the root, a folder and an entry, every depth asked for over every depth had, parts that are missing, excluded, empty,
# switched or of another revision.
set -u
. "$(dirname "$0")/helpers/lib.sh"
STRIDE=${STRIDE:-61} # 1: every case, some 200,000

mkdir "$T/stock" "$T/varve"
create svnadmin 8 "$T/stock/repos"
F=file://$T/stock/repos
for text in one two three; do echo $text >"$T/$text"; done
{
    svnmucc -m 1 mkdir "$F/A" mkdir "$F/A/B" put "$T/one" "$F/A/B/f" mkdir "$F/A/B/E" put "$T/one" "$F/A/B/E/x" mkdir "$F/A/D" put "$T/one" "$F/A/D/f" \
        mkdir "$F/A/D/G" put "$T/one" "$F/A/D/G/y" put "$T/one" "$F/A/mu" put "$T/one" "$F/iota" mkdir "$F/C" mkdir "$F/C/H" put "$T/one" "$F/C/c"
    svnmucc -m 2 put "$T/two" "$F/A/B/f" put "$T/two" "$F/iota" propset p v "$F/A/D" propset p v "$F"
    svnmucc -m 3 rm "$F/A/B/E" rm "$F/A/mu" mkdir "$F/A/mu" put "$T/two" "$F/A/new" mkdir "$F/A/N" put "$T/three" "$F/A/N/n" cp 2 "$F/A/B" "$F/Bcopy" \
        cp 2 "$F/iota" "$F/A/D/copy"
    svnmucc -m 4 rm "$F/C" put "$T/three" "$F/z" put "$T/three" "$F/A/D/G/y" rm "$F/A/D/f"
} >/dev/null
[ "$(youngest "$T/stock/repos")" = 4 ]
result $? "a history of four revisions"
cp -a "$T/stock/repos" "$T/varve/repos"
start_stock "$T/stock"
start_varve "$T/varve"

python3 "$HERE/edits.py" "$PORT_stock" "$PORT_varve" "$STRIDE" >"$T/edits"
grep -q ' cases, 0 differ$' "$T/edits"
result $? "$(tail -n 1 "$T/edits")"
[ "${TESTS:-0}" = "$FAILED" ] && explain <"$T/edits"
cp "$T/edits" "${KEEP:-/dev/null}"
done_testing
