#!/usr/bin/env python3
"""halcyon selftest: check_selftest.py HALCYON ARGUMENT...

With every planted fault, every rule that the fault names must fail; every rule must be named by a fault; the device
without a fault must have no finding. Without arguments, each row of the fault table must have been run."""
import json
import subprocess
import sys


def lines_of(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    print(run.stderr, end="")
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def main():
    halcyon, *arguments = sys.argv[1:]
    status, rows = lines_of(halcyon, "selftest", "--json", *arguments)
    _, faults = lines_of(halcyon, "devices", "--faults", "--json")
    idle = [rule for row in rows for rule in row.get("idle_rules", [])]
    rows = [row for row in rows if "fault" in row]
    bad = [row for row in rows if row["end"] != "found"]
    for row in bad:
        print(json.dumps(row))
    for rule in idle:
        print(f"no fault names the rule {rule}: add it to the RULES() of a fault that makes it fail, or add such a "
              "fault (sim/faulty/*_faults.c, sim/device/faults.c)")
    print(f"{len(rows)} rows, {len(bad)} not as expected, {len(idle)} rules without a fault, exit status {status}")
    slowest = sorted(rows, key=lambda row: -row["seconds"])[:5]
    print("slowest:", ", ".join(f"{row['fault']} {row['seconds']:.1f} s" for row in slowest))
    assert rows and not bad and not idle and status == 0
    assert {row["fault"] for row in rows if row["fault"]} <= {fault["fault"] for fault in faults}
    if not arguments:
        assert len(rows) == len(faults) + 1, (len(rows), len(faults))


main()
