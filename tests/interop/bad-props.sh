#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Properties that may not be stored: names that are none, values that nobody could use. Every way in refuses them: commits (of
# folders, of files, of the revision), changes of revision properties, streams; lock comments. The answers are those of stock tools,
# but for names, of which stock takes any.
set -u
. "$(dirname "$0")/helpers/lib.sh"
for SIDE in stock varve; do
    mkdir "$T/$SIDE"
    twin "$T/$SIDE/repos"
    printf '[general]\nanon-access = none\npassword-db = passwd\nrealm = test\n' >"$T/$SIDE/repos/conf/svnserve.conf"
    printf '[users]\nu = secret\n' >"$T/$SIDE/repos/conf/passwd"
    svnmucc -m one put /dev/null f -U "file://$T/$SIDE/repos" >/dev/null
done
start_stock "$T/stock"; start_varve "$T/varve"
check "stock answers" python3 "$HERE/bad_props.py" ask "$PORT_stock" stock; cp "$T/check.out" "$T/stock.answers"
check "varve answers" python3 "$HERE/bad_props.py" ask "$PORT_varve"; cp "$T/check.out" "$T/varve.answers"
same "names and values: the answers of a server, and what it stores" "$T/varve.answers" "$T/stock.answers"
check "lock comments: stock answers" python3 "$HERE/bad_props.py" lock "$PORT_stock"; cp "$T/check.out" "$T/stock.answers"
check "lock comments: varve answers" python3 "$HERE/bad_props.py" lock "$PORT_varve"; cp "$T/check.out" "$T/varve.answers"
same "lock comments of every byte" "$T/varve.answers" "$T/stock.answers"

# ---- a name from before ------------------------------------------------------------------------
printf x >"$T/x"
svnadmin setrevprop "$T/varve/repos" -r 1 $'a\001' "$T/x"
check "a name that is none can be removed" svn propdel -q --revprop -r 1 $'a\001' --username u --password secret "$URL_varve/repos"
is "it is gone" "$(svnlook proplist --revprop -r 1 "$T/varve/repos" | grep -c $'a\001')" 0

# ---- streams -----------------------------------------------------------------------------------
svnadmin create "$T/empty"
loads() { # loads TOOL OPTION...: load $T/stream; what is said and stored goes to $T/TOOL.loaded
    local tool=$1; shift
    rm -rf "$T/loaded" && cp -a "$T/empty" "$T/loaded"
    { "$tool" load -q "$@" "$T/loaded" <"$T/stream" 2>&1 | sed 's/^[a-z]*: //'
      [ "$(youngest "$T/loaded")" = 0 ] || svnadmin dump -q -r 1 "$T/loaded"; } >"$T/$(basename "$tool").loaded"
}
loads_like_stock() { # loads_like_stock NAME VALUE r|n OPTION...
    local what="$*"
    python3 "$HERE/bad_props.py" stream "$1" "$2" "$3" >"$T/stream"; shift 3
    loads svnadmin "$@"; loads "$VARVE" "$@"
    same "load of $what" "$T/$(basename "$VARVE").loaded" "$T/svnadmin.loaded"
}
for where in r n; do
    for name in 'svn:log\0x' 'svn:mergeinfo\0' 'a\xff' 'a\nb' ''; do
        python3 "$HERE/bad_props.py" stream "$name" v $where >"$T/stream"
        rm -rf "$T/loaded" && cp -a "$T/empty" "$T/loaded"
        check_fails "load of the name '$name' ($where)" "$VARVE" load -q "$T/loaded" -F "$T/stream"
        is "it says why" "$(tr '\n' ' ' <"$T/check.out" | LC_ALL=C grep -ac "^varve: E165002: '.*' is not a valid property name $")" 1
        is "nothing is loaded" "$(youngest "$T/loaded")" 0
    done
    for name in 'a\xff' 'a\nb' '' svn:wc:x; do
        loads_like_stock "$name" v $where --bypass-prop-validation
    done
    for name in svn:wc:x svn:entry:x svn:check-ood svn:check-locks svn:client-date svn:txn-x svn:author 'a b' 1a '\xc3\xa4'; do
        loads_like_stock "$name" v $where
    done
    for value in '\xff' 'a\rb' 'a\r\nb' 'a\0b'; do
        loads_like_stock svn:log "$value" $where
    done
    loads_like_stock svn:log 'a\r\nb\rc' $where --normalize-props
    loads_like_stock svn:date never $where
    for value in junk '/A:1\0' '/A\0:1' '/A:1\r\n' /A:5-2 '\xff:1' /d:1 :1 A:1 '/A:1 ' '/A: 1'; do
        loads_like_stock svn:mergeinfo "$value" $where
    done
done
for value in junk '/A:1\0' '/A\0:1' '\xff:1'; do
    loads_like_stock svn:mergeinfo "$value" n --bypass-prop-validation
done
python3 "$HERE/bad_props.py" stream 'svn:log\0x' v n >"$T/stream"
rm -rf "$T/loaded" && cp -a "$T/empty" "$T/loaded"
check_fails "a name with NUL is no name for --bypass-prop-validation either" "$VARVE" load -q --bypass-prop-validation "$T/loaded" -F "$T/stream"
done_testing
