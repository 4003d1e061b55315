# SPDX-License-Identifier: Apache-2.0
"""What bench/compare measures: one method a row, each of one contender, stock or varve."""

import os
import random
import shutil
import subprocess
import sys

from measure import (Cost, Server, can_drop_caches, can_trace, drop_caches, run, run_traced)

IMPORT_BYTES = 500 * 1000 * 1000
COMMITS = 200              # per committer, timed
TRACED_COMMITS = 50
TRACED_REVISIONS = 200     # loaded under strace, to count syncs
HERE = os.path.dirname(os.path.abspath(__file__))


class Contender:
    """One side: its commands, its copy of the repository, its server."""

    def __init__(self, name, admin, serve, admin_options, work):
        self.name, self.admin, self.serve = name, admin, serve
        self.options = admin_options
        self.root = os.path.join(work, name)
        os.mkdir(self.root)
        self.server = None

    def path(self, repository):
        return os.path.join(self.root, repository)

    def fresh(self, repository):
        """A new, empty repository which everybody may commit to."""
        path = self.path(repository)
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
    """Each row_x(contender) returns a Cost; `needs` says what must be possible here."""

    def __init__(self, stock, varve, dump, work, target):
        self.stock, self.varve, self.dump, self.work, self.target = stock, varve, dump, work, target
        self.trace = os.path.join(work, "trace")
        self.tracing = can_trace()
        self.has_base = False

    # ---- what the rows stand on ----------------------------------------------------------

    def base(self):
        """The repository that is read: loaded once by stock, and the same on both sides."""
        if not self.has_base:
            path = self.stock.fresh("base")
            run(self.stock.admin + ["load", "-q", "-M", "1000", "--no-flush-to-disk", path],
                stdin=self.dump)
            shutil.copytree(path, self.varve.path("base"))
            os.sync()
            self.has_base = True
        return "base"

    def skip_reason(self, row):
        if row.endswith("cold") and not can_drop_caches():
            return "only root may drop the page cache"
        if row.startswith(("export", "log")) and not shutil.which("svnbench"):
            return "svnbench is not installed"
        return None

    # ---- tools ------------------------------------------------------------------------------

    def load(self, side, options):
        path = side.fresh("loaded")
        os.sync()
        cost = run(side.admin + ["load", "-q"] + side.options + options + [path], stdin=self.dump)
        if self.tracing:
            path = side.fresh("traced")
            cost.update(run_traced(side.admin + ["load", "-q", "-r", f"0:{TRACED_REVISIONS}"]
                                   + options + [path], self.trace, stdin=self.dump))
            shutil.rmtree(path)
        return cost

    def row_load(self, side):
        return self.load(side, [])

    def row_load_unflushed(self, side):
        return self.load(side, ["--no-flush-to-disk"])

    def row_dump(self, side):
        return run(side.admin + ["dump", "-q"] + side.options + [side.path(self.base())])

    def row_verify(self, side):
        return run(side.admin + ["verify", "-q"] + side.options + [side.path(self.base())])

    def row_size(self, side):
        """Bytes of the repository that each loads; not a matter of time."""
        if not os.path.exists(side.path("loaded")):
            run(side.admin + ["load", "-q", "--no-flush-to-disk", side.fresh("loaded")],
                stdin=self.dump)
        return Cost(size=sum(os.path.getsize(os.path.join(folder, file))
                             for part in ("revs", "revprops")
                             for folder, _, files in os.walk(side.path("loaded/db/" + part))
                             for file in files))

    # ---- reading from a server -----------------------------------------------------------------

    def bench(self, side, command, path, cold):
        url_path = self.base() + path
        server = side.serving()
        if cold:
            server.stop()
            drop_caches()
            server.start()
        else:
            run(["svnbench"] + command + [server.url(url_path)])
        return server.measure(lambda: run(["svnbench"] + command + [server.url(url_path)]))

    def row_export_hot(self, side):
        return self.bench(side, ["null-export", "-q"], self.target, False)

    def row_export_cold(self, side):
        return self.bench(side, ["null-export", "-q"], self.target, True)

    def row_log_hot(self, side):
        return self.bench(side, ["null-log", "-v", "-q"], "", False)

    def row_log_cold(self, side):
        return self.bench(side, ["null-log", "-v", "-q"], "", True)

    def row_log_g_hot(self, side):
        return self.bench(side, ["null-log", "-v", "-g", "-q"], self.target, False)

    def row_log_g_cold(self, side):
        return self.bench(side, ["null-log", "-v", "-g", "-q"], self.target, True)

    def row_checkout(self, side):
        server, copy = side.serving(), os.path.join(self.work, "wc")
        url = server.url(self.base() + self.target)
        shutil.rmtree(copy, ignore_errors=True)
        os.sync()
        return server.measure(lambda: run(["svn", "checkout", "-q", "--non-interactive", url, copy]))

    # ---- writing to a server --------------------------------------------------------------------

    def commits(self, side, committers):
        side.fresh("commits")
        server = side.serving()
        clients = self.clients(server, committers, COMMITS, "timed")
        cost = server.measure(lambda: finish(clients))
        cost["each"] = cost["wall"] / (committers * COMMITS)
        if self.tracing:
            clients = self.clients(server, committers, TRACED_COMMITS, "traced")
            traced = server.traced(lambda: finish(clients), self.trace)
            cost.update((name, n / (committers * TRACED_COMMITS)) for name, n in traced.items())
        return cost

    def clients(self, server, committers, commits, name):
        """Clients that are connected and wait for a line to begin."""
        clients = []
        for i in range(committers):
            clients.append(subprocess.Popen(
                [sys.executable, os.path.join(HERE, "svnclient.py"), "127.0.0.1", str(server.port),
                 "commits", f"{name}-{i}", str(commits)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            clients[-1].stdout.readline()
        return clients

    def row_commit_1(self, side):
        return self.commits(side, 1)

    def row_commit_8(self, side):
        return self.commits(side, 8)

    def row_import(self, side):
        source = os.path.join(self.work, "import-me")
        if not os.path.exists(source):
            generator = random.Random(5)
            with open(source, "wb") as out:
                for _ in range(IMPORT_BYTES // 1000000):
                    out.write(generator.randbytes(1000000))
        side.fresh("import")
        server = side.serving()
        command = ["svn", "import", "-q", "--non-interactive", "-m", "import", source,
                   server.url("import/file")]
        os.sync()
        cost = server.measure(lambda: run(command))
        if self.tracing:
            side.fresh("import")
            cost.update(server.traced(lambda: run(command), self.trace))
        return cost


def finish(clients):
    for client in clients:
        client.stdin.write(b"go\n")
        client.stdin.flush()
    for client in clients:
        client.communicate()
        if client.returncode != 0:
            raise RuntimeError("a committer failed")
