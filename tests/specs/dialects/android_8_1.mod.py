# Android 8.1: methods of Model for single operations, Int32Bias, feeds with numbered operands.  All values by hand.

# CONV_2D, filter 2x2 of ones, padding VALID: sums of 2x2 windows, plus 10.
x = Input("x", "TENSOR_FLOAT32", "{1, 3, 3, 1}")
f = Parameter("f", "TENSOR_FLOAT32", "{1, 2, 2, 1}", [1, 1, 1, 1])
b = Parameter("b", "TENSOR_FLOAT32", "{1}", [10])
valid = Int32Bias("valid", 2)
one = Int32Bias("one", 1)
none = Int32Bias("none", 0)
y = Output("y", "TENSOR_FLOAT32", "{1, 2, 2, 1}")
model = Model()
model = model.Conv(x, f, b, valid, one, one, none).To(y)
Example(({0: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, {0: [22, 26, 34, 38]}), name="conv")

# DEPTHWISE_CONV_2D, filter 1x1: 2 x and 3 x for each of two channels.
dx = Input("dx", "TENSOR_FLOAT32", "{1, 1, 2, 2}")
df = Parameter("df", "TENSOR_FLOAT32", "{1, 1, 1, 2}", [2, 3])
db = Parameter("db", "TENSOR_FLOAT32", "{2}", [0, 1])
dy = Output("dy", "TENSOR_FLOAT32", "{1, 1, 2, 2}")
depthwise = Model("depthwise").DepthWiseConv(dx, df, db, valid, one, one, one, none).To(dy)
Example(({dx: [1, 2, 3, 4]}, {dy: [2, 7, 6, 13]}), model=depthwise)

# Pooling, 2x2 windows, stride 2.
two = Int32Bias("two", 2)
px = Input("px", "TENSOR_FLOAT32", "{1, 2, 4, 1}")
mean = Output("mean", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
most = Output("most", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
root = Output("root", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
values = [1, 1, 2, 14, 1, 1, 10, 10]
Example(({px: values}, {mean: [1, 9]}), name="mean",
        model=Model("pool").AveragePool(px, valid, two, two, two, two, none).To(mean))
Example(({px: values}, {most: [1, 14]}), name="most",
        model=Model("pool").MaxPool(px, valid, two, two, two, two, none).To(most))
Example(({px: values}, {root: [1, 10]}), name="root",  # sqrt((4 + 196 + 100 + 100) / 4)
        model=Model("pool").L2Pool(px, valid, two, two, two, two, none).To(root))

# The operands of an ADD in other order than declared: numbers count the declarations.
first = Input("first", "TENSOR_FLOAT32", "{2}")
second = Input("second", "TENSOR_FLOAT32", "{2, 1}")
difference = Output("difference", "TENSOR_FLOAT32", "{2, 2}")
Example(({0: [1, 2], 1: [10, 20]}, {0: [11, 12, 21, 22]}), name="numbered",
        model=Model().Operation("ADD", second, first, none).To(difference))

# ADD without activation; the result without an output is the second operand of the next Add.
total = Output("total", "TENSOR_FLOAT32", "{2}")
third = Input("third", "TENSOR_FLOAT32", "{2}")
fourth = Input("fourth", "TENSOR_FLOAT32", "{2}")
Example(({first: [1, 2], third: [10, 20], fourth: [100, 200]}, {total: [111, 222]}), name="sum",
        model=Model().Add(first, third).Add(fourth).Out(total))
pair = Output("pair", "TENSOR_FLOAT32", "{2}")
Example(({first: [1, 2], third: [10, 20]}, {pair: [11, 22]}), name="pair", model=Model().RawAdd(first, third, pair))

# The others.
w = Parameter("w", "TENSOR_FLOAT32", "{1, 2}", [3, 4])
c = Parameter("c", "TENSOR_FLOAT32", "{1}", [5])
row = Input("row", "TENSOR_FLOAT32", "{1, 2}")
dense = Output("dense", "TENSOR_FLOAT32", "{1, 1}")
half = Output("half", "TENSOR_FLOAT32", "{1, 2}")
even = Output("even", "TENSOR_FLOAT32", "{1, 2}")
column = Output("column", "TENSOR_FLOAT32", "{2, 1}")
joined = Output("joined", "TENSOR_FLOAT32", "{1, 4}")
shape = Parameter("shape", "TENSOR_INT32", "{2}", [2, 1])
beta = Float32Scalar("beta", 1.0)
Example(({row: [1, 2]}, {dense: [16]}), name="dense", model=Model().FullyConnected(row, w, c, none).To(dense))
Example(({row: [0, 0]}, {half: [0.5, 0.5]}), name="half", model=Model().Logistic(row).To(half))
Example(({row: [7, 7]}, {even: [0.5, 0.5]}), name="even", model=Model().SoftMax(row, beta).To(even))
Example(({row: [1, 2]}, {column: [1, 2]}), name="column", model=Model().Reshape(row, shape).To(column))
Example(({row: [1, 2]}, {joined: [1, 2, 1, 2]}), name="joined",
        model=Model().Concatenation(row, row, one).To(joined))

# Operations by their former names; the activation (here RELU1) of CONCATENATION is ignored.
signed = Input("signed", "TENSOR_FLOAT32", "{1, 1, 1, 2}")
long = Output("long", "TENSOR_FLOAT32", "{1, 1, 1, 4}")
last = Int32Scalar("last", 3)
relu1 = Int32Scalar("relu1", 2)
Example(({signed: [-7, 7]}, {long: [-7, 7, -7, 7]}), name="activation",
        model=Model().Operation("CONCATENATION", signed, signed, last, relu1).To(long))
for name, values in (("AVERAGE_POOL", [1, 9]), ("MAX_POOL", [1, 14]), ("L2_POOL", [1, 10])):
    pooled = Output("pooled", "TENSOR_FLOAT32", "{1, 1, 2, 1}")
    model = Model().Operation(name, px, valid, two, two, two, two, none).To(pooled)
    Example(({px: [1, 1, 2, 14, 1, 1, 10, 10]}, {pooled: values}), name=name, model=model)
y2 = Output("y2", "TENSOR_FLOAT32", "{1, 2, 2, 1}")
Example(({x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, {y2: [22, 26, 34, 38]}), name="CONV",
        model=Model().Operation("CONV", x, f, b, valid, one, one, none).To(y2))
dy2 = Output("dy2", "TENSOR_FLOAT32", "{1, 1, 2, 2}")
Example(({dx: [1, 2, 3, 4]}, {dy2: [2, 7, 6, 13]}), name="DEPTHWISE_CONV",
        model=Model().Operation("DEPTHWISE_CONV", dx, df, db, valid, one, one, one, none).To(dy2))
