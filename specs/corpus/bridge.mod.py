# From real numbers to 8 bits and back: ties are rounded away from zero, ends are cut off.
x = Input("x", ("TENSOR_FLOAT32", [8]))
narrow = Internal("narrow", ("TENSOR_QUANT8_ASYMM", [8], 0.5, 100))
y = Output("y", ("TENSOR_FLOAT32", [8]))

model = Model().IntroducedIn("V1_2")
model.Operation("QUANTIZE", x).To(narrow)
model.Operation("DEQUANTIZE", narrow).To(y)

Example({
    x: [0, 0.25, -0.25, 0.2, 7.9, 1000, -1000, 77.5],
    y: [0, 0.5, -0.5, 0, 8, 77.5, -50, 77.5],
}).AddRelaxed()
