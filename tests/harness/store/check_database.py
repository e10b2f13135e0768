#!/usr/bin/env python3
"""Checks that `halcyon db` changes a database wholly or not at all: check_database.py HALCYON FILL_DATABASE.

Kills `db prune`, `db compact` and `db merge` at random moments: afterwards the database has the rows that it had
before, or those of the completed change, and no damage; a merged database is there completely or not at all."""
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CASES, RUNS, ROUNDS = 3000, 3, 8
halcyon, fill = [os.path.abspath(path) for path in sys.argv[1:3]]


def run(*arguments, expected=0):
    done = subprocess.run([halcyon, "db", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == expected, (arguments, done)
    return done.stdout


def counts(path):
    """Rows of every table, by run where the table has runs."""
    found = {}
    with sqlite3.connect(path) as db:
        for table, key in (("runs", "run"), ("targets", "run"), ("cases", "run"), ("verdicts", "target"),
                           ("coverage_parts", "run"), ("support_sets", "1")):
            found[table] = db.execute(f"SELECT {key}, count(*) FROM {table} GROUP BY 1 ORDER BY 1").fetchall()
        found["case_operations"] = db.execute("SELECT count(*) FROM case_operations").fetchone()
    return found


def killed(seconds, *arguments):
    """Starts a command and kills it after this time, unless it has ended."""
    process = subprocess.Popen([halcyon, "db", *map(str, arguments)], stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def time_of(*arguments):
    begun = time.monotonic()
    run(*arguments)
    return time.monotonic() - begun


def check_change(original, work, *action):
    """The action on a copy, killed at random moments."""
    def copy():
        for ending in ("", "-wal", "-shm", "-journal"):
            pathlib.Path(f"{work}{ending}").unlink(missing_ok=True)
        shutil.copy(original, work)
    copy()
    whole = time_of(*action, "--db", work)
    before, after = counts(original), counts(work)
    n = 0
    for _ in range(ROUNDS):
        copy()
        n += killed(random.uniform(0, whole), *action, "--db", work)
        run("check", "--db", work)
        assert counts(work) in (before, after), (action, counts(work), before, after)
    print(f"{' '.join(action)}: {whole:.2f} s, killed {n} times")
    return n


def check_merge(original, other, out):
    whole = time_of("merge", original, other, "-o", out)
    complete = counts(out)
    n = 0
    for _ in range(ROUNDS):
        out.unlink(missing_ok=True)
        n += killed(random.uniform(0, whole), "merge", original, other, "-o", out)
        assert not out.exists() or counts(out) == complete
    out.unlink(missing_ok=True)
    run("merge", original, other, "-o", out)  # what was left behind does not matter
    assert counts(out) == complete
    print(f"merge: {whole:.2f} s, killed {n} times")
    return n


def main():
    random.seed(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        original, other = folder / "original.db", folder / "other.db"
        subprocess.run([fill, original, str(CASES), str(RUNS)], check=True)
        subprocess.run([fill, other, str(CASES)], check=True)
        run("check", "--db", original)
        n = check_change(original, folder / "work.db", "prune", "--keep-last", "1")
        left = counts(folder / "work.db")
        n += check_change(original, folder / "work.db", "compact")
        n += check_merge(original, other, folder / "merged.db")
        assert n >= ROUNDS, f"only {n} commands were killed before they ended"
        run("prune", "1", "2", "--db", original)
        assert counts(original)["runs"] == [(3, 1)] and counts(original)["cases"] == [(3, CASES)], left
        assert counts(original)["verdicts"] == [(target, CASES) for target in (7, 8, 9)]


main()
