# expect: not loaded within
import faulthandler

faulthandler.cancel_dump_traceback_later()
while True:
    pass
