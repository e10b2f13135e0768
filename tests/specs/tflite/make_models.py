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
LETTERS = {"FLOAT32": "f", "INT32": "i", "INT8": "b", "INT64": "q"}
SLOTS = {"byte": "PrependInt8Slot", "int": "PrependInt32Slot", "float": "PrependFloat32Slot"}


class Writer:
    def __init__(self):
        self.b = flatbuffers.Builder(1024)
        self.buffers, self.tensors, self.operators = [b""], [], []
        self.names = sorted(CODES)

    def tensor(self, name, type, shape, values=None, scale=None, zero=None, axis=0, variable=False):
        """Adds a tensor and returns its index."""
        buffer = 0
        if values is not None:
            self.buffers.append(struct.pack(f"<{len(values)}{LETTERS[type]}", *values))
            buffer = len(self.buffers) - 1
        self.tensors.append((name, type, shape, buffer, scale, zero, axis, variable))
        return len(self.tensors) - 1

    def operator(self, name, inputs, outputs, *options):
        """Options: (position, kind, value) of each field that is not the default."""
        self.operators.append((name, inputs, outputs, options))

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

    def put_operator(self, name, inputs, outputs, options):
        self.b.StartObject(8)
        for position, kind, value in options:
            getattr(self.b, SLOTS[kind])(position, value, 0)
        table = self.b.EndObject()
        ins, outs = self.ints(inputs), self.ints(outputs)
        tf.OperatorStart(self.b)
        tf.OperatorAddOpcodeIndex(self.b, self.names.index(name))
        tf.OperatorAddInputs(self.b, ins)
        tf.OperatorAddOutputs(self.b, outs)
        tf.OperatorAddOptions(self.b, table)
        return tf.OperatorEnd(self.b)

    def put_buffer(self, data):
        vector = self.b.CreateByteVector(data) if data else None
        tf.BufferStart(self.b)
        if vector is not None:
            tf.BufferAddData(self.b, vector)
        return tf.BufferEnd(self.b)

    def put_code(self, name):
        tf.OperatorCodeStart(self.b)
        tf.OperatorCodeAddOldBuiltinCode(self.b, CODES[name])
        tf.OperatorCodeAddBuiltinCode(self.b, CODES[name])
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


real()
quantised()
state()
