# SPDX-License-Identifier: Apache-2.0
"""Who may write what, asked of two servers with the same rules and the same tree.

usage: write_rights.py PORT-A CONF-A PORT-B CONF-B FROM TO
       write_rights.py tree                    the tree that is asked about, as commands of svnmucc

Set N is a rule file made from the number N (authz_questions.py), which is written to CONF/authz, and steps of edits,
locks, property changes and reports, each by a user of his own. Both servers must answer them alike; edits are aborted and
locks given back, so that the tree stays as it is. Prints TAP, a point a set, and how many questions there were."""
import re
import sys

from authz_questions import Random, USERS, make_rules
from peer import Closed, Peer, s, show

NAMES = ["a", "b", "c"]  # folders, three deep; each holds a file "ab"
QUESTIONS = 20
ALL_FOLDERS = [""] + [x for a in NAMES for x in [a] + [y for b in NAMES for y in [a + "/" + b] + [a + "/" + b + "/" + c for c in NAMES]]]


def tree():
    """The tree below its root, in words of svnmucc."""
    words = []
    for folder in ALL_FOLDERS:
        if folder:
            words += ["mkdir", folder]
        words += ["put", "/dev/null", (folder + "/ab").lstrip("/")]
    return words


def join(folder, name):
    return (folder + "/" + name).lstrip("/")


def edit(folder, *steps):
    """Open FOLDER and do STEPS there, with the token d for it; nothing is committed."""
    said, token = b"( open-root ( ( 1 ) 1:0 ) ) ", b"0"
    path = ""
    for depth, name in enumerate(folder.split("/") if folder else []):
        path = join(path, name)
        child = b"%d" % (depth + 1)
        said += b"( open-dir ( %s%s%s( 1 ) ) ) " % (s(path), s(token), s(child))
        token = child
    return [said] + [step(token) for step in steps]


def steps_of(rnd, folder):
    """The steps of an edit in FOLDER."""
    name = rnd.among(["a", "b", "ab", "ab", "new", "aab"])
    path = s(join(folder, name))
    there = rnd.among(ALL_FOLDERS)
    copy = b"( %s1 ) " % s("svn://HOST/repos/" + (join(there, "ab") if rnd.percent(40) else there))
    actions = [
        [lambda d: b"( delete-entry ( %s( 1 ) %s) ) " % (path, s(d))],
        [lambda d: b"( add-dir ( %s%s1:n ( ) ) ) " % (path, s(d))],
        [lambda d: b"( add-file ( %s%s1:n ( ) ) ) ( close-file ( 1:n ( ) ) ) " % (path, s(d))],
        [lambda d: b"( add-dir ( %s%s1:n %s) ) " % (path, s(d), copy)],
        [lambda d: b"( add-file ( %s%s1:n %s) ) ( close-file ( 1:n ( ) ) ) " % (path, s(d), copy)],
        [lambda d: b"( delete-entry ( %s( 1 ) %s) ) ( add-file ( %s%s1:n ( ) ) ) " % (path, s(d), path, s(d))],
        [lambda d: b"( delete-entry ( %s( 1 ) %s) ) ( add-dir ( %s%s1:n %s) ) " % (path, s(d), path, s(d), copy)],
        [lambda d: b"( change-dir-prop ( %s3:foo ( 1:x ) ) ) " % s(d)],
        [lambda d: b"( open-file ( %s%s1:n ( 1 ) ) ) ( change-file-prop ( 1:n 3:foo ( 1:x ) ) ) " % (path, s(d))],
        [lambda d: b"( open-file ( %s%s1:n ( 1 ) ) ) " % (path, s(d))],
        [lambda d: b"( open-file ( %s%s1:n ( 1 ) ) ) ( apply-textdelta ( 1:n ( ) ) ) " % (path, s(d))],
    ]
    return edit(folder, *rnd.among(actions))


def command_of(rnd, folder):
    """A command that is no commit, and what takes back what it does."""
    path = join(folder, rnd.among(["ab", "ab", "new", "a"]))
    force = rnd.among([b"true", b"false"])
    return rnd.among([
        b"( lock ( %s( ) %s ( ) ) ) " % (s(path), force),
        b"( unlock ( %s( ) %s ) ) " % (s(path), force),
        b"( unlock ( %s( 50:opaquelocktoken:00000000-0000-0000-0000-00000000000 ) %s ) ) " % (s(path), force),
        b"( lock-many ( ( ) %s ( ( %s( ) ) ( %s( ) ) ) ) ) " % (force, s(path), s(join(folder, "b/ab"))),
        b"( unlock-many ( %s ( ( %s( ) ) ) ) ) " % (force, s(path)),
        b"( get-lock ( %s) ) " % s(path),
        b"( get-locks ( %s) ) " % s(path),
        b"( change-rev-prop ( 1 3:foo 1:x ) ) ",
        b"( rev-proplist ( 1 ) ) ",
    ])


def report_of(rnd, folder):
    """A report by a session whose place is FOLDER, about TARGET there."""
    target = s(rnd.among(["", "a", "ab", "new"]))
    said = b"( set-path ( 0: 1 false ) ) ( finish-report ( ) ) "
    url = s("svn://HOST/repos/" + join(folder, rnd.among(["a", "ab", "new"])))
    return rnd.among([
        b"( update ( ( 1 ) %strue ) ) " % target,
        b"( status ( %strue ( 1 ) ) ) " % target,
        b"( switch ( ( 1 ) %strue %s) ) " % (target, url),
        b"( diff ( ( 1 ) %strue true %s) ) " % (target, url),
    ]) + said


def make_questions(number):
    """The rules of set NUMBER, and questions: (user, kind, place of the session, what is said)."""
    rnd = Random(1000003 * (number + 1))
    rules, questions = make_rules(rnd), []
    for _ in range(QUESTIONS):
        user = rnd.among(USERS + [""])
        folder = rnd.among(ALL_FOLDERS)
        kind = rnd.among(["edit", "edit", "edit", "edit", "command", "report"])
        said = {"edit": steps_of, "command": command_of, "report": report_of}[kind](rnd, folder)
        questions.append((user, kind, folder, said))
    return rules, questions


# ---- asking ------------------------------------------------------------------------------------


class Asker:
    def __init__(self, port):
        self.port, self.peers = port, {}

    def drop(self, user):
        if user in self.peers:
            self.peers.pop(user).close()

    def begin(self):
        """Another rule file counts from now on."""
        for user in list(self.peers):
            self.drop(user)

    def peer(self, user):
        if user not in self.peers:
            peer = Peer(self.port, user=user, password="secret")
            refusal = peer.greet()
            if refusal is not None:
                peer.close()
                return None, refusal
            self.peers[user] = peer
        return self.peers[user], None

    def until_latest(self, peer):
        """What is answered before the answer of get-latest-rev."""
        peer.say(b"( get-latest-rev ( ) ) ")
        heard = []
        while True:
            item = peer.hear()
            if item == [("w", "success"), [1]]:
                return heard
            heard.append(item)

    def report(self, peer, folder, said):
        self.move(peer, folder)
        peer.say(self.with_url(peer, said))
        refusal = peer.authenticate()
        if refusal is not None and not peer.failure(refusal):
            raise Closed # it waits for a name
        heard = [refusal]
        while True:
            item = peer.hear()
            heard.append(item)
            if item == [("w", "close-edit"), []]:
                peer.say(b"( success ( ) ) ")
            if item == [("w", "abort-edit"), []]:
                peer.say(b"( success ( ) ) ")
            if isinstance(item, list) and item[:1] == [("w", "failure")] or item == [("w", "success"), []]:
                break
        heard += self.until_latest(peer)
        self.move(peer, "")
        return heard

    @staticmethod
    def move(peer, folder):
        """Move the session's place to FOLDER."""
        peer.say(b"( reparent ( %s) ) " % s((peer.url + "/" + folder).rstrip("/")))
        peer.authenticate()
        peer.hear()

    @staticmethod
    def with_url(peer, said):
        """SAID with the server's own address in its URLs."""
        return re.sub(rb"\d+:svn://HOST/repos([^ ]*) ", lambda m: s((peer.url.encode() + m[1]).rstrip(b"/")), said)

    def ask(self, user, kind, folder, said):
        try:
            peer, refusal = self.peer(user)
            if peer is None:
                return [refusal]
            if kind == "report":
                return self.report(peer, folder, said)
            peer.say(b"( commit ( 1:m ( ) false ) ) " if kind == "edit" else said)
            refusal = peer.authenticate()
            if refusal is not None:
                if not peer.failure(refusal):
                    raise Closed
                return [refusal]
            if kind == "edit":
                peer.hear()
                peer.say(self.with_url(peer, b"".join(said)) + b"( abort-edit ( ) ) ")
            heard = self.until_latest(peer)
            if kind == "command" and b"lock" in said[:6]:
                self.give_back(peer, heard)
            return heard
        except Closed:
            self.drop(user)
            return ["closed"]

    def give_back(self, peer, heard):
        """Break the locks that were taken."""
        for path in re.findall(rb"b'/([^']*)' b'opaquelocktoken", show(heard).encode()):
            peer.say(b"( unlock ( %s( ) true ) ) " % s(path))
            if peer.authenticate() is None:
                peer.hear()


def shown(heard):
    """What two servers must say alike: names of tokens and places in the source are theirs, and so is the order of an edit."""
    lines = []
    for item in heard:
        if isinstance(item, list) and item and item[0] == ("w", "failure"):
            item = [item[0]] + [error[:2] for error in item[1]]
        lines.append(show(item) if isinstance(item, (list, tuple)) else repr(item))
    text = "\n".join(lines)
    text = re.sub(r"opaquelocktoken:[-0-9a-f]{36}", "TOKEN", text)
    text = re.sub(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW", text)
    text = re.sub(r"\b[cd]\d+\b|b'[cdr]\d+'|b'\d+'", "N", text)
    text = re.sub(r"svn://127\.0\.0\.1:\d+", "HOST", text)
    lines = text.split("\n")
    return sorted(lines) if any("open-root" in line for line in lines) else lines


def main():
    if sys.argv[1] == "tree":
        print("\n".join(tree()))
        return
    (port_a, conf_a, port_b, conf_b), (first, last) = sys.argv[1:5], map(int, sys.argv[5:7])
    askers, asked = [Asker(int(port_a)), Asker(int(port_b))], 0
    granted = 0
    for number in range(first, last):
        rules, questions = make_questions(number)
        for conf in (conf_a, conf_b):
            with open(conf + "/authz", "w") as out:
                out.write(rules)
        for asker in askers:
            asker.begin()
        wrong = []
        for question in questions:
            wanted, got = (shown(asker.ask(*question)) for asker in askers)
            asked += 1
            granted += not any("failure" in line for line in wanted)
            if wanted != got:
                wrong.append((question, wanted, got))
        print("%s %d - rules and questions of set %d" % ("not ok" if wrong else "ok", number - first + 1, number))
        for question, wanted, got in wrong:
            print("# %s" % (question,))
            print("#   wanted: %s" % [line for line in wanted if line not in got][:3])
            print("#   got:    %s" % [line for line in got if line not in wanted][:3])
        if wrong:
            print("#   " + rules.replace("\n", "\n#   "))
        sys.stdout.flush()
    for conf in (conf_a, conf_b):
        with open(conf + "/authz", "w") as out:
            out.write("[/]\n* = rw\n[/a/b/c]\n* =\n")
    askers[1].begin()
    hole = edit("", lambda d: b"( add-file ( 3:new%s 1:n ( %s1 ) ) ) ( close-file ( 1:n ( ) ) ) " % (b" " + s(d), s("svn://HOST/repos/a")))
    said = shown(askers[1].ask("u", "edit", "", hole))
    print("%s %d - what is hidden in a folder is not copied with it as with a file" %
          ("ok" if "( failure ( 220001 b'Access denied' ) )" in said else "not ok", last - first + 1))
    both = granted and granted < asked
    print("%s %d - of %d questions some are granted (%d) and some are not" % ("ok" if both else "not ok", last - first + 2, asked, granted))
    print("1..%d" % (last - first + 2))


if __name__ == "__main__":
    main()
