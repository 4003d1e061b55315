#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small svn:// client that commits over one connection, so that little but the server's time
is measured.

usage: svnclient.py HOST PORT REPOSITORY FILE COUNT [SIZE]
Commits COUNT new texts of SIZE bytes to FILE, which it first adds; prints the seconds that each
commit took, one a line.
"""

import socket
import sys
import time


class Failure(Exception):
    pass


class Connection:
    def __init__(self, host, port, url):
        self.url = url
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        self.success()
        self.send(b"( 2 ( edit-pipeline svndiff1 accepts-svndiff2 absent-entries depth "
                  b"log-revprops ) %s 9:svnclient ( ) ) " % string(url))
        self.authenticate()
        self.success()

    def send(self, data):
        self.socket.sendall(data)

    def authenticate(self):
        mechanisms = self.success()[0]
        if mechanisms:
            if b"ANONYMOUS" not in mechanisms:
                raise Failure("the server wants a password")
            self.send(b"( ANONYMOUS ( 0: ) ) ")
            self.success()

    def success(self):
        answer = self.item()
        if answer[0] != b"success":
            raise Failure(str(answer))
        return answer[1]

    def item(self):
        """One item of the protocol: bytes for words and strings, an int, or a list."""
        char = self.input.read(1)
        while char in (b" ", b"\n"):
            char = self.input.read(1)
        if not char:
            raise Failure("the server has closed the connection")
        if char == b"(":
            items = []
            while (item := self.item()) is not None:
                items.append(item)
            return items
        if char == b")":
            return None
        token = char
        while (char := self.input.read(1)) not in (b" ", b"\n", b":"):
            token += char
        if char == b":":
            return self.input.read(int(token))
        return int(token) if token.isdigit() else token

    def commit(self, log, edit):
        """Commit what the editor commands EDIT describe; returns the revision."""
        self.send(b"( commit ( %s ( ) false ( ( 7:svn:log %s ) ) ) ) " % (string(log), string(log)))
        self.authenticate()
        self.success()
        self.send(edit + b"( close-edit ( ) ) ")
        self.success()
        self.authenticate()
        return self.item()[0]


def string(data):
    return b"%d:%s" % (len(data), data)


def varint(n):
    out = [n & 127]
    while n := n >> 7:
        out.append(n & 127 | 128)
    return bytes(reversed(out))


def text_commands(token, text):
    """Editor commands that send TEXT whole: an svndiff of version 0 with one new-data window."""
    op = b"\x80" + varint(len(text)) if len(text) > 63 else bytes([0x80 | len(text)])
    diff = b"SVN\0" + b"".join(map(varint, (0, 0, len(text), len(op), len(text)))) + op + text
    return (b"( apply-textdelta ( %s ( ) ) ) ( textdelta-chunk ( %s %s ) ) ( textdelta-end ( %s ) ) "
            b"( close-file ( %s ( ) ) ) "
            % (token, token, string(diff), token, token))


def edit_of(name, rev, text, add=False):
    opened = (b"( add-file ( %s 2:d0 2:c1 ( ) ) ) " % string(name) if add else
              b"( open-file ( %s 2:d0 2:c1 ( %d ) ) ) " % (string(name), rev))
    return (b"( open-root ( ( ) 2:d0 ) ) " + opened + b"( close-dir ( 2:d0 ) ) "
            + text_commands(b"2:c1", text))


def text_of(name, n, size):
    lines = b"".join(b"%s %d line %d\n" % (name, n if i % 9 == n % 9 else 0, i)
                     for i in range(size // 20 + 1))
    return lines[:size]


def main():
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    host, port, repository, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].encode()
    count, size = int(sys.argv[5]), int(sys.argv[6]) if len(sys.argv) > 6 else 2000
    connection = Connection(host, port, f"svn://{host}:{port}/{repository}".encode())
    rev = connection.commit(b"add", edit_of(name, 0, text_of(name, 0, size), add=True))
    print("ready", flush=True)
    sys.stdin.readline()
    times = []
    for n in range(1, count + 1):
        start = time.monotonic()
        rev = connection.commit(b"edit %d" % n, edit_of(name, rev, text_of(name, n, size)))
        times.append(time.monotonic() - start)
    print("\n".join(f"{t:.6f}" for t in times))


if __name__ == "__main__":
    main()
