# expect: :2: a specification may not create, change or remove files
open("/tmp/halcyon-must-not-exist", "w")
