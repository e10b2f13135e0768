#!/usr/bin/env python3
"""Draws the folders, their rooms and who includes whom: draw_tree.py ROOT [--write].

Reads the #includes of the sources and writes docs/images/architecture.svg, or, without --write, fails if the
rooms and arrows of that picture are not those of the sources. The order of folders and rooms comes from
check_tree.py. An arrow that follows from others is left out (transitive reduction). The layout is made here, in
layers: each box is above all that it uses, which needs nothing but Python."""
import collections
import itertools
import os
import re
import sys
import xml.etree.ElementTree
from xml.sax.saxutils import escape

import check_tree

PICTURE = "docs/images/architecture.svg"
# Folders of one layer are drawn from left to right in this order, with an idea of each in a few words.
FOLDERS = {
    "sim": ["whole devices behind the driver contract"],
    "reports": ["reports,", "graphDump"],
    "randgraph": ["random models,", "valid by", "construction"],
    "specs": ["models in", "and out"],
    "golden": ["what NNAPI means: operations, types, models, the reference, judging"],
    "runtime": ["NNAPI's C API as a shared library, over any driver"],
    "harness": ["the halcyon command: cases, worker processes, verdicts, rules, the results database"],
}
# Sizes in pixels.
MARGIN, GAP, LAYER_GAP = 16, 20, 46
PAD, HEAD, LINE = 16, 30, 17
BOX, BOX_GAP, ROW_GAP, DUMMY = 26, 14, 20, 6
WIDE, NARROW = 440, 136
LETTER = 7.3

STYLE = """
.page { fill: #ffffff } .card { fill: #f6f8fa; stroke: #c8d1da } .room { fill: #ffffff; stroke: #8c959f }
text { font: 12px ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; fill: #1f2328 }
.name { font-size: 15px; font-weight: 700; fill: #0a53a8 } .room-name { text-anchor: middle }
.idea { font: 12.5px system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #59636e }
.use { fill: none; stroke: #8c959f; stroke-width: 1.2 } .head { fill: #8c959f }
.folder-use { fill: none; stroke: #0a53a8; stroke-width: 2 } .folder-head { fill: #0a53a8 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .card { fill: #161b22; stroke: #3d444d } .room { fill: #0d1117; stroke: #7d8590 }
text { fill: #e6edf3 } .name { fill: #79b8ff } .idea { fill: #9aa4af }
.use { stroke: #7d8590 } .head { fill: #7d8590 } .folder-use { stroke: #79b8ff } .folder-head { fill: #79b8ff }
}"""


# ---- what the sources include


def included_by(root, path):
    """Paths in double quotes or angle brackets, relative to the root of the tree."""
    for line in check_tree.read_lines(root, path):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match and match.group(1).split("/")[0] in FOLDERS:
            yield match.group(1)


def read_uses(root):
    """Pairs (user, used): of folders, and of rooms of one folder ("sim/wire", "sim/hal")."""
    uses = set()
    for path in check_tree.tree(root):
        if path.endswith(".py") or path.split("/")[0] not in FOLDERS:
            continue
        for included in included_by(root, path):
            folder, other = path.split("/")[0], included.split("/")[0]
            own, room = check_tree.room_of(path), check_tree.room_of(included)
            if folder != other:
                uses.add((folder, other))
            elif own and room and own != room:
                uses.add((f"{folder}/{own}", f"{folder}/{room}"))
    return uses


def reduced(uses):
    """Without the pairs that follow from others; uses has no cycle."""
    used_by = collections.defaultdict(set)
    for user, used in uses:
        used_by[user].add(used)

    def reaches(start, end):
        return start == end or any(reaches(node, end) for node in used_by[start])

    return {(user, used) for user, used in uses
            if not any(reaches(other, used) for other in used_by[user] - {used})}


def rooms_of(folder):
    return [f"{folder}/{room}" for room in check_tree.ROOMS.get(folder, [])]


# ---- layers: rank 0 is the lowest


def ranks(nodes, uses):
    """Each node above all that it uses; one that is used more than it uses is near its lowest user."""
    rank = {}

    def height(node):
        if node not in rank:
            rank[node] = max((height(used) + 1 for user, used in uses if user == node), default=0)
        return rank[node]

    for node in sorted(nodes, key=height, reverse=True):
        users = [rank[user] for user, used in uses if used == node]
        if len(users) > sum(user == node for user, _ in uses):
            rank[node] = min(users) - 1
    return rank


def with_dummies(nodes, uses):
    """Layers of nodes, the lowest first, and chains of nodes for each use: one in each layer that it passes."""
    rank = ranks(nodes, uses)
    layers = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for node in nodes:
        layers[rank[node]].append(node)
    chains = {}
    for user, used in sorted(uses):
        between = [(user, used, i) for i in range(rank[user] - 1, rank[used], -1)]
        for dummy in between:
            layers[dummy[2]].append(dummy)
        chains[user, used] = [user, *between, used]
    return layers, chains


def crossings(layers, links):
    at = {node: i for layer in layers for i, node in enumerate(layer)}
    layer_of = {node: i for i, layer in enumerate(layers) for node in layer}
    return sum((at[a] - at[c]) * (at[b] - at[d]) < 0 for (a, b), (c, d) in itertools.combinations(links, 2)
               if layer_of[a] == layer_of[c])


def order_layers(layers, chains):
    """Sorts each layer by the middle of its nodes' neighbours, down and up, and keeps the order that crosses least."""
    links = [link for chain in chains.values() for link in zip(chain, chain[1:])]
    below, above = collections.defaultdict(list), collections.defaultdict(list)
    for upper, lower in links:
        below[upper].append(lower)
        above[lower].append(upper)
    best = (crossings(layers, links), [list(layer) for layer in layers])
    for turn in range(24):
        upwards = turn % 2 == 0
        near = below if upwards else above
        for i in range(1, len(layers)) if upwards else range(len(layers) - 2, -1, -1):
            other = {node: k / max(1, len(layers[i - 1 if upwards else i + 1]) - 1)
                     for k, node in enumerate(layers[i - 1 if upwards else i + 1])}
            place = {}
            for k, node in enumerate(layers[i]):
                seen = [other[n] for n in near[node]]
                place[node] = sum(seen) / len(seen) if seen else k / max(1, len(layers[i]) - 1)
            layers[i].sort(key=place.get)
        count = crossings(layers, links)
        if count < best[0]:
            best = (count, [list(layer) for layer in layers])
    return best[1], below, above


def width_of(node):
    return DUMMY if isinstance(node, tuple) else len(node.split("/")[-1]) * LETTER + 18


def spread(layer, wanted, width):
    """Positions nearest to the wanted ones at which the nodes of a layer do not touch, between 0 and width."""
    offset, total = [], 0
    for left, right in zip([None, *layer], layer):
        total += 0 if left is None else (width_of(left) + width_of(right)) / 2 + BOX_GAP
        offset.append(total)
    blocks = []  # of nodes that touch: the sum of what they want, and their number
    for node, o in zip(layer, offset):
        blocks.append([wanted[node] - o, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    first, last = width_of(layer[0]) / 2, width - width_of(layer[-1]) / 2 - total
    starts = [s / n for s, n in blocks for _ in range(n)]
    return {node: max(first, min(start, max(first, last))) + o for node, start, o in zip(layer, starts, offset)}


def place(nodes, uses, width):
    """Centres of boxes and of the bends of lines: node -> (x, layer from the top); chains of nodes; number of layers."""
    layers, chains = with_dummies(nodes, uses)
    layers, below, above = order_layers(layers, chains)
    x = {}
    for layer in layers:
        step = width / (len(layer) + 1)
        x.update(spread(layer, {node: step * (i + 1) for i, node in enumerate(layer)}, width))
    for turn in range(40):
        for layer in layers if turn % 2 else reversed(layers):
            wanted = {}
            for node in layer:
                near = below[node] + above[node]
                wanted[node] = sum(x[n] for n in near) / len(near) if near else x[node]
            x.update(spread(layer, wanted, width))
    top = len(layers) - 1
    shift = (width - min(x.values()) - max(x.values())) / 2 if x else 0
    return {node: (x[node] + shift, top - i) for i, layer in enumerate(layers) for node in layer}, chains, len(layers)


# ---- SVG


def arrow(points, kind, user, used):
    """A smooth line through points from top to bottom, with a head; each point is (x, top, bottom) of what it passes."""
    x, _, y = points[0]
    path = f"M{x:.0f} {y:.0f}"
    for k, (to, top, bottom) in enumerate(points[1:]):
        end = top - (6 if k == len(points) - 2 else 0)
        middle = (y + end) / 2
        path += f" C{x:.0f} {middle:.0f} {to:.0f} {middle:.0f} {to:.0f} {end:.0f}"
        if bottom != top and k < len(points) - 2:
            path += f" V{bottom:.0f}"
        x, y = to, bottom
    tip = points[-1][1]
    yield f'<path class="{kind}use" data-user="{user}" data-used="{used}" d="{path}"/>'
    yield f'<path class="{kind}head" d="M{x:.0f} {tip:.0f} l-4 -7 h8 z"/>'


def box(kind, x, y, width, height, radius):
    return f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="{radius}"/>'


class Card:
    """A folder, with its rooms in layers; x and y are set when the height of its layer is known."""

    def __init__(self, folder, uses, width):
        self.folder, self.width = folder, width
        rooms = rooms_of(folder)
        own = {(user, used) for user, used in uses if user in rooms}
        apart = [room for room in rooms if not any(room in pair for pair in own)]
        self.places, self.chains, self.rows = place([r for r in rooms if r not in apart], own, width - 2 * PAD)
        self.set_apart(apart)
        self.head = HEAD + LINE * len(FOLDERS[folder])
        self.height = self.head + (self.rows * (BOX + ROW_GAP) - ROW_GAP + 8 if self.rows else 0) + 12
        self.x = self.y = 0

    def set_apart(self, rooms):
        """Rooms that include no other and are included by none: one below the other, at the left."""
        self.rows = max(self.rows, len(rooms))
        for i, room in enumerate(rooms):
            self.places[room] = (width_of(room) / 2, self.rows - len(rooms) + i)

    def spot(self, node):
        x, row = self.places[node]
        top = self.y + self.head + 8 + row * (BOX + ROW_GAP)
        return self.x + PAD + x, top, top + BOX

    def ports(self):
        """Where each arrow leaves the box of its user and enters that of its used: beside each other."""
        out = {}
        for end, after in ((0, 1), (-1, -2)):
            for room in rooms_of(self.folder):
                mine = sorted((c for c in self.chains.values() if c[end] == room), key=lambda c: self.spot(c[after])[0])
                step = min(12, (width_of(room) - 16) / max(1, len(mine) - 1))
                for i, chain in enumerate(mine):
                    out[chain[0], chain[-1], end] = self.spot(room)[0] + step * (i - (len(mine) - 1) / 2)
        return out

    def draw(self):
        yield f'<g id="{self.folder}">' + box("card", self.x, self.y, self.width, self.height, 10)
        yield f'<text class="name" x="{self.x + PAD:.0f}" y="{self.y + 24:.0f}">{self.folder}/</text>'
        for i, line in enumerate(FOLDERS[self.folder]):
            yield f'<text class="idea" x="{self.x + PAD:.0f}" y="{self.y + 42 + LINE * i:.0f}">{escape(line)}</text>'
        ports = self.ports()
        for (user, used), chain in sorted(self.chains.items()):
            points = [self.spot(node) for node in chain]
            points[0] = (ports[user, used, 0], *points[0][1:])
            points[-1] = (ports[user, used, -1], *points[-1][1:])
            yield from arrow(points, "", user, used)
        for room in rooms_of(self.folder):
            x, top, _ = self.spot(room)
            width = width_of(room)
            yield f'<g data-room="{room}">' + box("room", x - width / 2, top, width, BOX, 6)
            yield f'<text class="room-name" x="{x:.0f}" y="{top + 17:.0f}">{room.split("/")[1]}</text></g>'
        yield "</g>"


def make_cards(uses):
    """Cards in layers. The layer with most folders decides the widths; the others are as wide as what they use."""
    between = {pair for pair in uses if "/" not in pair[0]}
    rank = ranks(FOLDERS, between)
    layers = [[f for f in FOLDERS if rank[f] == r] for r in range(max(rank.values()) + 1)]
    widest = max(layers, key=len)
    span, x = {}, MARGIN
    for folder in widest:
        width = WIDE if len(rooms_of(folder)) > 1 else NARROW
        span[folder] = (x, x + width)
        x += width + GAP
    whole = (MARGIN, x - GAP)
    for folder in (f for layer in layers for f in layer if f not in span):
        near = [span[used] for user, used in between if user == folder and used in span]
        span[folder] = (min(s[0] for s in near), max(s[1] for s in near)) if near else whole
    cards, y = {}, MARGIN
    for layer in reversed(layers):
        for folder in layer:
            left, right = span[folder]
            card = cards[folder] = Card(folder, uses, right - left)
            card.x, card.y = left, y
        height = max(cards[folder].height for folder in layer)
        for folder in layer:
            cards[folder].height = height
        y += height + LAYER_GAP
    return cards, between, whole[1] + MARGIN, y - LAYER_GAP + MARGIN


def folder_arrow(cards, user, used):
    """A vertical line where both folders are, beside the folders of the layers between."""
    a, b = cards[user], cards[used]
    passed = [c for c in cards.values() if a.y < c.y < b.y]
    free = [x for x in range(int(max(a.x, b.x)) + PAD, int(min(a.x + a.width, b.x + b.width)) - PAD + 1)
            if not any(c.x - GAP / 4 <= x <= c.x + c.width + GAP / 4 for c in passed)]
    narrow = min(a, b, key=lambda card: card.width)
    if not free:
        raise SystemExit(f"no place for the arrow from {user}/ to {used}/: change the order of FOLDERS")
    x = min(free, key=lambda x: abs(x - narrow.x - narrow.width / 2))
    return arrow([(x, a.y, a.y + a.height), (x, b.y, b.y)], "folder-", user, used)


def draw(uses):
    cards, between, width, height = make_cards(uses)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" '
             f'height="{height:.0f}" role="img" aria-labelledby="title desc">',
             '<title id="title">Folders and rooms of Halcyon</title>',
             '<desc id="desc">Arrows point to what a folder or room includes; each includes lower ones only. '
             'Arrows that follow from others are left out.</desc>',
             f"<style>{STYLE}</style>", box("page", 0, 0, width, height, 0)]
    for card in cards.values():
        lines += card.draw()
    for user, used in sorted(between):
        lines += folder_arrow(cards, user, used)
    return "\n".join([*lines, "</svg>"]) + "\n"


# ---- comparison with the picture


def read_picture(path):
    """Folders and rooms, and pairs (user, used), that the picture has."""
    boxes, uses = set(), set()
    for element in xml.etree.ElementTree.parse(path).iter():
        if element.tag.endswith("}g"):
            boxes.add(element.get("id") or element.get("data-room"))
        elif element.get("data-user"):
            uses.add((element.get("data-user"), element.get("data-used")))
    return boxes, uses


def differences(path, boxes, uses):
    shown_boxes, shown_uses = read_picture(path)
    for name in sorted(boxes ^ shown_boxes):
        yield f"{name}/ is {'not in the picture' if name in boxes else 'in the picture, and not in the tree'}"
    for user, used in sorted(uses ^ shown_uses):
        yield (f"the arrow {user} -> {used} is "
               + ("missing" if (user, used) in uses else "in the picture, and follows from no #include, or from others"))


def main():
    root, *options = sys.argv[1:]
    if set(check_tree.MAY_USE) - {"tests"} != set(FOLDERS):
        raise SystemExit("FOLDERS must have the folders of MAY_USE (check_tree.py), without tests/")
    uses = reduced(read_uses(root))
    path = os.path.join(root, PICTURE)
    if options == ["--write"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(draw(uses))
        return 0
    found = list(differences(path, {*FOLDERS, *(room for folder in FOLDERS for room in rooms_of(folder))}, uses))
    for line in found:
        print(f"{PICTURE}: {line}")
    print("./dev docs writes it again" if found else f"{PICTURE} has the {len(uses)} arrows of the sources")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
