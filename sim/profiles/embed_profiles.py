"""Converts the shipped profiles to JSON strings in a C file: embed_profiles.py OUTPUT FILE.toml..."""

import json
import pathlib
import sys
import tomllib


def c_string(text):
    """A literal of short pieces: C compilers need not accept pieces of more than 4095 characters."""
    pieces = [text[i:i + 80] for i in range(0, len(text), 80)]
    return "\n".join('        "' + p.replace("\\", "\\\\").replace('"', '\\"') + '"' for p in pieces)


def main(output, *files):
    rows = []
    for file in map(pathlib.Path, files):
        with file.open("rb") as f:
            text = json.dumps(tomllib.load(f), ensure_ascii=True)
        rows.append('    { "%s",\n%s },\n' % (file.stem, c_string(text)))
    pathlib.Path(output).write_text(
        '#include "sim/device/profile.h"\n\n#include <string.h>\n\n'
        '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
        "static const struct {\n    const char *name, *json;\n} shipped[] = {\n"
        + "".join(rows)
        + "};\n\nconst char *profile_shipped(const char *name)\n{\n"
        "    for (int i = 0; i < COUNT(shipped); i++)\n"
        "        if (strcmp(shipped[i].name, name) == 0)\n"
        "            return shipped[i].json;\n"
        "    return NULL;\n}\n")


main(*sys.argv[1:])
