#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What supervisors do, for running.sh.

usage: activate.py systemd PORT NOTES COMMAND...    open sockets on 127.0.0.1 and ::1, hand them to COMMAND as systemd
                                                    does; what it notifies is written to the file NOTES
       activate.py inetd PORT COMMAND...            accept one client and hand its socket to COMMAND
"""
import os
import socket
import sys


def listen(family, address, port):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((address, port))
    sock.listen()
    return sock


def systemd(port, notes, *command):
    sockets = [listen(socket.AF_INET, "127.0.0.1", int(port)), listen(socket.AF_INET6, "::1", int(port))]
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(notes + ".socket")
    server = os.fork()
    if server == 0:
        for at, sock in enumerate([os.dup(s.fileno()) for s in sockets]):
            os.dup2(sock, 3 + at)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", NOTIFY_SOCKET=notes + ".socket")
        os.execvp(command[0], command)
    while True:
        note = notify.recv(1000).decode()
        with open(notes, "a") as out:
            print(note, file=out)
        if note == "STOPPING=1":
            break
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(server, 0)[1]))


def inetd(port, *command):
    client, _ = listen(socket.AF_INET, "127.0.0.1", int(port)).accept()
    os.dup2(client.fileno(), 0)
    os.dup2(client.fileno(), 1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    {"systemd": systemd, "inetd": inetd}[sys.argv[1]](*sys.argv[2:])
