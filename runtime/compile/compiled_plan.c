#include "runtime/compile/compiled_plan.h"

#include <stddef.h>
#include <stdlib.h>

#include "runtime/base/failure.h"
#include "runtime/compile/plan_roles.h"
#include "runtime/model/known_sizes.h"
#include "sim/client/driver_client.h"

#define LOG_TAG "ExecutionPlan"

/* ---- places of temporaries */

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* What the steps that use an operand prefer of its memory. */
static void find_preferences(struct compiled_plan *p, struct source_operand operand,
                             size_t *ret_alignment, size_t *ret_padding)
{
    const struct plan_role *role;
    uint32_t n = plan_roles_of(p->roles, operand, &role);

    *ret_alignment = n ? PREFERRED_ALIGNMENT : _Alignof(max_align_t);
    *ret_padding = 1;
    for (uint32_t i = 0; i < n; i++) {
        const size_t padding = device_padding(p->partition.step[role[i].step].device);
        if (padding > *ret_padding)
            *ret_padding = padding;
    }
}

/* Takes `n` places for one operand. */
static int put_temporary(struct compiled_plan *p, uint32_t source, uint32_t operand, int n,
                         size_t *ret_offset, struct why *w)
{
    const struct operand *o = &plan_graph(p, source)->operand[operand];
    const uint64_t size = operand_type_size(&o->tensor, o->foreign);
    size_t alignment, padding;

    if (!size || size > SIZE_MAX / 4 - p->temporaries_size)
        return why_fail(w, WHY_EXECUTION,
                        "operand %u of source model %u, between steps, has no size that is known",
                        operand, source);
    find_preferences(p, (struct source_operand){ source, operand }, &alignment, &padding);
    const size_t length = round_up((size_t) size, padding);
    for (int i = 0; i < n; i++) {
        ret_offset[i] = round_up(p->temporaries_size, alignment);
        p->temporaries_size = ret_offset[i] + length;
    }
    p->temporary[p->n_temporaries++] =
        (struct temporary){ plan_operand(p, source, operand), ret_offset[0], (size_t) size,
                            length - (size_t) size };
    return 0;
}

/* Temporaries that the step writes, other than those of unknown size. */
static int put_step_outputs(struct compiled_plan *p, const struct plan_step *s, struct why *w)
{
    size_t offset;

    for (uint32_t i = 0; i < s->n_outputs; i++) {
        const struct source_operand *o = &s->output[i].operand;
        if (s->output[i].from == ARGUMENT_TEMPORARY &&
            operand_size_known(&plan_graph(p, o->source)->operand[o->operand]))
            TRY(put_temporary(p, o->source, o->operand, 1, &offset, w));
    }
    return 0;
}

/* The operands that IF or WHILE writes; outputs of branches lie where those of the IF do. */
static int put_construct_outputs(struct compiled_plan *p, uint32_t step, struct arena *a,
                                 struct why *w)
{
    const struct plan_step *s = &p->partition.step[step];
    const struct graph *g = plan_graph(p, s->source);
    const struct operation *o = plan_construct(p, s);
    size_t offset;

    for (uint32_t i = 0; i < o->n_out; i++)
        if (g->operand[o->out[i]].life == LIFE_TEMPORARY)
            TRY(put_temporary(p, s->source, o->out[i], 1, &offset, w));
    if (s->kind != STEP_WHILE)
        return 0;
    const struct graph *body = plan_graph(p, s->second_source);
    p->step[step].body_output = arena_alloc(a, body->n_outputs, sizeof(*p->step->body_output));
    if (!p->step[step].body_output)
        return why_no_memory(w);
    TRY(put_temporary(p, s->first_source, plan_graph(p, s->first_source)->output[0], 1, &offset,
                      w));
    for (uint32_t i = 0; i < body->n_outputs; i++)
        TRY(put_temporary(p, s->second_source, body->output[i], 2, p->step[step].body_output[i],
                          w));
    return 0;
}

/* At most as many temporaries as steps, conditions and bodies have outputs. */
static size_t most_temporaries(const struct compiled_plan *p)
{
    size_t n = 0;

    for (uint32_t i = 0; i < p->partition.n_steps; i++) {
        const struct plan_step *s = &p->partition.step[i];
        if (s->kind == STEP_EXECUTE)
            n += s->n_outputs;
        else if (s->kind != STEP_GOTO)
            n += plan_construct(p, s)->n_out + 1 +
                 (size_t) plan_graph(p, s->second_source)->n_outputs;
    }
    return n;
}

static int place_temporaries(struct compiled_plan *p, struct arena *a, struct why *w)
{
    p->temporary = arena_alloc(a, most_temporaries(p), sizeof(*p->temporary));
    if (!p->temporary)
        return why_no_memory(w);
    for (uint32_t i = 0; i < p->partition.n_steps; i++) {
        const struct plan_step *s = &p->partition.step[i];
        if (s->kind == STEP_EXECUTE)
            TRY(put_step_outputs(p, s, w));
        else if (s->kind != STEP_GOTO)
            TRY(put_construct_outputs(p, i, a, w));
    }
    return 0;
}

int compiled_plan_make(const ANeuralNetworksModel *m, const struct partition *partition,
                       struct arena *a, struct compiled_plan **ret, struct why *w)
{
    struct compiled_plan *p = arena_alloc(a, 1, sizeof(*p));
    uint32_t *base = arena_alloc(a, partition->n_sources, sizeof(*base));

    if (!p || !base)
        return why_no_memory(w);
    p->model = m;
    p->partition = *partition;
    p->base = base;
    p->step = arena_alloc(a, partition->n_steps, sizeof(*p->step));
    if (!p->step)
        return why_no_memory(w);
    TRY(plan_roles_make(m, partition, a, &p->roles, w)); /* it has checked the sum */
    for (uint32_t i = 0; i < partition->n_sources; i++) {
        base[i] = p->n_operands;
        p->n_operands += plan_graph(p, i)->n_operands;
    }
    TRY(place_temporaries(p, a, w));
    *ret = p;
    return 0;
}

/* ---- prepared models */

/* The operations of a step in its cache's token: number of the source model, index in it. */
struct cached_operation {
    uint32_t source;
    int32_t operation;
};

static int prepare_step(struct compiled_plan *p, uint32_t at, const struct preparation *how)
{
    const struct plan_step *s = &p->partition.step[at];
    struct preparation of_step = *how;
    struct cached_operation *part = NULL;

    if (how->cache.token) {
        part = malloc(s->n_operations * sizeof(*part));
        if (!part)
            return FAIL(OUT_OF_MEMORY, "no memory for the cache's token of step %u", at);
        for (uint32_t i = 0; i < s->n_operations; i++)
            part[i] = (struct cached_operation){ s->source, (int32_t) s->operation[i] };
        of_step.cache.part = (const uint8_t *) part;
        of_step.cache.part_length = s->n_operations * sizeof(*part);
    }
    int result = prepare_on_device(s->device, &s->model, s->pool, &of_step, &p->step[at].prepared);
    free(part);
    return result;
}

int compiled_plan_prepare(struct compiled_plan *p, const struct preparation *how)
{
    for (uint32_t i = 0; i < p->partition.n_steps; i++)
        if (p->partition.step[i].kind == STEP_EXECUTE)
            PASS(prepare_step(p, i, how));
    return ANEURALNETWORKS_NO_ERROR;
}

int compiled_plan_prepare_fallback(struct compiled_plan *p, uint32_t step)
{
    const struct plan_step *s = &p->partition.step[step];

    if (p->step[step].fallback)
        return ANEURALNETWORKS_NO_ERROR;
    return prepare_on_device(reference_device(), &s->model, s->pool, &plain_preparation,
                             &p->step[step].fallback);
}

void compiled_plan_release(struct compiled_plan *p)
{
    for (uint32_t i = 0; i < p->partition.n_steps; i++) {
        struct hal_prepared_model *of_step[] = { p->step[i].prepared, p->step[i].fallback };
        for (int k = 0; k < COUNT(of_step); k++)
            if (of_step[k])
                DRIVER_RELEASE(of_step[k]);
    }
}

/* ---- roles */

static int put_roles(const struct compiled_plan *p, uint32_t operand, struct arena *a,
                     struct argument_roles *ret, struct why *w)
{
    const struct plan_role *role;
    uint32_t n = plan_roles_of(p->roles, (struct source_operand){ 0, operand }, &role);
    struct step_role *to = arena_alloc(a, n, sizeof(*to));

    if (!to)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++)
        to[i] =
            (struct step_role){ p->partition.step[role[i].step].device,
                                p->step[role[i].step].prepared, role[i].is_output, role[i].index };
    *ret = (struct argument_roles){ n, to };
    return 0;
}

int compiled_plan_roles(const struct compiled_plan *p, struct arena *a,
                        const struct argument_roles **ret, struct why *w)
{
    const struct graph *g = plan_graph(p, 0);
    struct argument_roles *to = arena_alloc(a, (size_t) g->n_inputs + g->n_outputs, sizeof(*to));

    if (!to)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        TRY(put_roles(p, g->input[i], a, &to[i], w));
    for (uint32_t i = 0; i < g->n_outputs; i++)
        TRY(put_roles(p, g->output[i], a, &to[g->n_inputs + i], w));
    *ret = to;
    return 0;
}
