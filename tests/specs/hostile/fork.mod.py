# expect: :4: a specification may not start processes
import os
while True:
    os.fork()
