"""Loads a specification: runs one .mod.py file and yields the records of its tests."""

import os
import re
import sys
import types

from halcyon import dialects, errors, examples, models, operands, records, variations

VERSION = re.compile(r"/V\d_\d/|AIDL_V\d+")
LANGUAGE = {
    operands: ("Input", "Output", "IgnoredOutput", "Internal", "Parameter", "Operand", "Int32Scalar", "Float16Scalar",
               "Float32Scalar", "BoolScalar", "Int32Vector", "Float32Vector", "SymmPerChannelQuantParams",
               "Configuration", "Extension", "ExtensionData"),
    models: ("Model", "SubgraphReference"),
    examples: ("Example",),
    variations: ("DataTypeConverter", "DataLayoutConverter", "ActivationConverter", "RelaxedModeConverter",
                 "AllTensorsAsInputsConverter", "AllInputsAsInternalCoverter", "AllOutputsAsInternalCoverter",
                 "ParameterAsInputConverter"),
}


def version_of(path):
    found = VERSION.findall(path)
    return found[0].strip("/") if len(found) == 1 else "UNKNOWN"


def origin_of(path):
    """The first part of the names of its tests: the version, or else the folder's name."""
    version = version_of(path)
    return os.path.basename(os.path.dirname(path)) if version == "UNKNOWN" else version


def decode(data):
    if b"\0" in data:
        start = data.index(b"\0")
        raise errors.SpecError(f"byte {start} is 0: must be text", data.count(b"\n", 0, start) + 1)
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise errors.SpecError(f"byte {error.start} is not UTF-8", line) from None


def scope_of_specification():
    """The namespace in which a specification runs: that of a registered module, as class definitions require."""
    module = types.ModuleType("specification")
    sys.modules[module.__name__] = module
    scope = vars(module)
    for part, names in LANGUAGE.items():
        scope.update({name: getattr(part, name) for name in names})
    scope["Int32Bias"] = operands.Int32Scalar
    scope.update(dialects.MODULES)
    return scope


def run(text, path, scope):
    """Runs a specification. A misspelt name of the language gets a suggestion."""
    known = [name for names in LANGUAGE.values() for name in names]
    try:
        exec(compile(text, path, "exec"), scope)
    except NameError as error:
        close = errors.suggestion(error.name, known) if error.name else ""
        if not close or errors.raised_by_loader(error):
            raise
        raise errors.SpecError(f"unknown name {error.name}{close}").with_traceback(error.__traceback__) from None


def load(path, data):
    """Yields one line of JSON for each test of the file, whose contents are `data`."""
    text = decode(data)
    whole = os.path.abspath(path)
    spec = os.path.basename(whole).split(".")[0]
    operands.Loading.begin(spec, version_of(whole))
    run(text, path, scope_of_specification())
    prefix = f"{origin_of(whole)}/{spec}/"
    for test in examples.expand(operands.Loading.file):
        with errors.located(test.line, "the model of this example has no form that a test can have"):
            yield records.test_record(test, prefix)
