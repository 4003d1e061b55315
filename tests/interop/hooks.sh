#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The nine hooks under both servers: what each of them sees, and what users are told when one of
# them fails in one of the ways in which programs fail.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"

HOOKS="start-commit pre-commit post-commit pre-revprop-change post-revprop-change pre-lock post-lock pre-unlock post-unlock"

# Every hook notes what it sees in the repository's `seen` where there is `look`, then does what
# `behave-HOOK` says.
cat >"$T/hook" <<'EOF'
#!/bin/sh
name=${0##*/} repos=${0%/hooks/*}
[ ! -f "$repos/look" ] || {
    echo "== $name: $# arguments"
    for argument; do printf '[%s]\n' "$argument"; done
    /usr/bin/tr '\0' '\n' </proc/$$/environ | /usr/bin/sort | /usr/bin/sed 's/^/environment: /'
    echo "folder: $(/usr/bin/readlink /proc/$$/cwd), umask: $(umask)"
    /usr/bin/od -c
    case $name in
    start-commit) txn=$4 ;;
    pre-commit) txn=$2 ;;
    *) txn= ;;
    esac
    if [ -s "$repos/look" ] && [ -n "$txn" ]; then
        for question in info "changed --copy-info" diff tree; do
            echo "svnlook $question"
            /usr/bin/svnlook $question -t "$txn" "$1" | /usr/bin/head -n 40
        done
        echo "svnlook proplist"
        /usr/bin/svnlook proplist --revprop -v -t "$txn" "$1" | /usr/bin/sort
        /usr/bin/svnadmin lstxns "$1"
    fi
} >>"$repos/seen" 2>&1 <&0
[ ! -f "$repos/behave-$name" ] || . "$repos/behave-$name"
EOF
chmod +x "$T/hook"

mkdir "$T/stock" "$T/varve"
svnadmin create "$T/stock/repos"
printf 'one\ntwo\n' >"$T/text"
svnmucc -m base mkdir "file://$T/stock/repos/trunk" put "$T/text" "file://$T/stock/repos/trunk/a b%20c" \
    put "$T/text" "file://$T/stock/repos/trunk/ümlaut" put "$T/text" "file://$T/stock/repos/trunk/file"
printf '[general]\nanon-access = read\npassword-db = passwd\nrealm = test\nhooks-env = env/hooks\n' \
    >"$T/stock/repos/conf/svnserve.conf"
printf '[users]\nalice = secret\nbob = hidden\n' >"$T/stock/repos/conf/passwd"
mkdir "$T/stock/repos/conf/env"
cat >"$T/stock/repos/conf/env/hooks" <<'EOF'
# a comment
[default]
PATH = /usr/bin:/bin
Mixed = Case
MIXED = other
empty =
long = one
   two
value = %(PATH)s and more
[pre-commit]
ONLY = here
LANG = C.UTF-8
[Post-Commit]
NOT = me
EOF
printf '[default]\nFROM = conf/hooks-env\n' >"$T/stock/repos/conf/hooks-env"
for hook in $HOOKS; do ln -s "$T/hook" "$T/stock/repos/hooks/$hook"; done
cp -a "$T/stock/repos" "$T/varve/repos"
start_stock "$T/stock"
start_varve "$T/varve"

as_alice() { svn --no-auth-cache --username alice --password secret "$@"; }
as_bob() { svn --no-auth-cache --username bob --password hidden "$@"; }
told() { "$@"; echo "exit $?"; }
look() { printf %s "$*" >"$REPOS/look"; } # look [WELL]: hooks note what they see; also by svnlook
seen() { cat "$REPOS/seen" && rm "$REPOS/seen" "$REPOS/look"; }

# ---- what they see -----------------------------------------------------------------------------

commits() {
    look well
    told as_alice mkdir "$URL/made by mkdir" -m "a log
of two lines"
    as_alice checkout -q "$URL/trunk" wc && echo three >>wc/file && svn propset -q color blue wc/file
    svn cp -q wc/file wc/copied && svn rm -q wc/ümlaut
    told as_alice commit -q --with-revprop extra=value -m "several" wc
    told as_alice cp -q "$URL/trunk" "$URL/branch" -m ""
    seen
}
both "what commits show to hooks" commits

properties() {
    look
    printf 'no newline' >value && printf 'with\nnewlines\n' >value2
    told as_alice propset -q --revprop -r 1 prop -F value "$URL"
    told as_alice propset -q --revprop -r 1 prop -F value2 "$URL"
    told as_bob propset -q --revprop -r 1 svn:log "bob's ü" "$URL"
    told as_alice propset -q --revprop -r 1 prop "" "$URL"
    told as_alice propdel -q --revprop -r 1 prop "$URL"
    told as_alice propdel -q --revprop -r 1 not-there "$URL"
    head -c 200000 /dev/zero | tr '\0' x >value && told as_alice propset -q --revprop -r 1 large -F value "$URL"
    seen
}
both "what changes of revision properties show to hooks" properties

locks() {
    look
    told as_alice lock -q -m "a comment" "$URL/trunk/file"
    told as_alice lock -q "$URL/trunk/a b%2520c"
    told as_bob lock -q "$URL/trunk/file"
    told as_bob lock -q --force "$URL/trunk/file"
    told as_alice unlock -q "$URL/trunk/file"
    told as_alice unlock -q --force "$URL/trunk/file"
    as_alice checkout -q "$URL/trunk" wc && told as_alice lock -q --force "wc/a b%20c" wc/file
    echo four >>wc/file && echo four >>"wc/a b%20c" && told as_alice commit -q -m "with tokens" wc
    told as_alice unlock -q wc/file
    seen | sort
}
both_in_any_order "what locks show to hooks" locks

tokens() {
    echo 'printf opaquelocktoken:0c2e5ed4-1234-5678-9abc-000000000001' >"$REPOS/behave-pre-lock"
    told as_alice lock "$URL/trunk/file" && svn info "$URL/trunk/file" | grep Token | sed 's/opaque/own/'
    told as_alice unlock "$URL/trunk/file"
    for token in "nonsense" "opaquelocktoken:with newline\\\\n" "opaquelocktoken:ü"; do
        echo "printf '$token'" >"$REPOS/behave-pre-lock"
        told as_alice lock "$URL/trunk/file"
        told as_alice unlock --force "$URL/trunk/file"
    done
    rm "$REPOS/behave-pre-lock"
}
both "tokens of pre-lock's choice" tokens

# ---- hooks that fail ---------------------------------------------------------------------------

act() { # act HOOK: something that runs it
    case $1 in
    *-commit) told as_alice mkdir "$URL/$SERIAL" -m "$1" ;;
    *-revprop-change) told as_alice propset --revprop -r 1 prop "$SERIAL" "$URL" ;;
    *-lock) told as_alice lock "$URL/trunk/file" && as_alice unlock --force "$URL/trunk/file" ;;
    *-unlock) as_alice lock "$URL/trunk/file" && told as_alice unlock "$URL/trunk/file" && svnadmin rmlocks "$REPOS" /trunk/file ;;
    esac
}
behave() { # behave HOOK COMMANDS
    echo "$2" >"$REPOS/behave-$1"
    act "$1"
    rm "$REPOS/behave-$1"
}
failing() { for hook in $SOME; do SERIAL=$WAY-$hook; behave $hook "$COMMANDS"; done; svn log -q "$URL"; }
try() { # try WAY COMMANDS: each of $SOME hooks in turn does that
    WAY=$1 COMMANDS=$2
    both "hooks that $WAY" failing
}
SOME=$HOOKS
try "refuse" 'echo "not on standard output"; echo "reason" >&2; echo "second line" >&2; exit 3'
try "are killed" 'echo "last words" >&2; kill -KILL $$'
SOME="start-commit pre-commit post-commit post-revprop-change pre-lock"
try "speak in other tongues" 'printf "gr\303\274\303\237e \377\376 \001\033[1m tab\there\r\n" >&2; exit 1'
try "say 100 KB" 'i=0; while [ $i -lt 2000 ]; do echo "line $i of a long complaint that goes on and on"; i=$((i + 1)); done >&2; exit 1'
SOME="pre-commit post-commit pre-lock"
try "refuse without a word" 'exit 1'
try "refuse without a line's end" 'printf "no newline" >&2; exit 255'
try "talk and allow" 'echo "never mind" >&2; exit 0'
try "are stopped" 'kill -TERM $$'
try "abort" 'ulimit -c 0; kill -ABRT $$'
try "close what they have" 'exec 0<&- 1>&- 2>&-; exit 4'

unreadable() { # hooks that read nothing of what they are given
    printf '#!/bin/sh\nexec 0<&-\nexit 0\n' >"$REPOS/deaf" && chmod +x "$REPOS/deaf"
    for hook in pre-revprop-change post-revprop-change; do ln -sf ../deaf "$REPOS/hooks/$hook"; done
    head -c 300000 /dev/zero | tr '\0' x >value
    told as_alice propset -q --revprop -r 1 large -F value "$URL" && as_alice propget --revprop -r 1 large "$URL" | wc -c
    for hook in pre-revprop-change post-revprop-change; do ln -sf "$T/hook" "$REPOS/hooks/$hook"; done
}
both "hooks that do not read" unreadable

broken() { # each hook is MADE so that it cannot be run
    for hook in $SOME; do
        SERIAL=$WAY-$hook
        rm "$REPOS/hooks/$hook" && made "$REPOS/hooks/$hook" && act $hook
        rm -rf "$REPOS/hooks/$hook" && ln -s "$T/hook" "$REPOS/hooks/$hook"
    done
}
SOME=$HOOKS
WAY="are not executable"
made() { cp "$T/hook" "$1" && chmod -x "$1"; }
both "hooks that $WAY" broken
WAY="are links to nowhere"
made() { ln -s nowhere "$1"; }
both "hooks that $WAY" broken
SOME="pre-commit pre-revprop-change post-lock"
WAY="are folders"
made() { mkdir "$1"; }
both "hooks that $WAY" broken
WAY="have no interpreter"
made() { printf '#!/no/such/program\n' >"$1" && chmod +x "$1"; }
both "hooks that $WAY" broken
WAY="are no programs"
made() { printf 'exit 0\n' >"$1" && chmod +x "$1"; }
both "hooks that $WAY" broken
WAY="are not there"
made() { :; }
both "hooks that $WAY" broken

# ---- environments --------------------------------------------------------------------------------

environment() {
    printf '%b' "$LINES_HERE" >"$REPOS/conf/other-env"
    sed -i "s#^hooks-env.*#hooks-env = $NAME#" "$REPOS/conf/svnserve.conf"
    SERIAL=environment-$TESTS && look && act start-commit && seen | grep '^environment:\|^=='
}
NAME=other-env
for LINES_HERE in '' '[default]\nA = %(B)s\nB = b %(none)s\n' '[start-commit]\n[default]\nA = b\n' '[DEFAULT]\nA = b\n' \
    '[default]\nA=1\n[default]\nB=2\n' '[default]\nX Y = z\nq:w\n'; do
    both "an environment of $LINES_HERE" environment
done
NAME=missing-env
both "a file of environments that is missing" environment
NAME=$T/stock/repos/conf/env/hooks
both "a file of environments elsewhere" environment
for SIDE in stock varve; do sed -i "/^hooks-env/d" "$T/$SIDE/repos/conf/svnserve.conf"; done
both "conf/hooks-env where none is named" environment

damaged() {
    SERIAL=damaged && printf '[default\n' >"$REPOS/conf/hooks-env" && act pre-revprop-change
    rm "$REPOS/conf/hooks-env"
}
both "a damaged file of environments" damaged

# ---- hooks that take long ------------------------------------------------------------------------

seconds() { local began=$SECONDS; "$@" >"$T/said" 2>&1; echo $((SECONDS - began)); } # seconds COMMAND...
as_side() { SIDE=varve REPOS=$T/varve/repos URL=$URL_varve/repos; }
as_side
echo '/usr/bin/sleep 20 2>/dev/null & exit 0' >"$REPOS/behave-post-commit"
[ "$(seconds as_alice mkdir "$URL/background" -m "hook")" -lt 10 ]
result $? "what a hook leaves running on standard output is not waited for"
rm "$REPOS/behave-post-commit"

printf '[general]\npassword-db = passwd\nrealm = test\n[varve]\nhook-timeout = 1\n' >"$REPOS/conf/svnserve.conf"
for hook in $HOOKS; do
    echo "echo 'I am slow' >&2; /usr/bin/sleep 60; echo 'and late' >&2" >"$REPOS/behave-$hook"
    SERIAL=slow-$hook
    [ "$(seconds act $hook)" -lt 30 ]
    result $? "a time limit ends $hook"
    grep -q "$hook hook \(failed \)\?(killed after its time limit of 1 seconds) with output:" "$T/said" && grep -q "^I am slow" "$T/said"
    result $? "and users are told"
    rm "$REPOS/behave-$hook"
done
! pgrep -f "sleep 60" -P "$PID_varve" >/dev/null
result $? "nothing of them is left"
is "nothing was committed that a hook did not allow" "$(svnlook tree --full-paths "$REPOS" | grep slow)" "slow-post-commit/"
for way in '(trap "" TERM HUP; /usr/bin/sleep 41) & /usr/bin/sleep 41' 'exec 1>&- 2>&-; /usr/bin/sleep 41' 'trap "" TERM; while :; do :; done'; do
    echo "$way" >"$REPOS/behave-pre-commit"
    SERIAL=slow-way
    [ "$(seconds act pre-commit)" -lt 30 ] && grep -q "Commit blocked by pre-commit hook (killed after" "$T/said"
    result $? "a time limit ends a hook that does: $way"
done
! pgrep -x -f "/usr/bin/sleep 41" >/dev/null
result $? "and all that they started"
echo '/usr/bin/sleep 3 & exit 0' >"$REPOS/behave-pre-commit"
SERIAL=background-2
act pre-commit >"$T/said" 2>&1
grep -q "Committed revision" "$T/said"
result $? "a hook that has exited within its limit has its own verdict"
rm "$REPOS/behave-pre-commit"
SERIAL=in-time
act pre-commit >"$T/said" 2>&1
grep -q "Committed revision" "$T/said"
result $? "a hook that is in time is not disturbed"
for limit in -1 soon 9999999999 1.5; do
    sed -i "s/^hook-timeout.*/hook-timeout = $limit/" "$REPOS/conf/svnserve.conf"
    as_alice list "$URL" >"$T/said" 2>&1
    grep -q "E125009: Config error: '\[varve\] hook-timeout' is '$limit'" "$T/said"
    result $? "a time limit of $limit is refused"
done
check "stock verifies varve's repository" svnadmin verify -q "$REPOS"
is "no transaction is left" "$(svnadmin lstxns "$REPOS")" ""
done_testing
