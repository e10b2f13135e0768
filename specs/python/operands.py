"""Operands of a specification: types, names, and the constructors that specifications call.

An operand is identified by its name, which is unique within a file: equality and hash use it, so that copies of
an operand find its values in a feed.
"""

import math
import operator
import re
import struct
from typing import NamedTuple, Optional

SCALARS = ("FLOAT32", "FLOAT16", "INT32", "UINT32", "BOOL", "SUBGRAPH")
TENSORS = tuple("TENSOR_" + suffix for suffix in (
    "FLOAT32", "FLOAT16", "INT32", "BOOL8", "QUANT8_ASYMM", "QUANT8_ASYMM_SIGNED", "QUANT8_SYMM",
    "QUANT8_SYMM_PER_CHANNEL", "QUANT16_ASYMM", "QUANT16_SYMM", "OEM_BYTE"))
CODES = frozenset(SCALARS + TENSORS)
FLOATS = frozenset(("FLOAT32", "FLOAT16", "TENSOR_FLOAT32", "TENSOR_FLOAT16"))
BOOLS = frozenset(("BOOL", "TENSOR_BOOL8"))

# An extension, a dot, and one of its types.
EXTENSION_CODE = re.compile(r"[a-z0-9_]*(?:\.[a-z0-9_]*)+\.[A-Z]\w*", re.ASCII)

SHAPE = re.compile(r"\{([^{}]*)\}(?:,([^,]+))?(?:,([^,]+))?")


class SpecError(Exception):
    """An error in the specification. `line` is set for errors found only after the file has run."""

    def __init__(self, message, line=None):
        super().__init__(message)
        self.line = line


class Unsupported(SpecError):
    """Legal, but not representable in NNAPI, or not by this loader."""

    kind = "unsupported"


class Names:
    """The names in use; `outer` holds the file's while variations change a copy of a model."""

    def __init__(self, outer=None):
        self.taken = set()
        self.outer = outer

    def has(self, name):
        return name in self.taken or (self.outer is not None and self.outer.has(name))

    def take(self, name, separator=""):
        """Reserves and returns `name`, or if it is in use, `name` with the first free number appended."""
        unique, number = name, 0
        while self.has(unique):
            number += 1
            unique = f"{name}{separator}{number}"
        self.taken.add(unique)
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


class SymmPerChannelQuantParams:
    """Scales along one dimension. Hidden ones are used in conversions but are not part of the model."""

    def __init__(self, channelDim, scales, hide=False):
        self.dim = operator.index(channelDim)
        self.scales = [float(scale) for scale in scales]
        self.hide = bool(hide)


class Extension:
    """A vendor extension: its attributes are the names of its types and operations."""

    def __init__(self, name):
        self._name = str(name)

    def __getattr__(self, name):
        return f"{self._name}.{name}"


class ExtensionData:
    """Extension data of an operand: bytes, or values in a format of module struct, little-endian."""

    def __init__(self, data, *values):
        self.data = struct.pack("<" + data, *values) if isinstance(data, str) else bytes(data)


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


def make_type(code, dims, scale=0.0, zero=0, channel=None, extension=None):
    if code not in CODES and not EXTENSION_CODE.fullmatch(code):
        raise SpecError(f"unknown operand type {code!r}")
    if not isinstance(dims, (list, tuple)):
        raise SpecError(f"the dimensions of {code} are {dims!r}: must be a list or a tuple")
    dims = tuple(operator.index(dim) for dim in dims)
    if any(dim < 0 for dim in dims):
        raise SpecError(f"{code} has a negative dimension: {list(dims)}")
    if isinstance(channel, ExtensionData):
        extension, channel = channel.data, None
    made = Type(code, dims, float(scale), operator.index(zero), channel, extension)
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
        raise SpecError(f"{text!r} is not a shape: {{dimensions}}, or {{dimensions}}, scale, zero point")
    dims, scale, zero = match.groups()
    try:
        dims = tuple(int(dim) for dim in dims.split(","))
        if zero is None:
            return dims, float(scale or 0), 0
        return dims, float(scale.replace("f", "")), int(zero)
    except ValueError as error:
        raise SpecError(f"{text!r} is not a shape: {error}") from None


def split_type(arguments, channel):
    """Removes the type, in either of its two forms, from the front of a constructor's arguments."""
    if not arguments:
        raise SpecError("an operand needs a type")
    first, rest = arguments[0], list(arguments[1:])
    if isinstance(first, str):
        if not rest or not isinstance(rest[0], str):
            raise SpecError(f"{first} must be followed by a shape string such as \"{{2, 3}}\"")
        dims, scale, zero = parse_shape(rest.pop(0))
        return make_type(first, dims, scale, zero, channel), rest, True
    if not isinstance(first, (list, tuple)) or not 2 <= len(first) <= 6:
        raise SpecError(f"{first!r} is not a type: must be (code, dimensions[, scale[, zero point]])")
    fields = list(first)
    if channel is not None:
        fields = (fields + [0.0, 0])[:4] + [channel]
    return make_type(*fields), rest, False


def as_values(value):
    """The values of an operand as a flat sequence, or None where it has no value. Numpy arrays are flattened."""
    if value is None or isinstance(value, (list, tuple)):
        return value
    return list(getattr(value, "flat", [value]))


class Operand:
    """An operand of a model. Specifications use the subclasses, which differ only in construction and `kind`."""

    kind = "internal"
    lifetime = "TEMPORARY_VARIABLE"
    ignored = False
    never_internal = False

    def __init__(self, name, *arguments, extraParams=None):
        type, rest, _ = split_type(arguments, extraParams)
        if len(rest) > 1:
            raise SpecError(f"operand {name!r}: {len(rest) - 1} arguments too many")
        self._set(name, type, rest[0] if rest else None)

    def _set(self, name, type, value):
        if not isinstance(name, str):
            raise SpecError(f"the name of an operand is {name!r}: must be a string")
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
        for field in ("name", "type", "value", "kind", "lifetime", "ignored", "never_internal"):
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

    def __init__(self, name, *arguments, value=None, extraParams=None):
        type, rest, legacy = split_type(arguments, extraParams)
        if len(rest) > 1:
            raise SpecError(f"parameter {name!r}: {len(rest) - 1} arguments too many")
        self._set(name, type, rest[0] if rest else value)
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


class Int32Scalar(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "INT32", (), int(value))


class Float32Scalar(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "FLOAT32", (), float(value))


class Float16Scalar(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "FLOAT16", (), float(value))


class BoolScalar(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "BOOL", (), bool(value))


class Int32Vector(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "TENSOR_INT32", (len(value),), [int(element) for element in value])


class Float32Vector(Constant):
    def __init__(self, name, value):
        self._set_constant(name, "TENSOR_FLOAT32", (len(value),), [float(element) for element in value])
