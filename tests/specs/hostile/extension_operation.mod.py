# expect: com.elsewhere.ADD is not an operation
x = Input("x", ("TENSOR_FLOAT32", [1]))
y = Output("y", ("TENSOR_FLOAT32", [1]))
Example({x: [1], y: [0]}, model=Model().Operation("com.elsewhere.ADD", x).To(y))
