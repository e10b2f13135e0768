"""What a folder with bad, huge and strangely named files gives: the rest runs and is recorded, and text from files
reaches terminal, JSON, JUnit, report and replay command in the form that each of them needs.

    check_files.py HALCYON
"""

import html.parser
import json
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HALCYON = os.path.abspath(sys.argv[1])
NAMES = ["<script>alert(1)</script>", "]]>&\"'", "$(id) `id`"]  # the loader rejects control characters
SHOWN = {}
failed = []


def check(what, found, expected):
    if found != expected:
        failed.append(what)
        print(f"{what}: found {found!r}, expected {expected!r}")


def record(name, expected=2, operation="RELU"):
    def operand(life, values):
        return {"type": "TENSOR_FLOAT32", "dims": [2], "life": life, "data": values, "name": "x<b>]]>"}
    operands = [operand("SUBGRAPH_INPUT", [1, 2]), operand("SUBGRAPH_OUTPUT", [1, expected])]
    return json.dumps({"name": name, "main": {"operands": operands, "inputs": [0], "outputs": [1],
                                              "operations": [{"op": operation, "in": [0], "out": [1]}]}})


def run(*arguments, inside="."):
    done = subprocess.run([HALCYON, *arguments], capture_output=True, cwd=inside, timeout=90)
    return done.returncode, done.stdout, done.stderr


def write(path, *lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


def verdict_lines(out):
    return [json.loads(line) for line in out.splitlines()]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.text, self.made = [], "", []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "script":
            self.scripts.append(attributes.get("src"))
        self.made += [tag for name in attributes if not re.fullmatch("[a-z-]+", name)]

    def handle_data(self, data):
        self.text += data


def check_escapes(here):
    folder = os.path.join(os.fsencode(here), b"d\x1b\xff\n<b>")
    os.mkdir(folder)
    write(os.path.join(folder, b"names.jsonl"), *[record(name, 9) for name in NAMES])
    code, out, err = run("run", folder, "-d", "sim:cpu", "--junit", "names.xml", inside=here)
    check("exit code of wrong results", (code, err), (1, b""))
    bad = [byte for byte in out.replace(b"\n", b"") if byte < 32 or byte >= 127]
    check("control characters on the terminal", bad, [])
    check("verdict lines", out.count(b"\nfail  ") + out.startswith(b"fail  "), len(NAMES))

    lines = verdict_lines(run("run", folder, "-d", "sim:cpu", "--json", inside=here)[1])
    check("names in JSON", sorted(line["case"] for line in lines[:-1]), sorted("spec/" + name for name in NAMES))
    for line in lines[:-1]:
        # The command as it stands, in a shell that has $'...'.
        command = line["replay"].replace("halcyon", HALCYON, 1)
        again = subprocess.run(["bash", "-c", command], capture_output=True, cwd=here)
        check(f"replay of {line['case']!r}", (again.returncode, again.stderr, b"1 case in" in again.stdout),
              (1, b"", True))

    cases = xml.etree.ElementTree.parse(os.path.join(here, "names.xml")).iter("testcase")
    check("names in JUnit", sorted(case.get("name") for case in cases),
          sorted("spec/" + SHOWN.get(name, name) for name in NAMES))

    check("report", run("report", "-o", "page", inside=here)[0], 0)
    page = Page()
    with open(os.path.join(here, "page", "index.html"), encoding="utf-8") as file:
        text = file.read()
    page.feed(text)
    check("scripts of the page", page.scripts, ["site.js", "data/facts.js"])
    check("attributes made by names", page.made, [])
    check("hidden characters of the page", [c for c in text if c in "\x1b\u202e\x9b"], [])
    for name in NAMES:
        check(f"{name!r} in the report", "spec/" + SHOWN.get(name, name) in page.text, True)


def check_folders(here):
    folder = os.path.join(here, "mixed")
    os.makedirs(os.path.join(folder, "below"))
    write(os.path.join(folder, "1.jsonl"), record("one"))
    write(os.path.join(folder, "2.jsonl"), record("two"), "{ broken", record("never"))
    write(os.path.join(folder, "below", "3.mod.py"), "this is not Python")
    write(os.path.join(folder, "4.jsonl"), record("four", operation="ADD"), record("five"))
    with open(os.path.join(folder, "5.tflite"), "wb") as file:
        file.write(b"no model")
    write(os.path.join(folder, "readme.txt"), "not a specification")
    places = ["2.jsonl:2: column 8", "5.tflite: ", "below/3.mod.py:1: ", "spec/four: "]

    def places_of(unloaded):
        return [sum(place in entry["why"] for entry in unloaded) for place in places]

    code, out, _ = run("run", "mixed", "-d", "golden", "--db", "m.db", "--junit", "m.xml", inside=here)
    check("exit code with bad files", code, 2)
    check("text with bad files", (b"3 cases in" in out, b"; 4 files not loaded; run 1 in m.db" in out,
                                  b"\n4 files could not be loaded:\n" in out, out.count(b"\n    mixed/")),
          (True, True, True, 4))
    check("--skip-bad", run("run", "mixed", "-d", "golden", "--db", "m.db", "--skip-bad", inside=here)[0], 0)
    for jobs in "1", "4":
        code, out, _ = run("run", "mixed", "-d", "golden", "--db", "m.db", "--json", "-j", jobs, inside=here)
        lines = verdict_lines(out)
        check(f"cases with -j {jobs}", sorted(line["case"] for line in lines[:-1]),
              ["spec/five", "spec/one", "spec/two"])
        check(f"unloaded with -j {jobs}", (code, places_of(lines[-1]["summary"]["unloaded"])), (2, [1, 1, 1, 1]))
    shards = [run("run", "mixed", "-d", "golden", "--db", "s.db", "--json", "--shard", f"{i}/2", inside=here)
              for i in (1, 2)]
    check("unloaded of shards", [places_of(verdict_lines(shard[1])[-1]["summary"]["unloaded"]) for shard in shards],
          [[1, 1, 1, 1]] * 2)
    check("cases of shards", sorted(len(verdict_lines(shard[1])) for shard in shards), [2, 3])

    database = sqlite3.connect(os.path.join(here, "m.db"))
    rows = [dict(zip(("file", "why"), row)) for row in
            database.execute("SELECT file, why FROM unloaded_files WHERE run = 1 ORDER BY ordinal")]
    check("unloaded in the database", places_of(rows), [1, 1, 1, 1])
    database.execute("UPDATE runs SET finished = NULL WHERE run = 1")
    database.execute("DELETE FROM runs WHERE run > 1")
    database.execute("DELETE FROM unloaded_files WHERE run > 1 OR ordinal > 0")
    database.execute("DELETE FROM cases WHERE name = 'spec/two'")
    database.commit()
    code, out, _ = run("run", "mixed", "-d", "golden", "--db", "m.db", "--resume", inside=here)
    check("resumed", (code, b"; 4 files not loaded; run 1 in" in out), (2, True))
    check("unloaded after resuming", database.execute("SELECT count(*) FROM unloaded_files WHERE run = 1").fetchone()[0], 4)

    errors = [case.get("name") for case in xml.etree.ElementTree.parse(os.path.join(here, "m.xml")).iter("testcase")
              if case.find("error") is not None]
    check("errors in JUnit", errors, ["mixed/2.jsonl", "mixed/5.tflite", "mixed/below/3.mod.py", "mixed/4.jsonl"])
    run("report", "-o", "mixed-page", "--db", "m.db", inside=here)
    with open(os.path.join(here, "mixed-page", "index.html"), encoding="utf-8") as file:
        text = file.read()
    check("report of bad files", ("Files that could not be loaded" in text, "4 files could not be loaded" in text,
                                  all(place in text for place in places)), (True, True, True))

    for command in (["levels", "mixed"], ["dump", "mixed", "--format", "json"]):
        code, out, err = run(*command, inside=here)
        check(f"{command[0]} of a folder", (code, b"3 files could not be loaded:" in err, b"one" in out),
              (2, True, True))
    code, out, _ = run("replay", "mixed/2.jsonl", "--case", "spec/two", "-d", "golden", inside=here)
    check("replay of a case before the error", (code, b"all conforming" in out), (0, True))
    code, _, err = run("run", "mixed/2.jsonl", "-d", "golden", inside=here)
    check("a bad file by name", (code, b"mixed/2.jsonl:2: column 8" in err), (2, True))
    code, _, err = run("run", "mixed/below", "-d", "golden", "--db", "none.db", inside=here)
    check("only bad files", (code, b"below/3.mod.py:1:" in err, os.path.exists(os.path.join(here, "none.db"))),
          (2, True, False))


def check_limits(here):
    stream = lzma.compress(b"\n" * (1 << 25))
    with open(os.path.join(here, "newlines.jsonl.xz"), "wb") as file:
        file.write(stream * 8)
    stream = lzma.compress((b" " * 1023 + b"\n") * (1 << 15), preset=0)
    with open(os.path.join(here, "spaces.jsonl.xz"), "wb") as file:
        file.write(stream * 33)
    with open(os.path.join(here, "long.jsonl.xz"), "wb") as file:
        file.write(lzma.compress(b"[" * (65 << 20), preset=0))
    limits = {"newlines": b"16777217: more lines than the limit of 16777216", "long": b"longer than 67108864 bytes",
              "spaces": b"inflate to more than the limit of 1073741824 bytes"}
    for name, message in limits.items():
        code, out, err = run("run", name + ".jsonl.xz", "-d", "null", inside=here)
        check(f"limit of {name}", (code, out, message in err), (2, b"", True))
    write(os.path.join(here, "failures.jsonl"), *[record(str(i), 9) for i in range(1010)])
    code, out, err = run("run", "failures.jsonl", "-d", "golden", inside=here)
    check("1,010 failures", (code, err, out.count(b"\nfail ") + out.startswith(b"fail "), b"limit of 1000" in out,
                             b"1010 not conforming" in out), (1, b"", 1000, True, True))
    with open(os.path.join(here, "constants.mod.py"), "w") as file:
        file.write('x = prev = Input("x", "TENSOR_FLOAT32", "{1}")\nm = Model()\n'
                   'for i in range(20000):\n'
                   '    y = (Output if i == 19999 else Internal)("t", "TENSOR_FLOAT32", "{1}")\n'
                   '    m.Operation("ADD", prev, x, 0).To(y)\n    prev = y\n'
                   'Example({x: [0], y: [0]})\n')
    code, out, err = run("run", "constants.mod.py", "-d", "null", inside=here)
    check("20,000 implicit constants", (code, err), (0, b""))


with tempfile.TemporaryDirectory() as place:
    check_escapes(place)
    check_folders(place)
    check_limits(place)
print(f"{len(failed)} failed")
sys.exit(bool(failed))
