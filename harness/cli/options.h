/* The command line: one table of all options, each with the set of subcommands that accept it. */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"
#include "harness/check/check.h"
#include "randgraph/randgraph.h"

enum {
    DEFAULT_SEED = 1,
    DEFAULT_STRESS = 2,
    DEFAULT_THREADS = 8,
    DEFAULT_PROCESSES = 4,
    DEFAULT_KEEP = 20
};
/* The most of --threads and --processes: those that harness/conform has room for. */
enum { MOST_CRASH_THREADS = 15, MOST_CRASH_PROCESSES = 64 };
enum { MAX_TARGETS = 32, MAX_SUITES = 64, MAX_FAULTS = 64, MAX_NAMES = 64 };

/* Values of an option that may be repeated. */
struct option_names {
    const char *name[MAX_NAMES];
    uint32_t n;
};

/* Parsed options, with their defaults where not given.  Strings point into argv. */
struct options {
    const char *command; /* the subcommand's name */
    char **argument;     /* the arguments that are not options; ends with NULL */
    int n_arguments;

    const char *db;       /* never NULL */
    const char *db_shown; /* how messages name it */
    bool db_given;
    bool json;
    const char *junit, *json_file, *tap, *csv; /* NULL: not given; so for every file name below */
    const char *baseline[MAX_TARGETS];
    uint32_t n_baselines;
    unsigned jobs;
    uint32_t shard, n_shards; /* 1/1: everything */
    struct ways ways;         /* which cases from files are also executed in another way, and how */
    double timeout;           /* seconds */
    double load_timeout;      /* seconds to load a file; 0: the default */
    uint64_t load_memory;     /* MiB likewise */
    uint64_t trace_size;      /* MiB of a trace; 0: the default */
    enum judge_kind judge;
    bool in_process, gdb, resume, realtime;
    bool atomic;   /* the database is whole or not there */
    bool summary;  /* of the cases only a summary is kept */
    uint64_t keep; /* failures of a bucket that a summary has in full */
    bool keep_given;
    enum isolation isolate; /* which drivers get a process of their own */
    bool allow_devices;     /* those may use device nodes */
    int verbosity;          /* -1 quiet, 0, 1 verbose */
    const char *target[MAX_TARGETS];
    uint32_t n_targets;

    uint64_t seed, count;
    struct randgraph_options graphs;
    const char *support_file; /* the support set to draw for; NULL: each target is asked */
    bool no_probe;            /* no target is asked */
    struct option_names from; /* files of examples that the graphs are mutations of */
    bool steer;               /* draw by what the database has of the targets' coverage */
    bool graphs_given;        /* a generator's option (--ops, --types, ...) is not the default */
    bool plan_given;          /* --seed or --count was given */
    const char *case_glob;    /* of commands about one case; NULL: every case */
    /* Of a campaign: which cases are run (harness/check/case_choice.h). */
    struct option_names only, lists, exclude;
    const char *failed; /* a run's number or "last"; NULL: not given */

    bool no_shrink;
    uint64_t executions;   /* of a shrunk case, at most; 0: the default */
    double seconds;        /* likewise */
    uint32_t rerun;        /* how often a failing case is run again */
    uint64_t max_failures; /* verdicts that do not conform, after which a campaign ends; 0: none */
    uint64_t duration;     /* seconds after which a campaign ends, loading not included; 0: none */
    uint64_t memory_limit; /* bytes for the process of a driver; 0: none */

    const char *suite[MAX_SUITES]; /* halcyon conform: SUITE or SUITE/RULE */
    uint32_t n_suites;
    double stress; /* halcyon conform: seconds for each rule of the suites stress and crash */
    uint64_t threads, processes; /* likewise: of the suite crash */
    bool stress_given;           /* one of the three */
    enum hal_version version;    /* --hal: of the entry points; 0: not given */
    bool all_versions, list;
    const char *models; /* halcyon conform: file or folder of specifications; NULL: none */
    const char *fault[MAX_FAULTS]; /* halcyon selftest: only these */
    uint32_t n_faults;
    double budget; /* seconds per fault */
    bool all;      /* halcyon baseline, selftest */

    const char *format, *output;
    const char *style; /* halcyon dump; NULL: not given */
    bool unfold, show_plan;
    const char *listen;       /* path of the socket, without "unix:" */
    const char *vlog, *trace; /* NULL: not given */
    const char *allowlist, *run_as;
    const char *element, *second_opinion; /* halcyon explain */
    bool values;
    int for_level;         /* 0: not given */
    int preference;        /* halcyon plan: PreferenceCode */
    const char *dot, *svg; /* halcyon plan */
    bool skip_bad; /* files of a folder that cannot be loaded do not count for the exit status */
    bool markdown, faults, profile_json;
    bool text;                                          /* halcyon report: print a summary */
    bool update, check, mark_flakes;                    /* halcyon baseline */
    double threshold;                                   /* of halcyon diff; 0: the default */
    bool man;                                           /* halcyon help */
    const char *shell;                                  /* NULL: no completion script */
    bool total_times, per_execution, print_detail, sum; /* halcyon trace */
    bool public_rules;                                  /* likewise */
    const char *export_to;                              /* likewise; NULL: not given */
    int64_t run;                                        /* 0: all runs */
    uint64_t older_than;                                /* halcyon db: seconds; 0: not given */
    uint64_t keep_last; /* newest runs that are kept, where keeps_last */
    bool keeps_last, dry_run;
    double begun; /* monotonic seconds */

    /* halcyon bench */
    struct option_names data; /* folders where models and data of a list are looked for */
    double warm_up, bench_seconds;
    bool bench_seconds_given;
    uint64_t iterations, samples; /* 0: not limited */
    const char *reference;        /* of halcyon calibrate; NULL: golden */
    bool open_report;             /* --open */
    const char *against;          /* a run, also of halcyon report; NULL: not given */
    bool no_latency, no_accuracy, no_compile, no_reference, relaxed;
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
    CMD_TRACE = 1024,
    CMD_HELP = 2048,
    CMD_CONFORM = 4096,
    CMD_MERGE = 8192,
    CMD_BASELINE = 16384,
    CMD_DIFF = 32768,
    CMD_SELFTEST = 65536,
    CMD_SHRINK = 131072,
    CMD_PROBE = 262144,
    CMD_EXPLAIN = 524288,
    CMD_COVERAGE = 1048576,
    CMD_PLAN = 2097152,
    CMD_DB = 16777216,
    CMD_BENCH = 67108864,
    CMD_CAMPAIGN_FILE = 134217728,
    CMD_CALIBRATE = 268435456
};

/* The kind of a value or an argument, which determines the words that completion offers. */
enum value_kind {
    VALUE_ANY, /* nothing to offer */
    VALUE_FILE,
    VALUE_TARGET,
    VALUE_FAULT,      /* what follows ?fault= in a target */
    VALUE_HAL,        /* what follows ?hal= in a target */
    VALUE_HAL_OR_ALL, /* or all versions */
    VALUE_OPERATION,
    VALUE_OPERATIONS, /* a list with commas */
    VALUE_TYPE,       /* a list with commas */
    VALUE_TAG,        /* a list with commas */
    VALUE_JUDGE,
    VALUE_ISOLATION,
    VALUE_FORMAT,
    VALUE_STYLE,
    VALUE_PREFERENCE,
    VALUE_SHELL,
    VALUE_COLOUR,    /* when colours are used */
    VALUE_DB_ACTION, /* what halcyon db does */
    VALUE_COMMAND,   /* a name in command_table */
    VALUE_KINDS
};
/* The i-th word that a value of this kind may be, from 0 on; NULL after the last, and for all i
 * where the kind has no closed list (VALUE_ANY, VALUE_FILE) and for VALUE_COMMAND. */
const char *value_word(enum value_kind kind, int i);

struct command {
    const char *name;
    unsigned bit;
    const char *synopsis; /* arguments, as shown after the name */
    const char *summary;  /* one line */
    const char *text;     /* the body of its help */
    /* Returns the exit status. */
    int (*run)(const struct options *o);
    enum value_kind argument;
};
extern const struct command command_table[];
extern const int command_table_n;

enum exit_status { EXIT_CONFORMING = 0, EXIT_NOT_CONFORMING = 1, EXIT_USAGE = 2, EXIT_OURS = 3 };

/* Parses the arguments of a subcommand; argv[0] is its name.  0: parsed; 1: --help was given; -1:
 * an error, which names the option. */
int options_parse(const struct command *c, int argc, char **argv, struct options *ret_options,
                  struct why *w);

/* An option as help, the man page and completion describe it. */
struct option_facts {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a flag */
    enum value_kind value;
    bool repeats; /* may be given several times */
    const char *help;
};
/* The option of the command at *position of the table or after it, which it moves past it; --help
 * comes last.  False: there are no more.  Begin with 0. */
bool options_next(const struct command *c, int *position, struct option_facts *ret_facts);

/* Fails unless there are `least` to `most` arguments.  what: their name in the error. */
int options_expect(const struct options *o, int least, int most, const char *what, struct why *w);

/* Appends the options that reproduce these random graphs, as " --ops 1-5 --op ADD"; nothing for
 * the defaults. */
struct buffer;
void options_put_graphs(struct buffer *b, const struct randgraph_options *graphs);

/* Appends " --hal 1.2", or nothing where none is given. */
void options_put_hal(struct buffer *b, const struct options *o);

/* Appends the options that choose and parametrise rules, as " --suite model --hal 1.3"; nothing for
 * the defaults. */
void options_put_rules(struct buffer *b, const struct options *o);

/* Appends " --memory-limit 2G", or nothing where none is given. */
void options_put_memory_limit(struct buffer *b, const struct options *o);

/* Whether the name of a random case has a digest of what else it is generated from. */
bool name_needs_more(const char *name);
/* Appends the options, where any are needed, with which replay finds that: the sets that the case
 * was drawn for and by, or the spec that the database has of it. */
void options_put_support(struct buffer *b, const struct options *o, const char *name);

/* Prints "halcyon COMMAND: text" to stderr and returns the exit status for the reason's code:
 * EXIT_USAGE for bad input, else EXIT_OURS. */
int print_error(const struct options *o, const struct why *w);

#endif
