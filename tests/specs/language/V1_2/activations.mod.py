# Activations after quantisation, and an operand that an operation reads twice.
a = Input("a", ("TENSOR_FLOAT32", [5]))
act = Int32Scalar("act", 0)
sum = Output("sum", ("TENSOR_FLOAT32", [5]))
Model().Operation("ADD", a, a, act).To(sum)
quant = DataTypeConverter().Identify({
    a: ("TENSOR_QUANT8_ASYMM_SIGNED", 0.25, -3),
    sum: ("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, -3),
})
Example({a: [-2, -0.25, 0.125, 0.25, 4], sum: [-4, -0.5, 0.25, 0.5, 8]}).AddVariations(
    quant, includeDefault=False).AddAllActivations(sum, act).DisableLifeTimeVariation()
