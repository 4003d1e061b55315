#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# checkout and export: whole trees, old revisions, every depth, single files, peg revisions.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
serve_both 8

checkout_all() { svn checkout "$URL" wc && wc_state wc; }
both_in_any_order "checkout of the whole repository" checkout_all

checkout_old() {
    for rev in 2 9 14 30; do svn checkout -r $rev "$URL/trunk" wc$rev; done
    wc_state wc30
}
both_in_any_order "checkout of old revisions" checkout_old

checkout_depths() {
    for depth in empty files immediates infinity; do
        svn checkout --depth $depth "$URL/branches" $depth && svn status -v $depth
    done
}
both_in_any_order "checkout at every depth" checkout_depths

checkout_wrong() {
    svn checkout "$URL/nope" wc
    svn checkout -r 9999 "$URL/trunk" wc
    svn checkout "$URL/trunk/README" wc
    svn checkout "${URL%/repos}/no-repository" wc
    svn checkout -r 1 "$URL/trunk/src@2" wc
}
both "checkout of what is not there" checkout_wrong

checkout_peg() {
    svn checkout -q -r 20 "$URL/branches/two@24" gone && svn info gone
    svn checkout -q "$URL/trunk/names@12" names && ls names
    svn checkout "$URL/tags/mixed@22" mixed && wc_state mixed
}
both_in_any_order "checkout by peg revision" checkout_peg

checkout_broken_off() {
    command svn checkout -q --config-dir "$T/config" "$URL/trunk" wc &
    sleep 0.3
    kill -9 $!
    wait $!
    svn cleanup wc
    svn checkout -q --force "$URL/trunk" wc && svn status wc
    svn revert -q -R wc && svn status wc && svn info wc
}
interrupted() { checkout_broken_off 2>/dev/null; }
both "checkout resumed after the client was killed" interrupted

export_all() { svn export -q "$URL" all && svn export -q -r 30 "$URL/trunk" old; }
both "export of the whole repository, and of an old revision" export_all

export_parts() {
    svn export "$URL/trunk/src/main.c" main.c
    svn export -r 3 "$URL/trunk/doc/manual.txt" manual
    svn export --depth files "$URL/trunk" files
    svn export --ignore-keywords "$URL/trunk/props@15" props
    svn export --native-eol CRLF "$URL/trunk/props@15" crlf
    svn export "$URL/trunk/nope" nope
    svn export --force "$URL/trunk/src" files
}
both_in_any_order "export of files and parts" export_parts

# The tree is right, not only the same: against an export without any server.
svn export -q "file://$T/stock/repos" "$T/wanted"
svn export -q "$URL_varve/repos" "$T/got"
tree "$T/wanted" >"$T/wanted.tree"
tree "$T/got" >"$T/got.tree"
same "export gives what the repository holds" "$T/got.tree" "$T/wanted.tree"
done_testing
