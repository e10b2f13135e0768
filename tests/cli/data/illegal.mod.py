# Loads, but ADD takes two operands.
i0 = Input("i0", ("TENSOR_FLOAT32", [4]))
o4 = Output("o4", ("TENSOR_FLOAT32", [4]))
model = Model().Operation("ADD", i0).To(o4)
Example({i0:[1,2,3,4], o4:[1,2,3,4]}, model=model)
