"""Operations that select elements, and FILL and RANK."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

SHAPES = [(1,), (7,), (2, 3), (1, 1, 1), (2, 1, 3, 2), (0,), (2, 0, 3), (2, 1, 2, 1, 2, 1, 2, 1, 2, 3)]

seed("SELECT")
for type, other, out in [(F16,) * 3, (F32,) * 3, (I32,) * 3, (U8(0.5, 3),) * 3, (U8(0.5, 3), U8(0.25, 200), U8(0.4, 7)), (S8(0.5, 3),) * 3,
                         (S8(0.5, 3), S8(1e-3, -128), S8(2.0, 0))]:
    for shape in SHAPES:
        c, a, b = draw(B8, shape), draw(type, shape, -100, 100), draw(other, shape, -100, 100)
        check("SELECT", [c, a, b], [result(out, np.where(c.stored, a.real, b.real))])
a, b = real(F32, [np.nan, np.inf, 1e-45, -0.0]), real(F32, [1, np.nan, -np.inf, 5])
check("SELECT", [stored(B8, [1, 0, 0, 1]), a, b], [real(F32, [np.nan, np.nan, -np.inf, -0.0])], "extreme")
check("SELECT", [stored(B8, [1, 0, 0, 1]), a, Unknown(b, (0,))], [real(F32, [np.nan, np.nan, -np.inf, -0.0])], "unknown")
refuse("SELECT", [stored(B8, [1]), a, b], [a])

seed("FILL")
for type, value in [(F16, Scalar("FLOAT16", -0.5)), (F32, 3.25), (I32, -7), (I32, 2**31 - 1)]:
    for shape in SHAPES:
        number = value.value if isinstance(value, Scalar) else value
        y = result(type, np.full(shape, number, float))
        check("FILL", [Const(stored(I32, shape)), value], [y])
        check("FILL", [stored(I32, shape), value], [y], "dims_as_input")
refuse("FILL", [stored(I32, [2, -1]), 1.0], [draw(F32, (2, 1))])

seed("RANK")
for type in [F16, F32, I32, B8, U8(), S8(), Q16A(), Q16S(), Q8S(), PC8((0.5,))]:
    for shape in [shape for shape in SHAPES if not type.scales or shape[0] == 1]:
        check("RANK", [draw(type, shape)], [Scalar("INT32", len(shape))])

seed("TOPK_V2")
for type in [F16, F32, I32, U8(0.5, 3), S8(0.5, 3)]:
    for shape in [shape for shape in SHAPES if shape[-1]] + [(0, 3), (2, 3, 20)]:
        for k in {1, shape[-1] // 2 or 1, shape[-1]}:
            x = draw(type, shape, -3, 3)
            if type in FLOATS:
                x = real(type, np.round(x.real))  # ties: the last one comes first
            order = shape[-1] - 1 - np.argsort(x.real[..., ::-1] * -1, axis=-1, kind="stable")[..., :k]
            check("TOPK_V2", [x, k], [stored(type, np.take_along_axis(x.stored, order, -1)), stored(I32, order)])
x = real(F32, [np.inf, -np.inf, 3, np.inf])
check("TOPK_V2", [x, 4], [real(F32, [np.inf, np.inf, 3, -np.inf]), stored(I32, [3, 0, 2, 1])], "infinite")
for k in (0, 5, -1):
    refuse("TOPK_V2", [x, k], [draw(F32, (max(k, 1),)), draw(I32, (max(k, 1),))])
