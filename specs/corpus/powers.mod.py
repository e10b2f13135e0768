# Doubles a vector n times.
VALUES = ["TENSOR_FLOAT32", [3]]
COUNT = ["TENSOR_INT32", [1]]


def condition():
    i, n, x = Input("i", COUNT), Input("n", COUNT), Input("x", VALUES)
    more = Output("more", ["TENSOR_BOOL8", [1]])
    model = Model()
    model.IdentifyInputs(i, x, n)
    model.IdentifyOutputs(more)
    return model.Operation("LESS", i, n).To(more)


def body():
    i, n, x = Input("i", COUNT), Input("n", COUNT), Input("x", VALUES)
    next_i, next_x = Output("next_i", COUNT), Output("next_x", VALUES)
    model = Model()
    model.IdentifyInputs(i, x, n)
    model.IdentifyOutputs(next_i, next_x)
    model.Operation("ADD", i, [1], 0).To(next_i)
    return model.Operation("ADD", x, x, 0).To(next_x)


n, x = Input("n", COUNT), Input("x", VALUES)
turns, y = Internal("turns", COUNT), Output("y", VALUES)
more, step = condition(), body()
loop = Model().IntroducedIn("V1_3").Operation("WHILE", more, step, [0], x, n).To(turns, y)
for count in (0, 1, 5):
    Example({n: [count], x: [1, -0.5, 3], y: [2**count, -0.5 * 2**count, 3 * 2**count]}, model=loop,
            name=f"n{count}").AddVariations("float16", AllOutputsAsInternalCoverter())
