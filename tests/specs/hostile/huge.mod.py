# expect: :2: out of memory
data = bytearray(1 << 45)
