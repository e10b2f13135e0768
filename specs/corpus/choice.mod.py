# Twice or half of the input, selected by a flag.
VALUES = ["TENSOR_FLOAT32", [2, 2]]


def times(factor):
    x = Input("x", VALUES)
    y = Output("y", VALUES)
    return Model().Operation("MUL", x, [factor], 0).To(y)


flag = Input("flag", ["TENSOR_BOOL8", [1]])
x = Input("x", VALUES)
y = Output("y", VALUES)
twice, half = times(2.0), times(0.5)
choice = Model().IntroducedIn("V1_3").Operation("IF", flag, twice, half, x).To(y)
Example({flag: [True], x: [1, 2, 3, 4], y: [2, 4, 6, 8]}, name="twice").AddVariations("relaxed", "float16")
Example({flag: [False], x: [1, 2, 3, 4], y: [0.5, 1, 1.5, 2]}, name="half").AddVariations("relaxed", "float16")
