# expect: not loaded within
import ctypes

c = ctypes.CDLL(None)
for i in range(4):
    if c.fork() == 0:
        c.setsid()
while True:
    c
