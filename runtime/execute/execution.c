#include "runtime/execute/execution.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/clock.h"
#include "runtime/base/failure.h"
#include "runtime/compile/compilation_report.h"
#include "runtime/execute/described_arguments.h"
#include "runtime/execute/plan_run.h"

#define LOG_TAG "ExecutionBuilder"

const struct durations unknown_durations = { { HAL_NO_TIME, HAL_NO_TIME, HAL_NO_TIME,
                                               HAL_NO_TIME } };

/* ---- creation */

static void put_operands(const struct graph *g, const uint32_t *index, uint32_t n,
                         struct argument *to)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i].operand = &g->operand[index[i]];
        to[i].shape = to[i].operand->tensor.shape;
    }
}

int execution_create(ANeuralNetworksCompilation *c, ANeuralNetworksExecution **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    REQUIRE_GIVEN(c);
    PASS(compilation_check_finished(c));
    const struct graph *g = &c->model->model.graph[0];
    const size_t n = (size_t) g->n_inputs + g->n_outputs;
    ANeuralNetworksExecution *e =
        calloc(1, sizeof(*e) + n * sizeof(*e->input) + g->n_outputs * sizeof(*e->shape));

    if (!e)
        return FAIL(OUT_OF_MEMORY, "no memory for an execution");
    e->input = (struct argument *) (e + 1);
    e->shape = (struct hal_output_shape *) (e->input + n);
    e->output = e->input + g->n_inputs;
    e->n_inputs = g->n_inputs;
    e->n_outputs = g->n_outputs;
    put_operands(g, g->input, g->n_inputs, e->input);
    put_operands(g, g->output, g->n_outputs, e->output);
    e->compilation = c;
    e->references = 1;
    e->loop_timeout = HAL_NO_TIME;
    e->durations = unknown_durations;
    pthread_mutex_init(&e->lock, NULL);
    *ret = e;
    return ANEURALNETWORKS_NO_ERROR;
}

void execution_ref(ANeuralNetworksExecution *e)
{
    atomic_fetch_add(&e->references, 1);
}

void execution_unref(ANeuralNetworksExecution *e)
{
    if (atomic_fetch_sub(&e->references, 1) != 1)
        return;
    reusable_execution_free(e->reusable);
    plan_run_free(e->plan_run);
    driver_request_done(&e->request);
    driver_request_done(&e->fallback);
    attributes_done(&e->attributes);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void execution_release(ANeuralNetworksExecution *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    bool is_running = e->state == EXECUTION_RUNNING;
    pthread_mutex_unlock(&e->lock);
    if (is_running)
        log_write(
            LOG_WARNING, LOG_TAG,
            "ANeuralNetworksExecution_free: the execution is running; it is freed at its end");
    execution_unref(e);
}

/* ---- states */

int execution_check_preparing(const ANeuralNetworksExecution *e)
{
    if (e->state == EXECUTION_PREPARING)
        return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_STATE, "the execution has been started");
}

static bool has_all(uint32_t n, const struct argument *a, const char *what)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].kind == ARGUMENT_UNSET) {
            FAIL(BAD_DATA, "%s %u is not set", what, i);
            return false;
        }
    return true;
}

static int begin(ANeuralNetworksExecution *e)
{
    if (e->state == EXECUTION_RUNNING)
        return FAIL(BAD_STATE, "the execution is running");
    if (e->state == EXECUTION_COMPLETED && !e->is_reusable)
        return FAIL(BAD_STATE, "the execution is complete and not reusable");
    if (!has_all(e->n_inputs, e->input, "input") || !has_all(e->n_outputs, e->output, "output")) {
        e->state = EXECUTION_COMPLETED;
        return e->result = ANEURALNETWORKS_BAD_DATA;
    }
    e->state = EXECUTION_RUNNING;
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_begin(ANeuralNetworksExecution *e, ANeuralNetworksDiagnosticExecutionMode mode)
{
    pthread_mutex_lock(&e->lock);
    int result = begin(e);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        e->mode = mode;
        e->begun = telemetry_is_on() ? clock_steady_ns() : 0;
        e->fell_back = false;
    }
    pthread_mutex_unlock(&e->lock);
    return result;
}

struct hal_output_shape declared_shape(const struct argument *a)
{
    struct hal_output_shape s = { .n_dims = a->shape.rank, .is_sufficient = true };

    memcpy(s.dims, a->shape.dim, a->shape.rank * sizeof(*s.dims));
    return s;
}

/* What the record has of this computation; the lock is held. */
static struct ANeuralNetworksDiagnosticExecutionInfo record_of(const ANeuralNetworksExecution *e)
{
    const uint64_t *ns = e->durations.ns;
    struct ANeuralNetworksDiagnosticExecutionInfo r = {
        .facts = { .result = e->result, .fell_back = e->fell_back },
        .mode = e->mode,
        .runtime_ns = TELEMETRY_NO_TIME,
        .driver_ns = ns[ANEURALNETWORKS_DURATION_IN_DRIVER],
        .hardware_ns = ns[ANEURALNETWORKS_DURATION_ON_HARDWARE],
    };

    /* With dependencies the time until they are signalled would count. */
    if (e->begun && e->mode != ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS)
        r.runtime_ns = clock_steady_ns() - e->begun;
    return r;
}

/* With the facts of the compilation in addition. */
static void report(const ANeuralNetworksCompilation *c,
                   struct ANeuralNetworksDiagnosticExecutionInfo *record)
{
    const struct telemetry_facts own = record->facts;
    char *devices;

    record->facts = compilation_facts(c, &devices);
    record->facts.result = own.result;
    record->facts.fell_back = record->facts.fell_back || own.fell_back;
    telemetry_execution(record);
    free(devices);
}

void execution_end(ANeuralNetworksExecution *e, int result, const struct hal_output_shape *shape,
                   const struct durations *durations)
{
    struct ANeuralNetworksDiagnosticExecutionInfo record;

    pthread_mutex_lock(&e->lock);
    for (uint32_t i = 0; i < e->n_outputs; i++)
        e->shape[i] = shape && e->output[i].kind != ARGUMENT_OMITTED
                          ? shape[i]
                          : declared_shape(&e->output[i]);
    e->result = result;
    e->durations = *durations;
    described_outputs_mark(e);
    e->state = EXECUTION_COMPLETED;
    const bool is_reported = telemetry_is_on();
    if (is_reported)
        record = record_of(e);
    pthread_mutex_unlock(&e->lock);
    if (is_reported)
        report(e->compilation, &record);
}

/* ---- settings */

static int check_for_one(const ANeuralNetworksExecution *e)
{
    if (compilation_is_for_one(e->compilation))
        return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_DATA, "the compilation is not for exactly one device");
}

/* Locks the execution if its settings may change. */
static int lock_preparing(ANeuralNetworksExecution *e)
{
    pthread_mutex_lock(&e->lock);
    int result = execution_check_preparing(e);
    if (result != ANEURALNETWORKS_NO_ERROR)
        pthread_mutex_unlock(&e->lock);
    return result;
}

int execution_set_measure(ANeuralNetworksExecution *e, bool measure)
{
    REQUIRE_GIVEN(e);
    PASS(check_for_one(e));
    PASS(lock_preparing(e));
    e->is_measured = measure;
    pthread_mutex_unlock(&e->lock);
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_set_timeout(ANeuralNetworksExecution *e, uint64_t ns)
{
    REQUIRE_GIVEN(e);
    PASS(check_for_one(e));
    PASS(lock_preparing(e));
    e->timeout = ns;
    pthread_mutex_unlock(&e->lock);
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_set_loop_timeout(ANeuralNetworksExecution *e, uint64_t ns)
{
    REQUIRE_GIVEN(e);
    PASS(lock_preparing(e));
    if (ns > HAL_LOOP_TIMEOUT_MAX)
        log_write(LOG_WARNING, LOG_TAG, "a loop timeout of %" PRIu64 " ns is reduced to %" PRIu64,
                  ns, HAL_LOOP_TIMEOUT_MAX);
    e->loop_timeout = ns < HAL_LOOP_TIMEOUT_MAX ? ns : HAL_LOOP_TIMEOUT_MAX;
    pthread_mutex_unlock(&e->lock);
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_set_padded(ANeuralNetworksExecution *e, bool padded)
{
    int result = ANEURALNETWORKS_NO_ERROR;

    REQUIRE_GIVEN(e);
    PASS(lock_preparing(e));
    if (e->is_padding_fixed)
        result = FAIL(BAD_STATE, "an argument has been set before");
    else
        e->is_padded = padded;
    pthread_mutex_unlock(&e->lock);
    return result;
}

int execution_set_reusable(ANeuralNetworksExecution *e, bool reusable)
{
    REQUIRE_GIVEN(e);
    PASS(lock_preparing(e));
    e->is_reusable = reusable;
    pthread_mutex_unlock(&e->lock);
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_add_attribute(ANeuralNetworksExecution *e, const char *extension, uint16_t code,
                            const void *data, size_t length)
{
    REQUIRE_GIVEN(e);
    REQUIRE_GIVEN(extension);
    if (!data && length)
        return FAIL(UNEXPECTED_NULL, "data is NULL, its length %zu", length);
    PASS(check_for_one(e));
    PASS(lock_preparing(e));
    int result = attributes_add(&e->attributes, extension, code, data, length);
    pthread_mutex_unlock(&e->lock);
    return result;
}

/* ---- results */

static int read_duration(const ANeuralNetworksExecution *e, int32_t code, uint64_t *ret)
{
    if (e->state != EXECUTION_COMPLETED)
        return FAIL(BAD_STATE, "the execution is not complete");
    if (e->result != ANEURALNETWORKS_NO_ERROR)
        return FAIL(BAD_STATE, "the execution has failed");
    if (!e->is_measured)
        return FAIL(BAD_STATE, "the execution is not measured");
    *ret = e->durations.ns[code];
    return ANEURALNETWORKS_NO_ERROR;
}

int execution_duration(ANeuralNetworksExecution *e, int32_t code, uint64_t *ret)
{
    REQUIRE_GIVEN(e);
    REQUIRE_GIVEN(ret);
    if (code < 0 || code > ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER)
        return FAIL(BAD_DATA, "duration code %d, expected 0 to 3", code);
    *ret = HAL_NO_TIME;
    pthread_mutex_lock(&e->lock);
    int result = read_duration(e, code, ret);
    pthread_mutex_unlock(&e->lock);
    return result;
}

/* A copy of output `index`'s shape. */
static int read_shape(ANeuralNetworksExecution *e, int32_t index, struct hal_output_shape *ret)
{
    int result = ANEURALNETWORKS_NO_ERROR;

    pthread_mutex_lock(&e->lock);
    if (e->state != EXECUTION_COMPLETED)
        result = FAIL(BAD_STATE, "the execution is not complete");
    else if (e->result != ANEURALNETWORKS_NO_ERROR &&
             e->result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE)
        result = FAIL(BAD_STATE, "the execution has failed");
    else if (index < 0 || (uint32_t) index >= e->n_outputs)
        result = FAIL(BAD_DATA, "output %d of %u", index, e->n_outputs);
    else
        *ret = e->shape[index];
    pthread_mutex_unlock(&e->lock);
    return result;
}

static int result_of_shape(const struct hal_output_shape *s)
{
    return s->is_sufficient ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

int execution_output_rank(ANeuralNetworksExecution *e, int32_t index, uint32_t *ret)
{
    struct hal_output_shape s;

    REQUIRE_GIVEN(e);
    REQUIRE_GIVEN(ret);
    PASS(read_shape(e, index, &s));
    *ret = s.n_dims;
    return result_of_shape(&s);
}

int execution_output_dimensions(ANeuralNetworksExecution *e, int32_t index, uint32_t *ret)
{
    struct hal_output_shape s;

    REQUIRE_GIVEN(e);
    REQUIRE_GIVEN(ret);
    PASS(read_shape(e, index, &s));
    if (!s.n_dims)
        return FAIL(BAD_DATA, "output %d is a scalar, or its rank is not known", index);
    memcpy(ret, s.dims, s.n_dims * sizeof(*ret));
    return result_of_shape(&s);
}
