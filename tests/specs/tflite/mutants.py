"""Damaged .tflite models: mutants(models, count, seed) yields (name, bytes).

A mutant is a model with some bits flipped, cut off, with a piece of another one in it, or with fields changed: numbers,
lengths of vectors, and tables that are missing, repeated or exchanged.
"""

import random

from writer import TABLES, UNIONS, encode

EXTREMES = (0, 1, -1, 2, 5, 127, 255, -128, 1000, 65535, 1 << 20, 2**31 - 1, -2**31)
REALS = (0.0, -1.0, 1e-40, 1e38, float("inf"), float("nan"), 1.0)
LIMITS = {"b": (-128, 127), "B": (0, 255), "i": (-2**31, 2**31 - 1), "I": (0, 2**32 - 1), "q": (-2**63, 2**63 - 1),
          "Q": (0, 2**64 - 1), "?": (0, 1), "h": (-2**15, 2**15 - 1), "H": (0, 65535)}


def as_dict(record, name):
    """A table that the importer has read, as the writer takes it."""
    made = {}
    for field, kind, of, default in TABLES[name]:
        value = getattr(record, field)
        if kind == "table" and value is not None:
            made[field] = as_dict(value, of)
        elif kind == "tables":
            made[field] = [as_dict(one, of) for one in value]
        elif kind == "union" and value is not None:
            number = getattr(record, f"{field}_type")
            made[field] = (number, as_dict(value, UNIONS[of][number - 1][1]))
        elif kind == "vector" and len(value):
            made[field] = list(value)
        elif kind == "string" and value or kind == "scalar" and value != default:
            made[field] = value
    return made


def places(value, name):
    """(table, row of the schema) of each field of a model, within it and its tables."""
    for row in TABLES[name]:
        field, kind, of, _ = row
        yield value, row
        inner = value.get(field)
        if inner is None:
            continue
        if kind == "table":
            yield from places(inner, of)
        elif kind == "union":
            yield from places(inner[1], UNIONS[of][inner[0] - 1][1])
        elif kind == "tables":
            for one in inner:
                yield from places(one, of)


def number(rng, letter):
    if letter in "fd":
        return rng.choice(REALS)
    low, high = LIMITS[letter]
    return min(max(rng.choice(EXTREMES), low), high)


def change(rng, model):
    """Changes one field of a model."""
    table, (field, kind, of, _) = rng.choice(list(places(model, "Model")))
    value = table.get(field)
    if kind == "scalar" and not field.endswith("_type"):
        table[field] = number(rng, of)
    elif kind == "vector" and value is not None:
        at = rng.randrange(len(value) + 1)
        if at == len(value):
            value.append(number(rng, of))
        elif rng.random() < 0.3:
            del value[at]
        else:
            value[at] = number(rng, of)
    elif kind == "tables" and value:
        at, other = rng.randrange(len(value)), rng.randrange(len(value))
        action = rng.randrange(3)
        if action == 0:
            del value[at]
        elif action == 1:
            value.insert(at, value[other])
        else:
            value[at], value[other] = value[other], value[at]
    elif value is not None:
        del table[field]


def mutants(models, count, seed, read):
    """`read`: the importer's reader, bytes to the record of a Model."""
    rng = random.Random(seed)
    for i in range(count):
        data = bytearray(rng.choice(models))
        kind = ("flip", "cut", "splice", "fields", "fields", "fields")[i % 6]
        if kind == "flip":
            for _ in range(rng.choice((1, 1, 2, 8))):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del data[rng.randrange(len(data)):]
        elif kind == "splice":
            other, n = rng.choice(models), rng.choice((1, 4, 16, 64))
            start, at = rng.randrange(len(other)), rng.randrange(len(data))
            piece = other[start:start + n]
            data[at:at + len(piece)] = piece
        else:
            model = as_dict(read(bytes(data)), "Model")
            for _ in range(rng.choice((1, 1, 1, 2, 4))):
                change(rng, model)
            data = encode(model)
        yield f"{kind}{i}", bytes(data)
