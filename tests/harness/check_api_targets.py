#!/usr/bin/env python3
"""Targets rt: and sl: of the C API.

    check_api_targets.py HALCYON CORPUS LIBNEURALNETWORKS [SUPPORT_LIBRARY]

Over devices that divide models among them, specifications, random graphs and rules conform; the rules that fail are
those of docs/devices.md; a fault that is planted in a device is found; what cannot be opened is reported.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HALCYON, CORPUS, RUNTIME = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:4])
SUPPORT = [str(pathlib.Path(path).resolve()) for path in sys.argv[4:]]
DEVICES = "sim:gpu,sim:dsp"
SUITES = ["basic", "request", "burst", "fenced", "memory-domain", "extension"]
FAILING = {"extension/unknown"}  # of these suites, docs/devices.md


def run(*arguments, status, devices=DEVICES):
    environment = dict(os.environ, HALCYON_DEVICES=devices)
    done = subprocess.run([HALCYON, *map(str, arguments)], text=True, capture_output=True, timeout=600, check=False,
                          stdin=subprocess.DEVNULL, env=environment)
    if done.returncode != status:
        sys.exit(f"{arguments}, devices {devices}: status {done.returncode}, expected {status}\n"
                 f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"no '{part}' in\n{text[-3000:]}")


def summary_of(text):
    return next(json.loads(line)["summary"] for line in text.splitlines() if line.startswith('{"summary"'))


def check_target(target, devices, count):
    """Models and random graphs conform, most of them are run."""
    found = summary_of(run("run", CORPUS, "-d", target, "--json", status=0, devices=devices))
    if found["pass"] < 60:
        sys.exit(f"{target}: {found}")
    found = summary_of(run("random", "-d", target, "--count", count, "--seed", 3, "--json", status=0, devices=devices))
    if found["pass"] != count:
        sys.exit(f"{target}: {found}")


def check_rules(target, devices):
    suites = [word for suite in SUITES for word in ("--suite", suite)]
    run("conform", "-d", target, *suites, "--json-file", "rules.json", status=1, devices=devices)
    verdicts = json.loads(pathlib.Path("rules.json").read_text(encoding="utf-8"))["verdicts"]
    failed = {"/".join(v["case"].split("/")[-2:]) for v in verdicts
              if v["verdict"] not in ("pass", "unsupported", "undecided")}
    if failed != FAILING:
        sys.exit(f"{target}: rules that fail: {failed}, expected {FAILING}")


def check_busy():
    """In real time, devices with short queues are busy: what they refuse is computed by the reference.  Results are
    right nevertheless, and wrong ones are found."""
    rule = ("conform", "-d", "rt:", "--suite", "concurrency/models", "--suite", "consistency/neighbours")
    run(*rule, status=0, devices="sim:gpu,sim:dsp?realtime")
    expect(run(*rule, status=1, devices="sim:cpu?fault=thread-dependent"), "other results than alone",
           "but other results")


def check_openings():
    expect(run("devices", "rt:", status=0), "halcyon-gpu, halcyon-dsp, nnapi-reference")
    pathlib.Path("devices").write_text("# one\nsim:dsp\n\n", encoding="utf-8")
    expect(run("devices", "rt:devices", status=0), "2 devices: halcyon-dsp, nnapi-reference")
    expect(run("devices", "rt:absent", status=2), "absent: No such file")
    expect(run("devices", "rt:", status=2, devices="sim:gpu,sim:nope"), "names 2 drivers, of which 1 serve")
    expect(run("devices", "rt:?speed=9", status=2), "expected ?library=PATH")
    expect(run("devices", "sl:absent.so", status=2), "No such file")
    expect(run("devices", f"sl:{RUNTIME}", status=2), "not a support library")
    expect(run("devices", "rt:", status=2, devices="rt:"), "names 1 drivers, of which 0 serve")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_openings()
        check_target("rt:", DEVICES, 60)
        check_rules("rt:", DEVICES)
        check_busy()
        expect(run("random", "-d", "rt:", "--op", "CONV_2D", "--types", "TENSOR_FLOAT32", "--ops", "1-1", "--count", 30,
                   status=1, devices="sim:cpu?fault=bias-lost"), "elements wrong")
        for library in SUPPORT:
            check_target(f"sl:{library}", "sim:cpu", 60)
            check_rules(f"sl:{library}", "sim:cpu")


main()
