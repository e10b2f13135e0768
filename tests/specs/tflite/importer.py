"""The importer of specs/python in this process, without the program it is embedded in."""

import pathlib
import sys
import types

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def import_package(generated):
    """The module halcyon.tflite; `generated`: the directory of tflite_generated.py in the build."""
    sys.dont_write_bytecode = True
    package = types.ModuleType("halcyon")
    package.__path__ = [str(SOURCE / "specs" / "python"), str(generated)]
    sys.modules["halcyon"] = package
    from halcyon import tflite
    return tflite
