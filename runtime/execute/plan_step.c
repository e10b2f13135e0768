#include <string.h>

#include "golden/base/trace.h"
#include "runtime/base/failure.h"
#include "runtime/execute/plan_run.h"
#include "runtime/model/known_sizes.h"

#define LOG_TAG "ExecutionPlan"

static struct argument *location_of(struct plan_run *r, const struct step_argument *a)
{
    return &r->location[plan_operand(r->plan, a->operand.source, a->operand.operand)];
}

/* Bytes of the value of an argument whose shape is known. */
static size_t value_size(const struct argument *a)
{
    return argument_element_size(a) * (argument_is_tensor(a) ? shape_count(&a->shape) : 1);
}

/* ---- room for results of unknown size */

static bool is_dynamic(const struct step_argument *a, const struct argument *location)
{
    return a->from == ARGUMENT_TEMPORARY && !operand_size_known(location->operand);
}

static size_t padded(size_t length)
{
    return (length + PREFERRED_ALIGNMENT - 1) / PREFERRED_ALIGNMENT * PREFERRED_ALIGNMENT;
}

/* What is known of the shape, with 1 for what is not. */
static size_t least_size(const struct argument *a)
{
    struct shape s = a->shape;

    for (uint32_t i = 0; i < s.rank; i++)
        s.dim[i] = s.dim[i] ? s.dim[i] : 1;
    return argument_element_size(a) * (s.rank ? shape_count(&s) : 1);
}

/* Memory for the outputs of unknown size of a step; that of the last time, if it is large enough.
 */
static int make_room(struct plan_run *r, uint32_t at)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *step = &r->step[at];
    uint64_t size = 0;

    for (uint32_t i = 0; i < s->n_outputs; i++) {
        struct argument *l = location_of(r, &s->output[i]);
        if (!is_dynamic(&s->output[i], l))
            continue;
        l->shape = l->operand->tensor.shape;
        if (!step->room[i])
            step->room[i] = padded(least_size(l));
        l->kind = ARGUMENT_MEMORY;
        l->offset = (size_t) size;
        l->length = step->room[i];
        l->padding = 0;
        size += step->room[i];
    }
    if (!size)
        return ANEURALNETWORKS_NO_ERROR;
    if (!step->block || step->block->host.size < size) {
        memory_free(step->block);
        step->block = NULL;
        PASS(memory_of_size((size_t) size, &step->block));
    }
    for (uint32_t i = 0; i < s->n_outputs; i++)
        if (step->room[i])
            location_of(r, &s->output[i])->memory = step->block;
    return ANEURALNETWORKS_NO_ERROR;
}

/* Whether it now has more room. */
static bool grow(const struct argument *a, const struct hal_output_shape *reported, size_t *room)
{
    struct argument known = *a;
    size_t size = *room;

    known.shape.rank = reported->n_dims;
    memcpy(known.shape.dim, reported->dims, reported->n_dims * sizeof(*reported->dims));
    if (argument_is_known(&known))
        size = padded(value_size(&known));
    else if (*room < INT32_MAX)
        size = 2 * *room;
    if (size <= *room)
        return false;
    *room = size;
    return true;
}

/* After OUTPUT_INSUFFICIENT_SIZE: NO_ERROR if there is more room now; else that the client has to
 * give more, or that the driver did not tell how much. */
static int grow_insufficient(struct plan_run *r, uint32_t at, const struct hal_output_shape *shape)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *step = &r->step[at];
    bool has_grown = false;

    for (uint32_t i = 0; shape && i < s->n_outputs; i++)
        if (!shape[i].is_sufficient && !step->room[i])
            return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; shape && i < s->n_outputs; i++)
        if (!shape[i].is_sufficient && grow(&step->output[i], &shape[i], &step->room[i]))
            has_grown = true;
    return has_grown ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

/* ---- shapes of results */

/* Of outputs of the main model: for the client, whatever the result. */
static void note_main_shapes(struct plan_run *r, const struct plan_step *s,
                             const struct hal_output_shape *shape)
{
    for (uint32_t i = 0; i < s->n_outputs; i++) {
        const struct source_operand *o = &s->output[i].operand;
        const uint32_t main_output = r->main_output[plan_operand(r->plan, o->source, o->operand)];
        if (main_output)
            r->shape[main_output - 1] = shape[i];
    }
}

static bool is_read_later(const struct plan_run *r, const struct step_argument *a)
{
    const struct partition *p = &r->plan->partition;

    if (a->from == ARGUMENT_TEMPORARY)
        return true;
    for (uint32_t i = 0; i < p->n_downstream; i++)
        if (p->downstream[i].source == a->operand.source &&
            p->downstream[i].operand == a->operand.operand)
            return true;
    return false;
}

/* After a success: the values' shapes and lengths, for the steps that read them. */
static int note_results(struct plan_run *r, uint32_t at, const struct hal_output_shape *shape)
{
    const struct plan_step *s = &r->plan->partition.step[at];

    for (uint32_t i = 0; i < s->n_outputs; i++) {
        struct argument *l = location_of(r, &s->output[i]);
        if (l->kind == ARGUMENT_OMITTED || !argument_is_tensor(l))
            continue;
        if (shape) {
            l->shape.rank = shape[i].n_dims;
            memcpy(l->shape.dim, shape[i].dims, shape[i].n_dims * sizeof(*shape[i].dims));
        }
        if (!argument_is_known(l)) { /* not told, or a dimension is 0 */
            if (is_read_later(r, &s->output[i]))
                return FAIL(OP_FAILED, "output %u of step %u, which other steps read, %s", i, at,
                            shape ? "has no elements" : "has no shape");
            continue;
        }
        const size_t size = value_size(l), all = l->length + l->padding;
        if (size && size <= all) {
            l->length = size;
            l->padding = all - size;
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- running */

static void put_arguments(struct plan_run *r, const struct plan_step *s, struct step_run *to)
{
    const struct graph *g = &s->model.graph[0];

    for (uint32_t i = 0; i < s->n_inputs; i++) {
        to->input[i] = *location_of(r, &s->input[i]);
        to->input[i].operand = &g->operand[g->input[i]];
    }
    for (uint32_t i = 0; i < s->n_outputs; i++) {
        to->output[i] = *location_of(r, &s->output[i]);
        to->output[i].operand = &g->operand[g->output[i]];
    }
}

static struct device_call call_of(struct plan_run *r, uint32_t at, const ANeuralNetworksDevice *d,
                                  struct hal_prepared_model *p)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *step = &r->step[at];

    return (struct device_call){ .device = d,
                                 .prepared = p,
                                 .request = &step->request,
                                 .n_inputs = s->n_inputs,
                                 .n_outputs = s->n_outputs,
                                 .input = step->input,
                                 .output = step->output,
                                 .loop_timeout = r->execution->loop_timeout };
}

int plan_step_launch(struct plan_run *r, uint32_t at, struct device_launch *l)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    const struct device_call call = call_of(r, at, s->device, r->plan->step[at].prepared);

    put_arguments(r, s, &r->step[at]);
    driver_request_done(&r->step[at].request);
    return launch_on_driver(&call, 0, l);
}

/* Computes the step on one device until its results have enough room. */
static void compute_step(struct plan_run *r, uint32_t at, const ANeuralNetworksDevice *d,
                         struct hal_prepared_model *p, struct burst_controller *burst,
                         struct computed *ret)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *step = &r->step[at];
    const struct device_call call = call_of(r, at, d, p);

    do {
        ret->shape = NULL;
        ret->result = make_room(r, at);
        if (ret->result != ANEURALNETWORKS_NO_ERROR)
            return;
        put_arguments(r, s, step);
        driver_request_done(&step->request); /* the arguments may lie elsewhere than last time */
        compute_on_driver(&call, burst, 0, ret);
        if (ret->shape)
            note_main_shapes(r, s, ret->shape);
    } while (ret->result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE &&
             grow_insufficient(r, at, ret->shape) == ANEURALNETWORKS_NO_ERROR);
}

static bool is_answer(int result)
{
    return result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

int plan_step_run(struct plan_run *r, uint32_t at)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    ANeuralNetworksCompilation *c = r->execution->compilation;
    struct computed end;

    VLOG(EXECUTION, "step %u: on %s", at, s->device->name);
    compute_step(r, at, s->device, r->plan->step[at].prepared, burst_of_step(r->burst, at), &end);
    if (!is_answer(end.result) && c->may_fall_back && !s->device->is_reference) {
        struct hal_prepared_model *fallback;
        TRACE(LR, PE, "cpuFallbackPartial");
        log_write(LOG_WARNING, LOG_TAG, "cpuFallbackPartial: step %u on %s fails with %s", at,
                  s->device->name, result_name(end.result));
        PASS(compilation_step_fallback(c, at, &fallback));
        compute_step(r, at, reference_device(), fallback, NULL, &end);
    }
    if (end.result != ANEURALNETWORKS_NO_ERROR)
        return end.result;
    return note_results(r, at, end.shape);
}
