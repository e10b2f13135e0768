# expect: :5: not loaded within
x = 1

while True:
    x += 1
