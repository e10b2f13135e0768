"""QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM, whose definition prescribes integer steps, in Python's unlimited integers."""
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

# --- fixed-point arithmetic on words of `width` bits


def saturate(x, width):
    return max(-2**(width - 1), min(2**(width - 1) - 1, x))


def high(a, b, width=16):
    """Upper half of the doubled product, rounded to nearest, ties upwards."""
    return saturate((2 * a * b + 2**(width - 1)) // 2**width, width)


def shifted(x, bits):
    """x / 2^bits, rounded to nearest, ties away from zero."""
    half = 2**bits // 2
    return (abs(x) + half) // 2**bits * (1 if x >= 0 else -1)


def constant(real, integer_bits=0):
    """A real number as a fixed-point word of 16 bits, rounded from one of 32."""
    return shifted(round(real * 2**(31 - integer_bits)), 16)


EXP_OF_EIGHTH, THIRD = constant(np.exp(-1 / 8)), constant(1 / 3)
POWERS = [constant(np.exp(-2.0**k)) for k in range(-2, 5)]


def exp(x, integer_bits):
    """e^x for a word x <= 0: of a remainder in [-1/4, 0) by a Taylor series at -1/8, times powers of e."""
    fraction = 15 - integer_bits
    quarter = 2**(fraction - 2)
    rest = x % quarter - quarter
    whole = (rest - x) // quarter
    t = rest * 2**integer_bits + 4096
    t2 = high(t, t)
    t3, t4 = high(t2, t), high(t2, t2)
    tail = shifted(high(shifted(t4, 2) + t3, THIRD) + t2, 1)
    y = saturate(EXP_OF_EIGHTH + high(EXP_OF_EIGHTH, t + tail), 16)
    for k, power in enumerate(POWERS):
        if k < integer_bits + 2 and whole >> k & 1:
            y = high(y, power)
    if integer_bits > 5 and x < -32 * 2**fraction:
        y = 0
    return y if x else 32767


def two_over_one_plus(x):
    """2 / (1 + x) with two integer bits, by Newton's method."""
    mean = (x + 32768) // 2
    y = constant(48 / 17, 2) + high(mean, constant(-32 / 17, 2))
    for _ in range(3):
        y += saturate(4 * high(y, 8192 - high(mean, y)), 16)
    return y


def logistic(x):
    if x == 0:
        return 16384
    y = saturate(2 * two_over_one_plus(exp(-abs(x), 3)), 16)
    return y if x > 0 else 32767 - y


def tanh(x, integer_bits):
    if x == 0:
        return 0
    y = saturate(4 * (two_over_one_plus(exp(-abs(x), integer_bits + 1)) - 8192), 16)
    return y if x > 0 else -y


def factor(real):
    """A real factor as a mantissa of 31 bits and an exponent."""
    real, exponent = Fraction(float(real)), 0
    while real >= 1:
        real, exponent = real / 2, exponent + 1
    while real < Fraction(1, 2):
        real, exponent = real * 2, exponent - 1
    return round(real * 2**31), exponent


def scaled(x, by):
    mantissa, exponent = by
    return shifted(high(saturate(x * 2**max(exponent, 0), 32), mantissa, 32), max(-exponent, 0))


def inverse_root(x):
    if x <= 1:
        return 2**31 - 1, 0
    right = 11
    while x >= 2**29:
        x, right = x // 4, right + 1
    while x < 2**27:
        x, right = x * 4, right - 1
    value, y = x >> 1, 2**28
    for _ in range(5):
        cube = saturate(high(high(y, y, 32), y, 32) * 64, 32)
        y = saturate(8 * (high(3 * 2**27, y, 32) - high(shifted(value, 1), cube, 32)), 32)
    y = high(y, 1518500250, 32)
    return (y, -right) if right >= 0 else (saturate(y * 2**-right, 32), 0)


each = np.vectorize(lambda f, *x: f(*map(int, x)), otypes=[object])


def units(tensor):
    return tensor.stored.astype(object) - tensor.type.zero


# --- QUANTIZED_16BIT_LSTM


def step_16(x, h, w, r, b, c):
    """One step. Input and state are concatenated; the rows of the weights have the weights of the state first."""
    row = np.concatenate([units(x), units(h)], 1)
    by = factor(4096 * b[0].type.scale)
    i, f, g, o = (each(lambda s: saturate(scaled(s, by), 16),
                       row @ np.concatenate([units(r[k]), units(w[k])], 1).T + units(b[k])) for k in range(4))
    added = each(lambda i, g: shifted(high(logistic(i), tanh(g, 3)), 4), i, g)
    kept = each(lambda f, c: high(logistic(f), c), f, units(c))
    new = each(lambda a, b: saturate(a + b, 16), added, kept)
    out = each(lambda o, c: 128 + saturate(shifted(high(logistic(o), tanh(saturate(2 * c, 16), 3)), 8), 8), o, new)
    return new, out


def lstm_16(batch, size, outputs, scale=0.004, zero=100, reach=500):
    of, wt, ct = U8(1 / 128, 128), U8(scale, zero), Q16S(2.0**-11)
    bt = Type("TENSOR_INT32", single(np.float32(scale) / np.float32(128)))
    x, h, c = draw(of, (batch, size)), draw(of, (batch, outputs)), draw(ct, (batch, outputs))
    w = [draw(wt, (outputs, size)) for _ in range(4)]
    r = [draw(wt, (outputs, outputs)) for _ in range(4)]
    b = [stored(bt, integers(-reach, reach, outputs)) for _ in range(4)]
    new, out = step_16(x, h, w, r, b, c)
    inputs = [x, *map(Const, w), *r, *b, c, h]
    return inputs, [stored(ct, new.tolist(), new.shape), stored(of, out.tolist(), out.shape)]


seed("QUANTIZED_16BIT_LSTM")
for case in [(2, 2, 4), (1, 1, 1), (3, 5, 2), (0, 2, 3), (4, 7, 6)]:
    check("QUANTIZED_16BIT_LSTM", *lstm_16(*case))
check("QUANTIZED_16BIT_LSTM", *lstm_16(2, 30, 10, scale=0.05, zero=0), "saturated")
check("QUANTIZED_16BIT_LSTM", *lstm_16(2, 3, 5, scale=1e-6, reach=2**31 - 1), "fine")
check("QUANTIZED_16BIT_LSTM", *lstm_16(2, 3, 5, scale=4.0, zero=255, reach=100000), "coarse")

# --- QUANTIZED_LSTM


def normalised(row, weights, bias, scale):
    n = len(row)
    mean = int(Fraction(sum(row) * 1024, n))
    variance = int(Fraction(sum(v * v for v in row) * (2**20 // n) - mean * mean, 2**20))
    inverse, (mantissa, exponent) = inverse_root(variance), factor(scale)
    sums = [scaled(1024 * v - mean, inverse) * w + b for v, w, b in zip(row, weights, bias)]
    rounded = [int(Fraction(s + (512 if s > 0 else -512), 1024)) for s in sums]
    return [saturate(scaled(s, (mantissa, exponent + 12)), 16) for s in rounded]


class Cell:
    """A cell with features as in recurrent.mod.py: c CIFG, p peepholes, j projection, b its bias, n layer norm."""

    def __init__(self, features, batch, size, cells, outputs, exponent, zero, hidden_zero, scale=0.008):
        gates = "fgo" if "c" in features else "ifgo"
        self.features, self.exponent = features, exponent
        of, wt, vt = S8(0.0078125, 5), Q8S(scale), Q16S(2.0**-15 * 1.5)
        self.state_type, self.cell_type = S8(0.01, zero), Q16S(2.0**exponent)
        self.x, self.h = draw(of, (batch, size)), draw(self.state_type, (batch, outputs))
        self.c = draw(self.cell_type, (batch, cells))
        self.w = {g: draw(wt, (cells, size)) for g in gates}
        self.r = {g: draw(wt, (cells, outputs)) for g in gates}
        self.p = {g: draw(vt, (cells,)) for g in gates if g != "g"} if "p" in features else {}
        reach = 2**22 if "n" in features else 4000
        self.b = {g: stored(I32, integers(-reach, reach, cells)) for g in gates}
        self.n = {g: draw(vt, (cells,)) for g in gates} if "n" in features else {}
        self.projection = draw(Q8S(0.006), (outputs, cells)) if "j" in features else None
        self.bias = stored(I32, integers(-4000, 4000, outputs)) if "b" in features else None
        self.scales = [single(2.0**-12 * f) for f in (1, 2, 1.5, 0.9)]
        self.hidden = (hidden_zero, single(1 / 127))

    def gate(self, g, c):
        single_of, inter = np.float32, np.float32(self.scales["ifgo".index(g)])
        rounds = [(self.x, self.w[g], units(self.b[g]) if not self.n else 0), (self.h, self.r[g], 0)]
        y = np.zeros_like(c)
        for x, w, init in rounds:
            by = factor(single_of(w.type.scale) * single_of(x.type.scale) / inter)
            y = each(lambda y, s: saturate(y + scaled(s, by), 16), y, units(x) @ units(w).T + init)
        if g in self.p:
            by = factor(single_of(2.0**self.exponent * self.p[g].type.scale / float(inter)))
            y = each(lambda y, p, c: saturate(y + scaled(p * c, by), 16), y, units(self.p[g]), c)
        if self.n:
            y = np.array([normalised(list(map(int, row)), map(int, units(self.n[g])), map(int, units(self.b[g])),
                                     self.n[g].type.scale) for row in y], object).reshape(y.shape)
        return each(lambda y: tanh(y, 3) if g == "g" else logistic(y), y)

    def step(self, cell_clip, projection_clip):
        c, zero = units(self.c), self.hidden[0]
        f, g = self.gate("f", c), self.gate("g", c)
        i = 32767 - f if "c" in self.features else self.gate("i", c)
        kept = each(lambda f, c: shifted(f * c, 15), f, c)
        added = each(lambda i, g: shifted(i * g, 30 + self.exponent), i, g)
        c = each(lambda a, b: saturate(a + b, 16), kept, added)
        limit = min(int(np.float32(cell_clip) / np.float32(2.0**self.exponent)), 32767)
        c = np.clip(c, -limit, limit) if limit > 0 else c
        by = factor(np.float32(2.0**-30 / self.hidden[1]))
        y = each(lambda o, c: saturate(scaled(o * tanh(c, self.exponent + 15), by) - zero, 8), self.gate("o", c), c)
        if not self.projection:
            return y, c
        scale = np.float32(self.projection.type.scale)
        by = factor(scale * np.float32(self.hidden[1]) / np.float32(self.state_type.scale))
        sums = (y + zero) @ units(self.projection).T + (units(self.bias) if self.bias else 0)
        y = each(lambda s: saturate(scaled(s, by) + self.state_type.zero, 8), sums)
        limit = min(int(np.float32(projection_clip) / scale), 127)
        return (np.clip(y, -limit, limit) if limit > 0 else y), c

    def example(self, cell_clip=0.0, projection_clip=0.0):
        y, c = self.step(cell_clip, projection_clip)
        some = lambda of, type, gates="ifgo", rank=1: [of.get(g, Omitted(type, rank)) for g in gates]
        inputs = [self.x, *some(self.w, Q8S(), rank=2), *some(self.r, Q8S(), rank=2), *some(self.p, Q16S(), "ifo"),
                  *some(self.b, I32), self.projection or Omitted(Q8S(), 2), self.bias or Omitted(I32), self.h, self.c,
                  *some(self.n, Q16S()), cell_clip, projection_clip, *self.scales, *self.hidden]
        out = stored(self.state_type, y.tolist(), y.shape)
        return inputs, [out, stored(self.cell_type, c.tolist(), c.shape), out]


seed("QUANTIZED_LSTM")
for number, features in enumerate(["", "c", "p", "cp", "j", "jb", "cpjb", "n", "cn", "pn", "pjbn", "cjn"]):
    cell = Cell(features, 2, 5, 4, 3 if "j" in features else 4, -9 - number % 7, number - 6, number % 5 - 2)
    check("QUANTIZED_LSTM", *cell.example())
check("QUANTIZED_LSTM", *Cell("pjb", 2, 5, 4, 3, -11, 3, 1).example(0.75, 0.25), "clipped")
check("QUANTIZED_LSTM", *Cell("", 1, 1, 1, 1, -12, 0, 0).example(), "single")
check("QUANTIZED_LSTM", *Cell("n", 3, 2, 1, 1, -12, 0, 0).example(), "one_unit")
check("QUANTIZED_LSTM", *Cell("j", 0, 2, 3, 2, -12, 0, 0).example(), "no_rows")
check("QUANTIZED_LSTM", *Cell("cp", 2, 40, 8, 8, -9, -128, -100, scale=0.3).example(), "saturated")
inputs, outputs = Cell("pn", 2, 5, 4, 4, -12, 0, 0).example()
refuse("QUANTIZED_LSTM", inputs[:9] + [Omitted(Q16S())] + inputs[10:], outputs)
refuse("QUANTIZED_LSTM", inputs[:22] + [Omitted(Q16S())] + inputs[23:], outputs)
refuse("QUANTIZED_LSTM", inputs[:31] + [0.0], outputs)
