# What OEMs define, in the one form that a profile with oem = true serves.
bytes_in = Input("bytes_in", ("TENSOR_OEM_BYTE", [4]))
bytes_out = Output("bytes_out", ("TENSOR_OEM_BYTE", [4]))
model = Model().Operation("OEM_OPERATION", bytes_in).To(bytes_out)
Example({bytes_in: [1, 2, 3, 255], bytes_out: [1, 2, 3, 255]})
