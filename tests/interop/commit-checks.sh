#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that a commit is held to, one commit a check: both servers refuse the same, with the same errors. Only the words about broken
# deltas and digests are varve's own, and "(HEAD is N)" behind a revision that is not there is svnserve's.
set -u
. "$(dirname "$0")/helpers/lib.sh"
for SIDE in stock varve; do
    mkdir "$T/$SIDE"
    R=$T/$SIDE/repos
    twin "$R"
    printf '[general]\nanon-access = read\npassword-db = passwd\nauthz-db = authz\nrealm = test\n' >"$R/conf/svnserve.conf"
    printf '[users]\nu = secret\nv = secret\n' >"$R/conf/passwd"
    printf '[/]\n* = r\nu = rw\nv = rw\n[/ro]\nu = r\n[/hidden]\nu =\n[/half/part]\nu =\n' >"$R/conf/authz"
    U=file://$R
    svnmucc -m one -U "$U" put /dev/null f mkdir d mkdir deep mkdir deep/er put /dev/null deep/g put /dev/null locked mkdir hold put /dev/null hold/locked put /dev/null mine mkdir ro put /dev/null ro/f mkdir hidden mkdir half mkdir half/part >/dev/null
    svnmucc -m two -U "$U" propset p v f propset p v d propset p v deep/er propset p v '' >/dev/null
    svn lock -q --username v "$U/locked" "$U/hold/locked"; svn lock -q --username u "$U/mine"
    printf '#!/bin/sh\nif svnlook log -t "$4" "$1" | grep -q start-fails; then echo no start >&2; exit 1; fi\n' >"$R/hooks/start-commit"
    printf '#!/bin/sh\nif svnlook changed -t "$2" "$1" | grep -q pre-fails; then echo no commit >&2; exit 3; fi\n' >"$R/hooks/pre-commit"
    chmod +x "$R/hooks/start-commit" "$R/hooks/pre-commit"
done
start_stock "$T/stock"; start_varve "$T/varve"
for SIDE in stock varve; do
    port=PORT_$SIDE
    check "$SIDE answers" python3 "$HERE/commit_checks.py" "${!port}"
    cp "$T/check.out" "$T/$SIDE.answers"
done
same "both answer the same" "$T/varve.answers" "$T/stock.answers"
check "what was accepted is sound" svnadmin verify -q "$T/varve/repos"
done_testing
