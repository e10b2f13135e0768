"""Recurrent cells in real numbers: RNN, SVDF and LSTM; one step, sequences, and bidirectional sequences."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

ACTIVATIONS = {
    0: lambda x: x, 1: lambda x: np.maximum(x, 0), 2: lambda x: np.clip(x, -1, 1), 3: lambda x: np.clip(x, 0, 6),
    4: np.tanh, 6: lambda x: 1 / (1 + np.exp(-x)),
}
logistic = ACTIVATIONS[6]


def clip(x, limit):
    return np.clip(x, -limit, limit) if limit > 0 else x


def weights(type, *shape):
    return draw(type, shape, -1, 1)


def number(type, value):
    return Scalar("FLOAT16", value) if type == F16 else float(value)


def steps_of(x, time_major):
    """The rows of each step of a sequence, in order."""
    return list(x if time_major else x.swapaxes(0, 1))


def sequence(rows, time_major):
    """The sequence of these steps: the inverse of steps_of()."""
    stacked = np.stack(rows)
    return stacked if time_major else stacked.swapaxes(0, 1)


# --- RNN


class Rnn:
    def __init__(self, type, units, size, aux=None):
        self.type = type
        self.w, self.r, self.b = weights(type, units, size), weights(type, units, units), weights(type, units)
        self.a = weights(type, units, aux) if aux else None

    def operands(self):
        return [Const(self.w), self.r, self.b]

    def step(self, x, h, act, aux=None):
        y = x @ self.w.real.T + h @ self.r.real.T + self.b.real
        if self.a is not None:
            y = y + aux @ self.a.real.T
        return ACTIVATIONS[act](y)

    def run(self, xs, h, act, auxes=None, backward=False):
        order = range(len(xs))[::-1] if backward else range(len(xs))
        ys = [None] * len(xs)
        for t in order:
            h = ys[t] = self.step(xs[t], h, act, auxes[t] if auxes else None)
        return ys, h


seed("RNN")
for type in FLOATS:
    for act in ACTIVATIONS:
        cell, x, h = Rnn(type, 3, 4), draw(type, (2, 4)), draw(type, (2, 3))
        y = result(type, cell.step(x.real, h.real, act))
        check("RNN", [x, *cell.operands(), h, act], [y, y])
    for batch, units, size in [(1, 1, 1), (0, 2, 3), (5, 1, 7)]:
        cell, x, h = Rnn(type, units, size), draw(type, (batch, size)), draw(type, (batch, units))
        y = result(type, cell.step(x.real, h.real, 4))
        check("RNN", [x, *cell.operands(), h, 4], [y, y])
cell, x, h = Rnn(F32, 3, 4), draw(F32, (2, 4), -300, 300), draw(F32, (2, 3), -1e3, 1e3)
y = result(F32, cell.step(x.real, h.real, 6))
check("RNN", [x, *cell.operands(), h, 6], [y, y], "saturated")
refuse("RNN", [x, *cell.operands(), h, 5], [y, y])
refuse("RNN", [x, *cell.operands(), draw(F32, (3, 3)), 4], [y, y])

seed("UNIDIRECTIONAL_SEQUENCE_RNN")
for type in FLOATS:
    for batch, time, units, size in [(2, 3, 4, 5), (1, 1, 1, 1), (0, 2, 3, 2), (2, 5, 1, 3)]:
        for major in (0, 1):
            cell, h = Rnn(type, units, size), draw(type, (batch, units))
            x = draw(type, (time, batch, size) if major else (batch, time, size))
            ys, last = cell.run(steps_of(x.real, major), h.real, 4)
            outputs = [result(type, sequence(ys, major)), result(type, last)]
            check("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *cell.operands(), h, 4, major], outputs[:1 + (units > 1)])
x, h, cell = draw(F32, (0, 2**20, 3)), draw(F32, (0, 4)), Rnn(F32, 4, 3)
check("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *cell.operands(), h, 4, 0], [draw(F32, (0, 2**20, 4)), h], "no_batch")
x, h = draw(F32, (2, 0, 3)), draw(F32, (2, 4))
check("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *cell.operands(), h, 4, 0], [draw(F32, (2, 0, 4)), h], "no_steps")
refuse("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *cell.operands(), h, 4, 2], [draw(F32, (2, 0, 4))])


def bidirectional_rnn(type, linking, merge, major, states, batch=2, time=3, units=(3, 2), size=4, aux=5, act=4):
    fw = Rnn(type, units[0], size, aux if linking == "cross" else None)
    bw = Rnn(type, units[1], aux if linking == "parallel" else size, aux if linking == "cross" else None)
    shape = (time, batch) if major else (batch, time)
    x, other = draw(type, (*shape, size)), draw(type, (*shape, aux))
    hs = draw(type, (batch, units[0])), draw(type, (batch, units[1]))
    xs, others = steps_of(x.real, major), steps_of(other.real, major)
    crossed = others if linking == "cross" else None
    forward, last = fw.run(xs, hs[0].real, act, crossed)
    backward, first = bw.run(others if linking == "parallel" else xs, hs[1].real, act, crossed, backward=True)
    outputs = [sequence(forward, major), sequence(backward, major)]
    if merge:
        outputs = [np.concatenate(outputs, 2)]
    outputs += [last, first] if states else []
    extra = [other if linking else Omitted(type)]
    extra += [fw.a, bw.a] if linking == "cross" else [Omitted(type)] * 2
    inputs = [x, *fw.operands(), hs[0], *bw.operands(), hs[1], *extra, act, bool(major), merge]
    return inputs, [result(type, y) for y in outputs]


seed("BIDIRECTIONAL_SEQUENCE_RNN")
for type in FLOATS:
    for linking in (None, "parallel", "cross"):
        for merge in (False, True):
            for states in (False, True):
                major = generator.integers(2)
                check("BIDIRECTIONAL_SEQUENCE_RNN", *bidirectional_rnn(type, linking, merge, major, states))
    check("BIDIRECTIONAL_SEQUENCE_RNN",
          *bidirectional_rnn(type, "cross", True, 1, True, batch=1, time=1, units=(1, 1), size=1, aux=1, act=2))
    check("BIDIRECTIONAL_SEQUENCE_RNN", *bidirectional_rnn(type, None, False, 0, True, batch=0))
inputs, outputs = bidirectional_rnn(F32, "cross", False, 0, False)
refuse("BIDIRECTIONAL_SEQUENCE_RNN", [*inputs[:11], Omitted(F32), *inputs[12:]], outputs)
refuse("BIDIRECTIONAL_SEQUENCE_RNN", [*inputs[:-1], True], outputs)

# --- SVDF


def svdf(x, feature, time, bias, state, rank, act):
    filters, memory = time.shape
    remembered = state.reshape(len(x), filters, memory).copy()
    remembered[:, :, -1] = x @ feature.T
    y = (remembered * time).sum(2).reshape(len(x), filters // rank, rank).sum(2)
    moved = np.concatenate([remembered[:, :, 1:], np.zeros((len(x), filters, 1))], 2)
    return moved.reshape(state.shape), ACTIVATIONS[act](y + bias)


seed("SVDF")
for type in FLOATS:
    for batch, size, units, rank, memory, act in [(2, 3, 4, 1, 5, 0), (3, 2, 2, 3, 4, 1), (1, 1, 1, 1, 1, 4),
                                                  (2, 5, 3, 2, 2, 3), (0, 2, 3, 1, 2, 0), (1, 4, 2, 2, 1, 6)]:
        x, state = draw(type, (batch, size)), draw(type, (batch, units * rank * memory))
        feature, time = weights(type, units * rank, size), weights(type, units * rank, memory)
        bias = weights(type, units) if units != 2 else None
        made = svdf(x.real, feature.real, time.real, bias.real if bias else 0, state.real, rank, act)
        check("SVDF", [x, Const(feature), time, bias or Omitted(type), state, rank, act],
              [result(type, y) for y in made])
refuse("SVDF", [x, feature, time, Omitted(type), state, 3, 0], [result(type, y) for y in made])

# --- LSTM


class Lstm:
    """One cell. features, by letters: c CIFG, p peepholes, j projection, b its bias, n layer norm."""

    def __init__(self, type, features, units, outputs, size, aux=None):
        self.type, self.features, self.units, self.outputs = type, features, units, outputs
        gates = "fgo" if "c" in features else "ifgo"
        self.w = {g: weights(type, units, size) for g in gates}
        self.r = {g: weights(type, units, outputs) for g in gates}
        self.a = {g: weights(type, units, aux) for g in gates} if aux else {}
        self.p = {g: weights(type, units) for g in gates if g != "g"} if "p" in features else {}
        self.b = {g: weights(type, units) for g in gates}
        self.n = {g: weights(type, units) for g in gates} if "n" in features else {}
        self.projection = weights(type, outputs, units) if "j" in features else None
        self.bias = weights(type, outputs) if "b" in features else None

    def some(self, of, gates="ifgo", rank=1):
        return [of.get(g, Omitted(self.type, rank)) for g in gates]

    def weights(self):
        """Operands 1 to 17 of LSTM."""
        projection = [self.projection or Omitted(self.type, 2), self.bias or Omitted(self.type)]
        return self.some(self.w, rank=2) + self.some(self.r, rank=2) + self.some(self.p, "ifo") + self.some(self.b) \
            + projection

    def norms(self):
        return self.some(self.n)

    def gate(self, g, x, h, c, aux):
        y = x @ self.w[g].real.T + h @ self.r[g].real.T
        if self.a:
            y = y + aux @ self.a[g].real.T
        if g in self.p:
            y = y + c * self.p[g].real
        if self.n:
            spread = y - y.mean(1, keepdims=True)
            y = spread / np.sqrt((spread**2).mean(1, keepdims=True) + 1e-8) * self.n[g].real
        return y + self.b[g].real

    def step(self, x, h, c, act, cell_clip, projection_clip, aux=None):
        f = logistic(self.gate("f", x, h, c, aux))
        i = 1 - f if "c" in self.features else logistic(self.gate("i", x, h, c, aux))
        c = clip(f * c + i * ACTIVATIONS[act](self.gate("g", x, h, c, aux)), cell_clip)
        y = logistic(self.gate("o", x, h, c, aux)) * ACTIVATIONS[act](c)
        if self.projection:
            y = clip(y @ self.projection.real.T + (self.bias.real if self.bias else 0), projection_clip)
        return y, c

    def run(self, xs, h, c, *parameters, auxes=None, backward=False):
        ys = [None] * len(xs)
        for t in range(len(xs))[::-1] if backward else range(len(xs)):
            h, c = ys[t], c = self.step(xs[t], h, c, *parameters, auxes[t] if auxes else None)
        return ys, h, c


FEATURES = ["", "c", "p", "cp", "j", "jb", "pjb", "n", "cn", "pn", "cpn", "pjn", "cpjbn"]


def lstm(type, features, batch=2, units=4, outputs=3, size=5, act=4, clips=(0, 0), reach=4):
    outputs = outputs if "j" in features else units
    cell = Lstm(type, features, units, outputs, size)
    x, h, c = (draw(type, (batch, n), -reach, reach) for n in (size, outputs, units))
    y, new = cell.step(x.real, h.real, c.real, act, *clips)
    scratch = np.zeros((batch, units * (3 if "c" in features else 4)))
    inputs = [x, *cell.weights(), h, c, act, *(number(type, v) for v in clips)]
    if "n" in features or batch == 1:
        inputs += cell.norms()
    return inputs, [result(type, v) for v in (scratch, y, new, y)]


seed("LSTM")
for type in FLOATS:
    for features in FEATURES:
        check("LSTM", *lstm(type, features))
    for act in (0, 1, 3, 6):
        check("LSTM", *lstm(type, "p", act=act))
    check("LSTM", *lstm(type, "pjb", clips=(0.5, 0.25)))
    check("LSTM", *lstm(type, "", batch=1, units=1, outputs=1, size=1))
    check("LSTM", *lstm(type, "j", batch=3, units=1, outputs=4, size=2))
    check("LSTM", *lstm(type, "p", batch=0))
    check("LSTM", *lstm(type, "pjb", reach=1000), "saturated")
inputs, outputs = lstm(F32, "pn")
refuse("LSTM", inputs[:24] + [Omitted(F32)] + inputs[25:], outputs)
refuse("LSTM", inputs[:10] + [Omitted(F32)] + inputs[11:], outputs)
refuse("LSTM", inputs[:1] + [Omitted(F32, 2)] + inputs[2:], outputs)
refuse("LSTM", inputs[:17] + [draw(F32, (4,))] + inputs[18:], outputs)
refuse("LSTM", inputs[:21] + [-1.0] + inputs[22:], outputs)
inputs, outputs = lstm(F32, "c")
refuse("LSTM", inputs[:12] + [draw(F32, (4,))] + inputs[13:], outputs)


def unidirectional_lstm(type, features, major, states, batch=2, time=3, units=4, outputs=3, size=5, clips=(0, 0)):
    outputs = outputs if "j" in features else units
    cell = Lstm(type, features, units, outputs, size)
    x = draw(type, (time, batch, size) if major else (batch, time, size))
    h, c = draw(type, (batch, outputs)), draw(type, (batch, units))
    ys, last, memory = cell.run(steps_of(x.real, major), h.real, c.real, 4, *clips)
    inputs = [x, *cell.weights(), h, c, 4, *(number(type, v) for v in clips), bool(major), *cell.norms()]
    return inputs, [result(type, v) for v in (sequence(ys, major), last, memory)][:3 if states else 1]


seed("UNIDIRECTIONAL_SEQUENCE_LSTM")
for type in FLOATS:
    for features in FEATURES:
        check("UNIDIRECTIONAL_SEQUENCE_LSTM",
              *unidirectional_lstm(type, features, generator.integers(2), generator.integers(2)))
    check("UNIDIRECTIONAL_SEQUENCE_LSTM", *unidirectional_lstm(type, "pjb", 1, True, clips=(0.5, 0.25)))
    check("UNIDIRECTIONAL_SEQUENCE_LSTM", *unidirectional_lstm(type, "", 0, True, 1, 1, 1, 1, 1))
    check("UNIDIRECTIONAL_SEQUENCE_LSTM", *unidirectional_lstm(type, "", 0, True, batch=0))
inputs, outputs = unidirectional_lstm(F32, "", 0, True)
refuse("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs[:18] + [draw(F32, (3, 4))] + inputs[19:], outputs)


def bidirectional_lstm(type, features, linking, merge, major, states, batch=2, time=3, units=(3, 4), outputs=(2, 5),
                       size=4, aux=6):
    outputs = [o if "j" in f else u for f, u, o in zip(features, units, outputs)]
    cross = aux if linking == "cross" else None
    fw = Lstm(type, features[0], units[0], outputs[0], size, cross)
    bw = Lstm(type, features[1], units[1], outputs[1], aux if linking == "parallel" else size, cross)
    shape = (time, batch) if major else (batch, time)
    x, other = draw(type, (*shape, size)), draw(type, (*shape, aux))
    kept = [draw(type, (batch, n)) for n in (outputs[0], units[0], outputs[1], units[1])]
    xs, others = steps_of(x.real, major), steps_of(other.real, major)
    auxes = others if cross else None
    forward, *last = fw.run(xs, kept[0].real, kept[1].real, 4, 0, 0, auxes=auxes)
    backward, *first = bw.run(others if linking == "parallel" else xs, kept[2].real, kept[3].real, 4, 0, 0,
                              auxes=auxes, backward=True)
    made = [sequence(forward, major), sequence(backward, major)]
    made = ([np.concatenate(made, 2)] if merge else made) + ([*last, *first] if states else [])
    inputs = [x, *fw.weights(), *bw.weights(), *kept, other if linking else Omitted(type, 3)]
    inputs += fw.some(fw.a, rank=2) + bw.some(bw.a, rank=2)
    inputs += [4, number(type, 0), number(type, 0), merge, bool(major), *fw.norms(), *bw.norms()]
    return inputs, [result(type, v) for v in made]


seed("BIDIRECTIONAL_SEQUENCE_LSTM")
for type in FLOATS:
    for features in [("", ""), ("cp", "p"), ("pjb", "cj"), ("n", "cpn"), ("pjbn", "pjbn")]:
        for linking in (None, "parallel", "cross"):
            merge, major, states = generator.integers(2, size=3)
            check("BIDIRECTIONAL_SEQUENCE_LSTM",
                  *bidirectional_lstm(type, features, linking, bool(merge), major, states))
    for merge in (False, True):
        for states in (False, True):
            check("BIDIRECTIONAL_SEQUENCE_LSTM", *bidirectional_lstm(type, ("", ""), None, merge, 0, states))
    check("BIDIRECTIONAL_SEQUENCE_LSTM",
          *bidirectional_lstm(type, ("", ""), "cross", True, 1, True, 1, 1, (1, 1), (1, 1), 1, 1))
    check("BIDIRECTIONAL_SEQUENCE_LSTM", *bidirectional_lstm(type, ("", ""), None, False, 1, True, batch=0))
inputs, outputs = bidirectional_lstm(F32, ("", ""), "cross", False, 0, False)
refuse("BIDIRECTIONAL_SEQUENCE_LSTM", inputs[:39] + [Omitted(F32, 3)] + inputs[40:], outputs)
refuse("BIDIRECTIONAL_SEQUENCE_LSTM", inputs[:44] + [Omitted(F32, 2)] * 4 + inputs[48:], outputs)
refuse("BIDIRECTIONAL_SEQUENCE_LSTM", inputs[:51] + [True] + inputs[52:], outputs)
