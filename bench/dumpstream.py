# SPDX-License-Identifier: Apache-2.0
"""Write Subversion dump streams, format 2 (full texts), one record at a time.

    stream = Stream(sys.stdout.buffer, uuid)
    stream.revision(1, {b"svn:log": b"first", b"svn:date": date_of(0)})
    stream.add_dir(b"trunk")
    stream.add_file(b"trunk/a", b"text\\n", {b"svn:eol-style": b"native"})
    stream.copy(b"branches/b", b"dir", 1, b"trunk")

Nothing is checked against a tree: the caller says only what is true.
"""

import hashlib
import time


def date_of(seconds, micros=0):
    """SECONDS since 1970 in the form in which Subversion keeps dates."""
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{micros:06d}Z", time.gmtime(seconds)).encode()


def property_block(props):
    parts = []
    for name, value in props.items():
        parts.append(b"K %d\n%s\nV %d\n%s\n" % (len(name), name, len(value), value))
    parts.append(b"PROPS-END\n")
    return b"".join(parts)


class Stream:
    def __init__(self, out, uuid):
        self.write = out.write
        self.write(b"SVN-fs-dump-format-version: 2\n\nUUID: %s\n\n" % uuid)

    def revision(self, number, props):
        block = property_block(props)
        self.write(b"Revision-number: %d\nProp-content-length: %d\nContent-length: %d\n\n%s\n"
                   % (number, len(block), len(block), block))

    def node(self, path, kind, action, props=None, text=None, source=None):
        """One node record. SOURCE is (revision, path, text there or None for a directory).
        PROPS None: unchanged (or none); TEXT None: unchanged."""
        head = [b"Node-path: " + path]
        if kind:
            head.append(b"Node-kind: " + kind)
        head.append(b"Node-action: " + action)
        if source:
            rev, source_path, source_text = source
            head.append(b"Node-copyfrom-rev: %d\nNode-copyfrom-path: %s" % (rev, source_path))
            if source_text is not None:
                head.append(b"Text-copy-source-md5: %s\nText-copy-source-sha1: %s"
                            % sums(source_text))
        block = b"" if props is None else property_block(props)
        if props is not None:
            head.append(b"Prop-content-length: %d" % len(block))
        if text is not None:
            head.append(b"Text-content-length: %d" % len(text))
            head.append(b"Text-content-md5: %s\nText-content-sha1: %s" % sums(text))
        if props is not None or text is not None:
            head.append(b"Content-length: %d" % (len(block) + len(text or b"")))
        self.write(b"\n".join(head) + b"\n\n" + block)
        if text:
            self.write(text)
        self.write(b"\n\n")

    def add_dir(self, path, props=None):
        self.node(path, b"dir", b"add", props or {})

    def add_file(self, path, text, props=None):
        self.node(path, b"file", b"add", props or {}, text)

    def change(self, path, text=None, props=None, kind=b"file"):
        self.node(path, kind, b"change", props, text)

    def delete(self, path):
        self.node(path, None, b"delete")

    def copy_dir(self, path, rev, source_path, props=None, action=b"add"):
        self.node(path, b"dir", action, props, None, (rev, source_path, None))

    def copy_file(self, path, rev, source_path, source_text, text=None, props=None, action=b"add"):
        self.node(path, b"file", action, props, text, (rev, source_path, source_text))


def sums(text):
    return (hashlib.md5(text).hexdigest().encode(), hashlib.sha1(text).hexdigest().encode())
