# SPDX-License-Identifier: Apache-2.0
"""random_streams.py VARVE DIR KIND SEED COUNT [FIRST] - dump streams drawn at random, loaded by svnadmin and varve.

KIND "altered": a small history's dumps of versions 1, 2 and 3, each with one to three alterations of
headers, lengths, bodies, records or end. KIND "mergeinfo": streams of which revisions were dropped,
renumbered or not, with mergeinfo and copies that name those that are there and those that are not.

Both programs load each; exit status, error code and the dump of what they made must be the same. A
stream that differs stays in DIR with what was done to it. Streams that end svnadmin with a signal or
a failed assertion (E235000), or make it write changed paths that it then refuses itself (a copy over
what the same revision has added), are no measure and are passed over.
"""
import random
import re
import shutil
import subprocess
import sys

from random_wire_steps import property_block


def run(*command, data=None):
    return subprocess.run(command, input=data, capture_output=True, timeout=60)


def make_history(place):
    """A repository with copies, replacements, properties, mergeinfo; its URL's commits by svnmucc."""
    url = "file://" + place
    texts = [f"{place}.text{i}" for i in range(4)]
    for i, text in enumerate(texts):
        with open(text, "w") as out:
            out.write("".join(f"line {n} of {n * i}\n" for n in range(3 + 20 * i)))
    steps = [
        ["mkdir", "trunk", "mkdir", "trunk/d", "mkdir", "branches", "put", texts[0], "trunk/a"],
        ["put", texts[1], "trunk/a", "put", texts[2], "trunk/d/b", "propset", "p", "v", "trunk/a"],
        ["cp", "2", "trunk", "branches/x", "put", texts[3], "branches/x/d/b"],
        ["propset", "svn:mergeinfo", "/branches/x:2-3", "trunk", "propset", "q", "two\nlines", "trunk/d"],
        ["rm", "trunk/a", "cp", "3", "trunk/d/b", "trunk/a", "propdel", "q", "trunk/d"],
        ["rm", "branches/x/d", "put", texts[2], "branches/x/e", "cp", "2", "trunk/a", "branches/x/f"],
    ]
    run("svnadmin", "create", place)
    for n, step in enumerate(steps):
        done = run("svnmucc", "--non-interactive", "-m", f"step {n}", "-U", url, *step)
        if done.returncode:
            sys.exit(done.stderr.decode())


def split_stream(stream):
    """[[header line], body] for each record; the body holds everything up to the next record."""
    records, at = [], 0
    while at < len(stream):
        end = stream.index(b"\n\n", at)
        lines = stream[at:end].split(b"\n")
        length = 0
        for line in lines:
            if line.startswith(b"Content-length: "):
                length = int(line.split(b": ")[1])
        stop = end + 2 + length
        while stop < len(stream) and stream[stop:stop + 1] == b"\n":
            stop += 1
        records.append([lines, stream[end + 2:stop]])
        at = stop
    return records


def to_version_1(records):
    """No lengths of the parts, no UUID; as the first versions of Subversion wrote streams."""
    out = []
    for lines, body in records:
        if lines[0].startswith(b"UUID"):
            continue
        names = [line.split(b":")[0] for line in lines]
        if b"Text-content-length" in names and b"Prop-content-length" not in names:
            body = b"PROPS-END\n" + body
            lines = [b"Content-length: %d" % (int(line.split(b": ")[1]) + 10)
                     if line.startswith(b"Content-length") else line for line in lines]
        lines = [line for line in lines if not re.match(b"(Prop|Text)-content-length", line)]
        out.append([lines, body])
    out[0][0] = [b"SVN-fs-dump-format-version: 1"]
    return out


def join_stream(records):
    return b"".join(b"\n".join(lines) + b"\n\n" + body for lines, body in records)


VALUES = [b"", b"0", b"1", b"2", b"-1", b" 3", b"4 ", b"5x", b"x", b"0x10", b"+1", b"007", b"99999", b"123456789",
          b"file", b"dir", b"link", b"add", b"change", b"delete", b"replace", b"true", b"trunk", b"trunk/a", b"trunk/d",
          b"/trunk", b"trunk/new", b"none/a", b"0" * 32, b"0" * 40, b"f" * 32, b"zz"]
NAMES = [b"Node-path", b"Node-kind", b"Node-action", b"Node-copyfrom-rev", b"Node-copyfrom-path", b"Prop-delta",
         b"Text-delta", b"Text-delta-base-md5", b"Text-delta-base-sha1", b"Text-content-md5", b"Text-content-sha1",
         b"Text-copy-source-md5", b"Text-copy-source-sha1", b"Prop-content-length", b"Text-content-length",
         b"Content-length", b"Revision-number", b"UUID", b"Unknown", b"SVN-fs-dump-format-version"]


def alter_headers(rng, records):
    lines = rng.choice(records)[0]
    at = rng.randrange(len(lines))
    name, _, value = lines[at].partition(b": ")
    what = rng.randrange(14)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif what == 2:
        lines.insert(rng.randrange(len(lines) + 1), name + b": " + rng.choice(VALUES))
    elif what == 3:
        rng.shuffle(lines)
    elif what == 4:
        lines[at] = rng.choice([name.lower(), name.upper(), b" " + name, name + b" "]) + b": " + value
    elif what == 5:
        lines[at] = name + rng.choice([b":", b":\t", b":  ", b":x", b" ", b"", b"::"]) + value
    elif what == 6:
        lines[at] += rng.choice([b" ", b"\t", b"\r", b"\0", b"x", b"/", b"\0x"])
    elif what == 7:
        lines[at] = name + b": " + rng.choice(VALUES)
    elif what == 8:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(NAMES) + b": " + rng.choice(VALUES))
    elif what == 9:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice([b"", b" ", b"# note", b" # note", b"\t:"]))
    elif value.isdigit():
        lines[at] = name + b": %d" % (int(value) + rng.choice([-20, -10, -3, -2, -1, 1, 2, 3, 10, 20]))
    elif name != b"UUID":  # svnadmin takes one whose dashes are digits
        lines[at] = name + b": " + bytes(rng.choice(b"0f") if rng.random() < .2 else c for c in value)


def alter_lengths(rng, records):
    """All lengths of one record off by the same: what a hand or a converter does."""
    by = rng.choice([-30, -14, -10, -1, 1, 3, 10, 30])
    which = rng.choice([b"Prop-content", b"Text-content"])
    record = rng.choice(records)
    record[0][:] = [re.sub(rb"^(%s-length|Content-length): (\d+)$" % which,
                           lambda m: m[1] + b": %d" % (int(m[2]) + by), line) for line in record[0]]


def alter_body(rng, records):
    record = rng.choice([r for r in records if len(r[1]) > 4])
    body = record[1]
    at = rng.randrange(len(body))
    what = rng.randrange(6)
    if what == 0:
        body = body[:at] + body[at + rng.randrange(1, 4):]
    elif what == 1:
        body = body[:at] + rng.choice([b"\n", b" ", b"K 1\n", b"PROPS-END\n", b"D 1\na\n", b"\0"]) + body[at:]
    elif what == 2:
        body = body[:at] + bytes([rng.randrange(256)]) + body[at + 1:]
    elif what == 3:
        body = body.replace(b"PROPS-END\n", rng.choice([b"", b"PROPS-END", b"PROPS-END \n", b"PROPS-END\r\n", b"\n"]), 1)
    elif what == 4:
        body = re.sub(rb"([KV]) (\d+)", lambda m: m[1] + b" " + rng.choice(VALUES[:14]), body, count=1)
    else:
        body = body.rstrip(b"\n") + b"\n" * rng.randrange(4)
    record[1] = body


def alter_records(rng, records):
    at, to = rng.randrange(1, len(records)), rng.randrange(1, len(records))
    what = rng.randrange(5)
    if what == 0:
        del records[at]
    elif what == 1:
        records.insert(to, [list(records[at][0]), records[at][1]])
    elif what == 2:
        records[at], records[to] = records[to], records[at]
    elif what == 3:
        records[at][1] += rng.choice([b" # note\n", b"\t\n\n", b"# note\n", b"\r\n", b"\f\n", b"x: y\n\n"])
    else:
        records.insert(to, [[rng.choice(NAMES) + b": " + rng.choice(VALUES)], b""])


def draw_altered(rng, sources):
    """One stream, the arguments to load it with, and what was done."""
    records = [[list(lines), body] for lines, body in sources[rng.choice(list(sources))]]
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        alter = rng.choice([alter_headers, alter_headers, alter_lengths, alter_body, alter_records])
        alter(rng, records)
        done.append(alter.__name__)
    stream = join_stream(records)
    if rng.random() < .15:
        stream = stream[:rng.randrange(len(stream))]
        done.append("cut")
    options = rng.choice([[]] * 8 + [["-r1:3"], ["--parent-dir", "trunk"], ["--ignore-uuid"], ["--normalize-props"],
                                     ["--bypass-prop-validation"]])
    return stream, options, done


def draw_ranges(rng, newest):
    ranges, at = [], rng.randrange(1, 4)
    while at <= newest and len(ranges) < 4:
        end = min(newest, at + rng.choice([0, 0, 1, 2, 4]))
        ranges.append((f"{at}-{end}" if end > at else f"{at}") + rng.choice(["", "", "", "*"]))
        at = end + rng.randrange(2, 4)
    return ",".join(ranges) or "1"


def draw_mergeinfo(rng, _):
    newest = rng.randrange(3, 13)
    first = rng.choice([1, 1, 1, rng.randrange(1, newest)])
    kept = [first] + [rev for rev in range(first + 1, newest + 1) if rng.random() < rng.choice([.5, .8, 1])]
    stream = "SVN-fs-dump-format-version: 2\n\n"
    for n, rev in enumerate(kept):
        block = property_block({"svn:date": "2020-01-01T00:00:00.000000Z"}).decode()
        stream += f"Revision-number: {rev}\nProp-content-length: {len(block)}\nContent-length: {len(block)}\n\n{block}\n"
        value = "\n".join(f"/{path}:{draw_ranges(rng, rev - (rng.random() < .95))}" for path in ("b", "c/d", "e")[:rng.randrange(1, 4)])
        block = property_block({"svn:mergeinfo": value, "n": str(n)}).decode()
        stream += (f"Node-path: t\nNode-kind: dir\nNode-action: {'change' if n else 'add'}\n"
                   f"Prop-content-length: {len(block)}\nContent-length: {len(block)}\n\n{block}\n\n")
        if rng.random() < .2:
            stream += (f"Node-path: t{rev}\nNode-kind: dir\nNode-action: add\n"
                       f"Node-copyfrom-rev: {rng.randrange(first, rev + 1)}\nNode-copyfrom-path: t\n\n\n")
    return stream.encode(), rng.choice([[]] * 4 + [["--parent-dir", "trunk"]]), [f"kept {kept}"]


def load(program, base, place, stream, options):
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    done = run(program, "load", "-q", "--no-flush-to-disk", *options, place, data=stream)
    codes = re.findall(rb"E\d{6}", done.stderr)
    dump = run("svnadmin", "dump", "-q", place)
    code = codes[0] if codes else b""
    if code.startswith(b"E185") or code == b"E200003":
        code = b"E185"  # of several faults of an svndiff, and where it ends, another may be seen first
    return done.returncode, code, dump.stdout + dump.stderr, done.stderr


def main():
    varve, place, kind, seed, count = *sys.argv[1:4], *map(int, sys.argv[4:6])
    first = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    history, empty, begun = (f"{place}/{name}" for name in ("history", "empty", "begun"))
    make_history(history)
    run("svnadmin", "create", empty)
    shutil.rmtree(empty + "/hooks")
    shutil.copytree(empty, begun)
    for name in "trunk", "x", "y":
        run("svnmucc", "--non-interactive", "-m", "", "-U", "file://" + begun, "mkdir", name)
    draw = {"altered": draw_altered, "mergeinfo": draw_mergeinfo}[kind]
    sources = {version: split_stream(run("svnadmin", "dump", "-q", *option, history).stdout)
               for version, option in ((2, []), (3, ["--deltas"]))}
    sources[1] = to_version_1(sources[2])
    differ = passed = crashed = 0
    for number in range(first, first + count):
        rng = random.Random(f"{seed}/{number}")
        stream, options, done = draw(rng, sources)
        base = begun if "--parent-dir" in options or rng.random() < .2 else empty
        wanted = load("svnadmin", base, place + "/stock", stream, options)
        if wanted[0] < 0 or b"E235000" in wanted[3] or b"Invalid change ordering" in wanted[3]:
            crashed += 1
            continue
        got = load(varve, base, place + "/varve", stream, options)
        passed += wanted[0] == 0
        if got[:3] == wanted[:3]:
            continue
        differ += 1
        kept = f"{place}/{seed}-{number}"
        with open(kept + ".dump", "wb") as out:
            out.write(stream)
        for name, answer in (("stock", wanted), ("varve", got)):
            with open(f"{kept}.{name}", "wb") as out:
                out.write(answer[2])
        print(f"# {seed}/{number} {' '.join(done)} {' '.join(options)} {'begun' if base == begun else ''}\n"
              f"#   svnadmin: {wanted[0]} {wanted[3][-200:]!r}\n#   varve:    {got[0]} {got[3][-200:]!r}"
              f"{'' if got[2] == wanted[2] else ' (dumps differ)'}")
    print(f"{count} streams: {passed} loaded by svnadmin, {crashed} ended it, {differ} differ")
    sys.exit(differ > 0)


main()
