# A sparse projection whose output is declared as for a dense one: it has one value for each of the 4 hashes.
hashes = Parameter("hashes", "TENSOR_FLOAT32", "{4, 2}", [1, 2, 3, 4, -1, -2, -3, -4])
lookup = Input("lookup", "TENSOR_INT32", "{3, 2}")
weight = Input("weight", "TENSOR_FLOAT32", "{3}")
output = Output("output", "TENSOR_INT32", "{4, 2}")
model = Model().Operation("LSH_PROJECTION", hashes, lookup, weight, Int32Scalar("type", 1)).To(output)
Example(({lookup: [1, 2, 3, 4, 5, 6], weight: []}, {output: [0, 1, 2, 3]}))
