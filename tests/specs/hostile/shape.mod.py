# expect: :2: '{2' is not a shape
x = Input("x", "TENSOR_FLOAT32", "{2")
