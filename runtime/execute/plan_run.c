#include "runtime/execute/plan_run.h"

#include <string.h>

#include "golden/base/trace.h"
#include "runtime/base/failure.h"

#define LOG_TAG "ExecutionPlan"

/* ---- creation */

/* What is in place before any computation: temporaries, and constants that IF and WHILE read. */
static void locate_temporaries(struct plan_run *r)
{
    for (uint32_t i = 0; i < r->plan->n_temporaries; i++) {
        const struct temporary *t = &r->plan->temporary[i];
        struct argument *to = &r->location[t->number];
        to->kind = ARGUMENT_MEMORY;
        to->memory = r->temporary;
        to->offset = t->offset;
        to->length = t->length;
        to->padding = t->padding;
    }
}

static void locate_constants(struct plan_run *r, const struct plan_step *s)
{
    const struct graph *g = plan_graph(r->plan, s->source);
    const struct operation *o = plan_construct(r->plan, s);

    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *in = &g->operand[o->in[i]];
        struct argument *to = &r->location[plan_operand(r->plan, s->source, o->in[i])];
        if (operand_omitted(in)) {
            to->kind = ARGUMENT_OMITTED;
        } else if (operand_constant(in)) {
            to->kind = ARGUMENT_BUFFER;
            to->buffer = in->tensor.data;
            to->length = in->length;
        }
    }
}

static bool make_step(struct plan_run *r, uint32_t i)
{
    const struct plan_step *s = &r->plan->partition.step[i];
    struct step_run *to = &r->step[i];

    if (s->kind == STEP_IF || s->kind == STEP_WHILE)
        locate_constants(r, s);
    if (s->kind != STEP_EXECUTE)
        return true;
    to->input = arena_alloc(r->arena, s->n_inputs, sizeof(*to->input));
    to->output = arena_alloc(r->arena, s->n_outputs, sizeof(*to->output));
    to->room = arena_alloc(r->arena, s->n_outputs, sizeof(*to->room));
    return to->input && to->output && to->room;
}

static bool allocate(struct plan_run *r)
{
    const struct compiled_plan *p = r->plan;
    const struct graph *g = plan_graph(p, 0);

    r->location = arena_alloc(r->arena, p->n_operands, sizeof(*r->location));
    r->main_output = arena_alloc(r->arena, p->n_operands, sizeof(*r->main_output));
    r->shape = arena_alloc(r->arena, g->n_outputs, sizeof(*r->shape));
    r->step = arena_alloc(r->arena, p->partition.n_steps, sizeof(*r->step));
    if (!r->location || !r->main_output || !r->shape || !r->step)
        return false;
    for (uint32_t s = 0; s < p->partition.n_sources; s++)
        for (uint32_t i = 0; i < plan_graph(p, s)->n_operands; i++) {
            const struct operand *o = &plan_graph(p, s)->operand[i];
            r->location[plan_operand(p, s, i)] =
                (struct argument){ .operand = o, .shape = o->tensor.shape };
        }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        r->main_output[g->output[i]] = i + 1;
    for (uint32_t i = 0; i < p->partition.n_steps; i++)
        if (!make_step(r, i))
            return false;
    return true;
}

static int make(ANeuralNetworksExecution *e, struct plan_run **ret)
{
    struct arena *a = arena_new(0);
    struct plan_run *r = a ? arena_alloc(a, 1, sizeof(*r)) : NULL;
    int result = ANEURALNETWORKS_NO_ERROR;

    if (!r) {
        arena_free(a);
        return FAIL(OUT_OF_MEMORY, "no memory for an execution of several steps");
    }
    r->arena = a;
    r->execution = e;
    r->plan = e->compilation->plan;
    if (!allocate(r))
        result = FAIL(OUT_OF_MEMORY, "no memory for an execution of %u steps",
                      r->plan->partition.n_steps);
    else if (r->plan->n_temporaries)
        result = memory_of_size(r->plan->temporaries_size, &r->temporary);
    if (result != ANEURALNETWORKS_NO_ERROR) {
        plan_run_free(r);
        return result;
    }
    locate_temporaries(r);
    *ret = r;
    return result;
}

void plan_run_free(struct plan_run *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; r->step && i < r->plan->partition.n_steps; i++) {
        driver_request_done(&r->step[i].request);
        memory_free(r->step[i].block);
    }
    memory_free(r->temporary);
    arena_free(r->arena);
}

/* ---- one computation */

static void locate_arguments(struct plan_run *r)
{
    const ANeuralNetworksExecution *e = r->execution;
    const struct graph *g = plan_graph(r->plan, 0);

    for (uint32_t i = 0; i < e->n_inputs; i++)
        r->location[g->input[i]] = e->input[i];
    for (uint32_t i = 0; i < e->n_outputs; i++) {
        r->location[g->output[i]] = e->output[i];
        r->shape[i] = declared_shape(&e->output[i]);
    }
    for (uint32_t i = 0; i < r->plan->partition.n_steps; i++)
        r->step[i].position = LOOP_OUTSIDE;
}

static int run_step(struct plan_run *r, uint32_t at, uint32_t *ret_next)
{
    const struct plan_step *s = &r->plan->partition.step[at];

    *ret_next = at + 1;
    if (r->chain && s->kind == STEP_EXECUTE &&
        device_takes_fences(s->device, r->plan->step[at].prepared))
        return plan_chain_add(r->chain, at);
    if (r->chain && s->kind != STEP_GOTO)
        PASS(plan_chain_wait(r->chain));
    switch (s->kind) {
    case STEP_EXECUTE: return plan_step_run(r, at);
    case STEP_IF: return plan_branch(r, at, ret_next);
    case STEP_WHILE: return plan_loop(r, at, ret_next);
    case STEP_GOTO: *ret_next = s->to; break;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int run(struct plan_run *r)
{
    for (uint32_t at = 0; at < r->plan->partition.n_steps;) {
        uint32_t next;
        PASS(run_step(r, at, &next));
        at = next;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int begin(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst)
{
    if (!e->plan_run)
        PASS(make(e, &e->plan_run));
    e->plan_run->burst = burst;
    e->plan_run->is_final = false;
    locate_arguments(e->plan_run);
    return ANEURALNETWORKS_NO_ERROR;
}

int plan_run_launch(ANeuralNetworksExecution *e, struct device_launch *l, bool *ret_is_final)
{
    *ret_is_final = false;
    PASS(begin(e, NULL));
    struct plan_run *r = e->plan_run;
    r->chain = plan_chain_new(r, l);
    if (!r->chain)
        return FAIL(OUT_OF_MEMORY, "no memory for an execution with fences");
    int result = run(r);
    if (result != ANEURALNETWORKS_NO_ERROR)
        plan_chain_wait(r->chain);
    plan_chain_end(r->chain, l);
    r->chain = NULL;
    *ret_is_final = r->is_final;
    return result;
}

void plan_run_compute(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst,
                      struct computed *ret, bool *ret_is_final)
{
    TRACE(LR, PE, "plan_run_compute");
    *ret = (struct computed){ .durations = unknown_durations };
    *ret_is_final = false;
    ret->result = begin(e, burst);
    if (ret->result != ANEURALNETWORKS_NO_ERROR)
        return;
    struct plan_run *r = e->plan_run;
    ret->result = run(r);
    ret->shape = r->shape;
    *ret_is_final = r->is_final;
}
