# expect: :6: operand 'x' has 3 values for dimensions [2]
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)

Example({x: [1, 2, 3], y: [1, 2]})
