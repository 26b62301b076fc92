"""Flips one bit of a file's last byte, as a failing disk or an intruder would. Usage: flip.py FILE.

The last byte, because a device takes the blocks that it already holds from its own disk: damage must be
where a version differs from the one before it, and relabel.py adds at the end.
"""
import os
import sys

path = sys.argv[1]
os.chmod(path, 0o644)
with open(path, "r+b") as file:
    file.seek(-1, os.SEEK_END)
    byte = file.read(1)[0]
    file.seek(-1, os.SEEK_CUR)
    file.write(bytes([byte ^ 1]))
