"""Variations: changes that an example makes to copies of its model, each of which becomes a test.

A variation has a name, which becomes part of the test's name, and apply(model), which changes the copy and returns
whether to keep the test. Targets are operands of the specification; the copy's operands are found by name.
"""

import array
import itertools
import math
import operator

from halcyon.errors import Checked, SpecError, integer, is_number, number, show, suggestion
from halcyon.models import implicit_constant, require_operand
from halcyon.operands import Input, Output, Parameter, Type, checked_quantisation

# Ranges to which converted values are clamped. Other types are not clamped.
RANGES = {
    "TENSOR_QUANT8_ASYMM": (0, 255),
    "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127),
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": (-127, 127),
    "TENSOR_QUANT16_ASYMM": (0, 65535),
    "UINT32": (0, math.inf),
}
ACTIVATIONS = {
    "none": (0, -math.inf, math.inf),
    "relu": (1, 0.0, math.inf),
    "relu1": (2, -1.0, 1.0),
    "relu6": (3, 0.0, 6.0),
}
LAYOUTS = {"nchw": (0, 3, 1, 2), "nhwc": (0, 2, 3, 1)}


class Variation(Checked):
    """The identity variation, and base class of all others."""

    subgraphs_allowed = True

    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise SpecError(f"the name of a variation is {show(name)}: must be a string")
        self.given_name = name
        self.targets = {}

    def default_name(self):
        return ""

    @property
    def name(self):
        return self.default_name() if self.given_name is None else self.given_name

    def Identify(self, targets, *_):
        """Sets the targets: a dict from operand to argument, or a list of operands."""
        if not isinstance(targets, (dict, list, tuple)):
            raise SpecError(f"the targets of variation {self.name!r} are {show(targets)}: must be a dict or list of "
                            f"operands")
        self.targets = {require_operand(operand): None for operand in targets}
        if isinstance(targets, dict):
            self.targets.update(targets)
        return self

    def targets_in(self, model):
        """Yields the copy's operand for each target, with the target's argument."""
        if not self.subgraphs_allowed and model.subgraphs():
            raise SpecError(f"variation {self.name!r} cannot be applied to a model with subgraphs")
        for target, argument in self.targets.items():
            operand = model.find(target)
            if operand is None:
                raise SpecError(f"variation {self.name!r}: {target!r} is not in the model")
            yield operand, argument

    def apply(self, model):
        return True


def name_in(value, names, what):
    """The lower-case name of a variation, which must be one of `names`."""
    if not isinstance(value, str) or value.lower() not in names:
        close = suggestion(value, names) or f": must be one of {', '.join(names)}"
        raise SpecError(f"unknown {what} {show(value)}{close}")
    return value.lower()


def checked_values(operand):
    """The values of an operand, as many as its dimensions say, and all numbers."""
    for value in operand.value:
        if not is_number(value):
            raise SpecError(f"operand {operand.name!r} has a value that is no number: {show(value)}")
    if len(operand.value) != operand.type.count:
        raise SpecError(f"operand {operand.name!r} has {len(operand.value)} values for dimensions "
                        f"{list(operand.type.dims)}")
    return operand.value


def float32(values):
    return array.array("f", values).tolist()


def clamp(value, code):
    low, high = RANGES.get(code, (-math.inf, math.inf))
    return min(max(value, low), high)


def channel_scales(type):
    """The per-channel scale of each element, in row-major order."""
    channel = type.channel
    if not 0 <= channel.dim < len(type.dims) or len(channel.scales) != type.dims[channel.dim]:
        raise SpecError(f"{len(channel.scales)} scales along dimension {channel.dim} do not fit {list(type.dims)}")
    inner = math.prod(type.dims[channel.dim + 1:])
    one = [scale for scale in channel.scales for _ in range(inner)]
    return one * math.prod(type.dims[:channel.dim])


def to_real(values, type):
    """Dequantises stored values in binary32."""
    values = float32(values)
    if type.zero:
        values = float32(value - type.zero for value in values)
    if type.scale:
        scale = float32([type.scale])[0]
        values = float32(value * scale for value in values)
    if type.channel is not None:
        values = float32(map(operator.mul, values, channel_scales(type)))
    return values


def quantise(values, type):
    """Quantises real values, without rounding to integers: in binary32, in binary64 from per-channel scales on."""
    single = True
    if type.scale:
        scale = float32([type.scale])[0]
        values = float32(value / scale for value in values)
    if type.channel is not None:
        single = False
        values = list(map(operator.truediv, values, channel_scales(type)))
    if type.zero:
        values = [value + type.zero for value in values]
        if single:
            values = float32(values)
    return values


def rounded(value, code):
    try:
        return clamp(round(value), code)
    except (ValueError, OverflowError):
        raise SpecError(f"{value} cannot be converted to {code}") from None


def convert(operand, code, scale=0.0, zero=0, channel=None):
    """Changes the type of an operand and converts its values."""
    old, new = operand.type, Type(code, operand.type.dims, *checked_quantisation(code, scale, zero, channel), channel)
    operand.type = new
    if operand.value is None or old.count == 0:
        return
    values = quantise(to_real(checked_values(operand), old), new)
    operand.value = values if new.is_float else [rounded(value, code) for value in values]


class DataTypeConverter(Variation):
    SHORT_NAMES = (
        ("TENSOR_QUANT8_SYMM_PER_CHANNEL", "channelQuant8"),
        ("TENSOR_QUANT8_ASYMM", "quant8"),
        ("TENSOR_QUANT8_ASYMM_SIGNED", "quant8_signed"),
        ("TENSOR_INT32", "int32"),
        ("TENSOR_FLOAT16", "float16"),
    )
    TARGET_TYPES = {
        "float16": ("TENSOR_FLOAT16", "FLOAT16"),
        "int32": ("TENSOR_INT32", "INT32"),
        "quant8": ("TENSOR_QUANT8_ASYMM", None),
        "quant8_signed": ("TENSOR_QUANT8_ASYMM_SIGNED", None),
    }

    def __init__(self, targetType=None, name=None, scale=None, zeroPoint=None):
        super().__init__(name)
        self.target_type = None if targetType is None else name_in(targetType, self.TARGET_TYPES, "target type")
        self.scale = None if scale is None else number(scale, "scale")
        self.zero = None if zeroPoint is None else integer(zeroPoint, "zeroPoint")
        if self.target_type is None:
            return
        if self.target_type.startswith("quant8") and (scale is None or zeroPoint is None):
            raise SpecError(f"a conversion to {targetType} needs scale and zeroPoint")

    def Identify(self, targets, *ignored):
        super().Identify(targets, *ignored)
        for operand, argument in self.targets.items():
            if isinstance(argument, (list, tuple)) and 1 <= len(argument) <= 4:
                checked_quantisation(*argument)
            elif not isinstance(argument, DataTypeConverter):
                raise SpecError(f"{operand} cannot be converted to {show(argument)}: must be (code[, scale[, zero "
                                f"point[, SymmPerChannelQuantParams]]])")
        return self

    def default_name(self):
        if self.target_type is not None:
            return self.target_type
        codes = {argument[0] for argument in self.targets.values() if isinstance(argument, (list, tuple))}
        return next((name for code, name in self.SHORT_NAMES if code in codes), "float32")

    def apply(self, model):
        if not self.targets and self.target_type is not None:
            self.targets = self._all_floats(model)
        for operand, argument in self.targets_in(model):
            if isinstance(argument, DataTypeConverter):
                if operand.kind != "subgraph":
                    raise SpecError(f"operand {operand.name!r} has a nested converter but refers to no model")
                argument.apply(operand.value[0])
            else:
                convert(operand, *argument)
        return True

    def _all_floats(self, model):
        tensor, scalar = self.TARGET_TYPES[self.target_type]
        targets = {}
        for operand in model.operands():
            if operand.type.code == "TENSOR_FLOAT32":
                quantised = self.scale is not None and self.target_type.startswith("quant8")
                targets[operand] = (tensor, self.scale, self.zero) if quantised else (tensor,)
            elif operand.type.code == "FLOAT32" and scalar is not None:
                targets[operand] = (scalar,)
            elif operand.kind == "subgraph":
                targets[operand] = DataTypeConverter(self.target_type, scale=self.scale, zeroPoint=self.zero)
        return targets


class RelaxedModeConverter(Variation):
    def __init__(self, isRelaxed=True, name=None):
        super().__init__(name)
        self.relaxed = isRelaxed.lower() == "relaxed" if isinstance(isRelaxed, str) else bool(isRelaxed)

    def default_name(self):
        return "relaxed" if self.relaxed else "float"

    def apply(self, model):
        model.relaxed = self.relaxed
        return True


def transpose(values, dims, permutation):
    """The values of a row-major tensor with its dimensions permuted."""
    strides = [math.prod(dims[axis + 1:]) for axis in range(len(dims))]
    steps = [[strides[axis] * i for i in range(dims[axis])] for axis in permutation]
    return [values[sum(offsets)] for offsets in itertools.product(*steps)]


def transpose_operand(operand, permutation):
    old = operand.type
    dims = tuple(old.dims[axis] for axis in permutation)
    operand.type = Type(old.code, dims, old.scale, old.zero, extension=old.extension)
    if operand.value:
        operand.value = transpose(checked_values(operand), old.dims, permutation)


class DataLayoutConverter(Variation):
    subgraphs_allowed = False

    def __init__(self, targetLayout="nchw", name=None):
        super().__init__(name)
        self.layout = name_in(targetLayout, LAYOUTS, "layout")

    def default_name(self):
        return self.layout

    def apply(self, model):
        permutation = LAYOUTS[self.layout]
        for operand, _ in self.targets_in(model):
            if len(operand.type.dims) == 4:
                transpose_operand(operand, permutation)
            elif len(operand.type.dims) == 1 and operand.value and len(operand.value) == 4:
                operand.value = [operand.value[i] for i in permutation]
            elif operand.type.code == "BOOL":
                operand.value = [self.layout == "nchw"]
            else:
                raise SpecError(f"operand {operand.name!r} has no layout: {list(operand.type.dims)}")
        return True


class AxisConverter(Variation):
    """Moves axis `origin` to `target`, then removes axes by selecting their index 0."""

    subgraphs_allowed = False

    def __init__(self, origin, target, rank, drop=(), name=None):
        super().__init__(name)
        if not -rank <= target < rank or not -rank <= origin < rank:
            raise SpecError(f"axis {origin} cannot become axis {target} of {rank}")
        self.origin, self.target, self.rank = origin % rank, target, rank
        self.drop = sorted(drop)

    def default_name(self):
        axis = self.target % self.rank
        axis -= sum(dropped < axis for dropped in self.drop)
        negative = "_neg" if self.target < 0 else ""
        return f"dim{self.rank - len(self.drop)}_axis{axis}{negative}"

    def apply(self, model):
        for operand, _ in self.targets_in(model):
            if operand.type.code == "INT32":
                operand.value = [self._shifted_target()]
            elif len(operand.type.dims) == self.rank:
                self._move(operand)
            else:
                raise SpecError(f"operand {operand.name!r} is not of rank {self.rank}")
        return True

    def _shifted_target(self):
        if self.target >= 0:
            return self.target - sum(dropped < self.target for dropped in self.drop)
        return self.target + sum(dropped > self.target + self.rank for dropped in self.drop)

    def _move(self, operand):
        permutation = [axis for axis in range(self.rank) if axis != self.origin]
        permutation.insert(self.target % self.rank, self.origin)
        transpose_operand(operand, permutation)
        old = operand.type
        kept = [axis for axis in range(self.rank) if axis not in self.drop]
        operand.type = old._replace(dims=tuple(old.dims[axis] for axis in kept))
        if operand.value:
            strides = [math.prod(old.dims[axis + 1:]) for axis in kept]
            steps = [[stride * i for i in range(old.dims[axis])] for axis, stride in zip(kept, strides)]
            operand.value = [operand.value[sum(offsets)] for offsets in itertools.product(*steps)]


class ActivationConverter(Variation):
    subgraphs_allowed = False

    def __init__(self, act="relu", name=None):
        super().__init__(name)
        self.activation = name_in(act, ACTIVATIONS, "activation")

    def default_name(self):
        return self.activation

    def apply(self, model):
        number, low, high = ACTIVATIONS[self.activation]
        for operand, _ in self.targets_in(model):
            if operand.type.code == "INT32":
                operand.value = [number]
            elif operand.kind == "output":
                self._clamp(operand, low, high)
            else:
                raise SpecError(f"operand {operand.name!r} is neither an activation nor an output")
        return True

    def _clamp(self, operand, low, high):
        low, high = (self._stored(bound, operand.type) for bound in (low, high))
        if operand.value:
            operand.value = [min(max(value, low), high) for value in checked_values(operand)]

    def _stored(self, bound, type):
        if type.is_float or math.isinf(bound):
            return bound
        return clamp(round(bound / (type.scale or 1.0) + type.zero), type.code)


class ParameterAsInputConverter(Variation):
    """Makes inputs of constants (Android 10)."""

    def __init__(self, arg="as_input", prefix="weight", name=None):
        super().__init__(name)
        name_in(arg, ("as_input",), "conversion of a parameter")
        self.prefix = prefix

    def default_name(self):
        return f"{self.prefix}_as_input"

    def apply(self, model):
        for operand, _ in self.targets_in(model):
            if operand.kind not in ("parameter", "constant") or operand.value is None:
                raise SpecError(f"operand {operand.name!r} cannot become an input: must be a Parameter with a value")
            operand.become_input()
        return True


class LifetimeConverter(Variation):
    """Base of the lifetime variations: applies to models of one operation; a test is kept only if changed."""

    def apply(self, model):
        return len(model.operations) == 1 and self.change(model)


class AllTensorsAsInputsConverter(LifetimeConverter):
    def default_name(self):
        return "all_tensors_as_inputs"

    def change(self, model):
        constants = [operand for operand in model.operands()
                     if operand.kind == "parameter" and not operand.type.is_scalar and operand.value is not None]
        for operand in constants:
            operand.become_input()
        return bool(constants)


def can_be_added(operand):
    """Whether adding zero with ADD leaves this operand unchanged: type, rank and values allow it."""
    codes = ("TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED")
    return operand.type.code in codes and len(operand.type.dims) <= 4 and bool(operand.value)


def zero_for(operand):
    """The other operands of an ADD that leaves `operand` unchanged: a constant zero and the activation."""
    type = operand.type._replace(dims=(1,), channel=None)
    return Parameter("placeholder", tuple(type[:4]), [type.zero]), implicit_constant(0)


class AllInputsAsInternalCoverter(LifetimeConverter):
    def default_name(self):
        return "all_inputs_as_internal"

    def change(self, model):
        inputs = [operand for operand in model.inputs() if can_be_added(operand) and not operand.never_internal]
        for old in inputs:
            new = Input(old.name + "_new", tuple(old.type), old.value)
            model.append("ADD", [new, *zero_for(old)], [old])
            old.become_internal()
        return bool(inputs)


class AllOutputsAsInternalCoverter(LifetimeConverter):
    def default_name(self):
        return "all_outputs_as_internal"

    def change(self, model):
        outputs = [operand for operand in model.outputs() if can_be_added(operand)]
        for old in outputs:
            zero, activation = zero_for(old)
            new = Output(old.name + "_new", tuple(old.type), old.value)
            model.append("ADD", [old, zero, activation], [new])
            old.become_internal()
        return bool(outputs)


STRINGS = {
    "relaxed": lambda: RelaxedModeConverter(True),
    "as_input": ParameterAsInputConverter,
    **{name: lambda name=name: DataTypeConverter(name) for name in ("float16", "int32", "quant8", "quant8_signed")},
    **{name: lambda name=name: DataLayoutConverter(name) for name in LAYOUTS},
    **{name: lambda name=name: ActivationConverter(name) for name in ACTIVATIONS},
}


def as_variation(value):
    """A variation from what AddVariations accepts: a variation, its name, or (name, operands[, ignored])."""
    if isinstance(value, Variation):
        return value
    if isinstance(value, str):
        return STRINGS[name_in(value, STRINGS, "variation")]()
    if isinstance(value, (list, tuple)) and 1 <= len(value) <= 3 and isinstance(value[0], (str, Variation)):
        variation = as_variation(value[0])
        return variation.Identify(*value[1:]) if len(value) > 1 else variation
    raise SpecError(f"{show(value)} is not a variation: must be a converter, its name, or (name, [operands])")
