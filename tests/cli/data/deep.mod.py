# Four equal blocks in a row, whose filters have other values; before and after them other operations.
def conv(model, i, x, y):
    weights = [(i + k) % 5 - 2 for k in range(2 * 9 * 2)]
    f = Parameter(f"f{i}", "TENSOR_FLOAT32", "{2, 3, 3, 2}", weights)
    b = Parameter(f"b{i}", "TENSOR_FLOAT32", "{2}", [i, -i])
    return model.Operation("CONV_2D", x, f, b, 1, 1, 1, 1).To(y)

shape = "{1, 4, 4, 2}"
x = Input("x", "TENSOR_FLOAT32", shape)
y = Output("y", "TENSOR_FLOAT32", shape)
model = Model()
t = Internal("t", "TENSOR_FLOAT32", shape)
model.Operation("TANH", x).To(t)
for i in range(4):
    a, b = Internal(f"a{i}", "TENSOR_FLOAT32", shape), Internal(f"t{i}", "TENSOR_FLOAT32", shape)
    conv(model, i, t, a)
    model.Operation("LOGISTIC", a).To(b)
    t = b
model.Operation("NEG", t).To(y)
Example({x: [i / 8 - 2 for i in range(32)], y: [0] * 32})
