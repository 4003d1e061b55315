#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may do what with /repos on 127.0.0.1, asked on the wire: greetings, requests to authenticate, answers.

usage: auth_peer.py PORT USER:PASSWORD...     an empty word is a client that only knows ANONYMOUS

Prints what the server says, an item a line, but for challenges and where in its source an error arose."""
import base64
import hmac
import re
import socket
import sys

from conversation import greet, parse, plain, s, show

COMMANDS = [
    b"( get-latest-rev ( ) ) ",
    b"( get-file ( 12:trunk/README ( ) true false ) ) ",
    b"( lock ( 12:trunk/README ( ) false ( ) ) ) ",
    b"( unlock ( 12:trunk/README ( ) true ) ) ",
    b"( change-rev-prop ( 0 4:test 1:x ) ) ",
    b"( commit ( 1:m ( ) false ) ) ",
]


class Peer:
    def __init__(self, port, user, password):
        self.user, self.password = user.encode(), password.encode()
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data, self.heard = b"", 0

    def say(self, what):
        self.sock.sendall(what)

    def hear(self, after):
        """The next item; printed with what it comes AFTER."""
        while len(items := [item for item in parse(self.data) if item != ("w", "<cut off>")]) == self.heard:
            more = self.sock.recv(65536)
            if not more:
                raise EOFError(after)
            self.data += more
        item = items[self.heard]
        self.heard += 1
        text = show(plain(item))
        text = re.sub(r"\( step \( b'<[^>]*>' \) \)", "( step ( <challenge> ) )", text)
        text = re.sub(r"opaquelocktoken:[-0-9a-f]{36}", "TOKEN", text)
        text = re.sub(r"20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW", text)
        print("  %s: %s" % (after, re.sub(r"127\.0\.0\.1:\d+", "HOST", text)))
        return item

    def authenticate(self, after):
        """True if the server is satisfied."""
        request = self.hear(after)
        if request[0] != ("w", "success"):
            return False
        known = [word for _, word in request[1][0]]
        if not known:
            return True
        if self.user and "PLAIN" in known:
            token = b"\0" + self.user + b"\0" + self.password
            self.say(b"( PLAIN ( %s) ) " % s(base64.b64encode(token)))
            answer = self.hear("PLAIN")
        elif self.user and "CRAM-MD5" in known:
            self.say(b"( CRAM-MD5 ( ) ) ")
            answer = self.hear("CRAM-MD5")
            if answer[0] == ("w", "step"):
                digest = hmac.new(self.password, answer[1][0], "md5").hexdigest()
                self.say(s(self.user + b" " + digest.encode()))
                answer = self.hear("response")
        else:
            self.say(b"( ANONYMOUS ( 0: ) ) ")
            answer = self.hear("ANONYMOUS")
        return answer[0] == ("w", "success")


def ask(port, user, password, command):
    peer = Peer(port, user, password)
    peer.hear("greeting")
    peer.say(greet(port).split(b"( ANONYMOUS")[0])
    if peer.authenticate("hello"):
        peer.hear("repository")
        peer.say(command)
        if peer.authenticate("command"):
            peer.hear("answer")
    peer.sock.close()


for who in sys.argv[2:]:
    for said in COMMANDS:
        print("%s %s" % (who or "nobody", said.decode()))
        try:
            ask(int(sys.argv[1]), *(who.split(":") if who else ("", "")), said)
        except EOFError as what:
            print("  the connection is closed behind the %s" % what)
        except OSError as what:
            print("  %s" % what)
