"""Rearrangement of blocks of pixels to channels or batches and back, and of channels."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

TYPES = [F32, F16, U8(0.5, 128), S8(0.25, -3)]


def moved(x, values):
    return Tensor(x.type, values)


def vector(values):
    return stored(I32, values, (len(values),))


def layouts(op, x, operands, values):
    """Examples without the layout operand, in NHWC and in NCHW."""
    want = moved(x, values)
    check(op, [x, *operands], [want])
    check(op, [x, *operands, False], [want], "nhwc")
    check(op, [x.nchw(), *operands, True], [want.nchw()], "nchw")


def to_space(x, b):
    """Channel (i * b + j) * C + c of a pixel becomes channel c of pixel (i, j) of its block."""
    n, h, w, depth = x.shape
    c = depth // (b * b)
    y = np.empty((n, h * b, w * b, c), x.dtype)
    for i in range(b):
        for j in range(b):
            y[:, i::b, j::b, :] = x[:, :, :, (i * b + j) * c:(i * b + j + 1) * c]
    return y


def to_depth(x, b):
    parts = [x[:, i::b, j::b, :] for i in range(b) for j in range(b)]
    return np.concatenate(parts, 3)


def to_batch(x, b0, b1):
    return np.concatenate([x[:, i::b0, j::b1, :] for i in range(b0) for j in range(b1)], 0)


def from_batch(x, b0, b1):
    n = x.shape[0] // (b0 * b1)
    y = np.empty((n, x.shape[1] * b0, x.shape[2] * b1, x.shape[3]), x.dtype)
    for i in range(b0):
        for j in range(b1):
            at = (i * b1 + j) * n
            y[:, i::b0, j::b1, :] = x[at:at + n]
    return y


def image(size=(1, 1, 1, 1)):
    return Unknown(draw(F32, size), (0, 1, 1, 1))


seed("DEPTH_TO_SPACE")
for type in TYPES:
    for shape, b in [((1, 1, 1, 1), 1), ((1, 1, 1, 4), 2), ((2, 2, 3, 8), 2), ((1, 3, 2, 9), 3), ((1, 2, 2, 32), 4),
                     ((0, 2, 2, 4), 2), ((1, 0, 2, 4), 2), ((1, 2, 2, 0), 2)]:
        x = draw(type, shape)
        layouts("DEPTH_TO_SPACE", x, [b], to_space(x.stored, b))
for b in (0, -1, 3, 2**31 - 1):
    refuse("DEPTH_TO_SPACE", [draw(F32, (1, 2, 2, 4)), b], [image()])

seed("SPACE_TO_DEPTH")
for type in TYPES:
    for shape, b in [((1, 1, 1, 1), 1), ((1, 2, 2, 1), 2), ((2, 4, 6, 2), 2), ((1, 3, 6, 1), 3), ((1, 4, 8, 3), 4),
                     ((0, 2, 2, 3), 2), ((2, 0, 4, 1), 2), ((1, 2, 2, 0), 2)]:
        x = draw(type, shape)
        layouts("SPACE_TO_DEPTH", x, [b], to_depth(x.stored, b))
for b in (0, -1, 3, 2**31 - 1):
    refuse("SPACE_TO_DEPTH", [draw(F32, (1, 2, 4, 1)), b], [image()])

seed("BATCH_TO_SPACE_ND")
for type in TYPES:
    for shape, b in [((1, 1, 1, 1), (1, 1)), ((4, 1, 1, 1), (2, 2)), ((6, 2, 3, 2), (3, 2)), ((4, 3, 2, 1), (1, 2)),
                     ((8, 2, 2, 3), (4, 1)), ((0, 2, 2, 1), (2, 2)), ((4, 0, 2, 1), (2, 2)), ((4, 2, 2, 0), (2, 2))]:
        x = draw(type, shape)
        want = from_batch(x.stored, *b)
        layouts("BATCH_TO_SPACE_ND", x, [Const(vector(b))], want)
        check("BATCH_TO_SPACE_ND", [x, vector(b)], [moved(x, want)], "input")
for b in [(0, 1), (1, -1), (3, 1), (2**31 - 1, 2**31 - 1)]:
    refuse("BATCH_TO_SPACE_ND", [draw(F32, (4, 1, 1, 1)), vector(b)], [image()])

seed("SPACE_TO_BATCH_ND")
for type in TYPES:
    for shape, b, pads in [((1, 1, 1, 1), (1, 1), [[0, 0], [0, 0]]), ((1, 2, 2, 1), (2, 2), [[0, 0], [0, 0]]),
                           ((2, 4, 6, 2), (2, 3), [[0, 0], [0, 0]]), ((1, 3, 2, 2), (2, 2), [[1, 0], [0, 2]]),
                           ((2, 1, 1, 1), (3, 2), [[1, 1], [2, 1]]), ((1, 5, 2, 1), (3, 2), [[0, 1], [2, 0]]),
                           ((1, 2, 3, 1), (4, 5), [[5, 1], [3, 4]]), ((0, 2, 2, 1), (2, 2), [[0, 0], [0, 0]]),
                           ((1, 0, 2, 1), (2, 2), [[2, 2], [0, 0]]), ((1, 0, 2, 1), (2, 2), [[0, 0], [0, 0]])]:
        x = draw(type, shape)
        padded = np.pad(x.stored, [[0, 0], *pads, [0, 0]], constant_values=type.zero)
        want = to_batch(padded, *b)
        layouts("SPACE_TO_BATCH_ND", x, [Const(vector(b)), Const(stored(I32, pads))], want)
        check("SPACE_TO_BATCH_ND", [x, vector(b), stored(I32, pads)], [moved(x, want)], "input")
for b, pads in [((0, 1), [[0, 0], [0, 0]]), ((2, 2), [[-1, 1], [0, 0]]), ((2, 2), [[1, 0], [0, 0]]),
                ((2, 3), [[0, 0], [0, 0]]), ((2**31 - 1, 1), [[0, 2**31 - 1], [0, 0]])]:
    refuse("SPACE_TO_BATCH_ND", [draw(F32, (1, 2, 2, 1)), vector(b), stored(I32, pads)], [image()])

seed("CHANNEL_SHUFFLE")
for type in TYPES:
    for shape, groups, axis in [((1,), 1, 0), ((6,), 2, 0), ((6,), 3, -1), ((6,), 6, 0), ((2, 6), 3, 1), ((6, 2), 2, -2),
                                ((2, 4, 3), 2, 1), ((2, 3, 2, 9), 3, 3), ((4, 3, 2, 2), 4, 0), ((0, 6), 3, 1), ((3, 0), 2, 1)]:
        x = draw(type, shape)
        at = axis % len(shape)
        if x.stored.size:
            split = shape[:at] + (groups, shape[at] // groups) + shape[at + 1:]
            values = x.stored.reshape(split).swapaxes(at, at + 1).reshape(shape)
        else:
            values = x.stored
        check("CHANNEL_SHUFFLE", [x, groups, axis], [moved(x, values)])
for groups, axis in [(0, 0), (-2, 0), (3, 0), (2, 1), (2, -2)]:
    refuse("CHANNEL_SHUFFLE", [draw(F32, (4,)), groups, axis], [draw(F32, (4,))])
