#!/usr/bin/env python3
"""Checks campaigns of many shards: check_campaigns.py HALCYON WHAT [ARGUMENT].

    commands       conform and run as shards; --json; exit statuses of files and baselines
    rules          stop rules; the corpus of known failures
    local          how a campaign ends, continues, is locked, reports missing shards; the contract of engines
    kills N        kill -9 of the campaign, of its engine and of shards, N times, at random moments
    dask N, slurm N, parallel N
                   the same record as a run without shards; N kills. Skipped (77) where the engine is absent
    equal CASES SHARDS
                   CASES random graphs as SHARDS shards by local, dask, slurm and without shards: digests, times

The record is compared with that of a run without shards: every column of every verdict but times."""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slurm_node  # noqa: E402 (beside this file)

SKIPPED, LIMIT_SECONDS = 77, 900
TARGETS = ["sim:cpu", "sim:cpu?fault=last-tap-dropped"]
# Times, identifiers of rows, and what names files. Buckets depend on which case of a shard is shrunk.
IGNORED = {"case_id", "target", "ms", "device_ns", "replay", "bucket", "shrunk"}


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in IGNORED]


def record(path):
    """Every verdict as a tuple: its case, its target, its columns; sorted."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        names = ", ".join(f"v.{name}" for name in columns(db, "verdicts"))
        rows = db.execute(f"SELECT c.name, t.uri, {names} FROM verdicts v JOIN cases c USING (case_id) "
                          "JOIN targets t USING (target)").fetchall()
    assert len({row[:2] for row in rows}) == len(rows), f"{path}: a case has two verdicts"
    return sorted(rows, key=repr)


def digest(rows):
    sha = hashlib.sha256()
    for row in rows:
        sha.update(repr(row).encode())
    return sha.hexdigest()[:16]


def plan(folder, name="c", cases=60, shards=6, **tables):
    """Writes NAME.toml; tables: of [engine], [limits], [stop], [options]; texts, numbers and lists as in JSON."""
    def line(key, value):
        return f"{key} = {json.dumps(value)}\n"
    tables = {"options": {"seed": 7, "ops": "1-4", "no-shrink": True}, "limits": {"retries": 2, "jobs": 2, "time": "5m"}, **tables}
    text = line("targets", TARGETS) + line("cases", cases) + line("shards", shards)
    text += "".join(line(key, value) for key, value in tables.pop("root", {}).items())
    for table, keys in tables.items():
        text += f"[{table}]\n" + "".join(line(key, value) for key, value in keys.items())
    path = pathlib.Path(folder) / f"{name}.toml"
    path.write_text(text)
    return path


def run(*command, status=(0, 1), limit=LIMIT_SECONDS, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False,
                          timeout=limit, stdin=subprocess.DEVNULL, **options)
    assert done.returncode in status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def whole_run(halcyon, folder, cases, limit=LIMIT_SECONDS):
    """The record of the same cases without shards."""
    db = pathlib.Path(folder) / "whole.db"
    begin = time.monotonic()
    run(halcyon, "random", *(word for target in TARGETS for word in ("-d", target)), "--seed", 7, "--ops", "1-4",
        "--count", cases, "--no-shrink", "-q", "--db", db, limit=limit)
    return record(db), time.monotonic() - begin


def check_same(expected, folder, name="c"):
    actual = record(pathlib.Path(folder) / name / "merged.db")
    assert digest(actual) == digest(expected), next(
        (f"{name}: expected {a}, found {b}" for a, b in zip(expected, actual) if a != b),
        f"{name}: {len(actual)} verdicts, expected {len(expected)}")


# ---- one machine


def check_end(halcyon, folder, expected):
    """The result; a second start runs nothing again; a changed plan is rejected, what may change is not."""
    path = plan(folder)
    done = run(halcyon, "campaign", path, status=(1,))
    assert "complete: 6 of 6 shards, 60 cases" in done.stdout, done.stdout
    check_same(expected, folder)
    output = pathlib.Path(folder) / "c"
    assert (output / "report/index.html").exists()
    assert not [name for name in os.listdir(output / "logs") if name != "engine"]
    before = {file: file.stat().st_mtime_ns for file in (output / "shards").glob("*.db")}
    done = run(halcyon, "campaign", path, status=(1,))
    assert "continues: 6 of 6 shards are done" in done.stderr, done.stderr
    assert before == {file: file.stat().st_mtime_ns for file in (output / "shards").glob("*.db")}
    (output / "shards/4.db").unlink()
    run(halcyon, "campaign", plan(folder, limits={"retries": 0, "jobs": 1}), status=(1,))
    check_same(expected, folder)
    for tables, what in (({"options": {"seed": 8, "ops": "1-4", "no-shrink": True}}, r"options.seed is 8, and 7 in the campaign"),
                         ({"cases": 61}, "cases is 61, and 60 in"),
                         ({"options": {"seed": 7, "no-shrink": True}}, 'options.ops is not set, and "1-4" in')):
        done = run(halcyon, "campaign", plan(folder, **tables), status=(2,))
        assert what in done.stderr, done.stderr
    check_same(expected, folder)


def check_dry_run(halcyon, folder):
    path = plan(folder, "dry", cases=1000000000, shards=10000)
    done = run(halcyon, "campaign", path, "--dry-run", status=(0,))
    assert "1000000000 cases in 10000 shards of 100000" in done.stdout, done.stdout
    assert "--shard 10000/10000 --atomic --db" in done.stdout, done.stdout
    assert not os.path.exists(os.path.join(folder, "dry"))
    done = run(halcyon, "campaign", plan(folder, "dry", shards=7), "--dry-run", "-v", status=(0,))
    for i in range(1, 8):
        assert f"--shard {i}/7 " in done.stdout, done.stdout


def check_lock(halcyon, folder, expected):
    """A second campaign in the folder is rejected while the first one runs, which is not disturbed."""
    path = plan(folder, "locked")
    first = subprocess.Popen([halcyon, "campaign", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists(os.path.join(folder, "locked/list")), "the campaign begins")
    done = run(halcyon, "campaign", path, status=(2,))
    assert f"another campaign is running in this folder (process {first.pid} on" in done.stderr, done.stderr
    assert first.wait(LIMIT_SECONDS) == 1
    check_same(expected, folder, "locked")


def check_interrupt(halcyon, folder, expected):
    """SIGTERM ends the shards, too; the same command continues."""
    path = plan(folder, "stopped")
    process = subprocess.Popen([halcyon, "campaign", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    output = os.path.join(folder, "stopped")
    wait_for(lambda: os.path.isdir(output + "/shards") and os.listdir(output + "/shards"), "a shard begins")
    process.terminate()
    _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM and "the same command continues" in err, (process.returncode, err)
    wait_for(lambda: not shard_processes(output), "the shards end with the campaign")
    run(halcyon, "campaign", path, status=(1,))
    check_same(expected, folder, "stopped")


def write_program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def check_missing(halcyon, folder):
    """Shards that fail: again at most R times, then reported, with what they printed; bad usage is not repeated."""
    count = pathlib.Path(folder) / "attempts"
    broken = write_program(pathlib.Path(folder) / "broken", f"""
case "$*" in
  *' 2/6 '*) echo two >>{count}; echo bad memory; exit 3 ;;
  *' 5/6 '*) echo five >>{count}; echo no such driver; exit 2 ;;
  *' 6/6 '*) echo six >>{count}; kill -9 $$ ;;
esac
exec {halcyon} "$@" """)
    done = run(halcyon, "campaign", plan(folder, "missing", engine={"program": broken}), status=(3,))
    attempts = count.read_text().split()
    assert [attempts.count(word) for word in ("two", "five", "six")] == [3, 1, 3], attempts
    assert "incomplete: 3 of 6 shards" in done.stdout, done.stdout
    for line in ("3 shards are missing:", "shard 2: exit status 3: bad memory", "shard 5: exit status 2: no such driver",
                 "shard 6: exit status 137"):
        assert line in done.stderr, done.stderr


def check_time_limit(halcyon, folder):
    slow = write_program(pathlib.Path(folder) / "slow-program", "sleep 100")
    begin = time.monotonic()
    done = run(halcyon, "campaign", plan(folder, "slow", shards=2, engine={"program": slow},
                                         limits={"time": "1s", "retries": 0, "jobs": 2}), status=(3,))
    assert time.monotonic() - begin < 60 and "shard 1: exit status 124" in done.stderr, done.stderr


def check_own_engine(halcyon, folder, expected):
    """The contract: arguments, environment, exit status; the engine's word on what is done counts for nothing."""
    seen = pathlib.Path(folder) / "seen"
    engine = write_program(pathlib.Path(folder) / "mine", f"""
echo "$#|$1|$2|$CAMPAIGN_JOBS|$CAMPAIGN_SECONDS|$CAMPAIGN_MY_POOL|$CAMPAIGN_HOSTS" >>{seen}
for i in $(head -n 2 "$2"); do "$1/shard" "$i"; done
exit 0""")
    path = plan(folder, "own", engine={"name": "./mine", "my-pool": "big", "hosts": ["a", "b"]},
                limits={"jobs": 5, "time": "2m"})
    run(halcyon, "campaign", path, status=(1,))
    check_same(expected, folder, "own")
    output = os.path.join(folder, "own")
    assert seen.read_text().splitlines() == [f"2|{output}|{output}/list|5|120|big|a,b"] * 3, seen.read_text()
    useless = write_program(pathlib.Path(folder) / "useless-engine", "echo no pool of that name; exit 2")
    done = run(halcyon, "campaign", plan(folder, "useless", engine={"name": useless}), status=(2,))
    assert "cannot be used: no pool of that name" in done.stderr, done.stderr
    idle = write_program(pathlib.Path(folder) / "idle-engine", "echo busy; exit 1")
    done = run(halcyon, "campaign", plan(folder, "idle", engine={"name": idle}, limits={"retries": 1}), status=(3,))
    assert "began no shard in 2 rounds; exit status 1: busy" in done.stderr, done.stderr


def check_other_commands(halcyon, folder):
    """conform and run as shards: as many verdicts as without."""
    source = pathlib.Path(__file__).resolve().parents[3]
    for command, keys, words in (
            ("conform", {}, ["--suite", "model"]),
            ("run", {"paths": [f"{source}/specs/corpus/conv_net.mod.py"]}, [f"{source}/specs/corpus/conv_net.mod.py"])):
        path = pathlib.Path(folder) / f"{command}.toml"
        options = '[options]\nsuite = ["model"]\n' if command == "conform" else ""
        path.write_text(f'command = "{command}"\ntargets = ["sim:cpu"]\nshards = 3\n' +
                        "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()) + options)
        run(halcyon, "campaign", path, status=(0,))
        db = os.path.join(folder, f"{command}-whole.db")
        run(halcyon, command, *words, "-d", "sim:cpu", "-q", "--db", db, status=(0,))
        assert digest(record(db)) == digest(record(os.path.join(folder, command, "merged.db"))), command


def check_probed_once(halcyon, folder):
    """The only target is asked once for all shards, which have the graphs of a run without shards; one that cannot be asked
    is asked by each shard, and reported."""
    path = pathlib.Path(folder) / "probed.toml"
    path.write_text('targets = ["sim:dsp"]\ncases = 60\nshards = 3\n[options]\nseed = 4\n')
    run(halcyon, "campaign", path, status=(0,))
    output, db = os.path.join(folder, "probed"), os.path.join(folder, "probed-whole.db")
    run(halcyon, "random", "-d", "sim:dsp", "--seed", "4", "--count", "60", "-q", "--db", db, status=(0,))
    assert digest(record(db)) == digest(record(os.path.join(output, "merged.db")))
    probed = os.path.join(folder, "probed.support")
    run(halcyon, "probe", "sim:dsp", "-o", probed, status=(0,))
    with open(os.path.join(output, "support"), encoding="ascii") as ours, open(probed, encoding="ascii") as file:
        assert ours.read() == file.read()
    # A shard draws for the set of the folder: one that names another has other graphs.
    with sqlite3.connect(os.path.join(output, "merged.db")) as connection:
        before = {name for (name,) in connection.execute("SELECT name FROM cases")}
    os.unlink(os.path.join(output, "shards", "2.db"))
    run(halcyon, "probe", "sim:cpu", "-o", os.path.join(output, "support"), status=(0,))
    run(halcyon, "campaign", path, status=(0,))
    with sqlite3.connect(os.path.join(output, "merged.db")) as connection:
        after = {name for (name,) in connection.execute("SELECT name FROM cases")}
    assert len(before) == len(after) == 60 and len(before & after) == 40, (len(before), len(before & after))
    path = pathlib.Path(folder) / "silent.toml"
    path.write_text('targets = ["null"]\ncases = 6\nshards = 2\n')
    done = run(halcyon, "campaign", path, status=(0,))
    assert not os.path.exists(os.path.join(folder, "silent", "support")) and "cannot be asked" not in done.stderr, done.stderr
    path.write_text('targets = ["sim:dsp?fault=no-such-fault"]\ncases = 6\nshards = 2\noutput = "mute"\n')
    done = run(halcyon, "campaign", path, status=(2, 3))
    assert "cannot be asked here what it supports" in done.stderr, done.stderr


def as_json(halcyon, path, status):
    """The summary that --json prints, which is the whole of stdout."""
    line, = run(halcyon, "campaign", path, "--json", status=(status,)).stdout.splitlines()
    return json.loads(line)["summary"]


def counts(path):
    """Verdicts of the merged database, by target and verdict."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return {row[:2]: row[2] for row in db.execute(
            "SELECT uri, verdict, count(*) FROM verdicts JOIN targets USING (target) GROUP BY 1, 2")}


def check_json(halcyon, folder):
    """--json: counts as the database has them, shards that are missing, the stop rule, known failures."""
    path = plan(folder, "json", options={"seed": 7, "ops": "1-4", "no-shrink": True})
    done = run(halcyon, "campaign", path, "--dry-run", "--json", status=(0,))
    found = json.loads(done.stdout)["plan"]
    assert (found["cases"], found["shards"], found["done"], found["attempts"]) == (60, 6, 0, 3), found
    summary = as_json(halcyon, path, 1)
    expected = counts(os.path.join(folder, "json/merged.db"))
    assert {(t["target"], v): n for t in summary["targets"] for v, n in t.items() if v != "target"} == expected, summary
    assert summary["fail"] == summary["not_conforming"] == sum(b["verdicts"] for b in summary["buckets"]) > 0, summary
    assert (summary["ended"], summary["shards"], summary["done"], summary["missing"]) == ("complete", 6, 6, []), summary
    assert summary["merged"] == os.path.join(folder, "json/merged.db") and os.path.exists(summary["report"]), summary
    broken = write_program(pathlib.Path(folder) / "broken-two", f"""
case "$*" in *' 2/6 '*) echo bad memory; exit 3 ;; esac
exec {halcyon} "$@" """)
    summary = as_json(halcyon, plan(folder, "json-missing", engine={"program": broken}, limits={"retries": 0}), 3)
    assert summary["ended"] == "incomplete" and summary["done"] == 5 and summary["cases"] == 50, summary
    assert summary["missing"] == [{"shard": 2, "status": 3, "printed": "bad memory"}], summary
    summary = as_json(halcyon, plan(folder, "json-stopped", cases=4000, shards=400, stop={"max_buckets": 1}, limits={"jobs": 1},
                                    options={"ops": "1-2", "op": ["CONV_2D"]}), 1)
    assert summary["ended"] == "stop.max_buckets" and len(summary["buckets"]) > 0, summary
    assert summary["done"] + len(summary["missing"]) + summary["not_begun"] == 400 and summary["not_begun"] > 300, summary
    useless = write_program(pathlib.Path(folder) / "no-driver", "echo no such driver; exit 2")
    summary = as_json(halcyon, plan(folder, "json-useless", shards=2, engine={"program": useless}), 2)
    assert summary["done"] == 0 and "merged" not in summary and len(summary["missing"]) == 2, summary


def check_unloaded(halcyon, folder):
    """Files that cannot be loaded: exit status 2 as of halcyon run, unless skip-bad is given."""
    source, models = pathlib.Path(__file__).resolve().parents[3], pathlib.Path(folder) / "models"
    models.mkdir()
    shutil.copy(source / "tests/cli/data/add.mod.py", models)
    shutil.copy(source / "tests/cli/data/broken.mod.py", models)
    for name, more, status in (("unloaded", "", 2), ("skipped", "skip-bad = true\n", 0), ("sums", "", 2)):
        path = pathlib.Path(folder) / f"{name}.toml"
        path.write_text('command = "run"\ntargets = ["sim:cpu"]\npaths = ["models"]\nshards = 2\n'
                        f"summary = {str(name == 'sums').lower()}\n[options]\n{more}")
        done = run(halcyon, "campaign", path, status=(status,))
        assert done.stdout.count("models/broken.mod.py:2: invalid syntax") == 1, done.stdout
        files = as_json(halcyon, path, status)["unloaded"]
        assert [file["file"] for file in files] == ["models/broken.mod.py"], files
    run(halcyon, "run", "models", "-d", "sim:cpu", "-q", "--db", os.path.join(folder, "files.db"), status=(2,), cwd=folder)


def check_baselines(halcyon, folder):
    """What a run holds against a baseline decides the exit status of a campaign, too: also what no shard sees."""
    wrong = TARGETS[1]
    options = {"seed": 7, "ops": "1-4", "no-shrink": True, "no-probe": True, "baseline": "b.baseline"}
    words = ["random", "-d", wrong, "--seed", 7, "--ops", "1-4", "--no-shrink", "--no-probe", "--count", 60, "-q"]
    db = os.path.join(folder, "held.db")
    run(halcyon, *words, "--db", db, status=(1,))
    run(halcyon, "baseline", "--db", db, "-o", os.path.join(folder, "b.baseline"), status=(0,))
    baseline = pathlib.Path(folder) / "b.baseline"
    exact = baseline.read_text()
    failing = len(re.findall(r"^fail ", exact, re.M))
    for name, text, status, whole in (
            ("expected", exact, 0, True),
            ("stale", exact + "fail random/v2/ops=1-4/s7/i1 reason=\"was wrong\"\n", 1, True),
            ("changed", re.sub(r"op=\w+", "op=ABS", exact), 1, True),
            ("glob", exact + "fail random/v2/ops=1-4/s7/i1? reason=\"were wrong\"\n", 1, False)):
        baseline.write_text(text)
        run(halcyon, *words, "--baseline", baseline, "--db", os.path.join(folder, f"held-{name}.db"), status=(status,))
        for summary in (False, True):
            file = plan(folder, f"held-{name}-{summary}", options=options, root={"summary": summary})
            file.write_text(re.sub("targets = .*", f'targets = ["{wrong}"]', file.read_text()))
            # Globs that match in several shards are not held against any of them, and summaries keep no verdicts.
            expected = status if whole or not summary else 0
            for _ in range(2):
                found = as_json(halcyon, file, expected)
                assert found["not_conforming"] == (failing if name == "changed" else 0), (name, found)
                assert bool(found.get("findings")) == (summary and expected == 1), (name, found)
    baseline.write_text("nonsense\n")
    done = run(halcyon, "campaign", file, status=(2,))
    assert "b.baseline" in done.stderr, done.stderr


def run_until(halcyon, path, shards):
    """Runs the campaign of a plan until so many shards are done, and interrupts it."""
    done = path.parent / "stop/shards"
    process = subprocess.Popen([halcyon, "campaign", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(list(done.glob("*.db"))) >= shards, f"{shards} shards", LIMIT_SECONDS)
    process.terminate()
    assert process.wait(LIMIT_SECONDS) == 128 + signal.SIGTERM, process.returncode


def check_stop_rules(halcyon, folder):
    """Each rule ends the campaign before its last shard, with the record of those that are done. The one of time ends
    the continuation of a campaign: how much is done does not depend on how fast this machine is."""
    one_op = {"op": ["ADD"], "ops": "1-1", "types": "TENSOR_FLOAT32", "no-shrink": True}
    for rule, options, before in (({"max_buckets": 1}, {"ops": "1-2", "op": ["CONV_2D"]}, 0),
                                  ({"for": "1s"}, one_op, 3), ({"coverage": 3}, one_op, 0)):
        word, output = next(iter(rule)), pathlib.Path(folder) / "stop"
        tables = {"cases": 4000, "shards": 400, "limits": {"jobs": 1}, "options": options}
        if before:
            run_until(halcyon, plan(folder, "stop", **tables), before)
        done = run(halcyon, "campaign", plan(folder, "stop", stop=rule, **tables))
        n = len(list((output / "shards").glob("*.db")))
        assert max(before, 1) <= n < 400 and f"ended by stop.{word}: {n} of 400 shards" in done.stdout, (n, done.stdout)
        assert len({row[0] for row in record(output / "merged.db")}) == 10 * n
        assert not shard_processes(str(output))
        shutil.rmtree(output)


@contextlib.contextmanager
def served(halcyon, target, path):
    process = subprocess.Popen([halcyon, "serve", target, "--listen", f"unix:{path}"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.path.exists(path), "a service")
        yield
    finally:
        process.terminate()
        process.wait(60)


def check_corpus(halcyon, folder):
    """Failures enter the corpus; later campaigns replay them first, and tell which were mended in between."""
    if "\ncorpus DIR" not in run(halcyon, "db", "--help").stdout:
        print("corpus: NOT CHECKED: this halcyon has no 'db corpus'")
        return
    path = os.path.join(folder, "socket")
    bad, good = "sim:cpu?fault=last-tap-dropped", "sim:cpu"
    for name, target, status, words in (
            ("one", bad, 1, None), ("two", bad, 1, r"do not conform, 0 of them anew; 0 are mended"),
            ("three", good, 0, r": 0 do not conform, 0 of them anew; [1-9]\d* are mended"),
            ("four", bad, 1, r"do not conform, [1-9]\d* of them anew; 0 are mended")):
        with served(halcyon, target, path):
            file = plan(folder, name, cases=40, shards=2, options={"op": ["CONV_2D"], "ops": "1-1"},
                        root={"corpus": "corpus"})
            file.write_text(re.sub("targets = .*", f'targets = ["unix:{path}"]', file.read_text()))
            done = run(halcyon, "campaign", file, status=(status,))
            known = as_json(halcyon, file, status)["corpus"]
        assert known["failing"] == len(known["failures"]) >= known["anew"] and (known["anew"] > 0) == (name == "four"), known
        assert bool(words) == ("corpus:" in done.stdout) and re.search(words or "", done.stdout), (name, done.stdout)
        assert ("fails anew" in done.stdout) == (name == "four"), done.stdout
    assert list(pathlib.Path(folder, "corpus").glob("*/*.mod.py"))


# ---- kill -9


def wait_for(holds, what, seconds=120):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"not in {seconds} s: {what}"
        time.sleep(0.02)


def processes():
    """(pid, parent, command line) of each."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield int(pid), parent, command


def shard_processes(output):
    """The script of a shard, its timeout, halcyon and its workers."""
    return [pid for pid, _, command in processes() if f"{output}/shard" in command]


def below(pid):
    """A process and all its descendants."""
    children = {}
    for child, parent, _ in processes():
        children.setdefault(parent, []).append(child)
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def check_kills(halcyon, path, expected, n, generator, environment=None, more=lambda: []):
    """Kills n processes; starts the campaign again when it was one of them. more(): of an engine's own."""
    output, process, killed = str(path)[:-len(".toml")], None, {"campaign": 0, "engine": 0, "shard": 0}
    while True:
        if process is None:
            process = subprocess.Popen([halcyon, "campaign", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       text=True, env=environment, start_new_session=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(generator.uniform(0, 1.5) if sum(killed.values()) < n else LIMIT_SECONDS)
        if process.poll() is not None and process.returncode != -signal.SIGKILL:
            break
        shards = shard_processes(output)
        of_engine = [pid for pid in below(process.pid)[1:] if pid not in shards] + more()
        kind = generator.choice(["campaign", "engine", "shard", "shard"])
        victims = {"campaign": [process.pid], "engine": of_engine, "shard": shards}[kind]
        if sum(killed.values()) >= n or not victims:
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(generator.choice(victims), signal.SIGKILL)
            killed[kind] += 1
        if kind == "campaign":
            process.communicate(timeout=LIMIT_SECONDS)
            process = None
    _, err = process.communicate()
    assert process.returncode == 1, (process.returncode, err)
    check_same(expected, path.parent, path.name[:-len(".toml")])
    wait_for(lambda: not shard_processes(output), "no orphan is left")
    print(f"{path.name}: killed {', '.join(f'{n} {what}' for what, n in killed.items())}; the same record")


# ---- engines


@contextlib.contextmanager
def dask_cluster(folder, n):
    """A scheduler and n workers; yields its address and the processes."""
    port, = slurm_node.free_ports(1)
    commands = [["/usr/bin/dask-scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]]
    commands += [["/usr/bin/dask-worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard", "--nanny",
                  "--local-directory", folder]] * n
    started = []
    try:
        for command in commands:
            with open(os.path.join(folder, f"dask{len(started)}.out"), "w", encoding="utf-8") as log:
                started.append(subprocess.Popen(["/usr/bin/python3", *command], stdout=log, stderr=log, cwd=folder,
                                                start_new_session=True))
        yield f"tcp://127.0.0.1:{port}", started
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def absent(engine):
    """Why an engine cannot be checked here; None: it can."""
    if engine == "dask":
        found = subprocess.run(["/usr/bin/python3", "-c", "import distributed"], capture_output=True, check=False)
        return found.returncode and "python3-distributed is not installed"
    if engine == "slurm":
        return slurm_node.missing()
    return None if shutil.which("parallel") else "parallel is not installed"


@contextlib.contextmanager
def engine_here(engine, folder):
    """Yields the [engine] table, the environment, and a function that lists processes of the engine."""
    os.makedirs(folder)
    if engine == "dask":
        with dask_cluster(folder, 2) as (address, started):
            yield {"name": "dask", "scheduler": address}, None, lambda: below(started[1].pid)[1:]
    elif engine == "slurm":
        with slurm_node.slurm_node(os.path.join(folder, "node")) as environment:
            yield {"name": "slurm"}, environment, lambda: []
    else:
        yield {"name": engine}, None, lambda: []


def check_engine(halcyon, folder, engine, n, generator):
    cases = 60 if n < 10 else 1000
    expected, _ = whole_run(halcyon, folder, cases)
    with engine_here(engine, os.path.join(folder, "engine")) as (table, environment, more):
        path = plan(folder, cases=cases, engine=table)
        run(halcyon, "campaign", path, status=(1,), env=environment)
        check_same(expected, folder)
        print(f"{engine}: the same record as without shards")
        path = plan(folder, "killed", cases=cases, shards=6 if n < 10 else 40, engine=table,
                    limits={"retries": 100, "jobs": 2, "time": "5m"})
        check_kills(halcyon, path, expected, n, generator, environment, more)


# ---- many cases


def check_equal(halcyon, folder, cases, shards):
    limit = LIMIT_SECONDS + cases // 50
    expected, seconds = whole_run(halcyon, folder, cases, limit)
    expected = digest(expected)
    print(f"without shards: {seconds:.1f} s, {cases / seconds:.0f} cases/s, digest {expected}", flush=True)
    for engine in ("local", "dask", "slurm", "parallel"):
        reason = engine != "local" and absent(engine)
        if reason:
            print(f"{engine}: NOT RUN: {reason}")
            continue
        with engine_here(engine, os.path.join(folder, f"engine-{engine}")) as (table, environment, _):
            begin = time.monotonic()
            run(halcyon, "campaign", plan(folder, engine, cases=cases, shards=shards, engine=table), status=(0, 1),
                env=environment, limit=limit)
            seconds = time.monotonic() - begin
        found = digest(record(os.path.join(folder, engine, "merged.db")))
        print(f"{engine}: {seconds:.1f} s, {cases / seconds:.0f} cases/s, digest {found}", flush=True)
        assert found == expected, engine
        shutil.rmtree(os.path.join(folder, engine))


def check_local(halcyon, folder):
    expected, _ = whole_run(halcyon, folder, 60)
    assert len(expected) == 120
    check_end(halcyon, folder, expected)
    check_dry_run(halcyon, folder)
    check_lock(halcyon, folder, expected)
    check_interrupt(halcyon, folder, expected)
    check_missing(halcyon, folder)
    check_time_limit(halcyon, folder)
    check_own_engine(halcyon, folder, expected)


def main():
    halcyon, what, *numbers = sys.argv[1:]
    halcyon, numbers = os.path.abspath(halcyon), [int(word) for word in numbers]
    seed = int(os.environ.get("CHECK_SEED", "1"))
    generator = random.Random(seed)
    reason = what in ("dask", "slurm", "parallel") and absent(what)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    folder = tempfile.mkdtemp(prefix="halcyon-campaigns-")
    try:
        if what == "local":
            check_local(halcyon, folder)
        elif what == "rules":
            check_stop_rules(halcyon, folder)
            check_corpus(halcyon, folder)
        elif what == "commands":
            check_other_commands(halcyon, folder)
            check_probed_once(halcyon, folder)
            check_json(halcyon, folder)
            check_unloaded(halcyon, folder)
            check_baselines(halcyon, folder)
        elif what == "kills":
            check_engine(halcyon, folder, "local", numbers[0], generator)
        elif what == "equal":
            check_equal(halcyon, folder, *numbers)
        else:
            check_engine(halcyon, folder, what, numbers[0], generator)
    except BaseException:
        print(f"seed {seed}; the files: {folder}")
        raise
    shutil.rmtree(folder)


main()
