"""What the converters of TensorFlow Lite operators share: their table, axes, fused activations, broadcasting."""

import math
from typing import Callable, NamedTuple

from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_model import BYTES, F32, I32, REAL, REAL_INT, physical

TANH = 4  # the number of the fused activation that NNAPI does not have


class Converter(NamedTuple):
    convert: Callable
    inputs: tuple  # smallest and largest number
    outputs: tuple
    how: str  # in NNAPI, for docs/tflite.md


CONVERTERS = {}


def imports(names, inputs, how="", outputs=1):
    """Registers the converter of the operators `names`; numbers of inputs and outputs are n or (least, most)."""
    def register(function):
        for name in names.split():
            counts = [count if isinstance(count, tuple) else (count, count) for count in (inputs, outputs)]
            CONVERTERS[name] = Converter(function, *counts, how or f"`{name}`")
        return function
    return register


MANY = 1 << 16


def normal_axis(axis, rank):
    if not -rank <= axis < rank:
        raise SpecError(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank


def require_rank(b, index, *ranks):
    shape = b.shape(index)
    if len(shape) not in ranks:
        raise SpecError(f"{b.label(index)} has shape {list(shape)}: must have rank {' or '.join(map(str, ranks))}")
    return shape


def positive(what, value):
    if value < 1:
        raise SpecError(f"{what} is {value}: must be positive")
    return value


def activation(op):
    """The number of the fused activation in NNAPI; TANH is added by finish()."""
    number = op.options.fused_activation_function
    if number not in (0, 1, 2, 3, TANH):
        raise Unsupported(f"fused activation {number}: NONE, RELU, RELU_N1_TO_1, RELU6 and TANH are supported")
    return 0 if number == TANH else number


def finish(b, op, ref, shape=None):
    """Makes `ref` the output of the operator, after a fused TANH if it has one."""
    if op.options.fused_activation_function == TANH:
        if b.quantised(op.outputs[0]):
            raise Unsupported("a fused TANH of a quantised tensor; a TANH operator after it is supported")
        ref = b.op("TANH", [ref], ref.dims)
    b.bind(op.outputs[0], ref, shape)


RELUS = {1: "RELU", 2: "RELU1", 3: "RELU6"}


def activated(b, op, ref):
    """`ref` after the fused activation, for operations that have no such operand (but not TANH: see finish())."""
    number = activation(op)
    return b.op(RELUS[number], [ref], ref.dims) if number else ref


def as_rows(b, ref, shape, axis):
    """`ref` viewed as [before, dimension `axis`, after]."""
    return b.view(ref, (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])))


def broadcast_shape(a, c):
    rank = max(len(a), len(c))
    a, c = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(c)) + tuple(c)
    for x, y in zip(a, c):
        if x != y and 1 not in (x, y):
            raise SpecError(f"shapes {list(a)} and {list(c)} do not broadcast")
    return tuple(y if x == 1 else x for x, y in zip(a, c))


def broadcast(b, ref, shape, to):
    """`ref`, of the given shape, repeated along its dimensions of 1 to the shape `to`."""
    shape = (1,) * (len(to) - len(shape)) + tuple(shape)
    if broadcast_shape(shape, to) != tuple(to):
        raise SpecError(f"shape {list(shape)} does not broadcast to {list(to)}")
    if ref.data is not None:
        import numpy
        b.limit(to)
        return b.of_array(numpy.broadcast_to(ref.array().reshape(shape), to).reshape(physical(to)), ref.type, ref.scale,
                          ref.zero)
    if len(to) <= 4:
        multiples = [y if x == 1 else 1 for x, y in zip(shape, to)]
        return tile(b, b.view(ref, physical(shape)), multiples) if shape != tuple(to) else b.view(ref, physical(to))
    for axis in range(len(to)):
        if shape[axis] != to[axis]:
            ref = tile(b, as_rows(b, ref, shape, axis), (1, to[axis], 1))
            shape = (*shape[:axis], to[axis], *shape[axis + 1:])
    return b.view(ref, physical(to))


def tile(b, ref, multiples):
    """`ref` repeated; a multiple for each dimension of the operand."""
    multiples = list(multiples) or [1]
    if all(count == 1 for count in multiples):
        return ref
    out = tuple(x * n for x, n in zip(ref.dims, multiples))
    return b.carried([ref], REAL_INT, lambda refs: b.op("TILE", [refs[0], multiples], out))


def merged(a, c):
    """Two shapes of one rank with neighbouring dimensions multiplied where both broadcast alike."""
    groups = []
    for x, y in zip(a, c):
        kind = None if x == y == 1 else (x == 1, y == 1)
        if kind is None:
            continue
        if groups and groups[-1][0] == kind:
            groups[-1][1] *= x
            groups[-1][2] *= y
        else:
            groups.append([kind, x, y])
    return tuple(g[1] for g in groups) or (1,), tuple(g[2] for g in groups) or (1,)


def binary(b, code, x, x_shape, y, y_shape, extra=(), **out):
    """(An operation on two operands that it broadcasts, the shape of the result)."""
    shape = broadcast_shape(x_shape, y_shape)
    if max(len(x_shape), len(y_shape)) > 4:
        rank = len(shape)
        x_shape, y_shape = ((1,) * (rank - len(s)) + tuple(s) for s in (x_shape, y_shape))
        x_dims, y_dims = merged(x_shape, y_shape)
        if len(x_dims) > 4:
            x, y = broadcast(b, x, x_shape, shape), broadcast(b, y, y_shape, shape)
            x_dims = y_dims = (math.prod(shape),)
        x, y = b.view(x, x_dims), b.view(y, y_dims)
    dims = broadcast_shape(x.dims, y.dims)
    return b.view(b.op(code, [x, y, *extra], dims, **out), physical(shape)), shape


def slice_axis(b, ref, shape, axis, start, count):
    """The elements start..start + count - 1 along an axis."""
    out = (*shape[:axis], count, *shape[axis + 1:])
    if len(shape) > 4:
        rows = as_rows(b, ref, shape, axis)
        return b.view(slice_axis(b, rows, rows.dims, 1, start, count), physical(out))
    begin = [start if i == axis else 0 for i in range(len(shape))]
    return b.carried([ref], REAL_INT, lambda refs: b.op("SLICE", [refs[0], begin, list(out)], out))


def transpose(b, ref, shape, perm):
    out = tuple(shape[axis] for axis in perm)
    if ref.data is not None and ref.channel is None:
        array = ref.array().reshape(shape).transpose(perm)
        return b.of_array(array.reshape(physical(out)), ref.type, ref.scale, ref.zero)
    if len(shape) <= 4:
        return b.carried([ref], REAL, lambda refs: b.op("TRANSPOSE", [refs[0], list(perm)], out))
    runs = []  # neighbours that stay neighbours, without dimensions of 1
    for axis in perm:
        if shape[axis] == 1:
            continue
        between = range(runs[-1][-1] + 1, axis) if runs else ()
        if runs and axis > runs[-1][-1] and all(shape[i] == 1 for i in between):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    order = sorted(range(len(runs)), key=lambda i: runs[i][0])
    dims = tuple(math.prod(shape[axis] for axis in runs[i]) for i in order)
    perm = tuple(order.index(i) for i in range(len(runs)))
    if len(dims) <= 4:
        return b.view(transpose(b, b.view(ref, dims or (1,)), dims or (1,), perm or (0,)), physical(out))
    axes = list(range(len(dims)))  # dimension of `dims` that each dimension of `ref` is
    for axis in reversed(perm):
        at = axes.index(axis)
        rows = as_rows(b, ref, tuple(dims[i] for i in axes), at)
        ref = transpose(b, rows, rows.dims, (1, 0, 2))
        axes.insert(0, axes.pop(at))
    return b.view(ref, physical(out))


def concatenate(b, refs, shapes, axis, **out):
    """(Tensors joined along an axis, the shape of the result)."""
    pairs = [(ref, shape) for ref, shape in zip(refs, shapes) if 0 not in shape]
    if not pairs:
        raise Unsupported("only empty tensors")
    first = pairs[0][1]
    if any(len(s) != len(first) or s[:axis] != first[:axis] or s[axis + 1:] != first[axis + 1:] for _, s in pairs):
        raise SpecError(f"shapes {', '.join(str(list(s)) for _, s in pairs[:8])} cannot be joined along axis {axis}")
    shape = (*first[:axis], sum(s[axis] for _, s in pairs), *first[axis + 1:])
    refs, at, dims = [ref for ref, _ in pairs], axis, shape
    if len(shape) > 4:
        refs = [as_rows(b, ref, s, axis) for ref, s in pairs]
        at, dims = 1, (*refs[0].dims[:1], shape[axis], refs[0].dims[2])
    made = b.carried(refs, REAL, lambda parts: b.op("CONCATENATION", [*parts, at], dims,
                                                    **(out if parts[0].type == refs[0].type else {})))
    return b.view(made, physical(shape)), shape


def gather(b, ref, shape, axis, indices, index_shape):
    """Elements of `ref` along an axis, by an operand of indexes."""
    out = (*shape[:axis], *index_shape, *shape[axis + 1:])
    dims = (*shape[:axis], *(index_shape or (1,)), *shape[axis + 1:])
    if len(shape) > 4 or len(dims) > 4 or len(index_shape) > 4:
        ref, indices = as_rows(b, ref, shape, axis), b.view(indices, (math.prod(index_shape),))
        axis, dims = 1, (ref.dims[0], math.prod(index_shape), ref.dims[2])
    made = b.carried([ref], REAL_INT, lambda refs: b.op("GATHER", [refs[0], axis, indices], dims, like=refs[0]))
    return b.view(made, physical(out)), out


def pad(b, ref, paddings, value=None):
    """`ref` with (before, after) for each of its dimensions, around it zeros or `value`, a stored number."""
    dims = tuple(before + n + after for n, (before, after) in zip(ref.dims, paddings))
    table = b.ints([n for pair in paddings for n in pair], (len(paddings), 2))
    if value is None:
        return b.carried([ref], REAL, lambda refs: b.op("PAD", [refs[0], table], dims))
    if ref.type == I32:
        high, low = divmod(value, 65536)
        values = iter((float(high), float(low)))
        return b.carried([ref], REAL, lambda refs: b.op("PAD_V2", [refs[0], table, next(values)], dims))
    if ref.type not in (F32, *BYTES):
        raise Unsupported(f"PADV2 of {ref.type}")
    return b.op("PAD_V2", [ref, table, int(value) if ref.type in BYTES else float(value)], dims)
