/* The command line: one table of options, shared by the subcommands that accept them. */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/why.h"
#include "harness/check/check.h"
#include "randgraph/randgraph.h"

enum { MAX_TARGETS = 32 };

struct options {
    const char *command; /* the subcommand's name */
    char **argument;     /* what is left after the options; NULL at the end */
    int n_arguments;

    const char *db; /* never NULL */
    bool db_given;
    bool json;
    const char *junit; /* NULL: none; so for every file name below */
    const char *waivers;
    unsigned jobs;
    uint32_t shard, n_shards; /* 1/1: everything */
    double timeout;
    enum judge_kind judge;
    bool in_process, resume, realtime;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    const char *target[MAX_TARGETS];
    uint32_t n_targets;

    uint64_t seed, count;
    struct randgraph_options graphs;
    bool graphs_given;     /* one of the options of the generator was */
    const char *case_glob; /* NULL: every case */

    const char *format, *output;
    const char *listen;
    const char *vlog, *trace; /* NULL: not given */
    const char *allowlist, *run_as;
    int for_level; /* 0: as it is */
    bool markdown, faults;
    bool total_times, per_execution, print_detail, sum; /* halcyon trace */
    int64_t run;                                        /* 0: the newest */
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
    const char *synopsis; /* what follows the name */
    const char *summary;  /* one line */
    const char *text;     /* the body of its help */
    /* The exit status. */
    int (*run)(const struct options *o);
};
extern const struct command command_table[];
extern const int command_table_n;

enum exit_status { EXIT_CONFORMING = 0, EXIT_NOT_CONFORMING = 1, EXIT_USAGE = 2, EXIT_OURS = 3 };

/* 0, 1 when help was asked for, or -1 with what is wrong where.  argv[0] is the subcommand. */
int options_parse(const struct command *c, int argc, char **argv, struct options *ret_options,
                  struct why *w);
void options_help(const struct command *c, FILE *to);

/* Exactly this many arguments? */
int options_expect(const struct options *o, int least, int most, const char *what, struct why *w);

/* What to write so that random graphs come out the same: " --ops 1-5 --op ADD", or "". */
struct buffer;
void options_put_graphs(struct buffer *b, const struct randgraph_options *graphs);

/* Prints "halcyon COMMAND: text" to stderr and returns the exit status that fits the reason. */
int complain(const struct options *o, const struct why *w);

#endif
