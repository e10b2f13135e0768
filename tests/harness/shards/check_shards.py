#!/usr/bin/env python3
"""Checks shards that are whole or not there (--atomic): check_shards.py HALCYON WRONG_HALCYON.

WRONG_HALCYON is the command with a table of canaries that is not right."""
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

EXIT_CONFORMING, EXIT_NOT_CONFORMING, EXIT_USAGE, EXIT_OURS = range(4)
LIMIT_SECONDS = 120
CAMPAIGN = ["random", "--no-probe", "--seed", "5", "--count", "120", "--ops", "1-4", "-q", "-d", "sim:cpu"]
FAULT = "sim:cpu?fault=last-tap-dropped"
# Columns that depend on the clock on the wall or on the process.
CLOCK = {"ms", "seconds", "started", "finished", "heartbeat"}


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=LIMIT_SECONDS, **options)


def rows(db, sql):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql).fetchall()


def contents(db):
    """{table: sorted rows}, without what depends on the clock and on the order in which cases were written."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()
        ordinal = dict(connection.execute("SELECT case_id, ordinal FROM cases"))
        record = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            cursor = connection.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in cursor.description]
            if table == "coverage_parts":
                record[table] = sorted(repr((run, target, sorted(json.loads(cells)), sorted(json.loads(pairs))))
                                       for run, target, cells, pairs in cursor)
                continue
            record[table] = sorted(repr([ordinal[value] if column == "case_id" else value
                                         for column, value in zip(columns, row) if column not in CLOCK]) for row in cursor)
        return record


def compare(expected, found, tables, what):
    for table in tables:
        wrong = set(expected[table]) ^ set(found[table])
        assert expected[table] == found[table], f"{what}: {table}: {len(wrong)} rows differ, such as {min(wrong)[:400]}"


def parts(folder):
    return [name for name in os.listdir(folder) if "halcyon-part" in name]


def check_whole(halcyon, folder):
    """A shard is written once; another one is not replaced; what differs is said."""
    db = os.path.join(folder, "shard.db")
    command = [halcyon, *CAMPAIGN, "--shard", "2/3", "--atomic", "--db", db]
    done = run(*command, "--json")
    assert done.returncode == EXIT_CONFORMING, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert os.listdir(folder) == ["shard.db"], os.listdir(folder)
    ((key, campaign, shard, n, atomic, cpu, built_with),) = rows(
        db, "SELECT key, campaign, shard, n_shards, atomic, cpu, built_with FROM shards")
    assert (summary["key"], summary["campaign"], summary["shard"]) == (key, campaign, "2/3") and summary["cases"] == 40
    assert (shard, n, atomic) == (2, 3, 1) and cpu and "gcc" in built_with or "clang" in built_with
    before = os.stat(db)
    again = run(*command, "--json")
    assert again.returncode == EXIT_CONFORMING and "nothing is run" in again.stderr, again.stderr
    assert json.loads(again.stdout.splitlines()[-1])["summary"]["pass"] == summary["pass"] == 40
    assert os.stat(db).st_mtime_ns == before.st_mtime_ns and os.listdir(folder) == ["shard.db"]
    for other, text in [(["--seed", "6"], 'seed is "5", expected "6"'), (["--shard", "3/3"], "it is shard 2/3, expected 3/3"),
                        (["--judge", "cts"], "judge is"), (["-d", FAULT], "targets is"), (["--timeout", "9"], "timeout is absent")]:
        done = run(*command, *other)
        assert done.returncode == EXIT_USAGE and text in done.stderr, (other, done.stderr)
    for name, text in [("text", "not a database"), ("other", "not a complete shard")]:
        path = os.path.join(folder, name)
        if name == "text":
            with open(path, "w", encoding="utf-8") as file:
                file.write("no database " * 100)
        else:
            run(halcyon, *CAMPAIGN, "--count", "3", "--db", path)
        done = run(halcyon, *CAMPAIGN, "--atomic", "--db", path)
        assert done.returncode == EXIT_USAGE and text in done.stderr, done.stderr
    for option in (["--resume"], ["--failed", "last"], ["--steer"]):
        done = run(*command, *option)
        assert done.returncode == EXIT_USAGE and "--atomic excludes" in done.stderr, done.stderr
    print("a shard is written once, and another one is refused with what differs")


def check_same_rows(halcyon, folder):
    """An atomic shard has the rows of one that is not; failures and rules, too."""
    for name, command in [("random", [*CAMPAIGN, "-d", FAULT]), ("rules", ["conform", "-d", "sim:cpu?fault=wrong-status", "-q",
                                                                          "--suite", "request"])]:
        plain, whole = (os.path.join(folder, f"{name}-{form}.db") for form in ("plain", "whole"))
        status = [run(halcyon, *command, "--shard", "1/2", "--db", plain).returncode,
                  run(halcyon, *command, "--shard", "1/2", "--atomic", "--db", whole).returncode,
                  run(halcyon, *command, "--shard", "1/2", "--atomic", "--db", whole).returncode]
        assert len(set(status)) == 1, (name, status)
        a, b = contents(plain), contents(whole)
        compare(a, b, a.keys() - {"runs", "shards"}, name)
        assert len(a["verdicts"]) > 0
    assert status[0] in (EXIT_CONFORMING, EXIT_NOT_CONFORMING)
    print("its rows are those of a run without --atomic")


def check_not_there(halcyon, folder):
    """Nothing has the name after --for, --max-failures or a signal; the next attempt removes dead parts only."""
    db = os.path.join(folder, "none.db")
    long = [halcyon, *CAMPAIGN, "--count", "1000000", "--atomic", "--db", db]
    done = run(*long, "--for", "1s")
    assert done.returncode == EXIT_CONFORMING and "is not written" in done.stderr, done.stderr
    done = run(*long, "-d", FAULT, "--max-failures", "1")
    assert done.returncode == EXIT_NOT_CONFORMING and "ended by --max-failures" in done.stderr, done.stderr
    assert not os.path.exists(db) and not parts(folder)
    generator = random.Random(3)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGKILL, signal.SIGKILL):
        with subprocess.Popen(long, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            time.sleep(generator.uniform(0.05, 1))
            process.send_signal(number)
            process.wait(LIMIT_SECONDS)
        assert not os.path.exists(db), number
        assert number == signal.SIGKILL or not parts(folder), (number, parts(folder))
    with subprocess.Popen(long, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as living:
        while not [name for name in parts(folder) if f".{living.pid}-" in name]:
            time.sleep(0.01)
        foreign = db + ".1-1-0123456789abcdef.halcyon-part"
        for age, left in ((60, True), (7200, False)):
            with open(foreign, "w", encoding="ascii") as file:
                file.write("of another machine")
            os.utime(foreign, (time.time() - age,) * 2)
            shard = [word if word != "1000000" else "8" for word in long]
            assert run(*shard).returncode == EXIT_CONFORMING and os.path.exists(db)
            assert os.path.exists(foreign) is left
            assert {name.split(".")[2].split("-")[0] for name in parts(folder)} - {"1"} == {str(living.pid)}, parts(folder)
            os.unlink(db)
        living.kill()
    print("interrupted and killed shards are not there; only parts of dead processes are removed")


def check_race(halcyon, folder):
    """Several processes with one shard: one file, and all end well."""
    db = os.path.join(folder, "race.db")
    processes = [subprocess.Popen([halcyon, *CAMPAIGN, "--atomic", "--db", db], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in processes:
        _, err = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == EXIT_CONFORMING, err
    assert rows(db, "SELECT count(*) FROM cases") == [(120,)] and not parts(folder)
    print("processes with the same shard at the same time leave one")


def check_canaries(wrong, folder):
    db = os.path.join(folder, "wrong.db")
    done = run(wrong, *CAMPAIGN, "--atomic", "--db", db)
    assert done.returncode == EXIT_OURS and "this machine computes wrongly: canary 19 of 20" in done.stderr, done
    assert not os.path.exists(db) and not parts(folder)
    assert run(wrong, *CAMPAIGN, "--db", db).returncode == EXIT_CONFORMING, "only shards have canaries"
    print("a machine whose canaries differ writes no shard")


def check_plan(halcyon, folder):
    """A shard of a thousand million cases has the memory and the start of a small one."""
    db = os.path.join(folder, "plan.db")
    done = run("/usr/bin/env", "python3", "-c", "import resource, subprocess, sys\n"
               "status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nsys.exit(status)",
               halcyon, "random", "--no-probe", "-q", "-d", "golden", "--ops", "1-1", "--count", "1000000000", "--shard",
               "999999/1000000", "-j", "1", "--atomic", "--db", db)
    assert done.returncode == EXIT_CONFORMING, done
    assert rows(db, "SELECT count(*), min(idx), max(idx) FROM cases") == [(1000, 999998, 999999998)]
    assert int(done.stdout) < 600 * 1024, f"{done.stdout} kB"
    print("shards of 1e9 cases are planned case by case")


def main():
    halcyon, wrong = (os.path.abspath(path) for path in sys.argv[1:3])
    for check, command in ((check_whole, halcyon), (check_same_rows, halcyon), (check_not_there, halcyon), (check_race, halcyon),
                           (check_canaries, wrong), (check_plan, halcyon)):
        with tempfile.TemporaryDirectory(prefix="halcyon-shards-") as folder:
            check(command, folder)


main()
