#!/usr/bin/env python3
"""The example driver over TensorFlow Lite.

    check_tflite_driver.py HALCYON DRIVER SOURCE [COUNT]

Wrong arguments are rejected with the remedy. With the library that the environment variable HALCYON_TFLITE_LIBRARY
names (libtensorflowlite_c.so of the npm package tfjs-tflite-node 0.0.2): the operations and types that the driver
supports, and COUNT random graphs (400), whose failures must be the known deviations of docs/tflite-driver.md. The
folder SOURCE is built with its Makefile. Exit status 77 (skipped) without the library.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LEAST_OPERATIONS = 95
# Verdicts of graphs that contain one of these operations may be fail: docs/tflite-driver.md, "Known deviations".
DEVIATING = {"CAST", "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "RESIZE_BILINEAR", "TOPK_V2", "LOCAL_RESPONSE_NORMALIZATION"}


def run(*command, status, **options):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, timeout=1000, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode not in status:
        sys.exit(f"{command}: status {done.returncode}, expected {status}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def check_arguments(halcyon, driver):
    for arguments, message in (("", "library=PATH is missing"),
                               ("?library=/nonexistent/x.so", "/nonexistent/x.so"),
                               ("?library=libc.so.6", "it is not TensorFlow Lite's C library"),
                               ("?library=x&threads=0", "threads=0: a number from 1 to 64 is expected"),
                               ("?library=x&xnnpack=yes", "xnnpack=yes: a number from 0 to 1 is expected"),
                               ("?libary=x", "unknown argument libary; the arguments are library=PATH")):
        text = run(halcyon, "devices", f"lib:{driver}{arguments}", status=(2,))
        if message not in text:
            sys.exit(f"lib:{driver}{arguments}: no '{message}' in\n{text}")


def check_makefile(source, folder):
    shutil.copytree(source, folder / "tflite")
    hal = pathlib.Path(source).resolve().parents[2] / "sim"
    run("make", "-C", folder / "tflite", f"HAL={hal}", "CFLAGS=-O1 -Wall -Wextra -Werror", status=(0,),
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")})


def check_support(halcyon, target):
    text = run(halcyon, "devices", target, status=(0,))
    rows = re.findall(r"^  ([A-Z0-9_]+) +((?:T\w+ ?)+)$", text, re.M)
    if len(rows) < LEAST_OPERATIONS:
        sys.exit(f"{len(rows)} operations are supported, expected {LEAST_OPERATIONS}\n{text}")
    print(f"{len(rows)} operations, {sum(len(types.split()) for _, types in rows)} pairs of operation and type")


def check_graphs(halcyon, target, folder, count):
    text = run(halcyon, "random", "--ops", "1-8", "--seed", "1", "--count", count, "-d", target, "-v", "--json", "--db",
               folder / "graphs.db", status=(0, 1))
    verdicts, bad = collections.Counter(), []
    for line in text.splitlines():
        case = json.loads(line) if line.startswith("{") else {}
        if "verdict" not in case:
            continue
        verdicts[case["verdict"]] += 1
        if case["verdict"] not in ("pass", "unsupported") and not is_known(folder / "graphs.db", case):
            bad.append(line)
    print(", ".join(f"{n} {verdict}" for verdict, n in verdicts.items()))
    if bad or verdicts["pass"] < int(count) // 4:
        sys.exit("\n".join(bad[:5]) or "too few graphs pass")


def is_known(database, case):
    import sqlite3
    with sqlite3.connect(database) as db:
        operations = db.execute("SELECT operation FROM case_operations JOIN cases USING (case_id) WHERE name = ?",
                                [case["case"]])
        return case["verdict"] == "fail" and any(name in DEVIATING for name, in operations)


def main(halcyon, driver, source, count="400"):
    library = os.environ.get("HALCYON_TFLITE_LIBRARY", "")
    check_arguments(halcyon, driver)
    with tempfile.TemporaryDirectory() as folder:
        check_makefile(source, pathlib.Path(folder))
        if not os.path.isfile(library):
            print(f"skipped: HALCYON_TFLITE_LIBRARY={library} does not name a library of TensorFlow Lite")
            sys.exit(77)
        target = f"lib:{driver}?library={library}&loops=1"
        check_support(halcyon, target)
        check_graphs(halcyon, target, pathlib.Path(folder), count)


main(*sys.argv[1:])
