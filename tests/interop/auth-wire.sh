#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may do what, on the wire: a raw peer is told the same by both servers, for every kind of access with passwords and with SASL,
# for password databases and configurations that are not there or damaged, for realms; and several repositories under one root.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
mkdir "$T/sasl"
export SASL_CONF_PATH=$T/sasl
SERVE_OPTIONS="--max-failed-logins 0" # more than any user fails here
printf 'pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: %s\nmech_list: ANONYMOUS PLAIN CRAM-MD5\nlog_level: 0\n' \
    "$T/sasl/db" >"$T/sasl/svn.conf"
HAS_SASL=0
command -v saslpasswd2 >/dev/null && printf secret | saslpasswd2 -p -c -f "$T/sasl/db" -u test anna && HAS_SASL=1
serve_both 8 --brief

conf() { # conf [-r REPOSITORY] FILE LINES: a file in conf/ of both repositories
    local repository=repos
    [ "$1" != -r ] || { repository=$2; shift 2; }
    for SIDE in stock varve; do printf "$2\n" >"$T/$SIDE/$repository/conf/$1"; done
}
as() { # as USER PASSWORD SVN-ARGUMENTS...; an empty user is none
    svn --no-auth-cache ${1:+--username "$1" --password "$2"} "${@:3}"
    echo "exit $?"
}

# ---- every access, every mechanism, everybody ------------------------------------------------------

asked() { # asked NAME [USER:PASSWORD...]: what a raw peer is told
    local who=("${@:2}") pids=() SIDE
    for SIDE in stock varve; do
        local port=PORT_$SIDE
        timeout 120 python3 "$HERE/auth_peer.py" "${!port}" "" "${who[@]}" >"$T/asked-$SIDE" 2>&1 &
        pids+=($!)
    done
    wait "${pids[@]}"
    for SIDE in stock varve; do plain <"$T/asked-$SIDE" >"$T/asked-plain-$SIDE"; done
    same "$1, on the wire" "$T/asked-plain-varve" "$T/asked-plain-stock"
    [ "$(grep -c '^  greeting: ' "$T/asked-stock")" = $((6 + 6 * ${#who[@]})) ] || result 1 "$1: a peer is greeted"
}
conf passwd '[users]\nanna = secret\n'
for sasl in false true; do
    [ $sasl = false ] || [ $HAS_SASL = 1 ] || { skip "SASL" "no saslpasswd2"; continue; }
    for anon in none read write; do
        for auth in none read write; do
            conf svnserve.conf "[general]\nanon-access = $anon\nauth-access = $auth\npassword-db = passwd\nrealm = test\n[sasl]\nuse-sasl = $sasl"
            asked "anonymous $anon, others $auth, SASL $sasl" anna:secret anna:wrong eve:secret
        done
    done
done

# ---- password databases -----------------------------------------------------------------------------

conf closed '[/]\neve = r\n'
GENERAL='[general]\nanon-access = read\nauth-access = write\nrealm = test\n'
given() { # given NAME LINES: of svnserve.conf behind [general]
    conf svnserve.conf "$2"
    asked "$1" anna:secret
}
given "no password-db" "$GENERAL"
given "a password-db that is missing" "${GENERAL}password-db = missing"
given "a password-db that is missing, nobody reads" "[general]\nanon-access = none\npassword-db = missing"
for SIDE in stock varve; do ln -s nowhere "$T/$SIDE/repos/conf/dangling"; done
given "a password-db that leads nowhere" "${GENERAL}password-db = dangling"
given "a password-db that is a folder" "${GENERAL}password-db = ../hooks"
given "a password-db below a file" "${GENERAL}password-db = passwd/x"
given "a password-db without a name" "${GENERAL}password-db ="
given "an absolute password-db" "${GENERAL}password-db = $T/stock/repos/conf/passwd"
for damage in 'anna = secret' '[users\nanna = secret' '[users]\nanna' '[users]\n = secret' '[users]\nanna = secret\n[' '' '[people]\nanna = secret' \
    '[users]\nAnna = secret\n' '[users]\nanna = wrong\nanna = secret' '[users]\nanna: secret # not a comment' '[users]\nanna =' \
    '[USERS]\nanna = secret' '\357\273\277[users]\nanna = secret' '[users]\nanna = sec\n ret' '[DEFAULT]\nanna = secret' \
    '[default]\nanna = secret\n[users]' \
    '[DEFAULT]\np = secret\n[users]\nanna = %%(p)s' '[users]\r\nanna = secret\r'; do
    conf damaged "${damage//%/%%}"
    given "a password-db of $damage" "${GENERAL}password-db = damaged"
done

# ---- realms, configurations, repositories ------------------------------------------------------------------

for realm in "" "realm =" "realm = of two words" "realm = größe"; do
    given "a realm of '$realm'" "[general]\nanon-access = none\npassword-db = passwd\n$realm"
done
for line in "anon-access = READ" "anon-access = Write" "anon-access = perhaps" "auth-access = wrote" "anon-access =" "ANON-ACCESS = none"; do
    given "$line" "[General]\npassword-db = passwd\nrealm = test\n$line"
done
given "defaults of all sections" "[DEFAULT]\nanon-access = none\npassword-db = passwd\nauthz-db = closed\n[general]\nrealm = test"
given "defaults, and no section that has them" "[DEFAULT]\nanon-access = none\npassword-db = passwd\n"
for damage in '[general' 'anon-access = write' '[general]\nanon-access' '' '[other]\nanon-access = write' '[general]\n[sasl]\nuse-sasl = maybe'; do
    given "a configuration of $damage" "$damage"
done

for SIDE in stock varve; do
    for name in open shut apart/below; do
        mkdir -p "$T/$SIDE/apart" && svnadmin create "$T/$SIDE/$name"
    done
done
conf passwd '[users]\nanna = secret'
conf -r open svnserve.conf '[general]\nanon-access = write'
conf -r shut svnserve.conf '[general]\nanon-access = none\nauth-access = none'
conf -r apart/below svnserve.conf '[general]\nanon-access = none\nrealm = below\npassword-db = ../../../repos/conf/passwd'
conf svnserve.conf "${GENERAL}password-db = passwd"
houses() {
    local name user
    for name in repos open shut apart/below apart none; do
        for user in "" anna eve; do
            as "$user" secret mkdir -m m "${URL%/repos}/$name/by-$user-$TESTS"
        done
    done
}
both "several repositories" houses
with_file() { # with_file NAME LINES [ARGUMENTS...]: one configuration for all repositories
    mkdir -p "$T/etc" && printf "$2\n" >"$T/etc/all.conf"
    stop stock; stop varve
    ROOT=$T/stock start stock svnserve -T --config-file "$T/etc/all.conf" "${@:3}"
    start_varve "$T/varve" --config-file "$T/etc/all.conf" "${@:3}"
    both "$1" houses
    asked "$1" eve:secret
}
printf '[users]\neve = secret\n' >"$T/etc-passwd"
with_file "a configuration for all" '[general]\nanon-access = read\npassword-db = ../etc-passwd\n'
with_file "a configuration for all, and --read-only" '[general]\nanon-access = write\npassword-db = ../etc-passwd\n' -R
with_file "a configuration for all that is empty" ''

same_history "after all"
done_testing
