#!/usr/bin/env python3
"""Mutation score of the random graphs: changes the kernels of the simulated devices, one change at a time, and counts
the changes that `halcyon random` finds and those for which it names the right operation.

    mutate.py BUILD [--seed S] [--count N] [--vendor N] [--graphs N] [--inputs N] [--corpus] [--family F]
              [--only WORD,...] [--minutes N] [--jobs N] [--buckets] [--pairs N] [--keep FOLDER]

BUILD is a release build with harness/halcyon and tests/mutation/outputs.  --count automatic mutants are drawn from the
seed, as evenly as possible from each family (a source file of kernels); --vendor hand-written bugs are drawn from
vendor/*.bugs (0: none; all: all), with --only from those whose name, class or file one of the words, which may have *,
is.  A mutant is

    unviable    if it does not compile; it is not counted,
    found       if --graphs random graphs give a verdict that does not conform,
    blamed      if it is found, and the first such verdict names an operation that the change affects,
    survived    if it is not found although it is wrong: one of --inputs models of one operation is judged not to
                conform,
    tolerated   if it is not, but visible: on some of these models, or of the corpus' examples (--corpus), the device
                computes other bits, which the definition or the error bound allows,
    equivalent  (or unseen) otherwise.

Only the changed files are compiled; their objects precede the libraries of the build on the linker's command line.
With --buckets the failures of the mutants that are found are shrunk and counted, too: buckets.py.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

import buckets
import operators

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
KERNELS = "sim/kernels"
ROW = re.compile(r'^    \{ "([A-Z0-9_]+)"', re.M)

# Files without a kernel table: the families whose operations they compute.
HELPERS = {
    "fixed": ["fixed_elementwise", "fixed_resize", "fixed_table", "fixed_window"],
    "float_operands": ["float_elementwise", "float_axis", "float_matrix", "float_window", "float_region",
                       "float_recurrent", "float_detection"],
    "float_cell": ["float_recurrent"],
    "float_boxes": ["float_detection", "float_postprocessing"],
    "half": ["float_elementwise", "float_axis", "float_matrix", "float_window", "float_region", "float_recurrent",
             "float_detection", "float_postprocessing", "float_random", "common_compare", "common_lookup",
             "fixed_table"],
    "kernel": ["fixed_elementwise", "fixed_window", "fixed_table", "common_integer", "float_window",
               "float_elementwise", "float_axis"],
    "xnnpack": ["float_window", "float_matrix"],
}
# The second one runs drivers in processes of their own, also to blame an operation of a crash, and to shrink.
HALCYON = ("harness/halcyon", "sim/halcyon-driver-host")
NOT_MUTATED = {"kernel_tables", "record_kernels"}  # tables, and calls of the reference's functions


def die(text):
    sys.exit(f"mutate: {text}")


def devices_of(family):
    """The simulated devices that run a family's kernels."""
    if family.startswith("fixed"):
        return ["sim:dsp"]
    if family in ("float_detection", "float_postprocessing", "float_random"):
        return ["sim:cpu"]  # the other devices do not support most of their operations
    if family.startswith("float") and family != "float_region":
        return ["sim:cpu", "sim:gpu"]
    return {"half": ["sim:gpu"], "xnnpack": ["sim:cpu"], "kernel": ["sim:cpu", "sim:dsp"],
            "float_region": ["sim:cpu", "sim:gpu"]}.get(family, ["sim:cpu"])


class Sources:
    """The kernels' source files by family, and the operations of each."""

    def __init__(self):
        files = sorted((ROOT / KERNELS).rglob("*.c"))
        self.path = {f.stem: f for f in files if f.stem not in NOT_MUTATED}
        self.text = {family: f.read_text() for family, f in self.path.items()}
        self.ops = {family: list(dict.fromkeys(ROW.findall(text))) for family, text in self.text.items()}
        for family, others in HELPERS.items():
            if family in self.path:
                self.ops[family] = sorted({op for other in others for op in self.ops[other]})
        for family, ops in self.ops.items():
            if not ops:
                die(f"{self.path[family]}: no kernel table; name the operations in HELPERS")


class Mutant:
    def __init__(self, name, kind, family, ops, start, end, new):
        self.name, self.kind, self.family, self.ops = name, kind, family, ops
        self.start, self.end, self.new = start, end, new
        self.file = ""  # of a vendor bug, without .bugs
        self.result, self.blamed, self.detail = None, False, ""
        self.sorted = None  # buckets.Sorted, with --buckets

    def describe(self, sources):
        text, path = sources.text[self.family], sources.path[self.family].relative_to(ROOT)
        line = text.count("\n", 0, self.start) + 1
        old = " ".join(text[self.start:self.end].split())
        return f"{path}:{line}: {self.name}: `{old.strip()}` -> `{' '.join(self.new.split())}`"


def automatic(sources, families, seed, count):
    """Mutants in a random order in which the families take turns, so that any prefix is balanced."""
    queues = []
    for family in families:
        text = sources.text[family]
        by_kind = collections.defaultdict(list)
        for site in operators.sites(text):
            by_kind[site[0]].append(site)
        rng = random.Random(f"{seed} {family}")
        for kind in by_kind.values():
            rng.shuffle(kind)
        queue = []
        while by_kind:  # the kinds take turns, too
            for kind in rng.sample(sorted(by_kind), len(by_kind)):
                queue.append(by_kind[kind].pop())
                if not by_kind[kind]:
                    del by_kind[kind]
        queues.append([Mutant(kind, kind, family, sources.ops[family], start, end, new)
                       for kind, start, end, new in queue])
    random.Random(seed).shuffle(queues)
    while any(queues) and count > 0:
        for queue in queues:
            if queue and count > 0:
                count -= 1
                yield queue.pop(0)


def function_span(text, name, where):
    m = re.search(rf"^[\w *]+\b{name}\([^;{{]*\)\n\{{\n.*?^\}}", text, re.M | re.S)
    if not m:
        die(f"{where}: no function {name}")
    return m.span()


def find_span(text, scope, old, where):
    """The place of old, with any white space between words, which must be the only one."""
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    found = [m.span() for m in re.finditer(pattern, text[scope[0]:scope[1]])]
    if len(found) != 1:
        die(f"{where}: the text to replace occurs {len(found)} times, not once: {old}")
    return scope[0] + found[0][0], scope[0] + found[0][1]


def read_bugs(path, sources):
    """Paragraphs of a header line "NAME CLASS FAMILY[:FUNCTION] OP[,OP...]", lines "- old" and lines "+ new".  OP *:
    any operation."""
    for number, paragraph in enumerate_paragraphs(path):
        where = f"{path.name}:{number}"
        header, lines = paragraph[0].split(), paragraph[1:]
        if len(header) != 4 or any(line[:2] not in ("- ", "+ ", "+") for line in lines):
            die(f"{where}: expected NAME CLASS FAMILY[:FUNCTION] OP[,OP...], then lines '- old' and '+ new'")
        name, kind, place, ops = header
        family, _, function = place.partition(":")
        if family not in sources.path:
            die(f"{where}: no file of kernels {family}")
        text = sources.text[family]
        scope = function_span(text, function, where) if function else (0, len(text))
        old = " ".join(line[2:] for line in lines if line[0] == "-")
        new = "\n".join(line[2:] for line in lines if line[0] == "+")
        start, end = find_span(text, scope, old, where)
        bug = Mutant(name, kind, family, ops.split(","), start, end, new)
        bug.file = path.stem
        yield bug


def enumerate_paragraphs(path):
    start, paragraph = 0, []
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            start = start or number
            paragraph.append(line)
        elif paragraph:
            yield start, paragraph
            start, paragraph = 0, []


def vendor_bugs(sources):
    bugs = [bug for path in sorted((ROOT / "tests/mutation/vendor").glob("*.bugs")) for bug in read_bugs(path, sources)]
    repeated = [name for name, n in collections.Counter(bug.name for bug in bugs).items() if n > 1]
    if repeated:
        die(f"vendor bugs with the same name: {', '.join(repeated)}")
    return bugs


def choose_bugs(bugs, words):
    """The bugs that one of the words, comma separated, names; each must name one."""
    chosen = []
    for word in words.split(","):
        named = [b for b in bugs if any(fnmatch.fnmatchcase(text, word) for text in (b.name, b.kind, b.file))]
        if not named:
            die(f"--only: {word} is no name, class or file of a vendor bug of these families")
        chosen += [b for b in named if b not in chosen]
    return chosen


class Builder:
    """Compiles one changed file and links programs with it."""

    def __init__(self, build):
        self.build = build
        database = json.loads((build / "compile_commands.json").read_text())
        self.compile = {pathlib.Path(build, e["file"]).resolve(): shlex.split(e["command"]) for e in database}
        self.link = {program: self.link_command(program) for program in (*HALCYON, "tests/mutation/outputs")}

    def link_command(self, program):
        out = subprocess.run(["ninja", "-C", self.build, "-t", "commands", program], capture_output=True, text=True)
        if out.returncode:
            die(f"ninja knows no {program}: {out.stderr.strip()}")
        return shlex.split(out.stdout.strip().splitlines()[-1])

    def compile_file(self, source, changed):
        command = list(self.compile[source])
        command[command.index("-o") + 1] = str(changed.with_suffix(".o"))
        command[command.index("-c") + 1] = str(changed)
        for flag in ("-MQ", "-MF"):
            at = command.index(flag)
            del command[at:at + 2]
        command = [a for a in command if a[:2] != "-W" and a not in ("-MD", "-O3")]
        command += ["-O1", "-Werror=int-conversion", "-Werror=incompatible-pointer-types"]
        return subprocess.run(command, cwd=self.build, capture_output=True).returncode == 0

    def link_program(self, program, folder):
        command = list(self.link[program])
        at = command.index("-o") + 1
        command[at] = str(folder / pathlib.Path(program).name)
        command[at + 1:at + 1] = sorted(map(str, folder.glob("*.o")))
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True)
        if done.returncode:
            die(f"cannot link {program}: {done.stderr[-2000:]}")
        return command[at]

    def link_halcyon(self, folder):
        return [self.link_program(program, folder) for program in HALCYON][0]


class Runner:
    def __init__(self, options, sources):
        self.options, self.sources = options, sources
        self.builder = Builder(options.build.resolve())
        self.digests = pathlib.Path(options.scratch.name)
        self.lock = threading.Lock()
        self.corpus = sorted(str(f) for f in CORPUS.glob("*.jsonl.xz")) if options.corpus else []
        if options.corpus and not self.corpus:
            die(f"no corpus in {CORPUS}")

    def digests_of(self, family, target):
        """The digests of the unchanged device, computed once; its kernels are compiled like those of the mutants, because
        other optimisations give other signs of zeros."""
        path = self.digests / f"{family}.{target.replace(':', '-')}"
        with self.lock:
            if not path.exists():
                folder = self.digests / family
                folder.mkdir(exist_ok=True)
                if not self.compile_mutants([], folder, {family}):
                    die(f"{self.sources.path[family]} does not compile")
                self.run_outputs(self.builder.link_program("tests/mutation/outputs", folder), family, target, path, True)
        return path

    def run_outputs(self, program, family, target, digests, must=False):
        """Whether the results differ from the digests; a crash or an endless loop is a difference."""
        command = [program, target, ",".join(self.sources.ops[family]), str(self.options.inputs), digests, *self.corpus]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode == 2 or (must and done.returncode):
            die(f"{program} {target}: {done.stderr.strip()}")
        return done.returncode != 0

    def is_visible(self, mutant, folder):
        program = self.builder.link_program("tests/mutation/outputs", folder)
        return any(self.run_outputs(program, mutant.family, target, self.digests_of(mutant.family, target))
                   for target in devices_of(mutant.family))

    def compile_mutants(self, mutants, folder, unchanged=frozenset()):
        """Compiles the sources with these changes, and unchanged ones.  False: one of them does not compile."""
        for family in sorted({m.family for m in mutants} | unchanged):
            text = self.sources.text[family]
            for m in sorted((m for m in mutants if m.family == family), key=lambda m: -m.start):
                text = text[:m.start] + m.new + text[m.end:]
            changed = folder / f"{family}.c"
            changed.write_text(text)
            if not self.builder.compile_file(self.sources.path[family], changed):
                return False
        return True

    def judge(self, mutant):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if not self.compile_mutants([mutant], folder):
                mutant.result = "unviable"
                return mutant
            halcyon = self.builder.link_halcyon(folder)
            finding = self.first_finding(mutant, halcyon)
            if finding and self.options.buckets:
                mutant.sorted = self.sort_failures([mutant], halcyon)
            if finding:
                mutant.result = "found"
                # "blamed": the operation that fails alone, where the harness has looked for it
                operation = finding.get("blamed", finding).get("operation")
                mutant.blamed = operation in mutant.ops or mutant.ops == ["*"]
                mutant.detail = f"{finding['case']}: {finding['verdict']}, {operation}"
            elif not self.is_visible(mutant, folder):
                mutant.result = "equivalent"
            else:
                mutant.detail = self.find_wrong(mutant, halcyon)
                mutant.result = "survived" if mutant.detail else "tolerated"
        return mutant

    def find_wrong(self, mutant, halcyon):
        """The first model of one operation that does not conform; "" if there is none."""
        ops = mutant.ops if mutant.ops != ["*"] else self.sources.ops[mutant.family]
        for op in ops:
            models = ["--no-probe", "--op", op, "--ops", "1-1", "--count", str(self.options.inputs // len(ops) + 1),
                      "--timeout", "3", "-j", "1"]
            for target in devices_of(mutant.family):
                bad = self.run_graphs(mutant, halcyon, [*models, "--seed", "20260", "-d", target])
                if bad:
                    return f"but {bad['case']}: {bad['verdict']}"
        return ""

    def graphs_for(self, mutants):
        """The random graphs, and the devices that they are run on."""
        graphs = ["--count", str(self.options.graphs), "--seed", str(self.options.graph_seed), "--timeout", "3", "-j", "1"]
        for target in sorted({target for m in mutants for target in devices_of(m.family)}):
            graphs += ["-d", target]
        return graphs

    def sort_failures(self, mutants, halcyon):
        folder = pathlib.Path(self.options.keep or pathlib.Path(halcyon).parent)
        database = folder / ("+".join(f"{m.family}-{m.name}-{m.start}" for m in mutants).replace(" ", "-") + ".db")
        database.unlink(missing_ok=True)
        return buckets.Sorted([halcyon, "random", *self.graphs_for(mutants)], database)

    def sort_pair(self, pair):
        """The buckets of two mutants at once that have failures of both."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if not self.compile_mutants(pair, folder):
                die(f"does not compile: {' and '.join(m.describe(self.sources) for m in pair)}")
            both = self.sort_failures(pair, self.builder.link_halcyon(folder))
            return pair, buckets.mixed_buckets(pair, both)

    def first_finding(self, mutant, halcyon):
        """The first verdict that does not conform, in the order of the cases; None: there is none."""
        return self.run_graphs(mutant, halcyon, self.graphs_for([mutant]))

    def run_graphs(self, mutant, halcyon, graphs):
        folder = pathlib.Path(halcyon).parent
        command = [halcyon, "random", *graphs, "--max-failures", "5", "--json", "--no-shrink", "--db",
                   str(folder / "mutant.db")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)
        except subprocess.TimeoutExpired:
            return {"case": "all", "verdict": "hang"}
        verdicts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
        bad = [v for v in verdicts if v["verdict"] not in ("pass", "undecided", "unsupported")]
        if done.returncode not in (0, 1) or (done.returncode == 1) != bool(bad):
            die(f"{mutant.describe(self.sources)}: halcyon ended with {done.returncode}: {done.stderr[-1000:]}")
        return bad[0] if bad else None


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def print_table(title, mutants):
    groups = collections.defaultdict(list)
    for m in mutants:
        groups[m.family].append(m)
    print(f"\n| {title} | mutants | found | blamed | survived | tolerated | equivalent | found of wrong | of visible |")
    print("|---|---|---|---|---|---|---|---|---|")
    for family, group in [*sorted(groups.items()), ("all", mutants)]:
        n = collections.Counter(m.result for m in group)
        blamed = sum(m.blamed for m in group)
        wrong = n["found"] + n["survived"]
        print(f"| {family} | {len(group)} | {n['found']} | {blamed} | {n['survived']} | {n['tolerated']} "
              f"| {n['equivalent']} | {share(n['found'], wrong)} | {share(n['found'], wrong + n['tolerated'])} |")


def print_lists(mutants, sources):
    for title, chosen in (("Survivors", [m for m in mutants if m.result == "survived"]),
                          ("Tolerated", [m for m in mutants if m.result == "tolerated"]),
                          ("Blamed wrongly", [m for m in mutants if m.result == "found" and not m.blamed]),
                          ("Equivalent or unseen", [m for m in mutants if m.result == "equivalent"])):
        print(f"\n{title}:\n" if chosen else "", end="")
        for m in sorted(chosen, key=lambda m: (m.family, m.start)):
            print(f"- {m.kind}: {m.describe(sources)}" + (f" ({m.detail})" if m.detail else ""))


def run_all(runner, mutants, jobs, wanted, seconds):
    """Judges mutants in order until `wanted` viable ones are judged, or the time is over."""
    done, end = [], time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        queue = iter(mutants)
        while len(done) < wanted and time.monotonic() < end:
            batch = [m for _, m in zip(range(min(2 * jobs, wanted - len(done))), queue)]
            if not batch:
                break
            for m in pool.map(runner.judge, batch):
                print(f"{m.result}: {m.describe(runner.sources)} {m.detail}", file=sys.stderr)
                if m.result != "unviable":
                    done.append(m)
            print(f"{len(done)} of {wanted}", file=sys.stderr)
    return done


def parse():
    p = argparse.ArgumentParser(description="mutation score of halcyon random")
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--seed", type=int, default=1, help="of the choice of mutants")
    p.add_argument("--count", type=int, default=60, help="automatic mutants")
    p.add_argument("--vendor", default="all", help="hand-written vendor bugs: a number, or all")
    p.add_argument("--graphs", type=int, default=500, help="random graphs for each")
    p.add_argument("--graph-seed", type=int, default=1, help="seed of the random graphs")
    p.add_argument("--inputs", type=int, default=20000, help="models of one operation that decide what is visible")
    p.add_argument("--corpus", action="store_true", help="also the corpus' examples decide it: a minute for each survivor")
    p.add_argument("--family", help="only this source file of kernels, such as fixed_window")
    p.add_argument("--only", help="only vendor bugs of these names, classes or files, such as kernels or QSAT,conv-*; no "
                   "automatic mutants")
    p.add_argument("--minutes", type=float, default=600, help="begin no more mutants after this time, half of it for "
                   "each kind")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--buckets", action="store_true", help="also shrink the failures of the mutants that are found, and "
                   "count their buckets: up to two minutes for each")
    p.add_argument("--pairs", type=int, default=0, help="with --buckets: run so many pairs of mutants at once")
    p.add_argument("--keep", type=pathlib.Path, help="with --buckets: the folder for the databases")
    return p.parse_args()


def main():
    options, sources = parse(), Sources()
    if (options.pairs or options.keep) and not options.buckets:
        die("--pairs and --keep require --buckets")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    if options.family and options.family not in sources.path:
        die(f"no family {options.family}; there are {', '.join(sources.path)}")
    families = [options.family] if options.family else list(sources.path)
    bugs = [b for b in vendor_bugs(sources) if b.family in families]
    if options.only:
        bugs, options.count = choose_bugs(bugs, options.only), 0
    if options.vendor != "all":
        random.Random(options.seed).shuffle(bugs)
        bugs = bugs[:int(options.vendor)]
    with tempfile.TemporaryDirectory() as scratch:
        options.scratch = argparse.Namespace(name=scratch)
        runner = Runner(options, sources)
        seconds = 60 * options.minutes / 2
        known = run_all(runner, bugs, options.jobs, len(bugs), seconds)
        broken = [b.name for b in bugs if b.result == "unviable"]
        if broken:
            die("do not compile: " + ", ".join(broken))
        drawn = run_all(runner, automatic(sources, families, options.seed, 10 ** 9), options.jobs, options.count,
                        seconds)
        found = [m for m in known + drawn if m.sorted]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            pairs = list(pool.map(runner.sort_pair, buckets.choose_pairs(found, options.seed, options.pairs)))
    print(f"seed {options.seed}, {options.graphs} graphs of seed {options.graph_seed} for each mutant, "
          f"{options.inputs} models of one operation{', the corpus' if options.corpus else ''}")
    for title, mutants in (("automatic", drawn), ("vendor bugs", known)):
        if mutants:
            print_table(title, mutants)
            print_lists(mutants, sources)
    if found:
        buckets.print_buckets(found)
    if pairs:
        buckets.print_pairs(pairs)


if __name__ == "__main__":
    main()
