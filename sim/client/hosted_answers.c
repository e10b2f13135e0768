/* Judges what the driver's process answered to a run. */
#include <stdio.h>
#include <string.h>

#include "sim/client/hosted.h"

static int check_before(struct case_run *c, const struct lent_region *r, const char *what)
{
    size_t before = lent_region_changed_before(r);

    if (!before)
        return 0;
    return case_run_violation(c, "memory before %s was written to: %zu byte%s before its buffer",
                              what, before, before == 1 ? "" : "s");
}

int hosted_check_output_memory(struct case_run *c)
{
    char what[32];

    for (uint32_t i = 0; i < c->m->graph[0].n_outputs; i++) {
        snprintf(what, sizeof what, "output %u", i);
        if (check_before(c, &c->region[i], what))
            return 1;
    }
    return 0;
}

/* Copies the shapes that the driver reported; a bool may have any byte. */
static int take_shapes(struct case_run *c, const struct lent_arrays *l)
{
    uint32_t n = c->m->graph[0].n_outputs;
    const struct hal_output_shape *shapes = (const void *) l->shapes.at;

    c->result.capacity = n;
    c->result.shapes = arena_copy(c->o->arena, shapes, n * sizeof *shapes);
    if (!c->result.shapes)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t sufficient;
        memcpy(&sufficient, &c->result.shapes[i].is_sufficient, 1);
        c->result.shapes[i].is_sufficient = sufficient != 0;
    }
    return 0;
}

static void take_result(struct case_run *c, const struct host_result *r)
{
    c->result.n_shapes = r->n_shapes;
    c->result.timing = r->timing;
    c->o->n_buffers = r->n_buffers <= c->n_buffers ? r->n_buffers : 0;
}

/* Of the executions at once, after the first one. */
static int judge_beside(struct case_run *c, const struct host_answers *a,
                        const struct lent_arrays *l)
{
    enum hal_status status[TARGET_MOST_BESIDE];

    for (uint32_t i = 0; i < c->n_beside; i++) {
        struct case_run *b = &c->beside[i];
        const struct host_result *r = &a->at_once[i + 1];
        status[i] = (enum hal_status) r->status;
        take_result(b, r);
        snprintf(b->o->violation, sizeof b->o->violation, "%s", r->violation);
        TRY(take_shapes(b, &l[i + 1]));
        if (check_before(c, &l[i + 1].shapes, "the output shapes"))
            return 1;
    }
    return case_run_check_beside(c, status, hosted_check_output_memory);
}

int hosted_judge_answers(struct case_run *c, const struct hal_model *m,
                         const struct host_answers *a, const struct lent_arrays *l)
{
    enum hal_status status = (enum hal_status) a->status;

    for (uint32_t i = 0; i < m->main.n_operations; i++) /* a bool may have any byte */
        c->o->supported[i] = c->uses_kept || l->supported.at[i] != 0;
    if (check_before(c, &l->supported, "the answers of get_supported_operations") ||
        (!c->options->only_query_support && check_before(c, &l->shapes, "the output shapes")))
        return 1;
    int rc = c->uses_kept ? 0
                          : case_run_check_support(c, m->main.n_operations,
                                                   a->stage == STAGE_SUPPORTED ? status : HAL_NONE,
                                                   a->n_answers);
    if (rc || a->stage == STAGE_SUPPORTED)
        return rc ? rc : case_run_violation(c, "the driver's process sent an invalid answer");
    c->o->stage = STAGE_PREPARE;
    if (c->options->only_query_support)
        return 1;
    memcpy(c->o->violation, a->violation, sizeof a->violation);
    rc = case_run_check_prepared(c, a->stage == STAGE_PREPARE ? status : HAL_NONE);
    if (rc && a->stage == STAGE_PREPARE)
        return rc;
    if (case_run_check_methods(c, a->lacks != HOST_LACKS_RELEASE, a->lacks != HOST_LACKS_EXECUTE))
        return 1;
    if (a->stage != STAGE_EXECUTE)
        return case_run_violation(c, "the driver's process sent an invalid answer");
    c->o->stage = STAGE_EXECUTE;
    TRY(take_shapes(c, l));
    take_result(c, &a->at_once[0]);
    rc = case_run_check_executed(c, status, hosted_check_output_memory);
    return rc ? rc : judge_beside(c, a, l);
}
