# SPDX-License-Identifier: Apache-2.0
"""What random_wire draws: small histories, rules, and sessions of protocol commands.

A step is a list: [COMMAND, ITEM...] is a command; ["+", COMMAND, ITEM...] goes on with the conversation of the
command before it (a report, an edit); ["raw", TEXT] is bytes after which nothing follows. An ITEM is a number, a
list, ":TEXT" for a string (a character a byte; $URL is the repository's, $TOKEN the last lock's token), or a word.
"""

import hashlib

import svndiff

USERS = ("alice", "bob")
NAMES = ("a", "b", "c", "f", "g", "x y", "\u00e9", "@1")
DEPTHS = ("empty", "files", "immediates", "infinity")
ODD_DEPTHS = ("exclude", "unknown", "sideways")
FORMATS = ("1.4", "1.6", "1.8", "1.9", "1.10", "1.10", "1.10")
ODD_REVISIONS = (-1, 99, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64)
ODD_PATHS = (b"/", b"..", b".", b"../a", b"a/..", b"a/../b", b"./a", b"a/.", b"//", b"a//b", b"a/", b"/a", b"a/b/", b"\xff", b"a/\xe6x",
             b"\xed\xa0\x80", b"\xc0\x80", b"a\0b", b"a\tb", b"a\nb", b"%41", b"a%2fb", b"x" * 300, b"a/" * 200 + b"a", b"\\", b"-r", b"*", b"A")
ODD_NAMES = (b"", b"svn:", b"svn:log\0x", b"svn:mergeinfo\0", b"\xff", b"a b", b"a:b", b"1a", b"-a", b"svn:unknown", b"svn:entry:x",
             b"svn:wc:x", b"x" * 300, b"a\nb", b"\xc3\xa9", b"svn:date", b"svn:author", b"svn:log", b"_", b"a=b")
ODD_VALUES = (b"", b"a\r\nb", b"a\rb", b"\xff\xfe", b"\0", b"x" * 2000, b"/a:1", b"/a:2-1", b"/a:1-2,x", b"junk", b"/a:", b"native", b"*",
              b"2004-01-02T00:00:00.000000Z", b"never", b"/a:1*\n/b:1-3", b"a\nb\n")
PARTING = ("", "a", "/", b"", b"a\nb", b"\xff")  # names of properties, URLs: known differences, which end a commit or a connection
FIELDS = ("kind", "size", "has-props", "created-rev", "time", "last-author")


def text_of(data):
    """DATA as it stands in steps: a character a byte."""
    return (data.encode() if isinstance(data, str) else data).decode("latin-1")


def parent_of(path):
    return path.rpartition("/")[0]


def join(*parts):
    return "/".join(part for part in parts if part)


def below(path, top):
    """Whether PATH is TOP or in it."""
    return not top or path == top or path.startswith(top + "/")


# ---- histories ---------------------------------------------------------------------------


class History:
    """Revisions as dump records, and the tree that each makes: {path: [kind, text]}."""

    def __init__(self, draw):
        self.draw = draw
        self.format = draw.choice(FORMATS)
        self.trees = [{"": ["d", b""]}]
        self.revisions = [[]]
        self.texts = 0
        for _ in range(draw.randint(3, 9)):
            tree = dict(self.trees[-1])
            self.records, self.touched = [], set()
            for _ in range(draw.choice((1, 2, 3, 6)) + (4 if len(self.trees) == 1 else 0)):
                self.change(tree)
            self.trees.append(tree)
            self.revisions.append(self.records)
        del self.draw

    def text(self):
        self.texts += 1
        return ("line %d\n" % self.texts).encode() * self.draw.choice((0, 1, 3, 40))

    def record(self, path, kind, action, text=None, props=None, source=None):
        self.records.append([path, kind, action, None if text is None else text_of(text), props, source])
        self.touched.add(path)

    def free(self, path):
        """Nothing was done to it in this revision, nor above or below."""
        return not any(below(path, other) and other or below(other, path) for other in self.touched)

    def change(self, tree):
        draw = self.draw
        folders = sorted(path for path in tree if tree[path][0] == "d" and path.count("/") < 3)
        path = join(draw.choice(folders), draw.choice(NAMES))
        if path in tree and draw.random() < 0.15 and self.free(path):
            action = draw.choice(("delete", "delete", "replace"))
            if action == "delete" or draw.random() < 0.5:
                self.record(path, None, "delete")
            kind, tree_path = draw.choice("dff"), path
            for inner in [inner for inner in tree if below(inner, path)]:
                del tree[inner]
            if action == "replace":
                self.add(tree, tree_path, kind, "add" if self.records and self.records[-1][:3] == [path, None, "delete"] else "replace")
        elif path in tree and (path in self.touched or self.free(path)):
            kind = tree[path][0]
            text = self.text() if kind == "f" and draw.random() < 0.7 else None
            self.record(path, kind, "change", text, self.props(kind) if text is None or draw.random() < 0.3 else None)
            if text is not None:
                tree[path] = ["f", text]
        elif path not in tree and self.free(path):
            self.add(tree, path, draw.choice("ddff"), "add")
        elif draw.random() < 0.1 and "" not in self.touched:
            self.record("", "d", "change", None, self.props("d"))
            self.touched.discard("")

    def add(self, tree, path, kind, action):
        draw = self.draw
        revision = draw.randrange(len(self.trees))
        sources = sorted(other for other in self.trees[revision] if other and not below(path, other))
        if revision and sources and draw.random() < 0.4:
            source = draw.choice(sources)
            inner = {join(path, other[len(source) + 1:]): self.trees[revision][other] for other in self.trees[revision] if below(other, source)}
            kind = inner[path][0]
            text = self.text() if kind == "f" and draw.random() < 0.3 else None
            tree.update(inner)
            self.record(path, kind, action, text, self.props(kind) if draw.random() < 0.2 else None, [source, revision])
            if text is not None:
                tree[path] = ["f", text]
        else:
            text = self.text() if kind == "f" else None
            tree[path] = [kind, text or b""]
            self.record(path, kind, action, text, self.props(kind) if draw.random() < 0.3 else None)

    def props(self, kind):
        """{name: value or None}."""
        draw, head = self.draw, len(self.trees)
        name = draw.choice(("p", "q", "svn:mergeinfo", "svn:mergeinfo", "odd name", "svn:eol-style" if kind == "f" else "svn:ignore"))
        if draw.random() < 0.15:
            return {name: None}
        value = {"svn:eol-style": "native", "svn:ignore": "*.o\n"}.get(name) or draw.choice(("1", "2", "", "\xff\0", "two\nlines\n"))
        if name == "svn:mergeinfo":
            names = sorted(draw.sample(["/" + path for path in self.trees[-1] if path] or ["/none"], 1))
            first = draw.randint(1, head)
            value = "\n".join("%s:%s%s" % (text_of(path), draw.choice((str(first), "1-%d" % head if head > 1 else "1")),
                                           draw.choice(("", "", "*" if kind == "d" else ""))) for path in names)
        return {name: value}

    def dump(self):
        """It as a dump stream."""
        out = [b"SVN-fs-dump-format-version: 3\n\n"]
        for number, records in enumerate(self.revisions):
            props = {"svn:date": "2004-01-%02dT00:00:00.000000Z" % (number + 1)}
            if number:
                props |= {"svn:log": "log of %d\nmore" % number, "svn:author": USERS[number % 2]}
                if number % 5 == 4:
                    props = {"svn:log": "", "svn:date": props["svn:date"], "odd": "\xff"}
            block = property_block(props)
            out.append(b"Revision-number: %d\nProp-content-length: %d\nContent-length: %d\n\n%s\n" % (number, len(block), len(block), block))
            out += [node_record(*record) for record in records]
        return b"".join(out)


def property_block(props):
    out = b""
    for name, value in sorted(props.items()):
        name = name.encode("latin-1")
        if value is None:
            out += b"D %d\n%s\n" % (len(name), name)
        else:
            value = value.encode("latin-1")
            out += b"K %d\n%s\nV %d\n%s\n" % (len(name), name, len(value), value)
    return out + b"PROPS-END\n"


def node_record(path, kind, action, text, props, source):
    head = b"Node-path: %s\n" % path.encode()
    if kind:
        head += b"Node-kind: %s\n" % {"d": b"dir", "f": b"file"}[kind]
    head += b"Node-action: %s\n" % action.encode()
    if source:
        head += b"Node-copyfrom-rev: %d\nNode-copyfrom-path: %s\n" % (source[1], source[0].encode())
    block = b""
    if props is not None:
        block = property_block(props)
        head += b"Prop-delta: true\nProp-content-length: %d\n" % len(block)
    if text is not None:
        text = text.encode("latin-1")
        head += b"Text-content-length: %d\n" % len(text)
    body = block + (text or b"")
    return head + b"Content-length: %d\n\n%s\n\n" % (len(body), body)


# ---- sessions ----------------------------------------------------------------------------


class Drawing:
    """The steps of one session."""

    def __init__(self, draw, history):
        self.draw = draw
        self.history = history
        self.head = len(history.trees) - 1
        self.paths = sorted({path for tree in history.trees for path in tree})
        self.user = draw.choice(("", "", *USERS))
        self.anonymous = draw.choice(("read", "write", "write") if not self.user else ("none", "read", "write"))
        self.authz = self.rules() if self.chance(0.4) else None
        self.at = draw.choice(self.paths) if self.chance(0.4) else ""
        self.old_client = self.chance(0.15)
        self.tokens = 0
        self.steps = []

    def case(self):
        names, weights = zip(*WEIGHTS.items())
        length = self.draw.randint(3, 25)
        while len(self.steps) < length:
            before = len(self.steps)
            getattr(self, self.draw.choices(names, weights)[0])()
            self.spoil(before)
        return {"user": self.user, "anonymous": self.anonymous, "authz": self.authz, "at": self.at, "old": self.old_client,
                "format": self.history.format, "history": text_of(self.history.dump()), "steps": self.steps}

    def rules(self):
        lines = []
        for path in {""} | set(self.draw.choices(self.paths, k=self.draw.randint(1, 4))):
            lines.append("[/%s]" % path)
            whole = "* = rw" if path == "" and self.chance(0.7) else None
            names = self.draw.sample(["*", "alice", "bob", "$anonymous", "$authenticated"], self.draw.randint(1, 2))
            lines += [whole] if whole else ["%s = %s" % (name, self.draw.choice(("", "", "r", "rw"))) for name in names]
        return "\n".join(lines) + "\n"

    # -- parts

    def chance(self, part):
        return self.draw.random() < part

    def flag(self, part=0.5):
        return "true" if self.chance(part) else "false"

    def odd(self, choices):
        """One of CHOICES; seldom one after which the servers' ways part."""
        choice = self.draw.choice(choices)
        while (choice in PARTING or "\0" in text_of(choice)) and not self.chance(0.2):
            choice = self.draw.choice(choices)
        return choice

    def some_path(self):
        """A path in the repository."""
        roll = self.draw.random()
        if roll < 0.1:
            return ""
        if roll < 0.2:
            return join(self.draw.choice(self.paths), self.draw.choice(NAMES + ("none",)))
        return self.draw.choice(self.paths)

    def path(self, odd=0.12):
        """A string: a path of the session."""
        if self.chance(odd):
            return ":" + text_of(self.odd(ODD_PATHS))
        path = self.some_path()
        if self.at and not below(path, self.at):
            inside = [other for other in self.paths if below(other, self.at)]
            path = self.draw.choice(inside) if self.chance(0.8) else path
        return ":" + text_of(path[len(self.at):].lstrip("/") if below(path, self.at) else path)

    def url(self):
        if self.chance(0.06):
            return ":" + self.odd(("svn://other/repos", "$URL/..", "$URL/", "$URLx", "", "a", "/", "$URL//a", "http://x", "$URL/%41", "$URL/%zz",
                                           "$URL/\xff", "$URL/a/../b"))
        return ":" + join("$URL", text_of(self.some_path()).replace("%", "%25"))

    def revision(self, odd=0.06):
        if self.chance(odd):
            value = self.draw.choice(ODD_REVISIONS)
            return value if value >= 0 else "-1"
        return self.draw.randint(0 if self.chance(0.2) else 1, self.head)

    def maybe_revision(self, empty=0.35):
        return [] if self.chance(empty) else [self.revision()]

    def depth(self):
        return self.draw.choice(ODD_DEPTHS) if self.chance(0.12) else self.draw.choice(DEPTHS)

    def name(self):
        if self.chance(0.2):
            return ":" + text_of(self.odd(ODD_NAMES))
        return ":" + self.draw.choice(("p", "q", "svn:mergeinfo", "odd name", "svn:eol-style", "svn:ignore", "svn:special", "svn:executable", "svn:externals"))

    def revision_property(self):
        return ":" + text_of(self.odd(ODD_NAMES) if self.chance(0.2) else
                             self.draw.choice((b"svn:log", b"svn:author", b"svn:date", b"odd", b"new")))

    def value(self):
        return ":" + text_of(self.draw.choice(ODD_VALUES) if self.chance(0.3) else self.draw.choice((b"1", b"2", b"value\n")))

    def fields(self):
        return self.draw.sample(FIELDS, self.draw.randint(0, 6)) + (["future"] if self.chance(0.05) else [])

    def tail(self, command, needed, *optional):
        """COMMAND with as many of the OPTIONAL items as a client of some age sends."""
        count = len(optional) if self.chance(0.7) else self.draw.randint(0, len(optional))
        self.steps.append([command, *needed, *optional[:count]])

    # -- commands that read

    def nothing(self):
        self.steps.append([self.draw.choice(("get-latest-rev", "make-coffee", "set-path", "open-root", "close-edit", "abort-edit", "success",
                                             "finish-report", "finish-replay"))])

    def get_latest_rev(self):
        self.steps.append(["get-latest-rev"])

    def reparent(self):
        self.steps.append(["reparent", self.url()])
        path = self.steps[-1][1]
        if path.startswith(":$URL") and path[5:].strip("/").encode("latin-1").decode("utf-8", "replace") in self.paths:
            self.at = path[5:].strip("/").encode("latin-1").decode("utf-8")

    def get_dated_rev(self):
        self.steps.append(["get-dated-rev", ":" + self.draw.choice((
            "2004-01-0%dT00:00:00.000000Z" % self.draw.randint(1, 9), "2004-01-0%dT12:00:00.5Z" % self.draw.randint(1, 9), "1969-12-31T00:00:00.000000Z",
            "2003-01-01T00:00:00.000000Z", "2090-01-01T00:00:00.000000Z", "now", "", "2004-13-01T00:00:00.000000Z", "2004-01-02", "{2004-01-02}"))])

    def rev_proplist(self):
        self.steps.append(["rev-proplist", self.revision()])

    def rev_prop(self):
        self.steps.append(["rev-prop", self.revision(), self.revision_property()])

    def check_path(self):
        self.steps.append([self.draw.choice(("check-path", "stat", "get-iprops")), self.path(), self.maybe_revision()])

    def get_file(self):
        self.tail("get-file", [self.path(), self.maybe_revision(), self.flag(), self.flag()], self.flag(0.2))

    def get_dir(self):
        self.tail("get-dir", [self.path(), self.maybe_revision(), self.flag(), self.flag(0.8)], self.fields(), self.flag(0.2))

    def list(self):
        patterns = self.draw.choices((":*", ":a*", ":?", ":[a-c]", ":f", ":", ":\xff", ":[", ":*y", ":\\a", ":**"), k=self.draw.randint(0, 2))
        self.tail("list", [self.path(), self.maybe_revision(), self.depth(), self.fields()], patterns)

    def get_mergeinfo(self):
        self.steps.append(["get-mergeinfo", [self.path() for _ in range(self.draw.choice((0, 1, 1, 2, 3)))], self.maybe_revision(),
                           self.draw.choice(("explicit", "inherited", "nearest-ancestor") + (("sideways",) if self.chance(0.1) else ())), self.flag()])

    def log(self):
        paths = [self.path() for _ in range(self.draw.choice((0, 1, 1, 1, 2, 3)))] if self.chance(0.7) else [":"]
        which = ["all-revprops"] if self.chance(0.3) else ["revprops", [self.revision_property() for _ in range(self.draw.randint(0, 3))]]
        self.tail("log", [paths, self.maybe_revision(0.2), self.maybe_revision(0.2), self.flag(0.7), self.flag(0.4)],
                  self.draw.choice((0, 0, 1, 2, 5, 2 ** 31, 2 ** 32 + 1, 2 ** 63)), self.flag(0.4), *which)

    def get_locations(self):
        self.steps.append(["get-locations", self.path(), self.revision(), [self.revision() for _ in range(self.draw.randint(0, 4))]])

    def get_location_segments(self):
        self.steps.append(["get-location-segments", self.path(), self.maybe_revision(), self.maybe_revision(), self.maybe_revision()])

    def get_file_revs(self):
        self.tail("get-file-revs", [self.path(), self.maybe_revision(), self.maybe_revision()], self.flag(0.4))

    def get_deleted_rev(self):
        self.steps.append(["get-deleted-rev", self.path(), self.revision(), self.revision()])

    def replay(self):
        low = 0 if self.chance(0.7) else self.revision()
        if self.chance(0.6):
            self.steps.append(["replay", self.revision(), low, self.flag(0.7)])
        else:
            first = self.revision(0.02)
            self.steps.append(["replay-range", first, self.revision(0.02) if self.chance(0.2) else min(first + 2, self.head) if first != "-1" else first, low, self.flag(0.7)])

    # -- what writes, but commits

    def change_rev_prop(self):
        value = [self.value()] if self.chance(0.8) else []
        if self.chance(0.4):
            self.steps.append(["change-rev-prop", self.revision(), self.revision_property(), *value])
        else:
            old = ["true"] if self.chance(0.5) else [self.flag(0.2)] + ([self.value()] if self.chance(0.7) else [])
            self.steps.append(["change-rev-prop2", self.revision(), self.revision_property(), value, old])

    def comment(self):
        return [":" + self.draw.choice(("why", "", "\xff", "a\nb", "\x01"))] if self.chance(0.5) else []

    def token(self):
        return [":" + self.draw.choice(("$TOKEN", "$TOKEN", "opaquelocktoken:x", "", "junk"))] if self.chance(0.7) else []

    def lock(self):
        path = self.path()
        which = self.draw.randint(0, 3)
        if which == 0:
            self.steps.append(["lock", path, self.comment(), self.flag(0.3), self.maybe_revision(0.7)])
        elif which == 1:
            self.steps.append(["unlock", path, self.token(), self.flag(0.3)])
        elif which == 2:
            self.steps.append(["lock-many", self.comment(), self.flag(0.3), [[self.path(), self.maybe_revision(0.7)] for _ in range(self.draw.randint(0, 3))]])
        else:
            self.steps.append(["unlock-many", self.flag(0.3), [[self.path(), self.token()] for _ in range(self.draw.randint(0, 3))]])

    def locks(self):
        if self.chance(0.5):
            self.steps.append(["get-lock", self.path()])
        else:
            self.tail("get-locks", [self.path()], [self.depth()] if self.chance(0.7) else [])

    # -- reports

    def report(self):
        command = self.draw.choice(("update", "update", "switch", "status", "diff"))
        tree = self.history.trees[self.draw.randint(0, self.head)]
        children = [path for path in tree if parent_of(path) == self.at and path != self.at and path]
        target = ":"
        if children and self.chance(0.25):
            target = ":" + text_of(self.draw.choice(children)[len(self.at):].lstrip("/"))
        elif self.chance(0.05):
            target = self.path(0.5)
        revision, recurse, depth = self.maybe_revision(), self.flag(0.8), self.depth()
        if command == "update":
            self.tail(command, [revision, target, recurse], depth, self.flag(0.3), self.flag(0.2))
        elif command == "switch":
            self.tail(command, [revision, target, recurse, self.url()], depth, self.flag(0.3), self.flag(0.4))
        elif command == "status":
            self.tail(command, [target, recurse], revision, depth)
        else:
            self.tail(command, [revision, target, recurse, self.flag(0.3), self.url()], self.flag(0.7), depth)
        self.report_lines()

    def report_lines(self):
        base = self.draw.randint(0 if self.chance(0.1) else 1, self.head)
        inside = [path[len(self.at):].lstrip("/") for path in sorted(self.history.trees[base]) if below(path, self.at) and path != self.at]
        self.say("set-path", ":", base, self.flag(0.3), *([[], self.depth()] if self.chance(0.5) else []))
        chosen = sorted(self.draw.sample(inside, min(len(inside), self.draw.choice((0, 0, 1, 2, 4)))), key=lambda path: path.split("/"))
        if self.chance(0.05):
            self.draw.shuffle(chosen)
        shallow = []
        for path in chosen:
            if any(below(path, place) for place in shallow) and self.chance(0.9):  # a client says nothing of what it does not have
                continue
            path = self.path(1) if self.chance(0.04) else ":" + text_of(path)
            token = [":t"] if self.chance(0.2) else []
            depth = [self.depth()] if self.chance(0.4) else []
            roll = self.draw.random()
            if roll < 0.5:
                self.say("set-path", path, self.revision(0.04), self.flag(0.2), token, *depth)
                shallow += [path[1:]] if depth and depth != ["infinity"] else []
            elif roll < 0.8:
                self.say("delete-path", path)
                shallow.append(path[1:])
            else:
                self.say("link-path", path, self.url(), self.revision(0.04), self.flag(0.2), token, *depth)
                shallow += [path[1:]] if depth and depth != ["infinity"] else []
        self.say(*self.draw.choices((["finish-report"], ["abort-report"], ["nonsense"]), (94, 5, 1))[0])

    def say(self, *items):
        self.steps.append(["+", *items])

    # -- commits

    def commit(self):
        tokens = [[self.path(0.05), ":" + self.draw.choice(("$TOKEN", "x"))] for _ in range(self.draw.randint(0, 2))] if self.chance(0.2) else []
        props = [[self.revision_property(), self.value()]] if self.chance(0.2) else []
        self.tail("commit", [":log"], tokens, self.flag(0.2), props)
        before = len(self.steps)
        self.say("open-root", self.maybe_revision(0.7), ":r")
        self.late = []
        self.edit_folder(self.at, ":r", 0)
        self.steps += self.late
        if len(self.steps) > before + 1 and self.chance(0.05):
            one, other = self.draw.randrange(before, len(self.steps)), self.draw.randrange(before, len(self.steps))
            self.steps[one], self.steps[other] = self.steps[other], self.steps[one]
        self.say("close-dir", ":r")
        self.say(*self.draw.choices((["close-edit"], ["abort-edit"], ["target-rev", 3]), (92, 7, 1))[0])

    def new_token(self):
        self.tokens += 1
        return ":t%d" % self.tokens

    def edit_folder(self, folder, token, depth):
        """Edit what is in FOLDER, which is open as TOKEN."""
        tree = self.history.trees[-1]
        if self.chance(0.15):
            self.say("change-dir-prop", token, self.name(), [self.value()] if self.chance(0.8) else [])
        children = sorted(path for path in tree if path and parent_of(path) == folder)
        for _ in range(self.draw.choice((0, 1, 1, 2)) if depth else self.draw.choice((1, 1, 2, 3))):
            path = self.draw.choice(children) if children and self.chance(0.6) else join(folder, self.draw.choice(NAMES))
            kind = tree.get(path, [None])[0]
            if self.chance(0.04):
                kind = self.draw.choice(("d", "f", None))
            self.edit_node(path, kind, token, depth)

    def edit_node(self, path, kind, parent, depth):
        relative = ":" + text_of(path[len(self.at):].lstrip("/")) if self.chance(0.97) else self.path(1)
        token = self.new_token()
        roll = self.draw.random()
        revision = self.maybe_revision(0.5)
        if kind and roll < 0.25:
            self.say("delete-entry", relative, revision, parent)
            if self.chance(0.5):
                return
            kind = None
        if kind == "d" and depth < 3:
            self.say("open-dir", relative, parent, token, revision)
            self.edit_folder(path, token, depth + 1)
            self.say("close-dir", token)
        elif kind == "f":
            self.say("open-file", relative, parent, token, revision)
            self.edit_file(path, token)
        elif self.chance(0.5):
            source = [self.url(), self.revision()] if self.chance(0.5) else []
            self.say("add-dir", relative, parent, token, source)
            if depth < 3:
                self.edit_folder(path, token, depth + 1)
            self.say("close-dir", token)
        else:
            source = [self.url(), self.revision()] if self.chance(0.4) else []
            self.say("add-file", relative, parent, token, source)
            self.edit_file(None if source else "", token)

    def edit_file(self, path, token):
        """Edit a file: "" is new, None is a copy."""
        if self.chance(0.3):
            self.say("change-file-prop", token, self.name(), [self.value()] if self.chance(0.8) else [])
        steps, checksum = [], []
        if self.chance(0.75):
            old = self.history.trees[-1].get(path, ["", b""])[1] if path else b""
            kept = self.draw.randint(0, len(old)) if self.chance(0.4) else 0
            text = old[:kept] + self.draw.choice((b"", b"new\n", b"text " * 20, bytes(range(256))))
            document = svndiff.make(text, self.draw.randint(0, 2), min(kept, len(text)))
            if self.chance(0.04):
                at = self.draw.randrange(len(document))
                document = document[:at] + self.draw.choice((b"", b"\0", b"\xff", document[:9])) + document[at + 1:]
            base = [":" + hashlib.md5(old if self.chance(0.9) else b"x").hexdigest()] if self.chance(0.4) else []
            checksum = [":" + hashlib.md5(text if self.chance(0.95) else b"x").hexdigest()] if self.chance(0.7) else []
            if self.chance(0.03):
                checksum = [":" + self.draw.choice(("0" * 32, "junk", "", "D" * 32))]
            steps.append(["+", "apply-textdelta", token, base])
            cut = self.draw.randint(0, len(document)) if self.chance(0.3) else len(document)
            steps += [["+", "textdelta-chunk", token, ":" + text_of(piece)] for piece in (document[:cut], document[cut:]) if piece]
            steps.append(["+", "textdelta-end", token])
        steps.append(["+", "close-file", token, checksum])
        if self.chance(0.3):
            self.late += steps
        else:
            self.steps += steps

    # -- what no client says

    def raw(self):
        if self.chance(0.3):
            self.steps.append(["raw", self.draw.choice((
                "( get-latest-rev ", "( get-latest-rev ( ) )", "get-latest-rev ", "5 ", "3:abc ", "( ) ", "( ( ) ) ", ") ", "( get-latest-rev ( ) 5 ) ",
                "(get-latest-rev ( ) ) ", "( get-latest-rev( ) ) ", "( stat ( 3:ab ( ) ) ) ", "( stat ( 2:abc ( ) ) ) ", "( stat ( 99999999999: ", "\n\n( get-latest-rev\n(\n)\n)\n",
                "( get-latest-rev () ) ", "( " * 70 + ") " * 70, "( %s ( ) ) " % ("w" * 24), "( %s ( ) ) " % ("w" * 33), "( Get-Latest-Rev ( ) ) ",
                "( get-latest-rev ( -1 ) ) ", "( rev-prop ( 1 7:svn:logx ) ) ", "( rev-prop ( 01 7:svn:log ) ) ", "( rev-prop ( 1 007:svn:log ) ) ", "\0"))])

    def spoil(self, before):
        """Make one of the steps from BEFORE on into what no client sends, now and then."""
        if before == len(self.steps) or not self.chance(0.07):
            return
        at = self.draw.randrange(before, len(self.steps))
        step = self.steps[at]
        first = 2 if step[0] == "+" else 1
        roll = self.draw.random()
        if step[0] == "raw":
            return
        if roll < 0.2:
            self.steps[at] = step + self.draw.choice(([7], [":x", []], ["future"]))
        elif roll < 0.4 and len(step) > first:
            self.steps[at] = step[:self.draw.randrange(first, len(step))]
        elif roll < 0.8 and len(step) > first:
            where = self.draw.randrange(first, len(step))
            odd = self.draw.choice((5, ":abc", "word", [], [":abc"], [5], [[]], "true"))
            self.steps[at] = step[:where] + [odd] + step[where + 1:]
        elif roll < 0.9:
            self.steps.insert(at, list(step))
        else:
            self.steps.insert(at, ["+", self.draw.choice(("open-root", "close-edit", "get-latest-rev", "absent-dir", "finish-report", "set-path", "success")), ":x"])


WEIGHTS = {"nothing": 0.5, "get_latest_rev": 1, "reparent": 2, "get_dated_rev": 1, "rev_proplist": 1, "rev_prop": 1, "check_path": 4, "get_file": 3,
           "get_dir": 3, "list": 3, "get_mergeinfo": 4, "log": 5, "get_locations": 3, "get_location_segments": 3, "get_file_revs": 4,
           "get_deleted_rev": 2, "replay": 3, "change_rev_prop": 2, "lock": 4, "locks": 2, "report": 9, "commit": 8, "raw": 0.5}


def draw_case(draw, history):
    return Drawing(draw, history).case()
