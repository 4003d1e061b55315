#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Commits to locked paths: refused without the token, allowed with it, which then is released.
# Locks are taken by stock tools on the repository itself, or through the server.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8
with_passwords alice=secret bob=hidden

as_alice() { svn --no-auth-cache --username alice --password secret "$@"; }
as_bob() { svn --no-auth-cache --username bob --password hidden "$@"; }

locked_copy() { # a working copy that holds alice's lock on $1, taken without any server
    as_alice checkout -q "$URL/trunk" wc && svn relocate "$URL/trunk" "file://$REPOS/trunk" wc
    svn lock -q --username alice -m "mine" "wc/$1" && svn relocate "file://$REPOS/trunk" "$URL/trunk" wc
}

passwords() {
    svn mkdir "$URL/anon" -m "nobody may"
    as_alice mkdir "$URL/by-alice" -m "alice may" && svn log -q -l 1 "$URL"
    svn --no-auth-cache --username alice --password wrong mkdir "$URL/x" -m "wrong"
    svn --no-auth-cache --username eve --password secret mkdir "$URL/x" -m "unknown"
    svn list "$URL"
}
both "who may commit" passwords

refused() {
    echo "do not touch" >"$T/comment"
    svnadmin lock "$REPOS" /trunk/README alice "$T/comment"
    as_bob checkout -q "$URL/trunk" wc
    echo bob >>wc/README && as_bob commit -m "without the lock" wc
    as_bob rm "$URL/trunk/README" -m "delete it"
    as_bob rm "$URL/trunk" -m "delete its parent"
    as_bob mv "$URL/trunk/README" "$URL/trunk/R" -m "move it"
    as_bob cp "$URL/trunk/README" "$URL/trunk/copy" -m "copy it"
    svn revert -q -R wc
    echo bob >>wc/src/lib/a.c && as_bob commit -m "another file" wc
    svn status -u wc
    svn status -u --xml wc
    svn info "$URL/trunk/README"
    svn list -v "$URL/trunk"
}
both_in_any_order "commits without the lock" refused

kept() {
    svnadmin rmlocks "$REPOS" /trunk/README >/dev/null
    locked_copy src/main.c
    svn info wc/src/main.c && svn status -u wc
    echo one >>wc/src/main.c && as_alice commit --no-unlock -m "keep the lock" wc
    svn status wc && svnadmin lslocks "$REPOS" | grep Owner
    echo two >>wc/src/main.c && as_bob commit -m "bob has the token, but is not alice" wc
    as_alice commit -m "and release it" wc && svn status wc && svnadmin lslocks "$REPOS"
}
both_in_any_order "commits with the lock" kept

stale() {
    locked_copy src/lib/b.c
    svnadmin rmlocks "$REPOS" /trunk/src/lib/b.c
    echo three >>wc/src/lib/b.c && as_alice commit -m "the lock is broken" wc ; svn status -u wc
    svn update wc && as_alice commit -m "without" wc && svn status wc
}
both_in_any_order "commits with a broken lock" stale

many() {
    locked_copy src/lib/a.c
    for file in src/copied.c doc/manual.txt; do
        svn relocate "$URL/trunk" "file://$REPOS/trunk" wc && svn lock -q --username alice "wc/$file"
        svn relocate "file://$REPOS/trunk" "$URL/trunk" wc
    done
    echo four >>wc/src/lib/a.c && svn rm -q wc/src/copied.c
    as_alice commit -m "edit one, delete one, leave one alone" wc && svn status wc && svnadmin lslocks "$REPOS" | plain
}
both_in_any_order "several locks" many

over_the_wire() {
    as_alice lock -m "mine" "$URL/trunk/README" "$URL/trunk/src/main.c" "$URL/trunk/nothing-here"
    as_alice lock "$URL/trunk/doc/manual.txt"
    as_bob lock "$URL/trunk/README"
    as_bob lock --force -m "bob's now" "$URL/trunk/README"
    svn info "$URL/trunk/README" && svnadmin lslocks "$REPOS" | plain
    as_alice unlock "$URL/trunk/README"
    as_alice unlock --force "$URL/trunk/README"
    as_alice unlock "$URL/trunk/src/main.c" "$URL/trunk/doc/manual.txt" && svnadmin lslocks "$REPOS"
}
both_in_any_order "locks taken and given back through the server" over_the_wire

same_history "after locked commits"
done_testing
