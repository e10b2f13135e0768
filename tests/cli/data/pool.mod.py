x = Input("x", "TENSOR_FLOAT32", "{1, 4, 4, 1}")
y = Output("y", "TENSOR_FLOAT32", "{1, 3, 3, 1}")
Model().Operation("MAX_POOL_2D", x, 0, 0, 0, 0, 1, 1, 2, 2, 0).To(y)
Example(({x: [i % 7 for i in range(16)]}, {y: [0] * 9})).DisableLifeTimeVariation()
