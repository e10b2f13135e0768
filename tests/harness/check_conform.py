"""halcyon conform on drivers without faults: check_conform.py HALCYON [--serve] ARGUMENT...

Runs `halcyon conform ARGUMENT...`; --serve: each target is served at a socket, and reached there. Every rule that
applies must be checked and hold; those of MAY_LACK need not apply."""
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Rules about what a device need not have, or the process of its driver: recurrent operations, fp32, a cache,
# extensions, clients of a service.
MAY_LACK = {"request/omitted", "cache/restored", "cache/sequences", "deadline/cache", "extension/own",
            "extension/types", "stress/leaks", "stress/killed-clients", "stress/loops", "stress/sequences",
            "stress/resources", "stress/other-resources", "stress/memory", "crash/client-deaths", "crash/processes",
            "crash/loading-processes", "concurrency/calls-in-callbacks"}


def serve(halcyon, arguments, folder):
    """The arguments with each target replaced by its service's socket; the services."""
    services, served = [], list(arguments)
    for i, word in enumerate(arguments):
        if i and arguments[i - 1] == "-d":
            path = folder / f"{i}"
            services.append(subprocess.Popen([halcyon, "serve", word, "--listen", f"unix:{path}"]))
            for _ in range(600):
                if path.exists():
                    break
                time.sleep(0.05)
            served[i] = f"unix:{path}"
    return served, services


def main():
    halcyon, *arguments = sys.argv[1:]
    services = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            if arguments[0] == "--serve":
                arguments, services = serve(halcyon, arguments[1:], Path(folder))
                arguments += ["--jobs", "1"]  # durations are those of a device that nobody else uses
            run = subprocess.run([halcyon, "conform", "--verbose", "--timeout", "60", "--db", f"{folder}/conform.db", *arguments],
                                 capture_output=True, text=True)
        finally:
            for service in services:
                service.terminate()
                service.wait()
    print(run.stdout, run.stderr)
    summary = run.stdout.splitlines()[-1]
    assert run.returncode == 0, f"exit status {run.returncode}"
    assert re.search(r" 0 failed, [0-9]+ not applicable, 0 undecided;", summary), summary
    lacking = set(re.findall(r"^not applicable (\S+) on ", run.stdout, re.M))
    assert lacking <= MAY_LACK, f"not applicable: {sorted(lacking - MAY_LACK)}"
    assert not re.search(r"\b0 rules", summary), summary


main()
