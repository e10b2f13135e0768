# Models that say what older versions of the HAL can say too, and one that does not.
x = Input("x", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
f = Parameter("f", "TENSOR_FLOAT32", "{1, 1, 1, 1}", [2])
b = Parameter("b", "TENSOR_FLOAT32", "{1}", [1])
y = Output("y", "TENSOR_FLOAT32", "{1, 1, 2, 1}")


def conv(name, *rest):
    return Model(name).Operation("CONV_2D", x, f, b, 2, 1, 1, 0, *rest).To(y)


for model in (conv("defaults", False, 1, 1), conv("relaxed").RelaxedExecution(True), conv("dilated", False, 2, 1)):
    Example({x: [1, 2], y: [3, 5]}, model=model).DisableLifeTimeVariation()
