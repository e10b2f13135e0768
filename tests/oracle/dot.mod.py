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
