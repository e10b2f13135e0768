# expect: :5: the specification called exit(3)
import sys

print("x" * 100000)
sys.exit(3)
