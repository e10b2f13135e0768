#include "tests/runtime/random/plan_parts.h"

#include <string.h>

#include "golden/exec/exec.h"

struct parts {
    const ANeuralNetworksCompilation *c;
    struct arena *a;
    struct why *w;
    bool shapes_given;
    struct tensor **value; /* by source and operand; .data NULL: omitted, or not computed yet */
    struct parts_result r;
};

/* ---- one part */

/* The shapes that the reference finds for outputs of unknown size. */
static int find_shapes(struct parts *p, const struct model *m, const struct tensor *in,
                       struct shape *shape)
{
    const struct exec_options options = { .arena = p->a };
    const struct graph *g = &m->graph[0];
    struct plan *plan;
    struct result r;

    for (uint32_t i = 0; i < g->n_outputs; i++)
        shape[i] = g->operand[g->output[i]].tensor.shape;
    TRY(plan_new(m, &plan, p->w));
    int failed = plan_run(plan, in, &options, &r, p->w);
    for (uint32_t i = 0; i < g->n_outputs && !failed; i++)
        shape[i] = r.out[i].shape;
    if (!failed)
        result_done(&r);
    plan_free(plan);
    return failed;
}

/* 1: the device has failed. */
static int run_on(struct parts *p, const ANeuralNetworksDevice *d, const struct model *m,
                  const struct tensor *in, const struct shape *shape, struct tensor *ret_out)
{
    const struct target_run_options options = { .loop_timeout_ns = HAL_LOOP_TIMEOUT_MAX };
    struct outcome o;

    TRY(target_run(d->target, m, in, shape, &options, &o, p->w));
    int failed = o.stage != STAGE_DONE || o.violation[0];
    if (failed)
        why_fail(p->w, WHY_EXECUTION, "%s fails in stage %d with status %d: %s%s%s", d->name,
                 (int) o.stage, (int) o.status, o.violation, o.failure_text, o.not_passed);
    for (uint32_t i = 0; i < o.n_out && !failed; i++) {
        ret_out[i] = o.out[i];
        ret_out[i].data = arena_copy(p->a, o.out[i].data, tensor_bytes(&o.out[i]));
        failed = ret_out[i].data ? 0 : why_no_memory(p->w);
    }
    outcome_done(&o);
    return failed > 0;
}

/* Whether a device before level 3 would have to tell the shape of an output.  step NULL: the
 * outputs are those of the main graph. */
static bool lacks_shapes(const struct parts *p, const ANeuralNetworksDevice *d,
                         const struct model *m, const struct plan_step *step)
{
    const struct graph *g = &m->graph[0];

    for (uint32_t i = 0; i < g->n_outputs && d->level < L3; i++) {
        bool is_main = !step || (step->output[i].from == ARGUMENT_SOURCE_OUTPUT &&
                                 step->output[i].operand.source == 0);
        if (!shape_known(&g->operand[g->output[i]].tensor.shape) && !(is_main && p->shapes_given))
            return true;
    }
    return false;
}

/* step: that the model is of; NULL: the whole model. */
static int run_model(struct parts *p, const ANeuralNetworksDevice *d, const struct model *m,
                     const struct plan_step *step, const struct tensor *in, struct tensor *ret_out)
{
    struct shape *shape = arena_alloc(p->a, m->graph[0].n_outputs, sizeof *shape);

    if (!shape)
        return why_no_memory(p->w);
    p->r.n_parts++;
    TRY(find_shapes(p, m, in, shape));
    int failed = lacks_shapes(p, d, m, step) ? 1 : run_on(p, d, m, in, shape, ret_out);
    if (failed <= 0)
        return failed;
    p->r.fails = !p->c->may_fall_back;
    if (p->r.fails)
        return 0;
    p->r.n_fallback++;
    return run_on(p, reference_device(), m, in, shape, ret_out) ? -1 : 0;
}

/* ---- the parts of a plan */

static const struct graph *graph_of(const struct parts *p, uint32_t source)
{
    return plan_graph(p->c->plan, source);
}

static struct tensor *value_of(struct parts *p, const struct source_operand *o)
{
    return &p->value[o->source][o->operand];
}

/* Whether the other parts are not run. */
static bool has_ended(const struct parts *p)
{
    return p->r.is_whole || p->r.fails;
}

static int run_step(struct parts *p, const struct plan_step *s)
{
    struct tensor *in = arena_alloc(p->a, s->n_inputs, sizeof *in);
    struct tensor *out = arena_alloc(p->a, s->n_outputs, sizeof *out);

    if (!in || !out)
        return why_no_memory(p->w);
    REQUIRE(p->w, s->model.relaxed == (p->c->model->model.relaxed && s->device->level >= L2),
            "the model of a part on %s is%s relaxed", s->device->name,
            s->model.relaxed ? "" : " not");
    for (uint32_t i = 0; i < s->n_inputs; i++) {
        in[i] = *value_of(p, &s->input[i].operand);
        /* A value between parts must not be empty: the runtime does not pass it on. */
        p->r.is_whole |= in[i].data && dtype_info[in[i].dtype].tensor && !tensor_count(&in[i]);
    }
    if (p->r.is_whole)
        return 0;
    TRY(run_model(p, s->device, &s->model, s, in, out));
    for (uint32_t i = 0; i < s->n_outputs && !p->r.fails; i++)
        *value_of(p, &s->output[i].operand) = out[i];
    return 0;
}

static void copy_values(struct parts *p, uint32_t to, const uint32_t *to_list, uint32_t from,
                        const uint32_t *from_list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p->value[to][to_list[i]] = p->value[from][from_list[i]];
}

static int run_source(struct parts *p, uint32_t source, uint32_t first, uint32_t end);

static bool is_true(const struct parts *p, uint32_t source, uint32_t operand)
{
    return *(const uint8_t *) p->value[source][operand].data;
}

/*      s           IF, or WHILE
 *      first_part  ..., GOTO
 *      second_part ..., of WHILE: GOTO */
static int run_branch(struct parts *p, const struct plan_step *s)
{
    const struct operation *o = plan_construct(p->c->plan, s);
    bool first = is_true(p, s->source, o->in[0]);
    uint32_t sub = first ? s->first_source : s->second_source;
    const struct graph *g = graph_of(p, sub);

    copy_values(p, sub, g->input, s->source, o->in + (o->n_in - g->n_inputs), g->n_inputs);
    TRY(first ? run_source(p, sub, s->first_part, s->second_part - 1)
              : run_source(p, sub, s->second_part, s->to));
    copy_values(p, s->source, o->out, sub, g->output, g->n_outputs);
    return 0;
}

static int run_loop(struct parts *p, const struct plan_step *s)
{
    const struct operation *o = plan_construct(p->c->plan, s);
    const struct graph *cond = graph_of(p, s->first_source), *body = graph_of(p, s->second_source);

    copy_values(p, s->first_source, cond->input, s->source, o->in + (o->n_in - cond->n_inputs),
                cond->n_inputs);
    for (int i = 0; i < PARTS_MOST_ITERATIONS; i++) {
        TRY(run_source(p, s->first_source, s->first_part, s->second_part - 1));
        if (has_ended(p))
            return 0;
        if (!is_true(p, s->first_source, cond->output[0])) {
            copy_values(p, s->source, o->out, s->first_source, cond->input, o->n_out);
            return 0;
        }
        copy_values(p, s->second_source, body->input, s->first_source, cond->input, body->n_inputs);
        TRY(run_source(p, s->second_source, s->second_part, s->to - 1));
        copy_values(p, s->first_source, cond->input, s->second_source, body->output,
                    body->n_outputs);
    }
    return why_fail(p->w, WHY_TIMEOUT, "a loop has more than %d iterations", PARTS_MOST_ITERATIONS);
}

/* The steps of a source model among those from `first` to `end`, exclusive. */
static int run_source(struct parts *p, uint32_t source, uint32_t first, uint32_t end)
{
    for (uint32_t at = first; at < end && !has_ended(p);) {
        const struct plan_step *s = &p->c->plan->partition.step[at];
        REQUIRE(p->w, s->source == source, "step %u is of source model %u, not of %u", at,
                s->source, source);
        switch (s->kind) {
        case STEP_EXECUTE: TRY(run_step(p, s)); break;
        case STEP_IF: TRY(run_branch(p, s)); break;
        case STEP_WHILE: TRY(run_loop(p, s)); break;
        case STEP_GOTO: return why_fail(p->w, WHY_INVALID, "step %u is a GOTO", at);
        }
        at = s->kind == STEP_EXECUTE ? at + 1 : s->to;
    }
    return 0;
}

static int run_plan(struct parts *p, const struct tensor *in)
{
    const struct partition *plan = &p->c->plan->partition;
    const struct graph *g = graph_of(p, 0);

    p->value = arena_alloc(p->a, plan->n_sources, sizeof(struct tensor *));
    if (!p->value)
        return why_no_memory(p->w);
    for (uint32_t s = 0; s < plan->n_sources; s++) {
        const struct graph *of = graph_of(p, s);
        p->value[s] = arena_alloc(p->a, of->n_operands, sizeof(struct tensor));
        if (!p->value[s])
            return why_no_memory(p->w);
        for (uint32_t i = 0; i < of->n_operands; i++)
            p->value[s][i] = of->operand[i].tensor; /* constants have their data */
    }
    for (uint32_t i = 0; i < g->n_inputs; i++)
        p->value[0][g->input[i]] = in[i];
    TRY(run_source(p, 0, 0, plan->n_steps));
    for (uint32_t i = 0; i < g->n_outputs; i++)
        p->r.out[i] = p->value[0][g->output[i]];
    return 0;
}

int plan_parts_run(const ANeuralNetworksCompilation *c, const struct tensor *in, bool shapes_given,
                   struct arena *a, struct parts_result *ret, struct why *w)
{
    const struct model *m = &c->model->model;
    struct parts p = { .c = c, .a = a, .w = w, .shapes_given = shapes_given };
    struct model whole = *m;

    p.r.out = arena_alloc(a, m->graph[0].n_outputs, sizeof *p.r.out);
    if (!p.r.out)
        return why_no_memory(w);
    if (c->plan)
        TRY(run_plan(&p, in));
    /* The reference repeats a plan as a whole only where that is permitted. */
    p.r.fails |= p.r.is_whole && !c->may_fall_back;
    whole.relaxed = m->relaxed && (!c->on || c->on->level >= L2);
    if (!p.r.fails && (!c->plan || p.r.is_whole))
        TRY(run_model(&p, c->plan ? reference_device() : c->on, &whole, NULL, in, p.r.out));
    *ret = p.r;
    return 0;
}
