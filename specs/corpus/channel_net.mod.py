# Signed 8 bits, with a scale for each channel of the filter.
image = Input("image", ("TENSOR_QUANT8_ASYMM_SIGNED", [1, 3, 3, 2], 0.5, -3))
filter = Parameter("filter", ("TENSOR_QUANT8_SYMM_PER_CHANNEL", [2, 1, 1, 2]), [-7, 3, 1, 8],
                   extraParams=SymmPerChannelQuantParams(channelDim=0, scales=[0.25, 0.5]))
bias = Parameter("bias", ("TENSOR_INT32", [2]), [4, -7])
features = Output("features", ("TENSOR_QUANT8_ASYMM_SIGNED", [1, 3, 3, 2], 0.5, 5))
Model().IntroducedIn("V1_3").Operation("CONV_2D", image, filter, bias, 1, 1, 1, 0).To(features)
Example({
    image: [
        -5, 16, -7, 12, 12, -9, -19, 12, 19, -14, -17, 18, 10, -16, 7, 10, 6, 6
],
    features: [
        24, 77, 24, 60, -25, -15, 45, 54, -41, -32, 46, 79, -27, -44, -2, 59, -3, 42
],
})
