"""Writes the small .tflite models of this directory: make_models.py DIRECTORY

Weights are small integers, so that results can be worked out by hand.
"""

import pathlib
import sys

import numpy as np
from writer import Model


class Writer(Model):
    def tensor(self, name, type, shape, values=None, scale=None, zero=None, axis=0, variable=False):
        """Adds a tensor and returns its index."""
        data = None if values is None else np.reshape(values, shape)
        index = super().tensor(shape, type, data, scale, zero or 0, axis, variable)
        self.tensors[index]["name"] = name
        return index

    def write(self, name, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        (pathlib.Path(sys.argv[1]) / name).write_bytes(self.encode())


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
    w.op("CONV_2D", [x, filter, bias], [c], padding=1, stride_w=1, stride_h=1, fused_activation_function=3)
    w.op("RESHAPE", [c, shape], [flat])
    w.op("FULLY_CONNECTED", [flat, narrow, -1], [logits])
    w.op("SOFTMAX", [logits], [y], beta=1.0)
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
    w.op("CONV_2D", [x, f, b], [c], stride_w=1, stride_h=1, fused_activation_function=1, dilation_w_factor=1, dilation_h_factor=1)
    w.op("DEPTHWISE_CONV_2D", [c, d], [e], stride_w=1, stride_h=1, depth_multiplier=1, dilation_w_factor=2, dilation_h_factor=2)
    w.op("ADD", [c, e], [s])
    w.op("AVERAGE_POOL_2D", [s], [p], padding=1, stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    w.op("ARG_MAX", [p, axis], [y])
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
    w.op("RNN", [x, a, r, b, h], [m], fused_activation_function=1)
    w.op("RNN", [m, a, r, b, h2], [y])
    w.write("state.tflite", [x], [y])


class Cells(Writer):
    """Weights and states of cells, numbered as they come."""

    def __init__(self):
        super().__init__()
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
    w.op("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *w.rnn(2, 3)], [m], fused_activation_function=4)
    w.op("BIDIRECTIONAL_SEQUENCE_RNN", [m, *w.rnn(3, 1), *w.rnn(3, 1), -1, -1, -1], [n], fused_activation_function=2, merge_outputs=1)
    cells = w.lstm(2, 1) + w.lstm(2, 1)
    states = [w.state(1) for _ in range(4)]
    w.op("BIDIRECTIONAL_SEQUENCE_LSTM", [n, *cells, *states, *[-1] * 9], [f, b], fused_activation_function=4, cell_clip=3.0, time_major=False)
    w.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [f, *w.lstm(1, 2), w.state(2), w.state(2)], [y], fused_activation_function=4)
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
    w.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *cell, state, w.state(1, "INT16", 2.0**-12), *norms], [y],
               fused_activation_function=4, cell_clip=4.0, intermediates=between)
    v = w.tensor("v", "FLOAT32", [1, 2])
    z = w.tensor("z", "FLOAT32", [1, 1])
    last = w.tensor("last", "FLOAT32", [1, 2])
    w.op("SVDF", [v, w.weights(2, 2), w.weights(2, 3), -1, w.state(6)], [z], rank=2, fused_activation_function=1)
    w.op("LSTM", [z, *w.lstm(1, 2), w.state(2), w.state(2)], [last], fused_activation_function=4)
    w.write("steps.tflite", [x, v], [y, last])


real()
quantised()
state()
sequences()
steps()
