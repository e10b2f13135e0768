"""Operations that move elements without computing."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

TYPES = [F32, F16, U8(0.5, 128), S8(0.25, -3)]


def moved(x, stored):
    return Tensor(x.type, stored)


def vector(values):
    return stored(I32, values, (len(values),))


seed("CONCATENATION")
for type in TYPES:
    for shape, axis, sizes in [((1,), 0, (1,)), ((3,), 0, (2, 1, 4)), ((2, 3), 1, (1, 3, 2)), ((2, 3), 0, (1, 1)),
                               ((2, 3, 4), 1, (5, 1)), ((2, 3, 4, 5), 3, (2, 7)), ((2, 3, 4, 5), 0, (1, 2)),
                               ((2, 2), 1, (0, 3)), ((2, 3), 0, (0, 0)), ((0, 3), 1, (2, 1))]:
        parts = [draw(type, shape[:axis] + (size,) + shape[axis + 1:]) for size in sizes]
        whole = np.concatenate([part.stored for part in parts], axis)
        check("CONCATENATION", [*parts, axis], [moved(parts[0], whole)])
for make in (U8, S8):  # inputs whose scale differs from the output's
    parts = [draw(make(0.5, 7), (2, 3)), draw(make(0.01, 100), (2, 2)), draw(make(3.0, 0), (2, 1))]
    out = make(0.7, 20)
    check("CONCATENATION", [*parts, 1], [result(out, np.concatenate([part.real for part in parts], 1))], "scales")

seed("SPLIT")
for type in [*TYPES, I32]:
    for shape, axis, n in [((1,), 0, 1), ((6,), 0, 3), ((6,), -1, 2), ((4, 3), 0, 4), ((2, 6), 1, 2), ((2, 3, 4), -2, 3),
                           ((2, 3, 4, 4), 3, 2), ((4, 0), 0, 2), ((0, 4), -1, 4), ((1, 2, 1, 1, 2, 1, 1, 1, 2, 3), 9, 3)]:
        x = draw(type, shape)
        check("SPLIT", [x, axis, n], [moved(x, part) for part in np.split(x.stored, n, axis)])

seed("PAD")
for type in TYPES:
    for shape, pads in [((1,), [[0, 0]]), ((3,), [[2, 1]]), ((2, 3), [[1, 0], [0, 2]]), ((2, 1, 2), [[0, 1], [2, 2], [3, 0]]),
                        ((1, 2, 3, 2), [[0, 0], [1, 2], [3, 1], [0, 1]]), ((0,), [[1, 2]]), ((2, 0), [[0, 0], [0, 0]])]:
        x = draw(type, shape)
        filled = np.pad(x.stored, pads, constant_values=type.zero)
        check("PAD", [x, Const(stored(I32, pads))], [moved(x, filled)])
        check("PAD", [x, stored(I32, pads)], [moved(x, filled)], "input")

seed("RESHAPE")
for type in [*TYPES, I32]:
    for shape, to in [((1,), [1]), ((1,), [1, 1, 1]), ((6,), [2, 3]), ((2, 3), [-1]), ((2, 3, 4), [4, -1]),
                      ((2, 3, 4, 5), [5, 4, 3, 2]), ((1, 1, 1, 7), [7]), ((0, 3), [3, 0]), ((0,), [0, 5]),
                      ((2, 3, 4), [1, 1, 2, 1, 3, 1, 4])]:
        x = draw(type, shape)
        check("RESHAPE", [x, Const(vector(to))], [moved(x, x.stored.reshape(to))])
        check("RESHAPE", [x, vector(to)], [moved(x, x.stored.reshape(to))], "input")

seed("SQUEEZE")
for type in TYPES:
    for shape, dims in [((1,), [0]), ((1, 3), [0]), ((3, 1), [-1]), ((1, 2, 1, 3), [0, 2]), ((1, 2, 1, 3), [2]),
                        ((1, 2, 1), [-3, -3]), ((1, 1, 1, 1), [0, 1, 2, 3]), ((1, 0), [0]), ((2, 3), [])]:
        x = draw(type, shape)
        squeezed = sorted({d % len(shape) for d in dims})
        left = [size for d, size in enumerate(shape) if d not in squeezed] or [1]
        if dims:
            check("SQUEEZE", [x, Const(vector(dims))], [moved(x, x.stored.reshape(left))])
        every = [size for size in shape if size != 1] or [1]
        check("SQUEEZE", [x, Omitted(I32)], [moved(x, x.stored.reshape(every))], "omitted")

seed("TRANSPOSE")
for type in TYPES:
    for shape in [(1,), (3,), (2, 3), (2, 3, 4), (2, 1, 3, 4), (1, 1, 1, 1), (0, 3), (2, 0, 3), (17, 33)]:
        for perm in itertools.islice(itertools.permutations(range(len(shape))), 6):
            x = draw(type, shape)
            check("TRANSPOSE", [x, Const(vector(perm))], [moved(x, x.stored.transpose(perm))])
        check("TRANSPOSE", [x, Omitted(I32)], [moved(x, x.stored.transpose())], "omitted")
