# expect: :2: PermissionError
open("/tmp/halcyon-must-not-exist", "w")
