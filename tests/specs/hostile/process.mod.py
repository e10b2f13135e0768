# expect: :3: PermissionError
import subprocess
subprocess.run(["true"])
