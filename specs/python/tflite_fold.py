"""Computes operators whose inputs are constants, or whose result depends on shapes only, while a model is imported.

So the shapes that a model computes become constants, as NNAPI needs them. Values are numpy arrays of the stored
elements; quantised ones are only moved.
"""

import math

from halcyon.operands import SpecError
from halcyon.tflite_model import DTYPES

LARGEST = 1 << 26  # elements of a constant that is computed
MOST_PAIRS = 1 << 31  # product of the sizes of its inputs, which bounds what broadcasting or lookups make of them


def limited(shape):
    if any(dim < 0 for dim in shape) or math.prod(shape) > LARGEST:
        raise SpecError(f"a constant of shape {list(shape)}: at most {LARGEST} elements")
    return tuple(shape)


def dims(array):
    return limited([int(value) for value in array.reshape(-1)])


def axes(op, array):
    return tuple(int(axis) for axis in op.inputs[1].reshape(-1))


def fold_range(np, op, start, limit, delta):
    if not delta.item() or not math.isfinite(start.item() + limit.item()):
        raise SpecError("a range without end")
    limited([max(0, math.ceil((limit.item() - start.item()) / delta.item()))])
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def fold_reshape(np, op, x, shape=None):
    wanted = list(op.options.new_shape if shape is None else (int(value) for value in shape.reshape(-1)))
    return x.reshape(wanted)


def fold_gather(np, op, x, indices):
    if op.options.batch_dims:
        return None
    if indices.size and not (indices.min() >= 0 and indices.max() < x.shape[op.options.axis]):
        raise SpecError("an index is outside of the tensor")
    return np.take(x, indices, op.options.axis)


def fold_strided_slice(np, op, x, *parts):
    begin, end, strides = (part.reshape(-1).tolist() for part in parts)
    if 0 in strides or len({len(begin), len(end), len(strides)}) != 1:
        raise SpecError("a stride is 0, or begin, end and strides differ in length")
    o, index = op.options, []
    for i, (first, last, step) in enumerate(zip(begin, end, strides)):
        bit = 1 << i
        if o.ellipsis_mask & bit:
            index.append(Ellipsis)
        elif o.new_axis_mask & bit:
            index.append(None)
        elif o.shrink_axis_mask & bit:
            index.append(0 if o.begin_mask & bit else first)
        else:
            last += first if o.offset else 0
            index.append(slice(None if o.begin_mask & bit else first, None if o.end_mask & bit else last, step))
    return x[tuple(index)]


def fold_slice(np, op, x, begin, size):
    parts = zip(begin.reshape(-1).tolist(), size.reshape(-1).tolist(), x.shape)
    return x[tuple(slice(first, whole if count < 0 else first + count) for first, count, whole in parts)]


def fold_cast(np, op, x):
    return x.astype(DTYPES[op.output_type])


def fold_divide(np, op, x, y):
    if x.dtype.kind == "f":
        return x / y
    if not y.all():
        raise SpecError("division by 0")
    quotient = np.floor_divide(np.abs(x), np.abs(y))
    return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype)


def floor_safe(function):
    def fold(np, op, x, y):
        if not y.all():
            raise SpecError("division by 0")
        return getattr(np, function)(x, y)
    return fold


def fold_fill(np, op, shape, value):
    return np.full(dims(shape), value.reshape(()).item(), value.dtype)


def fold_broadcast(np, op, x, shape):
    return np.broadcast_to(x, dims(shape))


def fold_broadcast_args(np, op, a, b):
    return np.array(np.broadcast_shapes(dims(a), dims(b)), a.dtype)


def fold_tile(np, op, x, multiples):
    limited([x.size * abs(int(np.prod(multiples)))])
    return np.tile(x, dims(multiples))


def fold_where(np, op, condition, *rest):
    if rest:
        return np.where(condition, *rest)
    return np.argwhere(condition).astype("<i8")


def fold_unpack(np, op, x):
    axis = op.options.axis
    return [np.take(x, i, axis) for i in range(x.shape[axis])]


def fold_split(np, op, axis, x):
    return np.split(x, op.n_outputs, int(axis.item()))


def fold_split_v(np, op, x, sizes, axis):
    return np.split(x, np.cumsum(sizes.reshape(-1))[:-1], int(axis.item()))


def fold_one_hot(np, op, indices, depth, on, off):
    count, = limited([int(depth.item()) * max(1, indices.size)]) and (int(depth.item()),)
    axis = op.options.axis if op.options.axis >= 0 else indices.ndim
    hot = np.expand_dims(indices, axis) == np.arange(count).reshape([-1 if i == axis else 1 for i in range(indices.ndim + 1)])
    return np.where(hot, on, off).astype(on.dtype)


def fold_scatter(np, op, indices, updates, shape):
    made = np.zeros(dims(shape), updates.dtype)
    np.add.at(made, tuple(np.moveaxis(indices, -1, 0)), updates)
    return made


def fold_pad(np, op, x, paddings, value=None):
    limited([whole + int(pair.sum()) for whole, pair in zip(x.shape, paddings)])
    return np.pad(x, paddings.tolist(), constant_values=0 if value is None else value.item())


def reduction(name):
    def fold(np, op, x, axis):
        axis = tuple(int(a) for a in axis.reshape(-1))
        return np.asarray(getattr(np, name)(x, axis=axis, keepdims=op.options.keep_dims)).astype(x.dtype)
    return fold


def binary(name):
    return lambda np, op, x, y: getattr(np, name)(x, y)


def unary(name):
    return lambda np, op, x: getattr(np, name)(x)


SAME_BITS = {  # also for quantised elements, which are only moved
    "BROADCAST_TO": fold_broadcast,
    "CONCATENATION": lambda np, op, *parts: np.concatenate(parts, op.options.axis),
    "EXPAND_DIMS": lambda np, op, x, axis: np.expand_dims(x, axes_of(x.ndim + 1, axis)),
    "FILL": fold_fill,
    "GATHER": fold_gather,
    "GATHER_ND": lambda np, op, x, indices: x[tuple(np.moveaxis(indices, -1, 0))],
    "PACK": lambda np, op, *parts: np.stack(parts, op.options.axis),
    "RESHAPE": fold_reshape,
    "REVERSE_V2": lambda np, op, x, axis: np.flip(x, axes_of(x.ndim, axis)),
    "SLICE": fold_slice,
    "SPLIT": fold_split,
    "SPLIT_V": fold_split_v,
    "SQUEEZE": lambda np, op, x: np.squeeze(x, tuple(op.options.squeeze_dims) or None),
    "STRIDED_SLICE": fold_strided_slice,
    "TILE": fold_tile,
    "TRANSPOSE": lambda np, op, x, perm: np.transpose(x, perm.reshape(-1).tolist()),
    "UNPACK": fold_unpack,
}


def axes_of(rank, array):
    return tuple(int(axis) for axis in array.reshape(-1))


FOLDS = {
    **SAME_BITS,
    "ABS": unary("abs"), "ADD": binary("add"), "BROADCAST_ARGS": fold_broadcast_args, "CAST": fold_cast,
    "CEIL": unary("ceil"),
    "DENSIFY": lambda np, op, x: x, "DEQUANTIZE": fold_cast, "DIV": fold_divide, "EQUAL": binary("equal"),
    "FLOOR": unary("floor"), "FLOOR_DIV": floor_safe("floor_divide"), "FLOOR_MOD": floor_safe("mod"),
    "GREATER": binary("greater"), "GREATER_EQUAL": binary("greater_equal"), "LESS": binary("less"),
    "LESS_EQUAL": binary("less_equal"), "LOGICAL_AND": binary("logical_and"), "LOGICAL_NOT": unary("logical_not"),
    "LOGICAL_OR": binary("logical_or"), "MAXIMUM": binary("maximum"), "MINIMUM": binary("minimum"),
    "MUL": binary("multiply"), "NEG": unary("negative"), "NOT_EQUAL": binary("not_equal"), "ONE_HOT": fold_one_hot,
    "PAD": fold_pad, "PADV2": fold_pad, "RANGE": fold_range, "REDUCE_ALL": reduction("all"),
    "REDUCE_ANY": reduction("any"), "REDUCE_MAX": reduction("max"), "REDUCE_MIN": reduction("min"),
    "REDUCE_PROD": reduction("prod"), "SCATTER_ND": fold_scatter, "SELECT": fold_where, "SELECT_V2": fold_where,
    "SQRT": unary("sqrt"), "SQUARE": unary("square"), "SUB": binary("subtract"), "SUM": reduction("sum"),
    "WHERE": fold_where,
}


class Call:
    """What a fold sees of an operator."""

    def __init__(self, b, op):
        self.options, self.n_outputs = op.options, len(op.outputs)
        self.output_type = b.tensors[op.outputs[0]].type


def of_shape(b, op):
    """The result of an operator that only reads its input's shape, or None."""
    if op.name not in ("SHAPE", "RANK", "ZEROS_LIKE") or not op.inputs or not op.outputs:
        return None
    import numpy
    shape, type = b.shape(op.inputs[0]), b.tensors[op.outputs[0]].type
    if op.name == "ZEROS_LIKE":
        return numpy.zeros(limited(shape), DTYPES[type]) if type in DTYPES else None
    return numpy.array(shape if op.name == "SHAPE" else len(shape), DTYPES.get(type, "<i4"))


def foldable(b, op):
    if op.name not in FOLDS or getattr(op.options, "fused_activation_function", 0):
        return False
    if op.name in SAME_BITS:  # the elements keep their scale
        scales = {(b.tensors[i].scales, b.tensors[i].zeros) for i in (*op.inputs, *op.outputs)
                  if i >= 0 and b.tensors[i].quantised}
        return len(scales) < 2
    return not any(i >= 0 and b.tensors[i].quantised for i in (*op.inputs, *op.outputs))


def fold(b, op):
    """Makes the outputs of an operator constants if they are known; returns whether they are."""
    made = of_shape(b, op)
    if made is None:
        if not op.inputs or not op.outputs or not foldable(b, op):
            return False
        values = [b.known(i) if i >= 0 else None for i in op.inputs]
        if any(value is None for value in values) or math.prod(max(value.size, 1) for value in values) > MOST_PAIRS:
            return False
        import numpy
        try:
            with numpy.errstate(all="ignore"):
                made = FOLDS[op.name](numpy, Call(b, op), *values)
        except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError, OverflowError, MemoryError):
            raise SpecError("the constants that it takes do not fit each other") from None
        if made is None:
            return False
    made = made if isinstance(made, list) else [made]
    if len(made) != len(op.outputs):
        raise SpecError(f"{len(op.outputs)} outputs: must be {len(made)}")
    import numpy
    for index, array in zip(op.outputs, made):
        limited(array.shape)
        b.set_known(index, numpy.ascontiguousarray(array).reshape(array.shape))
    return True
