# SPDX-License-Identifier: Apache-2.0
"""Paths that are not UTF-8, or have "..", in the commands that take a path.

usage: bad_paths.py PORT      a line for each name and command: the errors of the answer, or "accepted"

Nothing is changed: edits are aborted."""
import re
import sys

from peer import Peer, s

NAMES = [b"\xe6x", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\xff", b"\x80", b"d/\xe6x", "ä".encode(), b"a\xff\tb", b"a\x01b",
         b"..", b"../d", b"d/..", b"d/../f", b"../../out", b"f/.."]
EDIT = b"( commit ( 1:m ( ) false ) ) ( open-root ( ( ) 1:r ) ) ( open-dir ( 1:d 1:r 1:d ( ) ) ) "
ABORT = b"( abort-edit ( ) ) "


def commands(name, url):
    path, node = s(name), s(name) + (b"1:d 1:n" if name.startswith(b"d/") else b"1:r 1:n")
    escaped = s(url + b"/" + b"".join(b"%%%02X" % c if c > 127 or c < 33 else b"%c" % c for c in name))
    return {
        "add-dir": EDIT + b"( add-dir ( %s ( ) ) ) " % node + ABORT,
        "add-file": EDIT + b"( add-file ( %s ( ) ) ) " % node + ABORT,
        "copy of a folder": EDIT + b"( add-dir ( %s ( %s1 ) ) ) " % (node, s(url + b"/d")) + ABORT,
        "copy of a file": EDIT + b"( add-file ( %s ( %s1 ) ) ) " % (node, s(url + b"/f")) + ABORT,
        "copy from it": EDIT + b"( add-dir ( 1:n 1:r 1:n ( %s1 ) ) ) " % escaped + ABORT,
        "delete-entry": EDIT + b"( delete-entry ( %s( ) 1:r ) ) " % path + ABORT,
        "open-dir": EDIT + b"( open-dir ( %s ( ) ) ) " % node + ABORT,
        "open-file": EDIT + b"( open-file ( %s ( ) ) ) " % node + ABORT,
        "lock": b"( lock ( %s( ) false ( ) ) ) " % path,
        "lock-many": b"( lock-many ( ( ) false ( ( %s( ) ) ) ) ) " % path,
        "unlock": b"( unlock ( %s( ) true ) ) " % path,
        "get-lock": b"( get-lock ( %s) ) " % path,
        "check-path": b"( check-path ( %s( 1 ) ) ) " % path,
        "get-file": b"( get-file ( %s( 1 ) true true ) ) " % path,
    }


def main(port):
    for name in NAMES:
        for what in commands(name, b""):
            peer = Peer(port, user="u", password="secret")
            assert peer.greet() is None
            first, rest = re.match(rb"(\( commit .*? \) \) )?(.*)", commands(name, peer.url.encode())[what], re.S).groups()
            errors = []
            if first:
                peer.say(first)
                assert peer.authenticate() is None and peer.hear()[0] == ("w", "success")
            peer.say(rest + b"( get-latest-rev ( ) ) ")
            while True:
                item = peer.hear()
                errors += peer.failure(item) or []
                if isinstance(item, list) and item[0] == ("w", "success") and len(item[1]) == 1 and isinstance(item[1][0], int):
                    break
            peer.close()
            text = b" ".join(b"E%d %s" % (code, text) for code, text in errors) or b"accepted"
            text = re.sub(rb"transaction '[^']*'", b"transaction", text)
            text = text.replace(b":%d/" % port, b":PORT/")
            print("%r %s: %r" % (name, what, text))


main(int(sys.argv[1]))
