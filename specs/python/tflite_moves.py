"""Converts operators that move elements: shapes, slices, paddings, concatenation, lookups by index."""

import math

from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_common import (MANY, activated, as_rows, broadcast, concatenate, finish, gather, imports, normal_axis,
                                   pad, positive, require_rank, slice_axis, tile, transpose)
from halcyon.tflite_elements import complex_parts
from halcyon.tflite_model import BOOL, BYTES, F32, I32, REAL, REAL_INT, physical

INT32_RANGE = -2**31, 2**31 - 1


def in_32_bits(values):
    return [min(max(value, INT32_RANGE[0]), INT32_RANGE[1]) for value in values]


# --- shapes


def resolved(shape, count):
    """`shape` with the dimension -1 computed from the number of elements."""
    if sum(dim == -1 for dim in shape) > 1 or any(dim < -1 for dim in shape):
        raise SpecError(f"a new shape of {shape}")
    known = math.prod(dim for dim in shape if dim != -1)
    made = tuple(dim if dim != -1 else count // max(known, 1) for dim in shape)
    if math.prod(made) != count:
        raise SpecError(f"{count} elements do not have the shape {shape}")
    return made


def complex_view(b, op, shape):
    """Whether the input is complex; then its parts become those of the output, with another shape."""
    parts = complex_parts(b, op.inputs[0])
    if parts is not None:
        b.derived[("complex", op.outputs[0])], b.shapes[op.outputs[0]] = parts, tuple(shape)
    return parts is not None


def new_shape(b, op):
    count = math.prod(b.shape(op.inputs[0]))
    given = op.inputs[1] if len(op.inputs) > 1 else -1
    if given >= 0 and b.known(given) is not None:
        return resolved(b.numbers(given, "the new shape"), count)
    if given >= 0:
        shape = b.tensors[op.outputs[0]].shape
        if math.prod(shape) != count:
            raise Unsupported(f"a new shape, {b.label(given)}, that depends on the model's inputs")
        return shape
    shape = tuple(op.options.new_shape) or b.tensors[op.outputs[0]].shape
    return resolved(list(shape) if shape != (0,) else [], count)


@imports("RESHAPE", (1, 2))
def reshape(b, op):
    shape = new_shape(b, op)
    if complex_view(b, op, shape):
        return
    x, dims = b.raw(op.inputs[0], op.outputs[0]), physical(shape)
    b.require_elements(op.outputs[0], shape)
    b.bind(op.outputs[0], b.carried([x], REAL_INT, lambda refs: b.op("RESHAPE", [refs[0], dims], dims)), shape)


@imports("SQUEEZE", 1, "`SQUEEZE`, or `RESHAPE`")
def squeeze(b, op):
    shape = b.shape(op.inputs[0])
    axes = [normal_axis(axis, len(shape)) for axis in op.options.squeeze_dims]
    if any(shape[axis] != 1 for axis in axes):
        raise SpecError(f"dimensions {axes} of {list(shape)} are not all 1")
    out = tuple(dim for i, dim in enumerate(shape) if (i not in axes if axes else dim != 1))
    if complex_view(b, op, out):
        return
    x = b.raw(op.inputs[0], op.outputs[0])
    if x.type in REAL and 1 <= len(shape) <= 4 and out:
        made = b.op("SQUEEZE", [x, b.ints(op.options.squeeze_dims) if axes else b.omitted(I32)], out)
    else:
        made = b.copy(x) if x.dims == physical(out) else b.view(x, physical(out))
    b.bind(op.outputs[0], made, out)


@imports("EXPAND_DIMS", 2, "`EXPAND_DIMS`, or `RESHAPE`")
def expand_dims(b, op):
    shape, axis = b.shape(op.inputs[0]), b.number(op.inputs[1])
    at = normal_axis(axis, len(shape) + 1)
    out = (*shape[:at], 1, *shape[at:])
    if complex_view(b, op, out):
        return
    x = b.raw(op.inputs[0], op.outputs[0])
    if x.type in REAL_INT and 1 <= len(shape) <= 3:
        made = b.op("EXPAND_DIMS", [x, axis], out)
    else:
        made = b.copy(x) if x.dims == physical(out) else b.view(x, physical(out))
    b.bind(op.outputs[0], made, out)


@imports("TRANSPOSE", 2, "`TRANSPOSE`, several for more than 4 dimensions")
def transposed(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    perm = [normal_axis(axis, len(shape)) for axis in b.numbers(op.inputs[1], "the permutation")]
    if sorted(perm) != list(range(len(shape))):
        raise SpecError(f"{perm} is not a permutation of {len(shape)} dimensions")
    b.bind(op.outputs[0], transpose(b, x, shape, perm) if shape else b.copy(x), tuple(shape[axis] for axis in perm))


@imports("SHAPE RANK ZEROS_LIKE RANGE", (1, 3), "a constant")
@imports("BROADCAST_ARGS", 2, "a constant")
def constants_only(b, op):
    raise Unsupported("its result depends on the model's inputs: its own inputs must be constant")


@imports("DENSIFY", 1, "the constant, dense")
def densify(b, op):
    raise Unsupported("a sparse tensor that is not constant")


@imports("FILL", 2, "a constant; a value that is computed: `TILE`")
def fill(b, op):
    shape = tuple(b.numbers(op.inputs[0], "the shape"))
    b.require_elements(op.outputs[0], shape)
    value = b.tensor(op.inputs[1])
    made = broadcast(b, value, (), shape)
    b.bind(op.outputs[0], b.copy(made) if made is value else made, shape)


@imports("TILE BROADCAST_TO", 2, "`TILE`")
def repeat(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    sizes = b.numbers(op.inputs[1], "the multiples or shape")
    if op.name == "TILE":
        if len(sizes) != len(shape) or min(sizes, default=1) < 1:
            raise SpecError(f"multiples {sizes} of shape {list(shape)}")
        out = tuple(n * dim for n, dim in zip(sizes, shape))
        if len(shape) <= 4:
            made = tile(b, x, sizes)
        else:
            made, at = x, shape
            for axis, n in enumerate(sizes):
                if n > 1:
                    made = tile(b, as_rows(b, made, at, axis), (1, n, 1))
                    at = (*at[:axis], n * at[axis], *at[axis + 1:])
    else:
        out = tuple(sizes)
        made = broadcast(b, x, shape, out)
    b.bind(op.outputs[0], b.copy(made) if made is x else made, out)


# --- joining and dividing


@imports("CONCATENATION", (1, MANY), "`CONCATENATION`; INT32 in halves of 16 bits as floats, BOOL as bytes")
def concatenation(b, op):
    shapes = [b.shape(i) for i in op.inputs]
    axis = normal_axis(op.options.axis, len(shapes[0]))
    refs = [b.tensor(i) for i, shape in zip(op.inputs, shapes) if 0 not in shape]
    out = b.like(op.outputs[0])
    if any(ref.type != out["type"] for ref in refs):
        raise SpecError("inputs of different types")
    made, shape = concatenate(b, refs, [shape for shape in shapes if 0 not in shape], axis, **out)
    finish(b, op, activated(b, op, made), shape)


@imports("PACK", (1, MANY), "`PACK`, or `CONCATENATION`")
def pack(b, op):
    shape = b.shape(op.inputs[0])
    refs = [b.raw(i, op.outputs[0]) for i in op.inputs]
    if any(b.shape(i) != shape for i in op.inputs):
        raise SpecError("inputs of different shapes")
    axis = normal_axis(op.options.axis, len(shape) + 1)
    out = (*shape[:axis], len(refs), *shape[axis:])
    if refs[0].type in REAL_INT and len(shape) <= 3:
        dims = out if shape else (len(refs), 1)
        made = b.op("PACK", [axis, *refs], dims, like=refs[0])
    else:
        rows = (math.prod(shape[:axis]), 1, math.prod(shape[axis:]))
        made, _ = concatenate(b, [b.view(ref, rows) for ref in refs], [rows] * len(refs), 1)
    b.bind(op.outputs[0], made, out)


def split(b, x, shape, axis, count):
    """`x` divided into equal parts along an axis."""
    dims, at = x.dims, axis
    if len(shape) > 4:
        x = as_rows(b, x, shape, axis)
        dims, at = x.dims, 1
    part = (*dims[:at], dims[at] // count, *dims[at + 1:])
    return b.carried([x], REAL_INT, lambda refs: b.ops("SPLIT", [refs[0], at, count], [part] * count))


@imports("SPLIT", 2, outputs=(1, MANY))
def split_equally(b, op):
    shape, count = b.shape(op.inputs[1]), len(op.outputs)
    axis = normal_axis(b.number(op.inputs[0]), len(shape))
    if shape[axis] % count or not shape[axis]:
        raise SpecError(f"dimension {axis} of {list(shape)} in {count} parts")
    out = (*shape[:axis], shape[axis] // count, *shape[axis + 1:])
    for index, part in zip(op.outputs, split(b, b.raw(op.inputs[1], op.outputs[0]), shape, axis, count)):
        b.bind(index, part, out)


@imports("SPLIT_V", 3, "`SPLIT`, or a `SLICE` for each part", outputs=(1, MANY))
def split_by_size(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    sizes, axis = b.numbers(op.inputs[1], "the sizes"), normal_axis(b.number(op.inputs[2]), len(shape))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = shape[axis] - sum(sizes) - 1
    if len(sizes) != len(op.outputs) or min(sizes) < 0 or sum(sizes) != shape[axis]:
        raise SpecError(f"dimension {axis} of {list(shape)} in {len(op.outputs)} parts of {sizes}")
    if len(set(sizes)) == 1:
        parts = split(b, x, shape, axis, len(sizes))
    else:
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        parts = [slice_axis(b, x, shape, axis, start, n) for start, n in zip(starts, sizes)]
    for index, part, n in zip(op.outputs, parts, sizes):
        b.bind(index, part, (*shape[:axis], n, *shape[axis + 1:]))


@imports("UNPACK", 1, "`SPLIT`, `RESHAPE`", outputs=(1, MANY))
def unpack(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    axis = normal_axis(op.options.axis, len(shape))
    if len(op.outputs) != shape[axis]:
        raise SpecError(f"{len(op.outputs)} outputs of dimension {axis} of {list(shape)}")
    for index, part in zip(op.outputs, split(b, x, shape, axis, shape[axis])):
        b.bind(index, part, (*shape[:axis], *shape[axis + 1:]))


# --- slices


@imports("SLICE", 3)
def slice_at(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    size = b.numbers(op.inputs[2], "the size")
    if b.known(op.inputs[1]) is None:
        return slice_anywhere(b, op, x, shape, size)
    begin = b.numbers(op.inputs[1], "the beginning")
    if not len(begin) == len(size) == len(shape):
        raise SpecError(f"{len(begin)} beginnings and {len(size)} sizes for shape {list(shape)}")
    out = tuple(n - first if count == -1 else count for n, first, count in zip(shape, begin, size))
    if any(not 0 <= first <= first + count <= n for n, first, count in zip(shape, begin, out)):
        raise SpecError(f"the slice from {begin} of size {size} is outside of {list(shape)}")
    b.require_elements(op.outputs[0], out)
    if 1 <= len(shape) <= 4:
        made = b.carried([x], REAL_INT, lambda refs: b.op("SLICE", [refs[0], begin, size], out))
    else:
        made, at = x, shape
        for axis, (n, first, count) in enumerate(zip(shape, begin, out)):
            if count != n:
                made = slice_axis(b, made, at, axis, first, count)
                at = (*at[:axis], count, *at[axis + 1:])
        made = b.copy(made) if made is x else made
    b.bind(op.outputs[0], made, out)


def slice_anywhere(b, op, x, shape, size):
    """A slice whose beginning is computed."""
    out = tuple(size)
    if len(size) != len(shape) or not 1 <= len(shape) <= 4 or min(size) < 1:
        raise Unsupported(f"a slice of size {size} from a place that depends on the model's inputs, of {list(shape)}")
    begin = b.tensor(op.inputs[1])
    b.bind(op.outputs[0], b.carried([x], REAL_INT, lambda refs: b.op("SLICE", [refs[0], begin, size], out)), out)


def slice_plan(op, shape, begin, end, strides):
    """[(first, end, stride, shrink) for each dimension of the input], and the shape of the result."""
    o, rank, plan, out = op.options, len(shape), [], []
    n = len(begin)
    if not n == len(end) == len(strides) or n > 32:
        raise SpecError(f"{n} beginnings, {len(end)} ends and {len(strides)} strides")
    new = sum(bool(o.new_axis_mask >> i & 1) and not o.ellipsis_mask >> i & 1 for i in range(n))
    for i in range(n):
        if o.ellipsis_mask >> i & 1:
            whole = rank - (n - 1 - new)
            plan += [(0, dim, 1, False) for dim in shape[len(plan):len(plan) + whole]]
            out += shape[len(plan) - whole:len(plan)] if whole > 0 else ()
            continue
        if o.new_axis_mask >> i & 1:
            out.append(1)
            continue
        if len(plan) >= rank:
            raise SpecError(f"a slice of more dimensions than {list(shape)} has")
        dim, stride = shape[len(plan)], strides[i]
        if stride == 0:
            raise SpecError("a stride of 0")
        if o.shrink_axis_mask >> i & 1:
            first = begin[i] if not o.begin_mask >> i & 1 else 0
            first += dim if first < 0 else 0
            if not 0 <= first < dim:
                raise SpecError(f"element {begin[i]} of a dimension of {dim}")
            plan.append((first, first + 1, 1, True))
            continue
        last = end[i] + begin[i] if o.offset else end[i]
        count = python_range(begin[i], last, stride, dim, o.begin_mask >> i & 1, o.end_mask >> i & 1)
        plan.append((count.start, count.start + len(count) * stride, stride, False))
        out.append(len(count))
    out += shape[len(plan):]
    plan += [(0, dim, 1, False) for dim in shape[len(plan):]]
    return plan, tuple(out)


def python_range(begin, end, stride, dim, no_begin, no_end):
    return range(*slice(None if no_begin else begin, None if no_end else end, stride).indices(dim))


@imports("STRIDED_SLICE", 4, "`STRIDED_SLICE`; ellipsis, new axes and other ranks: `RESHAPE` after it")
def strided_slice(b, op):
    o, shape, x = op.options, b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    if any(b.known(i) is None for i in op.inputs[1:]):
        return strided_slice_anywhere(b, op, x, shape)
    parts = [b.numbers(i, what) for i, what in zip(op.inputs[1:], ("the beginning", "the end", "the strides"))]
    plan, out = slice_plan(op, shape, *parts)
    b.require_elements(op.outputs[0], out)
    if len(parts[0]) == len(shape) <= 4 and shape and not (o.ellipsis_mask or o.new_axis_mask or o.offset):
        masks = [o.begin_mask, o.end_mask, o.shrink_axis_mask]
        for i, (first, end, stride, shrink) in enumerate(plan):
            if shrink:  # TensorFlow Lite ignores the end
                parts[0][i], parts[1][i], parts[2][i] = first, end, stride
        lists = list(map(in_32_bits, parts))
        made = b.carried([x], REAL, lambda refs: b.op("STRIDED_SLICE", [refs[0], *lists, *masks], physical(out)))
    else:
        made = slice_by_axis(b, x, shape, plan)
        made = b.copy(made) if made is x and x.dims == physical(out) else made
    b.bind(op.outputs[0], made, out)


def slice_by_axis(b, x, shape, plan):
    for axis, (first, end, stride, _) in enumerate(plan):
        n = len(range(first, end, stride))
        if (first, n, stride) == (0, shape[axis], 1):
            continue
        rows = as_rows(b, x, shape, axis)
        last = end if end >= 0 else 0
        masks = [5, 5 if end >= 0 else 7, 0]  # the bits of the dimensions taken whole, and of an end before the first
        dims = (rows.dims[0], n, rows.dims[2])
        x = b.carried([rows], REAL, lambda refs: b.op("STRIDED_SLICE", [refs[0], [0, first, 0], [0, last, 0],
                                                                        [1, stride, 1], *masks], dims))
        shape = (*shape[:axis], n, *shape[axis + 1:])
    return x


def strided_slice_anywhere(b, op, x, shape):
    """A slice from a place that is computed: its shape is the file's."""
    o, out = op.options, b.tensors[op.outputs[0]].shape
    if o.ellipsis_mask or o.new_axis_mask or o.offset or not 1 <= len(shape) <= 4:
        raise Unsupported("a slice whose place depends on the model's inputs, with ellipsis, new axes or more than 4 "
                          "dimensions")
    count = b.shape(op.inputs[1])
    kept = len(shape) - bin(o.shrink_axis_mask & ((1 << len(shape)) - 1)).count("1")
    if count != (len(shape),) or len(out) != kept:
        raise Unsupported(f"a slice of shape {list(out)} whose place depends on the model's inputs")
    places = [b.tensor(i) for i in op.inputs[1:]]
    masks = [o.begin_mask, o.end_mask, o.shrink_axis_mask]
    b.bind(op.outputs[0], b.carried([x], REAL, lambda refs: b.op("STRIDED_SLICE", [refs[0], *places, *masks],
                                                                 physical(out))), out)


@imports("REVERSE_V2", 2, "`REVERSE` for each axis")
def reverse(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    made, axes = x, [normal_axis(axis, len(shape)) for axis in b.numbers(op.inputs[1], "the axes")]
    for axis in axes:
        at = axis
        if len(shape) > 4:
            made, at = as_rows(b, made, shape, axis), 1
        made = b.carried([made], REAL_INT, lambda refs: b.op("REVERSE", [refs[0], [at]], refs[0].dims))
    b.bind(op.outputs[0], made if axes else b.copy(x), shape)


# --- paddings and blocks


def paddings(b, op, rank):
    values = b.numbers(op.inputs[1], "the paddings")
    if len(values) != 2 * rank or min(values, default=0) < 0:
        raise SpecError(f"paddings {values} of a tensor of rank {rank}")
    return list(zip(values[::2], values[1::2]))


def padded(b, x, shape, pairs, add):
    """`x` with each dimension padded by add(ref, pairs); one at a time for more than 4 dimensions."""
    out = tuple(before + n + after for n, (before, after) in zip(shape, pairs))
    if len(shape) <= 4:
        return add(x, pairs or [(0, 0)]), out
    for axis, one in enumerate(pairs):
        if any(one):
            x = add(as_rows(b, x, shape, axis), [(0, 0), one, (0, 0)])
            shape = (*shape[:axis], out[axis], *shape[axis + 1:])
    return x, out


@imports("PAD", 2)
@imports("PADV2", 3, "`PAD_V2`; INT32 in halves of 16 bits as floats")
def pad_constant(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    value = None
    if op.name == "PADV2":
        array = b.known(op.inputs[2])
        if array is None or array.size != 1:
            raise Unsupported(f"a padding value, {b.label(op.inputs[2])}, that is not one constant")
        value = array.item()
    made, out = padded(b, x, shape, paddings(b, op, len(shape)), lambda ref, pairs: pad(b, ref, pairs, value))
    b.bind(op.outputs[0], b.copy(x) if made is x else made, out)


@imports("MIRROR_PAD", 2)
def mirror_pad(b, op):
    shape, x = b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    mode, pairs = op.options.mode, paddings(b, op, len(shape))
    if mode not in (0, 1):
        raise SpecError(f"mode {mode}: must be 0 (REFLECT) or 1 (SYMMETRIC)")
    if any(max(pair) > n - 1 + mode for n, pair in zip(shape, pairs)):
        raise SpecError(f"paddings {pairs} are longer than the mirrored part of {list(shape)}")

    def add(ref, pairs):
        dims = tuple(before + n + after for n, (before, after) in zip(ref.dims, pairs))
        table = b.ints([n for pair in pairs for n in pair], (len(pairs), 2))
        return b.carried([ref], REAL_INT, lambda refs: b.op("MIRROR_PAD", [refs[0], table, mode], dims))

    made, out = padded(b, x, shape, pairs, add)
    b.bind(op.outputs[0], b.copy(x) if made is x else made, out)


def blocks(b, op):
    """(The input with two spatial dimensions, the shape before, block sizes, pairs of sizes of the third input)."""
    shape = require_rank(b, op.inputs[0], 3, 4)
    x = b.raw(op.inputs[0], op.outputs[0])
    sizes, pairs = b.numbers(op.inputs[1], "the block sizes"), b.numbers(op.inputs[2], "the paddings or crops")
    if len(sizes) != len(shape) - 2 or len(pairs) != 2 * len(sizes) or min(sizes) < 1 or min(pairs) < 0:
        raise SpecError(f"block sizes {sizes} and paddings or crops {pairs} for shape {list(shape)}")
    pairs = list(zip(pairs[::2], pairs[1::2]))
    if len(shape) == 3:
        shape, sizes, pairs = (*shape[:2], 1, shape[2]), [*sizes, 1], [*pairs, (0, 0)]
    return b.view(x, shape), shape, sizes, pairs


@imports("SPACE_TO_BATCH_ND", 3)
def space_to_batch(b, op):
    x, shape, sizes, pairs = blocks(b, op)
    rank = len(b.shape(op.inputs[0]))
    whole = [n + sum(pair) for n, pair in zip(shape[1:3], pairs)]
    if any(n % size for n, size in zip(whole, sizes)):
        raise SpecError(f"dimensions {whole} in blocks of {sizes}")
    dims = (shape[0] * math.prod(sizes), *(n // size for n, size in zip(whole, sizes)), shape[3])
    table = b.ints([n for pair in pairs for n in pair], (2, 2))
    made = b.carried([x], REAL, lambda refs: b.op(op.name, [refs[0], sizes, table], dims))
    b.bind(op.outputs[0], made, dims if rank == 4 else (*dims[:2], dims[3]))


@imports("BATCH_TO_SPACE_ND", 3, "`BATCH_TO_SPACE_ND`, `SLICE` where it crops")
def batch_to_space(b, op):
    x, shape, sizes, crops = blocks(b, op)
    rank, batches = len(b.shape(op.inputs[0])), shape[0] // math.prod(sizes)
    if shape[0] % math.prod(sizes):
        raise SpecError(f"{shape[0]} batches in blocks of {sizes}")
    dims = (batches, shape[1] * sizes[0], shape[2] * sizes[1], shape[3])
    made = b.carried([x], REAL, lambda refs: b.op(op.name, [refs[0], sizes], dims))
    if any(map(any, crops)):
        out = (dims[0], *(n - sum(crop) for n, crop in zip(dims[1:3], crops)), dims[3])
        if min(out) < 1:
            raise SpecError(f"crops {crops} of {list(dims)}")
        begin = [0, crops[0][0], crops[1][0], 0]
        made = b.carried([made], REAL_INT, lambda refs: b.op("SLICE", [refs[0], begin, list(out)], out))
        dims = out
    b.bind(op.outputs[0], made, dims if rank == 4 else (*dims[:2], dims[3]))


@imports("DEPTH_TO_SPACE SPACE_TO_DEPTH", 1, "the operation of the same name")
def blocks_of_channels(b, op):
    (n, h, w, c), x = require_rank(b, op.inputs[0], 4), b.raw(op.inputs[0], op.outputs[0])
    size = positive("the block size", op.options.block_size)
    out = (n, h * size, w * size, c // size**2) if op.name == "DEPTH_TO_SPACE" else (n, h // size, w // size, c * size**2)
    if math.prod(out) != n * h * w * c:
        raise SpecError(f"blocks of {size} of {[n, h, w, c]}")
    b.bind(op.outputs[0], b.carried([x], REAL, lambda refs: b.op(op.name, [refs[0], size], out)), out)


# --- by index


@imports("GATHER", 2, "`GATHER`; batches as one dimension, with `ADD` to the indexes")
def gather_axis(b, op):
    shape, where = b.shape(op.inputs[0]), b.shape(op.inputs[1])
    x, indices = b.raw(op.inputs[0], op.outputs[0]), b.tensor(op.inputs[1])
    if indices.type != I32:
        raise SpecError(f"indexes, {b.label(op.inputs[1])}, that are not integers")
    axis, batches = normal_axis(op.options.axis, len(shape)), op.options.batch_dims
    batches += len(where) if batches < 0 else 0
    if not 0 <= batches <= min(axis, len(where)) or shape[:batches] != where[:batches]:
        raise SpecError(f"{batches} batch dimensions of {list(shape)} and {list(where)}")
    if not batches:
        made, out = gather(b, x, shape, axis, indices, where)
    else:
        made, out = gather_batches(b, x, shape, axis, indices, where, batches)
    b.bind(op.outputs[0], made, out)


def gather_batches(b, x, shape, axis, indices, where, batches):
    """Elements along an axis, from each batch those of its own indexes."""
    count, n = math.prod(shape[:batches]), shape[axis]
    between = math.prod(shape[batches:axis])
    out = (*shape[:axis], *where[batches:], *shape[axis + 1:])
    if between > 1:  # the axis is moved behind the batches
        order = [*range(batches), axis, *range(batches, axis), *range(axis + 1, len(shape))]
        x = transpose(b, x, shape, order)
        shape = tuple(shape[i] for i in order)
    rows = math.prod(where[batches:])
    flat = b.view(indices, (count, rows))
    starts = b.ints([n * i for i in range(count)], (count, 1))
    flat = b.view(b.op("ADD", [flat, starts, 0], flat.dims), (count * rows,))
    rest = math.prod(shape) // (count * n)
    made, _ = gather(b, b.view(x, (count * n, rest)), (count * n, rest), 0, flat, (count * rows,))
    if between > 1:
        now = (count, rows, between, rest // between)
        made = transpose(b, b.view(made, now), now, (0, 2, 1, 3))
    return b.view(made, physical(out)), out


def flat_indexes(b, indices, where, shape):
    """Indexes of whole elements or parts of `shape`, as one index each: an operand [count]."""
    depth, count = where[-1], math.prod(where[:-1])
    if not 1 <= depth <= len(shape):
        raise SpecError(f"indexes of shape {list(where)} for shape {list(shape)}")
    rows = b.view(indices, (count, depth))
    if rows.data is not None:
        array = rows.array().astype("<i8")
        if array.size and ((array < 0) | (array >= shape[:depth])).any():
            raise SpecError(f"an index is outside of shape {list(shape)}")
        return b.ints([int(v) for v in array @ [math.prod(shape[i + 1:depth]) for i in range(depth)]])
    total = None
    for i in range(depth):
        part = slice_axis(b, rows, rows.dims, 1, i, 1)
        step = math.prod(shape[i + 1:depth])
        part = b.op("MUL", [part, b.ints([step]), 0], part.dims) if step != 1 else part
        total = part if total is None else b.op("ADD", [total, part, 0], part.dims)
    return b.view(total, (count,))


@imports("GATHER_ND", 2, "`GATHER` of the flat tensor, by the sum of the indexes times the sizes")
def gather_nd(b, op):
    shape, where = b.shape(op.inputs[0]), b.shape(op.inputs[1])
    x, indices = b.raw(op.inputs[0], op.outputs[0]), b.tensor(op.inputs[1])
    if not where:
        raise SpecError("indexes of rank 0")
    flat = flat_indexes(b, indices, where, shape)
    depth = where[-1]
    rows = (math.prod(shape[:depth]), math.prod(shape[depth:]))
    made, _ = gather(b, b.view(x, rows), rows, 0, flat, flat.dims)
    b.bind(op.outputs[0], made, (*where[:-1], *shape[depth:]))


@imports("SCATTER_ND", 3, "one-hot rows of the indexes (`EQUAL`, `SELECT`) times the updates (`FULLY_CONNECTED`)")
def scatter_nd(b, op):
    where, shape = b.shape(op.inputs[0]), tuple(b.numbers(op.inputs[2], "the shape"))
    if not where or not 1 <= where[-1] <= len(shape) or min(shape) < 1:
        raise SpecError(f"indexes of shape {list(where)} for shape {list(shape)}")
    depth, updates = where[-1], b.tensor(op.inputs[1])
    rows, count, width = math.prod(shape[:depth]), math.prod(where[:-1]), math.prod(shape[depth:])
    if rows * count > 1 << 24:
        raise Unsupported(f"{count} updates of {rows} rows: at most {1 << 24} pairs")
    flat = b.view(flat_indexes(b, b.tensor(op.inputs[0]), where, shape), (1, count))
    hits = b.op("EQUAL", [b.ints(range(rows), (rows, 1)), flat], (rows, count), type=BOOL, like=flat)
    if updates.type in BYTES:  # stored numbers are added
        source = b.converted(b.reinterpreted(updates, 1.0, 0), F32)
    else:
        source = updates if updates.type == I32 else b.real(op.inputs[1])
    hot = b.chosen(hits, b.filled(source.type, (rows, count), 1), b.filled(source.type, (rows, count), 0))
    source = b.view(source, (count, width))
    if source.type == I32:
        made = b.op("BATCH_MATMUL", [hot, source, False, False], (rows, width))
    else:
        turned = transpose(b, source, source.dims, (1, 0))
        made = b.op("FULLY_CONNECTED", [hot, turned, b.filled(F32, [width], 0), 0], (rows, width))
    if updates.type in BYTES:
        made = b.reinterpreted(b.converted(made, updates.type, 1.0, 0), *b.type_of(op.outputs[0])[1:])
    b.bind(op.outputs[0], made, shape)


@imports("ONE_HOT", 4, "`EQUAL` with the numbers of the classes, `SELECT`")
def one_hot(b, op):
    where, depth = b.shape(op.inputs[0]), b.number(op.inputs[1], "the depth")
    axis = normal_axis(op.options.axis, len(where) + 1)
    out = (*where[:axis], depth, *where[axis:])
    rows = (math.prod(where[:axis]), 1, math.prod(where[axis:]))
    dims = (rows[0], positive("the depth", depth), rows[2])
    indices = b.view(b.tensor(op.inputs[0]), rows)
    hits = b.op("EQUAL", [indices, b.ints(range(depth), (1, depth, 1))], dims, type=BOOL)
    if b.tensors[op.outputs[0]].type == "BOOL":
        on, off = (b.known(i) for i in op.inputs[2:])
        if on is None or off is None or not on.all() or off.any():
            raise Unsupported("BOOL values other than true and false")
        return b.bind(op.outputs[0], hits, out)
    on, off = (broadcast(b, b.tensor(i), (), dims) for i in op.inputs[2:])
    b.bind(op.outputs[0], b.chosen(hits, on, off), out)


@imports("REVERSE_SEQUENCE", 2, "`GATHER` by indexes computed from the lengths")
def reverse_sequence(b, op):
    o, shape, x = op.options, b.shape(op.inputs[0]), b.raw(op.inputs[0], op.outputs[0])
    along, batch = normal_axis(o.seq_dim, len(shape)), normal_axis(o.batch_dim, len(shape))
    if along == batch or b.shape(op.inputs[1]) != (shape[batch],):
        raise SpecError(f"dimensions {along} and {batch} of {list(shape)}, with {list(b.shape(op.inputs[1]))} lengths")
    order = [batch, along, *(i for i in range(len(shape)) if i not in (batch, along))]
    turned = transpose(b, x, shape, order)
    now = tuple(shape[i] for i in order)
    lengths = b.view(b.tensor(op.inputs[1]), (now[0], 1))
    steps = b.ints(range(now[1]), (1, now[1]))
    dims = now[:2]
    back = b.op("SUB", [b.op("SUB", [lengths, b.ints([1]), 0], lengths.dims), steps, 0], dims)
    inside = b.op("LESS", [steps, lengths], dims, type=BOOL)
    indices = b.chosen(inside, back, broadcast(b, steps, (1, now[1]), dims))
    made, _ = gather_batches(b, turned, now, 1, indices, dims, 1)
    inverse = [order.index(i) for i in range(len(shape))]
    b.bind(op.outputs[0], transpose(b, made, now, inverse), shape)


@imports("MATRIX_DIAG", 1, "`SELECT` of the tensor and zeros")
@imports("MATRIX_SET_DIAG", 2, "`SELECT` of both tensors")
def matrix_diagonal(b, op):
    import numpy
    diagonal = op.inputs[-1]
    shape, small = b.shape(diagonal), b.raw(diagonal, op.outputs[0])
    if op.name == "MATRIX_DIAG":
        out = (*shape, shape[-1]) if shape else ()
    else:
        out = b.shape(op.inputs[0])
    if len(out) < 2 or shape != (*out[:-2], min(out[-2:])):
        raise SpecError(f"a diagonal of shape {list(shape)} for matrices of shape {list(out)}")
    dims = (math.prod(out[:-2]), *out[-2:])
    b.limit(dims)
    tall = out[-2] >= out[-1]
    lines = (dims[0], 1, shape[-1]) if tall else (dims[0], shape[-1], 1)
    spread = broadcast(b, b.view(small, lines), lines, dims)
    if op.name == "MATRIX_DIAG":
        rest = b.filled(small.type, dims, 0, small.scale, small.zero)  # stored zeros, also of quantised types
    else:
        rest = b.view(b.raw(op.inputs[0], op.outputs[0]), dims)
    mask = b.of_array(numpy.broadcast_to(numpy.eye(*out[-2:], dtype=bool), dims), BOOL)
    b.bind(op.outputs[0], b.chosen(mask, spread, rest), out)


@imports("DYNAMIC_UPDATE_SLICE", 3, "`GATHER` of the update where it is, `SELECT`")
def dynamic_update_slice(b, op):
    shape, part = b.shape(op.inputs[0]), b.shape(op.inputs[1])
    x, made = (b.raw(i, op.outputs[0]) for i in op.inputs[:2])
    starts = b.view(b.tensor(op.inputs[2]), (1, max(len(shape), 1)))
    if len(shape) != len(part) or not shape or any(n > whole for n, whole in zip(part, shape)) or len(shape) > 4:
        raise Unsupported(f"an update of shape {list(part)} of a tensor of shape {list(shape)}")
    at, mask = part, None
    for axis, (n, whole) in enumerate(zip(part, shape)):
        if n == whole:
            continue
        start = b.view(slice_axis(b, starts, starts.dims, 1, axis, 1), (1,))
        start = b.op("MINIMUM", [b.op("MAXIMUM", [start, b.ints([0])], (1,)), b.ints([whole - n])], (1,))
        offset = b.op("SUB", [b.ints(range(whole)), start, 0], (whole,), like=start)
        inside = b.op("LOGICAL_AND", [b.op("GREATER_EQUAL", [offset, b.ints([0])], (whole,), type=BOOL),
                                      b.op("LESS", [offset, b.ints([n])], (whole,), type=BOOL)], (whole,))
        nearest = b.op("MINIMUM", [b.op("MAXIMUM", [offset, b.ints([0])], (whole,)), b.ints([n - 1])], (whole,))
        made, at = gather(b, made, at, axis, nearest, (whole,))
        line = tuple(whole if i == axis else 1 for i in range(len(shape)))
        whole_mask = b.filled(BOOL, shape, True) if mask is None else mask
        mask = b.op("LOGICAL_AND", [whole_mask, b.view(inside, line)], shape, like=inside)
    b.bind(op.outputs[0], b.copy(made) if mask is None else b.chosen(mask, made, x), shape)


@imports("SPARSE_TO_DENSE", 4, "`GATHER` of the values by constant indexes")
def sparse_to_dense(b, op):
    import numpy
    indices, shape = b.known(op.inputs[0]), tuple(b.numbers(op.inputs[1], "the shape"))
    if indices is None or not shape or min(shape) < 1 or math.prod(shape) > 1 << 24:
        raise Unsupported("indexes that depend on the model's inputs, or a shape without elements")
    rows = indices.reshape(-1, len(shape)) if indices.size % len(shape) == 0 else indices.reshape(-1, 1)
    if rows.shape[1] != len(shape) or ((rows < 0) | (rows >= shape)).any():
        raise SpecError(f"indexes {list(indices.shape)} that are outside of shape {list(shape)}")
    values, count = b.raw(op.inputs[2], op.outputs[0]), len(rows)
    table = numpy.full(shape, count)
    table[tuple(rows.T)] = numpy.arange(count)
    values = broadcast(b, values, b.shape(op.inputs[2]), (count,))
    both, _ = concatenate(b, [values, b.view(b.raw(op.inputs[3], op.outputs[0]), (1,))], [(count,), (1,)], 0)
    made, _ = gather(b, both, both.dims, 0, b.ints(int(v) for v in table.reshape(-1)), (table.size,))
    b.bind(op.outputs[0], made, shape)
