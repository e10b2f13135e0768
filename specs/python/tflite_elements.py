"""Converts element-wise operators, comparisons, casts and reductions. What NNAPI lacks is composed of its operations."""

import math
import struct

from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_common import (MANY, activation, as_rows, binary, broadcast, broadcast_shape, concatenate, finish,
                                   imports, normal_axis, slice_axis, transpose)
from halcyon.tflite_model import BOOL, BYTES, F16, F32, FLOATS, I32, S8, U8, physical

WITH_REALS = "; quantised: through floats"


def pair(b, op):
    """Both inputs and their shapes."""
    return [b.tensor(i) for i in op.inputs], [b.shape(i) for i in op.inputs]


def real_pair(b, op):
    return [b.real(i) for i in op.inputs], [b.shape(i) for i in op.inputs]


def combine(b, code, refs, shapes, *extra, **out):
    return binary(b, code, refs[0], shapes[0], refs[1], shapes[1], extra, **out)


# --- arithmetic


@imports("ADD MUL SUB", 2, "the operation of the same name")
def arithmetic(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != refs[1].type:
        refs = [b.real(i) for i in op.inputs]
    if refs[0].type not in (F32, I32, U8, S8):
        b.refuse_type(op.inputs[0])
    number = activation(op)
    if refs[0].type == I32 and number:
        made, shape = combine(b, op.name, refs, shapes, 0)
        return b.bind(op.outputs[0], clamp(b, made, number), shape)
    out = b.like_output(refs[0], op.outputs[0])
    finish(b, op, *combine(b, op.name, refs, shapes, number, **out))


def clamp(b, ref, number):
    """The fused activation of integers."""
    low, high = {1: (0, None), 2: (-1, 1), 3: (0, 6)}[number]
    ref = b.op("MAXIMUM", [ref, b.ints([low])], ref.dims)
    return ref if high is None else b.op("MINIMUM", [ref, b.ints([high])], ref.dims)


@imports("DIV", 2, "`DIV`; integers: `DIV` of the magnitudes, then the sign, as NNAPI rounds down" + WITH_REALS)
def divide(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != I32:
        refs, shapes = real_pair(b, op)
        return finish(b, op, *combine(b, "DIV", refs, shapes, activation(op)))
    made, shape = combine(b, "DIV", [b.op("ABS", [ref], ref.dims) for ref in refs], shapes, 0)
    signs = [b.op("LESS", [ref, b.ints([0])], ref.dims, type=BOOL) for ref in refs]
    differ = combine(b, "NOT_EQUAL", signs, shapes)[0]
    made = b.chosen(differ, b.op("NEG", [made], made.dims), made)
    number = activation(op)
    finish(b, op, clamp(b, made, number) if number else made, shape)


@imports("FLOOR_DIV", 2, "`DIV`, `FLOOR`; integers: `DIV`")
def floor_divide(b, op):
    refs, shapes = pair(b, op)
    made, shape = combine(b, "DIV", refs if refs[0].type == I32 else real_pair(b, op)[0], shapes, 0)
    b.bind(op.outputs[0], made if made.type == I32 else b.op("FLOOR", [made], made.dims), shape)


@imports("FLOOR_MOD", 2, "x - y `FLOOR`(x / y)")
def floor_mod(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != I32:
        refs, shapes = real_pair(b, op)
    made, shape = combine(b, "DIV", refs, shapes, 0)
    if made.type != I32:
        made = b.op("FLOOR", [made], made.dims)
    made, _ = binary(b, "MUL", made, shape, refs[1], shapes[1], [0])
    b.bind(op.outputs[0], binary(b, "SUB", refs[0], shapes[0], made, shape, [0])[0], shape)


@imports("SQUARED_DIFFERENCE", 2, "`SUB`, `MUL`" + WITH_REALS)
def squared_difference(b, op):
    refs, shapes = pair(b, op)
    made, shape = combine(b, "SUB", refs if refs[0].type == I32 else real_pair(b, op)[0], shapes, 0)
    b.bind(op.outputs[0], b.op("MUL", [made, made, 0], made.dims), shape)


@imports("POW", 2, "`POW`; integers with a constant exponent: `MUL`")
def power(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != I32:
        refs, shapes = real_pair(b, op)
        return b.bind(op.outputs[0], *combine(b, "POW", refs, shapes))
    exponent = b.number(op.inputs[1], "the exponent of integers")
    if not 0 <= exponent <= 64:
        raise Unsupported(f"integers to the power {exponent}: 0 to 64 is supported")
    made = b.filled(I32, refs[0].dims, 1)
    for i in range(exponent):
        made = b.op("MUL", [made, refs[0], 0], refs[0].dims) if i else refs[0]
    b.bind(op.outputs[0], made if exponent != 0 else b.copy(made), broadcast_shape(*shapes))


@imports("ADD_N", (1, MANY), "`ADD`s")
def add_n(b, op):
    shape = b.shape(op.inputs[0])
    total = b.tensor(op.inputs[0])
    for index in op.inputs[1:]:
        total, shape = binary(b, "ADD", total, shape, b.tensor(index), b.shape(index), [0])
    b.bind(op.outputs[0], total if len(op.inputs) > 1 else b.copy(total), shape)


@imports("MAXIMUM MINIMUM", 2)
def extreme(b, op):
    refs, shapes = [b.raw(i, op.outputs[0]) for i in op.inputs], [b.shape(i) for i in op.inputs]
    b.bind(op.outputs[0], *combine(b, op.name, refs, shapes))


@imports("EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL", 2, "the operation of the same name")
def compare(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != refs[1].type:
        raise SpecError(f"tensors of types {' and '.join(b.tensors[i].type for i in op.inputs)}: must be the same")
    b.bind(op.outputs[0], *combine(b, op.name, refs, shapes, type=BOOL))


@imports("LOGICAL_AND LOGICAL_OR", 2)
def logical(b, op):
    b.bind(op.outputs[0], *combine(b, op.name, *pair(b, op)))


@imports("LOGICAL_NOT", 1)
def logical_not(b, op):
    x = b.tensor(op.inputs[0])
    b.bind(op.outputs[0], b.op("LOGICAL_NOT", [x], x.dims), b.shape(op.inputs[0]))


# --- functions of one tensor

UNARY = {  # the operation, and its types beside floats
    "ABS": ("ABS", (I32,)), "EXP": ("EXP", ()), "FLOOR": ("FLOOR", ()), "HARD_SWISH": ("HARD_SWISH", BYTES),
    "LOG": ("LOG", ()), "NEG": ("NEG", (I32,)), "RELU": ("RELU", BYTES), "RELU6": ("RELU6", BYTES),
    "RELU_N1_TO_1": ("RELU1", BYTES), "RSQRT": ("RSQRT", ()), "SIN": ("SIN", ()), "SQRT": ("SQRT", ()),
}


@imports("ABS EXP FLOOR LOG NEG RSQRT SIN SQRT", 1, "the operation of the same name" + WITH_REALS)
@imports("HARD_SWISH RELU RELU6", 1, "the operation of the same name")
@imports("RELU_N1_TO_1", 1, "`RELU1`")
def unary(b, op):
    code, types = UNARY[op.name]
    x = b.tensor(op.inputs[0])
    out = {}
    if x.type not in types and x.type not in FLOATS:
        x = b.real(op.inputs[0])
    elif op.name == "HARD_SWISH" and x.type in BYTES:
        out = b.like_output(x, op.outputs[0])
    b.bind(op.outputs[0], b.op(code, [x], x.dims, **out), b.shape(op.inputs[0]))


def of_real(function):
    """A converter for a function of a float operand."""
    def convert(b, op):
        b.bind(op.outputs[0], function(b, b.real(op.inputs[0])), b.shape(op.inputs[0]))
    return convert


def constant_op(b, code, x, value, *rest):
    return b.op(code, [x, b.floats([value]), *rest], x.dims)


@imports("CEIL", 1, "-`FLOOR`(-x)" + WITH_REALS)
@of_real
def ceil(b, x):
    for code in ("NEG", "FLOOR", "NEG"):
        x = b.op(code, [x], x.dims)
    return x


@imports("COS", 1, "1 - 2 `SIN`(x / 2)^2" + WITH_REALS)
@of_real
def cosine(b, x):
    sine = b.op("SIN", [constant_op(b, "MUL", x, 0.5, 0)], x.dims)
    return b.op("SUB", [b.floats([1.0]), constant_op(b, "MUL", b.op("MUL", [sine, sine, 0], x.dims), 2.0, 0), 0], x.dims,
                like=x)


@imports("ROUND", 1, "`FLOOR`, plus 1 above the middle, and in the middle of an odd number and the next")
@of_real
def round_to_even(b, x):
    low = b.op("FLOOR", [x], x.dims)
    rest = b.op("SUB", [x, low, 0], x.dims)
    half = constant_op(b, "MUL", low, 0.5, 0)
    odd = b.op("NOT_EQUAL", [half, b.op("FLOOR", [half], x.dims)], x.dims, type=BOOL)
    tie = b.op("LOGICAL_AND", [b.op("EQUAL", [rest, b.floats([0.5])], x.dims, type=BOOL), odd], x.dims)
    up = b.op("LOGICAL_OR", [b.op("GREATER", [rest, b.floats([0.5])], x.dims, type=BOOL), tie], x.dims)
    return b.op("ADD", [low, b.as_floats(up), 0], x.dims)


@imports("SIGN", 1, "`GREATER` minus `LESS` than 0")
@of_real
def sign(b, x):
    above, below = (b.as_floats(b.op(code, [x, b.floats([0.0])], x.dims, type=BOOL)) for code in ("GREATER", "LESS"))
    return b.op("SUB", [above, below, 0], x.dims)


@imports("ELU", 1, "`ELU` with alpha 1" + WITH_REALS)
@of_real
def elu(b, x):
    return b.op("ELU", [x, 1.0], x.dims)


@imports("RELU_0_TO_1", 1, "`RELU`, `MINIMUM`" + WITH_REALS)
@of_real
def relu_0_to_1(b, x):
    return constant_op(b, "MINIMUM", b.op("RELU", [x], x.dims), 1.0)


@imports("SQUARE", 1, "`MUL`")
def square(b, op):
    x = b.tensor(op.inputs[0])
    x = x if x.type == I32 else b.real(op.inputs[0])
    b.bind(op.outputs[0], b.op("MUL", [x, x, 0], x.dims), b.shape(op.inputs[0]))


# erf(z) = z P(z^2) / Q(z^2) for |z| <= 4, with a relative error of 7e-8; from the constant coefficient on.
ERF_P = (1.12837911, 0.191672921, 0.052852571, 0.00380341127, 0.000282831985, 2.00146428e-06)
ERF_Q = (1.0, 0.503198624, 0.114574894, 0.0150461318, 0.00116637035, 3.74828451e-05)


def polynomial(b, x, coefficients):
    total = constant_op(b, "ADD", constant_op(b, "MUL", x, coefficients[-1], 0), coefficients[-2], 0)
    for coefficient in reversed(coefficients[:-2]):
        total = constant_op(b, "ADD", b.op("MUL", [total, x, 0], x.dims), coefficient, 0)
    return total


def erf(b, z):
    z = constant_op(b, "MINIMUM", constant_op(b, "MAXIMUM", z, -4.0), 4.0)
    square = b.op("MUL", [z, z, 0], z.dims)
    ratio = b.op("DIV", [polynomial(b, square, ERF_P), polynomial(b, square, ERF_Q), 0], z.dims)
    return b.op("MUL", [z, ratio, 0], z.dims)


@imports("GELU", 1, "x / 2 (1 + `TANH`(..)) if approximate, else x / 2 (1 + erf(..)), a quotient of polynomials" + WITH_REALS)
def gelu(b, op):
    x = b.real(op.inputs[0])
    half = constant_op(b, "MUL", x, 0.5, 0)
    if op.options.approximate:
        cube = b.op("MUL", [b.op("MUL", [x, x, 0], x.dims), x, 0], x.dims)
        inner = b.op("ADD", [x, constant_op(b, "MUL", cube, 0.044715, 0), 0], x.dims)
        factor = constant_op(b, "ADD", b.op("TANH", [constant_op(b, "MUL", inner, math.sqrt(2 / math.pi), 0)], x.dims), 1.0, 0)
    else:
        factor = constant_op(b, "ADD", erf(b, constant_op(b, "MUL", x, math.sqrt(0.5), 0)), 1.0, 0)
    b.bind(op.outputs[0], b.op("MUL", [half, factor, 0], x.dims), b.shape(op.inputs[0]))


@imports("LEAKY_RELU", 1, "`PRELU`")
def leaky_relu(b, op):
    x, alpha = b.tensor(op.inputs[0]), op.options.alpha
    if x.type in FLOATS:
        made = b.op("PRELU", [x, b.floats([alpha])], x.dims)
    elif x.type in BYTES:
        zero = 1 if alpha < 0 else 0  # alpha is scale * (1 - 0), or scale * (0 - 1)
        slope = b.filled(x.type, [1], (1 - zero) if alpha else 0, abs(alpha) or 1.0, zero)
        made = b.op("PRELU", [x, slope], x.dims, **b.like_output(x, op.outputs[0]))
    else:
        b.refuse_type(op.inputs[0])
    b.bind(op.outputs[0], made, b.shape(op.inputs[0]))


@imports("PRELU", 2)
def prelu(b, op):
    refs, shapes = pair(b, op)
    if refs[0].type != refs[1].type or refs[0].type == I32:
        refs, shapes = real_pair(b, op)
    out = b.like_output(refs[0], op.outputs[0])
    b.bind(op.outputs[0], *combine(b, "PRELU", refs, shapes, **out))


def single(value):
    """A number rounded to 32 bits, as TensorFlow Lite computes with it."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


@imports("FAKE_QUANT", 1, "`MAXIMUM`, `MINIMUM`, `SUB`, `MUL`, `FLOOR`, `ADD`")
def fake_quant(b, op):
    o, x = op.options, b.real(op.inputs[0])
    if not 2 <= o.num_bits <= 16 or not o.min <= 0 <= o.max or o.min == o.max:
        raise SpecError(f"{o.num_bits} bits from {o.min} to {o.max}")
    lowest, highest = int(o.narrow_range), (1 << o.num_bits) - 1
    scale = single((o.max - o.min) / (highest - lowest))
    zero = min(max(math.floor(lowest - o.min / scale + 0.5), lowest), highest)
    low, high = single((lowest - zero) * scale), single((highest - zero) * scale)
    x = constant_op(b, "MINIMUM", constant_op(b, "MAXIMUM", x, low), high)
    steps = constant_op(b, "ADD", constant_op(b, "MUL", constant_op(b, "SUB", x, low, 0), 1 / scale, 0), 0.5, 0)
    made = constant_op(b, "MUL", b.op("FLOOR", [steps], x.dims), scale, 0)
    b.bind(op.outputs[0], constant_op(b, "ADD", made, low, 0), b.shape(op.inputs[0]))


# --- conversions


@imports("DEQUANTIZE", 1, "`DEQUANTIZE`; FLOAT16: `CAST`, or the constant in FLOAT32")
def dequantize(b, op):
    x, index = b.tensor(op.inputs[0]), op.inputs[0]
    tensor = b.tensors[index]
    if x.type not in FLOATS and not tensor.scales:
        raise SpecError(f"{b.label(index)} has type {tensor.type}, without a scale")
    if x.type not in (F16, U8, S8, "TENSOR_QUANT8_SYMM_PER_CHANNEL"):
        b.refuse_type(index)
    made = b.op("CAST" if x.type == F16 else "DEQUANTIZE", [x], x.dims, type=F32)
    b.bind(op.outputs[0], made, b.shape(index))


@imports("QUANTIZE", 1, "`QUANTIZE`; of quantised tensors `DEQUANTIZE` before it")
def quantize(b, op):
    x, (type, scale, zero) = b.tensor(op.inputs[0]), b.type_of(op.outputs[0])
    if type not in BYTES:
        b.refuse_type(op.outputs[0])
    if x.type not in FLOATS and x.type not in BYTES:
        b.refuse_type(op.inputs[0])
    made = b.copy(x) if x.quantisation == (type, scale, zero) else b.converted(x, type, scale, zero)
    b.bind(op.outputs[0], made, b.shape(op.inputs[0]))


def stored_as_reals(b, x):
    """The stored numbers of any operand as floats."""
    if x.type == BOOL:
        return b.as_floats(x)
    if x.type == S8:
        return b.op("DEQUANTIZE", [b.reinterpreted(x, 1.0, 0)], x.dims, type=F32)
    return b.op("CAST", [x], x.dims, type=F32) if x.type != F32 else x


@imports("CAST", 1, "`CAST`; to BOOL `NOT_EQUAL` 0, from BOOL `SELECT`; INT8 through floats")
def cast(b, op):
    x, (type, scale, zero) = b.tensor(op.inputs[0]), b.type_of(op.outputs[0])
    if type == "TENSOR_QUANT16_SYMM" or x.type == "TENSOR_QUANT16_SYMM":
        b.refuse_type(op.outputs[0] if type == "TENSOR_QUANT16_SYMM" else op.inputs[0])
    if type == x.type:
        made = b.copy(b.reinterpreted(x, scale, zero))
    elif type == BOOL:
        made = b.nonzero(b.reinterpreted(x, 1.0, 0))
    elif x.type == BOOL and type in (F32, I32):
        made = b.chosen(x, b.filled(type, x.dims, 1), b.filled(type, x.dims, 0))
    elif type == S8:
        x = stored_as_reals(b, x)
        whole = b.op("CAST", [b.op("CAST", [x], x.dims, type=I32)], x.dims, type=F32)
        made = b.reinterpreted(b.op("QUANTIZE", [whole], x.dims, type=S8, scale=1.0, zero=0), scale, zero)
    else:
        x = stored_as_reals(b, x) if x.type in (S8, BOOL) else x
        made = b.op("CAST", [x], x.dims, type=type, scale=scale, zero=zero)
    b.bind(op.outputs[0], made, b.shape(op.inputs[0]))


# --- selection


@imports("SELECT SELECT_V2 WHERE", (1, 3), "`SELECT`, what is broadcast as a constant or by `TILE`; BOOL: `LOGICAL_AND`, "
         "`LOGICAL_OR`; not WHERE of one input, whose result has no fixed shape")
def select(b, op):
    if len(op.inputs) != 3:
        raise Unsupported("the indexes of the true elements: their number depends on the model's inputs; SELECT with two "
                          "tensors is supported")
    shapes = [b.shape(i) for i in op.inputs]
    if op.name == "SELECT" and len(shapes[0]) == 1 and len(shapes[1]) > 1:
        shapes[0] = shapes[0] + (1,) * (len(shapes[1]) - 1)  # a condition for each row
    shape = broadcast_shape(broadcast_shape(shapes[0], shapes[1]), shapes[2])
    test = b.tensor(op.inputs[0])
    refs = [b.raw(i, op.outputs[0]) for i in op.inputs[1:]]
    if test.type != BOOL:
        raise SpecError(f"the condition, {b.label(op.inputs[0])}, is not BOOL")
    test = b.view(test, physical(shapes[0]))
    if refs[0].type == BOOL:
        return b.bind(op.outputs[0], logical_select(b, test, refs, shapes), shape)
    test = spread(b, test, shapes[0], shape)
    refs = [broadcast(b, ref, from_shape, shape) for ref, from_shape in zip(refs, shapes[1:])]
    b.bind(op.outputs[0], b.chosen(test, *refs), shape)


def spread(b, test, shape, to):
    """A condition broadcast to the shape `to`."""
    if shape == to:
        return test
    if test.data is not None:
        return broadcast(b, test, shape, to)
    return binary(b, "LOGICAL_AND", test, shape, b.filled(BOOL, physical(to), True), to)[0]


def logical_select(b, test, refs, shapes):
    inverse = b.op("LOGICAL_NOT", [test], test.dims)
    parts = [binary(b, "LOGICAL_AND", t, shapes[0], ref, shape) for t, ref, shape in zip((test, inverse), refs, shapes[1:])]
    return binary(b, "LOGICAL_OR", *parts[0], *parts[1])[0]


# --- reductions


def reduced(shape, axes, keep):
    return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape) if keep or axis not in axes)


def reduce_axes(b, op, shape):
    return sorted({normal_axis(axis, max(len(shape), 1)) for axis in b.numbers(op.inputs[1], "the axes")})


def reduce(b, code, op, x, shape, axes, keep, flag):
    """x reduced by an NNAPI operation along axes; not its dimensions are kept, but the shape that bind() gives."""
    if len(shape) <= 4:
        index = op.inputs[1]
        table = b.tensor(index) if b.tensors[index].type == "INT32" else b.ints(axes)
        return b.op(code, [x, table, flag(keep)], physical(reduced(x.dims, axes, keep)))
    runs = []
    for axis, dim in enumerate(shape):
        if dim > 1 or not runs:
            if runs and runs[-1][0] == (axis in axes):
                runs[-1][1] *= dim
            else:
                runs.append([axis in axes, dim])
    if len(runs) <= 4:
        dims = tuple(dim for _, dim in runs)
        inner = [i for i, (hit, _) in enumerate(runs) if hit]
        x = b.view(x, dims)
        return b.op(code, [x, inner, flag(True)], reduced(dims, inner, True)) if inner else b.copy(x)
    for axis in axes:
        rows = as_rows(b, x, shape, axis)
        x = b.op(code, [rows, [1], flag(True)], (rows.dims[0], 1, rows.dims[2]))
        shape = reduced(shape, [axis], True)
    return x


def halved(b, code, x, shape, axes, extra=()):
    """x reduced by an operation on pairs, for integers: halves of each axis are combined until one element is left."""
    for axis in axes:
        x = as_rows(b, x, shape, axis)
        while x.dims[1] > 1:
            n = x.dims[1] // 2
            dims = (x.dims[0], n, x.dims[2])
            parts = [slice_axis(b, x, x.dims, 1, start, n) for start in (0, n)]
            total = b.op(code, [*parts, *extra], dims)
            if x.dims[1] % 2:  # the last element is combined with the first
                first, last = slice_axis(b, total, dims, 1, 0, 1), slice_axis(b, x, x.dims, 1, 2 * n, 1)
                first = b.op(code, [first, last, *extra], first.dims)
                rest = [slice_axis(b, total, dims, 1, 1, n - 1)] if n > 1 else []
                total = joined(b, [first, *rest]) if rest else first
            x = total
        shape = reduced(shape, [axis], True)
    return x


def joined(b, parts):
    return concatenate(b, parts, [part.dims for part in parts], 1)[0]


INTEGER = {"SUM": ("ADD", [0]), "REDUCE_PROD": ("MUL", [0]), "REDUCE_MAX": ("MAXIMUM", []), "REDUCE_MIN": ("MINIMUM", [])}
CODES = {"SUM": "REDUCE_SUM"}


@imports("MEAN", 2, "`MEAN`; into another scale through floats; integers: `ADD` of halves, `DIV`")
@imports("SUM REDUCE_PROD", 2, "`REDUCE_SUM`, `REDUCE_PROD`; quantised through floats; integers: `ADD`, `MUL` of halves")
@imports("REDUCE_MAX REDUCE_MIN", 2, "the operation of the same name; integers: `MAXIMUM`, `MINIMUM` of halves")
@imports("REDUCE_ANY REDUCE_ALL", 2)
def reduction(b, op):
    shape, keep = b.shape(op.inputs[0]), bool(op.options.keep_dims)
    axes = reduce_axes(b, op, shape)
    out = reduced(shape, axes, keep)
    x = b.tensor(op.inputs[0])
    if not axes:
        return b.bind(op.outputs[0], b.copy(x), shape)
    if x.type == I32:
        code, extra = INTEGER.get(op.name, ("ADD", [0]))
        made = halved(b, code, x, shape, axes, extra)
        if op.name == "MEAN":
            made = truncated_mean(b, made, math.prod(shape[axis] for axis in axes))
        return b.bind(op.outputs[0], made, out)
    if op.name in ("SUM", "REDUCE_PROD") or op.name == "MEAN" and x.quantisation != b.type_of(op.outputs[0]):
        x = b.real(op.inputs[0])
    elif op.name in ("REDUCE_MAX", "REDUCE_MIN"):
        x = b.raw(op.inputs[0], op.outputs[0])
    flag = int if op.name == "MEAN" else bool
    b.bind(op.outputs[0], reduce(b, CODES.get(op.name, op.name), op, x, shape, axes, keep, flag), out)


def truncated_mean(b, total, count):
    below = b.op("LESS", [total, b.ints([0])], total.dims, type=BOOL)
    mean = b.op("DIV", [b.op("ABS", [total], total.dims), b.ints([count]), 0], total.dims)
    return b.chosen(below, b.op("NEG", [mean], total.dims), mean)


@imports("ARG_MAX ARG_MIN", 2, "`ARGMAX`, `ARGMIN`, whose indexes have 32 bits")
def arg_extreme(b, op):
    shape, x = b.shape(op.inputs[0]), b.tensor(op.inputs[0])
    axis = normal_axis(b.number(op.inputs[1]), len(shape))
    code = {"ARG_MAX": "ARGMAX", "ARG_MIN": "ARGMIN"}[op.name]
    if x.type == BOOL:
        x = b.as_bytes(x)
    at = axis
    if len(shape) > 4:
        x, at = as_rows(b, x, shape, axis), 1
    b.bind(op.outputs[0], b.op(code, [x, at], physical(reduced(x.dims, [at], False)), type=I32), reduced(shape, [axis], False))


@imports("CUMSUM", 2, "`FULLY_CONNECTED` or `BATCH_MATMUL` with a triangular matrix")
def cumsum(b, op):
    import numpy
    shape, x = b.shape(op.inputs[0]), b.tensor(op.inputs[0])
    axis = normal_axis(b.number(op.inputs[1]), len(shape))
    n = shape[axis]
    if n > 2048:
        raise Unsupported(f"a cumulative sum of {n} elements: up to 2048 are supported")
    before = numpy.tri(n, k=-1 if op.options.exclusive else 0)
    table = b.of_array(before.T if op.options.reverse else before, x.type if x.type == I32 else F32)
    rows = as_rows(b, x if x.type == I32 else b.real(op.inputs[0]), shape, axis)
    turned = transpose(b, rows, rows.dims, (0, 2, 1)) if rows.dims[2] > 1 else rows
    flat = b.view(turned, (rows.dims[0] * rows.dims[2], n))
    if x.type == I32:
        made = b.op("BATCH_MATMUL", [flat, table, False, True], flat.dims)
    else:
        made = b.op("FULLY_CONNECTED", [flat, table, b.floats([0.0] * n), 0], flat.dims)
    made = b.view(made, (rows.dims[0], rows.dims[2], n))
    b.bind(op.outputs[0], transpose(b, made, made.dims, (0, 2, 1)) if rows.dims[2] > 1 else made, shape)


@imports("TOPK_V2", 2, "`TOPK_V2`", outputs=2)
def top_k(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    k = b.number(op.inputs[1], "k")
    if not shape or not 1 <= k <= shape[-1]:
        raise SpecError(f"the {k} largest of shape {list(shape)}")
    values, where = b.add(x.type, (*x.dims[:-1], k), scale=x.scale, zero=x.zero), b.add(I32, (*x.dims[:-1], k))
    b.operation("TOPK_V2", [x, k], [values, where])
    b.bind(op.outputs[0], values, (*shape[:-1], k))
    b.bind(op.outputs[1], where, (*shape[:-1], k))


# --- spectra: a complex tensor is its real and imaginary operands


@imports("RFFT2D", 2, "`FULLY_CONNECTED` with sines and cosines, along one dimension")
def rfft(b, op):
    import numpy
    shape, x = b.shape(op.inputs[0]), b.real(op.inputs[0])
    rows, n = b.numbers(op.inputs[1], "the length")[-2:] if len(b.numbers(op.inputs[1], "the length")) > 1 else (0, 0)
    if len(shape) < 2 or rows != 1 or not 1 <= n <= 4096:
        raise Unsupported(f"a transform of {rows} by {n}: 1 by up to 4096 is supported")
    flat = b.view(x, (math.prod(shape[:-1]) // shape[-2], shape[-2], shape[-1]))
    if shape[-2] != 1:
        flat = slice_axis(b, flat, flat.dims, 1, 0, 1)
    flat = b.view(flat, (flat.dims[0], shape[-1]))
    used = min(n, shape[-1])
    if used < shape[-1]:
        flat = slice_axis(b, flat, flat.dims, 1, 0, used)
    angle = 2 * numpy.pi * (numpy.outer(numpy.arange(n // 2 + 1), numpy.arange(used)) % n) / n
    tables = [numpy.round(table, 15) for table in (numpy.cos(angle), -numpy.sin(angle))]  # exact zeros
    bias = b.floats([0.0] * len(angle))
    b.derived[("complex", op.outputs[0])] = [
        b.op("FULLY_CONNECTED", [flat, b.of_array(table, F32), bias, 0], (flat.dims[0], len(angle)))
        for table in tables]
    b.shapes[op.outputs[0]] = (*shape[:-2], 1, n // 2 + 1)


def complex_parts(b, index):
    """The real and imaginary operands of a tensor, or None."""
    return b.derived.get(("complex", index))


@imports("REAL IMAG COMPLEX_ABS", 1, "of RFFT2D: its parts; the root of the sum of their squares")
def complex_part(b, op):
    parts = complex_parts(b, op.inputs[0])
    if parts is None:
        b.refuse_type(op.inputs[0])
    if op.name == "COMPLEX_ABS":
        squares = [b.op("MUL", [part, part, 0], part.dims) for part in parts]
        made = b.op("SQRT", [b.op("ADD", [*squares, 0], squares[0].dims)], squares[0].dims)
    else:
        made = parts[op.name == "IMAG"]
    b.bind(op.outputs[0], made, b.shape(op.inputs[0]))
