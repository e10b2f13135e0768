# expect: :3: PermissionError
import os
os._exit(0)
