# expect: :6: operand 'q' has a value that does not fit TENSOR_QUANT8_ASYMM
q = Input("q", "TENSOR_QUANT8_ASYMM", "{2}, 0.5, 0")
y = Output("y", "TENSOR_QUANT8_ASYMM", "{2}, 0.5, 0")
Model().Operation("RELU", q).To(y)

Example({q: [1, 256], y: [1, 2]})
