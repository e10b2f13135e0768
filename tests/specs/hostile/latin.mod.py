# expect: :3: byte

# ÿ
