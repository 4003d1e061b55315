#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may do what: anon-access, auth-access, mechanism and user in every combination; password files
# and realms that are not what they should be; the case of users' names. The stock client against both
# servers must be told the same.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
SERVE_OPTIONS="--max-failed-logins 0" # more than any user fails here
serve_both 8 --brief

configure() { # configure LINES: conf/svnserve.conf of both repositories
    for SIDE in stock varve; do printf '%b\n' "$1" >"$T/$SIDE/repos/conf/svnserve.conf"; done
}
put() { # put FILE LINES: a file in conf of both repositories
    for SIDE in stock varve; do printf '%b\n' "$2" >"$T/$SIDE/repos/conf/$1"; done
}
as() { # as USER: the options of a client
    case $1 in
    nobody) echo --no-auth-cache ;;
    right) echo --no-auth-cache --username alice --password secret ;;
    wrong) echo --no-auth-cache --username alice --password guess ;;
    unknown) echo --no-auth-cache --username mallory --password secret ;;
    *) echo --no-auth-cache --username "$1" --password secret ;;
    esac
}
try() { # try USER: read and write
    local options
    options=$(as "$1")
    # shellcheck disable=SC2086
    for command in "info --show-item revision" "mkdir -q -m make --parents"; do
        svn $command $options "$URL/made/by/$1"
        echo "$1: $command: $?"
    done
    # shellcheck disable=SC2086
    svn proplist --revprop -r 0 $options "$URL"
}
try_all() { for user in nobody right wrong unknown; do try $user; done; }

# ---- access ----------------------------------------------------------------------------------

put passwd '[users]\nalice = secret'
mkdir "$T/sasl"
printf 'pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: %s\nmech_list: DIGEST-MD5 ANONYMOUS\nlog_level: 0\n' \
    "$T/sasl/db" >"$T/sasl/svn.conf"
printf secret | saslpasswd2 -p -c -f "$T/sasl/db" -u test alice || skip_all "saslpasswd2 cannot make a database"
stop stock; stop varve
export SASL_CONF_PATH=$T/sasl
pardon_cyrus
start_stock "$T/stock"; start_varve "$T/varve"

for mechanism in CRAM-MD5 SASL; do
    use=false
    [ $mechanism = CRAM-MD5 ] || use=true
    for anonymous in none read write; do
        for known in none read write; do
            configure "[general]\nanon-access = $anonymous\nauth-access = $known\npassword-db = passwd\nrealm = test\n[sasl]\nuse-sasl = $use"
            both "$mechanism, anonymous: $anonymous, known: $known" try_all
        done
    done
done
is "in some combination the right password writes" \
    "$(command svn ls --non-interactive "$URL_varve/repos/made/by" | grep -cx right/)" 1
is "nobody wrote with a wrong one, but anonymously" \
    "$(command svn log -q --non-interactive "$URL_varve/repos/made/by" | grep -c mallory)" 0

# ---- what is configured ------------------------------------------------------------------------

known_only='[general]\nanon-access = none\nauth-access = write'
configure "$known_only"
both "no password file" try_all
configure "$known_only\npassword-db = missing"
both "a password file that is missing" try_all
for SIDE in stock varve; do mkdir "$T/$SIDE/repos/conf/folder"; done
configure "$known_only\npassword-db = folder"
both "a password file that is a folder" try_all
put broken 'alice = secret'
configure "$known_only\npassword-db = broken"
both "a password file without a section" try_all
put broken '[users\nalice = secret'
both "a password file with half a section" try_all
put broken '[people]\nalice = secret'
both "a password file without users" try_all
put broken '[users]\nalice =\nalice = secret\nbob = %(alice)s'
configure "$known_only\npassword-db = broken"
try_more() { for user in right bob ''; do try "$user"; done; }
both "entries that are empty, repeated and expanded" try_more
configure "$known_only\npassword-db = passwd"
both "no realm: the UUID" try_all
configure "$known_only\npassword-db = passwd\nrealm = Häuser und Gärten (\\\\)"
both "a realm of several words" try_all
configure '[general]\nanon-access = rea\nauth-access = write\npassword-db = passwd'
both "an access that there is not" try_all
configure "[general]\nanon-access = NONE\nauth-access = Write\npassword-db = passwd"
both "access in capitals" try_all
configure "general]\nanon-access = none"
both "a configuration that is broken" try_all

# ---- names ------------------------------------------------------------------------------------

put passwd '[users]\nAlice = secret\nbob = secret\nCAROL = secret'
put authz '[/]\n* =\n[/made]\nAlice = rw\nalice = r\nBOB = rw\ncarol = rw\nCAROL = r'
try_names() { for user in Alice alice ALICE bob Bob BOB CAROL carol; do try $user; done; }
for case in upper lower none Upper ''; do
    configure "$known_only\npassword-db = passwd\nauthz-db = authz\nforce-username-case = $case"
    both "names in case '$case'" try_names
done

for SIDE in stock varve; do
    printf '[general]\nanon-access = none\nauth-access = read\npassword-db = %s\n' \
        "$T/$SIDE/repos/conf/passwd" >"$T/$SIDE/all.conf"
done
stop stock; stop varve
ROOT=$T/stock start stock svnserve -T --config-file "$T/stock/all.conf"
start_varve "$T/varve" --config-file "$T/varve/all.conf"
configure '[general]\nanon-access = write'
both "one configuration for all repositories" try_names
same_history "all that"
done_testing
