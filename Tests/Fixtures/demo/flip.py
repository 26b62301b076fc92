"""Flips one bit in the middle of a file, as a failing disk or an intruder would. Usage: flip.py FILE."""
import os
import sys

path = sys.argv[1]
os.chmod(path, 0o644)
with open(path, "r+b") as file:
    file.seek(os.path.getsize(path) // 2)
    byte = file.read(1)[0]
    file.seek(-1, os.SEEK_CUR)
    file.write(bytes([byte ^ 1]))
