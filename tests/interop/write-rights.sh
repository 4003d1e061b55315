#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may add, delete, replace, change and lock what, and what a report of an unreadable folder tells: the
# answers of stock's server, to questions drawn at random about rules drawn at random.
#
#     tests/interop/write-rights.sh [SETS [FIRST]]     sets of 20 questions; 1000 take a minute and a half
set -u
. "$(dirname "$0")/helpers/lib.sh"
for SIDE in stock varve; do
    mkdir "$T/$SIDE"
    twin "$T/$SIDE/repos"
    printf '[general]\nanon-access = write\npassword-db = passwd\nauthz-db = authz\nrealm = test\n' >"$T/$SIDE/repos/conf/svnserve.conf"
    printf '[users]\nu = secret\nv = secret\nw = secret\n' >"$T/$SIDE/repos/conf/passwd"
done
python3 "$HERE/write_rights.py" tree >"$T/tree"
svnmucc -m "the tree" -U "file://$T/stock/repos" -X "$T/tree" >/dev/null
svnadmin dump -q "$T/stock/repos" >"$T/dump"
load svnadmin "$T/varve/repos" "$T/dump"
start_stock "$T/stock"; start_varve "$T/varve"
first=${2:-0}
python3 "$HERE/write_rights.py" "$PORT_stock" "$T/stock/repos/conf" "$PORT_varve" "$T/varve/repos/conf" "$first" $((first + ${1:-120}))
