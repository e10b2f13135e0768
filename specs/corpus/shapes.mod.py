# Operations that only move values.
x = Input("x", ("TENSOR_INT32", [2, 3]))
whole = Internal("whole", ("TENSOR_FLOAT32", [2, 3]))
padded = Internal("padded", ("TENSOR_FLOAT32", [3, 4]))
turned = Internal("turned", ("TENSOR_FLOAT32", [4, 3]))
left, right = Internal("left", ("TENSOR_FLOAT32", [2, 3])), Output("right", ("TENSOR_FLOAT32", [2, 3]))
joined = Output("joined", ("TENSOR_FLOAT32", [4, 3]))

paddings = Parameter("paddings", ("TENSOR_INT32", [2, 2]), [1, 0, 0, 1])
model = Model().IntroducedIn("V1_2")
model.Operation("CAST", x).To(whole)
model.Operation("PAD", whole, paddings).To(padded)
model.Operation("TRANSPOSE", padded, [1, 0]).To(turned)
model.Operation("SPLIT", turned, 0, 2).To(left, right)
model.Operation("CONCATENATION", right, left, 0).To(joined)

# padded: 0 0 0 0 / 1 2 3 0 / 4 5 6 0, turned: 0 1 4 / 0 2 5 / 0 3 6 / 0 0 0
Example({
    x: [1, 2, 3, 4, 5, 6],
    right: [0, 3, 6, 0, 0, 0],
    joined: [0, 3, 6, 0, 0, 0, 0, 1, 4, 0, 2, 5],
})
