"""Operations along one or several dimensions."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

SHAPES = [(1,), (5,), (1, 1), (2, 3), (3, 1, 2), (2, 3, 4, 5), (1, 7, 1, 1)]
EMPTY = [(0, 3), (2, 0, 3)]


def axes_of(shape):
    return range(-len(shape), len(shape))


def softmax(x, beta, axis):
    e = np.exp((x - x.max(axis, keepdims=True)) * beta) if x.size else x
    return e / e.sum(axis, keepdims=True)


seed("SOFTMAX")
for type, out in [(F32, F32), (F16, F16), (U8(0.1, 100), U8(1 / 256, 0)), (U8(5.0, 0), U8(1 / 256, 0)),
                  (S8(0.1, 5), S8(1 / 256, -128)), (S8(1e-4, 5), S8(1 / 256, -128))]:
    for shape in SHAPES + EMPTY:
        for beta in (1.0, 0.125, 20.0):
            x = draw(type, shape, -30, 30)
            scalar_beta = Scalar("FLOAT16" if type == F16 else "FLOAT32", beta)
            axis = int(integers(-len(shape), len(shape) - 1))
            if 0 not in (shape[axis], shape[-1]):
                check("SOFTMAX", [x, scalar_beta, axis], [result(out, softmax(x.real, beta, axis))], "axis")
                check("SOFTMAX", [x, scalar_beta], [result(out, softmax(x.real, beta, -1))])
x = real(F32, [3e38, -3e38, 0, 3e38])
check("SOFTMAX", [x, 1.0], [result(F32, [0.5, 0, 0, 0.5])], "extreme")
refuse("SOFTMAX", [x, 0.0], [x])


def normalise(x, axis):
    length = np.sqrt((x * x).sum(axis, keepdims=True))
    return np.divide(x, length, out=np.zeros_like(x), where=length > 0)


seed("L2_NORMALIZATION")
for type, out in [(F32, F32), (F16, F16), (U8(0.1, 100), U8(1 / 128, 128)), (U8(5.0, 255), U8(1 / 128, 128)),
                  (S8(0.1, 5), S8(1 / 128, 0)), (S8(1e-4, -128), S8(1 / 128, 0))]:
    for shape in SHAPES + EMPTY:
        for axis in axes_of(shape):
            x = draw(type, shape)
            if type.zero == 255:  # includes vectors of zeros
                x = stored(type, np.where(x.stored < 128, 255, x.stored))
            check("L2_NORMALIZATION", [x, axis], [result(out, normalise(x.real, axis))], "axis")
        check("L2_NORMALIZATION", [x], [result(out, normalise(x.real, -1))])
for values in ([0, 0, 0], [1e-30, 2e-30, -2e-30], [1e30, 2e30, -2e30], [1e-45, 0, 0]):
    x = real(F32, values)
    check("L2_NORMALIZATION", [x], [result(F32, normalise(x.real, -1))], "extreme")

for op, find in [("ARGMAX", np.argmax), ("ARGMIN", np.argmin)]:
    seed(op)
    for type in [F16, F32, I32, U8(0.5, 3), S8(0.5, 3)]:
        for shape in SHAPES + [(2, 1, 2, 1, 2, 1, 2, 1, 2, 3), (3, 0)]:
            for axis in axes_of(shape):
                if shape[axis] == 0:
                    continue
                x = draw(type, shape, -2, 2)
                if type in FLOATS:
                    x = real(type, np.round(x.real))  # ties: the first one counts
                found = find(x.real, axis)
                check(op, [x, axis], [stored(I32, found.reshape(found.shape or (1,)))])

seed("MEAN")
for type in [F32, F16, U8(0.5, 100), U8(1e-3, 0), S8(0.5, 3), S8(7.0, -128)]:
    for shape in SHAPES:
        for axes in [[0], [-1], list(range(len(shape))), [0, -len(shape), 0], list(range(1, len(shape)))]:
            if not axes:
                continue
            x = draw(type, shape)
            reduced = tuple({a % len(shape) for a in axes})
            for keep in (0, 1):
                mean = x.real.mean(reduced, keepdims=bool(keep))
                check("MEAN", [x, Const(stored(I32, axes, (len(axes),))), keep],
                      [result(type, mean.reshape(mean.shape or (1,)))])
x = stored(U8(1.0, 0), [0, 1, 1, 2, 254, 255], (3, 2))  # ties go away from zero
check("MEAN", [x, Const(stored(I32, [1])), 0], [stored(x.type, [1, 2, 255])], "ties")
x = stored(S8(1.0, 10), [8, 9, 10, 11], (2, 2))
check("MEAN", [x, Const(stored(I32, [1])), 0], [stored(x.type, [8, 11])], "ties")


def log_softmax(x, beta, axis):
    t = (x - x.max(axis, keepdims=True)) * beta if x.size else x
    return t - np.log(np.exp(t).sum(axis, keepdims=True))


seed("LOG_SOFTMAX")
for type, kind in [(F32, "FLOAT32"), (F16, "FLOAT16")]:
    for shape in SHAPES + [(2, 1, 2, 1, 2, 1, 2, 1, 2, 3), (0, 3), (2, 0, 3)]:
        for beta in (1.0, 0.125, 20.0):
            axis = int(integers(-len(shape), len(shape) - 1))
            if shape[axis]:
                x = draw(type, shape, -30, 30)
                check("LOG_SOFTMAX", [x, Scalar(kind, beta), axis], [result(type, log_softmax(x.real, beta, axis))])
x = real(F32, [3e38, -3e38, 0, 3e38])
check("LOG_SOFTMAX", [x, 1.0, 0], [result(F32, log_softmax(x.real, 1, 0))], "extreme")
x = real(F32, [1000, 1000.5, 999])
check("LOG_SOFTMAX", [x, 1.0, -1], [result(F32, log_softmax(x.real, 1, 0))], "shifted")
refuse("LOG_SOFTMAX", [x, 0.0, 0], [x])
refuse("LOG_SOFTMAX", [x, 1.0, 1], [x])


def reduction(op, types, function, low=-4, high=4):
    """function(real values, axes, keepdims); all axes of all shapes, alone and together, from either end."""
    seed(op)
    for type in types:
        for shape in SHAPES + [(2, 0, 3), (0,)]:
            for axes in [[0], [-1], list(range(len(shape))), [0, -len(shape), 0], list(range(1, len(shape)))]:
                reduced = tuple({a % len(shape) for a in axes})
                if not axes:
                    continue
                x = draw(type, shape, low, high)
                for keep in (False, True):
                    y = np.asarray(function(x.real, reduced, keep))
                    check(op, [x, Const(stored(I32, axes, (len(axes),))), keep], [result(type, y.reshape(y.shape or (1,)))])
    x = draw(types[0], (2, 3), low, high)
    refuse(op, [x, Const(stored(I32, [2])), True], [draw(types[0], (2, 3))])
    refuse(op, [x, Const(stored(I32, [-3])), True], [draw(types[0], (2, 3))])


ORDERED = [F32, F16, U8(0.5, 100), U8(1e-3, 0), S8(0.5, 3), S8(7.0, -128)]
reduction("REDUCE_MAX", ORDERED, lambda x, axes, keep: x.max(axes, keepdims=keep, initial=-np.inf))
reduction("REDUCE_MIN", ORDERED, lambda x, axes, keep: x.min(axes, keepdims=keep, initial=np.inf))
reduction("REDUCE_SUM", [F32, F16], lambda x, axes, keep: x.sum(axes, keepdims=keep))
reduction("REDUCE_PROD", [F32, F16], lambda x, axes, keep: x.prod(axes, keepdims=keep), -1.5, 1.5)
reduction("REDUCE_ALL", [B8], lambda x, axes, keep: x.all(axes, keepdims=keep))
reduction("REDUCE_ANY", [B8], lambda x, axes, keep: x.any(axes, keepdims=keep))
x = real(F32, [1e30, 1.0, -1e30, 1.0])
check("REDUCE_SUM", [x, Const(stored(I32, [0])), False], [real(F32, [2.0 if 1e30 + 1 != 1e30 else 1.0])], "cancels")
x = real(F32, [1e30, 1e30, 1e-30, 1e-30])
check("REDUCE_PROD", [x, Const(stored(I32, [0])), False], [result(F32, [x.real.prod()])], "leaves_single_range")
