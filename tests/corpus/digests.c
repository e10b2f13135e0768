/* Prints digests of the reference's results, a line for each case: "NAME RESULTS BOUNDS".  The
 * output is the same for every compiler, optimisation level, number of threads and set of
 * instructions; tests/corpus/check_same_bits.py compares them.
 *
 *     digests THREADS base|best EVERY GRAPHS FILE...
 *
 * Runs every EVERYth example of the corpus files (0: none) and GRAPHS random graphs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/matmul.h"
#include "randgraph/randgraph.h"
#include "specs/specs.h"
#include "tests/support/digest.h"

enum { SEED = 4711 };

struct job {
    struct matmul_pool *pool;
    unsigned long every, seen;
};

static uint64_t digest_doubles(uint64_t digest, double *const *values, const struct result *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        digest = digest_bytes(digest, values[i], tensor_count(&r->out[i]) * sizeof(double));
    return digest;
}

static int run(const struct job *job, const struct example *e, struct why *w)
{
    const struct exec_options options = {
        .bounds = true, .pool = job->pool, .max_iterations = 1000, .loop_timeout = 1000
    };
    struct plan *plan;
    struct result r;

    TRY(plan_new(&e->model, &plan, w));
    int rc = plan_run(plan, e->in, &options, &r, w);
    if (rc >= 0) {
        uint64_t results = digest_result(digest_example(DIGEST_NONE, e), &r);
        uint64_t bounds = digest_doubles(digest_doubles(DIGEST_NONE, r.real, &r), r.bound, &r);
        printf("%s %016" PRIx64 " %016" PRIx64 "\n", e->name, results, bounds);
        result_done(&r);
    }
    plan_free(plan);
    return rc;
}

/* A case that cannot run has its reason instead of digests. */
static int each(const struct example *e, void *user, struct why *unused)
{
    struct job *job = user;
    struct why w = { 0 };

    (void) unused;
    if (job->seen++ % job->every == 0 && run(job, e, &w) < 0)
        printf("%s %s\n", e->name, w.text);
    return 0;
}

static int run_graphs(const struct job *job, unsigned long n, struct why *w)
{
    struct arena *a = arena_new(0);
    struct arena_mark empty = arena_mark(a);
    int rc = 0;

    for (unsigned long i = 0; i < n && rc >= 0; i++) {
        struct example e;
        rc = randgraph_make(&randgraph_default, SEED, i, a, &e, w);
        if (rc >= 0 && run(job, &e, w) < 0)
            printf("%s %s\n", e.name, w->text);
        arena_rewind(a, empty);
    }
    arena_free(a);
    return rc;
}

int main(int argc, char **argv)
{
    struct why w = { 0 };

    if (argc < 5)
        return 2;
    unsigned long threads = strtoul(argv[1], NULL, 10), graphs = strtoul(argv[4], NULL, 10);
    struct job job = { .every = strtoul(argv[3], NULL, 10) };
    job.pool = threads > 1 ? matmul_pool_new(threads) : NULL;
    int rc = threads > 1 && !job.pool ? why_fail(&w, WHY_SYSTEM, "no threads") : 0;
    if (strcmp(argv[2], "base") == 0)
        matmul_use(MATMUL_BASE);
    if (rc >= 0)
        rc = run_graphs(&job, graphs, &w);
    for (int i = 5; i < argc && job.every > 0 && rc >= 0; i++)
        rc = specs_load(argv[i], NULL, each, &job, &w);
    matmul_pool_free(job.pool);
    if (rc < 0)
        fprintf(stderr, "%s\n", w.text);
    return rc < 0;
}
