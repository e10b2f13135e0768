/* What error bounds cost: runs of the reference with bounds, relative to runs without them.
 *
 *   bench_bounds [ROUNDS [MODEL...]]
 *
 * First the MODELs (default: those of ../shared/models), with random inputs: the medians of ROUNDS
 * (default 5) runs, whole and by operation.  Then random graphs of 10 operations, with tensors of
 * up to 65,536 elements: the time of all operations of a kind, the smaller of two runs of each
 * graph. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "randgraph/randgraph.h"
#include "specs/specs.h"
#include "tests/bench/bench.h"

enum { MOST_ROUNDS = 101, GRAPHS = 3000, MOST_OPERATIONS = 1024, KINDS = 128 };

/* Seconds without and with bounds. */
struct cost {
    double plain, bounds;
};

/* Costs by kind of operation, in order of first appearance. */
struct kinds {
    size_t n, count[KINDS];
    const char *name[KINDS];
    struct cost cost[KINDS];
};

/* Timing of the operations of one run. */
struct timer {
    double since, seconds[MOST_OPERATIONS];
    const char *name[MOST_OPERATIONS];
    size_t n;
};

static void add_cost(struct kinds *k, const char *name, double plain, double bounds)
{
    size_t i = 0;

    while (i < k->n && strcmp(k->name[i], name) != 0)
        i++;
    if (i == KINDS)
        return;
    k->name[i] = name;
    k->n += i == k->n;
    k->count[i]++;
    k->cost[i].plain += plain;
    k->cost[i].bounds += bounds;
}

static void print_cost(const char *name, size_t count, struct cost c)
{
    printf("  %-44s %6zu %10.3f ms %10.3f ms %7.2f\n", name, count, 1e3 * c.plain, 1e3 * c.bounds,
           c.bounds / c.plain);
}

static void print_kinds(const struct kinds *k)
{
    for (size_t i = 0; i < k->n; i++)
        print_cost(k->name[i], k->count[i], k->cost[i]);
}

static void count_operation(const struct exec_event *e, void *user)
{
    struct timer *t = user;
    double at = bench_now();

    if (t->n < MOST_OPERATIONS) {
        t->name[t->n] = e->call->op->name;
        t->seconds[t->n++] = at - t->since;
    }
    t->since = bench_now();
}

/* One run; returns its seconds, negative if it fails. */
static double run(const struct plan *plan, const struct tensor *in, bool bounds, struct arena *a,
                  struct timer *t)
{
    struct exec_options options = { .bounds = bounds,
                                    .arena = a,
                                    .max_iterations = 1000,
                                    .on_operation = count_operation,
                                    .user = t };
    struct result r;
    struct why w;
    double begun = bench_now();

    t->n = 0;
    t->since = begun;
    if (plan_run(plan, in, &options, &r, &w) < 0)
        return -1;
    double seconds = bench_now() - begun;
    result_done(&r);
    arena_rewind(a, (struct arena_mark){ 0 });
    return seconds;
}

/* ---- models from files */

static void fill_inputs(const struct graph *g, struct arena *a, struct tensor *in)
{
    uint32_t state = 1;

    for (uint32_t i = 0; i < g->n_inputs; i++) {
        size_t n = tensor_count(&in[i]);
        double *x = bench_must(arena_alloc(a, n + 1, sizeof *x));
        for (size_t k = 0; k < n; k++) {
            state = state * 1664525 + 1013904223;
            x[k] = (double) (state >> 8) * 0x1p-23 - 1;
        }
        in[i].data = bench_must(arena_alloc(a, tensor_bytes(&in[i]) + 1, 1));
        tensor_narrow(x, &in[i]);
    }
}

static double middle(double all[][MOST_OPERATIONS], size_t rounds, size_t i)
{
    double x[MOST_ROUNDS];

    for (size_t r = 0; r < rounds; r++)
        x[r] = all[r][i];
    return bench_median(x, rounds);
}

static void bench_plan(const char *name, const struct plan *plan, const struct tensor *in,
                       size_t rounds)
{
    static double part[2][MOST_ROUNDS][MOST_OPERATIONS], whole[2][MOST_ROUNDS];
    static struct timer t;
    struct arena *a = bench_must(arena_new(0));
    struct kinds kinds = { 0 };

    for (int bounds = 0; bounds < 2; bounds++)
        for (size_t r = 0; r < rounds + 1; r++) { /* the first run, in which weights are packed */
            whole[bounds][r ? r - 1 : 0] = run(plan, in, bounds, a, &t);
            memcpy(part[bounds][r ? r - 1 : 0], t.seconds, t.n * sizeof *t.seconds);
        }
    for (size_t i = 0; i < t.n; i++)
        add_cost(&kinds, t.name[i], middle(part[0], rounds, i), middle(part[1], rounds, i));
    struct cost all = { bench_median(whole[0], rounds), bench_median(whole[1], rounds) };
    print_cost(name, t.n, all);
    print_kinds(&kinds);
    arena_free(a);
}

struct model_job {
    const char *name;
    size_t rounds;
};

static int each_model(const struct example *e, void *user, struct why *w)
{
    const struct model_job *job = user;
    const struct graph *g = &e->model.graph[0];
    struct arena *a = bench_must(arena_new(0));
    struct tensor *in = bench_must(arena_copy(a, e->in, g->n_inputs * sizeof *in));
    struct plan *plan;
    int rc = plan_new(&e->model, &plan, w);

    if (rc >= 0) {
        fill_inputs(g, a, in);
        bench_plan(job->name, plan, in, job->rounds);
        plan_free(plan);
    }
    arena_free(a);
    return rc;
}

static void bench_model(const char *path, size_t rounds)
{
    const char *name = strrchr(path, '/');
    struct model_job job = { name ? name + 1 : path, rounds };
    struct why w = { 0 };

    if (specs_load(path, NULL, each_model, &job, &w) < 0)
        printf("  %-44s %s\n", job.name, w.text);
}

static void bench_models(size_t rounds)
{
    glob_t files;

    if (glob(SOURCE_ROOT "/../shared/models/*.tflite", 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++)
        bench_model(files.gl_pathv[i], rounds);
    globfree(&files);
}

/* ---- random graphs */

static void bench_graph(const struct example *e, struct arena *a, struct kinds *kinds)
{
    static struct timer t[2][2];
    struct plan *plan;
    struct why w;
    bool ran = true;

    if (plan_new(&e->model, &plan, &w) < 0)
        return;
    for (int again = 0; again < 2; again++)
        for (int bounds = 0; bounds < 2; bounds++)
            ran = run(plan, e->in, bounds, a, &t[bounds][again]) >= 0 && ran;
    ran = ran && t[0][0].n == t[1][0].n; /* trips of loops do not depend on bounds */
    for (size_t i = 0; ran && i < t[0][0].n; i++) {
        const double *plain[] = { t[0][0].seconds, t[0][1].seconds };
        const double *bounds[] = { t[1][0].seconds, t[1][1].seconds };
        add_cost(kinds, t[0][0].name[i], plain[0][i] < plain[1][i] ? plain[0][i] : plain[1][i],
                 bounds[0][i] < bounds[1][i] ? bounds[0][i] : bounds[1][i]);
    }
    plan_free(plan);
}

static void bench_graphs(void)
{
    struct randgraph_options o = randgraph_default;
    struct arena *a = bench_must(arena_new(0)), *results = bench_must(arena_new(0));
    struct kinds kinds = { 0 };
    struct example e;
    struct why w;

    o.min_ops = o.max_ops = 10;
    o.max_dim = 64;
    o.max_elements = 1 << 16;
    for (uint64_t i = 0; i < GRAPHS; i++) {
        arena_rewind(a, (struct arena_mark){ 0 });
        if (randgraph_make(&o, 1, i, a, &e, &w) >= 0)
            bench_graph(&e, results, &kinds);
    }
    print_kinds(&kinds);
    arena_free(results);
    arena_free(a);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 5;

    if (rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_bounds [ROUNDS, 1..%d [MODEL...]]\n", MOST_ROUNDS);
        return 2;
    }
    printf("  %-44s %6s %13s %13s %7s\n", "", "number", "plain", "bounds", "ratio");
    for (int i = 2; i < argc; i++)
        bench_model(argv[i], (size_t) rounds);
    if (argc > 2)
        return 0;
    bench_models((size_t) rounds);
    bench_graphs();
    return 0;
}
