# expect: :6: operand 'x' has a value that does not fit org.halcyon.example.fibonacci.INT64: 9223372036854775808
f = Extension("org.halcyon.example.fibonacci")
x = Input("x", (f.INT64, []))
y = Output("y", (f.TENSOR_QUANT64_ASYMM, [0]), extraParams=ExtensionData("dq", 1, 0))
model = Model().Operation(f.FIBONACCI, x).To(y)
Example({x: [1 << 63], y: [0]}, model=model)
