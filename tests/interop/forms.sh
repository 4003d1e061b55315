#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command of the protocol in every form that a client, old or broken, may send: the same answers from both servers.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8 --brief

say() { timeout 250 python3 "$HERE/forms.py" "$@"; }
say say "$PORT_stock" "$T/forms-stock" svnserve -t --tunnel-user anna -r "$T/stock"
say say "$PORT_varve" "$T/forms-varve" "$VARVE" serve -t --tunnel-user anna -r "$T/varve"

say commands >"$T/commands"
while read -r name; do
    [ -s "$T/forms-stock/$name" ] || result 1 "$name has been said"
    same "$name" "$T/forms-varve/$name" "$T/forms-stock/$name"
done <"$T/commands"

# A command that is served has its forms, and the reverse. The report's commands are told apart by hand.
served() {
    sed -n 's/^    {S("\([a-z0-9-]*\)"), cmd_.*/\1/p' "$HERE/../../../src/svn/session.c"
    sed -n 's/^    \[EDIT_[A-Z_]*\] = {S("\([a-z-]*\)").*/\1/p' "$HERE/../../../src/svn/edit_wire.c"
    grep -o 'str_eq(command, S("[a-z-]*"' "$HERE/../../../src/svn/cmd_report.c" | sed 's/.*S("//; s/"//'
}
served | LC_ALL=C sort -u >"$T/served"
LC_ALL=C sort -u "$T/commands" >"$T/said"
same "each command that is served has its forms" "$T/said" "$T/served"

same_history "after all"
done_testing
