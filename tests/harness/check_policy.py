"""Baselines, files for other programs and the comparison of runs, on databases of real runs that SQL changes: what
they say is compared with what Python's own readers, sqlite3 and statistics make of the same verdicts.

    check_policy.py HALCYON
"""

import contextlib
import csv
import io
import json
import math
import os
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HALCYON = os.path.abspath(sys.argv[1])
FAULT = "sim:cpu?fault=last-tap-dropped"
CONFORMING = {"pass", "unsupported", "waived", "undecided"}
HOSTILE = 'x <b>&"\'#1 \\ ,;\n=cmd()\x1b[31m \u202e ]]>'
SHOWN = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
ONE_LINE = SHOWN.replace("\n", "\\n")
CASE = []  # what the names of the cases of seed 1 begin with
failed = []


def check(what, found, expected):
    if found != expected:
        failed.append(what)
        print(f"{what}: found {found!r}, expected {expected!r}")


def check_text(what, found, *expected):
    for text in expected:
        if text not in found:
            failed.append(what)
            print(f"{what}: expected {text!r} in {found!r}")


def run(*arguments):
    done = subprocess.run([HALCYON, *arguments], capture_output=True, text=True, timeout=120, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def query(db, sql, *values):
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        return connection.execute(sql, values).fetchall()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- files for other programs


def read_tap(text):
    """The test points of TAP 14: number, ok, description, directive, reason, YAML block of JSON scalars."""
    lines = text.split("\n")
    check("TAP: first line and last", (lines[0], lines[-1]), ("TAP version 14", ""))
    plan = re.fullmatch(r"1\.\.(\d+)", lines[1])
    points, block = [], None
    for line in lines[2:-1]:
        if block is not None:
            if line == "  ...":
                block = None
            else:
                key, value = re.fullmatch(r"  (\w+): (.*)", line).groups()
                block[key] = json.loads(value)
        elif line == "  ---":
            block = points[-1]["block"]
        else:
            ok, number, rest = re.fullmatch(r"(ok|not ok) (\d+) - (.*)", line).groups()
            parts = re.split(r"(?<!\\)(?:\\\\)* # ", rest, maxsplit=1)
            directive, _, reason = parts[1].partition(" ") if len(parts) > 1 else ("", "", "")
            points.append({"ok": ok == "ok", "description": unescape(parts[0]), "directive": directive,
                           "reason": unescape(reason), "block": {}})
            check("TAP: numbers", int(number), len(points))
    check("TAP: plan", int(plan.group(1)), len(points))
    return points


def unescape(text):
    return re.sub(r"\\([\\#])", r"\1", text)


def prepare_exports(here):
    """A database with every kind of verdict, hostile texts, and a file that could not be loaded."""
    db = os.path.join(here, "e.db")
    run("random", "--no-probe", "-d", FAULT, "-d", "sim:dsp", "--count", "30", "--db", db)
    for verdict, name in (("crash", "1"), ("hang", "2"), ("violation", "3"), ("error", "4")):
        query(db, "UPDATE verdicts SET verdict = ?, why = ?, printed = ?, backtrace = ?, confirmed = 'repeats' WHERE "
              "target = 1 AND case_id = (SELECT case_id FROM cases WHERE name = ?)",
              verdict, HOSTILE, HOSTILE, HOSTILE, CASE[0] + name)
    query(db, "UPDATE verdicts SET verdict = 'waived', was = 'fail', why = ? WHERE target = 1 AND case_id = "
          "(SELECT case_id FROM cases WHERE name = ?)", HOSTILE, CASE[0] + "5")
    query(db, "UPDATE cases SET name = ? WHERE name = ?", HOSTILE, CASE[0] + "0")
    query(db, "INSERT INTO unloaded_files VALUES (1, 0, ?, ?)", HOSTILE, HOSTILE)
    return db


def check_junit(path, rows, host):
    root = xml.etree.ElementTree.parse(path).getroot()
    suites = {suite.get("name"): suite for suite in root}
    check("JUnit: suites", list(suites), [FAULT, "sim:dsp", "files that could not be loaded"])
    found = {}
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in root:
        cases = suite.findall("testcase")
        counts = {"tests": len(cases), "failures": len(suite.findall("testcase/failure")),
                  "errors": len(suite.findall("testcase/error")), "skipped": len(suite.findall("testcase/skipped"))}
        check("JUnit: counts of " + suite.get("name"), {key: int(suite.get(key)) for key in counts}, counts)
        totals = {key: totals[key] + counts[key] for key in totals}
        for case in cases:
            result = next((part for part in case if part.tag in ("failure", "error", "skipped")), None)
            found[case.get("name"), suite.get("name")] = (
                result.tag if result is not None else "", result.get("message") if result is not None else "",
                case.findtext("system-out"), case.findtext("system-err"), float(case.get("time")))
    check("JUnit: totals", {key: int(root.get(key)) for key in totals}, totals)
    for name, target, verdict, _, why, ms, printed, backtrace in rows:
        tag = {"pass": "", "fail": "failure", "violation": "failure"}.get(
            verdict, "skipped" if verdict in CONFORMING else "error")
        shown = SHOWN if name == HOSTILE else name
        why = f"{verdict}: {why}".replace(HOSTILE, SHOWN) if tag else ""
        if tag != "skipped":
            texts = [text and SHOWN for text in (printed, backtrace)]
        else:
            texts = [None, None]
        check(f"JUnit: {name} on {target}", found[shown, target][:4], (tag, why, *texts))
        check("JUnit: time", math.isclose(found[shown, target][4], ms / 1e3, abs_tol=1e-6), True)
    properties = {p.get("name"): p.get("value") for p in suites["sim:dsp"].iter("property")}
    check("JUnit: properties", (properties["target"], properties["HAL version"], properties["seed"],
                                json.loads(properties["options"])["count"], suites[FAULT].get("hostname")),
          ("sim:dsp", "fl7", "1", 30, host))
    check("JUnit: start", suites[FAULT].get("timestamp"), query(os.path.join(os.path.dirname(path), "e.db"),
                                                               "SELECT substr(started, 1, 19) FROM runs")[0][0])
    check("JUnit: file", found[SHOWN, "files that could not be loaded"][:2], ("error", SHOWN))


def check_exports(here):
    db = prepare_exports(here)
    files = {kind: os.path.join(here, "e." + kind) for kind in ("junit", "json-file", "tap", "csv")}
    code, out, err = run("report", "--db", db, "--run", "1",
                         *[text for kind, path in files.items() for text in ("--" + kind, path)])
    check("report without a folder", (code, out, err), (0, "", ""))
    rows = query(db, "SELECT name, uri, verdict, was, why, ms, printed, backtrace FROM details "
                 "ORDER BY target_ordinal, ordinal")
    check("verdicts of the database", {row[2] for row in rows},
          {"pass", "fail", "crash", "hang", "violation", "error", "waived", "unsupported"})
    check_junit(files["junit"], rows, None)

    document = json.loads(read(files["json-file"]))
    check("JSON: verdicts", [(v["case"], v["target"], v["verdict"], v.get("was"), v["why"]) for v in document["verdicts"]],
          [row[:5] for row in rows])
    check("JSON: output", [(v.get("printed"), v.get("backtrace")) for v in document["verdicts"]],
          [(row[6], row[7]) for row in rows])
    check("JSON: run", (document["run"]["options"]["seed"], [t["uri"] for t in document["targets"]]),
          ("1", [FAULT, "sim:dsp"]))
    check("JSON: totals", [t["totals"]["pass"] for t in document["targets"]],
          [sum(row[1] == uri and row[2] == "pass" for row in rows) for uri in (FAULT, "sim:dsp")])
    check("JSON: files", document["unloaded"], [{"file": HOSTILE, "why": HOSTILE}])

    with open(files["csv"], encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, strict=True))
    check("CSV: verdicts", [(v["case"], v["target"], v["verdict"], v["was"] or None, v["why"], v["printed"])
                            for v in table],
          [tuple(SHOWN if text == HOSTILE else text for text in row[:5]) + ((SHOWN if row[6] else ""),)
           for row in rows])
    check("CSV: ratios", [float(v["ratio"]) for v in table if v["ratio"]],
          [row[0] for row in query(db, "SELECT ratio FROM details WHERE output IS NOT NULL ORDER BY target_ordinal, "
                                   "ordinal")])

    points = read_tap(read(files["tap"]))
    expected = [(row[2] in CONFORMING and row[2] != "waived", f"{row[1]}: {row[0].replace(HOSTILE, ONE_LINE)}",
                 {"waived": "TO" + "DO", "unsupported": "SKIP"}.get(row[2], "")) for row in rows]
    check("TAP: points", [(p["ok"], p["description"], p["directive"]) for p in points],
          expected + [(False, "load: " + ONE_LINE, "")])
    check("TAP: reasons", [p["reason"] for p in points if p["directive"]],
          [row[4].replace(HOSTILE, ONE_LINE) for row in rows if row[2] in ("waived", "unsupported")])
    check("TAP: output", [p["block"].get("printed") for p in points[:30] if not p["ok"]],
          [SHOWN if row[6] else None for row in rows[:30] if row[2] not in ("pass", "unsupported")])

    # A run writes all of them itself, with its host.
    path = os.path.join(here, "r.xml")
    check("exit status", run("random", "-d", "golden", "--count", "2", "--db", db, "--junit", path, "--csv",
                             os.path.join(here, "r.csv"))[0], 0)
    suite = xml.etree.ElementTree.parse(path).getroot()[0]
    check("host", suite.get("hostname"), socket.gethostname())
    code, _, err = run("random", "-d", "golden", "--junit", path, "--csv", path)
    check("one file for two formats", (code, err), (2, f"halcyon random: {path}: given for two formats\n"))


# ---- baselines


def random(here, target, *more, count="60"):
    code, out, err = run("random", "--no-probe", "-d", target, "--count", count, "--db", os.path.join(here, "b.db"), "--json", *more)
    lines = [json.loads(line) for line in out.splitlines()]
    if not lines:
        return code, {}, err, {}
    summary = lines[-1]["summary"]
    held = summary.get("baselines", [{}])[0]
    kinds = {}
    for finding in held.get("findings", []):
        kinds.setdefault(finding["kind"], []).append(finding)
    return code, summary, held, kinds


def index_of(name):
    return int(name.rsplit("/i", 1)[1])


def passing(rows):
    """The first case that is not among those that fail."""
    failing = {row[0] for row in rows}
    return next(name for name in (f"{CASE[0]}{i}" for i in range(60)) if name not in failing)


def check_baseline_run(here):
    db, path = os.path.join(here, "b.db"), os.path.join(here, "cpu.baseline")
    code, summary, _, _ = random(here, FAULT)
    check("a run without baseline", (code, summary["waived"]), (1, 0))
    rows = query(db, "SELECT name, coalesce(blamed_operation, operation) FROM failures WHERE run = 1 ORDER BY idx")
    check("baseline", run("baseline", "--db", db, "--run", "1", "-o", path)[0], 0)
    expected = "halcyon-baseline 1\ntarget " + FAULT + "\n\n" + "".join(
        f"fail        {name} op={operation}\n" for name, operation in rows)
    check("its text", read(path), expected)
    code, _, err = run("baseline", "--db", db, "--run", "1", "-o", path)
    check("an existing file", (code, "exists; --update rewrites it" in err, read(path)), (2, True, expected))

    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("a run as expected", (code, summary["waived"], held["expected"], kinds), (0, len(rows), len(rows), {}))
    check("its record", query(db, "SELECT count(*) FROM details WHERE run = 2 AND verdict = 'waived' AND was = 'fail' "
                              "AND why LIKE 'expected by %'"), [(len(rows),)])

    # Other classes, other targets, missing cases.
    first = rows[0][0]
    write(path, expected.replace(f"fail        {first} op=", f"fail        {first} op=NOT_"))
    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("another operation", (code, summary["fail"], [f["case"] for f in kinds["changed failure"]]), (1, 1, [first]))
    write(path, expected.replace(f"fail        {first} op=", f"crash       {first} op="))
    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("another verdict", (code, summary["fail"], list(kinds)), (1, 1, ["changed failure"]))
    write(path, expected)
    code, _, err, _ = random(here, "sim:cpu", "--baseline", path)
    check("a baseline of another target", (code, "is none of this run (sim:cpu)" in err), (2, True))
    write(path, expected.replace("target " + FAULT, "target sim:cpu*") + f"fail {CASE[0]}999\nfail spec/a/b\n")
    code, summary, held, kinds = random(here, "sim:cpu", "--baseline", path)
    check("without the fault", (code, summary["pass"], {kind: len(found) for kind, found in kinds.items()}),
          (0, 60, {"unexpected pass": len(rows), "missing case": 1}))
    check("missing case", kinds["missing case"][0]["entry"].split(), ["fail", CASE[0] + "999"])
    code, _, _, kinds = random(here, FAULT, "--baseline", path, "--shard", "1/2")
    check("part of a run", (code, kinds), (0, {}))
    return rows, expected


def check_waivers(here, rows, expected):
    db, path = os.path.join(here, "b.db"), os.path.join(here, "w.baseline")
    head, waiver = "halcyon-baseline 1\n", 'fail random/* reason="a # b" link=https://t/1'
    write(path, head + waiver + "\n")
    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("a waiver", (code, summary["waived"], held["expected"], kinds), (0, len(rows), len(rows), {}))
    check("its reason", query(db, "SELECT DISTINCT substr(why, 1, 5) FROM details WHERE run = "
                              "(SELECT max(run) FROM runs) AND verdict = 'waived'"), [("a # b",)])
    code, summary, held, kinds = random(here, "sim:cpu", "--baseline", path)
    check("a stale waiver", (code, summary["pass"], list(kinds)), (1, 60, ["stale waiver"]))
    code, _, _, kinds = random(here, "sim:cpu", "--baseline", path, "--shard", "1/2")
    check("a stale glob in a part of a run", (code, kinds), (0, {}))
    write(path, head + waiver + " until=9999-12-31\n")
    check("a waiver with a day", random(here, FAULT, "--baseline", path)[0], 0)
    write(path, head + waiver + " until=2001-01-01\n")
    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("an expired waiver", (code, summary["fail"], summary["waived"], list(kinds)),
          (1, len(rows), 0, ["expired waiver"]))
    check("what it covered", kinds["expired waiver"][0]["found"], f"{len(rows)} verdicts that it no longer covers")

    # Wrong numbers are no crash.
    write(path, head + "fail random/* reason=numbers\n")
    code, summary, held, kinds = random(here, "sim:cpu?fault=crash", "--baseline", path, count="4")
    check("a crash", (code, summary["crash"], summary["waived"]), (1, 4, 0))
    check("its findings", [f["found"].split()[0] for f in kinds["changed failure"]], ["crash"] * 4)
    write(path, head + "crash random/* reason=known\n")
    code, summary, held, kinds = random(here, "sim:cpu?fault=crash", "--baseline", path, count="4")
    check("a waiver of crashes", (code, summary["waived"], kinds), (0, 4, {}))

    # Skips, flakes, lost passes.
    name = rows[0][0]
    write(path, head + f"skip {name} reason=slow\npass|fail {passing(rows)}\nfail random/* reason=known\n")
    code, summary, held, kinds = random(here, FAULT, "--baseline", path)
    check("skip and flake", (code, held["skipped"], held["flakes"], held["expected"], kinds),
          (0, 1, 1, len(rows) - 1, {}))
    check("the skipped case", query(db, "SELECT verdict, was, stage, ms, checked FROM details WHERE name = ? AND run = "
                                    "(SELECT max(run) FROM runs)", name), [("waived", None, "none", 0.0, 0)])
    code, summary, held, kinds = random(here, "sim:dsp")
    unsupported = query(db, "SELECT name FROM details WHERE verdict = 'unsupported' AND run = "
                        "(SELECT max(run) FROM runs) ORDER BY idx")
    write(path, head + "pass random/*\n")
    code, summary, held, kinds = random(here, "sim:dsp", "--baseline", path)
    check("lost passes", (code, [(f["case"],) for f in kinds["lost pass"]]), (1, unsupported))
    write(path, head + "unsupported random/*\n")
    check("expected to be unsupported", random(here, "sim:dsp", "--baseline", path)[0], 0)

    # In text: what fails, and what does not.
    write(path, head + waiver + " until=2001-01-01\n" + f"fail {CASE[0]}999\n")
    code, out, _ = run("random", "--no-probe", "-d", FAULT, "--count", "60", "--baseline", path, "--db", db, "-q")
    check_text("the summary", out, f"baseline {path}: 0 expected failures, 0 verdicts of flakes, 0 skipped; "
               "1 expired waiver; 1 missing case\n", "    expired waiver: line 2: fail        random/* reason=\"a # b\" "
               f"link=https://t/1 until=2001-01-01: {len(rows)} verdicts that it no longer covers\n",
               f"    missing case: line 3: fail        {CASE[0]}999\n")


def check_update(here, rows, expected):
    db, path = os.path.join(here, "u.db"), os.path.join(here, "u.baseline")
    run("random", "--no-probe", "-d", FAULT, "--count", "60", "--db", db)
    text = expected.replace(f"fail        {rows[1][0]} ", f"# about it\nfail {rows[1][0]} ")
    write(path, text)
    again = text.replace(f"fail {rows[1][0]} ", f"fail        {rows[1][0]} ")
    for _ in range(2):
        check("update", run("baseline", "--update", path, "--db", db), (0, f"{path}: 0 added, 0 changed, 0 removed\n", ""))
        check("its text", read(path), again)
    case = "(SELECT case_id FROM cases WHERE name = ?)"
    query(db, "UPDATE verdicts SET verdict = 'crash', stage = 'execute', operation = NULL, blamed_operation = NULL "
          "WHERE case_id = " + case, rows[1][0])
    query(db, "UPDATE verdicts SET verdict = 'pass' WHERE case_id = " + case, rows[2][0])
    refused = passing(rows)
    query(db, "UPDATE verdicts SET verdict = 'refused', stage = 'prepare', status = 'GENERAL_FAILURE', operation = NULL "
          "WHERE case_id = " + case, refused)
    code, out, _ = run("baseline", "--check", path, "--db", db)
    check("check", code, 1)
    check_text("check", out, f"crash       {rows[1][0]}  {FAULT}\n", f"refused     {refused}  {FAULT}\n",
               "; 1 changed failure; 1 unexpected pass\n", "2 failures that no baseline expects\n",
               f"    changed failure: {rows[1][0]} on {FAULT}: crash stage=execute status=NONE; line ")
    code, out, _ = run("baseline", "--check", path, "--db", db, "--json")
    check("check as JSON", (code, json.loads(out)["unexpected_failures"]), (1, 2))
    check("update", run("baseline", "--update", path, "--db", db)[:2], (0, f"{path}: 1 added, 1 changed, 1 removed\n"))
    check_text("its text", read(path), f"# about it\ncrash       {rows[1][0]} stage=execute\n",
               f"\n\nrefused     {refused} stage=prepare status=GENERAL_FAILURE\n")
    check("nothing is left of a case that passes", rows[2][0] + " " in read(path), False)
    check("check after the update", run("baseline", "--check", path, "--db", db)[0], 0)
    write(path, f"halcyon-baseline 1\nfail {rows[1][0]} reason=known\nfail random/*\n")
    code, out, err = run("baseline", "--update", path, "--db", db)
    check("a waiver that no longer covers", (code, out, err),
          (0, f"{path}: 1 added, 0 changed, 0 removed; 1 waiver not updated\n",
           f"{path}:2: not updated, because it is a waiver: the verdict of {rows[1][0]} is now crash\n"))
    write(path, f"halcyon-baseline 1\nfail {rows[1][0]}\nfail random/*\ncrash {refused}\n")
    run("baseline", "--update", path, "--db", db, "--flakes")
    flakes = sorted([(refused, "refused|crash"), (rows[1][0], "fail|crash ")], key=lambda line: index_of(line[0]))
    check("flakes", read(path), "halcyon-baseline 1\n\nfail        random/*\n" +
          "".join(f"{verdicts} {case}\n" for case, verdicts in flakes))

    # Several targets.
    run("random", "--no-probe", "-d", "sim:cpu", "-d", "sim:dsp", "--count", "5", "--db", db)
    code, _, err = run("baseline", "--db", db, "--run", "2", "-o", path + ".new")
    check("several targets and one file", (code, err), (2, "halcyon baseline: 2 targets: expected one of them as -d "
                                                           "TARGET, or -o FOLDER, which exists\n"))
    folder = os.path.join(here, "folder")
    os.mkdir(folder)
    check("several targets", run("baseline", "--db", db, "--run", "2", "-o", folder, "--all")[0], 0)
    check("their files", sorted(os.listdir(folder)), ["sim-cpu.baseline", "sim-dsp.baseline"])
    listed = read(os.path.join(folder, "sim-dsp.baseline")).splitlines()[3:]
    check("with --all", listed, [f"{verdict:11} {name}" for name, verdict in query(
        db, "SELECT name, verdict FROM details WHERE run = 2 AND uri = 'sim:dsp' ORDER BY idx")])
    check("held against it", run("random", "--no-probe", "-d", "sim:cpu", "-d", "sim:dsp", "--count", "5", "--db", db, "-q",
                                 "--baseline", os.path.join(folder, "sim-cpu.baseline"), "--baseline",
                                 os.path.join(folder, "sim-dsp.baseline"))[0], 0)


# ---- the comparison of runs


def median_and_interval(values):
    """By the definition: the binomial order statistics at 2.576 standard deviations."""
    values = sorted(values)
    rank = max(0, math.floor(len(values) / 2 - 2.5758293035489 * math.sqrt(len(values)) / 2))
    return statistics.median(values), values[rank], values[-1 - rank]


def check_shift(what, found, values):
    median, low, high = median_and_interval(values)
    close = [math.isclose(found[key], math.exp(value), rel_tol=1e-9)
             for key, value in (("median", median), ("low", low), ("high", high))]
    check(what, (found["cases"], close), (len(values), [True] * 3))


def compare(*arguments):
    code, out, err = run("diff", "--json", *arguments)
    check("errors beside the output", bool(out and err), False)
    if not out:
        return code, err
    return code, json.loads(out)


def names(diff, kind):
    return [change["case"] for change in diff["targets"][0][kind]]


def check_diff(here):
    a, b = os.path.join(here, "a.db"), os.path.join(here, "after.db")
    run("random", "--no-probe", "-d", "sim:cpu", "--count", "400", "-j", "1", "--db", a)  # case i has the id i + 1
    query(a, "PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(a, b)
    code, diff = compare(a, b)
    kinds = ("broken", "lost", "mended", "gained", "changed", "new", "gone")
    check("equal runs", (code, diff["targets"][0]["in_both"], [names(diff, kind) for kind in kinds]),
          (0, 400, [[]] * 7))
    for quantity in ("time", "device time", "error ratio"):
        found = diff["targets"][0][quantity]
        check("no shift of " + quantity, (found["median"], found["shifted"], found["operations"], found["far_cases"]),
              (1.0, False, [], []))

    # Another URI, verdicts of all kinds; slower convolutions; one error ratio.
    query(b, "UPDATE targets SET uri = 'lib:/tmp/mine.so'")
    verdicts = {}
    for index, before, after in ((0, "pass", "fail"), (1, "pass", "unsupported"), (2, "fail", "pass"),
                                 (3, "unsupported", "pass"), (4, "fail", "crash"), (5, "fail", "fail"),
                                 (10, "pass", "crash")):
        for db, verdict in ((a, before), (b, after)):
            query(db, "UPDATE verdicts SET verdict = ? WHERE case_id = ?", verdict, index + 1)
        verdicts[index] = f"{CASE[0]}{index}"
    query(b, "UPDATE verdicts SET operation = 'OTHER' WHERE case_id = 6")
    query(a, "UPDATE verdicts SET verdict = 'waived', was = 'fail' WHERE case_id = 9")  # as on the other side
    query(b, "UPDATE verdicts SET verdict = 'fail' WHERE case_id = 9")
    query(a, "DELETE FROM verdicts WHERE case_id = 7")
    query(b, "DELETE FROM verdicts WHERE case_id = 8")
    query(b, "UPDATE verdicts SET ms = ms * (1 + 0.0005 * case_id)")
    query(b, "UPDATE verdicts SET ms = ms * 3 WHERE case_id IN (SELECT case_id FROM case_operations WHERE operation = "
          "'CONV_2D')")
    query(b, "UPDATE verdicts SET device_ns = device_ns * 2")
    for db, ratio in ((a, 0.3), (b, 0.9)):
        query(db, "UPDATE verdicts SET ratio = ?, output = 0 WHERE case_id = 20", ratio)
    code, diff = compare(a, b)
    target = diff["targets"][0]
    check("pairs of targets", (code, target["a"], target["b"]), (1, "sim:cpu", "lib:/tmp/mine.so"))
    check("changes", {kind: names(diff, kind) for kind in kinds},
          {"broken": [verdicts[0], verdicts[10]], "lost": [verdicts[1]], "mended": [verdicts[2]],
           "gained": [verdicts[3]], "changed": [verdicts[4], verdicts[5]], "new": [CASE[0] + "6"],
           "gone": [CASE[0] + "7"]})
    check("a change", (target["broken"][0]["a"]["verdict"], target["broken"][0]["b"]["verdict"]), ("pass", "fail"))

    rows = {}
    for side, db in enumerate((a, b)):
        for case, ms, ns, ratio in query(db, "SELECT case_id, ms, device_ns, ratio FROM verdicts WHERE stage = 'done'"):
            rows.setdefault(case, {})[side] = (ms, ns, ratio)
    both = {case: pair for case, pair in rows.items() if len(pair) == 2}
    times = {case: math.log(pair[1][0] / pair[0][0]) for case, pair in both.items()}
    check_shift("time", target["time"], list(times.values()))
    check_shift("device time", target["device time"],
                [math.log(pair[1][1] / pair[0][1]) for pair in both.values() if pair[0][1]])
    check("device time is shifted", target["device time"]["shifted"], True)
    check_shift("error ratio", target["error ratio"],
                [math.log(max(pair[1][2], 0.01) / max(pair[0][2], 0.01)) for pair in both.values()
                 if pair[0][2] is not None and pair[1][2] is not None])
    check("far error ratios", target["error ratio"]["far_cases"], [{"case": CASE[0] + "19", "a": 0.3, "b": 0.9}])
    check("slow operations", target["time"]["operations"][0]["operation"], "CONV_2D")
    median = statistics.median(times.values())
    slow = [case for case, in query(b, "SELECT case_id FROM case_operations WHERE operation = 'CONV_2D' GROUP BY 1")]
    check_shift("time of CONV_2D", target["time"]["operations"][0], [times[case] - median for case in slow if case in times])
    check("with a threshold", compare("--threshold", "4", a, b)[1]["targets"][0]["time"]["operations"], [])

    # The reverse, runs of one database, targets, what cannot be compared.
    code, diff = compare(b, a)
    check("the reverse", (code, names(diff, "broken"), names(diff, "lost"), names(diff, "mended")),
          (1, [verdicts[2]], [verdicts[3]], [verdicts[0], verdicts[10]]))
    run("random", "--no-probe", "-d", "golden", "-d", "sim:cpu", "--count", "400", "--db", b)
    code, diff = compare("--db", b, "1", "2@golden")
    check("runs of one database", (code, [(t["a"], t["b"]) for t in diff["targets"]], diff["targets"][0]["broken"],
                                   diff["targets"][0]["lost"]), (0, [("lib:/tmp/mine.so", "golden")], [], []))
    code, diff = compare("--db", b, "2@golden", "2@sim:cpu")
    check("targets of a run", (code, diff["targets"][0]["in_both"]), (0, 400))
    code, diff = compare(a, b + ":2")
    check("targets of equal URIs", ([t["b"] for t in diff["targets"]], diff["only_in_a"], diff["only_in_b"]),
          (["sim:cpu"], [], ["golden"]))
    check("nothing to pair", compare("--db", b, "1", "2")[0], 2)
    check("the same", compare(a, a)[0], 2)
    check("no such run", compare(a, a + ":7")[0], 2)
    check("no such target", compare(a, b + "@x")[0], 2)
    check("no such file", compare(a, "nothing.db")[0], 2)


def main():
    with tempfile.TemporaryDirectory() as here:
        out = run("random", "-d", "golden", "--count", "1", "--json", "--db", os.path.join(here, "names.db"))[1]
        CASE.append(json.loads(out.splitlines()[0])["case"].removesuffix("0"))
        check_exports(here)
        rows, expected = check_baseline_run(here)
        check_waivers(here, rows, expected)
        check_update(here, rows, expected)
        check_diff(here)
    print(f"{len(failed)} checks failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
