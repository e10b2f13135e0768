"""Element-wise operations of two broadcast operands."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

# Shapes of both operands.
PAIRS = [((1,), (1,)), ((5,), (1,)), ((1,), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((3, 1, 2), (4, 1)),
         ((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 3, 4, 5), (3, 1, 5)), ((1, 1, 1, 1), (2, 1, 3, 1)), ((0,), (1,)),
         ((2, 0), (2, 1)), ((1, 3), (0, 3))]
DEEP = [((2, 1, 2, 1, 3), (1, 2, 1)), ((1, 2, 1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1, 2, 1, 2, 1))]
ACTIVATIONS = [lambda y: y, lambda y: np.maximum(y, 0), lambda y: np.clip(y, -1, 1), lambda y: np.clip(y, 0, 6)]
EXTREME = {F32: [0.0, -0.0, 1e-45, -1e-38, 1e-20, 1, 1.0000001, -1, 3e38, -3e38, 16777217, 0.1],
           F16: [0.0, -0.0, 6e-8, -6.1e-5, 1e-3, 1, 1.001, -1, 65504, -65504, 2049, 0.1]}


def wrap(y):
    """Integers wrapped to 32 bits in two's complement."""
    return (np.asarray(y).astype(object) + 2**31) % 2**32 - 2**31


def arithmetic(op, function, quants):
    """With a fused activation; quants: triples of the types of both operands and the result."""
    seed(op)
    with np.errstate(all="ignore"):
        for type, other, out in [(F32,) * 3, (F16,) * 3, *quants]:
            for i, (left, right) in enumerate(PAIRS):
                a, b = draw(type, left), draw(other, right)
                activation = ACTIVATIONS[i % 4]
                check(op, [a, b, i % 4], [result(out, activation(function(a.real, b.real)))])
                check(op, [b, a, 3 - i % 4], [result(out, ACTIVATIONS[3 - i % 4](function(b.real, a.real)))]
                      ) if type == other else None
        for type, values in EXTREME.items():
            a, b = real(type, values, (len(values), 1)), real(type, values)
            y = function(a.real, b.real)
            check(op, [a, Const(b), 0], [result(type, y)], "extreme")


def arithmetic_int(op, function):
    seed(op + " int")
    ends = [0, 1, -1, 2, 7, 65536, 2**31 - 1, -2**31, 46341, -46341]
    for left, right in PAIRS:
        a, b = draw(I32, left, -1000, 1000), draw(I32, right, 1, 50)
        check(op, [a, b, 0], [stored(I32, function(a.stored, b.stored))], "int")
    a, b = stored(I32, ends, (len(ends), 1)), stored(I32, ends)
    if op == "DIV":
        b = stored(I32, [x for x in ends if x not in (0, -1)])
    check(op, [a, b, 0], [stored(I32, wrap(function(a.stored, b.stored)))], "wraps")


SUMS = [(U8(0.5, 128), U8(0.25, 3), U8(0.75, 100)), (U8(1e-3, 0), U8(2.0, 255), U8(0.5, 0)),
        (S8(0.5, 0), S8(0.5, 0), S8(1.0, 0)), (S8(0.5, -128), S8(3e-4, 127), S8(0.01, 5))]
arithmetic("ADD", lambda a, b: a + b, SUMS)
arithmetic("SUB", lambda a, b: a - b, SUMS)
arithmetic("MUL", lambda a, b: a * b,
           [(U8(0.5, 128), U8(0.25, 3), U8(0.5, 100)), (U8(1e-3, 0), U8(2.0, 255), U8(0.25, 0)),
            (S8(0.5, 0), S8(0.5, 0), S8(0.5, 0)), (S8(0.5, -128), S8(3e-4, 127), S8(0.01, 5))])
arithmetic("DIV", lambda a, b: a / b, [])
arithmetic_int("ADD", lambda a, b: a + b)
arithmetic_int("SUB", lambda a, b: a - b)
arithmetic_int("MUL", lambda a, b: a.astype(object) * b.astype(object))
arithmetic_int("DIV", lambda a, b: a // b)

QUANT_PAIRS = [(U8(0.5, 128), U8(0.25, 3)), (U8(1e-3, 0), U8(2.0, 255)), (S8(0.5, 0), S8(0.5, 0)),
               (S8(0.5, -128), S8(3e-4, 127))]


def operands(types):
    """Pairs of operands of these types, with small ranges, so that equal elements are frequent."""
    for type, other in types:
        for left, right in PAIRS + DEEP:
            if type in FLOATS:
                yield real(type, integers(-2, 2, left) / 2), real(type, integers(-2, 2, right) / 2)
            else:
                yield draw(type, left, -2, 2), draw(other, right, -2, 2)
        if type in FLOATS:
            values = EXTREME[type]
            yield real(type, values, (len(values), 1)), real(type, values)


def compare(op, function):
    seed(op)
    for a, b in operands([(B8, B8), (F16, F16), (F32, F32), (I32, I32), *QUANT_PAIRS]):
        check(op, [a, b], [stored(B8, function(a.real, b.real))])


def choose(op, function):
    """Results that are one of both operands; their scale may differ from the operands'."""
    seed(op)
    for a, b in operands([(F16, F16), (F32, F32), (I32, I32), *QUANT_PAIRS]):
        out = a.type._replace(scale=single(0.3), zero=7) if a.type.scale else a.type
        check(op, [a, b], [result(out, function(a.real, b.real))])


compare("EQUAL", np.equal)
compare("LESS", np.less)
choose("MAXIMUM", np.maximum)
choose("MINIMUM", np.minimum)
compare("NOT_EQUAL", np.not_equal)
compare("LESS_EQUAL", np.less_equal)
compare("GREATER", np.greater)
compare("GREATER_EQUAL", np.greater_equal)

for op, function in [("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or)]:
    seed(op)
    for left, right in PAIRS + DEEP:
        a, b = draw(B8, left), draw(B8, right)
        check(op, [a, b], [stored(B8, function(a.stored, b.stored))])

seed("PRELU")
for type, slope, out in [(F32,) * 3, (F16,) * 3, (U8(0.5, 128), U8(0.25, 3), U8(0.5, 100)), (U8(1e-3, 255), U8(2.0, 0), U8(0.25, 250)),
                         (S8(0.5, 0), S8(0.5, 0), S8(0.5, 0)), (S8(0.5, 100), S8(3e-4, 127), S8(0.01, 5))]:
    for left, right in PAIRS + DEEP:
        x, alpha = draw(type, left), draw(slope, right)
        check("PRELU", [x, alpha], [result(out, np.where(x.real < 0, alpha.real * x.real, x.real))])
        if alpha.real.size:
            check("PRELU", [x, Const(alpha)], [result(out, np.where(x.real < 0, alpha.real * x.real, x.real))], "constant")


def power(op, a, b, name=""):
    with np.errstate(all="ignore"):
        check(op, [a, b], [result(a.type, np.power(a.real, b.real))], name)


seed("POW")
for type in FLOATS:
    for left, right in PAIRS + DEEP:
        power("POW", draw(type, left, 0.1, 3), draw(type, right, -3, 3))
        power("POW", draw(type, left), real(type, integers(-3, 4, right)), "whole")
        power("POW", draw(type, left), draw(type, right), "fraction")
    ends = [0.0, -0.0, 1, -1, 2, -2, 0.5, 1e-4, 60000, np.inf, -np.inf, np.nan, 1.001, -3, 11]
    power("POW", real(type, ends, (len(ends), 1)), real(type, ends), "extreme")
