"""Converts the recurrent operators of TensorFlow Lite to NNAPI operations.

Their state variables become an input of the model, and the new state an output. The quantised LSTM, which NNAPI
has for one step only, is unrolled.
"""

from halcyon.operands import SpecError, Unsupported

ACTIVATIONS = (0, 1, 2, 3, 4)  # none, RELU, RELU1, RELU6, TANH: the same numbers in the file and in NNAPI
LSTM_ACTIVATIONS = (0, 1, 3, 4)
MOST_STEPS = 4096  # longest quantised sequence; each step becomes an operation
PRODUCT_SCALE = 2.0**-12  # scale of the gates' sums without layer normalisation


def is_quantised(b, index):
    return b.file.tensors[index].type in ("INT8", "UINT8", "INT16")


def require_real(b, op):
    if is_quantised(b, op.inputs[0]):
        raise Unsupported("quantised")


def expect_inputs(op, *counts):
    if len(op.inputs) not in counts:
        raise Unsupported(f"a cell with {len(op.inputs)} inputs: must be {' or '.join(map(str, counts))}")


def activation(b, op, field, allowed=ACTIVATIONS):
    number = op.options.byte(field)
    if number not in allowed:
        raise Unsupported(f"activation {number}")
    return b.int(number)


def operands(b, op, states):
    """The operands of the inputs, in order; those at the positions `states` are read as state."""
    made = [b.tensor(op.inputs[0])]
    for i, index in enumerate(op.inputs[1:], 1):
        made.append(b.state(index) if i in states else b.real_weights(index))
    return made


def next_states(b, op, states):
    return [b.next_state(op.inputs[i]) for i in states]


def rnn(b, op):
    require_real(b, op)
    expect_inputs(op, 5)
    b.infer(op.outputs[0], b.shapes[op.inputs[4]])
    b.operation("RNN", [*operands(b, op, (4,)), activation(b, op, 0)],
                [*next_states(b, op, (4,)), b.tensor(op.outputs[0])])


def unidirectional_sequence_rnn(b, op):
    require_real(b, op)
    expect_inputs(op, 5)
    inputs = [*operands(b, op, (4,)), activation(b, op, 1), b.int(op.options.flag(0))]
    b.operation("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [b.tensor(op.outputs[0]), *next_states(b, op, (4,))])


def bidirectional_sequence_rnn(b, op):
    require_real(b, op)
    expect_inputs(op, 12)
    inputs = [*operands(b, op, (4, 8)), activation(b, op, 1), b.flag(op.options.flag(0)), b.flag(op.options.flag(2))]
    b.operation("BIDIRECTIONAL_SEQUENCE_RNN", inputs,
                [*map(b.tensor, op.outputs), *next_states(b, op, (4, 8))])


def svdf(b, op):
    require_real(b, op)
    expect_inputs(op, 5)
    inputs = [*operands(b, op, (4,)), b.int(op.options.int(0)), activation(b, op, 1)]
    b.operation("SVDF", inputs, [*next_states(b, op, (4,)), b.tensor(op.outputs[0])])


def lstm_operands(b, op, time_major=()):
    """Input, weights, biases, projection, states, activation, clips, `time_major`, layer norm weights."""
    expect_inputs(op, 20, 24)
    made = operands(b, op, (18, 19))
    scalars = [activation(b, op, 0, LSTM_ACTIVATIONS), b.float(op.options.float(1)), b.float(op.options.float(2))]
    return made[:20] + scalars + list(time_major) + made[20:]


def lstm(b, op):
    if is_quantised(b, op.inputs[0]):
        return quantized_lstm(b, op, steps=1, time_major=True)
    batch, units = b.shapes[op.inputs[0]][0], b.shapes[op.inputs[18]][-1]
    b.infer(op.outputs[0], [batch, units])
    scratch = b.add("TENSOR_FLOAT32", [0, 0])
    b.operation("LSTM", lstm_operands(b, op), [scratch, *next_states(b, op, (18, 19)), b.tensor(op.outputs[0])])


def unidirectional_sequence_lstm(b, op):
    time_major = op.options.flag(3)
    if is_quantised(b, op.inputs[0]):
        steps = b.shapes[op.inputs[0]][0 if time_major else 1]
        return quantized_lstm(b, op, steps, time_major)
    inputs = lstm_operands(b, op, [b.flag(time_major)])
    inputs += [b.omitted() for _ in range(28 - len(inputs))]
    b.operation("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [b.tensor(op.outputs[0]), *next_states(b, op, (18, 19))])


def bidirectional_sequence_lstm(b, op):
    require_real(b, op)
    expect_inputs(op, 48)
    states = (35, 36, 37, 38)
    inputs = [*operands(b, op, states), activation(b, op, 0, LSTM_ACTIVATIONS), b.float(op.options.float(1)),
              b.float(op.options.float(2)), b.flag(op.options.flag(3)), b.flag(op.options.flag(4))]
    inputs += [b.omitted() for _ in range(8)]
    b.operation("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, [*map(b.tensor, op.outputs), *next_states(b, op, states)])


# --- the quantised LSTM, step by step


def gate_scales(b, op, norms):
    """The scales of the gates' sums: the file's with layer normalisation, else PRODUCT_SCALE."""
    if not any(index >= 0 for index in norms):
        return [PRODUCT_SCALE] * 4
    scales = [b.file.tensors[index].scales for index in op.intermediates[:4]]
    return [scale[0] if scale else PRODUCT_SCALE for scale in scales]


def optional(b, index, type):
    return b.omitted(type) if index == -1 else b.tensor(index)


def cell_constants(b, op):
    """The operands of QUANTIZED_LSTM that all steps share: (those before the states, those after)."""
    norms = op.inputs[20:24] or (-1,) * 4
    if len(op.intermediates) != 5:
        raise Unsupported("a quantised cell other than one with 8-bit values and 16-bit state")
    hidden = b.file.tensors[op.intermediates[4]]
    if len(hidden.scales) != 1 or len(hidden.zeros) != 1:
        raise SpecError("the hidden state does not have one scale and one zero point")
    weights = [b.symmetric(index) for index in op.inputs[1:9]]
    peepholes = [optional(b, index, "TENSOR_QUANT16_SYMM") for index in op.inputs[9:12]]
    biases = [optional(b, index, "TENSOR_INT32") for index in op.inputs[12:16]]
    projection = [b.symmetric(op.inputs[16]), optional(b, op.inputs[17], "TENSOR_INT32")]
    rest = [optional(b, index, "TENSOR_QUANT16_SYMM") for index in norms]
    rest += [b.float(op.options.float(1)), b.float(op.options.float(2))]
    rest += [b.float(scale) for scale in gate_scales(b, op, norms)]
    rest += [b.int(hidden.zeros[0]), b.float(hidden.scales[0])]
    return weights + peepholes + biases + projection, rest


def split_steps(b, op, steps, time_major):
    """The input of each step, by splitting rows if time-major, else columns."""
    source, shape = b.tensor(op.inputs[0]), b.shapes[op.inputs[0]]
    if len(shape) == 2:
        return [source]
    batch, size = shape[1 if time_major else 0], shape[2]
    flat = [steps * batch, size] if time_major else [batch, steps * size]
    whole = b.like(op.inputs[0], flat)
    b.operation("RESHAPE", [source, b.ints(flat)], [whole])
    parts = [b.like(op.inputs[0], [batch, size]) for _ in range(steps)]
    b.operation("SPLIT", [whole, b.int(0 if time_major else 1), b.int(steps)], parts)
    return parts


def join_steps(b, op, outputs, time_major):
    steps, (batch, size) = len(outputs), b.shapes[op.inputs[18]]
    flat = [steps * batch, size] if time_major else [batch, steps * size]
    shape = b.shapes[op.outputs[0]] or ([steps, batch, size] if time_major else [batch, steps, size])
    b.infer(op.outputs[0], shape)
    whole = b.like(op.outputs[0], flat)
    b.operation("CONCATENATION", [*outputs, b.int(0 if time_major else 1)], [whole])
    b.operation("RESHAPE", [whole, b.ints(shape)], [b.tensor(op.outputs[0])])


def quantized_lstm(b, op, steps, time_major):
    expect_inputs(op, 20, 24)
    if op.options.byte(0) != 4:
        raise Unsupported(f"quantised with activation {op.options.byte(0)}")
    if not 1 <= steps <= MOST_STEPS:
        raise Unsupported(f"a quantised sequence of {steps} steps")
    constants, scalars = cell_constants(b, op)
    states = [b.state(op.inputs[18]), b.state(op.inputs[19])]
    shape = b.shapes[op.inputs[18]]
    sequence = len(b.shapes[op.inputs[0]]) == 3
    if not sequence:
        b.infer(op.outputs[0], shape)
    outputs = []
    for step, source in enumerate(split_steps(b, op, steps, time_major)):
        inputs = [source, *constants, *states, *scalars]
        if step < steps - 1:
            states = [b.like(op.inputs[18]), b.like(op.inputs[19])]
        else:
            states = next_states(b, op, (18, 19))
        outputs.append(b.like(op.outputs[0], shape) if sequence else b.tensor(op.outputs[0]))
        b.operation("QUANTIZED_LSTM", inputs, [*states, outputs[-1]])
    if sequence:
        join_steps(b, op, outputs, time_major)


CONVERTERS = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_sequence_lstm,
    "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional_sequence_rnn,
    "LSTM": lstm,
    "RNN": rnn,
    "SVDF": svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": unidirectional_sequence_lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": unidirectional_sequence_rnn,
}
