#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Locks whose paths do not stay as they were: deleted, replaced, moved or copied, they or a folder above them; locks
# stolen and broken. After each command the client's words, the list of locks and the files in db/locks must be the same.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8 --brief
with_passwords anna=secret bela=hidden
echo 1 >"$T/one"
anna() { svn --no-auth-cache --username anna --password secret "$@"; }
bela() { svn --no-auth-cache --username bela --password hidden "$@"; }
bela_mucc() { svnmucc --no-auth-cache --username bela --password hidden "$@"; }

lock_files() { # names, modes and contents; digests of the paths below a folder stand in a hash's order
    perl -MFile::Find -e 'find({no_chdir => 1, preprocess => sub { sort @_ }, wanted => sub {
        printf "%o %s\n", (stat)[2], $_;
        -f && do { local $/; open my $file, "<", $_; $_ = <$file>; s/((?:[0-9a-f]{32}\n)+)/join "", sort split m{^}m, $1/e; print };
    }}, ".")'
}
LAST=
step() { # step COMMAND...: what it says, and the locks after it
    echo "== $*"
    "$@" >"$T/said" 2>&1
    echo "exit $?" && sort "$T/said"
    local now=$SIDE.$(find "$REPOS/db/locks" -printf '%p %m %s %T@\n')
    [ "$now" != "$LAST" ] || { echo "the same locks"; return; }
    LAST=$now
    svnadmin lslocks "$REPOS" | perl -00 -e 'print sort <>' && (cd "$REPOS/db/locks" && lock_files)
}
one_of_many() { "$@" 2>&1 | sed -E "s/E1600(37|39): .*/a lock/"; return "${PIPESTATUS[0]}"; } # the first in a hash's order

area() { # area NAME: a new folder of files, and anna's working copy of it
    URL=$URL/$1
    mkdir -p "$1/d/f" && for file in a b c d/e d/g d/f/h; do echo "$file" >"$1/$file"; done
    anna import -q -m "area" "$1" "$URL" && rm -r "$1" && anna checkout -q "$URL" wc && cd wc || exit
}
a_folder_with_a_token() { # a, which anna has locked, becomes a folder and keeps the lock
    svn rm -q a && svn mkdir -q a && echo x >a/x && svn add -q a/x && anna commit --no-unlock -m "a folder"
}

targets() { # what can be locked
    area targets && bela_mucc -m "behind anna's back" -U "$URL" rm b rm c mkdir c put a d/g propset p v d/e || return
    echo new >new && svn add -q new && echo odd >odd && svn cp -q d/f/h copy && svn rm -q d/f/h
    for path in a b c d d/e d/g d/f/h new odd copy nothing; do step anna lock "$path"; done
    for path in a b c d d/e/below d/g nothing nothing/below ''; do step anna lock "$URL/$path"; done
    step anna lock "$URL/a" "$URL/b" "$URL/c" "$URL/d/e" && step anna lock d/g d/e a
    step anna unlock b && step anna unlock d && step anna unlock "$URL/nothing" && step anna unlock --force "$URL/b" && step anna unlock --force "$URL/d"
    step svn lock "$URL/d/e" && step anna update && step anna lock d/e a && step anna unlock a && step anna unlock d/e
}
parents() { # a folder above a lock
    area parents && step anna lock -m "mine" d/f/h
    for who in bela anna; do # even anna, who does not show her token
        step $who rm -m "parent" "$URL/d/f" && step $who rm -m "its parent" "$URL/d" && step $who rm -m "all" "$URL"
        step $who mv -m "away" "$URL/d" "$URL/moved" && step $who mkdir -m "beside it" "$URL/d/f/$who"
    done
    step bela_mucc -m "replace" rm "$URL/d" mkdir "$URL/d" && step bela_mucc -m "replace by a copy" rm "$URL/d/f" cp HEAD "$URL/d" "$URL/d/f"
    step bela_mucc -m "by a file" rm "$URL/d/f" put "$T/one" "$URL/d/f" && step bela_mucc -m "text" put "$T/one" "$URL/d/f/h"
    step bela_mucc -m "property of the parent" propset p v "$URL/d/f" && step bela_mucc -m "of the file" propset p v "$URL/d/f/h"
    anna checkout -q "$URL" ../other && svn rm -q ../other/d && step anna commit -m "her other working copy" ../other
    anna checkout -q --depth empty "$URL" ../blind && svn mkdir -q ../blind/d && step anna commit -m "add what is there" ../blind
    anna update -q && svn rm -q d && svn mkdir -q d && echo h >d/f && svn add -q d/f && step anna commit -m "replace it, with the token"
    step anna status -u && step anna lock d/f && svn rm -q d && step anna commit -m "and delete" && step anna update
}
several() { # a folder with several locks below
    area several && step anna lock a b d/e d/g d/f/h && step one_of_many bela rm -m "none is bela's" "$URL/d"
    anna checkout -q "$URL" ../other && step bela lock --force "$URL/d/g"
    svn rm -q d && step anna commit -m "one is stolen" && step bela unlock "$URL/d/g" && step anna lock "$URL/d/g"
    step anna commit -m "one is another token" && svn rm -q ../other/d && step one_of_many anna commit -m "no token" ../other
    svn revert -q -R ../other && step anna lock --force ../other/d/g && echo 1 >>../other/a && step anna commit -m "a, no token" ../other
    step anna unlock ../other/d/g && step anna commit -m "now one is not needed" && step anna update && step anna unlock "$URL/a" && step anna unlock b
}
kept() { # locks that outlive their paths
    area kept && step anna lock -m "stays" a b d/f/h && svn rm -q a b d/f && step anna commit --no-unlock -m "delete, keep the locks"
    for path in a b d/f/h; do step svn info "$URL/$path" && step anna lock "$URL/$path" && step anna lock --force "$URL/$path"; done
    bela checkout -q "$URL" ../bela && cd ../bela && echo bela >a && mkdir -p d/f && echo h >d/f/h && svn add -q a
    step bela commit -m "where there is a lock" && svn revert -q a && svn add -q d/f && step bela commit -m "above a lock"
    step bela mkdir -m "a folder on a lock" "$URL/a" && step bela mkdir -m "above" "$URL/d/f" && step bela cp -m "copy" "$URL/c" "$URL/b"
    step anna cp -m "no token" "$URL/c" "$URL/b" && step bela unlock "$URL/b" && step anna unlock "$URL/b" && step bela unlock --force "$URL/b"
    step svnadmin rmlocks "$REPOS" /kept/d/f/h && step bela cp -m "copy" "$URL/c" "$URL/b" && rm -f a && step bela commit -m "nothing above"
    step anna unlock "$URL/b" && step anna lock "$URL/b" && step anna update ../wc && step anna status -u ../wc && step svn list -v "$URL"
}
folders() { # a lock whose path is a folder by now, and locks below it
    area folders && step anna lock a && step a_folder_with_a_token && step anna lock "$URL/a/x" && step bela lock "$URL/a/x"
    step bela_mucc -m "p" propset p v "$URL/a" && step bela_mucc -m "p" propset p v "$URL" && step svn info "$URL/a" && step svn list -v "$URL"
    step bela rm -m "x" "$URL/a/x" && step bela_mucc -m "y" put "$T/one" "$URL/a/y" && step bela lock "$URL/a/y" && step svn checkout "$URL" ../again
    step svn info -R ../again && step anna status -u ../again && step one_of_many anna rm -m "all are locked" "$URL/a" && step anna lock "$URL/a"
    step anna unlock "$URL/a/x" && step bela unlock "$URL/a/y" && step anna unlock "$URL/a" && step bela rm -m "none is" "$URL/a"
}
copies() { # and moves
    area copies && step anna lock a d/e && step bela cp -m "of the file" "$URL/a" "$URL/a2" && step bela cp -m "of the folder" "$URL/d" "$URL/d2"
    step svn info "$URL/d2/e" && step bela lock "$URL/d2/e" "$URL/a2" && step anna update && step anna lock d2/e d2/g && step anna lock d2/f/h
    step one_of_many bela_mucc -m "the copy again" rm "$URL/d2" cp HEAD "$URL/d" "$URL/d2" && step bela_mucc -m "g" -U "$URL" rm d2/g cp HEAD c d2/g
    svn mv -q a moved && svn mv -q d d3 && echo more >>d3/e && step anna commit -m "move both, with tokens" && step svn status
    step anna lock d3/e moved && svn mv -q d3 d4 && step anna commit --no-unlock -m "move, keep" && step anna lock d4/e && step svn info d4/e
    step bela mv -m "taken" "$URL/c" "$URL/d3" && step bela cp -m "beside" "${URL%/*}/trunk/doc" "$URL/d3" && step anna unlock "$URL/d3/e"
    bela checkout -q "$URL" ../bela && svn cp -q ../bela/d4 ../bela/d5 && echo new >>../bela/d5/e && step bela commit -m "copy of a locked one, changed" ../bela
    step svnadmin rmlocks "$REPOS" /copies/d4/e && svn rm -q ../bela/d2 && step anna unlock "$URL/d2/g" && step one_of_many bela commit -m "her own" ../bela
}
thieves() { # locks stolen and broken
    area thieves && step anna lock a b c d/e && bela checkout -q "$URL" ../bela && step bela lock ../bela/a && step bela lock --force -m "bela's" ../bela/a && step bela lock --force "$URL/b"
    step bela unlock ../bela/c && step bela unlock --force ../bela/c && step svn unlock --force "$URL/b" && step svn lock --force "$URL/b"
    echo x >>a && echo y >>c && svn rm -q d && step anna commit -m "stolen and broken" && step anna status -u && step anna unlock a && step anna unlock c
    step anna update && step anna status -u && step anna commit -m "stolen still" && step anna lock --force a && step anna commit -m "stolen back"
    echo z >>../bela/a && step bela status -u ../bela && step bela commit -m "lost it" ../bela && step bela unlock ../bela/a && step bela update --accept mine-full ../bela
    step bela commit -m "nobody's" ../bela && step anna lock --force b && step anna lock --force b && step bela unlock --force "$URL/b" "$URL/d/e"
    step anna unlock b && step anna unlock --force b && step anna lock --force "$URL/a" && step bela lock "$URL/a"
}
for story in targets parents several kept folders copies thieves; do both "$story" $story; done
same_history "after all"

# Where the lock of a folder goes while there are locks below, stock forgets those below: they no longer keep the
# folder from being deleted. Not so here, and stock tools see what is left.
SIDE=varve URL=$URL_varve/repos && mkdir "$T/below" && cd "$T/below" && area below
check "two locks" eval 'anna lock -q a && a_folder_with_a_token && anna lock -q "$URL/a/x"'
check "the upper one goes" anna unlock -q "$URL/a"
is "stock sees the lower one" "$(svnadmin lslocks "$T/varve/repos" /below/a | grep ^Path)" "Path: /below/a/x"
check_fails "which keeps the folder" bela rm -m "no" "$URL/a"
check "until it goes too" eval 'anna unlock -q "$URL/a/x" && bela rm -q -m "none is locked" "$URL/a"'
is "and leaves no trace" "$(svnadmin lslocks "$T/varve/repos" /below)" ""
done_testing
