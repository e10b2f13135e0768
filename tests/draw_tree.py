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
BOX, BOX_GAP, ROW_GAP, COLUMN_GAP, DUMMY = 26, 14, 20, 34, 6
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
    """Without the pairs that follow from others."""
    used_by = collections.defaultdict(set)
    for user, used in uses:
        used_by[user].add(used)

    def reached(start):
        seen, left = set(), [start]
        while left:
            node = left.pop()
            left += used_by[node] - seen
            seen |= used_by[node]
        return seen

    return {(user, used) for user, used in uses
            if not any(used in reached(other) for other in used_by[user] - {used})}


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


def spread(layer, wanted, size, length):
    """Positions nearest to the wanted ones at which the nodes of a layer do not touch, between 0 and length."""
    offset, total = [], 0
    for before, node in zip([None, *layer], layer):
        total += 0 if before is None else (size(before) + size(node)) / 2 + BOX_GAP
        offset.append(total)
    blocks = []  # of nodes that touch: the sum of what they want, and their number
    for node, o in zip(layer, offset):
        blocks.append([wanted[node] - o, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    first, last = size(layer[0]) / 2, length - size(layer[-1]) / 2 - total
    starts = [s / n for s, n in blocks for _ in range(n)]
    return {node: max(first, min(start, max(first, last))) + o for node, start, o in zip(layer, starts, offset)}


def place(layers, below, above, size, length):
    """Position of each node in its layer, near those of its neighbours; together in the middle of length."""
    at = {}
    for layer in layers:
        step = length / (len(layer) + 1)
        at.update(spread(layer, {node: step * (i + 1) for i, node in enumerate(layer)}, size, length))
    for turn in range(40):
        for layer in layers if turn % 2 else reversed(layers):
            wanted = {}
            for node in layer:
                near = below[node] + above[node]
                wanted[node] = sum(at[n] for n in near) / len(near) if near else at[node]
            at.update(spread(layer, wanted, size, length))
    shift = (length - min(at.values()) - max(at.values())) / 2 if at else 0
    return {node: position + shift for node, position in at.items()}


# ---- SVG


def arrow(points, kind, user, used, flat=False):
    """A smooth line down through points (x, top, bottom), with a head; flat: to the right through (y, left, right)."""
    def pair(across, along):
        return f"{along:.0f} {across:.0f}" if flat else f"{across:.0f} {along:.0f}"

    across, _, along = points[0]
    path = "M" + pair(across, along)
    for k, (to, begin, end) in enumerate(points[1:]):
        is_last = k == len(points) - 2
        stop = begin - (6 if is_last else 0)
        middle = (along + stop) / 2
        path += f" C{pair(across, middle)} {pair(to, middle)} {pair(to, stop)}"
        if not is_last:
            path += " L" + pair(to, end)
        across, along = to, end
    tip = points[-1][1]
    yield f'<path class="{kind}use" data-user="{user}" data-used="{used}" d="{path}"/>'
    yield f'<path class="{kind}head" d="M{pair(across, tip)} L{pair(across - 4, tip - 7)} L{pair(across + 4, tip - 7)} z"/>'


def box(kind, x, y, width, height, radius):
    return f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="{radius}"/>'


class Card:
    """A folder, with its rooms in layers from top to bottom or, flat, from left to right if they fit; x and y are set
    when the height of its layer is known."""

    def __init__(self, folder, uses, width):
        self.folder, self.width, self.x, self.y = folder, width, 0, 0
        rooms = rooms_of(folder)
        own = {(user, used) for user, used in uses if user in rooms}
        apart = [room for room in rooms if not any(room in pair for pair in own)]
        layers, self.chains = with_dummies([room for room in rooms if room not in apart], own)
        layers, below, above = order_layers(layers, self.chains)
        columns = [max(map(width_of, layer)) for layer in reversed(layers)]
        self.flat = bool(columns) and sum(columns) + COLUMN_GAP * (len(columns) - 1) <= width - 2 * PAD
        self.top = HEAD + LINE * len(FOLDERS[folder]) + 8
        self.spots = {}  # centre and extent along the arrows of each box and bend: (x, y, extent)
        if self.flat:
            bottom = self.fill_flat(layers, below, above, columns)
        else:
            bottom = self.fill(layers, below, above)
        self.height = self.set_apart(apart, bottom) + 12

    def fill(self, layers, below, above):
        at = place(layers, below, above, width_of, self.width - 2 * PAD)
        for row, layer in enumerate(reversed(layers)):
            for node in layer:
                self.spots[node] = (PAD + at[node], self.top + BOX / 2 + row * (BOX + ROW_GAP), BOX)
        return self.top + len(layers) * (BOX + ROW_GAP) - ROW_GAP

    def fill_flat(self, layers, below, above, columns):
        def size(node):
            return DUMMY if isinstance(node, tuple) else BOX

        height = max(sum(map(size, layer)) + BOX_GAP * (len(layer) - 1) for layer in layers)
        at = place(layers, below, above, size, height)
        gap = min(2 * COLUMN_GAP, (self.width - 2 * PAD - sum(columns)) / max(1, len(columns) - 1))
        x = PAD
        for column, layer in zip(columns, reversed(layers)):
            for node in layer:
                extent = column if isinstance(node, tuple) else width_of(node)
                self.spots[node] = (x + column / 2, self.top + at[node], extent)
            x += column + gap
        return self.top + height

    def set_apart(self, rooms, bottom):
        """Rooms that include no other and are included by none: beside each other below the others, or, if there is
        space at the left, one below the other. Returns the bottom of all."""
        width = max(map(width_of, rooms), default=0)
        left = min((x - width_of(node) / 2 for node, (x, _, _) in self.spots.items()), default=self.width)
        is_beside = bool(self.spots) and left > PAD + width + BOX_GAP
        if is_beside:
            y = bottom - BOX / 2 - (len(rooms) - 1) * (BOX + BOX_GAP)
        else:
            y = (bottom + BOX_GAP if self.spots else self.top) + BOX / 2
        x = PAD
        for room in rooms:
            self.spots[room] = (x + width_of(room) / 2, y, BOX)
            if is_beside:
                y += BOX + BOX_GAP
            else:
                x += width_of(room) + BOX_GAP
        return bottom if is_beside or not rooms else y + BOX / 2

    def point(self, node):
        """Of a box or bend, for arrow(): its position across the arrows, its begin and end along them."""
        x, y, extent = self.spots[node]
        across, along = (self.y + y, self.x + x) if self.flat else (self.x + x, self.y + y)
        return across, along - extent / 2, along + extent / 2

    def ports(self):
        """Where each arrow leaves the box of its user and enters that of its used: beside each other."""
        out = {}
        for end, after in ((0, 1), (-1, -2)):
            for room in rooms_of(self.folder):
                mine = sorted((c for c in self.chains.values() if c[end] == room), key=lambda c: self.point(c[after])[0])
                step = min(12, ((BOX if self.flat else width_of(room)) - 10) / max(1, len(mine) - 1))
                for i, chain in enumerate(mine):
                    out[chain[0], chain[-1], end] = self.point(room)[0] + step * (i - (len(mine) - 1) / 2)
        return out

    def draw(self):
        yield f'<g id="{self.folder}">' + box("card", self.x, self.y, self.width, self.height, 10)
        yield f'<text class="name" x="{self.x + PAD:.0f}" y="{self.y + 24:.0f}">{self.folder}/</text>'
        for i, line in enumerate(FOLDERS[self.folder]):
            yield f'<text class="idea" x="{self.x + PAD:.0f}" y="{self.y + 42 + LINE * i:.0f}">{escape(line)}</text>'
        ports = self.ports()
        for (user, used), chain in sorted(self.chains.items()):
            points = [self.point(node) for node in chain]
            points[0] = (ports[user, used, 0], *points[0][1:])
            points[-1] = (ports[user, used, -1], *points[-1][1:])
            yield from arrow(points, "", user, used, self.flat)
        for room in rooms_of(self.folder):
            x, top, width = self.x + self.spots[room][0], self.y + self.spots[room][1] - BOX / 2, width_of(room)
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
    try:
        shown_boxes, shown_uses = read_picture(path)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        yield str(error)
        return
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
