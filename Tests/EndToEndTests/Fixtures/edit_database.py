"""Edits a registry's database behind its back, as an intruder with file access could.

Usage: edit_database.py DATABASE SQL [SQL...]. Append-only triggers are dropped first.
"""
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
triggers = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
for name in triggers:
    connection.execute(f'DROP TRIGGER "{name}"')
for statement in sys.argv[2:]:
    connection.execute(statement)
connection.commit()
connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
connection.close()
