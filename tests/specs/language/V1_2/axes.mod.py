# Every method that moves an axis or drops some.
i = Input("i", "TENSOR_FLOAT32", "{2, 3}")
o = Output("o", "TENSOR_FLOAT32", "{2, 3}")
axis = Int32Scalar("axis", -1)
Model().Operation("SOFTMAX", i, 1.0, axis).To(o)
values = {i: [1, 2, 3, 4, 5, 6], o: [1, 2, 3, 4, 5, 6]}
Example(values).AddAllDimsAndAxis(i, o, axis).DisableLifeTimeVariation()
Example(values, name="positive").AddAllPositiveAxis(i, o, axis).DisableLifeTimeVariation()
Example(values, name="all").AddAllAxis(i, o, axis).DisableLifeTimeVariation()
Example(values, name="both").AddAllDimsAndPositiveAxis(i, o, axis).DisableLifeTimeVariation()
