/* Speed of random graphs on one core: generation only, with a run of the reference with bounds, and
 * with judging its outputs by these bounds.
 *
 *   bench_randgraph [OPERATIONS [GRAPHS [SEED [judging]]]]
 *
 * "judging": only the last of the three, for profilers that count the instructions of the whole
 * program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "randgraph/randgraph.h"
#include "tests/support/digest.h"

enum { GENERATE, REFERENCE, JUDGE };

struct totals {
    uint64_t operations, outputs, wrong;
    uint64_t digest; /* of models, or of results */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int judge_outputs(const struct result *r, struct totals *t)
{
    for (uint32_t i = 0; i < r->n; i++) {
        struct judgement j = judge_result(r, i, &r->out[i]);
        t->outputs++;
        t->wrong += !j.ok;
    }
    return 0;
}

static int run_one(const struct example *e, int what, struct arena *arena, struct totals *t,
                   struct why *w)
{
    const struct exec_options options = { .bounds = true, .arena = arena, .max_iterations = 1000 };
    struct plan *plan;
    struct result result;

    if (plan_new(&e->model, &plan, w) < 0)
        return -1;
    int rc = plan_run(plan, e->in, &options, &result, w);
    if (rc >= 0) {
        t->digest = digest_result(t->digest, &result);
        rc = what == JUDGE ? judge_outputs(&result, t) : 0;
        result_done(&result);
    }
    plan_free(plan);
    return rc;
}

/* Returns graphs per second of CPU time. */
static double measure(const struct randgraph_options *o, int what, uint64_t graphs, uint64_t seed,
                      struct totals *ret_totals)
{
    struct arena *arena = arena_new(0);
    struct totals t = { 0 };
    struct example e;
    struct why w;
    double since = now();

    for (uint64_t i = 0; i < graphs; i++) {
        arena_rewind(arena, (struct arena_mark){ 0 });
        if (randgraph_make(o, seed, i, arena, &e, &w) < 0 ||
            (what != GENERATE && run_one(&e, what, arena, &t, &w) < 0)) {
            fprintf(stderr, "seed %llu, graph %llu: %s\n", (unsigned long long) seed,
                    (unsigned long long) i, w.text);
            continue;
        }
        if (what == GENERATE)
            t.digest = digest_example(t.digest, &e);
        t.operations += e.model.graph[0].n_operations;
    }
    double seconds = now() - since;
    arena_free(arena);
    *ret_totals = t;
    return (double) graphs / seconds;
}

int main(int argc, char **argv)
{
    static const char *const name[] = { "generation", "generation + golden with bounds",
                                        "generation + golden with bounds + judging" };
    struct randgraph_options o = randgraph_default;
    uint64_t graphs = argc > 2 ? strtoull(argv[2], NULL, 0) : 5000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    struct totals t;

    o.min_ops = o.max_ops = argc > 1 ? (uint32_t) atoi(argv[1]) : 10;
    for (int what = argc > 4 ? JUDGE : GENERATE; what <= JUDGE; what++) {
        double speed = measure(&o, what, graphs, seed, &t);
        printf("%-42s %6.0f graphs/s, %.1f operations each, %llu of %llu outputs wrong, digest "
               "%016llx\n",
               name[what], speed, (double) t.operations / (double) graphs,
               (unsigned long long) t.wrong, (unsigned long long) t.outputs,
               (unsigned long long) t.digest);
    }
    return 0;
}
