#!/usr/bin/python3
"""Dask.distributed: a task for each shard, CAMPAIGN_JOBS at a time.

CAMPAIGN_SCHEDULER is the address of a scheduler, such as tcp://127.0.0.1:8786; without it, processes on this
machine are the workers. Scheduler, workers and this program have the same Python packages, and see the
folder under the same path. CAMPAIGN_PATIENCE: seconds without a worker after which it gives up (60)."""
import os
import signal
import subprocess
import sys
import time

try:
    import distributed
except ImportError:
    sys.exit(print("python3-distributed is not installed (Debian: apt-get install python3-distributed)") or 2)


def run_shard(folder, shard):
    """On a worker. Nobody else can end a task that has begun, so it looks whether the campaign has ended."""
    process = subprocess.Popen([f"{folder}/shard", shard], stdin=subprocess.DEVNULL)
    while True:
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            if os.path.exists(f"{folder}/stop"):
                process.terminate()


def run_all(client, folder, shards, jobs, patience):
    running, seen = set(), time.monotonic()
    while shards or running:
        while shards and len(running) < jobs:
            running.add(client.submit(run_shard, folder, shards.pop(0), pure=False))
        try:
            running = distributed.wait(running, timeout=5, return_when="FIRST_COMPLETED").not_done
        except distributed.TimeoutError:
            pass
        if client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif time.monotonic() > seen + patience:
            sys.exit(print(f"no worker for {patience:g} s") or 1)


def main():
    folder, name = sys.argv[1:]
    jobs, address = int(os.environ["CAMPAIGN_JOBS"]), os.environ.get("CAMPAIGN_SCHEDULER")
    patience = float(os.environ.get("CAMPAIGN_PATIENCE", "60"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with open(name, encoding="ascii") as file:
        shards = file.read().split()
    cluster = address or distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, host="127.0.0.1",
                                                  dashboard_address=None)
    with distributed.Client(cluster, timeout=patience) as client:
        run_all(client, folder, shards, jobs, patience)


if __name__ == "__main__":
    main()
