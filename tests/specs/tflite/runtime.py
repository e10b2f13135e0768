"""Runs .tflite models in TensorFlow Lite itself: the library in the npm package tfjs-tflite-node, by its C interface."""

import ctypes

import numpy as np

DTYPES = {1: "<f4", 2: "<i4", 3: "u1", 4: "<i8", 6: "?", 7: "<i2", 9: "i1", 10: "<f2"}


class Refused(Exception):
    """The runtime cannot load or run a model."""


class Runtime:
    def __init__(self, library):
        self.lib = ctypes.CDLL(str(library))
        for name in ("ModelCreate", "InterpreterOptionsCreate", "InterpreterCreate", "InterpreterGetInputTensor",
                     "InterpreterGetOutputTensor", "TensorData", "Version"):
            getattr(self.lib, f"TfLite{name}").restype = ctypes.c_void_p
        self.lib.TfLiteTensorByteSize.restype = ctypes.c_size_t
        self.lib.TfLiteVersion.restype = ctypes.c_char_p
        self.version = self.lib.TfLiteVersion().decode()

    def call(self, name, *arguments):
        fixed = [ctypes.c_void_p(a) if isinstance(a, int) and a > 1 << 20 else a for a in arguments]
        return getattr(self.lib, f"TfLite{name}")(*fixed)

    def run(self, model, inputs):
        """The outputs of a model (bytes) on inputs (numpy arrays in the order of the model)."""
        handle = self.call("ModelCreate", model, ctypes.c_size_t(len(model)))
        if not handle:
            raise Refused("the model is not loaded")
        options = self.call("InterpreterOptionsCreate")
        interpreter = self.call("InterpreterCreate", handle, options)
        if not interpreter:
            raise Refused("an operator, or a version of it, is not in this runtime")
        try:
            if self.call("InterpreterAllocateTensors", interpreter) != 0:
                raise Refused("its tensors are not allocated")
            for i, array in enumerate(inputs):
                tensor = self.call("InterpreterGetInputTensor", interpreter, i)
                data = np.ascontiguousarray(array).tobytes()
                if self.call("TensorByteSize", tensor) != len(data):
                    raise Refused(f"input {i} has another size")
                ctypes.memmove(self.call("TensorData", tensor), data, len(data))
            if self.call("InterpreterInvoke", interpreter) != 0:
                raise Refused("it does not run")
            count = self.call("InterpreterGetOutputTensorCount", interpreter)
            return [self.array(self.call("InterpreterGetOutputTensor", interpreter, i)) for i in range(count)]
        finally:
            self.call("InterpreterDelete", interpreter)
            self.call("InterpreterOptionsDelete", options)
            self.call("ModelDelete", handle)

    def array(self, tensor):
        shape = [self.call("TensorDim", tensor, i) for i in range(self.call("TensorNumDims", tensor))]
        data = ctypes.string_at(self.call("TensorData", tensor), self.call("TensorByteSize", tensor))
        type = DTYPES[self.call("TensorType", tensor)]
        if type == "?" and set(data) - {0, 1}:
            raise Refused("it leaves a BOOL unwritten")
        return np.frombuffer(data, type).reshape(shape)
