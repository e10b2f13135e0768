"""The record of halcyon conform: check_conform_record.py HALCYON HOSTILE

What a run prints, what it records and the files that it writes agree with each other and with `--list`; baselines,
--rerun, --failed, --resume, --max-failures, signals, merge, diff, replay and report treat rules as other cases.
HOSTILE (hostile.h) is a small driver that does one harmful action in one method."""
import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

SUITES = ["request/valid", "basic/B5", "generated/status", "generated/results"]


class Check:
    def __init__(self, halcyon, hostile):
        self.halcyon = halcyon
        self.hostile = f"lib:{hostile}"

    def run(self, *words, status=0):
        run = subprocess.run([self.halcyon, *words], capture_output=True, text=True, timeout=500)
        assert run.returncode == status, f"{words}: exit status {run.returncode}, expected {status}\n{run.stdout}{run.stderr}"
        return run.stdout

    def conform(self, action, *words, status=0, suites=SUITES):
        chosen = [word for suite in suites for word in ("--suite", suite)]
        return self.run("conform", "-d", f"{self.hostile}?{action}", "--timeout", "3", *chosen, *words, status=status)

    def rules(self):
        """All rules in the order of --list."""
        return re.findall(r"^  (\S+/\S+) ", self.run("conform", "--list"), re.M)


def rows(db, sql, *values):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
        return connection.execute(sql, values).fetchall()


def verdicts(db, run=None):
    run = run or rows(db, "SELECT max(run) FROM runs")[0][0]
    return rows(db, "SELECT uri, name, verdict FROM details WHERE run = ? ORDER BY target_ordinal, ordinal", run)


def check_rows(c):
    """Two targets, two versions: rows, JSON lines and files have the same verdicts, in the same order with any -j."""
    bad, good = (f"{c.hostile}?{a}" for a in ("_exit_2@prepare_model", "nothing@prepare_model"))
    suites = ["request/valid", "basic/B2"]
    listed = [rule for rule in c.rules() if rule in suites]
    words = ["conform", "-d", bad, "-d", good, "--hal", "all", "--timeout", "3", "--db", "rows.db", "--json"]
    words += [word for suite in suites for word in ("--suite", suite)]
    lines = []
    for jobs in "13":
        files = ["--junit", "r.xml", "--json-file", "r.json", "--tap", "r.tap", "--csv", "r.csv"]
        out = [json.loads(line) for line in c.run(*words, "-j", jobs, *files, status=1).splitlines()]
        lines.append([(v["target"], v["case"], v["verdict"]) for v in out[:-1]])
        assert out[-1]["summary"]["cases"] == len(out) - 1, out[-1]
    assert lines[0] == lines[1], "the order depends on -j"
    expected = [(t, f"conform/{hal}/{rule}") for t in (bad, good)
                for hal in ("1.0", "1.1", "1.2", "1.3", "fl5", "fl6", "fl7", "fl8") for rule in listed]
    assert [line[:2] for line in lines[0]] == expected, lines[0]
    for target, name, verdict in lines[0]:
        prepares = "/request/" in name or name.endswith("basic/B2")
        assert verdict == ("crash" if target == bad and prepares else "pass"), (target, name, verdict)
    assert verdicts("rows.db") == lines[0]
    cases = [(s.get("name"), t.get("name"), "crash" if t.find("error") is not None else "pass")
             for s in xml.parse("r.xml").getroot() for t in s.findall("testcase")]
    assert cases == lines[0], cases
    with open("r.json") as file:
        assert [(v["target"], v["case"], v["verdict"]) for v in json.load(file)["verdicts"]] == lines[0]
    with open("r.csv") as file:
        assert [(v["target"], v["case"], v["verdict"]) for v in csv.DictReader(file)] == lines[0]
    with open("r.tap") as file:
        assert re.findall(r"^(?:not )?ok \d+ - (.*): (conform\S+)", file.read(), re.M) == [line[:2] for line in lines[0]]
    texts = rows("rows.db", "SELECT why, printed, replay, ms, judge FROM details WHERE NOT conforming")
    for why, printed, replay, ms, judge in texts:
        assert "exits the process with status 2" in why and "hostile: _exit_2" in printed and ms > 0 and judge == "rules", (why, printed, ms)
        assert replay.startswith("halcyon conform -d ") and " --hal " in replay, replay
    assert rows("rows.db", "SELECT DISTINCT suite FROM cases ORDER BY 1") == [("basic",), ("request",)]


def check_baselines(c):
    c.conform("wrong_numbers@execute_synchronously", "--db", "b.db", status=1)
    c.run("baseline", "--db", "b.db", "-o", "b.base")
    out = c.conform("wrong_numbers@execute_synchronously", "--db", "b.db", "--baseline", "b.base")
    assert re.search(r" 0 failed, .* waived;", out) and "0 skipped" in out, out
    text = open("b.base").read()
    names = re.findall(r"^violation +(conform\S+)$", text, re.M)
    assert names == ["conform/fl8/generated/results"], text
    with open("waiver.base", "w") as file:
        file.write("halcyon-baseline 1\nviolation conform/fl8/generated/results reason=known\nskip *B5 reason=slow\n")
    out = c.conform("nothing@prepare_model", "--db", "b.db", "--baseline", "waiver.base", status=1)
    assert "1 stale waiver" in out and "1 skipped" in out and "1 waived" in out, out
    assert "violation" in c.run("diff", "1", "3", "--db", "b.db", "-v") and "mended" in c.run("diff", "1", "3", "--db", "b.db")
    # A crash is not what the baseline expects.
    out = c.conform("_exit_2@execute_synchronously", "--db", "b.db", "--baseline", "waiver.base", status=1)
    assert "changed failure" in out, out


def check_reruns(c):
    """The driver dies in the fourth execution of a process: not in a new one, in which a rule executes less often."""
    words = ("--db", "f.db", "-j", "1", "--rerun", "2")
    out = c.conform("_exit_2@execute_synchronously:4", *words, status=1, suites=["burst"])
    flaky = rows("f.db", "SELECT was, confirmed, attempts, failed_attempts FROM details WHERE verdict = 'flaky'")
    assert flaky and set(flaky) == {("crash", "1 of 3 runs do not conform", 3, 1)}, flaky
    assert "flaky burst/" in out and "run again: 1 of 3 runs do not conform" in out, out
    c.run("baseline", "--db", "f.db", "-o", "f.base")
    assert len(re.findall(r"^pass\|crash +conform", open("f.base").read(), re.M)) == len(flaky)
    c.conform("_exit_2@execute_synchronously:4", *words, "--baseline", "f.base", suites=["burst"])
    c.conform("_exit_2@execute_synchronously", "--db", "f.db", "--rerun", "1", status=1)
    assert set(rows("f.db", "SELECT confirmed FROM details WHERE run = 3 AND NOT conforming")) == {
        ("2 of 2 runs do not conform",)}


def check_choices(c):
    action = "wrong_numbers@execute_synchronously"
    c.conform(action, "--db", "c.db", status=1)
    assert "1 rule, " in c.run("conform", "--failed", "last", "--db", "c.db", "--timeout", "3", status=1)
    assert verdicts("c.db", 2) == [v for v in verdicts("c.db", 1) if v[2] == "violation"]
    c.conform(action, "--db", "c.db", "--exclude", "*results")
    c.conform(action, "--db", "c.db", "--case", "conform/fl8/basic/B5", "--case", "*/request/valid")
    assert [v[1] for v in verdicts("c.db")] == ["conform/fl8/basic/B5", "conform/fl8/request/valid"]
    c.conform(action, "--db", "c.db", "--case", "conform/fl8/basic/B13", status=2)
    parts = [sorted(v) for i in "12" for v in [c.conform(action, "--db", f"p{i}.db", "--shard", f"{i}/2",
                                                          status=int(i == "2")) and verdicts(f"p{i}.db")]]
    assert sorted(parts[0] + parts[1]) == sorted(verdicts("c.db", 1)), parts
    c.run("merge", "p1.db", "p2.db", "-o", "all.db")
    assert sorted(rows("all.db", "SELECT uri, name, verdict FROM details")) == sorted(verdicts("c.db", 1))
    out = c.run("replay", "conform/fl8/generated/results", "--db", "all.db", status=1)
    assert out.startswith("violation generated/results on ") and "1 rule, " in out, out
    c.run("replay", "conform/fl8/generated/results/seed=x", "--db", "all.db", status=2)
    c.run("report", "--db", "all.db", "-o", "report")
    page = open("report/index.html").read()
    assert "conform/fl8/generated/results" in page and ">generated<" in page, "the report lacks the rules"


def check_ends(c):
    """--max-failures and --resume: each rule is recorded once."""
    words = ["--db", "e.db", "-j", "1", "--hal", "all"]
    out = c.conform("_exit_2@execute_synchronously", *words, "--max-failures", "2", status=1)
    assert re.search(r" 2 failed, .* not run \(ended by --max-failures\)", out), out
    n = len(verdicts("e.db"))
    out = c.conform("_exit_2@execute_synchronously", *words, "--resume", status=1)
    assert n < len(verdicts("e.db")) == 30 and " not run" not in out, out
    assert rows("e.db", "SELECT count(*), count(finished) FROM runs") == [(1, 1)]


def start(c, db, target, *words):
    return subprocess.Popen([c.halcyon, "conform", "-d", target, "--db", db, *words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def wait_for(db, n):
    for _ in range(3000):
        try:
            if rows(db, "SELECT count(*) FROM verdicts")[0][0] >= n:
                return
        except sqlite3.OperationalError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"{db}: fewer than {n} verdicts")


def check_signals(c):
    """A killed run keeps what was complete, also rules behind one in flight."""
    target = f"{c.hostile}?sleep_forever@execute_synchronously"  # version/gates; the others execute nothing
    rules = ("basic/B3", "extension/prefixes", "version/gates", "version/device-info")
    words = [word for rule in rules for word in ("--suite", rule)]
    words += ["--timeout", "60", "-j", "2"]
    for number, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        db = f"s{status}.db"
        run = start(c, db, target, *words)
        wait_for(db, 3)
        run.send_signal(number)
        out = run.communicate()[0]
        assert run.returncode == status, f"exit status {run.returncode}, expected {status}\n{out}"
        assert number == signal.SIGKILL or "; 1 not run (interrupted); " in out, out
        assert rows(db, "SELECT count(*), count(finished) FROM runs, verdicts") == [(3, 0)]
        c.run("conform", "-d", target, "--db", db, *words[:-4], "--timeout", "2", "--resume", status=1)
        assert rows(db, "SELECT verdict, count(*) FROM details GROUP BY 1") == [("hang", 1), ("pass", 3)]
    # After the last rule, while the driver is being closed.
    target = f"{c.hostile}?sleep_forever@close"
    run = start(c, "close.db", target, "--suite", "basic/B3", "--timeout", "60")
    wait_for("close.db", 1)
    run.send_signal(signal.SIGINT)
    out = run.communicate()[0]
    assert run.returncode == 130 and "interrupted" in out, f"exit status {run.returncode}\n{out}"
    assert rows("close.db", "SELECT count(*), count(finished) FROM runs") == [(1, 0)]
    c.run("conform", "-d", target, "--db", "close.db", "--suite", "basic/B3", "--resume")
    assert rows("close.db", "SELECT count(*), count(finished) FROM runs") == [(1, 1)]


def main():
    c = Check(*map(os.path.abspath, sys.argv[1:]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in (check_rows, check_baselines, check_reruns, check_choices, check_ends, check_signals):
            begun = time.time()
            check(c)
            print(f"{check.__name__}: {time.time() - begun:.1f} s", flush=True)


main()
