"""Compares imported .tflite models with the NNAPI models that TensorFlow Lite's own delegate made of them.

    check_import.py HALCYON MODELS_DIR

The operations, in order, and the types, shapes, scales and zero points of their operands must be those of the
recordings in MODELS_DIR/nnapi.  DIFFERENT lists the models that differ on purpose, with the reason.

Exit status 77 (skipped) without the models.
"""
import json
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DIFFERENT = {
    "lstm_mnist_float": "the states of the LSTM are outputs too, so that a sequence can continue",
    "lstm_mnist_int8": "NNAPI has no quantised sequence LSTM: it is unrolled into steps",
}


def codes(file, pattern):
    text = (SOURCE / file).read_text()
    return {name: int(code) for code, name in re.findall(pattern, text, re.M)}


def operand(record, types):
    return (types[record["type"]], record.get("dims", []), record.get("scale", 0.0), record.get("zero", 0))


def recorded(record):
    return (record["type"], record["dims"], record.get("scale", 0.0), record.get("zp", 0))


def same_operand(a, b):
    return a[:2] == b[:2] and a[3] == b[3] and abs(a[2] - b[2]) <= 1e-6 * b[2]


def check_operation(k, ours, theirs):
    if ours[0] != theirs[0]:
        return f"operation {k} is {ours[0]}, recorded {theirs[0]}"
    for side in ("in", "out"):
        a, b = ours[1][side], theirs[1][side]
        if len(a) != len(b) or not all(map(same_operand, a, b)):
            return f"operation {k} ({ours[0]}), {side}: {a}, recorded {b}"
    return None


def operations(model, code, signature):
    return [(code(o), {side: [signature(model["operands"][i]) for i in o[side]] for side in ("in", "out")})
            for o in model["operations"]]


def check_model(halcyon, path, op_codes, types):
    dump = subprocess.run([halcyon, "dump", path.parent.parent / f"{path.stem}.tflite", "--format", "json"],
                          capture_output=True, text=True, check=True)
    model = json.loads(dump.stdout)["main"]
    ours = operations(model, lambda o: op_codes[o["op"]], lambda record: operand(record, types))
    theirs = operations(json.loads(path.read_text()), lambda o: o["type"], recorded)
    if len(ours) != len(theirs):
        return f"{len(ours)} operations, recorded {len(theirs)}"
    return next(filter(None, map(check_operation, range(len(ours)), ours, theirs)), None)


def main():
    halcyon, models = sys.argv[1], pathlib.Path(sys.argv[2])
    recordings = sorted((models / "nnapi").glob("*.json"))
    if not recordings:
        print(f"skipped: no recordings at {models}")
        return 77
    op_codes = codes("golden/ops.def", r"^OP\((\d+), (\w+)")
    types = codes("golden/model/dtype.def", r"DTYPE\( *(\d+), *\w+, *\"(\w+)\"")
    failed = 0
    for path in recordings:
        complaint = check_model(halcyon, path, op_codes, types)
        expected = DIFFERENT.get(path.stem)
        print(f"{path.stem}: {complaint[:300] if complaint else 'as recorded'}{f' ({expected})' if expected else ''}")
        failed += bool(complaint) != bool(expected)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
