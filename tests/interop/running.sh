#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All ways of running the server, as svnserve runs: options, messages, exit status; the modes and
# what clients see in them; systemd's sockets, inetd's, a real sshd.
set -u
. "$(dirname "$0")/helpers/lib.sh"
mkdir "$T/root" "$T/root/127.0.0.1"
create svnadmin 8 "$T/root/repos"
printf 'hello\n' >"$T/hello"
svnmucc -m m mkdir "file://$T/root/repos/trunk" put "$T/hello" "file://$T/root/repos/trunk/file" >/dev/null
cp -a "$T/root/repos" "$T/root/127.0.0.1/hosted"
SERVE="$T/names/svnserve"

free_port() { PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'); }
up() { within 30 accepts "${2:-127.0.0.1}" "$1"; } # up PORT [ADDRESS]

# ---- the command line --------------------------------------------------------------------------
alike() { # alike ARGUMENT...: the same output, errors, exit status
    (cd "$T" && timeout 20 svnserve "$@" </dev/null >"$T/stock.out" 2>&1; echo "exit $?" >>"$T/stock.out")
    (cd "$T" && timeout 20 "$SERVE" "$@" </dev/null >"$T/varve.out" 2>&1; echo "exit $?" >>"$T/varve.out")
    sed -i -E '/^svnserve: E[0-9]+: (It was to be|The name is) /d' "$T/varve.out" # varve names the object
    same "svnserve $*" "$T/varve.out" "$T/stock.out"
}
alike
alike -q
alike -d -i
alike -dX
alike -d -t
alike -d extra
alike --bogus
alike -d -?
alike --vers
alike -d --tunnel-user x
alike -t --tunnel-user
alike -d --listen-port
alike -d --listen-port abc
alike -d --listen-port 99999999
alike -d -M abc
alike -d -T --single-thread
alike -d -r /nonexistent
alike -t -r "$T/hello"
alike -d --config-file /nonexistent
alike -d --log-file /nonexistent/x
alike -X --listen-host 203.0.113.1 --listen-port 48999
alike -X --listen-host nonexistent.invalid
alike --version -q
ROOT=$T/root start varve "$VARVE" serve
alike -X --listen-host 127.0.0.1 --listen-port "$PORT_varve"
stop varve
svnserve --help | grep -oE '^  (-. \[)?--?[a-z0-9-]+' | grep -oE '[a-z][a-z0-9-]+' | sort -u >"$T/stock.options"
"$SERVE" --help | grep -oE '^  (-. \[)?--?[a-z0-9-]+' | grep -oE '[a-z][a-z0-9-]+' | sort -u >"$T/varve.options"
is "--help knows every option of svnserve" "$(comm -23 "$T/stock.options" "$T/varve.options")" ""
is "and there are options to know" "$([ "$(wc -l <"$T/stock.options")" -gt 25 ] && echo yes)" yes
"$SERVE" --version | head -n 1 | grep -q '^svnserve, version 1\.14\.2'
result $? "--version begins as svnserve's"

# ---- closed standard input, output, error --------------------------------------------------------
"$SERVE" --help >/dev/full 2>"$T/varve.out"
is "what cannot be printed is an error" "$? $(grep -c 'E000028.*No space left' "$T/varve.out")" "1 1"
free_port
"$VARVE" serve -d --foreground -r "$T/root" --listen-host 127.0.0.1 --listen-port "$PORT" <&- >&- 2>&- &
SERVERS+=($!)
up "$PORT"
svn mkdir -q -m m "svn://127.0.0.1:$PORT/repos/closed"
is "closed descriptors: no file, no socket gets their numbers" "$(readlink /proc/$!/fd/{0,1,2} | tr '\n' ' ')" "/ / / "

# ---- daemons ------------------------------------------------------------------------------------
free_port
(cd "$T" && "$SERVE" -d -r root --listen-host 127.0.0.1 --listen-port "$PORT" --pid-file d.pid --log-file d.log)
is "-d: goes to the background with status 0" $? 0
within 30 [ -s "$T/d.pid" ] # a client's connection may come before it
pid=$(cat "$T/d.pid")
SERVERS+=("$pid")
is "the pid file holds the number of the server" "$(tr '\0' ' ' <"/proc/$pid/cmdline" | grep -c -- "--pid-file d.pid")" 1
is "and a line feed" "$(wc -l <"$T/d.pid")" 1
is "a relative root is that of the start" "$(svn cat "svn://127.0.0.1:$PORT/repos/trunk/file")" hello
mv "$T/d.log" "$T/d.log.1"
svn info "svn://127.0.0.1:$PORT/repos" >/dev/null
kill -HUP "$pid"
within 30 [ -e "$T/d.log" ]
svn ls "svn://127.0.0.1:$PORT/repos" >/dev/null
grep -q " stat /@" "$T/d.log.1" && ! grep -q " list " "$T/d.log.1" && grep -q " list " "$T/d.log"
result $? "SIGHUP reopens the log, a relative one too"
kill "$pid"
within 5 ended "$pid"
result $? "SIGTERM ends it"
[ -e "$T/d.pid" ]
result $? "the pid file stays"

ROOT=$T/root start varve "$VARVE" serve -T -c 0 -M 32 --cache-txdeltas yes --cache-fulltexts no --cache-revprops yes \
    --cache-nodeprops no --client-speed 1000 --block-read yes --min-threads 2 --max-threads 4 --max-request-size 1 --max-response-size 1
is "tuning options are taken" "$(svn cat "$URL_varve/repos/trunk/file")" hello
head -c 3000000 /dev/urandom >"$T/large"
svnmucc -m m put "$T/large" "file://$T/root/repos/large" >/dev/null
ROOT=$T/root start stock svnserve -T --max-response-size 1
for side in stock varve; do
    url=URL_$side
    svn cat "${!url}/repos/large" 2>"$T/$side.out" | wc -c >/dev/null
done
same "--max-response-size ends a large answer as with stock" "$T/varve.out" "$T/stock.out"
grep -q " ERR - 0 210010 " "$T/varve.log"
result $? "the log has the reason"
stop stock
stop varve
ROOT=$T/root start varve "$VARVE" serve -R
ROOT=$T/root start stock svnserve -R
for side in stock varve; do
    url=URL_$side
    svn mkdir -m m "${!url}/repos/x" >"$T/$side.out" 2>&1
done
same "-R: commits are refused as by stock" "$T/varve.out" "$T/stock.out"
stop varve
stop stock
ROOT=$T/root start varve "$VARVE" serve --virtual-host
is "--virtual-host finds the host's folder" "$(svn cat "$URL_varve/hosted/trunk/file")" hello
check_fails "and nothing else" svn cat "$URL_varve/repos/trunk/file"
stop varve

mkdir "$T/conf"
printf '[general]\nanon-access = none\npassword-db = passwd\n' >"$T/conf/one.conf"
printf '[users]\nalice = secret\n' >"$T/conf/passwd"
ln -s one.conf "$T/conf/svnserve.conf"
ROOT=$T/root start varve "$VARVE" serve --config-file "$T/conf/svnserve.conf"
check_fails "--config-file stands for the repository's own" svn info "$URL_varve/repos"
check "names in it are relative to it" svn info --username alice --password secret --no-auth-cache "$URL_varve/repos"
printf '[general]\nanon-access = read\n' >"$T/conf/two.conf"
ln -sf two.conf "$T/conf/svnserve.conf"
check "what it says later counts at once" svn info "$URL_varve/repos"
stop varve

if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
    free_port
    "$SERVE" -d --foreground -6 -r "$T/root" --listen-host localhost --listen-port "$PORT" --log-file "$T/six.log" &
    pid=$!
    SERVERS+=("$pid")
    "$SERVE" -d --foreground -r "$T/root" --listen-host ::1 --listen-port "$((PORT + 1))" --log-file "$T/six.log" &
    SERVERS+=("$!")
    up "$((PORT + 1))" ::1
    is "IPv6: an address" "$(svn cat "svn://[::1]:$((PORT + 1))/repos/trunk/file")" hello
    grep -q " ::1 - repos get-file" "$T/six.log"
    result $? "IPv6: its client's address is in the log"
    if getent ahostsv6 localhost | grep -q '^::1 '; then
        up "$PORT" ::1
        is "-6 takes the IPv6 address of a name" "$(svn cat "svn://[::1]:$PORT/repos/trunk/file")" hello
    else
        skip "-6 takes the IPv6 address of a name" "localhost has none here"
    fi
else
    skip "IPv6" "there is none here"
fi

# ---- one session -----------------------------------------------------------------------------------
free_port
"$SERVE" -X -r "$T/root" --listen-host 127.0.0.1 --listen-port "$PORT" --pid-file "$T/x.pid" &
pid=$!
within 30 [ -s "$T/x.pid" ]
is "-X serves a client" "$(svn cat "svn://127.0.0.1:$PORT/repos/trunk/file")" hello
wait $pid
is "and ends" $? 0

free_port
python3 "$HERE/activate.py" inetd "$PORT" "$SERVE" -i -r "$T/root" --log-file "$T/inetd.log" &
pid=$!
within 30 grep -q "$(printf ':%04X ' "$PORT")" /proc/net/tcp
is "-i serves the client in standard input" "$(svn cat "svn://127.0.0.1:$PORT/repos/trunk/file")" hello
wait $pid
is "and ends" $? 0
grep -q " 127.0.0.1 - repos get-file" "$T/inetd.log"
result $? "its address is in the log"
printf '#!/bin/sh\nexec %s -i -r %s\n' "$SERVE" "$T/root" >"$T/pipes"
chmod +x "$T/pipes"
is "-i serves the client at the ends of two pipes" "$(svn --config-option "config:tunnels:i=$T/pipes" cat svn+i://host/repos/trunk/file)" hello

printf '#!/bin/sh\necho "this is no part of the conversation"\n' >"$T/root/repos/hooks/post-commit"
chmod +x "$T/root/repos/hooks/post-commit"
for side in stock varve; do
    program=svnserve
    [ $side = stock ] || program=$SERVE
    printf '#!/bin/sh\nexec %s -t -r %s --tunnel-user harry --log-file %s\n' "$program" "$T/root" "$T/tunnel.$side.log" >"$T/tunnel-$side"
    chmod +x "$T/tunnel-$side"
    tunnelled() { svn --config-option "config:tunnels:t=$T/tunnel-$side" "$@"; }
    { tunnelled cat svn+t://host/repos/trunk/file; tunnelled mkdir -q -m m "svn+t://host/repos/by-$side"
      tunnelled lock svn+t://host/repos/trunk/file; tunnelled unlock svn+t://host/repos/trunk/file
      tunnelled info svn+t://host/none; tunnelled log -q -l 1 --xml "svn+t://host/repos/by-$side"; } >"$T/$side.out" 2>&1
    sed -i "/^svnserve: /d; s/by-$side//g; s/revision=\"[0-9]*\"//; s/<date>.*<\/date>//" "$T/$side.out"
done
same "-t: a tunnel's user" "$T/varve.out" "$T/stock.out"
grep -q harry "$T/varve.out"
result $? "is the author"
rm "$T/root/repos/hooks/post-commit"
printf '( 2 ( edit-pipeline ) 15:svn://host/none 0: ( ) ) ' | "$SERVE" -t -r "$T/root" >"$T/out" 2>"$T/err"
is "-t: a session that cannot be has status 1" "$?" 1
is "and a word on standard error" "$(cat "$T/err")" "svnserve: E210005: No repository found in 'svn://host/none'"

# ---- systemd -----------------------------------------------------------------------------------------
free_port
python3 "$HERE/activate.py" systemd "$PORT" "$T/notes" "$VARVE" serve -d -r "$T/root" --pid-file "$T/systemd.pid" --log-file "$T/systemd.log" &
supervisor=$!
within 30 [ -s "$T/notes" ]
is "systemd: the server says when it is ready" "$(cat "$T/notes")" "READY=1"
pid=$(cat "$T/systemd.pid")
SERVERS+=("$pid")
is "it serves the sockets that it was given" "$(svn cat "svn://127.0.0.1:$PORT/repos/trunk/file")" hello
is "all of them" "$(svn cat "svn://[::1]:$PORT/repos/trunk/file")" hello
kill -HUP "$pid"
within 30 grep -q RELOADING "$T/notes"
kill -TERM "$pid"
wait $supervisor
is "it ends in good order" $? 0
is "and has said so" "$(tr '\n' ' ' <"$T/notes")" "READY=1 RELOADING=1 READY=1 STOPPING=1 "

# ---- svn+ssh -------------------------------------------------------------------------------------------
sshd=$(PATH=$PATH:/usr/sbin command -v sshd)
if [ -n "$sshd" ] && command -v ssh >/dev/null && [ "$(id -u)" = 0 ]; then
    chmod 755 "$T"
    mkdir "$T/ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/host"
    ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/alice"
    ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/any"
    { printf 'command="%s -t -r %s --tunnel-user alice",restrict ' "$SERVE" "$T/root"; cat "$T/ssh/alice.pub"; cat "$T/ssh/any.pub"; } >"$T/ssh/keys"
    free_port
    mkdir -p /run/sshd
    printf '%s\n' "Port $PORT" "ListenAddress 127.0.0.1" "HostKey $T/ssh/host" "AuthorizedKeysFile $T/ssh/keys" "StrictModes no" \
        "PidFile none" "UsePAM no" "PasswordAuthentication no" "SetEnv PATH=$T/names:$PATH" >"$T/ssh/config"
    "$sshd" -D -e -f "$T/ssh/config" 2>"$T/ssh/log" &
    SERVERS+=("$!")
    up "$PORT"
    export SVN_SSH
    ssh="ssh -q -p $PORT -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o BatchMode=yes"
    SVN_SSH="$ssh -i $T/ssh/alice"
    is "svn+ssh: reading" "$(svn cat svn+ssh://root@127.0.0.1/repos/trunk/file)" hello
    check "svn+ssh: a commit" svn mkdir -m m svn+ssh://root@127.0.0.1/repos/by-ssh
    is "its author is the one whom the key names" "$(svn info --show-item last-changed-author "file://$T/root/repos/by-ssh")" alice
    SVN_SSH="$ssh -i $T/ssh/any"
    is "svn+ssh: svnserve by its name, whole paths" "$(svn cat "svn+ssh://root@127.0.0.1$T/root/repos/trunk/file")" hello
    check "a checkout, a commit" sh -c "command svn checkout -q 'svn+ssh://root@127.0.0.1$T/root/repos/trunk' '$T/wc' && echo more >>'$T/wc/file' && command svn commit -q -m m '$T/wc'"
    is "its author is the system's user" "$(svn info --show-item last-changed-author "file://$T/root/repos/trunk/file")" "$(id -un)"
else
    skip "svn+ssh" "needs sshd, ssh and root"
fi
check "stock verifies the repository" svnadmin verify -q "$T/root/repos"
done_testing
