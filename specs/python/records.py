"""Converts a test to a record: one JSON object per line, values as base64 of the dense little-endian tensor."""

import array
import base64
import json
import math
import struct
import sys

from halcyon.models import referenced_models
from halcyon.errors import SpecError, show
from halcyon.operands import BOOLS, FLOATS

# The format letter of module struct for each element type.
LETTERS = {
    "FLOAT32": "f", "FLOAT16": "e", "INT32": "i", "UINT32": "I", "BOOL": "B",
    "TENSOR_FLOAT32": "f", "TENSOR_FLOAT16": "e", "TENSOR_INT32": "i", "TENSOR_BOOL8": "B",
    "TENSOR_QUANT8_ASYMM": "B", "TENSOR_QUANT8_ASYMM_SIGNED": "b", "TENSOR_QUANT8_SYMM": "b",
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": "b", "TENSOR_QUANT16_ASYMM": "H", "TENSOR_QUANT16_SYMM": "h",
    "TENSOR_OEM_BYTE": "B",
}

# What packing raises for values of the wrong type or range.
UNFIT = (TypeError, ValueError, OverflowError, struct.error)


def half_bytes(values):
    try:
        return struct.pack(f"<{len(values)}e", *values)
    except OverflowError:
        return b"".join(struct.pack("<e", math.copysign(math.inf, value) if abs(value) >= 65520 else value)
                        for value in values)


def pack_values(code, values):
    """Values as stored: floats rounded through binary32, booleans by truth value (of TENSOR_BOOL8 also as a byte, 2 to
    255), the rest truncated towards zero."""
    if code == "TENSOR_BOOL8":
        return bytes(value if type(value) is int and 0 <= value <= 255 else bool(value) for value in values)
    if code in BOOLS:
        return bytes(bool(value) for value in values)
    if code not in FLOATS:
        return struct.pack(f"<{len(values)}{LETTERS[code]}", *map(int, values))
    single = array.array("f", values)
    if LETTERS[code] == "e":
        return half_bytes(single.tolist())
    if sys.byteorder == "big":
        single.byteswap()
    return single.tobytes()


def check_count(operand):
    count, dims = len(operand.value), operand.type.dims
    if count not in (0, operand.type.count) and (dims or operand.type.is_scalar) and all(dims):
        raise SpecError(f"operand {operand.name!r} has {count} values for dimensions {list(dims)}")


def fits(code, value):
    try:
        pack_values(code, [value])
        return True
    except UNFIT:
        return False


def encode(operand):
    code, values = operand.type.code, operand.value
    try:
        return base64.b64encode(pack_values(code, values)).decode()
    except UNFIT:
        wrong = next((i for i, value in enumerate(values) if not fits(code, value)), 0)
        raise SpecError(f"operand {operand.name!r} has a value that does not fit {code}: {show(values[wrong])} "
                        f"at index {wrong}") from None


def plain(operand, value):
    """A number that JSON can represent: numpy's are converted."""
    value = getattr(value, "item", lambda: value)()
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not -1 << 63 <= value < 1 << 63:
        raise SpecError(f"operand {operand.name!r} has a value that does not fit {operand.type.code}: {show(value)}")
    return value


def operand_record(operand, subgraphs, with_values):
    type = operand.type
    record = {"name": operand.name, "type": type.code}
    if type.dims:
        record["dims"] = type.dims
    if type.scale:
        record["scale"] = type.scale
    if type.zero:
        record["zero"] = type.zero
    if type.channel is not None and not type.channel.hide:
        record["channel"] = {"dim": type.channel.dim, "scales": type.channel.scales}
    if type.extension is not None:
        record["extension"] = base64.b64encode(type.extension).decode()
    record["life"] = operand.lifetime
    if operand.ignored:
        record["ignored"] = True
    if operand.kind == "subgraph":
        record["data"] = [next(i for i, model in enumerate(subgraphs) if model is operand.value[0])]
    elif operand.value is not None and (with_values or operand.kind not in ("input", "output")):
        check_count(operand)
        if type.is_vendors:  # the reader of the record has the extension's storage format
            record["data"] = [plain(operand, value) for value in operand.value]
        else:
            record["bytes"] = encode(operand)
    return record


def model_record(model, subgraphs, with_values):
    operands = model.operands()
    index = {operand.name: number for number, operand in enumerate(operands)}
    return {
        "operands": [operand_record(operand, subgraphs, with_values) for operand in operands],
        "operations": [{"op": op.code, "in": [index[operand.name] for operand in op.inputs],
                        "out": [index[operand.name] for operand in op.outputs]}
                       for op in model.sorted_operations()],
        "inputs": [index[operand.name] for operand in model.inputs()],
        "outputs": [index[operand.name] for operand in model.outputs()],
    }


def test_record(test, prefix):
    subgraphs = referenced_models(test.model)
    record = {"name": prefix + test.name, "since": test.version, "line": test.line}
    if test.model.relaxed:
        record["relaxed"] = True
    if test.expect_failure:
        record["expect_failure"] = True
    if test.tolerance:
        record["multinomial_tolerance"] = test.tolerance
    record["main"] = model_record(test.model, subgraphs, True)
    if subgraphs:
        record["referenced"] = [model_record(model, subgraphs, False) for model in subgraphs]
    return json.dumps(record, separators=(",", ":"))
