#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cat, list, info, proplist, propget, blame: reading one thing, at any revision.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8

cats() {
    svn cat "$URL/trunk/README" "$URL/trunk/src/main.c"; svn cat -r 5 "$URL/trunk/README"
    svn cat "$URL/trunk/props/native@15"; svn cat "$URL/trunk/nothing"
    svn cat "$URL/trunk/sizes/102400" | md5sum; svn cat "$URL/trunk/large/noise" | md5sum
    svn cat "$URL/trunk/names/größe.txt" "$URL/trunk/names/p@1@" "$URL/trunk/names/%2541"
    svn cat "$URL/branches/two/source/lib/renamed.c@21" -r 19; svn cat "$URL/trunk"
    svn cat "$URL/trunk/nope"; svn cat "$URL/trunk/README@9999"; svn cat -r 1 "$URL/trunk/README@3"
    svn cat "$URL/trunk/r/f@30" -r 27
}
both "cat" cats

lists() {
    svn list "$URL"; svn list -v "$URL/trunk"; svn list -R "$URL/branches/one"; svn list -v -R "$URL/trunk/props"
    svn list --depth immediates "$URL/trunk"; svn list --depth empty -v "$URL/trunk"
    svn list --xml -R "$URL/trunk/names"; svn list "$URL/trunk/README" -v; svn list -r 9 "$URL/trunk/odd"
    svn list -v "$URL/branches/two@20"; svn list --search '*.c' -R "$URL"; svn list --search 'MAIN.*' -R -v "$URL/trunk"
    svn list "$URL/trunk/many" | md5sum; svn list "$URL/nope";
    svn list "$URL/trunk/src" "$URL/nope" "$URL/tags"; svn list --include-externals "$URL/trunk/props@15"
}
both "list" lists

infos() {
    svn info "$URL" "$URL/trunk" "$URL/trunk/src/main.c"; svn info -r 9 "$URL/trunk/README"
    svn info --xml "$URL/trunk/many"; svn info -R "$URL/tags"; svn info --depth files "$URL/trunk"
    svn info "$URL/nope"; svn info "$URL/trunk/r/f@28" "$URL/trunk/r/f"; svn info -r 999 "$URL"
    svn info --show-item last-changed-revision "$URL/trunk/src"; svn info --show-item repos-uuid "$URL"
    svn info -r '{2001-09-10}' "$URL/trunk"; svn info -r 17 "$URL/tags/lib-new@20"
}
both_in_any_order "info" infos

properties() {
    svn proplist -v -R "$URL/trunk/props@14"; svn proplist "$URL" "$URL/trunk"; svn proplist -v -r 14 "$URL/trunk/props"
    svn proplist --xml -v "$URL/trunk/props/custom"; svn propget svn:ignore "$URL/trunk/props@15"
    svn propget -R same "$URL/trunk/same" | wc -c; svn propget --xml svn:mergeinfo -R "$URL/branches/one"
    svn propget svn:eol-style "$URL/trunk/props/native@14"; svn propget nope "$URL/trunk"
    svn propget binary --strict "$URL/trunk/props/custom@14" | md5sum
    svn propget svn:mime-type --depth immediates "$URL/trunk/props" "$URL/trunk/large"
}
both_in_any_order "proplist and propget" properties

inherited() {
    svn propget inherited --show-inherited-props "$URL/trunk/src/main.c"
    svn proplist -v --show-inherited-props "$URL/trunk/src" "$URL/trunk"
    svn proplist -v --show-inherited-props "$URL/trunk/props/run@14"
    svn propget svn:ignore --show-inherited-props "$URL/trunk/props/run@14"
    svn propget svn:mergeinfo --show-inherited-props -R "$URL/branches/one"
    svn checkout -q --depth files "$URL/trunk/src" wc && svn proplist -v --show-inherited-props wc
}
both_in_any_order "inherited properties" inherited

revision_properties() {
    local rev
    for rev in 0 1 9 $(seq 125 "$HEAD"); do svn proplist --revprop -v -r $rev "$URL"; done
    svn propget --revprop -r 1 svn:log "$URL"; svn propget --revprop -r HEAD svn:date "$URL"
    svn propget --revprop -r 1 nope "$URL"; svn proplist --revprop -r 9999 "$URL"
    svn proplist --revprop --xml -v -r 131 "$URL"
    svn propset --revprop -r 3 svn:log "Changed afterwards" "$URL"
    svn propset --revprop -r 3 custom value "$URL"; svn propdel --revprop -r 3 svn:author "$URL"
    svn proplist --revprop -v -r 3 "$URL"; svn propset --revprop -r 9999 x y "$URL"
    svn propset --revprop -r 4 svn:date nonsense "$URL"
}
both_in_any_order "revision properties, read and changed" revision_properties

blames() {
    svn blame "$URL/trunk/src/main.c"; svn blame -v "$URL/trunk/doc/manual.txt" | md5sum
    svn blame "$URL/trunk/doc/manual.txt" | awk '{print $1}' | sort | uniq -c
    svn blame -g "$URL/trunk/src/main.c"; svn blame -g -v "$URL/trunk/src/lib/a.c"
    svn blame -r 3:40 "$URL/trunk/src/main.c"; svn blame -r 40:3 "$URL/trunk/src/main.c"
    svn blame --xml "$URL/branches/feature/src/lib/b.c"; svn blame "$URL/trunk/src/copied.c"
    svn blame "$URL/trunk/large/noise"; svn blame --force "$URL/trunk/props/lock"
    svn blame "$URL/trunk/src"; svn blame "$URL/trunk/nope"; svn blame "$URL/branches/two/source/lib/a.c@21"
    svn blame -x -w "$URL/branches/one/src/main.c"; svn blame "$URL/trunk/nothing"
}
both "blame and blame -g" blames

pegs() { # the same thing under its older names
    svn cat "$URL/branches/two/source/lib/a.c@21" -r 18; svn info "$URL/branches/two/source@21" -r 19
    svn list "$URL/trunk/größer %2520" -r 12; svn cat "$URL/trunk/names/日本" -r 12
    svn cat "$URL/tags/one-file" -r 16; svn cat "$URL/trunk/r/e@29" -r 26; svn cat "$URL/branches/feature/README" -r 3
    svn cat "$URL/trunk/deep/moved/d30/d31/d32/d33/d34/d35/d36/d37/d38/d39/d40/d41/d42/d43/d44/d45/d46/d47/d48/d49/d50/d51/d52/d53/d54/d55/d56/d57/d58/d59/bottom" -r 49
}
both "older names by peg revision" pegs
done_testing
