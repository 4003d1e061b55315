#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of the svn:// protocol in all its forms.

usage: forms.py say PORT FOLDER [TUNNEL-SERVER...]    hold the conversations, a file for each command
       forms.py commands                              the commands that there are cases for

From the newest form of a command, all others are made: cut short after each parameter (so older clients speak, or
broken ones), with a parameter of another kind, with more parameters than anybody knows; then with paths and revisions
that should not be. Of errors only the codes are noted: two servers put them in different words."""
import os
import re
import subprocess
import sys

import conversation
from conversation import COMMIT, ROOT, ABORT, s

NEXT = b"( get-latest-rev ( ) ) "
MD5 = b"( 32:d41d8cd98f00b204e9800998ecf8427e )"
URL = b"<url>"  # of the repository's folder trunk/src

MAIN = {
    "reparent": [URL],
    "get-latest-rev": [],
    "get-dated-rev": [b"27:2004-07-05T20:00:00.000000Z"],
    "change-rev-prop": [b"1", b"4:test", b"1:x"],
    "change-rev-prop2": [b"1", b"4:test", b"( 1:x )", b"( false 1:x )"],
    "rev-proplist": [b"1"],
    "rev-prop": [b"1", b"7:svn:log"],
    "commit": [b"1:m", b"( )", b"true", b"( ( 1:a 1:b ) )"],
    "get-file": [b"12:trunk/README", b"( 5 )", b"true", b"true", b"false"],
    "get-dir": [b"9:trunk/src", b"( 5 )", b"true", b"true", b"( kind size has-props created-rev time last-author )", b"false"],
    "check-path": [b"5:trunk", b"( 3 )"],
    "stat": [b"5:trunk", b"( 3 )"],
    "get-mergeinfo": [b"( 5:trunk 16:branches/one/src )", b"( 40 )", b"inherited", b"true"],
    "update": [b"( 5 )", b"0:", b"true", b"infinity", b"true", b"true"],
    "switch": [b"( 5 )", b"0:", b"true", URL, b"infinity", b"true", b"true"],
    "status": [b"0:", b"true", b"( 5 )", b"infinity"],
    "diff": [b"( 5 )", b"0:", b"true", b"true", URL, b"true", b"infinity"],
    "log": [b"( 0: )", b"( 5 )", b"( 1 )", b"true", b"true", b"2", b"true", b"revprops", b"( 7:svn:log 1:x )"],
    "get-locations": [b"12:trunk/README", b"4", b"( 1 2 3 )"],
    "get-location-segments": [b"12:trunk/README", b"( 5 )", b"( 4 )", b"( 2 )"],
    "get-file-revs": [b"12:trunk/README", b"( 2 )", b"( 5 )", b"true"],
    "lock": [b"12:trunk/README", b"( 7:comment )", b"true", b"( 9999 )"],
    "lock-many": [b"( 7:comment )", b"true", b"( ( 12:trunk/README ( 9999 ) ) ( 4:none ( ) ) ( 16:trunk/src/main.c ( ) ) )"],
    "unlock": [b"12:trunk/README", b"( 3:tok )", b"true"],
    "unlock-many": [b"true", b"( ( 12:trunk/README ( 3:tok ) ) ( 16:trunk/src/main.c ( ) ) )"],
    "get-lock": [b"12:trunk/README"],
    "get-locks": [b"0:", b"( infinity )"],
    "replay": [b"2", b"0", b"true"],
    "replay-range": [b"3", b"4", b"0", b"true"],
    "get-deleted-rev": [b"22:branches/two/src/lib/x", b"20", b"30"],
    "get-iprops": [b"12:trunk/README", b"( 14 )"],
    "list": [b"9:trunk/src", b"( 5 )", b"immediates", b"( kind size )", b"( 3:*.c )"],
}

REPORT = {
    "set-path": [b"3:lib", b"3", b"true", b"( 5:token )", b"infinity"],
    "delete-path": [b"3:lib"],
    "link-path": [b"3:lib", URL, b"3", b"true", b"( 5:token )", b"infinity"],
    "finish-report": [],
    "abort-report": [],
}

ADD_FILE = b"( add-file ( 5:added 1:r 1:f ( ) ) ) "
TEXT = b"( apply-textdelta ( 1:f ( ) ) ) "

# The form, and what goes before it in the edit.
EDITOR = {
    "target-rev": ([b"5"], b""),
    "open-root": ([b"( 9999 )", b"1:x"], b""),
    "delete-entry": ([b"5:trunk", b"( 9999 )", b"1:r"], b""),
    "add-dir": ([b"3:new", b"1:r", b"1:d", b"( " + URL + b" 1 )"], b""),
    "open-dir": ([b"5:trunk", b"1:r", b"1:d", b"( 9999 )"], b""),
    "change-dir-prop": ([b"1:r", b"1:p", b"( 1:v )"], b""),
    "close-dir": ([b"1:r"], b""),
    "absent-dir": ([b"1:a", b"1:r"], b""),
    "add-file": ([b"3:new", b"1:r", b"1:g", b"( )"], b""),
    "open-file": ([b"12:trunk/README", b"1:r", b"1:g", b"( 9999 )"], b""),
    "apply-textdelta": ([b"1:f", MD5], ADD_FILE),
    "textdelta-chunk": ([b"1:f", b"4:SVN\0"], ADD_FILE + TEXT),
    "textdelta-end": ([b"1:f"], ADD_FILE + TEXT + b"( textdelta-chunk ( 1:f 4:SVN\0 ) ) "),
    "change-file-prop": ([b"1:f", b"1:p", b"( 1:v )"], ADD_FILE),
    "close-file": ([b"1:f", MD5], ADD_FILE),
    "absent-file": ([b"1:a", b"1:r"], b""),
    "close-edit": ([], b""),
    "abort-edit": ([], b""),
    "finish-replay": ([], b""),
}

# Commands whose path stands first, and may be of any sort; those of a list of paths.
PATHS = [b"", b"/", b"/trunk", b"trunk/", b"trunk//src", b"./trunk", b"trunk/.", b"none", b"trunk/README/x", b"..", b"trunk/..", b"trunk/../trunk/README", b"a\tb", b"%41", b"x" * 300, b"\xc3\xa4"]
PATH_FIRST = ["get-file", "get-dir", "check-path", "stat", "get-locations", "get-location-segments", "get-file-revs",
              "get-lock", "get-locks", "get-deleted-rev", "get-iprops", "list"]
PATH_LISTS = ["log", "get-mergeinfo"]
REVS = [b"0", b"9999", b"9223372036854775807", b"18446744073709551615", b"99999999999999999999"]
# Forms that the rules above do not make.
MORE = {
    "get-dir": {"a file, without entries": [b"12:trunk/README", b"( 5 )", b"true", b"false"],
                "nothing, and nothing of it": [b"4:none", b"( 5 )", b"false", b"false"],
                "nothing but what it would inherit": [b"4:none", b"( 5 )", b"false", b"false", b"( )", b"true"]},
    "lock": {"a folder, of a revision to come": [b"5:trunk", b"( )", b"true", b"( 9999 )"],
             "nothing, of a revision to come": [b"4:none", b"( )", b"true", b"( 9999 )"]},
    "lock-many": {"a path twice": [b"( )", b"true", b"( ( 12:trunk/README ( 9999 ) ) ( 4:none ( ) ) ( 12:trunk/README ( ) ) ( 12:trunk/README ( ) ) )"],
                  "nothing, why is not UTF-8": [b"( 1:\xff )", b"true", b"( )"]},
    "unlock-many": {"a path twice": [b"true", b"( ( 12:trunk/README ( 3:tok ) ) ( 12:trunk/README ( ) ) )"]},
}
# Answered otherwise on purpose: no revision at all is told as such, where stock says that the file is not in it.
OTHERWISE = {("get-locations", "2 is 18446744073709551615")}
USER_NEEDED = ["lock", "lock-many", "unlock", "unlock-many", "commit", "get-lock", "get-locks"]


def command(name, params):
    return b"( " + name.encode() + b" ( " + b" ".join(params) + b" ) ) "


def other_kind(param):
    """PARAM as an item of another kind."""
    if param.startswith(b"("):
        return b"5"
    if re.match(rb"\d+:", param) or param == URL:
        return b"7"
    return b"3:abc" if param.isdigit() else b"( )"


def forms(params, paths=None, path_list=False):
    """All variants of a command's parameters, each with a name."""
    for n in range(len(params) + 1):
        yield "the first %d" % n, params[:n]
    yield "and more", params + [b"7", b"( 1:x )", b"future"]
    for i, param in enumerate(params):
        yield "%d of another kind" % (i + 1), params[:i] + [other_kind(param)] + params[i + 1:]
        if param == b"( )" or param.startswith(b"( ") and not path_list:
            yield "%d empty" % (i + 1), params[:i] + [b"( )"] + params[i + 1:]
        if param in (b"true", b"false"):
            yield "%d turned" % (i + 1), params[:i] + [b"false" if param == b"true" else b"true"] + params[i + 1:]
        if re.fullmatch(rb"(\( )?\d+( \))?", param):
            for rev in REVS:
                yield "%d is %s" % (i + 1, rev.decode()), params[:i] + [re.sub(rb"\d+", rev, param)] + params[i + 1:]
    for path in paths or []:
        item = b"( %s)" % s(path) if path_list else s(path).strip() if path else b"0:"
        yield "path %r" % path[:20], [item] + params[1:]


def pieces(group, name, params):
    """What is said, as pieces: after each but the last, the answer is awaited."""
    said = command(name, params)
    if group == "editor":
        before = EDITOR[name][1]
        return [COMMIT, ROOT + before + said + ABORT + NEXT]
    if name == "abort-report":
        return [command("update", [b"( 5 )", b"0:", b"true"]) + b"( set-path ( 0: 2 false ) ) " + said + NEXT]
    if group == "report":
        return [b"( update ( ( 5 ) 0: true infinity ) ) ( set-path ( 0: 2 false ) ) " + said + b"( finish-report ( ) ) ", b"( success ( ) ) " + NEXT]
    if name == "commit":
        return [said, ROOT + ABORT + NEXT]
    if name in ("update", "switch", "status", "diff"):
        return [said + b"( set-path ( 0: 2 false ) ) ( finish-report ( ) ) ", b"( success ( ) ) " + NEXT]
    if name.startswith("replay"):
        return [said, NEXT]
    return [said + NEXT]


# ---- talking ------------------------------------------------------------------------------------


class Socket:
    def __init__(self, port):
        self.sock = conversation.connect(port)
        self.say = self.sock.sendall

    def hear(self):
        try:
            return self.sock.recv(65536)
        except ConnectionResetError:
            return b""

    def finish(self):
        self.sock.shutdown(1)

    def close(self):
        self.sock.close()


class Tunnel:
    """A server of its own at the end of a pipe, which knows who we are."""

    def __init__(self, server):
        self.process = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

    def say(self, data):
        self.process.stdin.write(data)

    def hear(self):
        return self.process.stdout.read(65536)

    def finish(self):
        self.process.stdin.close()

    def close(self):
        self.process.stdout.close()
        self.process.wait()


def hold(peer, greeting, said):
    """Say the pieces, and return all that is answered. Before the last piece the edit or the failure has arrived."""
    data = b""
    try:
        peer.say(greeting)
        for piece in said[:-1]:
            peer.say(piece)
            while not re.search(rb"\( (close-edit|abort-edit) \( \) \) $|\( failure \( |\( (finish-replay \( \)|success \( \( \) 0: \)) \) \( success \( \) \) $", data):
                heard = peer.hear()
                if not heard:
                    return data
                data += heard
        peer.say(said[-1])
        peer.finish()
    except OSError:
        pass
    while True:
        heard = peer.hear()
        if not heard:
            peer.close()
            return data
        data += heard


def resolve(items):
    """The lines of an edit with paths in the place of tokens, in the order of paths; those of a path in the order in
    which they came, but that its properties are in no order."""
    paths, lines, edit, in_delta = {}, [], [], False

    def add(path, text, is_prop=False):
        earlier = [stage for other, stage, _ in edit if other == path]
        edit.append((path, max(earlier, default=0) + (not is_prop), text))

    def edit_lines():
        return [text for _, _, text in sorted(edit)]

    for item in items:
        in_delta = isinstance(item, bytes) and item and (in_delta or item.startswith(b"SVN"))
        if in_delta:
            continue
        word = item[0][1] if isinstance(item, list) and item and isinstance(item[0], tuple) else ""
        params = item[1] if word and len(item) > 1 and isinstance(item[1], list) else []
        if word == "open-root" and len(params) == 2:
            paths[params[1]] = b""
            add(b"", "(root)")
        elif word in ("add-dir", "open-dir", "add-file", "open-file"):
            paths[params[2]] = params[0]
            add(params[0], "%r %s in %r %r" % (params[0], word, paths[params[1]], params[3]))
        elif word in ("close-dir", "close-file", "change-dir-prop", "change-file-prop", "apply-textdelta", "textdelta-end"):
            add(paths[params[0]], "%r %s %r" % (paths[params[0]], word, params[1:]), word.endswith("-prop"))
        elif word in ("absent-dir", "absent-file"):
            add(params[0], "%r %s in %r" % (params[0], word, paths[params[1]]))
        elif word == "textdelta-chunk":
            continue
        elif word == "delete-entry":
            add(params[0], "%r deleted" % params[0])
        else:
            lines += edit_lines()
            edit.clear()
            lines.append(conversation.show(conversation.plain(item, False)) if isinstance(item, (list, tuple)) else repr(item))
    return lines + edit_lines()


def told(port, data, name):
    """What is answered once the repository is open."""
    lines = resolve(conversation.parse(data)[4:])
    if name == "get-locations":  # in the order of a hash
        lines.sort()
    text = "\n".join("  " + line for line in lines) + "\n"
    text = re.sub(r"20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW", text)
    text = re.sub(r"opaquelocktoken:[-0-9a-f]{36}", "TOKEN", text)
    return text.replace("127.0.0.1:%d" % port, "HOST")


def cases():
    for name, params in MAIN.items():
        for title, variant in forms(params, PATHS if name in PATH_FIRST + PATH_LISTS else None, name in PATH_LISTS):
            if (name, title) not in OTHERWISE:
                yield "main", name, title, variant
        for title, variant in MORE.get(name, {}).items():
            yield "main", name, title, variant
    for name, params in REPORT.items():
        for title, variant in forms(params):
            yield "report", name, title, variant
    for name, (params, _) in EDITOR.items():
        for title, variant in forms(params):
            yield "editor", name, title, variant


def do_say(port, folder, *tunnel):
    port = int(port)
    os.makedirs(folder)
    url = s("svn://127.0.0.1:%d/repos/trunk/src" % port).strip()
    for group, name, title, variant in cases():
        path = "/repos/trunk/src" if group == "report" or name in ("update", "switch", "status", "diff") else "/repos"
        said = [piece.replace(URL, url) for piece in pieces(group, name, variant)]
        answers = [told(port, hold(Socket(port), conversation.greet(port, path), said), name)]
        if tunnel and name in USER_NEEDED:
            greeting = conversation.greet(port, path).replace(b"( ANONYMOUS ( 0: ) )", b"( EXTERNAL ( 0: ) )")
            answers.append(told(port, hold(Tunnel(tunnel), greeting, said), name))
        with open(os.path.join(folder, name), "a") as out:
            out.write("%s: %r\n%s" % (title, variant, "-- as a user:\n".join(answers)))


def do_commands():
    for group in (MAIN, REPORT, EDITOR):
        print("\n".join(group))


if __name__ == "__main__":
    globals()["do_" + sys.argv[1]](*sys.argv[2:])
