# expect: :7: E: (it cannot be shown)
class E(BaseException):
    def __str__(self):
        raise E()


raise E()
