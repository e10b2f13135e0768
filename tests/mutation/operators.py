"""Mutation operators: the small changes that mutate.py makes to the C source of a kernel.

sites(text) lists every change of a file as (kind, start, end, replacement).  Only bodies of functions are changed, and
not the lines that report errors or plant faults, which no valid input of an unchanged device reaches.
"""
import re

BODY = re.compile(r"^\{\n(.*?)^\}", re.M | re.S)
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
SKIPPED_LINE = re.compile(r"why_|TRY\(|\bw\b|KERNEL_FAULT|kernel_faults|ROUND_DOWN|truncate|static const|assert"
                          r"|if \(!|\bfailed\b|arena_|floats_new")
# What follows is not an operator of a declaration: the source is formatted with spaces around binary operators.
BINARY = {
    "arithmetic": {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " << ": " >> ", " >> ": " << ",
                   " += ": " -= "},
    "comparison": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "},
    "logic": {" && ": " || ", " || ": " && "},
}
ROUNDINGS = {"round(": "trunc(", "roundf(": "floorf(", "llround(": "(int64_t) (", "llroundf(": "(int64_t) (",
             "floorf(": "ceilf(", "ceilf(": "floorf(", "trunc(": "round(", "truncf(": "roundf(", "lrint(": "(long) ("}
OPERAND = r"-?[\w.>\[\]-]+?"


def body_spans(text):
    return [match.span(1) for match in BODY.finditer(text)]


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def constants(code):
    for m in re.finditer(r"(?<![\w.])(\d+)(\.\d+)?(f?)(?![\w.])", code):
        number, fraction, suffix = m.groups()
        if fraction or suffix:
            yield "constant", m.start(), m.end(), f"({m.group()} * 1.25{suffix})"
            continue
        yield "constant", m.start(), m.end(), str(int(number) + 1)
        if number != "0":
            yield "constant", m.start(), m.end(), str(int(number) - 1)


def binaries(code):
    for kind, table in BINARY.items():
        for old, new in table.items():
            for m in re.finditer(re.escape(old), code):
                yield kind, m.start(), m.end(), new


def statements(code):
    """Assignments and calls of one line, without declarations (which would leave an unknown name)."""
    for m in re.finditer(r"^[ ]+((?:\*?[a-z_][\w.\[\]>+-]*(?: [-+*/|&^]?= |\+\+;|\()).*;)$", code, re.M):
        if m.group(1).count("(") == m.group(1).count(")") and not m.group(1).startswith(("return", "for", "while")):
            yield "statement dropped", m.start(1), m.end(1), ";"


def calls(code):
    """Two neighbouring simple arguments."""
    for m in re.finditer(rf"(?<=[(,] )?\b({OPERAND}), ({OPERAND})(?=[,)])", code):
        if m.group(1) != m.group(2) and not m.group(1).isdigit():
            yield "arguments swapped", m.start(), m.end(), f"{m.group(2)}, {m.group(1)}"


def roundings(code):
    for old, new in ROUNDINGS.items():
        for m in re.finditer(rf"(?<!\w){re.escape(old)}", code):
            yield "rounding", m.start(), m.end(), new


def conditions(code):
    for m in re.finditer(r"\bif \((.+)\)$|\bif \((.+)\) \{$", code, re.M):
        group = 1 if m.group(1) else 2
        yield "condition negated", m.start(group), m.end(group), f"!({m.group(group)})"
    for m in re.finditer(rf"\? ({OPERAND}) : ({OPERAND})(?=[;,)])", code):
        if m.group(1) != m.group(2):
            yield "condition negated", m.start(), m.end(), f"? {m.group(2)} : {m.group(1)}"


def loops(code):
    for m in re.finditer(r"for \([^;]*; [^;]*? < ([^;&]+?)(?=;| &&)", code):
        yield "loop bound", m.start(1), m.end(1), f"{m.group(1)} - 1"


def clamps(code):
    for m in re.finditer(rf"({OPERAND}) [<>]=? ({OPERAND}) \? \2 : ", code):
        yield "clamp removed", m.start(), m.end(), ""
    for m in re.finditer(rf"\bf(?:min|max)f?\(({OPERAND}), ({OPERAND})\)", code):
        yield "clamp removed", m.start(), m.end(), m.group(1)
        yield "clamp removed", m.start(), m.end(), m.group(2)


def sites(text):
    """All changes, in the order of the file; comments and strings are left alone."""
    code = COMMENT.sub(blank, text)
    found = set()
    for first, last in body_spans(text):
        body = code[first:last]
        for operator in (constants, binaries, statements, calls, roundings, conditions, loops, clamps):
            for kind, start, end, new in operator(body):
                line = body[body.rfind("\n", 0, start) + 1:body.find("\n", end)]
                if not SKIPPED_LINE.search(line):
                    found.add((first + start, first + end, kind, new))
    return [(kind, start, end, new) for start, end, kind, new in sorted(found)]
