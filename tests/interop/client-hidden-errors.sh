#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What people are told who name what rules hide from them: above it, next to it, it, in it, and
# places that are not there. Each command prints the same and exits with the same on both servers.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"

# ---- what is there, and for whom ------------------------------------------------------------

make_history() { # make_history REPOS
    local url=file://$1
    create svnadmin 8 "$1" && seq 9 >"$T/nine" && echo other >"$T/other"
    m() { svnmucc -U "$url" -m "$@" >/dev/null || exit; }
    m one mkdir A mkdir A/hid mkdir A/hid/in mkdir A/hid/shown mkdir A/open mkdir A/ro mkdir top \
        put "$T/nine" A/hid/f put "$T/nine" A/hid/in/f put "$T/nine" A/hid/shown/f put "$T/nine" A/secret \
        put "$T/nine" A/open/f put "$T/nine" A/ro/f put "$T/nine" iota
    m two put "$T/other" A/hid/f put "$T/other" A/open/f propset p 1 A/hid propset p 1 A propset p 1 A/secret
    m three cp 2 A br cp 2 A/hid/f A/open/was-hidden cp 2 A/secret public mv A/ro A/read-only
    m four put "$T/other" A/secret put "$T/other" A/hid/shown/f propset svn:mergeinfo /A/hid:2 A/open
    svnadmin lock "$1" /A/hid/f alice /dev/null >/dev/null
}

# bob does not see parts of what he may otherwise write, carl sees nothing but one folder and one file in the hidden.
mkdir "$T/stock" "$T/varve"
make_history "$T/stock/repos"
cat >"$T/stock/repos/conf/authz" <<'RULES'
[/]
bob = rw
[/A/hid]
bob =
[/A/hid/shown]
bob = rw
[/A/secret]
bob =
[/A/not-there]
bob =
[/A/read-only]
bob = r
[/A/open]
carl = rw
[/A/hid/in/f]
carl = r
RULES
cp -a "$T/stock/repos" "$T/varve/repos"
with_passwords bob=pw carl=pw
for SIDE in stock varve; do
    printf 'anon-access = none\nauthz-db = authz\n' >"$T/conf" && sed -i -e '/^anon/d' -e "/^.general/r $T/conf" "$T/$SIDE/repos/conf/svnserve.conf"
done
start_stock "$T/stock"
start_varve "$T/varve"

tell_exit() { # tell_exit PROGRAM ARGUMENTS...: run as $WHO, then how it ended
    echo "$ $*"
    "$1" --no-auth-cache --username "$WHO" --password pw "${@:2}" 2>&1
    local status=$?
    echo "exit $status"
    return $status
}
s() { tell_exit svn "$@"; }
mucc() { tell_exit svnmucc -m x -U "$URL" "$@"; }
each() { # each NAME STORY: for each person, on both sides
    local story=$2
    everybody() { for WHO in bob carl; do echo "--- $WHO"; (mkdir "$WHO" && cd "$WHO" && $story); done; }
    both "$1" everybody
}

# Above what is hidden, it, in it, shown again in it, next to it; there and not there.
PLACES="A A/hid A/hid/f A/hid/in/f A/hid/shown/f A/hid/nowhere A/hid/nowhere/f A/secret/x A/not-there A/hidden A/nowhere/x A/open/f"

# ---- asking ---------------------------------------------------------------------------------

looks() {
    local path
    for path in $PLACES; do s info "$URL/$path"; s log -q "$URL/$path"; done
    for path in A/hid A/hid/f A/hid/nowhere A/nowhere/x; do
        s list "$URL/$path"; s cat "$URL/$path"; s proplist "$URL/$path"; s blame "$URL/$path"
        s diff --summarize -r 1:4 "$URL/$path"; s diff --summarize "$URL/$path@2" "$URL/A/open@4"
        s mergeinfo --show-revs eligible "$URL/$path" "$URL/A/open"
    done
    s cat -r 2 "$URL/A/open/was-hidden@3"; s cat -r 2 "$URL/A/read-only/f@3"; s log -q -r 1:2 "$URL/A/hid/f@4"
    s propget p --show-inherited-props "$URL/A/hid/in"
}
each "looks" looks

# ---- working copies --------------------------------------------------------------------------

working_copies() {
    local path
    for path in A/hid A/hid/in/f A/nowhere A/open/f; do s checkout "$URL/$path" c; s export "$URL/$path" e; done
    s checkout -q "$URL/A" wc || return
    for path in hid hid/f not-there; do
        s update --parents "wc/$path"; s update --set-depth infinity "wc/$path"; s status -u "wc/$path"
        s switch --ignore-ancestry "$URL/A/$path" wc/open; s switch --ignore-ancestry "$URL/br/open" "wc/$path"
        s merge -r 1:2 "$URL/A/$path" wc/open; s lock "wc/$path"
    done
    s merge --dry-run -r 1:4 "$URL/A" wc
}
each "working copies" working_copies

# What is added where something hidden is, and what is done to what holds something hidden.
commits() {
    local name
    if ! s checkout -q "$URL/A" wc; then
        s checkout -q "$URL/A/open" wc && s mkdir -q wc/here && s commit -m x wc
        return
    fi
    for name in hid not-there; do
        s mkdir "wc/$name"; s commit -m x wc; svn revert -q "wc/$name"; s update wc; s update --force wc; rm -rf "wc/$name"
        echo text >"wc/$name"; s add "wc/$name"; s commit -m x wc; svn revert -q "wc/$name"; rm -f "wc/$name"
    done
    s copy -m x wc "$URL/copied"; s copy "$URL/A/hid" wc/hid2; s copy "$URL/A/hid/shown" wc/shown2; s commit -m x wc
    svn revert -q -R wc && svn propset -q p 2 wc; s commit -m x --depth empty wc; svn rm -q wc/read-only; s commit -m x wc
}
each "commits from a working copy" commits

# ---- commits without one ---------------------------------------------------------------------

changes() {
    local path
    for path in $PLACES; do s mkdir -m x "$URL/$path"; s copy -m x "$URL/$path" "$URL/top/$WHO${path//\//-}"; s lock "$URL/$path"; done
    for path in A/hid A/hid/f A/hid/nowhere/f A/not-there; do
        s copy -m x "$URL/iota" "$URL/$path"; s move -m x "$URL/A/open/f" "$URL/$path"
        mucc put "$T/nine" "$path"; mucc propset q 1 "$path"; mucc rm "$path" mkdir "$path"; s unlock --force "$URL/$path"
    done
    for path in A/hid/in A/hid/nowhere A/secret A/not-there A/read-only A/hid A; do
        s move -m x "$URL/$path" "$URL/top/$WHO-moved${path//\//-}"; s delete -m x "$URL/$path"
    done
    s mkdir --parents -m x "$URL/A/hid/p/q" "$URL/top/$WHO/p"; s propset --revprop -r 2 note "$WHO" "$URL"
}
each "commits without a working copy" changes

same_history "after all of this"
done_testing
