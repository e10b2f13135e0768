# A quantised convolution with RELU and a pool.
image = Input("image", ("TENSOR_QUANT8_ASYMM", [1, 4, 4, 1], 0.5, 128))
filter = Parameter("filter", ("TENSOR_QUANT8_ASYMM", [2, 3, 3, 1], 0.25, 120), [
    126, 122, 124, 126, 125, 118, 114, 123, 117, 116, 123, 117, 115, 125, 117, 119, 112, 122
])
bias = Parameter("bias", ("TENSOR_INT32", [2], 0.125, 0), [8, 60])
features = Internal("features", ("TENSOR_QUANT8_ASYMM", [1, 2, 2, 2], 1.0, 10))
best = Output("best", ("TENSOR_QUANT8_ASYMM", [1, 1, 1, 2], 1.0, 10))

net = Model()
net.Operation("CONV_2D", image, filter, bias, 0, 0, 0, 0, 1, 1, 1).To(features)
net.Operation("MAX_POOL_2D", features, 0, 0, 0, 0, 1, 1, 2, 2, 0).To(best)

Example({
    image: [
        133, 138, 138, 125, 143, 110, 111, 134, 132, 111, 130, 118, 133, 137, 145, 124
],
    best: [16, 18],
})
