# SPDX-License-Identifier: Apache-2.0
"""Rewrite the changed paths of a revision, in a repository of any format, packed or not, and make all around them fit:
lengths, offsets, manifests, indexes and checksums. What a reader finds is a whole revision that tells of other changes.

usage: damage.py REPOSITORY REVISION OLD NEW    in the list the lines OLD become NEW; both with Python's escapes
"""
import os
import re
import subprocess
import sys


class ChangesFile:
    """The file that holds the changed paths of a revision."""

    def __init__(self, repository, revision):
        self.repository, self.revision = repository, revision
        with open(os.path.join(repository, "db", "format"), "rb") as file:
            lines = file.read().decode().split("\n")
        sharded = [line for line in lines if line.startswith("layout sharded")]
        self.logical = "addressing logical" in lines
        self.shard_size = int(sharded[0].split()[2]) if sharded else 0
        folder = os.path.join(repository, "db", "revs")
        shard = revision // self.shard_size if self.shard_size else 0
        pack = os.path.join(folder, "%d.pack" % shard)
        self.manifest = os.path.join(pack, "manifest")
        self.packed = os.path.isdir(pack)
        if self.packed:
            self.path = os.path.join(pack, "pack")
        else:
            self.path = os.path.join(folder, *([str(shard)] if self.shard_size else []), str(revision))
        self.before = {path: self.bytes_of(path) for path in self.paths()}

    def paths(self):
        return [self.path, self.manifest] if self.packed and not self.logical else [self.path]

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    @staticmethod
    def put(path, data):
        os.chmod(path, 0o644)
        with open(path, "wb") as file:
            file.write(data)

    def restore(self):
        for path, data in self.before.items():
            self.put(path, data)

    # ---- indexes (format 7 and later) ----

    def index(self):
        """[start, length, type, revision, item] for each item."""
        table = subprocess.run(["svnfsfs", "dump-index", "-r", str(self.revision), self.repository],
                               capture_output=True, check=True).stdout.decode()
        rows = [line.split() for line in table.split("\n")[1:] if line]
        return [[int(row[0], 16), int(row[1], 16), *row[2:5]] for row in rows]

    def place(self, rows):
        return next(row for row in rows if row[2] == "chgs" and int(row[3]) == self.revision)

    def put_logical(self, changes):
        data, rows = self.before[self.path], self.index()
        at, length = self.place(rows)[:2]
        grown = len(changes) - length
        footer = data[-1 - data[-1] : -1].split(b" ")
        for word in (0, 2):
            footer[word] = b"%d" % (int(footer[word]) + grown)
        footer = b" ".join(footer)
        self.put(self.path, data[:at] + changes + data[at + length : -1 - data[-1]] + footer + bytes([len(footer)]))
        table = "Start Length Type Revision Item\n"
        for row in rows:
            start = row[0] + grown if row[0] > at else row[0]
            size = row[1] + grown if row[0] == at else row[1]
            table += "%x %x %s %s %s\n" % (start, size, *row[2:])
        subprocess.run(["svnfsfs", "load-index", self.repository], input=table.encode(), capture_output=True, check=True)

    # ---- offsets (up to format 6) ----

    def span(self):
        """Where the revision is in the file."""
        if not self.packed:
            return 0, len(self.before[self.path])
        starts = [int(line) for line in self.before[self.manifest].split()] + [len(self.before[self.path])]
        at = self.revision % self.shard_size
        return starts[at], starts[at + 1]

    def physical_place(self):
        start, end = self.span()
        data = self.before[self.path][start:end]
        trailer = data.rstrip(b"\n").rsplit(b"\n", 1)[1]
        return start + int(trailer.split()[1]), start + len(data) - len(trailer) - 1

    def put_physical(self, changes):
        data, (at, end) = self.before[self.path], self.physical_place()
        # The trailer has a line end before it.
        self.put(self.path, data[:at] + changes + data[end - 1 :])
        if self.packed:
            grown = len(changes) - (end - 1 - at)
            starts = [int(line) for line in self.before[self.manifest].split()]
            starts = [start + grown if start > at else start for start in starts]
            self.put(self.manifest, b"".join(b"%d\n" % start for start in starts))

    # ---- the list ----

    def get(self):
        """The list with the empty line that ends it (in format 6 and earlier the trailer's line end is not in it)."""
        if self.logical:
            at, length = self.place(self.index())[:2]
            return self.before[self.path][at : at + length]
        at, end = self.physical_place()
        return self.before[self.path][at : end - 1]

    def set(self, changes):
        (self.put_logical if self.logical else self.put_physical)(changes)


def main():
    repository, revision = sys.argv[1], int(sys.argv[2])
    old, new = (word.encode("latin-1").decode("unicode_escape").encode("latin-1") for word in sys.argv[3:])
    file = ChangesFile(repository, revision)
    changes = file.get()
    assert changes.count(old) == 1, changes
    file.set(changes.replace(old, new))


if __name__ == "__main__":
    main()
