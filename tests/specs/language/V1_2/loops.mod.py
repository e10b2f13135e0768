# Models within models, weights in shared memory, values that are copied with their operands as keys.
import copy


def condition():
    i = Input("i", ["TENSOR_INT32", [1]])
    x = Input("x", ["TENSOR_FLOAT32", [2]])
    out = Output("out", ["TENSOR_BOOL8", [1]])
    m = Model()
    m.IdentifyInputs(i, x)
    m.IdentifyOutputs(out)
    return m.Operation("LESS", i, [3]).To(out)


def body():
    i = Input("i", ["TENSOR_INT32", [1]])
    x = Input("x", ["TENSOR_FLOAT32", [2]])
    i_out = Output("i_out", ["TENSOR_INT32", [1]])
    x_out = Output("x_out", ["TENSOR_FLOAT32", [2]])
    m = Model()
    m.IdentifyInputs(i, x)
    m.IdentifyOutputs(i_out, x_out)
    return m.Operation("ADD", i, [1], 0).To(i_out).Operation("ADD", x, [1.0, 2.0], 0).To(x_out)


for shared in (False, True):
    Configuration.use_shm_for_weights = shared
    i = Input("i", ["TENSOR_INT32", [1]])
    x = Input("x", ["TENSOR_FLOAT32", [2]])
    unused = Internal("unused", ["TENSOR_INT32", [1]])
    x_out = Output("x_out", ["TENSOR_FLOAT32", [2]])
    loop = Model("shared" if shared else "copied")
    loop.Operation("WHILE", SubgraphReference("condition", condition()), body(), i, x).To(unused, x_out)
    values = {i: [0], x: [0.5, 0], x_out: [3.5, 6]}
    Example(copy.deepcopy(values), model=loop).AddVariations("float16")
