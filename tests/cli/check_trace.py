#!/usr/bin/env python3
"""Traces that the command records: check_trace.py HALCYON

They are JSON although processes that write them crash, hang or are killed; sections follow the grammar
and nest; every layer occurs; each device has its own track."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SECTION = re.compile(r"^(\[SW\]|\[SUB\])?\[NN_(L[ARIDCOU])_(PO|PWU|PBM|PI|PP|PC|PE|PT|PU|PIO|PTR|PCO|PR)\].")

OF_EXECUTION = ("PIO", "PTR", "PCO", "PR")
DEEPER = ["LO", "LA", "LR", "LI", "LD", "LC"]


def check_nesting(match, parent):
    """A section may contain sections of its phase, or of a sub-phase, and of no higher layer. Returns the phase."""
    mode, layer, phase = match[1], match[2], match[3]
    if not parent:
        return phase if phase != "PU" else None
    phase = parent["phase"] if phase == "PU" else phase
    fits = parent["phase"] in (None, "PO", phase) or (parent["phase"] == "PE" and phase in OF_EXECUTION)
    assert fits or phase == "PI" or mode == "[SUB]", f"{match.string} within {parent['name']}"
    assert DEEPER.index(layer) >= DEEPER.index(parent["layer"]) or mode == "[SUB]", \
        f"{match.string} within {parent['name']}"
    return phase


class Trace:
    """Sections by thread, spans by identifier."""

    def __init__(self, events):
        self.layers = collections.Counter()
        self.names = collections.Counter()
        self.processes = {}
        self.open = collections.defaultdict(list)
        self.spans = collections.defaultdict(list)
        self.begin, self.end = float("inf"), 0
        latest = {}
        for event in events:
            thread = event["pid"], event["tid"]
            if event["ph"] == "M":
                if event["name"] == "process_name":
                    self.processes[event["pid"]] = event["args"]["name"]
                continue
            if event["ph"] in "BEX":
                assert event["ts"] >= latest.get(thread, 0) - 1e-3, f"time goes back: {event}"
                latest[thread] = event["ts"]
            self.take(event, thread)

    def take(self, event, thread):
        kind = event["ph"]
        if kind == "B":
            self.open[thread].append(event)
            if event["cat"] == "nnapi":
                match = SECTION.match(event["name"])
                assert match, f"not in the grammar: {event['name']}"
                self.layers[match[2]] += 1
                event["layer"] = match[2]
                event["phase"] = check_nesting(match, self.parent(thread, match[1]))
                self.begin = min(self.begin, event["ts"])
            self.names[event["name"]] += 1
        elif kind == "E":
            assert self.open[thread], f"an end without its begin: {event}"
            begun = self.open[thread].pop()
            assert event["ts"] >= begun.get("until", begun["ts"]) - 0.0005, f"too early: {event}"
            if begun["cat"] == "nnapi":
                self.end = max(self.end, event["ts"])
        elif kind == "X":
            assert self.open[thread], f"a slice outside of executions: {event}"
            around = self.open[thread][-1]
            assert event["ts"] >= around.get("until", around["ts"]) - 0.0005, f"overlaps: {event}"
            around["until"] = event["ts"] + event["dur"]
        elif kind == "b":
            self.spans[event["id"]].append(event["name"])
        else:
            assert kind == "e", event
            assert self.spans[event["id"]].pop() == event["name"], event

    def parent(self, thread, mode):
        """The section that contains the last begun one. A switch ends the time of the section that contains it."""
        around = self.open[thread][:-1]
        if mode == "[SW]":
            assert around and not around[-1].get("ended"), "a switch outside of a section"
            around[-1]["ended"] = True
        return next((event for event in reversed(around) if not event.get("ended")), None)

    def unfinished(self):
        return {thread: stack for thread, stack in self.open.items() if stack}

    def assert_complete(self):
        assert not self.unfinished(), self.unfinished()
        assert not any(self.spans.values()), "asynchronous spans without an end"


def load(path):
    return Trace(json.loads(path.read_text()))


def run(halcyon, folder, *arguments, status=0):
    done = subprocess.run([halcyon, *arguments, "-q", "--db", "x.db"], cwd=folder, text=True,
                          capture_output=True, timeout=200)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"


def check_workers(halcyon, folder):
    run(halcyon, folder, "random", "--no-probe", "--count", "40", "-d", "sim:cpu", "-d", "golden", "-j", "3",
        "--trace", "a.json")
    trace = load(folder / "a.json")
    trace.assert_complete()
    assert all(trace.layers[layer] for layer in ("LA", "LR", "LD", "LC")), trace.layers
    assert trace.names["[NN_LA_PO]random/v2/s1/i7 sim:cpu"] == 1
    assert trace.names["[NN_LR_PP]model_prepare"] and trace.names["[SW][NN_LD_PCO]run"]
    names = collections.Counter(trace.processes.values())
    assert names["halcyon random"] == 1 and names["worker"] == 3, names
    workers = [pid for pid, name in trace.processes.items() if name == "worker"]
    assert all((pid, pid) in trace.open for pid in workers), "a worker has the thread identifier of its parent"
    assert any(name.startswith("halcyon-cpu (virtual clock of") for name in names), names


def check_crashes(halcyon, folder):
    run(halcyon, folder, "random", "--no-probe", "--count", "10", "-d", "sim:cpu?fault=crash", "-j", "2",
        "--isolate", "none", "--trace", "b.json", status=1)
    # The sections in which the process died are recorded, one for each case, and one for each that is
    # confirmed.
    unfinished = load(folder / "b.json").unfinished()
    inner = [stack[-1]["name"] for stack in unfinished.values()]
    assert set(inner) == {"[NN_LD_PE]execute_synchronously"} and 10 <= len(inner) <= 20, inner

    run(halcyon, folder, "random", "--no-probe", "--count", "2", "-d", "sim:cpu?fault=hang", "--timeout", "1", "-j", "2",
        "--isolate", "none", "--trace", "h.json", status=1)
    inner = [stack[-1]["name"] for stack in load(folder / "h.json").unfinished().values()]
    assert set(inner) == {"[NN_LD_PE]execute_synchronously"} and 2 <= len(inner) <= 4, inner


def wait_for(path, process):
    for _ in range(300):
        if path.exists():
            return
        assert process.poll() is None, "the service does not start"
        time.sleep(0.1)


def check_service(halcyon, folder):
    service = subprocess.Popen([halcyon, "serve", "sim:dsp", "--listen", "unix:s", "--trace", "s.json"],
                               cwd=folder, stderr=subprocess.DEVNULL)
    wait_for(folder / "s", service)
    run(halcyon, folder, "random", "--no-probe", "--count", "40", "-d", "unix:s", "-j", "2", "--trace", "c.json")
    service.send_signal(signal.SIGTERM)
    assert service.wait(60) == 0
    client, served = load(folder / "c.json"), load(folder / "s.json")
    client.assert_complete()
    served.assert_complete()
    assert client.layers["LI"] and not client.layers["LD"], client.layers
    assert client.names["[NN_LI_PE]EXECUTE_SYNCHRONOUSLY"] == served.names["[NN_LD_PE]EXECUTE_SYNCHRONOUSLY"] > 0
    assert served.begin < client.begin < client.end < served.end, "client and service use different clocks"


def check_killed(halcyon, folder):
    """After a kill the file has its temporary name, and the JSON array is not closed; all else holds."""
    process = subprocess.Popen([halcyon, "random", "--no-probe", "--count", "1000000", "-d", "sim:cpu", "-j", "2",
                                "--trace", "d.json", "--db", "y.db"], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(3)
    process.kill()
    process.wait()
    time.sleep(1)  # its workers end later
    assert not (folder / "d.json").exists()
    text = (folder / "d.json.halcyon-part").read_text().rstrip()
    assert text.endswith(","), text[-200:]
    trace = Trace(json.loads(text[:-1] + "]"))
    assert trace.layers["LD"], trace.layers


def check_refused(halcyon, folder):
    for path, what in (("no/such.json", "No such file"), (".", "Is a directory")):
        done = subprocess.run([halcyon, "devices", "--trace", path], cwd=folder, text=True,
                              capture_output=True)
        assert done.returncode == 2 and what in done.stderr, done.stderr
    full = subprocess.run(["sh", "-c", 'ulimit -f 1000; exec "$0" devices sim:cpu --trace f.json',
                           halcyon], cwd=folder, text=True, capture_output=True)
    assert full.returncode == 3 and "the trace is incomplete" in full.stderr, full.stderr
    load(folder / "f.json")
    large = subprocess.run([halcyon, "random", "--no-probe", "--count", "200", "-d", "sim:cpu", "--trace", "g.json", "--trace-size",
                            "1"], cwd=folder, text=True, capture_output=True)
    assert large.returncode == 3 and "the limit of --trace-size" in large.stderr, large.stderr
    load(folder / "g.json")
    assert (folder / "g.json").stat().st_size <= 1 << 20
    run(halcyon, folder, "random", "--trace", "e.json", status=2)
    assert not (folder / "e.json").exists(), "bad usage creates a trace file"


def main():
    halcyon = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for check in (check_workers, check_crashes, check_service, check_killed, check_refused):
            check(halcyon, folder)
            print(f"{check.__name__}: passed")


os.environ["LC_ALL"] = "C.UTF-8"
main()
