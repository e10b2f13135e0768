/* IF and WHILE, whose parts are steps of their own. */
#include <inttypes.h>
#include <string.h>

#include "golden/base/clock.h"
#include "runtime/base/failure.h"
#include "runtime/domain/memory_desc.h"
#include "runtime/execute/described_arguments.h"
#include "runtime/execute/plan_run.h"

#define LOG_TAG "ExecutionPlan"

static struct argument *location_of(struct plan_run *r, uint32_t source, uint32_t operand)
{
    return &r->location[plan_operand(r->plan, source, operand)];
}

/* A value that the runtime itself reads or writes: in place, or a copy of a driver's buffer. */
struct host_value {
    uint8_t *at;
    ANeuralNetworksMemory *copy; /* NULL: in place */
};

static void host_value_done(struct host_value *v)
{
    memory_free(v->copy);
}

static int copy_from_driver(const struct argument *a, struct host_value *ret)
{
    PASS(described_host(a->memory->described, &a->shape, &ret->copy));
    PASS(described_read(a->memory->described, ret->copy));
    return memory_address(ret->copy, &ret->at);
}

/* *ret: zeroed by the caller, done by it also after a failure. */
static int host_value_of(const struct argument *a, struct host_value *ret)
{
    if (a->kind == ARGUMENT_BUFFER) {
        ret->at = a->buffer;
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (a->kind != ARGUMENT_MEMORY)
        return FAIL(OP_FAILED, "an operand of IF or WHILE is omitted");
    if (argument_in_driver(a))
        return copy_from_driver(a, ret) == ANEURALNETWORKS_NO_ERROR ? ANEURALNETWORKS_NO_ERROR
                                                                    : ANEURALNETWORKS_OP_FAILED;
    if (memory_address(a->memory, &ret->at) != ANEURALNETWORKS_NO_ERROR)
        return ANEURALNETWORKS_OP_FAILED;
    ret->at += a->offset;
    return ANEURALNETWORKS_NO_ERROR;
}

static int read_condition(struct plan_run *r, uint32_t source, uint32_t operand, bool *ret)
{
    struct host_value v = { NULL, NULL };
    int result = host_value_of(location_of(r, source, operand), &v);

    if (result == ANEURALNETWORKS_NO_ERROR)
        *ret = *v.at;
    host_value_done(&v);
    return result;
}

/* Operands of one source lie where those of another one do. */
static void alias(struct plan_run *r, uint32_t to_source, const uint32_t *to, uint32_t from_source,
                  const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        *location_of(r, to_source, to[i]) = *location_of(r, from_source, from[i]);
}

/* Outputs of a branch are outputs of the main model where those of its IF are. */
static void alias_outputs(struct plan_run *r, uint32_t branch, uint32_t outer,
                          const struct operation *o)
{
    const struct graph *g = plan_graph(r->plan, branch);

    alias(r, branch, g->output, outer, o->out, g->n_outputs);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        r->main_output[plan_operand(r->plan, branch, g->output[i])] =
            r->main_output[plan_operand(r->plan, outer, o->out[i])];
}

/* The inputs that an IF or WHILE hands to a part. */
static const uint32_t *outer_inputs(const struct operation *o, const struct graph *part)
{
    return o->in + (o->n_in - part->n_inputs);
}

int plan_branch(struct plan_run *r, uint32_t at, uint32_t *ret_next)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    const struct operation *o = plan_construct(r->plan, s);
    bool is_true;

    PASS(read_condition(r, s->source, o->in[0], &is_true));
    VLOG(EXECUTION, "step %u: IF: the condition is %s", at, is_true ? "true" : "false");
    const uint32_t source = is_true ? s->first_source : s->second_source;
    const struct graph *branch = plan_graph(r->plan, source);
    alias(r, source, branch->input, s->source, outer_inputs(o, branch), branch->n_inputs);
    alias_outputs(r, source, s->source, o);
    *ret_next = is_true ? s->first_part : s->second_part;
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- WHILE */

static int check_time(struct plan_run *r, const struct step_run *loop)
{
    const uint64_t asked = r->execution->loop_timeout;
    const uint64_t timeout = asked == HAL_NO_TIME ? HAL_LOOP_TIMEOUT_DEFAULT : asked;

    if (clock_steady_ns() - loop->begun < timeout)
        return ANEURALNETWORKS_NO_ERROR;
    r->is_final = true;
    return FAIL(MISSED_DEADLINE_TRANSIENT, "a WHILE runs longer than %.0f ms",
                (double) timeout / 1e6);
}

/* Writes the bytes to the place of the value. */
static int store_value(const struct argument *to, const uint8_t *bytes)
{
    const size_t size = (size_t) operand_type_size(&to->operand->tensor, to->operand->foreign);
    struct host_value v = { NULL, NULL };
    int result;

    if (!argument_in_driver(to)) {
        PASS(host_value_of(to, &v));
        memmove(v.at, bytes, size);
        return ANEURALNETWORKS_NO_ERROR;
    }
    result = described_host(to->memory->described, &to->shape, &v.copy);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = memory_address(v.copy, &v.at);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        memcpy(v.at, bytes, size);
        result = described_write(v.copy, to->memory->described, &to->shape);
    }
    host_value_done(&v);
    return result == ANEURALNETWORKS_NO_ERROR ? result : ANEURALNETWORKS_OP_FAILED;
}

/* The values of the loop are the results of the WHILE. */
static int copy_results(struct plan_run *r, const struct plan_step *s)
{
    const struct operation *o = plan_construct(r->plan, s);
    const struct graph *cond = plan_graph(r->plan, s->first_source);
    int result = ANEURALNETWORKS_NO_ERROR;

    for (uint32_t i = 0; i < o->n_out && result == ANEURALNETWORKS_NO_ERROR; i++) {
        const struct argument *to = location_of(r, s->source, o->out[i]);
        struct host_value value = { NULL, NULL };
        if (to->kind == ARGUMENT_OMITTED)
            continue;
        result = host_value_of(location_of(r, s->first_source, cond->input[i]), &value);
        if (result == ANEURALNETWORKS_NO_ERROR)
            result = store_value(to, value.at);
        host_value_done(&value);
    }
    return result;
}

/* One more iteration, whose results go to the places that the one before has not used. */
static void enter_body(struct plan_run *r, uint32_t at)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *loop = &r->step[at];
    const struct graph *cond = plan_graph(r->plan, s->first_source);
    const struct graph *body = plan_graph(r->plan, s->second_source);

    alias(r, s->second_source, body->input, s->first_source, cond->input, body->n_inputs);
    for (uint32_t i = 0; i < body->n_outputs; i++)
        location_of(r, s->second_source, body->output[i])->offset =
            r->plan->step[at].body_output[i][loop->iteration % 2];
    loop->iteration++;
    loop->position = LOOP_IN_BODY;
}

/* The condition sees the initial values, then the results of the body; inputs beyond them stay. */
static void enter_condition(struct plan_run *r, uint32_t at)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *loop = &r->step[at];
    const struct graph *cond = plan_graph(r->plan, s->first_source);
    const struct graph *body = plan_graph(r->plan, s->second_source);

    if (loop->position == LOOP_OUTSIDE) {
        loop->begun = clock_steady_ns();
        loop->iteration = 0;
        alias(r, s->first_source, cond->input, s->source,
              outer_inputs(plan_construct(r->plan, s), cond), cond->n_inputs);
    } else {
        alias(r, s->first_source, cond->input, s->second_source, body->output, body->n_outputs);
    }
    loop->position = LOOP_IN_CONDITION;
}

int plan_loop(struct plan_run *r, uint32_t at, uint32_t *ret_next)
{
    const struct plan_step *s = &r->plan->partition.step[at];
    struct step_run *loop = &r->step[at];
    bool goes_on;

    if (loop->position != LOOP_IN_CONDITION) {
        enter_condition(r, at);
        *ret_next = s->first_part;
        return ANEURALNETWORKS_NO_ERROR;
    }
    PASS(check_time(r, loop));
    PASS(read_condition(r, s->first_source, plan_graph(r->plan, s->first_source)->output[0],
                        &goes_on));
    VLOG(EXECUTION, "step %u: WHILE: iteration %" PRIu64 ": the condition is %s", at,
         loop->iteration, goes_on ? "true" : "false");
    if (goes_on) {
        enter_body(r, at);
        *ret_next = s->second_part;
        return ANEURALNETWORKS_NO_ERROR;
    }
    PASS(copy_results(r, s));
    loop->position = LOOP_OUTSIDE;
    *ret_next = s->to;
    return ANEURALNETWORKS_NO_ERROR;
}
