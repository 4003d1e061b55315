# SPDX-License-Identifier: Apache-2.0
"""revprop_damage.py VARVE REPOSITORY - damage of revision properties that makes a dump fail is found by verify.

REPOSITORY has a shard 1 of packed revision properties in several files. Each line of its manifest is removed, doubled,
exchanged for every other one, bent in each of its bytes; each file is removed, exchanged for another, told to begin
with another revision, to have other counts and sizes, cut. (Where the format packs none, each revision's file is
removed, cut and emptied.) Wherever a dump by stock tools fails, of all revisions or of one, verify must fail and name
what is damaged. So it must where a name has a NUL: stock tools cut it off there.
"""
import glob
import os
import re
import subprocess
import sys
import zlib


def run(*command):
    return subprocess.run(command, capture_output=True, timeout=60)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def number(value):
    """As FSFS packs lengths: seven bits a byte, the highest first."""
    out = [value & 127]
    while value := value >> 7:
        out.insert(0, value & 127 | 128)
    return bytes(out)


def unpacked(data):
    at = 0
    while data[at] & 128:
        at += 1
    body = data[at + 1 :]
    size = 0
    for byte in data[: at + 1]:
        size = size << 7 | byte & 127
    return body if len(body) == size else zlib.decompress(body)


def packed(text):
    return number(len(text)) + text


def bent_lines(lines):
    """The lines of a manifest, damaged; and the number of the line that is."""
    for i, line in enumerate(lines):
        yield i, lines[:i] + lines[i + 1 :]
        yield i, lines[:i] + [line] + lines[i:]
        for other in sorted({*lines, line[:-1] + b"1", b"", b"9999.0"} - {line}):
            yield i, lines[:i] + [other] + lines[i + 1 :]
        for at in range(len(line)):
            for bit in (1, 0x15):
                yield i, lines[:i] + [line[:at] + bytes([line[at] ^ bit]) + line[at + 1 :]] + lines[i + 1 :]


def bent_text(text):
    head, values = text.split(b"\n\n", 1)
    lines = head.split(b"\n")
    for i, line in enumerate(lines):
        for other in (b"%d" % (int(line) + 1), b"%d" % (int(line) - 1), b"0", b"x", b"99999999999999999999"):
            yield b"\n".join(lines[:i] + [other] + lines[i + 1 :]) + b"\n\n" + values
    yield text[:-1]
    yield text + b"x"
    yield b""
    yield head + b"\n\n" + values.replace(b"END\n", b"EN\n\n")


class Damage:
    """One thing put in the place of another, and what became of it."""

    def __init__(self, varve, repository):
        self.varve, self.repository = varve, repository
        self.cases = self.fail = 0
        self.faults = []

    def see(self, path, data, revisions, what, wrong=False):
        before = read(path)
        os.chmod(path, 0o644)
        if data is None:
            os.unlink(path)
        else:
            with open(path, "wb") as file:
                file.write(data)
        dumps = [run("svnadmin", "dump", "-q", self.repository)]
        dumps += [run("svnadmin", "dump", "-q", "--incremental", f"-r{revision}", self.repository) for revision in revisions]
        ours = run(self.varve, "dump", "-q", self.repository)
        verify = run(self.varve, "verify", "-q", self.repository)
        with open(path, "wb") as file:
            file.write(before)
        fails = any(dump.returncode for dump in dumps) or ours.returncode != 0
        self.cases += 1
        self.fail += fails
        fails |= wrong
        if verify.returncode not in (0, 1) or ours.returncode not in (0, 1):
            self.faults.append(f"{what}: verify ends with {verify.returncode}, dump with {ours.returncode}")
        elif fails and not verify.returncode:
            self.faults.append(f"{what}: {[dump.stderr for dump in dumps if dump.returncode]}, but verify is content")
        elif verify.returncode and not re.search(rb"revision|r\d|shard|pack", verify.stderr):
            self.faults.append(f"{what}: {verify.stderr}")


def main():
    varve, repository = sys.argv[1:]
    damage = Damage(varve, repository)
    if run("svnadmin", "verify", "-q", repository).returncode or run(varve, "verify", "-q", repository).returncode:
        sys.exit("it is damaged before anything is done to it")
    folder = f"{repository}/db/revprops/1"
    for path in sorted(glob.glob(f"{folder}/*")):
        for data in (None, b"", read(path)[:-2], read(path).replace(b"END\n", b"")):
            damage.see(path, data, (), path)
        damage.see(path, read(path).replace(b"svn:log", b"svn\0log"), (), f"{path}: a NUL", wrong=True)
    for path in glob.glob(f"{folder}.pack/manifest"):
        lines = read(path).split(b"\n")[:-1]
        first = int(lines[0].split(b".")[0])
        for i, bent in bent_lines(lines):
            damage.see(path, b"".join(line + b"\n" for line in bent), [first + i], f"{lines}: {bent}")
        for data in (None, b"", read(path)[:-1]):
            damage.see(path, data, (), f"manifest {data}")
    files = sorted(glob.glob(f"{folder}.pack/*.0"))
    for path in files:
        revision = int(os.path.basename(path).split(".")[0])
        for other in [None, *(read(other) for other in files if other != path)]:
            damage.see(path, other, [revision], f"{path}: {other}")
        for text in bent_text(unpacked(read(path))):
            damage.see(path, packed(text), [revision], f"{path}: {text}")
        text = unpacked(read(path)).replace(b"svn:log", b"svn\0log")
        damage.see(path, packed(text), [revision], f"{path}: a NUL", wrong=True)
    for fault in damage.faults:
        print(fault[:600])
    print(f"{damage.cases} cases, {damage.fail} of which make a dump fail, in {len(files)} files: {len(damage.faults)} are missed")
    sys.exit(bool(damage.faults) or not damage.fail)


if __name__ == "__main__":
    main()
