"""Converts TensorFlow Lite models to NNAPI models, like TensorFlow Lite's own NNAPI delegate at HAL 1.3.

State variables of operators become an input and an output of the model; 64-bit integers become 32-bit ones; 8-bit
weights of operators with float inputs are dequantised in the model.
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
    """The NNAPI model under construction."""

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
        """The operand of a tensor of the file; index -1: an omitted one."""
        if index == -1:
            if not optional:
                raise SpecError("a required input is omitted")
            return self.omitted()
        if index not in self.of_tensor:
            self.of_tensor[index] = self._make(index)
        return self.of_tensor[index]

    def like(self, index, shape=None, **changes):
        """A temporary operand with the type of a tensor."""
        tensor = self.file.tensors[index]
        fields = quantization(tensor)
        fields.update(type=TYPES[tensor.type], dims=self.shapes[index] if shape is None else shape)
        fields.update(changes)
        return self.add(**fields)

    def state(self, index):
        """The operand from which a state is read; added to the model's inputs."""
        if index == -1:
            raise SpecError("a state input is omitted")
        operand = self.tensor(index)
        if operand not in self.inputs:
            self.operands[operand]["life"] = "SUBGRAPH_INPUT"
            self.inputs.append(operand)
        return operand

    def next_state(self, index):
        """The operand to which a state is written; added to the model's outputs."""
        name = self.file.tensors[index].name
        operand = self.like(index, life="SUBGRAPH_OUTPUT", name=f"{name}_out" if name else None)
        self.outputs.append(operand)
        return operand

    def real_weights(self, index):
        """A weight tensor as a float operand, dequantised in the model where the file has 8-bit values."""
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
        """A tensor of 8-bit weights without zero point as TENSOR_QUANT8_SYMM, or an omitted one."""
        if index == -1:
            return self.omitted("TENSOR_QUANT8_SYMM")
        tensor, fields = self.file.tensors[index], quantization(self.file.tensors[index])
        if tensor.type != "INT8" or tensor.data is None or "channel" in fields or fields.get("zero"):
            raise Unsupported("weights other than constant INT8 without zero point and per-channel scales")
        key = ("symmetric", index)
        if key not in self.of_tensor:
            self.of_tensor[key] = self.add("TENSOR_QUANT8_SYMM", tensor.shape, "CONSTANT_COPY", name=tensor.name,
                                           data=tensor.data, **fields)
        return self.of_tensor[key]

    def infer(self, index, shape):
        """Sets the shape of a tensor for which the file has an empty one."""
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
    """The operand fields for a tensor's quantisation; per-channel scales are kept for INT8 only (not biases)."""
    if tensor.type == "FLOAT32" or not tensor.scales:
        return {}
    if len(tensor.scales) == 1:
        return {"scale": tensor.scales[0], "zero": tensor.zeros[0] if tensor.zeros else 0}
    if tensor.type != "INT8":
        return {}
    if any(tensor.zeros):
        raise Unsupported("per-channel zero points have no equivalent in NNAPI")
    return {"channel": {"dim": tensor.axis, "scales": tensor.scales}}


def narrowed(tensor):
    """The bytes of a constant, with 64-bit integers clamped to 32 bits."""
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
                raise Unsupported("this operator is not supported")
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


def load(path, data):
    """Yields one line of JSON, for the model of the file, whose contents are `data`."""
    whole = os.path.abspath(path)
    stem = os.path.basename(whole).rsplit(".", 1)[0]
    yield record(data, f"{os.path.basename(os.path.dirname(whole))}/{stem}/{stem}")
