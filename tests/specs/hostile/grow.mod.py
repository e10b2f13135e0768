# expect: :4: out of memory
data = []
while True:
    data.append(bytes(1 << 24))
