#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients at once, for crowd.sh.

usage: crowd.py work PORT CLIENTS SECONDS      each connected all the time: checkouts, commits, logs in turns
       crowd.py vanish PORT CLIENTS SEED       each says a part of a conversation and is gone
"""
import asyncio
import os
import random
import re
import resource
import struct
import sys
import socket
import time

from conversation import COMMANDS, COMMIT, ROOT, connect, greet, s

COMMITTED = re.compile(rb"\( \d+ \( 27:[^ ]+ \) \( (\d+:[^ ]* )?\) \( \) \) $")


async def read_until(reader, is_end):
    """All that comes until what has come ends so; only the last part is looked at."""
    tail = b""
    while not is_end(tail):
        piece = await reader.read(1 << 16)
        if not piece:
            raise ConnectionError("closed after %r" % tail[-200:])
        tail = (tail + piece)[-400:]
        if b"( failure (" in tail:
            raise ConnectionError("failed: %r" % tail)


def ends(suffix):
    return lambda tail: tail.endswith(suffix)


async def check_out(reader, writer, name, n):
    writer.write(b"( update ( ( ) 0: true ) ) ( set-path ( 0: 1 true ) ) ( finish-report ( ) ) ")
    await read_until(reader, ends(b"( close-edit ( ) ) "))
    writer.write(b"( success ( ) ) ")
    await read_until(reader, ends(b"( success ( ) ) "))


async def commit(reader, writer, name, n):
    """The client's own file, another text each time."""
    text = b"%s %d\n" % (name, n)
    delta = b"SVN\0" + bytes([0, 0, len(text), 1, len(text), 0x80 | len(text)]) + text
    first = n == 0
    entry = b"( add-file ( %s1:r 1:f ( ) ) ) " % s(name) if first else b"( open-file ( %s1:r 1:f ( ) ) ) " % s(name)
    writer.write(COMMIT + ROOT + entry + b"( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f %s) ) " % s(delta)
                 + b"( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( ) ) ) ( close-dir ( 1:r ) ) ( close-edit ( ) ) ")
    await read_until(reader, COMMITTED.search)


async def log(reader, writer, name, n):
    writer.write(b"( log ( ( 0: ) ( ) ( 0 ) true false 50 false revprops ( 10:svn:author 8:svn:date 7:svn:log ) ) ) ")
    await read_until(reader, ends(b"done ( success ( ) ) "))


async def client(number, port, until, start):
    name = b"c%d-%d" % (os.getpid(), number)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(greet(port))
    await read_until(reader, ends(b"( mergeinfo ) ) ) "))
    start.here += 1
    while start.here < start.wanted:
        await asyncio.sleep(0.05)
    done = 0
    while done < 3 or time.monotonic() < until():
        await (commit, check_out, log)[done % 3](reader, writer, name, done // 3)
        done += 1
    writer.close()
    return done


class Start:
    """All begin when all are connected."""

    def __init__(self, wanted):
        self.wanted, self.here = wanted, 0


async def work(port, clients, seconds):
    start, began = Start(clients), time.monotonic()
    told = await asyncio.gather(*(client(i, port, lambda: began + seconds, start) for i in range(clients)),
                                return_exceptions=True)
    failed = [e for e in told if isinstance(e, BaseException)]
    for error in failed[:5]:
        print("#", error)
    done = [n for n in told if not isinstance(n, BaseException)]
    print("# %d steps of %d clients in %.1f s" % (sum(done), len(done), time.monotonic() - began))
    print("%d clients came to their end" % len(done))
    return 1 if failed else 0


def vanish(port, clients, seed):
    chance = random.Random(seed)
    names = sorted(COMMANDS)
    for _ in range(clients):
        said = COMMANDS[chance.choice(names)]
        said = greet(port) + (said(port) if callable(said) else said)
        sock = connect(port)
        if chance.random() < 0.5:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(said[:chance.randrange(len(said))])
        if chance.random() < 0.5:
            sock.recv(chance.randrange(1, 2000))
        if chance.random() < 0.2:
            time.sleep(chance.random() / 50)
        sock.close()


if __name__ == "__main__":
    port, clients, third = map(int, sys.argv[2:5])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, clients + 100)), hard))
    if sys.argv[1] == "work":
        sys.exit(asyncio.run(work(port, clients, third)))
    vanish(port, clients, third)
