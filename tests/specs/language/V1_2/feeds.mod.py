# Several feeds in one call, merging, and no lifetime group that has anything to do.
a = Input("a", ("TENSOR_INT32", [2]))
b = Output("b", ("TENSOR_INT32", [2]))
m = Model("neg").Operation("NEG", a).To(b)
Example(({a: [-7, 2]}, {b: [7, -2]}), {a: [3, -4], b: [-3, 4]}, name="first")
Example({a: [5, -6], b: [-5, 6]}, model=m, name="second")
Example({a: [-9, 9], b: [9, -9]}, model=m, name="first")
Example(([1, -1], [-1, 1]), model=m)
