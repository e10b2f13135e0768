#include "harness/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/parse_number.h"
#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/cli/console.h"
#include "sim/hal/hal_convert.h"

enum {
    CMD_CASES = CMD_RUN | CMD_RANDOM,
    CMD_CAMPAIGN = CMD_CASES | CMD_CONFORM,
    CMD_JUDGING = CMD_CASES | CMD_REPLAY | CMD_EXPLAIN,
    CMD_LOADING =
        CMD_RUN | CMD_DUMP | CMD_REPLAY | CMD_EXPLAIN | CMD_LEVELS | CMD_SHRINK | CMD_PLAN,
    CMD_DRIVING = CMD_JUDGING | CMD_DEVICES | CMD_SERVE | CMD_PROBE | CMD_PLAN
};

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
#define MEMBER(name) NULL, offsetof(struct options, name)

/* ---- numbers */

/* "I/N" */
static int parse_part(const char *text, uint64_t most, uint64_t *ret_i, uint64_t *ret_n,
                      struct why *w)
{
    char first[32];
    const char *at = strchr(text, '/');
    if (!at || (size_t) (at - text) >= sizeof first)
        return why_fail(w, WHY_INVALID, "expected two numbers, I/N, found '%s'", text);
    memcpy(first, text, (size_t) (at - text));
    first[at - text] = 0;
    TRY(parse_u64(first, 1, most, ret_i, w));
    return parse_u64(at + 1, 1, most, ret_n, w);
}

/* ---- words of a closed list */

static bool has_word(enum value_kind kind, const char *text)
{
    for (int i = 0; value_word(kind, i); i++)
        if (!strcmp(text, value_word(kind, i)))
            return true;
    return false;
}

static int refuse_word(enum value_kind kind, const char *text, struct why *w)
{
    char list[128] = "";
    for (int i = 0; value_word(kind, i); i++)
        text_append(list, sizeof list, "%s%s",
                    !i                        ? ""
                    : value_word(kind, i + 1) ? ", "
                                              : " or ",
                    value_word(kind, i));
    return why_fail(w, WHY_INVALID, "expected %s, found '%s'", list, text);
}

/* ---- one function per option */

static int set_target(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected TARGET, found an empty argument");
    REQUIRE(w, o->n_targets < MAX_TARGETS, "more than %d targets", MAX_TARGETS);
    for (uint32_t i = 0; i < o->n_targets; i++)
        REQUIRE(w, strcmp(o->target[i], value), "'%s' is given twice", value);
    o->target[o->n_targets++] = value;
    return 0;
}

static int set_suite(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, o->n_suites < MAX_SUITES, "more than %d suites", MAX_SUITES);
    o->suite[o->n_suites++] = value;
    return 0;
}

static int set_fault(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, o->n_faults < MAX_FAULTS, "more than %d faults", MAX_FAULTS);
    o->fault[o->n_faults++] = value;
    return 0;
}

static int set_hal(struct options *o, const char *value, struct why *w)
{
    o->all_versions = strcmp(value, "all") == 0;
    o->version = o->all_versions ? 0 : hal_version_by_name(value);
    return o->all_versions || o->version ? 0 : refuse_word(VALUE_HAL_OR_ALL, value, w);
}

static int set_entry(struct options *o, const char *value, struct why *w)
{
    o->version = hal_version_by_name(value);
    return o->version ? 0 : refuse_word(VALUE_HAL, value, w);
}

static int set_baseline(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected FILE, found an empty argument");
    REQUIRE(w, o->n_baselines < MAX_TARGETS, "more than %d files", MAX_TARGETS);
    for (uint32_t i = 0; i < o->n_baselines; i++)
        REQUIRE(w, strcmp(o->baseline[i], value), "'%s' is given twice", value);
    o->baseline[o->n_baselines++] = value;
    return 0;
}

static int set_db(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected FILE, found an empty argument");
    o->db = value;
    o->db_given = true;
    return 0;
}

static int set_jobs(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 1024, &n, w));
    o->jobs = (unsigned) n;
    return 0;
}

static int set_shard(struct options *o, const char *value, struct why *w)
{
    uint64_t shard = 0, n = 0;
    TRY(parse_part(value, 1000000, &shard, &n, w));
    REQUIRE(w, shard <= n, "expected I/N with I from 1 to N, found '%s'", value);
    o->shard = (uint32_t) shard;
    o->n_shards = (uint32_t) n;
    return 0;
}

static int parse_seconds(const char *value, double *ret_seconds, struct why *w)
{
    char *end;
    double seconds = strtod(value, &end);
    REQUIRE(w, end != value && !*end && seconds >= 0.01 && seconds <= 1e6,
            "'%s' is not a number of seconds from 0.01 to 1000000", value);
    *ret_seconds = seconds;
    return 0;
}

static int set_timeout(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->timeout, w);
}

static int set_stress(struct options *o, const char *value, struct why *w)
{
    o->stress_given = true;
    return parse_seconds(value, &o->stress, w);
}

static int set_budget(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->budget, w);
}

static int set_executions(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1000000000, &o->executions, w);
}

static int set_shrink_seconds(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->seconds, w);
}

static int set_load_timeout(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->load_timeout, w);
}

static int set_load_memory(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 16, 1 << 20, &o->load_memory, w);
}

static int set_trace_size(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1 << 20, &o->trace_size, w);
}

static int set_threshold(struct options *o, const char *value, struct why *w)
{
    char *end;
    double factor = strtod(value, &end);
    REQUIRE(w, end != value && !*end && factor > 1 && factor <= 1e6,
            "'%s' is not a factor above 1, up to 1000000", value);
    o->threshold = factor;
    return 0;
}

static int set_judge(struct options *o, const char *value, struct why *w)
{
    for (int i = JUDGE_CTS; i <= JUDGE_BOUND; i++)
        if (!strcmp(value, judge_name[i])) {
            o->judge = (enum judge_kind) i;
            return 0;
        }
    return refuse_word(VALUE_JUDGE, value, w);
}

/* A whole number and one of the units; scale[i]: what units[i] stands for. */
static int parse_amount(const char *value, const char *units, const uint64_t *scale, uint64_t least,
                        uint64_t most, const char *expected, uint64_t *ret, struct why *w)
{
    char *end = NULL;
    errno = 0;
    unsigned long long n = isdigit((unsigned char) *value) ? strtoull(value, &end, 10) : 0;
    const char *unit = end && *end && !end[1] ? strchr(units, *end) : NULL;
    uint64_t factor = unit ? scale[unit - units] : 0;
    REQUIRE(w, factor && !errno && n <= most / factor && n * factor >= least,
            "expected %s, found '%s'", expected, value);
    *ret = n * factor;
    return 0;
}

static int set_duration(struct options *o, const char *value, struct why *w)
{
    static const uint64_t seconds[] = { 1, 60, 3600 };
    return parse_amount(value, "smh", seconds, 1, (uint64_t) 1000 * 3600,
                        "a time from 1s to 1000h, such as 90s, 10m or 2h", &o->duration, w);
}

static int set_memory_limit(struct options *o, const char *value, struct why *w)
{
    static const uint64_t bytes[] = { 1 << 20, 1 << 30 };
    return parse_amount(value, "MG", bytes, 16 << 20, (uint64_t) 1 << 40,
                        "a size from 16M to 1024G, such as 512M or 2G", &o->memory_limit, w);
}

static int set_rerun(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 1000, &n, w));
    o->rerun = (uint32_t) n;
    return 0;
}

static int set_max_failures(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, UINT64_MAX, &o->max_failures, w);
}

static int add_name(struct option_names *names, const char *value, const char *what, struct why *w)
{
    REQUIRE(w, *value, "expected %s, found an empty argument", what);
    REQUIRE(w, names->n < MAX_NAMES, "given more than %d times (--cases FILE takes any number)",
            MAX_NAMES);
    names->name[names->n++] = value;
    return 0;
}

static int set_only(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->only, value, "NAME", w);
}

static int set_exclude(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->exclude, value, "NAME", w);
}

static int set_from(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->from, value, "PATH", w);
}

static int set_list(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->lists, value, "FILE", w);
}

static int set_failed(struct options *o, const char *value, struct why *w)
{
    uint64_t run = 0;
    bool is_decimal = !value[strspn(value, "0123456789")];
    REQUIRE(w,
            !strcmp(value, "last") || (is_decimal && parse_u64(value, 1, INT64_MAX, &run, w) == 0),
            "expected the number of a run or 'last', found '%s'", value);
    o->failed = value;
    return 0;
}

static int set_isolate(struct options *o, const char *value, struct why *w)
{
    for (int i = 0; value_word(VALUE_ISOLATION, i); i++)
        if (!strcmp(value, value_word(VALUE_ISOLATION, i))) {
            o->isolate = (enum isolation) i;
            return 0;
        }
    return refuse_word(VALUE_ISOLATION, value, w);
}

static int set_quiet(struct options *o, const char *value, struct why *w)
{
    (void) value, (void) w;
    o->verbosity = -1;
    return 0;
}

static int set_verbose(struct options *o, const char *value, struct why *w)
{
    (void) value, (void) w;
    o->verbosity = 1;
    return 0;
}

static int set_seed(struct options *o, const char *value, struct why *w)
{
    o->plan_given = true;
    return parse_u64(value, 0, UINT64_MAX, &o->seed, w);
}

static int set_count(struct options *o, const char *value, struct why *w)
{
    o->plan_given = true;
    return parse_u64(value, 1, 1000000000, &o->count, w);
}

static int set_ops(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "ops", value, w);
}

/* Each --op adds to those before it. */
static int set_op(struct options *o, const char *value, struct why *w)
{
    struct randgraph_options more = randgraph_default;
    TRY(randgraph_set(&more, "op", value, w));
    for (int i = 0; i < op_table_n; i++)
        if (randgraph_ops_has(&more.only, op_table[i]))
            randgraph_ops_add(&o->graphs.only, op_table[i]);
    return 0;
}

static int set_types(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "types", value, w);
}

static int set_max_dim(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "max-dim", value, w);
}

static int set_level(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "level", value, w);
}

static int set_graph_ways(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "ways", value, w);
}

static int set_ways(struct options *o, const char *value, struct why *w)
{
    return ways_parse(value, &o->ways, w);
}

static int set_values(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "values", value, w);
}

static int set_format(struct options *o, const char *value, struct why *w)
{
    o->format = value;
    return has_word(VALUE_FORMAT, value) ? 0 : refuse_word(VALUE_FORMAT, value, w);
}

static int set_preference(struct options *o, const char *value, struct why *w)
{
    for (int i = 0; value_word(VALUE_PREFERENCE, i); i++)
        if (!strcmp(value, value_word(VALUE_PREFERENCE, i))) {
            o->preference = i;
            return 0;
        }
    return refuse_word(VALUE_PREFERENCE, value, w);
}

static int set_shell(struct options *o, const char *value, struct why *w)
{
    o->shell = value;
    return has_word(VALUE_SHELL, value) ? 0 : refuse_word(VALUE_SHELL, value, w);
}

static int set_listen(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, !strncmp(value, "unix:", 5) && value[5], "expected unix:PATH, found '%s'", value);
    o->listen = value + 5;
    return 0;
}

static int set_for_level(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 8, &n, w));
    o->for_level = (int) n;
    return 0;
}

static int set_vlog(struct options *o, const char *value, struct why *w)
{
    o->vlog = value;
    return vlog_set(value, w);
}

static int set_run(struct options *o, const char *value, struct why *w)
{
    uint64_t run = 0;
    TRY(parse_u64(value, 1, INT64_MAX, &run, w));
    o->run = (int64_t) run;
    return 0;
}

/* ---- the table, in the order of the help */

static const struct option_row rows[] = {
    { "target", 'd', "TARGET",
      CMD_JUDGING | CMD_CONFORM | CMD_BASELINE | CMD_SHRINK | CMD_COVERAGE | CMD_PLAN,
      "on this target: sim:cpu, sim:FILE.toml, golden, ...; may be repeated", set_target,
      .value = VALUE_TARGET, .repeats = true },
    { "suite", 0, "NAME", CMD_CONFORM,
      "only this suite, or this rule of it (model/M3); may be repeated", set_suite,
      .repeats = true },
    { "hal", 0, "V", CMD_CONFORM,
      "enter through the entry points of HAL 1.0 to 1.3 or fl5 to fl8 (default: the driver's own "
      "version), or of all that the driver answers",
      set_hal, .value = VALUE_HAL_OR_ALL },
    { "hal", 0, "V", CMD_CASES | CMD_REPLAY | CMD_EXPLAIN | CMD_SHRINK,
      "run models through the entry points of HAL 1.0 to 1.3 or fl5 to fl8 (default: the driver's "
      "own version; random: with models that this version has)",
      set_entry, .value = VALUE_HAL },
    { "stress", 0, "S", CMD_CONFORM, "seconds for each rule of the suite stress (default 2)",
      set_stress },
    { "models", 0, "PATH", CMD_CONFORM,
      "also with the models of this specification or corpus file, or of all in a folder",
      MEMBER(models), .value = VALUE_FILE },
    { "list", 0, NULL, CMD_CONFORM, "list the suites, their rules, and how many cases each has",
      MEMBER(list) },
    { "fault", 0, "NAME", CMD_SELFTEST,
      "only this fault, without the device that has none; may be repeated", set_fault,
      .value = VALUE_FAULT, .repeats = true },
    { "all", 0, NULL, CMD_SELFTEST, "run every suite on every fault, at every version, to the end",
      MEMBER(all) },
    { "budget", 0, "S", CMD_SELFTEST, "seconds for one fault (default 120; with --all 600)",
      set_budget },
    { "no-shrink", 0, NULL, CMD_CASES, "do not shrink failures at the end of the run",
      MEMBER(no_shrink) },
    { "executions", 0, "N", CMD_SHRINK, "executions on the target, at most (default 4000)",
      set_executions },
    { "seconds", 0, "S", CMD_SHRINK, "seconds after which shrinking ends (default 60)",
      set_shrink_seconds },
    { "seed", 0, "S", CMD_RANDOM | CMD_CONFORM, "seed of the random graphs (default 1)", set_seed },
    { "count", 0, "N", CMD_RANDOM, "number of graphs (default 1000)", set_count },
    { "ops", 0, "MIN-MAX", CMD_RANDOM, "number of operations per graph, 1 to 100", set_ops },
    { "op", 0, "LIST", CMD_RANDOM,
      "only these operations, such as CONV_2D,RELU; may be repeated, adding to the list", set_op,
      .value = VALUE_OPERATIONS, .repeats = true },
    { "types", 0, "LIST", CMD_RANDOM, "only these operand types: TENSOR_FLOAT32,...", set_types,
      .value = VALUE_TYPE },
    { "max-dim", 0, "N", CMD_RANDOM,
      "largest dimension of an input, 1 to 64 (default 64; most are up to 10)", set_max_dim },
    { "no-probe", 0, NULL, CMD_RANDOM,
      "draw graphs for any driver: do not ask the targets which operations they support",
      MEMBER(no_probe) },
    { "support", 0, "FILE",
      CMD_RANDOM | CMD_REPLAY | CMD_EXPLAIN | CMD_DUMP | CMD_LEVELS | CMD_SHRINK | CMD_PLAN,
      "draw graphs for this support set, which 'halcyon probe' writes", MEMBER(support_file),
      .value = VALUE_FILE },
    { "from", 0, "PATH",
      CMD_RANDOM | CMD_REPLAY | CMD_EXPLAIN | CMD_DUMP | CMD_LEVELS | CMD_SHRINK | CMD_PLAN,
      "the graphs are mutations of the examples of this file, or of all in a folder; may be "
      "repeated",
      set_from, .value = VALUE_FILE, .repeats = true },
    { "steer", 0, NULL, CMD_RANDOM,
      "draw more of what earlier runs in the database have executed least on the target: "
      "operations, forms, types, ranks, options, values, neighbours",
      MEMBER(steer) },
    { "level", 0, "L", CMD_RANDOM, "highest feature level that a graph may need, 1 to 8",
      set_level },
    { "values", 0, "PROFILE", CMD_RANDOM,
      "values of operands: mix (default), uniform, edge, exact or adversarial", set_values },
    { "ways", 0, "SHARE", CMD_RANDOM,
      "share of the graphs, 0 to 1, that are also executed in another way: asynchronously, in a "
      "burst, fenced, reusable, at once, from the cache, after other inputs, on device buffers, "
      "with another preference (default 0.2)",
      set_graph_ways },
    { "ways", 0, "WAYS", CMD_RUN | CMD_REPLAY | CMD_EXPLAIN | CMD_SHRINK,
      "share of the cases, 0 to 1, that are also executed in another way (default 0), or the way, "
      "such as burst,at-once=2, for all cases",
      set_ways },
    { "case", 0, "NAME", CMD_DUMP | CMD_REPLAY | CMD_EXPLAIN | CMD_LEVELS | CMD_SHRINK | CMD_PLAN,
      "only cases with this name, which may contain wildcards", MEMBER(case_glob) },
    { "case", 0, "NAME", CMD_CAMPAIGN,
      "only cases with this name, which may contain wildcards; may be repeated", set_only,
      .repeats = true },
    { "cases", 0, "FILE", CMD_CAMPAIGN,
      "only cases with a name in this file (-: stdin), one in a line; may be repeated", set_list,
      .value = VALUE_FILE, .repeats = true },
    { "exclude", 0, "NAME", CMD_CAMPAIGN,
      "without cases with this name, which may contain wildcards; may be repeated", set_exclude,
      .repeats = true },
    { "failed", 0, "RUN", CMD_CAMPAIGN,
      "only cases that failed in this run of the database: a number or 'last'; its paths, "
      "graphs or rules, targets and judge are used",
      set_failed },
    { "skip-bad", 0, NULL, CMD_RUN | CMD_CONFORM | CMD_DUMP | CMD_LEVELS | CMD_PLAN,
      "files of a folder that cannot be loaded are listed only: the exit status is that of the "
      "rest",
      MEMBER(skip_bad) },
    { "judge", 0, "cts|bound", CMD_JUDGING | CMD_SHRINK,
      "rule that results are judged by (default: cts where outputs are expected, else bound)",
      set_judge, .value = VALUE_JUDGE },
    { "baseline", 0, "FILE", CMD_CAMPAIGN,
      "expected failures, flakes, skips and waivers, as 'halcyon baseline' writes them; may be "
      "repeated",
      set_baseline, .value = VALUE_FILE, .repeats = true },
    { "timeout", 0, "S",
      CMD_JUDGING | CMD_DEVICES | CMD_CONFORM | CMD_SELFTEST | CMD_SHRINK | CMD_PROBE | CMD_PLAN,
      "seconds after which a driver counts as hanging (default 10); waiting for a processor does "
      "not count, and 20 times the reference's own time is added",
      set_timeout },
    { "load-timeout", 0, "S", CMD_LOADING,
      "seconds for loading one .mod.py or .tflite file (default 60)", set_load_timeout },
    { "load-memory", 0, "MIB", CMD_LOADING,
      "MiB of memory for loading one .mod.py or .tflite file (default 4096)", set_load_memory },
    { "memory-limit", 0, "SIZE", CMD_JUDGING | CMD_CONFORM | CMD_SHRINK,
      "memory of a driver's process, such as 512M or 2G; a driver that uses more is ended, and "
      "the verdict is crash",
      set_memory_limit },
    { "rerun", 0, "N", CMD_CAMPAIGN,
      "run a failing case again N times, each in a new process; a case that then conforms is "
      "flaky, which is not a pass",
      set_rerun },
    { "max-failures", 0, "N", CMD_CAMPAIGN,
      "begin no more cases after N verdicts that do not conform", set_max_failures },
    { "for", 0, "TIME", CMD_CAMPAIGN,
      "begin no more cases after this time, such as 90s, 10m or 2h (loading does not count)",
      set_duration },
    { "jobs", 'j', "N", CMD_CAMPAIGN | CMD_SELFTEST | CMD_PROBE,
      "number of worker processes (default: one per core)", set_jobs },
    { "shard", 0, "I/N", CMD_CAMPAIGN | CMD_SELFTEST,
      "only the I-th of N parts of the cases or faults; I from 1 to N", set_shard },
    { "resume", 0, NULL, CMD_CAMPAIGN,
      "continue the newest unfinished run of this command; start one if there is none",
      MEMBER(resume) },
    { "realtime", 0, NULL, CMD_JUDGING | CMD_SERVE,
      "sim: targets take as long as their cost model predicts (as sim:NAME?realtime)",
      MEMBER(realtime) },
    { "isolate", 0, "foreign|all|none",
      CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_PROBE | CMD_PLAN,
      "drivers that get a process of their own: foreign (lib: and sim: with a fault; default), all "
      "or none",
      set_isolate, .value = VALUE_ISOLATION },
    { "allow-devices", 0, NULL,
      CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_SHRINK | CMD_PROBE | CMD_PLAN,
      "let drivers use device nodes and the network, which their containment denies",
      MEMBER(allow_devices) },
    { "in-process", 0, NULL, CMD_JUDGING | CMD_PROBE,
      "run without worker processes, for a debugger", MEMBER(in_process) },
    { "gdb", 0, NULL, CMD_REPLAY,
      "attach gdb (or HALCYON_GDB) to the driver's process before it gets the case; no time-outs",
      MEMBER(gdb) },
    { "db", 0, "FILE",
      CMD_JUDGING | CMD_CONFORM | CMD_REPORT | CMD_BASELINE | CMD_DIFF | CMD_DUMP | CMD_LEVELS |
          CMD_SHRINK | CMD_COVERAGE | CMD_PLAN,
      "results database (default halcyon.db)", set_db, .value = VALUE_FILE },
    { "run", 0, "N", CMD_REPORT | CMD_BASELINE,
      "only this run (default: all runs, the newest verdict of each case)", set_run },
    { "element", 0, "I", CMD_EXPLAIN,
      "the element of the first wrong operation's output: an index, such as 12, or coordinates, "
      "such as 0,3,2 (default: the worst)",
      MEMBER(element) },
    { "values", 0, NULL, CMD_EXPLAIN, "also print every element of every operand", MEMBER(values) },
    { "second-opinion", 0, "TARGET", CMD_EXPLAIN,
      "also run the wrong operations on this target, and show its results", MEMBER(second_opinion),
      .value = VALUE_TARGET },
    { "format", 0, "FORMAT", CMD_DUMP, "dot (default), svg, spec (.mod.py) or json", set_format,
      .value = VALUE_FORMAT },
    { "for-level", 0, "L", CMD_DUMP, "convert the model to this feature level, 1 to 8",
      set_for_level },
    { "preference", 0, "P", CMD_PLAN,
      "what the client prefers: low-power (compares power instead of times), fast (default) or "
      "sustained",
      set_preference, .value = VALUE_PREFERENCE },
    { "dot", 0, "FILE", CMD_PLAN, "also write the plan as a Graphviz graph", MEMBER(dot),
      .value = VALUE_FILE },
    { "svg", 0, "FILE", CMD_PLAN, "also write a drawing of it", MEMBER(svg), .value = VALUE_FILE },
    { "listen", 0, "unix:PATH", CMD_SERVE, "socket to listen at", set_listen },
    { "update", 0, NULL, CMD_BASELINE,
      "rewrite FILE by the verdicts: comments, globs and waivers stay", MEMBER(update) },
    { "check", 0, NULL, CMD_BASELINE, "hold the verdicts against FILE", MEMBER(check) },
    { "all", 0, NULL, CMD_BASELINE, "also list the cases that conform", MEMBER(all) },
    { "all", 0, NULL, CMD_COVERAGE, "list everything, not only what was seen least", MEMBER(all) },
    { "flakes", 0, NULL, CMD_BASELINE,
      "with --update: an entry whose case gives another verdict keeps both", MEMBER(mark_flakes) },
    { "threshold", 0, "F", CMD_DIFF,
      "factor by which times and error ratios must differ to be shown (default 1.5)",
      set_threshold },
    { "output", 'o', "PATH",
      CMD_DUMP | CMD_REPORT | CMD_MERGE | CMD_BASELINE | CMD_SHRINK | CMD_PROBE,
      "file to write (report: folder; baseline: file, or folder for one file per target); default "
      "of dump, shrink and baseline: stdout",
      MEMBER(output), .value = VALUE_FILE },
    { "markdown", 0, NULL, CMD_OPS, "write Markdown", MEMBER(markdown) },
    { "faults", 0, NULL, CMD_DEVICES, "list the defects that ?fault=NAME plants", MEMBER(faults) },
    { "profile-json", 0, NULL, CMD_DEVICES,
      "print the profile (FILE.toml, cpu, gpu or dsp) as JSON, for sim:FILE.json",
      MEMBER(profile_json) },
    { "total-times", 0, NULL, CMD_TRACE, "include the time of the layers below",
      MEMBER(total_times) },
    { "per-execution", 0, NULL, CMD_TRACE, "only executions; mean time of one",
      MEMBER(per_execution) },
    { "print-detail", 0, NULL, CMD_TRACE, "also print every section", MEMBER(print_detail) },
    { "sum", 0, NULL, CMD_TRACE, "one table per target, the sum of its runs", MEMBER(sum) },
    { "junit", 0, "FILE", CMD_CAMPAIGN | CMD_REPORT, "also write the verdicts as JUnit XML",
      MEMBER(junit), .value = VALUE_FILE },
    { "json-file", 0, "FILE", CMD_CAMPAIGN | CMD_REPORT, "also write the verdicts as JSON",
      MEMBER(json_file), .value = VALUE_FILE },
    { "tap", 0, "FILE", CMD_CAMPAIGN | CMD_REPORT, "also write the verdicts as TAP 14", MEMBER(tap),
      .value = VALUE_FILE },
    { "csv", 0, "FILE", CMD_CAMPAIGN | CMD_REPORT, "also write the verdicts as CSV", MEMBER(csv),
      .value = VALUE_FILE },
    { "json", 0, NULL,
      CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_SELFTEST | CMD_OPS | CMD_LEVELS | CMD_TRACE |
          CMD_BASELINE | CMD_DIFF | CMD_COVERAGE | CMD_PLAN,
      "print JSON on stdout, one object per line (trace: one array)", MEMBER(json) },
    { "quiet", 'q', NULL, CMD_JUDGING | CMD_CONFORM | CMD_SHRINK, "print only the summary",
      set_quiet },
    { "verbose", 'v', NULL, CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_BASELINE | CMD_DIFF,
      "print every case (conform: every rule; devices: also supported operations)", set_verbose },
    { "extensions-allowlist", 0, "FILE", CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_SHRINK,
      "allow vendor extensions only to the packages and binaries listed there", MEMBER(allowlist),
      .value = VALUE_FILE },
    { "run-as", 0, "NAME", CMD_JUDGING | CMD_CONFORM | CMD_DEVICES | CMD_SHRINK,
      "package name or binary path to look up in that list (default: halcyon's path)",
      MEMBER(run_as) },
    { "vlog", 0, "TAGS", CMD_DRIVING,
      "log to stderr: all, or some of model, compilation, execution, cpuexe, manager, driver, "
      "memory",
      set_vlog, .value = VALUE_TAG },
    { "trace", 0, "FILE", CMD_DRIVING, "write a trace of all calls as JSON, for ui.perfetto.dev",
      MEMBER(trace), .value = VALUE_FILE },
    { "trace-size", 0, "MIB", CMD_DRIVING,
      "MiB after which a trace leaves out events (default 2048)", set_trace_size },
    { "man", 0, NULL, CMD_HELP, "print the man page (roff)", MEMBER(man) },
    { "completion", 0, "SHELL", CMD_HELP, "print a completion script for bash, zsh or fish",
      set_shell, .value = VALUE_SHELL },
};
#undef MEMBER

enum { N_ROWS = COUNT(rows), OPTION_FIRST = 256, OPTION_HELP = 'h' };

static void build_getopt(const struct command *c, struct option *ret_long, char *ret_short)
{
    int n = 0;
    char *at = ret_short;
    *at++ = ':';
    *at++ = OPTION_HELP;
    ret_long[n++] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
    for (int i = 0; i < N_ROWS; i++) {
        const struct option_row *r = &rows[i];
        if (!(r->commands & c->bit))
            continue;
        int has = r->argument ? required_argument : no_argument;
        ret_long[n++] = (struct option){ r->name, has, NULL, OPTION_FIRST + i };
        if (r->letter) {
            *at++ = r->letter;
            if (r->argument)
                *at++ = ':';
        }
    }
    ret_long[n] = (struct option){ 0 };
    *at = 0;
}

static const struct option_row *row_of(const struct command *c, int key)
{
    if (key >= OPTION_FIRST)
        return &rows[key - OPTION_FIRST];
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].letter && rows[i].letter == key && (rows[i].commands & c->bit))
            return &rows[i];
    return NULL;
}

static int set_member(struct options *o, const struct option_row *r, const char *value,
                      struct why *w)
{
    void *member = (char *) o + r->member;

    if (!r->argument) {
        *(bool *) member = true;
        return 0;
    }
    REQUIRE(w, *value, "expected %s, found an empty argument", r->argument);
    *(const char **) member = value;
    return 0;
}

/* text: "--NAME" or "--NAME=VALUE", which is not an option of the command or, as an abbreviation,
 * that of several. */
static int unknown_option(const struct command *c, const char *text, struct why *w)
{
    char name[64], nearest[SUGGEST_TEXT];
    snprintf(name, sizeof name, "%.*s", (int) strcspn(text + 2, "="), text + 2);
    struct suggestion s = suggest_for(name);
    const struct option_row *begins = NULL, *other = NULL;
    for (int i = 0; i < N_ROWS; i++) {
        const struct option_row *r = &rows[i];
        if (!(r->commands & c->bit)) {
            other = strcmp(r->name, name) ? other : r;
            continue;
        }
        bool is_begun = !strncmp(r->name, name, strlen(name));
        if (is_begun && begins)
            return why_fail(w, WHY_INVALID, "ambiguous option --%s: --%s or --%s?", name,
                            begins->name, r->name);
        begins = is_begun ? r : begins;
        suggest_candidate(&s, r->name);
    }
    if (!strcmp(name, "waivers"))
        return why_fail(w, WHY_INVALID,
                        "--waivers is replaced by --baseline FILE (docs/baselines.md)");
    if (other)
        return why_fail(w, WHY_INVALID,
                        "--%s is not an option of this command ('halcyon %s --help' lists them)",
                        name, c->name);
    if (s.name)
        return why_fail(w, WHY_INVALID, "unknown option --%s%s", name,
                        suggest_text(&s, "--", nearest));
    return why_fail(w, WHY_INVALID, "unknown option --%s ('halcyon %s --help' lists the options)",
                    name, c->name);
}

/* getopt_long() leaves in optopt a letter, OPTION_FIRST + row of a long option that it knows, or 0
 * for one that it does not know, which text then is. */
static int refuse(const struct command *c, int key, const char *text, struct why *w)
{
    const struct option_row *r = optopt ? row_of(c, optopt) : NULL;
    if (key == ':' && r)
        return why_fail(w, WHY_INVALID, "--%s: missing argument %s", r->name, r->argument);
    if (r || optopt == OPTION_HELP)
        return why_fail(w, WHY_INVALID, "--%s takes no argument", r ? r->name : "help");
    if (optopt)
        return why_fail(w, WHY_INVALID,
                        "unknown option -%c ('halcyon %s --help' lists the options)", optopt,
                        c->name);
    return unknown_option(c, text, w);
}

/* Never freed: options point to them until the program ends. */
static char *realtime_uri[MAX_TARGETS + 1];

static int realtime_of(const char *uri, int slot, const char **ret_uri, struct why *w)
{
    const size_t size = strlen(uri) + sizeof "?realtime";

    REQUIRE(w, strncmp(uri, "sim:", 4) == 0, "--realtime: expected sim: targets only, found %s",
            uri);
    free(realtime_uri[slot]);
    realtime_uri[slot] = malloc(size);
    if (!realtime_uri[slot])
        return why_no_memory(w);
    snprintf(realtime_uri[slot], size, "%s%crealtime", uri, strchr(uri, '?') ? '&' : '?');
    *ret_uri = realtime_uri[slot];
    return 0;
}

static int make_realtime(struct options *o, bool argument, struct why *w)
{
    const char *uri;

    for (uint32_t i = 0; i < o->n_targets; i++)
        TRY(realtime_of(o->target[i], (int) i, &o->target[i], w));
    if (!argument || !o->n_arguments)
        return 0;
    TRY(realtime_of(o->argument[0], MAX_TARGETS, &uri, w));
    o->argument[0] = realtime_uri[MAX_TARGETS];
    return 0;
}

int options_parse(const struct command *c, int argc, char **argv, struct options *ret_options,
                  struct why *w)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct options o = { .command = c->name,
                         .db = "halcyon.db",
                         .jobs = cores < 1     ? 1
                                 : cores > 256 ? 256
                                               : (unsigned) cores,
                         .shard = 1,
                         .n_shards = 1,
                         .timeout = 10,
                         .preference = 1, /* fast */
                         .stress = DEFAULT_STRESS,
                         .isolate = ISOLATE_FOREIGN,
                         .seed = DEFAULT_SEED,
                         .count = 1000,
                         .begun = console_now(),
                         .graphs = randgraph_default };
    struct option table[N_ROWS + 2];
    char letters[2 * N_ROWS + 4];
    build_getopt(c, table, letters);
    opterr = 0;
    optind = 0; /* restarts GNU getopt */
    for (;;) {
        int key = getopt_long(argc, argv, letters, table, NULL);
        if (key == -1)
            break;
        if (key == OPTION_HELP)
            return 1;
        const struct option_row *r = row_of(c, key);
        if (!r)
            return refuse(c, key, argv[optind - 1], w);
        if ((r->set ? r->set(&o, optarg, w) : set_member(&o, r, optarg, w)) < 0)
            return why_prefix(w, "--%s", r->name);
    }
    o.argument = argv + optind;
    o.n_arguments = argc - optind;
    char value[RANDGRAPH_VALUE];
    int first = 0;
    o.graphs_given = randgraph_next(&o.graphs, &first, value);
    const int level = o.version ? hal_level(o.version) : o.graphs.max_level;
    o.graphs.max_level = level < o.graphs.max_level ? level : o.graphs.max_level;
    if (o.realtime)
        TRY(make_realtime(&o, c->bit == CMD_SERVE, w));
    *ret_options = o;
    return 0;
}

bool options_next(const struct command *c, int *position, struct option_facts *ret_facts)
{
    int i = *position;
    while (i < N_ROWS && !(rows[i].commands & c->bit))
        i++;
    *position = i + 1;
    if (i > N_ROWS)
        return false;
    *ret_facts = (struct option_facts){ "help", OPTION_HELP, NULL, VALUE_ANY, false, "this text" };
    if (i < N_ROWS) {
        const struct option_row *r = &rows[i];
        *ret_facts =
            (struct option_facts){ r->name, r->letter, r->argument, r->value, r->repeats, r->help };
    }
    return true;
}

int options_expect(const struct options *o, int least, int most, const char *what, struct why *w)
{
    if (o->n_arguments < least)
        return why_fail(w, WHY_INVALID, "missing argument %s", what);
    if (o->n_arguments > most)
        return why_fail(w, WHY_INVALID, "unexpected argument '%s'", o->argument[most]);
    return 0;
}

int print_error(const struct options *o, const struct why *w)
{
    fprintf(stderr, "halcyon %s: ", o->command);
    text_put(stderr, TEXT_TERMINAL, w->text, 0);
    putc('\n', stderr);
    bool input = w->code == WHY_INVALID || w->code == WHY_UNSUPPORTED || w->code == WHY_TIMEOUT;
    return input ? EXIT_USAGE : EXIT_OURS;
}
