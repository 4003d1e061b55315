# SPDX-License-Identifier: Apache-2.0
"""More in one place than can be read again.

usage: too_large.py stream          a dump stream: three properties of 90 MB on one folder (svnadmin
                                    takes memory for each list on the way: 280 of 1 MB are 23 GB)
       too_large.py ask PORT        the errors of a server for commits and revision properties"""
import sys

from peer import Peer, s

VALUE = b"x" * 1000000


def stream(out):
    out.write(b"SVN-fs-dump-format-version: 2\n\nRevision-number: 1\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n")
    block = b"".join(b"K 1\n%d\nV %d\n%s\n" % (i, 90 * len(VALUE), 90 * VALUE) for i in range(3)) + b"PROPS-END\n"
    out.write(b"Node-path: d\nNode-kind: dir\nNode-action: add\nProp-content-length: %d\nContent-length: %d\n\n" % (len(block), len(block)))
    out.write(block + b"\n\n")


def connect(port):
    peer = Peer(port, timeout=120)
    assert peer.greet() is None
    return peer


def reason(answer):
    """The innermost of an answer's errors, which are E165002 all; they may come before all is said."""
    errors = Peer.failure(None, answer)
    return errors[-1][1].decode() if errors and all(code == 165002 for code, _ in errors) else answer


def commit(port, steps):
    peer = connect(port)
    peer.say(b"( commit ( 1:m ( ) false ) ) ( open-root ( ( ) 1:r ) ) ")
    assert peer.authenticate() is None and peer.hear()[0] == ("w", "success")
    for step in steps:
        peer.say(step)
    peer.say(b"( close-dir ( 1:r ) ) ( close-edit ( ) ) ")
    return reason(peer.hear())


def change_revision_property(peer, name, value):
    peer.say(b"( change-rev-prop ( 0 %s%s ) ) " % (s(name), s(value)))
    assert peer.authenticate() is None
    return peer.hear()


def ask(port):
    print("properties:", commit(port, (b"( change-dir-prop ( 1:r %s( %s) ) ) " % (s(b"p%d" % i), s(VALUE)) for i in range(280))))
    print("entries:", commit(port, (b"( add-dir ( %s1:r 1:d ( ) ) ) ( close-dir ( 1:d ) ) " % s(b"%060000d" % i) for i in range(4800))))
    peer = connect(port)
    for i in range(20):
        answer = change_revision_property(peer, b"p%d" % i, 14 * VALUE)
        if answer[0] != ("w", "success"):
            print("revision property %d:" % i, reason(answer))
            break


if sys.argv[1] == "stream":
    stream(sys.stdout.buffer)
else:
    ask(int(sys.argv[2]))
