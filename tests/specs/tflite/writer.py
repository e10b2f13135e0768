"""Writes .tflite models for tests: Model collects tensors and operators, encode() writes any table of the schema."""

import importlib.util
import pathlib

import flatbuffers
import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCHEMA = load_module(SOURCE / "specs" / "flatbuffer_schema.py")
TABLES, UNIONS, ENUMS = SCHEMA.parse((SOURCE / "specs" / "tflite.fbs").read_text())
TYPES = {name: number for number, name in ENUMS["TensorType"].items()}
DTYPES = {"FLOAT32": "<f4", "FLOAT16": "<f2", "INT32": "<i4", "INT64": "<i8", "BOOL": "?", "UINT8": "u1", "INT8": "i1",
          "INT16": "<i2", "COMPLEX64": "<c8"}
PUT = {"?": "Bool", "b": "Int8", "B": "Uint8", "h": "Int16", "H": "Uint16", "i": "Int32", "I": "Uint32", "q": "Int64",
       "Q": "Uint64", "f": "Float32", "d": "Float64"}


def operator_codes():
    """The number and the options of each operator, from the importer's list."""
    import ast
    tree = ast.parse((SOURCE / "specs" / "python" / "tflite_file.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "OPERATORS":
            text = ast.literal_eval(node.value.generators[0].iter.func.value)
            return {word.partition(":")[0]: (i, word.partition(":")[2]) for i, word in enumerate(text.split())}
    raise LookupError("OPERATORS")


CODES = operator_codes()
MEMBERS = [member for member, _ in UNIONS["BuiltinOptions"]]


def vector(b, values, letter):
    array = np.asarray(values, "<" + letter)
    return b.CreateNumpyVector(array) if array.size else start_vector(b, array.itemsize)


def start_vector(b, width):
    b.StartVector(width, 0, width)
    return b.EndVector()


def put(b, name, values):
    """Writes a table, given as a dictionary; a union's value is (number, dictionary)."""
    made = {}
    for field, kind, of, _ in TABLES[name]:
        value = values.get(field)
        if value is None or kind == "scalar":
            continue
        if kind == "string":
            made[field] = b.CreateString(value)
        elif kind == "vector":
            made[field] = vector(b, value, of)
        elif kind == "table":
            made[field] = put(b, of, value)
        elif kind == "union":
            made[field] = put(b, UNIONS[of][value[0] - 1][1], value[1])
        else:
            offsets = [put(b, of, one) for one in value]
            b.StartVector(4, len(offsets), 4)
            for offset in reversed(offsets):
                b.PrependUOffsetTRelative(offset)
            made[field] = b.EndVector()
    b.StartObject(len(TABLES[name]))
    for slot, (field, kind, of, default) in enumerate(TABLES[name]):
        if field in made:
            b.PrependUOffsetTRelativeSlot(slot, made[field], 0)
        elif kind == "scalar":
            value = values.get(field)
            if field.endswith("_type") and values.get(field[:-5]) is not None and value is None:
                value = values[field[:-5]][0]
            if value is not None and value != default:
                getattr(b, f"Prepend{PUT[of]}Slot")(slot, value, default)
    return b.EndObject()


def encode(model):
    b = flatbuffers.Builder(1024)
    b.Finish(put(b, "Model", model), b"TFL3")
    return bytes(b.Output())


class Model:
    def __init__(self):
        self.tensors, self.operators, self.codes, self.buffers = [], [], [], [{}]
        self.graphs, self.inputs, self.outputs = [], [], []
        self.values = {}  # of the model's inputs, by tensor

    def tensor(self, shape, type="FLOAT32", data=None, scale=None, zero=0, axis=0, variable=False, sparsity=None,
               stored=None):
        """Adds a tensor and returns its index. `stored`: bytes in place of the data."""
        made = {"shape": list(shape), "type": TYPES[type], "name": f"t{len(self.tensors)}", "is_variable": variable}
        if scale is not None:
            scales = np.atleast_1d(scale)
            zeros = np.broadcast_to(zero, scales.shape)
            made["quantization"] = {"scale": scales, "zero_point": zeros, "quantized_dimension": axis}
        if data is not None or stored is not None:
            if stored is None:
                stored = np.broadcast_to(np.asarray(data, DTYPES[type]), shape).tobytes()
            made["buffer"] = len(self.buffers)
            self.buffers.append({"data": np.frombuffer(stored, "u1")})
        if sparsity:
            made["sparsity"] = sparsity
        self.tensors.append(made)
        return len(self.tensors) - 1

    def input(self, values, type="FLOAT32", scale=None, zero=0):
        array = np.asarray(values, DTYPES[type])
        index = self.tensor(array.shape, type, None, scale, zero)
        self.values[index] = array
        self.inputs.append(index)
        return index

    def op(self, name, inputs, outputs, custom=None, intermediates=None, version=1, **options):
        number, table = CODES.get(name, (CODES["CUSTOM"][0], None))
        code = {"old_builtin_code": min(number, 127), "builtin_code": number, "version": version}
        if name not in CODES:
            code["custom_code"] = name
        if code not in self.codes:
            self.codes.append(code)
        made = {"opcode_index": self.codes.index(code), "inputs": list(inputs), "outputs": list(outputs)}
        if table:
            made["options"] = (MEMBERS.index(table) + 1, options)
        if custom is not None:
            made["custom_options"] = np.frombuffer(custom, "u1")
        if intermediates:
            made["intermediates"] = intermediates
        self.operators.append(made)

    def graph(self, inputs, outputs):
        """Ends a subgraph; the first one ended is the main one, so its tensors come first."""
        self.graphs.append({"tensors": self.tensors, "inputs": inputs, "outputs": outputs, "operators": self.operators})
        self.tensors, self.operators = [], []

    def as_dict(self):
        graphs = self.graphs or [{"tensors": self.tensors, "inputs": self.inputs, "outputs": self.outputs,
                                  "operators": self.operators}]
        return {"version": 3, "operator_codes": self.codes, "subgraphs": graphs, "buffers": self.buffers}

    def encode(self):
        return encode(self.as_dict())
