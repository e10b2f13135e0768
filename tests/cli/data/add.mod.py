# Two floats, and something to activate.
i1 = Input("op1", "TENSOR_FLOAT32", "{2}")
i2 = Input("op2", "TENSOR_FLOAT32", "{2}")
i3 = Output("op3", "TENSOR_FLOAT32", "{2}")
model = Model()
model = model.Operation("ADD", i1, i2, 0).To(i3)
Example({i1: [1.0, 2.0], i2: [3.0, 4.0], i3: [4.0, 6.0]})
