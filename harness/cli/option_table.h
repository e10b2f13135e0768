/* The options of all commands: a row for each, and for each that does more than store a string or a
 * flag the function that parses its argument. */
#ifndef HARNESS_OPTION_TABLE_H
#define HARNESS_OPTION_TABLE_H

#include <stddef.h>

#include "harness/cli/options.h"

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a flag */
    unsigned commands;    /* enum command_bit: the subcommands that accept it */
    const char *help;
    /* Parses and stores the argument.  NULL: the string, or true for a flag, is stored at `member`.
     */
    int (*set)(struct options *o, const char *value, struct why *w);
    size_t member;
    enum value_kind value;
    bool repeats;
};

enum { MAX_OPTIONS = 200 };
extern const struct option_row option_table[];
extern const int option_table_n;

/* value: never NULL, except for flags, which ignore it.  Fails with what was expected; the caller
 * adds the option's name.  The options keep pointers into value. */
int option_set_target(struct options *o, const char *value, struct why *w);
int option_set_suite(struct options *o, const char *value, struct why *w);
int option_set_fault(struct options *o, const char *value, struct why *w);
int option_set_hal(struct options *o, const char *value, struct why *w);
int option_set_entry(struct options *o, const char *value, struct why *w);
int option_set_baseline(struct options *o, const char *value, struct why *w);
int option_set_db(struct options *o, const char *value, struct why *w);
int option_set_jobs(struct options *o, const char *value, struct why *w);
int option_set_keep(struct options *o, const char *value, struct why *w);
int option_set_shard(struct options *o, const char *value, struct why *w);
int option_set_timeout(struct options *o, const char *value, struct why *w);
int option_set_stress(struct options *o, const char *value, struct why *w);
int option_set_threads(struct options *o, const char *value, struct why *w);
int option_set_processes(struct options *o, const char *value, struct why *w);
int option_set_budget(struct options *o, const char *value, struct why *w);
int option_set_data(struct options *o, const char *value, struct why *w);
int option_set_iterations(struct options *o, const char *value, struct why *w);
int option_set_bench_seconds(struct options *o, const char *value, struct why *w);
int option_set_warm_up(struct options *o, const char *value, struct why *w);
int option_set_samples(struct options *o, const char *value, struct why *w);
int option_set_executions(struct options *o, const char *value, struct why *w);
int option_set_shrink_seconds(struct options *o, const char *value, struct why *w);
int option_set_load_timeout(struct options *o, const char *value, struct why *w);
int option_set_load_memory(struct options *o, const char *value, struct why *w);
int option_set_trace_size(struct options *o, const char *value, struct why *w);
int option_set_threshold(struct options *o, const char *value, struct why *w);
int option_set_judge(struct options *o, const char *value, struct why *w);
int option_set_duration(struct options *o, const char *value, struct why *w);
int option_set_memory_limit(struct options *o, const char *value, struct why *w);
int option_set_rerun(struct options *o, const char *value, struct why *w);
int option_set_max_failures(struct options *o, const char *value, struct why *w);
int option_set_only(struct options *o, const char *value, struct why *w);
int option_set_exclude(struct options *o, const char *value, struct why *w);
int option_set_from(struct options *o, const char *value, struct why *w);
int option_set_list(struct options *o, const char *value, struct why *w);
int option_set_failed(struct options *o, const char *value, struct why *w);
int option_set_isolate(struct options *o, const char *value, struct why *w);
int option_set_color(struct options *o, const char *value, struct why *w);
int option_set_quiet(struct options *o, const char *value, struct why *w);
int option_set_verbose(struct options *o, const char *value, struct why *w);
int option_set_seed(struct options *o, const char *value, struct why *w);
int option_set_count(struct options *o, const char *value, struct why *w);
int option_set_ops(struct options *o, const char *value, struct why *w);
int option_set_op(struct options *o, const char *value, struct why *w);
int option_set_types(struct options *o, const char *value, struct why *w);
int option_set_max_dim(struct options *o, const char *value, struct why *w);
int option_set_level(struct options *o, const char *value, struct why *w);
int option_set_graph_ways(struct options *o, const char *value, struct why *w);
int option_set_ways(struct options *o, const char *value, struct why *w);
int option_set_values(struct options *o, const char *value, struct why *w);
int option_set_style(struct options *o, const char *value, struct why *w);
int option_set_format(struct options *o, const char *value, struct why *w);
int option_set_preference(struct options *o, const char *value, struct why *w);
int option_set_shell(struct options *o, const char *value, struct why *w);
int option_set_listen(struct options *o, const char *value, struct why *w);
int option_set_for_level(struct options *o, const char *value, struct why *w);
int option_set_vlog(struct options *o, const char *value, struct why *w);
int option_set_older_than(struct options *o, const char *value, struct why *w);
int option_set_keep_last(struct options *o, const char *value, struct why *w);
int option_set_run(struct options *o, const char *value, struct why *w);

#endif
