/* The command line: one table of all options, each with the set of subcommands that accept it. */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/why.h"
#include "harness/check/check.h"
#include "randgraph/randgraph.h"

enum { MAX_TARGETS = 32 };

/* Parsed options, with their defaults where not given.  Strings point into argv. */
struct options {
    const char *command; /* the subcommand's name */
    char **argument;     /* the arguments that are not options; ends with NULL */
    int n_arguments;

    const char *db; /* never NULL */
    bool db_given;
    bool json;
    const char *junit; /* NULL: not given; so for every file name below */
    const char *waivers;
    unsigned jobs;
    uint32_t shard, n_shards; /* 1/1: everything */
    double timeout;           /* seconds */
    enum judge_kind judge;
    bool in_process, resume, realtime;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    const char *target[MAX_TARGETS];
    uint32_t n_targets;

    uint64_t seed, count;
    struct randgraph_options graphs;
    bool graphs_given;     /* one of the generator's options (--ops, --types, ...) was given */
    const char *case_glob; /* NULL: every case */

    const char *format, *output;
    const char *listen;       /* path of the socket, without "unix:" */
    const char *vlog, *trace; /* NULL: not given */
    const char *allowlist, *run_as;
    int for_level; /* 0: not given */
    bool markdown, faults;
    bool total_times, per_execution, print_detail, sum; /* halcyon trace */
    int64_t run;                                        /* 0: all runs */
    double begun;                                       /* monotonic seconds */
};

/* Which subcommands take an option. */
enum command_bit {
    CMD_DEVICES = 1,
    CMD_RUN = 2,
    CMD_RANDOM = 4,
    CMD_REPLAY = 8,
    CMD_DUMP = 16,
    CMD_OPS = 32,
    CMD_REPORT = 64,
    CMD_LEVELS = 128,
    CMD_SERVE = 256,
    CMD_NEW_DRIVER = 512,
    CMD_TRACE = 1024
};

struct command {
    const char *name;
    unsigned bit;
    const char *synopsis; /* arguments, as shown after the name */
    const char *summary;  /* one line */
    const char *text;     /* the body of its help */
    /* Returns the exit status. */
    int (*run)(const struct options *o);
};
extern const struct command command_table[];
extern const int command_table_n;

enum exit_status { EXIT_CONFORMING = 0, EXIT_NOT_CONFORMING = 1, EXIT_USAGE = 2, EXIT_OURS = 3 };

/* Parses the arguments of a subcommand; argv[0] is its name.  0: parsed; 1: --help was given; -1:
 * an error, which names the option. */
int options_parse(const struct command *c, int argc, char **argv, struct options *ret_options,
                  struct why *w);
/* Prints the help of a subcommand. */
void options_help(const struct command *c, FILE *to);

/* Fails unless there are `least` to `most` arguments.  what: their name in the error. */
int options_expect(const struct options *o, int least, int most, const char *what, struct why *w);

/* Appends the options that reproduce these random graphs, as " --ops 1-5 --op ADD"; nothing for
 * the defaults. */
struct buffer;
void options_put_graphs(struct buffer *b, const struct randgraph_options *graphs);

/* Prints "halcyon COMMAND: text" to stderr and returns the exit status for the reason's code:
 * EXIT_USAGE for bad input, else EXIT_OURS. */
int complain(const struct options *o, const struct why *w);

#endif
