# A depthwise convolution, a pointwise one, and the mean over the image.
image = Input("image", ("TENSOR_FLOAT32", [1, 5, 5, 3]))
depthwise = Parameter("depthwise", ("TENSOR_FLOAT32", [1, 3, 3, 3]), [
    -0.5, 0, 0, 0.75, -0.5, 0.25, -0.25, 0.5, -0.5, 0, -0.75, -0.5, 0.75, -0.25, 0.75, 0, -1, 0.5,
    -1, 0.75, -1, 0.25, -0.75, -0.25, 1, 0, 0.25
])
depthwise_bias = Parameter("depthwise_bias", ("TENSOR_FLOAT32", [3]), [1, -1.5, 1.25])
pointwise = Parameter("pointwise", ("TENSOR_FLOAT32", [4, 1, 1, 3]), [
    0.75, -0.75, 0, -0.5, 0.5, -1, 0, 0.5, 0.5, -0.75, 0.75, -0.5
])
pointwise_bias = Parameter("pointwise_bias", ("TENSOR_FLOAT32", [4]), [1.25, 0, -1.25, 1])
spread = Internal("spread", ("TENSOR_FLOAT32", [1, 5, 5, 3]))
mixed = Internal("mixed", ("TENSOR_FLOAT32", [1, 5, 5, 4]))
means = Output("means", ("TENSOR_FLOAT32", [1, 4]))

net = Model()
net.Operation("DEPTHWISE_CONV_2D", image, depthwise, depthwise_bias, 1, 1, 1, 1, 1).To(spread)
net.Operation("CONV_2D", spread, pointwise, pointwise_bias, 1, 1, 1, 1).To(mixed)
net.Operation("MEAN", mixed, [1, 2], 0).To(means)

Example({
    image: [
        -0.25, 1.5, 1.25, -1.5, 0.5, -0.75, 1, 0.25, -0.25, 1.5, -1.75, 0.25, -0.75, -1.75, 1,
        0.25, 1.5, 0.5, -0.75, 2, -1.5, -1.75, 1, -0.5, -0.5, 1.5, -0.75, 1.5, 0.5, -0.75, -1.75,
        -1, 1.75, -0.5, -1.25, -0.75, 1.5, -1.25, 1, -1.5, 1.75, 0, -1.75, 1.75, -0.5, 1, 0, -1.75,
        -1.5, -1.5, -1.25, -1.75, -1.75, 1.75, -1.75, 0, -1.5, -1.25, 1, 1.75, 0, -2, 2, -1.75,
        -0.5, 0.25, 1.5, 1.25, 0.5, -0.5, 1.25, 1.5, 1.5, 0.75, -1.5
],
    means: [1.923125, 0.0275, 0.1525, 0.360625],
})
