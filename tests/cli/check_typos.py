#!/usr/bin/env python3
"""Misspelt words get the right suggestion, and far-off ones none: check_typos.py HALCYON ADD.mod.py.

Each row of TYPOS is a command, as it was typed, and what halcyon must suggest for it: the text after "did you mean", or
None. Every such command must end with exit status 2, without anything on stdout, and change no file."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

TYPOS = """
# commands: transposed, missing, doubled letters, case, plural, other forms of the word, an option's hyphens
ranodm -d golden                                    | random
conformm -d golden                                  | conform
shink x                                             | shrink
Replay x                                            | replay
reports -o page                                     | report
conformance -d golden                               | conform
new_driver npu                                      | new-driver
newdriver npu                                       | new-driver
help randmo                                         | random
--verison                                           | --version
frobnicate                                          | -
kitchen                                             | -
# options: missing and doubled letters, separators, case, one hyphen, a value without '=', another word for it
random -d golden --cuont 3                          | --count
random -d golden --max_dim 3                        | --max-dim
random -d golden --noprobe                          | --no-probe
random -d golden --COUNT 3                          | --count
random -d golden --count5                           | --count
random -d golden -count 5                           | --count
random -d golden --seeed=3                          | --seed
run add.mod.py -d golden --skipbad                  | --skip-bad
conform -d golden --suites model                    | --suite
dump add.mod.py --formats svg                       | --format
report -o page --markdwon                           | --markdown
random -d golden --limit-memory 1G                  | -
random -d golden --xyzzy                            | -
# values of options
run add.mod.py -d golden --judge cst                | cts
run add.mod.py -d golden --judge Bound              | bound
run add.mod.py -d golden --judge lenient            | -
run add.mod.py -d golden --isolate foriegn          | foreign
run add.mod.py -d golden --hal 13                   | 1.3
run add.mod.py -d golden --hal fl_7                 | fl7
run add.mod.py -d golden --hal 2.0                  | -
run add.mod.py -d golden --color allways            | always
dump add.mod.py --format sgv                        | svg
dump add.mod.py --style androd                      | android
plan add.mod.py -d golden --preference low_power    | low-power
plan add.mod.py -d golden --preference low          | low-power
run add.mod.py -d golden --vlog excution            | execution
run add.mod.py -d golden --vlog model,compliation   | compilation
run add.mod.py -d golden --ways at_once=2           | at-once=
run add.mod.py -d golden --ways brust               | burst
random -d golden --values adverserial               | adversarial
random -d golden --values ugly                      | -
random -d golden --failed lsat                      | last
help --completion bsh                               | bash
help --completion tcsh                              | -
# targets: the scheme is missing or misspelt, a file is missing or misspelt, options behind '?'
random -d sim:cpuu                                  | sim:cpu
random -d simcpu                                    | sim:cpu
random -d sim-dsp                                   | sim:dsp
random -d cpu                                       | sim:cpu
random -d SIM:GPU                                   | sim:gpu
random -d glden                                     | golden
random -d sims:npu.toml                             | sim:npu.toml
random -d npu.toml                                  | sim:npu.toml
random -d ./npu.so                                  | lib:./npu.so
random -d libs:./npu.so                             | lib:./npu.so
random -d lib:./npuu.so                             | ./npu.so
random -d lib:drivers/npu.so                        | driver
random -d sim:nup.toml                              | npu.toml
random -d quantum:x                                 | -
random -d 'sim:cpu?fualt=nan'                       | fault=
random -d 'sim:cpu?fault:nan'                       | fault=
random -d 'sim:cpu?nan'                             | fault=nan
random -d 'sim:cpu?real-time'                       | realtime
random -d 'sim:cpu?hal=1_2'                         | 1.2
random -d 'sim:cpu?fault=bias_lost'                 | bias-lost
random -d 'sim:cpu?fault=bais-lost'                 | bias-lost
random -d 'sim:cpu?fault=last-tap'                  | last-tap-dropped
random -d 'sim:cpu?fault=gremlins'                  | -
selftest --fault strides-exchange                   | strides-exchanged
# operations and types
random -d golden --op CONV2D                        | CONV_2D
random -d golden --op relu_6                        | RELU6
random -d golden --op ADD,MULL                      | MUL
random -d golden --op softmaxx                      | SOFTMAX
random -d golden --op FULLYCONNECTED                | FULLY_CONNECTED
random -d golden --op XYZZY                         | -
random -d golden --types FLOAT32                    | TENSOR_FLOAT32
random -d golden --types TENSOR_QUANT8ASYMM         | TENSOR_QUANT8_ASYMM
random -d golden --types tensor-bool8               | TENSOR_BOOL8
ops depthwise_conv2d                                | DEPTHWISE_CONV_2D
# suites and rules
conform -d golden --suite modle                     | model
conform -d golden --suite memory_domain             | memory-domain
conform -d golden --suite cahce                     | cache
conform -d golden --suite models                    | concurrency/models
conform -d golden --suite model/m3x                 | model/M3
conform -d golden --suite weather                   | -
# the database
db lst                                              | list
db --db runs.db exprot cases                        | export
db --db runs.db export case                         | cases
db --db runs.db export failurs                      | failures
db --db runs.db export verdict-names                | verdict_names
db --db runs.db export weather                      | -
db --db run.db list                                 | runs.db
report --text --db runs.bd                          | runs.db
replay spec/work/add/ad -d golden --db runs.db           | spec/work/add/add
db --db runs.db spec spec/work/add/addd                  | spec/work/add/add
diff run.db 1                                       | runs.db
# cases and files
run add.mod.py -d golden --case ad                  | spec/work/add/add
run add.mod.py -d golden --case 'spec/*/addd'       | spec/work/add/add
run add.mod.py -d golden --case weather             | -
levels add.mod.py --case '*ad'                      | spec/work/add/add
run add.modpy -d golden                             | add.mod.py
run add -d golden                                   | add.mod.py
run model/add.mod.py -d golden                      | models
dump aad.mod.py                                     | add.mod.py
replay adds.mod.py -d golden                        | add.mod.py
run weather.tflite -d golden                        | -
run none.mod.py -d golden                           | -
run add.mod.py -d golden --baseline npu.basline     | npu.baseline
random -d golden --cases case.txt                   | cases.txt
random -d golden --support npu.supprt               | npu.support
random -d golden --from modles                      | models
trace tarce.json                                    | trace.json
# words in files: baselines, profiles, specifications
run add.mod.py -d golden --baseline misspelt.baseline | violation
random -d sim:misspelt.json                         | version
run misspelt.mod.py -d golden                       | TENSOR_FLOAT32
"""

FILES = {"npu.so": "", "driver/npu.so": "", "models/x.mod.py": "", "cases.txt": "add\n", "npu.baseline": "",
         "npu.support": "{}", "trace.json": "[]", "npu.toml": "", "misspelt.baseline": "halcyon-baseline 1\nviolatoin spec/x\n"}


def rows():
    for line in TYPOS.splitlines():
        if line and not line.startswith("#"):
            command, suggestion = (part.strip() for part in line.rsplit("|", 1))
            yield command, None if suggestion == "-" else suggestion


def suggestion_of(message):
    """The text between "did you mean" and the question mark; None: there is none."""
    start = message.find("did you mean ")
    return None if start < 0 else message[start + len("did you mean "):message.rindex("?")]


def prepare(folder, halcyon, add):
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    shutil.copy(add, folder)
    (folder / "misspelt.mod.py").write_text(add.read_text().replace("TENSOR_FLOAT32", "TENSOR_FLOTA32"))
    profile = subprocess.run([halcyon, "devices", "--profile-json", "cpu"], capture_output=True, text=True, check=True)
    (folder / "misspelt.json").write_text(profile.stdout.replace('"version"', '"versoin"'))
    subprocess.run([halcyon, "run", "add.mod.py", "-d", "golden", "-q", "--db", "runs.db"], cwd=folder,
                   stdout=subprocess.DEVNULL, check=True)


def files_of(folder):
    """Without those that SQLite keeps beside a database that is read."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.startswith("runs.db-")}


def main():
    halcyon, add = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    bad, n = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "work"
        folder.mkdir()
        prepare(folder, halcyon, add)
        before = files_of(folder)
        for command, expected in rows():
            n += 1
            done = subprocess.run([halcyon, *shlex.split(command)], cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120)
            found = suggestion_of(done.stderr)
            if (found, done.returncode, done.stdout) != (expected, 2, ""):
                bad += 1
                print(f"halcyon {command}\n    suggests {found}, expected {expected}; exit status {done.returncode}\n"
                      f"    {done.stderr.strip()}")
        changed = {p for p in before.keys() | files_of(folder).keys() if before.get(p) != files_of(folder).get(p)}
        if changed:
            bad += 1
            print("changed files:", sorted(map(str, changed)))
    print(f"{n} typos, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
