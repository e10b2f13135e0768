# expect: :4: not loaded within
x = 1

while True: x += 1  # on one line: it is there that time runs out
