"""Reads a FlatBuffers schema (.fbs): flatbuffer_schema.py SCHEMA.fbs OUT.py writes it as a Python module.

The module has TABLES, {table: ((field, kind, of, default), ...)} with a row for each position of the table; UNIONS,
{union: ((member 1, its table), ...)}; ENUMS, {enum: {number: name}}.  kind and `of` are

    "scalar", format letter of struct        "vector", format letter        "string", None
    "table", its name                        "tables", the elements' name   "union", its name

A union takes two positions: `NAME_type`, a scalar, then NAME.  The subset of the language that is read is that of
tflite.fbs: no structs, attributes, or vectors of strings or unions.
"""

import pprint
import re
import sys

LETTERS = {"bool": "?", "byte": "b", "ubyte": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f",
           "long": "q", "ulong": "Q", "double": "d"}


def fields(body, enums, unions):
    for line in filter(None, map(str.strip, body.split(";"))):
        name, type, default = re.fullmatch(r"(\w+)\s*:\s*(\[?\w+\]?)(?:\s*=\s*(\w+))?", line).groups()
        of = type.strip("[]")
        letter = LETTERS.get(enums.get(of, of))
        if of == "string":
            yield name, "string", None, None
        elif of in unions:
            yield f"{name}_type", "scalar", "B", 0
            yield name, "union", of, None
        elif letter is None:
            yield name, "tables" if type[0] == "[" else "table", of, None
        elif type[0] == "[":
            yield name, "vector", letter, None
        else:
            yield name, "scalar", letter, {"true": True, "false": False}.get(default, int(default or 0)
                                                                            if (default or "0").isdigit() else None)


def parse(text):
    """(TABLES, UNIONS, ENUMS) of the text of a schema."""
    text = re.sub(r"//.*", "", text)
    enum_types, enums = {}, {}
    for name, type, body in re.findall(r"enum (\w+)\s*:\s*(\w+)\s*\{([^}]*)\}", text):
        enum_types[name] = type
        enums[name] = {int(number): of for of, number in re.findall(r"(\w+)\s*=\s*(\d+)", body)}
    unions = {name: tuple(re.findall(r"(\w+)\s*:\s*(\w+)", body))
              for name, body in re.findall(r"union (\w+)\s*\{([^}]*)\}", text)}
    tables = {name: tuple(fields(body, enum_types, unions))
              for name, body in re.findall(r"table (\w+)\s*\{([^}]*)\}", text)}
    return tables, unions, enums


def main(schema, out):
    with open(schema, encoding="ascii") as file:
        tables, unions, enums = parse(file.read())
    with open(out, "w", encoding="ascii") as file:
        for name, value in (("TABLES", tables), ("UNIONS", unions), ("ENUMS", enums)):
            file.write(f"{name} = {pprint.pformat(value)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
