"""Converts the operators of neural networks: convolutions, pooling, layers, normalisation, resizing, control flow."""

import math

from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_common import (MANY, activated, activation, broadcast, broadcast_shape, concatenate, finish, imports,
                                   pad, positive, require_rank, slice_axis, transpose)
from halcyon.tflite_model import BOOL, BYTES, F32, I32, S8, U8, physical

PADDINGS = {0: 1, 1: 2}  # SAME and VALID: number in the file, in NNAPI
LOWEST = {U8: 0, S8: -128}
FIXED_SCALES = {"LOGISTIC": (1 / 256, 0), "SOFTMAX": (1 / 256, 0), "TANH": (1 / 128, 128),
                "L2_NORMALIZATION": (1 / 128, 128)}  # of quantised outputs in NNAPI; zero point above the lowest value
PER_CHANNEL = "TENSOR_QUANT8_SYMM_PER_CHANNEL"


def padding(op):
    if op.options.padding not in PADDINGS:
        raise SpecError(f"padding {op.options.padding}: must be 0 (SAME) or 1 (VALID)")
    return PADDINGS[op.options.padding]


def window(op, size, filter, stride, dilation=1):
    """The number of positions of a window along a dimension."""
    positive("a stride", stride)
    reach = (positive("a filter's size", filter) - 1) * positive("a dilation", dilation) + 1
    count = -(-size // stride) if op.options.padding == 0 else (size - reach) // stride + 1
    if count < 1:
        raise SpecError(f"a window of {reach} on a dimension of {size}")
    return count


def input_of_sums(b, op, i=0):
    """Input i of an operator with weights: a float or quantised tensor."""
    ref = b.tensor(op.inputs[i])
    if ref.type not in (F32, U8, S8):
        b.refuse_type(op.inputs[i])
    return ref


def weights(b, x, index, dim):
    """The weights that x is multiplied with; `dim` is their dimension of output channels."""
    if x.type == F32:
        return b.real_weights(index)
    ref = b.tensor(index)
    if x.type == U8 and ref.type == S8 and ref.data is not None and ref.zero == 0:
        channel = {"dim": dim, "scales": [ref.scale] * ref.dims[dim]}
        return b.constant(PER_CHANNEL, ref.dims, ref.data, channel=channel)
    if ref.type not in (x.type, PER_CHANNEL):
        raise Unsupported(f"weights of type {b.tensors[index].type} for an input of another type: quantise both to INT8")
    return ref


def bias(b, op, i, count, x, w):
    """Input i, or zeros if it is omitted."""
    index = op.inputs[i] if len(op.inputs) > i else -1
    if x.type == F32:
        return b.real(index) if index >= 0 else b.filled(F32, [count], 0)
    scale = 0.0 if w.type == PER_CHANNEL else x.scale * w.scale
    if index < 0:
        return b.filled(I32, [count], 0, scale)
    if not b.is_int(index) or b.known(index) is None:
        raise Unsupported(f"the bias, {b.label(index)}, is not a constant INT32")
    return b.constant(I32, physical(b.shape(index)), b.stored(index), scale, name=b.tensors[index].name)


def dilated(width, height):
    """The layout and dilation operands; none without dilation."""
    return [] if width == height == 1 else [False, width, height]


def conv_output(b, op, shape, filter, channels):
    o = op.options
    return (shape[0], window(op, shape[1], filter[1], o.stride_h, o.dilation_h_factor),
            window(op, shape[2], filter[2], o.stride_w, o.dilation_w_factor), channels)


@imports("CONV_2D", (2, 3), "`CONV_2D`; `GROUPED_CONV_2D` if the filter is less deep than the input; grouped and dilated: "
         "`CONV_2D` of each group")
def conv_2d(b, op):
    shape, filter = require_rank(b, op.inputs[0], 4), require_rank(b, op.inputs[1], 4)
    x = input_of_sums(b, op)
    groups, rest = divmod(shape[3], positive("the filter's depth", filter[3]))
    if rest or not groups or filter[0] % groups:
        raise SpecError(f"filter {list(filter)} on {shape[3]} channels")
    w = weights(b, x, op.inputs[1], 0)
    c = bias(b, op, 2, filter[0], x, w)
    strides = [op.options.stride_w, op.options.stride_h]
    extra = dilated(op.options.dilation_w_factor, op.options.dilation_h_factor)
    dims, out = conv_output(b, op, shape, filter, filter[0]), b.like_output(x, op.outputs[0])
    if groups == 1:
        made = b.op("CONV_2D", [x, w, c, padding(op), *strides, activation(op), *extra], dims, **out)
    elif not extra:
        made = b.op("GROUPED_CONV_2D", [x, w, c, padding(op), *strides, groups, activation(op), False], dims, **out)
    else:
        made = conv_by_group(b, op, x, w, c, groups, [padding(op), *strides, activation(op), *extra], dims, out)
    finish(b, op, made)


def conv_by_group(b, op, x, w, c, groups, rest, dims, out):
    if w.type == PER_CHANNEL or w.data is None and w.type in BYTES:
        raise Unsupported("a grouped, dilated convolution with a scale per channel; without dilation it is supported")
    parts, count = [], dims[3] // groups
    for i in range(groups):
        inputs = [slice_axis(b, ref, ref.dims, axis, i * ref.dims[axis] // groups, ref.dims[axis] // groups)
                  for ref, axis in ((x, 3), (w, 0))]
        biases = b.constant(c.type, [count], c.data[4 * i * count:4 * (i + 1) * count], c.scale)
        parts.append(b.op("CONV_2D", [*inputs, biases, *rest], (*dims[:3], count), **out))
    return concatenate(b, parts, [part.dims for part in parts], 3)[0]


@imports("DEPTHWISE_CONV_2D", (2, 3))
def depthwise_conv_2d(b, op):
    shape, filter = require_rank(b, op.inputs[0], 4), require_rank(b, op.inputs[1], 4)
    x = input_of_sums(b, op)
    multiplier, rest = divmod(filter[3], shape[3])
    if rest or not multiplier or filter[0] != 1:
        raise SpecError(f"filter {list(filter)} on {shape[3]} channels")
    w = weights(b, x, op.inputs[1], 3)
    made = b.op("DEPTHWISE_CONV_2D",
                [x, w, bias(b, op, 2, filter[3], x, w), padding(op), op.options.stride_w, op.options.stride_h, multiplier,
                 activation(op), *dilated(op.options.dilation_w_factor, op.options.dilation_h_factor)],
                conv_output(b, op, shape, filter, filter[3]), **b.like_output(x, op.outputs[0]))
    finish(b, op, made)


@imports("TRANSPOSE_CONV", (3, 4), "`TRANSPOSE_CONV_2D`")
def transpose_conv_2d(b, op):
    shape, filter = require_rank(b, op.inputs[2], 4), require_rank(b, op.inputs[1], 4)
    x = input_of_sums(b, op, 2)
    size = b.numbers(op.inputs[0], "the output's shape")
    if len(size) != 4 or min(size) < 1 or size[0] != shape[0] or size[3] != filter[0]:
        raise SpecError(f"an output of shape {size} for an input of {list(shape)} and a filter of {list(filter)}")
    w = weights(b, x, op.inputs[1], 0)
    c = bias(b, op, 3, filter[0], x, w)
    made = b.op("TRANSPOSE_CONV_2D", [x, w, c, size, padding(op), positive("a stride", op.options.stride_w),
                                      positive("a stride", op.options.stride_h), activation(op), False],
                size, **b.like_output(x, op.outputs[0]))
    finish(b, op, made)


@imports("CONV_3D", (2, 3), "for each slice of the filter's depth `STRIDED_SLICE`, `CONV_2D`; their `ADD`")
def conv_3d(b, op):
    shape, filter = require_rank(b, op.inputs[0], 5), require_rank(b, op.inputs[1], 5)
    o, x, w = op.options, b.real(op.inputs[0]), b.real(op.inputs[1])
    batches, depth, height, width, channels = shape
    taps, filters = filter[0], filter[4]
    if filter[3] != channels or b.quantised(op.inputs[0]):
        raise Unsupported(f"filter {list(filter)} on {channels} channels, or quantised; FLOAT32 without groups is supported")
    out = window(op, depth, taps, o.stride_d, o.dilation_d_factor)
    x = b.view(x, (batches, depth, height * width * channels))
    if o.padding == 0:
        missing = max(0, (out - 1) * o.stride_d + (taps - 1) * o.dilation_d_factor + 1 - depth)
        x = pad(b, x, [(0, 0), (missing // 2, missing - missing // 2), (0, 0)])
    w = transpose(b, b.view(w, (taps, *filter[1:3], channels * filters)), (*filter[:3], channels, filters), (0, 4, 1, 2, 3))
    rows = b.view(w, (taps, filters * filter[1] * filter[2] * channels))
    dims = conv_output(b, op, (batches * out, height, width, channels), (filters, *filter[1:4]), filters)
    total = None
    for tap in range(taps):
        first = tap * o.dilation_d_factor
        end = first + (out - 1) * o.stride_d + 1
        part = b.op("STRIDED_SLICE", [x, [0, first, 0], [0, end, 0], [1, o.stride_d, 1], 5, 5, 0],
                    (batches, out, x.dims[2]))
        kernel = b.view(slice_axis(b, rows, rows.dims, 0, tap, 1), (filters, *filter[1:3], channels))
        biases = bias(b, op, 2, filters, x, w) if tap == 0 else b.filled(F32, [filters], 0)
        part = b.op("CONV_2D", [b.view(part, (batches * out, height, width, channels)), kernel, biases, padding(op),
                                o.stride_w, o.stride_h, 0, *dilated(o.dilation_w_factor, o.dilation_h_factor)], dims)
        total = part if total is None else b.op("ADD", [total, part, 0], dims)
    finish(b, op, activated(b, op, total), (batches, out, *dims[1:]))


@imports("AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D", 1, "the operation of the same name")
def pool_2d(b, op):
    shape, o = require_rank(b, op.inputs[0], 4), op.options
    x = b.raw(op.inputs[0], op.outputs[0])
    if x.type not in (F32, U8, S8) or op.name == "L2_POOL_2D" and x.type != F32:
        b.refuse_type(op.inputs[0])
    dims = (shape[0], window(op, shape[1], o.filter_height, o.stride_h), window(op, shape[2], o.filter_width, o.stride_w),
            shape[3])
    finish(b, op, b.op(op.name, [x, padding(op), o.stride_w, o.stride_h, o.filter_width, o.filter_height, activation(op)],
                       dims))


@imports("FULLY_CONNECTED", (2, 3), "`FULLY_CONNECTED`; with a scale per channel: `CONV_2D` of 1 by 1")
def fully_connected(b, op):
    if op.options.weights_format:
        raise Unsupported("shuffled weights; the default format is supported")
    if len(op.outputs) != 1:
        raise Unsupported(f"{len(op.outputs)} outputs; one is supported")
    shape, (units, depth) = b.shape(op.inputs[0]), require_rank(b, op.inputs[1], 2)
    rows, rest = divmod(math.prod(shape), max(depth, 1))
    if rest or not rows or not shape:
        raise SpecError(f"weights {[units, depth]} for an input of shape {list(shape)}")
    x = input_of_sums(b, op)
    if op.options.keep_num_dims and shape[-1] != depth:
        raise SpecError(f"weights {[units, depth]} for an input of shape {list(shape)}, whose dimensions are kept")
    out_shape = (*shape[:-1], units) if op.options.keep_num_dims else (rows, units)
    w, out = weights(b, x, op.inputs[1], 0), b.like_output(x, op.outputs[0])
    c = bias(b, op, 2, units, x, w)
    if w.type == PER_CHANNEL:
        if w.channel["dim"] != 0 or w.data is None:
            raise Unsupported("a scale per input of the weights; a scale per unit is supported")
        w = b.constant(PER_CHANNEL, (units, 1, 1, depth), w.data, channel={"dim": 0, "scales": w.channel["scales"]})
        made = b.op("CONV_2D", [b.view(x, (rows, 1, 1, depth)), w, c, 2, 1, 1, activation(op)], (rows, 1, 1, units), **out)
    else:
        x = b.view(x, (rows, depth)) if len(x.dims) < 2 else x
        made = b.op("FULLY_CONNECTED", [x, w, c, activation(op)], (rows, units), **out)
    finish(b, op, made, out_shape)


@imports("BATCH_MATMUL", 2, "`BATCH_MATMUL`; UINT8 through floats; batches that are broadcast: `TILE` before it")
def batch_matmul(b, op):
    shapes = [b.shape(i) for i in op.inputs]
    if min(map(len, shapes)) < 2:
        raise SpecError(f"shapes {list(map(list, shapes))}: must have rank 2 or more")
    refs = [b.tensor(i) for i in op.inputs]
    if refs[0].type not in (F32, S8, I32) or refs[1].type != refs[0].type:
        refs = [b.real(op.inputs[0]), b.real_weights(op.inputs[1])]
    adjoint = op.options.adj_x, op.options.adj_y
    ends = [shape[-2:][::-1] if adj else shape[-2:] for shape, adj in zip(shapes, adjoint)]
    if ends[0][1] != ends[1][0]:
        raise SpecError(f"matrices of {list(ends[0])} and {list(ends[1])}")
    batches = broadcast_shape(shapes[0][:-2], shapes[1][:-2])
    refs = [b.view(broadcast(b, ref, shape, (*batches, *shape[-2:])), physical((math.prod(batches), *shape[-2:])))
            if len(batches) > 2 or shape[:-2] != batches else ref for ref, shape in zip(refs, shapes)]
    out = (*batches, ends[0][0], ends[1][1])
    dims = (*refs[0].dims[:-2], *out[-2:])
    made = b.op("BATCH_MATMUL", [*refs, *map(bool, adjoint)], dims, **b.like_output(refs[0], op.outputs[0]))
    b.bind(op.outputs[0], made, out)


def fixed(b, op, name, x, arguments, dims):
    """An operation whose quantised output has a fixed scale in NNAPI; through floats for another one."""
    type, scale, zero = b.type_of(op.outputs[0])
    step, above = FIXED_SCALES[name]
    if x.type in BYTES and (x.type != type or (scale, zero) != (step, LOWEST[x.type] + above)):
        x = b.converted(x, F32)
    elif x.type in BYTES:
        return b.op(name, [x, *arguments], dims, scale=step, zero=LOWEST[x.type] + above)
    if x.type != F32:
        b.refuse_type(op.inputs[0])
    return b.op(name, [x, *arguments], dims)


@imports("SOFTMAX", 1)
def softmax(b, op):
    shape, x = b.shape(op.inputs[0]), b.tensor(op.inputs[0])
    if x.type not in (F32, U8, S8):
        b.refuse_type(op.inputs[0])
    if op.options.beta <= 0:
        raise SpecError(f"beta is {op.options.beta}: must be positive")
    b.bind(op.outputs[0], fixed(b, op, "SOFTMAX", x, [float(op.options.beta)], x.dims), shape)


@imports("LOG_SOFTMAX", 1)
def log_softmax(b, op):
    x = b.real(op.inputs[0])
    b.bind(op.outputs[0], b.op("LOG_SOFTMAX", [x, 1.0, -1], x.dims), b.shape(op.inputs[0]))


@imports("LOGISTIC TANH", 1)
def sigmoid(b, op):
    x = b.tensor(op.inputs[0])
    b.bind(op.outputs[0], fixed(b, op, op.name, x, [], x.dims), b.shape(op.inputs[0]))


@imports("L2_NORMALIZATION", 1)
def l2_normalization(b, op):
    x = b.tensor(op.inputs[0])
    made = fixed(b, op, op.name, x, [], x.dims)
    finish(b, op, activated(b, op, made), b.shape(op.inputs[0]))


@imports("LOCAL_RESPONSE_NORMALIZATION", 1)
def local_response_normalization(b, op):
    x, o = b.real(op.inputs[0]), op.options
    require_rank(b, op.inputs[0], 4)
    b.bind(op.outputs[0], b.op(op.name, [x, o.radius, float(o.bias), float(o.alpha), float(o.beta)], x.dims))


@imports("RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR", 2)
def resize(b, op):
    shape, o = require_rank(b, op.inputs[0], 4), op.options
    size = b.numbers(op.inputs[1], "the new size")
    if len(size) != 2 or min(size) < 1:
        raise SpecError(f"a new size of {size}: must be a height and a width")
    x = b.raw(op.inputs[0], op.outputs[0])
    if x.type not in (F32, U8, S8):
        b.refuse_type(op.inputs[0])
    modes = [bool(o.align_corners), bool(o.half_pixel_centers)] if o.align_corners or o.half_pixel_centers else []
    b.bind(op.outputs[0], b.op(op.name, [x, size[1], size[0], False, *modes], (shape[0], *size, shape[3])))


@imports("EMBEDDING_LOOKUP", 2, "`EMBEDDING_LOOKUP`; 8-bit rows with float results: `DEQUANTIZE` after it")
def embedding_lookup(b, op):
    shape, count = b.shape(op.inputs[1]), require_rank(b, op.inputs[0], 1)
    table = b.tensor(op.inputs[1])
    if table.channel:
        table = b.real_weights(op.inputs[1])
    if not 2 <= len(shape) <= 4:
        table = b.view(table, (shape[0], math.prod(shape[1:])))
    b.bind(op.outputs[0], b.op(op.name, [b.tensor(op.inputs[0]), table], (*count, *table.dims[1:]), like=table),
           (*count, *shape[1:]))


@imports("HASHTABLE_LOOKUP", 3, outputs=2)
def hashtable_lookup(b, op):
    count, shape = require_rank(b, op.inputs[0], 1), b.shape(op.inputs[2])
    require_rank(b, op.inputs[2], 1, 2, 3, 4)
    table = b.tensor(op.inputs[2])
    rows = b.add(table.type, (*count, *shape[1:]), scale=table.scale, zero=table.zero)
    hits = b.add(U8, count, scale=1.0)
    b.operation(op.name, [b.tensor(op.inputs[0]), b.tensor(op.inputs[1]), table], [rows, hits])
    b.bind(op.outputs[0], rows)
    b.bind(op.outputs[1], b.reinterpreted(hits, *b.type_of(op.outputs[1])[1:]))


LSH_TYPES = {1: 3, 2: 2}  # sparse and dense: number in the file, in NNAPI


@imports("LSH_PROJECTION", (2, 3))
def lsh_projection(b, op):
    if op.options.type not in LSH_TYPES:
        raise SpecError(f"type {op.options.type}: must be 1 (sparse) or 2 (dense)")
    hash = require_rank(b, op.inputs[0], 2)
    weights = b.tensor(op.inputs[2]) if len(op.inputs) > 2 and op.inputs[2] >= 0 else b.omitted()
    out = hash[:1] if op.options.type == 1 else (hash[0] * hash[1],)
    b.bind(op.outputs[0], b.op(op.name, [b.tensor(op.inputs[0]), b.tensor(op.inputs[1]), weights,
                                         LSH_TYPES[op.options.type]], out, type=I32))


# --- control flow


def subgraph(b, index, arguments, outputs, what):
    """The SUBGRAPH operand of a subgraph of the file whose inputs are `arguments`."""
    number = b.subgraphs.convert(index, [ref for ref in arguments], what)
    model = b.subgraphs.models[number]
    if outputs is not None and len(model["outputs"]) != outputs:
        raise SpecError(f"subgraph {index}, the {what}, has {len(model['outputs'])} outputs: must be {outputs}")
    made = b.add("SUBGRAPH", life="SUBGRAPH")
    b.operands[made.id]["data"] = [number]
    return made, [model["operands"][i] for i in model["outputs"]], b.subgraphs.shapes[number]


def condition(b, index):
    ref = b.tensor(index)
    if ref.type != BOOL or ref.count != 1:
        raise SpecError(f"the condition, {b.label(index)}, is {ref.type} {list(ref.dims)}: must be one BOOL")
    return b.view(ref, (1,))


def result(b, record):
    return b.add(record["type"], record.get("dims", ()), scale=record.get("scale", 0.0), zero=record.get("zero", 0))


@imports("IF", (1, MANY), outputs=(1, MANY))
def if_else(b, op):
    known = b.known(op.inputs[0])
    arguments = [b.tensor(i) for i in op.inputs[1:]]
    then, outputs, shapes = subgraph(b, op.options.then_subgraph_index, arguments, len(op.outputs), "then branch")
    other, others, _ = subgraph(b, op.options.else_subgraph_index, arguments, len(op.outputs), "else branch")
    if any(a.get("dims") != c.get("dims") for a, c in zip(outputs, others)):
        raise Unsupported("branches whose outputs have different shapes")
    flag = b.constant(BOOL, [1], bytes([bool(known.any())])) if known is not None else condition(b, op.inputs[0])
    made = [result(b, record) for record in outputs]
    b.operation("IF", [flag, then, other, *arguments], made)
    for index, ref, shape in zip(op.outputs, made, shapes):
        b.bind(index, ref, shape)


@imports("WHILE", (1, MANY), outputs=(1, MANY))
def while_loop(b, op):
    arguments = [b.tensor(i) for i in op.inputs]
    if len(op.outputs) != len(op.inputs):
        raise SpecError(f"{len(op.inputs)} inputs and {len(op.outputs)} outputs: must be the same number")
    test, verdict, _ = subgraph(b, op.options.cond_subgraph_index, arguments, 1, "condition")
    body, outputs, shapes = subgraph(b, op.options.body_subgraph_index, arguments, len(op.outputs), "body")
    if verdict[0]["type"] != BOOL:
        raise SpecError("the condition's subgraph does not compute a BOOL")
    if any(tuple(record.get("dims", ())) != ref.dims for record, ref in zip(outputs, arguments)):
        raise Unsupported("a loop that changes the shape of a tensor; NNAPI's loops keep shapes")
    made = [result(b, record) for record in outputs]
    b.operation("WHILE", [test, body, *arguments], made)
    for index, ref, shape in zip(op.outputs, made, shapes):
        b.bind(index, ref, shape)


# --- variables: an input of the model that is read, and an output that is assigned


@imports("VAR_HANDLE", 0, "a variable: an input of the model with its value, an output with the value assigned")
def var_handle(b, op):
    b.handles[op.outputs[0]] = bytes(op.options.container) + b"/" + bytes(op.options.shared_name)


def handle(b, op):
    if op.inputs[0] not in b.handles:
        raise Unsupported("a variable that is passed between subgraphs; its VAR_HANDLE must be in the same one")
    return b.handles[op.inputs[0]]


@imports("READ_VARIABLE", 1, "the variable's input, or what was assigned before")
def read_variable(b, op):
    name, index = handle(b, op), op.outputs[0]
    if name not in b.variables:
        b.variables[name] = b.state(index), b.shape(index)
    else:
        b.refs[index], b.shapes[index] = b.variables[name]


@imports("ASSIGN_VARIABLE", 2, "the variable's output", outputs=0)
def assign_variable(b, op):
    name, index = handle(b, op), op.inputs[1]
    b.variables[name] = b.tensor(index), b.shape(index)
    b.assigned[name] = b.tensor(index)


@imports("CALL_ONCE", 0, "left out: the initial values are those given for the variables' inputs", outputs=0)
def call_once(b, op):
    pass
