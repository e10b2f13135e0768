/* Runs a model on the reference for tests/check_models.py: for each CASE reads DIR/CASE.in0, in1,
 * ... (raw bytes) and writes DIR/CASE.out0, ... (raw bytes), .real0 and .bound0 (doubles).
 *     golden_run MODEL QUANT_STEPS DIR CASE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "specs/specs.h"

struct job {
    double steps;
    const char *dir;
    char **cases;
    int n_cases;
};

static int transfer(const struct job *job, const char *name, const char *kind, uint32_t i,
                    void *bytes, size_t length, bool write, struct why *w)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%s%u", job->dir, name, kind, i);
    FILE *f = fopen(path, write ? "wb" : "rb");
    if (!f)
        return why_fail(w, WHY_SYSTEM, "cannot open %s", path);
    size_t n = write ? fwrite(bytes, 1, length, f) : fread(bytes, 1, length, f);
    fclose(f);
    return n == length ? 0 : why_fail(w, WHY_SYSTEM, "%s: %zu of %zu bytes", path, n, length);
}

static int run_case(const struct job *job, const char *name, const struct example *e,
                    const struct plan *plan, struct arena *a, struct why *w)
{
    struct exec_options options = { .bounds = true,
                                    .arena = a,
                                    .arithmetic.quant_steps = job->steps };
    const struct graph *g = &e->model.graph[0];
    struct tensor *in = arena_alloc(a, g->n_inputs, sizeof *in);
    struct result r;

    for (uint32_t i = 0; i < g->n_inputs; i++) {
        in[i] = e->in[i];
        in[i].data = arena_alloc(a, tensor_bytes(&in[i]), 1);
        TRY(transfer(job, name, "in", i, in[i].data, tensor_bytes(&in[i]), false, w));
    }
    TRY(plan_run(plan, in, &options, &r, w));
    for (uint32_t i = 0; i < r.n; i++) {
        size_t doubles = tensor_count(&r.out[i]) * sizeof(double);
        TRY(transfer(job, name, "out", i, r.out[i].data, tensor_bytes(&r.out[i]), true, w));
        TRY(transfer(job, name, "real", i, r.real[i], doubles, true, w));
        TRY(transfer(job, name, "bound", i, r.bound[i], doubles, true, w));
    }
    result_done(&r);
    return 0;
}

static int each(const struct example *e, void *user, struct why *w)
{
    const struct job *job = user;
    struct arena *a = arena_new(0);
    struct plan *plan = NULL;
    int rc = plan_new(&e->model, &plan, w);

    for (int i = 0; i < job->n_cases && rc >= 0; i++) {
        struct arena_mark mark = arena_mark(a);
        rc = run_case(job, job->cases[i], e, plan, a, w);
        arena_rewind(a, mark);
    }
    plan_free(plan);
    arena_free(a);
    return rc;
}

int main(int argc, char **argv)
{
    struct job job = { .n_cases = argc - 4, .cases = argv + 4 };
    struct why w = { 0 };

    if (argc < 5)
        return 2;
    job.steps = atof(argv[2]);
    job.dir = argv[3];
    if (specs_load(argv[1], NULL, each, &job, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        return w.code == WHY_UNSUPPORTED ? 3 : 1;
    }
    return 0;
}
