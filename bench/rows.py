# SPDX-License-Identifier: Apache-2.0
"""What bench/compare measures: what each row is, and how it is done by one contender, stock or
varve."""

import collections
import dataclasses
import fnmatch
import functools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import slowdisk
from measure import (Cost, Server, can_drop_caches, can_trace, drop_caches, run, run_parallel,
                     run_traced)

IMPORT_BYTES = 500 * 1000 * 1000
COMMITS = 200              # per committer, timed
TRACED_COMMITS = 100       # in all, at least: names of transactions are reserved in blocks
TRACED_REVISIONS = 200     # loaded under strace, to count syncs
CLIENTS = 16               # of a parallel row
REPEATS, REPEAT_SECONDS = 10, 1.0  # a short hot read is measured that often, or for that long
AUTHZ_RULES = 1000
CHECKOUT_ROUNDS = 7        # at least: nearly all of its time is the client's, and varies
COPIES_BYTES = 8 << 30     # room for working copies; in memory if it has so much
HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Row:
    """NEEDS: what must be possible here; GOAL: a measure, and how many times as good as stock's it
    must be."""
    name: str
    group: str
    title: str
    goal: tuple
    measure: typing.Callable  # of (rows, contender); returns a Cost
    needs: tuple = ()
    least: int = 1             # rounds, whatever is asked for


# A read: its title, the goal for its hot rows, and the client's command; {} is a URL.
READS = {
    "export": ("null-export", ("cpu", 2), "target", ["svnbench", "null-export", "-q"]),
    "log": ("null-log -v", ("cpu", 3), "root", ["svnbench", "null-log", "-v", "-q"]),
    "log_g": ("null-log -v -g", ("cpu", 3), "target", ["svnbench", "null-log", "-v", "-g", "-q"]),
    "list": ("null-list -v -R", ("wall", 1), "target", ["svnbench", "null-list", "-v", "-R", "-q"]),
    "blame": ("null-blame", ("wall", 1), "file", ["svnbench", "null-blame"]),
    "checkout": ("checkout", ("wall", 1), "target", ["svn", "checkout", "-q", "--non-interactive"]),
}
GROUPS = {
    "tools": "load, dump, verify, size",
    "reads": "one client",
    "authz": f"one client, {AUTHZ_RULES} rules",
    "parallel": f"{CLIENTS} clients",
    "parallel_authz": f"{CLIENTS} clients, {AUTHZ_RULES} rules",
    "writes": "commits and an import",
    "slow": "a packed repository on a simulated spinning disk",
}


class Contender:
    """One side: its commands, its copy of the repository, its server."""

    def __init__(self, name, admin, serve, admin_options, work):
        self.name, self.admin, self.serve = name, admin, serve
        self.options = admin_options
        self.root = os.path.join(work, name)
        os.makedirs(self.root, exist_ok=True)
        self.server = None

    def path(self, repository):
        return os.path.join(self.root, repository)

    def fresh(self, repository):
        """A new, empty repository which everybody may commit to."""
        path = self.path(repository)
        set_whole(path, False)
        shutil.rmtree(path, ignore_errors=True)
        run(self.admin + ["create", path])
        with open(os.path.join(path, "conf/svnserve.conf"), "w") as conf:
            conf.write("[general]\nanon-access = write\n")
        return path

    def serving(self):
        if not self.server:
            self.server = Server(self.serve, self.root)
        return self.server

    def stop(self):
        if self.server:
            self.server.stop()
            self.server = None


class Rows:
    """What the rows stand on, and how each is done."""

    def __init__(self, stock, varve, dump, work, target, programs):
        self.stock, self.varve, self.dump, self.work, self.target = stock, varve, dump, work, target
        self.programs, self.slow = programs, None
        self.slow_program = os.path.join(programs, "slowdisk")
        self.trace = os.path.join(work, "trace")
        self.tracing = can_trace()
        self.copies = tempfile.TemporaryDirectory(prefix="varve-bench.", dir=folder_for_copies(work))

    def close(self):
        self.copies.cleanup()
        self.stock.stop()
        self.varve.stop()
        if self.slow:
            self.slow.close()

    def skip_reason(self, row):
        if "cold" in row.needs and not can_drop_caches():
            return "only root may drop the page cache"
        if "svnbench" in row.needs and not shutil.which("svnbench"):
            return "svnbench is not installed"
        if "slow" in row.needs:
            return slowdisk.missing(self.slow_program)
        return None

    # ---- what the rows stand on ----------------------------------------------------------

    def load_by_stock(self):
        """A load by stock takes long: it is done once, and what a row has loaded will do."""
        loaded = self.stock.path("loaded")
        if not is_whole(loaded):
            path = self.stock.fresh("loaded")
            print("loading the history by stock ...", file=sys.stderr, flush=True)
            run(self.stock.admin + ["load", "-q", "-M", "1000", "--no-flush-to-disk", path],
                stdin=self.dump)
            set_whole(path)
        return loaded

    @functools.cache
    def base(self):
        """The repository that is read: loaded by stock, and the same on both sides."""
        for side in (self.stock, self.varve):
            copy_whole(self.load_by_stock(), side.path("base"))
        return "base"

    def packed(self):
        """A slow disk that holds the one repository `packed`."""
        if not self.slow:
            source = self.stock.path(self.base())

            def fill(path):
                shutil.copytree(source, os.path.join(path, "packed"))
                run(["svnadmin", "pack", "-q", os.path.join(path, "packed")])
            self.slow = slowdisk.SlowDisk(self.work, 2 * slowdisk.size_of(source),
                                          self.slow_program, fill)
        return self.slow

    @functools.cache
    def paths(self):
        """The folders and files of the youngest revision, in stock's words."""
        tree = run_for_lines(["svnlook", "tree", "--full-paths", self.stock.path(self.base())])
        return ["/" + path for path in tree if path != "/"]

    @functools.cache
    def busiest_file(self):
        """The text file below the target that most revisions changed."""
        root = self.stock.path(self.base())
        files = {path for path in self.paths() if path.startswith(self.target + "/") and path[-1] != "/"}
        log = run_for_lines(["svn", "log", "-v", "-q", "file://" + root])
        counts = collections.Counter(line[5:] for line in log if line.startswith("   M "))
        for path, _ in counts.most_common():
            if path in files and subprocess.run(
                    ["svnlook", "propget", root, "svn:mime-type", path],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
                return path
        raise RuntimeError(f"there is no file with a history below {self.target}")

    def configure(self, side, repository, authz):
        """Everybody may read; with AUTHZ by rules for many paths, some of which are hidden."""
        conf = os.path.join(repository, "conf")
        text = "[general]\nanon-access = read\n" + ("authz-db = authz\n" if authz else "")
        with open(os.path.join(conf, "svnserve.conf")) as current:
            if current.read() == text:
                return
        if authz:
            with open(os.path.join(conf, "authz"), "w") as out:
                out.write(authz_rules([path[:-1] for path in self.paths() if path[-1] == "/"],
                                      keep=(self.target, self.busiest_file())))
        with open(os.path.join(conf, "svnserve.conf"), "w") as out:
            out.write(text)

    # ---- tools ------------------------------------------------------------------------------

    def load(self, side, options):
        path = side.fresh("loaded")
        os.sync()
        cost = run(side.admin + ["load", "-q"] + side.options + options + [path], stdin=self.dump)
        set_whole(path)
        if self.tracing:
            path = side.fresh("traced")
            cost.update(run_traced(side.admin + ["load", "-q", "-r", f"0:{TRACED_REVISIONS}"]
                                   + options + [path], self.trace, stdin=self.dump))
            shutil.rmtree(path)
        return cost

    def tool(self, side, command):
        return run(side.admin + [command, "-q"] + side.options + [side.path(self.base())])

    def size(self, side):
        """Bytes of the repository that each loads; not a matter of time."""
        if not is_whole(side.path("loaded")):
            self.load(side, ["--no-flush-to-disk"])
        return Cost(size=sum(os.path.getsize(os.path.join(folder, file))
                             for part in ("revs", "revprops")
                             for folder, _, files in os.walk(side.path("loaded/db/" + part))
                             for file in files))

    # ---- reading from a server -----------------------------------------------------------------

    def client(self, read, server, repository, clients):
        """The commands of CLIENTS clients, and the folders that they will make."""
        _, _, what, command = READS[read]
        path = {"root": "", "target": self.target, "file": self.busiest_file() if what == "file" else ""}[what]
        command = command + [server.url(repository + path)]
        if read != "checkout":
            return [command] * clients, []
        copies = [os.path.join(self.copies.name, f"wc-{i}") for i in range(clients)]
        return [command + [copy] for copy in copies], copies

    def read(self, side, read, cold=False, authz=False, clients=1):
        """The server is begun anew: a row has the memory of what it reads itself."""
        self.configure(side, side.path(self.base()), authz)
        server = side.serving()
        server.stop()
        if cold:
            drop_caches()
        server.start()
        if cold:
            return self.read_once(server, read, clients)
        self.read_once(server, read, 1)
        costs, start = [], time.monotonic()
        while not costs or (len(costs) < REPEATS and time.monotonic() < start + REPEAT_SECONDS):
            costs.append(self.read_once(server, read, clients))
        return mean(costs)

    def read_once(self, server, read, clients):
        commands, copies = self.client(read, server, "base", clients)
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)
        if copies:
            os.sync()
        return server.measure(lambda: run_parallel(commands))

    def read_slow(self, side, read):
        """Of a server that is begun anew, from a disk of which nothing is cached."""
        disk = self.packed()
        disk.cool()
        server = Server(side.serve, disk.path)
        try:
            commands, _ = self.client(read, server, "packed", 1)
            before = disk.stats()
            cost = server.measure(lambda: run_parallel(commands))
            cost["seeks"] = disk.stats()["seeks"] - before["seeks"]
            return cost
        finally:
            server.stop()

    # ---- writing to a server --------------------------------------------------------------------

    def commits(self, side, committers):
        side.fresh("commits")
        server = side.serving()
        client = self.committer(server, committers, COMMITS, "timed")
        cost = server.measure(lambda: finish(client))
        cost["each"] = cost["wall"] / (committers * COMMITS)
        if self.tracing:
            each = max(TRACED_COMMITS // committers, 20)
            traced = server.traced(lambda: self.committer(server, committers, each, "traced"),
                                   finish, self.trace)
            cost.update((name, n / (committers * each)) for name, n in traced.items())
        return cost

    def committer(self, server, committers, commits, name):
        """A process of so many clients that are connected and wait for a line to begin."""
        client = subprocess.Popen(
            [os.path.join(self.programs, "committer"), "127.0.0.1", str(server.port), "commits",
             name, str(committers), str(commits)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        client.stdout.readline()
        return client

    def import_file(self, side):
        source = os.path.join(self.work, "import-me")
        if not os.path.exists(source):
            generator = random.Random(5)
            with open(source, "wb") as out:
                for _ in range(IMPORT_BYTES // 1000000):
                    out.write(generator.randbytes(1000000))
        side.fresh("import")
        server = side.serving()

        def work(_=None):
            return run(["svn", "import", "-q", "--non-interactive", "-m", "import", source,
                        server.url("import/file")])
        os.sync()
        cost = server.measure(work)
        if self.tracing:
            side.fresh("import")
            cost.update(server.traced(lambda: None, work, self.trace))
        return cost


# ---- parts of rows -------------------------------------------------------------------------------


def folder_for_copies(work):
    """A working copy on a disk takes the client longer, and less evenly, than the server differs."""
    memory = "/dev/shm"
    if os.access(memory, os.W_OK):
        room = os.statvfs(memory)
        if room.f_bavail * room.f_frsize >= COPIES_BYTES:
            return memory
    return work


def is_whole(path):
    return os.path.exists(path + ".whole")


def set_whole(path, whole=True):
    """PATH has what it should have, also in the eyes of a later run that resumes this one."""
    if whole:
        os.sync()
        with open(path + ".whole", "w"):
            pass
    elif is_whole(path):
        os.unlink(path + ".whole")


def copy_whole(source, path):
    if not is_whole(path):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(source, path)
        set_whole(path)


def run_for_lines(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def mean(costs):
    return Cost({key: max(cost[key] for cost in costs) if key == "peak" else
                 sum(cost[key] for cost in costs) / len(costs) for key in costs[0]})


def authz_rules(folders, keep):
    """AUTHZ_RULES sections: of folders that there are, each tenth of them hidden where nothing of
    KEEP is in it, and of others; for groups, users, and everybody."""
    generator = random.Random(7)
    lines = ["[groups]"]
    users = [f"user{n}" for n in range(200)]
    for n in range(40):
        lines.append(f"group{n} = " + ", ".join(generator.sample(users, 12)))
    lines += ["[/]", "* = r", "@group0 = rw"]
    there = generator.sample(folders, min(len(folders), AUTHZ_RULES // 2))
    for n in range(AUTHZ_RULES - 1):
        path = there[n] if n < len(there) else f"/projects/part{n % 37}/section{n}"
        hidden = n % 10 == 3 and not any((kept + "/").startswith(path + "/") for kept in keep)
        lines += [f"[{path}]", f"@group{n % 40} = rw", f"user{n % 200} = r",
                  "* =" if hidden else "* = r"]
    return "\n".join(lines) + "\n"


def finish(client):
    client.communicate(b"go\n")
    if client.returncode != 0:
        raise RuntimeError("the committers failed")


# ---- the rows ------------------------------------------------------------------------------------


def tool_rows():
    def load(*options):
        return lambda rows, side: rows.load(side, list(options))

    def tool(command):
        return lambda rows, side: rows.tool(side, command)
    yield Row("load", "tools", "load, flushed", ("wall", 8), load())
    yield Row("load_unflushed", "tools", "load --no-flush-to-disk", ("wall", 8), load("--no-flush-to-disk"))
    yield Row("dump", "tools", "dump", ("wall", 5), tool("dump"))
    yield Row("verify", "tools", "verify", ("wall", 5), tool("verify"))
    yield Row("size", "tools", "repository size", ("size", 1 / 1.03), lambda rows, side: rows.size(side))


def read_rows():
    for group, clients, authz in (("reads", 1, False), ("authz", 1, True), ("parallel", CLIENTS, False),
                                  ("parallel_authz", CLIENTS, True)):
        for read, (title, goal, _, command) in READS.items():
            for heat in ("hot", "cold"):
                name = read + (f"_{clients}" if clients > 1 else "") + ("_authz" if authz else "")
                title_of = f"{title}, {heat}" + (f", {clients} clients" if clients > 1 else "")
                needs = (heat,) + (("svnbench",) if command[0] == "svnbench" else ())
                yield Row(f"{name}_{heat}", group, title_of + (", authz" if authz else ""),
                          goal if heat == "hot" else ("wall", 1),
                          functools.partial(Rows.read, read=read, cold=heat == "cold", authz=authz,
                                            clients=clients), needs,
                          CHECKOUT_ROUNDS if read == "checkout" else 1)


def write_rows():
    for committers, goal in ((1, 3), (8, 6), (16, 8)):
        yield Row(f"commit_{committers}", "writes",
                  f"small commit, {committers} committer" + ("s" if committers > 1 else ""),
                  ("each", goal), functools.partial(Rows.commits, committers=committers))
    yield Row("import", "writes", "import of 500 MB", ("wall", 3), Rows.import_file)


def slow_rows():
    for read, goal in (("export", 3), ("log", 5), ("log_g", 1)):
        yield Row(f"{read}_slow", "slow", f"{READS[read][0]}, cold, slow disk", ("wall", goal),
                  functools.partial(Rows.read_slow, read=read), ("slow", "svnbench"))


ROWS = {row.name: row for row in (*tool_rows(), *read_rows(), *write_rows(), *slow_rows())}


def choose(wanted):
    """The rows that a comma-separated list of names, groups and patterns means, in their order."""
    chosen = set()
    for word in wanted.split(","):
        found = [row.name for row in ROWS.values()
                 if row.group == word or fnmatch.fnmatchcase(row.name, word)]
        if not found:
            raise ValueError(f"no row or group '{word}' (--list shows them)")
        chosen.update(found)
    return [row for row in ROWS.values() if row.name in chosen]
