"""Convolutions and poolings: sliding windows over images."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

ACTIVATIONS = [lambda y: y, lambda y: np.maximum(y, 0), lambda y: np.clip(y, -1, 1), lambda y: np.clip(y, 0, 6)]
SAME, VALID = 1, 2


class Axis(NamedTuple):
    """One spatial axis of a window."""

    kernel: int
    stride: int = 1
    before: int = 0
    after: int = 0
    dilation: int = 1

    @property
    def reach(self):
        return (self.kernel - 1) * self.dilation + 1

    def outputs(self, size):
        return (size + self.before + self.after - self.reach) // self.stride + 1

    def scheme(self, which, size):
        """The same axis with the padding of a scheme."""
        if which == VALID:
            return self._replace(before=0, after=0)
        needed = max(0, (-(-size // self.stride) - 1) * self.stride + self.reach - size)
        return self._replace(before=needed // 2, after=needed - needed // 2)


def taps(x, h, w, fill=0.0):
    """The input of each tap: [kernel height, kernel width, batch, out height, out width, channel]."""
    padded = np.pad(x, [(0, 0), (h.before, h.after), (w.before, w.after), (0, 0)], constant_values=fill)
    rows, columns = h.outputs(x.shape[1]), w.outputs(x.shape[2])
    return np.array([[padded[:, i * h.dilation:, j * w.dilation:][:, :(rows - 1) * h.stride + 1:h.stride,
                                                                :(columns - 1) * w.stride + 1:w.stride]
                      for j in range(w.kernel)] for i in range(h.kernel)])


# Sizes of image and window.
WINDOWS = [
    ((1, 1), Axis(1), Axis(1)),
    ((5, 4), Axis(2), Axis(3)),
    ((7, 6), Axis(3, 2, 1, 1), Axis(2, 3, 0, 1)),
    ((4, 9), Axis(3, 1, 2, 0), Axis(5, 2, 2, 4)),
    ((6, 1), Axis(5, 4, 0, 3), Axis(1)),
    ((3, 3), Axis(3), Axis(3)),
]
DILATED = [((9, 8), Axis(3, 1, 2, 1, 2), Axis(2, 2, 0, 1, 3)), ((5, 5), Axis(1, 2, 0, 0, 3), Axis(2, 1, 1, 1, 2))]
CHANNELS = [(1, 1, 1), (2, 3, 4), (1, 8, 5), (0, 2, 3)]  # batch, input channels, output channels (or multiplier)


def spell(h, w, scheme, size):
    """The padding operands, and the axes with that padding."""
    if scheme is None:
        return [w.before, w.after, h.before, h.after], h, w
    return [scheme], h.scheme(scheme, size[0]), w.scheme(scheme, size[1])


def examples(op, head, tail, y, images):
    """Examples without the layout operand, with NHWC and with NCHW."""
    check(op, [*head, *tail], [y])
    check(op, [*head, *tail, False], [y], "nhwc")
    check(op, [*[t.nchw() if i in images else t for i, t in enumerate(head)], *tail, True], [y.nchw()], "nchw")


# --- pooling


def pool_average(seen, valid):
    return np.where(valid, seen, 0).sum((0, 1)) / valid.sum((0, 1))


def pool_max(seen, valid):
    return np.where(valid, seen, -np.inf).max((0, 1))


def pool_l2(seen, valid):
    return np.sqrt((np.where(valid, seen, 0)**2).sum((0, 1)) / valid.sum((0, 1)))


def combinations(*choices):
    """Every combination, each with the next activation and the next form of padding, in turn."""
    schemes, activations = itertools.cycle((None, SAME, VALID)), itertools.cycle(range(4))
    return zip(itertools.product(*choices), schemes, activations)


def pool(op, types, reduce):
    seed(op)
    for (type, (size, h, w), (batch, channels, _)), scheme, activation in combinations(types, WINDOWS, CHANNELS):
        x = draw(type, (batch, *size, channels), -9, 9)
        padding, high, wide = spell(h, w, scheme, size)
        valid = taps(np.ones_like(x.real), high, wide) > 0
        y = ACTIVATIONS[activation](reduce(taps(x.real, high, wide), valid))
        examples(op, [x], [*padding, w.stride, h.stride, w.kernel, h.kernel, activation], result(type, y), [0])


BYTES = [U8(0.05, 128), U8(2.0, 0), S8(0.05, 5), S8(2.0, -128)]
pool("AVERAGE_POOL_2D", [F32, F16, *BYTES], pool_average)
pool("MAX_POOL_2D", [F32, F16, *BYTES], pool_max)
pool("L2_POOL_2D", [F32, F16], pool_l2)

# --- convolutions

# Types of image, filter (channels: scales of each output channel), result.
DOTS = [
    (F32, lambda n: F32, F32),
    (F16, lambda n: F16, F16),
    (U8(0.5, 128), lambda n: U8(0.25, 100), U8(3.0, 50)),
    (U8(0.02, 3), lambda n: U8(0.01, 0), U8(0.05, 128)),
    (U8(0.5, 128), lambda n: PC8(np.linspace(0.01, 0.5, n), 0), U8(3.0, 50)),
    (S8(0.5, 12), lambda n: S8(0.25, -7), S8(3.0, 5)),
    (S8(0.5, -128), lambda n: PC8(np.linspace(0.5, 1e-3, n), 0), S8(1.0, 127)),
]


def conv(x, f, b, h, w):
    return np.einsum("hwnyxi,ohwi->nyxo", taps(x, h, w), f) + b


def depthwise(x, f, b, h, w):
    multiplier = f.shape[3] // x.shape[3]
    seen = taps(x, h, w).repeat(multiplier, -1)
    return np.einsum("hwnyxo,hwo->nyxo", seen, f[0]) + b


def convolve(op, function, filter_shape, channel_dim, extra):
    """filter_shape: from kernel, input channels and the third number of CHANNELS; extra: operands before the
    activation."""
    seed(op)
    for (dot, channels, (size, h, w)), scheme, activation in combinations(DOTS, CHANNELS, WINDOWS + DILATED):
        (image, weights, out), (batch, inputs, n) = dot, channels
        shape = filter_shape(h.kernel, w.kernel, inputs, n)
        outputs = shape[channel_dim]
        type = weights(outputs)
        if type.scales:
            type = type._replace(channel=channel_dim)
        x, f = draw(image, (batch, *size, inputs)), draw(type, shape)
        b = draw(bias_of(image, type), (outputs,))
        padding, high, wide = spell(h, w, scheme, size)
        y = result(out, ACTIVATIONS[activation](function(x.real, f.real, b.real, high, wide)))
        tail = [*padding, w.stride, h.stride, *extra(n), activation]
        dilations = [w.dilation, h.dilation]
        if dilations == [1, 1]:
            examples(op, [x, Const(f), Const(b)], tail, y, [0])
        check(op, [x, f, b, *tail, False, *dilations], [y], "dilated")
        check(op, [x.nchw(), Const(f), b, *tail, True, *dilations], [y.nchw()], "dilated_nchw")


convolve("CONV_2D", conv, lambda h, w, i, o: (o, h, w, i), 0, lambda n: [])
convolve("DEPTHWISE_CONV_2D", depthwise, lambda h, w, i, m: (1, h, w, i * m), 3, lambda n: [n])


def grouped(x, f, b, h, w, groups):
    parts = zip(np.split(x, groups, 3), np.split(f, groups, 0), np.split(b, groups))
    return np.concatenate([conv(*part, h, w) for part in parts], 3)


def layouts(op, head, tail, y):
    """Examples in both layouts (the operand is not optional), with filters as constants and as inputs, and with unknown
    dimensions."""
    x, f, b = head
    check(op, [x, Const(f), Const(b), *tail, False], [y], "nhwc")
    check(op, [x.nchw(), f, b, *tail, True], [y.nchw()], "nchw")
    if x.stored.size:
        check(op, [Unknown(x, (0, *x.shape[1:])), Const(f), b, *tail, False], [Unknown(y, (0, *y.shape[1:]))], "unknown")


seed("GROUPED_CONV_2D")
GROUPS = [(1, 1, 1, 1), (2, 3, 6, 3), (1, 8, 4, 4), (1, 6, 4, 2), (0, 4, 2, 2)]  # batch, input and output channels, groups
for (dot, (batch, inputs, n, groups), (size, h, w)), scheme, activation in combinations(DOTS, GROUPS, WINDOWS):
    image, weights, out = dot
    x, f = draw(image, (batch, *size, inputs)), draw(weights(n), (n, h.kernel, w.kernel, inputs // groups))
    b = draw(bias_of(image, f.type), (n,))
    padding, high, wide = spell(h, w, scheme, size)
    y = result(out, ACTIVATIONS[activation](grouped(x.real, f.real, b.real, high, wide, groups)))
    layouts("GROUPED_CONV_2D", [x, f, b], [*padding, w.stride, h.stride, groups, activation], y)
x, f, b = draw(F32, (1, 3, 3, 4)), draw(F32, (3, 1, 1, 2)), draw(F32, (3,))
for groups in (2, 0, -1, 4):  # 3 outputs are not divisible by 2; invalid numbers of groups
    refuse("GROUPED_CONV_2D", [x, f, b, VALID, 1, 1, groups, 0, False], [draw(F32, (1, 3, 3, 3))])


def transpose_conv(x, f, b, h, w):
    """Every pixel adds the filter, multiplied by it, to a larger image; then the padding is removed (or added)."""
    n, rows, columns, _ = x.shape
    o, kernel_h, kernel_w, _ = f.shape
    full = np.zeros((n, (rows - 1) * h.stride + kernel_h + max(0, -h.after),
                     (columns - 1) * w.stride + kernel_w + max(0, -w.after), o))
    for r in range(rows):
        for c in range(columns):
            top, left = r * h.stride, c * w.stride
            full[:, top:top + kernel_h, left:left + kernel_w] += np.einsum("ni,ohwi->nhwo", x[:, r, c], f)
    return full[:, h.before:full.shape[1] - max(0, h.after), w.before:full.shape[2] - max(0, w.after)] + b


def enlarged(size, axis, scheme):
    """The output sizes that a scheme allows, each with the axis and its padding."""
    if scheme == VALID:
        return [((size - 1) * axis.stride + axis.kernel, axis._replace(before=0, after=0))]
    outs = range((size - 1) * axis.stride + 1, size * axis.stride + 1)
    extra = [(size - 1) * axis.stride + axis.kernel - out for out in outs]
    return [(out, axis._replace(before=max(0, e) // 2, after=e - max(0, e) // 2)) for out, e in zip(outs, extra)]


seed("TRANSPOSE_CONV_2D")
SPREADS = [
    ((1, 1), Axis(1), Axis(1)),
    ((2, 3), Axis(3, 2), Axis(2, 3)),
    ((3, 2), Axis(2, 1, 1, 0), Axis(4, 2, 1, 2)),
    ((4, 5), Axis(1, 3, 0, -2), Axis(5, 2, 3, -1)),
    ((1, 4), Axis(5, 7, 2, 2), Axis(3, 1, 2, 2)),
]
for (dot, channels, (size, h, w)), scheme, activation in combinations(DOTS, CHANNELS, SPREADS):
    (image, weights, out), (batch, inputs, n) = dot, channels
    x, f = draw(image, (batch, *size, inputs)), draw(weights(n), (n, h.kernel, w.kernel, inputs))
    b = draw(bias_of(image, f.type), (n,))
    tail = [w.stride, h.stride, activation]
    if scheme is None:
        y = result(out, ACTIVATIONS[activation](transpose_conv(x.real, f.real, b.real, h, w)))
        layouts("TRANSPOSE_CONV_2D", [x, f, b], [w.before, w.after, h.before, h.after, *tail], y)
        continue
    for (rows, high), (columns, wide) in zip(itertools.cycle(enlarged(size[0], h, scheme)), enlarged(size[1], w, scheme)):
        y = result(out, ACTIVATIONS[activation](transpose_conv(x.real, f.real, b.real, high, wide)))
        assert y.shape == (batch, rows, columns, n)
        shape, turned = stored(I32, y.shape), stored(I32, y.nchw().shape)
        check("TRANSPOSE_CONV_2D", [x, Const(f), b, Const(shape), scheme, *tail, False], [y], "nhwc")
        check("TRANSPOSE_CONV_2D", [x.nchw(), f, b, Const(turned), scheme, *tail, True], [y.nchw()], "nchw")
        late = Unknown(y, (batch, 0, columns, n)) if batch else y
        check("TRANSPOSE_CONV_2D", [x, f, b, shape, scheme, *tail, False], [late], "told_late")
x, f, b = draw(F32, (1, 2, 2, 1)), draw(F32, (1, 3, 3, 1)), draw(F32, (1,))
for shape, scheme in [((1, 6, 5, 1), VALID), ((1, 5, 4, 1), SAME), ((1, 4, 4, 2), SAME), ((1, -4, 4, 1), SAME),
                      ((1, 4, 4, 1), 3)]:
    y = draw(F32, [abs(n) for n in shape])
    refuse("TRANSPOSE_CONV_2D", [x, f, b, Const(stored(I32, shape)), scheme, 2, 2, 0, False], [y])
x, shape = draw(F32, (0, 2, 2, 1)), stored(I32, [7, 4, 4, 1])  # the batch of output_shape differs from the image's
check("TRANSPOSE_CONV_2D", [x, f, b, Const(shape), SAME, 2, 2, 0, False], [draw(F32, (0, 4, 4, 1))], "batch")
x = draw(F32, (1, 2, 2, 1))
for padding, stride in [((-1, 0, 0, 0), 1), ((0, 0, 4, 0), 1), ((0, 0, 0, 0), 0)]:
    refuse("TRANSPOSE_CONV_2D", [x, f, b, *padding, stride, stride, 0, False], [Unknown(draw(F32, (1, 4, 4, 1)), (1, 0, 4, 1))])
