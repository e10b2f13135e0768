"""The NNAPI model that the converters of TensorFlow Lite operators build.

A tensor of the file has a shape of any rank; its operand has rank 1 to 4 (`physical`): [1] for a scalar, the leading
dimensions multiplied for more than 4. Element types: 64-bit integers become TENSOR_INT32; 8-bit tensors without a
scale have scale 1 and zero point 0, so that their real values are the stored ones.
"""

import base64
import math
import struct

from halcyon.operands import SpecError, Unsupported

TYPES = {
    "FLOAT32": "TENSOR_FLOAT32", "FLOAT16": "TENSOR_FLOAT16", "INT32": "TENSOR_INT32", "INT64": "TENSOR_INT32",
    "BOOL": "TENSOR_BOOL8", "UINT8": "TENSOR_QUANT8_ASYMM", "INT8": "TENSOR_QUANT8_ASYMM_SIGNED",
    "INT16": "TENSOR_QUANT16_SYMM",
}
CLOSEST = {"INT16": "INT8", "FLOAT64": "FLOAT32", "UINT32": "INT32", "UINT16": "INT32", "UINT64": "INT64",
           "INT4": "INT8", "COMPLEX64": "FLOAT32, real and imaginary parts apart", "COMPLEX128": "FLOAT32",
           "STRING": "INT32 indexes of the strings"}
F32, F16, I32, BOOL = "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_BOOL8"
U8, S8 = "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"
FLOATS = frozenset((F32, F16))
BYTES = frozenset((U8, S8))
REAL = FLOATS | BYTES  # what most NNAPI operations that move elements have
REAL_INT = REAL | {I32}
DTYPES = {"FLOAT32": "<f4", "FLOAT16": "<f2", "INT32": "<i4", "INT64": "<i8", "BOOL": "?", "UINT8": "u1", "INT8": "i1",
          "INT16": "<i2"}
OPERAND_DTYPES = {F32: "<f4", F16: "<f2", I32: "<i4", BOOL: "?", U8: "u1", S8: "i1", "TENSOR_QUANT8_SYMM": "i1",
                  "TENSOR_QUANT8_SYMM_PER_CHANNEL": "i1", "TENSOR_QUANT16_SYMM": "<i2"}
MOST_OPERATIONS = 1 << 17  # of one model
MOST_ELEMENTS = 1 << 26  # of a constant that is made here, not in the file


def physical(shape):
    """The dimensions of the operand for a tensor's shape."""
    if len(shape) > 4:
        return (math.prod(shape[:-3]), *shape[-3:])
    return tuple(shape) or (1,)


class Ref:
    """An operand of the model; `data`: the bytes of a constant."""

    __slots__ = ("id", "type", "dims", "scale", "zero", "channel", "data")

    def __init__(self, id, type, dims, scale, zero, channel, data):
        self.id, self.type, self.dims = id, type, dims
        self.scale, self.zero, self.channel, self.data = scale, zero, channel, data

    @property
    def count(self):
        return math.prod(self.dims)

    @property
    def quantisation(self):
        return self.type, self.scale, self.zero

    def array(self):
        """The stored values of a constant."""
        import numpy
        return numpy.frombuffer(self.data, OPERAND_DTYPES[self.type]).reshape(self.dims)


class Model:
    def __init__(self, file, graph, subgraphs):
        self.file, self.graph, self.tensors, self.subgraphs = file, graph, graph.tensors, subgraphs
        self.operands, self.operations = [], []
        self.inputs, self.outputs = [], []
        self.refs, self.shapes = {}, {}
        self.arrays = {}  # values of tensors known before the model runs
        self.derived = {}  # operands made of a tensor once: weights as reals, and so on
        self.variables, self.assigned, self.handles = {}, {}, {}  # by name; handles by tensor
        self.state_outputs = []
        self.producer = {}  # the operator that computes each tensor
        for index in graph.inputs:
            if index not in self.refs:
                self.shapes[index] = self.tensors[index].shape
                self.refs[index] = self._input(index)
        self.inputs = [self.refs[index].id for index in dict.fromkeys(graph.inputs)]

    # --- operands

    def add(self, type, dims=(), life="TEMPORARY_VARIABLE", scale=0.0, zero=0, channel=None, name=None, data=None):
        record = {"type": type, "life": life}
        if name:
            record["name"] = name
        if dims:
            record["dims"] = list(dims)
        if scale:
            record["scale"] = scale
        if zero:
            record["zero"] = zero
        if channel:
            record["channel"] = channel
        if data is not None:
            record["bytes"] = base64.b64encode(data).decode()
        self.operands.append(record)
        return Ref(len(self.operands) - 1, type, tuple(dims), scale, zero, channel, data)

    def constant(self, type, dims, data, scale=0.0, zero=0, channel=None, name=None):
        return self.add(type, dims, "CONSTANT_COPY", scale, zero, channel, name, bytes(data))

    def int(self, value):
        return self.constant("INT32", (), struct.pack("<i", value))

    def float(self, value):
        try:
            return self.constant("FLOAT32", (), struct.pack("<f", value))
        except OverflowError:
            raise SpecError(f"{value} does not fit 32 bits") from None

    def flag(self, value):
        return self.constant("BOOL", (), bytes([bool(value)]))

    def ints(self, values, dims=None):
        if isinstance(values, range):
            import numpy
            self.limit([len(values)])
            return self.of_array(numpy.arange(values.start, values.stop, values.step).reshape(dims or -1), I32)
        values = list(values)
        return self.constant(I32, dims or [len(values)], struct.pack(f"<{len(values)}i", *values))

    def floats(self, values, dims=None):
        values = list(values)
        return self.constant(F32, dims or [len(values)], struct.pack(f"<{len(values)}f", *values))

    def of_array(self, array, type, scale=0.0, zero=0):
        """A constant with the stored values of a numpy array."""
        return self.constant(type, array.shape or (1,), array.astype(OPERAND_DTYPES[type]).tobytes(), scale, zero)

    def omitted(self, type=F32):
        return self.add(type, [0], "NO_VALUE", **({"scale": 1.0} if "QUANT" in type else {}))

    def _scalar(self, value):
        """A constant operand: a scalar, or a tensor of integers."""
        if isinstance(value, bool):
            return self.flag(value)
        if isinstance(value, int):
            return self.int(value)
        if isinstance(value, float):
            return self.float(value)
        return self.ints(value)

    def op(self, code, inputs, dims, like=None, type=None, scale=None, zero=None):
        """Adds an operation with one output and returns it.

        Inputs that are not Refs become constants: scalars, or tensors of integers for sequences. The output has the
        type of `like`, by default the first input, except for what is given.
        """
        return self.ops(code, inputs, [dims], like, type, scale, zero)[0]

    def ops(self, code, inputs, outputs, like=None, type=None, scale=None, zero=None):
        """Like op(), with an output for each of the dimensions in `outputs`."""
        like = like or next(ref for ref in inputs if isinstance(ref, Ref))
        inputs = [ref if isinstance(ref, Ref) else self._scalar(ref) for ref in inputs]
        kind = type or like.type
        keeps = kind == like.type and kind in BYTES
        made = [self.add(kind, dims, scale=scale if scale is not None else like.scale if keeps else 0.0,
                         zero=zero if zero is not None else like.zero if keeps else 0) for dims in outputs]
        self.operation(code, inputs, made)
        return made

    def operation(self, code, inputs, outputs):
        if len(self.operations) >= MOST_OPERATIONS:
            raise Unsupported(f"the model needs more than {MOST_OPERATIONS} NNAPI operations")
        inputs = [ref if isinstance(ref, Ref) else self._scalar(ref) for ref in inputs]
        self.operations.append({"op": code, "in": [ref.id for ref in inputs], "out": [ref.id for ref in outputs]})

    # --- tensors of the file

    def type_of(self, index):
        """Operand type, scale and zero point of a tensor of the file, which must have one scale at most."""
        tensor = self.tensors[index]
        if tensor.type not in TYPES:
            self.refuse_type(index)
        if tensor.type in ("UINT8", "INT8"):
            if len(tensor.scales) > 1:
                raise Unsupported(f"{self.label(index)} has {len(tensor.scales)} scales, but is not a constant weight")
            return TYPES[tensor.type], *((tensor.scales[0], tensor.zeros[0]) if tensor.scales else (1.0, 0))
        if tensor.type == "INT16":
            if len(tensor.scales) != 1 or tensor.zeros[0] or not tensor.scales[0]:
                self.refuse_type(index)
            return TYPES[tensor.type], tensor.scales[0], 0
        return TYPES[tensor.type], 0.0, 0

    def refuse_type(self, index):
        type = self.tensors[index].type
        closest = f"; the closest type supported is {CLOSEST[type]}" if type in CLOSEST else ""
        raise Unsupported(f"{self.label(index)} has type {type}, for which NNAPI has no equivalent{closest}")

    def label(self, index):
        tensor = self.tensors[index]
        return f"tensor {index} ({tensor.name[:80]})" if tensor.name else f"tensor {index}"

    def shape(self, index):
        """The shape of a tensor as TensorFlow Lite has it when it runs."""
        return self.shapes.get(index, self.tensors[index].shape)

    def quantised(self, index):
        return self.tensors[index].quantised

    def is_int(self, index):
        return self.tensors[index].type in ("INT32", "INT64")

    def known(self, index):
        """The values of a tensor as a numpy array, or None where they depend on the model's inputs."""
        if index not in self.arrays:
            tensor = self.tensors[index]
            if index in self.refs and not self.refs[index].data or tensor.data is None and tensor.count:
                return None
            if tensor.data is None and (index in self.graph.inputs or index in self.producer):
                return None
            if tensor.type not in DTYPES:
                return None
            import numpy
            self.arrays[index] = (densified(self, tensor) if tensor.sparsity else
                                  numpy.frombuffer(tensor.data or b"", DTYPES[tensor.type])).reshape(tensor.shape)
        return self.arrays[index]

    def numbers(self, index, what="an axis or size"):
        """The values of an integer tensor that must be known, as a list."""
        if index < 0:
            raise SpecError(f"{what} is omitted")
        if not self.is_int(index):
            raise SpecError(f"{what}, {self.label(index)}, has type {self.tensors[index].type}: must be INT32 or INT64")
        array = self.known(index)
        if array is None:
            raise Unsupported(f"{what}, {self.label(index)}, depends on the model's inputs: must be constant")
        if array.size > 4096:
            raise SpecError(f"{what}, {self.label(index)}, has {array.size} elements")
        return [int(value) for value in array.reshape(-1)]

    def number(self, index, what="an axis or size"):
        values = self.numbers(index, what)
        if len(values) != 1:
            raise SpecError(f"{what}, {self.label(index)}, has {len(values)} elements: must be 1")
        return values[0]

    def tensor(self, index):
        """The operand of a tensor of the file."""
        if index < 0:
            raise SpecError("a required input is omitted")
        if index not in self.refs:
            self.refs[index] = self._constant(index)
        return self.refs[index]

    def _input(self, index):
        type, scale, zero = self.type_of(index)
        self.require_elements(index, self.shape(index))
        return self.add(type, physical(self.shape(index)), "SUBGRAPH_INPUT", scale, zero, name=self.tensors[index].name)

    def require_elements(self, index, shape):
        if 0 in shape:
            raise Unsupported(f"{self.label(index)} has no elements (shape {list(shape)}), which NNAPI cannot express")

    def _constant(self, index):
        tensor = self.tensors[index]
        if index not in self.arrays and tensor.data is None:
            if tensor.type not in TYPES:
                self.refuse_type(index)
            state = "a variable that no supported operator updates" if tensor.variable else "read before it is computed"
            raise Unsupported(f"{self.label(index)} is {state}")
        shape = self.shape(index)
        self.require_elements(index, shape)
        fields = {}
        if len(tensor.scales) > 1 and tensor.type == "INT8":
            if any(tensor.zeros):
                raise Unsupported(f"{self.label(index)} has per-channel zero points, which NNAPI cannot express")
            kind = "TENSOR_QUANT8_SYMM_PER_CHANNEL"
            fields["channel"] = {"dim": tensor.axis, "scales": list(tensor.scales)}
        else:
            kind, fields["scale"], fields["zero"] = self.type_of(index)
        data = self.stored(index)
        return self.constant(kind, physical(shape), data, name=tensor.name, **fields)

    def stored(self, index):
        """The bytes of a constant tensor; 64-bit integers as 32-bit ones."""
        tensor = self.tensors[index]
        if index not in self.arrays and tensor.type not in ("INT64", "BOOL") and tensor.sparsity is None:
            return tensor.data
        array = self.known(index)
        if array.dtype == "<i8":
            if array.size and not (array.min() >= -2**31 and array.max() < 2**31):
                raise Unsupported(f"{self.label(index)} has 64-bit values that do not fit 32 bits, NNAPI's widest type")
            return array.astype("<i4").tobytes()
        if array.dtype == bool:
            return (array.view("u1") != 0).tobytes()
        return array.tobytes()

    def set_known(self, index, array):
        """Makes a tensor that an operator computes a constant."""
        self.arrays[index] = array
        self.shapes[index] = tuple(array.shape)
        self.refs.pop(index, None)

    def bind(self, index, ref, shape=None):
        """Makes `ref`, converted if necessary, the operand of a tensor that an operator computes."""
        tensor, shape = self.tensors[index], tuple(ref.dims if shape is None else shape)
        if index in self.refs and index not in self.arrays:
            raise SpecError(f"{self.label(index)} is computed twice, or is an input")
        self.require_elements(index, shape)
        want, scale, zero = self.type_of(index)
        ref = self.view(ref, physical(shape))
        if ref.type != want or want in BYTES and (ref.scale, ref.zero) != (scale, zero):
            ref = self.converted(ref, want, scale, zero, index)
        if tensor.name and "name" not in self.operands[ref.id]:
            self.operands[ref.id]["name"] = tensor.name
        self.refs[index], self.shapes[index] = ref, shape

    def like(self, index):
        """Arguments of op() for an output with the type of a tensor of the file."""
        return dict(zip(("type", "scale", "zero"), self.type_of(index)))

    def like_output(self, ref, index):
        """Arguments of op() for an output with the scale of a tensor of the file, where `ref` is the main input."""
        if ref.type not in BYTES:
            return {"type": ref.type}
        if self.type_of(index)[0] != ref.type:
            raise Unsupported(f"{self.label(index)} has type {self.tensors[index].type}, which is not that of the input: "
                              "QUANTIZE and DEQUANTIZE convert")
        return self.like(index)

    # --- conversions

    def converted(self, ref, type, scale=0.0, zero=0, index=None):
        """The same real values in another type, or with another scale."""
        if ref.type == type and (type not in BYTES or (ref.scale, ref.zero) == (scale, zero)):
            return ref
        if ref.type in BYTES and type in BYTES:
            ref = self.op("DEQUANTIZE", [ref], ref.dims, type=F32)
        if ref.type in BYTES and type in FLOATS:
            return self.op("DEQUANTIZE", [ref], ref.dims, type=type)
        if ref.type in FLOATS and type in BYTES:
            return self.op("QUANTIZE", [ref], ref.dims, type=type, scale=scale, zero=zero)
        if ref.type in FLOATS and type in FLOATS:
            return self.op("CAST", [ref], ref.dims, type=type)
        what = self.label(index) if index is not None else "an operand"
        raise SpecError(f"{what} has type {type}, but the operator computes {ref.type}")

    def real(self, index):
        """A tensor of the file as a float operand."""
        ref = self.tensor(index)
        if ref.type in FLOATS:
            return ref
        if ref.type not in BYTES and ref.type != "TENSOR_QUANT8_SYMM_PER_CHANNEL":
            raise SpecError(f"{self.label(index)} has type {self.tensors[index].type}: must be a float or quantised")
        key = ("real", index)
        if key not in self.derived:
            self.derived[key] = self.op("DEQUANTIZE", [ref], ref.dims, type=F32)
        return self.derived[key]

    def reinterpreted(self, ref, scale, zero):
        """The same bytes with another scale and zero point."""
        if ref.type not in BYTES or (ref.scale, ref.zero) == (scale, zero):
            return ref
        if ref.data is not None:
            return self.constant(ref.type, ref.dims, ref.data, scale, zero)
        return self.op("CAST", [ref], ref.dims, scale=scale, zero=zero)

    def raw(self, index, output):
        """A tensor for an operator that moves bytes: with the scale of its output."""
        ref = self.tensor(index)
        type, scale, zero = self.type_of(output)
        if ref.type != type:
            raise SpecError(f"{self.label(index)} has type {self.tensors[index].type}, the output "
                            f"{self.tensors[output].type}")
        return self.reinterpreted(ref, scale, zero)

    def real_weights(self, index):
        """A weight tensor as a float operand, dequantised in the model where the file has 8-bit values."""
        if index < 0:
            return self.omitted()
        tensor = self.tensors[index]
        if tensor.data is None or tensor.type not in ("INT8", "UINT8"):
            return self.real(index)
        key = ("weights", index)
        if key not in self.derived:
            ref = self.refs.get(index)
            if ref is None and tensor.type == "INT8" and len(tensor.scales) == 1 and not tensor.zeros[0]:
                ref = self.symmetric(index)
            ref = ref or self.tensor(index)
            self.derived[key] = self.op("DEQUANTIZE", [ref], ref.dims, type=F32)
        return self.derived[key]

    def symmetric(self, index):
        """A tensor of 8-bit weights without zero point as TENSOR_QUANT8_SYMM, or an omitted one."""
        if index < 0:
            return self.omitted("TENSOR_QUANT8_SYMM")
        tensor = self.tensors[index]
        if tensor.type != "INT8" or tensor.data is None or len(tensor.scales) != 1 or tensor.zeros[0]:
            raise Unsupported(f"{self.label(index)} is not a constant INT8 with one scale and without zero point")
        key = ("symmetric", index)
        if key not in self.derived:
            self.derived[key] = self.constant("TENSOR_QUANT8_SYMM", tensor.shape, self.stored(index), tensor.scales[0],
                                              name=tensor.name)
        return self.derived[key]

    # --- shapes

    def view(self, ref, dims):
        """The elements of `ref` with other dimensions, of rank 1 to 4."""
        dims = tuple(dims)
        if ref.dims == dims:
            return ref
        if math.prod(dims) != ref.count:
            raise SpecError(f"{ref.count} elements do not have the shape {list(dims)}")
        if ref.data is not None and ref.channel is None:
            return self.constant(ref.type, dims, ref.data, ref.scale, ref.zero)
        return self.carried([ref], REAL_INT, lambda refs: self.op("RESHAPE", [refs[0], dims], dims))

    def carried(self, refs, native, move):
        """The result of move(refs) that moves elements of the types in `native`.

        Integers are moved as floats, in halves of 16 bits, and booleans as bytes; both are exact.
        """
        type = refs[0].type
        if type in native:
            return move(refs)
        if type == BOOL:
            return self.each(self.nonzero, move([self.as_bytes(ref) for ref in refs]))
        if type != I32:
            raise Unsupported(f"elements of type {type}")
        high = [self.op("DIV", [ref, self.ints([65536]), 0], ref.dims) for ref in refs]
        low = [self.op("SUB", [ref, self.op("MUL", [part, self.ints([65536]), 0], ref.dims), 0], ref.dims)
               for ref, part in zip(refs, high)]
        high, low = (move([self.op("CAST", [part], part.dims, type=F32) for part in parts]) for parts in (high, low))
        join = lambda a, b: self.op("ADD", [self.op("MUL", [self.op("CAST", [a], a.dims, type=I32), self.ints([65536]), 0],
                                                    a.dims), self.op("CAST", [b], b.dims, type=I32), 0], a.dims)
        return list(map(join, high, low)) if isinstance(high, list) else join(high, low)

    @staticmethod
    def each(function, refs):
        return list(map(function, refs)) if isinstance(refs, list) else function(refs)

    def as_bytes(self, ref):
        """Booleans as 0 and 1."""
        return self.chosen(ref, self.filled(U8, ref.dims, 1, 1.0), self.filled(U8, ref.dims, 0, 1.0))

    def as_floats(self, ref):
        return self.chosen(ref, self.filled(F32, ref.dims, 1), self.filled(F32, ref.dims, 0))

    def chosen(self, condition, a, b):
        """a where the condition is true, else b; all have the same shape."""
        if a.type == BOOL:
            inverse = self.op("LOGICAL_NOT", [condition], a.dims)
            parts = [self.op("LOGICAL_AND", pair, a.dims) for pair in ([condition, a], [inverse, b])]
            return self.op("LOGICAL_OR", parts, a.dims)
        return self.op("SELECT", [condition, a, b], a.dims, like=a)

    def nonzero(self, ref):
        zero = self.filled(ref.type, [1], ref.zero, ref.scale, ref.zero)
        return self.op("NOT_EQUAL", [ref, zero], ref.dims, type=BOOL)

    def filled(self, type, dims, value, scale=0.0, zero=0):
        """A constant of equal elements; the value of a quantised one is the stored one."""
        import numpy
        self.limit(dims)
        return self.of_array(numpy.full(dims, value, OPERAND_DTYPES[type]), type, scale, zero)

    @staticmethod
    def limit(dims):
        if math.prod(dims) > MOST_ELEMENTS:
            raise Unsupported(f"needs a constant of shape {list(dims)}: at most {MOST_ELEMENTS} elements")

    def copy(self, ref):
        if ref.type == BOOL:
            return self.op("LOGICAL_AND", [ref, ref], ref.dims)
        if ref.type == I32:
            return self.op("SLICE", [ref, [0] * len(ref.dims), list(ref.dims)], ref.dims)
        return self.op("RESHAPE", [ref, list(ref.dims)], ref.dims)

    # --- states

    def state(self, index):
        """The operand from which a state is read; added to the model's inputs."""
        if index < 0:
            raise SpecError("a state input is omitted")
        if index not in self.refs:
            self.refs[index] = self._input(index)
            self.inputs.append(self.refs[index].id)
        return self.refs[index]

    def next_state(self, index):
        """A new operand to which a state is written; added to the model's outputs."""
        name = self.tensors[index].name
        type, scale, zero = self.type_of(index)
        made = self.add(type, physical(self.shape(index)), "SUBGRAPH_OUTPUT", scale, zero,
                        name=f"{name}_out" if name else None)
        self.state_outputs.append(made.id)
        return made

    def outputs_of_variables(self):
        """Makes the values that were assigned to variables outputs."""
        for ref in self.assigned.values():
            ref = ref if self.operands[ref.id]["life"] == "TEMPORARY_VARIABLE" else self.copy(ref)
            self.operands[ref.id]["life"] = "SUBGRAPH_OUTPUT"
            self.state_outputs.append(ref.id)

    def finish(self):
        """Turns the operands of the graph's outputs into outputs of the model."""
        for index in self.graph.outputs:
            ref = self.tensor(index)
            if self.operands[ref.id]["life"] != "TEMPORARY_VARIABLE":
                ref = self.copy(ref)
            self.operands[ref.id]["life"] = "SUBGRAPH_OUTPUT"
            self.outputs.append(ref.id)
        return {"operands": self.operands, "operations": self.operations, "inputs": self.inputs,
                "outputs": self.outputs + self.state_outputs}


def densified(b, tensor):
    """The stored values of a sparse constant as a dense, flat array."""
    import numpy

    sparsity, rank = tensor.sparsity, len(tensor.shape)
    order, blocks = list(sparsity.traversal_order), list(sparsity.block_map)
    count = rank + len(blocks)
    if sorted(order) != list(range(count)) or len(sparsity.dim_metadata) != count or \
            any(not 0 <= dim < rank for dim in blocks) or tensor.count > MOST_ELEMENTS:
        raise SpecError(f"{b.label(tensor.index)}: its sparsity does not fit its shape {list(tensor.shape)}")
    values = numpy.frombuffer(tensor.data, DTYPES[tensor.type])
    # The position of each stored value in the dimensions traversed so far, one column per dimension.
    positions = numpy.zeros((1, 0), numpy.int64)
    for level in sparsity.dim_metadata:
        if level.format == 0:
            if not 0 <= level.dense_size or len(positions) * level.dense_size > max(values.size, 1) * 64:
                raise SpecError(f"{b.label(tensor.index)}: a dense dimension of {level.dense_size}")
            step = numpy.tile(numpy.arange(level.dense_size), len(positions))
            positions = numpy.repeat(positions, level.dense_size, axis=0)
        else:
            segments, step = (numpy.array(part.values if part else (), numpy.int64)
                              for part in (level.array_segments, level.array_indices))
            lengths = numpy.diff(segments)
            if len(segments) != len(positions) + 1 or segments[0] != 0 or segments[-1] != len(step) or \
                    (lengths < 0).any():
                raise SpecError(f"{b.label(tensor.index)}: the segments of a sparse dimension do not fit its indexes")
            positions = numpy.repeat(positions, lengths, axis=0)
        positions = numpy.concatenate([positions, step.reshape(-1, 1)], axis=1)
    if len(positions) != values.size:
        raise SpecError(f"{b.label(tensor.index)}: {values.size} values for {len(positions)} positions")
    sizes = {dim: level.dense_size for dim, level in zip(order, sparsity.dim_metadata)}
    at = {dim: positions[:, column] for column, dim in enumerate(order)}
    coordinates = [at[dim] for dim in range(rank)]
    for block, dim in enumerate(blocks, rank):
        coordinates[dim] = coordinates[dim] * sizes[block] + at[block]
    if any(((column < 0) | (column >= size)).any() for column, size in zip(coordinates, tensor.shape)):
        raise SpecError(f"{b.label(tensor.index)}: an index of a sparse dimension is outside of its shape")
    dense = numpy.zeros(tensor.shape, values.dtype)
    dense[tuple(coordinates)] = values
    return dense.reshape(-1)
