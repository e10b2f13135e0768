# expect: :6: hostile/operation/operation: main.operations[0].op: RELUX is not an operation; did you mean RELU?
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELUX", x).To(y)

Example({x: [1, 2], y: [1, 2]}).DisableLifeTimeVariation()
