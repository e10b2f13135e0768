"""Specifications in Python: runs one file and yields the records of its tests."""

import os
import re

from halcyon import examples, models, operands, records, variations

VERSION = re.compile(r"/V\d_\d/|AIDL_V\d+")
LANGUAGE = {
    operands: ("Input", "Output", "IgnoredOutput", "Internal", "Parameter", "Operand", "Int32Scalar", "Float16Scalar",
               "Float32Scalar", "BoolScalar", "Int32Vector", "Float32Vector", "SymmPerChannelQuantParams",
               "Configuration"),
    models: ("Model", "SubgraphReference"),
    examples: ("Example",),
    variations: ("DataTypeConverter", "DataLayoutConverter", "ActivationConverter", "RelaxedModeConverter",
                 "AllTensorsAsInputsConverter", "AllInputsAsInternalCoverter", "AllOutputsAsInternalCoverter"),
}


def version_of(path):
    found = VERSION.findall(path)
    return found[0].strip("/") if len(found) == 1 else "UNKNOWN"


def origin_of(path):
    """What stands before the specification in the names of its tests: the version, or else the folder's name."""
    version = version_of(path)
    return os.path.basename(os.path.dirname(path)) if version == "UNKNOWN" else version


def load(path):
    """Yields one line of JSON for each test of the file."""
    path = os.path.abspath(path)
    with open(path, "rb") as file:
        text = file.read()
    spec = os.path.basename(path).split(".")[0]
    operands.Loading.begin(spec, version_of(path))
    scope = {name: getattr(module, name) for module, names in LANGUAGE.items() for name in names}
    scope["__name__"] = spec
    exec(compile(text, path, "exec"), scope)
    prefix = f"{origin_of(path)}/{spec}/"
    for test in examples.expand(operands.Loading.file):
        yield records.test_record(test, prefix)
