# A sum of two branches, broadcast, with every activation.
a = Input("a", ("TENSOR_FLOAT32", [2, 3]))
b = Input("b", ("TENSOR_FLOAT32", [1, 3]))
activation = Int32Scalar("activation", 0)
sum = Output("sum", ("TENSOR_FLOAT32", [2, 3]))
Model().Operation("ADD", a, b, activation).To(sum)
Example({
    a: [-8, -0.5, 0, 0.5, 4, 8],
    b: [1, -1, 0.25],
    sum: [-7, -1.5, 0.25, 1.5, 3, 8.25],
}).AddAllActivations(sum, activation).AddVariations("relaxed", "float16")
