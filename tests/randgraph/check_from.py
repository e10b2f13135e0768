#!/usr/bin/env python3
"""Mutates specifications: check_from.py HALCYON SPECS CORPUS.

Nearly all mutations run on sim:cpu and pass; all are other models; they are the same for each number of workers. A
fault that a specification does not show is found by mutations of it, and what is found can be repeated by its name.
SPECS: a folder of specifications. CORPUS: the public corpus, which is skipped where it does not exist."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

# One operation with trivial attributes: a defect of strides, activations or dilations does not show.
PLAIN = """\
x = Input("x", ("TENSOR_FLOAT32", [1, 6, 5, 2]))
w = Parameter("w", ("TENSOR_FLOAT32", [3, 2, 2, 2]), [0.5, -1, 0.25, 2, 1, 1.5, -0.5, 0.75, 1, 2, 3, -1,
                                                        -2, 0.5, 0.25, 1, 1.25, -1, 0.5, 0.5, 2, -0.25, 1, 1])
b = Parameter("b", ("TENSOR_FLOAT32", [3]), [0.5, -0.25, 1])
y = Output("y", ("TENSOR_FLOAT32", [1, 5, 4, 3]))
model = Model().Operation("CONV_2D", x, w, b, 0, 0, 0, 0, 1, 1, 0, False, 1, 1).To(y)
Example(({x: [i / 8 - 3 for i in range(60)]}, {y: [0] * 60}))
"""
FAULTS = ["strides-exchanged", "activation-lost"]


class Failure(Exception):
    pass


def require(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


def run(*command, status=(0,), cwd=None):
    r = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    require(r.returncode in status, command, "exits with", r.returncode, r.stderr)
    return r


def campaign(halcyon, db, source, target, count, *options, status=(0, 1)):
    """Case and verdict of each mutation, in the order of the cases."""
    run(halcyon, "random", "--from", source, "-d", target, "--count", str(count), "--no-shrink", "-q", "--db", db,
        *options, status=status)
    base = sqlite3.connect(db)
    return base.execute("SELECT c.name, v.verdict FROM cases c JOIN verdicts v ON v.case_id = c.case_id "
                        "WHERE c.run = (SELECT max(run) FROM runs) ORDER BY c.ordinal").fetchall()


def check_runs(halcyon, folder, source, count):
    """At least 95 % pass, and nothing fails."""
    found = campaign(halcyon, f"{folder}/runs.db", source, "sim:cpu", count, status=(0,))
    require(len(found) == count, source, "has", len(found), "cases")
    passed = sum(verdict == "pass" for _, verdict in found)
    require(passed >= 0.95 * count, source, "only", passed, "of", count, "pass")
    return passed


def check_workers(halcyon, folder, source):
    """The same cases, drawn alike, with one worker and with three."""
    one, three = (campaign(halcyon, f"{folder}/j{n}.db", source, "sim:cpu?fault=bias-lost", 30, "-j", str(n))
                  for n in (1, 3))
    require(one == three, "other verdicts with another number of workers")
    specs = [sqlite3.connect(f"{folder}/j{n}.db").execute(
        "SELECT name, spec FROM cases WHERE spec NOT NULL ORDER BY ordinal").fetchall() for n in (1, 3)]
    require(specs[0] and specs[0] == specs[1], "other specifications with another number of workers")


def verdict_of(r):
    """What replay prints, without commands and times."""
    return [re.sub(r"  [0-9.]+ ms$", "", line) for line in r.stdout.splitlines()
            if "halcyon" not in line and not re.match(r"\d+ case", line)]


def check_fault(halcyon, folder, source, fault):
    """The specification passes; some of its mutations fail, and can be repeated with and without it."""
    target, db = f"sim:cpu?fault={fault}", f"{folder}/{fault}.db"
    r = run(halcyon, "run", source, "-d", target, "--judge", "bound", "--db", f"{folder}/plain.db", "--json")
    require('"fail":0' in r.stdout, fault, "shows without a mutation")
    failed = [name for name, verdict in campaign(halcyon, db, source, target, 60) if verdict == "fail"]
    require(failed, fault, "is not found")
    stored = run(halcyon, "replay", failed[0], "--db", db, "-d", target, status=(1,))
    drawn = run(halcyon, "replay", failed[0], "--from", source, "-d", target, cwd=folder, status=(1,))
    require("using the spec stored" in stored.stderr and not drawn.stderr, stored.stderr, drawn.stderr)
    require(verdict_of(stored) == verdict_of(drawn), "the stored case differs from the mutation")
    return failed[0]


def check_failed(halcyon, db, source, folder):
    """--failed repeats the failures by the recorded path; a file that has changed is an error."""
    repeat = [halcyon, "random", "--failed", "last", "--db", db, "--no-shrink", "-q", "--json"]
    summary = json.loads(run(*repeat, status=(1,)).stdout.splitlines()[-1])["summary"]
    require(summary["fail"] == summary["cases"] > 0, "repeats other cases:", summary)
    with open(source, "a", encoding="utf-8") as file:
        file.write("Example(({x: [1] * 60}, {y: [0] * 60}))\n")
    r = run(*repeat, status=(2,))
    require("has changed" in r.stderr, r.stderr)


def check(halcyon, specs, corpus, folder):
    source = f"{folder}/plain.mod.py"
    with open(source, "w", encoding="utf-8") as file:
        file.write(PLAIN)
    check_workers(halcyon, folder, source)
    for fault in FAULTS:
        name = check_fault(halcyon, folder, source, fault)
        print(f"{fault}: {name}")
    check_failed(halcyon, f"{folder}/{FAULTS[-1]}.db", source, folder)
    for path in [source, *(f"{specs}/{name}" for name in ("quant8_net.mod.py", "shapes.mod.py", "choice.mod.py"))]:
        print(f"{os.path.basename(path)}: {check_runs(halcyon, folder, path, 40)} of 40 pass")
    public = f"{corpus}/V1_0.jsonl.xz"
    if os.path.exists(public):
        print(f"{os.path.basename(public)}: {check_runs(halcyon, folder, public, 200)} of 200 pass")
    else:
        print(f"skipped: {public} does not exist")


def main():
    halcyon, specs, corpus = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(os.path.abspath(halcyon), specs, corpus, folder)
        except Failure as failure:
            sys.exit(f"FAIL: {failure}")


if __name__ == "__main__":
    main()
