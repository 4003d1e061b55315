# SPDX-License-Identifier: Apache-2.0
"""What svnserve and varve answer where a file or folder of a repository is missing, empty, junk,
unreadable or something else: odd_surroundings.py STOCK-URL STOCK-ROOT URL ROOT TEMPLATE CONFIG.

Each case breaks one thing in a copy of TEMPLATE below both roots, then asks both servers the same questions:
once with a repository that the server has not seen, once with one that it has. Success or error codes are
compared, and that no answer tells the server's path where svnserve's does not. Prints a line a difference that
EXPLAINED does not have, and at the end the number of cases."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

FILES = """format conf/svnserve.conf conf/passwd conf/authz conf/hooks-env.tmpl README.txt locks/db.lock
locks/db-logs.lock hooks/pre-commit hooks/pre-revprop-change hooks/pre-commit.tmpl db/format db/current db/uuid
db/fs-type db/fsfs.conf db/min-unpacked-rev db/txn-current db/txn-current-lock db/write-lock db/rep-cache.db
db/pack-lock db/revs/0/1 db/revprops/0/1""".split()
FOLDERS = """conf hooks locks db db/revs db/revprops db/transactions db/txn-protorevs db/node-origins db/locks""".split()


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def write(path, content):
    remove(path)
    with open(path, "w") as f:
        f.write(content)


def move_away(path):
    """Leave a link in the place of PATH."""
    if os.path.lexists(path):
        os.rename(path, path + ".moved")
    else:
        write(path + ".moved", "")
    os.symlink(os.path.basename(path) + ".moved", path)


def replace(make):
    def do(path):
        remove(path)
        make(path)
    return do


FILE_STATES = {
    "missing": remove,
    "empty": lambda path: write(path, ""),
    "junk": lambda path: write(path, "\x01\xff junk [\n" * 3),
    "unreadable": lambda path: (os.path.exists(path) or write(path, ""), os.chmod(path, 0)),
    "read-only": lambda path: (os.path.exists(path) or write(path, ""), os.chmod(path, 0o444)),
    "folder": replace(os.mkdir),
    "fifo": replace(os.mkfifo),
    "link": move_away,
    "dangling": replace(lambda path: os.symlink("nowhere", path)),
}
FOLDER_STATES = {
    "missing": remove,
    "empty": replace(os.mkdir),
    "unreadable": lambda path: (os.path.exists(path) or os.mkdir(path), os.chmod(path, 0)),
    "read-only": lambda path: (os.path.exists(path) or os.mkdir(path), os.chmod(path, 0o555)),
    "file": lambda path: write(path, ""),
    "fifo": replace(os.mkfifo),
    "link": move_away,
    "dangling": replace(lambda path: os.symlink("nowhere", path)),
}
UNABLE = "E170013"  # to connect to a repository: why comes behind it
PATIENCE = 30  # seconds
CASES = [(name, state, breaks) for name in FILES for state, breaks in FILE_STATES.items()]
CASES += [(name, state, breaks) for name in FOLDERS for state, breaks in FOLDER_STATES.items()]

QUESTIONS = {
    "export": "export -q --force URL OUT",
    "commit": "mkdir -q -m message URL/made",
    "lock": "lock -q URL/file",
    "revprop": "ps -q --revprop -r 1 svn:log changed URL",
}

# Where we differ: path, states, questions, svnserve's answer, ours, why. "" is any.
SERVES = "what it does not need, or can make anew, does not keep varve from serving"
NAMES = "a file that holds what it cannot is called damaged, by its name"
EXPLAINED = [
    ("", "", "", "E210002", "", "svnserve's process dies"),
    ("db/min-unpacked-rev", "", "", "", "ok", SERVES),
    ("db/txn-current-lock", "dangling", "", "", "ok", SERVES),
    ("db/write-lock", "dangling", "", "", "ok", SERVES),
    ("db/txn-protorevs", "missing", "", "", "ok", SERVES),
    ("db/revprops", "empty", "", "", "ok", SERVES),
    ("db/revs/0/1", "", "", "", "", "damage: what each tells of it, and whether it meets it, is compared elsewhere"),
    ("db/revprops/0/1", "empty junk", "", "", "", "as before"),
    ("db/current", "empty junk", "", "E200022", "E160004", NAMES),
    ("db/min-unpacked-rev", "empty junk", "revprop", "", "E160004", NAMES),
    ("db", "read-only", "revprop", "ok", "E000013", "varve's temporary files are in db/"),
    ("db/revprops", "unreadable file", "lock", "ok", "E000013 E000020",
     "what killed writers left is looked for before anything is written"),
]


def explained(path, state, question, want, have):
    for row in EXPLAINED:
        if all(not known or given in known.split() or given == known
               for known, given in zip(row, (path, state, question, want, have))):
            return True
    return False


class Server:
    def __init__(self, url, root, config):
        self.url, self.root, self.config = url, root, config

        self.shown = False  # the last answer had the repository's path

    def prepare(self, template, name, path, breaks):
        self.repository = os.path.join(self.root, name)
        self.name = name
        shutil.copytree(template, self.repository, symlinks=True)
        return os.path.join(self.repository, path)

    def own(self):
        if os.getuid() == 0:
            subprocess.run(["chown", "-hR", "65534:65534", self.repository], check=True)

    def ask(self, question):
        out = os.path.join(self.root, "out")
        url = self.url + "/" + self.name
        words = [url + w[3:] if w.startswith("URL") else out if w == "OUT" else w for w in question.split()]
        command = ["svn", "--config-dir", self.config, "--non-interactive", "--username", "user", "--password", "pass"]
        try:
            done = subprocess.run(command + words, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return "no answer"
        shutil.rmtree(out, ignore_errors=True)
        self.shown = self.repository in done.stderr
        if done.returncode == 0:
            return "ok"
        return " ".join(sorted(set(re.findall(r"E\d{6}", done.stderr)) - {UNABLE})) or "exit %d" % done.returncode

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.repository], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.repository, ignore_errors=True)


def run_case(server, template, number, path, breaks, used):
    target = server.prepare(template, "repo-%d" % number, path, breaks)
    if used:
        server.own()
        server.ask(QUESTIONS["export"])
    breaks(target)
    server.own()
    answers = []
    for question in QUESTIONS.values():
        if answers and answers[-1][0] == "no answer":
            answers.append(answers[-1])
        else:
            answers.append((server.ask(question), server.shown))
    server.remove()
    return answers


def main():
    stock = Server(sys.argv[1], sys.argv[2], sys.argv[6])
    ours = Server(sys.argv[3], sys.argv[4], sys.argv[6])
    template = sys.argv[5]
    only = sys.argv[7:]
    number = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, state, breaks in CASES:
            if only and path not in only:
                continue
            for used in False, True:
                number += 1
                # Where there is a FIFO, svnserve waits for ever for somebody who writes to it.
                asked = (ours,) if state == "fifo" else (stock, ours)
                answers = [pool.submit(run_case, server, template, number, path, breaks, used) for server in asked]
                wanted, got = answers[0].result(), answers[-1].result()
                for question, (want, path_wanted), (have, path_shown) in zip(QUESTIONS, wanted, got):
                    if path_shown and not path_wanted and want not in ("ok", "E210002"):
                        print("%s %s, %s: varve tells the server's path" % (path, state, question), flush=True)
                    if have == "no answer" or want != have and not explained(path, state, question, want, have):
                        print("%s %s%s, %s: svnserve %s, varve %s" %
                              (path, state, " in use" if used else "", question, want, have), flush=True)
    print("%d cases" % number)


main()
