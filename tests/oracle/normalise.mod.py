"""INSTANCE_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *


def number(type, value):
    """A scalar of the type that belongs to a tensor type, and its value after rounding."""
    stored = np.float16(value) if type == F16 else np.float32(value)
    return Scalar("FLOAT16" if type == F16 else "FLOAT32", float(stored)), float(stored)


seed("INSTANCE_NORMALIZATION")
IMAGES = [(1, 1, 1, 1), (2, 3, 4, 2), (1, 5, 1, 3), (3, 1, 7, 1), (0, 2, 2, 3), (1, 20, 20, 2)]
for type, shape, (gamma, beta, epsilon) in itertools.product(FLOATS, IMAGES, [(1, 0, 1e-3), (-2.5, 3, 0.1), (0, 1, 0.5), (7, -1, 4)]):
    x = draw(type, shape, -9, 9)
    scalars, (g, b, e) = zip(*(number(type, value) for value in (gamma, beta, epsilon)))
    mean = x.real.mean((1, 2), keepdims=True)
    variance = ((x.real - mean)**2).mean((1, 2), keepdims=True)
    y = result(type, (x.real - mean) / np.sqrt(variance + e) * g + b)
    check("INSTANCE_NORMALIZATION", [x, *scalars, False], [y], "nhwc")
    check("INSTANCE_NORMALIZATION", [x.nchw(), *scalars, True], [y.nchw()], "nchw")
    if x.stored.size:
        check("INSTANCE_NORMALIZATION", [Unknown(x, (0, *shape[1:])), *scalars, False], [Unknown(y, (0, *shape[1:]))], "unknown")
x = real(F32, np.full((1, 2, 2, 1), 1e30))  # variance 0
check("INSTANCE_NORMALIZATION", [x, 5.0, 2.0, 1e-3, False], [real(F32, np.full((1, 2, 2, 1), 2.0))], "constant")
x = real(F32, [1e-30, -1e-30, 3e30, -3e30], (1, 2, 2, 1))
y = x.real / np.sqrt((x.real**2).mean())
check("INSTANCE_NORMALIZATION", [x, 1.0, 0.0, 1e-9, False], [result(F32, y)], "extreme")


def respond(x, radius, bias, alpha, beta, axis):
    squares = np.moveaxis(x * x, axis, -1)
    ends = [(max(0, i - radius), i + radius + 1) for i in range(squares.shape[-1])]
    sums = np.stack([squares[..., lo:hi].sum(-1) for lo, hi in ends], -1) if ends else squares
    return x / (bias + alpha * np.moveaxis(sums, -1, axis))**beta


seed("LOCAL_RESPONSE_NORMALIZATION")
SHAPES = [(1,), (7,), (3, 4), (2, 5, 3), (1, 2, 3, 9), (2, 1, 1, 1), (0, 3), (2, 0, 3), (0, 2, 2, 4)]
for type, shape, (radius, bias, alpha, beta) in itertools.product(FLOATS, SHAPES, [(0, 1, 1, 0.5), (1, 9, 4, 0.75), (2, 0.5, 1e-2, 2),
                                                                                 (20, 2, 3, 0), (2**31 - 1, 1, 0, 1), (3, 1, 1, -1.5)]):
    x = draw(type, shape)
    scalars, values = zip(*(number(type, value) for value in (bias, alpha, beta)))
    for axis in range(-len(shape), len(shape)):
        check("LOCAL_RESPONSE_NORMALIZATION", [x, radius, *scalars, axis], [result(type, respond(x.real, radius, *values, axis))], "axis")
    check("LOCAL_RESPONSE_NORMALIZATION", [x, radius, *scalars], [result(type, respond(x.real, radius, *values, -1))])
x = real(F32, [1e-30, 1e15, -1e15, 0, 1e-40], (1, 1, 1, 5))
check("LOCAL_RESPONSE_NORMALIZATION", [x, 1, 1e-9, 1.0, 0.5], [result(F32, respond(x.real, 1, single(1e-9), 1, 0.5, -1))], "extreme")
refuse("LOCAL_RESPONSE_NORMALIZATION", [x, -1, 1.0, 1.0, 0.5], [x])
refuse("LOCAL_RESPONSE_NORMALIZATION", [x, 1, 1.0, 1.0, 0.5, 4], [x])
