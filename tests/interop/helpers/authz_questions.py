# SPDX-License-Identifier: Apache-2.0
"""Questions about rule files, and who answers them.

    authz_questions.py stock FROM TO          answers of stock svnauthz, as the expected-answers file has them
    authz_questions.py check ANSWERS PROGRAM  ask tests/unit/repo/authz_answers (PROGRAM) everything; print TAP
    authz_questions.py live SVNAUTHZ FROM TO [STEP]
                                              ask stock svnauthz and SVNAUTHZ the same, a process a question; TAP

The expected-answers file is tests/data/authz-answers, made by `authz_questions.py stock 0 1100`.
Set N of the questions is a rule file made from the number N and QUESTIONS (user, path, repository,
recursive) about it. The expected-answers file has a line for each set: a letter for each question
(w, r or n), or the messages where the file is a mistake.
"""

import os
import subprocess
import sys
import tempfile

SETS = 1100
QUESTIONS = 22
NAMES = ["a", "b", "c", "ab", "aab"]
PATTERNS = ["*", "**", "a*", "*b", "?", "a?", "*a*", "\\a", "**b", "x\\*", "a*b", "***", "*?"]
USERS = ["u", "v", "w"]
GROUPS = ["g", "h", "k"]
REPOSITORIES = ["r", "s", "t"]
MISTAKES = ["[/]\nu = x\n", "[/]\nu = w\n", "[/a/]\nu = r\n", "[trunk]\nu = r\n", "[/]\n@nobody = r\n", "[/]\n&nobody = r\n",
            "[/]\n~* = r\n", "[/]\n~~u = r\n", "[/]\n$who = r\n", "[/]\n*u = r\n", "[/]\nu\n", "u = r\n", "[/a/../b]\nu = r\n",
            "[:glob:]\nu = r\n", "[:blob:/a]\nu = r\n", "[:glob::/a]\nu = r\n", "[/\nu = r\n", "[/]\n u = r\n", " [/]\nu = r\n"]


class Random:
    """The same numbers on every machine and with every Python."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 + 1 & 2**64 - 1

    def below(self, n):
        self.state = self.state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        return (self.state >> 33) % n

    def among(self, things):
        return things[self.below(len(things))]

    def percent(self, n):
        return self.below(100) < n


def make_section(rnd, names, glob):
    parts = []
    for _ in range(rnd.below(rnd.among([2, 3, 4, 5]))):
        kinds = PATTERNS[:rnd.among([2, 2, 5, len(PATTERNS)])]
        parts.append(rnd.among(names) if not glob or rnd.percent(40) else rnd.among(kinds))
    repository = rnd.among(["", "", "r:", "s:"])
    return (":glob:" if glob else "") + repository + "/" + "/".join(parts)


def make_groups(rnd, members):
    lines = []
    for i, group in enumerate(GROUPS):
        inner = ["@" + g for g in GROUPS[i + 1:]]
        chosen = [rnd.among(members + inner) for _ in range(rnd.below(4))]
        lines.insert(rnd.below(len(lines) + 1), "%s = %s\n" % (group, ", ".join(chosen)))
    return "[groups]\n" + "".join(lines)


def make_rules(rnd):
    """A rule file, mostly a good one."""
    names = NAMES[:rnd.among([2, 3, 5])]
    text, who = "", list(USERS)
    has_groups = rnd.percent(60)
    if rnd.percent(50):
        text += "[aliases]\nal = %s\nam = %s\n" % (rnd.among(USERS), rnd.among(USERS))
        who += ["&al", "&am"]
    if has_groups:
        text += make_groups(rnd, list(who))
        who += ["@" + g for g in GROUPS]
    who += ["*", "*", "$anonymous", "$authenticated"]
    seen = set()
    for _ in range(1 + rnd.below(rnd.among([3, 5, 12]))):
        section = make_section(rnd, names, rnd.percent(rnd.among([0, 50, 80])))
        if section in seen and not rnd.percent(4):
            continue
        seen.add(section)
        text += "[%s]\n" % section
        for _ in range(rnd.below(rnd.among([2, 3, 5]))):
            entry = rnd.among(who)
            if entry != "*" and rnd.percent(20):
                entry = "~" + entry
            text += "%s = %s\n" % (entry, rnd.among(["", "r", "rw", "rw"]))
    if rnd.percent(3):
        text += rnd.among(MISTAKES)
    return text


def make_set(number):
    """The rule file of set NUMBER and its questions (user or None, path or None, repository, recursive)."""
    rnd = Random(number + 1)
    rules, questions = make_rules(rnd), []
    for _ in range(QUESTIONS):
        path = "/" + "/".join(rnd.among(NAMES + ["zz", "x*"]) for _ in range(rnd.below(6)))
        recursive = rnd.percent(50)
        if rnd.percent(5):
            path, recursive = None, False
        questions.append((rnd.among(USERS + [None, "nobody"]), path, rnd.among(REPOSITORIES), recursive))
    return rules, questions


# ---- asking svnauthz --------------------------------------------------------------------------

def command(program, name, question):
    user, path, repository, recursive = question
    words = [program, "accessof", name, "--repository", repository]
    words += ["--username", user] if user is not None else []
    words += ["--path", path] if path is not None else []
    return words + (["-R"] if recursive else [])


def ask_svnauthz(program, directory, number, step=1):
    """The answers of PROGRAM to every STEP-th question of a set, as a line of the answers file."""
    rules, questions = make_set(number)
    with open(os.path.join(directory, "rules"), "w") as out:
        out.write(rules)
    line = ""
    for question in questions[number % step::step]:
        done = subprocess.run(command(program, "rules", question), cwd=directory, capture_output=True, text=True)
        if done.returncode == 1:
            return "|".join(text.split(": ", 1)[1] for text in done.stderr.splitlines() if ": E" in text)
        line += {"rw\n": "w", "r\n": "r", "no\n": "n"}.get(done.stdout, "?%d" % done.returncode)
    return line


def stock(first, last):
    with tempfile.TemporaryDirectory() as directory:
        for number in range(first, last):
            print(ask_svnauthz("svnauthz", directory, number), flush=True)


def live(program, first, last, step):
    points = 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(first, last):
            wanted, got = (ask_svnauthz(p, directory, number, step) for p in ("svnauthz", program))
            points += 1
            print("%s %d - svnauthz accessof: questions of set %d" % ("ok" if got == wanted else "not ok", points, number))
            if got != wanted:
                print("# wanted: %s\n# got:    %s" % (wanted, got))
    print("1..%d" % points)


# ---- asking all at once -----------------------------------------------------------------------

def as_input(number):
    rules, questions = make_set(number)
    text = "rules %d\n%s\n" % (len(rules), rules)
    for user, path, repository, recursive in questions:
        text += "ask\t%s\t%s\t%s\t%s\n" % (user or "-", path or "-", repository, "R" if recursive else "")
    return text


def mistake_line(line):
    """Errors in the words of svnauthz, which names the file in front."""
    code = line[:7]
    return "%s: Error while parsing authz file: 'rules':|%s" % (code, line)


def check(answers, program):
    with open(answers) as lines:
        expected = lines.read().splitlines()
    asked = subprocess.run([program], input="".join(map(as_input, range(SETS))), capture_output=True, text=True)
    got, points, wrong = iter(asked.stdout.splitlines()), 0, 0
    print("%s 1 - all sets have an answer of stock" % ("ok" if len(expected) == SETS else "not ok"))
    for number, wanted in enumerate(expected):
        is_mistake = wanted[:1] == "E"
        count = 1 if is_mistake else QUESTIONS
        lines = [next(got, "") for _ in range(count)]
        line = mistake_line(lines[0]) if is_mistake else "".join({"rw": "w", "r": "r", "no": "n"}.get(x, "?") for x in lines)
        points += count
        if line != wanted:
            wrong += 1
            print("# set %d: wanted %s\n# set %d: got    %s" % (number, wanted, number, line))
    print("%s 2 - %d answers are those of stock" % ("not ok" if wrong or next(got, None) else "ok", points))
    print("%s 3 - there are at least 20,000" % ("ok" if points >= 20000 else "not ok"))
    print("1..3")


if __name__ == "__main__":
    what, words = sys.argv[1], sys.argv[2:]
    if what == "stock":
        stock(int(words[0]), int(words[1]))
    elif what == "check":
        check(words[0], words[1])
    else:
        live(words[0], int(words[1]), int(words[2]), int(words[3]) if len(words) > 3 else 1)
