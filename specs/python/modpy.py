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


def decode(data):
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise operands.SpecError(f"byte {error.start} is not UTF-8", line) from None


def load(path):
    """Yields one line of JSON for each test of the file."""
    with open(path, "rb") as file:
        text = decode(file.read())
    whole = os.path.abspath(path)
    spec = os.path.basename(whole).split(".")[0]
    operands.Loading.begin(spec, version_of(whole))
    scope = {name: getattr(module, name) for module, names in LANGUAGE.items() for name in names}
    scope["__name__"] = spec
    exec(compile(text, path, "exec"), scope)
    prefix = f"{origin_of(whole)}/{spec}/"
    for test in examples.expand(operands.Loading.file):
        try:
            yield records.test_record(test, prefix)
        except operands.SpecError as error:
            error.line = error.line or test.line
            raise
