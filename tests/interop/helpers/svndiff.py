# SPDX-License-Identifier: Apache-2.0
"""svndiff documents for tests: made in versions 0, 1 and 2, and applied."""
import zlib

from conversation import varint


class Malformed(Exception):
    """It is no svndiff document."""


# ---- making ------------------------------------------------------------------------------


def lz4_literals(data):
    """DATA as one LZ4 block of literals."""
    size = len(data)
    if size < 15:
        return bytes([size << 4]) + data
    rest = size - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


def section(data, version):
    """The instructions or the new data of a window."""
    if version == 0:
        return data
    packed = zlib.compress(data) if version == 1 else lz4_literals(data)
    return varint(len(data)) + (packed if len(packed) < len(data) or version == 2 and len(packed) != len(data) else data)


def instruction(kind, length, offset=None):
    """KIND: 0 copies from the source, 1 from the target, 2 takes new data."""
    head = bytes([kind << 6 | length]) if 0 < length < 64 else bytes([kind << 6]) + varint(length)
    return head if offset is None else head + varint(offset)


def make(text, version=0, kept=0):
    """A document whose result is TEXT, of which the source begins with the first KEPT bytes."""
    if not text:
        return b"SVN" + bytes([version])
    code = (instruction(0, kept, 0) if kept else b"") + (instruction(2, len(text) - kept) if len(text) > kept else b"")
    code, new = section(code, version), section(text[kept:], version)
    return b"SVN" + bytes([version]) + varint(0) + varint(kept) + varint(len(text)) + varint(len(code)) + varint(len(new)) + code + new


# ---- applying ----------------------------------------------------------------------------


def lz4(block, size):
    """What the LZ4 block holds: SIZE bytes."""
    out, at = bytearray(), 0

    def length(start):
        nonlocal at
        if start == 15:
            while block[at] == 255:
                start += 255
                at += 1
            start += block[at]
            at += 1
        return start

    while at < len(block):
        token = block[at]
        at += 1
        literals = length(token >> 4)
        out += block[at:at + literals]
        at += literals
        if at >= len(block):
            break
        back = block[at] | block[at + 1] << 8
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    if len(out) != size:
        raise Malformed("LZ4 block of another size")
    return bytes(out)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value = value << 7 | byte & 127
            if byte < 128:
                return value

    def take(self, size):
        if size > len(self.data) - self.at:
            raise Malformed("it ends within a window")
        self.at += size
        return self.data[self.at - size:self.at]

    def section(self, size, version):
        inner = Reader(self.take(size))
        if version == 0:
            return inner.data
        whole = inner.number()
        packed = inner.data[inner.at:]
        if len(packed) == whole:
            return packed
        return zlib.decompress(packed) if version == 1 else lz4(packed, whole)


def apply(document, source):
    """The text that DOCUMENT makes of SOURCE; None for SOURCE: only as long as it is."""
    if document[:3] != b"SVN" or len(document) < 4 or document[3] > 2:
        raise Malformed("no header")
    reader, target = Reader(document), bytearray()
    reader.at = 4
    try:
        while reader.at < len(document):
            offset, view, size, code_size, new_size = (reader.number() for _ in range(5))
            code, new = (reader.section(length, document[3]) for length in (code_size, new_size))
            if source is None:
                target += bytes(size)
                continue
            if offset + view > len(source):
                raise Malformed("the source is shorter")
            target += window(Reader(code), source[offset:offset + view], new, size)
    except (IndexError, zlib.error) as error:
        raise Malformed(str(error)) from error
    return bytes(target)


def window(code, source, new, size):
    """What the instructions CODE make."""
    out, taken = bytearray(), 0
    while code.at < len(code.data):
        byte = code.take(1)[0]
        length = byte & 63 or code.number()
        if byte >> 6 == 2:
            out += new[taken:taken + length]
            taken += length
            continue
        offset = code.number()
        if byte >> 6 == 0:
            out += source[offset:offset + length]
        else:
            for at in range(offset, offset + length):
                out.append(out[at])
    if len(out) != size:
        raise Malformed("a window of another size")
    return out
