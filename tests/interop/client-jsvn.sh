#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SVNKit, a client with an svn:// of its own: its jsvn against both servers. A start of Java takes long: so there are few
# calls, each for much at once.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
CLIENT=/usr/share/svnkit/svnkit-cli.jar LZ4=/usr/share/java/lz4-java.jar
command -v java >/dev/null && [ -f "$CLIENT" ] && [ -f "$LZ4" ] || skip_all "svnkit, lz4-java and a Java runtime are not all installed"
serve_both 8 --brief
with_passwords anna=secret bela=hidden

# The package's own wrapper does not run: it was written with its quotes escaped. What the client logs has its own times.
printf 'handlers=\n' >"$T/quiet"
jsvn() {
    java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.util.logging.config.file="$T/quiet" -Duser.home="$T" -classpath "$CLIENT:$LZ4" \
        org.tmatesoft.svn.cli.svn.SVN --config-dir "$T/jconfig" --non-interactive --no-auth-cache "$@"
}
as_anna() { jsvn --username anna --password secret "$@"; }

# The working copy is kept from one story to the next, beside the folder that a story runs in.
place() { cd "$T/$SIDE" || exit; }

checkouts() {
    place && jsvn checkout -r 20 "$URL/trunk/src" wc && tree wc && jsvn update wc && tree wc && svn status wc && svnversion wc
}
both_in_any_order "checkout, update" checkouts

reads() {
    jsvn list -v -R "$URL/branches/one" "$URL/trunk/names" "$URL/nope"
    jsvn log -v -g "$URL/trunk" -r 45:20 --with-all-revprops --xml
    jsvn blame -g "$URL/branches/feature/src/lib/a.c"
    jsvn diff "$URL/trunk/src@20" "$URL/branches/two/source@24"
}
both_in_any_order "list, log, blame, diff" reads

commits() {
    place && mkdir wc/made && printf 'new, größe\n' >wc/made/file && head -c 300000 /dev/zero >wc/made/zeros && svn add -q wc/made && svn propset -q p v wc/lib &&
        svn rm -q wc/copied0.c && svn cp -q wc/lib wc/lib2 && as_anna commit -m "By SVNKit, größe" wc | grep -v Transmitting && svn log -v -r HEAD "$URL"
    svnmucc -m "bela's" --username bela --password hidden --no-auth-cache -U "$URL/trunk/src" put "$T/sample--brief.dump" main.c
    echo mine >>wc/main.c && as_anna commit -m "out of date" wc; svn revert -q wc/main.c
}
both_in_any_order "commit, out of date" commits

locks() {
    place && as_anna lock -m "mine: <größe>" wc/made/file wc/lib2/b.c && svnadmin lslocks "$REPOS"
    jsvn --username bela --password hidden lock "$URL/trunk/src/lib2/b.c" "$URL/trunk/README"
    echo locked >>wc/made/file && as_anna commit -m "and unlock" wc/made | grep -v Transmitting; svnadmin lslocks "$REPOS"
}
both_in_any_order "lock, refused, unlock by commit" locks

branches() {
    place && as_anna copy -m "a branch" "$URL/trunk/src" "$URL/branches/java" && as_anna switch "$URL/branches/java" wc && svn info wc | grep '^URL'
    svn rm -q --force wc/made && svn propset -q colour "blau, größe" wc/lib2 && jsvn move wc/main.c wc/moved.c && jsvn copy wc/moved.c wc/copied.c &&
        as_anna commit -m "on the branch" wc | grep -v Transmitting && svn switch -q "$URL/trunk/src" wc && svn propset -q own x wc
    jsvn merge "$URL/branches/java" wc; svn status wc; svn diff wc --properties-only
    jsvn status -u -v wc && as_anna commit -m "merged" wc | grep -v Transmitting; svn log -v -g -r HEAD "$URL" --xml
}
both_in_any_order "copy, switch, move, merge, status" branches

rest() {
    place && jsvn log -g -q "$URL/trunk/src"; jsvn export -q "$URL/trunk/src" exported && tree exported
    jsvn propget -R colour "$URL/trunk/src"; as_anna propset --revprop -r 3 svn:log "By SVNKit, größe" "$URL"
    as_anna lock "$URL/trunk/README" && as_anna unlock "$URL/trunk/README"; svnadmin lslocks "$REPOS"; svn log -r 3 "$URL"
    jsvn cleanup wc; svn status wc
}
both_in_any_order "log, export, properties, unlock, cleanup" rest

same_history "after all"
done_testing
