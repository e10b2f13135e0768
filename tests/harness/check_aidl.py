"""Drivers written against Android's AIDL interface: check_aidl.py HALCYON ROUND_TRIP.so EXAMPLE.so

ROUND_TRIP is sim:cpu as an AIDL device, used as a driver of hal.h again, with the version of the interface as argument.
It must keep what the device keeps: the rules of the HAL, and right numbers. EXAMPLE supports one operation,
and neither bursts nor reusable executions."""
import re
import subprocess
import sys


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    print(" ".join(command), result.stdout[-3000:], result.stderr[-2000:], sep="\n")
    return result


def main():
    halcyon, round_trip, example = sys.argv[1:]
    for version in "14":
        suites = ["--suite", "version", "--suite", "extension", "--suite", "basic"] if version == "1" else []
        result = run(halcyon, "conform", "-d", f"lib:{round_trip}?{version}", "--stress", "0.2", "--db", "aidl.db", *suites)
        assert result.returncode == 0, f"interface version {version}: exit status {result.returncode}"
    result = run(halcyon, "random", "--no-probe", "-d", f"lib:{round_trip}", "--count", "200", "--seed", "5", "--db", "aidl.db")
    assert result.returncode == 0
    result = run(halcyon, "random", "--no-probe", "-d", f"lib:{example}", "--op", "ADD", "--types", "TENSOR_FLOAT32", "--ops", "1-1",
                 "--ways", "0", "--count", "400", "--seed", "5", "--db", "aidl.db")
    assert result.returncode == 0
    counts = re.search(r"^lib:\S+\s+(\d+)", result.stdout, re.MULTILINE)
    assert counts and int(counts.group(1)) > 10, "too few graphs that the example supports"


main()
