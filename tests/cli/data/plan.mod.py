# A chain for which no device is best throughout, with default arguments that old drivers do not have, and a branch.
x = Input("x", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
f = Parameter("f", "TENSOR_FLOAT32", "{1, 1, 1, 1}", [2])
b = Parameter("b", "TENSOR_FLOAT32", "{1}", [1])
c = Internal("c", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
q = Internal("q", "TENSOR_QUANT8_ASYMM", "{1, 1, 2, 1}, 0.5f, 100")
y = Output("y", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
chain = Model("chain").Operation("CONV_2D", x, f, b, 2, 1, 1, 0, False, 1, 1).To(c)
chain.Operation("QUANTIZE", c).To(q).Operation("DEQUANTIZE", q).To(y)
Example({x: [1, 2], y: [3, 5]}, model=chain).DisableLifeTimeVariation()

VALUES = ["TENSOR_FLOAT32", [2]]


def part(operation):
    a = Input("a", VALUES)
    r = Output("r", VALUES)
    return Model().Operation(operation, a, a, 0).To(r)


flag = Input("flag", ["TENSOR_BOOL8", [1]])
u = Input("u", VALUES)
v = Output("v", VALUES)
branch = Model("branch").Operation("IF", flag, part("ADD"), part("MUL"), u).To(v)
Example({flag: [True], u: [1, 2], v: [2, 4]}, model=branch).DisableLifeTimeVariation()

# Its first step reads constants only, which no step of a plan may.
k = Parameter("k", "TENSOR_FLOAT32", "{2}", [1, 2])
n = Internal("n", "TENSOR_QUANT8_ASYMM", "{2}, 0.5f, 100")
t = Internal("t", "TENSOR_FLOAT32", "{2}")
w = Input("w", VALUES)
z = Output("z", VALUES)
constant = Model("constant").Operation("QUANTIZE", k).To(n).Operation("DEQUANTIZE", n).To(t)
constant.Operation("ADD", t, w, 0).To(z)
Example({w: [1, 2], z: [2, 4]}, model=constant).DisableLifeTimeVariation()
