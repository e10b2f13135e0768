#!/usr/bin/env python3
"""A committed page equals the output of the command that generates it: check_page.py PAGE HOW COMMAND...

HOW: the command line that renews the page, for the message; the difference is printed."""
import difflib
import subprocess
import sys


def main():
    page, how, *command = sys.argv[1:]
    written = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    with open(page, encoding="utf-8") as file:
        kept = file.read()
    if kept == written:
        return 0
    difference = difflib.unified_diff(kept.splitlines(), written.splitlines(), page, " ".join(command), lineterm="", n=1)
    print("\n".join(list(difference)[:60]))
    print(f"{page} is out of date: {how} renews it")
    return 1


sys.exit(main())
