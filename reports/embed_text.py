#!/usr/bin/env python3
"""Writes a text file as a C string: embed_text.py INPUT OUTPUT NAME."""
import sys


def main():
    source, output, name = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    with open(output, "w", encoding="ascii") as file:
        file.write(f"extern const char {name}[];\nconst char {name}[] = {{\n")
        for at in range(0, len(data), 20):
            file.write("    " + ", ".join(map(str, data[at:at + 20])) + ",\n")
        file.write("    0,\n};\n")


main()
