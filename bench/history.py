# SPDX-License-Identifier: Apache-2.0
"""An invented project history, written as a dump stream while it is made up.

Each line of development (trunk, branches) is kept whole in memory as a flat map from path to
file; files are immutable, so a branch costs one shallow copy. Only random() and getrandbits()
are drawn upon: their sequences are the same in every release of Python.
"""

import random

from dumpstream import Stream, date_of

AUTHORS = [b"anna", b"bela", b"carl", b"dora", b"emil", b"fred", b"gina", b"hugo", b"ines",
           b"jan", b"kaja", b"luis"]
SYLLABLES = ("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bre clo dra "
             "flu gra kle pri sto tru").split()
EXTENSIONS = [b".c", b".c", b".c", b".h", b".h", b".py", b".txt", b".xml"]
FIRST_DAY = 1262304000  # 2010-01-01
LIVE_BRANCHES = 12      # older ones are deleted when there are more
MERGE_PATHS = 300       # a merge carries over at most so many paths


class Draw(random.Random):
    def below(self, n):
        return int(self.random() * n)

    def pick(self, items):
        return items[int(self.random() * len(items))]

    def chance(self, per_cent):
        return self.random() * 100 < per_cent

    def bell(self):
        """Roughly normal, mean 0, deviation 0.7; no function of the C library in it."""
        return sum(self.random() for _ in range(6)) - 3

    def count(self, mean):
        """At least 1, geometric about MEAN."""
        n = 1
        while n < 20 * mean and self.random() > 1 / mean:
            n += 1
        return n


class File:
    __slots__ = ("text", "props", "binary")

    def __init__(self, text, props, binary):
        self.text, self.props, self.binary = text, props, binary


class Line:
    """A line of development: trunk or a branch."""

    def __init__(self, root, parent=None, rev=0):
        self.root = root
        self.files = dict(parent.files) if parent else {}
        self.names = list(parent.names) if parent else []
        self.dirs = list(parent.dirs) if parent else [b""]
        self.known_dirs = set(self.dirs)
        self.props = dict(parent.props) if parent else {}
        self.merged = {s: list(r) for s, r in parent.merged.items()} if parent else {}
        self.seen = {parent: rev} if parent else {}  # other line -> its revision merged so far
        self.made = rev
        self.touched = []                            # (revision, path) in order

    def path(self, name):
        return self.root + b"/" + name if name else self.root

    def put(self, name, file):
        if name not in self.files:
            self.names.append(name)
        self.files[name] = file

    def take(self, name):
        """Remove NAME; the list of names is repaired by the caller's next draw."""
        return self.files.pop(name)

    def draw(self, rng, avoid):
        """A file for editing: some are edited far more often than others."""
        for _ in range(8):
            if not self.names:
                return None
            at = int(len(self.names) * rng.random() ** 2)
            name = self.names[at]
            if name not in self.files:
                self.names[at] = self.names[-1]
                self.names.pop()
            elif name not in avoid:
                return name
        return None


class History:
    def __init__(self, out, revisions, files_per_revision, size, branches, merges, properties, seed):
        self.rng = Draw(seed)
        self.stream = Stream(out, b"%08x-0000-4000-8000-%012x" % (seed & 0xffffffff, revisions))
        self.revisions, self.per_revision, self.size = revisions, files_per_revision, size
        self.properties = properties
        self.words = [self.word() for _ in range(1500)]
        self.lines = [self.code_line() for _ in range(6000)]
        self.rev, self.clock, self.serial = 0, FIRST_DAY, 0
        self.trunk, self.live = Line(b"trunk"), []
        self.plan = self.make_plan(branches, merges)

    # ---- the plan -------------------------------------------------------------------

    def make_plan(self, branches, merges):
        """Which revisions are not plain edits."""
        plan = {}
        for action, n in ((self.branch, branches), (self.merge, merges),
                          (self.tag, self.revisions // 200)):
            for i in range(n):
                span = max(1, (self.revisions - 4) // n)
                plan.setdefault(4 + i * span + self.rng.below(span), action)
        return plan

    def write(self):
        self.stream.revision(0, {b"svn:date": date_of(self.clock)})
        for self.rev in range(1, self.revisions + 1):
            if self.rev == 1:
                self.found()
            elif self.rev == 2:
                self.first_import()
            elif len(self.live) > LIVE_BRANCHES:
                self.delete_branch(self.live[0])
            else:
                self.plan.get(self.rev, self.edit)()

    def begin(self, subject=None):
        self.clock += 1 + int(7200 * self.rng.random() ** 2)
        words = [self.rng.pick(self.words) for _ in range(3 + self.rng.below(12))]
        message = b" ".join([subject] if subject else []) + b" ".join(words).capitalize() + b"."
        for _ in range(self.rng.below(4)):
            message += b"\n* " + self.rng.pick(self.lines).strip()
        self.stream.revision(self.rev, {
            b"svn:author": self.rng.pick(AUTHORS), b"svn:log": message,
            b"svn:date": date_of(self.clock, self.rng.below(1000000))})

    # ---- what a revision does ---------------------------------------------------------

    def found(self):
        self.begin()
        for root in (b"trunk", b"branches", b"tags"):
            self.stream.add_dir(root)

    def first_import(self):
        self.begin(b"Import: ")
        used = set()
        for _ in range(max(10, min(1500, self.revisions // 15))):
            self.add_new(self.trunk, used)

    def edit(self):
        line = self.rng.pick(self.live) if self.live and self.rng.chance(25) else self.trunk
        self.begin()
        if self.rng.chance(0.4) and self.move_directory(line):
            return
        used = set()
        for _ in range(self.rng.count(self.per_revision)):
            dice = self.rng.random() * 100
            if dice < 84:
                self.change_text(line, used)
            elif dice < 93:
                self.add_new(line, used)
            elif dice < 95.5:
                self.delete_file(line, used)
            elif dice < 98:
                self.rename_file(line, used)
            else:
                self.change_props(line, used)

    def branch(self):
        self.begin(b"Branch: ")
        self.serial += 1
        line = Line(b"branches/%s-%d" % (self.rng.pick(self.words), self.serial), self.trunk,
                    self.rev - 1)
        self.stream.copy_dir(line.root, self.rev - 1, b"trunk")
        self.live.append(line)

    def tag(self):
        self.begin(b"Tag: ")
        self.stream.copy_dir(b"tags/%d.%d" % (self.rev // 1000, self.rev), self.rev - 1, b"trunk")

    def delete_branch(self, line):
        self.begin(b"Remove: ")
        self.live.remove(line)
        self.stream.delete(line.root)

    def merge(self):
        if not self.live:
            return self.edit()
        line = self.rng.pick(self.live)
        if self.rng.chance(50):
            self.merge_between(self.trunk, line)
        else:
            self.merge_between(line, self.trunk)

    def merge_between(self, source, target):
        """Bring what changed in SOURCE since the last time into TARGET, and record it."""
        self.begin(b"Merge: ")
        since, upto = target.seen.get(source, source.made), self.rev - 1
        names = []
        for rev, name in reversed(source.touched):
            if rev <= since or len(names) >= MERGE_PATHS:
                break
            names.append(name)
        for name in sorted(set(names)):
            self.merge_path(source, target, name)
        target.seen[source] = upto
        target.merged.setdefault(b"/" + source.root, []).append((since + 1, upto))
        target.props[b"svn:mergeinfo"] = mergeinfo_text(target.merged)
        self.stream.change(target.root, None, target.props, b"dir")

    def merge_path(self, source, target, name):
        theirs, ours = source.files.get(name), target.files.get(name)
        if theirs is ours:
            return
        path = target.path(name)
        if theirs is None:
            self.stream.delete(path)
            target.take(name)
        elif ours is None:
            self.need_dirs(target, name)
            self.stream.copy_file(path, self.rev - 1, source.path(name), theirs.text)
            target.put(name, theirs)
        else:
            self.stream.change(path, theirs.text, theirs.props)
            target.put(name, theirs)
        target.touched.append((self.rev, name))

    # ---- what an edit does to one file -------------------------------------------------

    def change_text(self, line, used):
        name = line.draw(self.rng, used)
        if name is None:
            return self.add_new(line, used)
        used.add(name)
        old = line.files[name]
        text = self.altered(old)
        self.stream.change(line.path(name), text)
        self.record(line, name, File(text, old.props, old.binary))

    def change_props(self, line, used):
        name = line.draw(self.rng, used)
        if name is None:
            return
        used.add(name)
        old = line.files[name]
        props = dict(old.props)
        props[b"review"] = b"r%d by %s" % (self.rev, self.rng.pick(AUTHORS))
        self.stream.change(line.path(name), None, props)
        self.record(line, name, File(old.text, props, old.binary))

    def delete_file(self, line, used):
        name = line.draw(self.rng, used)
        if name is None or len(line.files) < 20:
            return
        used.add(name)
        self.stream.delete(line.path(name))
        line.take(name)
        line.touched.append((self.rev, name))

    def rename_file(self, line, used):
        name = line.draw(self.rng, used)
        if name is None:
            return
        old, new = line.files[name], self.new_name(line, used, name)
        used.update((name, new))
        text = self.altered(old) if self.rng.chance(40) else None
        self.need_dirs(line, new)
        self.stream.copy_file(line.path(new), self.rev - 1, line.path(name), old.text, text)
        self.stream.delete(line.path(name))
        line.take(name)
        line.touched.append((self.rev, name))
        self.record(line, new, File(old.text if text is None else text, old.props, old.binary))

    def add_new(self, line, used):
        name = self.new_name(line, used)
        used.add(name)
        binary = name.endswith(b".png")
        size = min(int(self.size * 2 ** (1.7 * self.rng.bell())), 64 * self.size)
        text = self.noise(4 * size) if binary else self.code(size)
        props = {}
        if binary:
            props = {b"svn:mime-type": b"application/octet-stream"}
        elif self.rng.chance(self.properties):
            props = {b"svn:eol-style": b"native", b"svn:keywords": b"Id Revision"}
        self.need_dirs(line, name)
        self.stream.add_file(line.path(name), text, props)
        self.record(line, name, File(text, props, binary))

    def move_directory(self, line):
        """Rename a directory below the first level, and edit one file in its new place."""
        old = self.rng.pick(line.dirs)
        inside = [n for n in line.files if n.startswith(old + b"/")] if b"/" in old else []
        if not 1 <= len(inside) <= 400:
            return False
        new = old.rsplit(b"/", 1)[0] + b"/" + self.fresh()
        self.stream.copy_dir(line.path(new), self.rev - 1, line.path(old))
        edited = self.rng.pick(inside)
        for name in inside:
            file = line.take(name)
            moved = new + name[len(old):]
            line.touched.append((self.rev, name))
            if name == edited:
                file = File(self.altered(file), file.props, file.binary)
                self.stream.change(line.path(moved), file.text)
            self.record(line, moved, file)
        self.stream.delete(line.path(old))
        line.dirs = [new + d[len(old):] if d == old or d.startswith(old + b"/") else d
                     for d in line.dirs]
        line.known_dirs = set(line.dirs)
        return True

    def record(self, line, name, file):
        line.put(name, file)
        line.touched.append((self.rev, name))

    def need_dirs(self, line, name):
        missing = []
        while b"/" in name:
            name = name.rsplit(b"/", 1)[0]
            if name in line.known_dirs:
                break
            missing.append(name)
        for name in reversed(missing):
            self.stream.add_dir(line.path(name), {b"svn:ignore": b"*.o\n"}
                                if self.rng.chance(self.properties) else None)
            line.dirs.append(name)
            line.known_dirs.add(name)

    # ---- names and texts ------------------------------------------------------------------

    def word(self):
        return "".join(self.rng.pick(SYLLABLES) for _ in range(1 + self.rng.below(4))).encode()

    def fresh(self):
        self.serial += 1
        return b"%s_%d" % (self.rng.pick(self.words), self.serial)

    def new_name(self, line, used, like=None):
        directory = self.rng.pick(line.dirs)
        if directory.count(b"/") < 5 and self.rng.chance(12):
            directory = (directory + b"/" if directory else b"") + self.fresh()
        if like is not None:
            extension = b"." + like.rsplit(b".", 1)[1]
        else:
            extension = b".png" if self.rng.chance(4) else self.rng.pick(EXTENSIONS)
        return (directory + b"/" if directory else b"") + self.fresh() + extension

    def code_line(self):
        rng = self.rng
        call = b"%s(%s)" % (rng.pick(self.words), b", ".join(
            rng.pick(self.words) for _ in range(rng.below(4))))
        shape = rng.pick((b"%s;", b"if (%s) {", b"return %s;", b"x = %s;", b"/* %s */", b"}"))
        return b"    " * rng.below(4) + (shape % call if b"%" in shape else shape) + b"\n"

    def code(self, size):
        parts, have = [], 0
        while have < size:
            at = self.rng.below(len(self.lines) - 12)
            run = b"".join(self.lines[at:at + 3 + self.rng.below(9)])
            parts.append(run + self.unique_line())
            have += len(parts[-1])
        return b"".join(parts)

    def unique_line(self):
        self.serial += 1
        return b"    %s = %d; /* %s */\n" % (self.rng.pick(self.words), self.rng.getrandbits(30),
                                             self.rng.pick(self.words))

    def noise(self, size):
        return self.rng.getrandbits(8 * size).to_bytes(size, "little") if size else b""

    def altered(self, file):
        """FILE's text after an edit: one to three hunks of a few lines, or part of a binary."""
        text = file.text
        if file.binary:
            at = self.rng.below(len(text) + 1)
            return text[:at] + self.noise(1 + len(text) // 8) + text[at + len(text) // 8:]
        for _ in range(1 + self.rng.below(3)):
            start = text.find(b"\n", self.rng.below(len(text) + 1)) + 1
            end = start
            for _ in range(self.rng.below(5)):
                end = text.find(b"\n", end) + 1 or len(text)
            hunk = [self.rng.pick(self.lines) for _ in range(self.rng.below(4))]
            text = b"".join([text[:start], *hunk, self.unique_line(), text[end:]])
        return text


def mergeinfo_text(merged):
    lines = []
    for source, ranges in sorted(merged.items()):
        joined = []
        for first, last in ranges:
            if joined and joined[-1][1] + 1 >= first:
                joined[-1][1] = max(last, joined[-1][1])
            elif first <= last:
                joined.append([first, last])
        text = b",".join(b"%d-%d" % (a, b) if a < b else b"%d" % a for a, b in joined)
        if text:
            lines.append(source + b":" + text)
    return b"\n".join(lines)
