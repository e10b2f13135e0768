# expect: :2: None cannot be an argument
Model().Operation("RELU", None)
