# SPDX-License-Identifier: Apache-2.0
"""Random histories with all that makes logs hard: copies of copies, renames, replaced and resurrected
nodes, edits below copies, and mergeinfo of every kind, right and wrong. Written as a dump stream.
"""

import io
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench"))
from dumpstream import Stream, date_of  # noqa: E402

NAMES = [b"a", b"b", b"c d", b"trunk", b"branch", b"secret", "\u00e9t\u00e9".encode()]


class History:
    """trees[n] is revision n's tree: path -> (text or None for a folder, properties)."""

    def __init__(self, seed, revisions):
        self.draw = random.Random(seed)
        self.trees = [{}]
        self.out = io.BytesIO()
        self.stream = Stream(self.out, b"00000000-0000-4000-8000-%012d" % seed)
        for rev in range(1, revisions + 1):
            self.revision(rev)

    def revision(self, rev):
        # Dates mostly grow; the few that do not make searches by date interesting.
        seconds = 1000000000 + rev * 1000 - (5000 if self.draw.random() < 0.05 else 0)
        props = {b"svn:log": b"revision %d" % rev, b"svn:date": date_of(seconds)}
        if self.draw.random() < 0.8:
            props[b"svn:author"] = self.draw.choice([b"anna", b"bert"])
        self.stream.revision(rev, props)
        self.tree = dict(self.trees[-1])
        self.touched = set()
        for _ in range(self.draw.choice([0, 1, 1, 1, 2, 3, 4])):
            self.step(rev)
        self.trees.append(self.tree)

    # ---- choosing ----

    def any_path(self, tree, kind=None):
        paths = [p for p, (text, _) in tree.items()
                 if kind is None or (text is None) == (kind == "dir")]
        return self.draw.choice(sorted(paths)) if paths else None

    def new_path(self):
        """A free name in some folder, or one that was used in an older revision."""
        if self.draw.random() < 0.25:
            old = self.any_path(self.draw.choice(self.trees))
            if old and old not in self.tree and self.is_dir(os.path.dirname(old)):
                return old
        folder = self.any_path(self.tree, "dir") if self.draw.random() < 0.7 else b""
        path = os.path.join(folder or b"", self.draw.choice(NAMES))
        return path if path not in self.tree and path.count(b"/") < 6 else None

    def is_dir(self, path):
        return path == b"" or (path in self.tree and self.tree[path][0] is None)

    def fresh(self, path):
        """Not changed in this revision yet, nor anything above or below it."""
        return path and not any(t == path or t.startswith(path + b"/") or path.startswith(t + b"/")
                                for t in self.touched)

    def below(self, tree, path):
        return {p: v for p, v in tree.items() if p == path or p.startswith(path + b"/")}

    # ---- changing ----

    def step(self, rev):
        kind = self.draw.choices(
            ["add", "add_dir", "text", "prop", "merge", "copy", "move", "delete", "replace"],
            [4, 3, 6, 2, 8, 4, 2, 2, 2])[0]
        getattr(self, kind)()

    def text_of(self):
        return b"".join(b"line %d\n" % self.draw.randrange(20) for _ in range(self.draw.randrange(8)))

    def add(self):
        path = self.new_path()
        if self.fresh(path):
            text = self.text_of()
            self.stream.add_file(path, text)
            self.tree[path] = (text, {})
            self.touched.add(path)

    def add_dir(self):
        path = self.new_path()
        if self.fresh(path):
            self.stream.add_dir(path)
            self.tree[path] = (None, {})
            self.touched.add(path)

    def text(self):
        path = self.any_path(self.tree, "file")
        if self.fresh(path):
            self.edit(path)

    def edit(self, path):
        text = self.text_of()
        self.stream.change(path, text)
        self.tree[path] = (text, self.tree[path][1])
        self.touched.add(path)

    def set_props(self, path, props):
        text = self.tree[path][0]
        self.stream.change(path, None, props, b"dir" if text is None else b"file")
        self.tree[path] = (text, props)
        self.touched.add(path)

    def prop(self):
        path = self.any_path(self.tree)
        if self.fresh(path):
            props = dict(self.tree[path][1])
            props[self.draw.choice([b"p", b"svn:ignore", b"q"])] = b"%d" % self.draw.randrange(9)
            if self.draw.random() < 0.2:
                props.pop(self.draw.choice(sorted(props)))
            self.set_props(path, props)

    def merge(self):
        path = self.any_path(self.tree, self.draw.choice(["dir", "dir", "file", None]))
        if not self.fresh(path):
            return
        props = dict(self.tree[path][1])
        chance = self.draw.random()
        if chance < 0.1 and b"svn:mergeinfo" in props:
            del props[b"svn:mergeinfo"]
        elif chance < 0.13:
            props[b"svn:mergeinfo"] = self.draw.choice([b"junk", b"/a:0", b"/a:5-2", b"/b:"])
        else:
            props[b"svn:mergeinfo"] = self.mergeinfo(props.get(b"svn:mergeinfo", b""))
        self.set_props(path, props)

    def mergeinfo(self, text):
        """The lines of TEXT with one source gained, changed or lost."""
        sources = {}
        for line in text.split(b"\n"):
            path, _, ranges = line.rpartition(b":")
            if path.startswith(b"/") and ranges and b"0" != ranges != b"5-2":
                sources[path] = ranges
        if sources and self.draw.random() < 0.15:
            del sources[self.draw.choice(sorted(sources))]
            if sources:
                return b"\n".join(b"%s:%s" % item for item in sorted(sources.items()))
        rev = self.draw.randrange(1, len(self.trees)) if len(self.trees) > 1 else 1
        source = self.any_path(self.trees[min(rev, len(self.trees) - 1)])
        end = min(len(self.trees) - 1, rev + self.draw.choice([0, 0, 1, 3, 9]))
        end = max(end, rev)
        span = b"%d" % rev if rev == end else b"%d-%d" % (rev, end)
        if self.draw.random() < 0.15:
            span += b"*"
        key = b"/" + (source or b"trunk")
        if key in sources and self.draw.random() < 0.7 and b"*" not in span + sources[key]:
            span = sources[key] + b"," + span
        sources[key] = span
        return b"\n".join(b"%s:%s" % item for item in sorted(sources.items()))

    def copy_to(self, path, action="add"):
        rev = self.draw.randrange(1, len(self.trees)) if len(self.trees) > 1 else 0
        source = self.any_path(self.trees[rev])
        if not source or len(self.below(self.trees[rev], source)) > 60:
            return None
        text, props = self.trees[rev][source]
        self.stream.node(path, b"dir" if text is None else b"file", action.encode(), None, None,
                         (rev, source, text))
        for p, node in self.below(self.trees[rev], source).items():
            self.tree[path + p[len(source):]] = node
        files = [p for p in sorted(self.below(self.tree, path)) if self.tree[p][0] is not None]
        if files and self.draw.random() < 0.4:
            self.edit(self.draw.choice(files))
        self.touched.add(path)
        return source

    def copy(self):
        path = self.new_path()
        if self.fresh(path):
            self.copy_to(path)

    def move(self):
        path, source = self.new_path(), self.any_path(self.tree)
        if (not self.fresh(path) or not self.fresh(source) or path.startswith(source + b"/")
                or source not in self.trees[-1]):
            return
        rev = len(self.trees) - 1
        text = self.trees[rev][source][0]
        self.stream.node(path, b"dir" if text is None else b"file", b"add", None, None,
                         (rev, source, text))
        for p, node in self.below(self.trees[rev], source).items():
            self.tree[path + p[len(source):]] = node
        self.touched.add(path)
        self.drop(source)

    def drop(self, path):
        self.stream.delete(path)
        for p in self.below(self.tree, path):
            del self.tree[p]
        self.touched.add(path)

    def delete(self):
        path = self.any_path(self.tree)
        if self.fresh(path) and self.draw.random() < 0.6:
            self.drop(path)

    def replace(self):
        path = self.any_path(self.tree)
        if not self.fresh(path):
            return
        self.drop(path)
        if self.draw.random() < 0.6:
            self.touched.discard(path)
            self.copy_to(path)
        elif self.draw.random() < 0.5:
            text = self.text_of()
            self.stream.add_file(path, text)
            self.tree[path] = (text, {})
        else:
            self.stream.add_dir(path)
            self.tree[path] = (None, {})
