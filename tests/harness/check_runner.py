#!/usr/bin/env python3
"""Checks how campaigns end and what they repeat: check_runner.py HALCYON DRIVER.

Signals: the summary, the exit status, a consistent record that can be resumed; a second one ends the program.
--rerun: cases of DRIVER (hostile.h) that fail in one call of a process only are flaky, others are not.
--memory-limit: DRIVER takes memory until it is ended, which the verdict says."""
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

EXIT_CONFORMING, EXIT_NOT_CONFORMING = 0, 1
LIMIT_SECONDS = 60
ADD = ["--op", "ADD", "--types", "TENSOR_FLOAT32", "--ops", "1-1", "-j", "1"]


def rows(db, sql):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql).fetchall()


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=LIMIT_SECONDS, **options)


# ---- signals


def wait_for_cases(db, process):
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(sqlite3.OperationalError):
            if os.path.exists(db) and rows(db, "SELECT count(*) FROM cases")[0][0] > 10:
                return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("the campaign does not begin")


def start(halcyon, db, *options):
    process = subprocess.Popen([halcyon, "random", "--no-probe", "-d", "sim:cpu", "--count", "1000000", "--db", db, *options],
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_cases(db, process)
    return process


def check_signal(halcyon, folder, number, json_output):
    db, junit = os.path.join(folder, f"signal{number}.db"), os.path.join(folder, f"signal{number}.xml")
    process = start(halcyon, db, "--junit", junit, *(["--json"] if json_output else ["-q"]))
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 128 + number, (process.returncode, err)
    n = rows(db, "SELECT count(*) FROM cases")[0][0]
    if json_output:
        summary = json.loads(out.splitlines()[-1])["summary"]
        assert summary["pass"] == n and summary["not_run"] == 1000000 - n, (n, summary)
        assert summary["ended"] == "interrupted", summary
    else:
        assert f"{1000000 - n} not run (interrupted); run 1 in {db}" in out, (n, out)
    assert "interrupted; the same command with --resume continues the run" in err, err
    assert rows(db, "SELECT finished, owner_pid FROM runs") == [(None, None)]
    assert rows(db, "PRAGMA integrity_check") == [("ok",)] and not rows(db, "PRAGMA foreign_key_check")
    assert rows(db, "SELECT count(*) FROM verdicts") == [(n,)]
    suite = xml.etree.ElementTree.parse(junit).getroot()[0]
    assert int(suite.get("tests")) == n == len(suite.findall("testcase")), (suite.attrib, n)
    more = run(halcyon, "random", "--no-probe", "-d", "sim:cpu", "--count", "1000000", "--db", db, "-q", "--resume", "--for", "1s")
    assert more.returncode == EXIT_CONFORMING, more
    assert rows(db, "SELECT count(*) FROM runs") == [(1,)]
    assert rows(db, "SELECT count(*) FROM cases")[0][0] > n, more


def check_second_signal(halcyon, folder):
    """The first one lets the program end in order: here it waits for a reader of the JUnit file."""
    db, fifo = os.path.join(folder, "second.db"), os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    process = start(halcyon, db, "-q", "--junit", fifo)
    process.send_signal(signal.SIGINT)
    line = "".join(process.stdout.readline() for _ in range(3))
    assert "not run (interrupted)" in line, line
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
        raise AssertionError(f"ended with {process.returncode}, without a reader of the FIFO")
    process.send_signal(signal.SIGINT)
    process.wait(5)
    assert process.returncode == -signal.SIGINT, process.returncode
    process.communicate()


# ---- cases that are run again


def verdicts(halcyon, folder, target, *options, status, isolate="foreign"):
    """Verdicts of 20 graphs: (verdict, was, attempts, failed_attempts, confirmed), but for unsupported ones."""
    db = os.path.join(folder, "rerun.db")
    junit = os.path.join(folder, "rerun.xml")
    with contextlib.suppress(FileNotFoundError):
        os.remove(db)
    done = run(halcyon, "random", "--no-probe", *ADD, "--count", "20", "--db", db, "-d", target, "--isolate", isolate, "-q",
               "--junit", junit, *options)
    assert done.returncode == status, done
    failures = [case for case in xml.etree.ElementTree.parse(junit).iter("testcase")
                if case.find("failure") is not None and case.find("failure").get("message").startswith("flaky: ")]
    found = rows(db, "SELECT verdict, was, attempts, failed_attempts, confirmed FROM details "
                     "WHERE verdict <> 'unsupported' ORDER BY ordinal")
    assert len(failures) == sum(row[0] == "flaky" for row in found), (failures, found)
    return found, done.stdout


def check_reruns(halcyon, driver, folder):
    target = f"lib:{driver}?exit_0@execute_synchronously"
    never = ("pass", None, None, None, None)
    # In the third execution of a process only; the run that confirms the death is not the third one, either.
    for isolate in ("foreign", "none"):
        found, out = verdicts(halcyon, folder, target + ":3", "--rerun", "3", status=EXIT_NOT_CONFORMING,
                              isolate=isolate)
        flaky = [row for row in found if row != never]
        assert flaky and found[:2] == [never, never] and "flaky" in out, (isolate, found)
        for row in flaky:
            assert row[:4] == ("flaky", "crash", 4, 1), (isolate, row)
            assert row[4].startswith("1 of 4 runs do not conform; does not repeat; after case "), (isolate, row)
    # In the first one of each process: it fails whenever it is run in a new one.
    for isolate in ("foreign", "none"):
        found, _ = verdicts(halcyon, folder, target + ":1", "--rerun", "2", status=EXIT_NOT_CONFORMING,
                            isolate=isolate)
        assert found and set(found) == {("crash", None, 3, 3, "3 of 3 runs do not conform; repeats")}, found
    # Without --rerun nothing says that it is flaky.
    found, _ = verdicts(halcyon, folder, target + ":3", status=EXIT_NOT_CONFORMING)
    assert {row[:4] for row in found} == {never[:4], ("crash", None, None, None)}, found
    # An entry of a baseline that expects a pass and the verdict of the first run covers a flaky case.
    baseline = os.path.join(folder, "flaky.baseline")
    for expected, status, verdict in (
        ("pass|unsupported|crash", EXIT_CONFORMING, "waived"),
        ("pass|unsupported|fail", EXIT_NOT_CONFORMING, "flaky"),
        ("crash", EXIT_NOT_CONFORMING, "flaky"),
    ):
        with open(baseline, "w", encoding="ascii") as file:
            file.write(f"halcyon-baseline 1\n{expected} random/* reason=known\n")
        found, _ = verdicts(halcyon, folder, target + ":3", "--rerun", "1", "--baseline", baseline, status=status)
        assert {row[:2] for row in found} == {("pass", None), (verdict, "crash")}, (expected, found)


# ---- memory


def check_memory(halcyon, driver, folder):
    db = os.path.join(folder, "memory.db")
    target = f"lib:{driver}?leak_memory@execute_synchronously"
    command = [halcyon, "random", "--no-probe", *ADD, "--count", "200", "--ways", "0", "--db", db, "-d", target, "-q"]
    done = run(*command)
    assert done.returncode == EXIT_CONFORMING, done
    done = run(*command, "-d", "sim:cpu", "--memory-limit", "16M")
    assert done.returncode == EXIT_NOT_CONFORMING, done
    assert "note: sim:cpu: --memory-limit does not apply" in done.stdout, done
    found = rows(db, "SELECT verdict, why, replay, confirmed FROM details WHERE run = 2 AND NOT conforming")
    assert len(found) > 2 and rows(db, "SELECT count(*) FROM details WHERE run = 2") == [(400,)], found
    for verdict, why, replay, confirmed in found:
        assert verdict == "crash" and "the driver exceeds the memory limit of 16 MiB" in why, (verdict, why)
        assert replay.endswith(" --memory-limit 16M"), replay
        assert confirmed.startswith("does not repeat; after case "), confirmed


def main():
    halcyon, driver = (os.path.abspath(argument) for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="halcyon-runner-") as folder:
        check_signal(halcyon, folder, signal.SIGINT, False)
        check_signal(halcyon, folder, signal.SIGTERM, True)
        check_second_signal(halcyon, folder)
        check_reruns(halcyon, driver, folder)
        check_memory(halcyon, driver, folder)


main()
