#!/usr/bin/env python3
"""A page that a command writes is what the command writes now: check_page.py PAGE HOW COMMAND...

HOW is what renews it; the answer shows where the page differs."""
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
    print(f"{page} is not current: {how} renews it")
    return 1


sys.exit(main())
