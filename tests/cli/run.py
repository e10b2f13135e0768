#!/usr/bin/env python3
"""Command-line tests: run.py [--bless] HALCYON FILE...

A .cli file lists commands, which sh runs in an empty folder, with their outputs:

    # a comment
    $ halcyon random --count x
    ! halcyon random: --count: 'x' is not a whole number from 1 to 1000000000
    ? 2

After a command come its lines on stdout (an empty one is written as a backslash), its lines on stderr
(after "! "), and its exit status (after "? ") unless it is 0.  $DATA is the folder tests/cli/data.  Times
and the keys of shards are written as _.  --bless rewrites the files with the actual outputs.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMES = [(re.compile(r"(?<= )\d+\.\d+ s\b"), "_ s"), (re.compile(r"\d+\.\d+ ms\b"), "_ ms"),
         (re.compile(r'("(?:ms|seconds)":)[0-9.e-]+'), r"\1_"),
         (re.compile(r'("(?:key|campaign)":)"[0-9a-f]{16}"'), r'\1"_"'),
         (re.compile(r'(?<= time=")\d+\.\d+'), "_"),
         (re.compile(r'(?<= )(timestamp|hostname)="[^"]*"'), r'\1="_"')]


def hide_times(text):
    for pattern, instead in TIMES:
        text = pattern.sub(instead, text)
    return text


def lines_of(text, prefix=""):
    text = hide_times(text)
    lines = [(prefix + line).rstrip() or "\\" for line in text.splitlines()]
    if text and not text.endswith("\n"):
        lines.append("\\ no end of line")
    return lines


def run_commands(path, halcyon):
    """Runs the commands of a file; returns the file with their actual outputs."""
    data = path.parent / "data"
    result = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATA": str(data), "LC_ALL": "C.UTF-8",
                       "PATH": f"{halcyon.parent}:{os.environ['PATH']}"}
        for line in path.read_text().splitlines():
            if line.startswith("#") or not line.strip():
                result.append(line)
            if not line.startswith("$ "):
                continue
            done = subprocess.run(["sh", "-c", line[2:]], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            result.append(line)
            here = [(str(data), "$DATA"), (folder, "$FOLDER")]
            for stream, prefix in ((done.stdout, ""), (done.stderr, "! ")):
                for found, name in here:
                    stream = stream.replace(found, name)
                result += lines_of(stream, prefix)
            if done.returncode:
                result.append(f"? {done.returncode}")
    return "\n".join(result) + "\n"


def main():
    arguments = sys.argv[1:]
    bless = "--bless" in arguments
    halcyon, *files = [pathlib.Path(a).resolve() for a in arguments if a != "--bless"]
    bad = 0
    for path in files:
        expected, actual = path.read_text(), run_commands(path, halcyon)
        if expected == actual:
            continue
        if bless:
            path.write_text(actual)
            print(f"{path.name}: rewritten")
            continue
        bad += 1
        sys.stdout.writelines(difflib.unified_diff(
            expected.splitlines(keepends=True), actual.splitlines(keepends=True),
            f"{path.name}, expected", f"{path.name}, actual"))
    return 1 if bad else 0


sys.exit(main())
