#!/usr/bin/env python3
"""Checks the rules of the tree: check_tree.py ROOT COMPILER...

Folders and their rooms include each other in one order, each room has a short README, operations are
named in one place, foreign libraries are included only by the folders that own them, headers compile
alone, names of files and of types are unique, every test file is built, README.md mentions every
folder. Prints each violation as FILE:LINE: description, then the sizes of functions and files; exits 1 if there is a violation."""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

# Folders that each folder may include, besides itself.
MAY_USE = {
    "golden": [],
    "sim": ["golden"],
    "randgraph": ["golden"],
    "specs": ["golden"],
    "reports": ["golden"],
    "runtime": ["golden", "sim", "reports"],
    "harness": ["golden", "sim", "randgraph", "specs", "reports", "runtime"],
    "tests": ["golden", "sim", "randgraph", "specs", "reports", "harness", "runtime"],
}
# Rooms, lower ones first: a file of a room may include headers of its room, of lower rooms, and those
# directly in the folder, which are public. Files directly in a folder may include all its rooms.
ROOMS = {
    "golden": ["base", "math", "model", "exec", "edit", "judge", "ops", "extensions"],
    "sim": ["profiles", "base", "hal", "wire", "kernels", "device", "driver", "faulty", "service", "remote", "isolation",
            "client", "host"],
    "specs": ["python"],
    "reports": ["graph", "site"],
    "runtime": ["include", "base", "nativewindow", "memory", "devices", "model", "telemetry", "compile", "domain",
                "execute", "api", "sl", "adapter"],
    "harness": ["aidl", "skeleton", "engines", "examples", "trace", "check", "explain", "cli", "store", "shards", "server",
                "policy", "run", "shrink", "cases", "conform", "corrupt", "suites", "conform_run", "plan", "dump",
                "campaigns", "bench",
                "commands"],
    "tests": ["support", "golden", "sim", "randgraph", "specs", "reports", "harness", "runtime", "cli", "fuzz",
              "oracle", "corpus", "bench", "mutation"],
}
OWNED_HEADERS = {"Python.h": ["specs"], "sha2.h": ["sim", "runtime"], "sqlite3.h": ["harness", "reports", "tests"],
                 "libpq-fe.h": ["harness"]}
README_LINES = 10
# Maximum number of source files (.c, .py) directly in a folder with rooms; names that are not counted.
MOST_FILES = 26
UNCOUNTED = {"golden/ops": r"\w+\.c", "harness/suites": r"suite_\w+\.c", "harness/commands": r"cmd_\w+\.c"}
# Sources of drivers that use hal.h and nothing else: those that `halcyon new-driver` writes, and examples.
DRIVERS = ("harness/skeleton/", "harness/examples/")
# Operations that a file may name: loop counters, faults, fused activations, models that most drivers run, the
# operation that gives a tensor without elements.
NAMED_BY = {
    "harness/check/part.c": {"SLICE"},
    "harness/shrink/shrink.c": {"ADD", "RELU"},
    "randgraph/control_flow.c": {"ADD", "LESS"},
    "sim/device/faults.c": {"CONV_2D", "DEPTHWISE_CONV_2D"},
    "harness/explain/try_attributes.c": {"RELU", "RELU1", "RELU6"},
    "reports/graph/graph_parts.c": {"RELU", "RELU1", "RELU6"},
}
PERFORMANCE_KEYS = {"IF", "WHILE"}
# What has operation codes: records and tests.  What names operations by their nature: also models for rules.
CODES = ("golden/ops/", "tests/")
NAMING = CODES + ("harness/suites/", "harness/conform/", "harness/corrupt/")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def tree(root):
    """Paths of the source files, relative to root."""
    for folder in MAY_USE:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), root)
                if name.endswith((".c", ".h", ".inc", ".py", ".def", ".sql")) and not is_data(path):
                    yield path


def is_data(path):
    """Specifications, input files of tests and stand-ins for foreign headers, which are not checked."""
    return path.endswith(".mod.py") or re.match(r"tests/(specs/\w+|cli/data|harness/aidl/include)/", path)


def read_lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read().splitlines()


# ---- includes


def room_of(path):
    """The room of a file or header: "wire" of sim/wire/ring.c, None of sim/hal.h."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] in ROOMS else None


def check_room_order(path, number, included):
    folder, own, other = path.split("/")[0], room_of(path), room_of(included)
    if not own or not other or included.split("/")[0] != folder:
        return
    order = ROOMS[folder]
    if own in order and other in order and order.index(other) > order.index(own):
        yield f"{path}:{number}: {folder}/{own}/ must not include {folder}/{other}/"


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
            yield f"{path}:{number}: includes must be relative to the top of the tree"
        owners = OWNED_HEADERS.get(os.path.basename(included))
        if owners and folder not in owners:
            yield f"{path}:{number}: only {', '.join(owners)} may include {included}"
        yield from check_room_order(path, number, included)


# ---- rooms


def check_rooms(root, paths):
    """Every folder with sources is in ROOMS and has a README of at most README_LINES lines."""
    for room in sorted({os.path.dirname(path) for path in paths} - set(MAY_USE)):
        folder, name = room.split("/")[:2]
        if name not in ROOMS.get(folder, []):
            yield f"{room}:1: the order of rooms in tests/check_tree.py does not contain {room}/"
        readme = os.path.join(root, room, "README.md")
        if not os.path.exists(readme):
            yield f"{room}:1: there is no README.md"
        elif len(read_lines(root, f"{room}/README.md")) > README_LINES:
            yield f"{room}/README.md:{README_LINES + 1}: more than {README_LINES} lines"


def has_all_rooms(root, folder):
    """False for a folder that is not divided into rooms yet."""
    return all(os.path.isdir(os.path.join(root, folder, room)) for room in ROOMS.get(folder, []))


def check_number_of_files(root, paths):
    count = collections.Counter()
    for path in paths:
        room, name = os.path.split(path)
        if name.endswith((".c", ".py")) and not re.fullmatch(UNCOUNTED.get(room, ""), name):
            count[room] += 1
    for room, n in count.items():
        if n > MOST_FILES and ("/" in room or has_all_rooms(root, room)):
            yield f"{room}:1: {n} source files, {MOST_FILES} are allowed"


# ---- names


def check_operations(path, lines, names):
    if path.startswith(CODES) or path.endswith("/ops.def"):
        return
    for number, line in enumerate(lines, 1):
        for code in re.findall(r"\bOP_([A-Z][A-Z0-9_]*)\b", line):
            if code in names:
                yield f"{path}:{number}: OP_{code} named outside golden/ops/ and tests/"


def check_operation_names(path, lines, names):
    """Outside of its record an operation is named only in the kernel tables of the devices."""
    if not path.endswith(".c") or path.startswith(NAMING):
        return
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(/?\*)", line) or re.match(r'    \{ "\w+", .*\brun_\w+', line):
            continue
        for name in re.findall(r'"([A-Z][A-Z0-9_]+)"', line):
            if name in names - PERFORMANCE_KEYS - NAMED_BY.get(path, set()):
                yield f"{path}:{number}: {name} named outside golden/ops/, kernel tables and tests/"


def check_verdicts(path, lines):
    """Verdicts are listed in harness/check/verdict.c; only the report, which orders its columns, and the
    database's views, which count them, name them too."""
    if path.startswith("tests/") or path in ("harness/check/verdict.c", "reports/site/site_page.c",
                                               "reports/site/site_queries.c", "harness/store/views.sql"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"""["']waived["']""", line):
            yield f"{path}:{number}: verdicts must be named in harness/check/verdict.c only"


def check_memory(path, lines):
    """Failed allocations are reported by why_no_memory()."""
    if path.startswith(("tests/", "golden/base/why.")):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r'WHY_MEMORY,.*"[^"]*(out of memory|no memory for)|\b\w*no_memory\(struct', line):
            yield f"{path}:{number}: report a failed allocation by why_no_memory()"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b", line):
            yield f"{path}:{number}: marker of unfinished work"


def check_file_names(paths):
    seen = {}
    for path in paths:
        name = os.path.basename(path)
        if name in seen:
            yield f"{path}:1: another file has this name: {seen[name]}"
        seen[name] = path


def check_tags(root, headers):
    """No two headers define the same tag."""
    seen = {}
    for path in headers:
        if path.startswith(DRIVERS):
            continue
        for number, line in enumerate(read_lines(root, path), 1):
            match = re.match(r"\s*(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)\s*\{", line)
            if not match:
                continue
            tag = match.group(1)
            if tag in seen:
                yield f"{path}:{number}: {tag} is defined already: {seen[tag]}"
            seen[tag] = f"{path}:{number}"


def operation_names(root, paths):
    lists = [path for path in paths if os.path.basename(path) == "ops.def"]
    text = "\n".join(line for path in lists for line in read_lines(root, path))
    return set(re.findall(r"^OP\(\s*\d+\s*,\s*(\w+)", text, re.M))


# ---- headers, README.md, conformance rules


def check_header(root, compiler, path):
    """A header must compile alone, with pedantic warnings."""
    command = [*compiler, "-std=gnu11", "-fsyntax-only", *WARNINGS, "-I", root, "-x", "c", "-"]
    if path.startswith(DRIVERS):
        command += ["-I", os.path.join(root, "sim")]
    done = subprocess.run(command, input=f'#include "{path}"\n#include "{path}"\n', text=True,
                          capture_output=True, check=False)
    if done.returncode:
        first = "\n".join(done.stderr.splitlines()[:6])
        yield f"{path}:1: does not compile alone\n{first}"


def top_folders(root):
    """The folders under version control; without git, those of MAY_USE."""
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


def check_built(root, paths):
    """Every C file is named by a meson.build of its top folder: by itself, or as a test by its subject."""
    built = collections.defaultdict(str)
    for top in MAY_USE:
        for where, _, names in os.walk(os.path.join(root, top)):
            if "meson.build" in names:
                built[top] += "\n".join(read_lines(root, os.path.relpath(os.path.join(where, "meson.build"), root)))
    for path in paths:
        # Operations and extensions are listed in golden/*.def, the skeleton is built by tests.
        if not path.endswith(".c") or re.match(rf"golden/(ops|extensions)/\w+\.c|{'|'.join(DRIVERS)}", path):
            continue
        name = os.path.basename(path)[:-2]
        subject = re.sub(r"^test_", "", name)
        if not re.search(rf"['/]({name}\.c|{name}|{subject})'", built[path.split("/")[0]]):
            yield f"{path}:1: no meson.build names it"


def check_environment(root, paths):
    """The man page lists every environment variable that the product reads."""
    page = "harness/commands/man_page.c"
    listed = set(re.findall(r'^    \{ "([A-Z_]+)",', "\n".join(read_lines(root, page)), re.M))
    read = {}
    for path in paths:
        if not path.endswith((".c", ".h")) or path.startswith(("tests/", *DRIVERS)) or path == page:
            continue
        for number, line in enumerate(read_lines(root, path), 1):
            for name in re.findall(r'"(HALCYON_[A-Z_]+)"|\bgetenv\("(\w+)"\)', line):
                read.setdefault("".join(name), f"{path}:{number}")
    for name in sorted(set(read) - listed - {"PATH"}):
        yield f"{read[name]}: {page} does not list {name}"
    for name in sorted(listed - set(read)):
        yield f"{page}:1: {name} is listed, and not read"


# ---- sizes, which are only reported


def functions(lines):
    """Name, number of lines and whether static, of each function; found by the braces in column 1."""
    begin = None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            first = begin - 1
            while first > 0 and lines[first].startswith(" "):  # a declaration of several lines
                first -= 1
            head = " ".join(lines[first:begin])
            match = re.search(r"(\w+)\(", head)
            if match:
                name = re.sub(r"START_TEST\((\w+)\).*", r"\1", head)
                yield (match.group(1) if name == head else name, number - first + 1,
                       head.startswith("static "))
            begin = None


def middle(numbers, share=0.5):
    numbers = sorted(numbers)
    return numbers[min(int(len(numbers) * share), len(numbers) - 1)] if numbers else 0


def describe_sizes(name, files):
    """One line on the sizes of files and functions; files: list of (path, lines)."""
    found, static, called_once = [], 0, 0
    for path, lines in files:
        text = "\n".join(re.sub(r"/\*.*?\*/|//.*", "", line) for line in lines)
        for function, length, is_static in functions(lines):
            found.append((length, function, path))
            if is_static:
                static += 1
                called_once += len(re.findall(rf"\b{function}\b", text)) == 2
    if not found:
        return f"{name}: no functions"
    lengths = [length for length, _, _ in found]
    longest, function, path = max(found)
    sizes = [len(lines) for _, lines in files]
    return (f"{name:10} {len(files):4} files: median {middle(sizes)}, 90 % under {middle(sizes, 0.9)}, "
            f"longest {max(sizes)}; {len(found):5} functions: median {middle(lengths)}, 90 % under "
            f"{middle(lengths, 0.9)}, longest {longest} ({function}, {os.path.basename(path)}); "
            f"{100 * called_once // max(static, 1)} % of static ones have one caller")


def report_sizes(root, paths):
    files = {path: read_lines(root, path) for path in paths if path.endswith(".c")}
    for folder in MAY_USE:
        yield describe_sizes(folder, [(p, l) for p, l in files.items() if p.startswith(folder + "/")])
    product = [(p, l) for p, l in files.items() if not p.startswith("tests/")]
    yield describe_sizes("product", product)


def check(root, compiler, paths):
    names = operation_names(root, paths)
    if not names:
        yield "ops.def:1: no operations found"
    for path in paths:
        lines = read_lines(root, path)
        yield from check_words(path, lines)
        yield from check_verdicts(path, lines)
        yield from check_memory(path, lines)
        if not path.endswith(".py"):
            yield from check_includes(path, lines)
            yield from check_operations(path, lines, names)
            yield from check_operation_names(path, lines, names)
    yield from check_rooms(root, paths)
    yield from check_number_of_files(root, paths)
    yield from check_file_names(paths)
    yield from check_readme(root)
    yield from check_built(root, paths)
    yield from check_environment(root, paths)
    headers = [path for path in paths if path.endswith(".h")]
    yield from check_tags(root, headers)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda path: list(check_header(root, compiler, path)), headers):
            yield from found


def main():
    root, *compiler = sys.argv[1:]
    paths = list(tree(root))
    found = list(check(root, compiler, paths))
    print("\n".join(found) or "no violations")
    print("\n".join(report_sizes(root, paths)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
