# Curves, in real numbers and in 8 bits.
x = Input("x", ("TENSOR_FLOAT32", [8]))
logistic = Output("logistic", ("TENSOR_FLOAT32", [8]))
tanh = Output("tanh", ("TENSOR_FLOAT32", [8]))
model = Model()
model.Operation("LOGISTIC", x).To(logistic)
model.Operation("TANH", x).To(tanh)
quant8 = DataTypeConverter().Identify({
    x: ("TENSOR_QUANT8_ASYMM", 0.125, 64),
    logistic: ("TENSOR_QUANT8_ASYMM", 1.0 / 256, 0),
    tanh: ("TENSOR_QUANT8_ASYMM", 1.0 / 128, 128),
})
Example({
    x: [-2, -1, -0.5, 0, 0.5, 1, 2, 5],
    logistic: [0.11920292, 0.26894143, 0.37754068, 0.5, 0.62245935, 0.7310586, 0.8807971, 0.9933072],
    tanh: [-0.9640276, -0.7615942, -0.46211717, 0, 0.46211717, 0.7615942, 0.9640276, 0.9999092],
}).AddVariations("relaxed", "float16", quant8)
