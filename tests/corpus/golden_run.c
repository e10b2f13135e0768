/* Runs a model on the reference for tests/corpus/check_models.py.
 *
 *     golden_run MODEL QUANT_STEPS N_INPUTS DIR CASE...
 *
 * For each CASE it reads DIR/CASE.in0, .in1 ... (raw bytes) and writes DIR/CASE.out0 ... (raw
 * bytes), .real0 ... and .bound0 ... (doubles).  Inputs after the first N_INPUTS are states, whose
 * new values are the last outputs.  They are zero at first; a case seq_* after another seq_*
 * continues with the states of that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "specs/specs.h"

struct job {
    double steps;
    const char *dir;
    uint32_t n_inputs; /* the rest are states */
    char **cases;
    int n_cases;
};

static bool is_sequence(const char *name)
{
    return !strncmp(name, "seq_", 4);
}

static void reset(const struct job *job, const struct graph *g, struct tensor *in)
{
    for (uint32_t i = job->n_inputs; i < g->n_inputs; i++) {
        size_t n = tensor_count(&in[i]);
        for (size_t k = 0; k < n; k++) {
            struct tensor one = in[i];
            double zero = 0;
            one.shape.rank = 0;
            one.data = (char *) in[i].data + k * dtype_info[in[i].dtype].codec->size;
            tensor_narrow(&zero, &one);
        }
    }
}

/* Copies the last outputs to the inputs that are states. */
static int copy_states(const struct job *job, const struct graph *g, const struct result *r,
                       struct tensor *in, struct why *w)
{
    uint32_t n = g->n_inputs - job->n_inputs;

    REQUIRE(w, n <= r->n, "%u states, but %u outputs", n, r->n);
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor *from = &r->out[r->n - n + i];
        struct tensor *to = &in[job->n_inputs + i];
        REQUIRE(w, from->dtype == to->dtype && shape_equal(&from->shape, &to->shape),
                "type or shape of state %u differ from its output", i);
        memcpy(to->data, from->data, tensor_bytes(to));
    }
    return 0;
}

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

static int run_case(const struct job *job, const char *name, const struct graph *g,
                    const struct plan *plan, struct tensor *in, struct arena *a, struct why *w)
{
    struct exec_options options = { .bounds = true,
                                    .arena = a,
                                    .arithmetic.quant_steps = job->steps };
    struct result r;

    for (uint32_t i = 0; i < job->n_inputs; i++)
        TRY(transfer(job, name, "in", i, in[i].data, tensor_bytes(&in[i]), false, w));
    TRY(plan_run(plan, in, &options, &r, w));
    for (uint32_t i = 0; i < r.n; i++) {
        size_t doubles = tensor_count(&r.out[i]) * sizeof(double);
        TRY(transfer(job, name, "out", i, r.out[i].data, tensor_bytes(&r.out[i]), true, w));
        TRY(transfer(job, name, "real", i, r.real[i], doubles, true, w));
        TRY(transfer(job, name, "bound", i, r.bound[i], doubles, true, w));
    }
    TRY(copy_states(job, g, &r, in, w));
    result_done(&r);
    return 0;
}

static int run_cases(const struct job *job, const struct graph *g, const struct plan *plan,
                     struct tensor *in, struct arena *a, struct why *w)
{
    for (int i = 0; i < job->n_cases; i++) {
        struct arena_mark mark = arena_mark(a);
        if (i == 0 || !is_sequence(job->cases[i]) || !is_sequence(job->cases[i - 1]))
            reset(job, g, in);
        TRY(run_case(job, job->cases[i], g, plan, in, a, w));
        arena_rewind(a, mark);
    }
    return 0;
}

static int each(const struct example *e, void *user, struct why *w)
{
    const struct job *job = user;
    const struct graph *g = &e->model.graph[0];
    struct arena *a = arena_new(0);
    struct tensor *in = arena_alloc(a, g->n_inputs, sizeof *in);
    struct plan *plan = NULL;
    int rc = job->n_inputs <= g->n_inputs ? plan_new(&e->model, &plan, w)
                                          : why_fail(w, WHY_INVALID, "%u inputs", g->n_inputs);

    for (uint32_t i = 0; i < g->n_inputs; i++) {
        in[i] = e->in[i];
        in[i].data = arena_alloc(a, tensor_bytes(&in[i]), 1);
    }
    if (rc >= 0)
        rc = run_cases(job, g, plan, in, a, w);
    plan_free(plan);
    arena_free(a);
    return rc;
}

int main(int argc, char **argv)
{
    struct job job = { .n_cases = argc - 5, .cases = argv + 5 };
    struct why w = { 0 };

    if (argc < 6)
        return 2;
    job.steps = atof(argv[2]);
    job.n_inputs = (uint32_t) strtoul(argv[3], NULL, 10);
    job.dir = argv[4];
    if (specs_load(argv[1], NULL, each, &job, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        return w.code == WHY_UNSUPPORTED ? 3 : 1;
    }
    return 0;
}
