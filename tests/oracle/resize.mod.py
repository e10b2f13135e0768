"""Resizing of images."""
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

TYPES = [F32, F16, U8(0.5, 128), S8(0.25, -3)]
SCALAR = {F32: "FLOAT32", F16: "FLOAT16"}


def places(n_in, n_out, corners, half):
    """The exact positions of output pixels in the input."""
    for o in range(n_out):
        if half:
            yield (o + Fraction(1, 2)) * Fraction(n_in, n_out) - Fraction(1, 2)
        elif corners and n_out > 1:
            yield o * Fraction(n_in - 1, n_out - 1)
        else:
            yield o * Fraction(n_in, n_out)


def linear(n_in, n_out, corners, half):
    """The matrix of the interpolation weights of rows (or columns)."""
    m = np.zeros((n_out, n_in))
    for o, place in enumerate(places(n_in, n_out, corners, half)):
        place = min(max(place, 0), n_in - 1)
        first = int(place)
        m[o, first] += float(1 - (place - first))
        m[o, min(first + 1, n_in - 1)] += float(place - first)
    return m


def nearest(n_in, n_out, corners, half):
    at = []
    for place in places(n_in, n_out, corners, half):
        shift = Fraction(1, 2) if corners or half else 0  # half pixels: positions are less by half a pixel
        at.append(min(int((place + shift) // 1), n_in - 1))
    return at


def bilinear(x, height, width, corners, half):
    rows, columns = linear(x.shape[1], height, corners, half), linear(x.shape[2], width, corners, half)
    return result(x.type, np.einsum("ih,jw,nhwc->nijc", rows, columns, x.real))


def nearest_neighbour(x, height, width, corners, half):
    rows, columns = nearest(x.shape[1], height, corners, half), nearest(x.shape[2], width, corners, half)
    return Tensor(x.type, x.stored[:, rows][:, :, columns])


MODES = [(False, False), (True, False), (False, True)]
SIZES = [((1, 1, 1, 1), 1, 1), ((1, 1, 1, 1), 3, 4), ((1, 2, 2, 1), 3, 3), ((2, 2, 3, 2), 4, 6), ((1, 4, 5, 3), 2, 3),
         ((1, 5, 3, 1), 1, 1), ((1, 3, 7, 2), 7, 5), ((1, 8, 6, 1), 4, 3), ((1, 2, 1, 1), 5, 2), ((0, 2, 2, 1), 3, 3)]


def sweep(op, resize, least):
    seed(op)
    for type in TYPES:
        for shape, height, width in SIZES:
            for corners, half in MODES:
                x = draw(type, shape)
                want = resize(x, height, width, corners, half)
                check(op, [x, width, height, False, corners, half], [want])
                check(op, [x.nchw(), width, height, True, corners, half], [want.nchw()], "nchw")
            for given in range(least, 3):
                x = draw(type, shape)
                check(op, [x, width, height, *[False] * given], [resize(x, height, width, False, False)], "defaults")
        kind = SCALAR.get(type, "FLOAT32")
        for shape, sy, sx in [((1, 2, 2, 1), 1.5, 1.5), ((2, 3, 4, 2), 2.0, 0.5), ((1, 10, 3, 1), 0.7, 1.7), ((1, 3, 3, 1), 0.34, 1.0)]:
            height, width = (int(np.floor(np.float32(n * float((np.float16 if kind == "FLOAT16" else np.float32)(s)))))
                             for n, s in ((shape[1], sy), (shape[2], sx)))
            for corners, half in MODES:
                x = draw(type, shape)
                scales = [Scalar(kind, sx), Scalar(kind, sy)]
                want = resize(x, height, width, corners, half)
                check(op, [x, *scales, False, corners, half], [want], "scales")
                check(op, [x.nchw(), *scales, True, corners, half], [want.nchw()], "scales")
            for given in range(least, 3):
                x = draw(type, shape)
                check(op, [x, *scales, *[False] * given], [resize(x, height, width, False, False)], "defaults")
    anything = Unknown(draw(F32, (1, 2, 2, 1)), (1, 0, 2, 1))
    x = draw(F32, (1, 3, 3, 1))
    for width, height in [(0, 2), (2, 0), (-1, 2), (2, -3)]:
        refuse(op, [x, width, height, False], [anything])
    for scale in (0.3, 0.0, -1.0, float("inf"), float("nan"), 1e10):
        refuse(op, [x, Scalar("FLOAT32", scale), Scalar("FLOAT32", 1.0), False], [anything])
    refuse(op, [x, 2, 2, False, True, True], [anything])
    refuse(op, [draw(F32, (1, 0, 3, 1)), 2, 2, False], [anything])


sweep("RESIZE_BILINEAR", bilinear, 0)
sweep("RESIZE_NEAREST_NEIGHBOR", nearest_neighbour, 1)
