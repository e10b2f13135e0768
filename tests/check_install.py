#!/usr/bin/env python3
"""Checks that an installed halcyon works without its source and build trees.

    check_install.py MESON SOURCE BUILD MODEL...

Installs BUILD below a staging folder (DESTDIR), and again from a second build directory with a prefix
that contains spaces. Then it hides SOURCE and BUILD by mounting empty file systems over them, in a mount
namespace of its own, and uses both installations from another folder: models (specs/corpus if no MODEL
exists), random graphs, reports, a new driver, pkg-config, the manual page, completion. Without permission
for mount namespaces it does the same with visible trees, reports NOT HIDDEN, and exits as skipped (77)."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
TARGETS = ["-d", "sim:cpu", "-d", "sim:gpu", "-d", "sim:dsp"]
SKIPPED = 77


def call(*command, expect=0, **options):
    """Runs a command and returns its stdout; ends the test if its exit status is not the expected one."""
    done = subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, check=False, **options)
    if done.returncode != expect:
        sys.exit(f"{shlex.join(map(str, command))}: status {done.returncode}, expected {expect}\n"
                 f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def require(condition, message):
    if not condition:
        sys.exit(message)


# ---- installing


def introspect(meson, build, what):
    return json.loads(call(meson, "introspect", build, what))


def install_staged(meson, build, stage):
    """Installs with DESTDIR; returns the folder of the prefix below it."""
    call(meson, "install", "-C", build, "--no-rebuild",
         env={**os.environ, "DESTDIR": str(stage)})
    options = introspect(meson, build, "--buildoptions")
    prefix = next(o["value"] for o in options if o["name"] == "prefix")
    return stage / prefix.lstrip("/")


def install_prefix(meson, source, build, second, prefix):
    """Installs from a new build directory with that prefix; it gets copies of the files that BUILD has built."""
    call(meson, "setup", second, source, "--prefix", prefix)
    for target in introspect(meson, build, "--targets"):
        for name in target["filename"] if target["installed"] else []:
            made = pathlib.Path(name).relative_to(build)
            (second / made).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, second / made)
    call(meson, "install", "-C", second, "--no-rebuild")
    return prefix


# ---- hiding


def find_unshare(scratch):
    """The command that makes a mount namespace in which mounting works, or None."""
    (scratch / "mountable").mkdir()
    for way in (["unshare", "-m"], ["unshare", "-rm"]):
        mount = ["mount", "-t", "tmpfs", "none", str(scratch / "mountable")]
        try:
            if subprocess.run([*way, *mount], capture_output=True, check=False).returncode == 0:
                return way
        except FileNotFoundError:
            return None
    return None


def hide(trees):
    for tree in map(pathlib.Path, trees):
        if tree.exists():  # a build directory in the source tree is hidden already
            call("mount", "-t", "tmpfs", "none", tree)
            require(not any(tree.iterdir()), f"{tree} is not hidden")


# ---- using


def check_linking(program, trees):
    dynamic = call("readelf", "-d", program)
    loaded = call("ldd", program)
    require("not found" not in loaded, f"{program}: libraries are missing\n{loaded}")
    for tree in trees:
        require(str(tree) not in dynamic + loaded, f"{program} depends on {tree}\n{dynamic}{loaded}")


def check_program(version, models):
    require(call("halcyon", "--version") == f"halcyon {version}\n", "--version")
    require("usage:" in call("halcyon", "help"), "help")
    devices = call("halcyon", "devices")
    for target in TARGETS[1::2]:
        require(target in devices, f"halcyon devices does not list {target}")
    call("halcyon", "run", *models, *TARGETS, "-d", "golden")
    call("halcyon", "random", "--seed", 1, "--count", 20, "--ops", "1-5", *TARGETS)
    call("halcyon", "report", "-o", "the report")
    require("<html" in pathlib.Path("the report/index.html").read_text().lower(), "report")
    isolated = call("halcyon", "random", "--count", 60, "-d", "sim:cpu?fault=last-tap-dropped", expect=1)
    require("allowed error" in isolated, f"a driver in its own process: {isolated}")
    require("<svg" in call("halcyon", "dump", "random/v2/s1/i1", "--format", "svg"), "Graphviz")


def check_profiles(data):
    for name in ("cpu", "gpu", "dsp"):
        call("halcyon", "devices", f"sim:{data}/halcyon/profiles/{name}.toml")


def check_driver(root):
    call("halcyon", "new-driver", "my driver")
    call("make", "-C", "my driver", "check")
    call("halcyon", "random", "-d", "lib:my driver/my_driver.so", "--op", "ADD", "--count", 5)
    written = pathlib.Path("my driver")
    installed = root / "share/halcyon/skeleton"
    require((written / "hal.h").read_bytes() == (root / "include/halcyon/hal.h").read_bytes(),
            "hal.h: the installed one differs from the one that new-driver writes")
    for file in installed.iterdir():
        text = file.read_text().replace("@NAME@", "my_driver").replace("@WORD@", "my_driver")
        text = text.replace("@HALCYON@", str(root / "bin/halcyon"))
        require((written / file.name).read_text() == text,
                f"{file} differs from what new-driver writes")


def pkg_config(root, staged, package, *options):
    """What pkg-config prints for the options, as arguments of a command."""
    command = ["pkg-config", *(["--define-prefix"] if staged else [])]
    return shlex.split(call(*command, *options, package,
                            env={**os.environ, "PKG_CONFIG_PATH": str(root / "share/pkgconfig")}))


def build_and_run(root, staged, package, compiler, *source):
    """A program over the package's library."""
    libraries = pkg_config(root, staged, package, "--libs")
    folder, name = (next(flag[2:] for flag in libraries if flag.startswith(kind)) for kind in ("-L", "-l"))
    # In a build with sanitizers the library needs a program with them.
    needed = call("readelf", "-d", f"{folder}/lib{name}.so")
    sanitizers = ["-fsanitize=address,undefined"] if "libasan" in needed else []
    call(*compiler, *pkg_config(root, staged, package, "--cflags"), *sanitizers, *source, "-o", "program", *libraries)
    return call("env", f"LD_LIBRARY_PATH={folder}", f"{os.getcwd()}/program")


def check_pkg_config(root, staged):
    call("cc", *pkg_config(root, staged, "halcyon", "--cflags"), "-c", "-x", "c", "-", "-o", "hal.o", "-include", "halcyon/hal.h")
    program = '#include <halcyon/hal_validate.h>\nint main(void) { return !hal_validate_model(0, NULL, NULL, 0); }\n'
    pathlib.Path("program.c").write_text(program)
    build_and_run(root, staged, "halcyon", ["cc"], "program.c")
    for variable, file in (("bindir", "halcyon"), ("profilesdir", "cpu.toml"),
                           ("skeletondir", "driver.c")):
        where = pkg_config(root, staged, "halcyon", f"--variable={variable}")[0]
        require(pathlib.Path(where, file).exists(), f"halcyon.pc: {variable}={where}: no {file}")


# An application of the NNAPI runtime, in C and in C++: 1 2 3 + 10 20 30 on the reference executor.
APPLICATION = r"""
#include <stdio.h>
#include HEADER
#include HEADER_OF_EXTENSIONS

int main(void)
{
    const uint32_t three = 3, inputs[] = { 0, 1, 2 }, output = 3;
    const ANeuralNetworksOperandType tensor = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &three, 0, 0 };
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_INT32, 0, NULL, 0, 0 };
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    const float a[] = { 1, 2, 3 }, b[] = { 10, 20, 30 };
    float sum[] = { 0, 0, 0 };
    ANeuralNetworksModel *m = NULL;
    ANeuralNetworksCompilation *c = NULL;
    ANeuralNetworksExecution *e = NULL;
    ANeuralNetworksDevice *d = NULL;
    const char *name = "";
    int bad = 0;

    bad |= ANeuralNetworksModel_create(&m);
    bad |= ANeuralNetworksModel_addOperand(m, &tensor) | ANeuralNetworksModel_addOperand(m, &tensor);
    bad |= ANeuralNetworksModel_addOperand(m, &scalar) | ANeuralNetworksModel_addOperand(m, &tensor);
    bad |= ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none);
    bad |= ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, inputs, 1, &output);
    bad |= ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, inputs, 1, &output);
    bad |= ANeuralNetworksModel_finish(m);
    bad |= ANeuralNetworks_getDevice(0, &d) | ANeuralNetworksDevice_getName(d, &name);
    bad |= ANeuralNetworksCompilation_createForDevices(m, (const ANeuralNetworksDevice *const *) &d, 1, &c);
    bad |= ANeuralNetworksCompilation_finish(c);
    bad |= ANeuralNetworksExecution_create(c, &e);
    bad |= ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a);
    bad |= ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b);
    bad |= ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof sum);
    bad |= ANeuralNetworksExecution_compute(e);
    printf("%s: %d: %g %g %g\n", name, bad, (double) sum[0], (double) sum[1], (double) sum[2]);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    return bad;
}
"""


def check_application(root, staged):
    pathlib.Path("application.c").write_text(APPLICATION)
    for compiler, language, form in (("cc", "c", "<android/NeuralNetworks{}.h>"), ("c++", "c++", '"NeuralNetworks{}.h"')):
        if not shutil.which(compiler):
            print(f"{compiler} is not installed: no application is built with it")
            continue
        headers = [f"-DHEADER={form.format('')}", f"-DHEADER_OF_EXTENSIONS={form.format('Extensions')}"]
        printed = build_and_run(root, staged, "neuralnetworks", [compiler, "-Wall", "-Wextra", "-Werror", *headers],
                                "-x", language, "application.c", "-x", "none")
        require(printed == "nnapi-reference: 0: 11 22 33\n", f"an application ({language}, {form}): {printed}")


# A client of the support library: it has the header, and a path to open.
SUPPORT_LIBRARY_CLIENT = r"""
#include <android/NeuralNetworksSupportLibraryImpl.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_LAZY | RTLD_LOCAL);
    NnApiSLDriverImpl *(*get)(void) = library ? dlsym(library, "ANeuralNetworks_getSLDriverImpl") : NULL;

    if (!get)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    const NnApiSLDriverImplFL8 *nn = (const NnApiSLDriverImplFL8 *) get();
    ANeuralNetworksDevice *device = NULL;
    const char *name = "";
    int bad = nn->base.ANeuralNetworks_getDevice(0, &device);
    bad |= nn->base.ANeuralNetworksDevice_getName(device, &name);
    printf("%lld: %s: %d\n", (long long) nn->base.base.implFeatureLevel, name, bad);
    return bad;
}
"""


def check_support_library(root, staged):
    pathlib.Path("client.c").write_text(SUPPORT_LIBRARY_CLIENT)
    library = next(root.glob("lib/**/libhalcyon_sl.so"))
    sanitizers = ["-fsanitize=address,undefined"] if "libasan" in call("readelf", "-d", library) else []
    call("cc", *pkg_config(root, staged, "neuralnetworks", "--cflags"), *sanitizers, "client.c", "-o", "client")
    printed = call("env", "HALCYON_SL_DEVICE=sim:gpu", f"{os.getcwd()}/client", library)
    require(printed == "1000008: halcyon-gpu: 0\n", f"a client of the support library: {printed}")


def check_targets_of_api(root):
    """The installed program finds the installed runtime, and tests it and the support library as drivers."""
    pathlib.Path("add.mod.py").write_text(MODEL_OF_TARGETS)
    library = next(root.glob("lib/**/libhalcyon_sl.so"))
    printed = call("env", "HALCYON_DEVICES=sim:gpu,sim:dsp", "halcyon", "run", "add.mod.py", "-q", "-d", "rt:",
                   "-d", f"sl:{library}", "--db", "targets.db")
    require(re.search(r"^1 case in .*: all conforming; 4 elements compared", printed, re.MULTILINE), printed)


MODEL_OF_TARGETS = """
a = Input("a", "TENSOR_FLOAT32", "{2}")
sum = Output("sum", "TENSOR_FLOAT32", "{2}")
Example({a: [1.0, 2.0], sum: [2.0, 4.0]}, model=Model().Operation("ADD", a, a, 0).To(sum)).DisableLifeTimeVariation()
"""


def check_man_page(page):
    require(page.read_text() == call("halcyon", "help", "--man"),
            f"{page} differs from halcyon help --man")
    if not shutil.which("mandoc"):
        print("mandoc is not installed: the manual page is compared, but not checked")
        return
    found = subprocess.run(["mandoc", "-Tlint", str(page)], text=True, capture_output=True,
                           check=False).stdout
    # The page has no date, so that it is reproducible.
    found = [line for line in found.splitlines() if "missing date" not in line]
    require(not found, "\n".join(found))


# Completions of the last word of a line: these words are among them.
BASH = """
source "$1"
compopt() { :; }
shift
COMP_LINE=$* COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}
_halcyon
printf '%s\\n' "${COMPREPLY[@]}"
"""
OFFERED = [
    (["ran"], ["random"]),
    (["run", "--judg"], ["--judge"]),
    (["run", "--judge", ""], ["cts", "bound"]),
    (["run", "--isolate", ""], ["foreign", "all", "none"]),
    (["dump", "--format", "s"], ["svg", "spec"]),
    (["random", "-d", "sim:c"], ["sim:cpu"]),
    (["random", "-d", "'sim:cpu?fault=hang"], ["sim:cpu?fault=hang"]),
    (["random", "--vlog", "model,dr"], ["model,driver"]),
    (["ops", "CONV_"], ["CONV_2D"]),
    (["help", "lev"], ["levels"]),
]


def check_completion(data):
    scripts = {"bash": data / "bash-completion/completions/halcyon",
               "zsh": data / "zsh/site-functions/_halcyon",
               "fish": data / "fish/vendor_completions.d/halcyon.fish"}
    for shell, script in scripts.items():
        require(script.read_text() == call("halcyon", "help", "--completion", shell),
                f"{script} differs from halcyon help --completion {shell}")
        if not shutil.which(shell):
            print(f"{shell} is not installed: its completion is compared, but not run")
            continue
        call(shell, "-n", script)
        for words, expected in OFFERED if shell != "zsh" else []:
            line = ["halcyon", *words]
            if shell == "bash":
                offered = call("bash", "-c", BASH, "bash", script, *line)
            else:
                offered = call("fish", "-c", "source $argv[1]; complete -C $argv[2]", script,
                               " ".join(line))
            offered = {text.split("\t")[0] for text in offered.splitlines()}
            require(set(expected) <= offered and len(offered) < 40,
                    f"{shell} offers for {line}: {offered}, expected {expected}")
    if shutil.which("zsh"):
        start = 'fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[halcyon]'
        found = call("zsh", "-f", "-c", start, "zsh", scripts["zsh"].parent)
        require(found == "_halcyon\n", f"zsh completes halcyon with: {found}")


def check_docs(folder):
    text = (folder / "README.md").read_text()
    for link in re.findall(r"\]\(([^):]+)\)", text) + ["LICENSE", "CHANGELOG.md"]:
        require((folder / link).is_file(), f"{folder}/README.md refers to {link}, which does not exist")


def use(task):
    """Uses the installations, after hiding the trees if task["hide"]."""
    if task["hide"]:
        hide(task["trees"])
    kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    # The suppressions are in the source tree, so a copy is used.
    if "LSAN_OPTIONS" in kept:
        kept["LSAN_OPTIONS"] = f"print_suppressions=0:suppressions='{task['scratch']}/lsan.supp'"
    os.environ.clear()
    for number, root in enumerate(map(pathlib.Path, task["roots"])):
        folder = pathlib.Path(task["scratch"], f"work {number}")
        folder.mkdir()
        os.chdir(folder)
        os.environ.update(kept, PATH=f"{root}/bin:/usr/bin:/bin", HOME=str(folder), LC_ALL="C.UTF-8",
                          PWD=str(folder))
        check_linking(root / "bin/halcyon", task["trees"])
        check_linking(root / "libexec/halcyon/halcyon-driver-host", task["trees"])
        check_linking(root / "libexec/halcyon/libhalcyon_nnapi.so", task["trees"])
        for library in ("libneuralnetworks.so", "libhalcyon_sl.so", "libnativewindow.so"):
            check_linking(next(root.glob(f"lib/**/{library}")), task["trees"])
        check_program(task["version"], task["models"])
        check_profiles(root / "share")
        check_driver(root)
        check_pkg_config(root, staged=number == 0)
        check_application(root, staged=number == 0)
        check_support_library(root, staged=number == 0)
        check_targets_of_api(root)
        check_man_page(root / "share/man/man1/halcyon.1")
        check_completion(root / "share")
        check_docs(root / "share/doc/halcyon")
        print(f"{root} works", flush=True)


def copy_models(source, models, folder):
    found = [model for model in map(pathlib.Path, models) if model.exists()]
    folder.mkdir()
    for model in found or sorted((source / "specs/corpus").glob("*.mod.py")):
        shutil.copy(model, folder)
    return sorted(map(str, folder.iterdir()))


def main():
    if sys.argv[1] == "--use":
        use(json.loads(sys.argv[2]))
        return 0
    meson = sys.argv[1]
    source, build = (pathlib.Path(path).resolve() for path in sys.argv[2:4])
    with tempfile.TemporaryDirectory(prefix="halcyon install ") as name:
        scratch = pathlib.Path(name).resolve()
        for tree in (source, build):
            require(tree not in scratch.parents, f"{scratch} is in {tree}, which will be hidden")
        shutil.copy(source / "tests/lsan.supp", scratch)
        task = {
            "scratch": str(scratch),
            "trees": [str(source), str(build), str(scratch / "second build")],
            "models": copy_models(source, sys.argv[4:], scratch / "models"),
            "version": introspect(meson, build, "--projectinfo")["version"],
            "roots": [str(install_staged(meson, build, scratch / "stage")),
                      str(install_prefix(meson, source, build, scratch / "second build",
                                         scratch / "a prefix"))],
        }
        way = find_unshare(scratch)
        task["hide"] = way is not None
        done = subprocess.run([*(way or []), sys.executable, str(HERE), "--use", json.dumps(task)],
                              check=False).returncode
    if done or task["hide"]:
        return done
    print("NOT HIDDEN: mount namespaces are not available. The installed programs work with visible "
          "source and build trees; their libraries are not in these.")
    return SKIPPED


sys.exit(main())
