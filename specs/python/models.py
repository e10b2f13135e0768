"""Models: operands in the order of registration, operations, and the models they refer to."""

from halcyon.dialects import ModelForms, present_operation
from halcyon.errors import Checked, SpecError, show
from halcyon.operands import (BoolScalar, Float32Scalar, Float32Vector, Int32Scalar, Int32Vector, Internal, Loading,
                              Operand, make_type)


class Operation:
    def __init__(self, code, inputs, outputs=()):
        self.code = code
        self.inputs = list(inputs)
        self.outputs = list(outputs)


def implicit_constant(value):
    """A constant operand for a plain Python argument, by its exact type."""
    if type(value) is int:
        return Int32Scalar("param", value)
    if type(value) is float:
        return Float32Scalar("param", value)
    if type(value) is bool:
        return BoolScalar("param", value)
    if isinstance(value, (list, tuple)) and all(type(element) is int for element in value):
        return Int32Vector("param", value)
    if isinstance(value, (list, tuple)) and all(type(element) is float for element in value):
        return Float32Vector("param", value)
    if isinstance(value, Model):
        return SubgraphReference("param", value)
    what = "None" if value is None else f"{show(value)} of type {type(value).__name__}"
    raise SpecError(f"{what} cannot be an argument of an operation: must be an operand, a number, a list of numbers of "
                    f"one type, or a model")


def require_operand(value):
    if not isinstance(value, Operand):
        raise SpecError(f"{show(value)} is not an operand")
    return value


def require_version(version):
    if version is not None and not isinstance(version, str):
        raise SpecError(f"the version is {show(version)}: must be a string such as \"V1_2\", or None")
    return "UNKNOWN" if version is None else version


class Model(Checked, ModelForms):
    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise SpecError(f"the name of a model is {show(name)}: must be a string")
        self.name = name
        self.version = Loading.file.version
        self.relaxed = False
        self.operations = []
        self._operands = {}
        self._writer = {}  # of each operand by name, the operation whose To() named it last
        Loading.file.latest_model = self

    # Methods for specifications.

    def Operation(self, code, *arguments):
        if not isinstance(code, str):
            raise SpecError(f"the name of an operation is {show(code)}: must be a string such as \"ADD\"")
        inputs = [arg if isinstance(arg, Operand) else implicit_constant(arg) for arg in arguments]
        code, inputs = present_operation(code, inputs)
        self.operations.append(Operation(code, self._register(inputs)))
        return self

    def To(self, *outputs):
        if len(outputs) == 1 and isinstance(outputs[0], (list, tuple)):
            outputs = outputs[0]
        if not self.operations:
            raise SpecError("To() without an operation before it: must follow Operation()")
        for operand in outputs:
            self._require_writable(require_operand(operand))
        self.operations[-1].outputs = self._register(outputs)
        self._writer.update((operand.name, self.operations[-1]) for operand in outputs)
        return self

    def IdentifyInputs(self, *operands):
        return self._identify(operands, self.inputs, "inputs")

    def IdentifyOutputs(self, *operands):
        return self._identify(operands, self.outputs, "outputs")

    def RelaxedExecution(self, relaxed):
        self.relaxed = bool(relaxed)
        return self

    def IntroducedIn(self, version):
        self.version = require_version(version)
        return self

    # Methods for the loader.

    def inputs(self):
        return [operand for operand in self.operands() if operand.kind == "input"]

    def outputs(self):
        return [operand for operand in self.operands() if operand.kind == "output"]

    def operands(self):
        return list(self._operands.values())

    def find(self, operand):
        """This model's own copy of an operand of the specification, or None."""
        return self._operands.get(operand.name)

    def subgraphs(self):
        """The models that this one refers to directly, in operand order, with repetitions."""
        return [operand.value[0] for operand in self.operands() if operand.kind == "subgraph"]

    def append(self, code, inputs, outputs):
        self.operations.append(Operation(code, self._register(inputs), self._register(outputs)))

    def clone(self, memo=None):
        """A copy with copies of all operands and referenced models; a model referenced twice is copied once."""
        memo = {} if memo is None else memo
        if id(self) in memo:
            return memo[id(self)]
        copy = Model.__new__(Model)
        memo[id(self)] = copy
        copy.name, copy.version, copy.relaxed = self.name, self.version, self.relaxed
        copy._operands = {name: operand.clone() for name, operand in self._operands.items()}
        for operand in copy._operands.values():
            if operand.kind == "subgraph":
                operand.value = [operand.value[0].clone(memo)]
        copy.operations = [Operation(op.code, [copy.find(operand) for operand in op.inputs],
                                     [copy.find(operand) for operand in op.outputs]) for op in self.operations]
        return copy

    def sorted_operations(self):
        """The operations in an order in which they can run: depth first, producers of lower operands first."""
        index = {name: number for number, name in enumerate(self._operands)}
        producer = {out.name: op for op in self.operations for out in op.outputs}
        done, open_, order = set(), set(), []
        for root in self.operations:
            stack = [(root, None)]
            while stack:
                op, pending = stack.pop()
                if id(op) in done:
                    continue
                if pending is None:
                    open_.add(id(op))
                    pending = sorted({operand.name for operand in op.inputs}, key=index.get, reverse=True)
                while pending and (pending[-1] not in producer or id(producer[pending[-1]]) in done):
                    pending.pop()
                if not pending:
                    done.add(id(op))
                    order.append(op)
                    continue
                needed = producer[pending[-1]]
                if id(needed) in open_:
                    raise SpecError(f"the operations form a cycle through operand {pending[-1]!r}")
                stack += [(op, pending), (needed, None)]
        return order

    def _require_writable(self, operand):
        if operand.kind not in ("output", "internal"):
            raise SpecError(f"{operand} cannot be the output of an operation: must be an Output or Internal")
        writer = self._writer.get(operand.name)
        if writer not in (None, self.operations[-1]) and operand in writer.outputs:
            raise SpecError(f"{operand} is the output of two operations: must be that of one")

    def _result_without_output(self):
        """The result of the last operation, as a list, if no output was set; it becomes an Internal (see Add)."""
        if not self.operations or self.operations[-1].outputs:
            return []
        type = self.operations[-1].inputs[0].type
        result = Internal("tmp", tuple(type[:4]))
        self.To(result)
        return [result]

    def _register(self, operands):
        operands = [require_operand(operand) for operand in operands]
        for operand in operands:
            self._operands.setdefault(operand.name, operand)
        return operands

    def _identify(self, operands, present, what):
        self._register(operands)
        names = [operand.name for operand in present()]
        wanted = [operand.name for operand in operands]
        if names != wanted:
            raise SpecError(f"the model's {what} are {show(names)}, not {show(wanted)}")
        return self


class SubgraphReference(Operand):
    """Refers to another model; its value is that model."""

    kind = "subgraph"
    lifetime = "SUBGRAPH"

    def __init__(self, name, model):
        if not isinstance(model, Model):
            raise SpecError(f"{show(model)} is not a model")
        self._set(name, make_type("SUBGRAPH", ()), model)
        if model.name is None:
            model.name = name


def referenced_models(main):
    """All models that `main` refers to, directly or indirectly, in depth-first order."""
    found = []

    def walk(model):
        for subgraph in model.subgraphs():
            if subgraph is main:
                raise SpecError("a model refers to itself")
            if not any(subgraph is other for other in found):
                found.append(subgraph)
                walk(subgraph)

    walk(main)
    return found
