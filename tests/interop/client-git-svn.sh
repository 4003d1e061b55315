#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# git svn: clones, fetches, commits and branches through both servers; what git then holds must be the
# same objects. So that they are, a hook gives new revisions a fixed date, and the URLs that git notes are rewritten to one.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
command -v git >/dev/null && git svn --version >/dev/null 2>&1 || skip_all "git-svn is not installed"

# A small history of the standard layout: git svn takes long over each revision and each branch.
PYTHONPATH=$HERE/../../../bench python3 - >"$T/layout.dump" <<'END' || skip_all "the history cannot be made"
import sys
from dumpstream import Stream, date_of

s, number = Stream(sys.stdout.buffer, b"3a5b2c1d-7e6f-4a8b-9c0d-1e2f3a4b5c6e"), 0
text = [b"line %d\n" % i for i in range(40)]

def begin(log, author=b"anna"):
    global number
    number += 1
    props = {b"svn:date": date_of(1000000000 + number * 3600, number), b"svn:log": log.encode()}
    s.revision(number, {**props, b"svn:author": author} if author is not None else props)
    return number - 1

def edited(*lines):
    return b"".join(b"edited\n" if i in lines else line for i, line in enumerate(text))

s.revision(0, {b"svn:date": date_of(1000000000)})
begin("Layout")
for path in b"trunk", b"branches", b"tags":
    s.add_dir(path)
begin("First files")
for path in b"trunk/src", b"trunk/src/lib", b"trunk/doc", b"trunk/empty":
    s.add_dir(path)
s.add_file(b"trunk/README", b"Read me.\n")
s.add_file(b"trunk/src/main.c", edited())
s.add_file(b"trunk/src/lib/a.c", edited(3))
s.add_file(b"trunk/doc/manual", b"manual\n" * 5000)
begin("Größe, 日本語", "jürgen".encode())
s.change(b"trunk/src/main.c", edited(1, 38))
for name in "größe".encode(), b"with space", b"100%25", b"a+b@1", b"nothing":
    s.add_file(b"trunk/doc/" + name, name if name != b"nothing" else b"")
begin("Kinds of files")
s.add_file(b"trunk/src/run", b"#!/bin/sh\n", {b"svn:executable": b"*"})
s.add_file(b"trunk/src/link", b"link main.c", {b"svn:special": b"*"})
s.add_file(b"trunk/src/binary", bytes(range(256)) * 500, {b"svn:mime-type": b"application/x-thing"})
prev = begin("Branch")
s.copy_dir(b"branches/one", prev, b"trunk")
begin("Edit on both, and properties", b"bela")
s.change(b"branches/one/src/lib/a.c", edited(3, 9))
s.change(b"trunk/src/main.c", edited(1, 20))
s.change(b"trunk/src", None, {b"svn:ignore": b"*.o\n*.a\n", b"svn:externals": b"^/trunk/doc ext\n"}, b"dir")
s.change(b"trunk/README", None, {b"svn:eol-style": b"native", b"svn:keywords": b"Id"})
prev = begin("Tag, edited")
s.copy_dir(b"tags/v1", prev, b"trunk")
s.change(b"tags/v1/README", b"Read this.\n")
prev = begin("Rename a folder, and a file in it")
s.copy_dir(b"trunk/source", prev, b"trunk/src")
s.delete(b"trunk/src")
s.delete(b"trunk/source/run")
s.copy_file(b"trunk/source/start", prev, b"trunk/src/run", b"#!/bin/sh\n", b"#!/bin/sh\nexit\n")
begin("Merge the branch")
s.change(b"trunk/source/lib/a.c", edited(3, 9))
s.change(b"trunk", None, {b"svn:mergeinfo": b"/branches/one:5-10"}, b"dir")
s.node(b"trunk/doc/nothing", b"dir", b"replace", {})
s.add_file(b"trunk/doc/nothing/inner", b"inner\n")
s.node(b"trunk/source/link", b"file", b"replace", {}, b"link main.c")
prev = begin("Begin the branch again, of a part, edited at once", None)
s.delete(b"branches/one")
s.copy_dir(b"branches/one", prev, b"trunk/source")
s.change(b"branches/one/main.c", edited(30))
s.delete(b"branches/one/lib")
END
serve_both 8 "$T/layout.dump"
printf 2003-03-03T03:03:03.000000Z >"$T/date"
for SIDE in stock varve; do
    printf '#!/bin/sh\nexec svnadmin setrevprop "$1" -r "$2" svn:date %s/date\n' "$T" >"$T/$SIDE/repos/hooks/post-commit"
    chmod +x "$T/$SIDE/repos/hooks/post-commit"
done

export HOME=$T/home GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=anna GIT_AUTHOR_EMAIL=anna@example.org GIT_COMMITTER_NAME=anna GIT_COMMITTER_EMAIL=anna@example.org
export GIT_AUTHOR_DATE="2002-02-02T02:02:02Z" GIT_COMMITTER_DATE="2002-02-02T02:02:02Z"
mkdir "$HOME"
git config --global init.defaultBranch main
git config --global advice.detachedHead false

# The clone is kept from one story to the next, beside the folder that a story runs in.
place() { cd "$T/$SIDE" || exit; }
clone() { git svn clone -q --rewrite-root=svn://server/repos --config-dir "$T/config" "$@"; }
refs() { git for-each-ref --format='%(refname) %(objectname)'; }

# ---- clone --------------------------------------------------------------------------------------

standard_layout() {
    place && clone --stdlayout "$URL" all && cd all && refs && git log --all --format='%H %T %an %ad %s' | sort &&
        git ls-tree -r HEAD && git fsck --no-dangling --no-progress
}
both_in_any_order "a clone of the standard layout" standard_layout

part() {
    place && clone -r 4:8 --ignore-paths='^trunk/doc' "$URL/trunk" part && cd part && refs && git ls-tree -r HEAD
}
both_in_any_order "a clone of a part" part

# ---- what it asks ----------------------------------------------------------------------------------

questions() {
    place && cd all && git svn proplist README && git svn propget svn:externals source; git svn show-ignore
}
both "properties" questions

# ---- commits ------------------------------------------------------------------------------------------

commits() {
    place && cd all && echo "from git" >>README && mkdir new && echo text >new/file && printf 'a\0b' >new/binary && git add new && git commit -qam "Edit and add, with größe" &&
        git mv source/main.c source/moved.c && git rm -q doc/manual && chmod +x new/file && ln -s file new/link && git add new && git commit -qm "Move and remove, mode and link" && git svn dcommit
    git status -sb && refs && git log --format='%H %s' -4 && svn log -v -r $((HEAD + 1)):HEAD "$URL"
}
both "dcommit" commits

others_work() { # somebody else commits meanwhile, first elsewhere, then to the same file
    place && cd all && svnmucc -m "elsewhere" -U "$URL/trunk" rm doc/a+b@1@ && echo more >>new/file && git commit -qam "More" && git svn dcommit
    echo conflict >"$T/text" && svnmucc -m "the same file" -U "$URL/trunk" put "$T/text" README
    echo other >>README && git commit -qam "Lost" && git svn dcommit --no-rebase; git reset -q --hard origin/trunk && git svn rebase -q; git rev-parse HEAD
}
both "dcommit while others work" others_work

branches() {
    place && cd all && git svn branch -m "Branch by git" by-git && git checkout -q -b local origin/by-git && echo branch >>README &&
        git commit -qam "On the branch" && git svn dcommit --no-rebase
    svn log -v -r $((HEAD + 6)):HEAD "$URL"; git branch -r | sort; svn cat "$URL/branches/by-git/README"
}
both "a branch" branches

same_history "after all"
done_testing
