/* The random corpus on the reference: the results of another implementation, computed in the
 * precision of the operands, must lie within the reference's bounds.
 *
 *     test_corpus_bound BASELINE FILE...
 *
 * Examples of the baseline must fail.  CORPUS_ONLY=NAME runs one example without the baseline. Exit
 * status 77 (skipped) if a file does not exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/golden.h"
#include "harness/policy/baseline.h"
#include "specs/specs.h"

struct tally {
    unsigned long run, failed, waived;
    size_t elements, decided;
    const char *only; /* name of the only example to run; NULL: all */
    struct baseline *baseline;
};

static int compare(const struct example *e, const struct result *r, struct tally *t, struct why *w)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct tensor *actual = &e->expected[i];
        if ((e->ignored && e->ignored[i]) || !actual->data || r->open[i])
            continue;
        struct judgement j =
            r->distribution[i]
                ? judge_distribution(r->distribution[i], e->multinomial_tolerance, actual)
                : judge_result(r, i, actual);
        REQUIRE(w, j.ok, "output %u: %s", i, j.why);
        t->elements += tensor_count(actual);
        t->decided += j.checked;
    }
    return 0;
}

static int run_example(const struct example *e, struct tally *t, struct why *w)
{
    const struct exec_options options = { .bounds = true };
    struct plan *plan;
    struct result result;

    TRY(plan_new(&e->model, &plan, w));
    int rc = plan_run(plan, e->in, &options, &result, w);
    if (rc >= 0) {
        rc = compare(e, &result, t, w);
        result_done(&result);
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
    const struct baseline_entry *entry = t->only ? NULL : baseline_find(t->baseline, e->name);
    const char *reason = entry ? entry->reason : NULL;
    int rc = run_example(e, t, &w);
    t->run++;
    t->waived += reason != NULL;
    if (rc < 0 && !reason)
        printf("%s: %s\n", e->name, w.text);
    else if (rc == 0 && reason)
        printf("%s: passes, but is waived: %s\n", e->name, reason);
    t->failed += (rc < 0) == !reason;
    return 0;
}

int main(int argc, char **argv)
{
    struct tally all = { .only = getenv("CORPUS_ONLY") };
    const struct specs_options options = { .threads = 1 };
    struct why w = { 0 };
    int rc = argc < 3 ? -1 : baseline_load(argv[1], &all.baseline, &w);

    for (int i = 2; i < argc && rc == 0; i++) {
        if (access(argv[i], R_OK) != 0) {
            printf("skipped: no corpus at %s\n", argv[i]);
            baseline_free(all.baseline);
            return 77;
        }
        rc = specs_load(argv[i], &options, each, &all, &w);
    }
    baseline_free(all.baseline);
    if (rc < 0) {
        printf("%s\n", w.text);
        return 1;
    }
    printf("%lu examples run, %lu failed, %lu waived; %zu of %zu elements decided\n", all.run,
           all.failed, all.waived, all.decided, all.elements);
    return all.failed != 0;
}
