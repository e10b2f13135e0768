# expect: :3: a specification may not start processes
import subprocess
subprocess.run(["true"])
