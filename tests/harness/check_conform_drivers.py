"""halcyon conform on drivers other than the shipped ones: check_conform_drivers.py HALCYON HOSTILE

HOSTILE (hostile.h) does one harmful action in one method: it costs that driver rules, with a finding that says why, and
changes nothing of another target."""
import os
import re
import subprocess
import sys
import tempfile

# Action and method; outcomes of which one must occur, and what a finding must say.
ACTIONS = [
    ("nothing@prepare_model", set(), ""),
    ("exit_0@prepare_model", {"crash"}, "the driver exits the process with status 0"),
    ("_exit_2@execute_synchronously", {"crash"}, "the driver exits the process with status 2"),
    ("exit_from_thread@prepare_model", {"crash"}, "exits the process"),
    ("abort@get_supported_operations", {"crash"}, "Aborted"),
    ("read_null@execute_synchronously", {"crash"}, "Segmentation fault"),
    ("fork_and_return@prepare_model", {"violation"}, "returns a second time, in a process that the driver forked"),
    ("fork_sleeper@prepare_model", set(), ""),
    ("sleep_forever@execute_synchronously", {"hang"}, "no progress for"),
    ("no_callback@prepare_model", {"hang"}, "no progress for"),
    ("call_back_twice@prepare_model", {"violation"}, "prepare_model called back "),
    ("call_back_again_1@prepare_model", {"violation"}, "prepare_model called back "),
    ("null_object@prepare_model", {"violation"}, "without a prepared model"),
    ("wrong_numbers@execute_synchronously", {"violation"}, "other results than the exact ones"),
    ("forge_timing@execute_synchronously", {"violation"}, "durations"),
    ("fail@execute_synchronously", {"violation"}, "the status does not have"),
    ("forge_answers_0@prepare_model", set(), ""),
    ("kill_harness@prepare_model", set(), ""),
    ("create_file@prepare_model", set(), ""),
    ("remove_file@prepare_model", set(), ""),
    ("close_all@prepare_model", {"crash", "hang"}, ""),
]
SUITES = ["request/valid", "request/R1", "request/R2", "generated/status", "generated/results", "generated/untimed", "basic/B12"]


def conform(halcyon, targets, suites=(), *more, timeout=20):
    command = [halcyon, "conform", "--timeout", str(timeout), *more]
    for target in targets:
        command += ["-d", target]
    for suite in suites:
        command += ["--suite", suite]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--db", os.path.join(folder, "conform.db")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert run.returncode in (0, 1), f"{command}: exit status {run.returncode}\n{run.stdout}{run.stderr}"
    return run.stdout


def lines_of(output, target):
    """The lines of the summary about a target, one per suite."""
    lines = output.splitlines()
    at = lines.index(target) + 1
    return [line for line in lines[at:] if line.startswith("  ")][: len({s.split("/")[0] for s in SUITES})]


def processes_with(text):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read() and int(pid) != os.getpid():
                    found.append(pid)
        except OSError:
            pass
    return found


def check_hostile(halcyon, driver, folder, other):
    work = os.path.join(folder, "work")
    os.mkdir(work)
    alone = lines_of(conform(halcyon, [other], SUITES), other)
    for action, outcomes, text in ACTIONS:
        target = f"lib:{driver}?{action}&{work}"
        before = sorted(os.listdir(work))
        output = conform(halcyon, [target, other], SUITES, timeout=4 if "hang" in outcomes else 20)
        assert lines_of(output, other) == alone, f"{action}: another target has other results\n{output}"
        found = set(re.findall(r"^(violation|crash|hang) ", output, re.M))
        assert outcomes & found or not outcomes and not found, f"{action}: {found}, expected {outcomes}\n{output}"
        assert text in output, f"{action}: no finding says '{text}'\n{output}"
        assert sorted(os.listdir(work)) == before, f"{action}: files were changed"
        left = processes_with(work)
        assert not left, f"{action}: processes are left: {left}"


def check_all_apply(output, name):
    failed = re.findall(r"^(?:violation|crash|hang|undecided) (\S+) on ", output, re.M)
    assert not failed, f"{name}: {failed}\n{output}"


def check_others(halcyon):
    check_all_apply(conform(halcyon, ["null"]), "null")
    check_all_apply(conform(halcyon, ["golden"]), "golden")
    check_all_apply(conform(halcyon, ["sim:cpu?lowest=fl5"]), "lowest fl5")


def check_models(halcyon):
    listed = subprocess.run([halcyon, "conform", "--list"], capture_output=True, text=True, check=True).stdout
    forms, all_forms, rows, all_rows = map(int, re.search(
        r"models: (\d+) of (\d+) forms and (\d+) of (\d+) typing rows", listed).groups())
    assert rows == all_rows and forms >= all_forms - 1, listed.splitlines()[-1]
    specs = os.path.join(os.environ.get("MESON_SOURCE_ROOT", "."), "specs", "corpus")
    if os.path.isdir(specs):
        output = conform(halcyon, ["sim:cpu"], ["request/valid", "model/M1"], "--models", specs)
        assert re.search(r"; [1-9]\d* of --models", output), output
        check_all_apply(output, "--models")


def main():
    halcyon, hostile = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        check_hostile(halcyon, hostile, folder, "sim:cpu")
    check_others(halcyon)
    check_models(halcyon)


main()
