#!/usr/bin/env python3
"""`halcyon bench` on made-up models, images and lists, with figures worked out by hand: check_bench.py HALCYON

Images are of one colour.  Models tell which of red, green and blue is brightest, by pooling the image or by a
convolution with the identity.
"""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "specs" / "tflite"))
from writer import Model  # noqa: E402

HALCYON = str(pathlib.Path(sys.argv[1]).resolve())
SOURCE = pathlib.Path(__file__).resolve().parents[3]
STATE = pathlib.Path(__file__).resolve().parents[2] / "specs" / "tflite" / "state.tflite"
RED, GREEN, BLUE, WHITISH = (200, 100, 0), (100, 200, 0), (0, 100, 200), (255, 200, 0)


def fail(text):
    sys.exit(f"check_bench: {text}")


# ---- images: baseline JPEG of three colours that are not transformed, each 8 x 8 block of one value


def jpeg(width, height, colour):
    def segment(marker, data):
        return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data

    lengths = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]  # of the DC codes of ITU T.81, table K.3
    codes = ["00", "010", "011", "100", "101", "110", "1110", "11110", "111110", "1111110", "11111110", "111111110"]
    bits, last = "", [0, 0, 0]
    for _ in range(((width + 7) // 8) * ((height + 7) // 8)):
        for c in range(3):
            value = colour[c] - 128  # with a quantiser of 8, the DC coefficient of a block of equal values
            change, last[c] = value - last[c], value
            size = abs(change).bit_length()
            bits += codes[size]
            if size:
                bits += format(change if change > 0 else change + (1 << size) - 1, f"0{size}b")
            bits += "0"  # end of block, the only AC code
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    frame = struct.pack(">BHHB", 8, height, width, 3) + b"".join(bytes([c + 1, 0x11, 0]) for c in range(3))
    tables = bytes([0]) + bytes(lengths) + bytes(range(12))
    ends = bytes([0x10]) + bytes([1] + [0] * 15) + bytes([0])
    start = bytes([3]) + b"".join(bytes([c + 1, 0]) for c in range(3)) + bytes([0, 63, 0])
    adobe = b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 0)
    return (b"\xff\xd8" + segment(0xEE, adobe) + segment(0xDB, bytes([0] + [8] * 64)) + segment(0xC0, frame)
            + segment(0xC4, tables) + segment(0xC4, ends) + segment(0xDA, start) + scan + b"\xff\xd9")


def write_images(folder, colours):
    """image-0.jpeg ...; archives and folders list them in another order."""
    folder.mkdir()
    for i, colour in enumerate(colours):
        (folder / f"image-{i}.jpeg").write_bytes(jpeg(20 + i, 30, colour))
    (folder / "note.txt").write_text("no image")
    with tarfile.open(f"{folder}.tar", "w") as archive:
        for path in sorted(folder.iterdir(), reverse=True):
            archive.add(path, f"some/{path.name}")


# ---- models


def brightest(path, type, scale=None, zero=0):
    """The mean of each colour."""
    m = Model()
    x = m.tensor([1, 8, 8, 3], type, None, scale, zero)
    p = m.tensor([1, 1, 1, 3], type, None, scale, zero)
    shape = m.tensor([2], "INT32", [1, 3])
    y = m.tensor([1, 3], type, None, scale, zero)
    m.op("AVERAGE_POOL_2D", [x], [p], padding=1, stride_w=8, stride_h=8, filter_width=8, filter_height=8)
    m.op("RESHAPE", [p, shape], [y])
    m.inputs, m.outputs = [x], [y]
    path.write_bytes(m.encode())


def copied(path):
    """The image's one pixel, through a convolution with the identity."""
    import numpy
    m = Model()
    x = m.tensor([1, 1, 1, 3], "FLOAT32")
    f = m.tensor([3, 1, 1, 3], "FLOAT32", numpy.eye(3).reshape(3, 1, 1, 3))
    b = m.tensor([3], "FLOAT32", [0, 0, 0])
    y = m.tensor([1, 1, 1, 3], "FLOAT32")
    m.op("CONV_2D", [x, f, b], [y], padding=1, stride_w=1, stride_h=1)
    m.inputs, m.outputs = [x], [y]
    path.write_bytes(m.encode())


def sum_of_1000(path):
    m = Model()
    x = m.tensor([1, 1000], "FLOAT32")
    c = m.tensor([1, 1000], "FLOAT32", [[1] * 1000])
    y = m.tensor([1, 1000], "FLOAT32")
    m.op("ADD", [x, c], [y])
    m.inputs, m.outputs = [x], [y]
    path.write_bytes(m.encode())


# ---- running


def bench(folder, *arguments, status=0):
    done = subprocess.run([HALCYON, "bench", "--json", *map(str, arguments)], cwd=folder, text=True, capture_output=True,
                          timeout=300, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != status:
        fail(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(row["model"], row["target"]): row for row in rows if "model" in row}, done.stderr


def expect(row, key, value):
    found = row["metrics"].get(key, {}).get("value")
    if found is None or abs(found - value) > 1e-12:
        fail(f"{row['model']} on {row['target']}: {key} is {found}, expected {value}")


def entry(name, **more):
    return {"name": name, "baselineSec": 0.1, **more}


def images_entry(name, model, size, preprocessor="Inception", images="images", **more):
    return entry(name, modelFile=model, inputSize=[1, size, size, 3],
                 dataset={"inputPath": images, "groundTruth": "truth.txt", "labels": "labels.txt",
                          "preprocessor": preprocessor}, **more)


def write_list(folder, name, *models):
    (folder / name).write_text(json.dumps({"models": models}))
    return name


# ---- checks


def check_images(folder):
    """Of 5 images red, red, green, blue and whitish, one red one is labelled green: 4 of 5 are right in float.
    Whitish has a red of 255, which wraps to 0 in 8 bits, so that green is brightest, unless it saturates."""
    write_images(folder / "images", [RED, RED, GREEN, BLUE, WHITISH])
    (folder / "truth.txt").write_text("red\ngreen\ngreen\nblue\nred\n")
    (folder / "labels.txt").write_text("red\ngreen\nblue\n")
    brightest(folder / "float.tflite", "FLOAT32")
    brightest(folder / "byte.tflite", "UINT8", 0.007812, 128)
    quant = {"dataSize": 1, "inputScale": 0.007812, "inputZeroPoint": 128}
    top = {"className": "org.example.TopK", "expectedTop1": 0.8}
    models = [images_entry("float", "float", 8, dataSize=4, evaluator=top),
              images_entry("wraps", "byte", 8, evaluator=top, **quant),
              images_entry("saturates", "byte.tflite", 8, "InceptionSaturated", evaluator=top, **quant),
              images_entry("tar", "float", 8, images="images.tar", evaluator=top)]
    name = write_list(folder, "images.json", *models)
    rows, _ = bench(folder, name, "-d", "golden", "-d", "sim:cpu", "--no-latency", "-j", 3, status=1)
    for target in ("golden", "sim:cpu"):
        for model, right in (("float", 4), ("wraps", 3), ("saturates", 4), ("tar", 4)):
            row = rows[model, target]
            expect(row, "top_1", right / 5)
            expect(row, "top_2", 1)
            expect(row, "top_5", 1)
            if row["verdict"] != ("fail" if model == "wraps" else "pass"):
                fail(f"{model} on {target}: {row['verdict']}; the limit is 0.8 - 0.05")
            if row["sequences"] != 5:
                fail(f"{model}: {row['sequences']} of 5 images")
    rows, _ = bench(folder, name, "-d", "golden", "--no-latency", "--samples", 2, "--no-reference")
    expect(rows["float", "golden"], "top_1", 1)  # images 0 and 2; no limit, as not all data is used
    if "limit" in rows["float", "golden"]["metrics"]["top_1"]:
        fail("a limit for a part of the data")


def check_fault(folder):
    """A device that drops the last tap of filters takes blue for 0, below the green of 0.25.  12 images are wrong, by chance with p = 2^-12."""
    colours = [(0, 160, 170 + 5 * i) for i in range(12)] + [RED] * 4
    write_images(folder / "blue", colours)
    (folder / "truth.txt").write_text("blue\n" * 12 + "red\n" * 4)
    copied(folder / "copied.tflite")
    name = write_list(folder, "fault.json",
                      images_entry("copied", "copied", 1, images="blue", evaluator={"className": "TopK"}))
    rows, _ = bench(folder, name, "-d", "sim:cpu?fault=last-tap-dropped", "-d", "sim:cpu", "--no-latency", status=1)
    wrong, right = rows["copied", "sim:cpu?fault=last-tap-dropped"], rows["copied", "sim:cpu"]
    expect(wrong, "top_1", 4 / 16)
    expect(right, "top_1", 1)
    if (wrong["verdict"], right["verdict"]) != ("fail", "pass") or "12 images" not in wrong["why"]:
        fail(f"a fault: {wrong['verdict']} ({wrong['why']}), without it {right['verdict']}")
    rows, _ = bench(folder, "copied.tflite", "-d", "sim:cpu?fault=last-tap-dropped", "--no-latency", status=1)
    if rows["copied", "sim:cpu?fault=last-tap-dropped"]["verdict"] != "fail":
        fail("a fault is not found without an evaluator")


def check_states(folder):
    """Cell 1: m = relu(x + h + (0, 1)), h = m; cell 2: y = m + g + (0, 1), g = y.  With x = (1, 2):
    m = (1, 3), (2, 6), (3, 9); y = (1, 4), (3, 11), (6, 21).  The second sequence begins with states of 0."""
    def floats(*values):
        return struct.pack(f"<{len(values)}f", *values)

    (folder / "x").write_bytes(floats(1, 2, 1, 2, 1, 2))
    (folder / "y").write_bytes(floats(1, 4, 3, 11, 6, 21))
    (folder / "y_more").write_bytes(floats(1, 4, 3, 16, 6, 21))  # ours is 5 less
    files = {"inputOutputs": [{"input": "x", "output": "y"}, {"input": "x", "outputs": ["y"]}]}
    other = {"inputOutputs": [{"input": "x", "output": "y_more"}]}
    name = write_list(folder, "states.json", entry("states", modelFile=str(STATE), inputSize=[1, 2], dataSize=4, **files),
                      entry("more", modelFile=str(STATE), **other))
    rows, _ = bench(folder, name, "-d", "golden", "-d", "sim:cpu", "--iterations", 7, "--no-compile")
    for target in ("golden", "sim:cpu"):
        expect(rows["states", target], "max_single_error", 0)
        expect(rows["states", target], "mean_square_error", 0)
        expect(rows["more", target], "max_single_error", 5)
        expect(rows["more", target], "mean_square_error", 25 / 2 / 3)
        if rows["states", target]["inferences"] != 6:
            fail("not all inferences of the sequences were made")
        if rows["states", target]["times"]["synchronous"]["wall"]["n"] != 7:
            fail("--iterations 7 measures another number")


def check_foreign_golden(folder):
    """Golden outputs that have another model's name, and are that model's in the list, are not used."""
    (folder / "one_y").write_bytes((folder / "y").read_bytes())
    (folder / "two.tflite").write_bytes(STATE.read_bytes())
    files = {"inputOutputs": [{"input": "x", "output": "one_y"}]}
    name = write_list(folder, "foreign.json", entry("one", modelFile=str(STATE), **files), entry("two", **files))
    rows, _ = bench(folder, name, "-d", "golden", "--no-latency")
    if "max_single_error" in rows["two", "golden"]["metrics"] or "those of one" not in rows["two", "golden"]["why"]:
        fail("golden outputs of another model are used")
    expect(rows["one", "golden"], "max_single_error", 0)


def check_times(folder):
    """The cost model of sim:cpu: 2000 ns a launch; 1000 ns an operation, 2001 elements of operands at 2e10 a second,
    12004 bytes at 1.2e10 a second: 2100.38 ns; 5000 ns more in the driver."""
    sum_of_1000(folder / "sum.tflite")
    rows, _ = bench(folder, "sum.tflite", "-d", "sim:cpu", "--iterations", 20)
    times = rows["sum", "sim:cpu"]["times"]
    for what in ("synchronous", "burst"):
        for clock, ns in (("device", 4100), ("driver", 9100)):
            t = times[what][clock]
            if any(t[key] != ns for key in ("mean_ns", "median_ns", "p90_ns", "p99_ns", "least_ns", "most_ns")):
                fail(f"{what}, {clock}: {t}, expected {ns} ns each")
            if t["n"] != 20 or t["deviation_ns"] != 0 or t["buckets"][0] != 20:
                fail(f"{what}, {clock}: {t}: 20 equal times expected")
    for what in ("compile", "save to cache", "prepare from cache"):
        if times[what]["wall"]["n"] != 20:
            fail(f"{what}: {times[what]['wall']['n']} times, expected 20")
    if not rows["sum", "sim:cpu"]["cache_bytes"]:
        fail("no size of the cache")
    rows, _ = bench(folder, "sum.tflite", "-d", "sim:cpu", "--isolate", "all", "--iterations", 3, "--no-compile")
    if not rows["sum", "sim:cpu"]["memory_bytes"]:
        fail("no memory of a driver in a process of its own")
    if rows["sum", "sim:cpu"]["times"]["synchronous"]["device"]["mean_ns"] != 4100:
        fail("the device's time differs in a process of its own")


def check_record(folder):
    """Database, CSV and report have what JSON has; a second run is compared with the first."""
    for _ in range(2):
        rows, _ = bench(folder, "states.json", "-d", "sim:cpu", "--iterations", 5, "--csv", "out.csv", "--db", "b.db",
                        "-o", "report")
    with sqlite3.connect(folder / "b.db") as db:
        found = db.execute("SELECT r.verdict, t.n, t.mean_ns, m.value FROM bench_results r JOIN bench_times t "
                           "USING (run, target, model) JOIN bench_metrics m USING (run, target, model) WHERE run = 2 AND "
                           "model = 'more' AND what = 'synchronous' AND clock = 'device' AND key = 'max_single_error'"
                           ).fetchall()
        device = rows["more", "sim:cpu"]["times"]["synchronous"]["device"]
        if found != [("pass", 5, device["mean_ns"], 5.0)]:
            fail(f"the database has {found}")
    head, names, first, second = (folder / "out.csv").read_text().splitlines()
    if not names.startswith("#testInfo,backendType,iterations,totalTimeSec") or "Halcyon" not in head:
        fail(f"the head of the CSV: {head}\n{names}")
    cells = second.split(",")
    if cells[:3] != ["more", "sim:cpu", "5"] or cells[6] != "32" or sum(map(int, cells[7:39])) != 5 or cells[39:43] != ["5", "1", "0", "0"]:
        fail(f"a line of the CSV: {second}")
    page = (folder / "report" / "index.html").read_text()
    if "id=\"bench\"" not in page or "max_single_error" not in page or "0 of 2 benchmarks fail" not in page or " %</td>" not in page:
        fail("the report lacks the benchmark")
    if 'class="tiles"' in page:
        fail("the report of benchmarks alone has a row of verdicts")


def check_against(folder):
    """A baseline run is chosen, also in another database. The device's times are those of its cost model: exact."""
    text = (SOURCE / "sim" / "profiles" / "cpu.toml").read_text()
    profile, words = folder / "slow.toml", ("sum.tflite", "-d", "sim:slow.toml", "--iterations", 20, "--no-compile")
    for run, launch in ((1, 2000), (2, 3000), (3, 2000), (4, 2010)):
        profile.write_text(text.replace("launch_ns = 2000", f"launch_ns = {launch}"))
        bench(folder, *words, "--db", "base.db")
    subprocess.run([HALCYON, "random", "-d", "sim:cpu", "--count", "2", "-q", "--db", "base.db"], cwd=folder, check=True,
                   capture_output=True)
    key = "sum", "sim:slow.toml"
    for against, run, change in (("base.db:1", 1, "same"), ("base.db:2", 2, "faster"), ("base.db", 4, "same")):
        profile.write_text(text)
        rows, _ = bench(folder, *words, "--db", "now.db", "--against", against)
        found = rows[key]["against"]
        times = {(row["what"], row["clock"]): row for row in found["times"]}
        before = {1: 4100, 2: 5100, 4: 4110}[run]
        device = times["burst", "device"]
        if (found["run"], device["change"], device["before"]["median_ns"], device["now"]) != (
                run, change, before, {"median_ns": 4100, "low_ns": 4100, "high_ns": 4100}):
            fail(f"--against {against}: {found}")
    profile.write_text(text.replace("launch_ns = 2000", "launch_ns = 9000"))
    done = subprocess.run([HALCYON, "bench", *map(str, words), "--db", "base.db", "--against", "1", "-o", "against"], cwd=folder,
                          text=True, capture_output=True, check=False)
    if done.returncode or "burst device 4.10 us before, 11.10 us now: +170.7 %, slower" not in " ".join(done.stdout.split()):
        fail(f"--against 1: {done.returncode}\n{done.stdout}{done.stderr}")
    page = (folder / "against" / "index.html").read_text()
    if "Compared with run 1 of base.db" not in page or page.count("<td>slower</td><td class=\"n hot\">+170.7 %</td>") != 2:
        fail("the report lacks the regression against run 1")
    for words, status, message in (
            (("--against", "2"), 0, "Compared with run 2 of base.db"), ((), 0, "Compared with run 4 ("),
            (("--against", "5"), 2, "base.db: run 5 is no benchmark; expected a run of halcyon bench: 6, 4, 3, 2, 1"),
            (("--against", "9"), 2, "base.db: has no run 9; the newest is 6"), (("--against", "0"), 2, "expected a run from 1 on"),
            (("--against", "bas.db"), 2, "bas.db: No such file or directory; did you mean base.db?"),
            (("--against", "zzzz"), 2, "zzzz: No such file or directory (expected RUN, DATABASE or DATABASE:RUN)")):
        done = subprocess.run([HALCYON, "report", "--db", "base.db", "-o", "against", *words], cwd=folder, text=True,
                              capture_output=True, check=False)
        text = done.stderr + (folder / "against" / "index.html").read_text()
        if done.returncode != status or message not in text:
            fail(f"report {words}: {done.returncode}, no '{message}'\n{done.stderr}")


def stop_and_resume(folder, number):
    """Ends a benchmark by a signal after its first result; --resume measures the others, and has all of them in the CSV."""
    db, words = f"stopped-{number}.db", ["bench", "--json", "three.json", "-d", "sim:cpu", "-d", "golden", "--seconds", "0.05",
                                         "--warm-up", "0.01", "--db", f"stopped-{number}.db", "--csv", f"{number}.csv"]
    process = subprocess.Popen([HALCYON, *words], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = json.loads(process.stdout.readline())
    process.send_signal(number)
    rest, err = process.communicate(timeout=280)
    if number == signal.SIGINT and (process.returncode != 130 or "the same command with --resume continues" not in err):
        fail(f"SIGINT: status {process.returncode}\n{err}")
    if (folder / f"{number}.csv").exists():
        fail("an interrupted benchmark has written its CSV")
    with contextlib.closing(sqlite3.connect(folder / db)) as base:
        before = base.execute("SELECT * FROM bench_times ORDER BY 1, 2, 3, 4, 5").fetchall()
    done = subprocess.run([HALCYON, *words, "--resume"], cwd=folder, text=True, capture_output=True, timeout=280, check=False)
    if done.returncode:
        fail(f"--resume: status {done.returncode}\n{done.stdout}{done.stderr}")
    printed = [first, *map(json.loads, rest.splitlines()), *map(json.loads, done.stdout.splitlines())]
    with contextlib.closing(sqlite3.connect(folder / db)) as base:
        after = base.execute("SELECT * FROM bench_times ORDER BY 1, 2, 3, 4, 5").fetchall()
        results = base.execute("SELECT count(*) FROM bench_results").fetchone()
        runs = base.execute("SELECT count(*), count(finished) FROM runs").fetchall()
    recorded = {row[1:3] for row in before}
    if results != (6,) or runs != [(1, 1)] or not set(before) <= set(after) or len(recorded) == 6:
        fail(f"after --resume: {results} results, {runs} runs, {recorded} before")
    names = [(row["model"], row["target"]) for row in printed if "model" in row]
    if len(set(names)) != 6 or len(names) - 6 not in (0, 1) or printed[-1]["summary"]["pass"] != 6:
        fail(f"printed: {names}, {printed[-1]}")  # what was printed and not yet written is measured again
    lines = (folder / f"{number}.csv").read_text().splitlines()[2:]
    if sorted(line.split(",")[0] for line in lines) != ["a", "a", "b", "b", "c", "c"] or any(len(line) < 100 for line in lines):
        fail(f"the CSV after --resume: {lines}")
    done = subprocess.run([HALCYON, *words, "--resume"], cwd=folder, text=True, capture_output=True, timeout=280, check=False)
    if done.returncode or "no unfinished run with these options" not in done.stderr:
        fail(f"--resume of a complete run: {done.returncode}\n{done.stderr}")


def check_resume(folder):
    write_list(folder, "three.json", *(entry(name, modelFile="sum") for name in "abc"))
    for number in (signal.SIGKILL, signal.SIGINT):
        stop_and_resume(folder, number)


def check_open(folder):
    """--open starts $BROWSER, else xdg-open, on the page, which exists then; what they print is not in the JSON."""
    tools = folder / "tools"
    tools.mkdir()
    for name, status in (("xdg-open", 0), ("my-browser", 0), ("broken-browser", 3)):
        (tools / name).write_text(f'#!/bin/sh\necho noise\n[ -e "$1" ] && echo {name} "$@" >>"{folder}/opened"\nexit {status}\n')
        (tools / name).chmod(0o755)
    page = (folder / "shown" / "index.html").resolve()
    for browser, opened, message in ((None, "xdg-open", ""), ("", "xdg-open", ""), ("my-browser", "my-browser", ""),
                                     ("broken-browser", "broken-browser", "broken-browser cannot show shown/index.html"),
                                     ("absent-browser", None, "absent-browser cannot show shown/index.html: No such file")):
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        environment.pop("BROWSER", None)
        if browser is not None:
            environment["BROWSER"] = browser
        (folder / "opened").unlink(missing_ok=True)
        done = subprocess.run([HALCYON, "bench", "--json", "sum.tflite", "-d", "golden", "--iterations", "2", "--no-compile", "--db",
                               "open.db", "-o", "shown", "--open"], cwd=folder, text=True, capture_output=True, check=False,
                              env=environment, timeout=280)
        found = (folder / "opened").read_text() if (folder / "opened").exists() else None
        if done.returncode or found != (opened and f"{opened} {page}\n") or message not in done.stderr or "noise" in done.stdout:
            fail(f"--open with BROWSER={browser}: {done.returncode}, {found}\n{done.stdout}{done.stderr}")


def check_calibrate(folder):
    """Only times of a profile change; those of the device are of its cost model."""
    text = (SOURCE / "sim" / "profiles" / "dsp.toml").read_text()
    (folder / "own.toml").write_text(text)
    done = subprocess.run([HALCYON, "calibrate", "--json", "-d", "sim:own.toml", "-o", "own.toml", "--iterations", "3",
                           "--warm-up", "0.01"], cwd=folder, text=True, capture_output=True, timeout=280, check=False)
    if done.returncode:
        fail(f"calibrate: status {done.returncode}\n{done.stdout}{done.stderr}")
    found = json.loads(done.stdout.splitlines()[0])["performance"]
    before, after = tomllib.loads(text), tomllib.loads((folder / "own.toml").read_text())
    times = after["performance"]["operand"]
    for key in ("TENSOR_QUANT8_ASYMM", "TENSOR_INT32"):
        if abs(times[key]["time"] / found[key]["time"] - 1) > 1e-3:
            fail(f"{key}: {times[key]} in the profile, measured {found[key]}")
        if times[key]["power"] != before["performance"]["operand"][key]["power"]:
            fail(f"{key}: the power has changed")
    if abs(after["performance"]["if"]["time"] / found["if"]["time"] - 1) > 1e-3:
        fail("the time of IF is not that in the profile")
    for part in (before, after):
        del part["performance"]
    if before != after:
        fail("more than the performance has changed")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    if [line for line in (folder / "own.toml").read_text().splitlines() if line.startswith("#")] != comments:
        fail("comments are lost")
    done = subprocess.run([HALCYON, "calibrate", "-d", "sim:gpu", "states.json", "-o", "new.toml", "--iterations", "3",
                           "--warm-up", "0.01"], cwd=folder, text=True, capture_output=True, timeout=280, check=False)
    if done.returncode or "nnapi-reference" not in done.stdout or "RNN" not in done.stdout:
        fail(f"a new profile, and its plan: status {done.returncode}\n{done.stdout}{done.stderr}")


def check_crash(folder):
    rows, _ = bench(folder, "sum.tflite", "-d", "sim:cpu?fault=crash", "-d", "golden", "--iterations", 3, status=1)
    if rows["sum", "sim:cpu?fault=crash"]["verdict"] != "crash" or rows["sum", "golden"]["verdict"] != "pass":
        fail(f"a driver that crashes: {rows}")


def check_bad_input(folder):
    good = images_entry("float", "float", 8, evaluator={"className": "TopK"})
    for change, message in (({"inputSize": [1, 9, 9, 3]}, "inputSize is [1,9,9,3], but input 0 has shape [1,8,8,3]"),
                            ({"dataSize": 1}, "dataSize is 1, but input 0 has type TENSOR_FLOAT32"),
                            ({"evaluater": 1}, "unknown key \"evaluater\"; did you mean evaluator?"),
                            ({"evaluator": {"className": "TopX"}}, "\"className\" must be TopK, MelCepLogF0"),
                            ({"modelFile": "absent"}, "absent is neither in . nor in a folder given with --data"),
                            ({"dataset": {**good["dataset"], "preprocessor": "x"}}, "\"preprocessor\" must be Inception"),
                            ({"dataset": {**good["dataset"], "groundTruth": "labels.txt"}}, "3 lines for the 5 images"),
                            ({"dataset": {**good["dataset"], "labels": "two.txt"}}, "truth.txt:4: 'blue' is no line of"),
                            ({"name": ""}, "\"name\" must be a string that is not empty")):
        (folder / "truth.txt").write_text("red\ngreen\ngreen\nblue\nred\n")
        (folder / "two.txt").write_text("red\ngreen\n")
        name = write_list(folder, "bad.json", {**good, **change})
        _, text = bench(folder, name, "-d", "golden", status=2)
        if message not in text:
            fail(f"{change}: no '{message}' in\n{text}")
    (folder / "broken.json").write_text('{"models": [')
    for arguments, message in ((("broken.json",), "broken.json:1"), (("none.json",), "none.json: No such file"),
                               (("truth.txt",), "must be a list of models (.json), a model (.tflite) or a folder"),
                               (("images",), "there is no .tflite file in the folder")):
        _, text = bench(folder, *arguments, "-d", "golden", status=2)
        if message not in text:
            fail(f"{arguments}: no '{message}' in\n{text}")
    whole = (folder / "images.tar").read_bytes()
    (folder / "images.tar").write_bytes(whole[:3000])
    name = write_list(folder, "bad.json", {**good, "dataset": {**good["dataset"], "inputPath": "images.tar"}})
    bench(folder, name, "-d", "golden", status=2)
    (folder / "images" / "image-2.jpeg").write_bytes(b"\xff\xd8 no image")
    name = write_list(folder, "bad.json", good)
    _, text = bench(folder, name, "-d", "golden", "--no-latency", status=2)
    if "image-2.jpeg: not a JPEG image" not in text:
        fail(f"a bad image: {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for check in (check_images, check_fault, check_states, check_foreign_golden, check_times, check_record,
                      check_against, check_resume, check_open, check_calibrate,
                      check_crash,
                      check_bad_input):
            check(folder)


if __name__ == "__main__":
    main()
