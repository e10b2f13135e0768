"""Runs every model of cases.py in TensorFlow Lite and keeps models, inputs and outputs: generate.py LIBRARY OUT

OUT, compressed JSON, has one line for each case: {"name", "model": base64, "inputs": [base64], "outputs": [{"type",
"shape", "bytes": base64}]}. Models that the runtime refuses are listed, and left out. A case with an `oracle` takes the
outputs of that model, which says the same in a way that the runtime reads.
"""

import base64
import json
import lzma
import os
import sys

import runtime
from cases import CASES


def text(data):
    return base64.b64encode(data).decode()


def line(name, case, tflite):
    model = case.encode()
    inputs = [case.values[i] for i in case.inputs]
    run = case.oracle.encode() if case.oracle else model
    outputs, again = tflite.run(run, inputs), tflite.run(run, inputs)
    if any(a.tobytes() != b.tobytes() for a, b in zip(outputs, again)):
        raise runtime.Refused("its outputs differ from run to run")
    return json.dumps({"name": name, "model": text(model), "inputs": [text(array.tobytes()) for array in inputs],
                       "outputs": [{"type": array.dtype.str, "shape": array.shape, "bytes": text(array.tobytes())}
                                   for array in outputs]})


def in_child(name, case, tflite):
    """line() in a process of its own: the runtime crashes on some models that it does not support."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            try:
                pipe.write(line(name, case, tflite))
            except runtime.Refused as error:
                pipe.write(f"!{error}")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        made = pipe.read()
    status = os.waitpid(child, 0)[1]
    if status or made.startswith("!"):
        raise runtime.Refused(made[1:] or f"it ends the process with status {status}")
    return made


def main(library, out):
    tflite, kept = runtime.Runtime(library), 0
    with lzma.open(out, "wt", preset=9) as file:
        for name, case in CASES.items():
            try:
                print(in_child(name, case, tflite), file=file)
                kept += 1
            except runtime.Refused as error:
                print(f"{name}: not in TensorFlow Lite {tflite.version}: {error}", flush=True)
    print(f"{kept} cases of {len(CASES)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
