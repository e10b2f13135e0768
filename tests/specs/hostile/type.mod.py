# expect: :2: unknown operand type 'TENSOR_FLOAT64'
x = Input("x", ("TENSOR_FLOAT64", [2]))
