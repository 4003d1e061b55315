#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a command on a simulated spinning disk: 8 ms a seek, 120 MB/s.

Makes an ext4 file system in a file, puts slowdisk (bench/slowdisk.c) in front of it, a loop device
with direct I/O in front of that, and mounts it; the command runs there. All is taken down again at
the end, however it comes. Needs root, FUSE, loop devices, and a build with libfuse 3 installed
(scripts/packages bench).
"""

import argparse
import mmap
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "../build/bench/slowdisk")
START_SECONDS = 10
SPARE_BYTES = 64 << 20     # for the file system's own, beside what it is filled with
TOOLS = ("losetup", "mkfs.ext4", "mount", "umount")


def missing(program):
    """Why there can be no slow disk here, or None."""
    if os.geteuid() != 0:
        return "a simulated disk needs root"
    if not os.access(program, os.X_OK):
        return "slowdisk is not built (scripts/packages bench, then build again)"
    for node in ("/dev/fuse", "/dev/loop-control"):
        if not os.path.exists(node):
            return f"a simulated disk needs {node}"
    for tool in TOOLS:
        if not shutil.which(tool):
            return f"a simulated disk needs {tool}"
    return None


def call(*command):
    """Run a tool that must succeed; returns what it prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def size_of(folder):
    return sum(os.lstat(os.path.join(where, name)).st_size + 4096
               for where, folders, files in os.walk(folder) for name in folders + files)


class SlowDisk:
    """A disk of SIZE bytes, mounted at `path`. FILL is called with its path before it is slow."""

    def __init__(self, work, size, program=PROGRAM, fill=None, seek_ms=8, rate_mb=120):
        self.folder = tempfile.mkdtemp(prefix="slowdisk.", dir=work)
        self.path = os.path.join(self.folder, "mounted")
        self.fuse = os.path.join(self.folder, "fuse")
        self.backing = os.path.join(self.folder, "backing")
        self.process = self.device = None
        self.is_mounted = False
        try:
            os.mkdir(self.path)
            os.mkdir(self.fuse)
            self.make(size, fill)
            self.start([program, f"--seek-ms={seek_ms}", f"--rate-mb={rate_mb}"])
            self.mount()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def make(self, size, fill):
        with open(self.backing, "wb") as backing:
            backing.truncate(size + SPARE_BYTES)
        call("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "4096",
             "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", self.backing)
        if fill:
            call("mount", "-t", "ext4", "-o", "loop,noatime", self.backing, self.path)
            self.is_mounted = True
            fill(self.path)
            self.unmount()

    def start(self, command):
        self.process = subprocess.Popen(command + [self.backing, self.fuse])
        disk, deadline = os.path.join(self.fuse, "disk"), time.monotonic() + START_SECONDS
        while not os.path.exists(disk):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("slowdisk does not start")
            time.sleep(0.02)
        self.device = call("losetup", "--find", "--show", "--direct-io=on", disk)
        if call("losetup", "--list", "--noheadings", "--output", "DIO", self.device) != "1":
            raise RuntimeError(f"{self.device} can't do direct I/O")

    def mount(self):
        call("mount", "-t", "ext4", "-o", "noatime", self.device, self.path)
        self.is_mounted = True

    def unmount(self):
        call("umount", self.path)
        self.is_mounted = False

    def cool(self):
        """Forget what is cached of it, and of nothing else."""
        self.unmount()
        self.mount()

    def stats(self):
        with open(os.path.join(self.fuse, "stats")) as stats:
            return {name: int(value) for name, value in map(str.split, stats)}

    def close(self):
        """Take all down that is up; called after any failure too."""
        if self.is_mounted:
            take_down("umount", self.path) or take_down("umount", "--lazy", self.path)
        if self.device:
            take_down("losetup", "--detach", self.device)
        if self.process:
            take_down("umount", self.fuse) or take_down("umount", "--lazy", self.fuse)
            try:
                self.process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.is_mounted, self.device, self.process = False, None, None


def take_down(*command):
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def pace(disk, seconds=3):
    """How fast the disk is: random reads of 4 KiB a second, MiB a second in sequence."""
    fd, buffer = os.open(disk.device, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 1 << 20)
    try:
        blocks = os.lseek(fd, 0, os.SEEK_END) // 4096
        generator, count, start = random.Random(1), 0, time.monotonic()
        while time.monotonic() < start + seconds:
            os.preadv(fd, [memoryview(buffer)[:4096]], generator.randrange(blocks) * 4096)
            count += 1
        reads = count / (time.monotonic() - start)
        offset, size, start = 0, blocks * 4096, time.monotonic()
        while offset < size and time.monotonic() < start + seconds:
            offset += os.preadv(fd, [buffer], offset)
        return reads, offset / 2**20 / (time.monotonic() - start)
    finally:
        os.close(fd)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seek-ms", type=float, default=8, metavar="MS")
    parser.add_argument("--rate-mb", type=float, default=120, metavar="MB", help="MB a second")
    parser.add_argument("--source", metavar="FOLDER", help="copied onto the disk before it is slow")
    parser.add_argument("--free-mib", type=int, default=1024, metavar="MIB",
                        help="room beside that (default: 1024)")
    parser.add_argument("--program", metavar="FILE", default=PROGRAM, help="default: build/bench/slowdisk")
    parser.add_argument("--work", metavar="DIR", default="/var/tmp",
                        help="where the disk's bytes are kept (default: /var/tmp)")
    parser.add_argument("--pace", action="store_true", help="say how fast the disk is, and end")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND [ARGUMENT...]",
                        help="run on the disk, in its topmost folder; default: $SHELL")
    return parser.parse_args()


def main():
    args = parse_arguments()
    reason = missing(args.program)
    if reason:
        sys.exit(f"slowdisk.py: {reason}")
    size = args.free_mib << 20
    if args.source:
        size += size_of(args.source)

    def fill(path):
        if args.source:
            shutil.copytree(args.source, path, symlinks=True, dirs_exist_ok=True)
    with SlowDisk(args.work, size, args.program, fill, args.seek_ms, args.rate_mb) as disk:
        if args.pace:
            reads, mib = pace(disk)
            print(f"{reads:.0f} random reads a second, {mib:.0f} MiB a second in sequence")
            return 0
        before = disk.stats()
        status = subprocess.run(args.command or [os.environ.get("SHELL", "/bin/sh")], cwd=disk.path).returncode
        os.sync()
        print(", ".join(f"{name} {n - before[name]}" for name, n in disk.stats().items()), file=sys.stderr)
        return status


if __name__ == "__main__":
    from measure import end_on_signals
    end_on_signals()
    sys.exit(main())
