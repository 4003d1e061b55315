# SPDX-License-Identifier: Apache-2.0
"""Ask the cursors and a stock server the same questions about random histories; print TAP.

    compare_cursors.py CURSORS [FIRST-SEED [COUNT [QUESTIONS]]]

One test a history: each format in turn, some with parts that nobody may read.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_history import History  # noqa: E402
from svn_items import Broken, Items, string  # noqa: E402

RELEASES = ["1.3", "1.4", "1.5", "1.6", "1.8", "1.9", "1.14"]
FORMATS = [1, 2, 3, 4, 6, 7, 8]
REVISIONS = 60
GREETING = (b"( 2 ( edit-pipeline svndiff1 mergeinfo log-revprops ) 12:svn+ssh://x/ ) "
            b"( EXTERNAL ( 0: ) ) ")
GREETING_ITEMS = 4
DIRENT = b"( kind size has-props created-rev time last-author )"


def optional(n):
    return b"( )" if n is None else b"( %d )" % n


class Question:
    """What the cursors are asked (words), what the server is asked (wire), how answers are compared."""

    def __init__(self, words, wire, streams=True):
        self.words, self.wire, self.streams = words, wire, streams

    def text(self):
        return b" ".join(self.words).decode()


def log(paths, start, end, limit, flags):
    wire = b"( log ( ( %s ) ( %d ) ( %d ) %s %s %d %s revprops ( 10:svn:author 8:svn:date 7:svn:log ) ) )" % (
        b" ".join(string(p[1:]) for p in paths), start, end, b"true" if "c" in flags else b"false",
        b"true" if "s" in flags else b"false", limit, b"true" if "m" in flags else b"false")
    words = [b"log", b"%d" % start, b"%d" % end, b"%d" % limit, flags.encode() or b"-"] + paths
    return Question(words, wire)


def locations(path, peg, revs):
    revs = sorted(set(revs))
    wire = b"( get-locations ( %s %d ( %s ) ) )" % (string(path[1:]), peg, b" ".join(b"%d" % r for r in revs))
    return Question([b"locations", path, b"%d" % peg] + [b"%d" % r for r in revs], wire)


def segments(path, peg, start, end):
    wire = b"( get-location-segments ( %s ( %d ) ( %d ) ( %d ) ) )" % (string(path[1:]), peg, start, end)
    return Question([b"segments", path, b"%d" % peg, b"%d" % start, b"%d" % end], wire)


def deleted(path, peg, end):
    wire = b"( get-deleted-rev ( %s %d %d ) )" % (string(path[1:]), peg, end)
    return Question([b"deleted", path, b"%d" % peg, b"%d" % end], wire, False)


def dated(date):
    return Question([b"dated", date], b"( get-dated-rev ( %s ) )" % string(date), False)


def mergeinfo(paths, rev, inherit, descendants):
    wire = b"( get-mergeinfo ( ( %s ) ( %d ) %s %s ) )" % (
        b" ".join(string(p[1:]) for p in paths), rev, inherit, b"true" if descendants else b"false")
    return Question([b"mergeinfo", b"%d" % rev, inherit[:1] + (b"d" if descendants else b"")] + paths, wire, False)


def listing(path, rev, depth, patterns):
    some = b"( %s ) " % b" ".join(string(p) for p in patterns) if patterns else b""
    wire = b"( list ( %s ( %d ) %s %s %s) )" % (string(path[1:]), rev, depth, DIRENT, some)
    return Question([b"list", path, b"%d" % rev, depth] + patterns, wire)


def iprops(path, rev):
    return Question([b"iprops", path, b"%d" % rev], b"( get-iprops ( %s ( %d ) ) )" % (string(path[1:]), rev), False)


def filerevs(path, start, end, merged):
    wire = b"( get-file-revs ( %s ( %d ) ( %d ) %s ) )" % (
        string(path[1:]), start, end, b"true" if merged else b"false")
    return Question([b"filerevs", path, b"%d" % start, b"%d" % end, b"m" if merged else b"-"], wire)


def questions(history, draw, count):
    """COUNT random ones; paths that exist and some that do not."""
    youngest = len(history.trees) - 1

    def rev(least=0):
        return draw.randint(least, youngest)

    def path(at=None, kind=None):
        if draw.random() < 0.08:
            return b"/" + draw.choice([b"", b"nowhere", b"trunk/none"])
        found = history.any_path(history.trees[rev(1) if at is None else at], kind)
        return b"/" + (found or b"")

    for _ in range(count):
        kind = draw.choice(["log"] * 5 + ["logm"] * 7 + ["locations"] * 3 + ["segments", "deleted"] * 2
                           + ["mergeinfo", "filerevs", "filerevsm"] * 3 + ["list", "iprops", "dated"])
        r = rev(1)
        some = [path(r) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
        low, high = sorted([rev(), rev()])
        if kind in ("log", "logm"):
            flags = "".join(f for f in "cs" if draw.random() < 0.5) + ("m" if kind == "logm" else "")
            start, end = draw.choice([(r, 0), (r, low), (low, r), (0, r), (r, r)])
            yield log(some, start, end, draw.choice([0, 0, 0, 1, 3]), flags)
        elif kind == "locations":
            yield locations(some[0], draw.choice([r, high]), [rev() for _ in range(draw.randint(1, 8))])
        elif kind == "segments":
            start = draw.randint(0, r)
            yield segments(some[0], r, *draw.choice([(r, 0), (start, 0), (r, start)]))
        elif kind == "deleted":
            yield deleted(path(low), low, high)
        elif kind == "dated":
            yield dated(b"2001-09-%02dT%02d:00:00.000000Z" % (draw.randint(8, 11), draw.randrange(24)))
        elif kind == "mergeinfo":
            yield mergeinfo(sorted(set(some)), r,
                            draw.choice([b"explicit", b"inherited", b"nearest-ancestor"]), draw.random() < 0.5)
        elif kind == "list":
            yield listing(some[0], r, draw.choice([b"empty", b"files", b"immediates", b"infinity"]),
                          draw.choice([[], [], [b"*e*"], [b"ete", b"c*"], [b"[ab]"]]))
        elif kind == "iprops":
            yield iprops(path(r, "file"), r)
        else:
            yield filerevs(path(r, "file"), draw.choice([0, low]) if low <= r else 0, r, kind == "filerevsm")
    yield filerevs(path(youngest, "file"), youngest, 0, False)


# ---- answers ----

def with_texts_dropped(items):
    """The entries of get-file-revs, each followed by whether a text came with it."""
    out = []
    entry = None
    for item in items:
        if isinstance(item, list):
            entry = len(out)
            out += [item, "false"]
        elif item:
            out[entry + 1] = "true"
    return out


def settled(question, items):
    """The answer with those lists sorted that stock sends in the order of a hash table."""
    kind = question.words[0]
    if kind == b"log":
        for entry in items:
            if not isinstance(entry[0], list) or any(not isinstance(c[0], bytes) for c in entry[0]):
                raise Broken("changed paths of no revision")
            if entry[6] == "true":  # the end of a group; stock lists paths that it should not have
                entry[0] = []
            entry[0].sort(key=repr)
    elif kind == b"filerevs":
        for entry in items:
            if isinstance(entry, list):
                entry[2].sort(key=repr)
                entry[3].sort(key=repr)
    elif kind == b"list":
        for entry in items:  # a revision without a date, which only stock's list takes for 1970
            if entry[5] == [b"1970-01-01T00:00:00.000000Z"]:
                entry[5] = []
    elif kind == b"iprops":
        for entry in items:
            entry[1].sort(key=repr)
    elif kind in (b"mergeinfo", b"locations"):
        items.sort(key=repr)
    return items


def failure(code, text):
    return ["failure", code, text]


def hides(denied, path):
    return any(path == d or path.startswith(d + b"/") for d in denied)


def server_answer(question, items, denied):
    """Take the server's answer to QUESTION off ITEMS; None where the server itself says no."""
    if items.next()[0] == "failure":  # or the authentication that is none
        return None
    found = []
    if question.streams:
        item = items.next()
        while item != "done":
            if isinstance(item, list) and item[:1] == ["failure"]:
                return failure(*item[1][0][:2])
            found.append(item)
            item = items.next()
    result = items.next()
    if result[0] == "failure":
        if question.words[0] == b"deleted" and result[1][0][0] == 150003:
            return [[-1]]
        return failure(*result[1][0][:2])
    if question.words[0] == b"filerevs":
        found = with_texts_dropped(found)
    elif question.words[0] == b"mergeinfo":
        # Stock names hidden paths below the ones asked for; the cursors do not.
        found = [[b"/" + path, value] for path, value in result[1][0] if not hides(denied, b"/" + path)]
    elif question.words[0] == b"iprops":
        found = result[1][0]
    elif not question.streams:
        found = [result[1]]
    return settled(question, found)


def cursor_answer(question, data):
    items = Items(data)
    found = []
    while items.more():
        item = items.next()
        if isinstance(item, list) and item[:1] == ["failure"]:
            return failure(*item[1][:2])
        found.append(item)
    return settled(question, found)


def ask_together(repository, asked, denied):
    wire = GREETING + b" ".join(q.wire for q in asked) + b" "
    done = subprocess.run(["svnserve", "-t", "-r", repository], input=wire, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    items = Items(done.stdout)
    for _ in range(GREETING_ITEMS):
        items.next()
    return [server_answer(question, items, denied) for question in asked]


def ask_server(repository, asked, denied):
    """The answers; None where there is none. A log -g can be too much for the server: it dies of an
    assertion, taking answers along that it has not sent yet, or leaves out its last revision but not
    that one's changed paths, and what follows is no item any more. Then each is asked alone."""
    try:
        return ask_together(repository, asked, denied)
    except Broken:
        if len(asked) == 1:
            return [None]
    return [ask_server(repository, [question], denied)[0] for question in asked]


def ask_cursors(program, repository, asked, denied):
    lines = [b"deny\t" + b"\t".join(denied)] if denied else [b"deny"]
    lines += [b"\t".join(q.words) for q in asked]
    done = subprocess.run([program, os.path.join(repository, "db")], input=b"\n".join(lines) + b"\n",
                          stdout=subprocess.PIPE, check=True)
    data, at, answers = done.stdout, 0, []
    for _ in lines:
        end = data.index(b"\n", at)
        length = int(data[at:end])
        answers.append(data[end + 1:end + 1 + length])
        at = end + 1 + length
    return [cursor_answer(q, a) for q, a in zip(asked, answers[1:])]


# ---- one history ----

def make_repository(folder, history, release, denied):
    subprocess.run(["svnadmin", "create", "--compatible-version", release, folder], check=True)
    subprocess.run(["svnadmin", "load", "-q", "--bypass-prop-validation", "--no-flush-to-disk", folder],
                   input=history.out.getvalue(), check=True)
    if denied:
        with open(os.path.join(folder, "conf/svnserve.conf"), "w") as conf:
            conf.write("[general]\nanon-access = read\nauth-access = read\nauthz-db = authz\n")
        with open(os.path.join(folder, "conf/authz"), "wb") as authz:
            authz.write(b"[/]\n* = r\n" + b"".join(b"[%s]\n* =\n" % path for path in denied))


def first_difference(want, have):
    """What differs first, as two short texts."""
    at = 0
    while at < min(len(want), len(have)) and want[at] == have[at]:
        at += 1
    return tuple("item %d of %d: %.1500r" % (at, len(answer), answer[at:at + 2]) for answer in (want, have))


def compare(program, seed, count):
    """The number of differences, which are printed, and what was compared."""
    draw = random.Random(seed)
    history = History(seed, REVISIONS)
    format_at = seed % len(FORMATS)
    denied = []
    if seed % 3 == 2:
        denied = [b"/" + (history.any_path(history.trees[-1 - seed % 20]) or b"secret"), b"/secret"]
    asked = list(questions(history, draw, count))
    folder = tempfile.mkdtemp(prefix="varve-cursors-")
    repository = os.path.join(folder, "r")
    try:
        make_repository(repository, history, RELEASES[format_at], denied)
        wanted = ask_server(repository, asked, denied)
        got = ask_cursors(program, repository, asked, denied)
    finally:
        shutil.rmtree(folder)
    differences = 0
    for question, want, have in zip(asked, wanted, got):
        if want not in (None, have):
            differences += 1
            print("# %s\n#   stock:   %s\n#   cursors: %s"
                  % ((question.text(),) + first_difference(want, have)))
    return differences, FORMATS[format_at], denied, wanted.count(None)


def main():
    program = sys.argv[1]
    first, histories, count = [int(a) for a in (sys.argv[2:] + ["1", "14", "150"][len(sys.argv) - 2:])[:3]]
    print("1..%d" % histories)
    for i in range(histories):
        differences, fmt, denied, broken = compare(program, first + i, count)
        print("%sok %d - format %d, seed %d%s: %d answers are stock's (%d questions are too much for stock)" % (
            "not " if differences else "", i + 1, fmt, first + i, ", with hidden parts" if denied else "",
            count + 1 - broken, broken))
        sys.stdout.flush()


main()
