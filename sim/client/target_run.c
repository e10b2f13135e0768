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

/* A driver may support foreign extensions, or correctly reject them as invalid. */
int case_run_check_support(struct case_run *c, uint32_t n, enum hal_status status,
                           uint32_t n_answers)
{
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

static int ask(struct case_run *c, const struct hal_model *h)
{
    struct hal_driver *d = c->t->driver;
    uint32_t n_answers = UINT32_MAX;

    TRACE(LR, PC, "get_supported_operations");
    target_at(c->t, TARGET_AT_SUPPORTED);
    enum hal_status status = target_note_failure(
        c->t, d->get_supported_operations(d, target_version(c->t), h, c->o->supported, &n_answers));
    return case_run_check_support(c, h->main.n_operations, status, n_answers);
}

/* `ns` from now, as a point of the driver's clock. */
static uint64_t deadline_of(const struct case_run *c, uint64_t ns)
{
    return ns ? hal_now(target_version(c->t)) + ns : HAL_NO_DEADLINE;
}

int case_run_configure_preparation(struct case_run *c, struct hal_prepare_config *ret)
{
    const struct target_variation *vary = c->options->vary;
    const struct hal_prepare_config config = {
        .preference = vary ? vary->preference : HAL_FAST_SINGLE_ANSWER,
        .priority = vary ? vary->priority : HAL_PRIORITY_MEDIUM,
        .deadline = deadline_of(c, c->options->deadline_ns),
    };

    return hal_prepare_config_at(&config, target_version(c->t), c->o->arena, &c->conversion, ret,
                                 c->w);
}

int case_run_check_prepared(struct case_run *c, enum hal_status status)
{
    VLOG(COMPILATION, "%s: prepare_model ended with %s", c->t->uri, hal_status_name(status));
    if (case_run_check_status(c, "prepare_model", status))
        return 1;
    return c->o->violation[0] != 0;
}

static int prepare(struct case_run *c, const struct hal_model *h)
{
    struct hal_prepare_config config;

    TRACE(LR, PC, "prepare_model");
    TRY(case_run_configure_preparation(c, &config));
    c->o->stage = STAGE_PREPARE;
    struct client_end end;
    c->prepared = (c->options->vary && c->options->vary->from_cache ? driver_client_prepare_cached
                                                                    : driver_client_prepare)(
        &c->t->client, target_version(c->t), h, &config, &end);
    case_run_take_end(c, &end);
    return case_run_check_prepared(c, end.status);
}

/* ---- the request */

static size_t output_length(const struct case_run *c, uint32_t i)
{
    struct tensor t = *case_run_output(c, i);

    if (!case_run_is_known(&t) && c->out_shape)
        t.shape = c->out_shape[i];
    return tensor_bytes(&t);
}

int case_run_measure_outputs(struct case_run *c)
{
    uint32_t n = c->m->graph[0].n_outputs;

    c->out_length = arena_alloc(c->o->arena, n, sizeof(size_t));
    if (!c->out_length)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++)
        c->out_length[i] = output_length(c, i);
    return 0;
}

uint32_t case_run_shift(const struct case_run *c)
{
    return c->options->vary ? c->options->vary->shift : 0;
}

static int make_memory(struct case_run *c)
{
    const struct graph *g = &c->m->graph[0];
    size_t in_bytes = 0, out_bytes = 0;
    struct arena *a = c->o->arena;

    c->in_at = arena_alloc(a, g->n_inputs, sizeof(size_t));
    c->out_at = arena_alloc(a, g->n_outputs, sizeof(size_t));
    if (!c->in_at || !c->out_at)
        return why_no_memory(c->w);
    TRY(case_run_measure_outputs(c));
    for (uint32_t i = 0; i < g->n_inputs; i++)
        in_bytes += tensor_bytes(&c->in[i]) + case_run_shift(c);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        out_bytes += c->out_length[i] + case_run_shift(c);
    TRY(guarded_init(&c->input, a, g->n_inputs, in_bytes, 0x5a, c->w));
    return guarded_init(&c->output, a, g->n_outputs, out_bytes, 0xa5, c->w);
}

/* The dimensions of a tensor without elements are given: 0 alone would mean unknown. */
struct hal_argument case_run_input_argument(const struct case_run *c, uint32_t i, uint32_t pool,
                                            uint64_t offset)
{
    const struct tensor *t = &c->in[i];
    const struct tensor *declared = &c->m->graph[0].operand[c->m->graph[0].input[i]].tensor;
    bool say = !case_run_is_known(declared);

    if (!t->data)
        return (struct hal_argument){ .has_no_value = true };
    return (struct hal_argument){
        .location = { .pool = pool, .offset = offset, .length = tensor_bytes(t) },
        .n_dims = say ? t->shape.rank : 0,
        .dims = say ? t->shape.dim : NULL,
    };
}

static size_t add_argument(const struct case_run *c, struct guarded *g, size_t length)
{
    return guarded_add(g, case_run_shift(c) + length) + case_run_shift(c);
}

static int make_inputs(struct case_run *c, struct hal_argument *args)
{
    uint32_t n = c->m->graph[0].n_inputs;

    for (uint32_t i = 0; i < n; i++) {
        c->in_at[i] = add_argument(c, &c->input, tensor_bytes(&c->in[i]));
        if (c->in[i].data)
            memcpy(guarded_at(&c->input, c->in_at[i]), c->in[i].data, tensor_bytes(&c->in[i]));
        args[i] = case_run_input_argument(c, i, 0, c->in_at[i]);
    }
    c->input_copy = arena_copy(c->o->arena, c->input.block, c->input.size + (size_t) 2 * GUARD);
    return c->input_copy ? 0 : why_no_memory(c->w);
}

struct hal_argument case_run_output_argument(const struct case_run *c, uint32_t i, uint32_t pool,
                                             uint64_t offset)
{
    uint64_t length = c->out_length[i] ? c->out_length[i] : 1;
    struct hal_argument a = { .location = { .pool = pool, .offset = offset, .length = length } };

    if (target_version(c->t) < HAL_1_2 && !case_run_is_known(case_run_output(c, i)) &&
        c->out_shape) {
        a.n_dims = c->out_shape[i].rank;
        a.dims = c->out_shape[i].dim;
    }
    return a;
}

static int make_outputs(struct case_run *c, struct hal_argument *args)
{
    uint32_t n = c->m->graph[0].n_outputs;

    c->result.shapes = arena_alloc(c->o->arena, n, sizeof(*c->result.shapes));
    c->result.capacity = n;
    if (!c->result.shapes)
        return why_no_memory(c->w);
    for (uint32_t i = 0; i < n; i++) {
        c->out_at[i] = add_argument(c, &c->output, c->out_length[i]);
        args[i] = case_run_output_argument(c, i, 1, c->out_at[i]);
    }
    return 0;
}

static uint8_t *input_at(const struct case_run *c, uint32_t i)
{
    return guarded_at(&c->input, c->in_at[i]);
}

static uint8_t *output_at(const struct case_run *c, uint32_t i)
{
    return guarded_at(&c->output, c->out_at[i]);
}

static int make_request(struct case_run *c)
{
    const uint32_t n_in = c->m->graph[0].n_inputs, n_out = c->m->graph[0].n_outputs;
    struct arena *a = c->o->arena;
    struct hal_argument *in = arena_alloc(a, n_in, sizeof(*in));
    struct hal_argument *out = arena_alloc(a, n_out, sizeof(*out));
    struct hal_request_pool *own, *pools = arena_alloc(a, 2, sizeof(*pools));
    uint32_t n_pools = 2;

    own = arena_alloc(a, (size_t) n_in + n_out + 1, sizeof(*own));
    if (!in || !out || !pools || !own)
        return why_no_memory(c->w);
    TRY(make_memory(c));
    TRY(make_inputs(c, in));
    TRY(make_outputs(c, out));
    pools[0].memory = guarded_memory(&c->input, false);
    pools[1].memory = guarded_memory(&c->output, true);
    if (c->options->vary && c->options->vary->other_pools) {
        n_pools = 0;
        case_run_separate_pools(c, n_in, in, pools, own, &n_pools);
        case_run_separate_pools(c, n_out, out, pools, own, &n_pools);
        pools = own;
    }
    c->request = (struct hal_request){ n_in, n_out, n_pools, in, out, pools };
    TRY(case_run_plan_buffers(c, a, c->w, input_at, output_at));
    return hal_request_at(&c->request, target_version(c->t), a, &c->conversion, &c->request, c->w);
}

/* ---- execution */

enum execution_way case_run_way(const struct case_run *c)
{
    bool is_old = target_version(c->t) < HAL_1_2;

    return is_old && c->options->way == EXECUTION_SYNCHRONOUS ? EXECUTION_ASYNCHRONOUS
                                                              : c->options->way;
}

static const char *method_of(const struct case_run *c)
{
    return execution_way_method(case_run_way(c))->name;
}

void case_run_take_end(struct case_run *c, const struct client_end *e)
{
    if (e->status != HAL_NONE)
        memcpy(c->t->failure_text, e->failure_text, sizeof(e->failure_text));
    if (e->violation[0])
        snprintf(c->o->violation, sizeof(c->o->violation), "%s", e->violation);
}

/* Time is measured where the version can report it. */
int case_run_configure_execution(struct case_run *c, struct hal_execution_config *ret)
{
    const struct target_run_options *o = c->options;
    enum hal_version version = target_version(c->t);
    struct hal_execution_config config = {
        .measure = o->measure && version >= HAL_1_2,
        .deadline = deadline_of(c, o->deadline_ns),
        .loop_timeout = o->loop_timeout_ns ? o->loop_timeout_ns : HAL_NO_TIME,
    };

    return hal_execution_config_at(&config, version, c->o->arena, &c->conversion, ret, c->w);
}

/* Executes the request and, if n is not 1, at once those beside it, whose status goes to
 * ret_beside. */
static enum hal_status execute_requests(struct case_run *c,
                                        const struct hal_execution_config *config, uint32_t n,
                                        enum hal_status *ret_beside)
{
    struct client_execution x[CLIENT_MOST_AT_ONCE];

    for (uint32_t i = 0; i < n; i++) {
        struct case_run *of = i ? &c->beside[i - 1] : c;
        of->result.n_shapes = UINT32_MAX; /* a driver must write it */
        of->result.timing = (struct hal_timing){ 0, 1 };
        x[i] = (struct client_execution){ .request = &of->request,
                                          .n_buffers = of->n_buffers,
                                          .buffer = of->buffer,
                                          .result = &of->result };
    }
    driver_client_execute_at_once(&c->t->client, case_run_way(c), c->prepared, target_version(c->t),
                                  config, n, x);
    for (uint32_t i = 0; i < n; i++) {
        struct case_run *of = i ? &c->beside[i - 1] : c;
        case_run_take_end(of, &x[i].end);
        of->o->n_buffers = x[i].n_allocated;
        if (i)
            ret_beside[i - 1] = x[i].end.status;
    }
    return x[0].end.status;
}

static const uint8_t *output_bytes(const struct case_run *c, uint32_t i)
{
    return c->region ? c->region[i].at : guarded_at(&c->output, c->out_at[i]);
}

int case_run_take_outputs(struct case_run *c)
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
        t->data = arena_copy(c->o->arena, output_bytes(c, i), tensor_bytes(t));
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

    for (size_t b = element * size; b < (element + 1) * size; b++) {
        if (c->region ? !lent_region_is_pattern(&c->region[i], b, c->is_second)
                      : *guarded_at(g, c->out_at[i] + b) != guarded_pattern(g, c->out_at[i] + b))
            return false;
    }
    return true;
}

/* Probably unwritten: many bytes, or the last, match the pattern. */
static bool is_suspicious(const struct case_run *c, uint32_t i)
{
    const struct tensor *t = &c->o->out[i];
    size_t size = dtype_info[t->dtype].codec->size, n = tensor_count(t), found = 0;

    if (c->region)
        found = lent_region_count_pattern(&c->region[i], size, n, c->is_second);
    for (size_t e = 0; !c->region && e < n; e++)
        found += is_pattern(c, i, e, size);
    return found && (size > 1 || found * 64 > n || is_pattern(c, i, n - 1, size));
}

static int report_unwritten(struct case_run *c, uint32_t i)
{
    const struct tensor *t = &c->o->out[i];
    size_t size = dtype_info[t->dtype].codec->size, n = tensor_count(t);

    for (size_t e = 0; e < n; e++) {
        const uint8_t *first = (const uint8_t *) t->data + e * size;
        const uint8_t *second = output_bytes(c, i) + e * size;
        if (is_pattern(c, i, e, size) && memcmp(first, second, size))
            return case_run_violation(c, "element %zu of output %u was never written", e, i);
    }
    return 0;
}

bool case_run_may_be_unwritten(const struct case_run *c)
{
    for (uint32_t i = 0; i < c->o->n_out; i++)
        if (is_suspicious(c, i))
            return true;
    return false;
}

int case_run_check_second(struct case_run *c, enum hal_status status)
{
    if (status != HAL_NONE)
        return case_run_violation(c, "a second execution of the same request fails");
    for (uint32_t i = 0; i < c->o->n_out; i++)
        if (report_unwritten(c, i))
            return 1;
    return 0;
}

static int check_written(struct case_run *c, const struct hal_execution_config *config)
{
    if (!case_run_may_be_unwritten(c))
        return 0;
    TRACE_SWITCH(LR, PE, "execute once more");
    c->output.seed = 0x3c;
    guarded_fill(&c->output);
    return case_run_check_second(c, execute_requests(c, config, 1, NULL));
}

int case_run_check_executed(struct case_run *c, enum hal_status status,
                            int (*check_memory)(struct case_run *c))
{
    const char *method = method_of(c);
    int ended = case_run_check_status(c, method, status);

    VLOG(EXECUTION, "%s: %s ended with %s, %u shapes", c->t->uri, method, hal_status_name(status),
         c->result.n_shapes);
    if (c->result.n_shapes == UINT32_MAX)
        return case_run_violation(c, "%s did not say how many output shapes there are", method);
    if (check_memory(c) || c->o->violation[0])
        return 1;
    if (case_run_check_result(c, status) || ended)
        return 1;
    return case_run_take_outputs(c);
}

/* ---- other inputs before */

/* May fail: the model need not take these inputs. */
static void execute_other(struct case_run *c, const struct hal_execution_config *config)
{
    for (uint32_t i = 0; i < c->m->graph[0].n_inputs; i++)
        if (c->in[i].data)
            target_put_other(&c->in[i], 0, guarded_at(&c->input, c->in_at[i]));
    execute_requests(c, config, 1, NULL);
    memcpy(c->input.block, c->input_copy, c->input.size + (size_t) 2 * GUARD);
    guarded_fill(&c->output);
}

/* ---- the whole course */

int case_run_check_methods(struct case_run *c, bool has_release, bool has_execute)
{
    if (!has_release)
        return case_run_violation(c, "a prepared model without methods, or without release");
    if (has_execute)
        return 0;
    if (c->options->way == EXECUTION_SYNCHRONOUS)
        return case_run_violation(c, "a prepared model without %s", method_of(c));
    snprintf(c->o->not_passed, sizeof(c->o->not_passed), "the driver has no %s executions",
             execution_ways[c->options->way].name);
    c->o->stage = STAGE_SUPPORTED;
    return 1;
}

static int execute(struct case_run *c)
{
    const struct hal_prepared_model_methods *m = c->prepared->methods;
    struct hal_execution_config config;
    enum hal_status status, beside[TARGET_MOST_BESIDE];

    if (case_run_check_methods(c, m && m->release,
                               m && execution_way_has_method(case_run_way(c), m)))
        return 1;
    TRACE(LR, PE, "execute");
    TRACE(LR, PIO, "make_request");
    TRY(case_run_begin_beside(c));
    TRY(make_request(c));
    for (uint32_t i = 0; i < c->n_beside; i++)
        TRY(make_request(&c->beside[i]));
    TRY(case_run_configure_execution(c, &config));
    c->o->stage = STAGE_EXECUTE;
    TRACE_SWITCH(LR, PE, method_of(c));
    if (c->options->vary && c->options->vary->after_other)
        execute_other(c, &config);
    status = execute_requests(c, &config, 1 + c->n_beside, beside);
    TRACE_SWITCH(LR, PR, "check and take outputs");
    int rc = case_run_check_executed(c, status, case_run_check_memory);
    if (rc == 0)
        rc = case_run_check_beside(c, beside, case_run_check_memory);
    return rc ? rc : check_written(c, &config);
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

static int run_here(struct case_run *c, const struct hal_model *h)
{
    target_begin_client(c->t);
    int rc = ask(c, h);

    if (rc == 0 && c->options->only_query_support) {
        c->o->stage = STAGE_PREPARE;
        rc = 1;
    }
    if (rc == 0)
        rc = prepare(c, h);
    return rc ? rc : execute(c);
}

/* 1: ended before it was done; the outcome says where. */
static int run_course(struct case_run *c)
{
    char breach[sizeof(c->o->violation)];
    struct hal_model h;

    c->t->failure_text[0] = 0;
    if (c->t->socket)
        remote_allow(c->t->driver, c->options->allowance_ns);
    int rc = convert(c, &h);
    if (rc == 0)
        rc = c->t->hosted ? hosted_run(c, &h) : run_here(c, &h);
    release(c);
    uint64_t repeated_run = 0;
    const char *repeated = driver_client_repeated(&c->t->client, &repeated_run);
    if (repeated)
        case_run_note_repeated(c, repeated, repeated_run);
    if (rc >= 0 && c->o->violation[0])
        rc = 1;
    if (c->t->socket && remote_take_violation(c->t->driver, breach, sizeof(breach)) && rc >= 0)
        rc = case_run_violation(c, "%s", breach);
    if (rc == 0)
        c->o->stage = STAGE_DONE;
    else
        snprintf(c->o->failure_text, sizeof(c->o->failure_text), "%s", c->t->failure_text);
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
    o->failure_text[0] = 0;
    snprintf(o->violation, sizeof(o->violation), "%.200s%s%s", death->text, *at ? ", " : "", at);
}

static int run(struct case_run *c)
{
    struct target *t = c->t;
    struct why death;

    target_at(t, TARGET_AT_NOTHING);
    int begun = t->hosted ? hosted_begin(c) : 0;
    if (begun)
        return begun < 0 ? -1 : 0;
    if (target_reconnect(t, &death) < 0)
        note_death(c->o, t->step, &death);
    else if (run_course(c) < 0)
        return -1;
    else if (target_is_dead(t, &death))
        note_death(c->o, t->step, &death);
    target_at(t, TARGET_AT_NOTHING);
    return 0;
}

int target_run(struct target *t, const struct model *m, const struct tensor *in,
               const struct shape *out_shape, const struct target_run_options *options,
               struct outcome *ret_outcome, struct why *w)
{
    static const struct target_run_options defaults;
    struct outcome o = { .stage = STAGE_SUPPORTED,
                         .arena = arena_new(0),
                         .timing = hal_unknown_timing,
                         .run = ++t->runs };
    struct case_run c = { t, m, in, out_shape, options ? options : &defaults, &o, w };

    if (!o.arena)
        return why_no_memory(w);
    caller_state_save(&t->state);
    int rc = run(&c);
    caller_state_restore(&t->state);
    if (rc < 0)
        arena_free(o.arena);
    else
        *ret_outcome = o;
    return rc;
}

void outcome_done(struct outcome *o)
{
    arena_free(o->arena);
    *o = (struct outcome){ 0 };
}
