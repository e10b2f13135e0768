# Asks for more memory than a specification gets.
values = [0] * 10**12
