#!/usr/bin/env python3
"""Checks the log and the trace of an application: check_observed.py APPLICATION HALCYON CHOSEN_DRIVER

The lines that guides to NNAPI describe have their tags and texts, ANDROID_LOG_TAGS and HALCYON_DEBUG_NN_VLOG select
them; `halcyon trace` shows the times of application, runtime, connection and driver, the last from a service's trace."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

APPLICATION, HALCYON, DRIVER = sys.argv[1:4]
BOTH = f"lib:{DRIVER}?name=a&ops=0,lib:{DRIVER}?name=b&ops=18"
VLOG, TAGS = "HALCYON_DEBUG_NN_VLOG", "ANDROID_LOG_TAGS"

# Devices, environment, arguments, lines (regular expressions) that the log has, and some that it has not.
ROWS = [
    ("sim:cpu", {}, [], [r"I Manager: Found interface halcyon-cpu \(version = halcyon cpu 1\)"], ["ExecutionPlan", "ModelBuilder"]),
    ("sim:cpu", {VLOG: "compilation"}, [],
     [r"I ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation\(ADD:0\) = 0 \(halcyon-cpu\)",
      r"I ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation\(MUL:1\) = 0 \(halcyon-cpu\)",
      r"I ExecutionPlan: ModelBuilder::partitionTheWork: only one best device: 0 = halcyon-cpu"],
     ["is computed on", "GraphDump"]),
    (BOTH, {VLOG: "compilation"}, [],
     [r"I ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation\(ADD:0\) = 0 \(a\)",
      r"I ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation\(MUL:1\) = 1 \(b\)",
      r"I ExecutionPlan: Device b can't do operation ADD:0", r"I ExecutionPlan: COMPOUND plan: 2 steps",
      r"I ExecutionPlan: step 1, source 0: .*b"], ["only one best device"]),
    (BOTH, {VLOG: "1"}, [], [r"I ExecutionPlan: step 0: on a", r"I GraphDump: ", r"I Memory: \d+ bytes .* are mapped"], []),
    (BOTH, {VLOG: "execution"}, [],
     [r"I ExecutionPlan: step 0: on a$", r"I ExecutionPlan: step 1: on b$", r"I ExecutionPlan: step 1: on b, with fences"],
     ["findBest"]),
    ("", {VLOG: "model:execution"}, [], [r"I GraphDump: ", r"I ExecutionBuilder: the model is computed on nnapi-reference"],
     ["findBest"]),
    ("", {VLOG: "cpuexe"}, [], [r"I CpuExecutor: .*MUL"], ["GraphDump"]),
    ("sim:cpu?hal=1.2", {VLOG: "compilation,execution"}, ["while"],
     [r"findBestDeviceForEachOperation\(WHILE:0\) = -1 \(NNAPI\)", r"step 0: WHILE: iteration 0: the condition is true",
      r"step 0: WHILE: iteration 2: the condition is false"], ["iteration 3"]),
    ("lib:/nowhere.so", {}, [], [r"E Manager: .*nowhere"], []),
    ("lib:/nowhere.so", {TAGS: "ExecutionPlan:I *:S", VLOG: "compilation"}, [], [r"I ExecutionPlan: "], ["Manager", "ModelBuilder: "]),
    ("sim:cpu", {TAGS: "*:S", VLOG: "all"}, [], [], ["."]),
    ("sim:cpu", {TAGS: "Manager:E", VLOG: "compilation"}, [], [r"I ExecutionPlan: "], ["Found interface"]),
    ("sim:cpu", {VLOG: "nonsense"}, [], [r"E NeuralNetworks: HALCYON_DEBUG_NN_VLOG: .*nonsense"], []),
]


def run(devices, more, *arguments):
    environment = {name: value for name, value in os.environ.items() if name not in (VLOG, TAGS)}
    environment |= {"HALCYON_DEVICES": devices, **more}
    done = subprocess.run([APPLICATION, *arguments], env=environment, text=True, capture_output=True, check=False)
    results = done.stdout.split()
    if done.returncode or results != ["3" if arguments else "12"] * 4:
        sys.exit(f"{devices} {more}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr


def check_log():
    for devices, environment, arguments, has, has_not in ROWS:
        log = run(devices, environment, *arguments)
        yield from (f"{devices} {environment}: no line {line}:\n{log}" for line in has if not re.search(line, log, re.M))
        yield from (f"{devices} {environment}: a line {line}:\n{log}" for line in has_not if re.search(line, log, re.M))


def times(*traces):
    return json.loads(subprocess.run([HALCYON, "trace", "--json", "--total-times", *traces], text=True, check=True,
                                     stdout=subprocess.PIPE).stdout)


def sections(path):
    with open(path, encoding="utf-8") as file:
        return {event.get("name") for event in json.load(file)}


def check_trace(folder):
    client, service, socket = (os.path.join(folder, name) for name in ("client.json", "service.json", "socket"))
    run("sim:cpu", {"HALCYON_TRACE": client})
    here = sections(client)
    for name in ("[NN_LA_PO]" + os.path.basename(APPLICATION)[:15], "[NN_LR_PP]ANeuralNetworksModel_create",
                 "[NN_LR_PC]ANeuralNetworksCompilation_finish", "[NN_LR_PIO]ANeuralNetworksExecution_setInput",
                 "[NN_LR_PE]ANeuralNetworksExecution_burstCompute", "[NN_LR_PE]computeFencedInternal",
                 "[NN_LR_PT]ANeuralNetworksModel_free", "[NN_LD_PE]execute_synchronously"):
        if not any(found and found.startswith(name) for found in here):
            yield f"no section {name} in {sorted(filter(None, here))}"
    with subprocess.Popen([HALCYON, "serve", "sim:cpu", "--listen", f"unix:{socket}", "--trace", service],
                          stderr=subprocess.DEVNULL) as server:
        for _ in range(200):  # until it listens
            if os.path.exists(socket):
                break
            time.sleep(0.1)
        run(f"unix:{socket}", {"HALCYON_TRACE": client})
        server.send_signal(signal.SIGTERM)
    both = sections(client) | sections(service)
    for layer in ("LA", "LR", "LI", "LD"):
        if not any(found and f"[NN_{layer}_" in found for found in both):
            yield f"no section of layer {layer} with a service"
    yield from check_times(times(client, service))
    run("sim:cpu", {"HALCYON_TRACE": os.path.join(folder, "no", "file"), VLOG: ""})


def check_times(runs):
    """Each layer but the application, whose phases are its own, has time in the phase of execution."""
    for layer in ("LR", "LI", "LD"):
        if not any((table["times"]["PE"][layer] or 0) > 0 for table in runs):
            yield f"no time of {layer}: {json.dumps(runs)}"
    if not any((table["times"]["PO"]["LA"] or 0) > 0 for table in runs):
        yield f"no time of LA: {json.dumps(runs)}"


def main():
    found = list(check_log())
    with tempfile.TemporaryDirectory() as folder:
        found += check_trace(folder)
    print("\n".join(found) or "as expected")
    return 1 if found else 0


sys.exit(main())
