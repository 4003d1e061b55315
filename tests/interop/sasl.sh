#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Authentication by Cyrus SASL: the stock client against both servers, mechanism by mechanism, with
# and without security layers, right and wrong passwords; EXTERNAL in a tunnel; and peers that
# misbehave within a layer. The machine's own configuration of SASL is not touched.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
for tool in saslpasswd2 sasldblistusers2; do
    command -v $tool >/dev/null || skip_all "$tool is not installed"
done
SERVE_OPTIONS="--max-failed-logins 0" # more than any user fails here
mkdir "$T/sasl"
printf '' >"$T/tunnel" && chmod +x "$T/tunnel"
export SASL_CONF_PATH=$T/sasl
pardon_cyrus

mechanisms() { # mechanisms NAME...: what the servers that start from now on know
    printf 'pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: %s\nmech_list: %s\nlog_level: 0\n' \
        "$T/sasl/db" "$*" >"$T/sasl/svn.conf"
}
password() { printf %s "$3" | saslpasswd2 -p -c -f "$T/sasl/db" -u "$2" "$1"; } # password USER REALM PASSWORD

configure() { # configure "GENERAL-LINES" "SASL-LINES": both repositories
    for SIDE in stock varve; do
        printf '[general]\nrealm = test\n%b\n[sasl]\nuse-sasl = true\n%b\n' "$1" "$2" \
            >"$T/$SIDE/repos/conf/svnserve.conf"
    done
}
restart() { stop stock; stop varve; start_stock "$T/stock"; start_varve "$T/varve"; }

as_alice() { svn --no-auth-cache --username alice --password secret "$@"; }
as_bob() { svn --no-auth-cache --username bob --password hidden "$@"; }

mechanisms ANONYMOUS EXTERNAL DIGEST-MD5 SCRAM-SHA-256 SCRAM-SHA-1 CRAM-MD5 PLAIN LOGIN
password alice test secret || skip_all "saslpasswd2 cannot make a database"
password bob test hidden
password alice other elsewhere
serve_both 8
configure 'anon-access = read' ''

# ---- mechanisms ------------------------------------------------------------------------------

at_work() {
    svn list "$URL/trunk"
    as_alice mkdir "$URL/by-alice" -m "alice may" && svn log -q -l 1 "$URL"
    as_bob rm "$URL/by-alice" -m "so may bob" && svn log -q -l 1 "$URL"
    svn --no-auth-cache --username alice --password wrong mkdir "$URL/x" -m "wrong password"
    svn --no-auth-cache --username eve --password secret mkdir "$URL/x" -m "unknown"
    svn --no-auth-cache --username alice --password elsewhere mkdir "$URL/x" -m "another realm's password"
    svn --no-auth-cache --username alice@test --password secret mkdir "$URL/with-realm" -m "name and realm"
    svn --no-auth-cache --username alice@other --password elsewhere mkdir "$URL/x" -m "another realm"
    svn mkdir "$URL/x" -m "nobody"
}
in_short() {
    as_alice mkdir "$URL/in-short-$TESTS" -m "alice may" && as_alice log -q -l 1 "$URL"
    svn --no-auth-cache --username alice --password wrong mkdir "$URL/x" -m "wrong password"
}
both "the mechanism that the client likes best" at_work
for mechanism in DIGEST-MD5 SCRAM-SHA-1 CRAM-MD5 PLAIN LOGIN; do
    mechanisms $mechanism ANONYMOUS
    restart
    both "$mechanism" in_short
done
mechanisms EXTERNAL
restart
both "no mechanism that a client without a tunnel could use" in_short

# ---- security layers ---------------------------------------------------------------------------

mechanisms ANONYMOUS EXTERNAL DIGEST-MD5 SCRAM-SHA-256 CRAM-MD5 PLAIN
restart
head -c 1000000 /dev/urandom >"$T/large"
layered() {
    as_alice checkout "$URL/trunk/src" wc && as_alice log -v -q "$URL/trunk/src"
    cp "$T/large" wc/large && as_alice add -q wc/large && echo more >>wc/main.c
    as_alice commit -m "through the layer" wc
    as_alice export "$URL/trunk/src" again && cmp again/large "$T/large" && echo "the same"
    as_bob checkout -q "$URL/trunk/src" bobs && echo bob >>bobs/main.c && as_bob commit -m "bob" bobs
    echo alice >>wc/main.c && as_alice commit -m "out of date" wc
    as_alice rm "$URL/trunk/src/large" -m "again"
}
try() { # try ANON MIN MAX STORY
    configure "anon-access = $1" "min-encryption = $2\nmax-encryption = $3"
    both_in_any_order "encryption from $2 to $3, anonymous $1" "$4"
}
try none 1 1 layered
try none 112 112 layered
try read 1 256 layered
for range in "0 0" "0 1" "2 56" "56 112" "128 128" "300 400"; do try none $range in_short; done
configure 'anon-access = write' 'min-encryption = 1'
nameless() { as_alice mkdir "$URL/nameless" -m "who may do it anyway is not asked" && as_alice log -q -l 1 "$URL"; }
both "encryption where anybody may write" nameless

# ---- configurations ------------------------------------------------------------------------------

reach() { as_alice list "$URL/trunk/doc"; }
for lines in "min-encryption = strong" "max-encryption = -1" "max-encryption = 4294967296" "min-encryption =" \
    "use-sasl = perhaps" "min-encryption = 2\nmax-encryption = 1" "min-encryption = 4294967295"; do
    configure 'anon-access = none' "$lines"
    both "a configuration with $(printf %b "$lines" | tr '\n' ' ')" reach
done
configure 'anon-access = none\npassword-db = passwd' ''
printf '[users]\nalice = other\n' | tee "$T/stock/repos/conf/passwd" >"$T/varve/repos/conf/passwd"
both "a password-db beside SASL means nothing" reach
configure 'anon-access = none\nrealm = other' ''
both "a realm that has another password" reach
for SIDE in stock varve; do
    printf '[general]\nanon-access = none\n[sasl]\nuse-sasl = true\n' >"$T/$SIDE/repos/conf/svnserve.conf"
done
both "no realm" reach

# ---- tunnels -----------------------------------------------------------------------------------------

tunnel() { # tunnel USER SVN-ARGUMENTS...
    local server=svnserve
    [ $SIDE = stock ] || server=$T/names/svnserve
    printf '#!/bin/sh\nexec %s -t -r %s --tunnel-user %s\n' "$server" "$T/$SIDE" "$1" >"$T/tunnel"
    svn --config-option "config:tunnels:test=$T/tunnel" --no-auth-cache "${@:2}"
}
tunnelled() {
    local url=svn+test://host/repos
    tunnel alice list $url/trunk/doc && tunnel carol mkdir $url/by-carol -m "whoever the tunnel says" &&
        tunnel carol log -q -l 1 $url && tunnel carol rm $url/by-carol -m again
}
configure 'anon-access = none' ''
both "EXTERNAL in a tunnel" tunnelled
configure 'anon-access = read' ''
both "EXTERNAL where anybody may read" tunnelled

# ---- on the wire -----------------------------------------------------------------------------------------

talk() { timeout 120 python3 "$HERE/sasl_peer.py" "$@"; }
configure 'anon-access = none' ''
for SIDE in stock varve; do
    port=PORT_$SIDE
    talk answers "${!port}" >"$T/answers-$SIDE" 2>&1
done
same "the same answers on the wire" "$T/answers-varve" "$T/answers-stock"
[ "$(grep -c "^S ( success ( ( .*DIGEST-MD5 " "$T/answers-stock")" -gt 25 ]
result $? "there were answers"
grep -q "EXTERNAL" "$T/answers-varve"; [ $? = 1 ]
result $? "EXTERNAL is not offered without a tunnel"
check "EXTERNAL without a tunnel harms nobody" talk external "$PORT_varve"

memory() { awk '/^VmHWM/ { print $2 }' "/proc/$PID_varve/status"; }
for qop in auth-int auth-conf; do
    before=$(memory)
    talk manners "$PORT_varve" $qop >"$T/manners"
    while IFS=: read -r manner fault; do
        is "$qop: $manner" "$fault" ""
    done <"$T/manners"
    is "all manners of peers within $qop were tried" "$(wc -l <"$T/manners")" 8
    [ $(($(memory) - before)) -lt 20000 ]
    result $? "they cost no memory"
done
check "a client that never tells its password is let go" talk endless "$PORT_varve"
check "the server still serves" as_alice list "$URL_varve/repos"

same_history "after all"
done_testing
