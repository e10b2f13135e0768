# expect: ended its process
import os

for i in range(3, 256):
    try:
        os.close(i)
    except OSError:
        pass
