#!/usr/bin/env python3
"""Checks results databases on a PostgreSQL server: check_postgres.py HALCYON FILL_DATABASE VIEWS_DATABASE [--rounds N].

With --measure FILE it prints what pushing and reading this database takes instead. Without Debian's package postgresql it
exits with 77: skipped."""
import argparse
import csv
import difflib
import hashlib
import io
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import postgres_server

parser = argparse.ArgumentParser()
parser.add_argument("programs", nargs=3)
parser.add_argument("--rounds", type=int, default=8, help="pushes that are killed")
parser.add_argument("--measure", type=pathlib.Path)
options = parser.parse_args()
halcyon, fill_database, views_database = map(os.path.abspath, options.programs)

VIEWS = """details failures failing bugs bug_targets target_verdicts operation_verdicts ratio_bins flaky_cases waivers trend
not_compared totals_by_verdict totals_by_target totals_by_operation totals_by_type totals_by_operation_type coverage
neighbours""".split()
SECRET = "p%40ss-word-7"  # as in a URL; "p@ss-word-7"


def run(*arguments, status=0, env=None):
    """stdout, or for another status than 0 and 1 stderr."""
    done = subprocess.run([halcyon, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **(env or {})})
    assert done.returncode == status, (arguments, done)
    return done.stdout if status < 2 else done.stderr


def same(found, expected, what):
    assert found == expected, (what, list(difflib.unified_diff(expected.splitlines(), found.splitlines(), lineterm=""))[:20])


def push(url, path, *more, **how):
    return run("db", "push", url, "--db", path, *more, **how)


def space(url, name):
    return f"{url}&options=-csearch_path%3D{name}"


# ---- rows of tables and views, as they compare


def canonical(value, kind):
    if value is None:
        return None
    if kind == "boolean":
        return bool(int(value)) if not isinstance(value, str) or value.isdigit() else value == "t"
    if kind in ("bigint", "integer", "numeric", "double precision"):
        return float(f"{float(value):.12g}")  # sums are in another order
    if kind == "bytea":
        return value.encode().hex() if isinstance(value, str) and not value.startswith("\\x") else \
            value.hex() if isinstance(value, bytes) else value[2:]
    return value


def columns_there(server, schema, table):
    """Names and types, without those that only the server has."""
    lines = server.sql("SELECT column_name, data_type FROM information_schema.columns WHERE is_generated = 'NEVER' AND "
                       f"table_schema = '{schema}' AND table_name = '{table}' ORDER BY ordinal_position").splitlines()
    return [line.split("|") for line in lines]


def rows_there(server, schema, table):
    columns = columns_there(server, schema, table)
    assert columns, table
    shown = ", ".join(f"to_char(\"{name}\" AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
                      if kind.startswith("timestamp") else f'"{name}"' for name, kind in columns)
    text = server.sql(f"COPY (SELECT {shown} FROM {schema}.{table}) TO STDOUT (FORMAT csv, NULL '(null)')")
    rows = [[None if field == "(null)" else field for field in row] for row in csv.reader(io.StringIO(text))]
    return columns, sorted(repr([canonical(v, kind) for v, (_, kind) in zip(row, columns)]) for row in rows)


def rows_here(path, table, columns):
    with sqlite3.connect(path) as db:
        db.create_function("text_of", 1, lambda x: x)
        rows = db.execute(f"SELECT {', '.join(chr(34) + name + chr(34) for name, _ in columns)} FROM {table}").fetchall()
    owner = {i for i, (name, _) in enumerate(columns) if name.startswith("owner_") or name == "heartbeat"} \
        if table == "runs" else set()
    return sorted(repr([None if i in owner else canonical(v, columns[i][1]) for i, v in enumerate(row)]) for row in rows)


def names(path, kind):
    with sqlite3.connect(path) as db:
        return [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = ? ORDER BY rowid", (kind,))]


def compare(server, schema, path):
    """Every table and view has the rows of the file; its numbers are the same in a schema with one push."""
    tables, views = names(path, "table"), names(path, "view")
    assert set(views) >= set(VIEWS), set(VIEWS) - set(views)
    n = 0
    for name in tables + views:
        columns, there = rows_there(server, schema, name)
        with sqlite3.connect(path) as db:
            assert [c[0] for c in columns] == [c[1] for c in db.execute(f"PRAGMA table_info({name})")], name
        here = rows_here(path, name, columns)
        assert there == here, (name, [row for row in there if row not in here][:3], [row for row in here if row not in there][:3])
        n += len(there)
    return len(tables), len(views), n


def digest(server, schema):
    """Of all rows of the tables, when they were pushed excepted."""
    tables = server.sql(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' ORDER BY 1").split()
    text = ""
    for table in tables:
        row = "(to_jsonb(t) - 'pushed' - 'changed')::text"
        text += table + server.sql(f"SELECT md5(string_agg({row}, ',' ORDER BY {row})) FROM {schema}.{table} t")
    return hashlib.sha256(text.encode()).hexdigest()


def contents(path):
    """The rows of a database in SQLite, by what does not depend on its numbers."""
    with sqlite3.connect(path) as db:
        rows = [db.execute("SELECT r.started, c.name, c.spec, c.n_operations, (SELECT group_concat(operation || type) FROM "
                           "case_operations o WHERE o.case_id = c.case_id) FROM cases c JOIN runs r USING (run) ORDER BY "
                           "1, c.ordinal").fetchall(),
                db.execute("SELECT r.started, c.name, t.uri, v.verdict, v.why, v.ms, v.expected, v.actual, v.ratio, v.bucket, "
                           "v.shrunk FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING (target) JOIN runs r ON "
                           "r.run = c.run ORDER BY 1, c.ordinal, 3").fetchall(),
                db.execute("SELECT started, options, finished, n_cases FROM runs ORDER BY 1").fetchall(),
                db.execute("SELECT digest, text FROM support_sets ORDER BY 1").fetchall(),
                db.execute("SELECT cells, pairs FROM coverage_parts ORDER BY 1, 2").fetchall()]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


# ---- databases


def change(path, *statements):
    with sqlite3.connect(path) as db:
        for sql in statements:
            db.execute(sql)
    db.close()


def copy(path, name):
    to = path.with_name(name)
    shutil.copy(path, to)
    return to


def make_databases(folder):
    views, real, filled = folder / "views.db", folder / "real.db", folder / "filled.db"
    subprocess.run([views_database, views], check=True)
    run("random", "-d", "sim:cpu", "-d", "sim:gpu?fault=last-tap-dropped", "--count", "150", "--ops", "1-5", "--db", real,
        "-q", status=1)
    run("conform", "-d", "sim:cpu?fault=order-unchecked", "--suite", "model", "--db", real, "-q", status=1)
    subprocess.run([fill_database, filled, "1500", "3"], check=True, stdout=subprocess.DEVNULL)
    for path in (views, real, filled):
        change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    # Infinities, extreme numbers, texts that are not ASCII, UTF-8 or not even text.
    change(real, "UPDATE verdicts SET expected = 9e999, actual = -9e999, bound = 5e-324, device_ns = 4611686018427387904 "
           "WHERE case_id = 1 AND target = 1",
           "UPDATE verdicts SET why = 'Grüße\t\"x\\y\"\nzwei' WHERE case_id = 2",
           "UPDATE cases SET seed = -9223372036854775808 WHERE case_id = 3")
    return views, real, filled


# ---- tests


def make_summary(folder):
    """Two shards of a campaign, added up."""
    shards = [folder / f"shard{i}.db" for i in (1, 2)]
    for i, shard in enumerate(shards):
        run("random", "--no-probe", "--count", "60", "--ops", "1-3", "--seed", "5", "-q", "-d", "sim:cpu?fault=last-tap-dropped",
            "--no-shrink", "--atomic", "--summary", "--shard", f"{i + 1}/2", "--db", shard, status=1)
    run("merge", *shards, "-o", folder / "summary.db")
    return folder / "summary.db"


def check_views(server, url, views, real, filled):
    summary = make_summary(real.parent)
    for name, path in (("of_views", views), ("of_real", real), ("of_filled", filled), ("of_summary", summary)):
        push(space(url, name), path)
        print(f"{name}: {'%d tables, %d views, %d rows' % compare(server, name, path)}")


def check_round_trip(server, url, folder, real):
    """What comes back is what was sent, and is the same run for a merge and for another push."""
    before = digest(server, "of_real")
    again = push(space(url, "of_real"), real)
    assert "0 runs" in again and "2 there before" in again, again
    assert digest(server, "of_real") == before
    back = folder / "back.db"
    run("db", "pull", space(url, "of_real"), "-o", back)
    run("db", "check", "--db", back)
    assert contents(back) == contents(real)
    assert compare(server, "of_real", back)
    assert "2 there before" in push(space(url, "of_real"), back)
    assert digest(server, "of_real") == before
    merged = run("db", "merge", real, back, "-o", folder / "merged.db")
    assert "2 runs of 2 databases; 2 repeated" in merged, merged
    push(space(url, "again"), back)
    run("db", "pull", space(url, "again"), "-o", folder / "back2.db", "--run", "1")
    assert len(names(folder / "back2.db", "view")) == len(names(back, "view"))
    with sqlite3.connect(folder / "back2.db") as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def check_unfinished(server, url, filled):
    """An unfinished run is replaced by a later state of it, under the same number."""
    part = copy(filled, "part.db")
    change(part, "PRAGMA foreign_keys = ON", "DELETE FROM cases WHERE ordinal % 2 AND run = 2",
           "UPDATE runs SET finished = NULL WHERE run = 2")
    there = space(url, "unfinished")
    push(there, part)
    assert server.sql("SELECT count(*) FROM unfinished.cases WHERE run = 2") == "750\n"
    assert "run 2 with 1500 cases: run 2 there\n1 run with 1500" in push(there, filled)
    assert server.sql("SELECT run, count(*), count(DISTINCT case_id) FROM unfinished.cases GROUP BY 1 ORDER BY 1") == \
        "1|1500|1500\n2|1500|1500\n3|1500|1500\n"
    before = digest(server, "unfinished")
    assert "3 there before" in push(there, part)  # an earlier state does not come back
    assert digest(server, "unfinished") == before
    assert server.sql("SELECT count(*) FROM unfinished.verdicts v LEFT JOIN unfinished.cases c USING (case_id) WHERE "
                      "c.run IS NULL") == "0\n"


def check_at_once(server, url, filled):
    """Pushes of the same runs at once, the first ones into an empty database."""
    there = space(url, "at_once")
    processes = [subprocess.Popen([halcyon, "db", "push", there, "--db", filled], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for _ in range(4)]
    done = [(process.communicate(), process.returncode) for process in processes]
    assert all(status == 0 for _, status in done), done
    assert server.sql("SELECT count(*), count(DISTINCT identity) FROM at_once.pushes") == "3|3\n"
    assert server.sql("SELECT count(*) FROM at_once.cases") == "4500\n"
    assert server.sql("SELECT sum(n) FROM at_once.totals_by_verdict") == "13500\n"


def check_kills(server, url, folder, filled):
    """A push that is killed leaves whole runs, and the next one brings the rest."""
    there = space(url, "killed")
    begun = time.monotonic()
    push(space(url, "whole"), filled)
    whole = time.monotonic() - begun
    n, runs = 0, set()
    for _ in range(options.rounds):
        server.sql("DROP SCHEMA IF EXISTS killed CASCADE")
        process = subprocess.Popen([halcyon, "db", "push", there, "--db", filled], stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        n += process.wait() == -signal.SIGKILL
        for _ in range(100):  # the server notices the lost connection
            if server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'halcyon'") == "0\n":
                break
            time.sleep(0.1)
        if server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'killed'") == "0\n":
            runs.add(0)
            continue
        found = server.sql("SELECT count(*), sum(n_cases), (SELECT count(*) FROM killed.cases), (SELECT count(*) / 3 FROM "
                           "killed.verdicts), (SELECT count(*) * 1500 FROM killed.runs) FROM killed.pushes").strip().split("|")
        assert found[1] == found[2] == found[3] == found[4], found
        runs.add(int(found[0]))
        push(there, filled)
        back = folder / "killed.db"
        back.unlink(missing_ok=True)
        run("db", "pull", there, "-o", back)
        assert contents(back) == contents(filled)
    print(f"killed {n} of {options.rounds} pushes of {whole:.2f} s; they left {sorted(runs)} runs")
    assert n > options.rounds // 3


def check_reading(server, url, folder, real):
    """Commands give of a server what they give of the file."""
    there = space(url, "of_real")
    shown, quoted = there, shlex.quote(there)
    def named(text):
        """Replay commands name the server."""
        return text.replace(f"--db {real}", f"--db {quoted}").replace(str(real), shown)

    for arguments in (["report", "--text"], ["report", "--markdown"], ["report", "--text", "--run", "1"], ["coverage"],
                      ["coverage", "1"], ["db", "export", "bugs"], ["db", "export", "details"],
                      ["db", "export", "verdicts"], ["db", "list", "--json"], ["baseline", "-d", "sim:gpu?fault=last-tap-dropped"]):
        same(run(*arguments, "--db", there), named(run(*arguments, "--db", real)), arguments)
    for option in ("--junit", "--json-file", "--tap", "--csv"):
        files = [folder / f"{i}{option}" for i in range(2)]
        for path, db in zip(files, (there, real)):
            run("report", option, path, "--db", db)
        same(*(re.sub(r" --db [^ \n<]*", "", path.read_text()) for path in files), option)
    sides = ["1@sim:cpu", "1@sim:gpu?fault=last-tap-dropped"]
    same(*(re.sub(" --db .*", "", run("diff", *sides, "--db", db, status=1).replace(str(db), "")) for db in (there, real)),
         "diff")
    with sqlite3.connect(real) as db:
        failed, = db.execute("SELECT name FROM failures WHERE run = 1 AND verdict = 'fail' ORDER BY ordinal LIMIT 1").fetchone()
        passed, = db.execute("SELECT name FROM cases WHERE run = 1 AND spec IS NULL LIMIT 1").fetchone()
    assert run("db", "spec", failed, "--db", there) == run("db", "spec", failed, "--db", real)
    for command in ("replay", "explain"):
        found, expected = (run(command, failed, "-q", "--db", db, status=1) for db in (there, real))
        same(*(re.sub(r"in [0-9.]+ s", "", text) for text in (found.replace(shown, str(real)), expected)), command)
    assert run("dump", failed, "--format", "dot", "--db", there) == run("dump", failed, "--format", "dot", "--db", real)
    run("shrink", failed, "--executions", "20", "--db", there, "-o", folder / "small.mod.py")
    run("replay", passed, "-d", "sim:cpu", "--db", there)  # drawn for a support set of the database
    error = run("db", "spec", "random/none", "--db", there, status=2)
    assert shown in error and "/tmp/halcyon-driver" not in error, error
    run("report", "-o", folder / "site", "--db", there)
    assert shown.replace("&", "&amp;") in (folder / "site/index.html").read_text()
    assert "no run 77" in run("report", "--text", "--run", "77", "--db", there, status=2)
    assert not list(pathlib.Path(tempfile.gettempdir()).glob("halcyon-driver-*/halcyon.db"))
    for arguments in (["random", "-d", "golden", "--count", "1"], ["db", "prune", "1"], ["db", "compact"]):
        run(*arguments, "--db", there, status=2)


def check_roles(server, folder, filled):
    """A writer and a reader, as docs/postgresql.md has them; passwords by every way of libpq, and nowhere else."""
    server.sql("CREATE DATABASE team")
    server.sql(f"CREATE ROLE writer LOGIN PASSWORD 'p@ss-word-7'; CREATE ROLE reader LOGIN PASSWORD 'p@ss-word-7'; "
               "CREATE ROLE stranger LOGIN PASSWORD 'p@ss-word-7'; GRANT CREATE ON DATABASE team TO writer")
    hba = server.folder / "data/pg_hba.conf"
    hba.write_text("local all admin trust\nlocal all all scram-sha-256\n")
    server.sql("SELECT pg_reload_conf()")
    time.sleep(0.5)
    plain = server.url("team", "writer")
    secret = plain.replace("writer@", f"writer:{SECRET}@")
    without = {"PGPASSFILE": "/nonexistent"}
    errors = [push(plain, filled, status=2, env=without)]  # no password
    errors += [push(plain, filled, status=2, env={**without, "PGPASSWORD": "p@ss-wrong"})]
    errors += [push(secret.replace("-7@", "-8@"), filled, status=2, env=without)]
    errors += [push(secret.replace("%40", "@"), filled, status=2)]
    errors += [push(secret.replace("%40", "/"), filled, status=2)]
    errors += [push(secret + "&sslmode=none", filled, status=2)]
    errors += [push(plain + f"&password={SECRET}x&no_such=1", filled, status=2)]
    errors += [push(secret.replace("/team", "/no_team"), filled, status=2)]
    errors += [push(secret.replace(str(server.folder), "/nonexistent"), filled, status=3)]
    errors += [push(plain.replace("writer@", f"stranger:{SECRET}@"), filled, status=2)]
    assert "permission denied for database team" in errors[-1] and "docs/postgresql.md" in errors[-1], errors[-1]
    outputs = [push(secret, filled, "--run", "1")]
    outputs += [push(plain, filled, "--run", "2", env={**without, "PGPASSWORD": "p@ss-word-7"})]
    password_file = folder / "pgpass"
    password_file.write_text("*:*:*:*:p@ss-word-7\n")
    password_file.chmod(0o600)
    outputs += [push(plain, filled, "--run", "3", env={"PGPASSFILE": str(password_file)})]
    (folder / "services").write_text(f"[team]\nhost={server.folder}\ndbname=team\nuser=writer\npassword=p@ss-word-7\n")
    outputs += [push("postgresql://", filled, env={**without, "PGSERVICEFILE": str(folder / "services"), "PGSERVICE": "team"})]
    assert "3 there before" in outputs[-1]
    reader = plain.replace("writer@", f"reader:{SECRET}@")
    errors += [run("report", "--text", "--db", reader, status=2)]
    server.sql("GRANT USAGE ON SCHEMA halcyon TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA halcyon TO reader; "
               "ALTER DEFAULT PRIVILEGES FOR ROLE writer IN SCHEMA halcyon GRANT SELECT ON TABLES TO reader", "team")
    outputs += [run("report", "--text", "--db", reader)]
    filled_more = copy(filled, "more.db")
    change(filled_more, "UPDATE runs SET started = '2025-01-01T00:00:00.000Z' WHERE run = 1")
    errors += [push(reader, filled_more, status=2)]
    assert "permission denied" in errors[-1]
    errors += [run("db", "list", "--db", secret.replace("team", "no_team"), status=2)]
    for text in outputs + errors:
        assert "ss-w" not in text, text
    stored = subprocess.run([f"{server.bin}/pg_dump", "-h", server.folder, "-U", "admin", "team"], capture_output=True,
                            text=True, check=True).stdout
    assert "ss-word" not in stored
    assert server.sql("SELECT count(DISTINCT run), min(pushed_by) FROM halcyon.pushes", "team") == "3|writer\n"
    assert server.sql("BEGIN; SELECT halcyon.remove_run(2); COMMIT; SELECT count(*) FROM halcyon.cases", "team") == "\n3000\n"


def check_refused(server, url, folder, filled, views):
    """Databases and servers that are not what they should be: exit status 2, and nothing written."""
    def refuses(text, *arguments):
        error = run(*arguments, status=2)
        assert text in error, (text, error)

    refuses("expected the URL", "db", "push", "somewhere", "--db", filled)
    refuses("has no run 9; the newest is", "db", "push", space(url, "refused"), "--run", "9", "--db", filled)
    refuses("expected the name of one schema", "db", "push", space(url, "a,b"), "--db", filled)
    for sql, text in (("UPDATE cases SET level = 'high' WHERE case_id = 7", "level is 'high'; expected an integer"),
                      ("UPDATE verdicts SET ms = 'x' WHERE case_id = 7", "ms is 'x'; expected a number"),
                      ("UPDATE runs SET started = 'yesterday'", "expected a time"),
                      ("UPDATE runs SET options = 'none'", "invalid input syntax for type json"),
                      ("UPDATE cases SET case_id = 9223372036854775807 WHERE case_id = 7", "the database is damaged")):
        bad = copy(filled, "bad.db")
        change(bad, sql)
        refuses(text, "db", "push", space(url, "refused"), "--db", bad)
    old = copy(views, "old.db")
    change(old, "PRAGMA user_version = 5")
    refuses("has schema version 5, expected 6", "db", "push", space(url, "refused"), "--db", old)
    assert server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'refused'") == "0\n"
    refuses("has no results", "report", "--text", "--db", space(url, "refused"))

    server.sql("CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.runs (x int)")
    refuses("tables of the same names", "db", "push", space(url, "foreign_one"), "--db", filled)
    push(space(url, "newer"), views)
    server.sql("UPDATE newer.schema_version SET version = 99")
    refuses("version 99, which a newer Halcyon made", "db", "push", space(url, "newer"), "--db", filled)
    refuses("version 99, which a newer Halcyon made", "db", "pull", space(url, "newer"), "-o", folder / "newer.db")
    for sql, text in (("DELETE FROM bad.runs WHERE run = 1", "rows refer to rows of runs"),
                      ("DELETE FROM bad.cases WHERE case_id = 1", "rows of cases that are missing"),
                      ("ALTER TABLE bad.verdicts DROP CONSTRAINT verdicts_pkey; INSERT INTO bad.verdicts SELECT * FROM "
                       "bad.verdicts LIMIT 1", "UNIQUE constraint failed"),
                      ("ALTER TABLE bad.cases ALTER name DROP NOT NULL; UPDATE bad.cases SET name = NULL", "NOT NULL constraint"),
                      ("DROP VIEW bad.coverage, bad.neighbours; ALTER TABLE bad.coverage_parts ALTER cells TYPE bytea USING "
                       "convert_to(cells, 'UTF8'), ALTER pairs TYPE bytea USING '\\xff'", "not of this table"),
                      ("ALTER TABLE bad.runs ALTER started TYPE timestamptz USING 'infinity'", "not of this table")):
        server.sql("DROP SCHEMA IF EXISTS bad CASCADE")
        push(space(url, "bad"), views)
        server.sql("DROP VIEW bad.trend, bad.waivers;" + sql)
        refuses(text, "db", "pull", space(url, "bad"), "-o", folder / "bad_back.db")
        refuses(text, "report", "--text", "--db", space(url, "bad"))
        assert not (folder / "bad_back.db").exists()
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    refuses("expected a database with the encoding UTF8", "db", "push", server.url("latin"), "--db", filled)


def check_bad_texts(server, url, folder, views):
    """Bytes that are not UTF-8 become it, as in JSON; the run stays the same run."""
    odd = copy(views, "odd.db")
    change(odd, "UPDATE cases SET file = CAST(x'41ff42' AS TEXT) WHERE case_id = 1",
           "UPDATE runs SET command = CAST(x'6820ff' AS TEXT) WHERE run = 1")
    push(space(url, "odd"), odd)
    assert server.sql("SELECT file FROM odd.cases WHERE case_id = 1") == "A\\xffB\n"
    assert "3 there before" in push(space(url, "odd"), odd)
    run("db", "pull", space(url, "odd"), "-o", folder / "odd_back.db")
    assert "3 there before" in push(space(url, "odd"), folder / "odd_back.db")


def check_lost(server, url, filled):
    """A server that ends in the middle."""
    process = subprocess.Popen([halcyon, "db", "push", space(url, "lost"), "--db", filled], stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.DEVNULL)
    while process.poll() is None and server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'halcyon' AND "
                                                "query LIKE 'COPY%'") == "0\n":
        pass
    server.stop()
    error = process.communicate()[1]
    assert process.returncode in (0, 3), (process.returncode, error)
    server.start()
    push(space(url, "lost"), filled)
    assert server.sql("SELECT count(*) FROM lost.cases") == "4500\n"


def measure(server, url, path):
    """Wall time, and processor time of the command and of the server, of which the kernel counts what has ended."""
    postmaster = int((server.folder / "data/postmaster.pid").read_text().split()[0])

    def used():
        fields = pathlib.Path(f"/proc/{postmaster}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
    with sqlite3.connect(path) as db:
        cases, = db.execute("SELECT count(*) FROM cases").fetchone()
    back = path.with_name("measured-back.db")
    for what, arguments in (("push", ["db", "push", url, "--db", path]), ("pull", ["db", "pull", url, "-o", back]),
                            ("report --text, server", ["report", "--text", "--db", url]),
                            ("report --text, file", ["report", "--text", "--db", path]),
                            ("coverage, server", ["coverage", "--db", url]), ("db list, server", ["db", "list", "--db", url])):
        begun, there, here = time.monotonic(), used(), sum(os.times()[2:4])
        subprocess.run([halcyon, *map(str, arguments)], stdout=subprocess.DEVNULL, check=True)
        seconds, here = time.monotonic() - begun, sum(os.times()[2:4]) - here
        time.sleep(0.3)
        print(f"{what}: {seconds:.2f} s ({cases / seconds:,.0f} cases/s); processor: {here:.2f} s here, "
              f"{used() - there:.2f} s on the server")
    back.unlink()
    print(server.sql("SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) FROM pg_class c JOIN pg_namespace n ON n.oid = "
                     "relnamespace WHERE nspname = 'halcyon' AND relkind = 'r'").strip(), "on the server,",
          f"{path.stat().st_size / 1e6:.0f} MB in the file")


def main():
    if not postgres_server.programs():
        print("skipped: Debian's package postgresql is not installed")
        sys.exit(postgres_server.SKIPPED)
    random.seed(1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server and the folders are removed
    with tempfile.TemporaryDirectory() as name, postgres_server.Server() as server:
        folder, url = pathlib.Path(name), server.url()
        if options.measure:
            measure(server, url, options.measure)
            return
        views, real, filled = make_databases(folder)
        check_views(server, url, views, real, filled)
        check_round_trip(server, url, folder, real)
        check_unfinished(server, url, filled)
        check_at_once(server, url, filled)
        check_kills(server, url, folder, filled)
        check_reading(server, url, folder, real)
        check_refused(server, url, folder, filled, views)
        check_bad_texts(server, url, folder, views)
        check_lost(server, url, filled)
        check_roles(server, folder, filled)


main()
