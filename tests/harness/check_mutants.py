#!/usr/bin/env python3
"""Damaged text files load, or are rejected with a message: check_mutants.py HALCYON LOAD_EACH ROOT [COUNT [SEED]]

COUNT mutants (default 100) of each format: specifications, corpus lines (plain and compressed), device profiles, traces
and results databases. ROOT is the source folder. Some mutants change bytes, others whole tokens. Each must load or be
rejected (exit status 2) within a time limit, by a message that begins with the file and, for text, with the line, and
has no words of Python, unless the specification's own code raised one of Python's exceptions. Nothing is written.
A mutant that fails is kept, and its path printed."""
import io
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize

LIMIT_SECONDS = 10  # for one specification
BATCH = 50
WHY_SYSTEM = "5"  # golden/base/why.h
# What Python says of a syntax error is about the file: "positional argument follows keyword argument".
PYTHON_WORDS = re.compile(r"Traceback|object is not|has no attribute|NoneType|index out of range|unhashable|not iterable|"
                          r"positional argument(?! follows)|(?<!follows )keyword argument(?! repeated)|"
                          r"subscriptable|unsupported operand|could not convert|invalid literal|cannot unpack|not enough values|must be real number|required argument|"
                          r"File \"|<halcyon|0x[0-9a-f]{8}|lineno")
PYTHON_ERROR = re.compile(r"[A-Z]\w*(Error|Exception|Warning|Iteration|Exit|Interrupt): ")
NUMBERS = ["0", "1", "-1", "2", "7", "255", "256", "-129", "65536", "1e9", "1e39", "1e400", "0.5", "2147483648",
           "4294967296", "18446744073709551616", "-0.0"]
PYTHON_VALUES = NUMBERS + ["None", "True", '""', '"x"', "[]", "()", "{}", "[[1]]", '"{2, 3}"', '"{0}"', '"TENSOR_INT32"',
                           "float('nan')", "range(3)", "print", "Input", "Model()"]
JSON_VALUES = NUMBERS + ["null", "true", '""', '"x"', "[]", "{}", "[[1]]", "[0]", '"TENSOR_INT32"', '"ADD"', '"AAAA"']
TOML_VALUES = NUMBERS + ["true", '""', '"x"', "[]", "{}", "[[1]]", "nan", "inf", "1979-05-27", '["ADD"]', "{ a = 1 }"]
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[a-z]+|[\[\]{},:]')
TOML_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|[\w.+-]+|\n|\s+|.')


# ---- mutations: from text or bytes to bytes


def change_bytes(data, choice, others):
    data = bytearray(data)
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(data) + 1)
        length = min(choice.choice([1, 1, 2, 8, 64]), len(data) - at)
        kind = choice.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << choice.randrange(8)
        elif kind == 1:
            data[at:at] = choice.randbytes(choice.choice([1, 1, 4]))
        elif kind == 2:
            del data[at:at + length]
        elif kind == 3:
            other = choice.choice(others)
            start = choice.randrange(len(other) + 1)
            data[at:at + length] = other[start:start + choice.choice([4, 40, 400])]
        elif choice.random() < 0.2:
            del data[at:]
    return bytes(data)


def change_tokens(tokens, choice, values, is_value):
    """Deletes, repeats, swaps or replaces tokens; a value is replaced by another kind of value."""
    tokens = list(tokens)
    for _ in range(choice.randint(1, 2)):
        places = [i for i, token in enumerate(tokens) if token.strip()]
        if not places:
            break
        at, other = choice.choice(places), choice.choice(places)
        kind = choice.randrange(6)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = tokens[other]
        else:
            at = choice.choice([i for i in places if is_value(tokens[i])] or [at])
            tokens[at] = choice.choice(values)
    return "".join(tokens).encode()


def python_tokens(text):
    """The tokens of a program with the space before each, so that joining them gives the program."""
    tokens, place = [], 0
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        if end > place and token.type not in (tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            tokens += [text[place:begin], text[begin:end]]
            place = end
    return tokens + [text[place:]]


def mutate_specification(data, choice, others):
    if choice.random() < 0.25:
        return change_bytes(data, choice, others)
    return change_tokens(python_tokens(data.decode()), choice, PYTHON_VALUES,
                         lambda token: re.fullmatch(r"[\w.]+|\".*\"", token) is not None)


def mutate_json(data, choice, others):
    if choice.random() < 0.25:
        return change_bytes(data, choice, others)
    return change_tokens(JSON_TOKEN.findall(data.decode()), choice, JSON_VALUES,
                         lambda token: token not in "[]{},:") + b"\n"


def mutate_xz(data, choice, others):
    if choice.random() < 0.3:
        return lzma.compress(mutate_json(data, choice, others))
    return change_bytes(lzma.compress(data), choice, [lzma.compress(other) for other in others])


def mutate_toml(data, choice, others):
    if choice.random() < 0.25:
        return change_bytes(data, choice, others)
    return change_tokens(TOML_TOKEN.findall(data.decode()), choice, TOML_VALUES,
                         lambda token: re.fullmatch(r"[\w.+-]+|\".*\"", token) is not None)


def mutate_lines(data, choice, others):
    """A trace: tokens of some lines, or bytes."""
    if choice.random() < 0.4:
        return change_bytes(data, choice, others)
    lines = data.splitlines(keepends=True)
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(lines))
        lines[at] = mutate_json(lines[at], choice, others)
    return b"".join(lines)


# ---- what a rejection must look like


def wrong_message(text, path, numbered):
    """Why a message breaks the rules, or None."""
    if not text.startswith(path):
        return "does not begin with the file"
    rest = text[len(path):]
    line = re.match(r":\d+: ", rest)
    if numbered and not line and not re.match(r": (not loaded within|no examples|out of memory|the file ended|spec/)", rest):
        return "has no line"
    rest = rest[line.end():] if line else rest
    if PYTHON_WORDS.search(rest) and not PYTHON_ERROR.match(rest):
        return "has words of Python"
    return None


class Checker:
    def __init__(self, halcyon, load_each, count, seed):
        self.halcyon, self.load_each, self.count, self.seed = halcyon, load_each, count, seed
        self.folder = tempfile.mkdtemp(prefix="halcyon-mutants-")
        self.wrong = 0

    def mutants(self, ending, seeds, mutate):
        choice = random.Random(f"{self.seed} {ending}")
        for number in range(self.count):
            name, data = choice.choice(seeds)
            path = os.path.join(self.folder, f"m{number}{ending}")
            with open(path, "wb") as file:
                file.write(mutate(data, choice, [other for _, other in seeds]))
            yield path

    def report(self, path, what, text):
        self.wrong += 1
        kept = os.path.join(self.folder, "kept-" + os.path.basename(path))
        shutil.copy(path, kept)
        print(f"{kept}: {what}:\n    {text.strip()[:400]}")

    def in_process(self, ending, seeds, mutate, numbered):
        """Formats that load_each reads."""
        rejected = 0
        paths = list(self.mutants(ending, seeds, mutate))
        for start in range(0, len(paths), BATCH):
            batch = paths[start:start + BATCH]
            run = subprocess.run([self.load_each, str(LIMIT_SECONDS)], input="".join(path + "\n" for path in batch),
                                 capture_output=True, text=True, errors="replace", cwd=self.folder,
                                 timeout=BATCH * LIMIT_SECONDS * 3)
            answers = run.stdout.split("\n")[:-1]
            for path, answer in zip(batch, answers):
                code, _, text = answer.partition(" ")
                rejected += code != "loaded"
                if code == WHY_SYSTEM:
                    self.report(path, "an error of the system", text)
                elif code != "loaded" and wrong_message(text, path, numbered):
                    self.report(path, wrong_message(text, path, numbered), text)
            if run.returncode != 0 or len(answers) != len(batch):
                self.report(batch[min(len(answers), len(batch) - 1)], f"exit status {run.returncode}", run.stderr[-2000:])
        self.done(ending, rejected, paths)

    def by_command(self, ending, seeds, mutate, command):
        """Formats that a command reads; `command` gives its arguments for a path."""
        rejected = 0
        out = os.path.join(self.folder, "out")
        paths = list(self.mutants(ending, seeds, mutate))
        for path in paths:
            run = subprocess.run([self.halcyon, *command(path, out)], capture_output=True, text=True, errors="replace",
                                 cwd=self.folder, timeout=10 * LIMIT_SECONDS)
            rejected += run.returncode != 0
            if run.returncode not in (0, 2) or "Sanitizer" in run.stderr:
                self.report(path, f"exit status {run.returncode}", run.stderr)
            elif run.returncode == 2 and f": {path}" not in run.stderr:
                self.report(path, "a message without the file", run.stderr)
            elif run.returncode == 2 and os.path.exists(out):
                self.report(path, "rejected, but something was written", run.stderr)
            shutil.rmtree(out, ignore_errors=True)
            if os.path.exists(out):
                os.remove(out)
        self.done(ending, rejected, paths)

    def done(self, ending, rejected, paths):
        print(f"{ending}: {len(paths)} mutants, {rejected} rejected")
        for path in paths:
            for name in (path, path + "-wal", path + "-shm"):  # SQLite's files beside a database that is read
                if os.path.exists(name):
                    os.remove(name)
        left = [name for name in os.listdir(self.folder) if not name.startswith("kept-")]
        if left:
            self.wrong += 1
            print(f"{self.folder}: files that a mutant wrote: {left}")
            for name in left:
                shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)


def read_all(*folders, ending):
    found = []
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            if name.endswith(ending):
                with open(os.path.join(folder, name), "rb") as file:
                    found.append((name, file.read()))
    assert found, folders
    return found


def corpus_lines(halcyon, folder):
    lines = []
    for name in ("powers", "residual", "quant8_net", "choice"):
        run = subprocess.run([halcyon, "dump", f"{folder}/{name}.mod.py", "--format", "json"], capture_output=True, check=True)
        lines.append((name, run.stdout))
    return lines


def recorded(halcyon, root, folder):
    """A trace, as JSON and as text of ftrace, and a results database of a small campaign."""
    run = [halcyon, "run", f"{root}/specs/corpus/powers.mod.py", "-d", "sim:cpu?fault=last-tap-dropped", "-d", "golden", "-q",
           "--trace", "t.json", "--db", "t.db"]
    subprocess.run(run, capture_output=True, cwd=folder, check=False)
    subprocess.run([halcyon, "trace", "t.json", "--export", "t.txt"], capture_output=True, cwd=folder, check=True)
    found = []
    for name in ("t.json", "t.txt", "t.db"):
        with open(os.path.join(folder, name), "rb") as file:
            found.append([(name, file.read())])
    return found


def main(halcyon, load_each, root, count="100", seed="1"):
    checker = Checker(os.path.abspath(halcyon), os.path.abspath(load_each), int(count), seed)
    corpus = os.path.join(root, "specs", "corpus")
    specifications = read_all(corpus, os.path.join(root, "tests", "specs", "dialects"), ending=".mod.py")
    lines = corpus_lines(checker.halcyon, corpus)
    with tempfile.TemporaryDirectory() as folder:
        traces, texts, databases = recorded(checker.halcyon, os.path.abspath(root), folder)
    checker.in_process(".mod.py", specifications, mutate_specification, True)
    checker.in_process(".jsonl", lines, mutate_json, True)
    checker.in_process(".jsonl.xz", lines, mutate_xz, True)
    checker.in_process(".toml", read_all(os.path.join(root, "sim", "profiles"), ending=".toml"), mutate_toml, False)
    checker.by_command(".json", traces, mutate_lines, lambda path, out: ["trace", path])
    checker.by_command(".txt", texts, change_bytes, lambda path, out: ["trace", path, "--export", out])
    checker.by_command(".db", databases, change_bytes, lambda path, out: ["report", "--db", path, "-o", out])
    checker.by_command(".db", databases, change_bytes, lambda path, out: ["merge", path, "-o", out])
    if checker.wrong:
        print(f"{checker.wrong} mutants are wrong: see {checker.folder}")
        return 1
    shutil.rmtree(checker.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
