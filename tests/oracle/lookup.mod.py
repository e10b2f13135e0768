"""Lookups by indexes, keys and hashes, and sparse tensors."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

FIVE = [F32, F16, I32, U8(0.5, 128), S8(0.25, -3)]


def moved(x, values):
    return Tensor(x.type, values)


def vector(values):
    return stored(I32, values, (len(values),))


seed("GATHER")
for type in FIVE:
    for shape, axis, indexes in [((1,), 0, [0]), ((5,), 0, [4, 0, 0, 2]), ((3, 4), 0, [2, 1]), ((3, 4), 1, [3, 3, 0]),
                                 ((3, 4), -1, [[1, 2], [0, 3]]), ((2, 3, 4), 1, [[2], [0]]), ((2, 3, 4), -3, [1]),
                                 ((2, 3, 4, 5), 2, [[[3, 1]]]), ((2, 0), 0, [1, 1]), ((2, 1, 1, 1, 1, 1, 1, 1, 1, 3), 9, [2, 0])]:
        x, k = draw(type, shape), stored(I32, indexes)
        for wrapped in (k, Const(k)):
            check("GATHER", [x, axis, wrapped], [moved(x, np.take(x.stored, k.stored, axis))])
    x, none = draw(type, (3, 2)), stored(I32, [], (0,))
    check("GATHER", [x, 0, none], [moved(x, np.take(x.stored, none.stored.astype(int), 0))], "none")
for axis, indexes in [(0, [3]), (0, [0, -1]), (1, [2]), (2, [0]), (-3, [0]), (0, [2**31 - 1]), (0, [-2**31])]:
    refuse("GATHER", [draw(F32, (3, 2)), axis, vector(indexes)], [Unknown(draw(F32, (1, 2)), (0, 2))])
refuse("GATHER", [draw(F32, (3, 0)), 1, vector([0])], [draw(F32, (3, 1))])

seed("EMBEDDING_LOOKUP")
for type in FIVE:
    for shape, rows in [((1, 1), [0]), ((3, 2), [1, 0, 2]), ((3, 2, 2), [2, 2]), ((4, 1, 3, 2), [3, 0, 3, 1, 2]),
                        ((2, 0), [1, 0]), ((300, 2), [299, 128])]:
        x, k = draw(type, shape), vector(rows)
        for wrapped in (k, Const(k)):
            check("EMBEDDING_LOOKUP", [wrapped, x], [moved(x, x.stored[rows])])
    x = draw(type, (3, 2))
    check("EMBEDDING_LOOKUP", [stored(I32, [], (0,)), x], [moved(x, x.stored[:0])], "none")
for rows in ([3], [0, -1], [2**31 - 1]):
    refuse("EMBEDDING_LOOKUP", [vector(rows), draw(F32, (3, 2))], [draw(F32, (len(rows), 2))])
refuse("EMBEDDING_LOOKUP", [vector([0]), draw(F32, (0, 2))], [draw(F32, (1, 2))])

seed("HASHTABLE_LOOKUP")
HITS = U8(1.0, 0)
for type in (F32, I32, U8(0.5, 128), U8(0.25, 0)):
    for shape, keys, wanted in [((1, 1), [0], [0]), ((1, 1), [5], [4]), ((3, 2), [-1, 2, 9], [9, 0, -1, 2, 2, 10]),
                                ((4, 2, 2), [-2**31, 0, 1, 2**31 - 1], [2**31 - 1, -2**31, 7]),
                                ((2, 1, 3, 2), [3, 4], [4, 3, 5]), ((2, 0), [1, 2], [2, 3])]:
        x = draw(type, shape)
        rows = np.zeros((len(wanted), *shape[1:]), x.stored.dtype)
        for i, key in enumerate(wanted):
            if key in keys:
                rows[i] = x.stored[keys.index(key)]
        hits = stored(HITS, [key in keys for key in wanted])
        check("HASHTABLE_LOOKUP", [vector(wanted), vector(keys), x], [moved(x, rows), hits])
        if x.stored.size == 0:
            continue
        check("HASHTABLE_LOOKUP", [vector(wanted), Const(vector(keys)), Const(x)], [moved(x, rows), hits], "constants")
    x = draw(type, (3, 2))
    check("HASHTABLE_LOOKUP", [stored(I32, [], (0,)), vector([1, 2, 3]), x], [moved(x, x.stored[:0]), stored(HITS, [])])
refuse("HASHTABLE_LOOKUP", [vector([1]), vector([2, 1]), draw(F32, (2, 1))], [draw(F32, (1, 1)), draw(HITS, (1,))])
refuse("HASHTABLE_LOOKUP", [vector([1]), vector([1, 2]), draw(F32, (3, 1))], [draw(F32, (1, 1)), draw(HITS, (1,))])

# --- hashes

K0, K1, K2, WORD = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 2**64 - 1


def turn(x, n):
    x &= WORD
    return (x >> n | x << (64 - n)) & WORD


def fetch(key, at, size=8):
    return int.from_bytes(key[at:at + size], "little")


def mingle(u, v, by):
    a = (u ^ v) * by & WORD
    a ^= a >> 47
    b = (v ^ a) * by & WORD
    b ^= b >> 47
    return b * by & WORD


def fingerprint(key):
    """FarmHash's Fingerprint64 of 5 to 32 bytes."""
    n = len(key)
    by = K2 + 2 * n
    if n < 8:
        return mingle(n + (fetch(key, 0, 4) << 3) & WORD, fetch(key, n - 4, 4), by)
    if n <= 16:
        a, b = fetch(key, 0) + K2 & WORD, fetch(key, n - 8)
        return mingle(turn(b, 37) * by + a & WORD, (turn(a, 25) + b) * by & WORD, by)
    a, b = fetch(key, 0) * K1 & WORD, fetch(key, 8)
    c, d = fetch(key, n - 8) * by & WORD, fetch(key, n - 16) * K2 & WORD
    return mingle(turn(a + b, 43) + turn(c, 30) + d & WORD, a + turn(b + K2, 18) + c & WORD, by)


PACKED = {"TENSOR_FLOAT32": "<f4", "TENSOR_FLOAT16": "<f2", "TENSOR_INT32": "<i4", "TENSOR_QUANT8_ASYMM": "<u1"}


def projection(seeds, items, weights, kind):
    rows = items.stored.astype(PACKED[items.type.code])
    out = []
    for h, row in enumerate(seeds.stored):
        bits = []
        for value in row:
            score = 0.0
            for i, item in enumerate(rows):
                print64 = fingerprint(struct.pack("<f", value) + item.tobytes())
                signed = print64 - 2**64 if print64 >> 63 else print64
                score += float(signed) * (weights.stored[i] if weights else 1)
            bits.append(int(score > 0))
        number = int("".join(map(str, bits)), 2) + (h << len(bits) if kind == 3 else 0)
        out += bits if kind == 2 else [number % 2**32 - (number % 2**32 >> 31 << 32)]
    return vector(out)


seed("LSH_PROJECTION")
for seeds_type in FLOATS:
    for type in (F32, F16, I32, U8(0.5, 3)):
        for hashes, shape, weighted in [((1, 1), (1, 1), False), ((4, 2), (3, 2), True), ((2, 5), (4,), False),
                                        ((3, 4), (2, 1, 3), True), ((2, 32), (5, 2), False), ((1, 3), (0, 2), False)]:
            if type.code == "TENSOR_QUANT8_ASYMM":
                shape = (*shape, 1)
            seeds, items = draw(seeds_type, hashes), draw(type, shape, -500, 500)
            weights = draw(seeds_type, shape[:1], 0.1, 2) if weighted else None
            for kind in (1, 2, 3):
                given = [Omitted(seeds_type)] if weights is None else [weights]
                check("LSH_PROJECTION", [seeds, items, *given, kind], [projection(seeds, items, weights, kind)])
for hashes, items, n, kind in [((1, 33), (2, 1), 2, 1), ((1, 2), (2, 1), 3, 1), ((1, 2), (2, 1), 2, 0), ((1, 2), (2, 1), 2, 4)]:
    refuse("LSH_PROJECTION", [draw(F32, hashes), draw(I32, items), draw(F32, (n,)), kind], [Unknown(vector([0]), (0,))])

# --- sparse tensors


def traversal(array, order, blocks, formats):
    """The stored values, sizes and levels of a sparse tensor. blocks: (dimension, size) of each dimension of a block."""
    rank = array.ndim
    cut = dict(blocks)
    sizes = [array.shape[d] // cut.get(d, 1) for d in range(rank)] + [size for _, size in blocks]
    levels = []  # per level: (segments, indexes); None: dense
    places = [()]  # the stored indexes of the levels so far
    order = list(order)

    def nonzero(place):
        """The part of the array at these indexes; it is stored if an element of it is not zero."""
        where = [[slice(None), slice(None)] for _ in range(rank)]
        view = array
        for d in reversed(range(rank)):
            if d in cut:
                view = view.reshape(view.shape[:d] + (sizes[d], cut[d]) + view.shape[d + 1:])
        axis = {}
        at = 0
        for d in range(rank):
            axis[d] = at
            at += 1
            if d in cut:
                axis[rank + [b for b, _ in blocks].index(d)] = at
                at += 1
        index = [slice(None)] * at
        for level, i in enumerate(place):
            index[axis[order[level]]] = i
        return view[tuple(index)]

    for level, d in enumerate(order):
        segments, indexes, following = [0], [], []
        for place in places:
            for i in range(sizes[d]):
                if formats[level] == 0 or np.any(nonzero(place + (i,))):
                    following.append(place + (i,))
                    indexes.append(i)
            segments.append(len(indexes))
        levels.append((segments, indexes) if formats[level] else None)
        places = following
    values = [nonzero(place).item() for place in places]
    return values, [sizes[d] for d in order], levels


seed("DENSIFY")
DENSE_TYPES = [F32, F16, I32, B8, U8(0.5, 128), S8(0.25, -3), Q8S(0.5), Q16S(0.01), Q16A(0.01, 1000)]
for type in DENSE_TYPES:
    for shape, order, blocks, formats in [
            ((3,), (0,), [], (0,)), ((5,), (0,), [], (1,)), ((1,), (0,), [], (1,)), ((3, 4), (0, 1), [], (0, 1)),
            ((3, 4), (1, 0), [], (0, 1)), ((3, 4), (0, 1), [], (1, 1)), ((3, 4), (1, 0), [], (1, 0)),
            ((2, 3, 4), (2, 0, 1), [], (0, 1, 1)), ((2, 3, 4), (0, 1, 2), [], (1, 0, 1)),
            ((4, 6), (0, 1, 2, 3), [(0, 2), (1, 3)], (0, 1, 0, 0)), ((4, 6), (1, 0, 3, 2), [(0, 2), (1, 3)], (1, 1, 0, 0)),
            ((4, 6), (0, 1, 2), [(1, 2)], (0, 1, 0)), ((6,), (0, 1), [(0, 3)], (1, 0)),
            ((4, 6), (0, 1, 2), [(0, 4)], (1, 1, 1)), ((4, 4, 6), (1, 0, 2, 5, 3, 4), [(0, 2), (1, 2), (2, 3)], (0, 1, 1, 0, 0, 1))]:
        x = draw(type, shape)
        full = np.where(generator.random(shape) < 0.6, type.zero, x.stored)
        offsets = full - type.zero
        values, sizes, levels = traversal(offsets, order, blocks, formats)
        packed = stored(type, [v + type.zero for v in values], (len(values),))
        lists = []
        for level in levels:
            for part in level or ((), ()):
                lists.append(Const(vector(part)) if level and len(part) else Omitted(I32))
        block_map = Const(vector([d for d, _ in blocks])) if blocks else Omitted(I32)
        if len(values) == 0:
            continue
        check("DENSIFY", [packed, Const(vector(order)), block_map, Const(vector(formats)), Const(vector(sizes)), *lists],
              [moved(x, full)])
for order, formats, sizes, lists in [
        ([0, 0], [0, 0], [1, 2], [None] * 4), ([0, 2], [0, 0], [1, 2], [None] * 4), ([0, 1], [0, 2], [1, 2], [None] * 4),
        ([0, 1], [0, 0], [-1, 2], [None] * 4), ([0, 1], [0, 0], [1, 3], [None] * 4), ([0], [1], [3], [[0, 3], [0, 1, 2]]),
        ([0], [1], [3], [[0, 2], [0, 3]]), ([0], [1], [3], [[0, 2], [0, -1]]), ([0], [1], [3], [[0], [0, 1]]),
        ([0], [1], [3], [[2, 0], [0, 1]]), ([0], [1], [3], [[-1, 1], [0, 1]]), ([0], [1], [3], [[0, 2**31 - 1], [0, 1]]),
        ([0, 1], [0, 0], [65536, 65536], [None] * 4), ([0], [0], [2], [None]), ([0], [0], [2], [None] * 4)]:
    lists = [Omitted(I32) if part is None else Const(vector(part)) for part in lists]
    shape = (1,) * len(order)
    refuse("DENSIFY", [draw(F32, (2,)), Const(vector(order)), Omitted(I32), Const(vector(formats)), Const(vector(sizes)),
                       *lists], [Unknown(draw(F32, shape), (0, *shape[1:]))])
