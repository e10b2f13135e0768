#!/usr/bin/env python3
"""Checks that a driver harms nothing but its own verdicts, whatever it does.

    check_hostile.py HALCYON DRIVER [--quick | --every N] [--only GLOB] [--jobs N] [--keep FOLDER]

DRIVER (hostile.h) does one action in one method. For each pair of them that fit, this runs a few random
graphs on sim:cpu and on DRIVER, in a folder of its own, and checks:

- the rows of sim:cpu equal those of a run without DRIVER, in every column but wall-clock times and ids;
- the verdicts of DRIVER and the exit status are those that the action must have (EXPECTED, EXCEPTIONS);
- stdout has the verdicts of the database and nothing else, and the database is complete;
- no process of the run is left, no file was written, changed or removed.

A pair with a problem is run once more, when the others have ended, with time-outs five times as long: on a busy
machine a process may need a second to start. Prints a line for each problem that is then still there, and a
summary; exits 1 if there is one. --quick: a sample; --every N: every Nth pair."""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import fnmatch
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

# Methods that `halcyon random` calls: once for each driver, in each case, in each case that the driver supports.
OF_DRIVER = ["open", "get_capabilities", "get_type", "get_version_string", "get_supported_extensions",
             "get_number_of_cache_files_needed", "get_status", "close", "destructor"]
OF_CASE = ["get_supported_operations"]
OF_EXECUTION = ["prepare_model", "prepare_callback", "execute_synchronously", "execute", "execute_callback",
                "release_model"]
METHODS = OF_DRIVER + OF_CASE + OF_EXECUTION
# In drivers of HAL 1.1 only, whose verdicts have another level and other notes.
OLD_METHODS = ["execute", "execute_callback"]

# Called before the first case by a process that only reads the driver's properties.
# Actions that go on in later cases of the driver, whose verdicts are then theirs, too.
ENDURING = {"fork_and_return", "forge_answers_0", "forge_answers_1", "forge_answers_text", "forge_answers_max",
            "forge_answers_late"}

CONFORMING = {"pass", "unsupported", "waived", "undecided"}
DEATHS = {"crash", "hang"}
# Verdicts of a case in which the action was done; None: those of a driver that does nothing.
EXPECTED = {
    "violation": {"violation", "fail", "refused"} | DEATHS,
    "death": DEATHS,
    "hang": DEATHS,
    "late": CONFORMING | {"violation", "fail", "refused"} | DEATHS,  # and one that does not conform
    "contained": CONFORMING | {"violation", "fail", "refused"} | DEATHS,
    "legal": None,
}
# What differs from the table of actions, and why: (action, method, expectation, reason).
EXCEPTIONS = [
    ("call_back_from_thread", "*", "legal", "it is the only callback"),
    ("call_back_garbage", "*", "hang", "it may block the caller"),
    ("thread_*", "destructor", "contained", "the thread's code is unloaded"),
    ("start_timer", "destructor", "contained", "the handler's code is unloaded"),
    ("handle_signals", "destructor", "contained", "the handler's code is unloaded"),
    ("raise_SIGKILL", "close", "contained", "a kill at the end may come from outside"),
    ("raise_SIGKILL", "destructor", "contained", "a kill at the end may come from outside"),
    ("kill_self", "close", "contained", "a kill at the end may come from outside"),
    ("kill_self", "destructor", "contained", "a kill at the end may come from outside"),
    ("exit_from_thread", "destructor", "contained", "exit() waits for the loader's lock"),
    ("unload_self", "destructor", "contained", "it is being unloaded"),
    ("unload_self", "*_callback", "contained", "a library with a thread of its own stays loaded"),
    ("call_back_*", "*_callback", "late", "the second callback may come when the case has ended"),
]

# A part of each kind for every day.
QUICK = [
    "write_after_output@execute_synchronously", "fill_64k_after_output@execute_synchronously",
    "write_1m_before_output@execute_synchronously", "write_all_shared@execute_synchronously",
    "write_input@execute", "write_model_operand@prepare_model", "write_after_supported@get_supported_operations",
    "write_after_shapes@execute_synchronously", "late_write_1@execute_synchronously",
    "call_back_twice@prepare_model", "no_callback@execute", "wild_object@prepare_model",
    "exit_0@execute_synchronously", "abort@open", "raise_SIGSEGV@destructor", "raise_SIGKILL@release_model",
    "loop_forever@execute_synchronously", "raise_SIGSTOP@prepare_callback", "fork_daemon@prepare_model",
    "fork_and_return@execute_synchronously", "block_signals@open", "round_up@execute_synchronously",
    "close_all@get_status", "print_verdicts@get_supported_operations", "forge_frames@execute_synchronously",
    "kill_harness@execute_synchronously", "kill_all@execute_synchronously", "truncate_database@prepare_model",
    "remove_file@close",
]

LONGEST = 20  # seconds of a run
PATIENCE = 5  # how much longer the time-outs of a repetition are
# Columns that differ between runs that are equal: ids, wall-clock times, what is kept for failures of other targets.
VARIABLE = {"case_id", "target", "run", "ms", "spec", "dot", "uri", "replay", "printed"}

# Graphs of a run. What is late needs more, so that the run lasts until then.
COUNT = 6
MOST = 120


def count_of(task):
    """Number of graphs for an expectation."""
    return {"hang": 1, "late": 40 if task.action.endswith(("_0", "_1")) else MOST}.get(task.expect, COUNT)


Task = collections.namedtuple("Task", "action method expect")
Done = collections.namedtuple("Done", "status out err rows files problems")


# ---- what there is to do


def read_tables(driver):
    # Lazily: the driver calls functions of the harness, which only halcyon's processes have.
    c = ctypes.CDLL(None)
    c.dlopen.restype = ctypes.c_void_p
    library = ctypes.CDLL(str(driver), handle=c.dlopen(str(driver).encode(), os.RTLD_LAZY))
    library.hostile_list.restype = ctypes.c_char_p
    actions, methods = {}, {}
    for line in library.hostile_list().decode().splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "action":
            actions[name] = (int(rest[0]), rest[1])
        else:
            methods[name] = int(rest[0])
    return actions, methods


def expectation(action, method, expect):
    for pattern, where, other, _ in EXCEPTIONS:
        if fnmatch.fnmatch(action, pattern) and fnmatch.fnmatch(method, where):
            return other
    return expect


def make_tasks(actions, methods, only):
    """Every action in every method that has what it needs; those that hang first, because they take longest."""
    tasks = [Task(action, method, expectation(action, method, expect))
             for action, (needs, expect) in actions.items() for method in METHODS
             if needs & methods[method] == needs]
    chosen = [t for t in tasks if any(fnmatch.fnmatch(f"{t.action}@{t.method}", p) for p in only)]
    return sorted(chosen, key=lambda t: t.expect != "hang")


# ---- one run


def processes_of(folder):
    """Processes of a run: they have its folder in their environment or map its copy of the driver."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and any(
                    f"{folder}/".encode() in (process / name).read_bytes() for name in ("environ", "maps")):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def end_processes(folder):
    """Whether processes of a run were left a second after it; they are killed."""
    left = processes_of(folder)
    until = time.monotonic() + 1
    while left and time.monotonic() < until:
        time.sleep(0.02)
        left = processes_of(folder)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def start(folder, command):
    """In a session of its own, below a shell: an attack on the parent meets neither this program nor meson."""
    options = os.environ.get("ASAN_OPTIONS", "")
    env = {**os.environ, "HOSTILE_RUN": f"{folder}/", "ASAN_OPTIONS": f"{options}:detect_leaks=0"}
    return subprocess.Popen(["sh", "-c", '"$@"; exit $?', "sh", *command], cwd=folder, env=env,
                            stdin=subprocess.DEVNULL, stdout=open(folder / "out", "wb"),
                            stderr=open(folder / "err", "wb"), start_new_session=True)


def read_rows(database):
    """The rows of every target, by URI and case, without the columns that vary."""
    rows = collections.defaultdict(dict)
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("integrity_check fails")
        if db.execute("SELECT count(*) FROM runs WHERE finished IS NOT NULL").fetchone()[0] != 1:
            raise sqlite3.DatabaseError("the run is not finished")
        operations = collections.defaultdict(list)
        for case, operation, of in db.execute("SELECT * FROM case_operations ORDER BY 1, 2, 3"):
            operations[case].append((operation, of))
        for row in db.execute("SELECT v.*, c.*, t.uri FROM verdicts v JOIN cases c USING (case_id) "
                              "JOIN targets t USING (target)"):
            row = dict(row)
            kept = {name: value for name, value in row.items() if name not in VARIABLE}
            kept["operations"] = operations[row["case_id"]]
            rows[row["uri"]][row["name"]] = (kept, row)
    return rows


def run(halcyon, driver, folder, arguments, count, patience=1):
    """Runs the cases on sim:cpu and, unless arguments is None, on the driver; with patience times the time-outs."""
    folder.mkdir()
    work = folder / "work"
    work.mkdir()
    (work / "canary").write_text("canary")
    command = [halcyon, "random", "--no-probe", "--op", "ADD", "--types", "TENSOR_FLOAT32", "--ops", "1-1", "--count", count,
               "--seed", 5, "--timeout", patience * (1 if count == 1 else 2), "-j", 2, "--db", work / "h.db", "--json",
               "-d", "sim:cpu"]
    problems = []
    if arguments is not None:
        shutil.copy(driver, folder / "hostile.so")
        command += ["-d", f"lib:{folder}/hostile.so" + (f"?{arguments}&{work}" if arguments else "")]
    process = start(folder, list(map(str, command)))
    try:
        status = process.wait(patience * LONGEST)
    except subprocess.TimeoutExpired:
        problems.append(f"does not end within {patience * LONGEST} s")
        os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    left = end_processes(folder)
    if left:
        problems.append(f"{len(left)} processes are left")
    files, harm = check_files(work)
    problems += harm
    rows = {}
    try:
        if status != 2:
            rows = read_rows(work / "h.db")
    except sqlite3.Error as error:
        problems.append(f"database: {error}")
    return Done(status, (folder / "out").read_bytes(), (folder / "err").read_bytes(), rows, files, problems)


def check_files(work):
    """The names of files after the run; what was harmed otherwise."""
    problems = []
    if not (work / "canary").exists() or (work / "canary").read_text() != "canary":
        problems.append("a file was overwritten or removed")
    shared = pathlib.Path("/dev/shm") / f"hostile-{work.parent.name.partition('@')[2]}"
    if shared.exists():
        shared.unlink()
        problems.append(f"{shared} was written")
    return sorted(path.name for path in work.iterdir()), problems


# ---- what must be so


def difference(expected, actual):
    names = [name for name in expected if expected[name] != actual.get(name)]
    return ", ".join(f"{name}: {actual.get(name)!r}, expected {expected[name]!r}" for name in names)


def check_others(done, reference):
    """The rows of sim:cpu."""
    rows = done.rows.get("sim:cpu", {})
    for name, (expected, _) in reference.items():
        if name not in rows:
            yield f"sim:cpu has no row of {name}"
        elif rows[name][0] != expected:
            yield f"sim:cpu, {name}: {difference(expected, rows[name][0])}"


def check_output(done, expected):
    """A line for each verdict; a later one for the same case and target replaces it."""
    try:
        objects = [json.loads(line) for line in done.out.decode(errors="replace").splitlines()]
    except ValueError:
        return ["stdout has lines that are not JSON"]
    said = {(o["case"], o["target"]): o["verdict"] for o in objects if "case" in o}
    if said != expected or sum("summary" in o for o in objects) != 1 or "summary" not in objects[-1]:
        return ["stdout differs from the database"]
    counts = collections.Counter(expected.values())
    if any(objects[-1]["summary"][verdict] != n for verdict, n in counts.items()):
        return ["the summary differs from the database"]
    return []


def is_done_in(task, verdict):
    """Whether the action is done in a case that has this verdict without it."""
    return task.method not in OF_EXECUTION or verdict != "unsupported"


def is_excused(task, row):
    """Whether a verdict is that of an earlier case, and says so."""
    return task.action in ENDURING or (row.get("confirmed") or "").startswith("does not repeat") or "while it is closed" in row["why"]


def check_cases(task, rows, baseline):
    """The driver's own verdicts."""
    allowed = EXPECTED[task.expect]
    for name, (expected, _) in baseline.items():
        row, whole = rows.get(name, (None, None))
        if row is None:
            yield f"no row of {name}"
        elif not is_done_in(task, expected["verdict"]) or allowed is None:
            if row != expected and (allowed is None or not is_excused(task, whole)):
                yield f"{name}: {difference(expected, row)}"
        elif row["verdict"] not in allowed and (task.method not in OF_DRIVER or row["verdict"] == "error"):
            yield f"{name}: {row['verdict']} ({row['why']})"
        if whole and row["verdict"] not in CONFORMING and not whole["spec"]:
            yield f"{name}: {row['verdict']} without a specification"
        if (whole and task.expect in ("death", "hang")
                and row["verdict"] in DEATHS and "hostile:" not in (whole["printed"] or "")):
            yield f"{name}: {row['verdict']} ({row['why']}): what the driver printed is not kept"


def statuses_of(task, rows):
    """Exit statuses that a run may have; 2: the target is rejected, because it opens or describes itself wrongly."""
    if task.expect == "legal":
        return {0}
    allowed = {1}
    if task.expect == "contained" and all(row["verdict"] in CONFORMING for row, _ in rows.values()):
        allowed = {0}
    may_reject = task.method in OF_DRIVER and task.expect in ("contained", "violation")
    return allowed | ({2} if may_reject else set())


def check_rejected(done):
    """Nothing is written."""
    if done.out or done.rows or done.files != ["canary"]:
        yield f"exit status 2, but there are verdicts or files: {' '.join(done.files)}"


def check(task, done, reference, baseline):
    rows = next((rows for uri, rows in done.rows.items() if uri != "sim:cpu"), {})
    statuses = statuses_of(task, rows)
    yield from done.problems
    if done.status not in statuses:
        said = done.err.decode(errors="replace").strip().splitlines()[-1:]
        yield f"exit status {done.status}, expected {min(statuses)}: {''.join(said)[:200]}"
    elif done.status == 2:
        yield from check_rejected(done)
        return
    if not done.rows:
        return
    if done.files != ["canary", "h.db"]:
        yield f"files after the run: {' '.join(done.files)}"
    yield from check_others(done, reference)
    yield from check_output(done, {(name, uri): row["verdict"] for uri, of in done.rows.items()
                                   for name, (row, _) in of.items()})
    yield from check_cases(task, rows, baseline)


def cases_of(rows, count):
    """The first cases of a longer run."""
    return {name: row for name, row in rows.items() if row[0]["idx"] < count}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("halcyon", type=pathlib.Path)
    parser.add_argument("driver", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    began = time.monotonic()
    actions, methods = read_tables(args.driver.resolve())
    tasks = make_tasks(actions, methods, args.only or (QUICK if args.quick else ["*"]))[::args.every]
    scratch = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
    scratch.mkdir(exist_ok=True)

    def do(name, arguments, count=MOST, patience=1):
        return run(args.halcyon.resolve(), args.driver, scratch / name, arguments, count, patience)

    reference = do("reference", None, patience=PATIENCE).rows["sim:cpu"]
    baselines = {}
    for old in (False, True):
        rows = do(f"baseline{old}", f"nothing@{OLD_METHODS[0] if old else 'open'}", patience=PATIENCE).rows
        baselines[old] = next(rows[uri] for uri in rows if uri != "sim:cpu")

    def problems_of(task, patience=1):
        count = count_of(task)
        name = f"{task.action}@{task.method}"
        done = do(name, name, count, patience)
        problems = list(check(task, done, cases_of(reference, count),
                              cases_of(baselines[task.method in OLD_METHODS], count)))
        if not problems or patience == 1:
            shutil.rmtree(scratch / name)
        return problems

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        again = [task for task, problems in zip(tasks, pool.map(problems_of, tasks)) if problems]
    failed = 0
    for task in again:
        problems = problems_of(task, PATIENCE)
        failed += bool(problems)
        for problem in problems:
            print(f"{task.action}@{task.method}: {problem}", flush=True)
    print(f"{len(tasks)} pairs of action and method, {len(again)} repeated, {failed} with problems, "
          f"{time.monotonic() - began:.0f} s" + (f"; see {scratch}" if failed else ""))
    if not failed and not args.keep:
        shutil.rmtree(scratch)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
