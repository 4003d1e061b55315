# SPDX-License-Identifier: Apache-2.0
"""A client of the svn:// protocol that makes a tree of many levels and reads it with every command.

usage: deep.py once PORT LEVELS             one commit of LEVELS folders in each other
       deep.py grow PORT REVISIONS LEVELS   each of REVISIONS commits puts LEVELS folders around a copy of the tree before;
                                            at the bottom are a folder with mergeinfo and a file
       deep.py read PORT REVISIONS LEVELS   what each command that reads must say of that tree
       deep.py change PORT REVISIONS LEVELS lock the file at the bottom, change it, change the folder's properties, unlock

Says for each what it is not as it must be, else that it is right."""
import hashlib
import sys

from peer import Peer, s

SUCCESS = ("w", "success")
TEXT = b"bottom\n"
MD5 = hashlib.md5(TEXT).hexdigest().encode()
SVNDIFF = b"SVN\0" + b"\0\0\x07\x01\x07\x87" + TEXT  # a window: 7 bytes, all new


def root(rev):
    return b"x%d" % rev


class Deep(Peer):
    """Answers have hundreds of megabytes, nearly all of it paths: those are counted, not kept."""

    def __init__(self, port):
        super().__init__(port, timeout=60)
        refusal = self.greet()
        if refusal:
            sys.exit("greeted with %s" % refusal)

    def count(self, word, end):
        """How often WORD comes before END, which is heard, too."""
        data, number, ends = self.data[self.at:], 0, False
        while True:
            number += data.count(word)
            at = data.find(end)
            if at >= 0:
                number -= data.count(word, at)
                self.data, self.at = data[at + len(end):], 0
                return number
            # A word that is not whole yet; one that is has been counted.
            keep = max(len(word), len(end)) - 1
            rest = data[-keep:]
            number -= rest.count(word)
            piece = self.sock.recv(1 << 20)
            if not piece:
                sys.exit("the connection ends after %r" % data[-300:])
            data = rest + piece

    def ask(self, command):
        """The parameters of the answer to COMMAND, or a failure."""
        self.say(command)
        refusal = self.authenticate()
        answer = refusal or self.hear()
        return answer[1] if answer[0] == SUCCESS else answer

    def items(self, command):
        """What comes after COMMAND until it is done."""
        self.say(command)
        self.authenticate()
        got = [self.hear()]
        while got[-1] != ("w", "done"):
            got.append(self.hear())
        self.hear()
        return got[:-1]

    def counted(self, command, word):
        self.say(command)
        self.authenticate()
        return self.count(word, b" done ( success ( ) ) ")

    def edit(self, command, report):
        """How many folders an edit adds."""
        self.say(command)
        self.authenticate()
        self.say(report + b"( finish-report ( ) ) ")
        self.authenticate()
        number = self.count(b"( add-dir ", b"( close-edit ( ) ) ")
        self.say(b"( success ( ) ) ")
        answer = self.hear()
        return number if answer[0] == SUCCESS else answer

    def replay(self, rev, low_water):
        self.say(b"( replay ( %d %d true ) ) " % (rev, low_water))
        self.authenticate()
        number = self.count(b"( add-dir ", b"( finish-replay ( ) ) ")
        answer = self.hear()
        return number if answer[0] == SUCCESS else answer

    # ---- commits

    def commit(self):
        answer = self.ask(b"( commit ( 1:m ( ) false ) ) ")
        if answer:
            sys.exit("no commit: %s" % answer)
        self.say(b"( open-root ( ( ) 1:0 ) ) ")

    def nest(self, path, levels):
        """Add PATH, then folders in each other, LEVELS in all: their tokens are the numbers from 1 on."""
        for level in range(levels):
            self.say(b"( add-dir ( %s%s%s( ) ) ) " % (s(path), s(b"%d" % level), s(b"%d" % (level + 1))))
            path += b"/d"
        return path

    def close(self, levels):
        """The revision that comes of it."""
        self.say(b"".join(b"( close-dir ( %s) ) " % s(b"%d" % level) for level in range(levels, -1, -1)))
        self.say(b"( close-edit ( ) ) ")
        answer = self.hear()
        if answer[0] != SUCCESS:
            return answer
        self.authenticate()
        return self.hear()[0]


def tell(name, got, wanted):
    print("%s: %s" % (name, "right" if got == wanted else "%s, not %s" % (str(got)[:200], str(wanted)[:200])), flush=True)


def once(port, levels):
    client = Deep(port)
    client.commit()
    client.nest(b"d", levels)
    tell("one commit", client.close(levels), 1)


def grow(port, revisions, levels):
    client = Deep(port)
    for rev in range(1, revisions + 1):
        client.commit()
        path = client.nest(root(rev), levels)
        bottom = s(b"%d" % levels)
        if rev == 1:
            client.say(b"( change-dir-prop ( %s13:svn:mergeinfo ( 12:/elsewhere:1 ) ) ) " % bottom)
            client.say(b"( add-file ( %s%s1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) " % (s(path), bottom))
            client.say(b"( textdelta-chunk ( 1:f %s) ) ( textdelta-end ( 1:f ) ) " % s(SVNDIFF))
            client.say(b"( close-file ( 1:f ( %s) ) ) " % s(MD5))
        else:
            client.say(b"( add-dir ( %s%s1:c ( %s%d ) ) ) ( close-dir ( 1:c ) ) "
                       % (s(path), bottom, s(client.url.encode() + b"/" + root(rev - 1)), rev - 1))
            client.say(b"( delete-entry ( %s( %d ) 1:0 ) ) " % (s(root(rev - 1)), rev - 1))
        tell("commit", client.close(levels), rev)


def places(revisions, levels):
    """The folder at the bottom of the last revision, the file in it."""
    folder = root(revisions) + b"/d" * (revisions * levels - 1)
    return folder, folder + b"/d"


def read(port, revisions, levels):
    client = Deep(port)
    head, depth = revisions, revisions * levels
    folder, path = places(revisions, levels)
    file, none = s(path), s(folder + b"/none")
    read_nodes(client, head, folder, path)
    tell("check-path of nothing", client.ask(b"( check-path ( %s( ) ) ) " % none), [("w", "none")])
    tell("check-path below a file", client.ask(b"( check-path ( %s( ) ) ) " % s(path + b"/none")), [("w", "none")])
    tell("get-file of nothing", client.ask(b"( get-file ( %s( ) true true ) ) " % none)[1][0][0], 160013)
    tell("get-file below a file", client.ask(b"( get-file ( %s( ) true true ) ) " % s(path + b"/a/b"))[1][0][0], 160016)
    for strict, wanted in ((b"false", list(range(head, 0, -1))), (b"true", [head])):
        log = client.items(b"( log ( ( %s) ( %d ) ( 1 ) true %s 0 false revprops ( ) ) ) " % (file, head, strict))
        tell("log of the bottom", [entry[1] for entry in log], wanted)
    log = client.items(b"( log ( ( 0: ) ( %d ) ( 1 ) true false 0 false revprops ( ) ) ) " % head)
    tell("log of everything", [len(entry[0]) for entry in log], [levels + 2] * (head - 1) + [levels + 1])
    found = client.items(b"( get-location-segments ( %s( %d ) ( ) ( ) ) ) " % (file, head))
    tell("get-location-segments", [segment[:2] for segment in found], [[rev, rev] for rev in range(head, 0, -1)])
    found = client.items(b"( get-locations ( %s%d ( %s ) ) ) "
                         % (file, head, b" ".join(b"%d" % rev for rev in range(1, head + 1))))
    tell("get-locations", sorted((rev, len(place)) for rev, place in found),
         [(rev, len(root(rev)) + 1 + 2 * rev * levels) for rev in range(1, head + 1)])
    found = client.items(b"( get-file-revs ( %s( 1 ) ( %d ) false ) ) " % (file, head))
    tell("get-file-revs", [item[1] for item in found if isinstance(item, list)], list(range(1, head + 1)))
    tell("list", client.counted(b"( list ( 0: ( ) infinity ( kind ) ) ) ", b" dir "), depth + 1)
    read_edits(client, head, depth, levels, file)


def read_nodes(client, head, folder, path):
    file = s(path)
    tell("check-path", client.ask(b"( check-path ( %s( ) ) ) " % file), [("w", "file")])
    tell("stat", client.ask(b"( stat ( %s( ) ) ) " % file)[0][0][:2], [("w", "file"), len(TEXT)])
    answer = client.ask(b"( get-dir ( %s( ) true true ) ) " % s(folder))
    tell("get-dir", ([prop for prop in answer[1] if prop[0] == b"svn:mergeinfo"], [entry[:3] for entry in answer[2]]),
         ([[b"svn:mergeinfo", b"/elsewhere:1"]], [[b"d", ("w", "file"), len(TEXT)]]))
    answer = client.ask(b"( get-file ( %s( ) true true ) ) " % file)
    tell("get-file", [answer[0], client.hear(), client.hear(), client.hear()[0]], [[MD5], TEXT, b"", SUCCESS])
    tell("get-iprops", client.ask(b"( get-iprops ( %s( %d ) ) ) " % (file, head)),
         [[[folder, [[b"svn:mergeinfo", b"/elsewhere:1"]]]]])
    tell("get-mergeinfo, inherited", client.ask(b"( get-mergeinfo ( ( %s) ( ) inherited false ) ) " % file),
         [[[path, b"/elsewhere/d:1"]]])
    tell("get-mergeinfo, below", client.ask(b"( get-mergeinfo ( ( 0: ) ( ) explicit true ) ) "),
         [[[folder, b"/elsewhere:1"]]])
    tell("get-lock", client.ask(b"( get-lock ( %s) ) " % file), [[]])
    tell("get-locks", client.ask(b"( get-locks ( 0: ) ) "), [[]])
    tell("get-deleted-rev", client.ask(b"( get-deleted-rev ( %s%d %d ) ) " % (s(root(head - 1)), head - 1, head)), [head])


def read_edits(client, head, depth, levels, file):
    whole, url = b"( set-path ( 0: 0 true ( ) infinity ) ) ", s(client.url)
    without = b"( set-path ( 0: %d false ( ) infinity ) ) ( delete-path ( %s) ) " % (head, file)
    update = b"( update ( ( %d ) 0: true infinity false false ) ) " % head
    tell("update", client.edit(update, whole), depth)
    tell("update of the bottom", client.edit(update, without), 0)
    tell("status", client.edit(b"( status ( 0: true ( %d ) infinity ) ) " % head, whole), depth)
    tell("diff", client.edit(b"( diff ( ( %d ) 0: true false %strue infinity ) ) " % (head, url), whole), depth)
    tell("switch", client.edit(b"( switch ( ( %d ) 0: true %sinfinity false false ) ) " % (head, url), whole), depth)
    tell("replay", client.replay(head, 0), levels + 1)
    tell("replay without copies", client.replay(head, head), depth)


def change(port, revisions, levels):
    client = Deep(port)
    folder, path = places(revisions, levels)
    file = s(path)
    client.user, client.password = b"anna", b"secret"
    answer = client.ask(b"( lock ( %s( ) false ( ) ) ) " % file)
    tell("lock", answer[0][0], b"/" + path)
    token = answer[0][1]
    tell("get-lock", client.ask(b"( get-lock ( %s) ) " % file)[0][0][:2], [b"/" + path, token])
    tell("get-locks", [lock[0] for lock in client.ask(b"( get-locks ( 0: ) ) ")[0]], [b"/" + path])
    # As clients do: where all that is changed is.
    tell("reparent", client.ask(b"( reparent ( %s) ) " % s(client.url.encode() + b"/" + folder)), [])
    client.say(b"( commit ( 1:m ( ( 1:d %s) ) true ) ) " % s(token))
    client.authenticate()
    client.hear()
    client.say(b"( open-root ( ( %d ) 1:0 ) ) ( change-dir-prop ( 1:0 1:p ( 1:v ) ) ) " % revisions)
    client.say(b"( open-file ( 1:d 1:0 1:f ( %d ) ) ) ( change-file-prop ( 1:f 1:p ( 1:v ) ) ) ( close-file ( 1:f ( ) ) ) "
              % revisions)
    tell("commit at the bottom", client.close(0), revisions + 1)
    tell("unlock", client.ask(b"( unlock ( 1:d ( %s) false ) ) " % s(token)), [])
    tell("get-lock", client.ask(b"( get-lock ( 1:d ) ) "), [[]])
    tell("stat", client.ask(b"( stat ( 0: ( ) ) ) ")[0][0][3], revisions + 1)


if __name__ == "__main__":
    {"once": once, "grow": grow, "read": read, "change": change}[sys.argv[1]](*map(int, sys.argv[2:]))
