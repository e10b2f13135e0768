#!/usr/bin/env python3
"""Checks that no interruption damages the record: check_kills.py HALCYON [ROUNDS [SEED]].

Runs a campaign, disturbs it at random moments, resumes it until it is complete, and compares every
row of every table with those of an undisturbed run. Disturbances: kill -9 of the main process, of
workers, of drivers, ^C, a limit on the size of files, a full disk. Each is done ROUNDS times (default 2)."""
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CAMPAIGN = ["random", "--no-probe", "--seed", "3", "--count", "300", "-j", "2", "-q",
            "-d", "sim:cpu", "-d", "sim:cpu?fault=last-tap-dropped"]
# Columns that depend on the clock on the wall, and identifiers of rows.
IGNORED = {"ms", "seconds", "started", "finished", "heartbeat", "command"}
KEYS = {"run": "SELECT run, run FROM runs", "target": "SELECT target, ordinal FROM targets",
        "case_id": "SELECT case_id, ordinal FROM cases"}
EXIT_NOT_CONFORMING, EXIT_OURS = 1, 3
LIMIT_SECONDS = 300


# ---- the record


def rows_of(path):
    """{table: sorted rows}; rows are dictionaries, with row identifiers replaced by ordinals."""
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        keys = {column: dict(db.execute(sql)) for column, sql in KEYS.items()}
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables.remove("coverage_parts")  # a row for each commit
        tables += ["coverage", "neighbours"]  # its sums
        record = {}
        for table in tables:
            cursor = db.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in cursor.description]
            rows = [{column: keys[column][value] if column in keys else value
                     for column, value in zip(columns, row) if column not in IGNORED} for row in cursor]
            record[table] = sorted(rows, key=lambda row: [str(row[key]) for key in sorted(row)
                                                          if key not in ("device_ns", "run")])
    return record


def compare(expected, path, what):
    actual = rows_of(path)
    assert expected.keys() == actual.keys(), (what, actual.keys())
    for table, rows in expected.items():
        assert len(rows) == len(actual[table]), f"{what}: {table}: {len(actual[table])} rows, expected {len(rows)}"
        for a, b in zip(rows, actual[table]):
            wrong = [column for column in a if a[column] != b[column]]
            assert not wrong, f"{what}: {table}: expected\n{a}\nfound\n{b}\ndifferent: {wrong}"


def unfinished(path):
    """Whether there is a run to resume; None: there is none at all."""
    if not os.path.exists(path):
        return None
    with sqlite3.connect(path) as db:
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").fetchone():
            return None
        row = db.execute("SELECT finished IS NULL FROM runs ORDER BY run DESC").fetchone()
    return row and bool(row[0])


# ---- disturbances: each waits for the process, which it may end, and returns its exit status


def nothing(process, _generator, _seconds):
    return process.wait(LIMIT_SECONDS)


def kill_main(process, generator, seconds):
    time.sleep(generator.uniform(0, seconds))
    process.kill()
    return process.wait(LIMIT_SECONDS)


def interrupt(process, generator, seconds):
    time.sleep(generator.uniform(0, seconds))
    process.send_signal(signal.SIGINT)
    status = process.wait(LIMIT_SECONDS)
    assert status in (EXIT_NOT_CONFORMING, 130, -signal.SIGINT), status
    return status


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has ended


def kill_some(process, generator, seconds, find):
    """A few processes in turn. The campaign must not notice: it is not resumed."""
    for _ in range(generator.randint(1, 5)):
        time.sleep(generator.uniform(0, seconds / 4))
        workers = children_of(process.pid)
        found = find(workers) if len(workers) > 1 else []  # before, a child at a time describes a target
        if found:
            try:
                os.kill(generator.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                pass
    status = process.wait(LIMIT_SECONDS)
    assert status == EXIT_NOT_CONFORMING, f"killed processes end the campaign with {status}"
    return status


def kill_workers(process, generator, seconds):
    return kill_some(process, generator, seconds, lambda workers: workers)


def kill_drivers(process, generator, seconds):
    """Processes that host drivers, and those that supervise them."""
    def find(workers):
        supervisors = [pid for worker in workers for pid in children_of(worker)]
        return supervisors + [pid for supervisor in supervisors for pid in children_of(supervisor)]
    return kill_some(process, generator, seconds, find)


DISTURBANCES = {"kill -9 of the main process": kill_main, "^C": interrupt,
                "kill -9 of workers": kill_workers, "kill -9 of drivers": kill_drivers}


def run_until_complete(halcyon, db, disturb, generator, seconds):
    """Disturbs the campaign up to four times, then lets it end. Returns how often it was resumed."""
    resumed = 0
    for attempt in range(100):
        left = unfinished(db)
        if left is False:
            return resumed
        resumed += bool(left)
        command = [halcyon, *CAMPAIGN, "--db", db] + (["--resume"] if left else [])
        with open(db + ".log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            status = (disturb if attempt < 4 else nothing)(process, generator, seconds)
            log.seek(0)
            assert status not in (2, EXIT_OURS), f"{' '.join(command)}: exit status {status}: {log.read()}"
    raise AssertionError("the campaign does not end")


# ---- shortages


def check_file_limit(halcyon, db, generator, size):
    """No file may become larger than a random size: a message, exit status 3, and no signal."""
    limit = generator.randint(20000, max(size, 40000))

    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    # The memory that a driver's process shares counts as a file, too.
    done = subprocess.run([halcyon, *CAMPAIGN, "--isolate", "none", "--db", db], preexec_fn=set_limit, text=True,
                          capture_output=True, check=False, timeout=LIMIT_SECONDS)
    if done.returncode != EXIT_NOT_CONFORMING:
        assert done.returncode == EXIT_OURS and db in done.stderr, (limit, done.returncode, done.stderr)
        assert len(done.stderr.splitlines()) <= 2, done.stderr
    run_until_complete(halcyon, db, nothing, generator, 0)


FULL_DISK = """
mount -t tmpfs -o size={size}k none {folder} || exit 77
{halcyon} {campaign} --db {folder}/r.db >{log} 2>&1
echo $? >{status}
mount -o remount,size=100m {folder} || exit 77
resume=--resume
test -z "$(sqlite3 {folder}/r.db 'SELECT 1 FROM runs')" && resume=
test -n "$(sqlite3 {folder}/r.db 'SELECT 1 FROM runs WHERE finished IS NOT NULL')" ||
    {halcyon} {campaign} --db {folder}/r.db $resume >>{log} 2>&1
sqlite3 {folder}/r.db 'PRAGMA wal_checkpoint' >/dev/null
cp {folder}/r.db {db}
"""


def check_full_disk(halcyon, db, generator, size):
    """Returns False where such a disk cannot be mounted."""
    folder, log, status = db + ".mount", db + ".log", db + ".status"
    os.mkdir(folder)
    campaign = " ".join(f"'{word}'" for word in CAMPAIGN)
    script = FULL_DISK.format(size=generator.randint(60, max(size // 1024, 100)), folder=folder,
                              halcyon=halcyon, campaign=campaign, log=log, status=status, db=db)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], check=False, timeout=LIMIT_SECONDS,
                          stderr=subprocess.DEVNULL)
    if done.returncode == 77 or not os.path.exists(status):
        return False
    with open(status, encoding="ascii") as file, open(log, encoding="utf-8") as said:
        first, text = int(file.read()), said.read()
    assert first in (EXIT_NOT_CONFORMING, EXIT_OURS), (first, text)
    assert first != EXIT_OURS or "full" in text or "No space" in text, text
    return True


# ---- all of it


def check(halcyon, folder, rounds, seed):
    generator = random.Random(seed)
    begin = time.monotonic()
    whole = os.path.join(folder, "whole.db")
    subprocess.run([halcyon, *CAMPAIGN, "--db", whole], check=False, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    expected, size = rows_of(whole), os.path.getsize(whole)
    assert len(expected["verdicts"]) == 600 and any(row["spec"] for row in expected["cases"])
    for what, disturb in DISTURBANCES.items():
        resumed = 0
        for i in range(rounds):
            db = os.path.join(folder, f"{disturb.__name__}{i}.db")
            resumed += run_until_complete(halcyon, db, disturb, generator, seconds)
            compare(expected, db, f"{what}, round {i}")
        print(f"{what}: {rounds} campaigns, resumed {resumed} times: the same record")
    for i in range(rounds):
        db = os.path.join(folder, f"limit{i}.db")
        check_file_limit(halcyon, db, generator, size)
        compare(expected, db, f"a limit on files, round {i}")
    print(f"a limit on the size of files: {rounds} campaigns: the same record")
    for i in range(rounds):
        db = os.path.join(folder, f"full{i}.db")
        if not check_full_disk(halcyon, db, generator, size):
            print("a full disk: not checked, for no disk can be mounted here")
            break
        compare(expected, db, f"a full disk, round {i}")
    else:
        print(f"a full disk: {rounds} campaigns: the same record")


def main():
    halcyon = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder = tempfile.mkdtemp(prefix="halcyon-kills-")
    try:
        check(halcyon, folder, rounds, seed)
    except AssertionError:
        print(f"seed {seed}; the databases: {folder}")
        raise
    shutil.rmtree(folder)


main()
