"""Listens at ./stream, a socket of another kind; at ./junk, where it answers nonsense; and at ./old as
a service that says nothing of its protocol."""
import select
import socket

EMPTY, INFO = (bytes([n, 0, 0, 0, 0, 0, 0, 0]) for n in (0, 2))
ANSWERS = {"junk": [b"What do you want here?"], "old": [EMPTY, INFO + b"\x12\x00"]}


def listen(path, kind):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(path)
    s.listen()
    return s


def answer(client, answers):
    try:
        for a in answers:
            if not client.recv(4096):
                return
            client.send(a)
        client.recv(4096)
    except ConnectionError:
        pass


stream = listen("stream", socket.SOCK_STREAM)
listeners = {listen(path, socket.SOCK_SEQPACKET): a for path, a in ANSWERS.items()}
open("ready", "w").close()
while True:
    for s in select.select(list(listeners), [], [])[0]:
        with s.accept()[0] as client:
            answer(client, listeners[s])
