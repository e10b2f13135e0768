"""The importer of specs/python in this process, without the program that it is embedded in."""

import pathlib
import sys
import types

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def import_package():
    """The module halcyon.tflite."""
    sys.dont_write_bytecode = True
    sys.path.append(str(SOURCE / "specs"))
    import flatbuffer_schema
    package, tables = types.ModuleType("halcyon"), types.ModuleType("halcyon.tflite_generated")
    package.__path__ = [str(SOURCE / "specs" / "python")]
    text = (SOURCE / "specs" / "tflite.fbs").read_text(encoding="ascii")
    tables.TABLES, tables.UNIONS, tables.ENUMS = flatbuffer_schema.parse(text)
    package.tflite_generated = tables
    sys.modules.update({"halcyon": package, "halcyon.tflite_generated": tables})
    from halcyon import tflite
    return tflite
