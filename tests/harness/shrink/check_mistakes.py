#!/usr/bin/env python3
"""Makes the driver that `halcyon new-driver` writes (ADD, CONV_2D, SVDF) wrong in seven ways, one after another:
check_mistakes.py HALCYON.

Random graphs find each mistake, blame its operation in every failure, shrink it to one operation of few elements, and
sort its failures into at most two buckets. `halcyon explain` names the mistake first, of a case as it was and of what
is left of it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COMPILE = ["cc", "-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Werror", "-fPIC", "-shared"]
MOST_BUCKETS, MOST_ELEMENTS = 2, 16

# Operation, the hypothesis that names the mistake, file, the text of the right driver and that of the wrong one.
MISTAKES = [
    ("CONV_2D", "dilations-swapped", "kernel_conv_2d.c",
     "    c->is_same = scheme == 1;",
     """    const int32_t swap = c->x.dilation;
    c->x.dilation = c->y.dilation;
    c->y.dilation = swap;
    c->is_same = scheme == 1;"""),
    ("CONV_2D", "padding-other-side", "kernel_conv_2d.c",
     "(int32_t) (missing / 2)", "(int32_t) ((missing + 1) / 2)"),
    ("CONV_2D", "padding-zero-point", "kernel_conv_2d.c",
     "                continue; /* padding */",
     """            {
                for (size_t ch = 0; ch < in->n[CHANNEL]; ch++)
                    sum -= a->in[0]->zero *
                           get_units(a->in[1], p->channel * taps->stride[BATCH] + i * taps->stride[ROW] +
                                                   k * taps->stride[COLUMN] + ch * taps->stride[CHANNEL]);
                continue;
            }"""),
    ("CONV_2D", "truncation", "kernel_conv_2d.c", "q + 0.5f); /* rounds to nearest */", "q);"),
    ("ADD", "activation-ignored", "kernels.c", "activation));\n}\n\n/* ---- SVDF", "0));\n}\n\n/* ---- SVDF"),
    ("CONV_2D", "scale-of-channel-0", "kernel_conv_2d.c", "filter->scales[o]", "filter->scales[0]"),
    ("ADD", "broadcast", "kernels.c",
     "        index += n == 1 ? 0 : at % dim_from_end(out, d) * stride;",
     """        index += n == 1 ? 0 : at % n * stride;
        if (n == 1)
            continue;"""),
]


def run(*command, status=(0,)):
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=400)
    assert done.returncode in status, f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(source, file, right, wrong):
    """The driver with one text replaced."""
    path = pathlib.Path(source, file)
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{file}: {text.count(right)} times: {right}"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    library = pathlib.Path(source, "wrong.so").resolve()
    run(*COMPILE, *sorted(pathlib.Path(source).glob("*.c")), "-o", library)
    path.write_text(text, encoding="utf-8")
    return library


def find(halcyon, target, status):
    """Verdicts that do not conform, and the buckets of the failures."""
    output = run(halcyon, "random", "-d", target, "--count", "200", "--seed", "14", "--json", "--db", "mistakes.db",
                 status=(status,))
    *verdicts, last = map(json.loads, output.splitlines())
    wrong = [v for v in verdicts if v["verdict"] not in ("pass", "undecided", "unsupported")]
    return wrong, last["summary"].get("buckets", [])


def most_likely(halcyon, case, target):
    """The hypotheses that explain puts first, of the case and of what is left of it after shrinking."""
    run(halcyon, "shrink", case, "-d", target, "--db", "mistakes.db", "-o", "small.mod.py")
    names = set()
    for what in ([case, "--db", "mistakes.db"], ["small.mod.py"]):
        output = run(halcyon, "explain", *what, "-d", target, "--json", status=(1,))
        for line in output.splitlines():
            names.update(h["name"] for e in json.loads(line).get("explained", []) for h in e["hypotheses"][:1])
    return names


def check_mistake(halcyon, operation, library, hypothesis):
    target = f"lib:{library}"
    wrong, buckets = find(halcyon, target, 1)
    blamed = {re.sub(r" \(\d+\)", "", name) for v in wrong
              for name in v.get("blamed", v)["operation"].split(", ")}
    assert blamed == {operation}, blamed
    assert len(buckets) <= MOST_BUCKETS, buckets
    for bucket in buckets:
        assert bucket["shrunk"]["operations"] == 1 and bucket["shrunk"]["elements"] <= MOST_ELEMENTS, bucket
    case = next(v["case"] for v in wrong if v["verdict"] == "fail")
    names = most_likely(halcyon, case, target)
    assert names == {hypothesis}, f"{case}: {names}, not {hypothesis}"


def main():
    halcyon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(halcyon, "new-driver", "three")
        right = build("three", "kernels.c", "activation));\n}\n\n/* ---- SVDF", "activation));\n}\n\n/* ---- SVDF")
        assert not find(halcyon, f"lib:{right}", 0)[0]
        for operation, hypothesis, file, text, wrong in MISTAKES:
            check_mistake(halcyon, operation, build("three", file, text, wrong), hypothesis)
            print(f"{hypothesis}: found, blamed, shrunk, explained")


if __name__ == "__main__":
    main()
