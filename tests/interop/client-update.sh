#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# update: back and forth, mixed revisions, depths, over local changes; switch and relocate.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 7

to_and_fro() {
    svn checkout -q -r 2 "$URL" wc
    for rev in 5 12 13 15 19 23 28 31 33 36 45 49 54 57 60 140 HEAD 40 25 18 6 3 HEAD; do
        svn update -r $rev wc
    done
    wc_state wc
}
both_in_any_order "update to and fro through the history" to_and_fro

mixed_revisions() {
    svn checkout -q -r 30 "$URL/trunk" wc && cd wc
    svn update -q -r 3 src/main.c
    svn update -q -r 9 odd
    svn update -q -r 45 src/lib names
    svn update -q -r 12 doc/manual.txt
    svn status -v | sort
    svn update && wc_state .
}
both_in_any_order "update of a mixed-revision working copy" mixed_revisions

depths() {
    svn checkout -q --depth empty "$URL/trunk" wc && cd wc
    svn update README src/lib --parents
    svn update --set-depth immediates doc
    svn update --set-depth files .
    svn update -r 5 && svn update
    svn update --set-depth infinity src
    svn update --set-depth exclude src/lib && svn update -r 10
    svn update --depth empty odd
    svn update --depth immediates
    svn update --set-depth infinity
    wc_state .
}
both_in_any_order "update at any depth" depths

local_changes() {
    svn checkout -q -r 2 "$URL/trunk" wc && cd wc
    sed -i '20s/$/ local/' src/main.c     # merges
    sed -i '4s/$/ local/' src/lib/a.c     # merges
    sed -i '1001s/$/ local/' doc/manual.txt # conflicts
    echo mine >many                       # obstructs
    rm src/lib/b.c && mkdir "extra" && svn add -q extra
    svn update --accept postpone && svn status
    svn update -r 2 --accept postpone && svn status
}
both_in_any_order "update over local changes" local_changes

missing() {
    svn checkout -q -r 2 "$URL/trunk" wc && cd wc
    rm -rf src README && svn update -r 2 && svn update -r 10
    svn update -r 9999
    svn update nope
    svn switch "$URL/nope"
}
both_in_any_order "update of missing items, and errors" missing

deleted_and_replaced() {
    svn checkout -q -r 30 "$URL/branches" b
    svn checkout -q -r 26 "$URL/trunk/r" r
    svn update b -r 22; svn update b -r 25; svn update b -r 29; svn update b
    svn update r -r 27; svn update r -r 29; svn update r -r 30; svn update r
    wc_state b; wc_state r
}
both_in_any_order "update across deletions and replacements" deleted_and_replaced

order_of_deletions() { # on which it depends what is done when one of them ends a merge with an error
    local rev name names=()
    for name in {1..9} {a..z} B "at@3" "x y" größe {long,longer,"longer still"}-{1..20}; do names+=(mkdir "$URL/order/$name"); done
    svnmucc -m "many" mkdir "$URL/order" "${names[@]}"
    rev=$(youngest "$REPOS") && svn checkout -q "$URL/order" wc
    names=("${names[@]/#mkdir/rm}") && svnmucc -m "none" "${names[@]}" mkdir "$URL/order/none"
    svn update wc && svn diff --summarize --old "$URL/order@$rev" --new "$URL/order"
}
both "deletions come in svnserve's order" order_of_deletions

switches() {
    svn checkout -q "$URL/trunk" wc && cd wc
    svn switch "$URL/branches/feature" && svn status
    svn switch "$URL/trunk@30" && svn switch -r 40 "$URL/branches/feature"
    svn switch "$URL/branches/one/src" src && svn status
    svn switch "$URL/trunk/src/copied.c" src/main.c
    svn status -v && svn update && svn info -R
    svn switch "$URL/trunk/src" src --depth files
    svn switch --ignore-ancestry "$URL/tags/lib-old" doc
    svn switch "$URL/tags/lib-old" names
    svn switch "$URL/trunk" && wc_state .
}
both_in_any_order "switch" switches

relocate() {
    svn checkout -q "$URL/trunk/src" wc
    svn relocate "$URL" "${URL/127.0.0.1/localhost}" wc
    svn info wc | sed "s/localhost/127.0.0.1/g"
    svn relocate "${URL/127.0.0.1/localhost}" "$URL" wc
    svn relocate "$URL/trunk/src" "$URL/nope" wc
    svn update wc -r 20
}
both_in_any_order "relocate" relocate

# Right, not only the same: an updated working copy is what a fresh export gives.
svn checkout -q -r 2 "$URL_varve/repos" "$T/updated"
for rev in 15 28 45 33; do svn update -q -r $rev "$T/updated"; done
svn update -q "$T/updated"
svn export -q "file://$T/stock/repos" "$T/wanted"
tree "$T/wanted" >"$T/wanted.tree"
tree "$T/updated" >"$T/got.tree"
same "after updates, the tree is what the repository holds" "$T/got.tree" "$T/wanted.tree"
done_testing
