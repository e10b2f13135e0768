/* The `halcyon` command: finds the subcommand and hands over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/trace.h"
#include "harness/cli/logcat.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/run/devices.h"
#include "harness/trace/trace_file.h"

const struct command command_table[] = {
    { "devices", CMD_DEVICES, "[TARGET...] [--faults]", "what each target says of itself",
      "Opens each target (default: the shipped ones) and prints what it says of itself: type,\n"
      "version, HAL version, performance, extensions, caching; for targets that are named also\n"
      "which operations it supports in which types. --faults lists the defects that\n"
      "'sim:...?fault=NAME' plants.",
      cmd_devices, VALUE_TARGET },
    { "run", CMD_RUN, "PATH... -d TARGET [-d TARGET...]",
      "run spec files, folders of them, .tflite models",
      "Runs every example of the files (.mod.py, .jsonl, .jsonl.xz, .tflite), or of all such "
      "files\n"
      "in and below a folder, on each target. What a file expects is judged with the tolerances\n"
      "of the NNAPI suites (cts); a model that comes without expected outputs is given inputs\n"
      "and judged against the reference (bound). Verdicts go to the results database.",
      cmd_run, VALUE_FILE },
    { "random", CMD_RANDOM, "-d TARGET [-d TARGET...] [--seed S] [--count N]",
      "run random models against the reference",
      "Makes random graphs, the same for the same seed, index and options, and runs each on the\n"
      "targets. Results are judged against the reference with a bound that is computed with it.\n"
      "Verdicts go to the results database.",
      cmd_random },
    { "replay", CMD_REPLAY, "CASE|FILE [-d TARGET...]", "run one case again, and explain it",
      "Runs one case alone and says how each output compares. CASE is a name: random/sS/iI is\n"
      "made again, or taken from the results database where that has it, and so is every other\n"
      "name. FILE is a spec; --case picks from it. Without -d the targets are those on which the\n"
      "case did not conform. Nothing is written to the database.",
      cmd_replay, VALUE_FILE },
    { "dump", CMD_DUMP, "PATH [--case NAME] [--format FORMAT] [--for-level L] [-o FILE]",
      "draw or convert a model (graphDump)",
      "Writes a model as a Graphviz graph (dot), laid out (svg), as a specification (spec), or as\n"
      "a line of the JSON corpus (json). PATH is a spec file, or a random case: random/s7/i123.\n"
      "--for-level says the model in the words of an older HAL, if they suffice (halcyon levels\n"
      "tells); the changes are listed on stderr.",
      cmd_dump, VALUE_FILE },
    { "levels", CMD_LEVELS, "PATH [--case NAME]", "which feature level a model needs, and why",
      "For each example: the feature level (HAL version) that its model needs and what needs it;\n"
      "the lowest level at which the same can be expressed, with the changes that takes and what\n"
      "is lost by them. PATH is a spec file, a model, or a random case: random/s7/i123.",
      cmd_levels, VALUE_FILE },
    { "ops", CMD_OPS, "[NAME...] [--markdown]", "the operation catalogue, as documentation",
      "Without a name: one line for each operation. With names: their manual, from the records\n"
      "that the reference runs by. --markdown writes the manual as Markdown, without a name of\n"
      "the whole catalogue.",
      cmd_ops, VALUE_OPERATION },
    { "serve", CMD_SERVE, "TARGET --listen unix:PATH", "a driver as a service in its own process",
      "Serves the target's driver at a local socket until it is interrupted. Other commands, and\n"
      "any number of them at once, run models on it as '-d unix:PATH'. When the service dies of a\n"
      "case, that case's verdict is crash, and the next one looks for a new service there.",
      cmd_serve, VALUE_TARGET },
    { "new-driver", CMD_NEW_DRIVER, "NAME", "write the beginning of a driver of your own",
      "Makes the folder NAME with a small driver that builds and conforms (driver.c, the contract\n"
      "hal.h, a Makefile, a README). Comments say what to fill in. 'lib:NAME/NAME.so' is the\n"
      "target then, here and for 'halcyon serve'. What is there already is left alone.",
      cmd_new_driver },
    { "trace", CMD_TRACE, "FILE...", "where the time of a trace goes",
      "Reads what --trace wrote, of one process or of a command and the services that it used, "
      "and\n"
      "prints for each run the time of each layer in each phase: without that of the layers below\n"
      "it, or all of it (--total-times). A run is a case on a target; those of processes that "
      "died\n"
      "in it are left out. Times of a service belong to whatever ran meanwhile: -j 1 keeps runs\n"
      "apart.",
      cmd_trace, VALUE_FILE },
    { "report", CMD_REPORT, "-o DIR [--db FILE] [--run N]", "write the results as an HTML page",
      "Writes DIR/index.html: totals by verdict, target, operation and type, and each failure\n"
      "with its graph.",
      cmd_report },
    { "help", CMD_HELP, "[COMMAND] [--man] [--completion SHELL]",
      "list the commands, or describe one",
      "Without arguments: the commands and the targets. With a command: its options. --man and\n"
      "--completion write the manual page and completion scripts, which are installed with "
      "halcyon.",
      cmd_help, VALUE_COMMAND },
};
const int command_table_n = COUNT(command_table);

/* As a command that is used wrongly leaves no results, it leaves no trace. */
static int run_traced(const struct command *c, const struct options *o)
{
    struct why why = { 0 };
    char name[64];

    if (trace_file_start(o->trace, &why) < 0)
        return complain(o, &why);
    snprintf(name, sizeof name, "halcyon %s", c->name);
    trace_file_name_process(name);
    trace_begin(TRACE_NEST, TRACE_LO, TRACE_PU, name);
    int status = c->run(o);
    trace_end();
    return trace_file_end(status != EXIT_USAGE, &why) < 0 ? complain(o, &why) : status;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct options o;
    struct why why = { 0 };
    int parsed = options_parse(c, argc, argv, &o, &why);
    if (parsed > 0) {
        help_print_command(c, stdout);
        return EXIT_CONFORMING;
    }
    if (parsed < 0) {
        fprintf(stderr, "halcyon %s: %s\n", c->name, why.text);
        return EXIT_USAGE;
    }
    logcat_start(o.vlog);
    if (o.allowlist && devices_limit_extensions(o.allowlist, o.run_as, &why) < 0)
        return complain(&o, &why);
    return o.trace ? run_traced(c, &o) : c->run(&o);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_print(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version")) {
        puts("halcyon " HALCYON_VERSION);
        return EXIT_CONFORMING;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    const struct command *c = help_find_command(name);
    return c ? run_command(c, argc - 1, argv + 1) : EXIT_USAGE;
}

/* What could not be written must not pass for a result. */
int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);
    bool bad = ferror(stdout);
    if (fflush(stdout) == 0 && !bad)
        return status;
    fprintf(stderr, "halcyon: stdout: %s\n", bad ? "not all was written" : strerror(errno));
    return status == EXIT_CONFORMING || status == EXIT_NOT_CONFORMING ? EXIT_OURS : status;
}
