# SPDX-License-Identifier: Apache-2.0
"""What the differential testers share: the same questions to stock's server and to varve.

A tester draws *cases* from a printed seed: a case is a JSON value of which `steps` is a list, so that it
can be kept, replayed and shrunk. It is run on two Sides, each with repositories of its own copied from one
template; what may differ between two runs of one server (dates, tokens, addresses) is made the same by
Side.plain. A Difference names the step and the kind of what differs.

    servers = Servers(folder, varve)       two servers on one port, at 127.0.0.1 and 127.0.0.2
    servers.repository(template, name)     a fresh copy for both, with a UUID of its own
    search(...)                            many cases on several processes, differences shrunk and printed
    rng(seed, index)                       the random numbers of one case

A repository's name must not come back while a server runs: servers cache what they have read.
"""

import hashlib
import multiprocessing
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC",
                   # Steps change lengths, so that a time stamp of the same tick hides nothing.
                   SVN_I_LOVE_CORRUPTED_WORKING_COPIES_SO_DISABLE_SLEEP_FOR_TIMESTAMPS="yes")
PATIENCE = 120  # seconds: a program that takes longer hangs


def rng(seed, index):
    """The random numbers of case INDEX of SEED: the same with every version of Python."""
    return random.Random(int.from_bytes(hashlib.sha256(f"{seed}:{index}".encode()).digest()[:8], "big"))


def scratch_folder():
    """A new folder where writing costs least."""
    parent = os.environ.get("TMPDIR")
    if not parent and os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30:
        parent = "/dev/shm"
    return tempfile.mkdtemp(prefix="varve-random.", dir=parent)


# ---- servers -----------------------------------------------------------------------------


class Side:
    """A server of all repositories in its folder."""

    def __init__(self, name, command, address, root):
        self.name = name
        self.command = command
        self.address = address
        self.root = root
        self.port = None
        self.process = None
        os.makedirs(root)

    def start(self, port):
        """Whether it now listens on PORT."""
        with open(self.root + ".log", "ab") as log:
            self.process = subprocess.Popen(
                self.command + ["-d", "--foreground", "-r", self.root, "--listen-host", self.address,
                                "--listen-port", str(port)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=ENVIRONMENT)
        self.port = port
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection((self.address, port), 5).close()
                return True
            except OSError:
                time.sleep(0.02)
        self.stop()
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def url(self, repository):
        return f"svn://{self.address}:{self.port}/{repository}"

    def path(self, repository):
        return os.path.join(self.root, repository)

    def plain(self, data):
        """DATA without what two runs of the same differ in."""
        data = data.replace(f"{self.address}:{self.port}".encode(), b"SERVER")
        data = data.replace(self.root.encode(), b"/ROOT")
        data = DATE.sub(b"DATE", data)
        data = TOKEN.sub(b"TOKEN", data)
        data = TEMPORARY.sub(rb"\1TMP", data)
        return TRANSACTION.sub(rb"\1TXN", data)


DATE = re.compile(rb"20[2-9]\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?( \+0000)?( \([^)]*\))?|"
                  rb"\b[A-Z][a-z]{2} \d\d \d\d:\d\d\b|\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} 20\d\d")
TOKEN = re.compile(rb"(opaquelocktoken:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TEMPORARY = re.compile(rb"(/svn-)\w{6}\b")
TRANSACTION = re.compile(rb"([Tt]ransaction ')\d+-[0-9a-z]+")


class Servers:
    """Both sides, started. ALONE: stock on both, to see what of its answers is stable."""

    def __init__(self, folder, options, alone=False):
        stock = options.stock
        other = stock if alone or options.self_test else [options.varve, "serve", "-M", "64"]
        self.sides = [Side("stock", stock, "127.0.0.1", os.path.join(folder, "stock")),
                      Side("varve", other, "127.0.0.2", os.path.join(folder, "varve"))]

    def __enter__(self):
        draw = random.Random()
        for _ in range(20):
            port = draw.randrange(20000, 32000)
            if self.sides[0].start(port):
                if self.sides[1].start(port):
                    return self
                self.sides[0].stop()
        raise RuntimeError("the servers do not start: see " + self.sides[1].root + ".log")

    def __exit__(self, *_):
        for side in self.sides:
            side.stop()

    def alive(self):
        return [side for side in self.sides if side.process.poll() is None]

    def repository(self, template, name, conf):
        """Copy the repository TEMPLATE to both; CONF: files of conf/."""
        identity = uuid.uuid4()
        for side in self.sides:
            copy = side.path(name)
            shutil.copytree(template, copy)
            with open(os.path.join(copy, "db", "uuid"), "w", encoding="ascii") as file:
                file.write(f"{identity}\n{identity}\n")
            for file_name, text in conf.items():
                with open(os.path.join(copy, "conf", file_name), "w", encoding="utf-8") as file:
                    file.write(text)

    def remove(self, name):
        for side in self.sides:
            shutil.rmtree(side.path(name), ignore_errors=True)

    def compare_repositories(self, name, last):
        """What the histories have become by the step LAST: None or a Difference."""
        for kind, command in (("dump", ["svnadmin", "dump", "-q"]), ("locks", ["svnadmin", "lslocks"]),
                              ("verify", ["svnadmin", "verify", "-q"])):
            answers = run_both([command + [side.path(name)] for side in self.sides], [side.root for side in self.sides])
            says = [side.plain(out + err) + b"\nexit %d" % code for side, (code, out, err) in zip(self.sides, answers)]
            if kind == "locks":
                says = [b"\n".join(sorted(text.split(b"\n"))) for text in says]
            if says[0] != says[1]:
                return Difference(last, f"end: {kind}", *says)
        return None


def run_both(commands, folders):
    """Run commands[i] in folders[i] at the same time: [(exit code, output, errors), ...]."""
    processes = [subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for command, folder in zip(commands, folders)]
    answers = []
    for process in processes:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += b"\nhangs\n"
        answers.append((process.returncode, out, err))
    return answers


# ---- differences -------------------------------------------------------------------------


class Difference:
    """Step STEP (an index) is answered differently; KIND is what is compared when the case is shrunk."""

    def __init__(self, step, kind, stock, varve):
        self.step = step
        self.kind = kind
        self.told = [text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else str(text)
                     for text in (stock, varve)]

    def __str__(self):
        lines = [text.splitlines() for text in self.told]
        shown = [f"step {self.step + 1}, {self.kind}:"]
        for name, own, other in (("stock", *lines), ("varve", *reversed(lines))):
            shown += [f"  {name}: {line[:300]}" for line in own if line not in other][:12]
        if len(shown) == 1:
            shown += [f"  {name}: {line[:300]}" for name, own in zip(("stock", "varve"), lines) for line in own[:6]]
        return "\n".join(shown)


def explained_by(difference, case, table):
    """The reason in TABLE ((predicate of difference and case, reason), ...) of what is known, or None."""
    for predicate, reason in table:
        if predicate(difference, case):
            return reason
    return None


def stock_says_so_too(case, difference, run_with, options, tries):
    """Whether stock itself, asked up to 2 * TRIES times, gives the answer that varve gave."""
    folder = scratch_folder()
    try:
        with Servers(folder, options, alone=True) as servers:
            for _ in range(tries):
                found = run_with(servers, case)
                if found and found.step == difference.step and difference.told[1] in found.told:
                    return True
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return False


def shrink(case, difference, run, kept_words, seconds=60):
    """The shortest case found in which RUN(case) still answers a difference of the same kind.

    kept_words(step) is how many of the words of a step must stay.
    """
    end = time.monotonic() + seconds
    steps = case["steps"][:difference.step + 1]

    def still(candidate):
        found = run(dict(case, steps=candidate))
        return found if found and found.kind == difference.kind else None

    size = max(1, len(steps) // 2)
    while time.monotonic() < end:
        at, smaller = 0, False
        while at < len(steps) and time.monotonic() < end:
            candidate = steps[:at] + steps[at + size:]
            found = still(candidate) if candidate else None
            if found:
                steps, difference, smaller = candidate[:found.step + 1], found, True
            else:
                at += size
        if size == 1 and not smaller:
            break
        size = max(1, size // 2)
    for at, step in enumerate(steps):  # then what each step says
        position = kept_words(step)
        while position < len(step) and time.monotonic() < end:
            candidate = steps[:at] + [step[:position] + step[position + 1:]] + steps[at + 1:]
            found = still(candidate)
            if found:
                step, steps, difference = candidate[at], candidate, found
            else:
                position += 1
    return dict(case, steps=steps), difference


# ---- many cases --------------------------------------------------------------------------


def _worker(context, first, results, stop):
    make, run_with, kept_words, options, table = context
    folder = scratch_folder()
    shrunk = {}

    def why(difference, case, tries):
        reason = explained_by(difference, case, table)
        if not reason and not options.self_test and stock_says_so_too(case, difference, run_with, options, tries):
            reason = f"stock's own answer varies: {difference.kind}"
        return reason

    try:
        with Servers(folder, options) as servers:
            for index in range(first, options.first + options.count, options.jobs):
                if stop.is_set():
                    break
                case = make(options.seed, index)
                case["name"] = f"{options.seed}:{index}"
                run = lambda candidate: run_with(servers, candidate)
                found = run(case)
                reason = found and why(found, case, 8)
                if found and not reason and shrunk.get(found.kind, 0) < options.shrink:
                    shrunk[found.kind] = shrunk.get(found.kind, 0) + 1
                    case, found = shrink(case, found, run, kept_words)
                    reason = why(found, case, 100)  # short by now; of a folder copied in part there are many
                results.put((index, len(case["steps"]), case if found else None, found, reason))
                if len(servers.alive()) < 2:
                    break
    finally:
        results.put(None)
        shutil.rmtree(folder, ignore_errors=True)


def search(make, run_with, kept_words, script, options, table=()):
    """Run options.count cases of options.seed in options.jobs processes; the exit status of a test program.

    make(seed, index) draws a case, run_with(servers, case) answers None or a Difference, script(case)
    writes one so that anybody can replay it. kept_words: see shrink. TABLE: see explained_by. A time limit ends early.
    What stock answers in more than one way (clients take siblings in the order of seeded hashes) is no difference.
    """
    results, stop = multiprocessing.Queue(), multiprocessing.Event()
    context = (make, run_with, kept_words, options, table)
    workers = [multiprocessing.Process(target=_worker, args=(context, options.first + number, results, stop))
               for number in range(options.jobs)]
    for worker in workers:
        worker.start()
    began, done, steps, running, reasons, kinds = time.monotonic(), 0, 0, len(workers), {}, {}
    try:
        while running:
            result = results.get()
            if result is None:
                running -= 1
                continue
            index, length, case, found, reason = result
            done += 1
            steps += length
            if found and reason:
                reasons[reason] = reasons.get(reason, 0) + 1
            elif found:
                kinds[found.kind] = kinds.get(found.kind, 0) + 1
                print(f"difference in case {options.seed}:{index}: {found}", flush=True)
                if options.output:
                    name = os.path.join(options.output, f"{options.seed}-{index}.sh")
                    with open(name, "w", encoding="utf-8") as file:
                        file.write(script(case, found))
                    print(f"  replay: {name}\n", flush=True)
                else:
                    print(script(case, found), flush=True)
            if options.seconds and time.monotonic() - began > options.seconds:
                stop.set()
            if done % 100 == 0:
                print(f"{done} cases, {steps} steps, {time.monotonic() - began:.0f} s, "
                      f"{sum(kinds.values())} differences", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        stop.set()
    for worker in workers:
        worker.join()
    print(f"seed {options.seed}: {done} cases, {steps} steps, {time.monotonic() - began:.0f} s, "
          f"{sum(kinds.values())} differences, {sum(reasons.values())} explained")
    for reason, times in sorted(reasons.items()):
        print(f"  explained {times} times: {reason}")
    for kind, times in sorted(kinds.items()):
        print(f"  NOT explained {times} times: {kind}")
    whole = done == options.count or stop.is_set()
    return 0 if done and whole and not kinds else 1


def run_alone(run_with, case, options):
    """Run one case and print what differs; the exit status."""
    folder = scratch_folder()
    try:
        with Servers(folder, options) as servers:
            found = run_with(servers, case)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(found or "no difference")
    return 1 if found else 0


def add_options(parser):
    """What every tester takes."""
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10 ** 9)), help="default: a new one")
    parser.add_argument("--count", type=int, default=100, help="how many cases")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seconds", type=float, help="begin no case later than this")
    parser.add_argument("--jobs", type=int, default=1, help="processes, with two servers each")
    parser.add_argument("--varve", default=os.environ.get("VARVE"), help="the program; default $VARVE")
    parser.add_argument("--self-test", action="store_true", help="stock against stock: no difference is right")
    parser.set_defaults(stock=["svnserve", "-T", "-M", "64"])
    parser.add_argument("--shrink", type=int, default=2, help="how many differences of a kind are shrunk, per process")
    parser.add_argument("--output", help="a folder for scripts that show differences; default: standard output")
    parser.add_argument("--replay", metavar="FILE", help="run the case of a script that was printed")
