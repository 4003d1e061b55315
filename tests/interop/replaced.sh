#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A repository that is put back from a copy, or replaced by another one, while varve serves it: what follows is what is
# on disk, as stock tools read it there, and nothing of the old one gets into the new one.
set -u
. "$(dirname "$0")/helpers/lib.sh"
go() { timeout 60 python3 "$HERE/limits.py" "$@"; }
R=$T/root/repos
commits() { # commits URL WORD: six of them, three files' texts and three folders
    for i in 1 2 3; do
        echo "$2 $i" >"$T/text"
        svnmucc -m "$2 $i" put "$T/text" "$1/file" && svnmucc -m "$2 folder $i" mkdir "$1/$2-$i"
    done >"$T/out"
}
seen() { # seen URL: the revisions behind the copy
    for rev in $(seq 6 "$(svn info --show-item revision "$1")"); do
        svn log -v -r "$rev" "$1"; svn cat "$1/file@$rev"; svn list -R "$1@$rev"
    done 2>&1
}
put_back() { rm -rf "$R" && cp -a "$T/copy" "$R"; }
put_back_in_place() {
    cp -a "$T/copy/db/current" "$R/db/current"
    (cd "$R/db" && for file in revs/0/* revprops/0/*; do [ -e "$T/copy/db/$file" ] || rm "$file"; done; rm -f rep-cache.db*)
}

mkdir "$T/root"
create svnadmin 8 "$R"
start_varve "$T/root"
URL=$URL_varve/repos
commits "$URL" base
cp -a "$R" "$T/copy"
for how in put_back put_back_in_place; do
    commits "$URL" old
    seen "$URL" >"$T/got" # all is cached
    grep -q "^old-3/" "$T/got"
    result $? "$how: the old revisions were seen"
    $how
    is "$how: the head is that of the copy" "$(svn info --show-item revision "$URL")" 6
    commits "file://$R" new
    commits "$URL" newer
    seen "$URL" >"$T/got"
    seen "file://$R" >"$T/wanted"
    same "$how: clients see what is on disk" "$T/got" "$T/wanted"
    check "$how: stock verifies the repository" svnadmin verify -q "$R"
    put_back
    svn info "$URL" >"$T/out"
done

# Another repository in its place, while a commit to the old one is open.
go commit-slowly "$PORT_varve" slow "$T/ready" "$T/go" >"$T/told" &
within 60 [ -e "$T/ready" ]
rm -rf "$R"
create svnadmin 8 "$R"
commits "file://$R" other
svnadmin dump -q "$R" >"$T/wanted"
: >"$T/go"
wait $!
is "a commit to the old repository fails" "$(head -n 1 "$T/told")" "not committed"
grep -q "160000 Another repository is in the place of the one that was opened" "$T/told"
result $? "and says why" || explain <"$T/told"
svnadmin dump -q "$R" >"$T/got"
same "it is not in the new one" "$T/got" "$T/wanted"
commits "$URL" then
seen "$URL" >"$T/got"
seen "file://$R" >"$T/wanted"
same "who comes then has the new one" "$T/got" "$T/wanted"
check "stock verifies it" svnadmin verify -q "$R"

# Another one with the same UUID and other files, while sessions are open: what they do not find, or cannot read, is no damage.
same_uuid() { # same_uuid FORMAT COMMAND...: COMMAND makes its revisions
    local uuid
    uuid=$(svnlook uuid "$R")
    rm -rf "$R"
    create svnadmin "$1" "$R"
    svnadmin setuuid "$R" "$uuid"
    "${@:2}"
}
asked_later() { # asked_later COMMAND...: what a session that has read nothing yet is told after COMMAND
    rm -rf "$R" "$T/ready" "$T/go"
    create svnadmin 8 "$R"
    commits "file://$R" elder
    go ask-later "$PORT_varve" "$T/ready" "$T/go" "( get-file ( 4:file ( 5 ) false true ) ) " "( log ( ( 0: ) ( 5 ) ( 1 ) true true 0 ) ) " \
        "( get-dir ( 0: ( 5 ) false true ) ) " >"$T/told" &
    within 60 [ -e "$T/ready" ]
    "$@"
    : >"$T/go"
    wait $!
}
three_times() { # three_times TEXT
    [ "$(grep -c "160000 $1" "$T/told")" = 3 ] && return
    explain <"$T/told"
    return 1
}
asked_later same_uuid 6 commits "file://$R" younger
three_times "Another repository is in the place of the one that was opened"
result $? "in another format: each answer says that it was replaced"
asked_later same_uuid 8 true
three_times "Another repository is in the place of the one that was opened"
result $? "without revisions: the same"
asked_later rm -rf "$R"
three_times "The repository that was opened is no longer there"
result $? "no repository at all: the answers say so"
create svnadmin 8 "$R"
commits "$URL" last
is "a session that comes then is served" "$(svn cat "$URL/file")" "last 3"
is "nothing is left in transactions" "$(find "$R/db/transactions" "$R/db/txn-protorevs" -mindepth 1)" ""
done_testing
