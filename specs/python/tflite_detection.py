"""Converts TFLite_Detection_PostProcess, the custom operator at the end of detectors; its options are a FlexBuffer."""

import struct

from halcyon.operands import SpecError
from halcyon.tflite_common import CONVERTERS, Converter, concatenate, require_rank
from halcyon.tflite_model import F32, I32

MAP, BOOL = 9, 26
LETTERS = {1: "bhiq", 2: "BHIQ", 3: " efd", BOOL: "BHIQ"}  # of a number by type and by the logarithm of its size
MOST_OPTIONS = 64


def number(data, at, type, width):
    indirect = type in (6, 7, 8)
    if indirect:
        at -= number(data, at, 2, width & 3)
        type, width = type - 5, width >> 2
    width &= 3
    letter = LETTERS.get(type, "    ")[width]
    if letter == " " or not 0 <= at <= len(data) - (1 << width):
        raise SpecError("damaged options")
    return struct.unpack_from(f"<{letter}", data, at)[0]


def options(data):
    """The numbers of a FlexBuffer that is a map, by name."""
    data = bytes(data or b"")
    if len(data) < 3 or data[-2] >> 2 != MAP or data[-1] not in (1, 2, 4, 8):
        raise SpecError("its options are not a FlexBuffer with a map")
    log = data[-1].bit_length() - 1
    at = len(data) - 2 - data[-1]
    at -= number(data, at, 2, log)
    log = data[-2] & 3
    width = 1 << log
    count = number(data, at - width, 2, log)
    keys = at - 3 * width
    keys -= number(data, keys, 2, log)
    key_width = number(data, at - 2 * width, 2, log)
    if count > MOST_OPTIONS or key_width not in (1, 2, 4, 8) or at + count * (width + 1) > len(data):
        raise SpecError("damaged options")
    made = {}
    for i in range(count):
        key = keys + i * key_width
        key -= number(data, key, 2, key_width.bit_length() - 1)
        end = data.find(b"\0", max(key, 0))
        if key < 0 or end < 0:
            raise SpecError("damaged options")
        packed = data[at + count * width + i]
        type = packed >> 2
        if type in (1, 2, 3, 6, 7, 8, BOOL):
            element = log | (packed & 3) << 2 if type in (6, 7, 8) else log
            made[data[key:end].decode(errors="replace")] = number(data, at + i * width, type, element)
    return made


def detection_postprocess(b, op):
    given = options(op.custom)

    def option(name, default=None):
        if name not in given and default is None:
            raise SpecError(f"its options lack {name}")
        return given.get(name, default)

    boxes, scores, anchors = (b.real(i) for i in op.inputs)
    (batches, count, size), shape = require_rank(b, op.inputs[0], 3), require_rank(b, op.inputs[1], 3)
    classes = option("num_classes")
    if shape[:2] != (batches, count) or b.shape(op.inputs[2]) != (count, 4) or size < 4 or \
            classes not in (shape[2], shape[2] - 1):
        raise SpecError(f"boxes {[batches, count, size]}, scores {list(shape)}, anchors {list(b.shape(op.inputs[2]))} and "
                        f"{classes} classes")
    if classes == shape[2]:  # NNAPI's first class is the background
        zeros = b.filled(F32, (batches, count, 1), 0)
        scores, _ = concatenate(b, [zeros, scores], [zeros.dims, shape], 2)
    most, per_detection = option("max_detections"), option("max_classes_per_detection")
    scales = [float(option(name)) for name in ("y_scale", "x_scale", "h_scale", "w_scale")]
    regular = bool(option("use_regular_nms", 0))
    per_class = option("detections_per_class", 100)
    limits = [float(option(name)) for name in ("nms_score_threshold", "nms_iou_threshold")]
    if not all(isinstance(n, int) and 1 <= n <= 1 << 16 for n in (most, per_detection, per_class)):
        raise SpecError("a number of detections or classes that is not positive")
    rows = most if regular else most * per_detection
    made = [b.add(F32, (batches, rows)), b.add(F32, (batches, rows, 4)), b.add(I32, (batches, rows)), b.add(I32, (batches,))]
    b.operation("DETECTION_POSTPROCESSING", [scores, boxes, anchors, *scales, regular, most, min(per_detection, classes),
                                             per_class, *limits, False], made)
    numbers, found, labels, total = made
    b.bind(op.outputs[0], found)
    b.bind(op.outputs[1], b.op("CAST", [labels], labels.dims, type=F32))
    b.bind(op.outputs[2], numbers)
    b.bind(op.outputs[3], b.op("CAST", [total], total.dims, type=F32))


CONVERTERS["custom operator TFLite_Detection_PostProcess"] = Converter(
    detection_postprocess, (3, 3), (4, 4), "`DETECTION_POSTPROCESSING`, and `CAST` of its integers")
