# SPDX-License-Identifier: Apache-2.0
"""random_names.py VARVE DIR SEED COUNT [FIRST] - names that differ in how their characters are composed, drawn at random.

Small histories of folders and mergeinfo that name them, some of it malformed, much of it changed, copied and deleted
again within one revision. What `verify --check-normalization` of both says of each revision must be the same (within a
revision in any order), and what `verify` says of the same history: nothing, since nothing is damaged.
"""
import random
import re
import subprocess
import sys
import unicodedata

from random_wire_steps import node_record, property_block

NAMES = ["a", "b"] + [unicodedata.normalize(form, name) for name in "\u00e9\u00fc\u00f1" for form in ("NFC", "NFD")]
RANGES = ("1", "1-2", "1*", "2,4")
MALFORMED = ("0", "0-1", "3-1", "x", "", "1,")


def run(*command, data=None):
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


def below(path, top):
    return path == top or path.startswith(top + "/")


class History:
    """A dump stream."""

    def __init__(self, rng):
        self.rng, self.trees, self.tree, self.mergeinfo = rng, [{"": "d"}], {"": "d"}, {}
        out = [b"SVN-fs-dump-format-version: 3\n\n"]
        for revision in range(1, 12):
            block = property_block({"svn:log": "log"})
            out.append(b"Revision-number: %d\nProp-content-length: %d\nContent-length: %d\n\n%s\n" % (revision, len(block), len(block), block))
            for _ in range(rng.randrange(1, 6)):
                out += self.change()
            self.trees.append(dict(self.tree))
        self.stream = b"".join(out)

    def props(self, path, chance):
        """Mergeinfo for PATH, with CHANCE: some lines of that which it had last, and others."""
        rng, lines = self.rng, {}
        if rng.random() > chance:
            return None
        for line in self.mergeinfo.get(path, "").split("\n") if rng.random() < .6 else ():
            if line and rng.random() < .75:
                source, ranges = line.rsplit(":", 1)
                lines[source] = rng.choice((ranges, rng.choice(RANGES)))
        for _ in range(rng.randrange(3)):
            source = "/" + "/".join(rng.choice(NAMES) for _ in range(rng.randrange(1, 3)))
            lines[source] = rng.choice(MALFORMED if rng.random() < .02 else RANGES)
        self.mergeinfo[path] = "\n".join(f"{source}:{ranges}" for source, ranges in sorted(lines.items()))
        return {"svn:mergeinfo": self.mergeinfo[path].encode().decode("latin-1")}

    def remove(self, path):
        for inner in [inner for inner in self.tree if below(inner, path)]:
            del self.tree[inner]

    def change(self):
        """The records of one thing done."""
        rng = self.rng
        known = rng.choice(sorted(self.tree))
        new = "/".join(p for p in (rng.choice(sorted(p for p in self.tree if self.tree[p] == "d" and p.count("/") < 3)), rng.choice(NAMES)) if p)
        what = rng.choice(("add", "add", "add", "add", "change", "change", "copy", "delete"))
        if what == "change":
            return [node_record(known, self.tree[known], "change", None, self.props(known, .8) or {"p": rng.choice(NAMES[:2])}, None)]
        if what == "delete" and known:
            self.remove(known)
            return [node_record(known, None, "delete", None, None, None)] + (self.add(known) if rng.random() < .3 else [])
        revision = rng.randrange(len(self.trees))
        source = rng.choice(sorted(self.trees[revision]))
        if new in self.tree or (what == "copy" and not source):
            return []
        if what != "copy":
            return self.add(new)
        for inner, kind in self.trees[revision].items():
            if below(inner, source):
                self.tree[new + inner[len(source):]] = kind
        return [node_record(new, self.tree[new], "add", None, self.props(new, .4), [source, revision])]

    def add(self, path):
        self.tree[path] = self.rng.choice("df")
        return [node_record(path, self.tree[path], "add", None, self.props(path, .3), None)]


def answer(program, options, repository):
    """Exit status, and [what is said, the revision it is said of] in the order of revisions."""
    done = run(program, "verify", *options, repository)
    said, lines = [], []
    for line in done.stdout.decode().split("\n"):
        if line.startswith("WARNING"):
            lines.append(line)
        elif re.match(r"\* Verified revision|-----Summary|  *r\d+: ", line):
            said.append((sorted(lines), line))
            lines = []
    return done.returncode, said, re.findall(r"^\* Error.*|E\d{6}: .*", done.stderr.decode(), re.M)


def main():
    varve, place, seed, count = *sys.argv[1:3], *map(int, sys.argv[3:5])
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    warned = failed = differ = 0
    for number in range(first, first + count):
        repository = f"{place}/{seed}-{number}"
        run("svnadmin", "create", repository)
        loaded = run("svnadmin", "load", "-q", "--no-flush-to-disk", "--bypass-prop-validation", repository,
                     data=History(random.Random(f"{seed}/{number}")).stream)
        if loaded.returncode:
            sys.exit(f"{seed}/{number}: {loaded.stderr.decode()}")
        faults = []
        for options in (["--check-normalization", "--keep-going"], ["--check-normalization"], ["--check-normalization", "-q"], []):
            wanted, got = (answer(program, options, repository) for program in ("svnadmin", varve))
            if wanted != got:
                faults.append(f"#   {options}: stock {wanted}\n#   varve {got}")
            failed += bool(wanted[2])
            warned += sum(bool(lines) for lines, _ in wanted[1])
        if faults:
            differ += 1
            print(f"# {seed}/{number}", *faults, sep="\n")
        run("rm", "-rf", repository)
    print(f"{count} histories: {warned} revisions with warnings, {failed} runs with errors; {differ} differ")
    sys.exit(differ > 0 or not warned or not failed)


if __name__ == "__main__":
    main()
