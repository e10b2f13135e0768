# Dropping dimensions where no operand names the axis.
i = Input("i", "TENSOR_FLOAT32", "{2, 1, 2, 3}")
o = Output("o", "TENSOR_FLOAT32", "{2, 1, 2, 3}")
Model().Operation("FLOOR", i).To(o)
values = {i: list(range(12)), o: list(range(12))}
Example(values).AddDims([1, 3], i, o).DisableLifeTimeVariation()
Example(values, name="every").AddAllDims(i, o).DisableLifeTimeVariation()
Example(values, name="axis").AddAxis([0, -2], i, o, defaultName="origin").DisableLifeTimeVariation()
