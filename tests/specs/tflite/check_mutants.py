"""Damaged .tflite models are imported, or rejected with a message that names the place.

    check_mutants.py HALCYON OPERATORS COUNT

Makes COUNT mutants of the models in OPERATORS, and imports each in this process: only SpecError may be raised, in
bounded time and memory, with a message of a place in the file, and without words of Python. Those imported are run by
the program on the reference: exit 0 or 1, or 2 with the name of the file. Some of those rejected are given to the
program, too, which must exit with 2, name the file, and write nothing.
"""

import base64
import json
import lzma
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tracemalloc

from importer import import_package

SECONDS = 5.0
BYTES = 1 << 29
LARGE = 1 << 20  # elements: larger models are imported, but not run
PROCESSES = 8  # rejected mutants that the program is given
WIDTHS = {"TENSOR_FLOAT32": 4, "TENSOR_INT32": 4, "TENSOR_FLOAT16": 2, "TENSOR_QUANT16_SYMM": 2}
PLACE = re.compile(r"^(subgraphs?\b|operator_codes|buffers|damaged at byte \d+: |not a TensorFlow Lite model|\d+ bytes are too "
                   r"few|\d+ subgraphs|description)")
PYTHON = re.compile(r"unpack|index out of range|\bobject\b|None\b|NoneType|attribute|numpy|ndarray|Traceback|tuple|\bdict\b|"
                    r"Error\b|argument|\bself\b|not iterable|subscript|__|lambda")


def models_of(path):
    with lzma.open(path, "rt") as file:
        return [base64.b64decode(json.loads(line)["model"]) for line in file]


def check_import(tflite, SpecError, name, data):
    """(The record or None, a complaint or None.)"""
    start, text, message = time.monotonic(), None, None
    try:
        text = tflite.record(data, name)
    except SpecError as error:
        message = str(error)
    except Exception as error:
        import traceback
        return None, f"{type(error).__name__}: {error}: {traceback.extract_tb(error.__traceback__)[-1]}"
    if time.monotonic() - start > SECONDS:
        return text, f"takes {time.monotonic() - start:.1f} s"
    if message is not None and (not PLACE.match(message) or PYTHON.search(message) or len(message) > 1000):
        return None, f"message: {message}"
    return text, None


def with_zeros(text):
    """A record with zeros for the model's inputs."""
    record = json.loads(text)
    for index in record["main"]["inputs"]:
        operand = record["main"]["operands"][index]
        width = WIDTHS.get(operand["type"], 1)
        operand["bytes"] = base64.b64encode(bytes(width * count_of(operand))).decode()
    return json.dumps(record)


def count_of(operand):
    return math.prod(operand.get("dims", [1]))


def check_rejected(halcyon, path):
    """A complaint if the program does not reject a file as it should, or None."""
    done = subprocess.run([halcyon, "run", path, "-d", "golden", "--db", path.with_suffix(".db")], capture_output=True,
                          text=True, timeout=120)
    if done.returncode != 2 or str(path) not in done.stderr:
        return f"exit {done.returncode}: {done.stderr[-2000:]}"
    if PYTHON.search(done.stderr.replace(str(path), "")):
        return f"message: {done.stderr}"
    return "a database was written" if path.with_suffix(".db").exists() else None


def check_runs(halcyon, accepted, directory):
    """Complaints about the mutants {name: (record, bytes)} that were imported: they run, or the program rejects them."""
    complaints, path = [], directory / "accepted.jsonl"
    while accepted:
        path.write_text("\n".join(text for text, _ in accepted.values()))
        done = subprocess.run([halcyon, "run", path, "-d", "golden", "--judge", "bound", "--db", directory / "x.db"],
                              capture_output=True, text=True)
        name = next((name for name in re.findall(r"spec/(\w+): ", done.stderr) if name in accepted), None)
        if done.returncode in (0, 1):
            break
        if done.returncode != 2 or name is None:
            complaints.append(f"exit {done.returncode}: {done.stderr[-2000:]}")
            break
        (directory / f"{name}.tflite").write_bytes(accepted.pop(name)[1])
        complaint = check_rejected(halcyon, directory / f"{name}.tflite")
        if complaint:
            complaints.append(f"{name}: {complaint}")
    return complaints


def main(halcyon, operators, count):
    tflite = import_package()
    from halcyon import flatbuffer, tflite_file
    from halcyon.operands import SpecError
    import mutants
    complaints, accepted, rejected = [], {}, {}
    tracemalloc.start()
    read = lambda data: flatbuffer.Reader(tflite_file.SCHEMA, data).root("Model")
    for name, data in mutants.mutants(models_of(operators), int(count), 1, read):
        tracemalloc.reset_peak()
        text, complaint = check_import(tflite, SpecError, name, data)
        if tracemalloc.get_traced_memory()[1] > BYTES:
            complaint = f"takes {tracemalloc.get_traced_memory()[1]} bytes"
        if complaint:
            complaints.append(f"{name}: {complaint}")
        elif text is None:
            rejected[name] = data
        elif all(count_of(operand) < LARGE for operand in json.loads(text)["main"]["operands"]):
            accepted[name] = with_zeros(text), data
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        for name in list(rejected)[::max(1, len(rejected) // PROCESSES)]:
            (directory / f"{name}.tflite").write_bytes(rejected[name])
            complaint = check_rejected(halcyon, directory / f"{name}.tflite")
            complaints += [f"{name}: {complaint}"] if complaint else []
        n = len(accepted)
        complaints += check_runs(halcyon, accepted, directory)
    print("\n".join(complaints))
    print(f"{count} mutants: {n} imported and run, {len(rejected)} rejected, {len(complaints)} complaints")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
