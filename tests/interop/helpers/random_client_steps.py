# SPDX-License-Identifier: Apache-2.0
"""Which steps random_client draws.

A step is a list: ["svn", USER, SUBCOMMAND, ARGUMENT...], where $URL stands for the repository and $ALT for
another URL of it, or [ACTION, PATH, TEXT] of what people do to a working copy without Subversion. Steps are
drawn one after the other, knowing what the ones before have made, so that most of them do something.
"""

import os
import shlex
import shutil

USERS = ("alice", "bob")
DEPTHS = ("empty", "files", "immediates", "infinity")
ODD_NAMES = ("new", "new", "new2", "mu", "E", "x y", "at@3", "dé%41", "#h", "q'q", "a;b", "(p)", "-dash", "&amp",
             'q"q', "a\\b", "[x]", "*", "~", "100%", "a+b", " lead", "tail ", ".hid", "e\u0301", "文", "at@")
BASES = ("^/",) * 4 + ("$URL/",) * 4 + ("$ALT/", "../")  # of externals
LINKS = ("mu", "E", "nowhere")
LINES = "".join(f"line {number}\\n" for number in range(1, 9))

# The repository that every case begins with; $1 is where. Six of its revisions change what others copied.
TEMPLATE = r"""
svnadmin create "$1"
u=file://$(realpath "$1") t=$(mktemp -d)
for f in alpha beta lambda pi rho chi mu iota; do printf '@LINES@' >"$t/$f"; echo "$f" >>"$t/$f"; done
s() { svnmucc --config-dir "$t/c" -u alice -U "$u" -m "$@"; }
s 1 mkdir A mkdir A/B mkdir A/B/E mkdir A/C mkdir A/D mkdir A/D/G mkdir A/D/H \
    put "$t/alpha" A/B/E/alpha put "$t/beta" A/B/E/beta put "$t/lambda" A/B/lambda put "$t/pi" A/D/G/pi \
    put "$t/rho" A/D/G/rho put "$t/chi" A/D/H/chi put "$t/mu" A/mu put "$t/iota" iota
s 2 cp 1 A br
sed -i 's/line 3/LINE three/' "$t/mu" && s 3 put "$t/mu" A/mu propset p 1 A/mu
sed -i 's/line 5/LINE five/' "$t/chi" && s 4 put "$t/chi" br/D/H/chi propset p 2 br/D
s 5 mv A/D/G/rho A/D/rho rm A/C mkdir A/C put "$t/iota" A/C/iota
s 6 propset svn:mergeinfo /A:3 br put "$t/mu" br/mu
s 7 put "$t/pi" 'A/at@3' mkdir 'A/x y' put "$t/pi" 'A/x y/dé%41' propset svn:eol-style native iota
s 8 propset svn:keywords 'Rev Author URL' A/B/lambda propset svn:executable '*' A/D/G/pi propset q 1 .
rm -rf "$t" "$1"/hooks/*
printf '#!/bin/sh\n' >"$1/hooks/pre-revprop-change" && chmod +x "$1/hooks/pre-revprop-change"
""".replace("@LINES@", LINES).strip()
HEAD = 8

INITIAL = {"": "d", "iota": "f"}
for _top in ("A", "br"):
    INITIAL.update({f"{_top}{path}": "d" for path in ("", "/B", "/B/E", "/C", "/D", "/D/G", "/D/H")})
    INITIAL.update({f"{_top}/{path}": "f" for path in ("B/E/alpha", "B/E/beta", "B/lambda", "D/G/pi", "D/H/chi", "mu")})
INITIAL.update({"A/D/rho": "f", "br/D/G/rho": "f", "A/C/iota": "f", "A/at@3": "f", "A/x y": "d", "A/x y/dé%41": "f"})


def configuration(authz):
    """The files of conf/."""
    conf = "[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nrealm = random\n"
    files = {"passwd": "[users]\n" + "".join(f"{user} = {user}\n" for user in USERS)}
    if authz is not None:
        conf += "authz-db = authz\n"
        files["authz"] = authz
    files["svnserve.conf"] = conf
    return files


# ---- steps without Subversion ------------------------------------------------------------


def local(action, path, text=""):
    """Do it; OSError if that cannot be done."""
    if action == "append":
        with open(path, "a" if os.path.exists(path) else "x", encoding="utf-8") as file:
            file.write(text)
    elif action == "prepend":
        with open(path, "r+", encoding="utf-8") as file:
            old = file.read()
            file.seek(0)
            file.write(text + old)
    elif action == "mkdir":
        os.mkdir(path)
    elif action == "link":
        os.symlink(text, path)
    elif action == "remove":
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def shell(step):
    """It as a line of a shell script."""
    action, path = step[0], shlex.quote(step[1])
    if action == "append":
        return f"printf %s {shlex.quote(step[2])} >>{path}"
    if action == "prepend":
        return f"printf %s {shlex.quote(step[2])} | cat - {path} >t && cat t >{path} && rm t"
    if action == "link":
        return f"ln -s {step[2]} {path}"
    return f"mkdir {path}" if action == "mkdir" else f"rm -r {path}"


# ---- drawing -----------------------------------------------------------------------------


def parent_of(path):
    return path.rpartition("/")[0]


def join(*parts):
    return "/".join(part for part in parts if part)


def argument(path):
    """PATH so that svn sees no peg revision in it."""
    return path + "@" if "@" in path else path


def tree_on_disk(top):
    """{path: kind} of what is there."""
    tree = {"": "d"}
    for parent, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name != ".svn")
        inner = os.path.relpath(parent, top) if parent != top else ""
        tree.update({join(inner, name): "d" for name in folders})
        tree.update({join(inner, name): "f" for name in sorted(files)})
    return tree


class Drawing:
    """One case being drawn."""

    def __init__(self, draw):
        self.draw = draw
        self.repository = dict(INITIAL)
        self.copies = {}  # working copy: [user, anchor, {path: kind}]
        self.users = {}
        self.head = HEAD
        self.texts = 0
        self.steps = []
        self.authz = draw_authz(draw)
        self.length = draw.randint(5, 40)

    def next_steps(self):
        """The next, none at the end. What is where is what look_around has seen."""
        before = len(self.steps)
        if before >= self.length:
            return []
        names, weights = zip(*WEIGHTS.items())
        if not self.copies:
            self.checkout("w1")
        elif before == 1 and self.chance(0.5):
            self.checkout("w2")
        while len(self.steps) == before:
            getattr(self, self.draw.choices(names, weights)[0])()
        return self.steps[before:]

    def look_around(self, folder, head, repository):
        """Learn what is in FOLDER and in the repository, {path: kind}; None: as before."""
        self.head = head
        if repository is not None:
            self.repository = repository
        for name in list(self.copies):
            top = os.path.join(folder, name)
            if os.path.isdir(os.path.join(top, ".svn")):
                self.copies[name][2] = tree_on_disk(top)
            else:
                del self.copies[name]

    def chance(self, part):
        return self.draw.random() < part

    def pick(self, values):
        values = sorted(values)
        return self.draw.choice(values) if values else ""

    # -- parts of commands

    def text(self):
        self.texts += 1
        return f"text {self.texts}\n" * self.draw.choice((1, 1, 3))

    def revision(self):
        if self.chance(0.06):
            return self.draw.choice(("HEAD", "BASE", "COMMITTED", "PREV", "{2000-01-01}", "{2100-01-01}"))
        return str(self.draw.randint(0 if self.chance(0.1) else 1, self.head))

    def depth(self, part=0.3, option="--depth"):
        return [option, self.draw.choice(DEPTHS)] if self.chance(part) else []

    def option(self, part, *words):
        return list(words) if self.chance(part) else []

    def path_in(self, tree, kind=None):
        if self.chance(0.04):
            return join(self.pick([path for path in tree if tree[path] == "d"]), self.draw.choice(ODD_NAMES))
        return self.pick([path for path in tree if not kind or tree[path] == kind])

    def new_path(self, tree):
        return join(self.pick([path for path in tree if tree[path] == "d"]), self.draw.choice(ODD_NAMES))

    def url(self, kind=None, peg=0.1):
        return self.url_of(self.path_in(self.repository, kind), peg)

    def url_of(self, path, peg=0.1):
        text = join("$ALT" if self.chance(0.02) else "$URL", path)
        return f"{text}@{self.revision()}" if self.chance(peg) else argument(text)

    def copy(self):
        """A working copy, and who uses it: now and then the other one."""
        name = self.pick(self.copies)
        user, anchor, tree = self.copies[name]
        return (name, self.draw.choice(USERS) if self.chance(0.06) else user, anchor, tree)

    def targets(self, name, tree, most=3, kind=None):
        count = self.draw.choice((1,) * 5 + tuple(range(1, most + 1)))
        return [argument(join(name, self.path_in(tree, kind))) for _ in range(count)]

    def svn(self, user, *arguments):
        self.steps.append(["svn", user, *[str(item) for item in arguments]])

    # -- steps

    def checkout(self, name=None):
        name = name or self.draw.choice(("w1", "w2", "w3"))
        user = self.users.setdefault(name, self.draw.choice(USERS))
        anchor = "" if self.chance(0.45) else self.path_in(self.repository, "d")
        self.svn(user, "checkout", *self.option(0.2, "-r", self.revision()), *self.depth(0.25),
                 *self.option(0.1, "--force"), *self.option(0.1, "--ignore-externals"),
                 self.url_of(anchor), name)
        self.copies[name] = [user, anchor, {"": "d"}]

    def update(self):
        name, user, _, tree = self.copy()
        self.svn(user, "update", *self.option(0.3, "-r", self.revision()),
                 *(self.depth(0.25) or self.set_depth(0.2)), *self.option(0.1, "--force"),
                 *self.option(0.1, "--parents"), *self.option(0.1, "--ignore-externals"),
                 *self.option(0.05, "--adds-as-modification"),
                 *self.option(0.1, "--accept", self.draw.choice(("mine-full", "theirs-full", "working"))),
                 *([name] if self.chance(0.5) else self.targets(name, tree)))

    def set_depth(self, part):
        return ["--set-depth", self.draw.choice(DEPTHS + ("exclude",))] if self.chance(part) else []

    def switch(self):
        name, user, _, tree = self.copy()
        target = "" if self.chance(0.3) else self.path_in(tree)
        source = self.path_in(self.repository, tree.get(target, "d"))
        url = self.url_of(source)
        self.svn(user, "switch", *self.option(0.3, "-r", self.revision()),
                 *(self.depth(0.3) or self.set_depth(0.15)), *self.option(0.6, "--ignore-ancestry"),
                 *self.option(0.1, "--force"), url, argument(join(name, target)))
        if not target:
            self.copies[name][1] = source

    def relocate(self):
        name, user, anchor, _ = self.copy()
        pair = ["$URL", "$ALT"]
        self.draw.shuffle(pair)
        form = self.draw.choice(("roots", "roots", "anchors", "to", "elsewhere", "nowhere"))
        if form == "anchors":
            pair = [join(root, anchor) for root in pair]
        elif form == "to":
            pair = [join(pair[1], anchor)]
        elif form != "roots":
            pair[1] = join(pair[1], self.path_in(self.repository, "d") if form == "elsewhere" else form)
        self.svn(user, "relocate", *pair, name)

    def commit(self):
        name, user, _, tree = self.copy()
        targets = [name] if self.chance(0.65) else self.targets(name, tree, 4)
        if self.chance(0.1):
            targets += self.targets(name, tree)
        self.svn(user, "commit", "-m", f"m{len(self.steps)}", *self.depth(0.2),
                 *self.option(0.15, "--no-unlock"), *self.option(0.1, "--include-externals"),
                 *self.option(0.06, "--changelist", "cl"), *self.option(0.04, "--keep-changelists"),
                 *self.option(0.05, "--with-revprop", "note=why"), *targets)

    def edit(self):
        name, _, _, tree = self.copy()
        path = self.path_in(tree, "f")
        if path:
            self.steps.append([self.draw.choice(("append", "append", "prepend")), join(name, path), self.text()])

    def add(self):
        name, user, _, tree = self.copy()
        path = self.new_path(tree)
        if self.chance(0.5):
            self.steps.append(["link", join(name, path), self.draw.choice(LINKS)] if self.chance(0.12) else
                              ["append", join(name, path), self.text()])
            self.svn(user, "add", *self.option(0.2, "--force"), argument(join(name, path)))
        else:
            self.svn(user, "mkdir", *self.option(0.2, "--parents"), argument(join(name, path)))

    def obstruct(self):
        name, _, _, tree = self.copy()
        path = self.new_path(tree) if self.chance(0.4) else self.path_in(tree)
        if path and self.chance(0.5):
            self.steps.append(["remove", join(name, path)])
        if self.chance(0.6):
            self.steps.append(self.draw.choice((["append", join(name, path), self.text()],
                                                ["mkdir", join(name, path)],
                                                ["link", join(name, path), self.draw.choice(LINKS)])))

    def propset(self):
        name, user, _, tree = self.copy()
        target = "" if self.chance(0.15) else self.path_in(tree)
        prop = self.draw.choice(("p", "p", "q", "svn:ignore", "svn:eol-style", "svn:keywords", "svn:executable",
                                 "svn:needs-lock", "svn:mime-type", "odd:name"))
        value = {"svn:eol-style": self.draw.choice(("LF", "native", "CRLF", "bad")), "svn:keywords": "Rev Author",
                 "svn:mime-type": self.draw.choice(("text/plain", "application/x"))}.get(prop, self.text())
        if self.chance(0.2):
            self.svn(user, "propdel", prop, argument(join(name, target)))
        else:
            self.svn(user, "propset", *self.option(0.1, "-R"), prop, value, argument(join(name, target)))

    def mergeinfo(self):
        name, user, _, tree = self.copy()
        first = self.draw.randint(1, self.head)
        value = "\n".join(f"/{self.path_in(self.repository)}:{first}" + self.draw.choice(("", "*", f"-{first + 1}"))
                          for _ in range(self.draw.randint(1, 2)))
        self.svn(user, "propset", "svn:mergeinfo", value, argument(join(name, self.path_in(tree))))

    def externals(self):
        name, user, anchor, tree = self.copy()
        target = self.path_in(tree, "d")
        lines = []
        for _ in range(self.draw.choice((1, 1, 2))):
            # Folders near the root would hold themselves, and the client follows them for ever.
            source = self.pick([path for path in self.repository if self.repository[path] == "f" or
                                path.count("/") > 1 and not f"{join(anchor, target)}/".startswith(path + "/")])
            inside = self.pick([path for path in tree if parent_of(path) == target]) if self.chance(0.2) else ""
            peg = f"@{self.revision()}" if self.chance(0.25) else "@" if "@" in source else ""
            lines.append(self.draw.choice(("", "", f"-r{self.revision()} ")) +
                         f'"{self.draw.choice(BASES)}{source}{peg}" '
                         f'"{inside.rpartition("/")[2] or self.draw.choice(("ext", "sub/ext", "ext2"))}"')
        self.svn(user, "propset", "svn:externals", "\n".join(lines), argument(join(name, target)))
        if self.chance(0.5):
            self.svn(user, "commit", "-m", "externals", name)
        if self.chance(0.8):
            self.svn(user, "update", name)

    def delete(self):
        name, user, _, tree = self.copy()
        targets = [self.path_in(tree) for _ in range(self.draw.choice((1, 1, 2)))]
        self.svn(user, "delete", *self.option(0.15, "--force"), *self.option(0.15, "--keep-local"),
                 *[argument(join(name, target)) for target in targets])

    def copy_or_move(self):
        name, user, _, tree = self.copy()
        command = self.draw.choice(("copy", "move"))
        source, target = self.path_in(tree), self.new_path(tree)
        if command == "copy" and self.chance(0.35):
            self.svn(user, "copy", *self.option(0.3, "-r", self.revision()), *self.option(0.1, "--pin-externals"),
                     *self.option(0.1, "--ignore-externals"), self.url(), argument(join(name, target)))
            return
        self.svn(user, command, *(self.option(0.15, "-r", self.revision()) + self.option(0.1, "--pin-externals")
                                  if command == "copy" else self.option(0.5, "--allow-mixed-revisions")),
                 *self.option(0.1, "--parents"), argument(join(name, source)), argument(join(name, target)))

    def remote(self):
        """A commit without a working copy."""
        user, target = self.draw.choice(USERS), self.new_path(self.repository)
        source, more = self.path_in(self.repository), self.chance(0.2)
        message = ("-m", f"r{len(self.steps)}")
        what = self.draw.choice(("copy", "copy", "move", "mkdir", "delete", "delete", "wc", "import"))
        if what in ("copy", "move"):
            self.svn(user, what, *message, *(self.option(0.3, "-r", self.revision()) +
                                             self.option(0.1, "--pin-externals") if what == "copy" else []),
                     *self.option(0.15, "--parents"), self.url_of(source, 0.1 if what == "copy" else 0),
                     *([self.url(None, 0)] if more else []), argument(join("$URL", target)))
        elif what == "mkdir":
            self.svn(user, "mkdir", *message, *self.option(0.2, "--parents"), argument(join("$URL", target)),
                     *([argument(join("$URL", self.new_path(self.repository)))] if more else []))
        elif what == "delete":
            self.svn(user, "delete", *message, self.url_of(source, 0), *([self.url(None, 0)] if more else []))
        else:
            name, user, _, tree = self.copy()
            inner = self.path_in(tree)
            self.svn(user, "copy" if what == "wc" else "import", *message, argument(join(name, inner)),
                     argument(join("$URL", target)))

    def revprop(self):
        """A property of a revision."""
        name, user, _, _ = self.copy()
        where = self.draw.choice(("$URL", name))
        what = self.draw.choice(("propset", "propset", "propdel", "propget", "proplist"))
        prop = self.draw.choice(("svn:log", "svn:author", "svn:date", "note", "odd:name"))
        value = self.draw.choice(("2001-01-01T00:00:00.000000Z", "bad")) if prop == "svn:date" else self.text()
        self.svn(user, what, "--revprop", "-r", self.revision(), *{"propset": (prop, value), "proplist": ("-v",)}.get(
            what, (prop,)), where)

    def merge(self):
        name, user, _, tree = self.copy()
        target = "" if self.chance(0.5) else self.path_in(tree)
        options = (*self.depth(0.15), *self.option(0.25, "--ignore-ancestry"), *self.option(0.1, "--force"),
                   *self.option(0.15, "--record-only"), *self.option(0.1, "--dry-run"),
                   *self.option(0.5, "--allow-mixed-revisions"),
                   *self.option(0.2, "--accept", self.draw.choice(("mine-full", "theirs-full", "theirs-conflict"))))
        where = argument(join(name, target))
        source = self.draw.choice(("A", "br", self.path_in(self.repository, tree.get(target, "d"))))
        form = self.draw.choice(("sync", "sync", "reintegrate", "range", "range", "change", "change", "change", "two", "two"))
        if form == "two":
            self.svn(user, "merge", *options, f"$URL/{source}@{self.revision()}", self.url(tree.get(target), 0) + (
                "" if self.chance(0.5) else "@HEAD"), where)
        else:
            which = {"sync": [], "reintegrate": ["--reintegrate"], "range": ["-r", f"{self.revision()}:{self.revision()}"],
                     "change": ["-c", self.draw.choice(("", "-")) + self.revision()]}[form]
            self.svn(user, "merge", *which, *options, self.url_of(source), where)

    def lock(self):
        name, user, _, tree = self.copy()
        command = self.draw.choice(("lock", "lock", "unlock"))
        comment = self.option(0.3, "-m", "why é") if command == "lock" else []
        where = self.targets(name, tree, 3, "f")
        if self.chance(0.2):
            where = [self.url("f", 0) for _ in where]
        self.svn(user, command, *comment, *self.option(0.25, "--force"), *where)

    def revert(self):
        name, user, _, tree = self.copy()
        self.svn(user, "revert", *(["-R"] if self.chance(0.5) else self.depth()),
                 *([name] if self.chance(0.4) else self.targets(name, tree)))

    def resolve(self):
        name, user, _, tree = self.copy()
        self.svn(user, "resolve", *self.option(0.7, "-R"), "--accept",
                 self.draw.choice(("working", "mine-full", "theirs-full", "base", "mine-conflict", "theirs-conflict",
                                   "postpone")),
                 *([name] if self.chance(0.7) else self.targets(name, tree)))

    def export(self):
        name, user, _, tree = self.copy()
        options = (*self.option(0.3, "-r", self.revision()), *self.depth(0.25), *self.option(0.3, "--force"),
                   *self.option(0.2, "--native-eol", "CRLF"), *self.option(0.2, "--ignore-externals"))
        source = self.url() if self.chance(0.7) else argument(join(name, self.path_in(tree)))
        self.svn(user, "export", *options, source, f"e{len(self.steps)}")

    def diff(self):
        name, user, _, tree = self.copy()
        options = (*self.depth(0.2), *self.option(0.2, "--summarize"), *self.option(0.2, "--notice-ancestry"),
                   *self.option(0.2, "--show-copies-as-adds"), *self.option(0.15, "--git"),
                   *self.option(0.1, "--no-diff-deleted"))
        where = argument(join(name, self.path_in(tree)))
        form = self.draw.choice(("local", "base", "range", "urls", "old-new", "server"))
        if form == "local":
            self.svn(user, "diff", *options, where)
        elif form == "base":
            self.svn(user, "diff", *options, "-r", self.revision(), where)
        elif form == "range":
            self.svn(user, "diff", *options, "-r", f"{self.revision()}:{self.revision()}", where)
        elif form == "server":
            self.svn(user, "diff", *options, "-r", f"{self.revision()}:HEAD", self.url())
        elif form == "urls":
            self.svn(user, "diff", *options, self.url(), self.url())
        else:
            self.svn(user, "diff", *options, "--old", where, "--new", self.url())

    def look(self):
        name, user, _, tree = self.copy()
        where = argument(join(name, self.path_in(tree))) if self.chance(0.6) else self.url()
        command = self.draw.choice(("status",) * 5 + ("log",) * 4 + ("blame", "blame", "list", "info", "cat",
                                                                       "propget", "proplist", "mergeinfo"))
        revision = self.draw.choice(([], ["-r", self.revision()], ["-r", f"{self.revision()}:{self.revision()}"]))
        if command == "status":
            self.svn(user, "status", *self.option(0.8, "-u"), *self.option(0.6, "-v"), *self.depth(0.25),
                     *self.option(0.2, "--no-ignore"), *self.option(0.1, "-q"),
                     *([name] if self.chance(0.5) else self.targets(name, tree)))
        elif command == "log":
            self.svn(user, "log", *self.option(0.6, "-v"), *self.option(0.3, "-g"), *self.option(0.2, "--stop-on-copy"),
                     *self.option(0.2, "-l", 3), *self.option(0.1, "-q"), *self.option(0.1, "--with-all-revprops"),
                     *self.option(0.08, "--search", self.draw.choice(("m*", "alice", "*mu*"))),
                     *(revision or self.option(0.1, "-c", self.revision())),
                     *(["$URL", *(self.path_in(self.repository) for _ in range(2))] if self.chance(0.15) else [where]))
        elif command == "blame":
            file = argument(join(name, self.path_in(tree, "f"))) if self.chance(0.5) else self.url("f")
            self.svn(user, "blame", *self.option(0.4, "-g"), *self.option(0.3, "-v"), *revision, file)
        elif command == "mergeinfo":
            self.svn(user, "mergeinfo", *self.option(0.6, "--show-revs", self.draw.choice(("merged", "eligible"))),
                     *self.option(0.4, "-R"), self.url(), where)
        elif command == "propget":
            self.svn(user, "propget", self.draw.choice(("p", "svn:mergeinfo", "svn:externals")), "-R",
                     *self.option(0.3, "--show-inherited-props"), *revision[:2 if ":" not in "".join(revision) else 0], where)
        else:
            self.svn(user, command, *(["-v"] if command in ("list", "proplist") and self.chance(0.6) else []),
                     *(["-R"] if command in ("list", "info", "proplist") and self.chance(0.5) else []),
                     *(self.option(0.15, "--search", self.draw.choice(("m*", "*A*", "[x]"))) if command == "list" else []),
                     *revision[:2 if ":" not in "".join(revision) else 0], where)

    def tidy(self):
        name, user, _, tree = self.copy()
        if self.chance(0.5):
            self.svn(user, "cleanup", *self.option(0.4, "--remove-unversioned"), *self.option(0.2, "--include-externals"),
                     *self.option(0.2, "--vacuum-pristines"), name)
        else:
            self.svn(user, "changelist", self.draw.choice(("cl", "cl", "--remove")),
                     argument(join(name, self.path_in(tree, "f"))))


WEIGHTS = {"update": 14, "commit": 14, "edit": 12, "add": 7, "propset": 7, "switch": 7, "merge": 8, "look": 15,
           "delete": 6, "copy_or_move": 7, "remote": 6, "lock": 5, "diff": 5, "externals": 4, "revert": 4,
           "resolve": 3, "obstruct": 4, "mergeinfo": 2, "export": 3, "checkout": 2, "relocate": 2, "tidy": 2,
           "revprop": 2}


def draw_authz(draw):
    """Rules that hide parts from one of both, or None."""
    if draw.random() < 0.7:
        return None
    rules = {"/": ["* = rw"]}
    for _ in range(draw.randint(1, 3)):
        path = draw.choice(sorted(INITIAL) + ["A/new", "br/new", "new"])
        rules["/" + path] = ([] if path else ["* = rw"]) + [draw.choice(("bob = ", "bob = r", "bob = rw", "* = ", "alice = r"))]
    return "".join(f"[{path}]\n" + "\n".join(lines) + "\n" for path, lines in rules.items())
