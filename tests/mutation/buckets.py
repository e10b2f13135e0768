"""How well failures are sorted: of the mutants that were found, into how many buckets `halcyon random` sorts the
failures, how small the shrunk cases are and how long shrinking takes (--buckets); and whether the failures of two
mutants at once share a bucket (--pairs)."""
import collections
import contextlib
import json
import random
import sqlite3
import statistics
import subprocess

MOST_BUCKETS, MOST_OPERATIONS, MOST_ELEMENTS, MOST_SECONDS = 2, 2, 16, 2


class Sorted:
    """The failures of one run: the operations that they are blamed on, of each target and bucket, and the sizes of the
    shrunk cases."""

    def __init__(self, command, database):
        self.buckets, self.shrunk = {}, []
        done = subprocess.run([*command, "--json", "--db", str(database)], capture_output=True, text=True, timeout=1800)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr[-1000:]}")
        for bucket in json.loads(done.stdout.splitlines()[-1])["summary"].get("buckets", []):
            size = bucket.get("shrunk")
            self.shrunk.append((bucket["bucket"], size and (size["operations"], size["elements"], size["seconds"])))
        with contextlib.closing(sqlite3.connect(database)) as db:
            for target, name, operation in db.execute("SELECT uri, bucket, coalesce(blamed_operation, operation, '') "
                                                      "FROM failures"):
                self.buckets.setdefault((target, name), collections.Counter())[operation] += 1

    def most_buckets(self):
        """Of one target: a device that shares the mistake has buckets of its own."""
        return max(collections.Counter(target for target, _ in self.buckets).values())

    def operations(self):
        return set().union(*self.buckets.values())


def is_small(size):
    return size is not None and size[0] <= MOST_OPERATIONS and size[1] <= MOST_ELEMENTS


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "none"


def print_buckets(mutants):
    """mutants: with .sorted."""
    few = sum(m.sorted.most_buckets() <= MOST_BUCKETS for m in mutants)
    sizes = [size for m in mutants for _, size in m.sorted.shrunk]
    seconds = [size[2] for size in sizes if size]
    print(f"\nBuckets of {len(mutants)} bugs: at most {MOST_BUCKETS} of {share(few, len(mutants))}; mean "
          f"{statistics.mean(m.sorted.most_buckets() for m in mutants):.1f} on a target\n"
          f"Shrunk to at most {MOST_OPERATIONS} operations and {MOST_ELEMENTS} elements: "
          f"{share(sum(map(is_small, sizes)), len(sizes))} of the buckets, median "
          f"{statistics.median(seconds) if seconds else 0:.2f} s\n")
    for m in sorted(mutants, key=lambda m: (-m.sorted.most_buckets(), m.name)):
        large = [f"{name}: {size}" for name, size in m.sorted.shrunk if not is_small(size)]
        if m.sorted.most_buckets() > MOST_BUCKETS:
            print(f"- {m.name} ({m.family}): {m.sorted.most_buckets()} buckets: "
                  + "; ".join(f"{target} {name} x {operations.total()}"
                              for (target, name), operations in m.sorted.buckets.items()))
        for line in large:
            print(f"- {m.name} ({m.family}): large or not shrunk: {line}")


def only(a, b):
    """The operations that failures of a are blamed on, and none of b."""
    return a.sorted.operations() - b.sorted.operations()


def choose_pairs(mutants, seed, count):
    """Mutants each of which makes an operation fail that the other one does not; half of the pairs are of one family,
    where there are such."""
    rng = random.Random(seed)
    pairs = [(a, b) for i, a in enumerate(mutants) for b in mutants[i + 1:]
             if (a.family != b.family or a.end <= b.start or b.end <= a.start) and only(a, b) and only(b, a)]
    rng.shuffle(pairs)
    near = [p for p in pairs if p[0].family == p[1].family][:count // 2]
    return near + [p for p in pairs if p[0].family != p[1].family][:count - len(near)]


def mixed_buckets(pair, both):
    """The buckets of both bugs at once with failures of an operation that only the first makes fail, and of one that
    only the second does.  Failures that are not shrunk have no bucket."""
    a, b = pair
    return [name for (_, name), operations in both.buckets.items()
            if name and operations.keys() & only(a, b) and operations.keys() & only(b, a)]


def print_pairs(results):
    """results: ((mutant, mutant), mixed buckets)."""
    apart = sum(not mixed for _, mixed in results)
    print(f"\nTwo bugs at once: no bucket has failures of both in {share(apart, len(results))} of the pairs")
    for (a, b), mixed in results:
        if mixed:
            print(f"- {a.name} ({a.family}) and {b.name} ({b.family}): {'; '.join(map(str, mixed))}")
