#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw authentications by SASL, good and bad, as a client of /repos on 127.0.0.1.

usage: sasl_peer.py answers PORT         what is answered to a number of openings, in a form that two servers agree on
       sasl_peer.py external PORT        EXTERNAL where there is no tunnel
       sasl_peer.py endless PORT         wrong passwords until the server has enough
       sasl_peer.py manners PORT QOP     DIGEST-MD5 with the layer auth-int or auth-conf, once for each of MANNERS; a line
                                         for each, with what the server did wrong
"""
import base64
import hashlib
import hmac
import re
import socket
import struct
import sys

USER, REALM, PASSWORD = b"alice", b"test", b"secret"
SECONDS = 30  # that a server may take for an answer


def s(text):
    return b"%d:%s " % (len(text), text)


def greeting(port):
    return b"( 2 ( edit-pipeline svndiff1 ) %s6:tester ( ) ) " % s(b"svn://127.0.0.1:%d/repos" % port)


def connect(port):
    peer = socket.create_connection(("127.0.0.1", port))
    peer.settimeout(SECONDS)
    return peer


def token(text):
    return s(base64.b64encode(text))


# ---- the same answers ---------------------------------------------------------------------------

PLAIN = token(b"\0alice\0secret")
OPENINGS = {
    "PLAIN": b"( PLAIN ( " + PLAIN + b") ) ( get-latest-rev ( ) ) ",
    "PLAIN in lower case": b"( plain ( " + PLAIN + b") ) ( get-latest-rev ( ) ) ",
    "PLAIN with the name in its realm": b"( PLAIN ( " + token(b"\0alice@test\0secret") + b") ) ",
    "PLAIN with another realm": b"( PLAIN ( " + token(b"\0alice@other\0elsewhere") + b") ) ",
    "PLAIN for somebody else": b"( PLAIN ( " + token(b"bob\0alice\0secret") + b") ) ",
    "PLAIN for oneself": b"( PLAIN ( " + token(b"alice\0alice\0secret") + b") ) ",
    "PLAIN with an empty name": b"( PLAIN ( " + token(b"\0\0secret") + b") ) ",
    "PLAIN with an empty password": b"( PLAIN ( " + token(b"\0alice\0") + b") ) ",
    "PLAIN with a long name": b"( PLAIN ( " + token(b"\0" + b"a" * 2000 + b"\0secret") + b") ) ",
    "PLAIN with nothing": b"( PLAIN ( 0: ) ) ",
    "PLAIN, the token in a step": b"( PLAIN ( ) ) " + PLAIN + b"( get-latest-rev ( ) ) ",
    "PLAIN, a wrong password, then the right one": b"( PLAIN ( " + token(b"\0alice\0x") + b") ) ( PLAIN ( " + PLAIN + b") ) ",
    "base64 in lines": b"( PLAIN ( 22:AGFsa\nWNl\nAHNlY3JldA== ) ) ",
    "base64 with other letters": b"( PLAIN ( 24:AGFsa--WNl--AHNlY3JldA== ) ) ",
    "base64 without its end": b"( PLAIN ( 18:AGFsaWNlAHNlY3JldA ) ) ",
    "base64 and more": b"( PLAIN ( 28:AGFsaWNlAHNlY3JldA==AGFsaWNl ) ) ",
    "CRAM-MD5 that begins": b"( CRAM-MD5 ( 3:foo ) ) ",
    "CRAM-MD5 and nonsense": b"( CRAM-MD5 ( ) ) 5:alice ",
    "SCRAM and nonsense": b"( SCRAM-SHA-256 ( " + token(b"nonsense") + b") ) ( SCRAM-SHA-256 ( ) ) " + token(b"n,,n=,r=x"),
    "DIGEST-MD5 and nonsense": b"( DIGEST-MD5 ( ) ) " + token(b"nonsense"),
    "DIGEST-MD5 and nothing": b"( DIGEST-MD5 ( ) ) 0: ",
    "an unknown mechanism": b"( GREETINGS ( ) ) ( PLAIN ( " + PLAIN + b") ) ",
    "a mechanism that is not offered": b"( ANONYMOUS ( 0: ) ) ( LOGIN ( ) ) ",
    "no mechanism": b"( ) ",
    "a mechanism that is no word": b"( 5:PLAIN ( ) ) ",
    "a token that is no string": b"( PLAIN ( word ) ) ",
    "no list for a token": b"( PLAIN ) ",
    "a step that is no string": b"( PLAIN ( ) ) ( PLAIN ( ) ) ",
    "a step that is a number": b"( PLAIN ( ) ) 5 ",
    "garbage": b"GET / HTTP/1.0\r\n\r\n",
}


def converse(port, said):
    """All that is answered to SAID, which is said in one go after the server has asked."""
    with connect(port) as peer:
        peer.sendall(greeting(port))
        answer = b""
        while not answer.endswith(b" 4:test ) ) ") and (part := peer.recv(65536)):
            answer += part
        try:
            peer.sendall(said)
            peer.shutdown(socket.SHUT_WR)
            while part := peer.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
    return answer


def shown(answer):
    """ANSWER without what differs each time: challenges, and how long they are."""
    text = answer.decode("latin-1")
    text = re.sub(r"\( step \( \d+:<.*?> \) \)", "( step ( <challenge> ) )", text)
    text = re.sub(r"\( step \( \d{2,}:[^()]*? \) \)", "( step ( <token> ) )", text)
    text = re.sub(r"\d+:svn://127\.0\.0\.1:\d+/repos", "<url>", text)
    return re.sub(r"\d+:[0-9a-f]{8}-[0-9a-f-]{27}", "<uuid>", text)


def do_answers(port):
    for name, said in OPENINGS.items():
        answer = shown(converse(port, said))
        print("C", name)
        print("S", answer.split("list ) ) ) ", 1)[1])  # behind the greeting


def do_external(port):
    answer = converse(port, b"( EXTERNAL ( ) ) ( EXTERNAL ( 0: ) ) ( EXTERNAL ( 8:YWxpY2U= ) ) ( get-latest-rev ( ) ) ")
    print(answer)
    assert answer.count(b"( failure ( ") == 4 and b"( success ( ) )" not in answer


def do_endless(port):
    answer = converse(port, b"( PLAIN ( " + token(b"\0alice\0wrong") + b") ) " + (b"( PLAIN ( " + token(b"\0alice\0x") + b") ) ") * 1000)
    print(answer.count(b"( failure ( "))
    assert answer.count(b"( failure ( ") == 33  # the last one says that it is the last


# ---- a layer of DIGEST-MD5 (RFC 2831) --------------------------------------------------------------


def md5(text):
    return hashlib.md5(text).digest()


class RC4:
    def __init__(self, key):
        self.state = list(range(256))
        self.i = self.j = 0
        j = 0
        for i in range(256):
            j = (j + self.state[i] + key[i % len(key)]) & 255
            self.state[i], self.state[j] = self.state[j], self.state[i]

    def __call__(self, text):
        out = bytearray()
        for byte in text:
            self.i = (self.i + 1) & 255
            self.j = (self.j + self.state[self.i]) & 255
            self.state[self.i], self.state[self.j] = self.state[self.j], self.state[self.i]
            out.append(byte ^ self.state[(self.state[self.i] + self.state[self.j]) & 255])
        return bytes(out)


class Layer:
    """   | length (4) | text, HMAC-MD5 (10): sealed | 0 1 | number (4) |   """

    def __init__(self, a1, qop, sent):
        way = b"client-to-server" if sent else b"server-to-client"
        self.key = md5(a1 + b"Digest session key to " + way + b" signing key magic constant")
        self.seal = RC4(md5(a1 + b"Digest H(A1) to " + way + b" sealing key magic constant")) if qop == b"auth-conf" else bytes
        self.number = 0

    def mac(self, text):
        return hmac.new(self.key, struct.pack(">I", self.number) + text, "md5").digest()[:10]

    def encode(self, text, mac=None):
        piece = self.seal(text + (mac or self.mac(text))) + b"\0\1" + struct.pack(">I", self.number)
        self.number += 1
        return struct.pack(">I", len(piece)) + piece

    def decode(self, piece):
        text = self.seal(piece[:-6])
        assert text[-10:] == self.mac(text[:-10]) and piece[-6:] == b"\0\1" + struct.pack(">I", self.number)
        self.number += 1
        return text[:-10]


class Peer:
    def __init__(self, port, qop, more=b""):
        self.socket = connect(port)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(greeting(port) + b"( DIGEST-MD5 ( ) ) ")
        challenge = base64.b64decode(self.until(b"( step ( ", rb"(\d+):"))
        nonce = re.search(rb'nonce="([^"]+)"', challenge)[1]
        assert qop in re.search(rb'qop="([^"]+)"', challenge)[1].split(b",")
        cnonce, uri = b"cnonce", b"svn/127.0.0.1"
        a1 = md5(md5(USER + b":" + REALM + b":" + PASSWORD) + b":" + nonce + b":" + cnonce)
        a2 = hashlib.md5(b"AUTHENTICATE:" + uri + b":" + b"0" * 32).hexdigest().encode()
        response = hashlib.md5(b":".join([a1.hex().encode(), nonce, b"00000001", cnonce, qop, a2])).hexdigest().encode()
        cipher = b',cipher="rc4"' if qop == b"auth-conf" else b""
        self.socket.sendall(token(b'username="%s",realm="%s",nonce="%s",cnonce="%s",nc=00000001,qop=%s%s,digest-uri="%s",response=%s'
                                  % (USER, REALM, nonce, cnonce, qop, cipher, uri, response)) + more)
        self.until(b"( success ( ", rb"(\d+):")
        assert self.file.read(5) == b" ) ) "
        self.up, self.down = Layer(a1, qop, True), Layer(a1, qop, False)

    def until(self, word, length):
        """The string behind the next WORD."""
        text = b""
        while not (found := re.search(re.escape(word) + length + b"$", text)):
            byte = self.file.read(1)
            assert byte, b"the server ended after " + text
            text += byte
        return self.file.read(int(found[1]))

    def read(self):
        """The next piece, b"" at the end."""
        try:
            head = self.file.read(4)
            return self.down.decode(self.file.read(struct.unpack(">I", head)[0])) if len(head) == 4 else b""
        except ConnectionResetError:
            return b""

    def welcome(self):
        assert self.read().startswith(b"( success ( 36:")

    def is_let_go(self):
        assert self.read() == b"", "the server goes on"


COMMAND = b"( get-latest-rev ( ) ) "


def be_good(peer):
    peer.welcome()
    for _ in range(3):
        peer.socket.sendall(peer.up.encode(COMMAND[:7]) + peer.up.encode(COMMAND[7:]))
        assert re.match(rb"\( success \( \( \) 0: \) \) \( success \( \d+ \) \) $", peer.read())


def be_let_go(peer, said):
    peer.welcome()
    peer.socket.sendall(said)
    peer.is_let_go()


def replay(peer):
    peer.welcome()
    piece = peer.up.encode(COMMAND)
    peer.socket.sendall(piece)
    assert peer.read().startswith(b"( success ( ( ) 0: ) ) ")
    peer.socket.sendall(piece)
    peer.is_let_go()


MANNERS = {
    "a good peer is served": be_good,
    "a huge length is the end": lambda peer: be_let_go(peer, b"\xff\xff\xff\xff" + b"x" * 100000),
    "a length of 0 is the end": lambda peer: be_let_go(peer, b"\0\0\0\0" + peer.up.encode(COMMAND)),
    "a short length is the end": lambda peer: be_let_go(peer, b"\0\0\0\3abc"),
    "a wrong digest is the end": lambda peer: be_let_go(peer, peer.up.encode(COMMAND, mac=b"0123456789")),
    "a piece that comes twice is the end": replay,
    "plain bytes are the end": lambda peer: be_let_go(peer, COMMAND),
}


def do_manners(port, qop):
    qop = qop.encode()
    for name, manner in MANNERS.items():
        tell(name, lambda: manner(Peer(port, qop)))
    tell("plain bytes that were slipped in are the end", lambda: Peer(port, qop, more=COMMAND).is_let_go())


def tell(name, act):
    fault = ""
    try:
        act()
    except (AssertionError, OSError) as error:
        fault = f"{type(error).__name__} {error}"
    print(f"{name}:{fault}")


globals()["do_" + sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
