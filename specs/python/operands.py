"""Operands of a specification: types, names, and the constructors that specifications call.

An operand is identified by its name, which is unique within a file: equality and hash use it, so that copies of
an operand find its values in a feed.
"""

import math
import re
import struct
from typing import NamedTuple, Optional

from halcyon import dialects
from halcyon.errors import (Checked, SpecError, Unsupported, checked, integer, number, show,  # noqa: F401
                            suggestion)

SCALARS = ("FLOAT32", "FLOAT16", "INT32", "UINT32", "BOOL", "SUBGRAPH")
TENSORS = tuple("TENSOR_" + suffix for suffix in (
    "FLOAT32", "FLOAT16", "INT32", "BOOL8", "QUANT8_ASYMM", "QUANT8_ASYMM_SIGNED", "QUANT8_SYMM",
    "QUANT8_SYMM_PER_CHANNEL", "QUANT16_ASYMM", "QUANT16_SYMM", "OEM_BYTE"))
CODES = frozenset(SCALARS + TENSORS)
FLOATS = frozenset(("FLOAT32", "FLOAT16", "TENSOR_FLOAT32", "TENSOR_FLOAT16"))
BOOLS = frozenset(("BOOL", "TENSOR_BOOL8"))

# An extension, a dot, and one of its types.
EXTENSION_CODE = re.compile(r"[a-z0-9_]*(?:\.[a-z0-9_]*)+\.[A-Z]\w*", re.ASCII)

# The zero points that a quantised type may have.
ZERO_POINTS = {
    "TENSOR_QUANT8_ASYMM": (0, 255), "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127), "TENSOR_QUANT16_ASYMM": (0, 65535),
    "TENSOR_QUANT8_SYMM": (0, 0), "TENSOR_QUANT8_SYMM_PER_CHANNEL": (0, 0), "TENSOR_QUANT16_SYMM": (0, 0),
}

# A range of real values (8.1) or nothing, dimensions, scale, zero point; without spaces.
SHAPE = re.compile(r"(?:([^,{}]+),([^,{}]+),)?\{([^{}]*)\}(?:,([^,]+))?(?:,([^,]+))?")
SHAPE_FORM = "must be \"{dimensions}\" or \"{dimensions}, scale, zero point\", such as \"{2, 3}, 0.5f, 128\""


class Names:
    """The names in use, in order; `outer` holds the file's while variations change a copy of a model."""

    def __init__(self, outer=None):
        self.taken = {}
        self.numbers = {}  # the last number appended to each name: all below it are in use
        self.outer = outer

    def has(self, name):
        return name in self.taken or (self.outer is not None and self.outer.has(name))

    def take(self, name, separator=""):
        """Reserves and returns `name`, or if it is in use, `name` with the first free number appended."""
        number = self.numbers.get((name, separator), 0)
        unique = f"{name}{separator}{number}" if number else name
        while self.has(unique):
            number += 1
            unique = f"{name}{separator}{number}"
        self.numbers[name, separator] = number
        self.taken[unique] = None
        return unique


class Configuration:
    """Settings of a specification that apply to the operands after them."""

    use_shm_for_weights = False


class File:
    """State of the file being loaded."""

    def __init__(self, spec="", version="UNKNOWN"):
        self.spec = spec
        self.version = version
        self.names = Names()
        self.types = set()
        self.latest_model = None
        self.examples = []
        self.versions = {}


class Loading:
    """The file being loaded; a global, because the language's constructors do not receive it."""

    file = File()

    @classmethod
    def begin(cls, spec, version):
        cls.file = File(spec, version)
        Configuration.use_shm_for_weights = False


@checked
class SymmPerChannelQuantParams:
    """Scales along one dimension. Hidden ones are used in conversions but are not part of the model."""

    def __init__(self, channelDim, scales, hide=False):
        self.dim = integer(channelDim, "channelDim")
        self.scales = [number(scale, "a scale of a channel") for scale in scales]
        self.hide = bool(hide)


class Extension:
    """A vendor extension: its attributes are the names of its types and operations."""

    def __init__(self, name):
        self._name = str(name)

    def __getattr__(self, name):
        return f"{self._name}.{name}"


@checked
class ExtensionData:
    """Extension data of an operand: bytes, or values in a format of module struct, little-endian."""

    def __init__(self, data, *values):
        try:
            self.data = struct.pack("<" + data, *values) if isinstance(data, str) else bytes(data)
        except (struct.error, TypeError, ValueError):
            raise SpecError(f"extension data {show(values or data)} does not fit: must be bytes, or a format of "
                            f"Python's module struct and its values") from None


class Type(NamedTuple):
    code: str
    dims: tuple
    scale: float = 0.0
    zero: int = 0
    channel: Optional[SymmPerChannelQuantParams] = None
    extension: Optional[bytes] = None

    @property
    def is_scalar(self):
        return not self.code.rpartition(".")[2].startswith("TENSOR_")

    @property
    def is_vendors(self):
        return "." in self.code

    @property
    def is_float(self):
        return self.code in FLOATS

    @property
    def count(self):
        return math.prod(self.dims)


def checked_dims(code, dims):
    if isinstance(dims, str):
        dims = parse_shape(dims)[0]
    if not isinstance(dims, (list, tuple)):
        raise SpecError(f"the dimensions of {code} are {show(dims)}: must be a list or a tuple")
    dims = tuple(integer(dim, f"a dimension of {code}") for dim in dims)
    if any(dim < 0 for dim in dims):
        raise SpecError(f"{code} has a negative dimension: {list(dims)}")
    return dims


def check_code(code):
    if not isinstance(code, str):
        raise SpecError(f"an operand type is {show(code)}: must be a string such as \"TENSOR_FLOAT32\"")
    if code not in CODES and not EXTENSION_CODE.fullmatch(code):
        raise SpecError(f"unknown operand type {show(code)}{suggestion(code.upper(), CODES)}")


def checked_quantisation(code, scale=0.0, zero=0, channel=None):
    """Scale and zero point; all fields of a type but its dimensions are checked."""
    check_code(code)
    if channel is not None and not isinstance(channel, SymmPerChannelQuantParams):
        raise SpecError(f"the extra parameters of {code} are {show(channel)}: must be SymmPerChannelQuantParams(...)")
    scale, zero = number(scale, f"the scale of {code}"), integer(zero, f"the zero point of {code}")
    if scale < 0:
        raise SpecError(f"the scale of {code} is {scale:g}: must not be negative")
    low, high = ZERO_POINTS.get(code, (-1 << 31, (1 << 31) - 1))
    if not low <= zero <= high:
        raise SpecError(f"the zero point of {code} is {zero}: must be {low}" + (f" to {high}" if high > low else ""))
    return scale, zero


def make_type(code, dims, scale=0.0, zero=0, channel=None, extension=None):
    if isinstance(channel, ExtensionData):
        extension, channel = channel.data, None
    if extension is not None and not isinstance(extension, bytes):
        raise SpecError(f"the extension data of {code} is {show(extension)}: must be ExtensionData(...)")
    quantisation = checked_quantisation(code, scale, zero, channel)
    made = Type(code, checked_dims(code, dims), *quantisation, channel, extension)
    if made not in Loading.file.types:
        Loading.file.types.add(made)
        Loading.file.names.take(f"type{len(Loading.file.types) - 1}")
    return made


def parse_shape(text):
    """`{2, 3}, 0.5f, 128` as (dims, scale, zero)."""
    packed = "".join(text.split())
    if text == "" or text == "{}":
        return (), 0.0, 0
    match = SHAPE.fullmatch(packed)
    if match is None:
        raise SpecError(f"{show(text)} is not a shape: {SHAPE_FORM}")
    low, high, dims, scale, zero = match.groups()
    try:
        dims = tuple(int(dim) for dim in dims.split(","))
        if low is not None and scale is None:
            return dims, *dialects.quantisation_of_range(float(low.replace("f", "")), float(high.replace("f", "")))
        if zero is None:
            return dims, float(scale or 0), 0
        return dims, float(scale.replace("f", "")), int(zero)
    except ValueError:
        raise SpecError(f"{show(text)} is not a shape, a part is no number: {SHAPE_FORM}") from None


def split_type(name, type, rest, channel):
    """The type of an operand, in either of its two forms, the arguments after it, and whether it had a shape string."""
    if isinstance(type, str):
        check_code(type)
        if not rest or not isinstance(rest[0], str):
            raise SpecError(f"operand {show(name)}: {type} must be followed by a shape string such as \"{{2, 3}}\"")
        dims, scale, zero = parse_shape(rest[0])
        return make_type(type, dims, scale, zero, channel), rest[1:], True
    if not isinstance(type, (list, tuple)) or not 2 <= len(type) <= 6:
        raise SpecError(f"{show(type)} is not a type: must be (code, dimensions[, scale[, zero point]])")
    fields = list(type)
    if channel is not None:
        fields = (fields + [0.0, 0])[:4] + [channel]
    return make_type(*fields), rest, False


def at_most_one(name, values):
    if len(values) > 1:
        raise SpecError(f"operand {show(name)}: {len(values) - 1} arguments too many after its value")
    return values[0] if values else None


def as_values(value):
    """The values of an operand as a flat sequence, or None where it has no value. Numpy arrays are flattened."""
    if value is None or isinstance(value, (list, tuple)):
        return value
    return list(getattr(value, "flat", [value]))


class Operand(Checked):
    """An operand of a model. Specifications use the subclasses, which differ only in construction and `kind`."""

    kind = "internal"
    lifetime = "TEMPORARY_VARIABLE"
    ignored = False
    never_internal = False
    scale_omitted = False  # in a shape string: see dialects.complete_types()

    def __init__(self, name, type, *shape_and_value, extraParams=None):
        type, rest, legacy = split_type(name, type, shape_and_value, extraParams)
        self._set(name, type, at_most_one(name, rest))
        self.scale_omitted = legacy and type.scale == 0 and dialects.must_have_scale(type.code)

    def _set(self, name, type, value):
        if not isinstance(name, str):
            raise SpecError(f"the name of an operand is {show(name)}: must be a string")
        self.name = Loading.file.names.take(name)
        self.type = type
        self.value = as_values(value)

    def __eq__(self, other):
        return isinstance(other, Operand) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"

    def __deepcopy__(self, memo):
        return self

    def ShouldNeverBeInternal(self):
        self.never_internal = True
        return self

    def clone(self):
        """A shallow copy; code that changes it must replace attribute values, not modify them in place."""
        copy = Operand.__new__(Operand)
        for field in ("name", "type", "value", "kind", "lifetime", "ignored", "never_internal", "scale_omitted"):
            setattr(copy, field, getattr(self, field))
        return copy

    def become_input(self):
        self.kind = "input"
        self.lifetime = "SUBGRAPH_INPUT"

    def become_internal(self):
        self.kind = "internal"
        self.lifetime = "TEMPORARY_VARIABLE"
        self.value = None
        self.ignored = False


class Input(Operand):
    kind = "input"
    lifetime = "SUBGRAPH_INPUT"


class Output(Operand):
    kind = "output"
    lifetime = "SUBGRAPH_OUTPUT"


class IgnoredOutput(Output):
    ignored = True


class Internal(Operand):
    pass


def constant_lifetime():
    return "CONSTANT_REFERENCE" if Configuration.use_shm_for_weights else "CONSTANT_COPY"


class Parameter(Operand):
    kind = "parameter"

    def __init__(self, name, type, *shape_and_value, value=None, extraParams=None):
        type, rest, legacy = split_type(name, type, shape_and_value, extraParams)
        given = at_most_one(name, rest)
        self._set(name, type, value if given is None else given)
        self.scale_omitted = legacy and type.scale == 0 and dialects.must_have_scale(type.code)
        self.lifetime = constant_lifetime()
        if self.value is None and not legacy:
            self.lifetime = "NO_VALUE"
        Loading.file.names.take(self.name + "_init", "_")


class Constant(Operand):
    """Base of the shorthands for constants, which variations, unlike a Parameter, do not turn into inputs."""

    kind = "constant"

    def _set_constant(self, name, code, dims, value):
        self._set(name, make_type(code, dims), value)
        self.lifetime = constant_lifetime()
        Loading.file.names.take(self.name + "_init", "_")


    def _set_scalar(self, name, code, value, convert):
        try:
            value = convert(value)
        except (TypeError, ValueError, OverflowError):
            raise SpecError(f"the value of {show(name)} is {show(value)}: must be a number") from None
        self._set_constant(name, code, (), value)

    def _set_vector(self, name, code, value, convert):
        try:
            value = [convert(element) for element in value]
        except (TypeError, ValueError, OverflowError):
            raise SpecError(f"the value of {show(name)} is {show(value)}: must be a list of numbers") from None
        self._set_constant(name, code, (len(value),), value)


class Int32Scalar(Constant):
    def __init__(self, name, value):
        self._set_scalar(name, "INT32", value, int)


class Float32Scalar(Constant):
    def __init__(self, name, value):
        self._set_scalar(name, "FLOAT32", value, float)


class Float16Scalar(Constant):
    def __init__(self, name, value):
        self._set_scalar(name, "FLOAT16", value, float)


class BoolScalar(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "BOOL", (), bool(value))


class Int32Vector(Constant):
    def __init__(self, name, value):
        self._set_vector(name, "TENSOR_INT32", value, int)


class Float32Vector(Constant):
    def __init__(self, name, value):
        self._set_vector(name, "TENSOR_FLOAT32", value, float)
