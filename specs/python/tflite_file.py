"""Reads a .tflite file into plain Python values. The file is not trusted: an inconsistency raises SpecError."""

import math
from typing import NamedTuple, Optional

from halcyon import flatbuffer
from halcyon import tflite_generated as format
from halcyon.operands import SpecError

IDENTIFIER = b"TFL3"
SCHEMA = flatbuffer.Schema(format.TABLES, format.UNIONS)
ELEMENT_TYPES = format.ENUMS["TensorType"]
ELEMENT_SIZES = {"FLOAT32": 4, "FLOAT16": 2, "INT32": 4, "UINT8": 1, "INT64": 8, "BOOL": 1, "INT16": 2, "INT8": 1,
                 "FLOAT64": 8, "UINT64": 8, "UINT32": 4, "UINT16": 2, "COMPLEX64": 8, "COMPLEX128": 16}
ZERO_POINTS = {"UINT8": (0, 255), "INT8": (-128, 127), "INT16": (-2**15, 2**15 - 1), "INT32": (-2**31, 2**31 - 1)}
MAX_RANK = 32
MAX_BYTES = 2**32 - 1  # of a tensor in NNAPI
MAX_SUBGRAPHS = 256
OLD_CODE_LIMIT = 127  # greater operator codes are only in the newer, wider field
OPTIONS = dict(format.UNIONS["BuiltinOptions"])
# The operators by their number in the file, with the member of BuiltinOptions that is read of them.
OPERATORS = [text.partition(":")[::2] for text in (
    "ADD:Add AVERAGE_POOL_2D:Pool2D CONCATENATION:Concatenation CONV_2D:Conv2D DEPTHWISE_CONV_2D:DepthwiseConv2D "
    "DEPTH_TO_SPACE:DepthToSpace DEQUANTIZE EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED:FullyConnected HASHTABLE_LOOKUP "
    "L2_NORMALIZATION:L2Norm L2_POOL_2D:Pool2D LOCAL_RESPONSE_NORMALIZATION:LocalResponseNormalization LOGISTIC "
    "LSH_PROJECTION:LSHProjection LSTM:LSTM MAX_POOL_2D:Pool2D MUL:Mul RELU RELU_N1_TO_1 RELU6 RESHAPE:Reshape "
    "RESIZE_BILINEAR:ResizeBilinear RNN:RNN SOFTMAX:Softmax SPACE_TO_DEPTH:SpaceToDepth SVDF:SVDF TANH "
    "CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN:SequenceRNN "
    "GATHER:Gather BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN:Reducer SUB:Sub DIV:Div SQUEEZE:Squeeze "
    "UNIDIRECTIONAL_SEQUENCE_LSTM:UnidirectionalSequenceLSTM STRIDED_SLICE:StridedSlice "
    "BIDIRECTIONAL_SEQUENCE_RNN:BidirectionalSequenceRNN EXP TOPK_V2 SPLIT:Split LOG_SOFTMAX DELEGATE "
    "BIDIRECTIONAL_SEQUENCE_LSTM:BidirectionalSequenceLSTM CAST PRELU MAXIMUM ARG_MAX:ArgMax MINIMUM LESS NEG PADV2 "
    "GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV:TransposeConv SPARSE_TO_DENSE TILE "
    "EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM:Reducer SQRT RSQRT SHAPE:Shape POW ARG_MIN:ArgMin FAKE_QUANT:FakeQuant "
    "REDUCE_PROD:Reducer REDUCE_MAX:Reducer PACK:Pack LOGICAL_OR ONE_HOT:OneHot LOGICAL_AND LOGICAL_NOT "
    "UNPACK:Unpack REDUCE_MIN:Reducer FLOOR_DIV REDUCE_ANY:Reducer SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE "
    "RESIZE_NEAREST_NEIGHBOR:ResizeNearestNeighbor LEAKY_RELU:LeakyRelu SQUARED_DIFFERENCE MIRROR_PAD:MirrorPad ABS "
    "SPLIT_V:SplitV UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE:ReverseSequence "
    "MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF:If WHILE:While NON_MAX_SUPPRESSION_V4 "
    "NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL:BatchMatMul "
    "PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM:Cumsum CALL_ONCE:CallOnce BROADCAST_TO RFFT2D CONV_3D:Conv3D IMAG REAL "
    "COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL:Reducer "
    "CONV_3D_TRANSPOSE:Conv3D VAR_HANDLE:VarHandle READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS "
    "RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU:Gelu DYNAMIC_UPDATE_SLICE RELU_0_TO_1 "
    "UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST "
    "BITWISE_XOR RIGHT_SHIFT").split()]


class Tensor(NamedTuple):
    index: int
    name: str
    type: str
    shape: tuple  # as TensorFlow Lite allocates it: dimensions that are not known are 1
    scales: tuple
    zeros: tuple
    axis: int  # dimension of per-channel scales
    variable: bool
    sparsity: Optional[flatbuffer.Record]
    data: Optional[memoryview]  # of a constant

    @property
    def count(self):
        return math.prod(self.shape)

    @property
    def quantised(self):
        return bool(self.scales) and self.type in ("UINT8", "INT8", "INT16")


class Operator(NamedTuple):
    index: int
    name: str
    inputs: tuple  # indexes of tensors; -1: omitted
    outputs: tuple
    options: flatbuffer.Record
    intermediates: tuple  # tensors that only carry scales and zero points
    custom: Optional[memoryview]  # options of a custom operator


class Graph(NamedTuple):
    index: int
    tensors: list
    inputs: tuple
    outputs: tuple
    operators: list


def plain_text(name):
    """A name of the file as text of one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in name.decode(errors="replace")).split())


def at_place(place, read, *arguments):
    try:
        return read(*arguments)
    except SpecError as error:
        error.args = (f"{place}: {error}",)
        raise


class File:
    def __init__(self, data):
        if data[4:8] != IDENTIFIER:
            raise SpecError("not a TensorFlow Lite model: no TFL3 at byte 4")
        model = flatbuffer.Reader(SCHEMA, data).root("Model")
        self.data, self.buffers = data, model.buffers
        self.codes = [self._operator_name(code) for code in model.operator_codes]
        if not 1 <= len(model.subgraphs) <= MAX_SUBGRAPHS:
            raise SpecError(f"{len(model.subgraphs)} subgraphs: must be 1 to {MAX_SUBGRAPHS}")
        self.graphs = [at_place(f"subgraph {i}", self._graph, graph, i) for i, graph in enumerate(model.subgraphs)]

    def _operator_name(self, code):
        number = max(code.old_builtin_code, code.builtin_code)
        if not 0 <= number < len(OPERATORS):
            return f"operator of code {number}", ""
        if OPERATORS[number][0] == "CUSTOM":
            return f"custom operator {plain_text(code.custom_code)[:80]}", ""
        return OPERATORS[number]

    def _graph(self, graph, index):
        tensors = [at_place(f"tensor {i} ({plain_text(tensor.name)[:80]})", self._tensor, tensor, i)
                   for i, tensor in enumerate(graph.tensors)]
        n = len(tensors)
        return Graph(index, tensors, at_place("inputs", indexes, graph.inputs, n),
                     at_place("outputs", indexes, graph.outputs, n),
                     [at_place(f"operator {i}", self._operator, op, i, n) for i, op in enumerate(graph.operators)])

    def _operator(self, op, index, n_tensors):
        if op.opcode_index >= len(self.codes):
            raise SpecError(f"operator code {op.opcode_index} of {len(self.codes)}")
        name, expected = self.codes[op.opcode_index]
        options = op.options
        if options is None or not expected:
            options = SCHEMA.empty(OPTIONS.get(expected, "None"))
        elif options.union_member != expected:
            raise SpecError(f"{name} with options of type {options.union_member}: must be {expected}")
        return Operator(index, name, at_place("inputs", indexes, op.inputs, n_tensors, True),
                        at_place("outputs", indexes, op.outputs, n_tensors), options,
                        at_place("intermediates", indexes, op.intermediates, n_tensors, True), op.custom_options)

    def _tensor(self, tensor, index):
        type = ELEMENT_TYPES.get(tensor.type, f"type {tensor.type}")
        if len(tensor.shape) > MAX_RANK:
            raise SpecError(f"{len(tensor.shape)} dimensions: at most {MAX_RANK}")
        if any(dim < -1 for dim in tensor.shape):
            raise SpecError(f"shape {list(tensor.shape)} has a negative dimension")
        shape = tuple(1 if dim == -1 else dim for dim in tensor.shape)
        if math.prod(shape) * ELEMENT_SIZES.get(type, 1) > MAX_BYTES:
            raise SpecError(f"{type} {list(shape)} has more than {MAX_BYTES} bytes")
        scales, zeros, axis = self._quantization(tensor.quantization, type, shape)
        made = Tensor(index, plain_text(tensor.name), type, shape, scales, zeros, axis, tensor.is_variable,
                      tensor.sparsity, self._data(tensor.buffer))
        if made.data is not None and made.sparsity is None and type in ELEMENT_SIZES:
            needed = made.count * ELEMENT_SIZES[type]
            if len(made.data) != needed:
                raise SpecError(f"buffer {tensor.buffer} has {len(made.data)} bytes: {type} {list(shape)} needs {needed}")
        return made

    def _quantization(self, quantization, type, shape):
        if quantization is None or not quantization.scale or type == "FLOAT32":
            return (), (), 0
        scales, zeros, axis = quantization.scale, quantization.zero_point, quantization.quantized_dimension
        if not zeros:
            zeros = (0,) * len(scales)
        if not all(math.isfinite(scale) and scale >= 0 for scale in scales):
            raise SpecError("a scale is negative or not finite")
        if len(zeros) != len(scales):
            raise SpecError(f"{len(scales)} scales, but {len(zeros)} zero points")
        low, high = ZERO_POINTS.get(type, (-2**63, 2**63))
        if not all(low <= zero <= high for zero in zeros):
            raise SpecError(f"a zero point of {type} is not in {low}..{high}")
        if len(scales) > 1 and not (0 <= axis < len(shape) and shape[axis] == len(scales)):
            raise SpecError(f"{len(scales)} scales for dimension {axis} of {list(shape)}")
        if type in ("UINT8", "INT8") and not all(scales):
            if any(scales):
                raise SpecError("a scale is 0")
            return (), (), 0  # not quantised
        return scales, zeros, axis

    def _data(self, index):
        if index >= len(self.buffers):
            raise SpecError(f"buffer {index} of {len(self.buffers)}")
        buffer = self.buffers[index]
        if buffer.offset > 1:  # outside of the FlatBuffer
            if buffer.offset + buffer.size > len(self.data):
                raise SpecError(f"buffer {index} ends beyond the end of the file")
            return memoryview(self.data)[buffer.offset:buffer.offset + buffer.size] if buffer.size else None
        return buffer.data if len(buffer.data) else None


def indexes(values, limit, optional=False):
    for i, index in enumerate(values):
        if not (-1 if optional else 0) <= index < limit:
            raise SpecError(f"[{i}] is tensor {index} of {limit}")
    return values
