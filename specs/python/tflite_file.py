"""Reads a .tflite file into plain Python values. The file is not trusted: an inconsistency raises SpecError."""

import math
import struct
from typing import NamedTuple, Optional

from flatbuffers import number_types, table

from halcyon import tflite_generated as format
from halcyon.operands import SpecError

IDENTIFIER = b"TFL3"
ELEMENT_TYPES = {value: name for name, value in vars(format.TensorType).items() if not name.startswith("_")}
ELEMENT_SIZES = {"FLOAT32": 4, "FLOAT16": 2, "INT32": 4, "UINT8": 1, "INT64": 8, "BOOL": 1, "INT16": 2, "INT8": 1}
OPERATORS = (
    "ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR "
    "FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION "
    "LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH "
    "CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER "
    "BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE "
    "BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM "
    "ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE "
    "TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK "
    "LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD "
    "RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N "
    "GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH").split()


class Tensor(NamedTuple):
    name: str
    type: str
    shape: tuple
    scales: tuple
    zeros: tuple
    axis: int  # dimension of per-channel scales
    variable: bool
    data: Optional[bytes]  # of a constant

    @property
    def count(self):
        return math.prod(self.shape)


class Operator(NamedTuple):
    index: int
    name: str
    inputs: tuple  # indexes of tensors; -1: omitted
    outputs: tuple
    options: "Options"
    intermediates: tuple = ()  # tensors that only carry scales and zero points


class Options:
    """The options of an operator: fields by position, with the format's defaults."""

    def __init__(self, of):
        self.table = None if of is None else of._tab

    def _get(self, field, flags, default):
        offset = self.table.Offset(4 + 2 * field) if self.table is not None else 0
        return self.table.Get(flags, offset + self.table.Pos) if offset else default

    def byte(self, field):
        return self._get(field, number_types.Int8Flags, 0)

    def int(self, field, default=0):
        return self._get(field, number_types.Int32Flags, default)

    def float(self, field):
        return self._get(field, number_types.Float32Flags, 0.0)

    def flag(self, field):
        return bool(self._get(field, number_types.BoolFlags, False))

    def ints(self, field):
        offset = self.table.Offset(4 + 2 * field) if self.table is not None else 0
        if not offset:
            return None
        length = checked(self.table.VectorLen(offset), len(self.table.Bytes))
        start = self.table.Vector(offset)
        return [self.table.Get(number_types.Int32Flags, start + 4 * i) for i in range(length)]


def checked(length, limit):
    if not 0 <= length <= limit:
        raise SpecError(f"a list of {length} elements in a file of {limit} bytes")
    return length


class File:
    def __init__(self, data):
        if data[4:8] != IDENTIFIER:
            raise SpecError("not a TensorFlow Lite model: no TFL3 at byte 4")
        self.data = data
        self.model = format.Model.GetRootAs(data)
        self.codes = [self._operator_name(i) for i in self._range(self.model.OperatorCodesLength())]
        self.n_buffers = len(self._range(self.model.BuffersLength()))
        if self.model.SubgraphsLength() != 1:
            raise SpecError(f"{self.model.SubgraphsLength()} subgraphs: exactly one is supported")
        graph = self.model.Subgraphs(0)
        self.tensors = [self._at("tensor", i, self._tensor, graph.Tensors(i))
                        for i in self._range(graph.TensorsLength())]
        self.inputs = [self._tensor_index(graph.Inputs(i)) for i in self._range(graph.InputsLength())]
        self.outputs = [self._tensor_index(graph.Outputs(i)) for i in self._range(graph.OutputsLength())]
        self.operators = [self._at("operator", i, self._operator, graph.Operators(i), i)
                          for i in self._range(graph.OperatorsLength())]

    def _range(self, length):
        return range(checked(length, len(self.data)))

    def _at(self, what, i, read, *arguments):
        try:
            return read(*arguments)
        except SpecError as error:
            raise SpecError(f"{what} {i}: {error}") from None
        except DAMAGE as error:
            raise SpecError(f"{what} {i} is damaged: {error}") from None

    def _tensor_index(self, i, optional=False):
        if not (-1 if optional else 0) <= i < len(self.tensors):
            raise SpecError(f"there is no tensor {i}")
        return i

    def _operator_name(self, i):
        code = self.model.OperatorCodes(i)
        number = max(code.OldBuiltinCode(), code.BuiltinCode())
        if not 0 <= number < len(OPERATORS):
            return f"operator of code {number}"
        if OPERATORS[number] == "CUSTOM":
            return "custom operator " + (code.CustomCode() or b"").decode(errors="replace")
        return OPERATORS[number]

    def _operator(self, op, index):
        if op.OpcodeIndex() >= len(self.codes):
            raise SpecError(f"there is no operator code {op.OpcodeIndex()}")
        inputs = tuple(self._tensor_index(op.Inputs(i), True) for i in self._range(op.InputsLength()))
        outputs = tuple(self._tensor_index(op.Outputs(i)) for i in self._range(op.OutputsLength()))
        intermediates = tuple(self._tensor_index(op.Intermediates(i)) for i in self._range(op.IntermediatesLength()))
        return Operator(index, self.codes[op.OpcodeIndex()], inputs, outputs, Options(op.Options()), intermediates)

    def _tensor(self, tensor):
        type = ELEMENT_TYPES.get(tensor.Type())
        shape = tuple(tensor.Shape(i) for i in self._range(tensor.ShapeLength()))
        if type not in ELEMENT_SIZES:
            raise SpecError(f"element type {type or tensor.Type()} has no equivalent in NNAPI")
        if any(dim < 0 for dim in shape):
            raise SpecError(f"shape {list(shape)} has a negative dimension")
        scales, zeros, axis = self._quantization(tensor.Quantization())
        name = (tensor.Name() or b"").decode(errors="replace")
        made = Tensor(name, type, shape, scales, zeros, axis, tensor.IsVariable(), self._data(tensor.Buffer()))
        if made.data is not None and len(made.data) != made.count * ELEMENT_SIZES[type]:
            raise SpecError(f"{len(made.data)} bytes for {type} {list(shape)}")
        return made

    def _quantization(self, quantization):
        if quantization is None:
            return (), (), 0
        scales = tuple(quantization.Scale(i) for i in self._range(quantization.ScaleLength()))
        zeros = tuple(quantization.ZeroPoint(i) for i in self._range(quantization.ZeroPointLength()))
        if any(not (math.isfinite(scale) and scale >= 0) for scale in scales):
            raise SpecError("a scale is negative or not finite")
        return scales, zeros, quantization.QuantizedDimension()

    def _data(self, index):
        if index >= self.n_buffers:
            raise SpecError(f"there is no buffer {index}")
        buffer = self.model.Buffers(index)
        if buffer is None or buffer.DataLength() == 0:
            return None
        start = buffer._tab.Vector(buffer._tab.Offset(4))
        end = start + checked(buffer.DataLength(), len(self.data))
        if end > len(self.data):
            raise SpecError(f"buffer {index} extends beyond the end of the file")
        return self.data[start:end]


# Exceptions of the flatbuffers library for wrong offsets and lengths.
DAMAGE = (struct.error, IndexError, ValueError, TypeError, OverflowError, AttributeError)


def read(data):
    try:
        return File(data)
    except DAMAGE as error:
        raise SpecError(f"damaged: {error}") from None
