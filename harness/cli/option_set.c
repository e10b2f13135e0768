/* What each option with an argument of its own kind does: parses the argument and stores it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/parse_number.h"
#include "golden/base/suggest.h"
#include "harness/cli/colour.h"
#include "harness/cli/option_table.h"
#include "sim/hal/hal_convert.h"

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

/* The place of a word in its list; -1: it is not in it. */
static int word_index(enum value_kind kind, const char *text)
{
    for (int i = 0; value_word(kind, i); i++)
        if (!strcmp(text, value_word(kind, i)))
            return i;
    return -1;
}

static int refuse_word(enum value_kind kind, const char *text, struct why *w)
{
    char list[128] = "", near[SUGGEST_TEXT];
    struct suggestion s = suggest_for(text);
    for (int i = 0; value_word(kind, i); i++) {
        suggest_candidate(&s, value_word(kind, i));
        text_append(list, sizeof list, "%s%s",
                    !i                        ? ""
                    : value_word(kind, i + 1) ? ", "
                                              : " or ",
                    value_word(kind, i));
    }
    return why_fail(w, WHY_INVALID, "expected %s, found '%s'%s", list, text,
                    suggest_text(&s, "", near));
}

/* ---- one function per option */

int option_set_target(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected TARGET, found an empty argument");
    REQUIRE(w, o->n_targets < MAX_TARGETS, "more than %d targets", MAX_TARGETS);
    for (uint32_t i = 0; i < o->n_targets; i++)
        REQUIRE(w, strcmp(o->target[i], value), "'%s' is given twice", value);
    o->target[o->n_targets++] = value;
    return 0;
}

int option_set_suite(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, o->n_suites < MAX_SUITES, "more than %d suites", MAX_SUITES);
    o->suite[o->n_suites++] = value;
    return 0;
}

int option_set_fault(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, o->n_faults < MAX_FAULTS, "more than %d faults", MAX_FAULTS);
    o->fault[o->n_faults++] = value;
    return 0;
}

int option_set_hal(struct options *o, const char *value, struct why *w)
{
    o->all_versions = strcmp(value, "all") == 0;
    o->version = o->all_versions ? 0 : hal_version_by_name(value);
    return o->all_versions || o->version ? 0 : refuse_word(VALUE_HAL_OR_ALL, value, w);
}

int option_set_entry(struct options *o, const char *value, struct why *w)
{
    o->version = hal_version_by_name(value);
    return o->version ? 0 : refuse_word(VALUE_HAL, value, w);
}

int option_set_baseline(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected FILE, found an empty argument");
    REQUIRE(w, o->n_baselines < MAX_TARGETS, "more than %d files", MAX_TARGETS);
    for (uint32_t i = 0; i < o->n_baselines; i++)
        REQUIRE(w, strcmp(o->baseline[i], value), "'%s' is given twice", value);
    o->baseline[o->n_baselines++] = value;
    return 0;
}

int option_set_db(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, *value, "expected FILE, found an empty argument");
    o->db = o->db_shown = value;
    o->db_given = true;
    return 0;
}

int option_set_jobs(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 1024, &n, w));
    o->jobs = (unsigned) n;
    return 0;
}

int option_set_shard(struct options *o, const char *value, struct why *w)
{
    uint64_t shard = 0, n = 0;
    TRY(parse_part(value, 1000000, &shard, &n, w));
    REQUIRE(w, shard <= n, "expected I/N with I from 1 to N, found '%s'", value);
    o->shard = (uint32_t) shard;
    o->n_shards = (uint32_t) n;
    return 0;
}

int option_set_keep(struct options *o, const char *value, struct why *w)
{
    o->keep_given = true;
    return parse_u64(value, 1, 1000, &o->keep, w);
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

int option_set_timeout(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->timeout, w);
}

int option_set_stress(struct options *o, const char *value, struct why *w)
{
    o->stress_given = true;
    return parse_seconds(value, &o->stress, w);
}

int option_set_threads(struct options *o, const char *value, struct why *w)
{
    o->stress_given = true;
    return parse_u64(value, 1, MOST_CRASH_THREADS, &o->threads, w);
}

int option_set_processes(struct options *o, const char *value, struct why *w)
{
    o->stress_given = true;
    return parse_u64(value, 1, MOST_CRASH_PROCESSES, &o->processes, w);
}

int option_set_budget(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->budget, w);
}

int option_set_executions(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1000000000, &o->executions, w);
}

int option_set_shrink_seconds(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->seconds, w);
}

int option_set_load_timeout(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->load_timeout, w);
}

int option_set_load_memory(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 16, 1 << 20, &o->load_memory, w);
}

int option_set_trace_size(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1 << 20, &o->trace_size, w);
}

int option_set_threshold(struct options *o, const char *value, struct why *w)
{
    char *end;
    double factor = strtod(value, &end);
    REQUIRE(w, end != value && !*end && factor > 1 && factor <= 1e6,
            "'%s' is not a factor above 1, up to 1000000", value);
    o->threshold = factor;
    return 0;
}

int option_set_judge(struct options *o, const char *value, struct why *w)
{
    int i = word_index(VALUE_JUDGE, value);
    if (i < 0)
        return refuse_word(VALUE_JUDGE, value, w);
    o->judge = (enum judge_kind)(JUDGE_CTS + i);
    return 0;
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

int option_set_duration(struct options *o, const char *value, struct why *w)
{
    static const uint64_t seconds[] = { 1, 60, 3600 };
    return parse_amount(value, "smh", seconds, 1, (uint64_t) 1000 * 3600,
                        "a time from 1s to 1000h, such as 90s, 10m or 2h", &o->duration, w);
}

int option_set_older_than(struct options *o, const char *value, struct why *w)
{
    static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
    return parse_amount(value, "smhd", seconds, 1, (uint64_t) 100000 * 86400,
                        "an age from 1s to 100000d, such as 12h or 30d", &o->older_than, w);
}

int option_set_keep_last(struct options *o, const char *value, struct why *w)
{
    o->keeps_last = true;
    return parse_u64(value, 0, INT64_MAX, &o->keep_last, w);
}

int option_set_memory_limit(struct options *o, const char *value, struct why *w)
{
    static const uint64_t bytes[] = { 1 << 20, 1 << 30 };
    return parse_amount(value, "MG", bytes, 16 << 20, (uint64_t) 1 << 40,
                        "a size from 16M to 1024G, such as 512M or 2G", &o->memory_limit, w);
}

int option_set_rerun(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 1000, &n, w));
    o->rerun = (uint32_t) n;
    return 0;
}

int option_set_max_failures(struct options *o, const char *value, struct why *w)
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

int option_set_only(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->only, value, "NAME", w);
}

int option_set_exclude(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->exclude, value, "NAME", w);
}

int option_set_from(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->from, value, "PATH", w);
}

int option_set_list(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->lists, value, "FILE", w);
}

int option_set_failed(struct options *o, const char *value, struct why *w)
{
    uint64_t run = 0;
    char near[SUGGEST_TEXT];
    struct suggestion s = suggest_for(value);
    suggest_candidate(&s, "last");
    bool is_decimal = !value[strspn(value, "0123456789")];
    REQUIRE(
        w, !strcmp(value, "last") || (is_decimal && parse_u64(value, 1, INT64_MAX, &run, w) == 0),
        "expected the number of a run or 'last', found '%s'%s", value, suggest_text(&s, "", near));
    o->failed = value;
    return 0;
}

int option_set_isolate(struct options *o, const char *value, struct why *w)
{
    int i = word_index(VALUE_ISOLATION, value);
    if (i < 0)
        return refuse_word(VALUE_ISOLATION, value, w);
    o->isolate = (enum isolation) i;
    return 0;
}

int option_set_color(struct options *o, const char *value, struct why *w)
{
    int i = word_index(VALUE_COLOUR, value);
    (void) o;
    if (i < 0)
        return refuse_word(VALUE_COLOUR, value, w);
    colour_choose((enum colour_when) i);
    return 0;
}

int option_set_quiet(struct options *o, const char *value, struct why *w)
{
    (void) value, (void) w;
    o->verbosity = -1;
    return 0;
}

int option_set_verbose(struct options *o, const char *value, struct why *w)
{
    (void) value, (void) w;
    o->verbosity = 1;
    return 0;
}

int option_set_seed(struct options *o, const char *value, struct why *w)
{
    o->plan_given = true;
    return parse_u64(value, 0, UINT64_MAX, &o->seed, w);
}

int option_set_count(struct options *o, const char *value, struct why *w)
{
    o->plan_given = true;
    return parse_u64(value, 1, 1000000000, &o->count, w);
}

int option_set_ops(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "ops", value, w);
}

/* Each --op adds to those before it. */
int option_set_op(struct options *o, const char *value, struct why *w)
{
    struct randgraph_options more = randgraph_default;
    TRY(randgraph_set(&more, "op", value, w));
    for (int i = 0; i < op_table_n; i++)
        if (randgraph_ops_has(&more.only, op_table[i]))
            randgraph_ops_add(&o->graphs.only, op_table[i]);
    return 0;
}

int option_set_types(struct options *o, const char *value, struct why *w)
{
    TRY(randgraph_set(&o->graphs, "types", value, w));
    for (int t = 0; t < DT_COUNT; t++) {
        char tensor[64];
        if (dtype_info[t].tensor || !(o->graphs.dtypes & (1u << t)))
            continue;
        snprintf(tensor, sizeof tensor, "TENSOR_%s", dtype_info[t].name);
        return why_fail(w, WHY_INVALID, "expected types of tensors, found '%s'%s%s%s",
                        dtype_info[t].name, dtype_by_name(tensor) < 0 ? "" : "; did you mean ",
                        dtype_by_name(tensor) < 0 ? "" : tensor,
                        dtype_by_name(tensor) < 0 ? "" : "?");
    }
    return 0;
}

int option_set_max_dim(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "max-dim", value, w);
}

int option_set_level(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "level", value, w);
}

int option_set_graph_ways(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "ways", value, w);
}

int option_set_ways(struct options *o, const char *value, struct why *w)
{
    return ways_parse(value, &o->ways, w);
}

int option_set_values(struct options *o, const char *value, struct why *w)
{
    return randgraph_set(&o->graphs, "values", value, w);
}

int option_set_format(struct options *o, const char *value, struct why *w)
{
    o->format = value;
    return word_index(VALUE_FORMAT, value) >= 0 ? 0 : refuse_word(VALUE_FORMAT, value, w);
}

int option_set_style(struct options *o, const char *value, struct why *w)
{
    o->style = value;
    return word_index(VALUE_STYLE, value) >= 0 ? 0 : refuse_word(VALUE_STYLE, value, w);
}

int option_set_preference(struct options *o, const char *value, struct why *w)
{
    int i = word_index(VALUE_PREFERENCE, value);
    if (i < 0)
        return refuse_word(VALUE_PREFERENCE, value, w);
    o->preference = i;
    return 0;
}

int option_set_shell(struct options *o, const char *value, struct why *w)
{
    o->shell = value;
    return word_index(VALUE_SHELL, value) >= 0 ? 0 : refuse_word(VALUE_SHELL, value, w);
}

int option_set_listen(struct options *o, const char *value, struct why *w)
{
    REQUIRE(w, !strncmp(value, "unix:", 5) && value[5], "expected unix:PATH, found '%s'", value);
    o->listen = value + 5;
    return 0;
}

int option_set_for_level(struct options *o, const char *value, struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, 1, 8, &n, w));
    o->for_level = (int) n;
    return 0;
}

int option_set_vlog(struct options *o, const char *value, struct why *w)
{
    o->vlog = value;
    return vlog_set(value, w);
}

int option_set_run(struct options *o, const char *value, struct why *w)
{
    uint64_t run = 0;
    TRY(parse_u64(value, 1, INT64_MAX, &run, w));
    o->run = (int64_t) run;
    return 0;
}

/* ---- of halcyon bench */

int option_set_data(struct options *o, const char *value, struct why *w)
{
    return add_name(&o->data, value, "a folder", w);
}

int option_set_iterations(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1000000000, &o->iterations, w);
}

int option_set_samples(struct options *o, const char *value, struct why *w)
{
    return parse_u64(value, 1, 1000000000, &o->samples, w);
}

int option_set_bench_seconds(struct options *o, const char *value, struct why *w)
{
    o->bench_seconds_given = true;
    return parse_seconds(value, &o->bench_seconds, w);
}

int option_set_warm_up(struct options *o, const char *value, struct why *w)
{
    return parse_seconds(value, &o->warm_up, w);
}
