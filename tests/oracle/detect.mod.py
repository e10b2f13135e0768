"""Detection: decoding and selecting boxes, keypoints, regions of images, and RANDOM_MULTINOMIAL."""
import os
import sys

sys.path.insert(0, os.path.dirname(sys._getframe().f_code.co_filename))
from oracle import *

BOX = Q16A(0.125, 0)
# Types of scores or images, of boxes, and of scalars.
ROWS = [(F32, F32, "FLOAT32"), (F16, F16, "FLOAT16"), (U8(1 / 256, 0), BOX, "FLOAT32"),
        (S8(1 / 256, -128), BOX, "FLOAT32")]


def boxes(type, n, most=40.0, least=0.0):
    """Boxes x1, y1, x2, y2 in 0..most, multiples of 1/8 (which every type of boxes represents exactly)."""
    from_ = integers(0, int(most * 4), (n, 2)) / 8.0
    size = integers(int(least * 8), int(most * 4), (n, 2)) / 8.0
    return real(type, np.concatenate([from_, from_ + size], axis=1))


def i32(values):
    values = np.array(values, np.int64)
    return Tensor(I32, values)


def decode(box, delta):
    """The box (lower corner, upper corner) moved by delta[:2] sizes and grown by exp(delta[2:])."""
    box, delta = np.asarray(box), np.asarray(delta)
    size = box[2:] - box[:2]
    centre = (box[:2] + box[2:]) / 2 + delta[:2] * size
    size = np.exp(delta[2:]) * size
    return np.concatenate([centre - size / 2, centre + size / 2])


def clip(box, height, width):
    return np.minimum(np.maximum(box, 0), [width, height, width, height])


# --- AXIS_ALIGNED_BBOX_TRANSFORM

def transform(type, deltas, n, classes, images=2, delta_scale=1.0):
    roi = boxes(type, n)
    delta = draw(deltas, (n, 4 * classes), -delta_scale, delta_scale)
    batches = i32(sorted(integers(0, images - 1, n)))
    info = real(type, integers(30, 80, (images, 2)) / 2.0)
    out = np.zeros((n, classes, 4))
    for i in range(n):
        height, width = info.real[batches.stored[i]]
        for c in range(classes):
            out[i, c] = clip(decode(roi.real[i], delta.real[i, 4 * c:4 * c + 4]), height, width)
    return [roi, delta, batches, info], [result(type, out.reshape(n, 4 * classes))]


seed("AXIS_ALIGNED_BBOX_TRANSFORM")
for type, deltas in [(F32, F32), (F16, F16), (BOX, U8(0.01, 128)), (BOX, S8(0.02, 5))]:
    for n, classes in [(1, 1), (5, 3), (12, 2), (0, 2)]:
        check("AXIS_ALIGNED_BBOX_TRANSFORM", *transform(type, deltas, n, classes))
    check("AXIS_ALIGNED_BBOX_TRANSFORM", *transform(type, deltas, 6, 1, 1, 20.0), "far")
ins, outs = transform(F32, F32, 3, 1)
refuse("AXIS_ALIGNED_BBOX_TRANSFORM", [ins[0], ins[1], i32([0, 1, 2]), ins[3]], outs)
refuse("AXIS_ALIGNED_BBOX_TRANSFORM", [ins[0], ins[1], i32([-1, 0, 1]), ins[3]], outs)
refuse("AXIS_ALIGNED_BBOX_TRANSFORM", [real(F32, [[5, 0, 4, 9]] * 3), *ins[1:]], outs)


# --- non-maximum suppression

def overlap(a, b):
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = np.prod(np.maximum(sides, 0))
    return common / (area(a) + area(b) - common)


def suppress(pending, lower, floor, limit):
    """Non-maximum suppression. pending: lists [score, tie-breaker, box]; lower(iou): factor of the score of a box that
    overlaps a selected one. Returns the selected ones, best first."""
    pending, selected = [list(p) for p in pending], []
    while pending and (limit < 0 or len(selected) < limit):
        best = min(pending, key=lambda p: (-p[0], p[1]))
        pending.remove(best)
        selected.append(best)
        for p in pending:
            p[0] *= lower(overlap(best[2], p[2]))
        pending = [p for p in pending if p[0] >= floor]
    return selected


def hard(threshold):
    """A factor that removes every box whose overlap is not below the threshold (for positive scores)."""
    return lambda iou: -np.inf if iou >= threshold else 1.0


KERNELS = [
    lambda iou, threshold, sigma: 0.0 if iou >= threshold else 1.0,
    lambda iou, threshold, sigma: 1 - iou if iou >= threshold else 1.0,
    lambda iou, threshold, sigma: np.exp(-iou * iou / sigma),
]


def select(scores, roi, batches, threshold, limit, kernel, iou, sigma, floor):
    """Rows (score, box, class, image) in the order of the output."""
    out, classes = [], scores.shape[1]
    for image in dict.fromkeys(batches):
        rows = [i for i in range(len(batches)) if batches[i] == image]
        found = []
        for c in range(1, classes):
            pending = [(scores[i, c], i * classes + c, roi[i, 4 * c:4 * c + 4]) for i in rows if
                       scores[i, c] > threshold]
            lower = lambda o: KERNELS[kernel](o, iou, sigma)
            found += [(s, at, box, c) for s, at, box in suppress(pending, lower, floor, limit)]
        found.sort(key=lambda f: (-f[0], f[1]))
        found = found if limit < 0 else found[:limit]
        found.sort(key=lambda f: (f[3], -f[0], f[1]))
        out += [(s, box, c, image) for s, at, box, c in found]
    return out


def spread_scores(type, shape):
    """Random scores in 0..1, multiples of 1/256, which every type represents exactly; all different, at most 250."""
    n = int(np.prod(shape))
    return real(type, (generator.permutation(250)[:n] + 2.0).reshape(shape) / 256)


def box_with_nms_limit(row, n, classes, images, threshold, limit, kernel, iou, sigma, floor, unknown=False):
    type, box_type, scalar_type = row
    number = lambda x: Scalar(scalar_type, x)
    scores = spread_scores(type, (n, classes))
    roi = real(box_type, np.concatenate([boxes(F32, n, 30.0, 1.0).real for _ in range(classes)], axis=1))
    batches = i32(sorted(integers(0, images - 1, n)))
    kept = select(scores.real, roi.real, batches.stored, threshold, limit, kernel, iou, sigma, floor)
    outs = [result(type, [k[0] for k in kept]),
            Tensor(box_type, np.zeros((0, 4), np.int64)) if not kept else result(box_type, [k[1] for k in kept]),
            i32([k[2] for k in kept]), i32([k[3] for k in kept])]
    if unknown:
        outs = [Unknown(outs[0], (0,)), Unknown(outs[1], (0, 4)), Unknown(outs[2], (0,)), Unknown(outs[3], (0,))]
    check("BOX_WITH_NMS_LIMIT",
          [scores, roi, batches, number(threshold), limit, kernel, number(iou), number(sigma), number(floor)], outs)


seed("BOX_WITH_NMS_LIMIT")
for row in ROWS:
    for kernel in range(3):
        for n, classes, images, limit in [(10, 3, 1, -1), (20, 4, 2, 5), (30, 2, 3, 4), (1, 2, 1, -1), (0, 3, 1, -1)]:
            box_with_nms_limit(row, n, classes, images, 0.25, limit, kernel, 0.4375, 0.5, 0.203125)
    box_with_nms_limit(row, 12, 3, 2, 0.25, -1, 1, 0.25, 0.5, 0.203125, True)
    box_with_nms_limit(row, 12, 3, 2, 1.0, -1, 0, 0.25, 0.5, 0.203125, True)  # none is selected
    box_with_nms_limit(row, 12, 3, 2, 0.0, -1, 0, 0.0, 0.5, 0.001953125)  # every overlap suppresses
    box_with_nms_limit(row, 12, 3, 2, 0.0, -1, 0, 2.0, 0.5, 0.001953125)  # no overlap suppresses


def proposals(row, images, height, width, anchors, stride, before, after, iou, least, nchw, unknown=False):
    type, box_type, scalar_type = row
    number = lambda x: Scalar(scalar_type, x)
    anchor_type = Q16S(0.125) if box_type is BOX else box_type
    delta_type = type._replace(scale=single(0.01), zero=type.zero + 128) if type.scale else type
    scores = spread_scores(type, (images, height, width, anchors))
    deltas = draw(delta_type, (images, height, width, 4 * anchors), -1, 1)
    anchor = real(anchor_type, boxes(F32, anchors, 20.0, 2.0).real - 5)
    info = real(box_type, integers(60, 120, (images, 2)) / 2.0)
    out = []
    for b in range(images):
        pending = []
        for y, x, a in np.ndindex(height, width, anchors):
            shifted = anchor.real[a] + np.array([x, y, x, y]) * stride
            box = clip(decode(shifted, deltas.real[b, y, x, 4 * a:4 * a + 4]), *info.real[b])
            pending.append((scores.real[b, y, x, a], (y * width + x) * anchors + a, box))
        pending.sort(key=lambda p: (-p[0], p[1]))
        pending = pending[:before] if before > 0 else pending
        pending = [p for p in pending if np.all(p[2][2:] - p[2][:2] > least) and
                   np.all((p[2][2:] + p[2][:2]) / 2 < info.real[b][::-1])]
        kept = suppress(pending, hard(iou), -1e300, after if after > 0 else -1)
        out += [(s, box, b) for s, at, box in kept]
    outs = [result(type, [k[0] for k in out]),
            Tensor(box_type, np.zeros((0, 4), np.int64)) if not out else result(box_type, [k[1] for k in out]),
            i32([k[2] for k in out])]
    if unknown:
        outs = [Unknown(outs[0], (0,)), Unknown(outs[1], (0, 4)), Unknown(outs[2], (0,))]
    if nchw:
        scores, deltas = scores.nchw(), deltas.nchw()
    check("GENERATE_PROPOSALS", [scores, deltas, anchor, info, number(stride), number(stride), before, after,
                                 number(iou), number(least), nchw], outs)


seed("GENERATE_PROPOSALS")
for row in ROWS:
    for nchw in (False, True):
        proposals(row, 1, 4, 5, 3, 8.0, -1, -1, 0.3125, 2.0, nchw)
        proposals(row, 2, 3, 3, 4, 4.0, 20, 6, 0.5, 3.0, nchw)
        proposals(row, 1, 1, 1, 1, 16.0, 0, 0, 0.5, 0.5, nchw, True)
        proposals(row, 2, 2, 2, 2, 4.0, 6, -1, 0.0625, 1000.0, nchw, True)  # all are too small


def detections(row, images, anchors, classes, regular, limit, each, per_class, threshold, iou, background, extra=0):
    type, scalar_type = row
    number = lambda x: Scalar(scalar_type, x)
    scales = [10.0, 8.0, 5.0, 4.0]
    scores = spread_scores(type, (images, anchors, classes))
    deltas = draw(type, (images, anchors, 4 + extra), -8, 8)
    anchor = real(type, integers(1, 60, (anchors, 4)) / 8.0)
    places = limit if regular else limit * each
    out = [np.zeros((images, places)), np.zeros((images, places, 4)), np.zeros((images, places)), np.zeros(images)]
    for b in range(images):
        box = []
        for a in range(anchors):
            d = deltas.real[b, a, :4] / scales
            centre, size = anchor.real[a, :2], anchor.real[a, 2:]
            box.append(decode(np.concatenate([centre - size / 2, centre + size / 2]), d))
        s = scores.real[b]
        if regular:
            found = []
            for c in range(1, classes):
                pending = [(s[a, c], a * classes + c, box[a]) for a in range(anchors) if s[a, c] > threshold]
                found += [(p[0], p[1], c, p[2]) for p in suppress(pending, hard(iou), -1e300, per_class)]
            found = sorted(found, key=lambda f: (-f[0], f[1]))[:limit]
        else:
            pending = [(s[a, 1:].max(), a, box[a]) for a in range(anchors) if s[a, 1:].max() > threshold]
            found = []
            for _, a, _ in suppress(pending, hard(iou), -1e300, limit):
                best = sorted(range(1, classes), key=lambda c: -s[a, c])[:each]
                found += [(s[a, c], a, c, box[a]) for c in best]
        for i, (score, _, c, where) in enumerate(found):
            out[0][b, i], out[1][b, i], out[2][b, i] = score, where, c - (0 if background else 1)
        out[3][b] = len(found)
    check("DETECTION_POSTPROCESSING",
          [scores, deltas, anchor, *[number(x) for x in scales], regular, limit, each, per_class, number(threshold),
           number(iou), background],
          [result(type, out[0]), result(type, out[1]), i32(out[2]), i32(out[3])])


seed("DETECTION_POSTPROCESSING")
for row in [(F32, "FLOAT32"), (F16, "FLOAT16")]:
    for regular in (False, True):
        detections(row, 1, 10, 3, regular, 6, 1, 4, 0.25, 0.4375, False)
        detections(row, 2, 8, 4, regular, 3, 2, 2, 0.125, 0.25, True)
        detections(row, 1, 6, 2, regular, 5, 3, 1, 0.5, 0.5, False, 3)  # more classes requested than exist
        detections(row, 1, 1, 2, regular, 2, 1, 1, 1.0, 0.5, False)  # none is detected
        detections(row, 3, 20, 4, regular, 50, 1, 50, 0.0, 0.0, True)  # more detections requested than exist


# --- HEATMAP_MAX_KEYPOINT

def keypoint(grid, tolerance):
    """The interpolated maximum of a square grid of scores, and its column and row as fractions of the grid's side."""
    side = grid.shape[0]
    row, column = np.unravel_index(np.argmax(grid), grid.shape)
    g = np.pad(grid, 1, mode="reflect")[row:row + 3, column:column + 3]
    slope = np.array([g[1, 2] - g[1, 0], g[2, 1] - g[0, 1]]) / 2
    twist = (g[2, 2] - g[2, 0] - g[0, 2] + g[0, 0]) / 4
    curve = np.array([[g[1, 0] - 2 * g[1, 1] + g[1, 2], twist], [twist, g[0, 1] - 2 * g[1, 1] + g[2, 1]]])
    delta = np.zeros(2)
    if abs(np.linalg.det(curve)) >= tolerance * (1 + curve[0, 0] * curve[1, 1]):
        delta = np.linalg.solve(curve, -slope)
        delta = delta * min(1, 1.5 / max(np.abs(delta).max(), 1e-300))
    return g[1, 1] + slope @ delta + delta @ curve @ delta / 2, (column + delta[0] + 0.5) / side, \
        (row + delta[1] + 0.5) / side


def heatmap(row, out_type, n, side, keypoints, nchw, flat_map=False):
    type, box_type = row[0], row[1]
    x = draw(type, (n, side, side, keypoints))
    if flat_map:
        x = Tensor(type, np.zeros_like(x.stored) + x.stored.flat[0])
    box = boxes(box_type, n)
    scores, points = np.zeros((n, keypoints)), np.zeros((n, keypoints, 2))
    for i, k in np.ndindex(n, keypoints):
        score, right, down = keypoint(x.real[i, :, :, k], 1e-3 if type is F16 else 1e-5)
        corner, size = box.real[i, :2], box.real[i, 2:] - box.real[i, :2]
        scores[i, k], points[i, k] = score, corner + np.array([right, down]) * size
    check("HEATMAP_MAX_KEYPOINT", [x.nchw() if nchw else x, box, nchw], [result(out_type, scores),
                                                                       result(box_type, points)])


seed("HEATMAP_MAX_KEYPOINT")
for row, out in [(ROWS[0], F32), (ROWS[1], F16), ((U8(0.05, 100), BOX), U8(0.06, 30)),
                 ((S8(0.05, -3), BOX), S8(0.04, -128))]:
    for nchw in (False, True):
        heatmap(row, out, 3, 7, 2, nchw)
        heatmap(row, out, 1, 2, 5, nchw)
        heatmap(row, out, 2, 4, 1, nchw, True)


# --- regions

def sample(image, y, x):
    """Bilinear interpolation; beyond the centre of the last row or column its value."""
    height, width = image.shape[:2]
    top, left = int(np.floor(y)), int(np.floor(x))
    dy, dx = y - top, x - left
    if top >= height - 1:
        top, dy = height - 1, 0
    if left >= width - 1:
        left, dx = width - 1, 0
    down, right = min(top + 1, height - 1), min(left + 1, width - 1)
    return (image[top, left] * (1 - dy) * (1 - dx) + image[top, right] * (1 - dy) * dx +
            image[down, left] * dy * (1 - dx) + image[down, right] * dy * dx)


def align(image, box, rows, columns, samples_y, samples_x):
    out = np.zeros((rows, columns, image.shape[2]))
    height, width = max(box[3] - box[1], 1), max(box[2] - box[0], 1)
    samples_y = samples_y or int(np.ceil(height / rows))
    samples_x = samples_x or int(np.ceil(width / columns))
    for i, j in np.ndindex(rows, columns):
        points = [sample(image, box[1] + (i + (a + 0.5) / samples_y) * height / rows,
                         box[0] + (j + (b + 0.5) / samples_x) * width / columns) for a in range(samples_y) for b in
                  range(samples_x)]
        out[i, j] = np.mean(points, axis=0)
    return out


def pool(image, box, rows, columns):
    out = np.zeros((rows, columns, image.shape[2]))
    x1, y1, x2, y2 = [int(v) for v in half_away(box)]
    for i, j in np.ndindex(rows, columns):
        ys = range(y1 + i * (y2 - y1 + 1) // rows, y1 - (-(i + 1) * (y2 - y1 + 1) // rows))
        xs = range(x1 + j * (x2 - x1 + 1) // columns, x1 - (-(j + 1) * (x2 - x1 + 1) // columns))
        part = image[ys.start:ys.stop, xs.start:xs.stop].reshape(-1, image.shape[2])
        out[i, j] = part.max(axis=0) if len(part) else 0
    return out


def regions(op, row, out_type, n, shape, m, rows, columns, stride_y, stride_x, samples, nchw):
    type, box_type, scalar_type = row
    height, width, channels = shape
    x = draw(type, (n, height, width, channels))
    limit = np.array([width * stride_x, height * stride_y])
    part = np.sort(integers(0, 8, (m, 2, 2)), axis=1) / 8.0
    roi = real(box_type, (part * limit).reshape(m, 4))
    batches = i32(sorted(integers(0, n - 1, m)))
    out = np.zeros((m, rows, columns, channels))
    for i in range(m):
        box = roi.real[i] / [stride_x, stride_y, stride_x, stride_y]
        image = x.real[batches.stored[i]]
        out[i] = align(image, box, rows, columns, *samples) if samples else pool(image, box, rows, columns)
    out = result(out_type, out)
    check(op, [x.nchw() if nchw else x, roi, batches, rows, columns, Scalar(scalar_type, stride_y),
               Scalar(scalar_type, stride_x), *(samples or ()), nchw], [out.nchw() if nchw else out])


IMAGES = [(F32, F32, "FLOAT32"), (F16, F16, "FLOAT16"), (U8(0.1, 120), BOX, "FLOAT32"), (S8(0.1, -7), BOX, "FLOAT32")]

seed("ROI_ALIGN")
for row, out in zip(IMAGES, [F32, F16, U8(0.07, 100), S8(0.13, 0)]):
    for nchw in (False, True):
        regions("ROI_ALIGN", row, out, 2, (6, 7, 3), 4, 2, 3, 4.0, 2.0, (2, 3), nchw)
        regions("ROI_ALIGN", row, out, 1, (5, 9, 2), 3, 3, 2, 1.0, 8.0, (0, 0), nchw)
        regions("ROI_ALIGN", row, out, 1, (1, 1, 1), 1, 2, 2, 2.0, 2.0, (1, 0), nchw)
        regions("ROI_ALIGN", row, out, 2, (4, 4, 2), 0, 2, 2, 2.0, 2.0, (1, 0), nchw)
x = draw(F32, (1, 4, 4, 1))
for box in [[0, 0, 9, 4], [-1, 0, 2, 2], [3, 0, 2, 2]]:
    refuse("ROI_ALIGN", [x, real(F32, [box]), i32([0]), 1, 1, 1.0, 1.0, 1, 1, False], [draw(F32, (1, 1, 1, 1))])

for op, samples in [("ROI_ALIGN", (1, 1)), ("ROI_POOLING", ())]:  # an image without pixels, images without channels
    refuse(op, [draw(F32, (1, 0, 4, 1)), real(F32, [[0, 0, 2, 0]]), i32([0]), 1, 1, 1.0, 1.0, *samples, False],
           [draw(F32, (1, 1, 1, 1))])
    check(op, [draw(F32, (1, 4, 4, 0)), real(F32, [[0, 0, 2, 2]]), i32([0]), 2**20, 1, 1.0, 1.0, *samples, False],
          [draw(F32, (1, 2**20, 1, 0))])

seed("ROI_POOLING")
for row in IMAGES:
    for nchw in (False, True):
        regions("ROI_POOLING", row, row[0], 2, (6, 7, 3), 4, 2, 3, 4.0, 2.0, None, nchw)
        regions("ROI_POOLING", row, row[0], 1, (8, 8, 2), 5, 3, 4, 1.0, 8.0, None, nchw)
        regions("ROI_POOLING", row, row[0], 1, (1, 1, 1), 1, 2, 2, 2.0, 2.0, None, nchw)
        regions("ROI_POOLING", row, row[0], 2, (4, 4, 2), 0, 2, 2, 2.0, 2.0, None, nchw)
for batch in (1, -1):
    refuse("ROI_POOLING", [x, real(F32, [[0, 0, 2, 2]]), i32([batch]), 1, 1, 1.0, 1.0, False], [draw(F32, (1, 1, 1, 1))])


# --- RANDOM_MULTINOMIAL, with distributions that have one possible value

seed("RANDOM_MULTINOMIAL")
for type in FLOATS:
    certain = np.full((3, 5), -np.inf)
    certain[[0, 1, 2], [4, 0, 2]] = [1.0, -3.0, 0.0]
    check("RANDOM_MULTINOMIAL", [Tensor(type, certain), 7, i32([3, 8])], [i32([[4] * 7, [0] * 7, [2] * 7])])
refuse("RANDOM_MULTINOMIAL", [Tensor(F32, np.full((1, 3), -np.inf)), 2, i32([1, 2])], [i32([[0, 0]])])
