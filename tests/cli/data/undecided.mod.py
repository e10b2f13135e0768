# An output whose values nobody expects, and an execution that must fail.
x = Input("x", "TENSOR_FLOAT32", "{2}")
any_value = IgnoredOutput("any_value", "TENSOR_FLOAT32", "{2}")
Example({x: [1.0, 2.0], any_value: [0.0, 0.0]},
        model=Model("ignored").Operation("RELU", x).To(any_value)).DisableLifeTimeVariation()

rows = Input("rows", "TENSOR_INT32", "{1}")
table = Input("table", "TENSOR_FLOAT32", "{2, 1}")
row = Output("row", "TENSOR_FLOAT32", "{1, 1}")
Example({rows: [7], table: [1.0, 2.0], row: [0.0]},
        model=Model("out_of_range").Operation("EMBEDDING_LOOKUP", rows, table).To(row)).ExpectFailure().DisableLifeTimeVariation()
