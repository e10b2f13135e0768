"""summary.py LOGS NAME...: what the fuzz targets of a campaign did, by libFuzzer's logs.

Prints a table in Markdown, then a line for each finding with the command that repeats it.  Exit
status 1 if there are any, or if a target ended otherwise than by its time.
"""

import pathlib
import re
import sys


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def row(name, text):
    executions = number(r"stat::number_of_executed_units:\s*(\d+)", text) or number(r"(?m)^#(\d+)", text)
    started = re.search(r"INITED cov: (\d+) ft: (\d+)", text)
    cells = [
        name,
        executions,
        number(r"stat::average_exec_per_sec:\s*(\d+)", text),
        number(r"\bcov: (\d+)", text),
        number(r"\bft: (\d+)", text),
        number(r"\bft: (\d+)", text) - (int(started[2]) if started else 0),
        number(r"stat::new_units_added:\s*(\d+)", text),
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def findings(name, text, status):
    files = re.findall(r"Test unit written to (\S+)", text)
    files = [file for file in files if "slow-unit" not in file]
    what = re.findall(r"(?m)^(?:SUMMARY: |==\d+== ?ERROR: )(.*)", text)
    for file in files:
        yield f"{name}: {what[-1] if what else 'no summary'}\n    ./dev fuzz {name} {file}"
    if not files and status != "0":
        last = (text.strip().splitlines() or ["no output"])[-1]
        yield f"{name}: ended with exit status {status}: {last}"


def main(folder, *names):
    folder = pathlib.Path(folder)
    found = []
    print("| target | executions | per second | edges | features | of them new | inputs added |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        text = (folder / name).read_text(errors="replace")
        print(row(name, text))
        found += findings(name, text, (folder / f"{name}.status").read_text().strip())
    print(f"\n{len(names)} targets, {len(found)} findings")
    for text in found:
        print(text)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
