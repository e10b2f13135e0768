#!/usr/bin/env python3
"""Checks the commands that a page of documentation shows: check_commands.py [--bless] [--source DIR] HALCYON PAGE.md...

In the code blocks of a page (indented by four blanks, or fenced) a line that begins with "$ " is a command; the lines
that follow, until the next command or the end of the block, are what it prints on stdout and stderr. A command with
"<<'END'" has the lines down to END. The commands of a page run in their order, by sh, in one empty folder
named "tutorial"; with --source it has links to the folders of DIR, for pages whose commands run there. Their outputs must be
those of the page, except that

- times ("0.3 s", "12 ms", "1,200 us") may be any times, and numbers of checks ("38 checks") any numbers: rules with
  threads make as many as time permits;
- "..." on a line of its own stands for any lines, also none; at the end of a line for the rest of the line.

A command may exit with 0 or 1; another status is an error, unless the page shows it ("$ COMMAND; echo $?"). Lines
without "$ " are not run. A page in which nothing is run is an error. --bless replaces the outputs that differ, but not
those with "...", which are reported.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

VARYING = re.compile(r" *\b\d[\d,]*(?:\.\d+)? (s|ms|us|checks)\b")


class Block:
    """A command with the lines that the page shows for it; first and end are their places in the page."""

    def __init__(self, command, indent, first):
        self.command, self.indent, self.first, self.end, self.output = command, indent, first, first, []


def code_lines(lines):
    """(number, line without indentation, indentation, whether the block goes on behind it) of each line of code."""
    fenced, after_text = False, True
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced, after_text = not fenced, True
        elif fenced:
            yield number, line, ""
        elif line.startswith("    "):
            yield number, line[4:], "    "
        elif line.strip():
            yield number, None, ""  # text ends the block


def commands_of(lines):
    block, terminator, last = None, None, -2
    for number, line, indent in code_lines(lines):
        between = lines[last + 1:number]
        if line is None or any(text.strip() for text in between):
            block = terminator = None
        elif block:  # empty lines inside of a block
            (block.command if terminator else block.output).extend([""] * (number - last - 1))
        last = number
        if line is None:
            continue
        if terminator is None and line.startswith("$ "):
            block = Block([line[2:]], indent, number + 1)
            here = re.search(r"<<'?(\w+)'?", line)
            terminator = here.group(1) if here else None
            yield block
        elif block and terminator:
            block.command.append(line)
            block.first = number + 1
            if line == terminator:
                terminator = None
        elif block:
            block.output.append(line)
        if block:
            block.end = number + 1


def plain(line):
    return VARYING.sub(r" _ \1", line).rstrip()


def line_matches(shown, printed):
    if shown.endswith("...") and shown.strip() != "...":
        return plain(printed).startswith(plain(shown[:-3]))
    return plain(shown) == plain(printed)


def matches(shown, printed):
    """Whether printed lines are those of the page, with "..." for any number of lines; empty ones at the end are none."""
    while shown and not shown[-1].strip():
        shown = shown[:-1]
    reached = {0}  # numbers of printed lines that the lines shown so far can stand for
    for line in shown:
        if line.strip() == "...":
            reached = set(range(min(reached), len(printed) + 1)) if reached else set()
        else:
            reached = {i + 1 for i in reached if i < len(printed) and line_matches(line, printed[i])}
    return len(printed) in reached


def run(block, folder, environment):
    done = subprocess.run(["sh", "-c", "\n".join(block.command)], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    printed = done.stdout.splitlines()
    while printed and not printed[-1].strip():
        printed.pop()
    return printed, done.returncode


def check_page(page, halcyon, source, bless):
    """Returns the number of commands that print something else."""
    lines = page.read_text().splitlines()
    blocks = list(commands_of(lines))
    bad = 0 if blocks else 1
    if not blocks:
        print(f"{page}: no command")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": f"{halcyon.parent}:{os.environ['PATH']}"}
    replaced = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch, "tutorial")
        folder.mkdir()
        for path in source.iterdir() if source else []:
            if path.is_dir() and not path.name.startswith((".", "build")):
                (folder / path.name).symlink_to(path)
        for block in blocks:
            printed, status = run(block, folder, environment)
            if status not in (0, 1):
                bad += 1
                print(f"{page.name}:{block.first}: {block.command[0]}: status {status}\n" + "\n".join(printed))
            elif not matches(block.output, printed):
                replaced.append((block, printed))
    for block, printed in reversed(replaced):
        if bless and not any(line.endswith("...") for line in block.output):
            while block.end > block.first and not lines[block.end - 1].strip():
                block.end -= 1
            lines[block.first:block.end] = [(block.indent + line).rstrip() for line in printed]
            print(f"{page.name}:{block.first}: rewritten")
            continue
        bad += 1
        print("\n".join(difflib.unified_diff(block.output, printed, f"{page.name}:{block.first}, shown",
                                             f"printed by: {block.command[0]}", lineterm="")))
    if bless and replaced:
        page.write_text("\n".join(lines) + "\n")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--source", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("halcyon", type=pathlib.Path)
    parser.add_argument("page", nargs="+", type=pathlib.Path)
    a = parser.parse_args()
    return 1 if sum(check_page(page, a.halcyon.resolve(), a.source, a.bless) for page in a.page) else 0


sys.exit(main())
