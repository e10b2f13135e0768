# expect: :4: PermissionError
import os
while True:
    os.fork()
