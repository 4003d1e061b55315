#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that go to the limits of a server, for limits.sh.

usage: limits.py COMMAND PORT ...     see the functions that are named do_COMMAND

Each prints what it was told, errors as "E210009 text"."""
import os
import re
import select
import socket
import sys
import time

from conversation import COMMIT, ROOT, connect, greet, parse, read_all, s
from peer import Closed, Peer

OPEN_FILE = b"( add-file ( %s1:r %s( ) ) ) "


def failures(items):
    """All failures among ITEMS, a line for each error of theirs."""
    lines = []
    for item in items:
        if isinstance(item, list) and len(item) == 2 and item[0] == ("w", "failure") and isinstance(item[1], list):
            lines += ["E%06d %s" % (error[0], error[1].decode()) if isinstance(error, list) else "login: " + error.decode()
                      for error in item[1]]
    return lines


def tell(data):
    print("\n".join(failures(parse(data))) or "nothing")


def log_in(port):
    """A connection that is ready for commands."""
    sock = connect(port)
    sock.sendall(greet(port) + b"( get-latest-rev ( ) ) ")
    data = b""
    while not re.search(rb"\) \) \( success \( \d+ \) \) $", data):
        piece = sock.recv(65536)
        if not piece:
            raise SystemExit("logged out: %r" % data)
        data += piece
    return sock


def do_crowd(port, n):
    """N connections that stay; one more is told ..."""
    socks = [connect(int(port)) for _ in range(int(n))]
    for sock in socks:
        sock.recv(10)
    tell(read_all(connect(int(port))))
    socks.pop().close()
    time.sleep(0.5)
    last = connect(int(port))
    print("then:", last.recv(13).decode())


def do_hurry(port, n):
    """N connections at once, each closed when it was greeted: how many were turned away, and why."""
    told = {}
    for _ in range(int(n)):
        sock = connect(int(port))
        line = (failures(parse(sock.recv(1000))) or ["greeted"])[0]
        told[line] = told.get(line, 0) + 1
        sock.close()
    print("greeted some" if told.pop("greeted", 0) else "greeted none")
    print("\n".join(told) or "turned away none")


def do_guess(port, n):
    """N wrong passwords, then the right one."""
    peer = Peer(int(port), "/closed", "alice")
    peer.introduce()
    peer.hear()
    try:
        for password in [b"wrong"] * int(n) + [b"secret"]:
            peer.password = password
            answer = peer.cram_md5()
            print("\n".join(failures([answer])) or "welcome")
    except Closed:
        pass


def do_say_nothing(port):
    """Connect and wait."""
    began = time.monotonic()
    tell(read_all(connect(int(port))))
    print("after", "a while" if 0.8 < time.monotonic() - began < 10 else "%.1f s" % (time.monotonic() - began))


def do_say_little(port):
    """Log in, byte by byte, a byte every 300 ms."""
    sock = connect(int(port))
    try:
        for byte in greet(int(port)):
            sock.sendall(bytes([byte]))
            if select.select([sock], [], [], 0.3)[0] and b"failure" in (data := sock.recv(4096)):
                break
    except OSError:
        pass
    tell(data)


def do_idle(port):
    """Log in, then wait."""
    tell(read_all(log_in(int(port))))


def do_take_nothing(port, log):
    """Ask for much, take nothing: until the log says that the server has given up."""
    sock = log_in(int(port))
    sock.sendall(b"( get-file ( 5:large ( ) false true ) ) ")
    for _ in range(100):
        time.sleep(0.1)
        if " 210003 " in open(log).read() or " 110 " in open(log).read():
            print("given up")
            return
    print("still there")


def do_chatter(port, size):
    """SIZE bytes in the place of a greeting."""
    sock = connect(int(port))
    try:
        sock.sendall(b"( 2 ( edit-pipeline ) %d:" % int(size) + b"x" * int(size) + b" ) ")
    except OSError:
        pass
    tell(read_all(sock))


def do_nest(port, depth):
    sock = log_in(int(port))
    sock.sendall(b"( get-latest-rev ( " + b"( " * (int(depth) - 2) + b") " * (int(depth) - 2) + b") ) ")
    sock.shutdown(socket.SHUT_WR)
    print("answered" if b"success ( 1 )" in read_all(sock) else "not answered")


def do_send_first(port, size):
    """A request of SIZE bytes by a client that listens only when it has sent all of it."""
    sock = log_in(int(port))
    try:
        sock.sendall(b"( check-path ( %d:" % int(size))
        for _ in range(int(size) // 65536):
            sock.sendall(b"x" * 65536)
        print("sent")
    except OSError as error:
        print("not sent:", error)
    tell(read_all(sock))


def do_count(port, n):
    """A list of N numbers in one request."""
    sock = log_in(int(port))
    try:
        sock.sendall(b"( get-locations ( 0: 1 ( " + b"1 " * int(n) + b") ) ) ")
    except OSError:
        pass
    sock.shutdown(socket.SHUT_WR)
    tell(read_all(sock))


def do_count_together(port, clients, n):
    """CLIENTS that have each sent a part of a large request; then one more does."""
    socks = []
    for _ in range(int(clients)):
        sock = log_in(int(port))
        sock.sendall(b"( get-locations ( 0: 1 ( " + b"1 " * int(n))
        socks.append(sock)
    time.sleep(1)
    told = set()
    for sock in socks:
        if select.select([sock], [], [], 0)[0]:
            told.update(failures(parse(read_all(sock))))
    print("\n".join(sorted(told)) or "nothing")


def do_report(port, n):
    """A report of N places, all by one client."""
    sock = log_in(int(port))
    sock.sendall(b"( update ( ( ) 0: true ) ) ( set-path ( 0: 1 false ) ) ")
    try:
        for at in range(0, int(n), 100):
            sock.sendall(b"".join(b"( set-path ( %s1 false ) ) " % s("d%d/f%d" % (i % 977, i)) for i in range(at, at + 100)))
        sock.sendall(b"( abort-report ( ) ) ( get-latest-rev ( ) ) ")
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    tell(read_all(sock))


def do_open_files(port, n, size):
    """A commit that opens N files with names of SIZE bytes and closes none."""
    sock = log_in(int(port))
    sock.sendall(COMMIT + ROOT)
    try:
        for i in range(int(n)):
            sock.sendall(OPEN_FILE % (s(b"%0*d" % (int(size), i)), s("f%d" % i)))
    except OSError:
        pass
    sock.sendall(b"( abort-edit ( ) ) ")
    sock.shutdown(socket.SHUT_WR)
    tell(read_all(sock))


def do_open_texts(port, n):
    """A commit with N texts at the same time."""
    sock = log_in(int(port))
    sock.sendall(COMMIT + ROOT)
    for i in range(int(n)):
        token = s("f%d" % i)
        sock.sendall(OPEN_FILE % (s("t%d" % i), token) + b"( apply-textdelta ( %s( ) ) ) " % token)
    sock.sendall(b"( abort-edit ( ) ) ")
    sock.shutdown(socket.SHUT_WR)
    tell(read_all(sock))


def rss_kb(pid):
    with open("/proc/%s/status" % pid) as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def do_idle_memory(port, pid, n, bound_kb):
    """What N idle clients, all logged in, add to the server's memory, for each of them."""
    first = [log_in(int(port)) for _ in range(20)]
    before = rss_kb(pid)
    socks = [log_in(int(port)) for _ in range(int(n))]
    time.sleep(1)
    each = (rss_kb(pid) - before) / len(socks)
    print("within the bound" if each <= int(bound_kb) else "each takes %.0f kB" % each)
    print("%.1f kB each" % each, file=sys.stderr)
    del first, socks


def do_move(port, pid, n, size):
    """A client that moves N times to a path of SIZE bytes, and how much of that the server keeps."""
    sock = log_in(int(port))
    before = rss_kb(pid)
    said = b"( reparent ( %s) ) " % s("svn://127.0.0.1:%s/repos/%s" % (port, "a" * int(size)))
    for _ in range(int(n)):
        sock.sendall(said)
        heard = b""
        while heard.count(b"( success") < 2:
            heard += sock.recv(65536)
    kept = rss_kb(pid) - before
    print("within the bound" if kept < int(n) * int(size) // 4096 else "%d kB are kept" % kept)


# ---- stopping -----------------------------------------------------------------------------------


def do_commit_slowly(port, name, ready, go):
    """Begin a commit of the file NAME, touch READY, wait for GO to exist, and finish."""
    sock = log_in(int(port))
    sock.sendall(COMMIT + ROOT + OPEN_FILE % (s(name), s("f")))
    time.sleep(0.3)
    open(ready, "w").close()
    for _ in range(300):
        if os.path.exists(go):
            break
        time.sleep(0.1)
    try:
        sock.sendall(b"( close-file ( 1:f ( ) ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ")
    except OSError:
        pass
    data = read_all(sock)
    print("committed" if re.search(rb"\( \d+ \( 27:", data) else "not committed")
    tell(data)


def do_ask_later(port, ready, go, *questions):
    """Log in, touch READY, wait for GO to exist, and ask."""
    sock = log_in(int(port))
    open(ready, "w").close()
    for _ in range(300):
        if os.path.exists(go):
            break
        time.sleep(0.1)
    for question in questions:
        sock.sendall(question.encode())
    sock.shutdown(socket.SHUT_WR)
    tell(read_all(sock))


def do_wait(port, ready):
    """Log in, touch READY and listen."""
    sock = log_in(int(port))
    open(ready, "w").close()
    tell(read_all(sock))


if __name__ == "__main__":
    globals()["do_" + sys.argv[1].replace("-", "_")](*sys.argv[2:])
