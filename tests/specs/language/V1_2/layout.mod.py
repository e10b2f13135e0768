# What a layout changes: tensors of rank 4, vectors of 4 values, the flag. One input stays an input.
x = Input("x", "TENSOR_FLOAT32", "{1, 1, 2, 2}").ShouldNeverBeInternal()
shape = Int32Vector("shape", [1, 1, 2, 3])
w = Parameter("w", ("TENSOR_FLOAT32", [3, 1, 1, 2]), [1, 2, 3, 4, 5, 6])
b = Float32Vector("b", [0, 0, 0])
layout = BoolScalar("layout", False)
y = Output("y", "TENSOR_FLOAT32", "{1, 1, 2, 3}")
Model().Operation("TRANSPOSE_CONV_2D", x, w, b, shape, 1, 1, 1, 0, layout).To(y)
Example(({x: (1, 2, 3, 4)}, {y: [5, 11, 17, 11, 25, 39]})).AddNchw(x, y, shape, layout)
