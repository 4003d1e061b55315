#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# File externals: how they are fetched, updated, replaced, copied and committed, and what is recorded of them.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8 --brief
for SIDE in stock varve; do # alice can lock
    printf '[general]\nanon-access = write\npassword-db = passwd\n' >"$T/$SIDE/repos/conf/svnserve.conf"
    printf '[users]\nalice = secret\n' >"$T/$SIDE/repos/conf/passwd"
done

change() { svnmucc -m "$@" >/dev/null; }

layout() { # layout NAME: /NAME with a folder A, where externals go, and files in B and C
    printf '%s\n' one two three >f && echo other >g
    change "layout" mkdir "$URL/$1" mkdir "$URL/$1/A" mkdir "$URL/$1/B" mkdir "$URL/$1/C" \
        put f "$URL/$1/B/f" propset p 1 "$URL/$1/B/f" put g "$URL/$1/C/f" put g "$URL/$1/C/g" &&
        svn checkout -q "$URL/$1" wc && FIRST=$(youngest "$REPOS")
}

external() { # external DEFINITION: the folder A's, committed and fetched
    printf '%s\n' "$1" >definition && svn propset -q svn:externals -F definition wc/A && svn commit -q -m "external" wc && svn update wc
}

state() { # state [DIR]: all that is known of it, and that the server has nothing new
    svn status -v -u "${1:-wc}"
    svn info -R "${1:-wc}"
    svn proplist -v -R "${1:-wc}"
}

story() { # story NAME FUNCTION: as both_in_any_order; and stock did fetch an external
    both_in_any_order "$1" "$2"
    check "$1: an external is fetched" grep -q '^Updated external to revision' "$T/stock.raw"
}

updated() { # the external's file changes in every way that a file may
    layout updated && external '^/updated/B/f ext' && state
    sed -i '2s/$/ changed/' f && change "text" put f "$URL/updated/B/f" && svn status -u wc && svn update wc && state
    change "property" propset p 2 "$URL/updated/B/f" propset q 1 "$URL/updated/B/f" && svn update wc/A && state
    change "both" propdel q "$URL/updated/B/f" put g "$URL/updated/B/f" && svn update wc/A/ext && state
    svn update -r "$FIRST" wc; svn update wc && state
    echo mine >>wc/A/ext && sed -i '1s/$/ theirs/' f && change "merges" put f "$URL/updated/B/f"
    svn update --accept postpone wc; state
    svn revert -q wc/A/ext && change "elsewhere" propset p 3 "$URL/updated/C" && svn update wc && state
    change "replaced" rm "$URL/updated/B/f" put g "$URL/updated/B/f" && svn update wc; state
    change "moved over" rm "$URL/updated/B/f" cp HEAD "$URL/updated/C/g" "$URL/updated/B/f" && svn update wc; state
    change "gone" rm "$URL/updated/B/f" && svn update wc; state
    change "back" cp HEAD "$URL/updated/C/g" "$URL/updated/B/f" && svn update wc; state
}
story "an update fetches what happened to the external's file" updated

other_depths() {
    layout depths && external '^/depths/B/f ext' >/dev/null
    sed -i '1s/$/ new/' f && change "change" put f "$URL/depths/B/f"
    svn update --depth empty wc; svn update --depth files wc/A; svn update --ignore-externals wc && state
    svn update --set-depth immediates wc && state
    svn update --set-depth infinity wc && state
    svn checkout -q "$URL/depths" new && state new
    svn checkout --depth files "$URL/depths/A" files && state files
    svn checkout --ignore-externals "$URL/depths/A" without && svn update -r "$FIRST" without; svn update without && state without
    svn export "$URL/depths" exported && svn export wc exported-wc
    svn switch "$URL/depths/B" wc/A --ignore-ancestry && state && svn switch "$URL/depths/A" wc/A --ignore-ancestry && state
    svn relocate "$URL" "${URL/127.0.0.1/localhost}" wc && svn relocate "${URL/127.0.0.1/localhost}" "$URL" wc && svn update wc
}
story "depths, exports, switches, relocations of what has one" other_depths

written_over() {
    layout over && external '^/over/B/f ext' >/dev/null
    change "a file where the external is" put g "$URL/over/A/ext" && svn update wc; state
    svn propdel -q svn:externals wc/A && svn update wc; svn commit -m "no external" wc; svn update wc && state
    svn propset -q svn:externals '^/over/B/f ext' wc/A && svn update wc; state
    svn commit -m "an external where a file is" wc; svn update wc; state
    echo local >wc/A/unversioned && svn propset -q svn:externals '^/over/B/f unversioned' wc/A && svn update wc; state
    rm -f wc/A/unversioned && svn update wc; state
    echo added >wc/A/added && svn add wc/A/added && svn propset -q svn:externals '^/over/B/f added' wc/A && svn update wc; state
    mkdir wc/A/folder && svn propset -q svn:externals '^/over/B/f folder' wc/A && svn update wc; state
    rmdir wc/A/folder && svn update wc; svn add wc/A/ext wc/A/folder; svn rm wc/A/folder; state
}
story "a new file where an external is, and the other way round" written_over

another_source() {
    layout source && external '^/source/B/f ext' >/dev/null
    external '^/source/C/f ext' && state
    external '^/source/C/g ext' && state
    external "-r $FIRST ^/source/C/g ext"; state
    sed -i '1s/$/ new/' f && change "change" put f "$URL/source/B/f"
    external "^/source/B/f@$FIRST ext" && state
    external "-r $FIRST ^/source/B/f@$(youngest "$REPOS") ext" && state
    external '^/source/B/f ext' && state
    echo local >>wc/A/ext && external '^/source/C/f ext'; state
    svn revert -q wc/A/ext && external '^/source/B ext'; state
    external '^/source/B/f ext'; state
    external '^/source/B/f renamed' && state
    external '^/source/none renamed'; state
    svn propdel -q svn:externals wc/A && svn commit -q -m "none" wc && svn update wc && state
}
story "the same name from another URL" another_source

copied() {
    layout copied && external '^/copied/B/f ext' >/dev/null
    svn copy wc/A wc/A2 && state
    svn update wc && svn commit -m "copied" wc; svn update wc && state
    svn move wc/A2 wc/A3 && state; svn commit -m "moved" wc; svn update wc && state
    sed -i '1s/$/ new/' f && change "change" put f "$URL/copied/B/f" && svn update wc && state
    cp -a wc twin && svn update -r "$FIRST" twin; svn update twin; state twin
    svn copy wc twin/inner; state twin; svn commit -m "inside" twin; svn update twin; state twin
    svn copy wc/A/ext wc/B/of-external; state; svn commit -m "of an external" wc; svn update wc && state
    svn copy wc/A/ext wc/A/beside; svn move wc/A/ext wc/A/away; svn rm wc/A/ext; state
    svn rm wc/A; state; svn commit -m "deleted" wc; svn update wc; state
}
story "copies and moves in working copies that have one" copied

committed() {
    layout committed && external '^/committed/B/f ext' >/dev/null
    echo changed >>wc/A/ext && svn propset -q q 2 wc/A/ext && svn diff wc && svn status wc
    svn commit -m "without externals" wc; svn status wc
    svn commit -m "with externals" --include-externals wc; svn status wc; svn update wc && state
    echo again >>wc/A/ext && echo too >>wc/C/g && svn commit -m "both" --include-externals wc; svn update wc && state
    echo named >>wc/A/ext && svn commit -m "named" wc/A/ext; svn update wc && state
    echo here >>wc/A/ext && change "there" put g "$URL/committed/B/f"
    svn commit -m "out of date" --include-externals wc; svn update --accept mine-full wc; state
    svn commit -m "resolved" --include-externals wc; svn update wc && state
    svn lock --username alice --password secret --no-auth-cache -m "why" wc/A/ext && state
    svn unlock --username alice --password secret --no-auth-cache wc/A/ext && svn update wc && state
    external "-r $FIRST ^/committed/B/f ext"
    echo pinned >>wc/A/ext && svn commit -m "pinned" --include-externals wc; state
    svn commit -m "pinned, named" wc/A/ext; svn update wc; state
}
story "commits of externals" committed

copied_to_the_repository() {
    layout tagged && external '^/tagged/B/f ext' >/dev/null
    svn copy -m "the working copy" wc "$URL/tag1" && svn list -R "$URL/tag1" && svn checkout "$URL/tag1" tag1 && state tag1
    svn copy -m "pinned" --pin-externals wc "$URL/tag2" && svn checkout "$URL/tag2" tag2 && state tag2
    echo local >>wc/A/ext && svn copy -m "changed" wc "$URL/tag3"; svn checkout "$URL/tag3" tag3 && state tag3
    svn copy -m "the external" wc/A/ext "$URL/tagged/B/copy"; svn list -v -R "$URL/tagged"
    svn copy -m "pinned from the repository" --pin-externals "$URL/tagged" "$URL/tag4"
    svn propget -R -v svn:externals "$URL/tag4"; svn checkout "$URL/tag4" tag4 && state tag4
    svn copy -m "of the file itself" "$URL/tagged/B/f" "$URL/tagged/A/ext"; svn update wc; state
}
story "copies of one to the repository" copied_to_the_repository

recorded() {
    layout info && external '^/info/B/f ext' >/dev/null
    for _ in 1 2; do
        svn info wc/A/ext; svn info --xml wc/A/ext; svn status --xml -v -u wc
        svn log -v wc/A/ext; svn blame wc/A/ext; svn cat -r BASE wc/A/ext; svn mergeinfo "$URL/info/C/f" wc/A/ext
        svn diff -r "$FIRST:HEAD" wc/A/ext; svn proplist -v --show-inherited-props wc/A/ext; svn list --include-externals -R wc
        sed -i '3s/$/ later/' f && change "later" put f "$URL/info/B/f" && svn update -q wc
    done
    sed -i '1s/$/ more/' f && change "more" put f "$URL/info/B/f" && svn status -u -v wc && svn diff -r HEAD wc/A/ext
    svn info -R "$URL/info" && svn switch "$URL/info/C/f" wc/A/ext --ignore-ancestry; svn update --set-depth exclude wc/A/ext; state
    svn update --set-depth exclude wc/A && svn update --set-depth infinity wc/A && state
    svn cleanup --include-externals wc && svn upgrade wc; rm wc/A/ext && svn update wc && state
}
story "what is recorded of one" recorded

same_history "after all stories"
done_testing
