# SPDX-License-Identifier: Apache-2.0
"""Properties that are refused, by every way in.

usage: bad_props.py ask PORT [stock]           a line for each way into a server, name and value: the errors of the answer, or what is stored;
                                               of stock's server what they should be: it takes names that nobody can show or ask for again
       bad_props.py stream NAME VALUE r|n      a dump stream of a revision with that property, or with a folder that has it; with Python's escapes
       bad_props.py lock PORT                  the answers to locks with comments of every byte

A server's repository is at revision 1 with the file /f, and takes commits and changes of revision properties by the user u."""
import sys

from peer import Peer, s

NAMES = [b"", b"a", b"Z9", b"a b", b"1a", b"-", b"-a", b".", b".a", b"a.b-c_d:e9", b"a/b", b":", b"_", b"a=b", b"a~", b"@", b"[", b"`", b"{", b"a@", b"a[", b"a`", b"a{", b"a/",
         b"\x7f", b"a\x7fb", b"a\x01", b"a\tb", b"a\nb", b"a\rb", b" ", b"a ", b"a\0", b"\0", b"svn:log\0x", b"svn:mergeinfo\0", b"svn:author\0x", b"svn:date\0x",
         b"\xff", b"a\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", "ä".encode(), "aä".encode(), b"n" * 300,
         b"svn:", b"svn:unknown", b"svn:wc:x", b"svn:wc", b"svn:wc:", b"svn:entry:x", b"svn:entry:", b"svn:entry", b"svn:wcx", b"SVN:entry:x"]
OWN_NAMES = [b"svn:ignore", b"svn:eol-style", b"svn:executable", b"svn:log", b"svn:author", b"svn:unknown", b"svn:txn-x", b"svn:check-ood", b"svn:check-locks", b"svn:client-date", b"plain"]
TEXTS = [b"", b"x", b"\xff", b"a\rb", b"a\r\nb", b"a\0b", b"\x01", "ä".encode()]
DATES = [b"", b"x", b"2020-01-01T00:00:00.000000Z", b"2020-01-01", b"2020-13-01T00:00:00.000000Z", b"2020-01-01T00:00:00.000000Z ", b"2020-01-01T00:00:00.000000Z\n",
         b"2020-01-01T00:00:00.000000Z\0x", b"2020-01-01T00:00:00Z", b"2020-02-30T00:00:00.000000Z", b"1969-01-01T00:00:00.000000Z", b"99999-01-01T00:00:00.000000Z",
         b"Sat 1 Jan 2000 00:00:00.000 (day 001, dst 0, gmt_off 0)", b"2020-01-01T00:00:60.000000Z", b"2020-01-01T24:00:00.000000Z"]
MERGEINFO = [b"", b"junk", b"/A:5-2,x", b"/A:1", b"/A:2-1", b"/A:0", b"/A:1-1", b"/A:1,", b"/A:", b"/A", b":1", b"A:1", b"/A:1-3*", b"/A:1-3*,2-4", b"/A:1\n/A:2", b"/A:1\n\n/B:2",
             b"/A:1\r\n", b"/A:1\n", b"/A:99999999999", b"/A:4294967296", b"/A:-1", b"/A:1;2", b"/A: 1", b"/A:1 ", b"/A:1:2", b"/A:1\0", b"/A\0:1", b"\xff:1", b"/A/:1", b"//A:1",
             b"/A/../B:1", b"/A/./B:1", b"/A:1-2,2-3", b"/A:3,1", b"/A:1000", b"\n", b"/A:1\n\n", "/ä:1".encode(), b"/A:+1", b"/A:1-", b"/A:*", b"/A:1**", b"/A:01"]
ROOT = b"( open-root ( ( ) 1:r ) ) "
END = b"( close-dir ( 1:r ) ) ( close-edit ( ) ) "


def cases():
    for name in NAMES:
        yield name, b"x"
        yield name, None
    for names, texts in ((OWN_NAMES, TEXTS), ([b"svn:date"], DATES), ([b"svn:mergeinfo"], MERGEINFO)):
        for name in names:
            for text in texts:
                yield name, text


def ways(name, text):
    """Of each way in: the edit that sets the property, if it is one, with the properties of its revision; the request; how it is read again."""
    value = b"( ) " if text is None else b"( %s) " % s(text)
    yield "folder", b"", ROOT + b"( change-dir-prop ( 1:r %s%s) ) " % (s(name), value) + END, b"( get-dir ( 0: ( ) true false ( ) false ) ) "
    yield "file", b"", ROOT + b"( open-file ( 1:f 1:r 1:f ( ) ) ) ( change-file-prop ( 1:f %s%s) ) ( close-file ( 1:f ( ) ) ) " % (s(name), value) + END, \
        b"( get-file ( 1:f ( ) true false false ) ) "
    yield "revision", None, b"( change-rev-prop ( 1 %s%s) ) " % (s(name), b"" if text is None else s(text)), b"( rev-proplist ( 1 ) ) "
    yield "revision, atomic", None, b"( change-rev-prop2 ( 1 %s%s( true ) ) ) " % (s(name), value), b"( rev-proplist ( 1 ) ) "
    if text is not None:
        yield "commit", b"( %s%s) " % (s(name), s(text)), ROOT + END, b"( rev-proplist ( %d ) ) "


def answer(peer, revprops, request):
    """The errors, and the revision that a commit has made."""
    if revprops is not None:
        peer.say(b"( commit ( 1:m ( ) false ( %s) ) ) " % revprops)
        assert peer.authenticate() is None and peer.hear()[0] == ("w", "success")
        peer.say(request)
        errors = peer.failure(peer.hear())
        if errors:
            peer.say(b"( abort-edit ( ) ) ")
            return errors, None
        assert peer.authenticate() is None
        return None, peer.hear()[0]
    peer.say(request)
    return peer.failure(peer.authenticate() or peer.hear()), None


def stored(peer, question, name, revision):
    peer.say(question % revision if b"%d" in question else question)
    assert peer.authenticate() is None
    for item in peer.hear()[1]:
        for pair in item if isinstance(item, list) else []:
            if pair[0] == name:
                return pair[1]
    return None


def is_name(name):
    """UTF-8 without control characters."""
    return bool(name) and name.decode(errors="replace").encode() == name and not any(byte < 32 or byte == 127 for byte in name)


def ask(port, is_stock):
    peer = login(port)
    for name, text in cases():
        for way, revprops, request, question in ways(name, text):
            errors, revision = answer(peer, revprops, request)
            if is_stock and text is not None and not is_name(name):
                errors = [[165002, b"'%s' is not a valid property name" % name.split(b"\0")[0]]]
            elif errors and errors[0][1].startswith(b"Failed to start"):
                errors = None  # stock cannot name it to its hook
            told = b" ".join(b"E%d %s" % (code, said) for code, said in errors) if errors else stored(peer, question, name, revision)
            if way.startswith("commit") and name in (b"svn:author", b"svn:date") and not errors:
                told = told[-1:]
            print("%r = %r, %s: %r" % (name, text, way, told))


def login(port):
    peer = Peer(port, user="u", password="secret")
    assert peer.greet() is None
    return peer


def lock(port):
    peer = login(port)
    for comment in [bytes((byte,)) for byte in range(1, 256)] + ["ä".encode(), b"\xed\xa0\x80"]:
        peer.say(b"( lock ( 1:f ( %s) true ( ) ) ) " % s(comment))
        assert peer.authenticate() is None
        print("%r: %s" % (comment, peer.failure(peer.hear())))


def block(*props):
    text = b"".join(b"K %d\n%s\nV %d\n%s\n" % (len(name), name, len(value), value) for name, value in props) + b"PROPS-END\n"
    return b"Prop-content-length: %d\nContent-length: %d\n\n%s" % (len(text), len(text), text)


def stream(name, value, where):
    prop = [(text.encode().decode("unicode_escape").encode("latin-1")) for text in (name, value)]
    sys.stdout.buffer.write(b"SVN-fs-dump-format-version: 2\n\nRevision-number: 1\n" + block(*[prop] * (where == "r")) + b"\n"
                            b"Node-path: d\nNode-kind: dir\nNode-action: add\n" + block(*[prop] * (where == "n")) + b"\n\n")


command, arguments = sys.argv[1], sys.argv[2:]
if command == "ask":
    ask(int(arguments[0]), arguments[1:] == ["stock"])
elif command == "lock":
    lock(int(arguments[0]))
else:
    stream(*arguments)
