"""Examples: input and output values of a model, and the variations that turn them into several tests."""

import itertools
import sys
from typing import NamedTuple

from halcyon import dialects
from halcyon.errors import Checked, SpecError, integer, located, number, show
from halcyon.models import Model, referenced_models, require_operand, require_version
from halcyon.operands import Loading, Names, as_values
from halcyon.variations import (ActivationConverter, AllInputsAsInternalCoverter, AllTensorsAsInputsConverter,
                                AxisConverter, DataLayoutConverter, RelaxedModeConverter, Variation, as_variation)


class Test(NamedTuple):
    """One test. The model is a copy with the values of the feed."""

    name: str
    line: int
    version: str
    model: Model
    expect_failure: bool
    tolerance: float


class Feed:
    """One set of values. A single dict is resolved at construction; a pair of dicts when a test is made."""

    def __init__(self, given, model):
        if isinstance(given, dict):
            inputs = {operand: lookup(given, operand, "input") for operand in model.inputs()}
            outputs = {operand: lookup(given, operand, "output") for operand in model.outputs()}
            given = (inputs, outputs)
        if not isinstance(given, (list, tuple)) or len(given) != 2:
            raise SpecError(f"a feed is {show(given)}: must be a dict, or the pair of a dict of inputs and one of outputs")
        declared = Loading.file.names.taken
        self.inputs = dialects.feed_by_number(given[0], model.inputs(), declared)
        self.outputs = dialects.feed_by_number(given[1], model.outputs(), declared)

    def fill(self, model):
        for operand in model.inputs():
            operand.value = as_values(lookup(self.inputs, operand, "input"))
        given = {operand: zeros(operand) if operand.ignored else as_values(lookup(self.outputs, operand, "output"))
                 for operand in model.outputs()}
        for operand, values in dialects.without_placeholders(given).items():
            operand.value = values


def zeros(operand):
    try:
        return [0] * operand.type.count
    except (MemoryError, OverflowError):
        raise SpecError(f"output {operand.name!r} of {operand.type.count} elements is too large") from None


def lookup(values, operand, what):
    """The value of one operand in a feed; values that are no dict apply to every operand."""
    if not isinstance(values, dict):
        return values
    if operand not in values:
        raise SpecError(f"the feed has no value for {what} {operand.name!r}: must have a list, or [] if omitted")
    return values[operand]


def line_of_specification():
    """The line of the specification that called into the loader."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("halcyon."):
        frame = frame.f_back
    return None if frame is None else frame.f_lineno


def require_name(name):
    if name is not None and not isinstance(name, str):
        raise SpecError(f"a name is {show(name)}: must be a string")
    return name


def integers(values, what):
    return [integer(value, what) for value in (values if isinstance(values, (list, tuple, range)) else [values])]


class Example(Checked, dialects.ExampleForms):
    def __init__(self, *feeds, model=None, name=None):
        self.model = Loading.file.latest_model if model is None else model
        if not isinstance(self.model, Model):
            raise SpecError("an example without a model before it: must follow Model()..." if model is None
                            else f"{show(model)} is not a model")
        self.name = require_name(name)
        self.line = line_of_specification()
        self.feeds = [Feed(feed, self.model) for feed in feeds]
        self.groups = []
        self.expect_failure = False
        self.tolerance = 0.0
        self.lifetime_groups = True
        Loading.file.examples.append(self)

    @staticmethod
    def SetVersion(version, *test_names):
        for name in test_names:
            Loading.file.versions[require_name(name)] = require_version(version)

    def AddVariations(self, *variations, includeDefault=True, defaultName=None):
        group = [Variation(defaultName)] if includeDefault else []
        self.groups.append(group + [as_variation(variation) for variation in variations])
        return self

    def AddNchw(self, *operands, includeDefault=True, defaultName="nhwc"):
        return self.AddVariations(DataLayoutConverter("nchw").Identify(operands),
                                  includeDefault=includeDefault, defaultName=defaultName)

    def AddRelaxed(self, isRelaxed=True, includeDefault=True, defaultName=None):
        return self.AddVariations(RelaxedModeConverter(isRelaxed), includeDefault=includeDefault,
                                  defaultName=defaultName)

    def AddRelu(self, *operands, includeDefault=True, defaultName=None):
        return self.AddVariations(("relu", operands), includeDefault=includeDefault, defaultName=defaultName)

    def AddAllActivations(self, *operands):
        activations = [ActivationConverter(name).Identify(operands) for name in ("none", "relu", "relu1", "relu6")]
        return self.AddVariations(*activations, includeDefault=False)

    def AddAxis(self, axes, *operands, includeDefault=True, defaultName=None):
        axes = integers(axes, "an axis")
        rank, origin = rank_and_origin(operands)
        return self._add_axes(operands, [(origin, axis, rank) for axis in axes], includeDefault, defaultName)

    def AddAllPositiveAxis(self, *operands):
        rank, origin = rank_and_origin(operands)
        return self._add_axes(operands, [(origin, axis, rank) for axis in range(rank)])

    def AddAllAxis(self, *operands):
        rank, origin = rank_and_origin(operands)
        return self._add_axes(operands, [(origin, axis, rank) for axis in range(-rank, rank)])

    def AddDims(self, dims, *operands, includeDefault=True, defaultName=None):
        dims = integers(dims, "a number of dimensions")
        rank, origin = rank_and_origin(operands)
        if not all(1 <= kept <= rank for kept in dims):
            raise SpecError(f"cannot keep {dims} dimensions of {rank}")
        others = [axis for axis in range(rank) if axis != origin]
        arguments = [(origin, origin, rank, others[:rank - kept]) for kept in dims]
        return self._add_axes(operands, arguments, includeDefault, defaultName)

    def AddAllDims(self, *operands):
        rank, _ = rank_and_origin(operands)
        return self.AddDims(range(rank, 0, -1), *operands, includeDefault=False)

    def AddAllDimsAndPositiveAxis(self, *operands):
        rank, origin = rank_and_origin(operands)
        arguments = [(origin, axis, rank, range(first)) for first in range(rank) for axis in range(first, rank)]
        return self._add_axes(operands, arguments)

    def AddAllDimsAndAxis(self, *operands):
        rank, origin = rank_and_origin(operands)
        arguments = [(origin, target, rank, range(first)) for first in range(rank) for axis in range(first, rank)
                     for target in (axis, axis - rank)]
        return self._add_axes(operands, arguments)

    def ExpectFailure(self):
        if self.tolerance:
            raise SpecError("an example that must fail cannot have a tolerance")
        self.expect_failure = True
        return self

    def WithMultinomialDistributionTolerance(self, tolerance):
        if self.expect_failure:
            raise SpecError("an example that must fail cannot have a tolerance")
        self.tolerance = number(tolerance, "the tolerance")
        return self

    def DisableLifeTimeVariation(self):
        self.lifetime_groups = False
        return self

    def _add_axes(self, operands, arguments, include_default=False, default_name=None):
        variations = [AxisConverter(*each).Identify(operands) for each in arguments]
        return self.AddVariations(*variations, includeDefault=include_default, defaultName=default_name)

    def all_but_feeds(self):
        """A key that is equal for examples that differ only in their feeds: model, name and variation objects."""
        return id(self.model), self.name, tuple(tuple(map(id, group)) for group in self.groups)

    def all_groups(self):
        """The groups that were added, then for models of one operation the groups of lifetime variations."""
        if len(self.model.operations) != 1 or self.tolerance or not self.lifetime_groups:
            return self.groups
        return self.groups + [[Variation(), AllTensorsAsInputsConverter()],
                              [Variation(), AllInputsAsInternalCoverter()]]


def rank_and_origin(operands):
    """The common rank of the tensors, and the value of the INT32 operand among them, else the last axis."""
    for operand in operands:
        require_operand(operand)
    ranks = {len(operand.type.dims) for operand in operands if operand.type.code != "INT32"}
    if len(ranks) != 1:
        raise SpecError(f"the operands do not share one rank: {sorted(ranks)}")
    rank = ranks.pop()
    origin = rank - 1
    for operand in operands:
        if operand.type.code == "INT32" and operand.value:
            origin = integer(operand.value[0], f"the axis {operand.name!r}")
    if not -rank <= origin < rank:
        raise SpecError(f"axis {origin} is not one of {rank} dimensions")
    return rank, origin % rank


def merged(examples):
    """The examples, with those merged that differ only in their feeds."""
    found = {}
    for example in examples:
        same = found.setdefault(example.all_but_feeds(), example)
        if same is not example:
            same.feeds += example.feeds
    return list(found.values())


def unique_name(parts, taken):
    """The parts as a name, with the first free number from 2 on if it is in use. taken: the names in use, each with
    the number last appended to it."""
    base = name = "_".join(part for part in parts if part)
    number = taken.get(base, 1)
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken[base] = number
    taken.setdefault(name, 1)
    return name


def make_test(example, feed, variations, taken):
    """One test, or None if a variation drops it."""
    model = example.model.clone()
    feed.fill(model)
    for part in (model, *referenced_models(model)):
        dialects.complete_types(part)
    names = [variation.name for variation in variations]
    for variation in variations:
        if not variation.apply(model):
            return None
    file = Loading.file
    name = unique_name([file.spec, example.model.name, example.name, *names], taken)
    version = file.versions.get(name, model.version)
    if model.relaxed:
        version = "UNKNOWN"
    return Test(name, example.line, version, model, example.expect_failure, example.tolerance)


def expand(file):
    """Yields the tests of a file that has been run, in order."""
    taken, names = {}, file.names
    for example in merged(file.examples):
        with located(example.line, "the values or variations of this example do not fit its model"):
            try:
                for feed in example.feeds:
                    for variations in itertools.product(*example.all_groups()):
                        file.names = Names(outer=names)
                        test = make_test(example, feed, variations, taken)
                        if test is not None:
                            yield test
            finally:
                file.names = names
