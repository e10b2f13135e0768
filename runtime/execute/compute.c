#include "runtime/execute/compute.h"

#include <stdlib.h>

#include "golden/base/trace.h"
#include "runtime/base/failure.h"
#include "runtime/execute/described_arguments.h"
#include "runtime/execute/plan_run.h"
#include "runtime/execute/task_threads.h"

#define LOG_TAG "ExecutionBuilder"

/* ---- computing */

static bool is_final(int result)
{
    return result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

/* On the reference executor, with copies of arguments that are in buffers of drivers. */
static void compute_on_reference(ANeuralNetworksExecution *e, struct computed *ret)
{
    struct device_call c = device_call_of(e);
    struct argument *copy = NULL;

    /* Without the settings that only one chosen device has. */
    c.device = reference_device();
    c.request = &e->fallback;
    c.attributes = NULL;
    c.reusable = NULL;

    driver_request_done(&e->fallback); /* the copies are others each time */
    ret->result = compilation_fallback(e->compilation, &c.prepared);
    if (ret->result == ANEURALNETWORKS_NO_ERROR)
        ret->result = host_copies_make(e, &copy);
    if (ret->result != ANEURALNETWORKS_NO_ERROR)
        return;
    c.input = copy;
    c.output = copy + e->n_inputs;
    compute_on_driver(&c, NULL, 0, ret);
    if (ret->result == ANEURALNETWORKS_NO_ERROR)
        ret->result = host_copies_store(e, copy, ret->shape);
    host_copies_free(e, copy);
}

static void fall_back(ANeuralNetworksExecution *e, int failed, struct computed *ret)
{
    const ANeuralNetworksCompilation *c = e->compilation;

    TRACE(LR, PE, "cpuFallbackFull");
    log_write(LOG_WARNING, LOG_TAG, "cpuFallbackFull: %s fails with %s",
              c->plan ? "a plan of several steps" : c->on->name, result_name(failed));
    *ret = (struct computed){ .durations = unknown_durations };
    compute_on_reference(e, ret);
}

int execution_run_fallback(ANeuralNetworksExecution *e, int failed)
{
    struct computed end;

    e->fell_back = true;
    fall_back(e, failed, &end);
    execution_end(e, end.result, end.shape, &end.durations);
    return end.result;
}

int execution_run_begun(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst,
                        uint64_t timeout_ns)
{
    const ANeuralNetworksCompilation *c = e->compilation;
    struct computed end = { .durations = unknown_durations };
    bool must_end = false;

    end.result = described_inputs_check(e);
    if (end.result != ANEURALNETWORKS_NO_ERROR) {
        execution_end(e, end.result, NULL, &end.durations);
        return end.result;
    }
    if (c->plan) {
        plan_run_compute(e, burst, &end, &must_end);
    } else {
        const struct device_call call = device_call_of(e);
        VLOG(EXECUTION, "the model is computed on %s", c->on->name);
        compute_on_driver(&call, burst_of_step(burst, 0), timeout_ns, &end);
    }
    if (!is_final(end.result) && c->may_fall_back && !must_end)
        return execution_run_fallback(e, end.result);
    execution_end(e, end.result, end.shape, &end.durations);
    return end.result;
}

/* ---- the API */

int execution_compute(ANeuralNetworksExecution *e)
{
    REQUIRE_GIVEN(e);
    PASS(execution_begin(e, ANNDIAG_EXECUTION_MODE_SYNC));
    return execution_run_begun(e, NULL, e->timeout);
}

int execution_compute_in_burst(ANeuralNetworksExecution *e, ANeuralNetworksBurst *b)
{
    REQUIRE_GIVEN(e);
    REQUIRE_GIVEN(b);
    if (b->compilation != e->compilation)
        return FAIL(BAD_DATA, "the burst is one of another compilation");
    if (atomic_exchange(&b->is_busy, true))
        return FAIL(BAD_STATE, "an execution of the burst is running");
    int result = execution_begin(e, ANNDIAG_EXECUTION_MODE_BURST);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = execution_run_begun(e, b, e->timeout);
    atomic_store(&b->is_busy, false);
    return result;
}

/* The task of a thread. */
static void run_started(void *argument)
{
    ANeuralNetworksEvent *ev = argument;
    ANeuralNetworksExecution *e = ev->execution;

    called_function = "ANeuralNetworksExecution_startCompute";
    int result = execution_run_begun(e, NULL, e->timeout);
    called_function = NULL;
    ev->execution = NULL;
    execution_unref(e);
    event_complete(ev, result);
    event_unref(ev);
}

int execution_start(ANeuralNetworksExecution *e, ANeuralNetworksEvent **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    REQUIRE_GIVEN(e);
    ANeuralNetworksEvent *ev = event_new();
    if (!ev)
        return FAIL(OUT_OF_MEMORY, "no memory for an event");
    int result = execution_begin(e, ANNDIAG_EXECUTION_MODE_ASYNC);
    if (result != ANEURALNETWORKS_NO_ERROR) {
        event_unref(ev);
        return result;
    }
    execution_ref(e);
    ev->execution = e;
    atomic_fetch_add(&ev->references, 1);
    if (runtime_settings()->compute_inline || !task_start(run_started, ev))
        run_started(ev);
    *ret = ev;
    return ANEURALNETWORKS_NO_ERROR;
}
