"""Element-wise operations of one operand."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

SHAPES = [(1,), (7,), (2, 3), (1, 1, 1), (2, 1, 3, 2), (0,), (2, 0, 3), (2, 3, 4, 5)]
EXTREME = {
    F32: [0.0, -0.0, 1e-45, -1e-38, 1e-20, 0.5, -0.999, 1, 1.0000001, 6, 6.0000005, 88, -104, 1e10, -3e38],
    F16: [0.0, -0.0, 6e-8, -6.1e-5, 1e-3, 0.5, -0.999, 1, 1.001, 6, 6.004, 11, -17, 65504, -65504],
}


def sweep(op, types, function, same=True, fixed=None):
    """All ranks, the ends of the range, and every stored value of an 8-bit type."""
    seed(op)
    for type in types:
        for shape in SHAPES:
            x = draw(type, shape)
            check(op, [x], [result(fixed or type, function(x.real))])
        if type in FLOATS:
            x = stored(type, real(type, EXTREME[type]).stored)
        else:
            low, high = RANGE[type.code]
            x = stored(type, range(low, high + 1), (4, 64))
        check(op, [x], [result(fixed or type, function(x.real))], "range")


QUANT = [U8(0.05, 128), U8(3.5, 0), S8(0.05, 0), S8(1e-3, 127)]
sweep("RELU", [F32, F16, *QUANT], lambda x: np.maximum(x, 0))
sweep("RELU1", [F32, F16, *QUANT], lambda x: np.clip(x, -1, 1))
sweep("RELU6", [F32, F16, *QUANT], lambda x: np.clip(x, 0, 6))
