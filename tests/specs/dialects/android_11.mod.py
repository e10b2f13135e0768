# Android 11: types whose dimensions are a shape string, and the variation of dynamic output shapes that does not exist
# any more.  Values by hand.

n = 3
x = Input("x", ("TENSOR_QUANT8_ASYMM_SIGNED", "{%d, 1}" % n, 0.5, -3))
y = Output("y", ("TENSOR_QUANT8_ASYMM_SIGNED", "{%d, 1}" % n, 0.5, -3))
Model().Operation("RELU", x).To(y)
Example({x: [-5, -3, 1], y: [-3, -3, 1]}).DisableDynamicOutputShapeVariation().DisableLifeTimeVariation()
