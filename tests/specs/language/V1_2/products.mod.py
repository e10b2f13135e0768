# The order of a product of groups, and default names that repeat.
x = Input("x", "TENSOR_FLOAT32", "{1, 1, 2, 3}")
y = Output("y", "TENSOR_FLOAT32", "{1, 1, 2, 3}")
layout = BoolScalar("layout", False)
Model("mp").Operation("MAX_POOL_2D", x, 0, 0, 0, 0, 1, 1, 1, 1, 0, layout).To(y)


def to_quant8(name=None):
    return DataTypeConverter(name=name).Identify({
        x: ("TENSOR_QUANT8_ASYMM", 0.5, 10),
        y: ("TENSOR_QUANT8_ASYMM", 0.5, 10),
    })


values = [1, 2, 3, 4, 5, 6]
Example({x: values, y: values}, name="same").AddNchw(x, y, layout).AddVariations(
    "relaxed", to_quant8(), to_quant8("rough"), to_quant8())
