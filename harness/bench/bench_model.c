#include "harness/bench/bench_model.h"

#include <string.h>

void bench_model_reset(const struct tensor *t, void *to)
{
    const struct dtype_info *type = &dtype_info[t->dtype];
    const double zero = type->quant == QUANT_AFFINE ? t->zero : 0;
    const size_t n = tensor_count(t), size = type->codec->size;

    if (n)
        type->codec->narrow(&zero, 1, 0, 1, to);
    for (size_t i = 1; i < n; i++)
        memcpy((uint8_t *) to + i * size, to, size);
}

/* ---- states */

static bool are_state(const struct operand *in, const struct operand *out)
{
    const size_t n = in->name ? strlen(in->name) : 0;

    return n && out->name && strncmp(out->name, in->name, n) == 0 &&
           strcmp(out->name + n, "_out") == 0 && in->tensor.dtype == out->tensor.dtype &&
           shape_equal(&in->tensor.shape, &out->tensor.shape);
}

/* The output that is the next state of input i; n_outputs: none. */
static uint32_t next_of(const struct graph *g, uint32_t i)
{
    for (uint32_t k = 0; k < g->n_outputs; k++)
        if (are_state(&g->operand[g->input[i]], &g->operand[g->output[k]]))
            return k;
    return g->n_outputs;
}

static int find_states(struct bench_model *m, struct why *w)
{
    const struct graph *g = &m->model.graph[0];
    bool *is_state = arena_alloc(m->arena, g->n_outputs, sizeof(bool));

    m->data = arena_alloc(m->arena, g->n_inputs, sizeof(uint32_t));
    m->results = arena_alloc(m->arena, g->n_outputs, sizeof(uint32_t));
    m->state = arena_alloc(m->arena, g->n_inputs, sizeof(*m->state));
    if (!is_state || !m->data || !m->results || !m->state)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const uint32_t next = i ? next_of(g, i) : g->n_outputs;
        if (next == g->n_outputs || is_state[next]) {
            m->data[m->n_data++] = i;
            continue;
        }
        m->state[m->n_states++] = (struct bench_state){ i, next };
        is_state[next] = true;
    }
    for (uint32_t k = 0; k < g->n_outputs; k++)
        if (!is_state[k])
            m->results[m->n_results++] = k;
    return 0;
}

/* ---- shapes */

static void complete(struct shape *s)
{
    for (uint32_t i = 0; i < s->rank; i++)
        s->dim[i] = s->dim[i] ? s->dim[i] : 1;
}

/* Shapes that the model leaves open are those of a run of the reference. */
static int find_out_shapes(struct bench_model *m, struct why *w)
{
    const struct graph *g = &m->model.graph[0];
    struct arena *a = arena_new(0);
    struct tensor *in = a ? arena_copy(a, m->in, g->n_inputs * sizeof(*in)) : NULL;
    struct plan *plan = NULL;
    struct result result;
    int failed = in ? 0 : why_no_memory(w);

    for (uint32_t i = 0; !failed && i < g->n_inputs; i++) {
        in[i].data = arena_alloc(a, tensor_count(&in[i]), 8);
        if (in[i].data)
            bench_model_reset(&in[i], in[i].data);
        else
            failed = why_no_memory(w);
    }
    if (!failed)
        failed = plan_new(&m->model, &plan, w);
    if (!failed && (failed = plan_run(plan, in, NULL, &result, w)) == 0) {
        for (uint32_t k = 0; k < g->n_outputs; k++)
            m->out[k].shape = result.out[k].shape;
        result_done(&result);
    }
    plan_free(plan);
    arena_free(a);
    return failed;
}

static int find_shapes(struct bench_model *m, struct why *w)
{
    const struct graph *g = &m->model.graph[0];
    bool is_known = true;

    m->in = arena_alloc(m->arena, g->n_inputs, sizeof(*m->in));
    m->out = arena_alloc(m->arena, g->n_outputs, sizeof(*m->out));
    if (!m->in || !m->out)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        m->in[i] = g->operand[g->input[i]].tensor;
        complete(&m->in[i].shape);
        REQUIRE(w, dtype_info[m->in[i].dtype].codec->size, "input %u has type %s, without elements",
                i, dtype_info[m->in[i].dtype].name);
    }
    for (uint32_t k = 0; k < g->n_outputs; k++) {
        m->out[k] = g->operand[g->output[k]].tensor;
        is_known =
            is_known && (!dtype_info[m->out[k].dtype].tensor || shape_known(&m->out[k].shape));
    }
    return is_known ? 0 : find_out_shapes(m, w);
}

static int init(struct bench_model *m, struct why *w)
{
    TRY(model_prepare(&m->model, NULL, w));
    TRY(find_states(m, w));
    return find_shapes(m, w);
}

int bench_model_of(const char *name, const struct model *from, struct bench_model *ret_model,
                   struct why *w)
{
    struct bench_model m = { .arena = arena_new(0), .name = name };

    if (!m.arena)
        return why_no_memory(w);
    if (model_copy(from, m.arena, &m.model) < 0)
        why_no_memory(w);
    else if (init(&m, w) >= 0) {
        *ret_model = m;
        return 0;
    }
    arena_free(m.arena);
    return -1;
}

/* ---- loading */

struct loading {
    const struct bench_entry *entry;
    bool relaxed, is_loaded;
    struct bench_model *model;
};

/* Sets what the model leaves open of its input to the list's size. */
static int set_input(const struct bench_entry *e, struct model *m, struct why *w)
{
    struct graph *g = &m->graph[0];
    struct tensor *t = g->n_inputs ? &g->operand[g->input[0]].tensor : NULL;
    char has[SHAPE_TEXT], wants[SHAPE_TEXT];

    REQUIRE(w, t, "the model has no input");
    if (e->data_size)
        REQUIRE(w, e->data_size == dtype_info[t->dtype].codec->size,
                "dataSize is %u, but input 0 has type %s", e->data_size, dtype_info[t->dtype].name);
    if (!e->input.rank)
        return 0;
    REQUIRE(w, shape_matches(&e->input, &t->shape), "inputSize is %s, but input 0 has shape %s",
            shape_text(&e->input, wants), shape_text(&t->shape, has));
    t->shape = e->input;
    return 0;
}

static int take(const struct example *e, void *user, struct why *w)
{
    struct loading *l = user;
    struct model m = e->model;

    REQUIRE(w, !l->is_loaded, "must contain one model");
    m.relaxed = m.relaxed || l->relaxed;
    TRY(set_input(l->entry, &m, w));
    TRY(bench_model_of(l->entry->name, &m, l->model, w));
    l->is_loaded = true;
    return 0;
}

int bench_model_load(const struct bench_entry *e, bool relaxed, const struct specs_options *limits,
                     struct bench_model *ret_model, struct why *w)
{
    struct bench_model m = { 0 };
    struct loading l = { .entry = e, .relaxed = relaxed, .model = &m };

    if (specs_load(e->path, limits, take, &l, w) < 0) {
        if (l.is_loaded)
            bench_model_done(&m);
        return strncmp(w->text, e->path, strlen(e->path)) == 0 ? -1 : why_prefix(w, "%s", e->path);
    }
    REQUIRE(w, l.is_loaded, "%s: there is no model in it", e->path);
    *ret_model = m;
    return 0;
}

void bench_model_done(struct bench_model *m)
{
    arena_free(m->arena);
    *m = (struct bench_model){ 0 };
}
