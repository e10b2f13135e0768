# expect: :6: the feed has no value for output 'y'
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)

Example(({x: [1, 2]}, {}))
