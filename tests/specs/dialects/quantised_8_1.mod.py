# Android 8.1: shape strings that begin with the range of real values: scale = (high - low) / 255, zero point =
# round(-low / scale).  Shape strings of quantised tensors without scale, or with scale 0: that of the input, else 1.
# Values by hand.

# 0 to 127.5: scale 0.5, zero point 0.  The stored 12 is 6.0.
x = Input("x", "TENSOR_QUANT8_ASYMM", "0.0f, 127.5f, {1, 2, 2, 1}")
y = Output("y", "TENSOR_QUANT8_ASYMM", "0.0f, 127.5f, {1, 2, 2, 1}")
model = Model()
model = model.Operation("RELU6", x).To(y)
Example(({x: [0, 1, 11, 12]}, {y: [0, 1, 11, 12]}))
Example(({x: [13, 14, 254, 255]}, {y: [12, 12, 12, 12]}))

# -128 to 127: scale 1, zero point 128.  -1, 0, 1 are stored as 127, 128, 129; RELU makes -1 a 0.
s = Input("s", "TENSOR_QUANT8_ASYMM", "-128.0f, 127.0f, {3}")
t = Output("t", "TENSOR_QUANT8_ASYMM", "-128.0f, 127.0f, {3}")
Example({s: [127, 128, 129], t: [128, 128, 129]}, name="signed", model=Model().Operation("RELU", s).To(t))

# The scale of a bias is that of the input times that of the filter: 63.75 / 255 = 0.25.
i = Input("i", "TENSOR_QUANT8_ASYMM", "0.0f, 127.5f, {1, 2}")
w = Parameter("w", "TENSOR_QUANT8_ASYMM", "0.0f, 127.5f, {1, 2}", [2, 4])
b = Parameter("b", "TENSOR_INT32", "0.0f, 63.75f, {1}", [8])
o = Output("o", "TENSOR_QUANT8_ASYMM", "0.0f, 255.0f, {1, 1}")
Example({i: [4, 6], w: [2, 4], o: [10]}, name="dense",  # 2 * 1 + 3 * 2 + 2
        model=Model().Operation("FULLY_CONNECTED", i, w, b, 0).To(o))

# Without scale, or with scale 0.
n = Input("n", "TENSOR_QUANT8_ASYMM", "{1, 4}")
m = Output("m", "TENSOR_QUANT8_ASYMM", "{2, 2}, 0.0f, 0")
Example({n: [0, 7, 128, 255], m: [0, 7, 128, 255]}, name="moved",
        model=Model().Operation("RESHAPE", n, [2, 2]).To(m))

# The output has the scale and zero point of the input.
d = Input("d", "TENSOR_QUANT8_ASYMM", "{1, 1, 1, 4}, 0.5f, 3")
e = Output("e", "TENSOR_QUANT8_ASYMM", "{1, 2, 2, 1}")
Example({d: [1, 2, 254, 255], e: [1, 2, 254, 255]}, name="inherited",
        model=Model().Operation("DEPTH_TO_SPACE", d, 2).To(e))
