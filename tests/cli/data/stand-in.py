#!/usr/bin/env python3
"""A debugger: stand-in.py -q -p PID prints how it was called, traces the process until that has ended, and
prints its signals.  Without permission to trace it ends at once."""
import ctypes
import os
import sys

PTRACE_CONT, PTRACE_SEIZE, WALL = 7, 0x4206, 0x40000000

ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes = [ctypes.c_ulong, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

pid = int(sys.argv.pop())
print("called with", *sys.argv[1:], flush=True)
if ptrace(PTRACE_SEIZE, pid, None, None) < 0:
    sys.exit(1)
while os.WIFSTOPPED(status := os.waitpid(pid, WALL)[1]):
    print("signal", os.WSTOPSIG(status), flush=True)
    ptrace(PTRACE_CONT, pid, None, os.WSTOPSIG(status))
print("ended by signal" if os.WIFSIGNALED(status) else "ended with status", status, flush=True)
