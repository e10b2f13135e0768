# Stored bytes of TENSOR_BOOL8: all but 0 are true, and drivers that look at one bit only are wrong.
given = Input("given", ("TENSOR_BOOL8", [4]))
constant = Parameter("constant", ("TENSOR_BOOL8", [4]), [True, False, 128, 2])
both = Output("both", ("TENSOR_BOOL8", [4]))
model = Model().Operation("LOGICAL_AND", given, constant).To(both)
Example({given: [2, 255, True, False], both: [True, False, True, False]}, model=model)
