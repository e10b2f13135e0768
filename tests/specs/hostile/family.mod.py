# expect: :6: a specification may not start processes
import ctypes

c = ctypes.CDLL(None)
for i in range(4):
    if c.fork() == 0:
        c.setsid()
while True:
    c
