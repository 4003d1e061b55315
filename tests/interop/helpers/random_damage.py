# SPDX-License-Identifier: Apache-2.0
"""random_damage.py VARVE DIR SEED COUNT [FIRST] - changed paths that contradict the tree, drawn at random, against stock.

Small histories with copies, in formats 4, 6, 7 and 8, packed and not. The list of one revision is rewritten (damage.py)
in one to three places: entries twice, removed, in another order; other actions, kinds, flags, paths, copy sources.
What `verify` of both says must be the same: the revisions, and for each the kind of fault. And what `dump` of both
makes of such a revision alone: the stream, and whether it fails. What differs is printed.
"""
import collections
import os
import random
import re
import subprocess
import sys

from damage import ChangesFile

VERSIONS = ("1.6", "1.8", "1.9", "1.10")
CASES = 20  # that share a repository
SHARD = 3


def run(*command, data=None):
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


class Entry:
    """A changed path: `id action-kind text props [mergeinfo] path` and the line of its copy source."""

    def __init__(self, line, source, flags):
        self.words, self.source = line.split(b" ", 2 + flags), source
        self.path = self.words.pop()
        self.action, self.kind = self.words[1].split(b"-")

    def copy(self):
        other = Entry.__new__(Entry)
        other.__dict__ = dict(self.__dict__, words=list(self.words))
        return other

    def bytes(self):
        return b" ".join([self.words[0], self.action + b"-" + self.kind, *self.words[2:], self.path]) + b"\n" + self.source + b"\n"


def entries_of(changes, flags):
    lines = changes.split(b"\n")
    return [Entry(lines[i], lines[i + 1], flags) for i in range(0, len(lines) - 1, 2) if lines[i]]


# ---- kinds of damage ---------------------------------------------------------------------


def odd_path(rng, path):
    return rng.choice((path[1:], path + b"/", path + b"/../b", b"/" + path, path + b"/.", path + b"\xff", b"/", b"/zz", path + b"/zz"))


def spoil(rng, entries, paths, head, kinds):
    """One thing done to the list, and its name."""
    known = ("/" + rng.choice(paths)).encode()
    entry = rng.choice(entries)
    kind = rng.choice(kinds)
    if kind == "twice":
        entries.insert(rng.randrange(len(entries) + 1), entry.copy())
    elif kind == "removed":
        entries.remove(entry)
    elif kind == "moved":
        entries.remove(entry)
        entries.insert(rng.randrange(len(entries) + 1), entry)
    elif kind == "action":
        entry.action = rng.choice([word for word in (b"add", b"delete", b"replace", b"modify") if word != entry.action])
    elif kind == "kind":
        entry.kind = b"dir" if entry.kind == b"file" else b"file"
    elif kind == "flag":
        at = rng.randrange(2, len(entry.words))
        entry.words[at] = b"false" if entry.words[at] == b"true" else b"true"
    elif kind == "path":
        entry.path = known
    elif kind == "odd path":
        entry.path = odd_path(rng, entry.path)
    elif kind == "source":
        revision = rng.choice((0, head, head + 1, rng.randrange(head + 1), rng.randrange(head + 1)))
        entry.source = rng.choice((b"", b"%d %s" % (revision, known), b"%d %s" % (revision, known), b"%d %s" % (revision, odd_path(rng, known))))
    elif kind == "more":
        entry = entry.copy()
        entry.path, entry.source = rng.choice((known, entry.path + known)), rng.choice((b"", entry.source))
        entry.action, entry.kind = rng.choice((b"add", b"delete", b"replace", b"modify")), rng.choice((b"dir", b"file"))
        entries.insert(rng.randrange(len(entries) + 1), entry)
    return kind


KINDS = ("twice", "removed", "moved", "action", "action", "kind", "flag", "path", "odd path", "source", "more", "more")


# ---- answers -----------------------------------------------------------------------------


def verify_answer(program, repository):
    """{revision: the codes of its errors, outermost first}, the exit status, and its words."""
    done = run(program, "verify", "-q", "--keep-going", repository)
    told, at = {}, None
    for line in (done.stderr + done.stdout).split(b"\n"):
        if line.startswith(b"-----Summary"):
            break
        found = re.match(rb"\* Error verifying (?:revision )?(\S+?)\.$", line)
        if found:
            at = found[1].decode()
            told[at] = []
        elif at is not None:
            told[at] += [code.decode() for code in re.findall(rb"^\S+: (E\d{6})", line) if code != b"E205012"]
    return told, done.returncode, done.stderr


NOT_THERE, WRONG_KIND = {"E160013", "E160016"}, {"E145001", "E160016", "E160017"}


def code_same(wanted, got):
    return wanted in got or any(wanted in kind and kind & set(got) for kind in (NOT_THERE, WRONG_KIND))


def verify_same(wanted, got, single):
    """The same revisions; of a SINGLE fault its kind too: what is innermost with stock tools. (Of several faults
    the tools do not tell the same one first.)"""
    single = single and not FIRST.search(got[2]) and not (TWICE.search(got[2]) and ["E160017"] in wanted[0].values())
    return wanted[1] == got[1] and list(wanted[0]) == list(got[0]) and not (
        single and any(codes and not code_same(codes[-1], got[0][at]) for at, codes in wanted[0].items()))


# What stock's verify takes for well, and varve does not.
STRICTER = re.compile(
    rb"is still there|but is that of revision|has come with a copy|a copy of the later revision|list of revision \d+ is empty, but"
    rb"|malformed (?:changed-path line|copy source) '(?:.* )?[^/ ]")


def is_stricter(wanted, got):
    return not wanted[0] and STRICTER.search(got[2].replace(b"\n", b" "))


# What varve tells first, and stock's verify only by what follows from it.
FIRST = re.compile(rb"a copy of the later revision|Its path is malformed|has come with a copy")
# And a folder that is called a file, and is there twice: by the text that cannot be read.
TWICE = re.compile(rb"and added again")


def dump_answer(program, repository, revision, options):
    done = run(program, "dump", "-q", f"-r{revision}", *options, repository)
    codes = re.findall(rb"E\d{6}", done.stderr)
    return done.stdout, done.returncode, codes[-1:], re.findall(rb"^WARNING.*|^svnadmin: .*|^varve.*", done.stderr)


def dump_fault(wanted, got, entries, tree):
    """What is wrong with the dump that was GOT, None where nothing is."""
    if any(entry.path[:1] != b"/" for entry in entries):
        return None  # varve does not take such a list
    if wanted[2] in ([b"E160016"], [b"E160017"]) or any(
            tree.get(entry.path.decode("latin-1")[1:], "x") not in ("x", entry.kind.decode()[0]) or
            (entry.kind == b"dir" and entry.words[2] == b"true") for entry in entries):
        return None  # the list has another kind than the tree, or the copy source
    if any(entry.action == b"modify" and entry.source for entry in entries):
        return None  # a copy that is called a change: of some stock tools make one, at others they give up
    # Of a folder that is there twice stock tools leave one open too long: what is deleted comes later, and what is
    # below another folder is looked for in its copy source.
    twice = len({entry.path for entry in entries}) < len(entries)
    if twice and wanted[1] and not got[1]:
        return None
    if wanted[1] != got[1]:
        return "another exit status"
    if wanted[1]:
        codes = {code.decode() for code in wanted[2] + got[2]}
        return None if len(codes) == 1 or codes <= NOT_THERE else "another error"
    def records(stream):
        return sorted(record.strip(b"\n") for record in stream.split(b"Node-path: ")) if twice else stream
    return None if records(wanted[0]) == records(got[0]) else "another stream"


def make_repository(place, number, seed):
    from random_filters import History
    group = number // CASES
    version = VERSIONS[group // 2 % len(VERSIONS)]
    path = f"{place}/r{seed}-{group}"
    history = History(random.Random(f"{seed}/damage {group}"))
    if not os.path.exists(path):
        run("svnadmin", "create", "--compatible-version", version, path)
        with open(path + "/db/format", "r+") as file:
            text = re.sub("sharded .*", f"sharded {SHARD}", file.read())
            file.seek(0)
            file.truncate()
            file.write(text)
        loaded = run("svnadmin", "load", "-q", "--no-flush-to-disk", path, data=history.stream)
        if loaded.returncode:
            sys.exit(loaded.stderr.decode())
        if group % 2:
            run("svnadmin", "pack", "-q", path)
    return path, history, version


def main():
    varve, place, seed, count = *sys.argv[1:3], *map(int, sys.argv[3:5])
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    kinds = tuple(sys.argv[6].split(",")) if len(sys.argv) > 6 else KINDS
    failed, differ = collections.Counter(), 0
    for number in range(first, first + count):
        repository, history, version = make_repository(place, number, seed)
        rng = random.Random(f"{seed}/case {number}")
        head = len(history.trees) - 1
        revision = rng.randrange(1, head + 1)
        file = ChangesFile(repository, revision)
        entries = entries_of(file.get(), 4 if version in ("1.9", "1.10") else 3)
        before = b"".join(entry.bytes() for entry in entries)
        names = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if entries:
                names.append(spoil(rng, entries, sorted(history.paths), head, kinds))
        after = b"".join(entry.bytes() for entry in entries)
        file.set(after + (b"\n" if file.logical else b""))
        options = rng.choice((["--incremental"], ["--incremental"], ["--incremental", "--deltas"], []))
        try:
            wanted, got = (verify_answer(program, repository) for program in ("svnadmin", varve))
            dump_wanted, dump_got = (dump_answer(program, repository, revision, options) for program in ("svnadmin", varve))
        finally:
            file.restore()
        if dump_wanted[1] < 0 or wanted[1] < 0:
            continue  # stock tools crash where the root is deleted
        failed["verify"] += wanted[1] != 0
        failed["dump"] += dump_wanted[1] != 0
        faults = []
        if not is_stricter(wanted, got) and not verify_same(wanted, got, len(names) == 1):
            faults.append(f"verify: stock {wanted[:2]}, varve {got[:2]}")
        fault = dump_fault(dump_wanted, dump_got, entries, history.trees[revision])
        if fault:
            faults.append(f"dump {options}: stock {dump_wanted[1:]}, varve {dump_got[1:]}, {fault}")
        if faults:
            differ += 1
            print(f"# {seed}/{number} {repository} format of {version}, r{revision}, {', '.join(names)}")
            print(f"#   was {before!r}\n#   is  {after!r}")
            print("".join(f"#   {fault}\n" for fault in faults), end="")
    print(f"{count} cases: stock's verify fails {failed['verify']} times, its dump {failed['dump']} times, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
