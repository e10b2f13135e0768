# Quantisation along a dimension: rounding to even, clamping, a bias whose scales are hidden.
x = Input("x", "TENSOR_FLOAT32", "{1, 1, 1, 1}")
f = Parameter("f", "TENSOR_FLOAT32", "{2, 1, 1, 1}", [2.5, -40])
b = Parameter("b", "TENSOR_FLOAT32", "{2}", [1, 1])
y = Output("y", "TENSOR_FLOAT32", "{1, 1, 1, 2}")
Model().Operation("CONV_2D", x, f, b, 0, 0, 0, 0, 1, 1, 0).To(y)
to_channels = DataTypeConverter().Identify({
    x: ("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, -1),
    f: ("TENSOR_QUANT8_SYMM_PER_CHANNEL", 0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[1.0, 0.25])),
    b: ("TENSOR_INT32", 0.0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 0.125], hide=True)),
    y: ("TENSOR_QUANT8_ASYMM_SIGNED", 1.0, 0),
})
Example({x: [2], y: [6, -79]}).AddVariations(to_channels, includeDefault=False)
g = Parameter("g", "TENSOR_QUANT8_SYMM_PER_CHANNEL", "{2, 1, 1, 1}", [3, -4],
              extraParams=SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 2]))
x8 = Input("x8", "TENSOR_QUANT8_ASYMM", "{1, 1, 1, 1}, 0.5f, 128")
b32 = Parameter("b32", "TENSOR_INT32", "{2}", [0, 1])
y8 = Output("y8", "TENSOR_QUANT8_ASYMM", "{1, 1, 1, 2}, 1.f, 100")
Model("direct").Operation("CONV_2D", x8, g, b32, 0, 0, 0, 0, 1, 1, 0).To(y8)
Example({x8: [130], y8: [102, 93]}).DisableLifeTimeVariation()
