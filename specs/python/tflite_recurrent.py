"""Converts the recurrent operators of TensorFlow Lite to NNAPI operations.

Their state variables become an input of the model, and the new state an output. The quantised LSTM, which NNAPI
has for one step only, is unrolled.
"""

from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_common import TANH, concatenate, imports, require_rank
from halcyon.tflite_model import F32, I32

ACTIVATIONS = (0, 1, 2, 3, 4)  # none, RELU, RELU1, RELU6, TANH: the same numbers in the file and in NNAPI
LSTM_ACTIVATIONS = (0, 1, 3, 4)
MOST_STEPS = 4096  # longest quantised sequence; each step becomes an operation
PRODUCT_SCALE = 2.0**-12  # scale of the gates' sums without layer normalisation
STATES = "; states are inputs and outputs of the model"


def is_quantised(b, index):
    return b.tensors[index].type in ("INT8", "UINT8", "INT16")


def require_real(b, op):
    if is_quantised(b, op.inputs[0]):
        raise Unsupported(f"an input of type {b.tensors[op.inputs[0]].type}; FLOAT32 is supported, with 8-bit weights or without")


def expect_inputs(op, *counts):
    if len(op.inputs) not in counts:
        raise Unsupported(f"a cell with {len(op.inputs)} inputs: must be {' or '.join(map(str, counts))}")


def activation(b, op, allowed=ACTIVATIONS):
    number = op.options.fused_activation_function
    if number not in allowed:
        raise Unsupported(f"activation {number}: must be one of {', '.join(map(str, allowed))}")
    return number


def operands(b, op, states):
    """The operands of the inputs, in order; those at the positions `states` are read as state."""
    made = [b.real(op.inputs[0])]
    for i, index in enumerate(op.inputs[1:], 1):
        made.append(b.state(index) if i in states else b.real_weights(index))
    return made


def next_states(b, op, states):
    return [b.next_state(op.inputs[i]) for i in states]


def units(b, index):
    return require_rank(b, index, 2)[0]


@imports("RNN", 5, "`RNN`" + STATES)
def rnn(b, op):
    require_real(b, op)
    inputs = operands(b, op, (4,))
    out = b.add(F32, (require_rank(b, op.inputs[0], 2)[0], units(b, op.inputs[1])))
    b.operation("RNN", [*inputs, activation(b, op)], [*next_states(b, op, (4,)), out])
    b.bind(op.outputs[0], out)


@imports("UNIDIRECTIONAL_SEQUENCE_RNN", 5, "`UNIDIRECTIONAL_SEQUENCE_RNN`" + STATES)
def unidirectional_sequence_rnn(b, op):
    require_real(b, op)
    inputs = operands(b, op, (4,))
    out = b.add(F32, (*require_rank(b, op.inputs[0], 3)[:2], units(b, op.inputs[1])))
    b.operation("UNIDIRECTIONAL_SEQUENCE_RNN", [*inputs, activation(b, op), int(op.options.time_major)],
                [out, *next_states(b, op, (4,))])
    b.bind(op.outputs[0], out)


@imports("BIDIRECTIONAL_SEQUENCE_RNN", 12, "`BIDIRECTIONAL_SEQUENCE_RNN`" + STATES, outputs=(1, 2))
def bidirectional_sequence_rnn(b, op):
    require_real(b, op)
    inputs = operands(b, op, (4, 8))
    inputs += [activation(b, op), bool(op.options.time_major), bool(op.options.merge_outputs)]
    sizes = [units(b, op.inputs[i]) for i in (1, 5)]
    both_ways(b, op, "BIDIRECTIONAL_SEQUENCE_RNN", inputs, sizes, (4, 8))


def both_ways(b, op, code, inputs, sizes, states):
    """The operation, with an output for each direction or one for both."""
    sizes = [sum(sizes)] if op.options.merge_outputs else sizes
    if len(op.outputs) != len(sizes):
        raise SpecError(f"{len(op.outputs)} outputs: must be {len(sizes)}")
    made = [b.add(F32, (*require_rank(b, op.inputs[0], 3)[:2], size)) for size in sizes]
    b.operation(code, inputs, [*made, *next_states(b, op, states)])
    for index, ref in zip(op.outputs, made):
        b.bind(index, ref)


@imports("SVDF", 5, "`SVDF`" + STATES)
def svdf(b, op):
    require_real(b, op)
    rank = op.options.rank
    filters = units(b, op.inputs[1])
    if rank < 1 or filters % rank:
        raise SpecError(f"{filters} filters of rank {rank}")
    inputs = operands(b, op, (4,))
    out = b.add(F32, (require_rank(b, op.inputs[0], 2)[0], filters // rank))
    b.operation("SVDF", [*inputs, rank, activation(b, op)], [*next_states(b, op, (4,)), out])
    b.bind(op.outputs[0], out)


def lstm_operands(b, op, time_major=()):
    """Input, weights, biases, projection, states, activation, clips, `time_major`, layer norm weights."""
    expect_inputs(op, 20, 24)
    made = operands(b, op, (18, 19))
    scalars = [activation(b, op, LSTM_ACTIVATIONS), float(op.options.cell_clip), float(op.options.proj_clip)]
    return made[:20] + scalars + list(time_major) + made[20:]


@imports("LSTM", (5, 24), "`LSTM`; quantised `QUANTIZED_LSTM`" + STATES, outputs=(1, 4))
def lstm(b, op):
    if op.options.kernel_type:
        return basic_lstm(b, op)
    expect_inputs(op, 20, 24)
    if is_quantised(b, op.inputs[0]):
        return quantized_lstm(b, op, steps=1, time_major=True)
    batch, size = require_rank(b, op.inputs[0], 2)[0], b.shape(op.inputs[18])[-1]
    scratch, out = b.add(F32, [0, 0]), b.add(F32, (batch, size))
    b.operation("LSTM", lstm_operands(b, op), [scratch, *next_states(b, op, (18, 19)), out])
    b.bind(op.outputs[0], out)


def basic_lstm(b, op):
    """The cell with one matrix for all gates: its state is an ordinary tensor, its outputs are read."""
    expect_inputs(op, 5)
    if len(op.outputs) != 4 or is_quantised(b, op.inputs[0]):
        raise Unsupported(f"a basic cell of type {b.tensors[op.inputs[0]].type}; FLOAT32 is supported")
    x, past, weights, bias, memory = (b.real(op.inputs[0]), b.real(op.inputs[1]), b.real_weights(op.inputs[2]),
                                      b.real(op.inputs[3]), b.real(op.inputs[4]))
    batch, size = require_rank(b, op.inputs[4], 2)
    joined, _ = concatenate(b, [x, past], [x.dims, past.dims], 1)
    if weights.dims != (4 * size, joined.dims[1]) or bias.dims != (4 * size,):
        raise SpecError(f"weights {list(weights.dims)} and bias {list(bias.dims)} for {size} units")
    gates = b.op("FULLY_CONNECTED", [joined, weights, bias, 0], (batch, 4 * size))
    parts = b.ops("SPLIT", [gates, 1, 4], [(batch, size)] * 4)
    codes = ("LOGISTIC", "TANH", "LOGISTIC", "LOGISTIC")  # input gate, new values, forget gate, output gate
    new, values, keep, show = (b.op(code, [part], part.dims) for code, part in zip(codes, parts))
    multiply = lambda a, c: b.op("MUL", [a, c, 0], a.dims)
    state = b.op("ADD", [multiply(new, values), multiply(keep, memory), 0], memory.dims)
    out = multiply(show, b.op("TANH", [state], state.dims))
    for index, ref in zip(op.outputs, (out, state, joined, gates)):
        b.bind(index, ref)


@imports("UNIDIRECTIONAL_SEQUENCE_LSTM", (20, 24), "`UNIDIRECTIONAL_SEQUENCE_LSTM`; quantised: `QUANTIZED_LSTM` for each step"
         + STATES)
def unidirectional_sequence_lstm(b, op):
    time_major, shape = bool(op.options.time_major), require_rank(b, op.inputs[0], 3)
    if op.options.diagonal_recurrent_tensors:
        raise Unsupported("diagonal recurrent weights; full matrices are supported")
    if is_quantised(b, op.inputs[0]):
        expect_inputs(op, 20, 24)
        return quantized_lstm(b, op, shape[0 if time_major else 1], time_major)
    inputs = lstm_operands(b, op, [time_major])
    inputs += [b.omitted() for _ in range(28 - len(inputs))]
    out = b.add(F32, (*shape[:2], b.shape(op.inputs[18])[-1]))
    b.operation("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [out, *next_states(b, op, (18, 19))])
    b.bind(op.outputs[0], out)


@imports("BIDIRECTIONAL_SEQUENCE_LSTM", 48, "`BIDIRECTIONAL_SEQUENCE_LSTM`" + STATES, outputs=(1, 2))
def bidirectional_sequence_lstm(b, op):
    require_real(b, op)
    states, o = (35, 36, 37, 38), op.options
    inputs = [*operands(b, op, states), activation(b, op, LSTM_ACTIVATIONS), float(o.cell_clip), float(o.proj_clip),
              bool(o.merge_outputs), bool(o.time_major)]
    inputs += [b.omitted() for _ in range(8)]
    sizes = [b.shape(op.inputs[i])[-1] for i in (35, 37)]
    both_ways(b, op, "BIDIRECTIONAL_SEQUENCE_LSTM", inputs, sizes, states)


# --- the quantised LSTM, step by step


def gate_scales(b, op, norms):
    """The scales of the gates' sums: the file's with layer normalisation, else PRODUCT_SCALE."""
    if not any(index >= 0 for index in norms):
        return [PRODUCT_SCALE] * 4
    scales = [b.tensors[index].scales for index in op.intermediates[:4]]
    return [scale[0] if scale else PRODUCT_SCALE for scale in scales]


def optional(b, index, type):
    return b.omitted(type) if index < 0 else b.tensor(index)


def cell_bias(b, index):
    """A bias with the scale that the file gives it."""
    if index < 0:
        return b.omitted(I32)
    tensor = b.tensors[index]
    if tensor.type != "INT32" or tensor.data is None:
        raise Unsupported(f"the bias, {b.label(index)}, is not a constant INT32")
    return b.constant(I32, tensor.shape, tensor.data, tensor.scales[0] if len(tensor.scales) == 1 else 0.0,
                      name=tensor.name)


def cell_constants(b, op):
    """The operands of QUANTIZED_LSTM that all steps share: (those before the states, those after)."""
    norms = op.inputs[20:24] or (-1,) * 4
    if len(op.intermediates) != 5 or min(op.intermediates) < 0:
        raise Unsupported("a quantised cell other than one with 8-bit values and 16-bit state")
    hidden = b.tensors[op.intermediates[4]]
    if len(hidden.scales) != 1:
        raise SpecError(f"the hidden state, {b.label(hidden.index)}, has {len(hidden.scales)} scales: must be 1")
    weights = [b.symmetric(index) for index in op.inputs[1:9]]
    peepholes = [optional(b, index, "TENSOR_QUANT16_SYMM") for index in op.inputs[9:12]]
    biases = [cell_bias(b, index) for index in op.inputs[12:16]]
    projection = [b.symmetric(op.inputs[16]), cell_bias(b, op.inputs[17])]
    rest = [optional(b, index, "TENSOR_QUANT16_SYMM") for index in norms]
    rest += [float(op.options.cell_clip), float(op.options.proj_clip)]
    rest += map(float, gate_scales(b, op, norms))
    rest += [int(hidden.zeros[0]), float(hidden.scales[0])]
    return weights + peepholes + biases + projection, rest


def split_steps(b, op, steps, time_major):
    """The input of each step, by splitting rows if time-major, else columns."""
    source, shape = b.tensor(op.inputs[0]), b.shape(op.inputs[0])
    if len(shape) == 2:
        return [source]
    batch, size = shape[1 if time_major else 0], shape[2]
    flat = (steps * batch, size) if time_major else (batch, steps * size)
    whole = b.op("RESHAPE", [source, flat], flat)
    return b.ops("SPLIT", [whole, 0 if time_major else 1, steps], [(batch, size)] * steps)


def quantized_lstm(b, op, steps, time_major):
    if op.options.fused_activation_function != TANH:
        raise Unsupported(f"quantised with activation {op.options.fused_activation_function}: {TANH} (TANH) is supported")
    if not 1 <= steps <= MOST_STEPS:
        raise Unsupported(f"a quantised sequence of {steps} steps: 1 to {MOST_STEPS} are supported")
    constants, scalars = cell_constants(b, op)
    states = [b.state(op.inputs[18]), b.state(op.inputs[19])]
    batch, size = require_rank(b, op.inputs[18], 2)
    outputs = []
    for step, source in enumerate(split_steps(b, op, steps, time_major)):
        inputs = [source, *constants, *states, *scalars]
        if step < steps - 1:
            states = [b.add(ref.type, ref.dims, scale=ref.scale, zero=ref.zero) for ref in states]
        else:
            states = next_states(b, op, (18, 19))
        type, scale, zero = b.type_of(op.outputs[0])
        outputs.append(b.add(type, (batch, size), scale=scale, zero=zero))
        b.operation("QUANTIZED_LSTM", inputs, [*states, outputs[-1]])
    if len(b.shape(op.inputs[0])) == 2:
        return b.bind(op.outputs[0], outputs[0])
    flat = (steps * batch, size) if time_major else (batch, steps * size)
    shape = (steps, batch, size) if time_major else (batch, steps, size)
    whole = b.op("CONCATENATION", [*outputs, 0 if time_major else 1], flat)
    b.bind(op.outputs[0], b.op("RESHAPE", [whole, shape], shape))
