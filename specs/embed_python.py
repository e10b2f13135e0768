"""Writes Python sources as arrays in a C file, to be embedded in the program: embed_python.py OUT SOURCE..."""

import os
import sys

HEADER = '#include "specs/python_host.h"\n'


def literal(data):
    lines = [data[i:i + 24] for i in range(0, len(data), 24)]
    return "\n".join("    " + " ".join(f"{byte}," for byte in line) for line in lines)


def main(out, *sources):
    names = sorted((os.path.basename(source)[:-len(".py")], source) for source in sources)
    with open(out, "w", encoding="ascii") as file:
        file.write(HEADER)
        for name, source in names:
            with open(source, "rb") as text:
                file.write(f"\nstatic const char {name}_py[] = {{\n{literal(text.read())}\n    0,\n}};\n")
        file.write("\nconst struct python_source python_sources[] = {\n")
        for name, _ in names:
            file.write(f'    {{ "halcyon.{name}", {name}_py }},\n')
        file.write("    { 0 },\n};\n")


main(*sys.argv[1:])
