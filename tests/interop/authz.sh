#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# svnauthz: the same output and exit status as stock's, and the same answers.
#
#     tests/interop/authz.sh [--all]
#
# Some sets of questions (authz_questions.py) are put to both programs; with --all every one of the
# 20,000, which takes about ten minutes. tests/unit compares all with stock's answers as they were
# written down in tests/data/authz-answers.
set -u
. "$(dirname "$0")/helpers/lib.sh"
command -v svnauthz >/dev/null || skip_all "svnauthz is not installed"
ln -s "$VARVE" "$T/names/svnauthz"
ln -s "$VARVE" "$T/names/svnauthz-validate"

if [ "${1:-}" = --all ]; then
    exec python3 "$HERE/authz_questions.py" live "$T/names/svnauthz" 0 1100
fi

# ---- command lines -------------------------------------------------------------------------------

cd "$T" || exit 1
printf '[/a]\n* = rw\n[/b]\nbob = r\n[r:/]\nbob = r\n[/d]\nbob = rw\n[/d/e]\nbob =\n' >good
printf '[/]\nbob = q\n' >mode
printf '[/]\nbob\n' >syntax
printf '[groups]\ng =\n[/]\n@g = r\nbob = r\n' >empty-group
printf '[/]\n@g = r\n' >no-groups
printf '[groups]\ng = bob\n' >groups
printf '[groups]\na = @a\n' >circle
create svnadmin 8 "$T/repos"
svnmucc -U "file://$T/repos" -m "rules" mkdir conf put good conf/authz put groups conf/groups >/dev/null
# A transaction that stays.
printf '#!/bin/sh\ncp -a "$1/db/transactions" "$1/db/txn-protorevs" "$1/.." && exit 1\n' >repos/hooks/pre-commit
chmod +x repos/hooks/pre-commit
svnmucc -U "file://$T/repos" -m "more" put no-groups conf/more >/dev/null 2>&1
rm repos/hooks/pre-commit
cp -a transactions/* repos/db/transactions/ && cp -a txn-protorevs/* repos/db/txn-protorevs/
TXN=$(svnadmin lstxns repos | tr -d ' ')

ask() {
    local out
    out=$("$@" 2>&1)
    printf '%s\n%s\nexit %d\n' "$*" "$out" $?
}

command_lines() {
    local rights path
    for file in good mode syntax empty-group circle nowhere . ./good "$T/good" "file://$T/repos/conf/authz" \
        "file://localhost$T/repos/conf/authz" "file://$T/repos/conf" "file://$T/repos/x" http://host/x ^/conf/authz; do
        ask svnauthz validate "$file"; ask svnauthz-validate "$file"; ask svnauthz accessof "$file" --username bob --path /b
    done
    ask svnauthz validate; ask svnauthz validate good good; ask svnauthz accessof; ask svnauthz-validate -t x good; ask svnauthz-validate --help
    ask svnauthz; ask svnauthz bogus; ask svnauthz validate --bogus; ask svnauthz -q; ask svnauthz help bogus; ask svnauthz validate --username x good
    for path in /a b /b/ //a//x '' / /d /d/x /d/e /b/../a c/../x/; do
        ask svnauthz accessof good --username bob --path "$path"; ask svnauthz accessof good --path "$path" -R --username bob --repository r
        for rights in rw r no; do ask svnauthz accessof good --username bob --path "$path" --is $rights; done
    done
    ask svnauthz accessof good --username ''; ask svnauthz accessof good --is no; ask svnauthz accessof good -R; ask svnauthz accessof good --is x
    ask svnauthz accessof no-groups --username bob --groups-file groups; ask svnauthz accessof no-groups --groups-file nowhere
    ask svnauthz accessof no-groups --groups-file good; ask svnauthz accessof empty-group --groups-file groups; ask svnauthz validate no-groups --groups-file groups
    ask svnauthz accessof -t "$TXN" repos conf/more --groups-file groups --username bob; ask svnauthz accessof -t "$TXN" repos conf/more --groups-file conf/groups --username bob; ask svnauthz validate -t "$TXN" repos /conf/more
    ask svnauthz validate -t "$TXN" repos /conf; ask svnauthz validate -t "$TXN" repos nope; ask svnauthz validate -t 9-9 repos /conf/more
    ask svnauthz validate -t "$TXN" good; ask svnauthz validate -t "$TXN" nowhere /conf/more
}
command_lines >wanted
PATH=$T/names:$PATH command_lines >got
same "svnauthz and svnauthz-validate say the same" got wanted
check "there is much to say" test "$(wc -l <wanted)" -gt 300
check "varve authz is the same program" sh -c '[ "$("$1" authz accessof good --path /a)" = rw ]' - "$VARVE"

python3 "$HERE/authz_questions.py" live "$T/names/svnauthz" 0 60 7 >live 2>&1
check "every question got the answer of stock" sh -c '[ "$(grep -c "^ok" live)" = 60 ] && ! grep "^[^o1]" live'
done_testing
