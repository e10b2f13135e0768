/* Runs one model on one driver: get_supported_operations(), prepare, execute, and checks every
 * result against the contract.
 *
 * A request has two pools, inputs and outputs, in which guard bytes surround every argument.
 * Outputs are filled with a pattern before execution.  If a result resembles the pattern, the
 * execution is repeated with another pattern: bytes that follow the pattern were never written. */
#include <stdio.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/client/case_run.h"
#include "sim/hal/convert.h"
#include "sim/hal/hal_result.h"
#include "sim/remote/remote.h"

#define LOG_TAG "ExecutionPlan"

/* ---- asking and preparing */

/* 1: the driver does not support all of it, or has broken the contract.  A
 * driver may support foreign extensions, or correctly reject them as invalid. */
static int ask(struct case_run *c, const struct hal_model *h)
{
    struct hal_driver *d = c->t->driver;
    uint32_t n = h->main.n_operations, n_answers = UINT32_MAX;

    TRACE(LR, PC, "get_supported_operations");
    target_at(c->t, TARGET_AT_SUPPORTED);
    enum hal_status status =
        d->get_supported_operations(d, d->hal_version, h, c->o->supported, &n_answers);
    VLOG(COMPILATION, "%s: get_supported_operations ended with %s", c->t->uri,
         hal_status_name(status));
    if (status == HAL_INVALID_ARGUMENT && model_is_foreign(c->m, NULL)) {
        memset(c->o->supported, 0, n * sizeof(bool));
        return 1;
    }
    if (case_run_check_status(c, "get_supported_operations", status))
        return 1;
    if (n_answers != n)
        return case_run_violation(c, "get_supported_operations gave %u answers for %u operations",
                                  n_answers, n);
    for (uint32_t i = 0; i < n; i++)
        if (!c->o->supported[i]) {
            VLOG(COMPILATION, "Device %s can't do operation %u", c->t->uri, i);
            return 1;
        }
    VLOG(COMPILATION, "only one best device: %s", c->t->uri);
    return 0;
}

/* `ns` from now, as a point of the driver's clock. */
static uint64_t deadline_of(const struct case_run *c, uint64_t ns)
{
    return ns ? hal_now(c->t->driver->hal_version) + ns : HAL_NO_DEADLINE;
}

static int prepare(struct case_run *c, const struct hal_model *h)
{
    enum hal_version version = c->t->driver->hal_version;
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = deadline_of(c, c->options->deadline_ns) };
    enum hal_status status;

    TRACE(LR, PC, "prepare_model");
    TRY(hal_prepare_config_at(&config, version, c->o->arena, &c->conversion, &config, c->w));
    c->o->stage = STAGE_PREPARE;
    status =
        target_prepare(c->t, h, &config, &c->prepared, c->o->violation, sizeof(c->o->violation));
    VLOG(COMPILATION, "%s: prepare_model ended with %s", c->t->uri, hal_status_name(status));
    if (case_run_check_status(c, "prepare_model", status))
        return 1;
    return c->o->violation[0] || !c->prepared;
}

/* ---- the request */

static size_t output_length(const struct case_run *c, uint32_t i)
{
    struct tensor t = *case_run_output(c, i);

    if (!case_run_is_known(&t) && c->out_shape)
        t.shape = c->out_shape[i];
    return tensor_bytes(&t);
}

static int make_memory(struct case_run *c)
{
    const struct graph *g = &c->m->graph[0];
    size_t in_bytes = 0, out_bytes = 0;
    struct arena *a = c->o->arena;

    c->in_at = arena_alloc(a, g->n_inputs, sizeof(size_t));
    c->out_at = arena_alloc(a, g->n_outputs, sizeof(size_t));
    c->out_length = arena_alloc(a, g->n_outputs, sizeof(size_t));
    if (!c->in_at || !c->out_at || !c->out_length)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        in_bytes += tensor_bytes(&c->in[i]);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        out_bytes += c->out_length[i] = output_length(c, i);
    TRY(guarded_init(&c->input, a, g->n_inputs, in_bytes, 0x5a, c->w));
    return guarded_init(&c->output, a, g->n_outputs, out_bytes, 0xa5, c->w);
}

/* Where a tensor has no elements its dimensions are said, for 0 alone would mean unknown. */
static struct hal_argument input_argument(const struct case_run *c, uint32_t i)
{
    const struct tensor *t = &c->in[i];
    const struct tensor *declared = &c->m->graph[0].operand[c->m->graph[0].input[i]].tensor;
    bool say = !case_run_is_known(declared);

    if (!t->data)
        return (struct hal_argument){ .has_no_value = true };
    return (struct hal_argument){
        .location = { .pool = 0, .offset = c->in_at[i], .length = tensor_bytes(t) },
        .n_dims = say ? t->shape.rank : 0,
        .dims = say ? t->shape.dim : NULL,
    };
}

static int make_inputs(struct case_run *c)
{
    uint32_t n = c->m->graph[0].n_inputs;
    struct hal_argument *args = arena_alloc(c->o->arena, n, sizeof(*args));

    if (!args)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        c->in_at[i] = guarded_add(&c->input, tensor_bytes(&c->in[i]));
        if (c->in[i].data)
            memcpy(guarded_at(&c->input, c->in_at[i]), c->in[i].data, tensor_bytes(&c->in[i]));
        args[i] = input_argument(c, i);
    }
    c->request.n_inputs = n;
    c->request.inputs = args;
    c->input_copy = arena_copy(c->o->arena, c->input.block, c->input.size + (size_t) 2 * GUARD);
    return c->input_copy ? 0 : why_no_memory(c->w);
}

static int make_outputs(struct case_run *c)
{
    uint32_t n = c->m->graph[0].n_outputs;
    struct hal_argument *args = arena_alloc(c->o->arena, n, sizeof(*args));

    c->result.shapes = arena_alloc(c->o->arena, n, sizeof(*c->result.shapes));
    c->result.capacity = n;
    if (!args || !c->result.shapes)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        c->out_at[i] = guarded_add(&c->output, c->out_length[i]);
        args[i].location = (struct hal_location){
            .pool = 1, .offset = c->out_at[i], .length = c->out_length[i] ? c->out_length[i] : 1
        };
        if (c->t->driver->hal_version < HAL_1_2 && !case_run_is_known(case_run_output(c, i)) &&
            c->out_shape) {
            args[i].n_dims = c->out_shape[i].rank;
            args[i].dims = c->out_shape[i].dim;
        }
    }
    c->request.n_outputs = n;
    c->request.outputs = args;
    return 0;
}

static int make_request(struct case_run *c)
{
    struct hal_request_pool *pools = arena_alloc(c->o->arena, 2, sizeof(*pools));

    if (!pools)
        return why_no_memory(c->w);
    TRY(make_memory(c));
    TRY(make_inputs(c));
    TRY(make_outputs(c));
    pools[0].memory = guarded_memory(&c->input, false);
    pools[1].memory = guarded_memory(&c->output, true);
    c->request.n_pools = 2;
    c->request.pools = pools;
    return hal_request_at(&c->request, c->t->driver->hal_version, c->o->arena, &c->conversion,
                          &c->request, c->w);
}

/* ---- execution */

static const char *method_of(const struct case_run *c)
{
    return c->t->driver->hal_version < HAL_1_2 ? "execute" : "execute_synchronously";
}

/* Time is taken where the version knows of it. */
static int configure(struct case_run *c, struct hal_execution_config *ret)
{
    const struct target_run_options *o = c->options;
    enum hal_version version = c->t->driver->hal_version;
    struct hal_execution_config config = {
        .measure = o->measure && version >= HAL_1_2,
        .deadline = deadline_of(c, o->deadline_ns),
        .loop_timeout = o->loop_timeout_ns ? o->loop_timeout_ns : HAL_NO_TIME,
    };

    return hal_execution_config_at(&config, version, c->o->arena, &c->conversion, ret, c->w);
}

static enum hal_status execute_once(struct case_run *c, const struct hal_execution_config *config)
{
    c->result.n_shapes = UINT32_MAX; /* a driver must write it */
    c->result.timing = (struct hal_timing){ 0, 1 };
    return target_execute(c->t, c->prepared, &c->request, config, &c->result, c->o->violation,
                          sizeof(c->o->violation));
}

/* Results as the driver left them, copied out of the request. */
static int take_outputs(struct case_run *c)
{
    uint32_t n = c->m->graph[0].n_outputs;

    c->o->out = arena_alloc(c->o->arena, n, sizeof(*c->o->out));
    if (!c->o->out)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        const struct hal_output_shape *s = &c->result.shapes[i];
        struct tensor *t = &c->o->out[i];
        *t = *case_run_output(c, i);
        if (c->result.n_shapes) {
            t->shape.rank = s->n_dims;
            memcpy(t->shape.dim, s->dims, s->n_dims * sizeof(uint32_t));
        } else if (!case_run_is_known(t)) {
            t->shape = c->out_shape[i]; /* that the request asked for */
        }
        t->data = arena_copy(c->o->arena, guarded_at(&c->output, c->out_at[i]), tensor_bytes(t));
        if (!t->data)
            return why_no_memory(c->w);
    }
    c->o->n_out = n;
    return 0;
}

/* ---- elements that were never written */

static bool is_pattern(const struct case_run *c, uint32_t i, size_t element, size_t size)
{
    const struct guarded *g = &c->output;

    for (size_t b = 0; b < size; b++) {
        size_t offset = c->out_at[i] + element * size + b;
        if (*guarded_at(g, offset) != guarded_pattern(g, offset))
            return false;
    }
    return true;
}

/* Bytes look like the pattern now and then by chance: only many, or the last one, arouse suspicion.
 */
static bool is_suspicious(const struct case_run *c, uint32_t i)
{
    const struct tensor *t = &c->o->out[i];
    size_t size = dtype_info[t->dtype].codec->size, n = tensor_count(t), found = 0;

    for (size_t e = 0; e < n; e++)
        found += is_pattern(c, i, e, size);
    return found && (size > 1 || found * 64 > n || is_pattern(c, i, n - 1, size));
}

static int report_unwritten(struct case_run *c, uint32_t i)
{
    const struct tensor *t = &c->o->out[i];
    size_t size = dtype_info[t->dtype].codec->size, n = tensor_count(t);

    for (size_t e = 0; e < n; e++) {
        const uint8_t *first = (const uint8_t *) t->data + e * size;
        const uint8_t *second = guarded_at(&c->output, c->out_at[i] + e * size);
        if (is_pattern(c, i, e, size) && memcmp(first, second, size))
            return case_run_violation(c, "element %zu of output %u was never written", e, i);
    }
    return 0;
}

static int check_written(struct case_run *c, const struct hal_execution_config *config)
{
    bool suspicious = false;

    for (uint32_t i = 0; i < c->o->n_out; i++)
        suspicious |= is_suspicious(c, i);
    if (!suspicious)
        return 0;
    TRACE_SWITCH(LR, PE, "execute once more");
    c->output.seed = 0x3c;
    guarded_fill(&c->output);
    if (execute_once(c, config) != HAL_NONE)
        return case_run_violation(c, "a second execution of the same request fails");
    for (uint32_t i = 0; i < c->o->n_out; i++)
        if (report_unwritten(c, i))
            return 1;
    return 0;
}

/* ---- the whole course */

static int execute(struct case_run *c)
{
    const struct hal_prepared_model_methods *m = c->prepared->methods;
    struct hal_execution_config config;
    enum hal_status status;

    if (!m || !m->release)
        return case_run_violation(c, "a prepared model without methods, or without release");
    if (c->t->driver->hal_version < HAL_1_2 ? !m->execute : !m->execute_synchronously)
        return case_run_violation(c, "a prepared model without %s", method_of(c));
    TRACE(LR, PE, "execute");
    TRACE(LR, PIO, "make_request");
    TRY(make_request(c));
    TRY(configure(c, &config));
    c->o->stage = STAGE_EXECUTE;
    TRACE_SWITCH(LR, PE, method_of(c));
    status = execute_once(c, &config);
    TRACE_SWITCH(LR, PR, "check and take outputs");
    int ended = case_run_check_status(c, method_of(c), status);
    VLOG(EXECUTION, "%s: %s ended with %s, %u shapes", c->t->uri, method_of(c),
         hal_status_name(status), c->result.n_shapes);
    if (c->result.n_shapes == UINT32_MAX)
        return case_run_violation(c, "%s did not say how many output shapes there are",
                                  method_of(c));
    if (case_run_check_memory(c) || c->o->violation[0])
        return 1;
    if (case_run_check_result(c, status) || ended)
        return 1;
    TRY(take_outputs(c));
    return check_written(c, &config);
}

/* The model as the driver is shown it.  1: its version cannot say it. */
static int convert(struct case_run *c, struct hal_model *ret_model)
{
    uint32_t n = c->m->graph[0].n_operations;

    TRACE(LR, PP, "convert_to_hal");
    c->o->n_ops = n;
    c->o->supported = arena_alloc(c->o->arena, n, sizeof(bool));
    if (!c->o->supported)
        return why_no_memory(c->w);
    int rc = case_run_offer(c);
    if (rc == 0)
        rc = convert_to_hal(c->m, c->o->arena, ret_model, c->w);
    if (rc == 0 && c->t->socket) /* once, for all calls */
        rc = shared_pools_of_model(ret_model, c->o->arena, &c->constants, ret_model, c->w);
    return rc;
}

/* What had to be said otherwise to an older driver; what is lost is a warning. */
static void log_notes(const struct case_run *c)
{
    for (uint32_t i = 0; i < c->conversion.n_notes; i++)
        if (c->conversion.note[i].lost)
            log_write(LOG_WARNING, LOG_TAG, "%s is not told: %s", c->t->uri,
                      c->conversion.note[i].text);
        else
            VLOG(MANAGER, "converted for %s: %s", c->t->uri, c->conversion.note[i].text);
}

static void release(struct case_run *c)
{
    TRACE(LR, PT, "release");
    if (!target_is_dead(c->t, NULL))
        target_at(c->t, TARGET_AT_RELEASE);
    if (c->prepared && c->prepared->methods && c->prepared->methods->release)
        c->prepared->methods->release(c->prepared);
    shared_pools_unref(c->constants);
}

/* 1: ended before it was done; the outcome says where. */
static int run_course(struct case_run *c)
{
    char breach[sizeof(c->o->violation)];
    struct hal_model h;
    int rc = convert(c, &h);

    if (rc == 0)
        rc = ask(c, &h);
    if (rc == 0 && c->options->only_query_support) {
        c->o->stage = STAGE_PREPARE;
        rc = 1;
    }
    if (rc == 0)
        rc = prepare(c, &h);
    if (rc == 0)
        rc = execute(c);
    release(c);
    const char *repeated = callback_waits_repeated(c->t->callback_waits);
    if (rc >= 0 && repeated)
        rc = case_run_violation(c, "%s called back more than once", repeated);
    if (c->t->socket && remote_take_violation(c->t->driver, breach, sizeof(breach)) && rc >= 0)
        rc = case_run_violation(c, "%s", breach);
    if (rc == 0)
        c->o->stage = STAGE_DONE;
    log_notes(c);
    c->o->note = c->conversion.note;
    c->o->n_notes = c->conversion.n_notes;
    return rc;
}

/* What came before it does not count. */
static void note_death(struct outcome *o, enum target_step step, const struct why *death)
{
    const char *at = target_step_text[step];

    o->died = true;
    o->hung = death->code == WHY_TIMEOUT;
    snprintf(o->violation, sizeof(o->violation), "%.200s%s%s", death->text, *at ? ", " : "", at);
}

int target_run(struct target *t, const struct model *m, const struct tensor *in,
               const struct shape *out_shape, const struct target_run_options *options,
               struct outcome *ret_outcome, struct why *w)
{
    static const struct target_run_options defaults;
    struct outcome o = { .stage = STAGE_SUPPORTED,
                         .arena = arena_new(0),
                         .timing = hal_unknown_timing };
    struct case_run c = { t, m, in, out_shape, options ? options : &defaults, &o, w };
    struct why death;

    if (!o.arena)
        return why_no_memory(w);
    target_at(t, TARGET_AT_NOTHING);
    if (target_reconnect(t, &death) < 0) {
        note_death(&o, t->step, &death);
    } else if (run_course(&c) < 0) {
        arena_free(o.arena);
        return -1;
    } else if (target_is_dead(t, &death)) {
        note_death(&o, t->step, &death);
    }
    target_at(t, TARGET_AT_NOTHING);
    *ret_outcome = o;
    return 0;
}

void outcome_done(struct outcome *o)
{
    arena_free(o->arena);
    *o = (struct outcome){ 0 };
}
