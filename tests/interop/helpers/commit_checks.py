# SPDX-License-Identifier: Apache-2.0
"""Commits that are refused, one for each check: the errors that a server answers.

usage: commit_checks.py PORT      a line for each: its name, the errors, the youngest revision

The repository is that of commit-checks.sh, whose users are u and v with the password secret. Properties: bad_props.py."""
import re
import sys
import time

from peer import Peer, s

COMMIT = b"( commit ( 1:m ( ) false ( ) ) ) "
ROOT = b"( open-root ( ( ) 1:r ) ) "
CLOSE = b"( close-dir ( 1:r ) ) ( close-edit ( ) ) "
DELTA = b"( textdelta-chunk ( 1:f %s) ) ( textdelta-end ( 1:f ) ) "
SVNDIFF = b"SVN\0"
NEW_TEXT = SVNDIFF + b"\0\0\4\1\4\x84new\n"  # one window: no source, four bytes, all new


def add(kind, path, source=b"( ) ", parent=b"r", token=b"n"):
    return b"( add-%s ( %s%s%s%s) ) " % (kind.encode(), s(path), s(parent), s(token), source)


def source(url, path, revision):
    return b"( %s%d ) " % (s(url + path), revision)


def open_dir(path, revision=b"( ) ", parent=b"r", token=b"d"):
    return b"( open-dir ( %s%s%s%s) ) " % (s(path), s(parent), s(token), revision)


def open_file(path, revision=b"( ) ", parent=b"r"):
    return b"( open-file ( %s%s1:f %s) ) " % (s(path), s(parent), revision)


def close_file(digest=b"( ) "):
    return b"( close-file ( 1:f %s) ) " % digest


def delete(path, revision=b"( ) ", parent=b"r"):
    return b"( delete-entry ( %s%s%s) ) " % (s(path), revision, s(parent))


def text(base=b"( ) ", data=NEW_TEXT):
    return b"( apply-textdelta ( 1:f %s) ) " % base + DELTA % s(data)


def dir_prop(token=b"r", name=b"p"):
    return b"( change-dir-prop ( %s%s( 1:v ) ) ) " % (s(token), s(name))


FILE_PROP = b"( change-file-prop ( 1:f 1:p ( 1:v ) ) ) "
CLOSE_D = b"( close-dir ( 1:d ) ) "
OLD = b"( 1 ) "
FUTURE = b"( 99 ) "


def checks(url):
    """Name, the commit command, the edit."""
    yield "nothing", COMMIT, b"( close-edit ( ) ) "
    yield "a root of a revision to come", COMMIT, b"( open-root ( ( 99 ) 1:r ) ) " + dir_prop() + CLOSE
    yield "a property of the root that is out of date", COMMIT, b"( open-root ( ( 1 ) 1:r ) ) " + dir_prop() + CLOSE
    yield "delete: the root", COMMIT, ROOT + delete(b"") + CLOSE
    yield "delete: nothing there", COMMIT, ROOT + delete(b"none") + CLOSE
    yield "delete: nothing there, of a revision", COMMIT, ROOT + delete(b"none", OLD) + CLOSE
    yield "delete: a file out of date", COMMIT, ROOT + delete(b"f", OLD) + CLOSE
    yield "delete: a folder out of date", COMMIT, ROOT + delete(b"d", OLD) + CLOSE
    yield "delete: a folder with changes below", COMMIT, ROOT + delete(b"deep", OLD) + CLOSE
    yield "delete: of a revision to come", COMMIT, ROOT + delete(b"f", FUTURE) + CLOSE
    yield "delete: twice", COMMIT, ROOT + delete(b"f") + delete(b"f") + CLOSE
    yield "delete: below a file", COMMIT, ROOT + delete(b"f/x") + CLOSE
    yield "delete: below nothing", COMMIT, ROOT + delete(b"none/x") + CLOSE
    for kind, other in (("dir", "file"), ("file", "dir")):
        yield f"add {kind}: there is a folder", COMMIT, ROOT + add(kind, b"d") + CLOSE
        yield f"add {kind}: there is a file", COMMIT, ROOT + add(kind, b"f") + CLOSE
        yield f"add {kind}: below a file", COMMIT, ROOT + add(kind, b"f/x") + CLOSE
        yield f"add {kind}: below nothing", COMMIT, ROOT + add(kind, b"none/x") + CLOSE
        yield f"add {kind}: a name that is no UTF-8", COMMIT, ROOT + add(kind, b"\xff") + CLOSE
        yield f"add {kind}: a name with a control character", COMMIT, ROOT + add(kind, b"a\tb") + CLOSE
        yield f"add {kind}: twice", COMMIT, ROOT + add(kind, b"n", token=b"1") + b"( close-%s ( 1:1 %s) ) " % (kind.encode(), b"( ) " if kind == "file" else b"") + add(kind, b"n") + CLOSE
        good = b"/d" if kind == "dir" else b"/f"
        yield f"copy {kind}: from a revision to come", COMMIT, ROOT + add(kind, b"n", source(url, good, 99)) + CLOSE
        yield f"copy {kind}: from nothing", COMMIT, ROOT + add(kind, b"n", source(url, b"/none", 1)) + CLOSE
        yield f"copy {kind}: from another repository", COMMIT, ROOT + add(kind, b"n", source(b"svn://elsewhere/repos", good, 1)) + CLOSE
        yield f"copy {kind}: from no URL", COMMIT, ROOT + add(kind, b"n", source(b"", good, 1)) + CLOSE
        yield f"copy {kind}: from another repository onto a file", COMMIT, ROOT + add(kind, b"f", source(b"svn://elsewhere/repos", good, 1)) + CLOSE
        yield f"copy {kind}: from another repository without the right to", COMMIT, ROOT + add(kind, b"ro/n", source(b"svn://elsewhere/repos", good, 1)) + CLOSE
        yield f"copy {kind}: from no revision", COMMIT, ROOT + add(kind, b"n", source(url, good, 2 ** 64 - 1)) + CLOSE
        yield f"copy {kind}: from no revision without the right to", COMMIT, ROOT + add(kind, b"ro/n", source(url, good, 2 ** 64 - 1)) + CLOSE
        yield f"copy {kind}: from no revision onto a file", COMMIT, ROOT + add(kind, b"f", source(url, good, 2 ** 64 - 1)) + CLOSE
        yield f"copy {kind}: onto a file", COMMIT, ROOT + add(kind, b"f", source(url, good, 1)) + CLOSE
        yield f"copy {kind}: onto a folder", COMMIT, ROOT + add(kind, b"d", source(url, good, 1)) + CLOSE
        yield f"copy {kind}: below nothing", COMMIT, ROOT + add(kind, b"none/n", source(url, good, 1)) + CLOSE
        yield f"copy {kind}: below a file", COMMIT, ROOT + add(kind, b"f/n", source(url, good, 1)) + CLOSE
        yield f"copy {kind}: a name that is no UTF-8", COMMIT, ROOT + add(kind, b"\xff", source(url, good, 1)) + CLOSE
    yield "open dir: nothing there", COMMIT, ROOT + open_dir(b"none") + CLOSE_D + CLOSE
    yield "open dir: nothing there, of a revision", COMMIT, ROOT + open_dir(b"none", OLD) + CLOSE_D + CLOSE
    yield "open dir: a file, and a property", COMMIT, ROOT + open_dir(b"f") + dir_prop(b"d") + CLOSE_D + CLOSE
    yield "open dir: a file, and an entry", COMMIT, ROOT + open_dir(b"f") + add("dir", b"f/x", parent=b"d") + CLOSE_D + CLOSE
    yield "open dir: of a revision to come", COMMIT, ROOT + open_dir(b"d", FUTURE) + CLOSE_D + CLOSE
    yield "open file: nothing there", COMMIT, ROOT + open_file(b"none") + close_file() + CLOSE
    yield "open file: a folder, and a property", COMMIT, ROOT + open_file(b"d") + FILE_PROP + close_file() + CLOSE
    yield "open file: a folder, and a text", COMMIT, ROOT + open_file(b"d") + text() + close_file() + CLOSE
    yield "open file: out of date", COMMIT, ROOT + open_file(b"f", OLD) + text() + close_file() + CLOSE
    yield "open file: of a revision to come", COMMIT, ROOT + open_file(b"f", FUTURE) + text() + close_file() + CLOSE
    yield "open file: deleted before", COMMIT, ROOT + delete(b"f") + open_file(b"f") + close_file() + CLOSE
    yield "property of a folder out of date", COMMIT, ROOT + open_dir(b"d", OLD) + dir_prop(b"d") + CLOSE_D + CLOSE
    yield "property of a folder of a revision to come", COMMIT, ROOT + open_dir(b"d", FUTURE) + dir_prop(b"d") + CLOSE_D + CLOSE
    yield "property of a folder deleted before", COMMIT, ROOT + open_dir(b"d") + delete(b"d") + dir_prop(b"d") + CLOSE_D + CLOSE
    yield "text: of another base", COMMIT, ROOT + open_file(b"f") + text(b"( 32:" + b"0123456789abcdef" * 2 + b" ) ") + close_file() + CLOSE
    yield "text: another than promised", COMMIT, ROOT + open_file(b"f") + text() + close_file(b"( 32:" + b"0123456789abcdef" * 2 + b" ) ") + CLOSE
    yield "text: another than promised, none sent", COMMIT, ROOT + open_file(b"f") + close_file(b"( 32:" + b"0123456789abcdef" * 2 + b" ) ") + CLOSE
    yield "text: no digest", COMMIT, ROOT + open_file(b"f") + text() + close_file(b"( 4:junk ) ") + CLOSE
    yield "text: no digest of a base", COMMIT, ROOT + open_file(b"f") + text(b"( 4:junk ) ") + close_file() + CLOSE
    yield "text: no svndiff", COMMIT, ROOT + open_file(b"f") + text(data=b"junk") + close_file() + CLOSE
    yield "text: cut short", COMMIT, ROOT + open_file(b"f") + text(data=NEW_TEXT[:-2]) + close_file() + CLOSE
    yield "text: beyond its source", COMMIT, ROOT + open_file(b"f") + text(data=SVNDIFF + b"\0\0\4\2\0\4\0") + close_file() + CLOSE
    yield "lock: a text of another's", COMMIT, ROOT + open_file(b"locked") + text() + close_file() + CLOSE
    yield "lock: a property of another's", COMMIT, ROOT + open_file(b"locked") + FILE_PROP + close_file() + CLOSE
    yield "lock: another's deleted", COMMIT, ROOT + delete(b"locked") + CLOSE
    yield "lock: a folder deleted with another's below", COMMIT, ROOT + delete(b"hold") + CLOSE
    yield "lock: a folder moved away with another's below", COMMIT, ROOT + delete(b"hold") + add("dir", b"n", source(url, b"/hold", 1)) + CLOSE
    yield "lock: one's own without its token", COMMIT, ROOT + open_file(b"mine") + text() + close_file() + CLOSE
    yield "lock: one's own with another token", b"( commit ( 1:m ( ( 4:mine 17:opaquelocktoken:x ) ) false ( ) ) ) ", ROOT + open_file(b"mine") + text() + close_file() + CLOSE
    yield "an unknown step", COMMIT, ROOT + b"( make-coffee ( ) ) " + CLOSE
    yield "given up", COMMIT, ROOT + add("dir", b"n") + b"( abort-edit ( ) ) "
    yield "hook: start-commit", b"( commit ( 0: ( ) false ( ( 7:svn:log 11:start-fails ) ) ) ) ", ROOT + add("dir", b"n") + CLOSE
    yield "hook: pre-commit", COMMIT, ROOT + add("dir", b"pre-fails") + CLOSE
    yield "rights: nobody", None, ROOT + add("dir", b"n") + CLOSE
    yield "rights: add", COMMIT, ROOT + add("dir", b"ro/n") + CLOSE
    yield "rights: delete", COMMIT, ROOT + delete(b"ro") + CLOSE
    yield "rights: text", COMMIT, ROOT + open_file(b"ro/f") + text() + close_file() + CLOSE
    yield "rights: property", COMMIT, ROOT + open_dir(b"ro") + dir_prop(b"d") + CLOSE_D + CLOSE
    yield "rights: copy from what may not be read", COMMIT, ROOT + add("dir", b"n", source(url, b"/hidden", 1)) + CLOSE
    yield "rights: copy of what holds what may not be read", COMMIT, ROOT + add("dir", b"n", source(url, b"/half", 1)) + CLOSE
    yield "rights: delete what holds what may not be written", COMMIT, ROOT + delete(b"half") + CLOSE


def told(peer, commit, edit):
    peer.say(commit)
    if peer.authenticate():
        return [(0, b"authentication is asked for")]
    errors = peer.failure(peer.hear())
    if errors:
        return errors
    peer.say(edit)
    errors = peer.failure(peer.hear())
    if errors:
        peer.say(b"( abort-edit ( ) ) ")
    elif b"( close-edit" in edit:
        assert peer.authenticate() is None
        peer.hear()
    return errors


OTHER_WORDS = ("text: another than promised", "text: no digest", "text: no digest of a base", "text: no svndiff", "text: cut short", "text: beyond its source")


def late_checks():
    """Name, an edit but for its end, what v does before that comes."""
    change, more = open_file(b"f") + text() + close_file(), NEW_TEXT.replace(b"new", b"NEW")
    other = COMMIT + ROOT + open_file(b"f") + text(data=more) + close_file() + CLOSE
    yield "late: a text, of a file changed meanwhile", change, other
    yield "late: a property, of a file changed meanwhile", open_file(b"f") + FILE_PROP + close_file(), COMMIT + ROOT + change + CLOSE
    yield "late: a file deleted, changed meanwhile", delete(b"f"), other
    yield "late: a property of a folder, set meanwhile", open_dir(b"d") + dir_prop(b"d") + CLOSE_D, COMMIT + ROOT + open_dir(b"d") + dir_prop(b"d", b"q") + CLOSE_D + CLOSE
    yield "late: a property of the root, set meanwhile", dir_prop(), COMMIT + ROOT + dir_prop(name=b"q") + CLOSE
    yield "late: a folder added, added meanwhile", add("dir", b"late"), COMMIT + ROOT + add("dir", b"late") + CLOSE
    yield "late: a text, of a file locked meanwhile", change, b"( lock ( 1:f ( ) false ( ) ) ) "
    yield "late: a text, of a file deleted meanwhile", open_file(b"deep/g") + text() + close_file(), COMMIT + ROOT + delete(b"deep") + CLOSE
    yield "late: a folder added, in one deleted meanwhile", add("dir", b"late/n"), COMMIT + ROOT + delete(b"late") + CLOSE
    yield "late: another file changed meanwhile", add("dir", b"beside"), COMMIT + ROOT + add("dir", b"other") + CLOSE


def login(port, user):
    peer = Peer(port, user=user, password="secret")
    assert peer.greet() is None
    return peer


def meanwhile(port, request):
    peer = login(port, "v")
    peer.say(request)
    assert peer.authenticate() is None and peer.hear()[0] == ("w", "success")
    if request.startswith(COMMIT):
        assert peer.hear()[0] == ("w", "success")
        assert peer.authenticate() is None
        peer.hear()
    peer.close()


def told_late(port, edit, request):
    peer = login(port, "u")
    peer.say(COMMIT + ROOT)
    assert peer.authenticate() is None and peer.hear()[0] == ("w", "success")
    peer.say(edit)
    time.sleep(0.3)  # nothing tells that it was taken
    meanwhile(port, request)
    peer.say(CLOSE)
    errors = peer.failure(peer.hear())
    if not errors:
        assert peer.authenticate() is None
        peer.hear()
    peer.close()
    return errors


def youngest(port):
    peer = login(port, "u")
    peer.say(b"( get-latest-rev ( ) ) ")
    assert peer.authenticate() is None
    return peer.hear()[1][0]


def show(port, name, errors):
    if name in OTHER_WORDS:
        errors = [(errors[0][0], b"...")]
    said = " ".join("E%06d %s" % (code, said.decode("utf-8", "backslashreplace")) for code, said in errors or []) or "accepted"
    said = re.sub(r"transaction '[^']*'", "transaction 'T'", said).replace(" (HEAD is 2)", "").replace("\n", "\\n")
    print("%s: %s (r%d)" % (name, said, youngest(port)))


def main(port):
    for name, commit, edit in checks(b"svn://127.0.0.1:%d/repos" % port):
        peer = login(port, "" if commit is None else "u")
        show(port, name, told(peer, commit or COMMIT, edit))
        peer.close()
    for name, edit, request in late_checks():
        show(port, name, told_late(port, edit, request))


main(int(sys.argv[1]))
