"""Element-wise operations of one operand."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

SHAPES = [(1,), (7,), (2, 3), (1, 1, 1), (2, 1, 3, 2), (0,), (2, 0, 3), (2, 3, 4, 5)]
EXTREME = {
    F32: [0.0, -0.0, 1e-45, -1e-38, 1e-20, 0.5, -0.999, 1, 1.0000001, 6, 6.0000005, 16, 88, -87, -104, 1e10, -3e38],
    F16: [0.0, -0.0, 6e-8, -6.1e-5, 1e-3, 0.5, -0.999, 1, 1.001, 6, 6.004, 9, 11, -11, -17, 65504, -65504],
}


def sweep(op, types, function):
    """Examples of one operation; types: pairs of input and output type. All ranks, the ends of the range, every stored
    value of 8 bits."""
    seed(op)
    for type, out in types:
        for shape in SHAPES:
            x = draw(type, shape)
            check(op, [x], [result(out, function(x.real))])
        if type in FLOATS:
            x = real(type, EXTREME[type])
        else:
            low, high = RANGE[type.code]
            x = stored(type, range(low, high + 1), (4, 64))
        check(op, [x], [result(out, function(x.real))], "range")
    type, out = types[0]
    x = draw(type, (2, 3))
    check(op, [Unknown(x, (0, 3))], [Unknown(result(out, function(x.real)), (2, 0))], "unknown")


def same(*types):
    return [(type, type) for type in types]


QUANT = [U8(0.05, 128), U8(3.5, 0), S8(0.05, 0), S8(1e-3, 127), S8(1e-30, -128)]
sweep("RELU", same(F32, F16, *QUANT), lambda x: np.maximum(x, 0))
sweep("RELU1", same(F32, F16, *QUANT), lambda x: np.clip(x, -1, 1))
sweep("RELU6", same(F32, F16, *QUANT), lambda x: np.clip(x, 0, 6))

with np.errstate(over="ignore"):
    sweep("LOGISTIC", same(F32, F16) + [(U8(0.05, 128), U8(1 / 256, 0)), (U8(3.5, 9), U8(1 / 256, 0)),
                                        (S8(0.05, 0), S8(1 / 256, -128)), (S8(1e-3, 127), S8(1 / 256, -128))],
          lambda x: 1 / (1 + np.exp(-x)))
sweep("TANH", same(F32, F16) + [(U8(0.05, 128), U8(1 / 128, 128)), (U8(3.5, 9), U8(1 / 128, 128)),
                                (S8(0.05, 0), S8(1 / 128, 0)), (S8(1e-3, 127), S8(1 / 128, 0))], np.tanh)

FLOATING = same(F32, F16)
ALL = [*SHAPES, (2, 1, 2, 1, 2, 1, 2, 1, 2, 3)]
INTEGERS = [0, 1, -1, 7, 2**31 - 1, -(2**31) + 1, 65536, -65537]


def integer(op, function):
    """Examples of TENSOR_INT32; the result of INT32_MIN, whose negative is not representable, is INT32_MIN."""
    for shape in ALL:
        x = draw(I32, shape, -1000, 1000)
        check(op, [x], [stored(I32, function(x.stored))], "int")
    x = stored(I32, [*INTEGERS, -(2**31)])
    check(op, [x], [stored(I32, [*function(np.array(INTEGERS)), -(2**31)])], "wraps")


sweep("ABS", FLOATING, np.abs)
integer("ABS", np.abs)
sweep("NEG", FLOATING, lambda x: -x)
integer("NEG", lambda x: -x)
sweep("FLOOR", FLOATING, np.floor)
with np.errstate(all="ignore"):
    sweep("EXP", FLOATING, np.exp)
    sweep("LOG", FLOATING, np.log)
    sweep("SQRT", FLOATING, np.sqrt)
    sweep("RSQRT", FLOATING, lambda x: 1 / np.sqrt(x))
sweep("SIN", FLOATING, np.sin)

# Positive numbers of all magnitudes, and numbers whose result is not finite.
seed("domain")
for op, function in [("LOG", np.log), ("SQRT", np.sqrt), ("RSQRT", lambda x: 1 / np.sqrt(x))]:
    for type, reach in [(F32, 126), (F16, 13)]:
        for shape in ALL:
            x = real(type, 2.0 ** draw(F32, shape, -reach, reach).real)
            check(op, [x], [result(type, function(x.real))], "positive")
        x = real(type, [0, np.inf, 1, 1.001, 0.999])
        with np.errstate(divide="ignore"):
            check(op, [x], [result(type, function(x.real))], "edge")

# Quantised: the stored zero gives the largest stored result.
seed("RSQRT quantised")
for type, out in [(U8(0.01, 0), U8(0.04, 0)), (U8(36.0, 0), U8(1.0, 100)), (S8(0.01, -128), S8(0.04, -128)),
                  (S8(1e-3, -128), S8(0.5, 3))]:
    for shape in SHAPES:
        x = draw(type, shape)
        with np.errstate(divide="ignore"):
            check("RSQRT", [x], [result(out, 1 / np.sqrt(x.real))])

seed("SIN far out")
x = real(F32, np.concatenate([draw(F32, 50, -100, 100).real, [1e5, -1e10, 3e38, 3.1415927, 6.2831855, 1.5707964]]))
check("SIN", [x], [result(F32, np.sin(x.real))])

seed("LOGICAL_NOT")
for shape in ALL:
    x = draw(B8, shape)
    check("LOGICAL_NOT", [x], [stored(B8, 1 - x.stored)])

seed("ELU")
for type, kind in [(F32, "FLOAT32"), (F16, "FLOAT16")]:
    for alpha in (1.0, 0.25, 3.0, 0.0, -1.5):
        for shape in ALL:
            x = draw(type, shape)
            y = np.where(x.real < 0, alpha * np.expm1(x.real), x.real)
            check("ELU", [x, Scalar(kind, alpha)], [result(type, y)])
        x = real(type, EXTREME[type])
        check("ELU", [x, Scalar(kind, alpha)], [result(type, np.where(x.real < 0, alpha * np.expm1(np.minimum(x.real, 0)), x.real))],
              "range")

sweep("HARD_SWISH", FLOATING + [(U8(0.05, 128), U8(0.05, 10)), (U8(3.5, 9), U8(2.0, 0)), (S8(0.05, 0), S8(0.03, -120)),
                                (S8(1e-3, 127), S8(1e-4, 127))], lambda x: x * np.clip(x + 3, 0, 6) / 6)
