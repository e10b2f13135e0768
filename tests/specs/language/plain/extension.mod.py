# Types and operations of an extension, the data attached to its types, and values that doubles do not hold.
f = Extension("org.halcyon.example.fibonacci")

n = Parameter("n", (f.INT64, []), [4])
x = Input("x", (f.TENSOR_QUANT64_ASYMM, [2]), extraParams=ExtensionData("dq", 0.5, -3))
numbers = Output("numbers", f.TENSOR_QUANT64_ASYMM, "{4}", extraParams=ExtensionData(b"\0" * 6 + b"\xf0\x3f" + b"\0" * 8))
real = Output("real", ("TENSOR_FLOAT32", [2]))
model = Model()
model.Operation(f.FIBONACCI, n).To(numbers)
model.Operation("org.halcyon.example.fibonacci.DEQUANTIZE64", x).To(real)
Example({x: [9007199254740993, -9223372036854775808], numbers: [0, 1, 1, 2], real: [4503599627370498, -4611686018427387904]})
