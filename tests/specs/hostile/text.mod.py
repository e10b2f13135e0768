# expect: :6: operand 'x' has a value that does not fit TENSOR_FLOAT32
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)

Example({x: ["1", 2], y: [1, 2]})
