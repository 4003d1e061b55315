# SPDX-License-Identifier: Apache-2.0
"""Run a tool or a server and say what it cost: wall time, CPU, syncs, peak memory."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SYNC_CALLS = "fsync,fdatasync,sync_file_range,syncfs,sync,msync"


class Cost(dict):
    """wall and cpu in seconds, peak in bytes, syncs and waits as counts; absent: not measured."""


def cpu_of(pid):
    """Seconds of CPU that process PID and all its threads used: its CPU clock, in nanoseconds."""
    return time.clock_gettime(~pid << 3 | 2)


def children_cpu(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def peak_of(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) * 1024
    except (OSError, TypeError):
        return 0


class PeakWatch(threading.Thread):
    """Peak memory of a process that ends: what it was when last seen, 100 times a second.
    (The peak in its resource usage would count its parent's memory before exec.)"""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.ended = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.01):
            self.peak = max(self.peak, peak_of(self.pid))


def run(command, stdin=None, stdout=subprocess.DEVNULL):
    """Run a tool to its end; it must succeed."""
    with tempfile.TemporaryFile() as errors, open(stdin or os.devnull, "rb") as source:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=stdout, stderr=errors)
        watch = PeakWatch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.ended.set()
        watch.join()
        if process.returncode != 0:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}: "
                               + errors.read()[-500:].decode(errors="replace"))
    return Cost(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=watch.peak)


def run_parallel(commands):
    """Run clients at the same time to their ends; all must succeed."""
    with tempfile.TemporaryFile() as errors:
        clients = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=errors) for command in commands]
        for client in clients:
            client.wait()
        for client in clients:
            if client.returncode != 0:
                errors.seek(0)
                raise RuntimeError(f"{' '.join(client.args)}: exit {client.returncode}: "
                                   + errors.read()[-500:].decode(errors="replace"))


def syncs_in(trace, since=0):
    """From a trace: how many syncs began after SINCE, and how many waits (syncs that overlap are
    one wait)."""
    spans, pending = [], {}
    line_form = re.compile(r"(\d+)\s+([\d.]+) (?:<\.\.\. )?(\w+)(.*)")
    with open(trace, errors="replace") as lines:
        for line in lines:
            match = line_form.match(line)
            if not match or match[3] not in SYNC_CALLS.split(","):
                continue
            pid, at, rest = match[1], float(match[2]), match[4]
            if rest.endswith("<unfinished ...>"):
                if is_wait(match[3], rest):
                    pending[pid] = at
            elif "resumed>" in rest:
                if pid in pending:
                    spans.append((pending.pop(pid), at))
            elif is_wait(match[3], rest) and (took := re.search(r"<([\d.]+)>$", rest)):
                spans.append((at, at + float(took[1])))
    spans = sorted(span for span in spans if span[0] >= since)
    waits, end = 0, 0
    for first, last in spans:
        waits += first > end
        end = max(end, last)
    return Cost(syncs=len(spans), waits=waits)


def is_wait(call, arguments):
    """Not what only asks the kernel to begin writing."""
    return call != "sync_file_range" or "WAIT" in arguments


def strace_command(trace):
    """A filter in the kernel stops what is traced at syncs alone: otherwise threads that sync side
    by side would be kept apart by their other calls."""
    return ["strace", "-f", "--seccomp-bpf", "-ttt", "-T", "-e", f"trace={SYNC_CALLS}", "-o", trace]


def run_traced(command, trace, stdin=None):
    run(strace_command(trace) + command, stdin)
    return syncs_in(trace)


class Server:
    """A server of the repositories below ROOT, on a free port of the loopback."""

    def __init__(self, command, root):
        self.command, self.root = command, root
        self.start()

    def start(self, before=()):
        """BEFORE: a command that runs the server's."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [*before, *self.command, "-d", "--foreground", "-r", self.root, "--listen-host",
             "127.0.0.1", "--listen-port", str(self.port)], stdin=subprocess.DEVNULL)
        for _ in range(200):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"{' '.join(self.command)} does not start")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def url(self, path=""):
        return f"svn://127.0.0.1:{self.port}/{path}"

    def measure(self, work):
        """What WORK costs this server, and how long it takes."""
        pid = self.process.pid
        with open(f"/proc/{pid}/clear_refs", "w") as reset:
            reset.write("5")
        cpu, start = cpu_of(pid) + children_cpu(pid), time.monotonic()
        work()
        wall = time.monotonic() - start
        return Cost(wall=wall, cpu=cpu_of(pid) + children_cpu(pid) - cpu, peak=peak_of(pid))

    def traced(self, prepare, work, trace):
        """The syncs of this server during WORK, which is given what PREPARE returns. It is begun
        anew for this."""
        self.stop()
        self.start(before=strace_command(trace))
        try:
            prepared = prepare()
            since = time.time()
            work(prepared)
        finally:
            pid = self.process.pid
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                os.kill(int(children.read().split()[0]), signal.SIGTERM)
            self.process.wait()
            self.start()
        return syncs_in(trace, since)


def end_on_signals():
    """SIGTERM and SIGHUP end this program as Ctrl-C does: what it has begun is taken down."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))


def can_trace():
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL).returncode == 0


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as control:
        control.write("3")


def can_drop_caches():
    return os.access("/proc/sys/vm/drop_caches", os.W_OK)


def machine(work):
    """One line about this machine and the disk under WORK."""
    with open("/proc/cpuinfo") as cpuinfo:
        model = re.search(r"model name\s*: (.*)", cpuinfo.read())
    with open("/proc/meminfo") as meminfo:
        memory = int(re.search(r"MemTotal:\s*(\d+)", meminfo.read())[1]) // 1024
    mount = subprocess.run(["findmnt", "-n", "-o", "FSTYPE,SOURCE", "-T", work],
                           capture_output=True, text=True).stdout.split()[-2:]
    stock = subprocess.run(["svnadmin", "--version", "-q"], capture_output=True, text=True).stdout
    return (f"{os.cpu_count()} cores of {model[1] if model else os.uname().machine}, {memory} MiB, "
            f"Linux {os.uname().release}, {' on '.join(mount) or 'unknown disk'}; "
            f"stock is Subversion {stock.strip()}")
