"""Drivers written against Android's AIDL interface: check_aidl.py HALCYON ROUND_TRIP.so EXAMPLE.so

ROUND_TRIP is sim:cpu as an AIDL device, used as a driver of hal.h again, with the version of the interface as argument.
It must keep what the device keeps: the rules of the HAL, and right numbers. EXAMPLE supports one operation, and
leaves out what a complete driver has: each finding must be about one of GAPS, and each of these must be found."""
import json
import re
import subprocess
import sys


GAPS = {
    "no bursts": "burst",
    "no reusable executions": "reusable",
    "no fenced executions": "fence|time than is needed|at most [0-9]+ ns: GENERAL_FAILURE|info was released early|of a chain",
    "invalid models are not rejected": "(get_supported_operations|prepare_model|entry point).* NONE",
    "invalid deadlines are not rejected": "(deadline|time-out) of -[0-9]+ ns",
    "several operations are not supported": "is not supported, alone it is supported",
}
SUITES = ["basic", "model/M16", "model/ranges", "request", "generated", "fenced", "deadline", "priority", "extension",
          "consistency", "version"]
# Lines about other findings.
ABOUT_OTHERS = r"and \d+ more of \d+ checks|this was step \d+ of a random sequence"


def check_findings(halcyon, example):
    suites = [word for suite in SUITES for word in ("--suite", suite)]
    run(halcyon, "conform", "-d", f"lib:{example}", *suites, "--db", "aidl.db", "--json-file", "aidl.json", "-q")
    with open("aidl.json", encoding="utf-8") as file:
        verdicts = {v["case"]: v for v in json.load(file)["verdicts"]}
    found = set()
    for case, verdict in verdicts.items():
        assert verdict["verdict"] in ("pass", "unsupported", "violation"), verdict
        if verdict["verdict"] != "violation":
            continue
        for line in verdict["why"].split("\n"):
            gaps = [gap for gap, pattern in GAPS.items() if re.search(pattern, line)]
            assert gaps or re.fullmatch(ABOUT_OTHERS, line), f"{case}: a finding about none of the gaps: {line}"
            found.update(gaps)
    assert found == set(GAPS), f"not found: {set(GAPS) - found}"
    for rule in ("basic/B1", "generated/preferences", "priority/waiting", "consistency/memory"):
        assert verdicts[f"conform/fl8/{rule}"]["verdict"] == "pass", rule


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
    check_findings(halcyon, example)


main()
