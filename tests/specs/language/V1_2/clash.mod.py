# Names that are taken already.
a = Input("a", "TENSOR_FLOAT32", "{2}")
o = Output("o", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", a).To(o)
values = {a: [1, 2], o: [1, 2]}
Example(values, name="2").AddVariations().DisableLifeTimeVariation()
Example(values).AddVariations().DisableLifeTimeVariation()
Example(values).AddVariations().DisableLifeTimeVariation()
Example(values, name="q").AddVariations(defaultName="2").DisableLifeTimeVariation()
