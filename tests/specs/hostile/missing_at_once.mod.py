# expect: :6: the feed has no value for input 'x'
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)

Example({y: [1, 2]})
