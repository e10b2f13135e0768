"""Converts TensorFlow Lite models to NNAPI models, like TensorFlow Lite's own NNAPI delegate, and beyond.

State variables of operators become an input and an output of the model; 64-bit integers become 32-bit ones; 8-bit
weights of operators with float inputs are dequantised in the model. Operators whose inputs are constants are computed
here (tflite_fold.py); those that NNAPI does not have are composed of its operations. docs/tflite.md lists them.
"""

import json
import os

from halcyon import tflite_detection, tflite_elements, tflite_fold, tflite_moves, tflite_operators, tflite_recurrent
from halcyon import tflite_file
from halcyon.operands import SpecError, Unsupported
from halcyon.tflite_common import CONVERTERS
from halcyon.tflite_model import Model

# Operators that cannot be imported, and what can be in their place.
REFUSED = {
    "BITCAST": "NNAPI does not read the bits of a type as another; CAST converts values",
    "BITWISE_XOR": "NNAPI has no bitwise operations; NOT_EQUAL is that of BOOL",
    "RIGHT_SHIFT": "NNAPI has no bitwise operations; FLOOR_DIV by a power of 2 is supported",
    "ATAN2": "NNAPI has no inverse trigonometric functions",
    "BUCKETIZE": "NNAPI has none; GREATER_EQUAL with the boundaries and SUM are supported",
    "CONV_3D_TRANSPOSE": "NNAPI has no 3-D convolutions; TRANSPOSE_CONV and CONV_3D are supported",
    "EMBEDDING_LOOKUP_SPARSE": "NNAPI has no sparse lookups; EMBEDDING_LOOKUP is supported",
    "HASHTABLE": "NNAPI has no tables of strings; HASHTABLE_LOOKUP with INT32 keys is supported",
    "MULTINOMIAL": "the random numbers of NNAPI are not those of TensorFlow Lite",
    "RANDOM_STANDARD_NORMAL": "the random numbers of NNAPI are not those of TensorFlow Lite",
    "RANDOM_UNIFORM": "the random numbers of NNAPI are not those of TensorFlow Lite",
    "NON_MAX_SUPPRESSION_V4": "NNAPI has none of its shape; TFLite_Detection_PostProcess is supported",
    "NON_MAX_SUPPRESSION_V5": "NNAPI has none of its shape; TFLite_Detection_PostProcess is supported",
    "SKIP_GRAM": "NNAPI has no strings; INT32 indexes are supported",
    "UNIQUE": "the shape of its result depends on the model's inputs",
    **dict.fromkeys(("SEGMENT_SUM", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD",
                     "UNSORTED_SEGMENT_SUM"), "NNAPI has no segments; SCATTER_ND adds rows of equal indexes"),
    **dict.fromkeys(("HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"),
                    "NNAPI has no tables of strings; HASHTABLE_LOOKUP with INT32 keys is supported"),
}


class Subgraphs:
    """The subgraphs of the file that are used, as models; each with the shapes of its arguments."""

    def __init__(self, file):
        self.file, self.models, self.shapes, self.made, self.open = file, [], [], {}, []

    def convert(self, index, arguments, what):
        """The number of the model of a subgraph."""
        if not 0 <= index < len(self.file.graphs):
            raise SpecError(f"the {what} is subgraph {index} of {len(self.file.graphs)}")
        if index in self.open or index == 0:
            raise SpecError(f"the {what} is subgraph {index}, which contains this operator")
        graph = self.file.graphs[index]
        if len(set(graph.inputs)) != len(graph.inputs) or len(graph.inputs) != len(arguments):
            raise SpecError(f"the {what}, subgraph {index}, has {len(set(graph.inputs))} inputs: must be {len(arguments)}")
        if index not in self.made:
            self.open.append(index)
            b = convert_graph(self.file, graph, self)
            self.open.pop()
            if len(b.inputs) != len(arguments):
                raise Unsupported(f"the {what}, subgraph {index}, has variables; those of the main graph are supported")
            self.models.append(b.finish())
            self.shapes.append([b.shape(output) for output in graph.outputs])
            self.made[index] = len(self.models) - 1
        number = self.made[index]
        inputs = [self.models[number]["operands"][i] for i in self.models[number]["inputs"]]
        for i, (ref, record) in enumerate(zip(arguments, inputs)):
            if (ref.type, list(ref.dims)) != (record["type"], record.get("dims", [])):
                raise SpecError(f"input {i} of the {what}, subgraph {index}, is {record['type']} {record.get('dims', [])}, the "
                                f"operator's {ref.type} {list(ref.dims)}")
        return number


def convert_operator(b, op):
    if op.name in CONVERTERS:
        needed = CONVERTERS[op.name]
        for what, values, (least, most) in (("inputs", op.inputs, needed.inputs), ("outputs", op.outputs, needed.outputs)):
            if not least <= len(values) <= most:
                raise SpecError(f"{len(values)} {what}: must be {least if least == most else f'{least} to {most}'}")
        if not tflite_fold.fold(b, op):
            needed.convert(b, op)
    elif not tflite_fold.fold(b, op):
        types = ", ".join(dict.fromkeys(b.tensors[i].type for i in (*op.inputs, *op.outputs) if i >= 0))
        custom = "the only custom operator supported is TFLite_Detection_PostProcess" if op.name.startswith("custom") else None
        reason = custom or REFUSED.get(op.name, "docs/tflite.md lists the operators that are supported")
        raise Unsupported(f"not supported for {types or 'any type'}: {reason}")


def convert_graph(file, graph, subgraphs):
    return tflite_file.at_place(f"subgraph {graph.index}", fill_model, file, graph, subgraphs)


def fill_model(file, graph, subgraphs):
    b = Model(file, graph, subgraphs)
    for op in graph.operators:
        b.producer.update(dict.fromkeys(op.outputs, op.index))
    for op in graph.operators:
        tflite_file.at_place(f"operator {op.index} ({op.name})", convert_operator, b, op)
    b.outputs_of_variables()
    return b


def record(data, name):
    file = tflite_file.File(data)
    subgraphs = Subgraphs(file)
    b = convert_graph(file, file.graphs[0], subgraphs)
    made = {"name": name, "since": "UNKNOWN", "main": tflite_file.at_place("subgraph 0", b.finish)}
    if not made["main"]["outputs"]:
        raise SpecError("subgraph 0 has no outputs")
    if subgraphs.models:
        made["referenced"] = subgraphs.models
    return json.dumps(made, separators=(",", ":"), allow_nan=False)


def load(path, data):
    """Yields one line of JSON, for the model of the file, whose contents are `data`."""
    whole = os.path.abspath(path)
    stem = os.path.basename(whole).rsplit(".", 1)[0]
    yield record(data, f"{os.path.basename(os.path.dirname(whole))}/{stem}/{stem}")
