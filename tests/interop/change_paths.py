# SPDX-License-Identifier: Apache-2.0
"""Rewrite the changed paths of an unpacked revision file of format 6 or earlier: nothing checks
their bytes, and they stand at its end.

usage: change_paths.py FILE OLD NEW    the lines OLD become NEW; both with Python's escapes
"""
import sys

path, old, new = sys.argv[1], *(arg.encode("latin-1").decode("unicode_escape").encode("latin-1") for arg in sys.argv[2:])
with open(path, "rb") as file:
    data = file.read()
trailer = data.rstrip(b"\n").rsplit(b"\n", 1)[1]
start = int(trailer.split()[1])
changes = data[start : len(data) - len(trailer) - 1]
assert changes.count(old) == 1, changes
with open(path, "wb") as file:
    file.write(data[:start] + changes.replace(old, new) + trailer + b"\n")
