# expect: :4: killed by signal 11
import ctypes

ctypes.string_at(8)
