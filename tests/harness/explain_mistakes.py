"""Single operations, each computed by NumPy with one mistake that drivers make, as rows of test_explain.c's table.

A row has the name of the hypothesis that names the mistake, the operation as text of golden/model/one_op.h, and the
results of the mistaken driver. Values are drawn with a fixed seed.
"""
import numpy as np

random = np.random.RandomState(7)
rows = []


# ---- text

def numbers(values):
    return " ".join(f"{float(x):.9g}" if isinstance(x, (float, np.floating)) else str(int(x))
                    for x in np.asarray(values).ravel())


def tensor(kind, values, quant="", constant=False):
    values = np.asarray(values)
    shape = "[" + ",".join(map(str, values.shape)) + "]"
    return ("const " if constant else "") + kind + shape + quant + ": " + numbers(values)


def real(values):
    return tensor("F32", np.asarray(values, np.float32))


def integers(values):
    return tensor("I32", np.asarray(values), constant=True)


def scalars(*values):
    """INT32 for integers, BOOL for truth values, FLOAT32 for floats."""
    return [f"BOOL: {int(v)}" if isinstance(v, bool) else f"INT32: {v}" if isinstance(v, int) else f"FLOAT32: {v:.9g}"
            for v in values]


def mistake(name, operation, inputs, result):
    rows.append((name, operation, inputs, result))


# ---- computing

def values(*shape):
    """Multiples of 1/8, so that float sums are exact."""
    return np.round(random.uniform(-3, 3, shape) * 8) / 8


def stored(x, scale, zero, low=0, high=255):
    return np.clip(np.floor(np.asarray(x, float) / scale + .5) + zero, low, high).astype(int)


def same(size, kernel, stride=1, dilation=1):
    """Of padding SAME: the number of outputs, padding before and after."""
    outputs = -(-size // stride)
    need = max(0, (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return outputs, need // 2, need - need // 2


def conv(x, w, b, size, pad, stride=(1, 1), dilation=(1, 1), padding=0.0, edge=False, channel=None):
    """NHWC; size, pad, stride, dilation: of rows and columns. channel: input channel of output channel o and filter
    channel k; padding: the value around the image; edge: that of the nearest element instead."""
    channel = channel or (lambda o, k: k)
    depthwise = w.shape[0] == 1 and w.shape[3] == len(b) != 1
    y = np.zeros((x.shape[0], *size, len(b)))
    for n, r, c, o in np.ndindex(y.shape):
        total = b[o]
        for i, j, k in np.ndindex(w.shape[1], w.shape[2], 1 if depthwise else w.shape[3]):
            row, column = r * stride[0] + i * dilation[0] - pad[0], c * stride[1] + j * dilation[1] - pad[1]
            if edge:
                row, column = np.clip(row, 0, x.shape[1] - 1), np.clip(column, 0, x.shape[2] - 1)
            inside = 0 <= row < x.shape[1] and 0 <= column < x.shape[2]
            value = x[n, row, column, channel(o, k)] if inside else padding
            total += value * (w[0, i, j, o] if depthwise else w[o, i, j, k])
        y[n, r, c, o] = total
    return y


def average(x, size, pad, window, count=None, stride=(1, 1)):
    y = np.zeros((x.shape[0], *size, x.shape[3]))
    for n, r, c, o in np.ndindex(y.shape):
        top, left = r * stride[0] - pad, c * stride[1] - pad
        taken = [x[n, top + i, left + j, o] for i, j in np.ndindex(window)
                 if 0 <= top + i < x.shape[1] and 0 <= left + j < x.shape[2]]
        y[n, r, c, o] = sum(taken) / (count or len(taken))
    return y


def transposed(x, w, b, size, before, stride):
    """TRANSPOSE_CONV_2D, NHWC: tap (i, j) of input (r, c) is added at (r, c) * stride + (i, j) - before."""
    y = np.zeros((x.shape[0], *size, len(b))) + b
    for n, r, c, i, j in np.ndindex(*x.shape[:3], *w.shape[1:3]):
        row, column = r * stride + i - before[0], c * stride + j - before[1]
        if 0 <= row < size[0] and 0 <= column < size[1]:
            y[n, row, column] += w[:, i, j] @ x[n, r, c]
    return y


def softmax(x, beta, axis=-1):
    e = np.exp(beta * (x - x.max(axis, keepdims=True)))
    return e / e.sum(axis, keepdims=True)


# ---- windows: CONV_2D with padding SAME, an image of 6 x 7, a filter of 3 x 3

def conv_inputs(x, w, b, stride=(1, 1), dilation=(1, 1), activation=0):
    return [real(x), real(w), real(b)] + scalars(1, stride[1], stride[0], activation, False, dilation[1], dilation[0])


def conv_mistake(name, result, *inputs, **options):
    mistake(name, "CONV_2D", conv_inputs(*inputs, **options), real(result))


def windows():
    x, w, b = values(1, 6, 7, 2), values(2, 3, 3, 2), values(2)
    rows_2, before_2, after_2 = same(6, 3, 2)
    columns_2, left_2, right_2 = same(7, 3, 2)
    size, pad = (6, 7), (1, 1)
    conv_mistake("padding-other-side", conv(x, w, b, (rows_2, columns_2), (after_2, right_2), (2, 2)), x, w, b,
                 stride=(2, 2))
    conv_mistake("padding-ignored", conv(x, w, b, size, (0, 0)), x, w, b)
    conv_mistake("padding-edge", conv(x, w, b, size, pad, edge=True), x, w, b)
    conv_mistake("padding-off-by-one", conv(x, w, b, size, (1, 0)), x, w, b)
    wide = values(2, 1, 5, 2)
    conv_mistake("padding-rows-columns-swapped", conv(x, wide, b, size, (2, 0)), x, wide, b)
    dilated = {"dilation": (2, 1)}
    conv_mistake("padding-undilated", conv(x, w, b, size, (1, 1), dilation=(2, 1)), x, w, b, **dilated)
    conv_mistake("dilations-swapped", conv(x, w, b, size, (2, 1), dilation=(1, 2)), x, w, b, **dilated)
    conv_mistake("dilations-swapped", conv(x, w, b, size, (1, 2), dilation=(1, 2)), x, w, b, **dilated)
    conv_mistake("dilation-one-for-both", conv(x, w, b, size, (2, 1), dilation=(2, 2)), x, w, b, **dilated)
    conv_mistake("dilation-ignored", conv(x, w, b, size, (2, 1)), x, w, b, **dilated)
    strided, half, before = {"stride": (2, 1)}, (3, 7), (same(6, 3, 2)[1], 1)
    conv_mistake("strides-swapped", conv(x, w, b, half, before, (1, 2)), x, w, b, **strided)
    conv_mistake("stride-one-for-both", conv(x, w, b, half, before, (2, 2)), x, w, b, **strided)
    conv_mistake("stride-ignored", conv(x, w, b, half, before), x, w, b, **strided)
    image = values(1, 6, 6, 2)
    mistake("padding-counted", "AVERAGE_POOL_2D", [real(image)] + scalars(1, 1, 1, 3, 3, 0),
            real(average(image, (6, 6), 1, (3, 3), 9)))
    # strides of 2 columns and 1 row, exchanged: the last two rows of windows are below the image
    swapped = average(image, (3, 3), 0, (2, 2), stride=(2, 1))
    mistake("strides-swapped", "AVERAGE_POOL_2D", [real(image)] + scalars(2, 2, 1, 2, 2, 0),
            real(np.pad(swapped, ((0, 0), (0, 2), (0, 0), (0, 0)))))
    mistake("window-swapped", "AVERAGE_POOL_2D", [real(image)] + scalars(2, 1, 1, 2, 3, 0),
            real(average(image, (4, 5), 0, (2, 3))))


# ---- operands of sums

def sums():
    x, w, b = values(1, 6, 7, 2), values(2, 3, 3, 2), values(2)
    size, pad = (6, 7), (1, 1)

    def result(x=x, w=w, b=b):
        return conv(x, w, b, size, pad)

    conv_mistake("weights-flipped", result(w=w[:, ::-1, ::-1]), x, w, b)
    conv_mistake("weights-permuted", result(w=w.transpose(0, 2, 1, 3)), x, w, b)
    without = w.copy()
    without[:, 2, 2] = 0
    conv_mistake("term-left-out", result(w=without), x, w, b)
    conv_mistake("bias-ignored", result(b=0 * b), x, w, b)
    conv_mistake("bias-of-channel-0", result(b=b[[0, 0]]), x, w, b)
    conv_mistake("activation-ignored", result(), x, w, b, activation=3)
    conv_mistake("activation-limits", np.clip(result(), -.25, 5.5), x, w, b, activation=3)
    conv_mistake("other-activation", np.maximum(result(), 0), x, w, b, activation=3)
    conv_mistake("input-dimensions-permuted", result(x=x.reshape(1, 7, 6, 2).transpose(0, 2, 1, 3)), x, w, b)
    image, one, few = values(1, 4, 4, 4), values(4, 1, 1, 4), values(4)
    conv_mistake("layout-flipped", conv(image.transpose(0, 2, 3, 1), one, few, (4, 4), (0, 0)).transpose(0, 3, 1, 2),
                 image, one, few)
    deep, taps, six = values(1, 4, 4, 3), values(1, 3, 3, 6), values(6)
    nchw = values(1, 4, 3, 5)
    as_nhwc = conv(nchw.reshape(1, 3, 5, 4), one[:2], few[:2], (3, 5), (0, 0)).reshape(1, 2, 3, 5)
    mistake("layout-flipped", "CONV_2D", [real(nchw), real(one[:2]), real(few[:2])] + scalars(1, 1, 1, 0, True),
            real(as_nhwc))
    mistake("multiplier-order", "DEPTHWISE_CONV_2D", [real(deep), real(taps), real(six)] + scalars(1, 1, 1, 2, 0),
            real(conv(deep, taps, six, (4, 4), (1, 1), channel=lambda o, k: o % 3)))
    grouped, parts, four = values(1, 4, 4, 4), values(4, 2, 2, 2), values(4)
    for name, channel in (("groups-ignored", lambda o, k: k),
                          ("groups-interleaved", lambda o, k: 2 * k + o // 2),
                          ("groups-reversed", lambda o, k: 2 - o // 2 * 2 + k)):
        mistake(name, "GROUPED_CONV_2D", [real(grouped), real(parts), real(four)] + scalars(2, 1, 1, 2, 0, False),
                real(conv(grouped, parts, four, (3, 3), (0, 0), channel=channel)))
    taps = values(2, 3, 3, 4)
    mistake("padding-other-side", "TRANSPOSE_CONV_2D",
            [real(grouped), real(taps), real(few[:2]), integers([1, 8, 8, 2])] +
            scalars(1, 2, 2, 0, False), real(transposed(grouped, taps, few[:2], (8, 8), (1, 1), 2)))


# ---- where results are written

def places():
    x, w, b = values(1, 6, 7, 2), values(2, 3, 3, 2), values(2)
    y = conv(x, w, b, (6, 7), (1, 1))
    flat = y.ravel()
    conv_mistake("output-dimensions-permuted", y.transpose(0, 3, 1, 2).reshape(y.shape), x, w, b)
    conv_mistake("output-shifted", np.append(flat[1:], 0).reshape(y.shape), x, w, b)
    conv_mistake("output-reversed", flat[::-1].reshape(y.shape), x, w, b)
    conv_mistake("lanes-repeated", np.repeat(flat[::4], 4).reshape(y.shape), x, w, b)
    conv_mistake("not-written", 0 * y, x, w, b)
    conv_mistake("index-left-out", y * [1, 0], x, w, b)
    conv_mistake("index-not-written", np.where([True, False], y, values(*y.shape) + .3), x, w, b)
    conv_mistake("rest-left-out", np.where(np.arange(y.size) < 20, flat, 0).reshape(y.shape), x, w, b)
    conv_mistake("negated", -y, x, w, b)
    tail = flat.copy()
    tail[len(flat) // 8 * 8:] = 0
    conv_mistake("tail-left-out", tail.reshape(y.shape), x, w, b)
    several = values(3, 6, 7, 2)
    y = conv(several, w, b, (6, 7), (1, 1))
    conv_mistake("first-batch-for-all", y[[0, 0, 0]], several, w, b)
    conv_mistake("previous-batch", y[[2, 0, 1]], several, w, b)
    first = y.copy()
    first[1:] = 0
    conv_mistake("only-first-batch", first, several, w, b)


# ---- precision

def in_half(x, w, b):
    """Products and sums rounded to fp16."""
    y = np.zeros((1, 6, 7, 2))
    for _, r, c, o in np.ndindex(y.shape):
        total = np.float16(b[o])
        for i, j, k in np.ndindex(3, 3, 2):
            if 0 <= r + i - 1 < 6 and 0 <= c + j - 1 < 7:
                total = np.float16(total + np.float16(x[0, r + i - 1, c + j - 1, k] * w[o, i, j, k]))
        y[0, r, c, o] = total
    return y


def half(x):
    return x.astype(np.float16).astype(float)


def precision():
    x = random.uniform(-3, 3, (1, 6, 7, 2)).astype(np.float32).astype(float)
    w = random.uniform(-3, 3, (2, 3, 3, 2)).astype(np.float32).astype(float)
    b = values(2)
    conv_mistake("result-in-half", half(conv(x, w, b, (6, 7), (1, 1))), x, w, b)
    conv_mistake("operands-in-half", conv(half(x), half(w), half(b), (6, 7), (1, 1)), x, w, b)
    conv_mistake("half-arithmetic", in_half(x, w, b), x, w, b)


# ---- quantisation

def saturating(x, w, b):
    """The sums of a convolution with padding of 1, each term added in 16 bits."""
    y = np.zeros((1, 6, 7, 2)) + np.clip(b, -2**15, 2**15 - 1)
    for _, r, c, o in np.ndindex(y.shape):
        for i, j, k in np.ndindex(3, 3, 2):
            if 0 <= r + i - 1 < 6 and 0 <= c + j - 1 < 7:
                y[0, r, c, o] = np.clip(y[0, r, c, o] + x[0, r + i - 1, c + j - 1, k] * w[o, i, j, k],
                                        -2**15, 2**15 - 1)
    return y


def quantisation():
    q, f, bias = random.randint(0, 256, (1, 6, 7, 2)), random.randint(0, 256, (2, 3, 3, 2)), random.randint(
        -3000, 3000, 2)
    (sx, zx), (sw, zw), (so, zo) = (0.03, 140), (0.02, 120), (0.06, 100)
    product = float(np.float32(sx) * np.float32(sw))
    x, w, b = (q - zx) * sx, (f - zw) * sw, bias * sx * sw

    def inputs(activation=0):
        return [tensor("U8", q, f"*{sx}@{zx}"), tensor("U8", f, f"*{sw}@{zw}"),
                tensor("I32", bias, f"*{product:.9g}@0")] + scalars(1, 1, 1, activation)

    def quantised(name, result, activation=0):
        mistake(name, "CONV_2D", inputs(activation), tensor("U8", result, f"*{so}@{zo}"))

    def result(x=x, w=w, b=b, padding=0.0):
        return conv(x, w, b, (6, 7), (1, 1), padding=padding)

    y = result()
    right = stored(y, so, zo)
    quantised("padding-zero-point", stored(result(padding=-zx * sx), so, zo))
    quantised("truncation", np.clip(np.floor(y / so + zo), 0, 255).astype(int))
    quantised("rounding-up", np.clip(np.ceil(y / so + zo), 0, 255).astype(int))
    quantised("one-step-off", np.clip(right + 1, 0, 255))
    quantised("steps-off", np.clip(right + 3, 0, 255))
    quantised("wrap-around", stored(y, so, zo, -10**9, 10**9) % 256)
    above = stored(y, so, zo, 0, 10**9)
    quantised("wrap-around", np.where(above > 255, above % 256, above))
    quantised("narrow-range", np.clip(right, 0, 127))
    quantised("sign-bit", right ^ 128)
    quantised("output-zero-point-left-out", stored(y, so, 0))
    quantised("output-zero-point-twice", stored(y, so, 2 * zo))
    quantised("output-scale-of-input", stored(y, sx, zx))
    quantised("output-scale-left-out", stored(y, 1, zo))
    quantised("weights-zero-point", stored(result(w=f * sw), so, zo))
    quantised("input-zero-point", stored(result(x=q * sx), so, zo))
    quantised("scales-exchanged", stored(result(x=(q - zw) * sw, w=(f - zx) * sx), so, zo))
    quantised("scale-of-other-input", stored(result(w=(f - zx) * sx, b=bias * sx * sx), so, zo))
    small = bias // 30
    mistake("bias-scale", "CONV_2D", inputs()[:2] + [tensor("I32", small, f"*{product:.9g}@0")] + scalars(1, 1, 1, 0),
            tensor("U8", stored(result(b=small * so), so, zo), f"*{so}@{zo}"))
    units = conv(q - zx, f - zw, bias, (6, 7), (1, 1))
    quantised("accumulator-16-bit", stored(((units + 2**15) % 2**16 - 2**15) * sx * sw, so, zo))
    quantised("accumulator-16-bit", stored(saturating(q - zx, f - zw, bias) * sx * sw, so, zo))
    average_inputs = [tensor("U8", q, f"*{sx}@{zx}")]
    windows = np.stack([q[:, i:i + 5, j:j + 6] - zx for i, j in np.ndindex(2, 2)])
    mistake("divided-first", "AVERAGE_POOL_2D", average_inputs + scalars(2, 1, 1, 2, 2, 0),
            tensor("U8", np.trunc(windows / 4).sum(0) + zx, f"*{sx}@{zx}"))
    quantised("activation-on-stored", np.clip(right, 0, 6), activation=3)
    channels, few = random.randint(-127, 128, (2, 3, 3, 2)), random.randint(-3000, 3000, 2)
    mistake("scale-of-channel-0", "CONV_2D",
            [tensor("U8", q, f"*{sx}@{zx}"), tensor("PC8", channels, "*0.01,0.03|0"), tensor("I32", few)] +
            scalars(1, 1, 1, 0),
            tensor("U8", stored(result(w=channels * .01, b=few * sx * .01), so, zo), f"*{so}@{zo}"))
    signed, one = random.randint(-128, 128, (1, 5, 5, 1)), random.randint(-128, 128, (1, 1, 1, 1))
    y = conv((signed % 256 - 10) * .05, one * .02, np.zeros(1), (5, 5), (0, 0))
    mistake("signedness", "CONV_2D",
            [tensor("S8", signed, "*0.05@10"), tensor("S8", one, "*0.02@0"),
             f"I32[1]*{float(np.float32(.05) * np.float32(.02)):.9g}@0: 0"] + scalars(2, 1, 1, 0),
            tensor("S8", stored(y, .3, -5, -128, 127), "*0.3@-5"))


# ---- other operations

def others():
    a, b, c = values(2, 3, 4), values(2, 3, 4), values(3, 1)
    mistake("inputs-exchanged", "SUB", [real(a), real(b)] + scalars(0), real(b - a))
    mistake("broadcast", "ADD", [real(a), real(c)] + scalars(0), real(a + np.resize(c.ravel(), 24).reshape(2, 3, 4)))
    wide = values(3, 1, 2)
    place = np.indices((3, 4, 2))  # strides as if the sizes were 2, 1, 3
    mistake("broadcast", "ADD", [real(values(3, 4, 2) * 0 + 1), real(wide)] + scalars(0),
            real(1 + wide.ravel()[(place[0] * 3 + place[2]) % 6]))
    mistake("second-input-permuted", "ADD", [real(a), real(b)] + scalars(0),
            real(a + b.reshape(2, 4, 3).transpose(0, 2, 1)))
    mistake("factor-ignored", "SOFTMAX", [real(a[0])] + scalars(.5), real(softmax(a[0], 1)))
    mistake("factor-inverted", "SOFTMAX", [real(a[0])] + scalars(.5), real(softmax(a[0], 2)))
    mistake("axis-off-by-one", "SOFTMAX", [real(a)] + scalars(.5, 2), real(softmax(a, .5, 1)))
    mistake("axis-from-the-end", "SOFTMAX", [real(a)] + scalars(.5, 2), real(softmax(a, .5, 0)))
    four = values(2, 3, 2, 4)
    mistake("other-axis", "SOFTMAX", [real(four)] + scalars(.5, 0), real(softmax(four, .5, 2)))
    x, y = values(1, 3, 3), values(1, 3, 3)
    mistake("flag-flipped", "BATCH_MATMUL", [real(x), real(y)] + scalars(False, False),
            real(x @ y.transpose(0, 2, 1)))
    mistake("inverted", "LESS", [real(a), real(b)], tensor("B8", a >= b))
    cube = np.arange(27).reshape(3, 3, 3)
    mistake("permutation-inverted", "TRANSPOSE", [real(cube), integers([1, 2, 0])], real(cube.transpose(2, 0, 1)))
    table = values(4, 4)
    mistake("pairs-exchanged", "PAD", [real(table), integers([[1, 2], [0, 3]])],
            real(np.pad(table, ((2, 1), (3, 0)))))
    codes, around = random.randint(0, 256, (3, 3)), integers([[1, 2], [0, 3]])
    for name, value, wrong in ("padding-zero-point", None, 0), ("pad-value", 150, 22), ("pad-value", 200, 72):
        mistake(name, "PAD" if value is None else "PAD_V2",
                [tensor("U8", codes, "*0.5@128"), around] + ([] if value is None else scalars(value)),
                tensor("U8", np.pad(codes, ((1, 2), (0, 3)), constant_values=wrong), "*0.5@128"))
    mistake("list-reversed", "SLICE", [real(table), integers([0, 2]), integers([2, 2])], real(table[2:, :2]))
    mistake("list-ignored", "SLICE", [real(table), integers([1, 2]), integers([2, 2])], real(table[:2, :2]))
    mistake("mask-ignored", "STRIDED_SLICE",
            [real(table), integers([1, 0]), integers([4, 4]), integers([2, 1])] + scalars(1, 0, 0), real(table[1::2]))
    mistake("index-off-by-one", "GATHER", [real(values(5, 2)), "INT32: 0", tensor("I32", [3, 1, 2])], None)
    fill_in(lambda given: given.reshape(5, 2)[[4, 2, 3]])
    mistake("count-off-by-one", "CHANNEL_SHUFFLE", [real(values(1, 6))] + scalars(3, 1), None)
    fill_in(lambda given: given.reshape(2, 3).T.reshape(1, 6))
    tall = np.ones((1, 8, 4, 1))
    tall[0, 5, 0, 0] = 7  # in the region only if height and width are exchanged
    mistake("width-height-swapped", "ROI_POOLING",
            [real(tall), real([[0, 0, 2, 6]]), "I32[1]: 0"] + scalars(1, 1, 2., 1., False), real([[[[7]]]]))


def fill_in(result):
    """Completes the last row from its first input."""
    name, operation, inputs, _ = rows.pop()
    mistake(name, operation, inputs, real(result(np.array(inputs[0].split(": ")[1].split(), float))))


def no_hypothesis():
    x, w, b = values(1, 6, 7, 2), values(2, 3, 3, 2), values(2)
    y = conv(x, w, b, (6, 7), (1, 1))
    y.ravel()[[3, 17, 40]] += [.7, -1.3, .4]
    conv_mistake(None, y, x, w, b)


def more_variants():
    x, w, b = values(1, 5, 7, 2), values(2, 3, 4, 2), values(2)
    (rows_2, top, bottom), (columns_2, left, right) = same(5, 3, 2), same(7, 4, 2)
    conv_mistake("padding-other-side", conv(x, w, b, (rows_2, columns_2), (top + bottom, left + right), (2, 2)), x, w,
                 b, stride=(2, 2))
    codes, around = random.randint(0, 256, (3, 3)), integers([[1, 2], [0, 3]])
    for zero, wrong in (100, 128), (100, 156):
        mistake("padding-zero-point", "PAD", [tensor("U8", codes, f"*0.5@{zero}"), around],
                tensor("U8", np.pad(codes, ((1, 2), (0, 3)), constant_values=wrong), f"*0.5@{zero}"))
    a, c, square = values(3, 4), values(4), values(4, 3)
    mistake("broadcast", "ADD", [real(a), real(square[:3, :1])] + scalars(0),
            real(a + square[:3, 0][np.arange(4) % 3][None]))
    place = np.indices((3, 4))
    mistake("broadcast", "MUL", [real(a), real(c)] + scalars(0),
            real(a[place[1] % 3, place[0] % 4] * c[place[0]]))
    q, f, bias = random.randint(0, 256, (1, 5, 6, 2)), random.randint(-127, 128, (2, 3, 3, 2)), np.array([900, -41])
    for channel, name in (0, "0.01,0.03"), (1, "0.01,0.03"):
        scale = (.01, .03)[channel]
        y = conv((q - 90) * .03, f * scale, bias * .03 * np.array([.01, .03]), (5, 6), (1, 1))
        mistake("scale-of-channel-0", "CONV_2D",
                [tensor("U8", q, "*0.03@90"), tensor("PC8", f, f"*{name}|0"), tensor("I32", bias)] +
                scalars(1, 1, 1, 0), tensor("U8", stored(y, .4, 120), "*0.4@120"))


def main():
    for family in windows, sums, places, precision, quantisation, others, no_hypothesis, more_variants:
        family()
    for name, operation, inputs, result in rows:
        texts = ", ".join(f'"{text}"' for text in inputs)
        quoted = f'"{name}"' if name else "NULL"
        print(f'{{ {quoted}, {{ .op = "{operation}", .in = {{ {texts} }}, .out = "{result}" }} }},')


main()
