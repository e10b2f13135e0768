# Shapes that are known only at execution, and contradict each other there.
a = Input("a", "TENSOR_FLOAT32", "{0}")
b = Input("b", "TENSOR_FLOAT32", "{2}")
c = Output("c", "TENSOR_FLOAT32", "{0}")
Example({a: [1.0, 2.0, 3.0], b: [1.0, 2.0], c: [0.0]},
        model=Model("no_broadcast").Operation("ADD", a, b, 0).To(c)).ExpectFailure().DisableLifeTimeVariation()
