"""Converts TensorFlow Lite operators to NNAPI operations. A converter takes the Builder and the operator."""

import math

from halcyon import tflite_recurrent
from halcyon.operands import SpecError, Unsupported

PADDINGS = {0: 1, 1: 2}  # SAME and VALID: number in the file, in NNAPI
ACTIVATIONS = (0, 1, 2, 3)  # none, RELU, RELU1, RELU6: the same numbers in the file and in NNAPI
# Operators with the inputs of the NNAPI operation, in the same order, and without options.
SAME = {name: name for name in (
    "ABS", "CAST", "DEQUANTIZE", "ELU", "EQUAL", "EXP", "FLOOR", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "LESS",
    "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "MAXIMUM", "MINIMUM", "NEG",
    "NOT_EQUAL", "PAD", "POW", "PRELU", "RELU", "RELU6", "RSQRT", "SELECT", "SIN", "SLICE", "SQRT", "TANH", "TILE",
    "TRANSPOSE")}
SAME.update(RELU_N1_TO_1="RELU1", PADV2="PAD_V2")


def as_is(b, op):
    """Inputs and outputs one to one."""
    return [b.tensor(i) for i in op.inputs], [b.tensor(o) for o in op.outputs]


def same(b, op):
    b.infer(op.outputs[0], b.shapes[op.inputs[0]])
    inputs, outputs = as_is(b, op)
    b.operation(SAME[op.name], inputs, outputs)


def activation(b, op, field):
    number = op.options.byte(field)
    if number not in ACTIVATIONS:
        raise Unsupported(f"fused activation {number}")
    return b.int(number)


def padding(b, op):
    number = op.options.byte(0)
    if number not in PADDINGS:
        raise SpecError(f"padding {number}")
    return b.int(PADDINGS[number])


def arithmetic(b, op):
    b.operation(op.name, [*as_is(b, op)[0], activation(b, op, 0)], [b.tensor(op.outputs[0])])


def is_quantised(b, index):
    return b.file.tensors[index].type in ("INT8", "UINT8", "INT16")


def weights(b, op, i):
    """Input i; dequantised if input 0, with which it is multiplied, is not quantised."""
    return b.tensor(op.inputs[i]) if is_quantised(b, op.inputs[0]) else b.real_weights(op.inputs[i])


def bias(b, op, i, count):
    """Input i, or zeros if it is omitted."""
    if len(op.inputs) > i and op.inputs[i] >= 0:
        return b.tensor(op.inputs[i])
    if not is_quantised(b, op.inputs[0]):
        return b.floats([0.0] * count)
    scales = [b.file.tensors[index].scales for index in op.inputs[:2]]
    scale = scales[0][0] * scales[1][0] if len(scales[1]) == 1 else 0.0
    return b.add("TENSOR_INT32", [count], "CONSTANT_COPY", scale=scale, data=bytes(4 * count))


def dilation(b, op, field):
    """The layout and dilation operands; none without dilation."""
    width, height = op.options.int(field, 1), op.options.int(field + 1, 1)
    return [] if width == height == 1 else [b.flag(False), b.int(width), b.int(height)]


def conv_2d(b, op):
    shape = b.shapes[op.inputs[1]]
    groups, rest = divmod(b.shapes[op.inputs[0]][3], shape[3])
    operands = [b.tensor(op.inputs[0]), weights(b, op, 1), bias(b, op, 2, shape[0]), padding(b, op),
                b.int(op.options.int(1)), b.int(op.options.int(2))]
    extra = dilation(b, op, 4)
    if groups == 1 and rest == 0:
        b.operation("CONV_2D", [*operands, activation(b, op, 3), *extra], [b.tensor(op.outputs[0])])
        return
    if rest or extra:
        raise Unsupported(f"filter {list(shape)} on {b.shapes[op.inputs[0]][3]} channels")
    operands += [b.int(groups), activation(b, op, 3), b.flag(False)]
    b.operation("GROUPED_CONV_2D", operands, [b.tensor(op.outputs[0])])


def depthwise_conv_2d(b, op):
    shape = b.shapes[op.inputs[1]]
    multiplier = shape[3] // b.shapes[op.inputs[0]][3]
    operands = [b.tensor(op.inputs[0]), weights(b, op, 1), bias(b, op, 2, shape[3]), padding(b, op),
                b.int(op.options.int(1)), b.int(op.options.int(2)), b.int(multiplier), activation(b, op, 4)]
    b.operation("DEPTHWISE_CONV_2D", operands + dilation(b, op, 5), [b.tensor(op.outputs[0])])


def transpose_conv_2d(b, op):
    shape = b.shapes[op.inputs[1]]
    if not is_quantised(b, op.inputs[2]) and is_quantised(b, op.inputs[1]):
        raise Unsupported("8-bit weights with a float input")
    if len(op.inputs) > 3 and op.inputs[3] >= 0:
        biases = b.tensor(op.inputs[3])
    elif is_quantised(b, op.inputs[2]):
        scales = [b.file.tensors[index].scales for index in op.inputs[1:3]]
        scale = scales[0][0] * scales[1][0] if len(scales[0]) == 1 else 0.0
        biases = b.add("TENSOR_INT32", [shape[0]], "CONSTANT_COPY", scale=scale, data=bytes(4 * shape[0]))
    else:
        biases = b.floats([0.0] * shape[0])
    operands = [b.tensor(op.inputs[2]), b.tensor(op.inputs[1]), biases, b.tensor(op.inputs[0]), padding(b, op),
                b.int(op.options.int(1)), b.int(op.options.int(2)), activation(b, op, 3), b.flag(False)]
    b.operation("TRANSPOSE_CONV_2D", operands, [b.tensor(op.outputs[0])])


def pool_2d(b, op):
    sizes = [b.int(op.options.int(field)) for field in (1, 2, 3, 4)]
    b.operation(op.name, [b.tensor(op.inputs[0]), padding(b, op), *sizes, activation(b, op, 5)],
                [b.tensor(op.outputs[0])])


def fully_connected(b, op):
    if op.options.byte(1):
        raise Unsupported("shuffled weights")
    units, depth = b.shapes[op.inputs[1]]
    flat = [math.prod(b.shapes[op.inputs[0]]) // depth, units]
    b.infer(op.outputs[0], flat)
    shape = b.shapes[op.outputs[0]]
    if is_quantised(b, op.inputs[0]) and len(b.file.tensors[op.inputs[1]].scales) > 1:
        raise Unsupported("per-channel weights")
    operands = [b.tensor(op.inputs[0]), weights(b, op, 1), bias(b, op, 2, units), activation(b, op, 0)]
    if len(shape) == 2:
        b.operation("FULLY_CONNECTED", operands, [b.tensor(op.outputs[0])])
        return
    middle = b.like(op.outputs[0], flat)
    b.operation("FULLY_CONNECTED", operands, [middle])
    b.operation("RESHAPE", [middle, b.ints(shape)], [b.tensor(op.outputs[0])])


def softmax(b, op):
    b.infer(op.outputs[0], b.shapes[op.inputs[0]])
    b.operation("SOFTMAX", [b.tensor(op.inputs[0]), b.float(op.options.float(0))], [b.tensor(op.outputs[0])])


def reshape(b, op):
    if len(op.inputs) > 1 and op.inputs[1] >= 0:
        shape = b.tensor(op.inputs[1])
    else:
        shape = b.ints(op.options.ints(0) or b.shapes[op.outputs[0]])
    b.operation("RESHAPE", [b.tensor(op.inputs[0]), shape], [b.tensor(op.outputs[0])])


def squeeze(b, op):
    dims = op.options.ints(0)
    b.operation("SQUEEZE", [b.tensor(op.inputs[0]), b.ints(dims) if dims else b.omitted("TENSOR_INT32")],
                [b.tensor(op.outputs[0])])


def concatenation(b, op):
    if op.options.byte(1):
        raise Unsupported("a fused activation")
    axis = op.options.int(0)
    axis += len(b.shapes[op.outputs[0]]) if axis < 0 else 0
    inputs, outputs = as_is(b, op)
    b.operation("CONCATENATION", [*inputs, b.int(axis)], outputs)


def constant_ints(b, index):
    """The values of a constant tensor of integers."""
    tensor = b.file.tensors[index]
    if tensor.data is None or tensor.type not in ("INT32", "INT64"):
        raise Unsupported("an axis or size that is not a constant integer")
    size = 4 if tensor.type == "INT32" else 8
    return [int.from_bytes(tensor.data[i:i + size], "little", signed=True) for i in range(0, len(tensor.data), size)]


def mean(b, op):
    b.operation("MEAN", [*as_is(b, op)[0], b.int(op.options.flag(0))], [b.tensor(op.outputs[0])])


def reduce(b, op):
    name = {"SUM": "REDUCE_SUM"}.get(op.name, op.name)
    b.operation(name, [*as_is(b, op)[0], b.flag(op.options.flag(0))], [b.tensor(op.outputs[0])])


def arg_extreme(b, op):
    axis, = constant_ints(b, op.inputs[1])
    b.operation({"ARG_MAX": "ARGMAX", "ARG_MIN": "ARGMIN"}[op.name], [b.tensor(op.inputs[0]), b.int(axis)],
                [b.tensor(op.outputs[0])])


def split(b, op):
    axis, = constant_ints(b, op.inputs[0])
    b.operation("SPLIT", [b.tensor(op.inputs[1]), b.int(axis), b.int(len(op.outputs))],
                [b.tensor(output) for output in op.outputs])


def expand_dims(b, op):
    axis, = constant_ints(b, op.inputs[1])
    b.operation("EXPAND_DIMS", [b.tensor(op.inputs[0]), b.int(axis)], [b.tensor(op.outputs[0])])


def gather(b, op):
    if op.options.int(1):
        raise Unsupported("batch dimensions")
    b.operation("GATHER", [b.tensor(op.inputs[0]), b.int(op.options.int(0)), b.tensor(op.inputs[1])],
                [b.tensor(op.outputs[0])])


def pack(b, op):
    inputs, outputs = as_is(b, op)
    b.operation("PACK", [b.int(op.options.int(1)), *inputs], outputs)


def l2_normalization(b, op):
    if op.options.byte(0):
        raise Unsupported("a fused activation")
    b.operation("L2_NORMALIZATION", *as_is(b, op))


def log_softmax(b, op):
    b.operation("LOG_SOFTMAX", [b.tensor(op.inputs[0]), b.float(1.0), b.int(-1)], [b.tensor(op.outputs[0])])


def leaky_relu(b, op):
    if is_quantised(b, op.inputs[0]):
        raise Unsupported("quantised")
    b.operation("PRELU", [b.tensor(op.inputs[0]), b.floats([op.options.float(0)])], [b.tensor(op.outputs[0])])


def quantize(b, op):
    source = b.tensor(op.inputs[0])
    if is_quantised(b, op.inputs[0]):
        middle = b.add("TENSOR_FLOAT32", b.shapes[op.inputs[0]])
        b.operation("DEQUANTIZE", [source], [middle])
        source = middle
    b.operation("QUANTIZE", [source], [b.tensor(op.outputs[0])])


def block(b, op):
    b.operation(op.name, [*as_is(b, op)[0], b.int(op.options.int(0))], [b.tensor(op.outputs[0])])


def resize(b, op):
    height, width = constant_ints(b, op.inputs[1])
    first = {"RESIZE_BILINEAR": 2, "RESIZE_NEAREST_NEIGHBOR": 0}[op.name]
    corners, centers = op.options.flag(first), op.options.flag(first + 1)
    modes = [b.flag(corners), b.flag(centers)] if corners or centers else []
    b.operation(op.name, [b.tensor(op.inputs[0]), b.int(width), b.int(height), b.flag(False), *modes],
                [b.tensor(op.outputs[0])])


def strided_slice(b, op):
    if op.options.int(2) or op.options.int(3):
        raise Unsupported("ellipsis or new axes")
    masks = [b.int(op.options.int(field)) for field in (0, 1, 4)]
    b.operation("STRIDED_SLICE", [*as_is(b, op)[0], *masks], [b.tensor(op.outputs[0])])


CONVERTERS = {
    **tflite_recurrent.CONVERTERS,
    **dict.fromkeys(SAME, same),
    **dict.fromkeys(("ADD", "DIV", "MUL", "SUB"), arithmetic),
    **dict.fromkeys(("AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D"), pool_2d),
    **dict.fromkeys(("REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), reduce),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), arg_extreme),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), block),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), resize),
    "CONCATENATION": concatenation,
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "EXPAND_DIMS": expand_dims,
    "FULLY_CONNECTED": fully_connected,
    "GATHER": gather,
    "L2_NORMALIZATION": l2_normalization,
    "LEAKY_RELU": leaky_relu,
    "LOG_SOFTMAX": log_softmax,
    "MEAN": mean,
    "PACK": pack,
    "QUANTIZE": quantize,
    "RESHAPE": reshape,
    "SOFTMAX": softmax,
    "SPLIT": split,
    "SQUEEZE": squeeze,
    "STRIDED_SLICE": strided_slice,
    "TRANSPOSE_CONV": transpose_conv_2d,
}
