# -*- coding: utf-8 -*-
"""What Python offers a specification: naïve text, classes, copies, arrays, output — none of it reaches a record."""
from __future__ import annotations

import collections
import copy
import dataclasses
import sys

import numpy as np

PAIR = ("TENSOR_FLOAT32", [np.int64(1), 2])
Row = collections.namedtuple("Row", ["label", "data"])
calls = 0


@dataclasses.dataclass
class Case:
    label: str
    factor: float = 1.0

    def values(self):
        return [self.factor * step for step in (1, 2)]


class Builder:
    made = []

    def __init__(self, stem):
        self.stem = stem

    def input(self):
        Builder.made.append(Input(f"{self.stem}_{len(Builder.made)}", PAIR))
        return Builder.made[-1]


def halved(values):
    global calls
    calls += 1
    return [value / 2 for value in values]


print("not a record")
print("nor this", file=sys.stderr)
builder = Builder("in")
first, second = builder.input(), builder.input()
out = Output("out", PAIR)
model = Model("m").Operation("ADD", first, second, 0).To((out,))


def add(label, a, b, sum):
    Example({first: a, second: b, out: sum}, model=model, name=label).DisableLifeTimeVariation()


add("tuples", (1, 2), tuple(Case("t").values()), (2, 4))
add("scalars", [np.float64(0.5), np.float32(1.5)], [np.int32(1), True], [1.5, 2.5])
add("arrays", np.array([[1, 2]]), np.linspace(0, 1, 2), np.array([[1.0, 3.0]], dtype=np.float32))
add("column", np.array([[1], [2]])[::-1], np.zeros((2, 1)), [2, 1])

feed = {first: [1, 2], second: [3, 4], out: [4, 6]}
copied = copy.deepcopy(feed)
copied[first][0] = 9
copied[out][0] = 12
for row in Row("kept", feed), Row("copied", copied):
    Example(row.data, model=model, name=row.label).DisableLifeTimeVariation()
Example((collections.OrderedDict(feed), collections.defaultdict(list, {out: [4, 6]})), model=model,
        name="mappings").DisableLifeTimeVariation()
Example({first: halved([2, 4]), second: halved([6, 8]), out: [4, 6]}, model=copy.deepcopy(model),
        name=f"after_{calls}_calls").DisableLifeTimeVariation()

input = sum = type = Operand = None
y = Input("y", "TENSOR_INT32", "{1}")
z = Output("z", "TENSOR_INT32", "{1}")
Input = Output = Parameter = None
Model("bare").Operation("ABS", y).To(z)
Example({y: int(-math.floor(2.5)), z: 2}).DisableLifeTimeVariation()
