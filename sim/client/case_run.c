/* Checks the results of a run (status, memory, output shapes, timing) against the contract. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/logging.h"
#include "sim/client/case_run.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "ExecutionPlan"

int case_run_violation(struct case_run *c, const char *fmt, ...)
{
    va_list ap;

    if (c->o->violation[0])
        return 1;
    va_start(ap, fmt);
    vsnprintf(c->o->violation, sizeof(c->o->violation), fmt, ap);
    va_end(ap);
    VLOG(EXECUTION, "%s breaks the contract: %s", c->t->uri, c->o->violation);
    return 1;
}

void case_run_note_repeated(struct case_run *c, const char *method, uint64_t run)
{
    if (run == c->o->run) {
        case_run_violation(c, "%s called back more than once", method);
        return;
    }
    c->o->late_run = run;
    c->o->is_late_callback = true;
    snprintf(c->o->late, sizeof(c->o->late), "%s called back more than once", method);
}

int case_run_check_status(struct case_run *c, const char *method, enum hal_status status)
{
    c->o->status = status;
    if ((unsigned) status >= HAL_STATUS_COUNT)
        return case_run_violation(c, "%s answered with the unknown status %d", method,
                                  (int) status);
    if (!hal_status_complies(status, target_version(c->t)))
        return case_run_violation(c, "%s answered %s, which HAL %s does not have", method,
                                  hal_status_name(status), hal_version_name(target_version(c->t)));
    return status != HAL_NONE;
}

const struct tensor *case_run_output(const struct case_run *c, uint32_t i)
{
    return &c->m->graph[0].operand[c->m->graph[0].output[i]].tensor;
}

bool case_run_is_known(const struct tensor *t)
{
    return !dtype_info[t->dtype].tensor || shape_known(&t->shape);
}

/* The first byte outside the outputs that was changed, by the output that it is next to. */
static int report_trespass(struct case_run *c, uint32_t i, size_t b)
{
    uint32_t n = c->m->graph[0].n_outputs;
    size_t offset = b - GUARD;
    size_t behind = i && b >= GUARD ? offset - c->out_at[i - 1] - c->out_length[i - 1] : SIZE_MAX;
    size_t before = i < n ? GUARD + c->out_at[i] - b : SIZE_MAX;

    if (behind < before)
        return case_run_violation(
            c,
            "memory after output %u was written to: byte %zu of its buffer of "
            "%zu bytes",
            i - 1, c->out_length[i - 1] + behind, c->out_length[i - 1]);
    return case_run_violation(
        c, "memory before output %u was written to: %zu byte%s before its buffer", i, before,
        before == 1 ? "" : "s");
}

/* Bytes outside the outputs hold their pattern still. */
static int check_output_guards(struct case_run *c)
{
    const struct guarded *g = &c->output;
    uint32_t i = 0, n = c->m->graph[0].n_outputs;

    for (size_t b = 0; b < g->size + (size_t) 2 * GUARD; b++) {
        size_t offset = b - GUARD; /* wraps in the guard before the lent memory */
        while (i < n && offset + 1 > c->out_at[i] + c->out_length[i] && b >= GUARD)
            i++;
        if (b >= GUARD && i < n && offset >= c->out_at[i])
            continue;
        if (g->block[b] != guarded_pattern(g, offset))
            return report_trespass(c, i, b);
    }
    return 0;
}

static int check_inputs(struct case_run *c)
{
    if (memcmp(c->input.block, c->input_copy, c->input.size + (size_t) 2 * GUARD) == 0)
        return 0;
    for (uint32_t i = 0; i < c->m->graph[0].n_inputs; i++)
        if (c->in[i].data &&
            memcmp(guarded_at(&c->input, c->in_at[i]), c->in[i].data, tensor_bytes(&c->in[i])))
            return case_run_violation(c, "input %u was written to", i);
    return case_run_violation(c, "memory between the inputs was written to");
}

static int check_timing(struct case_run *c, enum hal_status status)
{
    struct hal_timing t = c->result.timing;
    bool none = t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;

    c->o->timing = t;
    if ((!c->options->measure || target_version(c->t) < HAL_1_2) && !none)
        return case_run_violation(c, "timing %llu/%llu ns was given, but not asked for",
                                  (unsigned long long) t.on_device,
                                  (unsigned long long) t.in_driver);
    if (status != HAL_NONE && !none)
        return case_run_violation(c, "timing was given with status %s", hal_status_name(status));
    if (t.on_device != HAL_NO_TIME && t.in_driver != HAL_NO_TIME && t.on_device > t.in_driver)
        return case_run_violation(
            c, "time on the device, %llu ns, exceeds time in the driver, %llu ns",
            (unsigned long long) t.on_device, (unsigned long long) t.in_driver);
    if (!hal_timing_complies(t, target_version(c->t)))
        return case_run_violation(c, "timing %llu/%llu ns: HAL %s reports whole microseconds",
                                  (unsigned long long) t.on_device,
                                  (unsigned long long) t.in_driver,
                                  hal_version_name(target_version(c->t)));
    return 0;
}

static size_t reported_bytes(const struct hal_output_shape *s, enum dtype type)
{
    size_t n = dtype_info[type].codec->size;

    for (uint32_t d = 0; d < s->n_dims; d++)
        n = s->dims[d] && n > SIZE_MAX / s->dims[d] ? SIZE_MAX : n * s->dims[d];
    return n;
}

static int check_dims(struct case_run *c, uint32_t i, const struct hal_output_shape *s,
                      const struct tensor *t, bool complete)
{
    bool scalar = !dtype_info[t->dtype].tensor;

    if (s->n_dims > MAX_RANK || (scalar && s->n_dims))
        return case_run_violation(c, "output %u is reported with rank %u", i, s->n_dims);
    if (t->shape.rank && s->n_dims != t->shape.rank && (complete || s->n_dims))
        return case_run_violation(c, "output %u is reported with rank %u, declared %u", i,
                                  s->n_dims, t->shape.rank);
    for (uint32_t d = 0; d < s->n_dims; d++)
        if (t->shape.rank && t->shape.dim[d] && s->dims[d] != t->shape.dim[d] &&
            (complete || s->dims[d]))
            return case_run_violation(c, "dimension %u of output %u is reported as %u, declared %u",
                                      d, i, s->dims[d], t->shape.dim[d]);
    return 0;
}

/* One reported shape of an execution that succeeded, or that found buffers too small. */
static int check_shape(struct case_run *c, uint32_t i, enum hal_status status)
{
    const struct hal_output_shape *s = &c->result.shapes[i];
    const struct tensor *t = case_run_output(c, i);
    size_t length = c->out_length[i] ? c->out_length[i] : 1;

    if (check_dims(c, i, s, t, status == HAL_NONE))
        return 1;
    if (status == HAL_NONE && !s->is_sufficient)
        return case_run_violation(c, "output %u is reported as too small with status NONE", i);
    if (s->is_sufficient && reported_bytes(s, t->dtype) > length)
        return case_run_violation(c, "output %u is reported with %zu bytes in a buffer of %zu", i,
                                  reported_bytes(s, t->dtype), length);
    return 0;
}

/* A buffer that holds the declared shape is never too small. */
static int check_insufficient(struct case_run *c)
{
    bool any = false;

    for (uint32_t i = 0; i < c->result.n_shapes; i++) {
        const struct tensor *t = case_run_output(c, i);
        if (c->result.shapes[i].is_sufficient)
            continue;
        if (case_run_is_known(t) && c->out_length[i] >= tensor_bytes(t))
            return case_run_violation(c,
                                      "output %u is reported as too small: its buffer has the %zu "
                                      "bytes of its declared shape",
                                      i, c->out_length[i]);
        any = true;
    }
    return any ? 0
               : case_run_violation(
                     c, "OUTPUT_INSUFFICIENT_SIZE, but every output is reported as sufficient");
}

static int check_shapes(struct case_run *c, enum hal_status status)
{
    uint32_t n = c->m->graph[0].n_outputs, n_shapes = c->result.n_shapes;
    const struct execution_way_info *way = &execution_ways[case_run_way(c)];
    bool reports = target_version(c->t) >= HAL_1_2 && way->reports;
    bool may = status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE;

    if (n_shapes && !way->reports)
        return case_run_violation(c, "%u output shapes of a %s execution, which reports none",
                                  n_shapes, way->name);
    if (n_shapes && !reports)
        return case_run_violation(c, "%u output shapes at HAL %s, which reports none", n_shapes,
                                  hal_version_name(target_version(c->t)));
    if (n_shapes && !may)
        return case_run_violation(c, "%u output shapes with status %s", n_shapes,
                                  hal_status_name(status));
    if (n_shapes && n_shapes != n)
        return case_run_violation(c, "%u output shapes for %u outputs", n_shapes, n);
    if (!n_shapes && status == HAL_OUTPUT_INSUFFICIENT_SIZE && reports)
        return case_run_violation(c, "OUTPUT_INSUFFICIENT_SIZE without output shapes");
    for (uint32_t i = 0; i < n_shapes; i++)
        if (check_shape(c, i, status))
            return 1;
    if (n_shapes && status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        return check_insufficient(c);
    for (uint32_t i = 0; i < n && !n_shapes && reports && status == HAL_NONE; i++)
        if (!case_run_is_known(case_run_output(c, i)))
            return case_run_violation(
                c, "no output shapes, though output %u is not fully specified", i);
    return 0;
}

int case_run_check_memory(struct case_run *c)
{
    return check_output_guards(c) || check_inputs(c);
}

int case_run_check_result(struct case_run *c, enum hal_status status)
{
    return check_timing(c, status) || check_shapes(c, status);
}
