#!/usr/bin/env python3
"""Trained models in TensorFlow Lite, whose NNAPI delegate uses libneuralnetworks.so.

    check_tflite_delegate.py APPLICATION NEURALNETWORKS GOLDEN_RUN CHECK_MODELS MODELS [NAME...]

TensorFlow Lite's library is that which the environment variable HALCYON_TFLITE_LIBRARY names: libtensorflowlite_c.so
of the npm package tfjs-tflite-node 0.0.2, which contains the delegate. APPLICATION is tflite_application, NEURALNETWORKS
our library. Each model runs on a simulated device, and on the reference executor as a driver of another name, because
the delegate does not use `nnapi-reference`.

The library's log shows that one model was compiled, on the device, with as many operations as the delegate makes of
the whole model (MODELS/nnapi/NAME.json, recorded from a library that accepts everything). The outputs are judged as
CHECK_MODELS (check_models.py) does: float ones by the trusted outputs, quantised ones by the bounds of the reference,
with the trusted top class. The reference as a driver gives the same bits as golden_run, which imports the .tflite file
without TensorFlow Lite.

Exit status 77 (skipped) without TensorFlow Lite's library or without the models.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DEVICES = {"sim:cpu": "halcyon-cpu", "golden": "halcyon-golden"}  # target: name
# Of the cases of each model.
CASES = ("prng1", "zero", "smooth1", "seq_prng1", "seq_prng2")
# The delegate makes of these a model that NNAPI does not have: UNIDIRECTIONAL_SEQUENCE_LSTM is defined for FLOAT32 and
# FLOAT16 only, in every feature level. addOperation rejects it, and TensorFlow Lite fails to create the interpreter.
INVALID = {"lstm_mnist_int8": "addOperation: UNIDIRECTIONAL_SEQUENCE_LSTM: "}
SEQUENCE_LSTM = 92


def load_module(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_delegate(application, library, device, path, cases, folder):
    """Runs the cases, whose inputs are in the folder; exit status and log."""
    # TensorFlow Lite keeps its delegate and the memory that it shares with the library until the end.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    done = subprocess.run(
        [application, os.environ["HALCYON_TFLITE_LIBRARY"], path.with_suffix(".tflite"), folder,
         *[case["case"] for case in cases]],
        env={**os.environ, "LD_LIBRARY_PATH": str(library.parent), "HALCYON_DEVICES": device,
             "HALCYON_DEBUG_NN_VLOG": "compilation,execution", "ASAN_OPTIONS": sanitizer},
        text=True, capture_output=True, timeout=100, check=False)
    return done.returncode, done.stderr


def check_log(log, device, operations, cases):
    """The ways in which the log differs from that of a wholly delegated model."""
    compiled = re.findall(r"(\d+) operations are prepared on (.*)", log)
    if compiled != [(str(operations), DEVICES[device])]:
        yield f"compiled: {compiled}, expected {operations} operations on {DEVICES[device]}"
    executed = len(re.findall(r"execution of model \d+ ends with NONE", log))
    if device.startswith("sim:") and executed != len(cases):
        yield f"{executed} executions on the device, expected {len(cases)}"


def expected_case(model, recorded, case):
    """The case with the outputs that are to be expected. The delegate of this version gives
    UNIDIRECTIONAL_SEQUENCE_LSTM one output, no new states: the states stay zero, and seq_X gives what X does."""
    if not any(operation["type"] == SEQUENCE_LSTM and len(operation["out"]) == 1 for operation in recorded["operations"]):
        return case
    plain = case["case"].removeprefix("seq_")
    return {**next(other for other in model["cases"] if other["case"] == plain), "case": case["case"]}


def check_outputs(check, model, recorded, cases, device, folders):
    """Of each output: the largest error divided by the allowed one, and the description of a failure or None."""
    for case in (expected_case(model, recorded, case) for case in cases):
        for k, output in enumerate(model["outputs"]):
            ratio, failure = check.check_output(model, case, k, *folders)
            name = f"{case['case']}.out{k}"
            if device == "golden" and is_quantised(output):
                same = [pathlib.Path(folder, name).read_bytes() for folder in folders]
                failure = failure or (None if same[0] == same[1] else "other bits than the reference alone")
            yield ratio, failure and f"{name}: {failure}"


def is_quantised(output):
    return not output["type"].startswith("float")


def check_device(check, programs, device, path, model, cases, folders):
    """Runs the model on the device; returns the failures."""
    application, library = programs
    recorded = json.loads((path.parent / "nnapi" / path.name).read_text())
    status, log = run_delegate(application, library, device, path, cases, folders[1])
    if path.stem in INVALID:
        return [] if status == 1 and INVALID[path.stem] in log else [f"expected: {INVALID[path.stem]}\n{log}"]
    if status:
        return [log]
    found = list(check_outputs(check, model, recorded, cases, device, folders))
    print(f"{path.stem} on {device}: worst error {max(ratio for ratio, _ in found):.3g} of the allowed one")
    return [*check_log(log, device, len(recorded["operations"]), cases), *(failure for _, failure in found if failure)]


def check_model(check, programs, golden_run, generator, path):
    """Prints how the model compares; returns whether all is as expected."""
    model = check.load_model(path)
    cases = [case for case in model["cases"] if case["case"] in CASES]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        reference = pathlib.Path(name, "reference")
        reference.mkdir()
        check.write_inputs(generator, model, cases, reference)
        if path.stem not in INVALID and any(map(is_quantised, model["outputs"])):
            failure = check.run_reference(golden_run, model, cases, path, reference)
            failures += [] if failure is None else [failure]
        for device in DEVICES if not failures else []:
            folder = pathlib.Path(name, device)
            folder.mkdir()
            check.write_inputs(generator, model, cases, folder)
            failures += [f"{device}: {failure}" for failure in
                         check_device(check, programs, device, path, model, cases, (reference, folder))]
    if path.stem in INVALID and not failures:
        print(f"{path.stem}: not a model of NNAPI, rejected")
    for failure in failures:
        print(f"{path.stem}: {failure}")
    return not failures


def main(application, library, golden_run, checker, models, *names):
    models, library = pathlib.Path(models).resolve(), pathlib.Path(library).resolve()
    tflite = os.environ.get("HALCYON_TFLITE_LIBRARY", "")
    if not os.path.isfile(tflite):
        print(f"skipped: HALCYON_TFLITE_LIBRARY={tflite} does not name a library of TensorFlow Lite")
        return 77
    if not (models / "inputs.py").exists():
        print(f"skipped: no models at {models}")
        return 77
    check = load_module(checker)
    generator = check.load_inputs_module(models)
    chosen = [path for path in sorted(models.glob("*.json")) if not names or path.stem in names]
    good = [check_model(check, (application, library), golden_run, generator, path) for path in chosen]
    return 0 if good and all(good) else 1


sys.exit(main(*sys.argv[1:]))
