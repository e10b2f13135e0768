#!/usr/bin/env python3
"""Checks what the runtime's libraries are for other programs:

    check_library.py LIBNEURALNETWORKS LIBHALCYON_SL HEADERS [C++ COMPILER...]

libneuralnetworks.so exports exactly the functions that the public headers declare, each under its version node,
libhalcyon_sl.so only ANeuralNetworks_getSLDriverImpl. They have their plain names as sonames, and load no other
libraries than those that runtime/meson.build justifies. The headers compile as C++."""
import os
import re
import subprocess
import sys

NODES = {"NeuralNetworks.h": "LIBNEURALNETWORKS", "NeuralNetworksExtensions.h": "LIBNEURALNETWORKS_PLATFORM"}
FUNCTIONS = {"LIBNEURALNETWORKS": 69, "LIBNEURALNETWORKS_PLATFORM": 6}
# The C library, and what a comment in runtime/meson.build justifies.
LOADED = r"(libc|libm|libpthread|ld-linux-[\w-]+|libXNNPACK|libpthreadpool|libjansson)\.so\.\d+"
SANITIZERS = r"lib(a|ub|t)san\.so\.\d+"


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def declared(headers):
    """Function and node of each declaration."""
    for name, node in NODES.items():
        with open(os.path.join(headers, name), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for function in re.findall(r"\b(ANeuralNetworks\w*)\(", text):
            yield function, node


def exported(library):
    """Symbol and version node of each dynamic symbol that the library defines."""
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, symbol = line.split()[1:3]
        if kind != "A":  # the version nodes
            name, _, node = symbol.partition("@@")
            yield name, node


def check_exports(library, headers):
    expected, found = set(declared(headers)), set(exported(library))
    for node, count in FUNCTIONS.items():
        n = sum(1 for _, other in expected if other == node)
        if n != count:
            yield f"the headers declare {n} functions of {node}, not {count}"
    for name, node in sorted(expected - found):
        yield f"{name}@{node} is not exported"
    for name, node in sorted(found - expected):
        yield f"{name}@{node} is exported, but no public header declares it"


def check_dynamic(library):
    dynamic = run("readelf", "-dW", library)
    sonames = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)
    if sonames != [os.path.basename(library)]:
        yield f"the soname of {library} is {sonames}"
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not re.fullmatch(f"{LOADED}|{SANITIZERS}", needed):
            yield f"{library} loads {needed}, which runtime/meson.build does not justify"


def check_headers(headers, compiler):
    included = [*NODES, "NeuralNetworksOEM.h", "NeuralNetworksSupportLibraryImpl.h", "hardware_buffer.h"]
    source = "".join(f'#include "{name}"\n' for name in included)
    if compiler and subprocess.run([*compiler, "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", headers, "-"],
                                   input=source, text=True, check=False).returncode:
        yield "the headers do not compile as C++"


def main():
    library, support, headers, *compiler = sys.argv[1:]
    found = [*check_exports(library, headers), *check_dynamic(library), *check_dynamic(support),
             *check_headers(headers, compiler)]
    exports = sorted(exported(support))
    if exports != [("ANeuralNetworks_getSLDriverImpl", "")]:
        found.append(f"{support} exports {exports}")
    print("\n".join(found) or "as declared")
    return 1 if found else 0


sys.exit(main())
