#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# svnmucc: commits of many steps without a working copy, good and refused.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8

printf 'a new text\n' >"$T/text"
printf 'another\n' >"$T/other"
: >"$T/empty"
printf 'value\nof two lines\n' >"$T/value"
head -c 30000000 /dev/urandom >"$T/large"

commit() { svnmucc -U "$URL" -m "$@" && svn log -v -r HEAD "$URL"; } # commit MESSAGE STEP...

# ---- each step --------------------------------------------------------------------------------

steps() {
    commit "make" mkdir steps mkdir steps/in mkdir steps/in/side
    commit "put" put "$T/text" steps/file put "$T/empty" steps/empty put "$T/other" trunk/README
    commit "put over" put "$T/other" steps/file put "$T/text" steps/empty
    commit "copy" cp HEAD steps/file steps/file2 cp 3 trunk/src steps/old-src cp HEAD steps/in steps/in2
    commit "move" mv steps/file2 steps/in/moved mv steps/in2 steps/in/side/deep
    commit "properties" propset p v steps/file propset p v steps propsetf lines "$T/value" steps/file propset svn:eol-style native steps/empty
    commit "properties again" propdel p steps propset p w steps/file propdel svn:eol-style steps/empty
    commit "remove" rm steps/old-src rm steps/empty
    svn list -R "$URL/steps"; svn proplist -v -R "$URL/steps"; svn cat "$URL/steps/file" "$URL/steps/in/moved"
    commit "nothing" propset p w steps/file; commit "really nothing"
    commit "the root" propset root r . propsetf root2 "$T/value" "" && svn proplist -v "$URL" && commit "no longer" propdel root . propdel root2 .
}
both "each step" steps

together() {
    commit "a tree at once" mkdir t mkdir t/a put "$T/text" t/a/f propset p v t/a/f cp HEAD trunk/src t/src put "$T/other" t/src/main.c \
        rm t/src/lib/a.c propset copied yes t/src mkdir t/src/lib/new put "$T/empty" t/src/lib/new/e
    commit "replace" rm t/a/f put "$T/other" t/a/f rm t/src/lib mkdir t/src/lib
    commit "replace by a copy" rm t/a cp HEAD t/src t/a rm t/a/main.c cp 3 trunk/README t/a/main.c put "$T/text" t/a/main.c
    commit "exchange" mv t/a t/tmp mv t/src t/a mv t/tmp t/src
    commit "move out of what goes" mv t/src/main.c t/main.c rm t/src
    commit "a copy of a copy" cp HEAD t t2 cp HEAD t t2/again cp 5 trunk t2/again/trunk
    commit "a replaced file, by a folder" rm t/main.c mkdir t/main.c put "$T/text" t/main.c/main.c
    svn list -R "$URL/t" "$URL/t2/again/a"; svn propget -R copied "$URL/t2"; svn log -q "$URL/t2/again"
}
both "many steps in one commit" together

names() {
    commit "odd names" mkdir 'odd names' mkdir 'odd names/größe' put "$T/text" 'odd names/größe/日本語' put "$T/text" 'odd names/%25' put "$T/text" 'odd names/a@b@'
    svn list -R "$URL/odd%20names"
    commit "and away" mv 'odd names/größe' 'odd names/gross' rm 'odd names/%25' rm 'odd names/a@b@' cp HEAD 'odd names/größe/日本語' 'odd names/gross/日本'
    svnmucc -m "full URLs" mkdir "$URL/full" put "$T/text" "$URL/full/f" && svnmucc -m "mixed" -U "$URL/full" cp HEAD "$URL/full/f" g mv f h
    svnmucc -m "from within" -U "$URL/trunk/src" put "$T/other" lib/from-within rm main.c && svn log -v -r HEAD "$URL"
    svnmucc -m "up again" -U "$URL/trunk/src" cp 3 "$URL/trunk/src/main.c" "$URL/trunk/src/main.c"
    printf 'mkdir\nby-file\nput %s\nby-file/"x y"\n' "$T/text" >args; svnmucc -m "words from a file" -U "$URL" -X args; svn list "$URL/by-file"
    printf -- 'mkdir\nby-input\n' | svnmucc -m "words from the input" -U "$URL" -X -; echo text | svnmucc -m "text from the input" -U "$URL" put - by-input/f && svn cat "$URL/by-input/f"
}
both "names, URLs and where words come from" names

# ---- revision properties ---------------------------------------------------------------------------

revision_properties() {
    commit "with properties" --with-revprop a=b --with-revprop c --with-revprop 'lang=größe' mkdir revprops && svn proplist --revprop -v -r HEAD "$URL"
    svnmucc -U "$URL" --with-revprop svn:log="as a property" mkdir revprops/a && svn proplist --revprop -v -r HEAD "$URL"
    svnmucc -U "$URL" -m x --with-revprop svn:log="twice" mkdir revprops/b
    svnmucc -U "$URL" -F "$T/value" mkdir revprops/c && svn log -r HEAD "$URL"
    svnmucc -U "$URL" -m x --with-revprop svn:author=eve --with-revprop svn:date=2001-01-01T00:00:00.000000Z mkdir revprops/d; svn proplist --revprop -v -r HEAD "$URL"
    svnmucc -U "$URL" -m "$(printf 'two\r\nlines')" mkdir revprops/e; svnmucc -U "$URL" -m "" mkdir revprops/f && svn log -r HEAD "$URL"
}
both "revision properties" revision_properties

# ---- base revisions ----------------------------------------------------------------------------------

base_revisions() {
    commit "one" mkdir base put "$T/text" base/f put "$T/text" base/g mkdir base/d; local made; made=$(youngest "$REPOS")
    commit "two" put "$T/other" base/f propset p v base/d
    commit "not touched since" -r "$made" put "$T/other" base/g; commit "touched since" -r "$made" put "$T/text" base/f
    commit "removed although touched" -r "$made" rm base/f; commit "property of what was touched" -r "$made" propset p w base/d
    commit "file in what was touched" -r "$made" put "$T/text" base/d/new; commit "what is there" -r "$made" mkdir base/d/new
    commit "before it was" -r $((made - 1)) rm base/g; commit "copied from then" -r "$made" cp "$made" base/f base/d/f2
    commit "moved since" -r HEAD mv base/g base/d/g; commit "no longer there" -r "$made" put "$T/text" base/g; commit "gone" rm base/g
    commit "to come" -r 9999 mkdir base/never; commit "from what is to come" cp 9999 base base/never; commit "r0" -r 0 mkdir base0
}
both "base revisions, out of date" base_revisions

refused() {
    commit "exists" mkdir trunk; commit "exists, copied over" cp HEAD trunk/src trunk/doc; commit "not there" rm nope; commit "no parent" mkdir no/pe
    commit "put on a folder" put "$T/text" trunk; commit "below a file" mkdir trunk/README/x; commit "copy of nothing" cp HEAD nope nope2
    commit "move of nothing" mv nope nope2; commit "property of nothing" propset p v nope; commit "into itself" cp HEAD trunk/src trunk/src/src
    commit "move into itself" mv trunk/src trunk/src/lib/src; commit "a bad name" mkdir "trunk/$(printf 'a\tb')"; commit "a reserved property" propset svn:entry:x v trunk
    commit "a bad property" propset svn:mergeinfo nonsense trunk; commit "a bad end of line" propset svn:ignore "$(printf 'a\rb')" trunk
    commit "twice" rm trunk/doc rm trunk/doc; commit "removed and used" rm trunk/doc put "$T/text" trunk/doc/f; commit "the root" rm .
    svnmucc -m x -U "$URL" bogus trunk; svnmucc -m x -U "$URL/nope" mkdir x; svnmucc -m x mkdir "$URL/a" mkdir "svn://127.0.0.1:1/b"; svnmucc -m x -U "$URL" cp trunk
    svn list "$URL" && svn log -q -r HEAD "$URL"
    [ -z "$(find "$REPOS/db/transactions" "$REPOS/db/txn-protorevs" -mindepth 1)" ] && echo "nothing is left behind"
}
both "what is refused" refused

blocked() {
    printf '#!/bin/sh\nsvnlook changed -t "$2" "$1" >&2\nsvnlook propget --revprop -t "$2" "$1" svn:log >&2\nexit 3\n' >"$REPOS/hooks/pre-commit" && chmod +x "$REPOS/hooks/pre-commit"
    commit "blocked" mkdir hooked cp 3 trunk/src hooked/src rm trunk/doc put "$T/text" trunk/README propset p v trunk
    printf '#!/bin/sh\necho "after all" >&2; exit 2\n' >"$REPOS/hooks/post-commit" && chmod +x "$REPOS/hooks/post-commit" && rm "$REPOS/hooks/pre-commit"
    commit "complained about" mkdir complained; rm "$REPOS/hooks/post-commit"
}
both "hooks" blocked

altered() { # a post-commit hook gives the revision another date and author, the client is told of those
    printf 2003-03-03T03:03:03.000003Z >"$T/date"; printf 'jürgen' >"$T/author"
    local hook=$REPOS/hooks/post-commit set='svnadmin setrevprop "$1" -r "$2"'
    printf '#!/bin/sh\n%s svn:date %s/date\n%s svn:author %s/author\n' "$set" "$T" "$set" "$T" >"$hook" && chmod +x "$hook"
    svnmucc -m "altered" -U "$URL" mkdir altered
    printf '#!/bin/sh\n%s svn:author %s/empty\nsvnadmin delrevprop "$1" -r "$2" svn:date\nexit 1\n' "$set" "$T" >"$hook"
    svnmucc -m "without a date" -U "$URL" mkdir altered2
    rm "$hook"; svn log -r HEAD:1 --limit 2 -v "$URL"
}
both "hooks that alter the revision" altered

# ---- size ------------------------------------------------------------------------------------------------

large() {
    svnmucc -m "large" -U "$URL" mkdir big put "$T/large" big/f put "$T/large" big/g && svn cat "$URL/big/f" | cmp - "$T/large" && svn cat "$URL/big/g" | cmp - "$T/large"
    { cat "$T/text"; cat "$T/large"; } >more && svnmucc -m "larger" -U "$URL" cp HEAD big/f big/h put more big/h put more big/f && svn cat "$URL/big/h" | cmp - more && svn cat "$URL/big/f" | cmp - more
    rm more; svnmucc -m "shrunk" -U "$URL" put "$T/empty" big/f && svn info "$URL/big/f" && svn list -v "$URL/big" | awk '{ print $3, $NF }'
}
both "large files" large

many() { # a thousand steps
    local i steps="mkdir many2"
    for i in $(seq 1000); do steps="$steps put $T/text many2/f$i"; done
    printf '%s\n' $steps >args && svnmucc -m "many" -U "$URL" -X args && svn list "$URL/many2" | md5sum; rm args
}
both "many files" many

same_history "after all"
done_testing
