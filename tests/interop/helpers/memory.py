# SPDX-License-Identifier: Apache-2.0
"""Clients that want a server to take much memory, for memory.sh.

usage: memory.py PORT ATTACK     ATTACK from CLIENTS clients at once; while they are at it another one asks a
                                 small question. Prints how that went, then what the attackers were told.
       memory.py PORT --stalled  clients that ask for a text of their own each and take nothing, and some that stop
                                 in the middle of what they say; then one who wants a text, too
       memory.py --list          the attacks, each behind what becomes of it
       memory.py --dump          a stream of revisions that are hard to serve"""
import re
import select
import socket
import sys
import threading
import time

from conversation import COMMIT, ROOT, connect, greet, parse, s
from limits import failures, log_in

CLIENTS = 6  # as many commits at once as memory.sh reckons with
STRANGERS = "strangers with tiny words"
UPDATE = b"( update ( ( ) 0: true ) ) ( set-path ( 0: 0 true ) ) ( finish-report ( ) ) "


def deep(port):
    return b"( update ( ( ) 0: true ) ) ( set-path ( 0: 1 false ) ) ( set-path ( %s1 false ) ) ( abort-report ( ) ) " % s("abc/" * 199999 + "abc")


def many_places(port):
    yield b"( update ( ( ) 0: true ) ) ( set-path ( 0: 1 false ) ) "
    for at in range(0, 400000, 1000):
        yield b"".join(b"( set-path ( %s1 false ) ) " % s("d%d/f%d" % (i % 977, i)) for i in range(at, at + 1000))


def moved(port, question):
    return b"( reparent ( %s) ) " % s("svn://127.0.0.1:%d/repos/%s" % (port, "a" * 1000000)) + question


def commit(edits):
    def said(port):
        yield COMMIT + ROOT
        yield from edits()
        yield b"( abort-edit ( ) ) "
    return said


def folders_with_properties():
    for i in range(300):
        yield b"( add-dir ( %s1:r %s( ) ) ) ( change-dir-prop ( %s1:p ( %s) ) ) " % (s("n%d" % i), s("d%d" % i), s("d%d" % i), s(b"v" * 1000000))


def property_again_and_again():
    for i in range(300):
        yield b"( change-dir-prop ( 1:r 1:p ( %s) ) ) " % s(b"%d" % i * 300000)


def many_files():
    for i in range(300000):
        yield b"( add-file ( %s1:r 1:f ( ) ) ) ( close-file ( 1:f ( ) ) ) " % s("%0100d" % i)


def open_deltas():
    for i in range(64):
        token = s("f%d" % i)
        yield b"( open-file ( %s1:r %s( ) ) ) ( apply-textdelta ( %s( ) ) ) ( textdelta-chunk ( %s4:SVN\0 ) ) " % (
            s("large%d" % (1 + i % 8) if i < 8 else "heap/%d" % i), token, token, token)


def open_texts():
    for i in range(64):
        token = s("f%d" % i)
        yield b"( add-file ( %s1:r %s( ) ) ) ( apply-textdelta ( %s( ) ) ) ( textdelta-chunk ( %s%s) ) " % (
            s("t%d" % i), token, token, token, s(b"SVN\0" + b"\0\0\x81\x80\0\5\x81\x80\0\x80\x81\x80\0" + b"x" * 16384))


def every_command(path, rev=b"( 1 ) "):
    """Each command that takes a path, by a client of its own."""
    path = s(path)
    url = lambda port: s(b"svn://127.0.0.1:%d/repos/" % port + path.split(b":", 1)[1][:-1])
    report = b"( set-path ( 0: 1 false ) ) ( finish-report ( ) ) "
    plain = [b"( check-path ( %s%s) ) ", b"( stat ( %s%s) ) ", b"( get-file ( %s%strue true ) ) ", b"( get-dir ( %s%strue true ) ) ",
             b"( get-iprops ( %s%s) ) ", b"( list ( %s%sinfinity ( kind ) ) ) ", b"( get-mergeinfo ( ( %s) %sinherited true ) ) ",
             b"( get-file-revs ( %s( 1 ) %sfalse ) ) ", b"( get-location-segments ( %s%s( ) ( ) ) ) ", b"( lock ( %s( 1:c ) false %s) ) "]
    single = [b"( get-locations ( %s1 ( 1 ) ) ) ", b"( get-deleted-rev ( %s1 2 ) ) ", b"( log ( ( %s) ( ) ( ) true false 0 ) ) ",
              b"( get-lock ( %s) ) ", b"( get-locks ( %s) ) ", b"( unlock ( %s( 1:t ) true ) ) ",
              b"( update ( ( ) %strue ) ) " + report, b"( status ( %strue ) ) " + report, b"( get-dated-rev ( %s) ) ",
              b"( rev-prop ( 1 %s) ) ", b"( change-rev-prop ( 1 %s1:v ) ) ", b"( change-rev-prop2 ( 1 %s( 1:v ) ( false 1:w ) ) ) ",
              b"( lock-many ( ( ) false ( ( %s( ) ) ) ) ) ",
              b"( unlock-many ( false ( ( %s( ) ) ) ) ) ", COMMIT + ROOT + b"( add-dir ( %s1:r 1:d ( ) ) ) ( abort-edit ( ) ) "]
    moving = [b"( switch ( ( ) 0: true %s) ) " + report, b"( diff ( ( ) 0: true false %s) ) " + report, b"( reparent ( %s) ) "]
    said = [lambda port, one=one: one % (path, rev) for one in plain]
    said += [lambda port, one=one: one % path for one in single]
    return said + [lambda port, one=one: one % url(port) for one in moving]


DEEP = "deep" + "/d" * 19  # an answer of 15 MB, which is held until it is known to be one
ATTACKS = {
    "a report of a path of 200,000 components": deep,
    "a report of 400,000 places": many_places,
    "log of one path 900,000 times": lambda port: b"( log ( ( " + b"4:file " * 900000 + b") ( ) ( ) false false 0 ) ) ",
    "log of one path 60,000 times": lambda port: b"( log ( ( " + b"4:file " * 60000 + b") ( ) ( ) false false 0 ) ) ",
    "log of 60,000 paths below a long one": lambda port: moved(port, b"( log ( ( " + b"1:x " * 60000 + b") ( ) ( ) false false 0 ) ) "),
    "log of 300,000 properties": lambda port: b"( log ( ( 0: ) ( ) ( ) false false 0 false revprops ( " + b"1:p " * 300000 + b") ) ) ",
    "get-mergeinfo of one path 20,000 times": lambda port: b"( get-mergeinfo ( ( " + b"3:dir " * 20000 + b") ( ) inherited true ) ) ",
    "get-mergeinfo of a path of 2,000,000 components": lambda port: b"( get-mergeinfo ( ( %s) ( ) inherited false ) ) " % s("a/" * 1999999 + "a"),
    "get-locations in 900,000 revisions": lambda port: b"( get-locations ( 4:file 1 ( " + b"1 " * 900000 + b") ) ) ",
    "list with 400,000 patterns": lambda port: b"( list ( 0: ( ) infinity ( kind ) ( " + b"1:x " * 400000 + b") ) ) ",
    "lock-many of 200,000 paths": lambda port: b"( lock-many ( ( ) false ( " + b"( 4:file ( ) ) " * 200000 + b") ) ) ",
    "lists of lists": lambda port: b"( stat ( " + b"( ( ( ) ) ) " * 400000 + b") ) ",
    "a string of 15 MB": lambda port: b"( check-path ( %s( ) ) ) " % s(b"a/" * 7500000 + b"a"),
    "reparent to 15 MB": lambda port: b"( reparent ( %s) ) ( check-path ( 0: ( ) ) ) " % s("svn://127.0.0.1:%d/repos/%s" % (port, "a" * 15000000)),
    "an export that is not taken": lambda port: UPDATE,
    "a file that is not taken": lambda port: b"( get-file ( 5:large ( ) false true ) ) " * 4,
    "a commit of 300 folders with properties of 1 MB": commit(folders_with_properties),
    "a commit of a property of 900 kB, set 300 times": commit(property_again_and_again),
    "a commit of 300,000 files": commit(many_files),
    "a commit with 64 texts open": commit(open_texts),
    "a commit with 64 deltas to large texts open": commit(open_deltas),
    "every command with a path of 1,000,000 components": every_command("a%/" * 999999 + "a"),
    "every command with a path that grows threefold where it is shown": every_command("%" * 4000000),
    "every command with 15 MB": every_command("x" * 15000000),
    "40 folders with properties of 1 MB, and what is inherited": [
        lambda port: b"( get-dir ( %s( ) true true ( ) true ) ) " % s(DEEP) * 3, lambda port: b"( get-iprops ( %s( 3 ) ) ) " % s(DEEP) * 3,
        lambda port: UPDATE * 2, lambda port: b"( list ( 4:deep ( ) infinity ( kind size ) ) ) ",
        lambda port: b"( replay ( 3 0 true ) ) " * 2, lambda port: b"( replay-range ( 1 1500 0 true ) ) "],
    "the same, not taken": [
        lambda port: b"( get-dir ( %s( ) true true ( ) true ) ) " % s(DEEP), lambda port: b"( get-iprops ( %s( 3 ) ) ) " % s(DEEP),
        lambda port: UPDATE, lambda port: b"( replay ( 3 0 true ) ) ", lambda port: b"( replay-range ( 1 1500 0 true ) ) "],
    "1,500 revisions of one file": [
        lambda port: b"( get-file-revs ( 4:many ( 0 ) ( 1500 ) false ) ) " * 3, lambda port: b"( get-file-revs ( 4:many ( 0 ) ( 1500 ) true ) ) ",
        lambda port: b"( log ( ( 4:many ) ( ) ( ) true false 0 true all-revprops ) ) ", lambda port: b"( log ( ( 0: ) ( ) ( ) true true 0 false all-revprops ) ) ",
        lambda port: b"( get-location-segments ( 4:many ( ) ( ) ( ) ) ) ", lambda port: b"( log ( ( 3:dir 0: ) ( ) ( ) true false 0 true revprops ( ) ) ) "],
    "the same, and nothing is taken": [
        lambda port: b"( get-file-revs ( 4:many ( 0 ) ( 1500 ) false ) ) ", lambda port: b"( get-file-revs ( 4:many ( 0 ) ( 1500 ) true ) ) ",
        lambda port: b"( log ( ( 0: ) ( ) ( ) true false 0 false all-revprops ) ) "],
    "revision properties of 8 MB": [lambda port: b"( rev-proplist ( 4 ) ) ( rev-prop ( 4 7:svn:log ) ) " * 5] * 6,
    "the same, left where they are": [lambda port: b"( rev-proplist ( 4 ) ) " * 5] * 6,
}
# What is no trouble. All else is refused: what it asks for takes more than one request may have.
ANSWERED = {
    "log of one path 60,000 times",
    "get-mergeinfo of one path 20,000 times",
    "a commit with 64 texts open",
    "40 folders with properties of 1 MB, and what is inherited",
    "1,500 revisions of one file",
    "revision properties of 8 MB",
}
UNTAKEN = {"an export that is not taken", "a file that is not taken", "the same, not taken", "the same, and nothing is taken", "the same, left where they are"}
# Some of these are refused, others not: one alone has room for it, six at once have not. That the server is up and serves others is what counts.
MIXED = {"get-mergeinfo of a path of 2,000,000 components"} | {name for name in ATTACKS if name.startswith("every command")}


class Attacker:
    """Says all of it, taking in what is answered so that nobody waits for the other, and notes what it was told."""

    def __init__(self, port, said, takes):
        self.said = [said] if isinstance(said, bytes) else said
        self.sock = log_in(port)
        self.takes = takes
        self.heard = b""
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def listen(self, seconds):
        while self.takes and select.select([self.sock], [], [], seconds)[0]:
            piece = self.sock.recv(1 << 20)
            if not piece:
                return False
            self.heard = (self.heard + piece)[-4000:]
        return True

    def send(self, piece):
        view = memoryview(piece)
        while view:
            if not self.listen(0):
                return False
            if select.select([self.sock] if self.takes else [], [self.sock], [], 20)[1]:
                view = view[self.sock.send(view[:1 << 18]):]
        return True

    def run(self):
        try:
            for piece in self.said:
                if not self.send(piece):
                    return
            if self.takes:
                self.sock.shutdown(socket.SHUT_WR)
                while self.listen(20):
                    pass
        except OSError:
            pass


def small_question(port):
    """Is somebody served who wants little?"""
    began = time.monotonic()
    sock = log_in(port)
    sock.sendall(b"( get-file ( 4:file ( ) true true ) ) ( log ( ( 0: ) ( ) ( ) true false 0 ) ) ( get-mergeinfo ( ( 4:file ) ( ) inherited false ) ) ")
    sock.shutdown(socket.SHUT_WR)
    data = b""
    while piece := sock.recv(65536):
        data += piece
    if failures(parse(data)) or b"small" not in data:
        return "refused: %s" % (failures(parse(data)) or data[-200:])
    return "served" if time.monotonic() - began < 20 else "served late"


def main(port, attack):
    if attack == STRANGERS:
        socks = []
        for _ in range(60):
            sock = connect(port)
            sock.sendall(b"( 2 ( edit-pipeline " + b"a " * 31000)
            socks.append(sock)
        time.sleep(0.5)
        print(small_question(port))
        print("refused" if all(select.select([sock], [], [], 5)[0] for sock in socks) else "kept")
        print("\n".join(sorted({line for sock in socks if select.select([sock], [], [], 0)[0] for line in failures(parse(sock.recv(65536)))})))
        return
    said = ATTACKS[attack] if isinstance(ATTACKS[attack], list) else [ATTACKS[attack]] * CLIENTS
    attackers = [Attacker(port, one(port), attack not in UNTAKEN) for one in said]
    told = set()
    answers = {small_question(port)}
    for attacker in attackers:
        attacker.thread.join(60)
    answers.add(small_question(port))
    print(" ".join(sorted(answers)))
    for attacker in attackers:
        told.update(re.findall(r"--max-[a-z-]+ allows", attacker.heard.decode("latin-1")) or ["answered"])
    print("mixed" if attack in MIXED else "refused" if "answered" not in told else "answered" if len(told) == 1 else "some are refused")
    print("\n".join(sorted(told)))


def text_of(port, name):
    """What somebody is told who wants a text: it, or why not."""
    sock = log_in(port)
    sock.sendall(b"( get-file ( %s( ) false true ) ) " % s(name))
    sock.shutdown(socket.SHUT_WR)
    data = b""
    while piece := sock.recv(1 << 20):
        data += piece
    return "served" if len(data) > 3000000 else " ".join(failures(parse(data)))


def stalled(port):
    half_said = [log_in(port) for _ in range(4)]  # more than half of the memory for requests
    for sock in half_said:
        sock.sendall(b"( check-path ( 5000000:" + b"x" * 3500000)
    texts = 60
    socks = [log_in(port) for _ in range(texts)]
    for i, sock in enumerate(socks):
        for k in 0, 20, 40:  # what the sockets hold is less than that
            sock.sendall(b"( get-file ( %s( ) false true ) ) " % s("heap/%d" % ((i + k) % texts)))
    time.sleep(1)
    print(small_question(port))
    until = time.monotonic() + 30
    while (told := text_of(port, "heap/63")) != "served" and time.monotonic() < until:
        time.sleep(0.5)
    print(told)
    given_up = select.select(half_said, [], [], 30)[0]  # the first of them is enough to be below the half again
    print("\n".join(sorted({line for sock in given_up for line in failures(parse(sock.recv(65536)))})))


def dump():
    """r1 deep folders with large properties, r2 one with large revision properties, r3 and so on a file that changes."""
    def properties(given):
        return b"".join(b"K %d\n%s\nV %d\n%s\n" % (len(name), name, len(value), value) for name, value in given.items()) + b"PROPS-END\n"

    def record(headers, given, text=b""):
        block = properties(given)
        content = b"" if not text else b"Text-content-length: %d\n" % len(text)
        sys.stdout.buffer.write(b"%sProp-content-length: %d\n%sContent-length: %d\n\n%s%s\n" % (headers, len(block), content, len(block) + len(text), block, text))

    sys.stdout.buffer.write(b"SVN-fs-dump-format-version: 2\n\n")
    record(b"Revision-number: 1\n", {b"svn:log": b"deep"})
    for i in range(40):
        record(b"Node-path: %s\nNode-kind: dir\nNode-action: add\n" % ("deep" + "/d" * i).encode(), {b"p": b"%d" % i * 500000})
    record(b"Revision-number: 2\n", {b"svn:log": b"x" * 8000000})
    for rev in range(3, 1501):
        record(b"Revision-number: %d\n" % rev, {b"svn:log": b"m" * 1000})
        record(b"Node-path: many\nNode-kind: file\nNode-action: %s\n" % (b"add" if rev == 3 else b"change"), {b"q": b"%d" % rev}, b"line %d\n" % rev * 100)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name in [STRANGERS, *ATTACKS]:
            print("mixed" if name in MIXED else "answered" if name in ANSWERED | UNTAKEN else "refused", name)
    elif sys.argv[1] == "--dump":
        dump()
    elif sys.argv[2] == "--stalled":
        stalled(int(sys.argv[1]))
    else:
        main(int(sys.argv[1]), sys.argv[2])
