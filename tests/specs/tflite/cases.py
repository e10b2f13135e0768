"""Single-operator .tflite models, one for each operator, element type and option: CASES, {name: Model}.

Names are OPERATOR/TYPE/OPTIONS. Inputs are drawn from a generator that the name seeds.
"""

import itertools
import zlib

import numpy as np
from flatbuffers import flexbuffers
from writer import DTYPES, Model

CASES = {}
SCALES = {"INT8": (0.05, -3), "UINT8": (0.04, 120)}
QUANTISED = ("INT8", "UINT8")
REALS = ("FLOAT32", *QUANTISED)
ALL = ("FLOAT32", "INT8", "UINT8", "INT32", "INT64", "BOOL")
RELU, RELU1, RELU6, TANH = 1, 2, 3, 4


class Case(Model):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.oracle = None  # the model that TensorFlow Lite runs, where it misreads this one

    def draw(self, shape, type, low=-3.0, high=3.0):
        if type in QUANTISED:
            limits = np.iinfo(DTYPES[type])
            return self.random.integers(limits.min, limits.max + 1, shape)
        if type == "BOOL":
            return self.random.integers(0, 2, shape) > 0
        if type in ("INT32", "INT64"):
            return self.random.integers(int(low) * 4, int(high) * 4 + 1, shape)
        return self.random.uniform(low, high, shape)

    def quant(self, type, scale=None, zero=None):
        if type not in QUANTISED:
            return {}
        default = SCALES[type]
        return {"scale": scale or default[0], "zero": default[1] if zero is None else zero}

    def x(self, shape, type="FLOAT32", low=-3.0, high=3.0, scale=None, zero=None):
        return self.input(self.draw(shape, type, low, high), type, **self.quant(type, scale, zero))

    def w(self, shape, type="FLOAT32", low=-1.0, high=1.0, **quant):
        """A constant."""
        if type == "INT8" and quant.get("zero", 0) == 0:
            return self.tensor(shape, type, self.random.integers(-127, 128, shape), **quant)
        return self.tensor(shape, type, self.draw(shape, type, low, high), **(quant or self.quant(type)))

    def ints(self, values, type="INT32"):
        return self.tensor(np.shape(values), type, values)

    def y(self, type="FLOAT32", shape=(1,), scale=None, zero=None):
        index = self.tensor(shape, type, **self.quant(type, scale, zero))
        self.outputs.append(index)
        return index


def case(name):
    def add(function):
        made = Case(name)
        function(made)
        CASES[name] = made
        return function
    return add


def unary(op, shape=(2, 3, 4), types=("FLOAT32",), low=-3.0, high=3.0, out=None, tag="", **options):
    for type in types:
        @case(f"{op}/{type}{tag}")
        def _(c, type=type):
            scale, zero = (out or {}).get(type, (None, None))
            c.op(op, [c.x(shape, type, low, high)], [c.y(type, shape, scale, zero)], **options)


def binary(op, types, a=(2, 3, 4), b=(2, 3, 4), low=-3.0, high=3.0, tag="", result=None, constant=False, **options):
    for type in types:
        @case(f"{op}/{type}{tag}")
        def _(c, type=type):
            x = c.x(a, type, low, high)
            y = c.w(b, type, low, high, **c.quant(type, *((0.03, 7) if type in QUANTISED else ()))) if constant else \
                c.x(b, type, low, high, *((0.03, 7) if type in QUANTISED and op not in SAME_SCALE else ()))
            scale = 0.1 if op not in SAME_SCALE else None
            c.op(op, [x, y], [c.y(result or type, np.broadcast_shapes(a, b), scale, None)], **options)


SAME_SCALE = ("MAXIMUM", "MINIMUM")

# --- element-wise

for kind in ("ABS", "NEG", "FLOOR", "CEIL", "ROUND", "SIN", "COS", "EXP", "ELU", "HARD_SWISH", "RELU", "RELU6",
             "RELU_N1_TO_1", "RELU_0_TO_1", "TANH", "LOGISTIC", "SQUARE", "LOG_SOFTMAX", "ZEROS_LIKE", "SIGN"):
    unary(kind)
for kind in ("LOG", "SQRT", "RSQRT"):
    unary(kind, low=0.1, high=9.0)
for kind in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "HARD_SWISH"):
    unary(kind, types=QUANTISED)
    unary(kind, types=QUANTISED, out={t: (0.02, 5) for t in QUANTISED}, tag="/rescaled")
unary("ELU", types=("INT8",), out={"INT8": (0.03, -90)})
unary("ABS", types=("INT32", "INT8"), out={"INT8": (0.05, -128)})
unary("RSQRT", types=("INT8",), out={"INT8": (0.05, -128)})
unary("NEG", types=("INT32", "INT64"))
unary("EXP", shape=(5,), tag="/vector")
unary("ABS", shape=(), tag="/scalar")
unary("ABS", shape=(2, 1, 2, 1, 3), tag="/rank5")
unary("LOGICAL_NOT", types=("BOOL",))
for kind, out in (("LOGISTIC", 1 / 256), ("TANH", 1 / 128)):
    unary(kind, types=QUANTISED, out={"INT8": (out, -128 if out < 1 / 200 else 0), "UINT8": (out, 0 if out < 1 / 200 else 128)})
for type, zero in (("FLOAT32", None), ("INT8", -128), ("UINT8", 0)):
    for shape in ((2, 5), (2, 3, 4), (1, 2, 3, 4), (7,)):
        unary("SOFTMAX", shape, (type,), out={type: (1 / 256, zero)}, tag=f"/rank{len(shape)}", beta=1.0)
    unary("SOFTMAX", (2, 5), (type,), out={type: (1 / 256, zero)}, tag="/beta", beta=0.5)
unary("LOG_SOFTMAX", (2, 5), ("INT8", "UINT8"), out={"INT8": (16 / 256, 127), "UINT8": (16 / 256, 255)})
for type in ("FLOAT32", "INT8", "UINT8"):
    unary("GELU", types=(type,), tag="/approximate", approximate=True)
    unary("GELU", types=(type,), low=-6.0, high=6.0, tag="/exact", approximate=False)
    for alpha in (0.2, -0.5, 0.0, 1.5):
        unary("LEAKY_RELU", types=(type,), tag=f"/alpha{alpha}", alpha=alpha)
for type, zero in (("FLOAT32", None), ("INT8", 0), ("UINT8", 128)):
    unary("L2_NORMALIZATION", (2, 3, 4), (type,), out={type: (1 / 128, zero)})
    unary("L2_NORMALIZATION", (1, 2, 2, 5), (type,), out={type: (1 / 128, zero)}, tag="/rank4")
unary("LOCAL_RESPONSE_NORMALIZATION", (1, 2, 2, 6), radius=2, bias=1.0, alpha=0.3, beta=0.75)
for bits, narrow in ((8, False), (8, True), (4, False)):
    unary("FAKE_QUANT", tag=f"/{bits}bits{'/narrow' if narrow else ''}", min=-2.0, max=2.5, num_bits=bits, narrow_range=narrow)

for kind in ("ADD", "SUB", "MUL", "DIV"):
    low = 0.5 if kind == "DIV" else -3.0
    for number in (0, RELU, RELU1, RELU6):
        binary(kind, ("FLOAT32", *(("INT8", "UINT8") if kind != "DIV" else ())), low=low, tag=f"/act{number}",
               fused_activation_function=number)
    binary(kind, ("FLOAT32",), (2, 1, 4), (3, 1), low=low, tag="/broadcast")
    binary(kind, ("FLOAT32",), (1, 2, 1, 3, 4), (1, 1, 5, 1, 4), low=low, tag="/rank5")
    binary(kind, ("FLOAT32",), (2, 3, 4), (4,), low=low, tag="/constant", constant=True)
    if kind != "DIV":
        binary(kind, ("INT8", "UINT8"), (2, 1, 4), (3, 1), tag="/broadcast")
        binary(kind, ("INT8", "UINT8"), (2, 3, 4), (), tag="/scalar", constant=True)
for kind in ("ADD", "SUB", "MUL"):
    binary(kind, ("INT32", "INT64"), tag="/plain")
binary("ADD", ("INT32",), tag="/relu6", fused_activation_function=RELU6)
for number in (0, RELU):
    @case(f"DIV/INT32/act{number}")
    def _(c, number=number):
        c.op("DIV", [c.x((3, 4), "INT32", -9, 9), c.ints([[3, -2, 5, -7]])], [c.y("INT32", (3, 4))],
             fused_activation_function=number)
binary("DIV", ("UINT8",), low=1, tag="/plain")
for kind in ("MAXIMUM", "MINIMUM"):
    binary(kind, ("FLOAT32", "INT8", "UINT8", "INT32", "INT64"))
    binary(kind, ("FLOAT32", "INT8"), (2, 1, 4), (3, 1), tag="/broadcast")
binary("SQUARED_DIFFERENCE", ("FLOAT32", "INT32", "INT8"))
binary("POW", ("FLOAT32",), low=0.2)
for kind in ("FLOOR_DIV", "FLOOR_MOD"):
    @case(f"{kind}/FLOAT32")
    def _(c, kind=kind):
        c.op(kind, [c.x((3, 4)), c.tensor((4,), data=[0.7, -1.3, 2.1, 5.0])], [c.y("FLOAT32", (3, 4))])

    @case(f"{kind}/INT32")
    def _(c, kind=kind):
        c.op(kind, [c.x((3, 4), "INT32", -9, 9), c.ints([3, -2, 5, -7])], [c.y("INT32", (3, 4))])
for kind in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
    for type in (*ALL[:-1], *(("BOOL",) if "EQUAL" in kind and len(kind) < 10 else ())):
        @case(f"{kind}/{type}")
        def _(c, kind=kind, type=type):
            c.op(kind, [c.x((2, 3, 4), type), c.x((2, 3, 4), type)], [c.y("BOOL", (2, 3, 4))])

    @case(f"{kind}/FLOAT32/broadcast")
    def _(c, kind=kind):
        c.op(kind, [c.x((2, 1, 4)), c.x((3, 1))], [c.y("BOOL", (2, 3, 4))])
binary("LOGICAL_AND", ("BOOL",))
binary("LOGICAL_OR", ("BOOL",), (2, 1, 4), (3, 1))
for type, n in itertools.product(("FLOAT32", "INT32"), (1, 2, 4)):
    @case(f"ADD_N/{type}/{n}")
    def _(c, type=type, n=n):
        c.op("ADD_N", [c.x((2, 3), type) for _ in range(n)], [c.y(type, (2, 3))])
for type in REALS:
    for shape in ((4,), (1, 1, 4), (3, 1)):
        @case(f"PRELU/{type}/alpha{'x'.join(map(str, shape))}")
        def _(c, type=type, shape=shape):
            alpha = c.w(shape, type, **({"scale": 0.01, "zero": c.quant(type)["zero"]} if type in QUANTISED else {}))
            c.op("PRELU", [c.x((2, 3, 4), type), alpha], [c.y(type, (2, 3, 4), 0.05)])

# --- conversions

for a, b in itertools.product(ALL[:1] + ("INT32", "INT64", "BOOL", "UINT8", "INT8"), repeat=2):
    @case(f"CAST/{a}/to{b}")
    def _(c, a=a, b=b):
        values = c.random.uniform(0, 100, (2, 3, 4)) if "INT" in b and a == "FLOAT32" else c.random.integers(0, 100, (2, 3, 4))
        values = values > 50 if a == "BOOL" else values
        x = c.input(values, a)
        y = c.tensor((2, 3, 4), b)
        c.outputs = [y]
        c.op("CAST", [x], [y])
for a in QUANTISED:
    unary("DEQUANTIZE", types=()) or case(f"DEQUANTIZE/{a}")(
        lambda c, a=a: c.op("DEQUANTIZE", [c.x((2, 3, 4), a)], [c.y("FLOAT32", (2, 3, 4))]))
    case(f"QUANTIZE/FLOAT32/to{a}")(lambda c, a=a: c.op("QUANTIZE", [c.x((2, 3, 4))], [c.y(a, (2, 3, 4))]))
    for b in QUANTISED:
        case(f"QUANTIZE/{a}/to{b}")(
            lambda c, a=a, b=b: c.op("QUANTIZE", [c.x((2, 3, 4), a)], [c.y(b, (2, 3, 4), 0.07, 11)]))
        case(f"QUANTIZE/{a}/to{b}/samescale")(
            lambda c, a=a, b=b: c.op("QUANTIZE", [c.x((2, 3, 4), a, scale=0.05, zero=0 if a == "INT8" else 128)],
                                     [c.y(b, (2, 3, 4), 0.05, 0 if b == "INT8" else 128)]))


@case("DEQUANTIZE/FLOAT16/weights")
def _(c):
    half = c.tensor((3, 4), "FLOAT16", c.random.uniform(-1, 1, (3, 4)))
    real = c.tensor((3, 4))
    c.op("DEQUANTIZE", [half], [real])
    c.op("FULLY_CONNECTED", [c.x((2, 4)), real, -1], [c.y("FLOAT32", (2, 3))])


# --- windows

PADS = {0: "same", 1: "valid"}


def filter_scales(c, type, channels, per_channel):
    if type == "FLOAT32":
        return {}
    if per_channel:
        return {"scale": c.random.uniform(0.005, 0.02, channels), "zero": 0}
    return {"scale": 0.012, "zero": 0 if type == "INT8" else 131}


def convolution(op, tag, type, shape, filter, per_channel=False, bias=True, weights=None, out=0.3, axis=None, **options):
    options = {"padding": 1, "stride_w": 1, "stride_h": 1, **options}
    depthwise = op == "DEPTHWISE_CONV_2D"

    @case(f"{op}/{type}/{tag}")
    def _(c):
        channels = filter[3] if depthwise else filter[0]
        x = c.x(shape, type)
        scales = filter_scales(c, weights or type, channels, per_channel)
        w = c.w(filter, weights or type, **scales, **({"axis": 3 if depthwise else 0} if per_channel else {}))
        inputs = [x, w]
        if bias and type == "FLOAT32":
            inputs.append(c.w((channels,)))
        elif bias:
            inputs.append(c.tensor((channels,), "INT32", c.random.integers(-500, 500, channels),
                                   np.asarray(scales["scale"]) * SCALES[type][0]))
        c.op(op, inputs, [c.y(type, (1,), out)], **options)


for type in REALS:
    for pad, stride in itertools.product((0, 1), (1, 2)):
        convolution("CONV_2D", f"{PADS[pad]}/stride{stride}", type, (1, 5, 6, 3), (4, 3, 2, 3), padding=pad,
                    stride_w=stride, stride_h=stride)
        convolution("DEPTHWISE_CONV_2D", f"{PADS[pad]}/stride{stride}", type, (1, 5, 6, 3), (1, 3, 2, 3), padding=pad,
                    stride_w=stride, stride_h=stride, depth_multiplier=1)
    for number in (RELU, RELU1, RELU6):
        convolution("CONV_2D", f"act{number}", type, (2, 3, 3, 2), (3, 2, 2, 2), fused_activation_function=number)
        convolution("DEPTHWISE_CONV_2D", f"act{number}", type, (2, 3, 3, 2), (1, 2, 2, 2), depth_multiplier=1,
                    fused_activation_function=number)
    convolution("CONV_2D", "dilated", type, (1, 7, 7, 2), (3, 2, 2, 2), dilation_w_factor=2, dilation_h_factor=3)
    convolution("CONV_2D", "dilated/same", type, (1, 7, 7, 2), (3, 3, 3, 2), padding=0, dilation_w_factor=2, dilation_h_factor=2)
    convolution("CONV_2D", "nobias", type, (1, 3, 3, 2), (3, 2, 2, 2), bias=False)
    convolution("CONV_2D", "pointwise", type, (1, 3, 3, 4), (5, 1, 1, 4))
    convolution("DEPTHWISE_CONV_2D", "multiplier2", type, (1, 4, 4, 3), (1, 2, 2, 6), depth_multiplier=2)
    convolution("DEPTHWISE_CONV_2D", "dilated", type, (1, 7, 7, 2), (1, 2, 2, 2), depth_multiplier=1, dilation_w_factor=2,
                dilation_h_factor=3)
    convolution("DEPTHWISE_CONV_2D", "nobias", type, (1, 3, 3, 2), (1, 2, 2, 2), depth_multiplier=1, bias=False)
convolution("CONV_2D", "perchannel", "INT8", (1, 4, 4, 3), (4, 2, 2, 3), per_channel=True)
convolution("DEPTHWISE_CONV_2D", "perchannel", "INT8", (1, 4, 4, 3), (1, 2, 2, 6), per_channel=True, depth_multiplier=2)
convolution("CONV_2D", "grouped", "FLOAT32", (1, 4, 4, 4), (6, 2, 2, 2))
convolution("CONV_2D", "grouped/dilated", "FLOAT32", (1, 5, 5, 4), (6, 2, 2, 2), dilation_w_factor=2, dilation_h_factor=2)
convolution("CONV_2D", "grouped/perchannel", "INT8", (1, 4, 4, 4), (6, 2, 2, 2), per_channel=True)
for tag, pad, stride in (("same", 0, 2), ("valid", 1, 1)):
    @case(f"CONV_3D/FLOAT32/{tag}")
    def _(c, pad=pad, stride=stride):
        c.op("CONV_3D", [c.x((1, 4, 5, 4, 2)), c.w((3, 2, 2, 2, 3)), c.w((3,))], [c.y("FLOAT32")], padding=pad,
             stride_d=stride, stride_w=stride, stride_h=stride, fused_activation_function=RELU)
for type, pad, bias in itertools.product(("FLOAT32", "INT8", "UINT8"), (0, 1), (False, True)):
    @case(f"TRANSPOSE_CONV/{type}/{PADS[pad]}{'/bias' if bias else ''}")
    def _(c, type=type, pad=pad, bias=bias):
        scales = filter_scales(c, type, 2, type == "INT8")
        size = (1, 6, 6, 2) if pad == 0 else (1, 7, 7, 2)
        inputs = [c.ints(size), c.w((2, 3, 3, 3), type, **scales), c.x((1, 3, 3, 3), type)]
        if bias:
            inputs.append(c.w((2,)) if type == "FLOAT32" else
                          c.tensor((2,), "INT32", [300, -200], np.asarray(scales["scale"]) * SCALES[type][0]))
        c.op("TRANSPOSE_CONV", inputs, [c.y(type, size, 0.3)], padding=pad, stride_w=2, stride_h=2)
for kind, types in (("AVERAGE_POOL_2D", REALS), ("MAX_POOL_2D", REALS), ("L2_POOL_2D", ("FLOAT32",))):
    for pad, number in ((0, 0), (1, RELU), (1, RELU6)):
        unary(kind, (1, 5, 6, 2), types, tag=f"/{PADS[pad]}/act{number}", padding=pad, stride_w=2, stride_h=1, filter_width=2,
              filter_height=3, fused_activation_function=number)


def layer(tag, type, shape, weights, out, weight_type=None, per_channel=False, bias=True, constant=True, **options):
    @case(f"FULLY_CONNECTED/{type}/{tag}")
    def _(c):
        scales = filter_scales(c, weight_type or type, weights[0], per_channel)
        w = c.w(weights, weight_type or type, **scales) if constant else c.x(weights, type, scale=0.012, zero=0)
        inputs = [c.x(shape, type), w]
        if not bias:
            inputs.append(-1)
        elif type == "FLOAT32":
            inputs.append(c.w((weights[0],)))
        else:
            inputs.append(c.tensor((weights[0],), "INT32", c.random.integers(-500, 500, weights[0]),
                                   np.asarray(scales["scale"]) * SCALES[type][0]))
        c.op("FULLY_CONNECTED", inputs, [c.y(type, out, 0.3)], **options)


for type in REALS:
    for number in (0, RELU, RELU1, RELU6):
        layer(f"act{number}", type, (2, 5), (3, 5), (2, 3), fused_activation_function=number)
    layer("nobias", type, (2, 5), (3, 5), (2, 3), bias=False)
    layer("rank3", type, (2, 3, 4), (5, 4), (6, 5))
    layer("rank4/keep", type, (1, 2, 3, 4), (5, 4), (1, 2, 3, 5), keep_num_dims=True)
    layer("flattened", type, (2, 2, 3), (5, 6), (2, 5))


@case("FULLY_CONNECTED/INT8/perchannel")
def _(c):
    def build(c, op, *ones, **options):
        scales = c.random.uniform(0.005, 0.02, 3)
        bias = c.tensor((3,), "INT32", [400, -300, 200], scales * SCALES["INT8"][0])
        c.op(op, [c.x((2, *ones, 5), "INT8"), c.w((3, *ones, 5), "INT8", scale=scales, zero=0), bias],
             [c.y("INT8", (2, *ones, 3), 0.3)], **options)

    build(c, "FULLY_CONNECTED")
    c.oracle = Case(c.name)  # TensorFlow Lite 2.9 ignores the scales but the first
    build(c.oracle, "CONV_2D", 1, 1, stride_w=1, stride_h=1, padding=1)


layer("weights_computed", "FLOAT32", (2, 5), (3, 5), (2, 3), constant=False)
for shapes, tag in ((((2, 3), (3, 4)), "rank2"), (((2, 3, 4), (2, 4, 5)), "rank3"), (((2, 1, 3, 4), (1, 2, 4, 5)), "broadcast"),
                    (((2, 3, 4), (4, 5)), "one")):
    for adj in ((False, False), (True, True)) if tag == "rank3" else ((False, False),):
        @case(f"BATCH_MATMUL/FLOAT32/{tag}{'/adjoint' if adj[0] else ''}")
        def _(c, shapes=shapes, adj=adj):
            turn = lambda s, a: (*s[:-2], s[-1], s[-2]) if a else s
            c.op("BATCH_MATMUL", [c.x(turn(s, a)) for s, a in zip(shapes, adj)], [c.y("FLOAT32")], adj_x=adj[0], adj_y=adj[1])


@case("BATCH_MATMUL/INT8")
def _(c):
    c.op("BATCH_MATMUL", [c.x((2, 3, 4), "INT8"), c.x((2, 4, 5), "INT8", scale=0.02, zero=4)], [c.y("INT8", (2, 3, 5), 0.3)])


for kind in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    for type, (corners, centers), size in itertools.product(REALS, ((0, 0), (1, 0), (0, 1)), ((5, 7), (2, 2))):
        @case(f"{kind}/{type}/corners{corners}/centers{centers}/{size[0]}x{size[1]}")
        def _(c, kind=kind, type=type, corners=corners, centers=centers, size=size):
            c.op(kind, [c.x((1, 3, 4, 2), type), c.ints(size)], [c.y(type, (1, *size, 2))], align_corners=bool(corners),
                 half_pixel_centers=bool(centers))

# --- moves

for type in ALL:
    @case(f"RESHAPE/{type}")
    def _(c, type=type):
        c.op("RESHAPE", [c.x((2, 3, 4), type), c.ints([4, -1])], [c.y(type, (4, 6))], new_shape=[4, -1])

    for perm in ((1, 0), (2, 0, 1), (0, 3, 1, 2), (0, 2, 4, 1, 3), (4, 2, 0, 3, 1), (1, 0, 2, 3, 4)):
        @case(f"TRANSPOSE/{type}/{''.join(map(str, perm))}")
        def _(c, type=type, perm=perm):
            shape = (2, 3, 4, 2, 3, 2)[:len(perm)]
            c.op("TRANSPOSE", [c.x(shape, type), c.ints(perm)], [c.y(type, [shape[p] for p in perm])])

    for axis, shape in ((0, (2, 3)), (-1, (2, 3, 4)), (1, (1, 2, 3, 4)), (2, (2, 1, 3, 2, 2))):
        @case(f"CONCATENATION/{type}/axis{axis}/rank{len(shape)}")
        def _(c, type=type, axis=axis, shape=shape):
            other = list(shape)
            other[axis] += 1
            c.op("CONCATENATION", [c.x(shape, type), c.x(other, type)], [c.y(type)], axis=axis)

    for axis in (0, 1, -1):
        @case(f"PACK/{type}/axis{axis}")
        def _(c, type=type, axis=axis):
            c.op("PACK", [c.x((2, 3), type) for _ in range(3)], [c.y(type)], axis=axis, values_count=3)

        @case(f"UNPACK/{type}/axis{axis}")
        def _(c, type=type, axis=axis):
            c.op("UNPACK", [c.x((2, 2, 2), type)], [c.y(type, (2, 2)) for _ in range(2)], axis=axis, num=2)

    @case(f"PACK/{type}/scalars")
    def _(c, type=type):
        c.op("PACK", [c.x((), type), c.x((), type)], [c.y(type)], axis=0, values_count=2)

    @case(f"SPLIT/{type}")
    def _(c, type=type):
        c.op("SPLIT", [c.ints(-1), c.x((2, 3, 4), type)], [c.y(type, (2, 3, 2)) for _ in range(2)], num_splits=2)

    for sizes in ((1, 2, 1), (2, 2), (1, -1)):
        @case(f"SPLIT_V/{type}/{'_'.join(map(str, sizes))}")
        def _(c, type=type, sizes=sizes):
            c.op("SPLIT_V", [c.x((2, 4, 3), type), c.ints(sizes), c.ints(1)], [c.y(type) for _ in sizes], num_splits=len(sizes))

    for begin, size in (((0, 1, 0), (2, -1, 3)), ((1, 0, 2), (1, 3, 2))):
        @case(f"SLICE/{type}/{''.join(map(str, begin))}")
        def _(c, type=type, begin=begin, size=size):
            c.op("SLICE", [c.x((2, 3, 4), type), c.ints(begin), c.ints(size)], [c.y(type)])

    for tag, shape, (b, e, s), masks in (
            ("plain", (3, 4, 5), ((0, 1, 1), (2, 4, 5), (1, 1, 2)), {}),
            ("masks", (3, 4, 5), ((1, 1, 1), (2, 4, 5), (1, 2, 1)), {"begin_mask": 1, "end_mask": 6}),
            ("negative", (3, 4, 5), ((-1, -1, -2), (-4, 0, 5), (-1, -2, 1)), {"end_mask": 1}),
            ("shrink", (3, 4, 5), ((1, 0, -1), (2, 4, 0), (1, 1, 1)), {"shrink_axis_mask": 5}),
            ("shrinkall", (3, 4), ((1, 2), (2, 3), (1, 1)), {"shrink_axis_mask": 3}),
            ("ellipsis", (2, 3, 4, 5), ((0, 0, 1), (0, 0, 4), (1, 1, 2)), {"ellipsis_mask": 1, "begin_mask": 2, "end_mask": 2}),
            ("newaxis", (3, 4), ((0, 0, 1), (0, 2, 4), (1, 1, 1)), {"new_axis_mask": 1}),
            ("fewer", (3, 4, 5), ((1,), (3,), (1,)), {}),
            ("rank5", (2, 3, 2, 3, 2), ((0, 1, 0, 2, 0), (2, 3, 2, -4, 2), (1, 1, 1, -1, 1)), {})):
        @case(f"STRIDED_SLICE/{type}/{tag}")
        def _(c, type=type, shape=shape, b=b, e=e, s=s, masks=masks):
            c.op("STRIDED_SLICE", [c.x(shape, type), c.ints(b), c.ints(e), c.ints(s)], [c.y(type)], **masks)

    @case(f"EXPAND_DIMS/{type}")
    def _(c, type=type):
        c.op("EXPAND_DIMS", [c.x((2, 3), type), c.ints(-1)], [c.y(type, (2, 3, 1))])

    for dims in ((), (0, 2), (0,)):
        @case(f"SQUEEZE/{type}/{len(dims)}")
        def _(c, type=type, dims=dims):
            c.op("SQUEEZE", [c.x((1, 3, 1, 2), type)], [c.y(type)], squeeze_dims=list(dims))

    for axes in ((0,), (1,), (2,)):
        @case(f"REVERSE_V2/{type}/{''.join(map(str, axes))}")
        def _(c, type=type, axes=axes):
            c.op("REVERSE_V2", [c.x((2, 3, 4), type), c.ints(axes)], [c.y(type, (2, 3, 4))])

    @case(f"TILE/{type}")
    def _(c, type=type):
        c.op("TILE", [c.x((2, 1, 3), type), c.ints([1, 3, 2])], [c.y(type)])

    @case(f"BROADCAST_TO/{type}")
    def _(c, type=type):
        c.op("BROADCAST_TO", [c.x((3, 1, 2), type), c.ints([2, 3, 4, 2])], [c.y(type)], version=2)

    for index_type, axis, where, batch in (("INT32", 0, (2,), 0), ("INT64", 1, (2, 2), 0), ("INT32", -1, (), 0),
                                           ("INT32", 1, (2, 3), 1), ("INT32", 2, (2, 2), 1)):
        @case(f"GATHER/{type}/axis{axis}/{len(where)}d/batch{batch}")
        def _(c, type=type, index_type=index_type, axis=axis, where=where, batch=batch):
            index = c.input(c.random.integers(0, 2, where), index_type)
            c.op("GATHER", [c.x((2, 3, 4), type), index], [c.y(type)], axis=axis, batch_dims=batch)

    for n in (1, 2, 3):
        @case(f"GATHER_ND/{type}/{n}")
        def _(c, type=type, n=n):
            c.op("GATHER_ND", [c.x((2, 3, 4), type), c.input(c.random.integers(0, 2, (3, 2, n)), "INT32")], [c.y(type)])

    for shapes in (((2, 3), (2, 3), (2, 3)), ((2, 1), (2, 3), (3,)), ((3,), (2, 3), ())):
        @case(f"SELECT_V2/{type}/{len(shapes[0])}{len(shapes[1])}{len(shapes[2])}")
        def _(c, type=type, shapes=shapes):
            c.op("SELECT_V2", [c.x(shapes[0], "BOOL"), c.x(shapes[1], type), c.x(shapes[2], type)], [c.y(type)])

    for condition in ((2, 3), (2,)):
        @case(f"SELECT/{type}/{len(condition)}")
        def _(c, type=type, condition=condition):
            c.op("SELECT", [c.x(condition, "BOOL"), c.x((2, 3), type), c.x((2, 3), type)], [c.y(type)])

    for lengths in ("INT32", "INT64"):
        @case(f"REVERSE_SEQUENCE/{type}/{lengths}")
        def _(c, type=type, lengths=lengths):
            c.op("REVERSE_SEQUENCE", [c.x((3, 2, 4), type), c.input([1, 3], lengths)], [c.y(type)], seq_dim=0, batch_dim=1)

    if type != "BOOL":  # TensorFlow Lite leaves those unwritten
        @case(f"MATRIX_DIAG/{type}")
        def _(c, type=type):
            c.op("MATRIX_DIAG", [c.x((2, 3), type)], [c.y(type, (2, 3, 3))])

        @case(f"MATRIX_SET_DIAG/{type}")
        def _(c, type=type):
            c.op("MATRIX_SET_DIAG", [c.x((2, 3, 4), type), c.x((2, 3), type)], [c.y(type, (2, 3, 4))])

    @case(f"DYNAMIC_UPDATE_SLICE/{type}")
    def _(c, type=type):
        c.op("DYNAMIC_UPDATE_SLICE", [c.x((3, 4, 2), type), c.x((2, 2, 2), type), c.input([1, 2, 0], "INT32")],
             [c.y(type, (3, 4, 2))])

    @case(f"FILL/{type}")
    def _(c, type=type):
        c.op("FILL", [c.ints([2, 3]), c.x((), type)], [c.y(type, (2, 3))])

    for mode, pads in ((0, ((1, 1), (2, 0))), (1, ((2, 1), (0, 3)))):
        @case(f"MIRROR_PAD/{type}/mode{mode}")
        def _(c, type=type, mode=mode, pads=pads):
            c.op("MIRROR_PAD", [c.x((2, 3), type), c.ints(pads)], [c.y(type)], mode=mode)

    for kind in ("ARG_MAX", "ARG_MIN"):
        for axis, result in ((0, "INT32"), (-1, "INT64")):
            @case(f"{kind}/{type}/axis{axis}")
            def _(c, kind=kind, type=type, axis=axis, result=result):
                c.op(kind, [c.x((3, 4, 5), type), c.ints(axis)], [c.y(result)], output_type=4 if result == "INT64" else 2)

    @case(f"IDENTITY/{type}")
    def _(c, type=type):
        x = c.x((2, 3), type)
        c.outputs = [x]
        if True:  # an operator that computes another output
            y = c.y("BOOL" if type == "BOOL" else type, (2, 3))
            c.op("LOGICAL_NOT" if type == "BOOL" else "RESHAPE", [x] if type == "BOOL" else [x, c.ints([2, 3])], [y])

for type in (*REALS, "INT32", "INT64"):
    for pads in ("INT32", "INT64"):
        for shape in ((2, 3), (1, 2, 3, 2)):
            table = [[1, 0], [2, 1], [0, 0], [0, 1]][:len(shape)]

            for kind in ("PAD", "PADV2"):
                @case(f"{kind}/{type}/rank{len(shape)}/{pads}")
                def _(c, kind=kind, type=type, pads=pads, shape=shape, table=table):
                    def build(c, pads):
                        value = [c.tensor((1,), type, [-70000 if type in ("INT32", "INT64") else 7], **c.quant(type))]
                        c.op(kind, [c.x(shape, type), c.ints(table, pads), *(value if kind == "PADV2" else [])], [c.y(type)])

                    build(c, pads)
                    if pads == "INT64":  # TensorFlow Lite 2.9 reads the halves of 64-bit paddings
                        c.oracle = Case(c.name)
                        build(c.oracle, "INT32")
for type in REALS:
    @case(f"PAD/{type}/rank5")
    def _(c, type=type):
        c.op("PAD", [c.x((1, 2, 2, 2, 2), type), c.ints([[0, 0], [1, 0], [0, 1], [0, 0], [1, 1]])], [c.y(type)])

    @case(f"CONCATENATION/{type}/activation")
    def _(c, type=type):
        c.op("CONCATENATION", [c.x((2, 3), type), c.x((2, 2), type)], [c.y(type)], axis=1, fused_activation_function=RELU)

    for rank in (3, 4):
        for kind, shape, third in (("SPACE_TO_BATCH_ND", (1, 3, 4, 2), [[1, 0], [0, 2]]),
                                   ("BATCH_TO_SPACE_ND", (4, 2, 3, 2), [[0, 0], [0, 0]]),
                                   ("BATCH_TO_SPACE_ND", (4, 2, 3, 2), [[1, 0], [2, 1]])):
            @case(f"{kind}/{type}/rank{rank}{'/crops' if third[0] == [1, 0] else ''}")
            def _(c, kind=kind, type=type, rank=rank, shape=shape, third=third):
                shape = shape if rank == 4 else (shape[0], shape[1], shape[3])
                c.op(kind, [c.x(shape, type), c.ints([2, 2][:rank - 2]), c.ints(third[:rank - 2])], [c.y(type)])

    unary("SPACE_TO_DEPTH", (1, 4, 6, 3), (type,), block_size=2)
    unary("DEPTH_TO_SPACE", (1, 2, 3, 8), (type,), block_size=2)

    @case(f"SPARSE_TO_DENSE/{type}")
    def _(c, type=type):
        c.op("SPARSE_TO_DENSE", [c.ints([[0, 1], [2, 0]]), c.ints([3, 4]), c.x((2,), type), c.w((), type, **c.quant(type))],
             [c.y(type, (3, 4))])

for type in ("FLOAT32", "INT8", "UINT8", "INT32", "INT64"):
    @case(f"TOPK_V2/{type}")
    def _(c, type=type):
        values = np.stack([c.random.permutation(9) for _ in range(4)]).reshape(2, 2, 9)
        c.op("TOPK_V2", [c.input(values, type, **c.quant(type)), c.ints(3)], [c.y(type), c.y("INT32")])

    for kind in ("SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "MEAN"):
        if kind == "REDUCE_PROD" and type in QUANTISED:
            continue  # TensorFlow Lite rounds after each factor, or has none
        for axes, keep, shape in (((1,), False, (2, 3, 4)), ((-1, 0), True, (2, 3, 4)), ((0, 1, 2), False, (2, 3, 4)),
                                  ((1, 3), False, (2, 2, 3, 2, 2))):
            @case(f"{kind}/{type}/{''.join(map(str, axes))}{'/keep' if keep else ''}/rank{len(shape)}")
            def _(c, kind=kind, type=type, axes=axes, keep=keep, shape=shape):
                scale = 0.3 if kind in ("SUM", "REDUCE_PROD") else None
                c.op(kind, [c.x(shape, type, -2, 2), c.ints(axes)], [c.y(type, (1,), scale)], keep_dims=keep)

    for reverse, exclusive in itertools.product((False, True), repeat=2):
        @case(f"CUMSUM/{type}/reverse{reverse:d}/exclusive{exclusive:d}")
        def _(c, type=type, reverse=reverse, exclusive=exclusive):
            c.op("CUMSUM", [c.x((2, 3, 4), type), c.ints(1)], [c.y(type, (2, 3, 4))], reverse=reverse, exclusive=exclusive)

    for unique in (True, False) if type not in QUANTISED else (True,):  # sums of stored numbers overflow
        @case(f"SCATTER_ND/{type}/{'unique' if unique else 'repeated'}")
        def _(c, type=type, unique=unique):
            rows = [[0, 2], [1, 1], [2, 0 if unique else 0]] if unique else [[0, 2], [0, 2], [1, 0]]
            c.op("SCATTER_ND", [c.ints(rows), c.x((3, 2), type), c.ints([3, 3, 2])], [c.y(type)])

for type in QUANTISED:
    for keep in (False, True):
        @case(f"MEAN/{type}/rescaled{'/keep' if keep else ''}")
        def _(c, type=type, keep=keep):
            c.op("MEAN", [c.x((1, 3, 3, 4), type), c.ints([1, 2])], [c.y(type, (1,), 0.02, 5)], keep_dims=keep)
for kind in ("REDUCE_ANY", "REDUCE_ALL"):
    for axes, keep in (((0,), False), ((1, 2), True)):
        @case(f"{kind}/BOOL/{''.join(map(str, axes))}")
        def _(c, kind=kind, axes=axes, keep=keep):
            c.op(kind, [c.x((2, 3, 2), "BOOL"), c.ints(axes)], [c.y("BOOL")], keep_dims=keep)
for type in ("FLOAT32", "INT32", "INT64", "BOOL", "INT8", "UINT8"):
    for axis in (-1, 0, 1):
        @case(f"ONE_HOT/{type}/axis{axis}")
        def _(c, type=type, axis=axis):
            on, off = (c.tensor((), type, value) for value in (1, 0))
            y = c.tensor((1,), type)
            c.outputs = [y]
            c.op("ONE_HOT", [c.input(c.random.integers(0, 4, (2, 3)), "INT32"), c.ints(4), on, off], [y], axis=axis)

# --- lookups

for type in ("FLOAT32", "INT8", "UINT8"):
    @case(f"EMBEDDING_LOOKUP/{type}")
    def _(c, type=type):
        c.op("EMBEDDING_LOOKUP", [c.input([2, 0, 1], "INT32"), c.w((3, 2, 2), type, **c.quant(type))], [c.y(type, (3, 2, 2))])
for type in ("FLOAT32", "INT32"):
    @case(f"HASHTABLE_LOOKUP/{type}")
    def _(c, type=type):
        hits = c.tensor((3,), "UINT8")
        c.op("HASHTABLE_LOOKUP", [c.input([7, 5, 3], "INT32"), c.ints([1, 3, 7]), c.w((3, 2), type, -9, 9)],
             [c.y(type, (3, 2)), hits])
        c.outputs.append(hits)


@case("EMBEDDING_LOOKUP/FLOAT32/hybrid")
def _(c):
    table = c.tensor((3, 4), "INT8", c.random.integers(-127, 128, (3, 4)), 0.02)
    c.op("EMBEDDING_LOOKUP", [c.input([2, 0, 1], "INT32"), table], [c.y("FLOAT32", (3, 4))])


for number, weighted in itertools.product((1, 2), (False, True)):
    @case(f"LSH_PROJECTION/type{number}{'/weights' if weighted else ''}")
    def _(c, number=number, weighted=weighted):
        inputs = [c.tensor((2, 3), data=[[0.12, 0.34, 0.56], [0.123, 0.456, 0.789]]), c.input([[12345, 54321], [7, 8]], "INT32")]
        inputs += [c.tensor((2,), data=[0.5, 1.25])] if weighted else []
        c.op("LSH_PROJECTION", inputs, [c.y("INT32")], type=number)


@case("DENSIFY/FLOAT32")
def _(c):
    sparsity = {"traversal_order": [0, 1], "dim_metadata": [
        {"format": 0, "dense_size": 3},
        {"format": 1, "array_segments": (1, {"values": [0, 2, 2, 3]}), "array_indices": (1, {"values": [0, 3, 1]})}]}
    stored = np.array([1.5, -2.0, 3.0], "<f4").tobytes()
    sparse, dense = c.tensor((3, 4), stored=stored, sparsity=sparsity), c.tensor((3, 4))
    c.op("DENSIFY", [sparse], [dense])
    c.op("FULLY_CONNECTED", [c.x((2, 4)), dense, -1], [c.y("FLOAT32", (2, 3))])


@case("DENSIFY/FLOAT32/blocks")
def _(c):
    sparsity = {"traversal_order": [0, 1, 2, 3], "block_map": [0, 1], "dim_metadata": [
        {"format": 0, "dense_size": 2},
        {"format": 1, "array_segments": (3, {"values": [0, 1, 2]}), "array_indices": (3, {"values": [1, 0]})},
        {"format": 0, "dense_size": 2}, {"format": 0, "dense_size": 2}]}
    stored = np.arange(1, 9).astype("<f4").tobytes()
    sparse, dense = c.tensor((4, 4), stored=stored, sparsity=sparsity), c.tensor((4, 4))
    c.op("DENSIFY", [sparse], [dense])
    c.op("FULLY_CONNECTED", [c.x((2, 4)), dense, -1], [c.y("FLOAT32", (2, 4))])


for regular in (False, True):
    @case(f"TFLite_Detection_PostProcess/FLOAT32/{'regular' if regular else 'fast'}")
    def _(c, regular=regular):
        made = {"max_detections": 3, "max_classes_per_detection": 1, "detections_per_class": 2, "use_regular_nms": regular,
                "nms_score_threshold": 0.1, "nms_iou_threshold": 0.5, "num_classes": 2, "y_scale": 10.0, "x_scale": 10.0,
                "h_scale": 5.0, "w_scale": 5.0}
        anchors = [[0.5, 0.5, 1, 1], [0.5, 0.5, 1, 1], [0.5, 0.5, 1, 1], [0.5, 10.5, 1, 1], [0.5, 10.5, 1, 1], [0.5, 100.5, 1, 1]]
        boxes = [[0, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
        scores = [[0, .9, .8], [0, .75, .72], [0, .6, .5], [0, .93, .95], [0, .5, .4], [0, .3, .2]]
        c.op("TFLite_Detection_PostProcess", [c.input([boxes]), c.input([scores]), c.tensor((6, 4), data=anchors)],
             [c.y("FLOAT32") for _ in range(4)], custom=flexbuffers.Dumps(made))

# --- recurrent


def cell(c, name, size, units, batch=2, time=None, weights="FLOAT32"):
    def w(*shape):
        return c.w(shape, weights, **({"scale": 0.01, "zero": 0} if weights == "INT8" else {}))

    def matrix(*shape):
        return w(*shape)

    return matrix(units, size), matrix(units, units), c.w((units,)), c.tensor((batch, units), variable=True)


for number in (0, RELU, TANH):
    @case(f"RNN/FLOAT32/act{number}")
    def _(c, number=number):
        c.op("RNN", [c.x((2, 3)), *cell(c, "RNN", 3, 4)], [c.y("FLOAT32", (2, 4))], fused_activation_function=number)
for major in (False, True):
    @case(f"UNIDIRECTIONAL_SEQUENCE_RNN/FLOAT32/major{major:d}")
    def _(c, major=major):
        c.op("UNIDIRECTIONAL_SEQUENCE_RNN", [c.x((3, 2, 3) if major else (2, 3, 3)), *cell(c, "", 3, 4)], [c.y("FLOAT32")],
             time_major=major, fused_activation_function=TANH)

    for merge in (False, True):
        @case(f"BIDIRECTIONAL_SEQUENCE_RNN/FLOAT32/major{major:d}/merge{merge:d}")
        def _(c, major=major, merge=merge):
            outputs = [c.y("FLOAT32") for _ in range(1 if merge else 2)]
            c.op("BIDIRECTIONAL_SEQUENCE_RNN", [c.x((3, 2, 3) if major else (2, 3, 3)), *cell(c, "", 3, 4), *cell(c, "", 3, 4),
                                                -1, -1, -1], outputs, time_major=major, merge_outputs=merge,
                 fused_activation_function=RELU)
for rank in (1, 2):
    @case(f"SVDF/FLOAT32/rank{rank}")
    def _(c, rank=rank):
        c.op("SVDF", [c.x((2, 3)), c.w((4, 3)), c.w((4, 5)), c.w((4 // rank,)), c.tensor((2, 20), variable=True)],
             [c.y("FLOAT32")], rank=rank, fused_activation_function=RELU)


def lstm_weights(c, size, units, outputs, cifg, peephole, projection, norm):
    gates = [not cifg, True, True, True]
    made = [c.w((units, size)) if gate else -1 for gate in gates]
    made += [c.w((units, outputs)) if gate else -1 for gate in gates]
    made += [c.w((units,)) if peephole and gate else -1 for gate in (not cifg, True, True)]
    made += [c.w((units,)) if gate else -1 for gate in gates]
    made += [c.w((outputs, units)) if projection else -1, c.w((outputs,)) if projection else -1]
    norms = [c.w((units,), low=0.5, high=1.5) if gate else -1 for gate in gates] if norm else []
    return made, norms


LSTMS = {"plain": {}, "cifg": {"cifg": True}, "peephole": {"peephole": True}, "projection": {"projection": True},
         "norm": {"norm": True}, "all": {"cifg": True, "peephole": True, "projection": True, "norm": True}}
for tag, flags in LSTMS.items():
    flags = {"cifg": False, "peephole": False, "projection": False, "norm": False, **flags}
    outputs = 3 if flags["projection"] else 4
    for kind, shape in (("LSTM", (2, 5)), ("UNIDIRECTIONAL_SEQUENCE_LSTM", (2, 3, 5))):
        for clip in (0.0, 0.4):
            @case(f"{kind}/FLOAT32/{tag}/clip{clip}")
            def _(c, kind=kind, shape=shape, clip=clip, flags=flags, outputs=outputs):
                made, norms = lstm_weights(c, 5, 4, outputs, **flags)
                states = [c.tensor((2, outputs), variable=True), c.tensor((2, 4), variable=True)]
                c.op(kind, [c.x(shape), *made, *states, *norms], [c.y("FLOAT32", (*shape[:-1], outputs))],
                     fused_activation_function=TANH, cell_clip=clip, proj_clip=clip)
for major, merge in ((False, False), (True, False), (True, True)):  # 2.9 merges the outputs by batches wrongly
    @case(f"BIDIRECTIONAL_SEQUENCE_LSTM/FLOAT32/major{major:d}/merge{merge:d}")
    def _(c, major=major, merge=merge):
        x = c.x((3, 2, 5) if major else (2, 3, 5))
        ways = [lstm_weights(c, 5, 4, 4, False, False, False, False)[0] for _ in range(2)]
        states = [c.tensor((2, 4), variable=True) for _ in range(4)]
        c.op("BIDIRECTIONAL_SEQUENCE_LSTM", [x, *ways[0], *ways[1], *states, *[-1] * 9],
             [c.y("FLOAT32") for _ in range(1 if merge else 2)], fused_activation_function=TANH, time_major=major,
             merge_outputs=merge)


@case("LSTM/FLOAT32/basic")
def _(c):
    outputs = [c.y("FLOAT32", (2, 4)), c.y("FLOAT32", (2, 4)), c.tensor((2, 9)), c.tensor((2, 16))]
    c.op("LSTM", [c.x((2, 5)), c.x((2, 4)), c.w((16, 9)), c.w((16,)), c.x((2, 4))], outputs, kernel_type=1,
         fused_activation_function=TANH)


# --- spectra, control flow, variables, shapes

for n in (8, 16):
    for part in ("COMPLEX_ABS", "REAL", "IMAG"):
        @case(f"RFFT2D/FLOAT32/{n}/{part}")
        def _(c, n=n, part=part):
            spectrum = c.tensor((2, 1, n // 2 + 1), "COMPLEX64")
            c.op("RFFT2D", [c.x((2, 1, n)), c.ints([1, n])], [spectrum])
            c.op(part, [spectrum], [c.y("FLOAT32")])


@case("RFFT2D/FLOAT32/squeezed")
def _(c):
    spectrum, flat = c.tensor((2, 1, 5), "COMPLEX64"), c.tensor((2, 5), "COMPLEX64")
    c.op("RFFT2D", [c.x((2, 1, 8)), c.ints([1, 8])], [spectrum])
    c.op("SQUEEZE", [spectrum], [flat], squeeze_dims=[1])
    c.op("COMPLEX_ABS", [flat], [c.y("FLOAT32")])


def nested(c, main, *bodies):
    """Ends the main graph, then adds subgraphs: functions of the case that return (inputs, outputs)."""
    main()
    c.graph(c.inputs, c.outputs)
    for body in bodies:
        c.graph(*body())


for flag in (False, True):
    @case(f"IF/FLOAT32/{flag:d}")
    def _(c, flag=flag):
        def main():
            c.op("IF", [c.input([flag], "BOOL"), c.x((2, 3)), c.x((2, 3))], [c.y("FLOAT32", (2, 3))], then_subgraph_index=1,
                 else_subgraph_index=2)

        def branch(kind):
            a, b, y = (c.tensor((2, 3)) for _ in range(3))
            c.op(kind, [a, b], [y])
            return [a, b], [y]

        nested(c, main, lambda: branch("ADD"), lambda: branch("MUL"))


@case("WHILE/FLOAT32")
def _(c):
    def main():
        c.op("WHILE", [c.input(1, "INT32"), c.x((2,)), c.x((2,))],
             [c.y("INT32", ()), c.y("FLOAT32", (2,)), c.y("FLOAT32", (2,))], cond_subgraph_index=1, body_subgraph_index=2)

    def condition():
        i, a, b, y = c.tensor((), "INT32"), c.tensor((2,)), c.tensor((2,)), c.tensor((), "BOOL")
        c.op("LESS", [i, c.tensor((), "INT32", 4)], [y])
        return [i, a, b], [y]

    def body():
        i, a, b, j, s = c.tensor((), "INT32"), c.tensor((2,)), c.tensor((2,)), c.tensor((), "INT32"), c.tensor((2,))
        c.op("ADD", [i, c.tensor((), "INT32", 1)], [j])
        c.op("ADD", [a, b], [s])
        return [i, a, b], [j, s, b]

    nested(c, main, condition, body)


@case("WHILE/FLOAT32/slices")
def _(c):
    """A loop over the rows of a tensor, as a converted recurrent layer has."""
    def main():
        c.op("WHILE", [c.input(0, "INT32"), c.x((3, 2)), c.x((2,))],
             [c.y("INT32", ()), c.y("FLOAT32", (3, 2)), c.y("FLOAT32", (2,))], cond_subgraph_index=1, body_subgraph_index=2)

    def condition():
        i, a, b, y = c.tensor((), "INT32"), c.tensor((3, 2)), c.tensor((2,)), c.tensor((), "BOOL")
        c.op("LESS", [i, c.tensor((), "INT32", 3)], [y])
        return [i, a, b], [y]

    def body():
        i, a, b, j = c.tensor((), "INT32"), c.tensor((3, 2)), c.tensor((2,)), c.tensor((), "INT32")
        row, total = c.tensor((2,)), c.tensor((2,))
        c.op("ADD", [i, c.tensor((), "INT32", 1)], [j])
        c.op("GATHER", [a, i], [row], axis=0)
        c.op("ADD", [row, b], [total])
        return [i, a, b], [j, a, total]

    nested(c, main, condition, body)


@case("SHAPE/computed")
def _(c):
    """A shape that the model computes from the shape of its input."""
    x = c.x((2, 3, 4))
    shape, first, packed = c.tensor((3,), "INT32"), c.tensor((), "INT32"), c.tensor((2,), "INT32")
    c.op("SHAPE", [x], [shape], out_type=2)
    c.op("STRIDED_SLICE", [shape, c.ints([0]), c.ints([1]), c.ints([1])], [first], shrink_axis_mask=1)
    c.op("PACK", [first, c.ints(-1)], [packed], values_count=2, axis=0)
    c.op("RESHAPE", [x, packed], [c.y("FLOAT32")])


@case("RANGE/INT32")
def _(c):
    line = c.tensor((4,), "INT32")
    c.op("RANGE", [c.ints(1), c.ints(9), c.ints(2)], [line])
    c.op("ADD", [c.x((4,), "INT32"), line], [c.y("INT32", (4,))])


@case("RANK/FLOAT32")
def _(c):
    x, rank = c.x((2, 3, 4)), c.tensor((), "INT32")
    c.op("RANK", [x], [rank])
    c.op("ADD", [c.x((2,), "INT32"), rank], [c.y("INT32", (2,))])
