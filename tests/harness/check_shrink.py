#!/usr/bin/env python3
"""Shrinks failing random graphs: check_shrink.py HALCYON.

The results are small, fail in the same way when they are loaded and run alone, are the same in every run, and
respect the number of executions; campaigns give failures that are alike one bucket."""
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

# Fault, options of the graphs, verdict, most operations, most elements of an operand, line of the result.
CASES = [
    ("dilation-ignored", "/op=CONV_2D", "fail", 1, 4, r"dilation_\w+ = .*\[2\]"),
    ("activation-lost", "", "fail", 1, 1, r"activation = .*\[[123]\]"),
    ("zero-point-ignored", "", "fail", 1, 4, "QUANT8"),
    ("padding-off-by-one", "/op=TRANSPOSE_CONV_2D", "fail", 1, 4, "output_shape|padding"),  # shape in a constant
    ("branches-swapped", "/op=IF", "fail", 1, 2, r'Operation\("IF"'),
    ("in-place", "", "fail", 2, 16, "main.Operation.*\nmain.Operation"),
    ("refused-late", "", "refused", 1, 4, "main.Operation"),
    ("crash", "", "crash", 1, 4, "main.Operation"),
    ("zero-sized-fails", "", "refused", 1, 16, r"\[0[,\]]"),
]

# Fault, the plainest way of execution that finds it.
WAYS = [
    ("burst-wrong", "burst"),
    ("low-priority-wrong", "synchronous,low-priority"),
    ("thread-dependent", "synchronous,at-once=2"),
    ("copy-short", "synchronous,output-buffers"),
]


class Failure(Exception):
    pass


def require(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    require(r.returncode in (0, 1), command, "exits with", r.returncode, r.stderr)
    return r


def verdicts(halcyon, folder, target, *arguments):
    """Case and verdict of each failure."""
    r = run(halcyon, *arguments, "-d", target, "--json", "-j", "1", "--no-shrink", "--db", f"{folder}/found.db")
    lines = [json.loads(line) for line in r.stdout.splitlines()]
    return [(v["case"], v["verdict"]) for v in lines if v.get("verdict") not in (None, "pass", "undecided", "unsupported")]


def first_failure(halcyon, folder, target, options):
    """The name of the first graph that fails; options: as in a name."""
    arguments = [f"--{o.replace('=', ' ')}" for o in options.strip("/").split("/") if o]
    found = verdicts(halcyon, folder, target, "random", "--no-probe", "--count", "300", "--max-failures", "1", *" ".join(arguments).split())
    require(found, target, "none of 300 graphs fails")
    return found[0][0]


def shrink(halcyon, case, target, path, *options):
    r = run(halcyon, "shrink", case, "-d", target, "-o", path, *options)
    sizes = re.match(r"(\d+) operations?, (\d+) elements? in the largest operand: (.*)\n(\d+) executions", r.stderr)
    require(sizes, "unexpected output:", r.stderr)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return int(sizes[1]), int(sizes[2]), sizes[3], int(sizes[4]), r.stderr, text


def check_case(halcyon, folder, fault, options, verdict, operations, elements, line):
    target = f"sim:cpu?fault={fault}"
    case = first_failure(halcyon, folder, target, options)
    path = f"{folder}/small.mod.py"
    n, size, bucket, _, _, text = shrink(halcyon, case, target, path)
    require(n <= operations and size <= elements, fault, case, f"{n} operations, {size} elements:\n", text)
    require(re.search(line, text), fault, case, "lacks", line, "\n", text)
    require(f"# Shrunk from {case}\n" in text and f"# target: {target}\n" in text, text)
    require(f"halcyon replay {case} -d '{target}'" in text, "no replay command in\n", text)
    require(bucket.startswith(verdict + " "), fault, bucket)
    again = verdicts(halcyon, folder, target, "run", path)
    require([v for _, v in again] == [verdict], fault, case, "is then", again)
    require(not verdicts(halcyon, folder, "golden", "run", path), fault, case, "fails on golden\n", text)


def check_way(halcyon, folder, fault, way):
    """The way of execution stays, as plain as it can be; replay and explain use it, too."""
    target = f"sim:cpu?fault={fault}"
    path = f"{folder}/way.mod.py"
    case = first_failure(halcyon, folder, target, "/ways=1/seed=2")
    _, _, bucket, _, _, text = shrink(halcyon, case, target, path)
    require(bucket.endswith(" in the way " + way.split("=")[0]), fault, case, bucket)
    require(f"halcyon run {path} -d '{target}' --ways {way}\n" in text, "no command with the way in\n", text)
    require(verdicts(halcyon, folder, target, "run", path, "--ways", way), fault, way, "conforms\n", text)
    require(not verdicts(halcyon, folder, target, "run", path), fault, "fails plainly\n", text)
    for command in ("replay", "explain"):
        out = run(halcyon, command, case, "-d", target).stdout
        require("executed in another way (" in out, command, case, "does not name the way:\n", out)
    out = run(halcyon, "explain", path, "-d", target, "--ways", way).stdout
    require(f"executed in another way ({way})" in out, "explain does not name", way, "\n", out)


MUST_FAIL = """
rows = Input("rows", "TENSOR_INT32", "{3}")
table = Input("table", "TENSOR_FLOAT32", "{4, 5}")
row, relu = Internal("row", "TENSOR_FLOAT32", "{3, 5}"), Output("relu", "TENSOR_FLOAT32", "{3, 5}")
model = Model().Operation("EMBEDDING_LOOKUP", rows, table).To(row).Operation("RELU", row).To(relu)
Example({rows: [1, 9, 0], table: [1.0] * 20, relu: [0.0] * 15}, model=model).ExpectFailure().DisableLifeTimeVariation()
"""


def check_must_fail(halcyon, folder):
    """A request that must fail, by an index that is too large."""
    target = "sim:cpu?fault=failure-as-success"
    path, small = f"{folder}/must_fail.mod.py", f"{folder}/small_must_fail.mod.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(MUST_FAIL)
    n, size, structure, _, _, text = shrink(halcyon, path, target, small)
    require(n == 1 and size <= 15, f"{n} operations, {size} elements:\n", text)
    require(structure == "violation to reject EMBEDDING_LOOKUP(TENSOR_INT32)", structure)
    require("ExpectFailure()" in text and "{lookups: [0, 1, 0]" in text, text)
    require([v for _, v in verdicts(halcyon, folder, target, "run", small)] == ["violation"], "conforms\n", text)
    require(not verdicts(halcyon, folder, "golden", "run", small), "fails on golden\n", text)


def check_budget(halcyon, folder):
    target = "sim:cpu?fault=last-tap-dropped"
    path = f"{folder}/budget.mod.py"
    case = first_failure(halcyon, folder, target, "")
    whole = shrink(halcyon, case, target, path)
    again = shrink(halcyon, case, target, path)
    require(whole[:4] + whole[5:] == again[:4] + again[5:], "two runs differ:", whole, again)
    n, _, _, executions, text, _ = shrink(halcyon, case, target, path, "--executions", "12")
    require(executions < whole[3] and executions <= 12 + 4, executions, "executions, expected about 12")
    require("are used up" in text, text)
    require(verdicts(halcyon, folder, target, "run", path), "a case that is shrunk in part conforms")


def check_buckets(halcyon, folder):
    target = "sim:cpu?fault=weight-off"
    db = f"{folder}/buckets.db"
    r = run(halcyon, "random", "-d", target, "--op", "CONV_2D", "--types", "TENSOR_FLOAT32", "--count", "80", "--db", db, "-j", "2")
    require("failures by shrunk case:" in r.stdout, r.stdout)
    rows = sqlite3.connect(db).execute(
        "SELECT bucket, count(*), count(shrunk) FROM details WHERE NOT conforming GROUP BY 1").fetchall()
    require(len(rows) == 1 and rows[0][0] == "fail CONV_2D(TENSOR_FLOAT32)", rows)
    require(rows[0][1] > rows[0][2] > 0, "a bucket that is known is shrunk again:", rows)
    table = subprocess.run([halcyon, "db", "export", "verdicts", "--db", db], capture_output=True, text=True, check=True)
    text = next(row["shrunk"] for row in csv.DictReader(table.stdout.splitlines(True)) if row["shrunk"])
    path = f"{folder}/stored.mod.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    require(verdicts(halcyon, folder, target, "run", path), "the stored case conforms:\n", text)
    db = f"{folder}/any.db"
    run(halcyon, "random", "-d", "sim:cpu?fault=crash", "--count", "12", "--db", db)
    rows = sqlite3.connect(db).execute("SELECT DISTINCT bucket FROM details WHERE NOT conforming").fetchall()
    require(rows == [("crash ADD(TENSOR_FLOAT32)",)], "a crash in every execution has the buckets", rows)
    run(halcyon, "random", "-d", target, "--count", "20", "--db", f"{folder}/none.db", "-q", "--no-shrink")
    n = sqlite3.connect(f"{folder}/none.db").execute("SELECT count(bucket) FROM verdicts").fetchone()[0]
    require(n == 0, "--no-shrink writes buckets")


def check_shared_cause(halcyon, folder):
    """A mistake of several operations has one bucket."""
    db = f"{folder}/shared.db"
    run(halcyon, "random", "-d", "sim:cpu?fault=activation-lost", "--no-probe", "--op", "ADD,CONV_2D,MAX_POOL_2D,SUB",
        "--types", "TENSOR_FLOAT32", "--ops", "1-1", "--count", "60", "--db", db, "-q")
    rows = sqlite3.connect(db).execute("SELECT bucket, count(*) FROM failures GROUP BY 1").fetchall()
    require(len(rows) == 1 and rows[0][0] == "fail ADD, CONV_2D, MAX_POOL_2D, SUB(TENSOR_FLOAT32; activation): activation-ignored", rows)


def main():
    halcyon = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        checks = [(check_case, case) for case in CASES] + [(check_way, way) for way in WAYS] + [(check, ()) for check in (check_must_fail, check_budget, check_buckets, check_shared_cause)]
        for check, arguments in checks:
            try:
                check(halcyon, folder, *arguments)
            except Failure as failure:
                print(f"{check.__name__} {arguments[:1]}: {failure}")
                failed += 1
    print(f"{len(checks) - failed} of {len(checks)} pass")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
