# expect: org.halcyon.example.fibonacci.INT65 is not an operand type
x = Input("x", ("org.halcyon.example.fibonacci.INT65", []))
y = Output("y", ("TENSOR_FLOAT32", [1]))
Example({x: [1], y: [0]}, model=Model().Operation("ADD", x, x, 0).To(y))
