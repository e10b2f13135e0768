/* The public corpus on the reference.
 *
 *     test_corpus FILE...
 *
 * Every example whose operations are in the catalogue must have its expected values, within the
 * fixed tolerances, and the same bits at the lowest feature level to which it converts; examples
 * that expect a failure must fail at execution.  CORPUS_ONLY=NAME runs one example.  Exit status 77
 * (skipped) if a file does not exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/golden.h"
#include "specs/specs.h"

struct tally {
    unsigned long run, skipped, failed;
    const char *only; /* name of the only example to run; NULL: all */
};

static bool in_catalogue(const struct model *m)
{
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++)
            if (!op_find(m->graph[g].operation[i].code))
                return false;
    return true;
}

static int compare(const struct example *e, const struct result *r, struct why *w)
{
    bool half = model_is_half(&e->model);
    int steps = strstr(e->name, "mobilenet_quantized") ? 3 : 1;

    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->distribution[i] && (e->ignored[i] || !e->expected[i].data))
            continue;
        struct judgement j =
            r->distribution[i]
                ? judge_distribution(r->distribution[i], e->multinomial_tolerance, &r->out[i])
                : judge_cts(&e->expected[i], &r->out[i], half, steps);
        if (!j.ok)
            return why_fail(w, WHY_INVALID, "output %u: %s", i, j.why);
    }
    return 0;
}

static int same_bits(const struct result *a, const struct result *b, struct why *w)
{
    for (uint32_t i = 0; i < a->n; i++)
        REQUIRE(w,
                shape_equal(&a->out[i].shape, &b->out[i].shape) &&
                    memcmp(a->out[i].data, b->out[i].data, tensor_bytes(&a->out[i])) == 0,
                "output %u differs", i);
    return 0;
}

/* Converts the model to the lowest feature level that can represent it and compares the results. */
static int compare_lower(const struct example *e, int level, const struct result *expected,
                         struct why *w)
{
    struct arena *a = arena_new(0);
    struct conversion c;
    struct plan *plan = NULL;
    struct result result;
    int rc = -1;

    for (int lower = 1; rc < 0 && lower < level; lower++)
        rc = model_convert(&e->model, lower, a, &c, w);
    if (rc >= 0) {
        rc = plan_new(&c.model, &plan, w) < 0 ? -1 : plan_run(plan, e->in, NULL, &result, w);
        if (rc >= 0) {
            rc = same_bits(expected, &result, w);
            result_done(&result);
        }
        plan_free(plan);
        if (rc < 0)
            why_prefix(w, "at level %d", c.level);
    } else {
        rc = level > 1 && w->code != WHY_UNSUPPORTED ? -1 : 0;
    }
    arena_free(a);
    return rc;
}

static int run_example(const struct example *e, struct why *w)
{
    struct exec_options options = { .bounds = true };
    struct plan *plan;
    struct result result;

    TRY(plan_new(&e->model, &plan, w));
    int rc = plan_run(plan, e->in, &options, &result, w);
    if (rc >= 0) {
        rc = e->expect_failure ? why_fail(w, WHY_INVALID, "executed, but must fail")
                               : compare(e, &result, w);
        if (rc >= 0)
            rc = compare_lower(e, plan_level(plan), &result, w);
        result_done(&result);
    } else if (e->expect_failure) {
        rc = 0;
    }
    plan_free(plan);
    return rc;
}

static int each(const struct example *e, void *user, struct why *unused)
{
    struct tally *t = user;
    struct why w = { 0 };

    (void) unused;
    if (t->only && strcmp(t->only, e->name) != 0)
        return 0;
    if (!in_catalogue(&e->model)) {
        t->skipped++;
        return 0;
    }
    t->run++;
    if (run_example(e, &w) < 0) {
        t->failed++;
        printf("%s: %s\n", e->name, w.text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct tally all = { .only = getenv("CORPUS_ONLY") };
    struct why w = { 0 };

    for (int i = 1; i < argc; i++) {
        if (access(argv[i], R_OK) != 0) {
            printf("skipped: no corpus at %s\n", argv[i]);
            return 77;
        }
        if (specs_load(argv[i], NULL, each, &all, &w) < 0) {
            printf("%s\n", w.text);
            return 1;
        }
    }
    printf("%lu examples run, %lu failed, %lu skipped: operations not in the catalogue\n", all.run,
           all.failed, all.skipped);
    return all.failed != 0;
}
