# expect: :2: extension data
y = Output("y", ("org.halcyon.example.fibonacci.TENSOR_QUANT64_ASYMM", [0]), extraParams=ExtensionData("dq", "x", 0))
