"""Forms that older releases of the language had. A specification of any version may use them.

    release  form                                       meaning
    8.1      Int32Bias(name, value)                     Int32Scalar
    8.1      "0.0f, 127.5f, {2, 3}"                     a shape after the range of real values, which gives scale and
                                                        zero point: see quantisation_of_range()
    8.1      feed {0: [...], 1: [...]}                  keys: numbers of the inputs (outputs) as declared
    8.1, 9   Model.Conv(...), Model.MaxPool(...), ...   Operation with the code in CODES, arguments in the same order
    8.1, 9   Model.Add, Model.RawAdd                    ADD without activation; Add also adds the result of the
                                                        operation before it, if that has no output
    8.1, 9   Model.Out                                  To
    8.1      operations CONV, L2_POOL, ...              those of RENAMED
    8.1      LSH_PROJECTION, dense output dimensions    a sparse projection has as many outputs as the feed
             for a sparse projection                    has values: one for each hash
    8.1      CONCATENATION with an activation           the activation is ignored, as it was then
    8.1, 9   a quantised shape string without scale,    scale and zero point of the operation's first input of that
             or with scale 0                            type; scale 1 for other operands
    8.1-10   names math, np, copy, ...                  the modules that the generator imported, see MODULES
    10       Example.AddInput, "as_input",              constants become inputs; the tests get the name
             ParameterAsInputConverter                  weight_as_input (variations.py)
    10       (string, operands, parameters)             a variation whose second list of operands is ignored
    10       Output of no elements with value [0]       a placeholder for no values, see without_placeholders()
    11       ("TENSOR_QUANT8_SYMM", "{2, 3}", 0.5, 0)   a type whose dimensions are a shape string
    11       Example.DisableDynamicOutputShapeVariation nothing: dynamic output shapes are not a variation
"""

import copy
import functools
import importlib
import itertools
import math
import struct

from halcyon.errors import SpecError, checked

# Methods of Model that append one operation.
CODES = {
    "AveragePool": "AVERAGE_POOL_2D", "Concatenation": "CONCATENATION", "Conv": "CONV_2D",
    "DepthWiseConv": "DEPTHWISE_CONV_2D", "FullyConnected": "FULLY_CONNECTED", "Logistic": "LOGISTIC",
    "L2Pool": "L2_POOL_2D", "MaxPool": "MAX_POOL_2D", "SoftMax": "SOFTMAX", "Reshape": "RESHAPE",
}
NO_ACTIVATION = 0

# Operations that had other names.
RENAMED = {
    "AVERAGE_POOL": "AVERAGE_POOL_2D", "CONV": "CONV_2D", "DEPTHWISE_CONV": "DEPTHWISE_CONV_2D",
    "L2_POOL": "L2_POOL_2D", "MAX_POOL": "MAX_POOL_2D",
}


class LateModule:
    """A module that is imported when it is first used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


MODULES = {"math": math, "copy": copy, "itertools": itertools, "struct": struct, "reduce": functools.reduce,
           "np": LateModule("numpy")}


def quantisation_of_range(low, high):
    """Scale and zero point of the 8-bit type for real values from `low` to `high`."""
    if not low <= 0 <= high or low == high:
        raise SpecError(f"the range {low:g} to {high:g} of a quantised type must contain 0 and another value")
    scale = (high - low) / 255
    return scale, min(255, max(0, round(-low / scale)))


def present_operation(code, inputs):
    """Code and inputs of an operation as NNAPI has it."""
    if code == "CONCATENATION" and [operand.type.code for operand in inputs[-2:]] == ["INT32", "INT32"]:
        inputs = inputs[:-1]
    return RENAMED.get(code, code), inputs


def must_have_scale(code):
    return code.startswith("TENSOR_QUANT") and not code.endswith("_PER_CHANNEL")


def complete_scale(operand, sources):
    type = operand.type
    if operand.scale_omitted and type.scale == 0:
        found = next((source.type for source in sources if source.type.code == type.code), None)
        operand.type = type._replace(scale=1.0) if found is None else type._replace(scale=found.scale, zero=found.zero)


def complete_types(model):
    """Completes the types of a model with values whose old forms leave them open, or give the wrong dimensions."""
    for operation in model.operations:
        for operand in operation.outputs if operation.code == "LSH_PROJECTION" else ():
            if operand.value and len(operand.value) < operand.type.count:
                operand.type = operand.type._replace(dims=(len(operand.value),))
    complete_scales(model)


def complete_scales(model):
    computed = {operand.name for operation in model.operations for operand in operation.outputs}
    for operand in model.operands():
        if operand.name not in computed:
            complete_scale(operand, [])
    for operation in model.sorted_operations():
        for operand in operation.outputs:
            complete_scale(operand, operation.inputs)


def feed_by_number(given, operands, declared):
    """A feed whose keys are numbers as one whose keys are operands; `declared`: all names in order of declaration."""
    if not isinstance(given, dict) or not given or not all(type(key) is int for key in given):
        return given
    order = {name: number for number, name in enumerate(declared)}
    operands = sorted(operands, key=lambda operand: order[operand.name])
    wrong = [key for key in given if not 0 <= key < len(operands)]
    if wrong:
        raise SpecError(f"the feed has a value for number {wrong[0]}: the model has {len(operands)} of them, from 0")
    return {operands[key]: value for key, value in given.items()}


def without_placeholders(values):
    """The values of outputs, {operand: list}, without the placeholder [0] of outputs that have no elements.

    A 0 can also be the one element of an output of unknown size. It is a placeholder if the output's known dimensions
    do not allow a single element; then those of the other outputs are placeholders, too. So are they where all of
    several outputs of unknown size have it.
    """
    unsized = [operand for operand in values if operand.type.dims and not all(operand.type.dims)]
    marked = [operand for operand in unsized if values[operand] is not None and list(values[operand]) == [0]]
    if any(max(operand.type.dims) > 1 for operand in marked) or (len(marked) > 1 and len(marked) == len(unsized)):
        return {**values, **{operand: [] for operand in marked}}
    return values


class ModelForms:
    """Methods of Model in 8.1 and 9."""

    def RawAdd(self, i1, i2, o=None):
        self.Operation("ADD", i1, i2, NO_ACTIVATION)
        return self if o is None else self.To(o)

    def Add(self, i1, i2=None):
        inputs = [operand for operand in (i1, i2) if operand is not None] + self._result_without_output()
        if len(inputs) != 2:
            raise SpecError(f"Model.Add() adds 2 operands, counting the result before it, not {len(inputs)}")
        return self.RawAdd(*inputs)

    def Out(self, *outputs):
        return self.To(*outputs)


def method_for(name, code):
    def method(self, *inputs):
        return self.Operation(code, *inputs)

    method.__name__ = name
    return method


for _name, _code in CODES.items():
    setattr(ModelForms, _name, method_for(_name, _code))
checked(ModelForms)


@checked
class ExampleForms:
    """Methods of Example in 10 and 11."""

    def AddInput(self, *operands, includeDefault=True, defaultName=None):
        return self.AddVariations(("as_input", operands), includeDefault=includeDefault, defaultName=defaultName)

    def DisableDynamicOutputShapeVariation(self):
        return self
