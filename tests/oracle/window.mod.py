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
        """The same axis, padded as a scheme says."""
        if which == VALID:
            return self._replace(before=0, after=0)
        needed = max(0, (-(-size // self.stride) - 1) * self.stride + self.reach - size)
        return self._replace(before=needed // 2, after=needed - needed // 2)


def taps(x, h, w, fill=0.0):
    """What each tap sees: [kernel height, kernel width, batch, out height, out width, channel]."""
    padded = np.pad(x, [(0, 0), (h.before, h.after), (w.before, w.after), (0, 0)], constant_values=fill)
    rows, columns = h.outputs(x.shape[1]), w.outputs(x.shape[2])
    return np.array([[padded[:, i * h.dilation:, j * w.dilation:][:, :(rows - 1) * h.stride + 1:h.stride,
                                                                :(columns - 1) * w.stride + 1:w.stride]
                      for j in range(w.kernel)] for i in range(h.kernel)])


# Size of the image, and the window.
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
    """The padding operands, and the axes that they mean."""
    if scheme is None:
        return [w.before, w.after, h.before, h.after], h, w
    return [scheme], h.scheme(scheme, size[0]), w.scheme(scheme, size[1])


def examples(op, head, tail, y, images):
    """The layout operand left off, false, and true."""
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
    """Every combination, each with the next activation and the next way to say the padding."""
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
