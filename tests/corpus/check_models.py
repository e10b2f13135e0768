"""Trained models on the reference, compared with the outputs of other interpreters.

    check_models.py GOLDEN_RUN MODELS_DIR [NAME...]

Float outputs: errors up to 1e-5 of the model's largest output.  Quantised outputs: errors up to the bound
of one step per operation, propagated to the output, and the same top class for the cases grad* and
smooth*.  In the cases seq_* a stateful model continues with the states of the case before.

Models of DYNAMIC_RANGE have float activations and 8-bit weights.  The trusted interpreter quantises the
activations of these to 8 bits while it runs, which NNAPI cannot express: imported, the weights are
dequantised and the rest is computed in float, as XNNPACK does for most operations, with probabilities
that differ by 0.0067.  They need the same top class and errors up to 0.01.

Exit status 77 (skipped) without the models.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


DYNAMIC_RANGE = {"kws_dscnn_float"}


def load_inputs_module(models):
    import importlib.util

    spec = importlib.util.spec_from_file_location("inputs", models / "inputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_output(model, case, k, directory, run=None):
    """Returns the largest error divided by the allowed one, and the description of a failure or None.

    directory: results of golden_run, within whose bounds the trusted outputs must be. run: a folder with outputs of
    another program, which must be there instead of the trusted ones."""
    meta, where = model["outputs"][k], case["outputs"][k]
    dtype = np.dtype(meta["type"])
    name = case["case"]
    actual = np.fromfile((run or directory) / f"{name}.out{k}", dtype)
    trusted = np.frombuffer(model["trusted"], dtype, where["count"], where["offset"])
    if actual.size != where["elements"]:
        return 0, f"{actual.size} elements, expected {where['elements']}"
    pick = slice(0, None, where["stride"])
    if dtype.kind == "f":
        ratio = np.max(np.abs(actual[pick].astype(np.float64) - trusted)) / model["allowed"][k]
        if model["dynamic_range"] and np.argmax(actual) != np.argmax(trusted):
            return ratio, "top class differs"
    else:
        real = np.fromfile(directory / f"{name}.real{k}")
        bound = np.fromfile(directory / f"{name}.bound{k}")
        scale, zero = np.float64(np.float32(meta["scale"])), meta["zero_point"]
        value = ((actual[pick] if run else trusted).astype(np.float64) - zero) * scale
        lowest, highest = ((np.iinfo(dtype).min - zero) * scale, (np.iinfo(dtype).max - zero) * scale)
        error = np.abs(np.clip(real[pick], lowest, highest) - value)
        ratio = np.max(error / bound[pick])
        if np.array_equal(actual[pick], trusted):
            ratio = min(ratio, 1)
        if name.startswith(("grad", "smooth")) and where["stride"] == 1 and actual.size > 1:
            if trusted[np.argmax(actual)] != trusted.max():
                return ratio, "top class differs"
    return ratio, None if ratio <= 1 else f"error {ratio:.3g} times the allowed one"


def allowed_error(model, name, k):
    """The allowed absolute error of a float output."""
    peaks = [max(abs(c["outputs"][k][end]) for end in ("min", "max")) for c in model["cases"]]
    allowed = 1e-5 * max(peaks)
    return 0.01 if name in DYNAMIC_RANGE else allowed


def load_model(path):
    """What PATH (.json) says of a model, with its trusted outputs and the allowed errors."""
    model = json.loads(path.read_text())
    model["trusted"] = (path.parent / model["data_file"]).read_bytes()
    model["dynamic_range"] = path.stem in DYNAMIC_RANGE
    model["allowed"] = [allowed_error(model, path.stem, k) for k in range(len(model["outputs"]))]
    return model


def write_inputs(inputs, model, cases, directory):
    """DIRECTORY/CASE.inK: input K of each case."""
    for case in cases:
        for k, t in enumerate(model["inputs"]):
            data = inputs.make(case["case"].removeprefix("seq_"), k, t["shape"], t["type"], t.get("zero_point", 0))
            data.tofile(directory / f"{case['case']}.in{k}")


def run_reference(golden_run, model, cases, path, directory):
    """Runs golden_run on the inputs of write_inputs(); returns why it fails, or None."""
    run = subprocess.run(
        [golden_run, path.with_suffix(".tflite"), "0.5", str(len(model["inputs"])), directory,
         *[c["case"] for c in cases]],
        stderr=subprocess.PIPE, text=True, check=False)
    return run.stderr.strip() if run.returncode else None


def check_model(golden_run, inputs, path):
    model = load_model(path)
    cases = model["cases"]
    failures, worst = [], 0.0
    with tempfile.TemporaryDirectory() as tmp:
        directory = pathlib.Path(tmp)
        write_inputs(inputs, model, cases, directory)
        failure = run_reference(golden_run, model, cases, path, directory)
        if failure is not None:
            return worst, [failure]
        for case in cases:
            for k in range(len(model["outputs"])):
                ratio, failure = check_output(model, case, k, directory)
                worst = max(worst, ratio)
                if failure:
                    failures.append(f"{case['case']}, output {k}: {failure}")
    return worst, failures


def main():
    golden_run, models = sys.argv[1], pathlib.Path(sys.argv[2])
    if not (models / "inputs.py").exists():
        print(f"skipped: no models at {models}")
        return 77
    inputs = load_inputs_module(models)
    failed = 0
    for path in sorted(models.glob("*.json")):
        if sys.argv[3:] and path.stem not in sys.argv[3:]:
            continue
        worst, failures = check_model(golden_run, inputs, path)
        print(f"{path.stem}: worst error {worst:.3g} of the allowed one")
        for failure in failures:
            print(f"    {failure}")
        failed += bool(failures)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
