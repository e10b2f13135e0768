#include "harness/conform_run/conform_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/parse_number.h"
#include "harness/check/buffer.h"
#include "harness/cli/options.h"

const char conform_case_prefix[] = "conform/";
const struct conform_parameters conform_default = { .seed = DEFAULT_SEED,
                                                    .stress = DEFAULT_STRESS,
                                                    .threads = DEFAULT_THREADS,
                                                    .processes = DEFAULT_PROCESSES };

/* ---- names */

static bool is_default_stress(double seconds)
{
    return !(seconds < conform_default.stress || seconds > conform_default.stress);
}

bool conform_has_clients(const struct conform_rule *r)
{
    return strcmp(r->suite, "crash") == 0;
}

bool conform_has_stress(const struct conform_rule *r)
{
    return strcmp(r->suite, "stress") == 0 || conform_has_clients(r);
}

static int put_name(const struct conform_item *i, const struct conform_parameters *p,
                    char name[CASE_NAME], struct why *w)
{
    struct buffer b = { 0 };
    int failed = 0;

    buffer_printf(&b, "%s%s/%s/%s", conform_case_prefix, hal_version_name(i->version),
                  i->rule->suite, i->rule->name);
    if (p->seed != conform_default.seed)
        buffer_printf(&b, "/seed=%llu", (unsigned long long) p->seed);
    if (conform_has_stress(i->rule) && !is_default_stress(p->stress))
        buffer_printf(&b, "/stress=%g", p->stress);
    if (conform_has_clients(i->rule) && p->threads != conform_default.threads)
        buffer_printf(&b, "/threads=%llu", (unsigned long long) p->threads);
    if (conform_has_clients(i->rule) && p->processes != conform_default.processes)
        buffer_printf(&b, "/processes=%llu", (unsigned long long) p->processes);
    if (p->models)
        buffer_printf(&b, "/models=%s", p->models);
    if (b.failed)
        failed = why_no_memory(w);
    else if (b.length >= CASE_NAME)
        failed =
            why_fail(w, WHY_INVALID, "--models: expected a path of at most %d bytes, found %zu",
                     CASE_NAME - 100, strlen(p->models));
    else
        memcpy(name, b.data, b.length + 1);
    buffer_done(&b);
    return failed;
}

/* Copies up to the next '/' or the end, and moves *at behind it; false: nothing, or too long. */
static bool take_part(const char **at, char *part, size_t size)
{
    size_t n = strcspn(*at, "/");

    if (!n || n >= size)
        return false;
    memcpy(part, *at, n);
    part[n] = 0;
    *at += n + ((*at)[n] == '/');
    return true;
}

static bool read_number(const char *part, const char *key, uint64_t least, uint64_t most,
                        uint64_t *ret)
{
    size_t n = strlen(key);
    struct why why;

    return strncmp(part, key, n) == 0 && parse_u64(part + n, least, most, ret, &why) == 0;
}

static bool read_parameter(const char *part, struct conform_parameters *p)
{
    char *end = NULL;

    if (strncmp(part, "stress=", 7) != 0)
        return read_number(part, "seed=", 0, UINT64_MAX, &p->seed) ||
               read_number(part, "threads=", 1, MOST_CRASH_THREADS, &p->threads) ||
               read_number(part, "processes=", 1, MOST_CRASH_PROCESSES, &p->processes);
    p->stress = strtod(part + 7, &end);
    return end != part + 7 && !*end && p->stress >= 0.01 && p->stress <= 1e6;
}

static bool read_parameters(const char *at, struct conform_parameters *p)
{
    char part[64];

    *p = conform_default;
    while (*at) {
        if (strncmp(at, "models=", 7) == 0) {
            p->models = at + 7;
            return *p->models;
        }
        if (!take_part(&at, part, sizeof part) || !read_parameter(part, p))
            return false;
    }
    return true;
}

int conform_parse_name(const char *name, struct conform_case *ret_case, struct why *w)
{
    struct conform_case c = { 0 };
    char version[16] = "", suite[32], rule[sizeof c.rule - sizeof suite];
    const char *at = name + strlen(conform_case_prefix);
    bool ok = strncmp(name, conform_case_prefix, strlen(conform_case_prefix)) == 0 &&
              take_part(&at, version, sizeof version) &&
              (c.version = hal_version_by_name(version)) && take_part(&at, suite, sizeof suite) &&
              take_part(&at, rule, sizeof rule) && read_parameters(at, &c.parameters);

    REQUIRE(w, ok,
            "expected conform/VERSION/SUITE/RULE, and behind it /seed=N, /stress=S, /threads=N, "
            "/processes=N or /models=PATH, "
            "found '%.150s'",
            name);
    snprintf(c.rule, sizeof c.rule, "%s/%s", suite, rule);
    *ret_case = c;
    return 0;
}

/* ---- cases */

static int add_case(struct cases *c, const struct conform_item *item,
                    const struct conform_parameters *p, struct why *w)
{
    char name[CASE_NAME];

    TRY(put_name(item, p, name, w));
    c->name[c->n] = arena_strdup(c->arena, name);
    return c->name[c->n++] ? 0 : why_no_memory(w);
}

/* The cases of one version: those of the first target that has it, which are those of the others,
 * in their order. */
static int add_version(struct conform_run *run, enum hal_version version,
                       const struct conform_parameters *p, struct cases *c, struct why *w)
{
    const uint64_t first = c->n;
    uint64_t of_target = 0;
    uint32_t target = UINT32_MAX;

    for (uint64_t i = 0; i < run->n_items; i++) {
        struct conform_item *item = &run->item[i];
        if (item->version != version)
            continue;
        if (target != item->target)
            of_target = 0;
        target = item->target;
        item->ordinal = first + of_target++;
        if (item->ordinal == c->n)
            TRY(add_case(c, item, p, w));
    }
    return 0;
}

int conform_make_cases(struct conform_run *run, const struct conform_parameters *p,
                       struct cases *ret_cases, struct why *w)
{
    struct cases *c = ret_cases;

    c->arena = arena_new(0);
    c->name = c->arena ? arena_alloc(c->arena, run->n_items + 1, sizeof *c->name) : NULL;
    if (!c->name)
        return why_no_memory(w);
    for (int v = 0; v < HAL_VERSIONS; v++)
        TRY(add_version(run, hal_versions[v], p, c, w));
    return 0;
}

int conform_select_items(struct conform_run *run, const struct cases *cases, uint32_t shard,
                         uint32_t n_shards, struct why *w)
{
    uint64_t *ordinal = calloc(run->n_items + 1, sizeof *ordinal), left = 0;

    if (!ordinal)
        return why_no_memory(w);
    for (uint64_t i = 0; i < cases->n; i++)
        ordinal[cases_index(cases, i)] = i + 1;
    for (uint64_t i = 0; i < run->n_items; i++) {
        uint64_t o = ordinal[run->item[i].ordinal];
        if (!o || (o - 1) % n_shards != shard - 1)
            continue;
        run->item[left] = run->item[i];
        run->item[left++].ordinal = o - 1;
    }
    run->n_items = left;
    free(ordinal);
    return 0;
}

/* ---- verdicts */

static const enum verdict verdict_of[OUTCOMES] = {
    [OUTCOME_PASS] = VERDICT_PASS,
    [OUTCOME_VIOLATION] = VERDICT_VIOLATION,
    [OUTCOME_CRASH] = VERDICT_CRASH,
    [OUTCOME_HANG] = VERDICT_HANG,
    [OUTCOME_NOT_APPLICABLE] = VERDICT_UNSUPPORTED,
    [OUTCOME_UNDECIDED] = VERDICT_UNDECIDED,
    [OUTCOME_ERROR] = VERDICT_ERROR,
};

/* The reason is that of rules of which nothing was checked. */
static void put_why(const struct conform_item *item, struct check_result *r)
{
    const struct conform_result *from = &item->result;

    for (uint32_t i = 0; i < from->n_findings; i++)
        text_append(r->why, sizeof r->why, "%s%s", i ? "\n" : "", from->finding[i]);
    if (from->failures > from->n_findings)
        text_append(r->why, sizeof r->why, "\nand %u more of %u checks",
                    from->failures - from->n_findings, from->checks);
    if (item->outcome == OUTCOME_NOT_APPLICABLE)
        text_append(r->why, sizeof r->why, "%s%s", r->why[0] ? "\n" : "", from->reason);
}

void conform_result_of(const struct conform_item *item, struct check_result *ret)
{
    struct check_result r = check_without_outcome(verdict_of[item->outcome], JUDGE_RULES);

    r.status[0] = 0; /* a rule ends with no call's status */
    r.ms = item->ms;
    r.checked = item->result.checks;
    r.wrong = item->result.failures;
    put_why(item, &r);
    r.attempts = item->attempts;
    r.failed_attempts = item->failed_attempts;
    check_settle_attempts(&r);
    *ret = r;
}
