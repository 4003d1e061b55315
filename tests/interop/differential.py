# SPDX-License-Identifier: Apache-2.0
"""What the random differential testers share: repeatable numbers, two servers, small histories, shrinking.

A tester draws cases from a seed, puts each to stock's server and to varve's, and compares what comes back. A case is a list
of steps; one that shows a difference is made as short as it gets before it is printed."""
import os
import random
import shutil
import socket
import subprocess
import time

UUID = "3a5b2c1d-7e6f-4a8b-9c0d-1e2f3a4b5c6d"
NAMES = ["a", "b", "c", "f", "g", "two words", "\u00fc%41"]
PROPERTIES = [("p", "1"), ("p", "2"), ("svn:eol-style", "native"), ("svn:ignore", "x\n"), ("q", "")]


class Server:
    """A server of the folder ROOT, on a free port of ADDRESS."""

    def __init__(self, command, root, address="127.0.0.1", port=0):
        self.root, self.address, self.port = root, address, port or free_port(address)
        words = command + ["-d", "--foreground", "-r", root, "--listen-host", address, "--listen-port", str(self.port)]
        self.log = open(root + ".log", "wb")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)
        for _ in range(600):
            try:
                socket.create_connection((address, self.port), timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise SystemExit("%s does not start: %s" % (command[0], open(root + ".log").read()[:500]))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def alive(self):
        return self.process.poll() is None


def free_port(*addresses):
    """A port that nobody listens on, on any of ADDRESSES."""
    while True:
        port = random.randrange(20000, 32000)
        sockets = []
        try:
            for address in addresses:
                sockets.append(socket.socket())
                sockets[-1].bind((address, port))
            return port
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()


def run(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options).stdout


def scratch(name):
    """A folder for repositories, in memory where there is room."""
    base = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
    folder = os.path.join(base, "varve-%s.%d" % (name, os.getpid()))
    os.mkdir(folder)
    return folder


def create_repository(path, rules=None, users=""):
    """An empty repository that lets everybody write, with RULES where there are some."""
    run("svnadmin", "create", path)
    run("svnadmin", "setuuid", path, UUID)
    with open(path + "/conf/svnserve.conf", "w") as out:
        out.write("[general]\nanon-access = write\nauth-access = write\npassword-db = passwd\nrealm = test\n")
        if rules is not None:
            out.write("authz-db = authz\n")
    with open(path + "/conf/passwd", "w") as out:
        out.write("[users]\n" + users)
    if rules is not None:
        with open(path + "/conf/authz", "w") as out:
            out.write(rules)
    with open(path + "/hooks/pre-revprop-change", "w") as out:
        out.write("#!/bin/sh\nexit 0\n")
    os.chmod(path + "/hooks/pre-revprop-change", 0o755)


# ---- histories -----------------------------------------------------------------------------------


class History:
    """A small random history, written as a dump stream while its tree is kept here: {path: "dir" or "file"}, a
    tree a revision."""

    def __init__(self, rnd, revisions=10):
        self.rnd = rnd
        self.trees = [{"": "dir"}]
        self.texts = {}
        self.stream = b"SVN-fs-dump-format-version: 2\n\nUUID: %s\n\n" % UUID.encode()
        self._record({"Revision-number": 0}, {"svn:date": self._date(0)})
        for rev in range(1, revisions + 1):
            self._revision(rev)

    @property
    def youngest(self):
        return len(self.trees) - 1

    def paths(self, rev=None):
        """The paths of a revision, of the youngest one without REV."""
        return sorted(self.trees[-1 if rev is None else rev])

    @staticmethod
    def _date(rev):
        return "20%02d-03-04T05:06:07.000008Z" % (rev % 100)

    def _record(self, headers, props=None, text=None):
        block = b""
        if props is not None:
            for name, value in props.items():
                name, value = name.encode(), value.encode()
                block += b"K %d\n%s\nV %d\n%s\n" % (len(name), name, len(value), value)
            block += b"PROPS-END\n"
            headers["Prop-content-length"] = len(block)
        if text is not None:
            headers["Text-content-length"] = len(text)
        if props is not None or text is not None:
            headers["Content-length"] = len(block) + len(text or b"")
        head = "".join("%s: %s\n" % pair for pair in headers.items()).encode()
        self.stream += head + b"\n" + block + (text or b"") + b"\n" + (b"" if "Revision-number" in headers else b"\n")

    def _text(self):
        rnd = self.rnd
        return b"".join(b"line %d\n" % rnd.randrange(5) for _ in range(rnd.randrange(8)))

    def _props(self, path):
        rnd = self.rnd
        props = dict(rnd.choice(PROPERTIES) for _ in range(rnd.randrange(3)))
        if rnd.random() < 0.15 and len(self.trees) > 2:
            low = rnd.randrange(1, len(self.trees))
            source = rnd.choice([p for p in self.trees[-1] if p] or ["a"])
            props["svn:mergeinfo"] = "/%s:%d%s" % (source, low, "-%d" % (low + 1) if rnd.random() < 0.5 else "")
        return props

    def _revision(self, rev):
        rnd, tree, touched = self.rnd, dict(self.trees[-1]), set()
        props = {"svn:date": self._date(rev), "svn:log": "log of r%d" % rev}
        if rnd.random() < 0.9:
            props["svn:author"] = rnd.choice(["anna", "bob"])
        self._record({"Revision-number": rev}, props)
        if rnd.random() < 0.1 or rev == 1:
            self._change_root()
        for _ in range(rnd.randrange(1, 6) if rev > 1 else 8):
            self._change(tree, touched, rev)
        self.trees.append(tree)

    def _change_root(self):
        self._record({"Node-path": "", "Node-kind": "dir", "Node-action": "change"}, self._props(""))

    def _change(self, tree, touched, rev):
        rnd = self.rnd
        path = rnd.choice(sorted(tree))
        free = not any(path == t or path.startswith(t + "/") or t.startswith(path + "/") for t in touched)
        kind = rnd.random()
        if tree[path] == "dir" and kind < 0.55 or not path:
            self._add(tree, touched, rev, path)
        elif kind < 0.75 and free and tree[path] == "file":
            self._record({"Node-path": path, "Node-kind": "file", "Node-action": "change"},
                         self._props(path) if rnd.random() < 0.4 else None, self._text())
            touched.add(path)
        elif kind < 0.85 and free:
            self._record({"Node-path": path, "Node-kind": tree[path], "Node-action": "change"}, self._props(path))
            touched.add(path)
        elif free and rev > 2:
            for gone in [p for p in tree if p == path or p.startswith(path + "/")]:
                del tree[gone]
            self._record({"Node-path": path, "Node-action": "delete"})
            if rnd.random() < 0.4:
                self._add(tree, touched, rev, path.rpartition("/")[0], path)
            touched.add(path)

    def _add(self, tree, touched, rev, parent, path=None):
        rnd = self.rnd
        path = path or (parent + "/" + rnd.choice(NAMES)).lstrip("/")
        if path in tree or path.count("/") > 3 or path in touched:
            return
        touched.add(path)
        headers = {"Node-path": path, "Node-action": "add"}
        if rnd.random() < 0.35 and rev > 1:
            from_rev = rnd.randrange(1, rev)
            source = rnd.choice(sorted(self.trees[from_rev]))
            kind = self.trees[from_rev][source]
            headers = {"Node-path": path, "Node-kind": kind, "Node-action": "add", "Node-copyfrom-rev": from_rev,
                       "Node-copyfrom-path": source}
            for below, what in self.trees[from_rev].items():
                if below == source or below.startswith(source + "/" if source else ""):
                    tree[path + ("/" + below[len(source):].lstrip("/") if below != source else "")] = what
            self._record(headers, self._props(path) if rnd.random() < 0.2 else None)
        elif rnd.random() < 0.5:
            tree[path] = "dir"
            self._record(dict(headers, **{"Node-kind": "dir"}), self._props(path))
        else:
            tree[path] = "file"
            self._record(dict(headers, **{"Node-kind": "file"}), self._props(path), self._text())

    def load(self, path, rules=None, users=""):
        """Make a repository of it at PATH."""
        create_repository(path, rules, users)
        run("svnadmin", "load", "-q", "--no-flush-to-disk", path, input=self.stream)


# ---- shrinking -------------------------------------------------------------------------------------


def shrink(steps, differs, seconds=60):
    """The shortest part of STEPS, in order, that DIFFERS still holds for, as far as SECONDS last."""
    end, size = time.monotonic() + seconds, max(1, len(steps) // 2)
    while True:
        at, shorter = 0, False
        while at < len(steps) and time.monotonic() < end:
            part = steps[:at] + steps[at + size:]
            if part and differs(part):
                steps, shorter = part, True
            else:
                at += size
        if size == 1 and not shorter or time.monotonic() >= end:
            return steps
        size = max(1, size // 2)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
