# Android 10: constants as inputs, variations with a second list of operands, the placeholder [0] of outputs without
# elements, modules that need no import.  All values by hand.

# FULLY_CONNECTED: 2 x + 1, with weights and bias as constants and as inputs; then with quantised weights.
x = Input("x", "TENSOR_FLOAT32", "{3, 1}")
w = Parameter("w", "TENSOR_FLOAT32", "{1, 1}", [2])
b = Parameter("b", "TENSOR_FLOAT32", "{1}", [1])
y = Output("y", "TENSOR_FLOAT32", "{3, 1}")
act = Int32Scalar("act", 0)
dense = Model("dense").Operation("FULLY_CONNECTED", x, w, b, act).To(y)
quant8 = DataTypeConverter().Identify({
    x: ("TENSOR_QUANT8_ASYMM", 0.5, 128),
    w: ("TENSOR_QUANT8_ASYMM", 0.5, 120),
    b: ("TENSOR_INT32", 0.25, 0),
    y: ("TENSOR_QUANT8_ASYMM", 1.0, 100),
})
Example(({x: [-1, 0, 3]}, {y: [-1, 1, 7]}), model=dense).AddInput(w, b).AddVariations("relaxed", quant8)
Example({x: [-1, 0, 3], y: [-1, 1, 7]}, model=dense, name="named").AddVariations(
    ParameterAsInputConverter(name="w_as_input").Identify([w])).AddVariations(
    ("as_input", [b]), includeDefault=False).AddVariations(
    ("relu", [y, act], [act]))

# No box passes the threshold: ROI_ALIGN gets none of them, and its output has no elements.
scores = Parameter("scores", "TENSOR_FLOAT32", "{1, 2}", [0.5, 0.125])
regions = Parameter("regions", "TENSOR_FLOAT32", "{1, 8}", [0, 0, 4, 4, 0, 0, 2, 2])
kept = Output("kept", "TENSOR_FLOAT32", "{0}")
classes = Output("classes", "TENSOR_INT32", "{0}")
boxes = Internal("boxes", "TENSOR_FLOAT32", "{0, 4}")
batches = Internal("batches", "TENSOR_INT32", "{0}")
image = Input("image", "TENSOR_FLOAT32", "{1, 2, 2, 1}")
layout = BoolScalar("layout", False)
features = Internal("features", "TENSOR_FLOAT32", "{0, 2, 2, 1}")
out = Output("out", "TENSOR_FLOAT32", "{0, 2, 2, 1}")
model = Model("empty").Operation("BOX_WITH_NMS_LIMIT", scores, regions, [0], 0.75, -1, 0, 0.5, 1.0, 0.25) \
                      .To(kept, boxes, classes, batches)
model = model.Operation("ROI_ALIGN", image, boxes, batches, 2, 2, 1.0, 1.0, 0, 0, layout).To(features)
model = model.Operation("RELU", features).To(out)
Example({image: [1, 2, 3, 4], kept: [0], classes: [0], out: [0]}, model=model) \
    .AddVariations(("nchw", [image, features, out, layout], [])).AddVariations("relaxed", "float16")

# Modules of the generator.
v = Input("v", ("TENSOR_FLOAT32", [4]))
z = Output("z", ("TENSOR_FLOAT32", [4]))
values = np.array([1, 4, 9, 16])
Example({v: values.tolist(), z: [math.sqrt(value) for value in values]}, name="modules",
        model=Model().Operation("SQRT", v).To(z))
