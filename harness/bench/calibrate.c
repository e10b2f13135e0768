/* Workloads are the models of the list, and for each type that none of them has random models in
 * this type, of operations that the target supports; seed and index are fixed.  They have many
 * operations, so that the time of a launch counts little.  What a driver does not support does not
 * measure it. */
#include "harness/bench/calibrate.h"

#include <math.h>
#include <string.h>

#include "harness/bench/bench_run.h"

enum { SEED = 1, TRIES = 6, LARGEST_DIM = 64, LEAST_OPERATIONS = 20 };

struct calibrating {
    const char *uri;
    const struct calibrate_options *o;
    struct calibration *to;
};

/* Mean time of an execution in ns; 0: the target does not run the model. */
static int time_on(const char *uri, bool uses_wall, const struct bench_model *m,
                   const struct bench_options *how, double *ret_ns, struct why *w)
{
    const struct bench_entry entry = { .name = m->name };
    struct bench_data data;
    struct bench_result r;

    *ret_ns = 0;
    TRY(bench_data_open(&entry, m, 0, &data, w));
    const int failed = bench_run(uri, m, &data, NULL, how, &r, w);
    bench_data_done(&data);
    TRY(failed);
    const struct bench_times *t = r.times[BENCH_SYNCHRONOUS];
    *ret_ns = uses_wall || !t[BENCH_DRIVER].n ? t[BENCH_WALL].mean : t[BENCH_DRIVER].mean;
    return 0;
}

/* Adds one workload to a row.  1: measured, 0: the driver does not run it. */
static int add(struct calibrating *c, struct calibrated *row, const struct bench_model *m,
               bool is_listed, struct why *w)
{
    double ns, of_reference;

    TRY(time_on(c->uri, c->o->uses_wall, m, &c->o->how, &ns, w));
    if (!(ns > 0))
        return 0;
    TRY(time_on(c->o->reference, true, m, &c->o->how, &of_reference, w));
    if (!(of_reference > 0))
        return 0;
    const double ratio = ns / of_reference;
    row->least = row->n ? fmin(row->least, ratio) : ratio;
    row->most = row->n ? fmax(row->most, ratio) : ratio;
    row->ratio += log(ratio); /* the sum of logarithms, until all are added */
    row->n++;
    row->n_models += is_listed;
    return 1;
}

static struct calibrated *row_of(struct calibration *c, const char *key, bool is_operand)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (strcmp(c->row[i].key, key) == 0)
            return &c->row[i];
    if (c->n == MOST_CALIBRATED)
        return NULL;
    c->row[c->n] = (struct calibrated){ .key = key, .is_operand = is_operand };
    return &c->row[c->n++];
}

/* ---- models of the list */

static int add_relaxed(struct calibrating *c, const struct bench_model *m, bool is_listed,
                       struct why *w)
{
    struct model relaxed = m->model;
    struct bench_model copy;

    relaxed.relaxed = true;
    TRY(bench_model_of(m->name, &relaxed, &copy, w));
    const int added = add(c, row_of(c->to, "relaxed_tensor", false), &copy, is_listed, w);
    bench_model_done(&copy);
    return added;
}

static int add_listed(struct calibrating *c, const struct bench_model *m, struct why *w)
{
    const enum dtype type = m->in[m->data[0]].dtype;
    struct calibrated *row = row_of(c->to, dtype_info[type].name, true);

    if (!row)
        return 0;
    TRY(add(c, row, m, true, w));
    return type == DT_F32 ? add_relaxed(c, m, true, w) : 0;
}

/* ---- drawn ones */

/* Sizes and the like are constants: inputs get values that are not made for their roles. */
static struct randgraph_weights constant_parameters(void)
{
    struct randgraph_weights weights = randgraph_weights_default;

    weights.input_scalar = weights.vary_constant = 0;
    return weights;
}

static int draw(struct calibrating *c, const struct randgraph_options *options, uint64_t index,
                struct calibrated *row, bool relaxed_too, struct why *w)
{
    struct arena *a = arena_new(0);
    struct bench_model m;
    struct example e;
    int added = a ? 0 : why_no_memory(w);

    /* A type in which no graph can be drawn is not measured. */
    if (!added && randgraph_make(options, SEED, index, a, &e, w) < 0) {
        arena_free(a);
        return w->code == WHY_MEMORY ? -1 : 0;
    }
    if (!added)
        added = bench_model_of(e.name, &e.model, &m, w);
    if (added >= 0) {
        added = m.n_data ? add(c, row, &m, false, w) : 0;
        if (added > 0 && relaxed_too)
            added = add_relaxed(c, &m, false, w) < 0 ? -1 : added;
        bench_model_done(&m);
    }
    arena_free(a);
    return added;
}

static int draw_some(struct calibrating *c, const struct randgraph_options *options,
                     struct calibrated *row, bool relaxed_too, struct why *w)
{
    for (uint64_t i = 0; row && row->n < c->o->drawn && i < (uint64_t) c->o->drawn * TRIES; i++)
        TRY(draw(c, options, i, row, relaxed_too, w));
    return 0;
}

static int draw_types(struct calibrating *c, struct why *w)
{
    const struct randgraph_weights weights = constant_parameters();
    struct randgraph_options options = randgraph_default;

    options.weights = &weights;
    options.min_ops = LEAST_OPERATIONS;
    options.max_ops = 2 * LEAST_OPERATIONS;
    options.max_dim = LARGEST_DIM;
    options.control_flow = options.relaxed = 0;
    options.support = c->o->support;
    options.support_digest = options.support ? randgraph_support_digest(options.support) : 0;
    for (int type = 0; type < DT_COUNT; type++) {
        if (!dtype_info[type].tensor || !dtype_info[type].codec->size)
            continue;
        struct calibrated *row = row_of(c->to, dtype_info[type].name, true);
        options.dtypes = 1u << type;
        if (row && !row->n)
            TRY(draw_some(c, &options, row, type == DT_F32, w));
    }
    return 0;
}

static int draw_control_flow(struct calibrating *c, struct why *w)
{
    static const char *const name[] = { "IF", "WHILE" }, *const key[] = { "if", "while" };
    const struct randgraph_weights weights = constant_parameters();
    struct randgraph_options options = randgraph_default;

    options.weights = &weights;
    options.min_ops = options.max_ops = 1;
    options.relaxed = 0;
    options.support = c->o->support;
    options.support_digest = options.support ? randgraph_support_digest(options.support) : 0;
    for (int i = 0; i < 2; i++) {
        options.only = randgraph_only(name[i]);
        TRY(draw_some(c, &options, row_of(c->to, key[i], false), false, w));
    }
    return 0;
}

int calibrate(const char *uri, const struct bench_model *model, uint32_t n_models,
              const struct calibrate_options *o, struct calibration *ret_calibration, struct why *w)
{
    struct calibration all = { 0 };
    struct calibrating c = { uri, o, &all };

    row_of(&all, "relaxed_tensor", false);
    for (uint32_t i = 0; i < n_models; i++)
        TRY(add_listed(&c, &model[i], w));
    TRY(draw_types(&c, w));
    TRY(draw_control_flow(&c, w));
    for (uint32_t i = 0; i < all.n; i++)
        all.row[i].ratio = all.row[i].n ? exp(all.row[i].ratio / all.row[i].n) : 0;
    *ret_calibration = all;
    return 0;
}
