# SPDX-License-Identifier: Apache-2.0
"""Items of the svn:// protocol: words are str, strings bytes, numbers int, lists list."""


class Broken(Exception):
    """The bytes are no items, or not the expected ones."""


class Items:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def more(self):
        return self.at < len(self.data)

    def next(self):
        data, start = self.data, self.at
        if start >= len(data):
            raise Broken("the items end too early")
        first = data[start:start + 1]
        if first == b"(":
            self.at = start + 2
            items = []
            while data[self.at:self.at + 1] != b")":
                items.append(self.next())
            self.at += 2
            return items
        end = start
        while data[end:end + 1] not in (b" ", b"\n", b":", b""):
            end += 1
        if data[end:end + 1] == b":":
            length = int(data[start:end])
            self.at = end + 1 + length + 1
            return data[end + 1:end + 1 + length]
        self.at = end + 1
        word = data[start:end]
        return int(word) if first.isdigit() or first == b"-" else word.decode()


def string(data):
    return b"%d:%s" % (len(data), data)
