"""What a hostile specification may try. Each act is Python that runs after PRELUDE.

An act that succeeds leaves evidence which a process outside can see: it changes the folder OUT, prints or raises the
secret, reaches a socket or the victim, leaves a process behind, or calls escaped().
"""

import platform

# Replaced by check_escapes.py: OUT, a folder to write to, with a file "file"; SECRET, a file to read, and its FOLDER;
# VICTIM, a process, and ADDRESS, a byte in it; PORT, of TCP and UDP; SOCKET, a path, and ABSTRACT, a name.
PRELUDE = """\
import ctypes, os, sys
OUT, SECRET, FOLDER, VICTIM, ADDRESS, PORT, SOCKET, ABSTRACT = {values!r}
FILE = os.path.join(OUT, "file")
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result

def escaped():
    raise RuntimeError("ESC" + "APED")

def new(name):
    return os.path.join(OUT, name)

"""

NUMBERS = {
    "x86_64": {"openat2": 437, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
               "add_key": 248, "pidfd_open": 434, "pidfd_send_signal": 424, "kcmp": 312, "ioprio_set": 251,
               "clone3": 435, "fork": 57, "kill": 62, "creat": 85, "inotify_init1": 294, "memfd_create": 319},
    "aarch64": {"openat2": 437, "io_uring_setup": 425, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
                "add_key": 217, "pidfd_open": 434, "pidfd_send_signal": 424, "kcmp": 272, "ioprio_set": 30,
                "clone3": 435, "kill": 129, "inotify_init1": 26, "memfd_create": 279},
}.get(platform.machine(), {})

# The seven ways around the audit hook that used to be all the confinement, and reading through each of two doors.
FIRST = {
    "ctypes": 'call("system", os.fsencode(f"touch {new(\'made\')}"))',
    "fork_exec": """\
import _posixsubprocess
made = os.fsencode(new("made"))
read, write = os.pipe()
_posixsubprocess.fork_exec([b"/usr/bin/touch", made], [b"/usr/bin/touch"], True, (write,), None, None,
                           -1, -1, -1, -1, -1, -1, read, write, True, False, -1, None, None, None, -1, None, True)
os.wait()""",
    "sqlite3": 'import sqlite3\nsqlite3.connect(new("made")).execute("create table t (c)")',
    "readline": 'import readline\nreadline.add_history("x")\nreadline.write_history_file(new("made"))',
    "mkfifo": 'os.mkfifo(new("made"))',
    "mknod": 'os.mknod(new("made"))',
    "setxattr": 'os.setxattr(FILE, "user.x", b"1")',
    "read": "raise ValueError(open(SECRET).read())",
}

FILES = {
    "open": 'open(new("made"), "w")',
    "open-append": 'open(FILE, "a").write("x")',
    "open-truncate": 'os.open(FILE, os.O_RDONLY | os.O_TRUNC)',
    "open-caught": 'try:\n    open(new("made"), "w")\nexcept OSError:\n    pass\nescaped()',
    "os-open": 'os.open(new("made"), os.O_CREAT | os.O_RDONLY)',
    "tmpfile": 'fd = os.open(OUT, os.O_TMPFILE | os.O_RDWR)\ncall("linkat", -100, b"/proc/self/fd/%d" % fd, -100, '
               'os.fsencode(new("made")), 0x400)',
    "pathlib": 'import pathlib\npathlib.Path(new("made")).write_text("x")',
    "mmap": 'import mmap\nmmap.mmap(os.open(FILE, os.O_RDWR), 1)[0] = 65',
    "mkdir": 'os.mkdir(new("made"))',
    "rmdir": 'os.rmdir(new("folder"))',
    "symlink": 'os.symlink("x", new("made"))',
    "link": 'os.link(FILE, new("made"))',
    "rename": 'os.rename(FILE, new("made"))',
    "remove": 'os.remove(FILE)',
    "truncate": 'os.truncate(FILE, 0)',
    "chmod": 'os.chmod(FILE, 0o777)',
    "utime": 'os.utime(FILE, (1, 1))',
    "removexattr": 'os.removexattr(FILE, "user.present")',
    "lock": 'import fcntl\nfcntl.flock(os.open(FILE, os.O_RDONLY), fcntl.LOCK_EX)\nescaped()',
    "copy": 'import shutil\nshutil.copytree(OUT, new("made"))',
    "zip": 'import zipfile\nzipfile.ZipFile(new("made"), "w").close()',
    "dbm": 'import shelve\nshelve.open(new("made")).close()',
    "log": 'import logging\nlogging.FileHandler(new("made")).close()',
    "socket-file": 'import socket\nsocket.socket(socket.AF_UNIX).bind(new("made"))',
    "numpy-save": 'import numpy\nnumpy.save(new("made"), numpy.zeros(1))',
    "numpy-map": 'import numpy\nnumpy.memmap(FILE, dtype="u1", mode="r+")[0] = 65',
    "faulthandler": 'import faulthandler\nfaulthandler.dump_traceback(open(new("made"), "w"))',
    "shared-memory": 'from multiprocessing import shared_memory\nshared_memory.SharedMemory(create=True, size=1).unlink()'
                     '\nescaped()',
    "ctypes-creat": 'call("creat", os.fsencode(new("made")), 0o600)',
    "ctypes-fopen": 'if not libc.fopen(os.fsencode(new("made")), b"w"):\n    raise OSError(ctypes.get_errno(), "fopen")',
    "openat2": """\
how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o600, 0)
call("syscall", {openat2}, -100, os.fsencode(new("made")), how, 24)""",
}

READING = {
    "environment": 'raise ValueError(open("/proc/self/environ").read())',
    "os-environ": 'raise ValueError(dict(os.environ))',
    "ctypes-environ": """\
environ, number, found = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ"), 0, []
while environ and environ[number]:
    found.append(environ[number])
    number += 1
raise ValueError(found)""",
    "descriptors": """\
for number in range(3, 64):
    try:
        found = os.pread(number, 1000, 0)
    except OSError:
        continue
    if b"PLAIN" in found and b"escaped" not in found:
        raise ValueError(found)
raise ValueError("nothing")""",
    "os-open-read": 'raise ValueError(os.read(os.open(SECRET, os.O_RDONLY), 1000))',
    "ctypes-open": 'raise ValueError(os.read(call("open", os.fsencode(SECRET), 0), 1000))',
    "linecache": 'import linecache\nraise ValueError(linecache.getlines(SECRET) or escaped.missing)',
    "exec": 'exec(compile(open(SECRET).read(), SECRET, "exec"))',
    "import": 'sys.path.insert(0, FOLDER)\nimport secret_module\nraise ValueError(secret_module.text)',
    "read-history": """\
import readline
readline.read_history_file(SECRET)
raise ValueError(readline.get_history_item(1))""",
    "numpy-read": 'import numpy\nraise ValueError(numpy.fromfile(SECRET, dtype="u1").tobytes())',
    "symbolic-link": 'raise ValueError(open(os.path.join(HERE, "link")).read())',
    "parent-folder": 'os.chdir(HERE)\nraise ValueError(open("../secret/secret_file").read())',
    "list": 'raise ValueError(os.listdir(FOLDER))',
    "walk": 'raise ValueError(list(os.walk(FOLDER))[0])',
    "mmap-read": 'import mmap\nfd = os.open(SECRET, os.O_RDONLY)\n'
                 'raise ValueError(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:])',
    "getxattr": 'raise ValueError(os.getxattr(FILE, "user.present"))',
    "victim-environment": 'raise ValueError(open(f"/proc/{VICTIM}/environ").read())',
    "victim-memory": 'file = open(f"/proc/{VICTIM}/mem", "rb", 0)\nfile.seek(ADDRESS)\nraise ValueError(file.read(16))',
    "victim-maps": 'open(f"/proc/{VICTIM}/maps").read()\nescaped()',
    "passwords": 'open("/etc/passwd").read()\nescaped()',
    "devices": 'os.listdir("/sys/class")\nescaped()',
}

PROCESSES = {
    "fork": 'if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 9)\n    import time\n    time.sleep(9)',
    "fork-write": 'if os.fork() == 0:\n    open(new("made"), "w")\n    os._exit(0)\nos.wait()',
    "spawn": 'os.posix_spawn("/usr/bin/touch", ["touch", new("made")], {})\nos.wait()',
    "subprocess": 'import subprocess\nsubprocess.run(["touch", new("made")])',
    "system": 'os.system(f"touch {new(\'made\')}")',
    "popen": 'os.popen(f"touch {new(\'made\')}").read()',
    "exec-program": 'os.execv("/usr/bin/touch", ["touch", new("made")])',
    "pty": 'import pty\nif pty.fork()[0] == 0:\n    open(new("made"), "w")\n    os._exit(0)\nos.wait()',
    "multiprocessing": """\
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=open, args=(new("made"), "w"))
process.start()
process.join()""",
    "thread": 'import threading\nthread = threading.Thread(target=open, args=(new("made"), "w"))\n'
              'thread.start()\nthread.join()',
    "ctypes-fork": 'if call("fork") == 0:\n    open(new("made"), "w")\n    os._exit(0)\nos.wait()',
    "clone3": """\
arguments = (ctypes.c_uint64 * 8)(0, 0, 0, 0, 17, 0, 0, 0)
if call("syscall", {clone3}, arguments, 64) == 0:
    open(new("made"), "w")
    os._exit(0)
os.wait()""",
}

OTHERS = {
    "kill": "os.kill(VICTIM, 10)",
    "kill-group": "os.killpg(os.getpgid(VICTIM), 10)",
    "ctypes-kill": 'call("kill", VICTIM, 10)',
    "raw-kill": 'call("syscall", {kill}, VICTIM, 10)',
    "queue": 'call("sigqueue", VICTIM, 10, ctypes.c_void_p(0))',
    "pidfd": 'import signal\nsignal.pidfd_send_signal(os.pidfd_open(VICTIM), 10)',
    "own": 'import fcntl\nread, write = os.pipe()\nfcntl.fcntl(read, fcntl.F_SETOWN, VICTIM)\nescaped()',
    "trace": 'call("ptrace", 16, VICTIM, 0, 0)\nescaped()',
    "write-memory": """\
byte = ctypes.create_string_buffer(b"X")
local, remote = (ctypes.c_uint64 * 2)(ctypes.addressof(byte), 1), (ctypes.c_uint64 * 2)(ADDRESS + 16, 1)
call("process_vm_writev", VICTIM, local, 1, remote, 1, 0)
escaped()""",
    "read-memory": """\
text = ctypes.create_string_buffer(16)
local, remote = (ctypes.c_uint64 * 2)(ctypes.addressof(text), 16), (ctypes.c_uint64 * 2)(ADDRESS, 16)
call("process_vm_readv", VICTIM, local, 1, remote, 1, 0)
raise ValueError(text.raw)""",
    "compare": 'call("syscall", {kcmp}, VICTIM, VICTIM, 1, 0, 0)\nescaped()',
    "priority": "os.setpriority(os.PRIO_PROCESS, VICTIM, os.getpriority(os.PRIO_PROCESS, VICTIM) + 1)\nescaped()",
    "io-priority": 'call("syscall", {ioprio_set}, 1, VICTIM, 2 << 13 | 7)\nescaped()',
    "affinity": "os.sched_setaffinity(VICTIM, os.sched_getaffinity(VICTIM))\nescaped()",
    "limits": "import resource\nresource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))\nescaped()",
}

NETWORK = {
    "tcp": 'import socket\nsocket.create_connection(("127.0.0.1", PORT)).send(b"x")',
    "udp": 'import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))',
    "unix": "import socket\nsocket.socket(socket.AF_UNIX).connect(SOCKET)",
    "abstract": "import socket\nsocket.socket(socket.AF_UNIX).connect(ABSTRACT)",
    "ctypes-socket": 'call("socket", 2, 1, 0)\nescaped()',
    "netlink": "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))\nescaped()",
    "http": 'import urllib.request\nurllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=2)',
    "asyncio": 'import asyncio\nasyncio.run(asyncio.open_connection("127.0.0.1", PORT))',
    "pair": "import socket\nsocket.socketpair()\nescaped()",
}

MACHINE = {
    "io-uring": 'call("syscall", {io_uring_setup}, 1, (ctypes.c_uint64 * 15)())\nescaped()',
    "memory-file": 'os.memfd_create("x")\nescaped()',
    "raw-memory-file": 'call("syscall", {memfd_create}, b"x", 0)\nescaped()',
    "fault-handler": 'call("syscall", {userfaultfd}, 1)\nescaped()',
    "key": 'call("syscall", {add_key}, b"user", b"halcyon-test", b"x", 1, -1)\nescaped()',
    "watch": 'call("syscall", {inotify_init1}, 0)\nescaped()',
    "shared-segment": 'call("shmctl", call("shmget", 0, 1, 0o1600), 0, 0)\nescaped()',
    "semaphore": 'call("semctl", call("semget", 0, 1, 0o1600), 0, 0)\nescaped()',
    "message-queue": 'call("msgctl", call("msgget", 0, 0o1600), 0, 0)\nescaped()',
    "namespace": 'call("unshare", 0x20000000)\nescaped()',
    "no-dump": 'call("prctl", 4, 0, 0, 0, 0)\nescaped()',
    "limit": "import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nescaped()",
    "session": "if os.getpid() != os.getsid(0):\n    os.setsid()\nescaped()",
    "nice": "os.nice(1)\nescaped()",
    "folder": 'os.chdir(OUT)\nopen("file")\nescaped()',
    "print": 'print("ESC" + "APED", flush=True)\nraise ValueError("printed")',
    "write-terminal": 'os.write(1, b"ESC" + b"APED\\n")\nos.write(2, b"ESC" + b"APED\\n")\nraise ValueError("written")',
    "timer": 'call("timer_create", 0, 0, ctypes.byref(ctypes.c_void_p()))\nescaped()',
}

ESCAPES = {name: text for group in (FIRST, FILES, READING, PROCESSES, OTHERS, NETWORK, MACHINE)
           for name, text in group.items()}


def text_of(name, values, here):
    """The program of an act, or None if this machine has no number for one of its system calls."""
    act = ESCAPES[name]
    if 'call("syscall"' in act:
        number = act.split('call("syscall", {')[1].split("}")[0]
        if number not in NUMBERS:
            return None
        act = act.replace("{" + number + "}", str(NUMBERS[number]))
    return PRELUDE.format(values=values) + f"HERE = {here!r}\n" + act + "\n"
