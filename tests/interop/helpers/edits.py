#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Edits that two servers answer to the same reports, compared item for item.

usage: edits.py STOCK-PORT VARVE-PORT STRIDE

A case is a command, an anchor and a target, a depth that is asked for, and what the working copy says that it has. All
combinations are numbered; every STRIDE-th is held with both servers (1: all of them). The order of siblings and the
names of tokens are free; everything else must be the same. Prints the differences and, last, how many cases were held."""
import itertools
import sys

import conversation
from conversation import s

HEAD = 4
URL = b"svn://127.0.0.1:%d/repos"
ASKED = ["unknown", "empty", "files", "immediates", "infinity"]
HAD = ["empty", "files", "immediates", "infinity"]
REVISIONS = [(1, 4), (4, 1), (2, 3), (4, 4)]  # what is had, what is asked for

# Anchor and target, and the paths that the report may name below the target: a folder, a file, one to switch to.
PLACES = {
    ("", ""): ("A", "iota", "/A/D"),
    ("", "A"): ("B", "mu", "/A/D"),
    ("", "iota"): None,
    ("", "C"): None,
    ("", "none"): None,
    ("A", ""): ("B", "mu", "/Bcopy"),
    ("A", "B"): ("E", "f", "/A/D/G"),
    ("A", "mu"): None,
    ("A/D", ""): ("G", "f", "/A/B"),
}
SWITCHED = ["/A/B", "/A/D", "/iota", "/", "/none", "/A/D/copy"]


def opt(value):
    return b"( ) " if value is None else b"( %d ) " % value


def flag(value):
    return b"true " if value else b"false "


def set_path(path, rev, empty=False, token=None, depth="infinity"):
    return b"( set-path ( %s%d %s( %s) %s ) ) " % (s(path), rev, flag(empty), s(token) if token else b"", depth.encode())


def link_path(path, link, rev, depth="infinity", empty=False):
    return lambda port: b"( link-path ( %s%s%d %s( ) %s ) ) " % (s(path), s(URL % port + link.encode()), rev, flag(empty), depth.encode())


def reports(place, base, target_rev):
    """What may follow the first line of a report, by name."""
    if not place:
        return {"": b"", "root again": set_path("", target_rev), "root missing": b"( delete-path ( 0: ) ) ",
                "root switched": link_path("", "/A/mu", base)}
    folder, file, link = place
    other = 2 if base != 2 else 4
    out = {"": b"", "root missing": b"( delete-path ( 0: ) ) ", "root switched": link_path("", link, base)}
    for depth in ["exclude"] + HAD:
        out["folder " + depth] = set_path(folder, other, depth=depth)
        out["folder empty " + depth] = set_path(folder, base, empty=True, depth=depth)
        if depth != "exclude":
            out["folder switched " + depth] = link_path(folder, link, base, depth)
    out["folder missing"] = b"( delete-path ( %s) ) " % s(folder)
    out["file missing"] = b"( delete-path ( %s) ) " % s(file)
    out["file at another revision"] = set_path(file, other)
    out["file with a token"] = set_path(file, base, token="opaquelocktoken:none")
    out["file excluded"] = set_path(file, base, depth="exclude")
    out["file switched"] = link_path(file, "/A/D/f", base)
    out["nothing there"] = set_path("none", base)
    out["nothing there, excluded"] = set_path("none", base, depth="exclude")
    out["both"] = set_path(folder, other, depth="files") + set_path(folder + "/f", base)
    return out


def commands(target, rev, asked):
    """How the edit may be asked for, by name."""
    t, depth = s(target), asked.encode() + b" "
    out = {}
    for copyfrom, ancestry in itertools.product([False, True], repeat=2):
        out["update %d%d" % (copyfrom, ancestry)] = b"( update ( ( %d ) %strue %s%s%s) ) " % (rev, t, depth, flag(copyfrom), flag(ancestry))
    out["status"] = b"( status ( %strue ( %d ) %s) ) " % (t, rev, depth)
    for to, ancestry in itertools.product(SWITCHED, [False, True]):
        def switch(port, to=to, ancestry=ancestry):
            return b"( switch ( ( %d ) %strue %s%s%s%s) ) " % (rev, t, s(URL % port + to.rstrip("/").encode()), depth, flag(ancestry), flag(ancestry))

        def diff(port, to=to, ancestry=ancestry):
            return b"( diff ( ( %d ) %strue %s%s%s%s) ) " % (rev, t, flag(ancestry), s(URL % port + to.rstrip("/").encode()), flag(ancestry), depth)
        out["switch %s %d" % (to, ancestry)] = switch
        out["diff %s %d" % (to, ancestry)] = diff
    return out


def cases(stride):
    """By anchor: the name of every STRIDE-th case, and what is said."""
    number = 0
    out = {}
    for (anchor, target), place in PLACES.items():
        for (base, rev), asked, had, empty in itertools.product(REVISIONS, ASKED, HAD, [False, True]):
            for (how, command), (what, report) in itertools.product(commands(target, rev, asked).items(), reports(place, base, rev).items()):
                number += 1
                if number % stride or (what == "both" and asked in ("empty", "files", "immediates")):
                    continue  # a client says nothing below what it does not ask for; stock takes it for nonsense
                name = "%s of '%s' in '%s', r%d to r%d, asked %s, had %s%s, %s" % (
                    how, target, anchor, base, rev, asked, had, " start-empty" if empty else "", what)
                out.setdefault(anchor, []).append((name, [command, set_path("", base, empty=empty, depth=had), report, b"( finish-report ( ) ) "]))
    return out


MARK = b"( get-latest-rev ( ) ) "
MARKED = b"( success ( ( ) 0: ) ) ( success ( %d ) ) " % HEAD
ENDS = (b"( close-edit ( ) ) ", b"( abort-edit ( ) ) ")


def converse(port, anchor, said):
    """The answers to what is SAID, one each. An edit is acknowledged when it has come to its end, not before."""
    sock = conversation.connect(port)
    sock.sendall(conversation.greet(port, ("/repos/" + anchor).rstrip("/")) + MARK)

    def until(ended):
        data = b""
        while not ended(data):
            piece = sock.recv(65536)
            if not piece:
                return data + b" <gone> "
            data += piece
        return data

    until(lambda data: data.endswith(MARKED))
    for parts in said:
        sock.sendall(b"".join(p(port) if callable(p) else p for p in parts))
        answer = until(lambda data: data.endswith(ENDS) or (data.endswith(b") ) ) ") and b"( failure ( ( " in data))
        sock.sendall((b"( success ( ) ) " if answer.endswith(ENDS) else b"") + MARK)
        answer += until(lambda data: data.endswith(MARKED))[:-len(MARKED)]
        yield answer.replace(b"127.0.0.1:%d" % port, b"HOST")
    sock.close()


def lines_of(answer):
    """An edit as lines that two servers can agree on: tokens are paths, places are sorted, what is done to one keeps its order."""
    paths, out = {}, []
    for item in conversation.parse(answer):
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], list):
            out.append(("", conversation.show(conversation.plain(item))))
            continue
        word, args = conversation.show(item[0]), item[1]
        path = ""
        if word in ("open-root", "open-dir", "open-file", "add-dir", "add-file"):
            at = {"open-root": 1, "open-dir": 2, "open-file": 2}.get(word, 2)
            path = "" if word == "open-root" else args[0].decode()
            paths[args[at]] = path
            args = args[:at] + args[at + 1:]
            if word != "open-root":
                args = [args[0], paths.get(args[1], "?")] + args[2:]
        elif word in ("delete-entry", "absent-dir", "absent-file"):
            path = args[0].decode()
            at = 2 if word == "delete-entry" else 1
            args = args[:at] + [paths.get(args[at], "?")]
        elif word in ("textdelta-chunk", "apply-textdelta", "textdelta-end", "close-file", "close-dir", "change-dir-prop", "change-file-prop"):
            path = paths.get(args[0], "?")
            args = args[1:] if word != "textdelta-chunk" else []
        if word.startswith("change-"):
            word += " %r" % args[0]
        if word == "failure":
            item = conversation.plain(item)
            out.append(("", conversation.show(item)))
            continue
        if word == "textdelta-chunk" and out and out[-1] == (path, word + " "):
            continue
        out.append((path, word + " " + " ".join(conversation.show(a) if not isinstance(a, str) else a for a in args)))
    if ("", "abort-edit ") in out:
        out = [line for line in out if line[1].startswith("( failure")]  # the client forgets what came before
    props = [line for line in out if line[1].startswith("change-")]
    rest = [line for line in out if not line[1].startswith("change-")]
    return sorted(rest, key=lambda line: line[0]), sorted(props)


def main(stock, varve, stride):
    held = differ = 0
    for anchor, some in cases(stride).items():
        said = [parts for _, parts in some]
        for (name, _), w, g in zip(some, converse(stock, anchor, said), converse(varve, anchor, said)):
            held += 1
            if w == g:
                continue
            w, g = lines_of(w), lines_of(g)
            if w == g:
                continue
            differ += 1
            print(name)
            for mark, ours, theirs in (("-", w, g), ("+", g, w)):
                for line in [l for l in ours[0] if l not in theirs[0]] + [l for l in ours[1] if l not in theirs[1]]:
                    print("   ", mark, *line)
    print("%d cases, %d differ" % (held, differ))


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:]))
