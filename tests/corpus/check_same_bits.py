#!/usr/bin/env python3
"""The reference computes the same bits with every compiler, optimisation level and number of threads.

    check_same_bits.py CORPUS GRAPHS PROGRAM...

PROGRAMs are tests/corpus/digests.c, built in several ways. Runs each on the corpus, if there is one, and on GRAPHS
random graphs, with one thread or two, the last one also with baseline instructions, and compares every line."""
import concurrent.futures
import os
import subprocess
import sys

MOST_SHOWN = 20


def files_of(corpus):
    names = sorted(os.listdir(corpus)) if os.path.isdir(corpus) else []
    return [os.path.join(corpus, name) for name in names if name.endswith(".jsonl.xz")]


def variants(programs):
    """The runs: each program, with one thread and with two in turn, and the last one with baseline instructions."""
    for number, program in enumerate(programs):
        yield program, str(1 + number % 2), "best"
    yield programs[-1], "1", "base"


def title(variant):
    program, threads, isa = variant
    return f"{os.path.basename(program)}, {threads} thread{'s' * (threads != '1')}{', baseline instructions' if isa == 'base' else ''}"


def run(variant, graphs, files):
    program, threads, isa = variant
    command = [program, threads, isa, "1", graphs, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def differences(first, other):
    """A line for each case that differs: its name, and its results or bounds."""
    if len(first) != len(other):
        yield f"{len(first)} and {len(other)} cases"
    for one, two in zip(first, other):
        if one != two:
            one, two = one.split(maxsplit=2), two.split(maxsplit=2)
            what = "bounds" if one[:2] == two[:2] else "results"
            yield f"{one[0]}: {what} {' '.join(one[1:])} and {' '.join(two[1:])}"


def main():
    corpus, graphs, *programs = sys.argv[1:]
    files = files_of(corpus)
    if not files:
        print(f"no corpus at {corpus}: random graphs only")
    todo = list(variants(programs))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda variant: run(variant, graphs, files), todo))
    wrong = 0
    for variant, result in zip(todo[1:], results[1:]):
        found = list(differences(results[0], result))
        wrong += bool(found)
        if found:
            print(f"{title(todo[0])} and {title(variant)}: {len(found)} cases differ")
            print("\n".join(f"    {line}" for line in found[:MOST_SHOWN]))
    print(f"{len(results[0])} cases in {len(todo)} ways: {'; '.join(map(title, todo))}")
    return wrong > 0


sys.exit(main())
