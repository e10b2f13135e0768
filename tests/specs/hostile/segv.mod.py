# expect: :4: the file's process crashed (Segmentation fault)
import ctypes

ctypes.string_at(8)
