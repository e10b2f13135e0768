#!/usr/bin/env python3
"""What `halcyon trace` reads, counts, rejects and exports: check_trace_tables.py HALCYON

Each case is a few marks and the milliseconds that follow from the rules in docs/logging.md, computed by hand. They
are read as text of ftrace, and again as the JSON of Perfetto, and what the command exports of them must give the same."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = "#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION"
OLD_HEADER = "#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION"
ROW = re.compile(r"^\s*[^ ].{1,15}-\d+ +\( *\d+\) \[\d+\] .* \d+\.\d+: tracing_mark_write: "
                 r"(B\|\d+\|((\[SW\]|\[SUB\])?\[NN_L[A-Z]_P[A-Z]*\])?[^][|]+|E\|\d+)$")

# Name, marks, and expected milliseconds. A mark is "TIME NAME" or "TIME E"; "TIME @2 ..." is on thread 2 of another
# process. "LR_PP 9": a total time; "self LR_PP 7": a self-time; "PWU LR_PE 4": within the warm-up; "n/a": not known.
CASES = [
    ("one section", "0 [NN_LR_PP]f; 9 E", "LR_PP 9; LR_PO 9; LA_PP n/a"),
    ("a call of the layer below", "0 [NN_LA_PP]app; 2 [NN_LR_PP]call; 5 E; 9 E", "LA_PP 9; LR_PP 3; self LA_PP 6"),
    ("a switch", "0 [NN_LC_PTR]copy; 3 [SW][NN_LC_PCO]compute; 10 E; 12 E", "LC_PTR 3; LC_PCO 7; LC_PE 10"),
    ("a part of an execution, in another layer", "0 [NN_LR_PE]run; 2 [NN_LC_PCO]compute; 7 E; 9 E",
     "LC_PCO 5; LC_PE 5; LR_PE 9; self LC_PCO 5; self LR_PE 4"),
    ("parts in parts", "0 [NN_LR_PE]run; 1 [NN_LC_PCO]net; 3 [NN_LC_PCO]op; 6 E; 8 E; 11 E",
     "LC_PCO 7; LC_PE 7; LR_PE 11; self LR_PE 4"),
    ("results of an application", "0 [NN_LA_PE]run; 4 [NN_LA_PR]read; 6 E; 10 E",
     "LA_PE 10; LA_PR 2; self LA_PE 10; self LA_PR 2"),
    ("parts in layers", "0 [NN_LA_PE]a; 1 [NN_LR_PE]b; 3 [NN_LR_PIO]c; 4 [NN_LI_PIO]d; 6 E; 9 E; 13 E; 20 E",
     "LR_PIO 6; LI_PIO 2; LI_PE 2; LA_PE 20; LR_PE 12"),
    ("detail", "0 [NN_LR_PE]outer; 2 [NN_LR_PE]inner; 5 E; 9 E", "LR_PE 9; self LR_PE 9"),
    ("a synchronous call over HIDL",
     "0 [NN_LR_PC]compile; 2 [NN_LI_PI]ask; 3 HIDL::IDevice::getCapabilities::client; 6 E; 8 E; 14 E",
     "LR_PC 8; LI_PI 6; self LR_PC 8"),
    ("an asynchronous call over HIDL",
     "0 [NN_LI_PC]prepareModel; 1 HIDL::IDevice::prepareModel_1_1::client; "
     "2 @2 HIDL::IDevice::prepareModel_1_1::server; 3 @2 [NN_LD_PC]prepare; "
     "10 @2 HIDL::IPreparedModelCallback::notify::client; 11 @2 E; 11 @2 E; 14 @2 E; "
     "15 HIDL::IPreparedModelCallback::notify::server; 16 E; 17 E; 20 E",
     "LI_PC 20; LD_PC 12"),
    ("subtracted from its parent", "0 [NN_LI_PC]call; 3 [SUB][NN_LR_PC]validate; 5 E; 11 E", "LI_PC 9; LR_PC 2"),
    ("subtracted from the parent of a detail",
     "0 [NN_LI_PC]call; 2 [NN_LI_PC]inner; 3 [SUB][NN_LR_PC]validate; 7 E; 8 E; 11 E", "LI_PC 7; LR_PC 4"),
    ("late initialisation", "0 [NN_LR_PP]first; 1 [NN_LR_PI]init; 5 E; 8 E", "LR_PI 4; LR_PP 4"),
    ("utility", "0 [NN_LR_PP]f; 2 [NN_LU_PU]u; 5 E; 9 E", "LR_PP 9"),
    ("phases of an application",
     "0 [NN_LA_PO]run; 1 [NN_LA_PP]build; 4 [SW][NN_LA_PC]compile; 11 E; 12 E; 20 E", "LA_PO 20; LA_PP 3; LA_PC 7"),
    ("an application without termination",
     "0 [NN_LA_PC]app; 2 [NN_LR_PC]compile; 10 E; 11 [NN_LR_PT]free; 14 E; 20 E", "LA_PC 17; LR_PC 8; LR_PT 3"),
    ("warm-up and benchmark",
     "0 [NN_LA_PWU]w; 1 [NN_LR_PE]ANeuralNetworksExecution_create; 5 E; 6 E; "
     "7 [NN_LA_PBM]b; 8 [NN_LR_PE]ANeuralNetworksExecution_create; 10 E; 12 E",
     "LR_PE 6; PWU LR_PE 4; PBM LR_PE 2; counts 0 1 1"),
    # Beyond those: the rest of the rules.
    ("benchmark of compilation", "0 [NN_LA_PWM]w; 1 [NN_LA_PC]c; 4 E; 5 E; 6 [NN_LA_PBM]b; 7 [NN_LA_PC]c; 9 E; 9 E",
     "LA_PC 5; counts 0 0 0"),
    ("marks of early versions", "0 [NN_LR_PT]ANeuralNetworksExecution_free; 3 E; 4 [NN_LR_PC]getSupportedExtensions; 6 E",
     "LR_PE 3; LR_PT 0; LR_PI 2; LR_PC 0"),
    ("other programs' sections", "0 [NN_LR_PP]f; 1 draw; 2 [NN_LR_PP]g; 3 E; 4 E; 9 E", "LR_PP 9"),
    ("text with brackets", "0 [NN_LR_PP]f[3]x; 9 E", "LR_PP 9"),
    ("asynchronous executions",  # 4..20 and what another thread of the process does for it
     "0 [NN_LR_PE]ANeuralNetworksExecution_create; 1 E; 4 [NN_LR_PE]ANeuralNetworksExecution_startCompute; "
     "6 %3 [NN_LR_PE]work; 7 E; 15 [NN_LR_PE]ANeuralNetworksEvent_wait; 18 %3 E; 20 E; "
     "30 [NN_LR_PE]ANeuralNetworksExecution_compute; 37 E", "LR_PE 24; counts 1 0 0"),
    ("a driver of HAL 1.0",
     "0 [NN_LI_PE]execute; 1 HIDL::IPreparedModel::execute::client; 2 @2 HIDL::IPreparedModel::execute::server; "
     "3 @2 E; 4 E; 5 %2 [NN_LD_PCO]net; 8 %2 E; 9 %2 HIDL::IExecutionCallback::notify::client; 10 %2 E; 12 E",
     "LD_PE 7; LD_PCO 3; LI_PE 12"),
    ("a driver of HAL 1.3",
     "0 [NN_LI_PE]execute; 1 HIDL::IPreparedModel::executeSynchronously_1_3::client; "
     "2 @2 HIDL::IPreparedModel::executeSynchronously_1_3::server; 8 @2 E; 9 E; 12 E", "LD_PE 6; LI_PE 12"),
    ("a driver behind AIDL",
     "0 [NN_LI_PE]execute; 1 AIDL::ndk::IPreparedModel::executeFenced::client; "
     "2 @2 AIDL::ndk::IPreparedModel::executeFenced::server; 8 @2 E; 9 E; 12 E", "LD_PE 6; LI_PE 12"),
    ("a driver in its caller's process", "0 [NN_LR_PE]run; 1 [NN_LD_PE]execute; 2 [NN_LC_PE]reference; 8 E; 9 E; 12 E",
     "LR_PE 12; LD_PE 8; LC_PE 0; self LR_PE 4"),
    ("a driver beside the CPU", "0 [NN_LR_PE]run; 1 [NN_LI_PE]execute; 2 @2 [NN_LD_PE]execute; 5 @2 E; 6 E; "
     "7 [NN_LC_PE]fallback; 15 E; 20 E", "self LR_PE 7; self LI_PE 2; self LD_PE 3; self LC_PE 8"),
    ("subtracted, and counted above", "0 [NN_LR_PC]f; 1 [NN_LI_PC]g; 3 [SUB][NN_LR_PC]h; 5 E; 8 E; 9 E",
     "LR_PC 9; LI_PC 5; self LR_PC 4"),
    ("initialisation in a run", "0 [NN_LA_PO]run; 2 [NN_LR_PI]open; 9 E; 20 E", "LA_PO 20; LR_PI 7"),
    ("one run of two", "0 [NN_LR_PI]before; 1 E; 2 [NN_LA_PO]a; 3 [NN_LR_PP]f; 5 E; 9 E; 10 [NN_LA_PO]b; 19 E",
     "LA_PO 7; LR_PP 2; LR_PI 0"),
]

# By the names that parse_systrace knows, with its windows and its nesting of driver and CPU.
PUBLIC_CASES = [
    ("executions by name", "0 [NN_LR_PE]execute; 9 E; 10 [NN_LR_PE]ANeuralNetworksExecution_create; 12 E", "LR_PE 2"),
    ("no driver of HAL 1.3", CASES[23][1], "LD_PE 0; LI_PE 12"),
    ("a driver of HAL 1.0", "3 @2 HIDL::IDevice::ping::server; 3 @2 E; " + CASES[22][1], "LD_PE 7"),
    ("a driver in its caller's process", "0 [NN_LR_PE]run; 1 [NN_LD_PE]execute; 9 E; 12 E", "LC_PE 8; LD_PE 0"),
    ("counted twice", CASES[27][1], "LR_PC 11"),
    ("until the next run", CASES[29][1], "LA_PO 7; LR_PI 1"),
]

# Marks that are rejected, and what the message says.
REJECTED = [
    ("0 [NN_LR_PP]f; 1 [NN_LA_PP]g; 2 E; 3 E",
     r"line 3: thread 1 of process 100: \[NN_LA_PP\]g is nested in \[NN_LR_PP\]f \(line 2\): wrong layer"),
    ("0 [NN_LR_PC]f; 1 [NN_LR_PE]g; 2 E; 3 E", r"\[NN_LR_PE\]g is nested in \[NN_LR_PC\]f \(line 2\): wrong phase"),
    ("0 [NN_LI_PE]f; 1 [NN_LC_PE]g; 2 E; 3 E", "wrong layer"),
    ("0 [NN_LR_PP]f; 1 E; 2 E", r"line 4: thread 1: an end \(E\) without a begin \(B\).*record again"),
    ("0 [SW][NN_LR_PP]f; 1 E", r"line 2: thread 1: \[SW\]\[NN_LR_PP\]f switches from a section"),
    ("0 [NN_LA_PO]a; 1 [NN_LR_PP]f; 2 E", r"line 2: \[NN_LA_PO\]a \(thread 1\) has no end"),
    ("0 draw; 1 E", "no sections of NNAPI"),
]


def events(marks):
    """(ms, process, thread, name or None) of each mark."""
    for mark in marks.split("; "):
        time, name = mark.split(" ", 1)
        process, thread = 100, 1
        if name[0] in "@%":
            place, name = name.split(" ", 1)
            thread = int(place[1:])
            process = 200 if thread == 2 else 100
            thread += name[0] == "x"
        if mark.split(" ")[1].startswith("%2"):
            thread = 4  # another thread of the driver
        yield float(time), process, thread, None if name == "E" else name


def as_ftrace(marks, old=False):
    rows = [OLD_HEADER if old else HEADER]
    for ms, process, thread, name in events(marks):
        column = "" if old else f"({process:5}) "
        what = f"E|{process}" if name is None else f"B|{process}|{name}"
        rows.append(f"      a task-{thread:<5} {column}[000] ...1 {1 + ms / 1000:.6f}: tracing_mark_write: {what}")
    return "\n".join(rows) + "\n"


def as_perfetto(marks):
    """Complete events in the order of their ends, and a section without an end, in an object over many lines."""
    out, open_ones = [], {}
    for ms, process, thread, name in events(marks):
        stack = open_ones.setdefault(thread, [])
        if name is not None:
            stack.append((ms, name))
            continue
        begin, name = stack.pop()
        out.append({"ph": "X", "pid": process, "tid": thread, "ts": begin * 1000, "dur": (ms - begin) * 1000,
                    "name": name, "args": {"[": "}"}})
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": out, "metadata": {}}, indent=2)


class Checker:
    def __init__(self, halcyon, folder):
        self.halcyon, self.folder = halcyon, folder

    def run(self, *arguments, status=0):
        done = subprocess.run([self.halcyon, "trace", *arguments], cwd=self.folder, text=True, capture_output=True)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def first_run(self, file, *options):
        return json.loads(self.run(file, "--json", *options).stdout)[0]


def check_number(found, expected, what):
    if expected == "n/a":
        assert found is None, f"{what}: {found}, expected n/a"
    else:
        assert abs((found or 0) - float(expected)) < 1e-4, f"{what}: {found}, expected {expected}"


def check_expected(run, expected, name):
    for item in expected.split("; "):
        words = item.split()
        if words[0] == "counts":
            counts = run["execution_counts"]
            assert [counts[part] for part in ("PO", "PWU", "PBM")] == [int(word) for word in words[1:]], (name, counts)
            continue
        table = run["self_times"] if words[0] == "self" else run["times"]
        table = table[words[0]] if words[0] in ("PWU", "PBM") else table
        layer, phase = words[-2].split("_")
        check_number(table[phase][layer], words[-1], f"{name}: {item}")


def is_near(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_near(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) < 1e-6 * max(1, abs(one))
    return one == other


def check_cases(checker):
    for name, marks, expected in CASES:
        text = checker.write("case.txt", as_ftrace(marks))
        found = checker.first_run(text)
        check_expected(found, expected, name)
        other = checker.first_run(checker.write("case.json", as_perfetto(marks)))
        assert is_near(found, other), f"{name}: as JSON {other['times']}, as text {found['times']}"
        checker.run(text, "--export", "again.txt")
        again = checker.first_run("again.txt")
        assert is_near(found["times"], again["times"]), f"{name}: exported {again['times']}, was {found['times']}"


def check_public(checker):
    for name, marks, expected in PUBLIC_CASES:
        found = checker.first_run(checker.write("case.txt", as_ftrace(marks)), "--public")
        check_expected(found, expected, name)


def check_per_execution(checker):
    """Of a benchmark alone: 2 executions of 3 ms, and one of 9 in the warm-up."""
    marks = ("0 [NN_LA_PO]run; 1 [NN_LA_PWU]w; 1 [NN_LA_PE]r; 1 [NN_LR_PE]compute; 10 E; 10 E; 10 E; 11 [NN_LA_PBM]b; "
             "11 [NN_LA_PE]r; 11 [NN_LR_PE]compute; 12 E; 13 E; 14 [NN_LA_PE]r; 15 [NN_LR_PE]compute; 20 E; 20 E; 20 E; 21 E")
    text = checker.write("case.txt", as_ftrace(marks))
    found = checker.first_run(text, "--per-execution", "--total-times")
    assert found["execution_counts"] == {"PO": 0, "PWU": 1, "PBM": 2}, found["execution_counts"]
    check_number(found["template_inputs"]["LR_PE"], 3, "LR_PE per execution")
    check_number(found["template_inputs"]["LA_PE"], 4, "LA_PE per execution")
    check_number(found["template_inputs"]["LA_PO"], 21, "LA_PO")
    out = checker.run(text, "--per-execution").stdout
    assert "benchmark, per execution" in out and out.startswith("[NN_LA_PO]run\n"), out
    assert set(found) == {"version", "starting_mark", "times", "self_times", "execution_counts", "template_inputs"}
    assert found["starting_mark"] == "B|100|[NN_LA_PO]run" and found["version"] == 1
    assert set(found["times"]) == {"PO", "PI", "PP", "PC", "PT", "PE", "PIO", "PTR", "PCO", "PR", "PWU", "PBM"}
    assert set(found["times"]["PWU"]) == {"PE", "PIO", "PTR", "PCO", "PR"}


def check_detail(checker):
    text = checker.write("case.txt", as_ftrace("0 [NN_LR_PP]f; 1 [NN_LR_PI]i; 3 E; 4 [NN_LR_PP]g; 5 E; 9 E"))
    out = checker.run(text, "--print-detail").stdout
    for line in ("the whole trace", "9.000 ms  [NN_LR_PP]f (without 2.000 ms)", "2.000 ms  [NN_LR_PI]i (subtracted)",
                 "2.000 ms  [NN_LR_PI]i (counted here as LR PI)", "1.000 ms  [NN_LR_PP]g (detail)"):
        assert line in out, f"{line} is missing in\n{out}"


def check_rows(checker):
    """Rows as kernels print them: names of tasks, unknown processes, flags, other events, a page of systrace."""
    rows = """  NeuralNetworks-5143  ( 5143) [005] ...1   142.000000: tracing_mark_write: B|5143|[NN_LR_PP]f
    <...>-5149  (-----) [000] d..2   142.000500: tracing_mark_write: B|774|[NN_LD_PP]g
 HwBinder:784_1-5236  (  784) [001] ...1   142.000600: tracing_mark_write: S|784|[asynchronous]|7
      GLThread 35-1739  ( 1500) [001] ...1   142.000700: tracing_mark_write: B|1500|HIDL::IMapper::importBuffer::passthrough
      GLThread 35-1739  ( 1500) [001] ...1   142.000800: tracing_mark_write: E
      a-1 [2] b-c-77    (   77) [001] .... 142.000900: sched_wakeup: comm=x pid=3
allocator@1.0-s-5149   (  774) [005] ...1   142.001500: tracing_mark_write: E|774
NeuralNetworks-5143  ( 5143) [005] ...1   142.004000: print: tracing_mark_write: E|5143
"""
    page = f"<!DOCTYPE html>\n<script>var x = '[NN_';</script>\n<script class=\"trace-data\">\n# tracer: nop\n{HEADER}\n"
    for name, text in (("plain", HEADER + "\n" + rows), ("page", page + rows + "</script>\n  [NN_ is not read\n")):
        found = checker.first_run(checker.write(name, text))
        check_number(found["times"]["PP"]["LR"], 4, name)
        check_number(found["times"]["PP"]["LD"], 1, name)
    marks = CASES[1][1]
    found = checker.first_run(checker.write("old", as_ftrace(marks, old=True).replace("E|100", "E")))
    check_expected(found, CASES[1][2], "the older header")
    lost = checker.run(checker.write("lost", "# entries-in-buffer/entries-written: 5/9   #P:4\n" + as_ftrace(marks)))
    assert "lost events" in lost.stderr, lost.stderr
    for row in ("x-1 (1) [0] .... 1.0: tracing_mark_write: B|x|[NN_LR_PP]f", "[NN_LR_PP]", "x-1 1.0: tracing_mark_write: E|1"):
        failed = checker.run(checker.write("bad", HEADER + "\n" + row + "\n"), status=2)
        assert "bad: line 2: expected 'TASK-PID" in failed.stderr, failed.stderr


def check_json(checker):
    whole = '{"ph": "%s", "pid": 1, "tid": 1, "ts": %s, "name": "[NN_LR_PP]f"%s}'
    for name, text in (("lines", whole % ("B", 0, "") + "\n" + whole % ("E", 9000, "")),
                       ("open", "[" + whole % ("B", 0, "") + ",\n" + whole % ("E", 9000, "") + ","),
                       ("metadata first", '{"a": [{"b": "]"}], "traceEvents": [' + whole % ("X", 0, ', "dur": 9e3') + "]}"),
                       ("one line", "[" + whole % ("B", 0, "") + whole % ("E", 9000, "") + "]")):
        check_number(checker.first_run(checker.write("x.json", text))["times"]["PP"]["LR"], 9, name)
    for text, message in (
            ("[" + whole % ("X", 0, "") + "]", 'line 1: "dur" of an event is missing'),
            ("[\n" + whole % ("B", '"now"', "") + "]", 'line 2: "ts" of an event is no number'),
            ('[\n\n{"ph": "B"', "line 3: the file ends within the value"),
            ("[\n" + whole % ("X", 0, ', "dur": 9') + ",\n" + whole % ("X", 5, ', "dur": 9') + "]",
             r"line 3: thread 1: [NN_LR_PP]f overlaps the end of [NN_LR_PP]f (line 2)"),
            ("\x1f\x8b", "compressed")):
        failed = checker.run(checker.write("x.json", text), status=2)
        assert message in failed.stderr, failed.stderr


def check_rejected(checker):
    for marks, message in REJECTED:
        for arguments in ([], ["--export", "none.txt"]):
            failed = checker.run(checker.write("bad.txt", as_ftrace(marks)), *arguments,
                                 status=0 if arguments and "has no end" in message else 2)
            assert arguments or re.search(message, failed.stderr), f"{marks}: {failed.stderr}"
    both = checker.run(checker.write("half.txt", as_ftrace("0 [NN_LA_PO]a; 9 E; 10 [NN_LA_PO]b; 11 [NN_LR_PP]f")))
    assert "[NN_LA_PO]a" in both.stdout and "[NN_LA_PO]b" not in both.stdout, both.stdout
    assert "line 5: [NN_LR_PP]f" not in both.stderr and "the run [NN_LA_PO]b is left out" in both.stderr, both.stderr


def check_recorded(checker):
    """A trace of ours, exported: rows that parse_systrace's pattern fits, nothing that it rejects, the same times."""
    data = pathlib.Path(__file__).parent / "data" / "add.mod.py"
    subprocess.run([checker.halcyon, "run", data, "-d", "sim:gpu", "-d", "golden", "-j", "1", "-q", "--db", "x.db", "--trace",
                    "t.json"], cwd=checker.folder, check=True, capture_output=True)
    checker.run("t.json", "--export", "t.txt")
    lines = (checker.folder / "t.txt").read_text().splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert HEADER in lines and len(rows) > 100
    for row in rows:
        assert ROW.match(row), row
        assert "[NN_LO_" not in row, row
    names = [row for row in rows if "ANeuralNetworksExecution_startCompute" in row]
    tables = [json.loads(checker.run(file, "--json", *options).stdout)
              for file, options in (("t.json", []), ("t.txt", []), ("t.txt", ["--public"]))]
    assert len(tables[0]) == len(tables[2]) == 4 and len(names) == sum(run["execution_counts"]["PO"] for run in tables[0])
    for ours, exported, public in zip(*tables):
        assert is_near(ours["times"], exported["times"]), f"{ours}\n{exported}"
        assert ours["times"]["PE"]["LD"] > 0 and ours["execution_counts"] == public["execution_counts"], ours
        check_number(public["times"]["PE"]["LR"], ours["times"]["PE"]["LR"], ours["starting_mark"])


def main():
    halcyon = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(halcyon, pathlib.Path(folder))
        for check in (check_cases, check_public, check_per_execution, check_detail, check_rows, check_json, check_rejected,
                      check_recorded):
            check(checker)
            print(f"{check.__name__}: passed")


os.environ["LC_ALL"] = "C.UTF-8"
main()
