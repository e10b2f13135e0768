/* The subcommands: names, help texts, functions. */
#include "harness/commands/commands.h"

const struct command command_table[] = {
    { "devices", CMD_DEVICES, "[TARGET...] [--faults]",
      "print the capabilities that targets report",
      "Opens each target (default: sim:cpu, sim:gpu, sim:dsp) and prints what its driver\n"
      "reports: type, version, HAL version, performance, extensions, cache files. For targets\n"
      "given as arguments, or with -v, also the operations that it supports, with their element\n"
      "types. --faults lists the defects that 'sim:...?fault=NAME' plants in a simulated device.",
      cmd_devices, VALUE_TARGET },
    { "run", CMD_RUN, "PATH... -d TARGET [-d TARGET...]",
      "run spec files and models on targets, and judge the results",
      "Runs every example of the files (.mod.py, .jsonl, .jsonl.xz, .tflite), or of all such\n"
      "files in and below a folder, on each target. Outputs that a file expects are judged with\n"
      "the tolerances of the NNAPI suites (cts). A model without expected outputs is run on\n"
      "generated inputs and judged against the reference (bound). Verdicts are written to the\n"
      "results database. A case of which no element could be compared is undecided: it conforms,\n"
      "but is not a pass. Bad files of a folder are listed at the end; the others are run, and\n"
      "the exit status is 2, unless --skip-bad is given.",
      cmd_run, VALUE_FILE },
    { "random", CMD_RANDOM, "-d TARGET [-d TARGET...] [--seed S] [--count N]",
      "run random models on targets, and judge the results",
      "Generates random graphs and runs each on the targets. The name of a graph has all that it\n"
      "is generated from: version of the generator, options --ops to --ways, seed and index.\n"
      "Results are judged against the reference, within an error bound computed for each\n"
      "element (bound). Verdicts are written to the results database.\n\n"
      "Graphs are drawn for the targets: each is asked at the start what it supports, as by\n"
      "'halcyon probe', and graph i is drawn for target i modulo their number. Names have a\n"
      "digest of the answers, as in random/v2/for=ab12cd34ef567890/s7/i123; the answers are kept\n"
      "in the results database. --no-probe draws for any driver. --steer draws more of what\n"
      "'halcyon coverage' counts least.\n\n"
      "--op CONV_2D,ADD --op RELU draws graphs of these operations, --hal V graphs of what HAL V\n"
      "has, which are run through its entry points. --from PATH runs mutations of given models\n"
      "instead: values, sizes, attributes, types and operations of each are changed at random.",
      cmd_random },
    { "campaign", CMD_CAMPAIGN_FILE, "FILE.toml [--dry-run]",
      "run a campaign as many shards, here or on many machines",
      "Reads what to run from FILE.toml: the command (random, conform or run), its targets and\n"
      "options, the number of shards, the engine that runs them (local processes, Dask, Slurm,\n"
      "GNU parallel, Kubernetes, a program of your own), limits and stop rules. Each shard\n"
      "writes a database to the campaign's folder, whole or not at all; missing ones are\n"
      "submitted again. The same command continues a campaign that has ended for whatever\n"
      "reason. At the end the folder has the merged database and the report, and the exit status\n"
      "is that of the command, or 3 if shards are missing. docs/campaigns.md has the keys of the\n"
      "file.",
      cmd_campaign, VALUE_FILE },
    { "conform", CMD_CONFORM, "-d TARGET [-d TARGET...] [--suite NAME] [--hal V]",
      "check drivers against the rules of the HAL, as the vendor test suites do",
      "Checks what the HAL requires of a driver besides correct results: that invalid models and\n"
      "requests are rejected, what each kind of execution returns, caching, deadlines, fences,\n"
      "bursts, buffers, versions. Each rule is checked in a process of its own. A violation is\n"
      "explained and printed with the command that repeats it. --list prints the rules. Verdicts\n"
      "are written to the results database; a rule is a case there, such as\n"
      "conform/1.3/model/M9.",
      cmd_conform },
    { "selftest", CMD_SELFTEST, "[--fault NAME...] [--all] [-j N]",
      "check that the rules of conform find the planted faults",
      "Checks on sim:cpu with each planted fault ('halcyon devices --faults') the rules of\n"
      "'halcyon conform' that the fault names, all of which must fail, and all rules on the\n"
      "device without a fault, where none may. Each rule must be named by a fault. --all checks\n"
      "every rule with every fault, at every HAL version, and prints the rules that no fault\n"
      "made fail.",
      cmd_selftest },
    { "replay", CMD_REPLAY, "CASE|FILE [-d TARGET...]",
      "run one case again and explain the verdict",
      "Runs one case alone and shows how each output compares. CASE is the name of a case in the\n"
      "results database, of a random case, such as random/v2/op=ADD/s7/i123, which has all that\n"
      "it is generated from, or of a rule, such as conform/1.3/model/M9. FILE is a spec file or\n"
      "a model; --case selects from it. Without -d the targets are those on which the recorded\n"
      "case did not conform. Nothing is written to the database.",
      cmd_replay, VALUE_FILE },
    { "explain", CMD_EXPLAIN, "CASE|FILE [-d TARGET...] [--element I]",
      "explain what a driver computed instead",
      "Runs one case, then each of its operations alone on the values of the reference. For\n"
      "those that are wrong: the values expected and found, stored and real; the pattern of the\n"
      "wrong elements; the terms of one element's sum; and which of many hypotheses, such as\n"
      "'the zero point is left out', explain what the driver computed. CASE and FILE are as for\n"
      "replay. Nothing is written to the database.",
      cmd_explain, VALUE_FILE },
    { "shrink", CMD_SHRINK, "CASE|FILE [-d TARGET] [--case NAME] [-o FILE]",
      "make a failing case as small and simple as possible",
      "Looks for a smaller case that fails on the target in the same way: fewer operations and\n"
      "operands, smaller dimensions, default attributes, plain values, types and scales. Writes\n"
      "it as a specification that reads like a test written by hand ('halcyon run FILE' runs\n"
      "it), and prints on stderr how it ended. CASE and FILE are those of 'halcyon replay'. Each\n"
      "candidate is executed in a process of the driver's own; --executions limits their number,\n"
      "so that the result is the same on every machine, unless --seconds ends it earlier.",
      cmd_shrink, VALUE_FILE },
    { "dump", CMD_DUMP, "PATH [PATH] [-d TARGET] [--format FORMAT] [-o FILE]",
      "draw, convert or compare models (graphDump)",
      "Writes a model as a drawing (svg, png, pdf), as Graphviz text (dot), as JSON for programs\n"
      "(graph), as a specification (spec), or as a line of the JSON corpus (json). PATH is a\n"
      "spec file, a model, or the name of a random case, such as random/v2/s7/i123, or with --db\n"
      "of a case in the database. -o x.svg chooses the format by its name. Repeated blocks are\n"
      "shown once.\n\n"
      "With -d the operations are run on the target, each alone, and coloured by their error in\n"
      "relation to its bound; the first wrong one is marked. A case of the database that failed\n"
      "is run on the recorded target, or shows the recorded blame if that cannot be opened.\n"
      "--plan boxes the operations by the runtime's plan for the targets instead.\n\n"
      "Of a folder every model is written, to a file of its own in the folder of -o. Of two\n"
      "paths the difference is printed, and drawn if there is -o; the exit status is 1 if they\n"
      "differ. --for-level converts the model to an older feature level, where that is possible\n"
      "('halcyon levels'), and lists the changes on stderr.",
      cmd_dump, VALUE_FILE },
    { "levels", CMD_LEVELS, "PATH [--case NAME]",
      "print the feature level that a model needs, and why",
      "For each example: the feature level (HAL version) that its model needs, and what needs\n"
      "it; then the lowest level that the model can be converted to, with the changes and what\n"
      "they lose. PATH is a spec file, a model, or the name of a random case, such as\n"
      "random/v2/s7/i123.",
      cmd_levels, VALUE_FILE },
    { "plan", CMD_PLAN, "PATH -d TARGET [-d TARGET...] [--preference P]",
      "print how the runtime would partition a model, and why",
      "Prints the plan that the runtime would make of each example for these devices and its\n"
      "reference: the steps, with their operations, and what each reads and writes; then for\n"
      "each operation what every device would cost, which one was chosen, and why not the\n"
      "others. --dot and --svg draw the plan, with a box for each step in the colour of its\n"
      "device. Nothing is compiled or executed. PATH is a spec file, a model, or the name of a\n"
      "random case. The exit status is 1 if no device can do an operation.",
      cmd_plan, VALUE_FILE },
    { "bench", CMD_BENCH, "LIST -d TARGET [-d TARGET...]",
      "measure latency, memory and accuracy of models",
      "Runs models with real data on each target, one after the other. LIST is a list of models\n"
      "(JSON, as the public NNAPI benchmark's), a .tflite file, or a folder of them. Measured\n"
      "are the latency of synchronous executions and of those in a burst, on the wall clock and\n"
      "as the driver reports it; compilation without cache, with writing one, and from it; the\n"
      "peak of the driver's memory; and accuracy: top-k of images, mel-cepstral distortion and\n"
      "log F0 of speech, phone error rate, mean average precision of detections, difference to\n"
      "golden outputs and to the reference on the same data. Outputs of a model without an\n"
      "evaluator are judged by their error bounds, as 'halcyon run' does. The exit status is 1\n"
      "if the accuracy of a model is worse than that of the reference or a published limit\n"
      "allows, or a driver fails.",
      cmd_bench, VALUE_FILE },
    { "calibrate", CMD_CALIBRATE, "-d TARGET [LIST] [-o FILE.toml]",
      "measure a driver's performance, and write it into a profile",
      "Measures execution times on the target relative to the reference: by operand type, of\n"
      "relaxed fp32, and of IF and WHILE, as drivers report them in their capabilities.\n"
      "Workloads are the models of LIST (as of 'halcyon bench'), each for the type of its input,\n"
      "and small random models for what no model of LIST has. A time is the geometric mean of\n"
      "the ratios of mean times; those of a simulated device are by its cost model. -o writes\n"
      "the times into a profile, in which power and all else stay as they are, and shows how the\n"
      "runtime would partition the models of LIST with it ('halcyon plan'). A FILE that does not\n"
      "exist is made from the target's profile, or from that of sim:cpu.",
      cmd_calibrate, VALUE_FILE },
    { "ops", CMD_OPS, "[NAME...] [--markdown]", "print the manual of operations",
      "Without a name: one line for each operation. With names: their manual, made from the\n"
      "records that the reference uses. --markdown writes the manual as Markdown; without a\n"
      "name, that of all operations.",
      cmd_ops, VALUE_OPERATION },
    { "probe", CMD_PROBE, "TARGET [-o FILE]", "write what a target supports, to draw graphs for it",
      "Asks the target's driver which of several thousand models of one operation it supports,\n"
      "in each form, with each combination of types and with various shapes and parameters; none\n"
      "is executed. Writes the operations that it supports, and the limits on each, as a support\n"
      "set: 'halcyon random' asks for the same to draw graphs that the target can run, and\n"
      "--support FILE uses the file instead, also where the target is not available.",
      cmd_probe, VALUE_TARGET },
    { "serve", CMD_SERVE, "TARGET --listen unix:PATH",
      "run a driver as a service in its own process",
      "Serves the target's driver at a local socket until interrupted. Any number of other\n"
      "commands can run models on it at the same time, as '-d unix:PATH'. When a case makes the\n"
      "service die, its verdict is crash; later cases connect to a new service at that path.",
      cmd_serve, VALUE_TARGET },
    { "new-driver", CMD_NEW_DRIVER, "NAME", "create a driver skeleton",
      "Creates the folder NAME with a small driver that builds and conforms: driver.c,\n"
      "kernels.c, the contract hal.h, a Makefile, a meson.build, a README. Comments mark what to\n"
      "fill in. 'make -C NAME check' builds and tests it; its target is 'lib:NAME/NAME.so'. An\n"
      "existing folder is not changed.",
      cmd_new_driver },
    { "trace", CMD_TRACE, "FILE...", "print where the time of a trace is spent",
      "Reads traces and prints for each run the time of each layer in each phase: without the\n"
      "layers below it (self-time), or with them (--total-times). A FILE is what --trace or\n"
      "HALCYON_TRACE wrote, Chrome's JSON of others (Perfetto exports it), or ftrace's text,\n"
      "also in a page of systrace. Several files must be of the same time: of a command and of\n"
      "the services that it used. A run is a section [NN_LA_PO], such as a case on a target;\n"
      "without any, the whole trace. Runs in which a process died are left out; wrongly nested\n"
      "sections are an error. Time in a service is counted for every run that was active then:\n"
      "use -j 1 to keep runs apart.",
      cmd_trace, VALUE_FILE },
    { "report", CMD_REPORT, "[-o DIR] [--text] [--markdown] [--junit FILE] [--db FILE] [--run N]",
      "write a report of the results database: a site, a summary, JUnit, JSON, TAP, CSV",
      "-o writes DIR/index.html, which opens from disk: what is wrong, one card for each bug\n"
      "with its smallest model, its worst element and its replay command; targets, operations by\n"
      "type, coverage, errors, times, flakes and waivers, trend, what was not compared, all\n"
      "cases. A report in DIR is replaced; a folder that has other files only is not changed.\n"
      "--text and --markdown print a summary, --junit, --json-file, --tap and --csv write the\n"
      "verdicts for other programs.",
      cmd_report },
    { "coverage", CMD_COVERAGE, "[RUN...] [-d TARGET...]",
      "print what the recorded runs have and have not executed",
      "Counts the calls of operations in all cases that were executed, as the results database\n"
      "has them: by operation, by form and types, with each rank, option and class of values,\n"
      "and by pairs of operations, the first of which writes what the second reads. Prints how\n"
      "much of what can occur was seen, then what was never or least seen. RUN is the number of\n"
      "a run (default: all), -d selects targets. 'halcyon random --steer' draws more of what was\n"
      "seen least.",
      cmd_coverage },
    { "db", CMD_DB, "ACTION [ARGUMENT...] [--db FILE]",
      "list, prune, compact, check, export, merge and push results databases",
      "ACTION is one of:\n"
      "list              the runs, with the numbers of cases and failures and the size of their\n"
      "                  texts (specifications, output of drivers); the size of the file\n"
      "prune RUN...      remove these runs, or with --older-than and --keep-last all that are\n"
      "                  older and not among the newest; --dry-run only lists them\n"
      "compact           give free space back, upgrade a database of an older version, renew "
      "views\n"
      "check             look for damage; the exit status is 1 if there is any\n"
      "export TABLE      write a table or view as CSV, all rows or those of --run N\n"
      "spec CASE         print the stored specification of a case that failed\n"
      "corpus DIR        write specifications of failures to DIR/BUCKET/, shrunk ones where there\n"
      "                  are any, at most --keep K of each bucket; existing files stay, and\n"
      "                  'halcyon run DIR' runs them\n"
      "merge DB... -o F  as 'halcyon merge'\n"
      "push URL          copy all runs, or --run N, to a PostgreSQL server, except those that it\n"
      "                  already has.\n"
      "                  URL: postgresql://USER@HOST/DATABASE (password: ~/.pgpass, PGPASSWORD)\n"
      "pull URL -o F     copy all runs of a server, or --run N, to a new database\n"
      "list, check, export and spec also read a server, with its URL as --db.\n"
      "Each change is one transaction: a process that is killed leaves the database as it was.",
      cmd_db, VALUE_DB_ACTION },
    { "merge", CMD_MERGE, "DB... -o OUT", "merge results databases into a new one",
      "Writes all runs of the databases, such as those of shards, to the new database OUT, in\n"
      "the order in which they were started. A run that is in several databases is written once:\n"
      "the finished copy, else the one with the most cases. Runs keep their options and\n"
      "verdicts, and can be resumed, reported and repeated from OUT. Copies of a shard that\n"
      "--atomic has written are one, whichever machines wrote them. Summaries (--summary) of the\n"
      "shards of a campaign are added up to one run. Neither the order of the databases nor\n"
      "repetition matters. Shards that a campaign lacks are named in a warning.",
      cmd_merge, VALUE_FILE },
    { "baseline", CMD_BASELINE, "[-o PATH] [--update FILE...] [--check FILE...]",
      "write the verdicts of a target as a file of expectations",
      "Writes the verdicts of the results database that do not conform, one per line with\n"
      "verdict, stage, status and operation, as a file to edit and to keep under version\n"
      "control, which --baseline of 'halcyon run', 'random' and 'conform' reads. --update\n"
      "rewrites such files: what has changed is added, replaced or removed. --check prints what\n"
      "the recorded verdicts give that the files do not expect, and the reverse; the exit status\n"
      "is that of a run with them. Verdicts are the newest of each case, or those of --run N.",
      cmd_baseline, VALUE_FILE },
    { "diff", CMD_DIFF, "A B", "compare the verdicts, times and errors of two runs",
      "Compares two sets of verdicts, A before and B after. Each is a run of --db (3), a\n"
      "database (before.db: the newest verdict of each case), a run of a database (before.db:3),\n"
      "and may select one target: 3@sim:cpu, before.db@lib:mine.so, @sim:dsp. Targets are\n"
      "compared by URI, others in their order. Lists the cases that are broken, mended, fail in\n"
      "another way, are new or gone, and shifts of times and error ratios beyond what varies\n"
      "between runs. The exit status is 1 if something is broken.",
      cmd_diff, VALUE_FILE },
    { "help", CMD_HELP, "[COMMAND] [--man] [--completion SHELL]",
      "list the commands, or describe one of them",
      "Without arguments: the commands and the targets. With a command: its options. --man and\n"
      "--completion write the manual page and completion scripts, which are installed with\n"
      "halcyon.",
      cmd_help, VALUE_COMMAND },
};
const int command_table_n = COUNT(command_table);
