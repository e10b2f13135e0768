"""Writes the small .tflite models of this directory: make_models.py DIRECTORY-OF-tflite_generated.py

The class file comes from `flatc --python --gen-onefile specs/tflite.fbs`. Weights are small integers, so that results can be
worked out by hand.
"""

import struct
import sys

import flatbuffers

sys.path.insert(0, sys.argv[1])
import tflite_generated as tf  # noqa: E402

CODES = {"ADD": 0, "AVERAGE_POOL_2D": 1, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 9, "RESHAPE": 22,
         "RNN": 24, "SOFTMAX": 25, "ARG_MAX": 56}
RECURRENT_CODES = {"LSTM": 16, "SVDF": 27, "UNIDIRECTIONAL_SEQUENCE_RNN": 35, "UNIDIRECTIONAL_SEQUENCE_LSTM": 44,
                   "BIDIRECTIONAL_SEQUENCE_RNN": 46, "BIDIRECTIONAL_SEQUENCE_LSTM": 52}
LETTERS = {"FLOAT32": "f", "INT32": "i", "INT8": "b", "INT16": "h", "INT64": "q"}
SLOTS = {"byte": "PrependInt8Slot", "int": "PrependInt32Slot", "float": "PrependFloat32Slot"}


class Writer:
    def __init__(self, codes=CODES):
        self.codes = codes
        self.b = flatbuffers.Builder(1024)
        self.buffers, self.tensors, self.operators = [b""], [], []
        self.names = sorted(codes)

    def tensor(self, name, type, shape, values=None, scale=None, zero=None, axis=0, variable=False):
        """Adds a tensor and returns its index."""
        buffer = 0
        if values is not None:
            self.buffers.append(struct.pack(f"<{len(values)}{LETTERS[type]}", *values))
            buffer = len(self.buffers) - 1
        self.tensors.append((name, type, shape, buffer, scale, zero, axis, variable))
        return len(self.tensors) - 1

    def operator(self, name, inputs, outputs, *options, intermediates=()):
        """Options: (position, kind, value) of each field that is not the default."""
        self.operators.append((name, inputs, outputs, options, intermediates))

    def vector(self, values, prepend, size):
        self.b.StartVector(size, len(values), size)
        for value in reversed(values):
            prepend(value)
        return self.b.EndVector()

    def ints(self, values):
        return self.vector(values, self.b.PrependInt32, 4)

    def offsets(self, offsets):
        return self.vector(offsets, self.b.PrependUOffsetTRelative, 4)

    def put_quantization(self, scale, zero, axis):
        scales = scale if isinstance(scale, list) else [scale]
        scale_vector = self.vector(scales, self.b.PrependFloat32, 4)
        zeros = self.vector([zero or 0] * len(scales), self.b.PrependInt64, 8)
        tf.QuantizationStart(self.b)
        tf.QuantizationAddScale(self.b, scale_vector)
        tf.QuantizationAddZeroPoint(self.b, zeros)
        tf.QuantizationAddQuantizedDimension(self.b, axis)
        return tf.QuantizationEnd(self.b)

    def put_tensor(self, name, type, shape, buffer, scale, zero, axis, variable):
        text = self.b.CreateString(name)
        dims = self.ints(shape)
        quantization = self.put_quantization(scale, zero, axis) if scale is not None else None
        tf.TensorStart(self.b)
        tf.TensorAddShape(self.b, dims)
        tf.TensorAddType(self.b, getattr(tf.TensorType, type))
        tf.TensorAddBuffer(self.b, buffer)
        tf.TensorAddName(self.b, text)
        if quantization is not None:
            tf.TensorAddQuantization(self.b, quantization)
        tf.TensorAddIsVariable(self.b, variable)
        return tf.TensorEnd(self.b)

    def put_operator(self, name, inputs, outputs, options, intermediates):
        self.b.StartObject(8)
        for position, kind, value in options:
            getattr(self.b, SLOTS[kind])(position, value, 0)
        table = self.b.EndObject()
        ins, outs = self.ints(inputs), self.ints(outputs)
        between = self.ints(intermediates) if intermediates else None
        tf.OperatorStart(self.b)
        tf.OperatorAddOpcodeIndex(self.b, self.names.index(name))
        tf.OperatorAddInputs(self.b, ins)
        tf.OperatorAddOutputs(self.b, outs)
        tf.OperatorAddOptions(self.b, table)
        if between is not None:
            tf.OperatorAddIntermediates(self.b, between)
        return tf.OperatorEnd(self.b)

    def put_buffer(self, data):
        vector = self.b.CreateByteVector(data) if data else None
        tf.BufferStart(self.b)
        if vector is not None:
            tf.BufferAddData(self.b, vector)
        return tf.BufferEnd(self.b)

    def put_code(self, name):
        tf.OperatorCodeStart(self.b)
        tf.OperatorCodeAddOldBuiltinCode(self.b, self.codes[name])
        tf.OperatorCodeAddBuiltinCode(self.b, self.codes[name])
        return tf.OperatorCodeEnd(self.b)

    def write(self, path, inputs, outputs):
        tensors = self.offsets([self.put_tensor(*tensor) for tensor in self.tensors])
        operators = self.offsets([self.put_operator(*operator) for operator in self.operators])
        ins, outs = self.ints(inputs), self.ints(outputs)
        tf.SubGraphStart(self.b)
        tf.SubGraphAddTensors(self.b, tensors)
        tf.SubGraphAddInputs(self.b, ins)
        tf.SubGraphAddOutputs(self.b, outs)
        tf.SubGraphAddOperators(self.b, operators)
        graphs = self.offsets([tf.SubGraphEnd(self.b)])
        buffers = self.offsets([self.put_buffer(data) for data in self.buffers])
        codes = self.offsets([self.put_code(name) for name in self.names])
        tf.ModelStart(self.b)
        tf.ModelAddVersion(self.b, 3)
        tf.ModelAddOperatorCodes(self.b, codes)
        tf.ModelAddSubgraphs(self.b, graphs)
        tf.ModelAddBuffers(self.b, buffers)
        self.b.Finish(tf.ModelEnd(self.b), b"TFL3")
        with open(path, "wb") as file:
            file.write(self.b.Output())


def real():
    """A convolution, a layer and a softmax in binary32; the layer's weights are 8 bits wide."""
    w = Writer()
    x = w.tensor("x", "FLOAT32", [1, 3, 3, 1])
    filter = w.tensor("filter", "FLOAT32", [2, 2, 2, 1], [1, 0, 0, 1, 0, 1, -1, 0])
    bias = w.tensor("bias", "FLOAT32", [2], [0, 0.5])
    c = w.tensor("c", "FLOAT32", [1, 2, 2, 2])
    shape = w.tensor("shape", "INT32", [2], [1, 8])
    flat = w.tensor("flat", "FLOAT32", [1, 8])
    narrow = w.tensor("narrow", "INT8", [2, 8], [1, 2, 3, 4, 5, 6, 7, 8, -1, 0, 0, 0, 0, 0, 0, 1], 0.125, 0)
    logits = w.tensor("logits", "FLOAT32", [])
    y = w.tensor("y", "FLOAT32", [1, 2])
    w.operator("CONV_2D", [x, filter, bias], [c], (0, "byte", 1), (1, "int", 1), (2, "int", 1), (3, "byte", 3))
    w.operator("RESHAPE", [c, shape], [flat])
    w.operator("FULLY_CONNECTED", [flat, narrow, -1], [logits])
    w.operator("SOFTMAX", [logits], [y], (0, "float", 1.0))
    w.write("real.tflite", [x], [y])


def quantised():
    """Convolutions with a scale for each channel, and an index of 64 bits."""
    w = Writer()
    x = w.tensor("x", "INT8", [1, 2, 2, 2], None, 0.5, -1)
    f = w.tensor("f", "INT8", [2, 1, 1, 2], [1, 2, 3, 4], [0.25, 0.5], 0, 0)
    b = w.tensor("b", "INT32", [2], [8, -8], [0.125, 0.25], 0, 0)
    c = w.tensor("c", "INT8", [1, 2, 2, 2], None, 0.5, -1)
    d = w.tensor("d", "INT8", [1, 1, 1, 2], [5, 6], [0.25, 0.125], 0, 3)
    e = w.tensor("e", "INT8", [1, 2, 2, 2], None, 0.5, 3)
    s = w.tensor("s", "INT8", [1, 2, 2, 2], None, 1.0, 0)
    p = w.tensor("p", "INT8", [1, 1, 1, 2], None, 1.0, 0)
    axis = w.tensor("axis", "INT32", [], [3])
    y = w.tensor("y", "INT64", [1, 1, 1])
    w.operator("CONV_2D", [x, f, b], [c], (1, "int", 1), (2, "int", 1), (3, "byte", 1), (4, "int", 1), (5, "int", 1))
    w.operator("DEPTHWISE_CONV_2D", [c, d], [e], (1, "int", 1), (2, "int", 1), (3, "int", 1), (5, "int", 2), (6, "int", 2))
    w.operator("ADD", [c, e], [s])
    w.operator("AVERAGE_POOL_2D", [s], [p], (0, "byte", 1), (1, "int", 2), (2, "int", 2), (3, "int", 2), (4, "int", 2))
    w.operator("ARG_MAX", [p, axis], [y])
    w.write("quantised.tflite", [x], [y])


def state():
    """A cell that keeps state, twice the same weights."""
    w = Writer()
    x = w.tensor("x", "FLOAT32", [1, 2])
    a = w.tensor("a", "INT8", [2, 2], [2, 0, 0, 2], 0.5, 0)
    r = w.tensor("r", "FLOAT32", [2, 2], [1, 0, 0, 1])
    b = w.tensor("b", "FLOAT32", [2], [0, 1])
    h = w.tensor("h", "FLOAT32", [1, 2], variable=True)
    m = w.tensor("m", "FLOAT32", [1, 2])
    h2 = w.tensor("h2", "FLOAT32", [1, 2], variable=True)
    y = w.tensor("y", "FLOAT32", [])
    w.operator("RNN", [x, a, r, b, h], [m], (0, "byte", 1))
    w.operator("RNN", [m, a, r, b, h2], [y])
    w.write("state.tflite", [x], [y])



class Cells(Writer):
    """Weights and states of cells, numbered as they come."""

    def __init__(self):
        super().__init__(RECURRENT_CODES)
        self.n = 0

    def weights(self, *shape, type="FLOAT32", scale=None):
        self.n += 1
        count = 1
        for dim in shape:
            count *= dim
        values = [(self.n + i) % 5 - 2 for i in range(count)]
        return self.tensor(f"w{self.n}", type, list(shape), values, scale, 0)

    def state(self, size, type="FLOAT32", scale=None):
        self.n += 1
        return self.tensor(f"state{self.n}", type, [1, size], None, scale, 0, variable=True)

    def rnn(self, size, units):
        return [self.weights(units, size), self.weights(units, units), self.weights(units), self.state(units)]

    def lstm(self, size, units):
        """The weights of a cell with CIFG and peepholes."""
        matrices = [-1] + [self.weights(units, size) for _ in range(3)]
        recurrent = [-1] + [self.weights(units, units) for _ in range(3)]
        vectors = [-1] + [self.weights(units) for _ in range(2)] + [-1] + [self.weights(units) for _ in range(3)]
        return matrices + recurrent + vectors + [-1, -1]


def sequences():
    """Cells that run over a sequence, one way and both ways."""
    w = Cells()
    x = w.tensor("x", "FLOAT32", [1, 2, 2])
    m = w.tensor("m", "FLOAT32", [1, 2, 3])
    n = w.tensor("n", "FLOAT32", [1, 2, 2])
    f = w.tensor("f", "FLOAT32", [1, 2, 1])
    b = w.tensor("b", "FLOAT32", [1, 2, 1])
    y = w.tensor("y", "FLOAT32", [1, 2, 2])
    w.operator("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *w.rnn(2, 3)], [m], (1, "byte", 4))
    w.operator("BIDIRECTIONAL_SEQUENCE_RNN", [m, *w.rnn(3, 1), *w.rnn(3, 1), -1, -1, -1], [n], (1, "byte", 2), (2, "byte", 1))
    cells = w.lstm(2, 1) + w.lstm(2, 1)
    states = [w.state(1) for _ in range(4)]
    w.operator("BIDIRECTIONAL_SEQUENCE_LSTM", [n, *cells, *states, *[-1] * 9], [f, b], (0, "byte", 4), (1, "float", 3.0))
    w.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", [f, *w.lstm(1, 2), w.state(2), w.state(2)], [y], (0, "byte", 4))
    w.write("sequences.tflite", [x], [y, b])


def steps():
    """A quantised LSTM with a layer norm over two steps, and what keeps a memory."""
    w = Cells()
    x = w.tensor("x", "INT8", [1, 2, 2], None, 0.5, -1)
    y = w.tensor("y", "INT8", [1, 2, 1], None, 0.25, 3)
    byte, word = {"type": "INT8", "scale": 0.125}, {"type": "INT16", "scale": 2.0**-15}
    cell = [w.weights(1, 2, **byte) for _ in range(4)] + [w.weights(1, 1, **byte) for _ in range(4)] + [-1] * 3
    cell += [w.weights(1, type="INT32", scale=2.0**-20) for _ in range(4)] + [-1, -1]
    state = w.tensor("state", "INT8", [1, 1], None, 0.25, 3, variable=True)
    norms = [w.weights(1, **word) for _ in range(4)]
    between = [w.tensor(f"scale{i}", "INT16", [], None, 2.0**-i, 0) for i in range(1, 5)]
    between.append(w.tensor("hidden", "INT8", [], None, 0.5, 1))
    w.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *cell, state, w.state(1, "INT16", 2.0**-12), *norms], [y],
               (0, "byte", 4), (1, "float", 4.0), intermediates=between)
    v = w.tensor("v", "FLOAT32", [1, 2])
    z = w.tensor("z", "FLOAT32", [1, 1])
    last = w.tensor("last", "FLOAT32", [1, 2])
    w.operator("SVDF", [v, w.weights(2, 2), w.weights(2, 3), -1, w.state(6)], [z], (0, "int", 2), (1, "byte", 1))
    w.operator("LSTM", [z, *w.lstm(1, 2), w.state(2), w.state(2)], [last], (0, "byte", 4))
    w.write("steps.tflite", [x, v], [y, last])


real()
quantised()
state()
sequences()
steps()
