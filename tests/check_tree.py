#!/usr/bin/env python3
"""The written rules of the tree: check_tree.py ROOT COMPILER...

Folders depend on each other in one order, operations are named in one place, foreign libraries are
included by the folders that own them, headers stand alone, files stay short, README tells the truth.
Prints each breach as FILE:LINE: what; exits 1 if there is one."""
import concurrent.futures
import os
import re
import subprocess
import sys

# Each folder may include itself and these.
MAY_USE = {
    "golden": [],
    "sim": ["golden"],
    "randgraph": ["golden"],
    "specs": ["golden"],
    "reports": ["golden"],
    "harness": ["golden", "sim", "randgraph", "specs", "reports"],
    "tests": ["golden", "sim", "randgraph", "specs", "reports", "harness"],
}
OWNED_HEADERS = {"Python.h": ["specs"], "sqlite3.h": ["harness", "reports", "tests"]}
MOST_LINES = 600
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def tree(root):
    """Paths of the source files, relative to root."""
    for folder in MAY_USE:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".inc", ".py", ".def", ".sql")) and not is_data(where, name):
                    yield os.path.relpath(os.path.join(where, name), root)


def is_data(where, name):
    """Specifications are input, and those of the tests are broken on purpose."""
    return name.endswith(".mod.py") or "tests/specs" in where


def read_lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read().splitlines()


def check_includes(path, lines):
    folder = path.split("/")[0]
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not match:
            continue
        included = match.group(1)
        other = included.split("/")[0]
        if other in MAY_USE and other != folder and other not in MAY_USE[folder]:
            yield f"{path}:{number}: {folder}/ must not include {other}/"
        if ".." in included.split("/"):
            yield f"{path}:{number}: includes are written from the top of the tree"
        owners = OWNED_HEADERS.get(os.path.basename(included))
        if owners and folder not in owners:
            yield f"{path}:{number}: only {', '.join(owners)} may include {included}"


def check_operations(path, lines, names):
    if path.startswith(("golden/ops/", "tests/")) or path == "golden/ops.def":
        return
    for number, line in enumerate(lines, 1):
        for code in re.findall(r"\bOP_([A-Z][A-Z0-9_]*)\b", line):
            if code in names:
                yield f"{path}:{number}: OP_{code} named outside golden/ops/ and tests/"


def check_verdicts(path, lines):
    """Which verdicts there are, and which conform, is in the list; the report orders its columns."""
    if path.startswith("tests/") or path in ("harness/check/verdict.c", "reports/report.c"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"""["']waived["']""", line):
            yield f"{path}:{number}: the list of verdicts is in harness/check/verdict.c"


def check_lines(path, lines):
    if len(lines) > MOST_LINES:
        yield f"{path}:{MOST_LINES + 1}: {len(lines)} lines, {MOST_LINES} are allowed"
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b", line):
            yield f"{path}:{number}: left for later"


def check_header(root, compiler, path):
    """A header that includes what it needs compiles as a file of its own."""
    command = [*compiler, "-std=gnu11", "-fsyntax-only", *WARNINGS, "-I", root, "-x", "c", "-"]
    if path.startswith("harness/skeleton/"):  # lies beside hal.h where it is written
        command += ["-I", os.path.join(root, "sim")]
    done = subprocess.run(command, input=f'#include "{path}"\n#include "{path}"\n', text=True,
                          capture_output=True, check=False)
    if done.returncode:
        first = "\n".join(done.stderr.splitlines()[:6])
        yield f"{path}:1: does not compile alone\n{first}"


def check_names(paths):
    seen = {}
    for path in paths:
        name = os.path.basename(path)
        if name in seen:
            yield f"{path}:1: a file of this name exists already: {seen[name]}"
        seen[name] = path


def top_folders(root):
    """Those under version control; without it, those known here."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files"], text=True, capture_output=True,
                                check=False).stdout
    except FileNotFoundError:  # no git on this machine
        listed = ""
    folders = {path.split("/")[0] for path in listed.splitlines() if "/" in path}
    return {folder for folder in folders if not folder.startswith(".")} or set(MAY_USE)


def check_readme(root):
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = file.read()
    for folder in sorted(top_folders(root)):
        if f"{folder}/" not in text:
            yield f"README.md:1: the map does not mention {folder}/"


def check_rules(root):
    """Every conformance rule names a test that is built."""
    built = "\n".join(read_lines(root, "tests/meson.build"))
    for number, line in enumerate(read_lines(root, "tests/vts_rules.c"), 1):
        match = re.match(r'\s*\{ "[^"]+", "([^"]+)"', line)
        if match and f"'{match.group(1)}'" not in built:
            yield f"tests/vts_rules.c:{number}: there is no test_vts_{match.group(1)}"


def operation_names(root):
    text = "\n".join(read_lines(root, "golden/ops.def"))
    return set(re.findall(r"^OP\(\s*\d+\s*,\s*(\w+)", text, re.M))


def check(root, compiler):
    paths = list(tree(root))
    names = operation_names(root)
    if not names:
        yield "golden/ops.def:1: no operations found"
    for path in paths:
        lines = read_lines(root, path)
        yield from check_lines(path, lines)
        yield from check_verdicts(path, lines)
        if not path.endswith(".py"):
            yield from check_includes(path, lines)
            yield from check_operations(path, lines, names)
    yield from check_names(paths)
    yield from check_readme(root)
    yield from check_rules(root)
    headers = [path for path in paths if path.endswith(".h")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda path: list(check_header(root, compiler, path)), headers):
            yield from found


def main():
    root, *compiler = sys.argv[1:]
    found = list(check(root, compiler))
    print("\n".join(found) or "the tree keeps its rules")
    return 1 if found else 0


sys.exit(main())
