#!/usr/bin/env python3
"""The example driver over TensorFlow Lite.

    check_tflite_driver.py HALCYON DRIVER SOURCE

Wrong arguments are rejected with the remedy. With the library that the environment variable HALCYON_TFLITE_LIBRARY
names (libtensorflowlite_c.so of the npm package tfjs-tflite-node 0.0.2): the operations and types that the driver
supports, random graphs, of which those fail that SOURCE/tflite-2.9.0.baseline expects, and the rules of `halcyon
conform` about models, requests and versions, but for those in FAILING. The folder SOURCE is built with its Makefile.
Exit status 77 (skipped) without the library.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LEAST_OPERATIONS = 95
GRAPHS = ["--no-probe", "--ops", "1-8", "--seed", "1", "--count", "1400"]  # those of the baseline
LEAST_PASSES = 300
SUITES = ["basic", "model", "request", "generated", "extension", "version"]
# docs/tflite-driver.md, "Rules that fail".
FAILING = {"extension/unknown", "generated/arguments", "generated/insufficient", "generated/judged", "generated/large-numbers",
           "generated/unspecified", "generated/zero-sized", "request/fails"}


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


def check_graphs(halcyon, target, source, folder):
    """Exit status 0: nothing fails but what the baseline expects, and no entry of it is stale."""
    baseline = pathlib.Path(source) / "tflite-2.9.0.baseline"
    text = run(halcyon, "random", *GRAPHS, "-d", target, "--db", folder / "graphs.db", "--baseline", baseline, status=(0,))
    names, numbers = (line.split()[1:] for line in text.splitlines() if line.startswith(("target ", f"{target} ")))
    verdicts = dict(zip(names, map(int, numbers)))
    print(", ".join(f"{n} {verdict}" for verdict, n in verdicts.items()))
    if verdicts["pass"] < LEAST_PASSES:
        sys.exit("too few graphs pass")


def check_conform(halcyon, target):
    chosen = [part for suite in SUITES for part in ("--suite", suite)]
    text = run(halcyon, "conform", "-d", target, *chosen, "--timeout", "20", status=(1,))
    failing = set(re.findall(r"^(?:violation|crash|hang|undecided) (\S+) on ", text, re.M))
    if failing != FAILING:
        sys.exit(f"rules that fail: {sorted(failing)}, expected {sorted(FAILING)}\n{text[:3000]}")


def main(halcyon, driver, source):
    library = os.environ.get("HALCYON_TFLITE_LIBRARY", "")
    check_arguments(halcyon, driver)
    with tempfile.TemporaryDirectory() as folder:
        check_makefile(source, pathlib.Path(folder))
        if not os.path.isfile(library):
            print(f"skipped: HALCYON_TFLITE_LIBRARY={library} does not name a library of TensorFlow Lite")
            sys.exit(77)
        target = f"lib:{driver}?library={library}&loops=1"
        check_support(halcyon, target)
        check_graphs(halcyon, target, source, pathlib.Path(folder))
        check_conform(halcyon, f"lib:{driver}?library={library}")


main(*sys.argv[1:])
