#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Partial trees: people with different rights do the same things on both servers, see and may the
# same, and are told the same.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"

# ---- a history with hidden parts, and who may what ---------------------------------------------

make_history() { # make_history REPOS
    local url=file://$1 t=$T/history
    svnadmin create "$1" && allow_everything "$1" && rm -rf "$t"
    m() { svn "$1" -q "${@:2}"; }
    mucc() { svnmucc -q -U "$url" "$@" 2>/dev/null || svnmucc -U "$url" "$@" >/dev/null; }
    echo one >"$T/1" && echo two >"$T/2" && seq 20 >"$T/long"
    mucc -m "layout" mkdir trunk mkdir branches mkdir tags mkdir private mkdir drop mkdir trunk/lib \
        mkdir trunk/secret put "$T/1" trunk/a.txt put "$T/long" trunk/lib/b.txt put "$T/1" trunk/secret/s.txt \
        put "$T/long" private/p.txt
    mucc -m "partly hidden" put "$T/2" trunk/a.txt put "$T/2" trunk/secret/s.txt
    mucc -m "hidden" put "$T/2" private/p.txt
    mucc -m "a hidden source" cp 3 private/p.txt trunk/from-private.txt
    mucc -m "branch" cp 4 trunk branches/b1
    mucc -m "work on the branch" put "$T/1" branches/b1/a.txt put "$T/1" branches/b1/lib/new.txt
    mucc -m "merged" put "$T/1" trunk/a.txt put "$T/1" trunk/lib/new.txt \
        propset svn:mergeinfo $'/branches/b1:5-6\n/private:3' trunk
    mucc -m "renamed" mv trunk/lib trunk/library
    mucc -m "moved into the open" mv private/p.txt trunk/was-private.txt
    mucc -m "inherited" propset svn:global-ignores "*.o" / propset svn:global-ignores "*.x" private \
        propset svn:global-ignores "*.a" trunk propset note hidden trunk/secret propset svn:mergeinfo /trunk:1 private
    mucc -m "edited" put "$T/long" trunk/was-private.txt
    mucc -m "within the hidden" mkdir private/deep put "$T/1" private/deep/file
    mucc -m "a hidden folder copied" cp 12 private trunk/copied
    mucc -m "replaced from the hidden" rm trunk/copied cp 12 private/deep trunk/copied
    mucc -m "long lives the branch" put "$T/2" branches/b1/a.txt rm branches/b1/secret
}

write_rules() { # write_rules REPOS: configuration, passwords, rules
    printf '[general]\nanon-access = %s\nauth-access = write\npassword-db = passwd\nauthz-db = authz\nrealm = test\n' \
        "${ANON:-read}" >"$1/conf/svnserve.conf"
    printf '[users]\n' >"$1/conf/passwd"
    printf '%s = pw\n' alice bob carol dave eve frank >>"$1/conf/passwd"
    cat >"$1/conf/authz" <<'RULES'
[aliases]
boss = alice
[groups]
readers = bob, frank
writers = &boss
[/]
@writers = rw
@readers = r
$anonymous = r
[/private]
@readers =
$anonymous =
[:glob:/**/secret]
@readers =
$anonymous =
[/branches]
bob = rw
[/tags]
~frank = rw
[/trunk/library]
carol = r
[/trunk/lib]
carol = r
[/drop]
eve = rw
[/]
RULES
    sed -i '$d' "$1/conf/authz"
}

mkdir "$T/stock" "$T/varve"
make_history "$T/stock/repos"
echo "look" >"$T/comment"
for path in /private/deep/file /trunk/secret/s.txt /trunk/a.txt; do
    svnadmin lock "$T/stock/repos" $path alice "$T/comment" >/dev/null
done
write_rules "$T/stock/repos"
cp -a "$T/stock/repos" "$T/varve/repos"
start_stock "$T/stock"
start_varve "$T/varve"

u() { # u WHO ARGS...: svn as WHO
    if [ "$1" = nobody ]; then svn --no-auth-cache "${@:2}"; else
        svn --no-auth-cache --username "$1" --password pw "${@:2}"; fi
}
as() { # as "WHO..." NAME STORY: the story is told once for each person, $WHO
    local people=$1 name=$2 story=$3
    everybody() { for WHO in $people; do echo "--- $WHO"; (mkdir "$WHO" && cd "$WHO" && $story); done; }
    both "$name" everybody
}

# ---- looking -------------------------------------------------------------------------------------

looking() {
    u "$WHO" list -R "$URL"; u "$WHO" list -v "$URL/trunk"; u "$WHO" list "$URL/private"; u "$WHO" list -R "$URL/trunk/library"
    u "$WHO" cat "$URL/trunk/secret/s.txt"; u "$WHO" cat "$URL/private/p.txt@3"
    u "$WHO" cat -r 3 "$URL/trunk/was-private.txt@9"; u "$WHO" cat -r 1 "$URL/trunk/library/b.txt@8"
    u "$WHO" info -R "$URL/trunk"; u "$WHO" info "$URL/private/nowhere"; u "$WHO" proplist -v -R "$URL/trunk"
    u "$WHO" propget svn:global-ignores --show-inherited-props "$URL/trunk/library" "$URL/private/deep"
}
as "bob carol nobody" "looking" looking

logs() {
    u "$WHO" log "$URL"; u "$WHO" log -v "$URL"; u "$WHO" log -v -g "$URL/trunk"; u "$WHO" log -q -v "$URL/private"
    u "$WHO" log -v "$URL/trunk/from-private.txt"; u "$WHO" log -v "$URL/trunk/was-private.txt"; u "$WHO" log -v "$URL/trunk/library/b.txt"
    u "$WHO" log --xml --with-all-revprops -v "$URL/trunk"; u "$WHO" log --diff -r 2:3 "$URL"
}
as "bob carol nobody" "logs" logs

revision_properties() {
    local rev
    for rev in 2 3 4 14; do
        u "$WHO" proplist -v --revprop -r $rev "$URL"; u "$WHO" propget --revprop -r $rev svn:log "$URL"
        u "$WHO" propget --revprop -r $rev svn:author "$URL"; u "$WHO" propset --revprop -r $rev note "$WHO was here" "$URL"
    done
}
as "alice bob eve" "revision properties" revision_properties

history() {
    u "$WHO" blame "$URL/trunk/was-private.txt"; u "$WHO" blame -g "$URL/trunk/a.txt"; u "$WHO" blame "$URL/trunk/from-private.txt"
    u "$WHO" blame "$URL/trunk/library/b.txt"; u "$WHO" blame -r 11:9 "$URL/trunk/was-private.txt"
    u "$WHO" mergeinfo --show-revs eligible "$URL/branches/b1" "$URL/trunk"; u "$WHO" propget svn:mergeinfo -R "$URL"
    u "$WHO" diff -r 1:11 "$URL/trunk"; u "$WHO" diff --summarize -r 1:HEAD "$URL"
    u "$WHO" diff -r 3:9 "$URL/trunk/was-private.txt"; u "$WHO" diff -c 4 "$URL/trunk"
}
as "bob carol" "history" history

# ---- working copies ------------------------------------------------------------------------------

working_copies() {
    u "$WHO" checkout "$URL" root
    u "$WHO" checkout -r 1 "$URL/trunk" wc && u "$WHO" update -r 4 wc && u "$WHO" status -u wc && u "$WHO" update wc && svn proplist -R wc
    u "$WHO" checkout "$URL/trunk/secret" hidden; u "$WHO" checkout "$URL/trunk/library" lib; u "$WHO" export "$URL/trunk" export
    [ -d wc ] || return
    u "$WHO" update --set-depth infinity wc/secret; u "$WHO" switch "$URL/branches/b1" wc; u "$WHO" switch "$URL/private" wc --ignore-ancestry
    u "$WHO" checkout --depth immediates "$URL" shallow; u "$WHO" update --set-depth infinity shallow/private
}
in_any_order() { tell "$1" "$2" sort; }
all_working_copies() { for WHO in bob carol nobody; do (mkdir "$WHO" && cd "$WHO" && working_copies); done; }
in_any_order "working copies" all_working_copies

# ---- changes -------------------------------------------------------------------------------------

changes() {
    u "$WHO" mkdir -m "x" "$URL/$WHO-top"; u "$WHO" mkdir -m "x" "$URL/drop/$WHO"; u "$WHO" mkdir -m "x" "$URL/private/$WHO"
    u "$WHO" copy -m "x" "$URL/trunk" "$URL/tags/$WHO-all"; u "$WHO" copy -m "x" "$URL/trunk/library" "$URL/tags/$WHO-lib"
    u "$WHO" copy -m "x" "$URL/private/deep" "$URL/tags/$WHO-deep"; u "$WHO" copy -m "x" "$URL/trunk/a.txt" "$URL/branches/$WHO.txt"
    u "$WHO" copy -m "x" "$URL" "$URL/branches/$WHO-root"; u "$WHO" copy -m "x" --parents "$URL/trunk/a.txt" "$URL/drop/$WHO-dir/a"
    u "$WHO" move -m "x" "$URL/trunk/library" "$URL/branches/$WHO-moved"; u "$WHO" delete -m "x" "$URL/trunk/secret"
    u "$WHO" delete -m "x" "$URL/drop/nowhere"; u "$WHO" propset svn:ignore -m "x" x "$URL/tags"; u "$WHO" log -q -l 3 "$URL"
}
as "bob carol eve nobody" "changes" changes

commits() {
    u "$WHO" checkout -q "$URL/trunk" wc || return
    echo "$WHO" >>wc/a.txt; u "$WHO" commit -m "x" wc; svn revert -q wc/a.txt
    u "$WHO" checkout -q "$URL/branches" b && echo "$WHO" >b/"$WHO" && svn add -q b/"$WHO" && u "$WHO" commit -m "b" b
    svn rm -q b/b1 && u "$WHO" commit -m "c" b
}
as "bob nobody" "commits" commits

locks() {
    local path
    for path in trunk/a.txt trunk/secret/s.txt private/deep/file branches/b2.txt; do
        u "$WHO" lock -m "$WHO" "$URL/$path"; u "$WHO" info "$URL/$path"; u "$WHO" unlock --force "$URL/$path"
    done
    u "$WHO" lock --force "$URL/trunk/a.txt" "$URL/branches/b2.txt" "$URL/trunk/secret/s.txt"
    u "$WHO" unlock "$URL/trunk/a.txt" "$URL/branches/b2.txt"; u "$WHO" info -R "$URL" | grep -E '^(Path|Lock Owner)'
}
more_locks() {
    u alice copy -q -m "to lock" "$URL/trunk/a.txt" "$URL/branches/b2.txt"
    for WHO in bob carol alice; do locks; done
}
in_any_order "locks" more_locks

mirrors() {
    svnrdump dump --config-dir "$T/config" --non-interactive --no-auth-cache --username "$WHO" --password pw -r 0:14 "$URL" 2>&1 |
        grep -a -E '^(Revision-number|Node-|svnrdump)|^E[0-9]|note|layout|hidden'
}
as "bob carol" "mirrors" mirrors

# ---- the doors --------------------------------------------------------------------------------------

doors() { u "$WHO" list -R "$URL"; u "$WHO" cat "$URL/trunk/library/b.txt"; u "$WHO" log -v -l 2 "$URL/trunk"; u "$WHO" mkdir -m "x" "$URL/drop/$1$WHO"; }
for SIDE in stock varve; do ANON=none write_rules "$T/$SIDE/repos"; done
no_anonymous() { doors 1; }
as "bob dave eve nobody" "the anonymous stay outside" no_anonymous
for SIDE in stock varve; do
    ANON=write write_rules "$T/$SIDE/repos"
    sed -i -e 's/^realm.*/force-username-case = upper/' "$T/$SIDE/repos/conf/svnserve.conf"
    printf '[groups]\nreaders = ALICE, BOB\nwriters = CAROL\n' >"$T/$SIDE/repos/conf/groups"
    sed -i -e '/^\[groups\]/,/^writers/d' "$T/$SIDE/repos/conf/authz"
    echo 'groups-db = groups' >>"$T/$SIDE/repos/conf/svnserve.conf"
done
capitals() { doors 2; }
as "bob carol nobody" "names in capitals, groups from a file" capitals

from_repository() {
    local change
    printf '[groups]\nreaders = bob\nwriters = alice\n' >"$T/groups"
    svnmucc -U "file://$REPOS" -m "rules" mkdir conf put "$REPOS/conf/authz" conf/authz put "$T/groups" conf/groups >/dev/null
    printf '[general]\nanon-access = read\npassword-db = passwd\nauthz-db = ^/conf/authz\ngroups-db = file://%s/conf/groups\n' "$REPOS" >"$REPOS/conf/svnserve.conf"
    for WHO in bob carol; do doors 3; done
    printf '[groups]\nreaders = carol\nwriters = bob\n' >"$T/groups"
    svnmucc -U "file://$REPOS" -m "other groups" put "$T/groups" conf/groups >/dev/null
    for WHO in bob carol; do doors 4; done
    printf '[/]\n* = q\n' >"$T/bad"
    svnmucc -U "file://$REPOS" -m "bad" put "$T/bad" conf/authz >/dev/null && u alice list "$URL"
    svnmucc -U "file://$REPOS" -m "none" rm conf/authz >/dev/null && u alice list "$URL"
    printf '[general]\nauthz-db =\n' >"$REPOS/conf/svnserve.conf"; u alice list "$URL"
}
both "rules in the repository" from_repository

same_history "after all of this"
# Who was denied what; not how often, for Subversion asks some questions more than once.
denials() { grep -E ' Authorization Failed |220003' "$T/$1.log" | sed -E "s/^[0-9]+ [^ ]+ //; s#$T/$1/#DIR/#; s/ERR- /ERR /; /^[^ ]* - - /d" | sort -u; }
denials stock >"$T/stock.denied"
denials varve >"$T/varve.denied"
check "the log tells of denials" grep -q "Authorization Failed write" "$T/varve.denied"
same "the logs tell the same of denials" "$T/varve.denied" "$T/stock.denied"
done_testing
