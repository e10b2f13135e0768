# A folder that is no version; operands of one name; float32 conversions by default name.
import math
import random

random.seed(0)
x = Input("x", ("TENSOR_FLOAT32", [2, 2]))
other = Input("x", ("TENSOR_FLOAT32", [2, 2]))
y = Output("x", ("TENSOR_FLOAT32", [2, 2]))
values = [1, 2, 3, math.floor(4.5)]
random.shuffle(values)
to_symm = [DataTypeConverter().Identify({x: ("TENSOR_QUANT8_SYMM", scale), other: ("TENSOR_QUANT8_SYMM", 0.25)})
           for scale in (0.5, 0.3)]
Model().Operation("ADD", x, other, 0).To(y)
Example({x: values, other: values, y: [2 * value for value in values]}).AddVariations(
    *to_symm, includeDefault=False).DisableLifeTimeVariation()
