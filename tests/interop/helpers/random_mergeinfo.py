# SPDX-License-Identifier: Apache-2.0
"""Asks stock's server and ours for logs with merged revisions of random histories.

Folders and files are added, changed, copied, deleted; their mergeinfo names others and, as careless scripts do,
themselves, their own future, what is not there yet or no more.

usage: random_mergeinfo.py ROOT PORT-OF-STOCK PORT-OF-OURS FIRST COUNT [REVISIONS]
ROOT is the folder that both servers serve; a history is made of each of COUNT seeds from FIRST on. Prints the
differences, and how much was asked.

Stock crashes over some of the questions, thinks for ever or forgets to end: what it says before that counts. With an
entry both servers list the paths of revisions that they left out before it; which those are depends on stock's hash
tables, so that a difference in them is only counted."""
import random
import subprocess
import sys
from collections import Counter

from peer import Closed, Peer, s, show

NAMES = ["trunk", "a", "b", "file"]
QUESTIONS = 16
PATIENCE = 1  # seconds without a word from stock


class History:
    def __init__(self, seed, revisions):
        self.random = random.Random(seed)
        self.revisions = revisions
        self.tree = {"": "dir"}
        self.trees = [dict(self.tree)]
        self.out = ["SVN-fs-dump-format-version: 2\n\n"]

    def folders(self):
        return [path for path, kind in self.tree.items() if kind == "dir"]

    def node(self, path, action, kind=None, source=None, text=None, mergeinfo=None):
        lines = ["Node-path: " + path, "Node-action: " + action]
        if kind:
            lines.append("Node-kind: " + kind)
        if source:
            lines += ["Node-copyfrom-rev: %d" % source[1], "Node-copyfrom-path: " + source[0]]
        props = ""
        if mergeinfo is not None:
            props = "K 13\nsvn:mergeinfo\nV %d\n%s\nPROPS-END\n" % (len(mergeinfo), mergeinfo)
            lines.append("Prop-content-length: %d" % len(props))
        if text is not None:
            lines.append("Text-content-length: %d" % len(text))
        if props or text:
            lines.append("Content-length: %d" % (len(props) + len(text or "")))
        self.out.append("\n".join(lines) + "\n\n" + props + (text or "") + "\n\n")

    def mergeinfo(self, path, revision):
        everything = sorted({"/" + p for tree in self.trees + [self.tree] for p in tree if p} or {"/trunk"})
        lines = {}
        kind = self.random.random()
        if kind < 0.03:
            return ""
        if kind < 0.06:
            return self.random.choice(["trunk:1", "/trunk", "/trunk:", "/trunk:x", "/trunk:3-1", "/trunk:0", "/a:1,1", "\n"])
        if kind < 0.09:
            return "/:1-%d" % self.revisions
        for _ in range(self.random.choice([1, 1, 2, 3])):
            source = "/" + path if path and self.random.random() < 0.5 else self.random.choice(everything)
            first = self.random.randint(1, self.revisions)
            last = first + self.random.choice([0, 0, 1, 3, 8])
            if self.random.random() < 0.9:
                last = min(self.revisions, last)
            mark = "*" if self.random.random() < 0.1 else ""
            lines[source] = "%s:%s%s" % (source, "%d-%d" % (first, last) if last > first else first, mark)
        return "\n".join(lines[source] for source in sorted(lines))

    def add(self):
        path = "/".join(filter(None, [self.random.choice(self.folders()), self.random.choice(NAMES)]))
        if path in self.tree or path.count("/") > 2:
            return
        kind = self.random.choice(["dir", "dir", "file"])
        self.node(path, "add", kind, text="text\n" if kind == "file" else None)
        self.tree[path] = kind

    def copy(self, revision):
        peg = self.random.randint(max(0, revision - 4), revision - 1)
        sources = [path for path in self.trees[peg] if path]
        path = "/".join(filter(None, [self.random.choice(self.folders()), self.random.choice(NAMES)]))
        if not sources or path in self.tree or path.count("/") > 2:
            return
        source = self.random.choice(sources)
        mergeinfo = self.mergeinfo(path, revision) if self.random.random() < 0.3 else None
        self.node(path, "add", self.trees[peg][source], (source, peg), mergeinfo=mergeinfo)
        for old, kind in self.trees[peg].items():
            if old == source or old.startswith(source + "/"):
                self.tree[path + old[len(source):]] = kind

    def delete(self):
        paths = [path for path in self.tree if path]
        if not paths:
            return
        path = self.random.choice(paths)
        self.node(path, "delete")
        self.tree = {p: kind for p, kind in self.tree.items() if p != path and not p.startswith(path + "/")}

    def change(self, revision):
        path = self.random.choice(list(self.tree))
        kind = self.tree[path]
        if self.random.random() < 0.75:
            self.node(path, "change", kind, mergeinfo=self.mergeinfo(path, revision))
        elif kind == "file":
            self.node(path, "change", kind, text="text %d\n" % revision)

    def revision(self, number):
        self.out.append("Revision-number: %d\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n" % number)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            step = self.random.random()
            if number == 1 or step < 0.2:
                self.add()
                self.add()
            elif step < 0.4:
                self.copy(number)
            elif step < 0.48:
                self.delete()
            else:
                self.change(number)
        self.trees.append(dict(self.tree))

    def question(self):
        """A log command: paths, start, end, changed paths?, strict?, limit."""
        draw = self.random
        paths = draw.sample(sorted(self.tree), min(len(self.tree), draw.choice([1, 1, 1, 2, 3])))
        low, high = draw.choice([(1, self.revisions)] * 3 + [sorted(draw.choices(range(self.revisions + 1), k=2))])
        start, end = (low, high) if draw.random() < 0.1 else (high, low)
        return paths, start, end, draw.random() < 0.8, draw.random() < 0.1, draw.choice([0] * 19 + [2])


def truth(value):
    return b"true " if value else b"false "


def ask(peer, question, merged=True):
    """What comes: entries, and how it ended (None: nobody knows). An entry is its paths, revision and rest."""
    paths, start, end, changed, strict, limit = question
    peer.say(b"( log ( ( %s) ( %d ) ( %d ) %s%s%d %srevprops ( ) ) ) " % (
        b"".join(map(s, paths)), start, end, truth(changed), truth(strict), limit, truth(merged)))
    entries = []
    try:
        item = peer.authenticate()
        while item is None or item[0] not in (("w", "success"), ("w", "failure")):
            if isinstance(item, list):
                is_end = item[6] == ("w", "true")  # stock lists paths there, too, but clients tell them to nobody
                entries.append(([] if is_end else sorted(map(show, item[0])), item[1], show(item[2:])))
            item = peer.hear()
        return entries, str(peer.failure(item))
    except (Closed, TimeoutError):
        return entries, None


def alike(got, wanted, own):
    """Are these two entries the same but for the paths of others? OWN has what each revision changed."""
    lists = got[0], wanted[0]
    return got[1:] == wanted[1:] and all(Counter(own.get(got[1], [])) <= Counter(paths) for paths in lists)


def connect(port, name, **options):
    peer = Peer(port, "/" + name, **options)
    peer.greet()
    return peer


def compare(root, stock_port, our_port, seed, revisions):
    """Differences as texts, and how much there was."""
    history = History(seed, revisions)
    for number in range(1, history.revisions + 1):
        history.revision(number)
    name = "history-%d" % seed
    subprocess.run(["svnadmin", "create", root + "/" + name], check=True)
    subprocess.run(["svnadmin", "load", "-q", "--bypass-prop-validation", "--no-flush-to-disk", root + "/" + name],
                   input="".join(history.out).encode(), check=True)
    own = {entry[1]: entry[0] for entry in ask(connect(stock_port, name), ([""], 0, revisions, True, False, 0), False)[0]}
    ours, differences, counts = connect(our_port, name), [], Counter()
    for _ in range(QUESTIONS):
        question = history.question()
        stock = connect(stock_port, name, timeout=PATIENCE)
        wanted, wanted_end = ask(stock, question)
        stock.close()
        got, got_end = ask(ours, question)
        counts["entries"] += len(wanted)
        if wanted_end is None:
            counts["endless"] += 1
            got, got_end = got[:len(wanted)], None
        for at, pair in enumerate(zip(got + [got_end], wanted + [wanted_end])):
            if pair[0] == pair[1]:
                continue
            if at < min(len(got), len(wanted)) and question[3] and alike(*pair, own):
                counts["strange"] += 1
                continue
            differences.append("seed %d: log %s\n  entry %d, varve: %s\n  entry %d, stock: %s" % (
                seed, question, at, pair[0], at, pair[1]))
            break
    subprocess.run(["rm", "-rf", root + "/" + name], check=True)
    return differences, counts


def main():
    root = sys.argv[1]
    stock_port, our_port, first, count = map(int, sys.argv[2:6])
    revisions = int(sys.argv[6]) if len(sys.argv) > 6 else 14
    counts = Counter()
    for seed in range(first, first + count):
        differences, more = compare(root, stock_port, our_port, seed, revisions)
        counts += more
        for difference in differences:
            print(difference, flush=True)
    print("%d questions, %d entries, %d with other paths of others, %d without an end from stock" % (
        count * QUESTIONS, counts["entries"], counts["strange"], counts["endless"]))


main()
