"""Control flow: IF and WHILE."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

from halcyon.models import SubgraphReference


def branch(op, type, dims, k):
    """A model x -> op(x, k) of a tensor x."""
    x, y = Input("x", (type.code, dims)), Output("y", (type.code, dims))
    return Model().Operation(op, x, Parameter("k", (type.code, (1,)), [k]), 0).To(y)


seed("IF")
for type, dims in [(F32, (3,)), (F16, (2, 2)), (F32, (0,))]:
    for truth in (True, False):
        x = draw(type, dims)
        y = result(type, x.real + 0.5 if truth else x.real * 2)
        then, other = branch("ADD", type, dims, 0.5), branch("MUL", type, dims, 2.0)
        condition, i, o = Input("c", ("TENSOR_BOOL8", (1,))), Input("i", (type.code, dims)), Output("o", (type.code, dims))
        m = Model().Operation("IF", condition, then, other, i).To(o)
        Example({condition: [truth], i: flat(x), o: flat(y)}, model=m).DisableLifeTimeVariation()


def fixed(value):
    """A model without inputs."""
    y = Output("y", ("TENSOR_FLOAT32", (2,)))
    k = [Parameter("k", ("TENSOR_FLOAT32", (2,)), v) for v in (value, [0.25, -1.0])]
    return Model().Operation("ADD", *k, 0).To(y)


for truth in (True, False):
    then, other = fixed([1.0, 2.0]), fixed([3.0, 4.0])
    condition, o = Input("c", ("TENSOR_BOOL8", (1,))), Output("o", ("TENSOR_FLOAT32", (2,)))
    m = Model().Operation("IF", condition, then, other).To(o)
    Example({condition: [truth], o: [1.25, 1.0] if truth else [3.25, 3.0]}, model=m).DisableLifeTimeVariation()


def loop(dims):
    """Condition and body of: while (x[0] < limit) x = x * 1.5 + 1; the limit is constant."""
    x, limit, go = Input("x", ("TENSOR_FLOAT32", dims)), Input("l", ("TENSOR_FLOAT32", (1,))), Output("g", ("TENSOR_BOOL8", (1,)))
    test = Model().Operation("LESS", x, limit).To(go)
    x, limit, y = Input("x", ("TENSOR_FLOAT32", dims)), Input("l", ("TENSOR_FLOAT32", (1,))), Output("y", ("TENSOR_FLOAT32", dims))
    scaled = Internal("s", ("TENSOR_FLOAT32", dims))
    body = Model()
    body.IdentifyInputs(x, limit)
    body.Operation("MUL", x, Parameter("k", ("TENSOR_FLOAT32", (1,)), [1.5]), 0).To(scaled)
    body.Operation("ADD", scaled, Parameter("k", ("TENSOR_FLOAT32", (1,)), [1.0]), 0).To(y)
    return test, body


for start, limit in [(0.0, 50.0), (0.0, -1.0), (0.0, 0.0), (-1.9, 1e6)]:
    test, body = loop((1,))
    x, most, y = Input("x", ("TENSOR_FLOAT32", (1,))), Input("m", ("TENSOR_FLOAT32", (1,))), Output("y", ("TENSOR_FLOAT32", (1,)))
    m = Model().Operation("WHILE", test, body, x, most).To(y)
    value = np.float32(start)
    while value < np.float32(limit):
        value = np.float32(np.float32(value * np.float32(1.5)) + np.float32(1))
    Example({x: [start], most: [limit], y: [float(value)]}, model=m).DisableLifeTimeVariation()
