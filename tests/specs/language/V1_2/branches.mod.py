# One model as both branches of an IF, a converter that finds its own targets, outputs as internal.
VECTOR = ["TENSOR_FLOAT32", [3]]


def branch(operation):
    p = Input("p", VECTOR)
    r = Output("r", VECTOR)
    return Model().Operation(operation, p, [0.5, 1.0, 1.5], 0).To(r)


condition = Input("condition", ["TENSOR_BOOL8", [1]])
p = Input("p", VECTOR)
r = Output("r", VECTOR)
only = branch("SUB")
Model().Operation("IF", condition, only, only, p).To(r)
Example({condition: [False], p: [1, 2, 3], r: [0.5, 1, 1.5]}, name="no").AddVariations(
    DataTypeConverter("quant8", scale=0.5, zeroPoint=4)).AddVariations(AllOutputsAsInternalCoverter())
