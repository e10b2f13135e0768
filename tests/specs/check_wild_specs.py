"""A hostile file is rejected in bounded time and memory: check_wild_specs.py HALCYON [NAME...]

Each file loops, allocates, raises, exits, or forges results. Checks the exit code 2, the file and line, the length and
the characters of the message, the time, the memory, the folder, and the processes left. The environment variable
HALCYON_WILD=all runs all of them, else every seventh.
"""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SECONDS, MEBIBYTES, LONGEST = 2, 256, 700  # limits given to the command; characters of a message
ALLOWANCE = 40  # seconds for the command, of which a sanitizer on a busy machine needs most
# MiB that a process may have beyond the limit: the interpreter; with AddressSanitizer also what it allocates in small
# pieces, which come from address space that was reserved before the limit was set, until its time is over.
BASE = 2000 if os.environ.get("ASAN_OPTIONS") else 150

GOOD = """\
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)
Example({x: [1, -2], y: [1, 0]})
"""
RECORD = ('{"name":"NAME","main":{"operands":[{"type":"TENSOR_FLOAT32","dims":[2],"life":"SUBGRAPH_INPUT","data":[1,2]},'
          '{"type":"TENSOR_FLOAT32","dims":[2],"life":"SUBGRAPH_OUTPUT","data":[1,2]}],'
          '"operations":[{"op":"RELU","in":[0],"out":[1]}],"inputs":[0],"outputs":[1]}}\\n')

TIME = r"not loaded within 2 s; --load-timeout"
MEMORY = r"out of memory; the limit is 256 MiB, --load-memory"
EITHER = f"{TIME}|{MEMORY}"

# Expressions and statements that do not end in time.
LOOPS = [
    "while True: pass",
    "[0 for each in __import__('itertools').count()]",
    "sum(range(10**12))",
    "10**10**8",
    "pow(3, 10**9)",
    "__import__('sys').set_int_max_str_digits(0); str(1 << 10**8)",
    "0 in __import__('itertools').repeat(1)",
    "__import__('re').match('(a+)+$', 'a' * 64 + 'b')",
    "sorted(range(10**9))",
    "__import__('time').sleep(10**6)",
    "__import__('signal').pause()",
    "__import__('select').select([], [], [])",
    "__import__('os').read(__import__('os').pipe()[0], 1)",
    "lock = __import__('_thread').allocate_lock(); lock.acquire(); lock.acquire()",
    "__import__('queue').Queue().get()",
    "__import__('ctypes').CDLL(None).sleep(10**6)",
    "while True: print('x' * 10**6)",
    "while True: __import__('faulthandler').dump_traceback(4)",
    "while True: __import__('gc').collect()",
    "__import__('math').factorial(10**8)",
    "__import__('numpy').sort(__import__('numpy').zeros(3000000).reshape(1000, 3000).repeat(9)).cumsum().sum() or 10**10**8",
    "eval('10**10**' + str(8))",
    "list(iter(int, 1))",
    "max(iter(int, 1))",
    "'%1000000000d' % 1 * 99",
]
LOOP_BLOCKS = {
    "caught": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "signals-ignored": "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
                       "    except (OSError, ValueError): pass\nwhile True: pass",
    "signals-blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    "handler-off": "import faulthandler\nfaulthandler.disable()\nwhile True: pass",
    "traced": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\nwhile True: pass",
    "generator": "def g():\n    while True: yield\nfor each in g(): pass",
    "text-loops": "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()",
    "property-loops": "class E(OSError):\n    @property\n    def errno(self):\n        while True: pass\nraise E()",
    "closed": "class C:\n    def __del__(self):\n        while True: pass\nC()",
}
# Expressions that need more memory than there is; many also take long.
BOMBS = [
    "[0] * 10**9",
    "bytes(10**10)",
    "bytearray(1 << 40)",
    "list(range(10**9))",
    "set(range(10**9))",
    "dict.fromkeys(range(10**9))",
    "'x' * 10**10",
    "'{:>999999999}'.format(1)",
    "b''.join([b'x' * 10**6] * 10**4)",
    "__import__('array').array('d', [0]) * 10**9",
    "__import__('numpy').zeros(10**9) + 1",
    "__import__('numpy').ones((10**5, 10**5))",
    "__import__('itertools').product(range(10**9), repeat=3)",
    "__import__('mmap').mmap(-1, 1 << 32)",
    "__import__('ctypes').create_string_buffer(1 << 33)",
    "__import__('lzma').decompress(BOMB)",
    "__import__('json').loads('[' + '[1],' * 10**8 + '1]')",
    "__import__('collections').deque(iter(int, 1))",
    "x = []\nwhile True: x.append(x[:])",
    "x = {}\nfor i in iter(int, 1): x[len(x)] = 'x' * 100",
    "f = lambda n: f(n + 1) + [0] * 10**6\n__import__('sys').setrecursionlimit(10**9); f(0)",
    "def g():\n    yield from [bytes(10**8) for i in range(100)]\nlist(g())",
]
# Statements that raise, and what the message has.
RAISES = {
    "no-text": ("class E(Exception):\n    def __str__(self): raise self\nraise E()", "E: .it cannot be shown"),
    "number-as-text": ("class E(Exception):\n    def __str__(self): return 7\nraise E()", "E: .it cannot be shown"),
    "text-subclass": ("class S(str):\n    def __getitem__(self, i): raise E()\n    split = join = __getitem__\n"
                      "class E(Exception):\n    def __str__(self): return S('x' * 99)\nraise E()", "E: "),
    "base": ("class E(BaseException): pass\nraise E('why')", "E: why"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "generator-exit": ("raise GeneratorExit", "GeneratorExit"),
    "stop": ("raise StopIteration", "StopIteration"),
    "exit-0": ("raise SystemExit(0)", r"exit\(0\)"),
    "exit-none": ("import sys\nsys.exit()", r"exit\(None\)"),
    "exit-object": ("class C:\n    def __repr__(self): raise SystemExit(self)\nraise SystemExit(C())", "cannot be shown"),
    "no-memory": ("raise MemoryError", "out of memory"),
    "group": ("raise ExceptionGroup('g', [ValueError(1)] * 9)", "ExceptionGroup"),
    "long": ("raise ValueError('x' * 10**7)", "ValueError: x+"),
    "long-argument": ("raise ValueError(list(range(10**6)))", "ValueError: "),
    "lines": ("raise ValueError('a\\nother.mod.py:7: b\\r\\n')", "ValueError: a other.mod.py:7: b"),
    "terminal": ("raise ValueError('\\x1b]0;title\\x07\\x9b2J\\x00')", "ValueError: "),
    "direction": ("raise ValueError('\\u202eabc\\u2066\\u2028')", "ValueError: "),
    "surrogate": ("raise ValueError('\\udc80\\ud800')", "ValueError: "),
    "class-name": ("raise type('E\\x1b[2J' + 'x' * 10**6, (Exception,), {})('t')", "E"),
    "no-class-name": ("class M(type):\n    @property\n    def __name__(cls): raise ValueError\n"
                      "class E(Exception, metaclass=M): pass\nraise E()", "cannot be shown"),
    "syntax": ("raise SyntaxError('m', ('other', 'one', 'two', 'three'))", "m"),
    "syntax-type": ("e = SyntaxError()\ne.msg = e\ne.filename = e\ne.lineno = '7'\nraise e", "SyntaxError|None"),
    "os": ("raise OSError(__import__('os').environ, 'text')", "OSError|text"),
    "os-name": ("raise PermissionError(13, 'no', 'x\\x1b' * 10**6)", "may read only its own folder"),
    "spec-error": ("import halcyon.operands as o\nclass E(o.SpecError):\n    line = kind = property(lambda s: 1 // 0)\n"
                   "    def __init__(self): pass\nraise E()", ""),
    "chained": ("e = ValueError('end')\nfor i in range(10**5):\n    n = ValueError(i)\n    n.__cause__ = e\n    e = n\nraise e",
                "ValueError: 99999"),
    "recursion": ("def f(): f()\nf()", "maximum recursion depth"),
    "name": ("foo", "name 'foo' is not defined"),
    "module": ("import nowhere", "No module named 'nowhere'"),
    "inner-syntax": ("eval('(')", "was never closed"),
    "digits": ("str(10**5000)", "digits"),
    "audit": ("import sys\nsys.addaudithook(lambda *a: 1 // 0)\nopen('x')", "no attribute 'addaudithook'"),
    "input": ("input()", "EOFError"),
}
# Statements that end the process, or would.
ENDS = {
    "exit-now": ("import os\nos._exit(0)", "may not end its process"),
    # LeakSanitizer's own call in exit() is denied first.
    "c-exit": ("import ctypes\nctypes.CDLL(None).exit(0)", "may not end its process|system call prctl"),
    "c-exit-now": ("import ctypes\nctypes.CDLL(None)._exit(3)", "may not end its process"),
    "abort": ("import os\nos.abort()", "crashed"),
    "read-null": ("import ctypes\nctypes.string_at(8)", "crashed .Segmentation fault"),
    "write-null": ("import ctypes\nctypes.memset(8, 0, 8)", "crashed .Segmentation fault"),
    "jump-null": ("import ctypes\nctypes.CFUNCTYPE(None)(8)()", "crashed .Segmentation fault"),
    "stack": ("import sys\nsys.setrecursionlimit(10**9)\nx = []\nfor i in range(10**6): x = [x]\nrepr(x)",
              f"crashed .Segmentation fault|recursion|{EITHER}"),
    "kill-self": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "may not send signals"),
    "raise-signal": ("import signal\nsignal.raise_signal(signal.SIGKILL)", "may only compute"),
    "closes": ("import os\nos.closerange(0, 99)", "may not close descriptors|close_range"),
    "thread": ("import threading\nthreading.Thread(target=lambda: [0 for i in iter(int, 1)]).start()\n" + GOOD,
               "may not start processes or threads"),
    "alarm": ("import signal\nsignal.setitimer(signal.ITIMER_REAL, .1)\nwhile True: pass", "may only compute|" + TIME),
    "fork-bomb": ("import os\nwhile True: os.fork()", "may not start processes"),
}
WRITE = "import os\nwrite = lambda text: os.write(3, text.encode())\n"
OTHERS = RECORD.replace("NAME", "FOLDER/good/good")
OWN = RECORD.replace("NAME", "FOLDER/STEM/forged")
# Records written around the loader, or by a loader that has been changed. No line where the parent finds the error.
FORGERIES = {
    "no-examples": (WRITE + "write('{\"end\":0}\\n')\nos._exit(77)", "expected at least one example"),
    "others-name": (WRITE + f"write('{OTHERS}')", "named FOLDER/good/good, not FOLDER/STEM/"),
    "others-name-end": (WRITE + f"write('{OTHERS}' + '{{\"end\":1}}\\n')\nos._exit(77)", "named FOLDER/good/good"),
    "relative-name": (WRITE + "write('" + RECORD.replace("NAME", "FOLDER/STEM/../good/good") + "')\n", "is named"),
    "terminal-name": (WRITE + "write('" + RECORD.replace("NAME", "FOLDER/STEM/\\\\u001b[2J") + "')", "control characters"),
    "error": (WRITE + "write('{\"error\":\"\\\\u001b[2J\\\\n\\\\u202e' + 'x' * 3000 + '\",\"line\":7}\\n')\nos._exit(77)", "\\?\\[2J|no result|record"),
    "error-type": (WRITE + "write('{\"error\":7}\\n')\nos._exit(77)", "no result|record"),
    "error-line": (WRITE + "write('{\"error\":\"e\",\"line\":-99999999999999999999}\\n')\nos._exit(77)", "too big"),
    "garbage": (WRITE + "os.write(3, os.urandom(10**5))\n", "column|is not|EOF|"),
    "no-line-end": (WRITE + "write('x' * 10**7)\nos._exit(77)", "no result|column"),
    "deep": (WRITE + "write('[' * 10**6 + '\\n')\n" + GOOD, "depth"),
    "values": (WRITE + "write('[' + '1,' * 5 * 10**6 + '1]\\n')\n" + GOOD, "object|not|too many"),
    "many": (WRITE + f"record = '{OWN}'\nfor i in range(700): write(record * 100)\n" + GOOD, "more than 65536 examples"),
    "flood": (WRITE + "while True: write('x' * 10**7 + '\\n')", f"1 GiB|File too large|column|{TIME}"),
    "record-type": (WRITE + "write('7\\n')\n" + GOOD, "column|not an object|record"),
    "dumps": ("import json\njson.dumps = lambda *a, **k: 'x' * 10**6\n" + GOOD, "column"),
    "dumps-raises": ("import json\ndef dumps(*a, **k): raise SystemExit(0)\njson.dumps = dumps\n" + GOOD, "no result"),
    "loader": ("import halcyon.records as r\nr.test_record = lambda *a: '{}'\n" + GOOD, "record"),
    "modules": ("import sys\nsys.modules.clear()\n1 // 0", "."),
    "builtins": ("import builtins\nfor n in list(vars(builtins)): delattr(builtins, n)\n1 / 0", "no result|."),
    "host": ("import halcyon.host as h\nh.report = h.describe = h.line_in = None\n1 // 0", "no result"),
    "main": ("import halcyon.modpy as m\nm.examples.expand = lambda file: iter(int, 1)\n" + GOOD, "."),
    "no-trace": ("def f(e):\n    e.__traceback__ = None\nclass E(Exception):\n    __traceback__ = property(lambda s: None)\n"
                 "raise E('t')", "t"),
    "at-exit": ("import atexit, weakref\natexit.register(lambda: 1 // 0)\nclass C: pass\nweakref.finalize(C, lambda: 1 // 0)\n"
                "1 // 0", "ZeroDivisionError"),
    "example-name": (GOOD.replace("]})", "]}, name='\\x1b[2J')"), "control characters"),
    "long-name": (GOOD.replace("]})", "]}, name='x' * 10**6)") + "1 // 0", "ZeroDivisionError"),
}
# The text of a file that Python cannot read.
TEXTS = {
    "zeros": (bytes(1000), "byte 0 is 0"), "random": (bytes(range(1, 256)) * 9, "byte 127 is not UTF-8"),
    "utf-16": ("x = 1\n".encode("utf-16"), "byte 3 is 0|not UTF-8"),
    "nesting": (b"(" * 10**5, "nested|memory|recursion|closed"),
    "brackets": (b"x = " + b"[" * 90 + b"1" + b"]" * 90 + b"\n" + b"-" * 10**5 + b"1", "recursion|memory|nested|complex"),
    "terminal": (b"x = \x1b[2J\n", "invalid"), "expression": (b"1" + b"+1" * 10**6 + b"+", f"recursion|memory|syntax|complex|{TIME}"),
    "coding": (b"# coding: rot13\n1 // 0\n", "ZeroDivisionError"), "escape": (b"'\\N{nothing}'\n", "unicode|Unicode"),
    "indent": (b"if 1:\n" + b"".join(b" " * i + b"if 1:\n" for i in range(1, 200)), "indent"),
}
# Python itself has no line for these.
WITHOUT_LINE = ("text-brackets", "text-expression")


def programs(folder):
    """(name, contents, pattern of the message, whether it has a line)"""
    bomb = lzma.compress(bytes(1 << 29))
    for number, text in enumerate(LOOPS):
        yield f"loop-{number}", text, EITHER, True
    for name, text in LOOP_BLOCKS.items():
        yield f"loop-{name}", text, TIME, True
    for number, text in enumerate(BOMBS):
        yield f"memory-{number}", f"BOMB = {bomb!r}\n{text}" if "BOMB" in text else text, EITHER, True
    for group, table in (("raise", RAISES), ("end", ENDS), ("text", TEXTS)):
        for name, (text, pattern) in table.items():
            yield f"{group}-{name}", text, pattern, f"{group}-{name}" not in WITHOUT_LINE
    for name, (text, pattern) in FORGERIES.items():
        stem = f"forge-{name}"
        yield stem, text.replace("STEM", stem).replace("FOLDER", folder), \
            pattern.replace("STEM", stem).replace("FOLDER", folder), False


class Sampler(threading.Thread):
    """The largest memory of the processes whose folder is this one, in MiB."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.most, self.stopped = folder, 0, threading.Event()

    def processes(self):
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/cwd") == self.folder:
                    yield int(name)
            except OSError:
                pass

    def run(self):
        while not self.stopped.wait(0.1):
            for process in self.processes():
                try:
                    with open(f"/proc/{process}/statm") as file:
                        pages = int(file.read().split()[1])
                    self.most = max(self.most, pages * os.sysconf("SC_PAGESIZE") >> 20)
                except (OSError, IndexError):
                    pass


def run(halcyon, folder, path, arguments=()):
    """(exit code, output, seconds, MiB, processes left)"""
    sampler, started = Sampler(folder), time.monotonic()
    sampler.start()
    command = [halcyon, "levels", path, "--load-timeout", str(SECONDS), "--load-memory", str(MEBIBYTES), *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd="/", timeout=ALLOWANCE, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, output = None, b""
    sampler.stopped.set()
    sampler.join()
    return status, output, time.monotonic() - started, sampler.most, list(sampler.processes())


def wrong_with(halcyon, folder, path, pattern, has_line):
    before = sorted(os.listdir(folder))
    status, output, seconds, memory, left = run(halcyon, folder, path)
    text = output.decode(errors="replace")
    shown = text.strip().split("\n")[-1]
    if status != 2:
        return f"exit code {status} after {seconds:.1f} s: {text[:300]}"
    if not shown.startswith(f"halcyon levels: {path}:") or text.count("\n") != 1:
        return f"expected one line with the file: {text[:300]!r}"
    if has_line and not re.match(rf"halcyon levels: {re.escape(path)}:\d+: ", shown):
        return f"no line: {shown[:300]}"
    if not re.search(pattern, shown):
        return f"expected {pattern}: {shown[:300]}"
    if len(output) > LONGEST or re.search("[^\n -~\u00a1-\u2027\u202f-\u2065\u206a-\ufffc]", text):
        return f"{len(output)} bytes, or characters for terminals: {text[:300]!r}"
    if memory > BASE + MEBIBYTES or left:
        return f"{memory} MiB, processes left: {left}"
    return "" if sorted(os.listdir(folder)) == before else "the folder has changed"


def main(halcyon, *names):
    folder, failures, number = tempfile.mkdtemp(prefix="halcyon-wild-"), 0, 0
    step = 1 if names or os.environ.get("HALCYON_WILD") == "all" else 7
    with open(os.path.join(folder, "good.mod.py"), "w", encoding="utf-8") as file:
        file.write(GOOD)
    try:
        for name, text, pattern, has_line in list(programs(os.path.basename(folder)))[::step]:
            if names and name not in names:
                continue
            path = os.path.join(folder, f"{name}.mod.py")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode() + b"\n")
            wrong = wrong_with(os.path.abspath(halcyon), folder, path, pattern, has_line)
            number += 1
            if wrong:
                failures += 1
                print(f"{name}: {wrong}", flush=True)
            os.remove(path)
    finally:
        shutil.rmtree(folder)
    print(f"{number} hostile files, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
