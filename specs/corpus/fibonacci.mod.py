# A vendor extension: how many numbers is computed, so the shape of the result depends on it.  The elements of
# TENSOR_QUANT64_ASYMM stand for (q - zero) * scale, and their data are scale (a double) and zero (64 bits).
fibonacci = Extension("org.halcyon.example.fibonacci")

model = Model("most")
n = Input("n", (fibonacci.INT64, []))
numbers = Output("numbers", (fibonacci.TENSOR_QUANT64_ASYMM, [0]), extraParams=ExtensionData("dq", 1.0, 0))
model.Operation(fibonacci.FIBONACCI, n).To(numbers)
Example({n: [12], numbers: [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]}, model=model, name="twelve")

every = [0, 1]
while len(every) < 93:
    every.append(every[-1] + every[-2])
Example({n: [93], numbers: every}, model=model, name="all")

# Among ordinary operations: 4 + 3 numbers in quarters, and back to floats, as a row.
model = Model("mixed")
x = Input("x", ("TENSOR_INT32", [1]))
quarters = Internal("quarters", (fibonacci.TENSOR_QUANT64_ASYMM, [7]), extraParams=ExtensionData("dq", 0.25, 1000))
real = Internal("real", ("TENSOR_FLOAT32", [7]))
row = Output("row", ("TENSOR_FLOAT32", [1, 7]))
count = Internal("count", ("TENSOR_INT32", [1]))
model.Operation("ADD", x, [3], 0).To(count)
model.Operation(fibonacci.FIBONACCI, count).To(quarters)
model.Operation(fibonacci.DEQUANTIZE64, quarters).To(real)
model.Operation("RESHAPE", real, [1, 7]).To(row)
Example({x: [4], row: [0, 1, 1, 2, 3, 5, 8]}, model=model, name="mixed")

# More than 64 bits hold: prepares, and fails.
model = Model("overflow")
n = Input("most", (fibonacci.INT64, []))
halves = Output("halves", (fibonacci.TENSOR_QUANT64_ASYMM, [0]), extraParams=ExtensionData("dq", 0.5, 0))
model.Operation(fibonacci.FIBONACCI, n).To(halves)
Example({n: [93], halves: [0]}, model=model, name="overflow").ExpectFailure()
