# Shape strings, and the lifetime groups that a model of one operation has by itself.
signal = Input("signal", "TENSOR_FLOAT32", "{3, 2}")
gain = Parameter("gain", "TENSOR_FLOAT32", "{ 1,2 }", [0.5, 10])
loud = Output("loud", "TENSOR_FLOAT32", "{3, 2}")
Model().Operation("MUL", signal, gain, 0).To(loud)
Example({signal: [2, 1, 4, 2, 6, 3], loud: [1, 10, 2, 20, 3, 30]})
