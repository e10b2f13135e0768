"""Entry points for the C host, in the child process that loads one file.

Results are lines of JSON; the last line is {"end": count}, or {"error": text, "kind": ..., "line": ...} if the file is
invalid. If the child ends without such a line, the stack trace by faulthandler locates the error.
"""

import errno
import faulthandler
import gc
import importlib
import json
import os
import random
import re
import signal
import sys
import tomllib

from halcyon import modpy
from halcyon.operands import SpecError

PRELOAD_SCAN = 1 << 20  # bytes of a specification that are searched for imports
SPARE = 4 << 20  # bytes kept for the report of a file that has used up its memory
LONGEST = 300  # characters of a message
MOST_CAUSES = 10  # exceptions, each of which another one replaced, that are searched for a line


def library():
    """The files and folders that a specification may read besides its own folder."""
    with open("/proc/self/maps") as maps:
        objects = {line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line}
    folders = {os.path.dirname(path) for path in objects}
    return sorted({*filter(os.path.exists, sys.path), *filter(os.path.isabs, folders), "/etc/ld.so.cache"})


def load_tflite(path, data):
    from halcyon import tflite
    return tflite.load(path, data)


def load_toml(path, data):
    text = modpy.decode(data)
    try:
        yield json.dumps(tomllib.loads(text), default=lambda value: value.isoformat())
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        line, column = re.findall(r"\d+", place) or (text.count("\n") + 1, "end")
        raise SpecError(f"column {column}: {message}", int(line)) from None


def convert_tflite(data):
    """A model in memory as JSON, or None if it is invalid. For the fuzz target: any other exception is a bug."""
    from halcyon import tflite
    try:
        return tflite.record(data, "fuzz")
    except SpecError:
        return None


LOADERS = {"modpy": modpy.load, "tflite": load_tflite, "toml": load_toml}


def prefix_of(kind, path):
    """What the names of a file's examples begin with."""
    whole = os.path.abspath(path)
    if kind == "toml":
        return ""
    if kind == "modpy":
        return f"{modpy.origin_of(whole)}/{os.path.basename(whole).split('.')[0]}/"
    return f"{os.path.basename(os.path.dirname(whole))}/{os.path.basename(whole).rsplit('.', 1)[0]}/"


# What follows reads exceptions that a specification may have made to deceive: report() catches whatever they raise.

def line_in(path, error):
    """The innermost line of the file that raised an exception, or None."""
    if isinstance(error, SyntaxError) and attempt(lambda: error.filename == path):
        return error.lineno
    found = attempt(getattr, error, "line", None) if isinstance(error, SpecError) else None
    for _ in range(MOST_CAUSES):
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == path:
                found = trace.tb_lineno
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
        if found is not None or error is None:
            break
    return found


# Exceptions whose text needs no type.
PLAIN = (SpecError, NameError, ImportError, SyntaxError, RecursionError)
DENIED = (errno.EPERM, errno.EACCES, errno.ENOSYS)


def is_memory(error):
    return isinstance(error, MemoryError) or isinstance(error, OSError) and error.errno == errno.ENOMEM


def describe(error):
    if is_memory(error):
        return "out of memory"
    if isinstance(error, SystemExit):
        return f"the specification called exit({error.code!r})"
    if isinstance(error, OSError) and error.errno in DENIED:
        if error.filename is None:
            return f"a specification may only compute: {error.strerror}"
        return f"a specification may read only its own folder and Python's library: {error.filename!r}"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "the examples of the file take more than 1 GiB as JSON"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename!r}: {error.strerror}"
    text = str(error.msg if isinstance(error, SyntaxError) else error)
    return text if isinstance(error, PLAIN) and text else f"{type(error).__name__}: {text}"


def kind_of(error):
    if is_memory(error):
        return "memory"
    kind = getattr(error, "kind", "invalid") if isinstance(error, SpecError) else "invalid"
    return kind if kind in ("invalid", "unsupported") else "invalid"


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except BaseException:
        return None


def report(path, error):
    """The record of an exception. Its methods may raise, and return values of any type and size."""
    text = attempt(lambda: " ".join(str.__getitem__(describe(error), slice(4 * LONGEST)).split()))
    if text is None:
        text = f"{attempt(lambda: type(error).__name__)}: (it cannot be shown)"
    line = attempt(line_in, path, error)
    text = "".join(each if each.isprintable() else "?" for each in text[:LONGEST])
    record = {"error": text, "kind": attempt(kind_of, error) or "invalid"}
    if type(line) is int and 0 < line < 1 << 31:
        record["line"] = line
    return json.dumps(record)


# What specifications use, where the kernel has no Landlock: then nothing can be imported in the child.
COMMON = ("bisect", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools",
          "heapq", "itertools", "numbers", "numpy", "operator", "statistics", "string", "struct", "typing")


def import_common():
    for name in COMMON:
        attempt(importlib.import_module, name)


def preload(kind, path, file):
    """Imports slow modules that the file probably needs, before the fork. The child reports failures."""
    try:
        if kind == "tflite":
            importlib.import_module("halcyon.tflite")
        if kind == "tflite" or kind == "modpy" and b"numpy" in os.pread(file, PRELOAD_SCAN, 0):
            importlib.import_module("numpy")
    except Exception:
        pass
    return prefix_of(kind, path)


def trace(file):
    faulthandler.enable(file=file)
    for cause in (signal.SIGXCPU, signal.SIGSYS):
        faulthandler.register(cause, file=file, all_threads=False)
    del sys.addaudithook  # a hook would be called when an exception is examined


def run(kind, path, file_fd, lines_fd):
    """Loads a file, given by an absolute path, in this process, which must end afterwards."""
    random.seed(0)
    gc.freeze()
    write = os.write

    def put(text):
        rest = memoryview(text.encode() + b"\n")
        while rest:
            rest = rest[write(lines_fd, rest):]

    count, spare = 0, bytes(SPARE)
    try:
        with open(file_fd, "rb") as file:
            data = file.read()
        for line in LOADERS[kind](path, data):
            put(line)
            count += 1
        put(json.dumps({"end": count}))
    except BaseException as error:
        del spare
        put(report(path, error))
