# expect: output 'o' of 4294967295 elements is too large
i = Input("i", "TENSOR_FLOAT32", "{1}")
o = IgnoredOutput("o", "TENSOR_FLOAT32", "{4294967295}")
Example(({i: [1]}, {}), model=Model().Operation("RELU", i).To(o))
