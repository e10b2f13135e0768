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
    """Pairs of an input and an output type: all ranks, the ends of the range, every stored value of 8 bits."""
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
