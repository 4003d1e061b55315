#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repositories that old programs, other tools or hands have left in an odd state.
set -u
. "$(dirname "$0")/helpers/lib.sh"

small() { # small DIR: r1 and r2 each add a folder
    create svnadmin 8 "$1"
    svn mkdir -q -m one "file://$1/a"
    svn mkdir -q -m two "file://$1/b"
}

# ---- a head past the largest revision number ------------------------------------------------
small "$T/head"
for number in 2147483648 9223372036854775807; do
    echo $number >"$T/head/db/current"
    for command in verify dump info youngest; do
        check_fails "current holds $number: $command" "$VARVE" $command "$T/head"
        grep -q "Corrupt 'current'" "$T/check.out"
        result $? "it says so"
    done
done
echo 2147483647 >"$T/head/db/current"
check_fails "the largest number, but no such revisions: verify" "$VARVE" verify -q "$T/head"
grep -q 'E160006' "$T/check.out"
result $? "it tells of the first that is missing"

# ---- small files with line ends of another system -------------------------------------------
small "$T/crlf"
svnadmin dump -q --incremental -r 2 "$T/crlf" | sed 's,^Node-path: b,Node-path: c,' >"$T/more.dump"
for file in format db/current db/min-unpacked-rev; do
    rm -rf "$T/lines" && cp -a "$T/crlf" "$T/lines"
    sed -i 's/$/\r/' "$T/lines/$file"
    check "$file ends its line with CR LF, which stock reads" svnadmin verify -q "$T/lines"
    for command in info verify; do check "  $command" "$VARVE" $command "$T/lines"; done
    check "  load" load "$VARVE" "$T/lines" "$T/more.dump"
    is "  the revision is there" "$(youngest "$T/lines")" 3
done

# ---- numbers in a stream --------------------------------------------------------------------
small "$T/from" && svn cp -q -m three "file://$T/from/a" "file://$T/from/c"
svnadmin dump -q -r3 --incremental "$T/from" >"$T/copy.dump"
for number in 2147483648 9223372036854775807; do
    small "$T/to"
    sed "s/^Revision-number: .*/Revision-number: 1/; s/^Node-copyfrom-rev: .*/Node-copyfrom-rev: $number/" "$T/copy.dump" >"$T/odd.dump"
    check_fails "a copy of r$number is not loaded" "$VARVE" load -q "$T/to" <"$T/odd.dump"
    grep -q "E160006: No such revision" "$T/check.out"
    result $? "it says so"
    rm -rf "$T/to"
done

# ---- revisions without date and author ------------------------------------------------------
mkdir "$T/root" && small "$T/root/r"
for name in svn:date svn:author; do svn propdel -q --revprop -r 2 $name "file://$T/root/r"; done
start_stock "$T/root"
start_varve "$T/root"
for command in "info" "info a" "info b" "ls -v" "log -v" "ls --xml" "log --xml"; do
    read -r verb rest <<<"$command"
    case $rest in a | b) path=/$rest rest= ;; *) path='' ;; esac
    for server in stock varve; do
        url=URL_$server
        svn "$verb" $rest "${!url}/r$path" 2>&1 | sed "s,${!url},URL,g" >"$T/$server.out"
        echo "${PIPESTATUS[0]}" >>"$T/$server.out"
    done
    same "a revision without date and author: svn $command" "$T/varve.out" "$T/stock.out"
done

# ---- mergeinfo that does not parse ----------------------------------------------------------
create svnadmin 8 "$T/merge"
svn mkdir -q -m one "file://$T/merge/a"
cat >"$T/merge.dump" <<'END'
SVN-fs-dump-format-version: 2

Revision-number: 2
Prop-content-length: 10
Content-length: 10

PROPS-END

Node-path: b
Node-kind: dir
Node-action: add
Prop-content-length: 41
Content-length: 41

K 13
svn:mergeinfo
V 5
junk!
PROPS-END

END
svnadmin load -q --bypass-prop-validation "$T/merge" <"$T/merge.dump"
svn mkdir -q -m three "file://$T/merge/c"
is "the odd value is stored" "$(svnlook propget "$T/merge" svn:mergeinfo b)" 'junk!'
for range in 2:HEAD 2 3:HEAD; do
    for option in --incremental --deltas; do
        svnadmin dump $option -r $range "$T/merge" >"$T/stock.dump" 2>"$T/stock.err"; stock=$?
        "$T/names/svnadmin" dump $option -r $range "$T/merge" >"$T/varve.dump" 2>"$T/varve.err"; varve=$?
        is "dump $option -r $range: exit status" $varve $stock
        same "dump $option -r $range: the stream" "$T/varve.dump" "$T/stock.dump"
        same "dump $option -r $range: what it says" "$T/varve.err" "$T/stock.err"
    done
done

# ---- changed paths that contradict the tree -------------------------------------------------
create svnadmin 6 "$T/tree"
echo text >"$T/text"
svnmucc -m one mkdir a put "$T/text" a/f -U "file://$T/tree" >/dev/null
svnmucc -m two mkdir e propset p v a/f -U "file://$T/tree" >/dev/null
contradict() { # contradict CODE OLD NEW: both tools refuse r2 and nothing else
    cp -r "$T/tree" "$T/odd" && chmod u+w "$T/odd/db/revs/0/2"
    python3 "$HERE/damage.py" "$T/odd" 2 "$2" "$3"
    svnadmin verify -q --keep-going "$T/odd" 2>&1 | grep -a '^\* Error' >"$T/stock.lines"
    "$VARVE" verify -q --keep-going "$T/odd" >"$T/varve.out" 2>&1
    grep -a '^\* Error' "$T/varve.out" >"$T/varve.lines"
    same "changed paths '$3': the revisions" "$T/varve.lines" "$T/stock.lines"
    is "changed paths '$3': the code" "$(grep -a -o -m1 'E[0-9]\{6\}' "$T/varve.out")" "$1"
    rm -rf "$T/odd"
}
contradict E160020 'add-dir false false /e\n\n' 'add-dir false false /e\n\n0.0.t1-1 add-dir false false /e\n\n'
contradict E160020 'add-dir false false /e\n' 'add-dir false false /a\n'
contradict E160020 'modify-file false true /a/f' 'add-file false true /a/f'
contradict E160013 'modify-file false true /a/f' 'modify-file false true /a/g'
contradict E145001 'modify-file false true /a/f' 'modify-dir false true /a/f'
contradict E160005 'add-dir false false /e\n' 'add-dir false false /\xff\n'
contradict E160005 'add-dir false false /e\n' 'add-dir false false /a/../e\n'

# ---- a folder that is inside of itself ------------------------------------------------------
mkdir "$T/own"
create svnadmin 3 "$T/own/repo"
python3 "$HERE/own_child.py" "$T/own/repo"
is "the file is as stock reads it" "$(svnadmin verify -q "$T/own/repo" 2>&1 | grep -o 'Node is its own direct or indirect parent')" \
    "Node is its own direct or indirect parent"
start_varve "$T/own"
ends() { # ends NAME COMMAND...: it stops at the damage
    local name=$1; shift
    timeout -s KILL 20 "$@" >"$T/out" 2>&1
    is "a folder inside of itself: $name" "$? $(grep -a -o -m1 'E160004' "$T/out")" "1 E160004"
}
ends verify "$VARVE" verify -q "$T/own/repo"
ends "a dump of the whole tree" "$VARVE" dump -q -r 1 "$T/own/repo"
ends list svn ls -R "$URL_varve/repo"
ends export svn export -q "$URL_varve/repo" "$T/exported"
ends checkout svn checkout -q "$URL_varve/repo" "$T/wc"
ends replay svnrdump dump -q -r 1 "$URL_varve/repo"
ends "mergeinfo below it" svn propget -R svn:mergeinfo "$URL_varve/repo"
ends "a copy" svn copy -q -m x "$URL_varve/repo/a/b/c" "$URL_varve/repo/a/b/d"
check "the server is still there" svn info "$URL_varve/repo/a"
done_testing
