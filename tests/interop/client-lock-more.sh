#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Locks in thousands, comments of every kind, and the stock administrator's tools on locks that the server made, and the reverse.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8 --brief
with_passwords anna=secret bela=hidden
as_anna() { svn --no-auth-cache --username anna --password secret "$@"; }
as_bela() { svn --no-auth-cache --username bela --password hidden "$@"; }

comments() { # of XML's own characters, of other scripts, of many lines
    printf 'two\nlines & <tags> "größe" 日本語 ]]>\n' >"$T/comment"
    as_anna lock -F "$T/comment" "$URL/trunk/README" "$URL/trunk/names/<tag>" "$URL/trunk/nope"
    svnadmin lock "$REPOS" /trunk/src/main.c bela "$T/comment" && svnadmin lslocks "$REPOS" && svn info --xml "$URL/trunk/names/<tag>" "$URL/trunk/src/main.c"
    as_anna unlock "$URL/trunk/src/main.c"; as_bela lock --force -m "" "$URL/trunk/README" && as_bela unlock "$URL/trunk/README"
    svnadmin rmlocks "$REPOS" "/trunk/names/<tag>"; svnadmin unlock "$REPOS" /trunk/src/main.c bela opaquelocktoken:none; svnadmin lslocks "$REPOS"
    as_bela unlock "$URL/trunk/src/main.c" && svnadmin lslocks "$REPOS" | wc -l
}
both_in_any_order "comments, and the administrator's tools" comments

thousands() {
    as_anna checkout -q "$URL/trunk/many" wc && (cd wc && for i in $(seq 2000); do echo "$i" >"new-$i"; done && svn add -q new-*) && as_anna commit -q -m "many" wc && ls wc/* >targets
    as_anna lock -q --targets targets && svnadmin lslocks "$REPOS" | grep -c ^Path && as_bela rm -m "none is bela's" "$URL/trunk/many" 2>&1 | sed "s#'/trunk/many/[^']*'#ONE#" # in a hash's order
    echo edit >>wc/new-7 && as_anna commit -q --no-unlock -m "keep them" wc && svnadmin lslocks "$REPOS" | grep -c ^Path
    echo edit >>wc/new-8 && svn rm -q --force wc/new-9 && as_anna commit -q -m "release them" wc && svnadmin lslocks "$REPOS" | grep -c ^Path
    rm -rf wc targets
}
both_in_any_order "thousands of locks" thousands

same_history "after all"
done_testing
