#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A line between a client and a server that can be cut in the middle of what one of them says.

    cut_line.py PORT MARKER DIRECTORY

Listens on a free port of the loopback, which it writes to DIRECTORY/port, and passes everything on to
and from PORT. What follows the first MARKER, from either side, is held back; DIRECTORY/held is made,
and the line stays so until its ends go or DIRECTORY/cut is there.
"""

import os
import socket
import sys
import threading
import time

PORT, MARKER, PLACE = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
HELD = threading.Event()


def write(name, text=""):
    with open(f"{PLACE}/{name}.new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(f"{PLACE}/{name}.new", f"{PLACE}/{name}")


def hang_up(*ends):
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # gone already


def pass_on(source, target):
    before = b""  # as much of what was passed on as may be the first part of the marker
    try:
        while data := source.recv(65536):
            at = -1 if HELD.is_set() else (before + data).find(MARKER)
            if at >= 0:
                HELD.set()
                target.sendall(data[:max(at - len(before), 0)])
                write("held")
                while not os.path.exists(f"{PLACE}/cut"):
                    time.sleep(0.02)
                break
            target.sendall(data)
            before = (before + data)[1 - len(MARKER):]
    except OSError:
        pass  # an end is gone
    hang_up(source, target)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    write("port", str(listener.getsockname()[1]))
    while True:
        client = listener.accept()[0]
        server = socket.create_connection(("127.0.0.1", PORT))
        for ends in ((client, server), (server, client)):
            threading.Thread(target=pass_on, args=ends, daemon=True).start()


main()
