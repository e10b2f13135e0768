# Constants in every form; scales in every spelling; tensors of unknown rank and shape; a tolerance.
a = Input("a", "TENSOR_QUANT8_ASYMM", "{2}, .5f, 3")
b = Input("b", "TENSOR_QUANT16_SYMM", "{2}, 10, 0")
c = Input("c", ("TENSOR_FLOAT32", []))
d = Input("d", ("TENSOR_FLOAT32", [0, 2]))
e = Output("e", "FLOAT32", "{}")
f = Parameter("f", "UINT32", "", 7)
g = Float16Scalar("g", 0.1)
h = Parameter("h", ("TENSOR_BOOL8", [3]), value=[True, 0, 2])
k = Float32Scalar("k", 1)
model = Model("named").Operation("RANDOM_MULTINOMIAL", a, b, c, d, f, g, h, k, 1, 2.5, True, [], [1, 2], (0.5,))
model.To(e)
Example({a: [0, 255.0], b: [-1, 1], c: [1e-45, 3.4e38], d: [1, 2, 3, 4], e: 0.1}, name="x") \
    .WithMultinomialDistributionTolerance(0.25)
