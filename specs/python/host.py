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
import sys
import tomllib

from halcyon import modpy
from halcyon.operands import SpecError

# Events of sys.audit() that a specification may not cause.
FORBIDDEN = ("os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn", "os.spawn", "os.startfile",
             "os.system", "subprocess.Popen", "pty.spawn", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link",
             "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.chdir", "os.fchdir", "shutil.",
             "socket.", "signal.pthread_kill", "syslog.", "ftplib.", "smtplib.", "urllib.", "tempfile.")
PRELOAD_SCAN = 1 << 20  # bytes of a specification that are searched for imports
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def forbid_side_effects(event, arguments):
    if event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITING:
        raise PermissionError(f"a specification may not write to {arguments[0]!r}")
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"a specification may not call {event}")


def forbid_exit(*_):
    raise PermissionError("a specification may not call os._exit")


def load_tflite(path):
    from halcyon import tflite
    return tflite.load(path)


def load_toml(path):
    with open(path, "rb") as file:
        data = file.read()
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


def line_in(path, error):
    """The innermost line of the file that raised an exception, or None."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    found = getattr(error, "line", None) if isinstance(error, SpecError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


# Errors of open() that the file's name causes, not the system.
BAD_NAME = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}


def describe(error):
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, SystemExit):
        return f"the specification called exit({error.code!r})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        text = " ".join(text.split())
    except BaseException:
        text = "(it cannot be shown)"
    return text if isinstance(error, SpecError) else f"{type(error).__name__}: {text}"


def report(path, error):
    line = line_in(path, error)
    kind = getattr(error, "kind", "invalid") if isinstance(error, SpecError) else "invalid"
    # A MemoryError counts as invalid input too: the file exceeds the memory limit.
    if isinstance(error, OSError) and line is None and error.errno not in BAD_NAME:
        kind = "system"
    record = {"error": describe(error)[:300], "kind": kind}
    if line is not None:
        record["line"] = line
    return json.dumps(record)


def preload(kind, path):
    """Imports slow modules that the file probably needs, before the fork. The child reports failures."""
    try:
        if kind == "tflite":
            importlib.import_module("halcyon.tflite")
        with open(path, "rb") as file:
            if kind == "modpy" and b"numpy" in file.read(PRELOAD_SCAN):
                importlib.import_module("numpy")
    except Exception:
        pass


def run(kind, path, lines_fd, trace_fd, timeout):
    """Loads a file, given by an absolute path, in this process, which must end afterwards."""
    faulthandler.enable(file=trace_fd)
    faulthandler.dump_traceback_later(timeout, exit=True, file=trace_fd)
    sys.addaudithook(forbid_side_effects)
    os._exit = forbid_exit
    random.seed(0)
    gc.freeze()
    write = os.write

    def put(text):
        rest = memoryview(text.encode() + b"\n")
        while rest:
            rest = rest[write(lines_fd, rest):]

    count = 0
    try:
        for line in LOADERS[kind](path):
            put(line)
            count += 1
        put(json.dumps({"end": count}))
    except BaseException as error:
        put(report(path, error))
