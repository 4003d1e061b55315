#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The log of varve serve beside stock svnserve's: the same clients do the same things, and the lines
# are the same but for process, time, port and new dates. Two connections of one client are served
# by two threads: the order of lines is not compared.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8
sed -i 's/^\[general\]/&\npassword-db = passwd/' "$T"/{stock,varve}/repos/conf/svnserve.conf
printf '[users]\nalice = secret\nbob smith = secret\n' | tee "$T/stock/repos/conf/passwd" >"$T/varve/repos/conf/passwd"
for side in stock varve; do
    cp -a "$T/$side/repos" "$T/$side/a repository"
    cp -a "$T/$side/repos" "$T/$side/closed"
    printf '[general]\nanon-access = none\npassword-db = ../../repos/conf/passwd\n' >"$T/$side/closed/conf/svnserve.conf"
    printf '#!/bin/sh\necho "no\\tickets" >&2; exit 3\n' >"$T/$side/closed/hooks/pre-commit"
    chmod +x "$T/$side/closed/hooks/pre-commit"
    svnadmin create "$T/$side/nobody" && svnadmin setuuid "$T/$side/nobody" 11111111-2222-4333-8444-555555555555
    printf '[general]\nanon-access = none\nauth-access = none\n' >"$T/$side/nobody/conf/svnserve.conf"
done

# The lines that were written since the last time, without what must differ. A server may be a
# moment behind its client.
lines() { # lines SIDE
    local log=$T/$1.log size=-1
    until [ "$(stat -c %s "$log")" = $size ]; do
        size=$(stat -c %s "$log")
        sleep 0.2
    done
    tail -c "+$((${SEEN[$1]:-0} + 1))" "$log" | sed -E -e 's/^[0-9]+ [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{15}Z /PID TIME /' \
        -e 's#svn://127\.0\.0\.1:[0-9]+#svn://SERVER#g' -e 's/20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/NOW/g' \
        -e "s/transaction '[0-9]+-[0-9a-z]+'/TXN/" -e 's/opaquelocktoken:[-0-9a-f]{36}/TOKEN/g' \
        -e 's/ ERR ([^ ]+) [0-9]+ / ERR \1 0 /; s/(ERR - 0 210004) .*/\1 MALFORMED/' -e "s#$T/(stock|varve)#DIR#g"
    SEEN[$1]=$size
}
declare -A SEEN

logged() { # logged NAME STORY: both servers say the same of it
    local side
    for side in stock varve; do
        local url=URL_$side
        URL=${!url}/repos CLOSED=${!url}/closed NOBODY=${!url}/nobody SPACE="${!url}/a%20repository"
        rm -rf "$T/run-$side" && mkdir "$T/run-$side"
        (cd "$T/run-$side" && "$2") >"$T/$side.out" 2>&1
    done
    for side in stock varve; do lines $side | LC_ALL=C sort >"$T/$side.lines"; done
    same "$1" "$T/varve.lines" "$T/stock.lines"
    [ -s "$T/stock.lines" ] || result 1 "$1: is in the log"
}
lines stock >/dev/null
lines varve >/dev/null

ALICE="--username alice --password secret --no-auth-cache"

reading() {
    svn info "$URL"; svn ls "$URL/trunk"; svn ls -R "$URL/trunk/src"; svn ls -v --depth files "$URL"; svn ls --search '*.c' --search 'a b%*' "$URL"
    svn cat "$URL/trunk/README" "$URL/trunk/README@2" "$URL/nope"; svn export -q "$URL/trunk/src" x
    svn proplist -v "$URL/trunk"; svn propget svn:ignore -R "$URL/trunk/src/lib"; svn propget --show-inherited-props x "$URL/trunk/README"
    svn blame -q "$URL/trunk/README"; svn blame -g "$URL/trunk/README"; svn blame -r HEAD:1 "$URL/trunk/README"
    svn mergeinfo "$URL/branches/one" "$URL/trunk"; svn mergeinfo -R "$URL/branches/one" "$URL/trunk"
    svn export -q "$URL/trunk/README@3" r; svn propget --revprop -r 3 svn:log "$URL"; svn proplist --revprop -r 3 "$URL"
    svn ls "$SPACE/trunk"; svn info "$URL/%e4"; svn ls "$URL@2" "$URL/tags" --depth immediates; svn ls --depth empty "$URL"
}
logged "reading" reading

histories() {
    svn log -q "$URL"; svn log -v "$URL/trunk"; svn log -g -l 3 "$URL/trunk"; svn log --stop-on-copy -r 3:9 "$URL/trunk"
    svn log --xml --with-all-revprops -l 2 "$URL"; svn log --xml --with-no-revprops -l 2 "$URL"
    svn log -q "$URL" trunk/doc tags; svn log -q --with-revprop x:y -l 1 "$URL" --xml; svn log "$URL/nope"
    svn log -r '{2001-09-09}:HEAD' -q "$URL"; svn log -r 9999 "$URL"; svn diff -c 5 "$URL"; svn diff --old "$URL/trunk@3" --new "$URL/trunk@8"
    svn diff --notice-ancestry -r 3:9 "$URL/trunk"; svn diff --summarize "$URL/trunk/src@3" "$URL/trunk/src@9"; svn diff --depth files --old "$URL/trunk@3" --new "$URL/branches/one"
}
logged "histories and differences" histories

working() {
    svn checkout -q "$URL/trunk" wc; svn checkout -q --depth files "$URL/trunk" files; svn checkout -q --depth empty -r 3 "$URL" empty
    cd wc || return
    svn update -q -r 5; svn update -q src README; svn update -q --set-depth empty src; svn update -q --set-depth infinity src; svn status -u
    svn status -u -N; svn status -u src; svn switch -q --ignore-ancestry "$URL/branches/one"; svn switch -q "$URL/trunk"
    svn switch -q --depth files "$URL/branches/one@20" ; svn switch -q "$URL/trunk@9999"; svn switch -q "$URL/trunk"
    svn diff -r 3; svn diff -r BASE:HEAD; svn merge -q -c 4 "$URL/trunk" .; svn revert -q -R .
    svn merge -q "$URL/branches/one" .; svn revert -q -R .; svn relocate "$URL/trunk" "$URL/trunk"
}
logged "working copies" working

writing() {
    svn checkout -q "$URL/trunk" wc && cd wc || return
    echo more >>README; svn commit -q -m m; svn mkdir -q d; svn commit $ALICE -q -m 'two
lines'
    svn propset -q a b .; svn commit $ALICE -q -m m; svn update -q; svn propset -q a b .; svn commit $ALICE -q -m m
    svn copy -q "$URL/trunk" "$URL/tags/new tag" -m m; svn rm -q "$URL/tags/new tag" -m m $ALICE; svn rm "$URL/nope" -m m
    svn mkdir "$URL/trunk/d" -m m; svnmucc -m m mkdir "$URL/trunk/d/e" put README "$URL/trunk/d/f" propset x y "$URL/trunk" >/dev/null
    svn propset -q --revprop -r 3 svn:log changed "$URL"; svn propset -q --revprop -r 3 'x:a b' changed "$URL" $ALICE; svn propdel -q --revprop -r 3 x:y "$URL"
    svn propset --revprop -r 9999 x y "$URL"
    svn update -q; echo x >new; svn add -q new; svn rm -q README; svn commit -q -m m --username nobody --password x --no-auth-cache
}
logged "writing" writing

locking() {
    svn lock $ALICE "$URL/trunk/README" -m comment; svn lock $ALICE "$URL/trunk/src/main.c"; svn lock "$URL/trunk/README"; svn lock $ALICE --force "$URL/trunk/README"
    svn lock --username 'bob smith' --password secret --no-auth-cache "$URL/trunk/README"
    svn info "$URL/trunk/README"; svn unlock $ALICE "$URL/trunk/src/main.c"; svn unlock --force $ALICE "$URL/trunk/README"; svn unlock --force "$URL/trunk/nope"
    svn checkout -q "$URL/trunk" wc && cd wc || return
    svn lock $ALICE README src/main.c; echo x >>README; svn commit $ALICE -q -m m README; svn status -u; svn unlock $ALICE src/main.c
    svn lock $ALICE README; echo x >>README; svn commit $ALICE -q -m m --no-unlock; svn rm -q README --force; svn commit -q -m m $ALICE
}
logged "locks" locking

refused() {
    svn info "$CLOSED"; svn info $ALICE "$CLOSED"; svn info --username alice --password wrong --no-auth-cache "$CLOSED"
    svn info --username carol --password x --no-auth-cache "$CLOSED"; svn mkdir $ALICE -m m "$CLOSED/d"; svn info "${URL%/*}/none/such"; svn info "$NOBODY"
    svn propset --revprop -r 1 svn:date never "$URL"; svn mkdir -m "" "$CLOSED/x" $ALICE
}
logged "what is refused" refused

syncing() {
    svnadmin create mirror; printf '#!/bin/sh\n' >mirror/hooks/pre-revprop-change; chmod +x mirror/hooks/pre-revprop-change
    svnsync init "file://$PWD/mirror" "$URL"; svnsync sync -q "file://$PWD/mirror"; svnsync copy-revprops -q "file://$PWD/mirror"
    svnrdump dump -q "$URL" -r 3:5; svnrdump dump -q "$URL/trunk" -r HEAD
}
logged "svnsync and svnrdump" syncing

damaged() {
    local damage
    for damage in missing broken; do
        for side in stock varve; do
            echo alice = secret >"$T/$side/closed/conf/broken"
            printf '[general]\npassword-db = %s\n' $damage >"$T/$side/closed/conf/svnserve.conf"
        done
        svn info "$CLOSED"; svn info $ALICE "$CLOSED"
    done
}
logged "password files that are none" damaged

raw() { local port=${URL#svn://*:}; python3 "$HERE/conversation.py" say-all "${port%%/*}" agreed told; }
logged "raw conversations" raw
done_testing
