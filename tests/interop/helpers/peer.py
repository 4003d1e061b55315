# SPDX-License-Identifier: Apache-2.0
"""A client of the svn:// protocol for tests, which takes the answers an item at a time.

Items are Python values: numbers, bytes for strings, ("w", text) for words, lists."""
import base64
import hmac
import socket

from conversation import CAPS, s, show  # noqa: F401: for those who import this


class Closed(Exception):
    """The server has closed the connection."""


class Peer:
    def __init__(self, port, path="/repos", user="", password="", host="127.0.0.1", timeout=30):
        self.url = "svn://%s:%d%s" % (host, port, path)
        self.user, self.password = user.encode(), password.encode()
        self.sock = socket.create_connection((host, port), timeout=timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data, self.at = b"", 0
        self.caps = CAPS

    def close(self):
        self.sock.close()

    def finish(self):
        """Say no more."""
        self.sock.shutdown(socket.SHUT_WR)

    def say(self, what):
        try:
            self.sock.sendall(what)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    # ---- items

    def _more(self):
        try:
            piece = self.sock.recv(65536)
        except ConnectionResetError as error:
            raise Closed from error
        if not piece:
            raise Closed
        self.data = self.data[self.at:] + piece
        self.at = 0

    def _byte(self):
        while self.at == len(self.data):
            self._more()
        self.at += 1
        return self.data[self.at - 1:self.at]

    def _string(self, size):
        while len(self.data) - self.at < size:
            self._more()
        self.at += size
        return self.data[self.at - size:self.at]

    def _item(self, first):
        while first in (b" ", b"\n"):
            first = self._byte()
        if first == b"(":
            items = []
            while True:
                first = self._byte()
                while first in (b" ", b"\n"):
                    first = self._byte()
                if first == b")":
                    return items
                items.append(self._item(first))
        word = b""
        while first not in (b" ", b"\n"):
            if first == b":" and word.isdigit():
                return self._string(int(word))
            word += first
            first = self._byte()
        return int(word) if word.isdigit() else ("w", word.decode("latin-1"))

    def hear(self):
        """The next item."""
        return self._item(self._byte())

    # ---- conversations

    def introduce(self):
        """Hear the greeting, say who we are and what we want."""
        self.hear()
        self.say(b"( 2 %s%s10:SVN/1.14.2 ( ) ) " % (self.caps, s(self.url)))

    def greet(self):
        """Open the repository; what the server says if it will not."""
        self.introduce()
        refusal = self.authenticate()
        if refusal is None:
            repository = self.hear()
            if repository[0] != ("w", "success"):
                refusal = repository
        return refusal

    def authenticate(self):
        """Answer the request that comes; None, or what stands in the way."""
        return self.answer_request(self.hear())

    def answer_request(self, request):
        """The same where the request has been heard."""
        if request[0] != ("w", "success"):
            return request
        if not request[1][0]:
            return None
        mechanisms = [word for _, word in request[1][0]]
        if self.user and "PLAIN" in mechanisms:
            self.say(b"( PLAIN ( %s) ) " % s(base64.b64encode(b"\0" + self.user + b"\0" + self.password)))
            answer = self.hear()
        elif self.user and "CRAM-MD5" in mechanisms:
            answer = self.cram_md5()
        elif "ANONYMOUS" in mechanisms:
            self.say(b"( ANONYMOUS ( 0: ) ) ")
            answer = self.hear()
        else:
            return request
        return None if answer[0] == ("w", "success") else answer

    def cram_md5(self):
        """Prove the password; the server's answer."""
        self.say(b"( CRAM-MD5 ( ) ) ")
        challenge = self.hear()
        if challenge[0] != ("w", "step"):
            return challenge
        digest = hmac.new(self.password, challenge[1][0], "md5").hexdigest()
        self.say(s(self.user + b" " + digest.encode()))
        return self.hear()

    def failure(self, item):
        """The codes and messages of an answer that is a failure, else None."""
        if isinstance(item, list) and item and item[0] == ("w", "failure"):
            return [error[:2] for error in item[1]]
        return None
