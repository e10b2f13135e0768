# expect: the operations form a cycle
x = Input("x", "TENSOR_FLOAT32", "{2}")
a = Internal("a", "TENSOR_FLOAT32", "{2}")
b = Internal("b", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
m = Model().Operation("ADD", x, b, 0).To(a).Operation("RELU", a).To(b).Operation("RELU", b).To(y)
Example({x: [1, 2], y: [1, 2]})
