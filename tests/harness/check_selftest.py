#!/usr/bin/env python3
"""halcyon selftest: check_selftest.py HALCYON ARGUMENT...

Every planted fault must be found by the suite that it names, and the device without a fault must have no finding.
Without arguments, each row of the fault table must have been run."""
import json
import subprocess
import sys


def main():
    halcyon, *arguments = sys.argv[1:]
    run = subprocess.run([halcyon, "selftest", "--json", *arguments], capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    bad = [row for row in rows if row["end"] != "found"]
    for row in bad:
        print(json.dumps(row))
    print(f"{len(rows)} rows, {len(bad)} not as expected, exit status {run.returncode}", run.stderr)
    faults = [json.loads(line)["fault"] for line in
              subprocess.run([halcyon, "devices", "--faults", "--json"], capture_output=True, text=True,
                             check=True).stdout.splitlines()]
    assert rows and {row["fault"] for row in rows if row["fault"]} <= set(faults)
    assert not bad and run.returncode == 0
    if not arguments:
        assert len(rows) == len(faults) + 1, (len(rows), len(faults))


main()
