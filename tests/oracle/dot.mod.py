"""Products of matrices."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

ACTIVATIONS = [lambda y: y, lambda y: np.maximum(y, 0), lambda y: np.clip(y, -1, 1), lambda y: np.clip(y, 0, 6)]

seed("FULLY_CONNECTED")
for x_type, w_type, out in [(F32, F32, F32), (F16, F16, F16), (U8(0.5, 128), U8(0.25, 100), U8(3.0, 50)),
                            (U8(1e-3, 0), U8(100.0, 255), U8(1.0, 255)), (S8(0.5, 12), S8(0.25, -7), S8(3.0, 5)),
                            (S8(0.01, -128), S8(0.02, 127), S8(0.01, 0))]:
    for shape, size, units in [((1, 1), 1, 1), ((3, 4), 4, 5), ((2, 3, 4), 4, 1), ((2, 3, 4), 12, 2), ((2, 3, 4), 24, 3),
                               ((2, 1, 3, 2), 6, 3), ((0, 4), 4, 2), ((2, 300), 300, 3)]:
        for activation, apply in enumerate(ACTIVATIONS):
            x, w = draw(x_type, shape), draw(w_type, (units, size))
            b = draw(bias_of(x_type, w_type), (units,))
            y = result(out, apply(x.real.reshape(-1, size) @ w.real.T + b.real))
            check("FULLY_CONNECTED", [x, Const(w), Const(b), activation], [y])
            check("FULLY_CONNECTED", [x, w, b, activation], [y], "inputs")

seed("BATCH_MATMUL")
for x_type, out in [(F32, F32), (F16, F16), (S8(0.5, 12), S8(3.0, 5)), (S8(0.01, -128), S8(2e-3, 127)), (I32, I32)]:
    y_type = S8(0.25, -7) if x_type.scale else x_type
    for batches in [(), (1,), (3,), (2, 2), (0,), (2, 0)]:
        for rows, depth, columns in [(1, 1, 1), (3, 4, 2), (1, 300, 5), (7, 2, 9), (2, 0, 3), (0, 2, 3)]:
            for adj_x, adj_y in itertools.product((False, True), repeat=2):
                x, y = draw(x_type, (*batches, rows, depth)), draw(y_type, (*batches, depth, columns))
                product = result(out, x.real @ y.real)
                if adj_x:
                    x = Tensor(x_type, x.stored.swapaxes(-1, -2))
                if adj_y:
                    y = Tensor(y_type, y.stored.swapaxes(-1, -2))
                check("BATCH_MATMUL", [x, y, adj_x, adj_y], [product])
                if product.stored.size and x.stored.size:
                    rows_unknown = (*product.shape[:-2], 0, columns)
                    check("BATCH_MATMUL", [x, Const(y), adj_x, adj_y], [Unknown(product, rows_unknown)], "unknown")
# INT32 sums wrap, also those that exceed 2^53.
x = stored(I32, [2**31 - 1, -2**31, 46341, -7], (1, 4))
y = stored(I32, [2**31 - 1, -2**31, 46341, 2**30, 3, 5, -2**31, 1], (4, 2))
exact = x.stored.astype(object) @ y.stored.astype(object)
check("BATCH_MATMUL", [x, y, False, False], [stored(I32, [(int(v) + 2**31) % 2**32 - 2**31 for v in exact[0]], (1, 2))], "wraps")
for left, right, adj in [((2, 3), (2, 3), False), ((2, 2, 3), (3, 3, 1), False), ((2, 3), (1, 3, 2), False), ((3, 2), (2, 3), True)]:
    refuse("BATCH_MATMUL", [draw(F32, left), draw(F32, right), adj, False], [Unknown(draw(F32, (2, 2)), (0, 2))])
