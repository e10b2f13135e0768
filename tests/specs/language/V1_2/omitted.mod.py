# Everything that can be left out, an ignored output, and a failure that is expected.
a = Input("a", ("TENSOR_FLOAT32", [2]))
o = Output("o", ("TENSOR_FLOAT32", [2]))
optional = Input("optional", ("TENSOR_INT32", [3, 2]))
none = Parameter("none", ("TENSOR_INT32", [2]), None)
empty = Parameter("empty", "TENSOR_INT32", "{0}", [])
scratch = IgnoredOutput("scratch", "TENSOR_FLOAT32", "{4}")
Model().Operation("SQUEEZE", a, optional, none, empty).To([scratch, o])
Example(({a: [1, 2], optional: []}, {o: [1, 2]})).ExpectFailure()
