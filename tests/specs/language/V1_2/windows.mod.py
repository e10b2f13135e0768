# Café: a byte order mark, tabs, and lines that end as on Windows.
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
name = """two
lines"""
Model("%d" % len(name)).Operation("FLOOR", x).To(y)
if name:
	Example({x: [1.5,
		2.5], y: [1, 2]}).DisableLifeTimeVariation()
