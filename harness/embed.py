#!/usr/bin/env python3
"""Writes a text file as a C string constant: embed.py INPUT OUTPUT NAME."""
import sys


def main():
    source, output, name = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    escape = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"extern const char {name}[];\nconst char {name}[] =\n")
        for line in lines:
            file.write('    "' + "".join(escape.get(c, c) for c in line) + '"\n')
        file.write("    ;\n")


main()
