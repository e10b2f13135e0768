"""TensorFlow Lite models as NNAPI models, as TensorFlow Lite's own NNAPI delegate builds them at HAL 1.3.

State that operators keep becomes an input and an output of the model; 64-bit integers become 32-bit ones; weights that
are narrower than what they are multiplied with are dequantised in the model.
"""

import base64
import json
import os
import struct

from halcyon import tflite_file
from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_operators import CONVERTERS

TYPES = {
    "FLOAT32": "TENSOR_FLOAT32", "FLOAT16": "TENSOR_FLOAT16", "INT32": "TENSOR_INT32", "INT64": "TENSOR_INT32",
    "BOOL": "TENSOR_BOOL8", "UINT8": "TENSOR_QUANT8_ASYMM", "INT8": "TENSOR_QUANT8_ASYMM_SIGNED",
    "INT16": "TENSOR_QUANT16_SYMM",
}


class Builder:
    """The NNAPI model as it grows."""

    def __init__(self, file):
        self.file = file
        self.operands = []
        self.operations = []
        self.inputs, self.outputs = [], []
        self.of_tensor = {}
        self.shapes = [tensor.shape for tensor in file.tensors]

    def add(self, type, dims=(), life="TEMPORARY_VARIABLE", scale=0.0, zero=0, channel=None, name=None, data=None):
        """Adds an operand and returns its index."""
        record = {"type": type, "life": life}
        if name:
            record["name"] = name
        if dims:
            record["dims"] = list(dims)
        if scale:
            record["scale"] = scale
        if zero:
            record["zero"] = zero
        if channel:
            record["channel"] = channel
        if data is not None:
            record["bytes"] = base64.b64encode(data).decode()
        self.operands.append(record)
        return len(self.operands) - 1

    def operation(self, code, inputs, outputs):
        self.operations.append({"op": code, "in": inputs, "out": outputs})

    def int(self, value):
        return self.add("INT32", life="CONSTANT_COPY", data=struct.pack("<i", value))

    def float(self, value):
        return self.add("FLOAT32", life="CONSTANT_COPY", data=struct.pack("<f", value))

    def flag(self, value):
        return self.add("BOOL", life="CONSTANT_COPY", data=bytes([bool(value)]))

    def ints(self, values):
        return self.add("TENSOR_INT32", [len(values)], "CONSTANT_COPY", data=struct.pack(f"<{len(values)}i", *values))

    def floats(self, values):
        return self.add("TENSOR_FLOAT32", [len(values)], "CONSTANT_COPY", data=struct.pack(f"<{len(values)}f", *values))

    def omitted(self, type="TENSOR_FLOAT32"):
        return self.add(type, [0], "NO_VALUE", **({"scale": 1.0} if "QUANT" in type else {}))

    def tensor(self, index, optional=False):
        """The operand of a tensor of the file; -1 is one that is left out."""
        if index == -1:
            if not optional:
                raise SpecError("an input that the operator needs is left out")
            return self.omitted()
        if index not in self.of_tensor:
            self.of_tensor[index] = self._make(index)
        return self.of_tensor[index]

    def like(self, index, shape=None, **changes):
        """A temporary operand of the type of a tensor."""
        tensor = self.file.tensors[index]
        fields = quantization(tensor)
        fields.update(type=TYPES[tensor.type], dims=self.shapes[index] if shape is None else shape)
        fields.update(changes)
        return self.add(**fields)

    def state(self, index):
        """The operand that a state is read from. It becomes an input of the model."""
        if index == -1:
            raise SpecError("an input for state is left out")
        operand = self.tensor(index)
        if operand not in self.inputs:
            self.operands[operand]["life"] = "SUBGRAPH_INPUT"
            self.inputs.append(operand)
        return operand

    def next_state(self, index):
        """The operand that a state is written to. It becomes an output of the model."""
        name = self.file.tensors[index].name
        operand = self.like(index, life="SUBGRAPH_OUTPUT", name=f"{name}_out" if name else None)
        self.outputs.append(operand)
        return operand

    def real_weights(self, index):
        """A tensor of weights as an operand of real numbers, dequantised where the file has it in 8 bits."""
        tensor = self.file.tensors[index] if index >= 0 else None
        if tensor is None or tensor.data is None or tensor.type not in ("INT8", "UINT8"):
            return self.tensor(index, optional=True)
        key = ("real", index)
        if key not in self.of_tensor:
            fields = quantization(tensor)
            type = TYPES[tensor.type]
            if "channel" in fields:
                type = "TENSOR_QUANT8_SYMM_PER_CHANNEL"
            elif tensor.type == "INT8" and not fields.get("zero"):
                type = "TENSOR_QUANT8_SYMM"
            narrow = self.add(type, tensor.shape, "CONSTANT_COPY", name=tensor.name, data=tensor.data, **fields)
            self.of_tensor[key] = self.add("TENSOR_FLOAT32", tensor.shape)
            self.operation("DEQUANTIZE", [narrow], [self.of_tensor[key]])
        return self.of_tensor[key]

    def symmetric(self, index):
        """A tensor of 8-bit weights without zero point as the operation wants it, or one that is left out."""
        if index == -1:
            return self.omitted("TENSOR_QUANT8_SYMM")
        tensor, fields = self.file.tensors[index], quantization(self.file.tensors[index])
        if tensor.type != "INT8" or tensor.data is None or "channel" in fields or fields.get("zero"):
            raise Unsupported("weights that are not constant 8-bit numbers without zero point")
        key = ("symmetric", index)
        if key not in self.of_tensor:
            self.of_tensor[key] = self.add("TENSOR_QUANT8_SYMM", tensor.shape, "CONSTANT_COPY", name=tensor.name,
                                           data=tensor.data, **fields)
        return self.of_tensor[key]

    def infer(self, index, shape):
        """Files leave the shape of some tensors empty."""
        if not self.shapes[index] and index not in self.of_tensor:
            self.shapes[index] = tuple(shape)

    def _make(self, index):
        tensor = self.file.tensors[index]
        fields = quantization(tensor)
        type = TYPES[tensor.type]
        if "channel" in fields:
            type = "TENSOR_QUANT8_SYMM_PER_CHANNEL" if tensor.type == "INT8" else type
            if tensor.type != "INT8":
                del fields["channel"]
        life, data = "TEMPORARY_VARIABLE", None
        if tensor.data is not None:
            life, data = "CONSTANT_COPY", narrowed(tensor)
        elif index in self.file.inputs:
            life = "SUBGRAPH_INPUT"
        elif index in self.file.outputs:
            life = "SUBGRAPH_OUTPUT"
        shape = self.shapes[index] or ([1] if data is not None else [])
        return self.add(type, shape, life, name=tensor.name, data=data, **fields)


def quantization(tensor):
    """The fields of an operand for the scales of a tensor; several scales on a bias mean none."""
    if tensor.type == "FLOAT32" or not tensor.scales:
        return {}
    if len(tensor.scales) == 1:
        return {"scale": tensor.scales[0], "zero": tensor.zeros[0] if tensor.zeros else 0}
    if tensor.type != "INT8":
        return {}
    if any(tensor.zeros):
        raise Unsupported("zero points that differ along a dimension have no equal in NNAPI")
    return {"channel": {"dim": tensor.axis, "scales": tensor.scales}}


def narrowed(tensor):
    """The bytes of a constant, with 64-bit integers as 32-bit ones."""
    if tensor.type != "INT64":
        return tensor.data
    values = struct.unpack(f"<{tensor.count}q", tensor.data)
    limits = -2**31, 2**31 - 1
    return struct.pack(f"<{tensor.count}i", *(min(max(value, limits[0]), limits[1]) for value in values))


def convert(file):
    builder = Builder(file)
    builder.inputs += [builder.tensor(index) for index in file.inputs]
    state_outputs = builder.outputs
    for op in file.operators:
        try:
            if op.name not in CONVERTERS:
                raise Unsupported("not among the operators that are imported")
            CONVERTERS[op.name](builder, op)
        except SpecError as error:
            wrapped = type(error)(f"operator {op.index} ({op.name}): {error}")
            raise wrapped from None
        except (*tflite_file.DAMAGE, ZeroDivisionError) as error:
            raise SpecError(f"operator {op.index} ({op.name}): {error}") from None
    outputs = [builder.tensor(index) for index in file.outputs] + state_outputs
    return {"operands": builder.operands, "operations": builder.operations, "inputs": builder.inputs,
            "outputs": outputs}


def record(data, name):
    made = {"name": name, "since": "UNKNOWN", "main": convert(tflite_file.read(data))}
    return json.dumps(made, separators=(",", ":"), allow_nan=False)


def load(path):
    """Yields one line of JSON, for the model of the file."""
    with open(path, "rb") as file:
        data = file.read()
    whole = os.path.abspath(path)
    stem = os.path.basename(whole).rsplit(".", 1)[0]
    yield record(data, f"{os.path.basename(os.path.dirname(whole))}/{stem}/{stem}")
