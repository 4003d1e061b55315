#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The limits of varve serve: at each of them the client is told why, the log has a line, and the server goes on. And its
# end: running commits are finished, nobody is left without a word.
set -u
. "$(dirname "$0")/helpers/lib.sh"
go() { timeout 120 python3 "$HERE/limits.py" "$@"; }

mkdir "$T/root"
create svnadmin 8 "$T/root/repos"
head -c 9000000 /dev/urandom >"$T/large"
command svnmucc -m large put "$T/large" "file://$T/root/repos/large" >"$T/out"
create svnadmin 8 "$T/root/closed"
printf '[general]\nanon-access = none\npassword-db = passwd\n' >"$T/root/closed/conf/svnserve.conf"
printf '[users]\nalice = secret\n' >"$T/root/closed/conf/passwd"
# The port was tried when the server started: that connection counts until the server has seen its end.
alone() { [ "$(sockets)" = 1 ]; }
serve() { ROOT=$T/root start varve "$VARVE" serve "$@"; within 30 alone; }
again() { stop varve; : >"$T/varve.log"; serve "$@"; }
told() { is "$1" "$2" "$3"; }
logged() { # logged NAME TEXT: the log has an error line with it
    grep -q "^[0-9]* [^ ]* [^ ]* [^ ]* [^ ]* ERR - 0 .*$2" "$T/varve.log"
    result $? "$1 is in the log" || tail -n 3 "$T/varve.log" | explain
}

# ---- connections -------------------------------------------------------------------------------
serve --max-connections 5 --max-connections-per-address 4
told "one address has its number of connections" "$(go crowd "$PORT_varve" 4)" "$(printf '%s\nthen: ( success ( 2' \
    "E170013 The server has 4 connections from 127.0.0.1 and takes no more; try again later")"
logged "it" "170013 The server has 4 connections"
again --max-connections 3
told "all have a number of connections" "$(go crowd "$PORT_varve" 3)" "$(printf '%s\nthen: ( success ( 2' \
    "E170013 The server has 3 connections and takes no more; try again later")"
again --max-connections 1
go wait "$PORT_varve" "$T/ready" >/dev/null &
waiting=$!
within 60 [ -e "$T/ready" ]
svn info "$URL_varve/repos" >"$T/out" 2>&1
grep -q "E170013: The server has 1 connections and takes no more" "$T/out"
result $? "the stock client shows why it is turned away"
kill $waiting
again --max-login-rate 5
told "an address that comes too often is turned away" "$(go hurry "$PORT_varve" 40)" "$(printf 'greeted some\n%s' \
    "E170013 More than 5 connections in a second came from 127.0.0.1; try again later")"
again
told "the default lets 500 come at once" "$(go hurry "$PORT_varve" 500)" "$(printf 'greeted some\nturned away none')"

# ---- logging in ----------------------------------------------------------------------------------
again --max-failed-logins 3
go guess "$PORT_varve" 3 >"$T/out"
told "failed logins have a number" "$(go guess "$PORT_varve" 3 | sort | uniq -c | tr -s ' ')" \
    " 4 login: Too many attempts to log in failed from your address; try again later"
again --max-login-attempts 2
told "so have those of one connection" "$(go guess "$PORT_varve" 5)" "$(printf '%s\n' 'login: Password incorrect' 'login: Password incorrect' \
    'login: Too many failed attempts to authenticate')"
again --login-timeout 1
told "who says nothing is told that it takes too long" "$(go say-nothing "$PORT_varve")" "$(printf '%s\nafter a while' \
    "E210003 The client did not log in in time")"
told "so is who says little" "$(go say-little "$PORT_varve")" "E210003 The client did not log in in time"
logged "it" "210003 The client did not log in in time"
again --max-login-size 2
told "who says too much before logging in is told so" "$(go chatter "$PORT_varve" 4000)" "E210009 The client request size exceeds the configured limit"
again --max-login-size 1
check "ordinary clients say less than 1 kB" svn info "$URL_varve/repos"
create svnadmin 8 "$T/root/ruled"
printf '[general]\nanon-access = read\nauthz-db = authz\n' >"$T/root/ruled/conf/svnserve.conf"
{ printf '[/]\n* = r\n'; seq 20000 | sed 's|.*|[/folder/&]\nuser& = rw|'; } >"$T/root/ruled/conf/authz"
check "rules of 700 kB are not the client's to answer for" svn info "$URL_varve/ruled"

# ---- requests -------------------------------------------------------------------------------------
again --idle-timeout 1
told "an idle client is told of its end" "$(go idle "$PORT_varve")" "E210003 Nothing was heard from the client within 1 seconds"
told "one that takes nothing is given up" "$(go take-nothing "$PORT_varve" "$T/varve.log")" "given up"
again --max-nesting 5
told "lists nest as deep as said" "$(go nest "$PORT_varve" 5)" "answered"
told "and no deeper" "$(go nest "$PORT_varve" 6)" "not answered"
again --max-request-size 1
told "who is busy sending too much hears of it in the end" "$(go send-first "$PORT_varve" 40000000)" \
    "$(printf 'sent\nE210009 The client request size exceeds the configured limit')"
again --max-request-memory 1
told "a request of many items has a bound" "$(go count "$PORT_varve" 100000)" "E210009 The client request takes more memory than --max-request-memory allows"
TOGETHER="E210009 The requests that the server has at hand take more memory than --max-requests-memory allows; try again later"
again --max-requests-memory 10
told "all requests together have one" "$(go count-together "$PORT_varve" 8 100000)" \
    "$TOGETHER"
told "which is free again afterwards" "$(go count-together "$PORT_varve" 1 100000)" "nothing"
told "a report counts" "$(go report "$PORT_varve" 100000)" "$TOGETHER"
logged "it" "210009 The requests that"
COMMIT_MEMORY="E165002 The commit takes more memory than --max-commit-memory allows"
again --max-commit-memory 1
told "a commit's open files have a bound" "$(go open-files "$PORT_varve" 5000 100)" "$COMMIT_MEMORY"
again --max-open-texts 3
told "so have its open texts" "$(go open-texts "$PORT_varve" 4)" "E165002 The commit has too many texts open at '/t3'"
told "below it all is well" "$(go open-texts "$PORT_varve" 3)" "nothing"

if sanitized; then
    skip "where a session was before is forgotten" "sanitizers keep what is freed for a while"
else
    is "where a session was before is forgotten" "$(go move "$PORT_varve" "$PID_varve" 200 1000000)" "within the bound"
fi

# ---- memory of those who do nothing: what docs/admin.md states ------------------------------------
again
if sanitized; then
    skip "an idle connection takes at most 256 kB" "sanitizers take more"
else
    is "an idle connection takes at most 256 kB" "$(go idle-memory "$PORT_varve" "$PID_varve" 300 256 2>"$T/each")" "within the bound"
    sed 's/^/# /' "$T/each"
fi

# ---- what is no file -------------------------------------------------------------------------------
# A FIFO in the place of a repository's file would let everybody wait who opens it.
create svnadmin 8 "$T/root/strange"
again
for name in uuid format fsfs.conf current revprops/0/0; do
    file=$T/root/strange/db/$name
    mv "$file" "$T/kept"
    mkfifo "$file"
    timeout 20 svn --config-dir "$T/config" --non-interactive log -v "$URL_varve/strange" >"$T/out" 2>&1
    is "a FIFO for $name is an error" "$? $(grep -c "E[0-9]\{6\}: .*$name' is not a file" "$T/out")" "1 1"
    check "others are served meanwhile" timeout 20 svn --config-dir "$T/config" --non-interactive info "$URL_varve/repos"
    rm "$file"
    mv "$T/kept" "$file"
done
check "and it again, when the file is back" timeout 20 svn --config-dir "$T/config" --non-interactive log -v "$URL_varve/strange"

# ---- the end ---------------------------------------------------------------------------------------
again
rm -f "$T"/ready* "$T/go"
go wait "$PORT_varve" "$T/ready1" >"$T/waited" &
go commit-slowly "$PORT_varve" slow "$T/ready2" "$T/go" >"$T/committed" &
within 60 [ -e "$T/ready1" ] && within 60 [ -e "$T/ready2" ]
kill -TERM "$PID_varve"
sleep 1
kill -0 "$PID_varve" 2>/dev/null
result $? "SIGTERM: the server waits for a commit"
is "an idle client is told that the server stops" "$(cat "$T/waited")" "E210003 The server is being stopped"
! accepts 127.0.0.1 "$PORT_varve"
result $? "nobody is let in any more"
: >"$T/go"
wait "$PID_varve"
is "then it ends in good order" $? 0
wait
is "the commit was finished" "$(head -n 1 "$T/committed")" "committed"
check "and is there" svnlook cat "$T/root/repos" slow

serve --stop-timeout 1
rm -f "$T/ready2" "$T/go"
go commit-slowly "$PORT_varve" late "$T/ready2" "$T/go" >"$T/committed" &
within 60 [ -e "$T/ready2" ]
kill -TERM "$PID_varve"
check "--stop-timeout: a commit that does not end is cut off" within 5 ended "$PID_varve"
: >"$T/go"
wait
is "it is not there" "$(cat "$T/committed")" "$(printf 'not committed\nnothing')"

serve
rm -f "$T/ready2" "$T/go"
go commit-slowly "$PORT_varve" later "$T/ready2" "$T/go" >"$T/committed" &
within 60 [ -e "$T/ready2" ]
kill -TERM "$PID_varve"
sleep 0.3
kill -TERM "$PID_varve"
check "a second SIGTERM does not wait" within 5 ended "$PID_varve"
: >"$T/go"
wait
is "nothing is left behind" "$(find "$T/root/repos/db/transactions" "$T/root/repos/db/txn-protorevs" -mindepth 1)" ""
check "stock verifies the repository" svnadmin verify -q "$T/root/repos"
done_testing
