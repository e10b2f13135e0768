#!/usr/bin/env python3
"""Checks summaries and the merging of shards: check_summaries.py HALCYON.

What a summary has is counted again from the rows of the same cases, which are the oracle: by sums over Python
dictionaries, not by the SQL of the command. The sum of the shards is the summary of the whole campaign, whatever the order,
the grouping and the repetitions."""
import collections
import contextlib
import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

EXIT_CONFORMING, EXIT_NOT_CONFORMING, EXIT_USAGE, EXIT_OURS = range(4)
LIMIT_SECONDS = 200
FAULT = "sim:cpu?fault=last-tap-dropped"
CAMPAIGN = ["random", "--no-probe", "--seed", "5", "--count", "240", "--ops", "1-4", "-q", "-d", "sim:cpu", "-d", FAULT,
            "--no-shrink"]
KEPT = 3
CONFORMING = {"pass", "unsupported", "undecided", "waived"}
# Columns that depend on the clock on the wall.
CLOCK = {"ms", "us", "seconds", "started", "finished", "command", "options", "part"}


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=LIMIT_SECONDS, **options)


def connect(db):
    """A connection to a database; of a compressed one, as shards of summaries are, to what the tool zstd makes of it."""
    with open(db, "rb") as file:
        packed = file.read(4) == b"\x28\xb5\x2f\xfd"
    connection = sqlite3.connect(":memory:" if packed else db)
    if packed:
        connection.deserialize(subprocess.run(["zstd", "-dcq", db], capture_output=True, check=True).stdout)
    return contextlib.closing(connection)


def rows(db, sql, *values):
    with connect(db) as connection:
        return connection.execute(sql, values).fetchall()


def dump(db):
    """All that is in a database, byte by byte."""
    with connect(db) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()
        connection.text_factory = bytes
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall()
        return {name.decode(): sorted(map(repr, connection.execute(f"SELECT * FROM {name.decode()}"))) for (name,) in tables}


def without_clock(db):
    with connect(db) as connection:
        record = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            cursor = connection.execute(f"SELECT * FROM {table}")
            keep = [i for i, column in enumerate(cursor.description) if column[0] not in CLOCK]
            record[table] = sorted(repr([row[i] for i in keep]) for row in cursor)
        return record


def compare(expected, found, tables, what):
    for table in tables:
        wrong = set(expected[table]) ^ set(found[table])
        assert expected[table] == found[table], f"{what}: {table}: {len(wrong)} rows differ, such as {sorted(wrong)[:2]}"


def make(halcyon, db, *options, campaign=CAMPAIGN):
    done = run(halcyon, *campaign, *options, "--db", db)
    assert done.returncode in (EXIT_CONFORMING, EXIT_NOT_CONFORMING), done.stderr
    return done


def merge(halcyon, out, *sources):
    done = run(halcyon, "merge", *sources, "-o", out)
    assert done.returncode == 0, done.stderr
    return done


# ---- the oracle: rows, counted


def bin_of(ratio):
    if ratio <= 0:
        return -60
    return 60 if math.isinf(ratio) else max(-60, min(60, math.frexp(ratio)[1] - (math.frexp(ratio)[0] == 0.5)))


def blamed(verdict):
    """(operation, type, ratio) that the worst element is attributed to."""
    if verdict["blamed_output"] is None:
        return verdict["operation"], verdict["type"], verdict["ratio"]
    return verdict["blamed_operation"].split(" ")[0], verdict["blamed_type"], verdict["blamed_ratio"]


def key_of(verdict):
    if verdict["blamed_operation"] is None:
        operation, kind = verdict["operation"], verdict["type"]
    else:
        operation, kind = verdict["blamed_operation"].split(" ")[0], verdict["blamed_type"]
    words = [verdict["verdict"], operation, "and others" if (verdict["blamed_count"] or 0) > 1 else None, kind]
    assert verdict["verdict"] == "fail"
    return " ".join(word for word in words if word)


def count_rows(db):
    with connect(db) as connection:
        connection.row_factory = sqlite3.Row
        verdicts = connection.execute("SELECT v.*, c.ordinal, c.name, t.ordinal AS t FROM verdicts v JOIN cases c USING "
                                      "(case_id) JOIN targets t USING (target)").fetchall()
        pairs = collections.defaultdict(set)
        for case, operation, kind in connection.execute("SELECT * FROM case_operations"):
            pairs[case].add((operation, kind))
    totals, operations = collections.Counter(), collections.Counter()
    ratios, buckets = collections.defaultdict(list), collections.defaultdict(list)
    for v in verdicts:
        totals[v["t"], v["verdict"], "n"] += 1
        totals[v["t"], v["verdict"], "checked"] += v["checked"]
        for pair in pairs[v["case_id"]]:
            operations[(v["t"], *pair, v["verdict"])] += 1
        operation, kind, ratio = blamed(v)
        if operation and ratio is not None and (v["output"] is not None or v["blamed_output"] is not None):
            ratios[v["t"], operation, kind, v["verdict"]].append((ratio, v["name"]))
        if v["verdict"] not in CONFORMING:
            buckets[v["t"], key_of(v)].append((v["ordinal"], v["name"], blamed(v)[2]))
    return totals, operations, ratios, buckets


def check_counts(halcyon, folder):
    full, summary = os.path.join(folder, "rows.db"), os.path.join(folder, "summary.db")
    make(halcyon, full)
    make(halcyon, summary, "--summary", "--atomic", "--keep", str(KEPT))
    totals, operations, ratios, buckets = count_rows(full)
    found = {}
    for t, verdict, n, checked in rows(summary, "SELECT ordinal, verdict, n, checked FROM summary_verdicts JOIN targets "
                                                "USING (target)"):
        found[t, verdict, "n"], found[t, verdict, "checked"] = n, checked
    assert found == {key: n for key, n in totals.items() if n or key[2] == "checked"}, (found, totals)
    found = {(t, *key): n for t, *key, n in rows(summary, "SELECT t.ordinal, operation, s.type, verdict, n + beside FROM "
                                                          "summary_operations s JOIN targets t USING (target)")}
    assert found == operations and len(found) > 300
    found = {(t, *key): (bins, ratio, name) for t, *key, bins, ratio, name in rows(
        summary, "SELECT t.ordinal, operation, s.type, verdict, bins, ratio, s.name FROM summary_ratios s JOIN targets t "
                 "USING (target)")}
    assert found.keys() == ratios.keys()
    for key, (bins, ratio, name) in found.items():
        expected = collections.Counter(bin_of(ratio) for ratio, _ in ratios[key])
        assert dict(json.loads(bins)) == expected, (key, bins, expected)
        largest = max(ratio for ratio, _ in ratios[key])
        assert ratio == largest and name == min(n for r, n in ratios[key] if r == largest), (key, ratio, name)
    check_buckets(summary, buckets)
    kept = {name for cases in buckets.values() for _, name, _ in sorted(cases)[:KEPT]}
    assert {name for (name,) in rows(summary, "SELECT name FROM cases WHERE spec IS NOT NULL")} == kept
    with open(summary, "rb") as file:
        assert file.read(4) == b"\x28\xb5\x2f\xfd"
    print(f"a summary has what the rows of its cases add up to: {len(operations)} operations, {len(buckets)} buckets")
    return full, summary


def check_buckets(summary, buckets):
    found = rows(summary, "SELECT t.ordinal, bucket, key, n, b.name, ratio, first_ordinal FROM summary_buckets b JOIN targets t "
                          "USING (target)")
    assert {(t, key) for t, _, key, *_ in found} == buckets.keys() and len(found) >= 5
    assert len({bucket for _, bucket, *_ in found}) == len({key for _, _, key, *_ in found})
    for t, bucket, key, n, name, ratio, first in found:
        cases = sorted(buckets[t, key])
        worst = max(ratio for _, _, ratio in cases)
        assert (n, ratio, first) == (len(cases), worst, cases[0][0]), key
        assert name == next(name for _, name, ratio in cases if ratio == worst)
        listed = rows(summary, "SELECT ordinal, f.name, ratio FROM summary_failures f WHERE bucket = ? ORDER BY 1", bucket)
        assert listed == cases, (key, listed, cases)


def check_readers(halcyon, full, summary):
    """What both forms can answer, they answer alike; what a summary cannot, it says."""
    def both(*command):
        return [run(halcyon, *command, "--db", db).stdout for db in (full, summary)]
    a, b = both("coverage", "--json")
    assert a == b and len(a.splitlines()) > 1000
    for sql in ("SELECT operation, type, verdict, n, beside, target_ordinal FROM operation_verdicts",
                "SELECT uri, n, failing, pass, undecided, unsupported, checked FROM target_verdicts",
                "SELECT verdict, n FROM totals_by_verdict", "SELECT target_ordinal, verdict, n FROM totals_by_target",
                "SELECT operation, type, verdict, n FROM totals_by_operation_type",
                "SELECT operation, verdict, n FROM totals_by_operation", "SELECT type, verdict, n FROM totals_by_type",
                "SELECT bug, n, n_cases, n_targets, operation, type FROM bugs", "SELECT bug, uri, n FROM bug_targets",
                "SELECT uri, n, failing, pass, bugs FROM trend"):
        assert sorted(rows(full, sql)) == sorted(rows(summary, sql)) != [], sql
    a, b = (text.splitlines() for text in both("report", "--text"))
    assert a[:2] == b[:2], (a[:2], b[:2])
    a, b = ([line for line in text if line.startswith("  sim:")] for text in (a, b))
    assert a == b and len(a) == 2, (a, b)
    for command in (["diff", "1", full], ["diff", full, "1"], ["baseline"], ["report", "--junit", os.devnull]):
        done = run(halcyon, *command, "--db", summary)
        assert done.returncode == EXIT_USAGE and "is a summary" in done.stderr, (command, done)
    name = rows(summary, "SELECT name FROM cases")[0][0]
    assert run(halcyon, "replay", name, "--db", summary).returncode == EXIT_NOT_CONFORMING
    for option in ("--junit", "--csv"):
        done = run(halcyon, *CAMPAIGN, "--summary", option, "x")
        assert done.returncode == EXIT_USAGE and "--summary excludes" in done.stderr
    print("views, coverage and the report read both forms alike; baselines, JUnit and a diff of both forms refuse a summary")


def check_reasons(halcyon, folder):
    """Why cases were not compared, and the view of error ratios, of the sum of three shards."""
    targets = ["random", "--no-probe", "--seed", "9", "--count", "300", "-q", "-d", "sim:dsp", "-d", FAULT, "--no-shrink"]
    full, summary = os.path.join(folder, "reasons-rows.db"), os.path.join(folder, "reasons.db")
    shards = [os.path.join(folder, f"reasons{i}.db") for i in range(1, 4)]
    make(halcyon, full, campaign=targets)
    for i, shard in enumerate(shards):
        make(halcyon, shard, "--atomic", "--summary", "--shard", f"{i + 1}/3", campaign=targets)
    merge(halcyon, summary, *reversed(shards))
    expected, first, n_reasons = collections.Counter(), {}, set()
    for t, ordinal, name, verdict, operation, kind, reason in rows(
            full, "SELECT t.ordinal, c.ordinal, c.name, verdict, blamed_operation, blamed_type, coalesce(blamed_why, why) FROM "
                  "verdicts JOIN cases c USING (case_id) JOIN targets t USING (target) WHERE verdict IN ('unsupported', "
                  "'undecided') ORDER BY c.ordinal"):
        key = (t, verdict, operation, kind, None if operation else re.sub(r"\d+(\.\d+)?", "#", reason))
        expected[key] += 1
        first.setdefault(key, (reason, name))
        n_reasons.add(reason)
    expected = collections.Counter((*key[:4], *first[key], n) for key, n in expected.items())
    columns = "SELECT target_ordinal, verdict, operation, type, reason, name, n FROM not_compared"
    found = collections.Counter(rows(summary, columns))
    assert found == expected, (list((found - expected).items())[:3], list((expected - found).items())[:3])
    assert len(expected) > 50 and len(n_reasons) > len(expected), (len(expected), len(n_reasons))
    a, b = (run(halcyon, "report", "--text", "--db", db).stdout.partition("Not compared")[2].splitlines()[1:]
            for db in (full, summary))
    assert len(a) == len(b) > 3, (a, b)  # the most frequent ones
    for line in b:
        n, _, shown = line.strip().split("  ", 2)
        assert any(m == int(n) and reason.startswith(shown.rstrip("\u2026")) for *_, reason, _, m in expected), line
    bins = collections.defaultdict(list)
    with connect(full) as connection:
        connection.row_factory = sqlite3.Row
        for v in connection.execute("SELECT v.*, t.ordinal AS t FROM verdicts v JOIN targets t USING (target)"):
            operation, kind, ratio = blamed(v)
            if operation and ratio is not None and (v["output"] is not None or v["blamed_output"] is not None):
                bin = bin_of(ratio)
                low, high = (None if bin == -60 else 2.0 ** (bin - 1)), (0 if bin == -60 else None if bin == 60 else 2.0 ** bin)
                bins[v["t"], operation, kind, low, high].append(ratio)
    found = {tuple(row[:5]): row[5:] for row in rows(summary, "SELECT target_ordinal, operation, type, low, high, n, largest FROM "
                                                              "ratio_bins")}
    assert found.keys() == bins.keys() and len(found) > 100
    for key, (n, largest) in found.items():
        assert n == len(bins[key]) and largest in (None, max(bins[key])), key
    tops = collections.defaultdict(float)
    for key, ratios in bins.items():
        tops[key[:3]] = max(tops[key[:3]], max(ratios))
    for top, largest in tops.items():
        assert max(found[key][1] or 0 for key in found if key[:3] == top) == largest, top
    print(f"{sum(n for *_, n in expected)} cases that were not compared, for {len(expected)} reasons of {len(n_reasons)}; "
          f"{len(found)} bins of ratios")


def check_causes(halcyon, folder):
    """Buckets of one cause are one bug of the report, although each shard has shrunk failures of its own."""
    shrunk = ["random", "--no-probe", "--seed", "5", "--count", "200", "-q", "-d", FAULT]
    shards, summary = [os.path.join(folder, f"cause{i}.db") for i in range(1, 5)], os.path.join(folder, "causes.db")
    for i, shard in enumerate(shards):
        make(halcyon, shard, "--atomic", "--summary", "--shard", f"{i + 1}/4", campaign=shrunk)
    merge(halcyon, summary, *shards)
    buckets = rows(summary, "SELECT key, cause, n FROM summary_buckets")
    bugs = collections.Counter()
    for key, cause, n in buckets:
        bugs[cause or key] += n
    text = run(halcyon, "report", "--text", "--db", summary).stdout
    assert re.match(rf"{len(bugs)} bugs? in {sum(bugs.values())} of 200 verdicts", text), (text, bugs)
    assert [int(n) for n in re.findall(r"^     (\d+) cases? on ", text, re.M)] == sorted(bugs.values(), reverse=True), (text, bugs)
    assert len(buckets) > len(bugs), buckets
    print(f"{len(buckets)} buckets of {len(bugs)} causes are {len(bugs)} bugs of the report")


def check_diff(halcyon, folder):
    """The differences of two summaries, counted from the rows of the same cases. The second target is another one."""
    two = ["random", "--no-probe", "--seed", "5", "--count", "200", "-q", "--no-shrink", "--ops", "1-4"]
    sides = {"a": ["-d", "sim:cpu", "-d", FAULT], "b": ["-d", "sim:cpu?fault=half-values", "-d", "sim:dsp"]}
    count, db = {}, {}
    for side, targets in sides.items():
        full, db[side] = (os.path.join(folder, f"diff-{side}{form}.db") for form in ("-rows", ""))
        make(halcyon, full, *targets, campaign=two)
        make(halcyon, db[side], "--atomic", "--summary", *targets, campaign=two)
        count[side] = count_rows(full)
    done = run(halcyon, "diff", "--json", db["a"], db["b"])
    found = json.loads(done.stdout)
    assert done.returncode == EXIT_NOT_CONFORMING and len(found["targets"]) == 2 and not found["only_in_a"], done
    for t, target in enumerate(found["targets"]):
        assert target["same_cases"]
        for verdict, n in target["verdicts"].items():
            assert n == {side: count[side][0][t, verdict, "n"] for side in "ab"}, (t, verdict, n)
        buckets = {side: {key: len(cases) for (of, key), cases in count[side][3].items() if of == t} for side in "ab"}
        assert {row["bucket"] for row in target["buckets"]} == set(buckets["a"]) | set(buckets["b"])
        for row in target["buckets"]:
            a, b = (buckets[side].get(row["bucket"]) for side in "ab")
            change = "new" if not a else "gone" if not b else "more" if b > a else "fewer" if b < a else "same"
            assert row["change"] == change, (row, a, b)
            assert [row[side] and row[side]["failures"] for side in "ab"] == [a, b], (row, a, b)
    changes = collections.Counter(row["change"] for target in found["targets"] for row in target["buckets"])
    lost = {row["operation"] for row in found["targets"][1]["operations"] if row["change"] == "lost"}
    assert changes["new"] > 10 and changes["gone"] > 3 and len(lost) > 10, (changes, lost)
    passed = {side: {f"{operation} {kind}" for (t, operation, kind, verdict), n in count[side][1].items()
                     if t == 1 and verdict == "pass" and n} for side in "ab"}
    assert lost <= passed["a"] - passed["b"], lost
    for a, b, status in (("a", "a", EXIT_USAGE), ("a", "again", EXIT_CONFORMING), ("b", "a", EXIT_NOT_CONFORMING)):
        path = db.get(b) or shutil.copy(db["a"], os.path.join(folder, "diff-again.db"))
        done = run(halcyon, "diff", db[a], path)
        assert done.returncode == status, done
    text = run(halcyon, "diff", "-v", db["a"], db["b"]).stdout
    for change, n in changes.items():
        assert change == "same" or len(re.findall(rf"^    {change} +\w", text, re.M)) == n, (change, n, text)
    print(f"diff of two summaries: {dict(changes)} buckets, {len(lost)} operations lost")


def check_size(halcyon, folder):
    """What a shard takes: 53 kB of 20,000 cases, when this was written."""
    db, plain = os.path.join(folder, "size.db"), os.path.join(folder, "size-plain.db")
    done = run(halcyon, "random", "-q", "-d", "sim:cpu", "--seed", "20", "--count", "20000", "--shard", "1/5", "--atomic", "--summary",
               "--db", db)
    assert done.returncode == EXIT_CONFORMING, done
    size = os.path.getsize(db)
    assert 10_000 < size < 65_000, size
    with connect(db) as connection:
        before = connection.serialize()
    shutil.copy(db, plain)
    assert run(halcyon, "db", "compact", "--db", plain).returncode == 0  # which writes: it is not compressed any more
    with open(plain, "rb") as file:
        assert file.read(16) == b"SQLite format 3\0"
    compare(dump(db), dump(plain), dump(db), "compact")
    with open(db, "rb") as file:
        packed = file.read()
    for damaged in (packed[:-1], packed[:100], packed[:5000] + b"x" + packed[5001:], packed[:4] + os.urandom(200)):
        with open(plain, "wb") as file:
            file.write(damaged)
        for command in (["report", "--text", "--db", plain], ["merge", plain, "-o", os.path.join(folder, "no.db")],
                        ["db", "compact", "--db", plain]):
            done = run(halcyon, *command)
            assert done.returncode == EXIT_USAGE and "damaged" in done.stderr, done
        with open(plain, "rb") as file:
            assert file.read() == damaged
    other = os.path.join(folder, "other.db")
    with open(plain, "wb") as file:
        file.write(b"not a database " * 100)
    subprocess.run(["zstd", "-q", "-o", other, plain], check=True)
    done = run(halcyon, "db", "compact", "--db", other)
    assert done.returncode == EXIT_USAGE and "not a database" in done.stderr, done
    print(f"a shard of 4,000 cases takes {size} bytes, {len(before)} when it is not compressed")


# ---- merging


def check_algebra(halcyon, folder, summary):
    shards = [os.path.join(folder, f"s{i}.db") for i in range(1, 5)]
    for i, shard in enumerate(shards):
        make(halcyon, shard, "--shard", f"{i + 1}/4", "--atomic", "--summary", "--keep", str(KEPT))
    out = os.path.join(folder, "all.db")
    assert "1 run of 4 databases, 4 shards in summaries" in merge(halcyon, out, *shards).stdout
    expected = dump(out)
    generator, pairs = random.Random(1), {}
    for i, pair in enumerate(itertools.combinations(shards, 2)):
        pairs[pair] = os.path.join(folder, f"pair{i}.db")
        done = merge(halcyon, pairs[pair], *pair)
        assert "2 of its 4 shards are missing" in done.stderr, done.stderr
    for i in range(6):
        sources = shards + list(pairs.values()) + [out]
        generator.shuffle(sources)
        if i % 2:  # pairs alone, which overlap
            sources = [path for path in sources if path in pairs.values()]
        other = os.path.join(folder, f"other{i}.db")
        done = merge(halcyon, other, *sources)
        assert not done.stderr, done.stderr
        compare(expected, dump(other), expected, f"order {i}")
    whole, found = without_clock(summary), without_clock(out)
    for table in ("summary_verdicts", "summary_operations", "summary_totals", "summary_reasons", "summary_ratios", "summary_buckets", "summary_failures", "cases",
                  "case_operations", "verdicts", "targets"):
        assert whole[table] == found[table], (table, [row for row in whole[table] if row not in found[table]][:2])
    items = "SELECT target, items FROM summary_coverage WHERE key = '' OR (SELECT count(*) FROM summary_parts) = 1"
    assert rows(summary, items) == rows(out, items)
    done = merge(halcyon, os.path.join(folder, "three.db"), *shards[:3])
    assert "1 of its 4 shards is missing: 4/4" in done.stderr, done.stderr
    print("the sum of the shards is the summary of the campaign, in any order, grouping and repetition")
    return shards


def check_copies(halcyon, folder, shards):
    """Copies of a shard by two machines are one, whichever comes first; rows give way to the summary."""
    again, full, plain = (os.path.join(folder, name) for name in ("again.db", "full.db", "plain.db"))
    make(halcyon, again, "--shard", "2/4", "--atomic", "--summary", "--keep", str(KEPT))
    make(halcyon, full, "--shard", "2/4", "--atomic")
    make(halcyon, plain, "--shard", "3/4", "--atomic")
    groups = [[shards[1], again], [shards[1], full, plain], [full, full, plain, again], [shards[0], full]]
    for i, group in enumerate(groups):
        results = []
        for order in itertools.permutations(group):
            out = os.path.join(folder, f"copies{i}-{len(results)}.db")
            merge(halcyon, out, *order)
            results.append(dump(out))
        for found in results[1:]:
            compare(results[0], found, results[0], f"copies {i}")
        n = rows(os.path.join(folder, f"copies{i}-0.db"), "SELECT count(*), count(DISTINCT key) FROM shards")[0]
        assert n[0] == n[1], (i, n)
    assert rows(os.path.join(folder, "copies1-0.db"), "SELECT count(*) FROM runs") == [(2,)]
    copies = [os.path.join(folder, f"rows{i}.db") for i in range(3)]
    make(halcyon, copies[0], "--shard", "2/4", "--atomic")
    merge(halcyon, copies[1], full, copies[0])
    merge(halcyon, copies[2], copies[0], full)
    compare(dump(copies[1]), dump(copies[2]), dump(copies[1]), "copies with rows")
    assert rows(copies[1], "SELECT count(*) FROM runs") == [(1,)]
    for name in ("a", "b"):  # no shards that are whole: two nights
        make(halcyon, os.path.join(folder, f"night-{name}.db"), "--shard", "2/4")
    nights = [os.path.join(folder, f"night-{name}.db") for name in "ab"]
    out = os.path.join(folder, "nights.db")
    assert "2 runs of 2 databases" in merge(halcyon, out, *nights).stdout
    print("copies of a whole shard are one, runs of two nights are two")


def check_kills(halcyon, folder, shards):
    """kill -9 at random moments: the shard or the merged database is whole or not there; then all is well."""
    generator = random.Random(7)
    expected = dump(shards[2])
    db, out = os.path.join(folder, "killed.db"), os.path.join(folder, "merged.db")
    commands = [([halcyon, *CAMPAIGN, "--shard", "3/4", "--atomic", "--summary", "--keep", str(KEPT), "--db", db], db),
                ([halcyon, "merge", *shards, "-o", out], out)]
    for command, path in commands:
        begin = time.monotonic()
        run(*command)
        seconds, killed = time.monotonic() - begin, 0
        os.unlink(path)
        for _ in range(12):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True) as process:
                time.sleep(generator.uniform(0, 1.1 * seconds))
                process.kill()
                killed += process.wait(LIMIT_SECONDS) == -signal.SIGKILL
            if os.path.exists(path):
                assert rows(path, "SELECT count(*) FROM runs WHERE finished IS NOT NULL") == [(1,)]
                dump(path)
                os.unlink(path)
        assert run(*command).returncode in (EXIT_CONFORMING, EXIT_NOT_CONFORMING)
        assert [name for name in os.listdir(folder) if "halcyon-part" in name] == []
        print(f"{os.path.basename(path)}: killed {killed} times, whole or not there")
    tables = ("summary_operations", "summary_buckets", "summary_failures", "cases", "case_operations")
    assert {table: len(dump(db)[table]) for table in tables} == {table: len(expected[table]) for table in tables}


def check_in_place(halcyon, folder):
    """Without --atomic the summary is beside other runs; one that is interrupted has rows, and is resumed."""
    db = os.path.join(folder, "place.db")
    small = [*CAMPAIGN, "--count", "40"]
    make(halcyon, db, campaign=small)
    make(halcyon, db, "--summary", campaign=small)
    assert rows(db, "SELECT count(*), count(DISTINCT run) FROM summary_parts") == [(1, 1)]
    a, b = (rows(db, "SELECT uri, verdict, n FROM totals_by_target WHERE run = ? ORDER BY 1, 2", run) for run in (1, 2))
    assert a == b and a
    make(halcyon, db, "--summary", "--max-failures", "1", campaign=small)
    make(halcyon, db, "--summary", "--resume", campaign=small)
    c = rows(db, "SELECT uri, verdict, n FROM totals_by_target WHERE run = 3 ORDER BY 1, 2")
    assert a == c, (a, c)
    assert run(halcyon, "db", "check", "--db", db).returncode == 0
    assert run(halcyon, "db", "prune", "2", "--db", db).returncode == 0
    assert rows(db, "SELECT DISTINCT run FROM summary_verdicts") == [(3,)]
    print("a summary beside other runs, resumed, pruned")


def check_rules(halcyon, folder):
    db = os.path.join(folder, "rules.db")
    done = run(halcyon, "conform", "-d", "sim:cpu?fault=wrong-status", "-q", "--suite", "request", "--summary", "--atomic", "--db", db)
    assert done.returncode == EXIT_NOT_CONFORMING, done
    keys = [key for (key,) in rows(db, "SELECT key FROM summary_buckets")]
    assert keys and all(" rule request/" in key for key in keys), keys
    print("summaries of rules")


def check_corpus(halcyon, folder, full, summary):
    """Known failures as files: the same from both forms, written once, and they fail again."""
    trees = []
    for name, db in (("rows", full), ("summary", summary)):
        path = os.path.join(folder, f"corpus-{name}")
        for new in (True, False):
            done = run(halcyon, "db", "corpus", path, "--keep", str(KEPT), "--db", db)
            assert done.returncode == 0 and done.stdout.endswith(" 0 of them new\n") is not new, done
        trees.append({bucket: sorted(os.listdir(os.path.join(path, bucket))) for bucket in os.listdir(path)})
    rows_of, summary_of = trees
    assert rows_of.keys() == summary_of.keys() and len(rows_of) >= 5
    ids = {bucket for (bucket,) in rows(summary, "SELECT bucket FROM summary_buckets")}
    assert {bucket.rsplit("-", 1)[1] for bucket in rows_of} == ids
    assert all(1 <= len(files) <= KEPT and files[0].endswith(".mod.py") for files in rows_of.values())
    path = os.path.join(folder, "corpus-summary")
    for target, status in ((FAULT, EXIT_NOT_CONFORMING), ("sim:cpu", EXIT_CONFORMING)):
        done = run(halcyon, "run", path, "-q", "--judge", "bound", "-d", target, "--db", os.path.join(folder, "corpus.db"))
        assert done.returncode == status, done
    n = rows(os.path.join(folder, "corpus.db"), "SELECT count(*), sum(verdict = 'fail') FROM verdicts JOIN targets USING "
                                                "(target) WHERE run = 1")[0]
    assert n[0] == n[1] == sum(map(len, summary_of.values())), n
    print(f"a corpus of {n[0]} known failures, in {len(ids)} buckets")


def main():
    halcyon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="halcyon-summaries-") as folder:
        full, summary = check_counts(halcyon, folder)
        check_readers(halcyon, full, summary)
        shards = check_algebra(halcyon, folder, summary)
        check_copies(halcyon, folder, shards)
        check_kills(halcyon, folder, shards)
        check_in_place(halcyon, folder)
        check_rules(halcyon, folder)
        check_corpus(halcyon, folder, full, summary)
        check_reasons(halcyon, folder)
        check_causes(halcyon, folder)
        check_diff(halcyon, folder)
        check_size(halcyon, folder)


main()
