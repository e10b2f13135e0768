"""Single-operator .tflite models on the reference, compared with TensorFlow Lite's own outputs.

    check_operators.py HALCYON OPERATORS [NAME...]

OPERATORS (operators.xz) has the models with inputs and outputs (README.md). Each is imported, by the modules of
specs/python, and run on the reference, whose bound must contain every element. NAMEs
are beginnings of the names of cases.
"""

import base64
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from importer import import_package

STORED = {"TENSOR_FLOAT32": "<f4", "TENSOR_INT32": "<i4"}


def decode(text):
    return base64.b64decode(text)


def narrowed(data, type):
    """Values of a file's type as NNAPI's: 64-bit integers have 32 bits."""
    return np.frombuffer(data, type).astype("<i4").tobytes() if type == "<i8" else data


def with_values(tflite, case):
    """The record of a case, with its values for inputs and outputs; other inputs, which are states, are zero."""
    record = json.loads(tflite.record(decode(case["model"]), case["name"]))
    main = record["main"]
    for i, index in enumerate(main["inputs"]):
        operand = main["operands"][index]
        count = int(np.prod(operand.get("dims", [1])))
        if i < len(case["inputs"]):
            data = decode(case["inputs"][i])
            if len(data) == 8 * count:
                data = narrowed(data, "<i8")
        else:
            data = bytes(count * np.dtype(STORED.get(operand["type"], "u1")).itemsize)
        operand["bytes"] = base64.b64encode(data).decode()
    for i, index in enumerate(main["outputs"]):
        operand = main["operands"][index]
        if i < len(case["outputs"]):
            out = case["outputs"][i]
            if int(np.prod(out["shape"])) != int(np.prod(operand.get("dims", [1]))):
                raise ValueError(f"output {i} has shape {operand.get('dims')}: must be {out['shape']}")
            operand["bytes"] = base64.b64encode(narrowed(decode(out["bytes"]), out["type"])).decode()
        else:
            operand["ignored"] = True
    return record


def main(halcyon, operators, *names):
    tflite = import_package()
    failed, cases = [], []
    with lzma.open(operators, "rt") as file:
        for line in file:
            case = json.loads(line)
            if not names or case["name"].startswith(names):
                cases.append(case["name"])
                try:
                    record = with_values(tflite, case)
                    record["name"] = f"tflite/{case['name']}"
                    cases[-1] = json.dumps(record)
                except Exception as error:
                    failed.append(f"{case['name']}: not imported: {type(error).__name__}: {error}")
                    cases.pop()
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "operators.jsonl"
        path.write_text("\n".join(cases))
        done = subprocess.run([halcyon, "run", path, "-d", "golden", "--judge", "bound", "--db", f"{directory}/x.db"],
                              capture_output=True, text=True)
    print(done.stdout, done.stderr)
    print("\n".join(failed))
    print(f"{len(cases)} of {len(cases) + len(failed)} imported")
    return bool(failed) or done.returncode != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
