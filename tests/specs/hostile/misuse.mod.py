# expect: :101: To() without an operation before it: must follow Operation()
# Every class and method of the language, called with wrong arguments: each call must succeed or raise an error of the
# specification with a plain text.  Python's own exceptions and words would be bugs of the loader.
import itertools
import random


class Hostile:
    """Raises in every protocol that a loader may use."""

    def __getattr__(self, name):
        raise RuntimeError("hostile")

    __index__ = __float__ = __iter__ = __len__ = __hash__ = __eq__ = __bool__ = lambda self, *_: 1 / 0


PYTHON = ("object is not", "object has no", "NoneType", "index out of range", "out of bounds", "Traceback", "unhashable",
          "positional argument", "keyword argument", "not iterable", "subscriptable", "unsupported operand type",
          "could not convert", "invalid literal", "cannot unpack", "not enough values", "has no len", "math domain",
          "must be real number", "required argument is not")


def make():
    """A model with its operands, new for every call."""
    x = Input("x", "TENSOR_FLOAT32", "{1, 2, 2, 1}")
    p = Parameter("p", ("TENSOR_FLOAT32", [1]), [2])
    act = Int32Scalar("act", 0)
    y = Output("y", ("TENSOR_FLOAT32", [1, 2, 2, 1]))
    model = Model("m").Operation("ADD", x, p, act).To(y)
    return x, p, act, y, model, Example({x: [1, 2, 3, 4], y: [3, 4, 5, 6]}, model=model)


def garbage(x, p, act, y, model, example):
    return [None, 0, -1, 1 << 70, 2.5, float("nan"), float("inf"), True, "", "x", "relu", "TENSOR_FLOAT32", "{2}", "{}",
            "{a}", "{2}, x, 3", "1, 2, {3}", b"\xff", [], (), {}, {1: 2}, {x: 3}, {x: ("TENSOR_FLOAT16",)}, {x: ("A", 1)},
            {x: DataTypeConverter("float16")}, [1, "2"], [[1]], (1, 2, 3), ("TENSOR_FLOAT32", [2]),
            ("TENSOR_FLOAT32", 2), ("TENSOR_FLOAT32", [2], "s"), ("TENSOR_QUANT8_ASYMM", [1], 0.5, 256), (None, []),
            ("relu", 3), ("relu", [x, 4]), ["nchw", [x]], x, p, act, y, model, example, Variation(), object, object(),
            len, iter([1]), range(3), {1, 2}, 1j, SymmPerChannelQuantParams(7, [1, 2]), Ellipsis]


Variation = type(RelaxedModeConverter()).__mro__[1]
CLASSES = [Input, Output, IgnoredOutput, Internal, Parameter, Operand, Int32Scalar, Float16Scalar, Float32Scalar,
           BoolScalar, Int32Vector, Float32Vector, SymmPerChannelQuantParams, ExtensionData, Model, SubgraphReference,
           Example, DataTypeConverter, DataLayoutConverter, ActivationConverter, RelaxedModeConverter,
           AllTensorsAsInputsConverter, AllInputsAsInternalCoverter, AllOutputsAsInternalCoverter,
           ParameterAsInputConverter, Int32Bias]
METHODS = {Model: 4, Example: 5, Input: 0, DataTypeConverter: None, DataLayoutConverter: None}
counted = {"calls": 0, "errors": 0}
choice = random.Random(1)


def check(what, call, arguments, keywords):
    counted["calls"] += 1
    try:
        call(*arguments, **keywords)
    except Exception as error:
        text = str(error)
        ours = [kind.__name__ for kind in type(error).__mro__]
        assert "SpecError" in ours, f"{what}: {type(error).__name__}: {text}"
        assert text and not any(word in text for word in PYTHON), f"{what}: {text}"
        counted["errors"] += 1


def arguments_for(values, rounds):
    yield (), {}
    yield (), {"nonsense": 1}
    for value in values:
        yield (value,), {}
        yield ("name", value), {}
    for _ in range(rounds):
        keywords = {choice.choice(["name", "model", "value", "extraParams", "includeDefault", "defaultName", "scale",
                                   "zeroPoint", "hide", "targetType"]): choice.choice(values)} \
            if choice.random() < 0.3 else {}
        yield tuple(choice.choice(values) for _ in range(choice.randint(1, 5))), keywords


for cls in CLASSES:
    parts = make()
    for arguments, keywords in arguments_for(garbage(*parts), 30):
        check(cls.__name__, cls, arguments, keywords)
for cls, place in METHODS.items():
    names = [name for name in dir(cls) if name[0].isupper() and callable(getattr(cls, name))]
    for name in names + ["Nonsense", "Operatoin"]:
        if name in ("SHORT_NAMES", "TARGET_TYPES"):
            continue
        parts = make()
        for arguments, keywords in arguments_for(garbage(*parts), 10):
            target = cls() if place is None else make()[place]
            check(f"{cls.__name__}.{name}", lambda *a, **k: getattr(target, name)(*a, **k), arguments, keywords)
assert counted["calls"] > 5000 and counted["errors"] > 3000, counted

# A class of the specification's own may raise what it likes.
try:
    Int32Scalar("hostile", Hostile())
    assert False
except ZeroDivisionError:
    pass

# The end: the error that the first line expects.
Model().To()
