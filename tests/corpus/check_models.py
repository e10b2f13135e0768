"""Real trained models on the reference, against outputs that other people's interpreters gave.

    check_models.py GOLDEN_RUN MODELS_DIR [NAME...]

Float: within 1e-5 of the model's largest output.  Quantised: within the bound that one step of freedom
per operation gives when it is carried to the output, and the same top class on the images that look
like images.  In the cases seq_* a stateful model goes on from where the case before has left it.

Weights kept in 8 bits under a float model (DYNAMIC_RANGE) are another matter: the trusted interpreter
quantises activations to 8 bits on the fly there.  NNAPI has no such arithmetic: the weights are
dequantised and the rest is exact, as XNNPACK has it for most operations, which is 0.0067 away from the
trusted probabilities.  There the same top class and a distance of 0.01 are asked for.

Exit 77 (skipped) where the models are not there.
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


def check_output(model, case, k, directory):
    """Returns the largest error as a share of what is allowed, and a complaint or None."""
    meta, where = model["outputs"][k], case["outputs"][k]
    dtype = np.dtype(meta["type"])
    name = case["case"]
    actual = np.fromfile(directory / f"{name}.out{k}", dtype)
    real = np.fromfile(directory / f"{name}.real{k}")
    bound = np.fromfile(directory / f"{name}.bound{k}")
    trusted = np.frombuffer(model["trusted"], dtype, where["count"], where["offset"])
    if actual.size != where["elements"]:
        return 0, f"{actual.size} elements, expected {where['elements']}"
    pick = slice(0, None, where["stride"])
    if dtype.kind == "f":
        share = np.max(np.abs(actual[pick].astype(np.float64) - trusted)) / model["allowed"][k]
        if model["dynamic_range"] and np.argmax(actual) != np.argmax(trusted):
            return share, "another top class"
    else:
        scale, zero = np.float64(np.float32(meta["scale"])), meta["zero_point"]
        value = (trusted.astype(np.float64) - zero) * scale
        lowest, highest = ((np.iinfo(dtype).min - zero) * scale, (np.iinfo(dtype).max - zero) * scale)
        error = np.abs(np.clip(real[pick], lowest, highest) - value)
        share = np.max(error / bound[pick])
        if np.array_equal(actual[pick], trusted):
            share = min(share, 1)
        if name.startswith(("grad", "smooth")) and where["stride"] == 1 and actual.size > 1:
            if trusted[np.argmax(actual)] != trusted.max():
                return share, "another top class"
    return share, None if share <= 1 else f"{share:.3g} times what is allowed"


def allowed_error(model, name, k):
    """Absolute, of a float output."""
    peaks = [max(abs(c["outputs"][k][end]) for end in ("min", "max")) for c in model["cases"]]
    allowed = 1e-5 * max(peaks)
    return 0.01 if name in DYNAMIC_RANGE else allowed


def check_model(golden_run, inputs, path):
    model = json.loads(path.read_text())
    model["trusted"] = (path.parent / model["data_file"]).read_bytes()
    model["dynamic_range"] = path.stem in DYNAMIC_RANGE
    model["allowed"] = [allowed_error(model, path.stem, k) for k in range(len(model["outputs"]))]
    cases = model["cases"]
    failures, worst = [], 0.0
    with tempfile.TemporaryDirectory() as tmp:
        directory = pathlib.Path(tmp)
        for case in cases:
            for k, t in enumerate(model["inputs"]):
                data = inputs.make(case["case"].removeprefix("seq_"), k, t["shape"], t["type"], t.get("zero_point", 0))
                data.tofile(directory / f"{case['case']}.in{k}")
        run = subprocess.run(
            [golden_run, path.with_suffix(".tflite"), "0.5", str(len(model["inputs"])), tmp,
             *[c["case"] for c in cases]],
            stderr=subprocess.PIPE, text=True)
        if run.returncode:
            return worst, [run.stderr.strip()]
        for case in cases:
            for k in range(len(model["outputs"])):
                share, complaint = check_output(model, case, k, directory)
                worst = max(worst, share)
                if complaint:
                    failures.append(f"{case['case']}, output {k}: {complaint}")
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
        print(f"{path.stem}: worst error {worst:.3g} of what is allowed")
        for failure in failures:
            print(f"    {failure}")
        failed += bool(failures)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
