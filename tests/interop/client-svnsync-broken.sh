#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# svnsync that is broken off in the middle of a revision, by its own end, its server's, or the source's, and goes on
# afterwards; locks left behind; sources that hide paths or are not in UTF-8; mirrors begun from a copy.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
command -v svnsync >/dev/null || skip_all "svnsync is not installed"
serve_both 8 --brief
WAITING=

svnsync() { command svnsync --config-dir "$T/config" --non-interactive "$@"; }
beside() { echo "${URL%/repos}/$1"; } # the URL of a repository beside the first

mirror() { twin "$T/$SIDE/$1"; } # mirror NAME: an empty repository beside the source

set_note() { printf %s "$3" >note && svnadmin setrevprop "$T/$SIDE/$1" -r 0 "$2" note; rm note; } # set_note MIRROR NAME VALUE

# holds NAME: what a mirror holds, its notes about where it stands, what it left behind.
holds() {
    svnadmin verify -q "$T/$SIDE/$1" && svnadmin dump -q -r 1:HEAD "$T/$SIDE/$1" | grep -a -v '^UUID:' >"$T/held.dump"
    sed -E 's/^20[2-9][0-9]-[0-9T:.-]+Z$/NOW/' "$T/held.dump" | md5sum
    notes "$1"
}
notes() {
    svn proplist --revprop -v -r 0 "file://$T/$SIDE/$1" | grep -v svn:date | sed -E 's/[^ ]+:[-0-9a-f]{36}$/HOLDER/'
    svnlook youngest "$T/$SIDE/$1"
}
as_source() { # as_source NAME [SOURCE]: the mirror holds what the source holds
    svnadmin dump -q -r 1:HEAD "$T/$SIDE/${2:-young}" | grep -a -v '^UUID:' | cmp - "$T/held.dump" && echo "$1" >>"$T/$SIDE/agreed"
}

# The source: 20 revisions that every mirror begins with, and one to be broken off in the middle.
head -c 400000 "$(sample --brief)" >"$T/long" && printf '2010-01-01T00:00:00.000000Z' >"$T/date"
for SIDE in stock varve; do
    mirror young && svnadmin dump -q -r 0:20 "$T/$SIDE/repos" >"$T/young.dump" && load svnadmin "$T/$SIDE/young" "$T/young.dump"
    svnmucc -m "long" -U "file://$T/$SIDE/young" mkdir many put "$T/long" many/first put "$T/long" many/middle put "$T/long" many/rest >"$T/made"
    svnadmin setrevprop "$T/$SIDE/young" -r 21 svn:date "$T/date"
done

behind() { # behind NAME: a mirror begun from a copy
    mirror "$1" && load svnadmin "$T/$SIDE/$1" "$T/young.dump" && svnsync init --allow-non-empty "$(beside "$1")" "$(beside young)"
}

# ---- locks ----------------------------------------------------------------------------------

# A held lock is waited for: 10 s, on both sides at once and meanwhile the others' stories.
for SIDE in stock varve; do
    url=URL_$SIDE URL=${!url}/repos
    cd "$T" && behind held >/dev/null && set_note held svn:sync-lock elsewhere:1
    svnsync sync "$(beside held)" >"$T/$SIDE.waited" 2>&1 &
    WAITING+=" $!"
done

locks() {
    behind unlocked
    set_note unlocked svn:sync-lock elsewhere:2
    svnsync sync --steal-lock --disable-locking "$(beside unlocked)"
    svnsync copy-revprops --disable-locking -r 3:4 "$(beside unlocked)"; notes unlocked
    svnsync copy-revprops --steal-lock -r 4:3 "$(beside unlocked)"; notes unlocked
    set_note unlocked svn:sync-lock elsewhere:3
    svnsync sync --disable-locking "$(beside unlocked)"; holds unlocked; as_source "unlocked"
    svnsync info "$(beside unlocked)"
    set_note unlocked svn:sync-currently-copying 25; svnsync sync --steal-lock "$(beside unlocked)"
    set_note unlocked svn:sync-last-merged-rev 12; svnsync sync "$(beside unlocked)"; svnsync info "$(beside unlocked)"; notes unlocked
}
both "locks stolen and passed by, notes that cannot be" locks

# ---- broken off -----------------------------------------------------------------------------

until_there() { within 60 [ -e "$1" ] || { echo "never: $(basename "$1")"; return 1; }; }

# sync_until_held NAME PORT [source]: a sync over a line that is held in the middle of revision 21; sets $SYNC and $LINE.
sync_until_held() {
    local place=$T/$SIDE/line ends
    rm -rf "$place" && mkdir "$place"
    python3 "$HERE/cut_line.py" "$2" many/middle "$place" & LINE=$!
    until_there "$place/port" || return
    ends="svn://127.0.0.1:$(cat "$place/port")"
    if [ "${3:-}" = source ]; then ends="$(beside "$1") $ends/young"; else ends="$ends/$1"; fi
    # shellcheck disable=SC2086 # one URL or two
    (exec svnsync sync --config-dir "$T/config" --non-interactive $ends >"$T/$SIDE/sync.out" 2>&1) & SYNC=$!
    until_there "$place/held"
}
none_left_over() { [ -z "$(left_over "$1")" ]; }
left_over() { find "$T/$SIDE/$1/db/transactions" "$T/$SIDE/$1/db/txn-protorevs" -mindepth 1; }
cut_line() { # the line is cut, the server sees it
    touch "$T/$SIDE/line/cut"
    wait "$SYNC"; echo "svnsync: exit $?"
    [ $SIDE = stock ] || within 30 none_left_over "$1"
    { kill "$LINE"; wait "$LINE"; } 2>/dev/null
    notes "$1"
}
port() { local port=PORT_$SIDE; echo "${!port}"; }

kill_sync() { { kill -9 "$SYNC"; wait "$SYNC"; } 2>/dev/null; true; } # the shell's own word of it has a process id
steal() { svnsync sync --steal-lock "$1" 2>&1 | sed -E "s/'[^' ]+:[-0-9a-f]{36}'/HOLDER/"; }

client_killed() {
    behind killed && sync_until_held killed "$(port)" && kill_sync && cut_line killed
    steal "$(beside killed)"; holds killed; as_source "after svnsync was killed"
    behind cleared && sync_until_held cleared "$(port)" && kill_sync && cut_line cleared
    svnadmin delrevprop "$T/$SIDE/cleared" -r 0 svn:sync-lock
    svnsync sync "$(beside cleared)"; holds cleared; as_source "without the lock"
}
both "svnsync killed" client_killed

line_cut() {
    # In how many lines svnsync tells of it depends on what it finds first: the end of the line, or that nothing can be sent.
    behind torn && sync_until_held torn "$(port)" && cut_line torn; grep -q '^svnsync: E' "$T/$SIDE/sync.out" && echo "told"
    steal "$(beside torn)"; holds torn; as_source "after the line was cut"
    behind sourceless && sync_until_held sourceless "$(port)" source && cut_line sourceless; cat "$T/$SIDE/sync.out"
    steal "$(beside sourceless)"; holds sourceless; as_source "after the source's line was cut"
}
both "the line cut, to the mirror and to the source" line_cut

server_killed() {
    local PORT_doomed PID_doomed
    if [ $SIDE = stock ]; then ROOT=$T/stock start doomed svnserve -T; else ROOT=$T/varve start doomed "$VARVE" serve; fi
    behind doomed && sync_until_held doomed "$PORT_doomed" && { kill -9 "$PID_doomed"; wait "$PID_doomed"; } 2>/dev/null
    touch "$T/$SIDE/line/cut"; wait "$SYNC"; echo "svnsync: exit $?"; { kill "$LINE"; wait "$LINE"; } 2>/dev/null
    notes doomed
    steal "$(beside doomed)"; holds doomed; as_source "after the server was killed"
}
both "the server killed" server_killed

committed_but_not_noted() {
    behind noted && printf '#!/bin/sh\ntouch "%s/in-hook"\nwhile [ ! -e "%s/go-on" ]; do sleep 0.05; done\n' "$T/$SIDE" "$T/$SIDE" \
        >"$T/$SIDE/noted/hooks/post-commit" && chmod +x "$T/$SIDE/noted/hooks/post-commit"
    (exec svnsync sync --config-dir "$T/config" --non-interactive "$(beside noted)" >/dev/null 2>&1) & SYNC=$!
    until_there "$T/$SIDE/in-hook" && kill_sync
    touch "$T/$SIDE/go-on" && rm "$T/$SIDE/noted/hooks/post-commit" && notes noted
    steal "$(beside noted)"; holds noted; as_source "after a commit that was not noted"
}
both "killed after the commit" committed_but_not_noted

agreed() { [ "$(wc -l <"$T/$1/agreed")" = 7 ]; }
check "stock's mirrors hold what the source holds" agreed stock
check "varve's mirrors hold what the source holds" agreed varve

# Stock leaves the transaction of a client that is gone for rmtxns; varve does not.
none_left() {
    local name SIDE=varve
    for name in killed cleared torn sourceless noted; do [ -d "$T/varve/$name/db/transactions" ] && none_left_over $name || return; done
}
check "no transactions are left behind" none_left

# ---- sources that hide paths, and in another encoding -------------------------------------------

hidden_paths() {
    local conf=$T/$SIDE/hiding/conf name
    mirror hiding && load svnadmin "$T/$SIDE/hiding" "$T/young.dump"
    printf '[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nauthz-db = authz\nrealm = test\n' >"$conf/svnserve.conf"
    printf '[users]\nsome = pw\nnone = pw\nroot = pw\ntrunk = pw\n' >"$conf/passwd"
    printf '[/]\nsome = r\nroot = r\n[/trunk]\ntrunk = r\n[/trunk/src]\nsome =\n[/branches/one]\nsome =\n' >"$conf/authz"
    for name in some root none trunk; do
        mirror "for-$name" && svnsync init --source-username $name --source-password pw --no-auth-cache "$(beside "for-$name")" "$(beside hiding)"
        svnsync sync --source-username $name --source-password pw --no-auth-cache "$(beside "for-$name")" && holds "for-$name"
    done
    mirror for-part && svnsync init --source-username trunk --source-password pw --no-auth-cache "$(beside for-part)" "$(beside hiding)/trunk"
    svnsync sync --source-username trunk --source-password pw --no-auth-cache "$(beside for-part)"; holds for-part
    svnsync copy-revprops --source-username some --source-password pw --no-auth-cache -r HEAD:15 "$(beside for-some)"; holds for-some
}
both "paths hidden from the sync user" hidden_paths

encodings() {
    local name
    mirror latin && svnmucc -q -U "file://$T/$SIDE/latin" -m "Grosse" mkdir a propset svn:ignore "grosse" a propset other "grosse" a
    svnmucc -q -U "file://$T/$SIDE/latin" -m "zwei Zeilen" propset svn:ignore "nun wieder" a
    svnadmin dump -q "$T/$SIDE/latin" | LC_ALL=C perl -pe 's/grosse/gr\xf6\xdfXe/i; s/zwei Z/zwei\rZ/; s/nun w/nun\rw/' >latin.dump
    rm -rf "$T/$SIDE/latin" && mirror latin && svnadmin load -q --bypass-prop-validation "$T/$SIDE/latin" <latin.dump; rm latin.dump
    for name in utf-8 iso-8859-1 cp437; do
        mirror in-$name && svnsync init -q "$(beside in-$name)" "$(beside latin)"
        svnsync sync --source-prop-encoding $name "$(beside in-$name)"; svn log -v "$(beside in-$name)" | plain; notes in-$name
        svn proplist -v -R "$(beside in-$name)" | cat -v
        svnsync copy-revprops --source-prop-encoding $name -r 2:1 "$(beside in-$name)"
    done
    svnsync sync --source-prop-encoding nonesuch "$(beside in-cp437)"; svnsync sync "$(beside in-utf-8)"
}
both "properties in another encoding" encodings

# shellcheck disable=SC2086 # two process ids
wait $WAITING
for SIDE in stock varve; do plain <"$T/$SIDE.waited" >"$T/$SIDE.told"; done
same "a lock held elsewhere is waited for" "$T/varve.told" "$T/stock.told"
check "and named" grep -q 'held by .elsewhere:1' "$T/stock.told"
done_testing
