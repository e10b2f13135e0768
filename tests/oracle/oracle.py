"""Functions that the oracles share: tensors with their real values, random tensors, rounding of results, examples.

A Tensor has a type, its stored numbers (`.stored`) and the real values that they represent, in double (`.real`). An
oracle draws Tensors, computes the result's real values from `.real` by a plain numpy definition, and passes both to
check(); refuse() makes an example that must not execute. result() rounds real values to a type: half away from zero and
saturated; floats to nearest even. A file of oracles begins with

    import os
    import sys

    sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
    from oracle import *

and then, for each operation, for each type and form:

    seed("ADD")                                   # its random numbers do not depend on earlier ones in the file
    x, y = draw(F32, (2, 3)), draw(F32, (3,))
    check("ADD", [x, y, 0], [result(F32, x.real + y.real)])

An operand is a Tensor (an input), `Const(tensor)`, `Unknown(tensor, (0, 3))` (declared with an unknown dimension),
`Omitted(type)` (an optional one in the middle; at the end of the list it is not written), a Python int, float or bool,
or `Scalar("FLOAT16", 0.5)`. `tensor.nchw()` changes the layout of an image. `draw(F32, (0, 3))` has no elements.
Types: `F32 F16 I32 B8 U8(scale, zero) S8(scale, zero) Q8S(scale) Q16S(scale) Q16A(scale, zero) PC8(scales, dim)`,
`bias_of(x, w)`.

Cover every typing row, form, layout and optional operand (given and omitted), sizes of one and zero, scales far apart,
saturation, ties. Random indexes are judged by their frequencies: the expected output has each index as often as it
should be drawn, and the largest difference of a frequency in a row is set with
`check(...).WithMultinomialDistributionTolerance(0.05)`.

Every example is run three times: as written, with unknown dimensions and with unknown ranks of inputs and results.
A value must equal the reference's, or be the other neighbour of a real result that is within 1e-6 steps of a tie.
No operation is named in this file.
"""

import itertools
import math
from typing import NamedTuple, Optional

import numpy as np

from halcyon.examples import Example
from halcyon.models import Model
from halcyon.operands import BoolScalar, Float16Scalar, Float32Scalar, Input, Int32Scalar, Internal, Output, Parameter
from halcyon.operands import SymmPerChannelQuantParams


class Type(NamedTuple):
    """An element type with its quantisation; `scales` and `channel`: one scale per index of dimension `channel`."""

    code: str
    scale: float = 0.0
    zero: int = 0
    scales: Optional[tuple] = None
    channel: int = 0


F32 = Type("TENSOR_FLOAT32")
F16 = Type("TENSOR_FLOAT16")
I32 = Type("TENSOR_INT32")
B8 = Type("TENSOR_BOOL8")
FLOATS = (F32, F16)


def single(x):
    """A scale rounded to binary32, in which it is stored."""
    return float(np.float32(x))


def U8(scale=0.5, zero=128):
    return Type("TENSOR_QUANT8_ASYMM", single(scale), zero)


def S8(scale=0.5, zero=0):
    return Type("TENSOR_QUANT8_ASYMM_SIGNED", single(scale), zero)


def Q8S(scale=0.5):
    return Type("TENSOR_QUANT8_SYMM", single(scale))


def Q16S(scale=2.0**-8):
    return Type("TENSOR_QUANT16_SYMM", single(scale))


def Q16A(scale=2.0**-8, zero=32768):
    return Type("TENSOR_QUANT16_ASYMM", single(scale), zero)


def PC8(scales, channel=0):
    return Type("TENSOR_QUANT8_SYMM_PER_CHANNEL", 0.0, 0, tuple(single(s) for s in scales), channel)


def bias_of(x, w):
    """The type of the bias of a product of types x and w: a float type itself, else INT32 with the scales' product."""
    if x.code in ("TENSOR_FLOAT32", "TENSOR_FLOAT16"):
        return x
    if w.scales:
        return Type("TENSOR_INT32", 0.0, 0, tuple(single(x.scale) * s for s in w.scales))
    return Type("TENSOR_INT32", single(np.float32(x.scale) * np.float32(w.scale)))


RANGE = {
    "TENSOR_QUANT8_ASYMM": (0, 255), "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127), "TENSOR_QUANT8_SYMM": (-128, 127),
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": (-127, 127), "TENSOR_QUANT16_SYMM": (-32768, 32767),
    "TENSOR_QUANT16_ASYMM": (0, 65535), "TENSOR_INT32": (-2**31, 2**31 - 1), "TENSOR_BOOL8": (0, 1),
}


class Tensor:
    """Values of a type. stored: integers, or rounded floats; real: the values that they represent, in double."""

    def __init__(self, type, stored):
        self.type = type
        self.stored = np.asarray(stored)
        self.real = dequantise(type, self.stored)

    @property
    def shape(self):
        return self.stored.shape

    def nchw(self):
        """The same image with its channels before height and width."""
        return Tensor(self.type, self.stored.transpose(0, 3, 1, 2))


class Scalar(NamedTuple):
    """A scalar operand of a type that no Python number has: Scalar("FLOAT16", 0.5)."""

    code: str
    value: float


def along(values, axis, rank):
    """A vector as an array that broadcasts along one axis."""
    return np.asarray(values, float).reshape([-1 if i == axis else 1 for i in range(rank)])


def dequantise(type, stored):
    real = np.asarray(stored, float)
    if type.scales:
        return real * along(type.scales, type.channel, real.ndim)
    return (real - type.zero) * type.scale if type.scale else real


def half_away(x):
    """The nearest integers, ties away from zero."""
    x = np.asarray(x, float)
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0)


def result(type, real):
    """Real values rounded once to a type, as NNAPI defines it: floats to nearest even, integers half away from zero and
    saturated."""
    real = np.asarray(real, float)
    with np.errstate(all="ignore"):
        if type.code == "TENSOR_FLOAT32":
            return Tensor(type, real.astype(np.float32).astype(float))
        if type.code == "TENSOR_FLOAT16":
            return Tensor(type, real.astype(np.float16).astype(float))
    if type.scales:
        real = real / along(type.scales, type.channel, real.ndim)
    elif type.scale:
        real = real / type.scale
    low, high = RANGE[type.code]
    return Tensor(type, np.clip(half_away(real) + type.zero, low, high).astype(np.int64))


def stored(type, values, shape=None):
    """A tensor of these stored numbers."""
    values = np.array(values, float if type in FLOATS else np.int64)
    return Tensor(type, values if shape is None else values.reshape(shape))


def real(type, values, shape=None):
    """A tensor of these real values, rounded to the type."""
    values = np.array(values, float)
    return result(type, values if shape is None else values.reshape(shape))


def seed(text):
    """Restarts the random numbers, so that an addition to a file changes only the examples up to the next seed()."""
    global generator
    generator = np.random.Generator(np.random.PCG64(list(text.encode())))


seed("oracle")


def draw(type, shape, low=-4.0, high=4.0):
    """A random tensor: floats and integers in [low, high], quantised ones over the whole stored range."""
    if type.code == "TENSOR_BOOL8":
        return Tensor(type, generator.integers(0, 2, shape))
    if type in FLOATS:
        return result(type, generator.uniform(low, high, shape))
    if type.code == "TENSOR_INT32" and not type.scale and not type.scales:
        return Tensor(type, generator.integers(int(low), int(high) + 1, shape))
    if type.code == "TENSOR_INT32":
        return Tensor(type, generator.integers(-500, 501, shape))
    least, most = RANGE[type.code]
    return Tensor(type, generator.integers(least, most + 1, shape))


def integers(low, high, shape=None):
    """Random integers in [low, high]."""
    return generator.integers(low, high + 1, shape)


# --- examples

count = itertools.count()


def operand(kind, name, tensor, dims, *value):
    type = tensor.type
    extra = None
    if type.scales:
        # A bias of per-channel weights has scale 0: its scales follow from those of input and weights.
        hide = type.code == "TENSOR_INT32"
        extra = SymmPerChannelQuantParams(type.channel, type.scales, hide=hide)
    return kind(name, (type.code, list(dims), type.scale, type.zero), *value, extraParams=extra)


def scalar(name, value):
    if isinstance(value, Scalar):
        kinds = {"FLOAT16": Float16Scalar, "FLOAT32": Float32Scalar, "INT32": Int32Scalar, "BOOL": BoolScalar}
        return kinds[value.code](name, value.value)
    kinds = {bool: BoolScalar, int: Int32Scalar, float: Float32Scalar}
    return kinds[type(value)](name, value)


class Const(NamedTuple):
    """An operand that is a constant of the model: weights, axes, shapes."""

    tensor: Tensor


class Unknown(NamedTuple):
    """An operand declared with other dimensions: 0 is a dimension (at most one, unless there are no elements) that is
    known only at execution."""

    tensor: Tensor
    dims: tuple


class Omitted(NamedTuple):
    """An optional operand in the middle of the list that is omitted."""

    type: Type
    rank: int = 1


def make_input(name, value, feed):
    if isinstance(value, Const):
        tensor = value.tensor
        return operand(Parameter, name, tensor, tensor.shape, flat(tensor))
    if isinstance(value, Omitted):
        return Parameter(name, (value.type.code, [0] * value.rank, value.type.scale, value.type.zero), None)
    if not isinstance(value, (Tensor, Unknown)):
        return scalar(name, value)
    tensor, dims = (value.tensor, value.dims) if isinstance(value, Unknown) else (value, value.shape)
    made = operand(Input, name, tensor, dims)
    feed[made] = flat(tensor)
    return made


def make_output(name, value, feed):
    if isinstance(value, Scalar):
        made = Output(name, (value.code, []))
        feed[made] = [value.value]
        return made
    tensor, dims = (value.tensor, value.dims) if isinstance(value, Unknown) else (value, value.shape)
    made = operand(Output, name, tensor, dims)
    feed[made] = flat(tensor)
    return made


def flat(tensor):
    return tensor.stored.ravel().tolist()


def check(op, inputs, outputs, name="", relaxed=False):
    """One example of one operation.

    inputs: Tensor (an input of the model), Const, Unknown, Omitted, Scalar, or a Python int, float or bool (a scalar);
    outputs: Tensor, Unknown or Scalar. Returns the Example."""
    number, feed = next(count), {}
    ins = [make_input(f"in{number}_{i}", value, feed) for i, value in enumerate(inputs)]
    outs = [make_output(f"out{number}_{i}", value, feed) for i, value in enumerate(outputs)]
    model = Model(op.lower()).Operation(op, *ins).To(outs).RelaxedExecution(relaxed)
    name = f"{name}_{number}" if name else str(number)
    return Example(feed, model=model, name=name).DisableLifeTimeVariation()


def refuse(op, inputs, outputs, name="refused"):
    """An example that must fail, at execution or before."""
    return check(op, inputs, outputs, name).ExpectFailure()
