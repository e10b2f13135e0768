#!/usr/bin/env python3
"""What campaigns show on a terminal while they run: check_progress.py HALCYON.

Runs halcyon on a pseudo-terminal and interprets what it writes as a terminal does: sequences that it should
not use fail. The text that stays when it has ended, lines that have left the screen included, must be that of
a run on a pipe."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

FAULTY = ["-d", "sim:cpu?fault=requantise-truncates", "--no-probe"]


class Terminal:
    """A terminal without an end: all lines, and the cursor."""
    SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")

    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [""], 0, 0
        self.wraps = self.shows_cursor = True
        self.colours, self.drawings, self.widest, self.frames = 0, 0, 0, []

    def sequence(self, private, number, letter):
        n = int(number) if number.isdigit() else 1
        if private:
            on = letter == "h"
            assert letter in "hl" and n in (7, 25), (private, number, letter)
            if n == 7:
                self.wraps = on
            else:
                self.shows_cursor = on
        elif letter == "A":
            assert n <= self.row, "it moves above the first line"
            self.row -= n
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
            self.drawings += 1
            self.frames.append("\n".join(self.lines))
        elif letter == "m":
            self.colours += 1
        else:
            raise AssertionError(f"an unknown sequence: {private}{number}{letter}")

    def put(self, c):
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self.row += 1
            self.column = 0
            if self.row == len(self.lines):
                self.lines.append("")
        else:
            assert c >= " ", f"the control character {c!r}"
            line = self.lines[self.row].ljust(self.column)
            if not self.wraps:
                self.widest = max(self.widest, self.column + 1)
                assert self.column < self.columns, f"beyond {self.columns} columns: {line}"
            self.lines[self.row] = line[:self.column] + c + line[self.column + 1:]
            self.column += 1

    def write(self, text):
        at = 0
        while at < len(text):
            found = self.SEQUENCE.match(text, at)
            if found:
                self.sequence(*found.groups())
                at = found.end()
                continue
            assert text[at] != "\x1b", f"an unknown sequence: {text[at:at + 10]!r}"
            self.put(text[at])
            at += 1

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)


def environment(settings):
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE")}
    return {**plain, "TERM": "xterm", **settings}


def set_size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def on_terminal(arguments, settings=None, size=(24, 80), act=None):
    """Runs halcyon on a terminal; act(process, terminal, fd) is called after each read. Returns the exit
    status and the terminal."""
    main, side = pty.openpty()
    set_size(main, *size)
    terminal = Terminal(size[1])
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([HALCYON, *arguments], cwd=folder, stdin=side, stdout=side, stderr=side,
                                   env=environment(settings or {}), start_new_session=True)
        os.close(side)
        decode = codecs.getincrementaldecoder("utf-8")().decode
        text, end = "", time.monotonic() + 200
        while time.monotonic() < end:
            if not select.select([main], [], [], 1)[0]:
                continue
            try:
                piece = os.read(main, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                break
            text += decode(piece)
            part = re.search(r"\x1b(\[[?0-9;]*)?$", text) # of a sequence
            terminal.write(text[:part.start()] if part else text)
            text = part.group() if part else ""
            if act:
                act(process, terminal, main)
        assert not text, text
        os.close(main)
        return process.wait(timeout=60), terminal


def on_pipe(arguments, settings=None):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([HALCYON, *arguments], cwd=folder, env=environment(settings or {}), text=True,
                              capture_output=True, timeout=200)
        return done.returncode, done.stdout, done.stderr


def without_times(text):
    text = re.sub(r"\d+\.\d s", "_ s", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def check_what_stays():
    """Failures are printed above the block, of which nothing stays."""
    run = ["random", *FAULTY, "--count", "400", "-j", "2", "--op", "ADD,MUL,TANH"]
    status, terminal = on_terminal(run)
    pipe_status, out, err = on_pipe(run)
    assert status == pipe_status == 1, (status, pipe_status)
    assert terminal.drawings > 5, terminal.drawings
    assert sorted(without_times(terminal.text()).splitlines()) == sorted(without_times(out).splitlines())
    assert "\x1b" not in out + err and "progress" not in err, err
    blocks = "\n".join(terminal.frames)
    for pattern in (r"\d+/400  ", r"\d+ pass, .*\d+ fail: \d kinds of failures",
                    r"\d+ fail  ADD TENSOR_QUANT8_ASYMM", r"last: halcyon replay random/v2/",
                    r"shrinking: \d of \d kinds", r"\d+ fail (ADD|MUL)\(TENSOR_QUANT8_ASYMM\)"):
        assert re.search(pattern, blocks), pattern


def check_rate():
    """Enough cases for several drawings between the first case and the last, on a fast machine, too."""
    _, terminal = on_terminal(["random", *FAULTY, "--count", "3000", "-j", "1", "--op", "ADD,MUL,TANH", "--no-shrink"])
    assert re.search(r"\[#+\.*\] \d+/3000  \d+(\.\d)?/s, \d+ s left", "\n".join(terminal.frames)), terminal.frames[-1]


def check_colours():
    run = ["random", *FAULTY, "--count", "30", "--op", "ADD", "--no-shrink"]
    for settings, options, tty, pipe in [
            ({}, [], True, False), ({"NO_COLOR": "1"}, [], False, False), ({"NO_COLOR": ""}, [], True, False),
            ({"CLICOLOR_FORCE": "1"}, [], True, True), ({"CLICOLOR_FORCE": "0"}, [], True, False),
            ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, [], False, False), ({"CLICOLOR": "0"}, [], False, False),
            ({"TERM": "dumb"}, [], False, False), ({}, ["--color", "never"], False, False),
            ({"NO_COLOR": "1"}, ["--color", "always"], True, True)]:
        _, terminal = on_terminal(run + options, settings)
        assert (terminal.colours > 0) == tty, (settings, options, terminal.colours)
        _, out, err = on_pipe(run + options, settings)
        assert ("\x1b[" in out) == pipe, (settings, options, out)
        assert "\x1b" not in err, err
        if settings.get("TERM") == "dumb":
            assert not terminal.drawings


def check_sizes():
    """In a narrow or low terminal the block is smaller; the terminal class checks the width."""
    run = ["random", *FAULTY, "--count", "400", "--op", "ADD,MUL,TANH", "--no-shrink", "-j", "1"]
    for size, block in (((24, 20), "400  "), ((4, 60), "/400")):
        _, terminal = on_terminal(run, size=size)
        assert terminal.drawings > 3 and any(block in frame for frame in terminal.frames)
        assert size[0] > 4 or not any("last:" in frame for frame in terminal.frames)

    # Once its size has changed, the terminal has another width, by which the class checks the next drawings.
    def narrow(process, terminal, fd):
        if terminal.drawings >= 3 and terminal.columns == 80:
            set_size(fd, 24, 40)
            time.sleep(0.3) # what is drawn for the old width is in the buffer now
            while select.select([fd], [], [], 0)[0]:
                os.read(fd, 1 << 16)
            terminal.__init__(40)
            terminal.lines, terminal.row = [""] * 50, 40

    _, terminal = on_terminal(run[:4] + ["--count", "3000", "-q", "--no-shrink"], size=(24, 80))
    assert not terminal.drawings, "-q shows progress"
    _, terminal = on_terminal(["random", "-d", "sim:cpu", "--no-probe", "--count", "2000", "-j", "1", "--op", "ADD,MUL"], act=narrow)
    assert terminal.columns == 40 and terminal.drawings > 3 and terminal.widest <= 39, vars(terminal)


def check_interrupt(times):
    """After Ctrl-C the cursor is at the beginning of a line, and the terminal's modes are as before."""
    sent = []

    def interrupt(process, terminal, fd):
        if terminal.drawings >= 3 + len(sent) and len(sent) < times:
            sent.append(os.killpg(process.pid, signal.SIGINT))

    status, terminal = on_terminal(["random", "-d", "sim:cpu", "--no-probe", "--count", "1000000"], act=interrupt)
    assert status in (130, -signal.SIGINT), status
    assert terminal.wraps and terminal.shows_cursor and terminal.column == 0, vars(terminal)
    if status == 130:
        assert "interrupted; the same command with --resume" in terminal.text().splitlines()[-1]
        assert "left" not in terminal.text()


def check_log():
    """Log lines of the workers are not drawn over."""
    run = ["random", "-d", "sim:cpu", "--no-probe", "--count", "200", "-j", "2", "--op", "ADD", "--vlog",
           "execution", "--judge", "bound"]
    _, terminal = on_terminal(run)
    _, _, err = on_pipe(run)
    lines = [l for l in terminal.text().splitlines() if re.match(r"\d\d-\d\d \d\d:", l)]
    expected = [l for l in err.splitlines() if re.match(r"\d\d-\d\d \d\d:", l)]
    assert expected and len(lines) == len(expected), (len(lines), len(expected))
    assert terminal.drawings > 1


HALCYON = os.path.abspath(sys.argv[1])
check_what_stays()
check_rate()
check_colours()
check_sizes()
check_interrupt(1)
check_interrupt(2)
check_log()
print("progress: what stays, colours, sizes, Ctrl-C, log lines")
