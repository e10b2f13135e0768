# expect: :4: the file's process was killed by signal 11
import ctypes

ctypes.string_at(8)
