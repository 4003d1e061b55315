#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may do what with /repos on 127.0.0.1, asked on the wire: greetings, requests to authenticate, answers.

usage: auth_peer.py PORT USER:PASSWORD...     an empty word is a client that only knows ANONYMOUS

Prints what the server says, an item a line, but for challenges and where in its source an error arose."""
import re
import sys

from conversation import plain, show
from peer import Closed, Peer

COMMANDS = [
    b"( get-latest-rev ( ) ) ",
    b"( get-file ( 12:trunk/README ( ) true false ) ) ",
    b"( lock ( 12:trunk/README ( ) false ( ) ) ) ",
    b"( unlock ( 12:trunk/README ( ) true ) ) ",
    b"( change-rev-prop ( 0 4:test 1:x ) ) ",
    b"( commit ( 1:m ( ) false ) ) ",
]


class Witness(Peer):
    """Prints every item that it hears with the word that it has said before."""
    after = "greeting"

    def say(self, what):
        self.after = what.split()[1].decode() if what.startswith(b"(") else "response"
        super().say(what)

    def hear(self):
        item = super().hear()
        text = show(plain(item))
        text = re.sub(r"\( step \( b'<[^>]*>' \) \)", "( step ( <challenge> ) )", text)
        text = re.sub(r"opaquelocktoken:[-0-9a-f]{36}", "TOKEN", text)
        text = re.sub(r"20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW", text)
        print("  %s: %s" % (self.after, re.sub(r"127\.0\.0\.1:\d+", "HOST", text)))
        return item


def ask(witness, command):
    if witness.greet() is None:
        witness.say(command)
        if witness.authenticate() is None:
            witness.hear()


for who in sys.argv[2:]:
    for said in COMMANDS:
        print("%s %s" % (who or "nobody", said.decode()))
        witness = Witness(int(sys.argv[1]), "/repos", *(who.split(":") if who else ()))
        try:
            ask(witness, said)
        except Closed:
            print("  the connection is closed behind %s" % witness.after)
        except OSError as what:
            print("  %s" % what)
        witness.close()
