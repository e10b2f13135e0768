/* Models from bytes.  First byte even: randgraph draws a model from the rest, which must be valid
 * and run. First byte odd: the rest damages a valid model; if validation accepts it, it must run
 * within its limits or fail with a reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_DAMAGE = 24, MAX_INPUT = 1 << 16, MAX_LIST = 8 };

static const struct exec_options limits = {
    .bounds = true,
    .loop_timeout = 1,
    .max_iterations = 50,
    .max_operations = 2000,
    .memory_limit = 1 << 23,
};

/* A boundary value, a number below 64, or any number. */
static uint32_t hostile(struct rng *r)
{
    static const uint32_t number[] = { 0,          1,       2,          3,          4,
                                       255,        65535,   65536,      0x7fffffff, 0x80000000,
                                       0xffffffff, 1 << 20, 0x10000001, 100 };
    uint32_t k = rng_below(r, 32);

    if (k < COUNT(number))
        return number[k];
    return k < 28 ? rng_below(r, 64) : (uint32_t) rng_next(r);
}

static float hostile_scale(struct rng *r)
{
    static const float scale[] = { 0, -1, 1, NAN, INFINITY, -INFINITY, 1e-45f, 3e38f, 0.5f, -0.0f };

    return scale[rng_below(r, COUNT(scale))];
}

static void damage_operand(struct rng *r, struct operand *o)
{
    struct tensor *t = &o->tensor;

    switch (rng_below(r, 13)) {
    case 0: t->dtype = (enum dtype) hostile(r); break;
    case 1: t->dtype = (enum dtype) rng_below(r, DT_COUNT); break;
    case 2: t->shape.rank = hostile(r); break;
    case 3: t->shape.dim[rng_below(r, MAX_RANK)] = hostile(r); break;
    case 4: t->scale = hostile_scale(r); break;
    case 5: t->zero = (int32_t) hostile(r); break;
    case 6: o->life = (enum lifetime) rng_below(r, LIFE_COUNT + 2); break;
    case 7: o->length = o->length ? rng_below(r, (uint32_t) o->length) : 0; break;
    case 8: t->channel_dim = hostile(r); break;
    case 9: t->n_channels = t->n_channels ? rng_below(r, t->n_channels) : 0; break;
    case 10: o->subgraph = hostile(r); break;
    case 11: o->pool = hostile(r); break;
    default:
        if (t->data && o->length)
            ((uint8_t *) t->data)[rng_below(r, (uint32_t) o->length)] ^= (uint8_t) hostile(r);
    }
}

/* Replaces the list by one of arbitrary length below MAX_LIST. */
static void replace_list(struct rng *r, struct arena *a, uint32_t **list, uint32_t *n)
{
    uint32_t length = rng_below(r, MAX_LIST), *to = arena_alloc(a, length + 1, sizeof *to);

    for (uint32_t i = 0; to && i < length; i++)
        to[i] = i < *n && rng_below(r, 2) ? (*list)[i] : hostile(r);
    if (to) {
        *list = to;
        *n = length;
    }
}

static void damage_index(struct rng *r, uint32_t *list, uint32_t n)
{
    if (n)
        list[rng_below(r, n)] = hostile(r);
}

static void damage_operation(struct rng *r, struct arena *a, struct operation *o)
{
    switch (rng_below(r, 6)) {
    case 0: o->code = (int32_t) hostile(r); break;
    case 1: o->code = op_table[rng_below(r, (uint32_t) op_table_n)]->code; break;
    case 2: damage_index(r, o->in, o->n_in); break;
    case 3: damage_index(r, o->out, o->n_out); break;
    case 4: replace_list(r, a, &o->in, &o->n_in); break;
    default: replace_list(r, a, &o->out, &o->n_out);
    }
}

static void damage_graph(struct rng *r, struct arena *a, struct graph *g)
{
    switch (rng_below(r, 6)) {
    case 0: damage_index(r, g->input, g->n_inputs); break;
    case 1: damage_index(r, g->output, g->n_outputs); break;
    case 2: replace_list(r, a, &g->input, &g->n_inputs); break;
    case 3: replace_list(r, a, &g->output, &g->n_outputs); break;
    case 4: g->n_operations -= g->n_operations > 0; break;
    default: g->n_operands -= g->n_operands > 0;
    }
}

/* Sets a pointer to NULL with its count unchanged; the last damage, since the others follow
 * pointers. */
static void clear_pointer(struct rng *r, struct model *m)
{
    struct graph *g = &m->graph[rng_below(r, m->n_graphs)];

    switch (rng_below(r, 64)) {
    case 0: g->operand = NULL; break;
    case 1: g->operation = NULL; break;
    case 2: g->input = NULL; break;
    case 3: g->output = NULL; break;
    case 4:
        m->pool = NULL;
        m->n_pools = hostile(r);
        break;
    case 5:
        m->extension = NULL;
        m->n_extensions = hostile(r);
        break;
    case 6: m->graph = NULL; break;
    case 7:
        if (g->n_operations)
            g->operation[rng_below(r, g->n_operations)].in = NULL;
        break;
    default: break;
    }
}

static void damage(struct rng *r, struct arena *a, struct model *m)
{
    struct graph *g = &m->graph[rng_below(r, m->n_graphs)];
    uint32_t kind = rng_below(r, 16);

    if (kind < 8 && g->n_operands)
        damage_operand(r, &g->operand[rng_below(r, g->n_operands)]);
    else if (kind < 12 && g->n_operations)
        damage_operation(r, a, &g->operation[rng_below(r, g->n_operations)]);
    else if (kind < 14)
        damage_graph(r, a, g);
    else if (kind == 14)
        m->relaxed = !m->relaxed;
    else
        m->n_graphs -= m->n_graphs > 1;
}

/* Arguments for the declared inputs; NULL: they are too large. */
static struct tensor *arguments(struct rng *r, struct arena *a, const struct model *m)
{
    const struct graph *g = &m->graph[0];
    struct tensor *in = arena_alloc(a, g->n_inputs + 1, sizeof *in);

    for (uint32_t i = 0; in && i < g->n_inputs; i++) {
        struct tensor *t = &in[i];
        *t = g->operand[g->input[i]].tensor;
        for (uint32_t k = 0; k < t->shape.rank; k++)
            if (t->shape.dim[k] == 0)
                t->shape.dim[k] = rng_below(r, 4);
        if (tensor_bytes(t) > MAX_INPUT)
            return NULL;
        uint8_t *bytes = t->data = arena_alloc(a, tensor_bytes(t) + 1, 1);
        for (size_t k = 0; bytes && k < tensor_bytes(t); k++)
            bytes[k] = (uint8_t) rng_below(r, 256);
    }
    return in;
}

/* The reference's results must pass when judged by their own bounds. */
static void judge(const struct result *result)
{
    for (uint32_t i = 0; i < result->n; i++) {
        const struct tensor *t = &result->out[i];
        struct judgement j = judge_bound(t, result->real[i], result->bound[i], result->kind[i], t);
        if (j.ok)
            continue;
        fprintf(stderr, "the reference fails by its own bound: output %u: %s\n", i, j.why);
        abort();
    }
}

/* in NULL: draws arguments from the bytes. */
static int run(struct rng *r, struct arena *a, const struct model *m, const struct tensor *in,
               struct why *w)
{
    struct plan *plan;
    struct result result;

    if (plan_new(m, &plan, w) < 0)
        return -1;
    in = in ? in : arguments(r, a, m);
    int rc = in ? plan_run(plan, in, &limits, &result, w) : 0;
    if (in && rc >= 0) {
        judge(&result);
        result_done(&result);
    }
    plan_free(plan);
    return rc;
}

static void must(int rc, const struct why *w)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "a generated model is rejected: %s\n", w->text);
    abort();
}

/* A model that is converted to a lower level must comply with it; a valid model may only be
 * rejected because of the level or of memory. */
static void convert(struct arena *a, const struct model *m)
{
    struct why w;
    int need = model_prepare(m, NULL, &w);

    for (int level = 1; level < need; level++) {
        struct conversion c;
        struct arena_mark mark = arena_mark(a);
        if (model_convert(m, level, a, &c, &w) == 0) {
            must(model_complies(&c.model, level, &w), &w);
        } else if (w.code != WHY_UNSUPPORTED && w.code != WHY_MEMORY) {
            fprintf(stderr, "conversion of a valid model to level %d: %s\n", level, w.text);
            abort();
        }
        arena_rewind(a, mark);
    }
}

static void fuzz_generator(struct rng *r, struct arena *a)
{
    struct randgraph_options o = randgraph_default;
    struct example e;
    struct why w;

    o.max_ops = 8;
    o.max_dim = 5;
    o.max_elements = 512;
    o.control_flow = 0.5;
    o.max_level = 1 + (int) rng_below(r, 8);
    must(randgraph_from(&o, r, a, &e, &w), &w);
    must(model_validate(&e.model, &w), &w);
    must(run(r, a, &e.model, e.in, &w), &w);
    convert(a, &e.model);
}

static void fuzz_validation(struct rng *r, struct arena *a)
{
    struct randgraph_options o = randgraph_default;
    struct example e;
    struct model m;
    struct why w;

    o.max_ops = 4;
    o.max_dim = 4;
    o.max_elements = 256;
    o.control_flow = 0.5;
    must(randgraph_make(&o, 1, rng_below(r, 65536), a, &e, &w), &w);
    must(model_copy(&e.model, a, &m), &w);
    for (uint32_t n = 1 + rng_below(r, MAX_DAMAGE); n > 0; n--)
        damage(r, a, &m);
    clear_pointer(r, &m);
    model_validate(&m, &w);
    run(r, a, &m, NULL, &w);
    convert(a, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *a = arena_new(1 << 25);
    struct rng r;

    if (!a)
        return 0;
    if (length > 0) {
        rng_bytes(&r, bytes + 1, length - 1);
        if (bytes[0] & 1)
            fuzz_validation(&r, a);
        else
            fuzz_generator(&r, a);
    }
    arena_free(a);
    return 0;
}
