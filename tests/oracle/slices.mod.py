"""Parts, repetitions, reversals, paddings and new dimensions."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

FOUR = [F32, F16, U8(0.5, 128), S8(0.25, -3)]
FIVE = [*FOUR, I32]


def moved(x, values):
    return Tensor(x.type, values)


def vector(values):
    return stored(I32, values, (len(values),))


def both(op, x, *operands):
    """Examples with the operands as constants, and as inputs of the model; scalars are constants in both."""
    rest, out = operands[:-1], operands[-1]
    for wrap in (Const, lambda t: t):
        check(op, [x, *[wrap(o) if isinstance(o, Tensor) else o for o in rest]], [out])


seed("SLICE")
for type in FIVE:
    for shape, begin, size in [((1,), [0], [1]), ((5,), [2], [-1]), ((5,), [1], [3]), ((3, 4), [0, 1], [3, 2]),
                               ((3, 4), [2, 0], [-1, -1]), ((2, 3, 4), [1, 0, 2], [1, 3, 1]),
                               ((2, 3, 4, 5), [0, 1, 1, 0], [2, -1, 2, 5]), ((1, 1, 1, 1, 1, 3), [0] * 6, [1] * 5 + [2]),
                               ((3,), [1], [0]), ((3,), [3], [-1]), ((2, 3), [0, 3], [2, 0]), ((0, 3), [0, 1], [-1, 2]),
                               ((2, 1, 1, 1, 1, 1, 1, 1, 1, 2), [1] + [0] * 9, [-1] * 10)]:
        x = draw(type, shape)
        cut = tuple(slice(b, shape[i] if n == -1 else b + n) for i, (b, n) in enumerate(zip(begin, size)))
        both("SLICE", x, vector(begin), vector(size), moved(x, x.stored[cut]))
for begin, size in [([3], [2]), ([-1], [1]), ([0], [-2]), ([5], [0]), ([2**31 - 1], [2]), ([1], [2**31 - 1])]:
    refuse("SLICE", [draw(F32, (4,)), vector(begin), vector(size)], [Unknown(draw(F32, (1,)), (0,))])

seed("STRIDED_SLICE")


def taken(x, begin, end, strides, begin_mask, end_mask, shrink):
    cut = []
    for i in range(x.stored.ndim):
        b = None if begin_mask >> i & 1 else begin[i]
        e = None if end_mask >> i & 1 else end[i]
        cut.append(slice(b, e, strides[i]))
    part = x.stored[tuple(cut)]
    kept = [n for i, n in enumerate(part.shape) if not shrink >> i & 1]
    return part.reshape(kept or [1])


for type in FOUR:
    for shape, begin, end, strides, masks in [
            ((4,), [1], [3], [1], (0, 0, 0)), ((4,), [-3], [3], [1], (0, 0, 0)), ((4,), [-5], [3], [1], (0, 0, 0)),
            ((4,), [1], [-2], [1], (0, 0, 0)), ((4,), [1], [9], [1], (0, 0, 0)), ((4,), [1], [3], [1], (1, 0, 0)),
            ((4,), [1], [3], [1], (0, 1, 0)), ((4,), [-1], [-4], [-1], (0, 0, 0)), ((4,), [-1], [-5], [-1], (0, 0, 0)),
            ((4,), [9], [-9], [-2], (0, 0, 0)), ((4,), [2], [0], [-1], (1, 0, 0)), ((4,), [2], [0], [-1], (0, 1, 0)),
            ((4,), [2], [0], [-3], (1, 1, 0)), ((4,), [1], [2], [1], (0, 0, 1)), ((1,), [0], [1], [5], (0, 0, 0)),
            ((7,), [0], [7], [3], (0, 0, 0)), ((8,), [7], [0], [-3], (0, 0, 0)),
            ((2, 3), [1, 0], [2, 2], [1, 1], (0, 0, 0)), ((2, 3), [1, 2], [2, 0], [1, -1], (0, 0, 1)),
            ((2, 3), [0, 0], [1, 3], [1, 2], (1, 2, 1)), ((2, 3, 4), [0, 0, -1], [2, 3, 0], [1, 2, -2], (2, 1, 0)),
            ((2, 3, 4), [1, 1, 1], [2, 2, 2], [1, 1, 1], (0, 0, 7)), ((3, 2, 4, 5), [2, 0, 1, 4], [-9, 1, 3, -9],
                                                                       [-2, 1, 1, -3], (0, 0, 2)),
            ((4,), [2], [2], [1], (0, 0, 0)), ((4,), [3], [1], [1], (0, 0, 0)), ((4,), [1], [3], [-1], (0, 0, 0)),
            ((0,), [0], [3], [1], (0, 0, 0)), ((0, 2), [0, 1], [0, 2], [-1, 1], (1, 1, 2)),
            ((4,), [-2**31], [2**31 - 1], [2**31 - 1], (0, 0, 0)), ((4,), [2**31 - 1], [-2**31], [-2**31], (0, 0, 0))]:
        x = draw(type, shape)
        want = taken(x, begin, end, strides, *masks)
        both("STRIDED_SLICE", x, vector(begin), vector(end), vector(strides), *masks, moved(x, want))
for begin, end, stride, shrink in [([0], [1], [0], 0), ([0], [2], [1], 1), ([1], [1], [1], 1), ([1], [0], [-1], 1)]:
    refuse("STRIDED_SLICE", [draw(F32, (4,)), vector(begin), vector(end), vector(stride), 0, 0, shrink],
           [Unknown(draw(F32, (1,)), (0,))])

seed("REVERSE")
for type in FIVE:
    for shape, axis in [((1,), 0), ((5,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4, 2), 3), ((0, 3), 0),
                        ((3, 0), 0), ((2, 1, 2, 1, 2, 1, 2, 3), 7), ((2, 1, 2, 1, 2, 1, 2, 3), 4)]:
        x = draw(type, shape)
        both("REVERSE", x, vector([axis]), moved(x, np.flip(x.stored, axis)))
for axis in (-1, 2):
    refuse("REVERSE", [draw(F32, (2, 3)), vector([axis])], [draw(F32, (2, 3))])
refuse("REVERSE", [draw(F32, (1,) * 9), vector([0])], [draw(F32, (1,) * 9)])
refuse("REVERSE", [draw(F32, (2, 3)), vector([0, 1])], [draw(F32, (2, 3))])

seed("TILE")
for type in FIVE:
    for shape, times in [((1,), [1]), ((1,), [7]), ((3,), [2]), ((2, 3), [1, 2]), ((2, 3), [3, 1]), ((2, 3), [2, 2]),
                         ((2, 1, 3), [1, 4, 2]), ((2, 3, 1, 2), [2, 1, 3, 2]), ((2, 3), [0, 2]), ((0, 3), [2, 2]),
                         ((1, 2, 1, 1, 2, 1, 1, 1, 1, 2), [2, 1, 2, 1, 2, 1, 1, 2, 1, 2])]:
        x = draw(type, shape)
        both("TILE", x, vector(times), moved(x, np.tile(x.stored, times)))
refuse("TILE", [draw(F32, (2,)), vector([-1])], [Unknown(draw(F32, (1,)), (0,))])
refuse("TILE", [draw(F32, (65536,)), vector([65536])], [Unknown(draw(F32, (1,)), (0,))])

seed("EXPAND_DIMS")
for type in FIVE:
    for shape, axis in [((1,), 0), ((3,), 1), ((3,), -1), ((3,), -2), ((2, 3), 1), ((2, 3, 4), -4), ((2, 3, 4, 5), 2),
                        ((0,), 0), ((2, 0), 2), ((1, 2, 1, 1, 2, 1, 1, 1, 2), -10)]:
        x = draw(type, shape)
        check("EXPAND_DIMS", [x, axis], [moved(x, np.expand_dims(x.stored, axis))])
for axis in (2, -3):
    refuse("EXPAND_DIMS", [draw(F32, (3,)), axis], [Unknown(draw(F32, (1, 3)), (0, 3))])

seed("PACK")
for type in FIVE:
    for shape, axis, n in [((1,), 0, 1), ((3,), 0, 2), ((3,), 1, 2), ((2, 3), 0, 3), ((2, 3), 1, 2), ((2, 3), 2, 5),
                           ((2, 3, 4), 2, 2), ((2, 1, 2, 1, 2, 1, 1, 1, 2), 9, 2), ((0,), 1, 2), ((2, 0), 0, 3)]:
        parts = [draw(type, shape) for _ in range(n)]
        check("PACK", [axis, *parts], [moved(parts[0], np.stack([p.stored for p in parts], axis))])
x, y = draw(F32, (2,)), draw(F32, (2,))
for axis in (-1, 2):
    refuse("PACK", [axis, x, y], [Unknown(draw(F32, (2, 2)), (0, 2))])
refuse("PACK", [0, x, draw(F32, (3,))], [Unknown(draw(F32, (2, 2)), (0, 2))])

seed("PAD_V2")
PADS = [((1,), [[0, 0]]), ((3,), [[2, 1]]), ((2, 3), [[1, 0], [0, 2]]), ((2, 1, 2), [[0, 1], [2, 2], [3, 0]]),
        ((1, 2, 3, 2), [[0, 0], [1, 2], [3, 1], [0, 1]]), ((0,), [[1, 2]]), ((2, 0), [[0, 0], [0, 0]])]
for type, value in [(F32, Scalar("FLOAT32", 9.5)), (F32, Scalar("FLOAT32", -3e38)), (F16, Scalar("FLOAT16", -0.1)),
                    (U8(0.5, 128), 0), (U8(0.5, 3), 255), (S8(0.25, -3), -128), (S8(0.25, 5), 127)]:
    fill = value if isinstance(value, int) else result(type, value.value).stored
    for shape, pads in PADS:
        x = draw(type, shape)
        both("PAD_V2", x, stored(I32, pads), value, moved(x, np.pad(x.stored, pads, constant_values=fill)))
for type, value in [(U8(), 256), (U8(), -1), (S8(), 128)]:
    refuse("PAD_V2", [draw(type, (2,)), stored(I32, [[1, 1]]), value], [draw(type, (4,))])
refuse("PAD_V2", [draw(F32, (2,)), stored(I32, [[-1, 1]]), 0.0], [draw(F32, (2,))])

seed("MIRROR_PAD")
for type in FIVE:
    for shape, pads, mode in [((1,), [[0, 0]], 0), ((1,), [[1, 1]], 1), ((3,), [[2, 1]], 0), ((3,), [[2, 3]], 1),
                              ((2, 3), [[1, 0], [2, 2]], 0), ((2, 3), [[1, 2], [0, 3]], 1),
                              ((2, 3, 4), [[1, 1], [1, 2], [0, 3]], 0), ((2, 2, 1, 3), [[2, 0], [1, 2], [1, 1], [3, 3]], 1),
                              ((2, 1, 1, 2, 1, 1, 1, 1, 1, 2), [[1, 1]] + [[0, 0]] * 8 + [[1, 0]], 0),
                              ((0, 2), [[0, 0], [1, 1]], 1), ((0, 2), [[0, 0], [1, 1]], 0)]:
        x = draw(type, shape)
        want = np.pad(x.stored, pads, "symmetric" if mode else "reflect")
        both("MIRROR_PAD", x, stored(I32, pads), mode, moved(x, want))
for pads, mode in [([[3, 0]], 0), ([[0, 4]], 1), ([[-1, 0]], 1), ([[1, 1]], 2)]:
    refuse("MIRROR_PAD", [draw(F32, (3,)), stored(I32, pads), mode], [Unknown(draw(F32, (1,)), (0,))])
