/* The `halcyon` command: the table of subcommands, the general help, and the dispatch. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "golden/base/sandbox.h"
#include "golden/base/text_escape.h"
#include "golden/base/trace.h"
#include "golden/base/trace_file.h"
#include "harness/check/cases.h"
#include "harness/cli/logcat.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/server_database.h"
#include "harness/run/devices.h"
#include "sim/isolation/host_process.h"
#include "specs/specs.h"

/* Runs a command with --trace.  After a usage error no trace is written. */
static int run_traced(const struct command *c, const struct options *o)
{
    struct why why = { 0 };
    char name[64];

    if (trace_file_start(o->trace, o->trace_size << 20, &why) < 0)
        return print_error(o, &why);
    snprintf(name, sizeof name, "halcyon %s", c->name);
    trace_file_name_process(name);
    trace_begin(TRACE_NEST, TRACE_LO, TRACE_PU, name);
    int status = c->run(o);
    trace_end();
    return trace_file_end(status != EXIT_USAGE, &why) < 0 ? print_error(o, &why) : status;
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
        fprintf(stderr, "halcyon %s: ", c->name);
        text_put(stderr, TEXT_TERMINAL, why.text, 0);
        putc('\n', stderr);
        return EXIT_USAGE;
    }
    logcat_start(o.vlog);
    if (o.allowlist && devices_limit_extensions(o.allowlist, o.run_as, &why) < 0)
        return print_error(&o, &why);
    cases_limit_loading(o.load_timeout, (size_t) o.load_memory << 20);
    devices_isolate(o.in_process ? ISOLATE_NONE : o.isolate, o.allow_devices, o.memory_limit);
    if (c->bit != CMD_CONFORM) /* whose rules name the version in each call */
        devices_enter(o.version);
    struct server_database server = SERVER_DATABASE_NONE;
    int status = server_database_use(c, &o, &server, &why) < 0 ? print_error(&o, &why)
                 : o.trace                                     ? run_traced(c, &o)
                                                               : c->run(&o);
    server_database_done(&server);
    return status;
}

/* What confines a kind of process here, and what does not. */
static void print_confinement(const char *what, int namespaces)
{
    struct sandbox_state s = sandbox_available();
    char text[SANDBOX_TEXT];

    s.namespaces = sandbox_namespaces(namespaces);
    printf("%s are confined by: %s", what, sandbox_describe(&s, text, sizeof text));
    if (*sandbox_describe_missing(&s, namespaces, text, sizeof text))
        printf("; missing here: %s", text);
    putchar('\n');
}

/* With -v also what a report of a defect should contain. */
static void print_version(bool verbose)
{
    struct utsname system;

    puts("halcyon " HALCYON_VERSION);
    if (!verbose || uname(&system) < 0)
        return;
    printf("built with: %s\n", HALCYON_BUILT_WITH);
    printf("system: %s %s %s\n", system.sysname, system.release, system.machine);
    print_confinement("drivers under test", HOST_NAMESPACES);
    print_confinement("specifications and models", SPECS_NAMESPACES);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_print(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version")) {
        print_version(argc > 2 && (!strcmp(argv[2], "-v") || !strcmp(argv[2], "--verbose")));
        return EXIT_CONFORMING;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    const struct command *c = help_find_command(name);
    return c ? run_command(c, argc - 1, argv + 1) : EXIT_USAGE;
}

/* Output that could not be written is an error, even when all cases conform. */
int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a limit fails instead, with a message */
    int status = dispatch(argc, argv);
    bool bad = ferror(stdout);
    if (fflush(stdout) == 0 && !bad)
        return status;
    fprintf(stderr, "halcyon: stdout: %s\n", bad ? "write error" : strerror(errno));
    return status == EXIT_CONFORMING || status == EXIT_NOT_CONFORMING ? EXIT_OURS : status;
}
