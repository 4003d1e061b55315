# SPDX-License-Identifier: Apache-2.0
"""random_filters.py VARVE DIR KIND SEED COUNT [FIRST] - what is hidden, drawn at random, against stock tools.

Small histories in which copies are changed in the revision that makes them: entries changed, deleted,
replaced, copied over, copied again. KIND "dump": `dump` of both with the same --include, --exclude and
--pattern; the streams, exit status and error code must be the same. KIND "replay": every revision replayed
under the same path rules by both servers; all that they send must be the same. What differs stays
in DIR.
"""
import argparse
import contextlib
import itertools
import os
import random
import re
import socket
import subprocess
import sys

import conversation
from differential import Servers
from random_wire_steps import node_record, property_block

NAMES = ("a", "b", "c")
REPOSITORIES = 25  # cases that share a history


def run(*command, data=None):
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


def below(path, top):
    return not top or path == top or path.startswith(top + "/")


class History:
    """A dump stream, and all paths that were ever in it."""

    def __init__(self, rng):
        self.rng = rng
        self.trees = [{"": "d"}]
        self.paths = set()
        self.texts = 0
        out = [b"SVN-fs-dump-format-version: 3\n\n"]
        for number in range(rng.randrange(3, 8)):
            block = property_block({"svn:date": "2004-01-01T00:00:00.000000Z", "svn:log": "log", "svn:author": "me"})
            out.append(b"Revision-number: %d\nProp-content-length: %d\nContent-length: %d\n\n%s\n"
                       % (number + 1, len(block), len(block), block))
            self.tree, self.done = dict(self.trees[-1]), {}
            for _ in range(rng.randrange(1, 7) + (5 if number == 0 else 0)):
                out += self.change()
            self.trees.append(self.tree)
        self.stream = b"".join(out)

    def text(self):
        self.texts += 1
        return "line %d\n" % self.texts * self.rng.choice((1, 2, 30))

    def remove(self, path):
        for inner in [inner for inner in self.tree if below(inner, path)]:
            del self.tree[inner]

    def change(self):
        """The records of one thing done. What was added in this revision is not replaced (svnadmin load
        would refuse some of it), but changed and deleted."""
        rng = self.rng
        path = "/".join(p for p in (rng.choice(sorted(p for p in self.tree if self.tree[p] == "d" and p.count("/") < 3)),
                                    rng.choice(NAMES)) if p)
        self.paths.add(path)
        kind = self.tree.get(path)
        if kind and rng.random() < .35 and self.done.get(path) != "add":
            self.remove(path)
            self.done[path] = "delete"
            return [node_record(path, None, "delete", None, None, None)] + (self.add(path) if rng.random() < .4 else [])
        if kind:
            text = self.text() if kind == "f" and rng.random() < .7 else None
            props = {"p": self.text()} if text is None or rng.random() < .2 else None
            return [node_record(path, kind, "change", text, props, None)]
        return self.add(path) if self.done.get(path) is None else []

    def add(self, path):
        rng = self.rng
        self.done[path] = "add"
        revision = rng.randrange(len(self.trees))
        source = rng.choice(sorted(self.trees[revision]))
        inner = [p for p in self.trees[revision] if below(p, source)]
        if (source or revision) and len(inner) < 20 and rng.random() < .55:
            for old in inner:
                new = path + ("/" + old[len(source):].lstrip("/")).rstrip("/")
                self.tree[new] = self.trees[revision][old]
                self.paths.add(new)
            kind = self.tree[path]
            text = self.text() if kind == "f" and rng.random() < .4 else None
            return [node_record(path, kind, "add", text, {"q": self.text()} if rng.random() < .2 else None, [source, revision])]
        kind = rng.choice("ddf")
        self.tree[path] = kind
        return [node_record(path, kind, "add", self.text() if kind == "f" else None, {} if rng.random() < .5 else {"p": "1"}, None)]


def make_repository(place, number, seed):
    """The repository of case NUMBER, and its history."""
    history = History(random.Random(f"{seed}/history {number // REPOSITORIES}"))
    path = f"{place}/r{seed}-{number // REPOSITORIES}"
    if not os.path.exists(path):
        run("svnadmin", "create", path)
        loaded = run("svnadmin", "load", "-q", path, data=history.stream)
        if loaded.returncode:
            sys.exit(loaded.stderr.decode())
    return path, history


# ---- dumps -------------------------------------------------------------------------------


def draw_dump(rng, history):
    which = rng.choice(("--include", "--exclude", "--exclude"))
    options = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        options += [which, "/" + rng.choice(sorted(history.paths))]
    if rng.random() < .3:
        options = ["--pattern"] + [re.sub("[abc]", lambda m: rng.choice((m[0], m[0], "*", "?", "[ab]")), option) if option[0] == "/" else option
                                   for option in options]
    if which == "--include" and rng.random() < .5:
        options += [which, "/"] if "--pattern" not in options else [which, "/*"]
    head = len(history.trees) - 1
    if rng.random() < .3:
        first = rng.randrange(head + 1)
        options += [f"-r{first}:{rng.randrange(first, head + 1)}"] + (["--incremental"] if rng.random() < .7 else [])
    return options + (["--deltas"] if rng.random() < .2 else [])


def dump_case(varve, rng, repository, history):
    options = draw_dump(rng, history)
    answers = []
    for program in ("svnadmin", varve):
        done = run(program, "dump", "-q", *options, repository)
        codes = re.findall(rb"E\d{6}", done.stderr)
        answers.append((done.stdout, done.returncode, codes[-1:]))
    return " ".join(options), answers


# ---- replays -----------------------------------------------------------------------------


def draw_rules(rng, history):
    rules = "[/]\n* = r\n"
    for path in rng.sample(sorted(history.paths), min(len(history.paths), rng.choice((1, 1, 2, 3)))):
        rules += f"[/{path}]\n* = {rng.choice(('', '', '', 'r'))}\n"
    return rules


def say(side, name, base, words):
    url = (side.url(name) + base).encode()
    with socket.create_connection((side.address, side.port), timeout=5) as peer:
        peer.sendall(b"( 2 ( edit-pipeline absent-entries depth mergeinfo log-revprops ) %d:%s 4:test ( ) ) ( ANONYMOUS ( 0: ) ) %s"
                     % (len(url), url, words))
        told = b""
        while not re.search(rb"\( (finish-replay \( \) \) \( success \( \) \)|failure \( .*\) \)) $", told[-2000:], re.DOTALL):
            try:
                piece = peer.recv(65536)
            except TimeoutError:
                piece = b""
            if not piece:
                return commands(told) + b" gone"
            told += piece
    return commands(told)


def commands(told):
    """What a server said, a line a command: deltas in one piece, properties of a node sorted."""
    lines, chunks = [], b""
    for item in conversation.parse(told)[4:]:
        name = item[0][1] if isinstance(item, list) and item and isinstance(item[0], tuple) else ""
        if name == "textdelta-chunk":
            chunks += item[1][1]
            continue
        if name == "textdelta-end":
            lines.append(f"delta {chunks!r}")
            chunks = b""
        lines.append(conversation.show(conversation.plain(item)))
    out = []
    for is_prop, run in itertools.groupby(lines, lambda line: line.startswith("( change-")):
        out += sorted(run) if is_prop else run
    return "\n".join(out).encode()


def replay_case(servers, rng, repository, history):
    rules = draw_rules(rng, history)
    # A name of its own each time: svnserve keeps the rules of a name that it has read.
    base = "/" + rng.choice(sorted(history.paths)) if rng.random() < .2 else ""
    low, deltas = rng.choice((0, 0, 0, 1, 2)), rng.choice((b"true", b"true", b"false"))
    name = f"case{rng.randrange(10 ** 12)}"
    servers.repository(repository, name, {"svnserve.conf": "[general]\nanon-access = read\nauthz-db = authz\n", "authz": rules})
    head = len(history.trees) - 1
    answers = []
    for side in servers.sides:
        told = []
        for revision in range(1, head + 1):
            told.append(say(side, name, base, b"( replay ( %d %d %s ) ) " % (revision, low, deltas)))
        answers.append((b"\n".join(told), 0, []))
    servers.remove(name)
    return f"{base} low {low} deltas {deltas} {rules!r}", answers


# ---- all ---------------------------------------------------------------------------------


def compare(servers, varve, place, kind, seed, numbers):
    """Print what differs; how many cases fail with stock, and how many differ."""
    differ = failed = 0
    for number in numbers:
        repository, history = make_repository(place, number, seed)
        rng = random.Random(f"{seed}/{kind} {number}")
        case, (wanted, got) = (replay_case(servers, rng, repository, history) if servers
                               else dump_case(varve, rng, repository, history))
        failed += wanted[1] != 0
        # Where stock tools fail on their own: a base path inside of a copy (svnserve gives up without
        # an answer), a file that replaces a folder, or the other way, in a copy of what is hidden.
        if b"( abort-edit ( ) ) gone" in wanted[0] or (kind == "dump" and wanted[2] in ([b"E160016"], [b"E160017"])):
            continue
        if got == wanted:
            continue
        differ += 1
        for name, answer in (("stock", wanted), ("varve", got)):
            with open(f"{place}/{seed}-{number}.{name}", "wb") as out:
                out.write(answer[0])
        print(f"# {seed}/{number} {repository} {case}\n#   stock {wanted[1:]}, varve {got[1:]}")
    return failed, differ


def main():
    varve, place, kind, seed, count = *sys.argv[1:4], *map(int, sys.argv[4:6])
    first = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    options = argparse.Namespace(stock=["svnserve"], varve=varve, self_test=False)
    with Servers(place, options) if kind == "replay" else contextlib.nullcontext() as servers:
        failed, differ = compare(servers, varve, place, kind, seed, range(first, first + count))
    print(f"{count} cases: {failed} fail with stock, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
