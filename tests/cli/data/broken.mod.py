model = Model()
this is no specification
