# expect: :2: None of type NoneType cannot be an argument
Model().Operation("RELU", None)
