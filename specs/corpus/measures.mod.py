# Norms, comparisons and indexes; numbers chosen so that the results are exact.
x = Input("x", ("TENSOR_FLOAT32", [2, 4]))
limit = Parameter("limit", ("TENSOR_FLOAT32", [1]), [0])
unit = Output("unit", ("TENSOR_FLOAT32", [2, 4]))
below = Output("below", ("TENSOR_BOOL8", [2, 4]))
largest = Output("largest", ("TENSOR_INT32", [2]))
smaller = Output("smaller", ("TENSOR_FLOAT32", [2, 4]))

model = Model().IntroducedIn("V1_2")
model.Operation("L2_NORMALIZATION", x).To(unit)
model.Operation("LESS", x, limit).To(below)
model.Operation("ARGMAX", x, 1).To(largest)
model.Operation("MINIMUM", x, limit).To(smaller)

Example({
    x: [3, 4, 0, 0, -6, 8, 0, 0],
    unit: [0.6, 0.8, 0, 0, -0.6, 0.8, 0, 0],
    below: [False, False, False, False, True, False, False, False],
    largest: [1, 1],
    smaller: [0, 0, 0, 0, -6, 0, 0, 0],
})
