# SPDX-License-Identifier: Apache-2.0
"""Clients that want a server to take much memory, for memory.sh.

usage: memory.py PORT ATTACK     ATTACK from CLIENTS clients at once; while they are at it another one asks a
                                 small question. Prints how that went, then what the attackers were told.
       memory.py --list          the attacks, each behind what becomes of it"""
import re
import select
import socket
import sys
import threading
import time

from conversation import COMMIT, ROOT, connect, greet, s
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


def open_texts():
    for i in range(64):
        token = s("f%d" % i)
        yield b"( add-file ( %s1:r %s( ) ) ) ( apply-textdelta ( %s( ) ) ) ( textdelta-chunk ( %s%s) ) " % (
            s("t%d" % i), token, token, token, s(b"SVN\0" + b"\0\0\x81\x80\0\5\x81\x80\0\x80\x81\x80\0" + b"x" * 16384))


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
}
# What is no trouble. All else is refused: what it asks for takes more than one request may have.
ANSWERED = {
    "log of one path 60,000 times",
    "get-mergeinfo of one path 20,000 times",
    "a commit with 64 texts open",
}
UNTAKEN = {"an export that is not taken", "a file that is not taken"}


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
    """Somebody who wants little: is he served?"""
    began = time.monotonic()
    sock = log_in(port)
    sock.sendall(b"( get-file ( 4:file ( ) true true ) ) ( log ( ( 0: ) ( ) ( ) true false 0 ) ) ( get-mergeinfo ( ( 4:file ) ( ) inherited false ) ) ")
    sock.shutdown(socket.SHUT_WR)
    data = b""
    while piece := sock.recv(65536):
        data += piece
    if failures(data) or b"small" not in data:
        return "refused: %s" % (failures(data) or data[-200:])
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
        print("\n".join(sorted({line for sock in socks if select.select([sock], [], [], 0)[0] for line in failures(sock.recv(65536))})))
        return
    attackers = [Attacker(port, ATTACKS[attack](port), attack not in UNTAKEN) for _ in range(CLIENTS)]
    told = set()
    answers = {small_question(port)}
    for attacker in attackers:
        attacker.thread.join(60)
    answers.add(small_question(port))
    print(" ".join(sorted(answers)))
    for attacker in attackers:
        told.update(re.findall(r"--max-[a-z-]+ allows", " ".join(failures(attacker.heard))) or ["answered"])
    print("refused" if "answered" not in told else "answered" if len(told) == 1 else "some are refused")
    print("\n".join(sorted(told)))


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name in [STRANGERS, *ATTACKS]:
            print("answered" if name in ANSWERED | UNTAKEN else "refused", name)
    else:
        main(int(sys.argv[1]), sys.argv[2])
