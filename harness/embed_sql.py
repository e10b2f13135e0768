#!/usr/bin/env python3
"""Writes an ASCII text file as a C string: embed_sql.py INPUT OUTPUT NAME."""
import sys


def main():
    source, output, name = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read() + b"\0"
    with open(output, "w", encoding="ascii") as file:
        file.write(f"extern const char {name}[];\nconst char {name}[] = {{\n")
        for at in range(0, len(data), 20):
            file.write("    " + ", ".join(map(str, data[at:at + 20])) + ",\n")
        file.write("};\n")


main()
