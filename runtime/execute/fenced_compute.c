/* startComputeWithDependencies. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "runtime/base/failure.h"
#include "runtime/execute/compute.h"
#include "runtime/execute/described_arguments.h"
#include "runtime/execute/plan_run.h"
#include "sim/base/fence.h"

#define LOG_TAG "ExecutionBuilder"

/* Descriptors of the events that have one; the others are waited for here, and fail the call where
 * their execution has failed.  fds has room for n. */
static int gather(const ANeuralNetworksEvent *const *dependency, uint32_t n, int *fds,
                  uint32_t *ret_n)
{
    uint32_t n_fds = 0;

    for (uint32_t i = 0; i < n; i++) {
        ANeuralNetworksEvent *ev = (ANeuralNetworksEvent *) (uintptr_t) dependency[i];
        if (ev->fence >= 0)
            fds[n_fds++] = ev->fence;
        else
            PASS(event_wait(ev));
    }
    *ret_n = n_fds;
    return ANEURALNETWORKS_NO_ERROR;
}

static int check(const ANeuralNetworksExecution *e, uint64_t duration)
{
    if (duration && !compilation_is_for_one(e->compilation))
        return FAIL(BAD_DATA, "a duration, but the compilation is not for exactly one device");
    for (uint32_t i = 0; i < e->n_outputs; i++)
        if (e->output[i].kind != ARGUMENT_OMITTED && !argument_is_known(&e->output[i]))
            return FAIL(BAD_DATA, "the shape of output %u is not known", i);
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- drivers that wait for fences themselves */

static int start_on_driver(ANeuralNetworksExecution *e, struct device_launch *l,
                           ANeuralNetworksEvent *ev)
{
    const struct device_call call = device_call_of(e);
    const bool is_plan = e->compilation->plan;
    bool must_end = false;
    int result =
        is_plan ? plan_run_launch(e, l, &must_end) : launch_on_driver(&call, e->timeout, l);

    if (result == ANEURALNETWORKS_NO_ERROR && !l->info) {
        execution_end(e, result, NULL, &unknown_durations); /* a plan that has ended */
        event_complete(ev, result);
        return result;
    }
    if (result == ANEURALNETWORKS_NO_ERROR) {
        execution_ref(e);
        ev->execution = e;
        ev->fence = l->fence;
        ev->info = l->info;
        return result;
    }
    if (!e->compilation->may_fall_back || must_end)
        execution_end(e, result, NULL, &unknown_durations);
    else if (fence_wait(l->n_fds, l->fds, HAL_NO_TIME) == 1)
        result = execution_run_fallback(e, result);
    else
        execution_end(e, result, NULL, &unknown_durations);
    event_complete(ev, result);
    return result;
}

/* ---- the others: when the fences have signalled, an execution like
 * any other */

static int run_after(ANeuralNetworksExecution *e, const int *fds, uint32_t n, uint64_t duration,
                     ANeuralNetworksEvent *ev)
{
    const uint64_t begun = clock_steady_ns();
    uint64_t left = e->timeout;
    int result;

    if (fence_wait(n, fds, HAL_NO_TIME) != 1) {
        result = FAIL(OP_FAILED, "a fence that the execution depends on reports an error");
        execution_end(e, result, NULL, &unknown_durations);
        return result;
    }
    if (left) { /* the time-out counts from the start: 1 ns is over at once */
        const uint64_t passed = clock_steady_ns() - begun;
        left = passed < left ? left - passed : 1;
    }
    if (duration && (!left || duration < left))
        left = duration;
    result = execution_run_begun(e, NULL, left);
    event_complete(ev, result);
    return result;
}

/* ---- the API */

static bool takes_fences(const ANeuralNetworksCompilation *c)
{
    return c->plan ? !c->plan->partition.n_dynamic : device_takes_fences(c->on, c->prepared);
}

static int start(ANeuralNetworksExecution *e, const int *fds, uint32_t n, uint64_t duration,
                 ANeuralNetworksEvent *ev)
{
    struct device_launch l = { n, fds, duration ? duration : HAL_NO_TIME, HAL_NO_FENCE, NULL };
    int result;

    PASS(execution_begin(e, ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS));
    result = check(e, duration);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = described_inputs_check(e);
    if (result != ANEURALNETWORKS_NO_ERROR) {
        execution_end(e, result, NULL, &unknown_durations);
        return result;
    }
    if (!takes_fences(e->compilation))
        return run_after(e, fds, n, duration, ev);
    return start_on_driver(e, &l, ev);
}

int execution_start_fenced(ANeuralNetworksExecution *e,
                           const ANeuralNetworksEvent *const *dependency, uint32_t n,
                           uint64_t duration, ANeuralNetworksEvent **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    if (n)
        REQUIRE_GIVEN(dependency);
    REQUIRE_GIVEN(e);
    for (uint32_t i = 0; i < n; i++)
        if (!dependency[i])
            return FAIL(UNEXPECTED_NULL, "dependency %u is NULL", i);
    int *fds = calloc((size_t) n + 1, sizeof(*fds));
    ANeuralNetworksEvent *ev = event_new();
    uint32_t n_fds = 0;
    int result = fds && ev ? gather(dependency, n, fds, &n_fds)
                           : FAIL(OUT_OF_MEMORY, "no memory for %u dependencies", n);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = start(e, fds, n_fds, duration, ev);
    if (result == ANEURALNETWORKS_NO_ERROR)
        *ret = ev;
    else if (ev)
        event_unref(ev);
    free(fds);
    return result;
}
