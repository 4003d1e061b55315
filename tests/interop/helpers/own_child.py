# SPDX-License-Identifier: Apache-2.0
"""own_child.py REPOSITORY: adds a revision to an empty one of format 3 in which the folder
/a/b/c is /a itself."""
import hashlib
import sys

DB = sys.argv[1] + "/db/"
DATE = "2020-01-01T00:00:00.000000Z"
#        path      id     its entries
NODES = [("/a/b", "2-1", {"c": ("/a", "1-1")}),
         ("/a", "1-1", {"b": ("/a/b", "2-1")}),
         ("/", "0", {"a": ("/a", "1-1")})]


def write(places):
    """The revision's bytes, if its node-revisions are at PLACES; and where they come to be."""
    out, found = b"", {}
    for path, number, entries in NODES:
        text = b"".join(b"K %d\n%s\nV %d\n%s\n" % (len(name), name.encode(), len(value), value) for name, value in (
            (name, b"dir %s.0.r1/%d" % (child.encode(), places[where])) for name, (where, child) in entries.items()))
        text += b"END\n"
        rep, out = len(out), out + b"PLAIN\n" + text + b"ENDREP\n"
        found[path] = len(out)
        before = b"pred: 0.0.r0/17\ncount: 1\n" if path == "/" else b"count: 0\n"
        out += b"id: %s.0.r1/%d\ntype: dir\n%stext: 1 %d %d %d %s\ncpath: %s\ncopyroot: 0 /\n\n" % (
            number.encode(), found[path], before, rep, len(text), len(text), hashlib.md5(text).hexdigest().encode(), path.encode())
    changes = len(out)
    for path, number, _ in reversed(NODES[:2]):
        out += b"%s.0.r1/%d add false false %s\n\n" % (number.encode(), found[path], path.encode())
    return out + b"\n%d %d\n" % (found["/"], changes), found


places = {path: 0 for path, _, _ in NODES}
while True:
    revision, found = write(places)
    if found == places:
        break
    places = found
with open(DB + "revs/0/1", "wb") as file:
    file.write(revision)
with open(DB + "revprops/0/1", "w") as file:
    file.write("K 8\nsvn:date\nV 27\n%s\nEND\n" % DATE)
with open(DB + "current", "w") as file:
    file.write("1\n")
