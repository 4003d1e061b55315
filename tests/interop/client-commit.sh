#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commit, import, merge and everything else that makes a revision.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both "${1:-8}"

edits() {
    svn checkout -q "$URL/trunk" wc && cd wc
    sed -i '7s/$/ edited/' src/main.c && echo >>README && svn commit -m "two files"
    printf '\0\1binary' >bin && : >none && mkdir -p d/e && echo deep >d/e/f && svn add bin none d
    svn commit -m "additions"
    svn rm d/e none && svn propset p "$(seq 100)" bin && svn propset svn:executable '*' bin && svn propdel same same/0
    svn commit -m "deletions and properties"
    svn propset svn:ignore '*.o' . && svn commit -m "the directory is out of date" --depth empty .
    svn update && svn commit -m "the directory's property" --depth empty .
    head -c 700000 large/noise | rev >large/new 2>/dev/null; head -c 150000 large/noise >tmp && mv tmp large/noise
    svn add -q large/new && svn commit -m "large"
    svn commit -m "nothing to do"
    svn update && svn status -v
}
both_in_any_order "commits of edits, additions, deletions, properties" edits

moves() {
    svn checkout -q "$URL" wc && cd wc/trunk
    svn mv src/main.c src/start.c && echo more >>src/start.c && svn cp doc docs && echo new >docs/new
    svn add -q docs/new && svn commit -m "a move with an edit, a copy with an addition"
    svn update -q && svn mv -q docs documents && svn rm -q documents/new && svn commit -m "a directory's move" .
    svn cp "$URL/trunk" "$URL/branches/b1" -m "branch" && svn cp -r 20 "$URL/trunk/src" "$URL/tags/t1" -m "old"
    svn cp . "$URL/tags/from-wc" -m "a copy of the working copy"
    svn update -q ..
    echo x >../branches/b1/README && svn rm -q ../branches/b1/odd && svn cp -q ../branches/b1 ../branches/b2
    svn commit -m "copy of a changed copy" .. && svn mv "$URL/tags/t1" "$URL/tags/t2" -m "rename" --parents
    svn mkdir --parents "$URL/a/b/c" -m "directories" && svn rm "$URL/a/b" -m "and away"
    svn rm -q r/a && svn commit -q -m "delete" r && echo again >r/a && svn add -q r/a && svn rm -q r/b && mkdir r/b && svn add r/b
    svn commit -m "replace" ; svn update -q .. && svn status -v ..
}
both_in_any_order "moves, copies, replacements" moves

imports() {
    mkdir -p tree/{a,b}/c && echo one >tree/a/1 && echo zwei >"tree/b/größe" && ln -s a/1 tree/link
    svn import tree "$URL/imported" -m "import" && svn import tree/a/1 "$URL/single" -m "a file"
    svn import tree "$URL/imported" -m "again"
    svn list -R "$URL/imported"
}
both_in_any_order "import" imports

out_of_date() {
    svn checkout -q "$URL/trunk" a
    svn checkout -q "$URL/trunk" b
    echo a >>a/README && svn commit -q -m "by a" a
    echo b >>b/README && svn commit -m "by b: text" b
    svn propset -q x a a/src && svn update -q --depth empty a/src && svn commit -q -m "by a" a
    svn propset -q x b b/src && svn commit -m "by b: properties" b/src
    svn rm -q a/odd/1 && svn commit -q -m "by a" a
    echo b >>b/odd/1 && svn commit -m "by b: deleted" b/odd
    echo new >a/new && svn add -q a/new && svn commit -q -m "by a" a
    echo new >b/new && svn add -q b/new && svn commit -m "by b: exists" b/new
    echo a >>a/odd/2 && svn commit -q -m "by a" a
    svn rm -q --force b/odd && svn commit -m "by b: the directory has changed" b/odd
    svn revert -q -R b
    echo b >>b/doc/manual.txt && svn commit -m "by b: merges with what happened" b/doc
    echo more >>a/README && svn commit -m "by a" --with-revprop svn:bad:name=x a
    svn commit -m "by a" --with-revprop custom=x a
    svn update -q --accept working b
    svn commit -m "by b, at last" b
    svn status b
}
both_in_any_order "commits that are out of date" out_of_date

impossible() {
    echo text >file
    svnmucc -m "x" mkdir "$URL/trunk"
    svnmucc -m "x" rm "$URL/nope"
    svnmucc -m "x" cp 9999 "$URL/trunk" "$URL/y"
    svnmucc -m "x" cp 3 "$URL/nope" "$URL/y"
    svnmucc -m "x" put file "$URL/nope/README"
    svnmucc -m "x" mkdir "$URL/trunk/README/sub"
    svnmucc -m "x" propset "svn:bad name" v "$URL/trunk"
    svnmucc -m "x" mkdir "$URL/y" rm "$URL/nope"
    svn mkdir -m "x" "$URL/trunk/src" ; svn rm -m "x" "$URL/trunk/none/such"
    svn list "$URL" ; svn log -q -l 1 "$URL"
}
both "commits that are impossible" impossible

mucc() {
    echo text >file
    svnmucc -m "many" mkdir "$URL/m" mkdir "$URL/m/n" put file "$URL/m/f" propset p v "$URL/m/f" \
        cp HEAD "$URL/trunk/src" "$URL/m/src" rm "$URL/m/src/lib" mv "$URL/imported" "$URL/m/moved" \
        propset q w "$URL/m" cp 15 "$URL/trunk" "$URL/m/old" put file "$URL/m/old/README"
    svnmucc -m "replace" rm "$URL/m/f" mkdir "$URL/m/f"
    svnmucc -m "change and delete" propset q x "$URL/m/old" rm "$URL/m/n"
    svnmucc -m "root" propset root yes "$URL" --with-revprop custom=value
    svnmucc -m "same text" put file "$URL/m/old/README"
    svn log -v -l 4 "$URL"
}
both "many actions in one commit" mucc

merges() {
    svn checkout -q "$URL/branches/feature" wc && cd wc
    svn update -q && svn merge "$URL/trunk" --accept postpone && svn status && svn diff --depth empty
    svn resolve -q --accept working -R . && svn commit -m "merge from trunk" && svn update
    echo merged >>README && svn commit -m "on the branch" && svn update -q
    svn switch -q "$URL/trunk" . && svn merge "$URL/branches/feature" --accept postpone && svn status
    svn resolve -q --accept working -R . && svn commit -m "merge back" && svn update -q
    svn merge -c -3 "$URL/trunk" --accept postpone ; svn status ; svn revert -q -R .
    svn merge -c 33 "$URL/branches/feature" src --dry-run ; svn merge -r 30:34 --ignore-ancestry "$URL/branches/feature" --accept mine-full
    svn revert -q -R . && svn merge --record-only -c 20 "$URL/branches/one" && svn diff --depth empty
    svn revert -q -R . && svn merge "$URL/trunk@10" "$URL/trunk@30" src --accept postpone ; svn status -q
    svn mergeinfo --show-revs merged "$URL/branches/feature" "$URL/trunk" ; svn log -g -q -l 3 "$URL/trunk"
}
both_in_any_order "merges" merges

same_history "after all commits"
for SIDE in stock varve; do check "varve verifies $SIDE's repository" "$VARVE" verify -q "$T/$SIDE/repos"; done
is "no transactions are left" "$(ls "$T/varve/repos/db/transactions")" ""
done_testing
