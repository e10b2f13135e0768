#!/usr/bin/env python3
"""Checks the driver that `halcyon new-driver` writes: check_skeleton.py HALCYON.

It compiles without warnings as C11 and as C++17, and no rule of `halcyon conform` fails on either. Results of its
operations in the forms that the comments name are those computed by hand below; random graphs are judged."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LANGUAGES = {"c": ["cc", "-std=c11"], "cpp": ["c++", "-x", "c++", "-std=c++17"]}
COMPILE = ["-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
TYPES = "TENSOR_FLOAT32,TENSOR_QUANT8_ASYMM,TENSOR_QUANT8_SYMM_PER_CHANNEL"

FORMS = '''
# Broadcast.
x = Input("x", ("TENSOR_FLOAT32", [2, 1]))
y = Input("y", ("TENSOR_FLOAT32", [3]))
z = Output("z", ("TENSOR_FLOAT32", [2, 3]))
Model("broadcast").Operation("ADD", x, y, 0).To(z)
Example({x: [1, 2], y: [10, 20, 30], z: [11, 21, 31, 12, 22, 32]}, name="broadcast")

# 1 + channel 0 + half of channel 1, in NCHW.
image = Input("image", ("TENSOR_FLOAT32", [1, 2, 2, 2]))
filter = Parameter("filter", ("TENSOR_FLOAT32", [1, 1, 1, 2]), [1, 0.5])
bias = Parameter("bias", ("TENSOR_FLOAT32", [1]), [1])
features = Output("features", ("TENSOR_FLOAT32", [1, 1, 2, 2]))
Model("nchw").IntroducedIn("V1_2").Operation("CONV_2D", image, filter, bias, 2, 1, 1, 0, True).To(features)
Example({image: [1, 2, 3, 4, 10, 20, 30, 40], features: [7, 13, 19, 25]}, name="nchw")

# Two taps, dilated by 2, explicit padding of 1 on the left: pixels (0, 1, 2, 3) give 10 * left + right.
row = Input("row", ("TENSOR_FLOAT32", [1, 1, 4, 1]))
taps = Parameter("taps", ("TENSOR_FLOAT32", [1, 1, 2, 1]), [10, 1])
none = Parameter("none", ("TENSOR_FLOAT32", [1]), [0])
sums = Output("sums", ("TENSOR_FLOAT32", [1, 1, 3, 1]))
Model("dilated").IntroducedIn("V1_2").Operation("CONV_2D", row, taps, none, 1, 0, 0, 0, 1, 1, 0, False, 2, 1).To(sums)
Example({row: [1, 2, 3, 4], sums: [2, 13, 24]}, name="dilated")

# Pixels 1 and -2; filters 1 and -1, with a scale each; both biases are 1.
pixels = Input("pixels", ("TENSOR_QUANT8_ASYMM", [1, 1, 2, 1], 0.5, 128))
scaled = Parameter("scaled", ("TENSOR_QUANT8_SYMM_PER_CHANNEL", [2, 1, 1, 1]), [4, -2],
                   extraParams=SymmPerChannelQuantParams(channelDim=0, scales=[0.25, 0.5]))
ones = Parameter("ones", ("TENSOR_INT32", [2]), [8, 4])
maps = Output("maps", ("TENSOR_QUANT8_ASYMM", [1, 1, 2, 2], 0.25, 100))
Model("channels").IntroducedIn("V1_2").Operation("CONV_2D", pixels, scaled, ones, 1, 1, 1, 0).To(maps)
Example({pixels: [130, 124], maps: [108, 100, 96, 112]}, name="channels")

# The newest steps are 1 + 2 and 2 * 1 - 2; the older ones 5 and 7; there is no bias.
i = Input("i", ("TENSOR_FLOAT32", [1, 2]))
feature = Parameter("feature", ("TENSOR_FLOAT32", [2, 2]), [1, 1, 2, -1])
time = Parameter("time", ("TENSOR_FLOAT32", [2, 2]), [1, 10, 2, 1])
omitted = Parameter("omitted", ("TENSOR_FLOAT32", [0]), None)
state = Input("state", ("TENSOR_FLOAT32", [1, 4]))
state_out = Output("state_out", ("TENSOR_FLOAT32", [1, 4]))
o = Output("o", ("TENSOR_FLOAT32", [1, 2]))
Model("omitted").Operation("SVDF", i, feature, time, omitted, state, 1, 0).To(state_out, o)
Example({i: [1, 2], state: [5, 9, 7, 9], state_out: [3, 0, 0, 0], o: [35, 14]}, name="omitted")
'''


def run(*command, status=(0,), **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=400,
                          **options)
    assert done.returncode in status, f"{command}: exit status {done.returncode}\n{done.stdout}"
    return done.stdout


def check_forms(halcyon, target):
    with open("forms.mod.py", "w", encoding="utf-8") as file:
        file.write(FORMS)
    output = run(halcyon, "run", "forms.mod.py", "-d", target, "-v", "-j", "1")
    passed = re.findall(r"^pass +\S+/forms_(\w+?)_\1\b", output, re.M)
    unsupported = re.findall(r"^unsupported .*\n +(.*)", output, re.M)
    assert {"broadcast", "nchw", "dilated", "channels", "omitted"} <= set(passed), output
    # Inputs of variations are sums.
    signature = r"operation 0 is not supported: ADD: .*TENSOR_QUANT8_ASYMM\[\d\] -> TENSOR_QUANT8_ASYMM\[\d\]"
    assert len(unsupported) == 2 and all(re.fullmatch(signature, line) for line in unsupported), output


def check_random(halcyon, target):
    for op in ("ADD", "CONV_2D", "SVDF"):
        output = run(halcyon, "random", "--op", op, "--types", TYPES, "--ops", "1-2", "--seed", "5", "--count", "100", "-d", target)
        passed = int(re.search(r"^\S+:\S+ +(\d+) ", output, re.M)[1])
        assert passed >= 90, output


def check_reasons(halcyon, sources):
    """A driver that reports support which it does not have gives the reason of its failure."""
    text = pathlib.Path(sources[0]).read_text(encoding="utf-8")
    lie = text.replace("supported[i] = p->step[i].kernel != NULL;", "supported[i] = true;")
    assert lie != text
    pathlib.Path("my-own-driver/lie.c").write_text(lie, encoding="utf-8")
    run(*LANGUAGES["c"], *COMPILE, "-o", "lie.so", "my-own-driver/lie.c", *sources[1:])
    output = run(halcyon, "run", "forms.mod.py", "--case", "*channels_all_inputs_as_internal", "-d", "lib:./lie.so", status=(1,))
    assert re.search(r"^refused ", output, re.M), output
    assert "operation 0 (code 0) is not supported with these operands" in output, output


def check_conform(halcyon, target):
    output = run(halcyon, "conform", "-d", target, "-v", "--timeout", "20")
    assert re.search(r"^pass generated/results on ", output, re.M), output
    reasons = re.findall(r"^not applicable (\S+) on .*\n((?:    .*\n)*)", output, re.M)
    assert len(reasons) > 10 and all(reason.strip() for _, reason in reasons), output
    assert "the driver has no burst executions" in output, output
    assert "the driver has no compilation cache" in output, output


def main():
    halcyon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(halcyon, "new-driver", "my-own-driver")
        sources = [f"my-own-driver/{name}.c" for name in ("driver", "kernels", "kernel_conv_2d")]
        for language, compiler in LANGUAGES.items():
            run(*compiler, *COMPILE, "-o", f"{language}.so", *sources)
            target = f"lib:./{language}.so"
            check_forms(halcyon, target)
            check_random(halcyon, target)
            check_conform(halcyon, target)
        check_reasons(halcyon, sources)


main()
