"""Operations that change the type of a tensor."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

SHAPES = [(1,), (2, 3), (1, 2, 1), (2, 1, 3, 2), (0,), (2, 0, 3)]
DEEP = SHAPES + [(1, 2, 1, 2, 1), (2, 1, 1, 2, 1, 1, 2, 1, 1, 3)]
BYTES = [U8(0.1, 128), U8(3.0, 0), S8(0.1, 0), S8(2e-5, 127)]


def all_stored(type):
    low, high = RANGE[type.code]
    return stored(type, range(low, high + 1))


seed("QUANTIZE")
for type in FLOATS:
    for out in BYTES:
        for shape in DEEP:
            x = draw(type, shape, -20, 20)
            check("QUANTIZE", [x], [result(out, x.real)])
        if out.scale in (single(0.1), 3.0):
            # Ties between two steps, the ends of the range, and values far outside.
            ties = (np.arange(-260, 261) + 0.5) * 3.0
            x = real(type, np.concatenate([ties, [65504, -65504, 0.0, -0.0]]))
            check("QUANTIZE", [x], [result(out, x.real)], "ties")

seed("DEQUANTIZE")
for out in FLOATS:
    for type in [*BYTES, Q8S(0.02), U8(1e-38, 200), S8(1e30, -3)]:
        for shape in SHAPES:
            x = draw(type, shape)
            check("DEQUANTIZE", [x], [result(out, x.real)])
        check("DEQUANTIZE", [all_stored(type)], [result(out, all_stored(type).real)], "range")
    for channel, shape in [(0, (3, 2)), (1, (2, 3)), (3, (1, 2, 2, 3)), (2, (2, 1, 3)), (0, (3,))]:
        x = draw(PC8((0.5, 1e-3, 7.0), channel), shape)
        check("DEQUANTIZE", [x], [result(out, x.real)], "channels")


def cast(x, out):
    """Casts the stored numbers; to integers by truncation and saturation."""
    if out in FLOATS:
        return result(out, x.stored)
    low, high = RANGE[out.code]
    return stored(out, np.clip(np.trunc(np.asarray(x.stored, float)), low, high).astype(np.int64))


seed("CAST")
CASTS = [F16, F32, I32, U8(0.5, 100)]
for type, out in [*itertools.product(CASTS, CASTS), (B8, B8), (Q16A(0.5, 7), Q16A(0.25, 9)),
                  (Q16S(0.5), Q16S(0.25)), (S8(0.5, 3), S8(2.0, 1)), (Q8S(0.5), Q8S(0.5))]:
    for shape in DEEP:
        x = draw(type, shape, -300, 600)
        check("CAST", [x], [cast(x, out)])
    if type in FLOATS:
        x = real(type, [0.0, -0.0, 0.5, -0.5, 0.999, -0.999, 254.9, 255, 255.9, 256, -1, 65504, 1e-7])
    elif type == I32:
        x = stored(I32, [0, 1, -1, 255, 256, 2**24 + 1, 2**24 + 3, 2049, 65503, -65504])
    else:
        x = all_stored(type)
    check("CAST", [x], [cast(x, out)], "range")
