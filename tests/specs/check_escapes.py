"""No specification gets out of its confinement: check_escapes.py HALCYON [NAME...]

Each act of escapes.py is first run by an ordinary Python, where it must leave evidence: else it proves nothing, and is
counted as not possible here. Then it is a specification: no evidence, exit code 2, file and line, no process left.
Without names, runs those of the environment variable HALCYON_ESCAPES: "first" (the default) or "all"; then the first
ones again where the kernel lacks a part of the confinement. A correct file loads everywhere.
"""

import ctypes
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import escapes

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # the one with numpy
SECRET, LONGEST = "PLAINTEXT-SECRET", 60  # seconds for one specification
MARKS = (SECRET.encode(), b"ESCAPED")

VICTIM = """\
import ctypes, signal, sys, time
ctypes.CDLL(None).prctl(0x59616d61, -1, 0, 0, 0)  # where Yama is: let any process trace this one
def note(number, frame):
    with open(sys.argv[1], "a") as file:
        file.write(f"signal {number}\\n")
for number in (10, 12, 29):
    signal.signal(number, note)
text = ctypes.create_string_buffer(b"PLAINTEXT-SECRET")
print(ctypes.addressof(text), flush=True)
while True:
    time.sleep(0.05)
"""


GOOD = """\
import copy, collections, itertools, numpy, random
x = Input("x", "TENSOR_FLOAT32", "{2}")
y = Output("y", "TENSOR_FLOAT32", "{2}")
Model().Operation("RELU", x).To(y)
Example({x: numpy.array([1, -2]).tolist(), y: [1, 0]})
"""

# System calls that an older kernel or a container does not have: (name, errno, bit of the first argument).
WITHOUT = {
    "Landlock": [("landlock_create_ruleset", 38, 0)],
    "namespaces": [("clone", 1, 0x20000000), ("clone", 1, 0x10000000), ("unshare", 1, 0)],
    "Landlock and namespaces": [("landlock_create_ruleset", 38, 0), ("clone", 1, 0x20000000), ("unshare", 1, 0)],
    "seccomp": [("seccomp", 38, 0)],
}
STOPPED_BY_SECCOMP_ONLY = ("setxattr",)


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def hide(calls):
    """Called in a child before it executes the command."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint(0x7fff0000)))
    for name, error, bit in calls:
        masked = Comparison(0, 7, bit, bit)
        library.seccomp_rule_add_array(rules, ctypes.c_uint(0x50000 | error),
                                       library.seccomp_syscall_resolve_name(name.encode()), 1 if bit else 0,
                                       ctypes.byref(masked))
    if library.seccomp_load(rules) != 0:
        raise OSError("seccomp_load")


class Surroundings:
    """A folder for the specification, and beside it everything that an act may reach."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="halcyon-escapes-")
        self.here, self.out, self.secret = (os.path.join(self.top, name) for name in ("specs", "out", "secret"))
        os.mkdir(self.here)
        os.mkdir(self.secret)
        self.path = os.path.join(self.here, "act.mod.py")
        self.file = os.path.join(self.secret, "secret_file")
        self.write(self.file, f"text = {SECRET!r}\nraise ValueError(text)\n")
        self.write(os.path.join(self.secret, "secret_module.py"), f"text = {SECRET!r}\n")
        self.write(os.path.join(self.secret, SECRET), "")
        self.inherited = os.open(self.file, os.O_RDONLY)
        os.set_inheritable(self.inherited, True)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.bind(self.tcp.getsockname())
        self.unix, self.abstract = (socket.socket(socket.AF_UNIX) for _ in range(2))
        self.unix.bind(os.path.join(self.top, "socket"))
        self.abstract.bind("\0" + os.path.basename(self.top))
        self.unix.listen()
        self.abstract.listen()
        self.environment = {**os.environ, "HALCYON_SECRET": SECRET}
        self.victim = subprocess.Popen([PYTHON, "-c", VICTIM, os.path.join(self.top, "signals")], text=True,
                                       stdout=subprocess.PIPE, env=self.environment, start_new_session=True)
        self.address = int(self.victim.stdout.readline())

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def renew(self, specification):
        shutil.rmtree(self.out, ignore_errors=True)
        os.mkdir(self.out)
        os.mkdir(os.path.join(self.out, "folder"))
        self.write(os.path.join(self.out, "file"), "text")
        try:
            os.setxattr(os.path.join(self.out, "file"), "user.present", SECRET.encode())
        except OSError:
            pass  # a file system without them: the acts that need one are not possible
        for name in os.listdir(self.here):
            os.remove(os.path.join(self.here, name))
        os.symlink(self.file, os.path.join(self.here, "link"))
        if specification is not None:
            self.write(self.path, specification)
        self.before = self.state()

    def state(self):
        """All that an act may change."""
        found = [sorted(os.listdir(self.here))]
        for folder, folders, files in os.walk(self.out):
            for path in [folder, *(os.path.join(folder, name) for name in folders + files)]:
                about = os.lstat(path)
                found.append((path, about.st_mode, about.st_nlink, about.st_size, int(about.st_mtime)))
                found.append(sorted(os.listxattr(path, follow_symlinks=False)))
        for path in (os.path.join(self.out, "file"), os.path.join(self.top, "signals")):
            if os.path.exists(path):
                with open(path, "rb") as file:
                    found.append(file.read())
        found.append(os.getpriority(os.PRIO_PROCESS, self.victim.pid))
        return found

    def contacts(self):
        """How many connections and packets have arrived."""
        number = 0
        while True:
            ready, _, _ = select.select([self.tcp, self.udp, self.unix, self.abstract], [], [], 0)
            if not ready:
                return number
            for each in ready:
                number += 1
                each.recv(100) if each is self.udp else each.accept()[0].close()

    def processes(self):
        """Those left in the folder of the specification."""
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/cwd") == self.here:
                    found.append(int(name))
            except OSError:
                pass
        return found

    def evidence(self, output):
        """What an act has left, as text; kills the processes that are left."""
        found = [f"the output has {mark.decode()}" for mark in MARKS if mark in output]
        left = self.processes()
        for process in left:
            os.kill(process, signal.SIGKILL)
        found += ["a process"] if left else []
        found += ["a connection"] if self.contacts() else []
        deadline = time.monotonic() + 0.15  # for the victim to note a signal
        while not found and time.monotonic() < deadline:
            if self.state() != self.before:
                found.append("a file, attribute or signal")
            time.sleep(0.02)
        return ", ".join(found)

    def run(self, command, specification=None, without=None):
        self.renew(specification)
        started = time.monotonic()
        try:
            done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, pass_fds=[self.inherited], timeout=LONGEST, check=False,
                                  cwd=self.top, preexec_fn=without and (lambda: hide(WITHOUT[without])))
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, output = None, b""
        return status, output, time.monotonic() - started

    def close(self):
        self.victim.kill()
        self.victim.wait()
        shutil.rmtree(self.top)


def program(around, name):
    values = (around.out, around.file, around.secret, around.victim.pid, around.address,
              around.tcp.getsockname()[1], os.path.join(around.top, "socket"), "\0" + os.path.basename(around.top))
    return escapes.text_of(name, values, around.here)


def check(halcyon, around, name):
    """Returns (whether it is possible outside, what is wrong)."""
    text = program(around, name)
    if text is None:
        return False, ""
    control = os.path.join(around.top, "control.py")
    around.write(control, f"import os\nos.chdir({around.here!r})\n" + text)
    status, output, _ = around.run([PYTHON, control])
    possible = bool(around.evidence(output)) and status is not None
    status, output, seconds = around.run([halcyon, "levels", around.path], text)
    found = around.evidence(output)
    shown = output.decode(errors="replace").strip()
    if found:
        return possible, f"{found}: {shown}"
    if status != 2:
        return possible, f"exit code {status} after {seconds:.1f} s: {shown}"
    if not re.search(re.escape(around.path) + r":\d+: ", shown):
        return possible, f"no file and line: {shown}"
    return possible, ""


def check_without(halcyon, around, part):
    """What is wrong where the kernel lacks a part; says on the standard output what --version has about it."""
    _, output, _ = around.run([halcyon, "--version", "-v"], without=part)
    print(f"without {part}: {output.decode().partition('specifications')[2].strip()}")
    status, output, _ = around.run([halcyon, "levels", around.path], GOOD, part)
    if status != 0:
        yield f"a correct file: exit code {status}: {output.decode(errors='replace')}"
    for name in escapes.FIRST:
        status, output, _ = around.run([halcyon, "levels", around.path], program(around, name), part)
        found = around.evidence(output)
        if status != 2 or found and not (part == "seccomp" and name in STOPPED_BY_SECCOMP_ONLY):
            yield f"{name}: {found}, exit code {status}: {output.decode(errors='replace')}"


def main(halcyon, *names):
    everything = os.environ.get("HALCYON_ESCAPES") == "all"
    names = names or (escapes.ESCAPES if everything else escapes.FIRST)
    around, failures, impossible = Surroundings(), 0, []
    try:
        for name in names:
            possible, wrong = check(os.path.abspath(halcyon), around, name)
            if not possible:
                impossible.append(name)
            if wrong:
                failures += 1
                print(f"{name}: {wrong}", flush=True)
        for part in WITHOUT if everything else ():
            for wrong in check_without(os.path.abspath(halcyon), around, part):
                failures += 1
                print(f"without {part}: {wrong}", flush=True)
    finally:
        around.close()
    print(f"{len(names)} acts, {failures} escaped or misreported; not possible outside either: "
          f"{', '.join(impossible) or 'none'}")
    return failures > 0 or len(impossible) > len(names) // 4


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
