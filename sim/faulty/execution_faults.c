/* Faults of executions of every kind: requests, results, timing, deadlines, fences, bursts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/base/fence.h"
#include "sim/base/memory.h"
#include "sim/faulty/faulty.h"
#include "sim/hal/hal_result.h"

/* ---- results */

static void insufficient_as_success(struct faulty_call *x)
{
    if (x->status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        x->status = HAL_NONE;
}

static void insufficient_as_failure(struct faulty_call *x)
{
    if (x->status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        x->status = HAL_GENERAL_FAILURE;
}

static void insufficient_without_shapes(struct faulty_call *x)
{
    if (x->status == HAL_OUTPUT_INSUFFICIENT_SIZE)
        x->result->n_shapes = 0;
}

static void insufficient_as_sufficient(struct faulty_call *x)
{
    for (uint32_t i = 0; x->status == HAL_OUTPUT_INSUFFICIENT_SIZE && i < x->result->n_shapes; i++)
        x->result->shapes[i].is_sufficient = true;
}

static void wrong_shape_when_insufficient(struct faulty_call *x)
{
    if (x->status == HAL_OUTPUT_INSUFFICIENT_SIZE && x->result->n_shapes &&
        x->result->shapes[0].n_dims)
        x->result->shapes[0].dims[0]++;
}

static void no_shapes(struct faulty_call *x)
{
    if (x->result && x->status == HAL_NONE)
        x->result->n_shapes = 0;
}

static void shapes_of_first_output(struct faulty_call *x)
{
    if (x->result && x->status == HAL_NONE && x->result->n_shapes)
        x->result->n_shapes = 1;
}

static void insufficient_on_success(struct faulty_call *x)
{
    if (x->result && x->status == HAL_NONE && x->result->n_shapes)
        x->result->shapes[0].is_sufficient = false;
}

static void failure_as_success(struct faulty_call *x)
{
    if (x->status == HAL_GENERAL_FAILURE)
        x->status = HAL_NONE;
}

static void shapes_of_failure(struct faulty_call *x)
{
    if (x->result && x->status != HAL_NONE && x->status != HAL_OUTPUT_INSUFFICIENT_SIZE &&
        x->result->capacity && x->result->shapes) {
        x->result->shapes[0] = (struct hal_output_shape){ 1, { 1 }, true };
        x->result->n_shapes = 1;
    }
}

static void new_status_at_old_entry(struct faulty_call *x)
{
    if (x->status != HAL_NONE && x->version < HAL_1_3)
        x->status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void shapes_at_old_entry(struct faulty_call *x)
{
    if (x->result && x->version < HAL_1_2)
        x->result->timing = (struct hal_timing){ 1000, 2000 };
}

static bool has_no_elements(const struct faulty_call *x)
{
    for (uint32_t i = 0; x->result && x->status == HAL_NONE && i < x->result->n_shapes; i++)
        for (uint32_t d = 0; d < x->result->shapes[i].n_dims; d++)
            if (!x->result->shapes[i].dims[d])
                return true;
    return false;
}

static void zero_sized_fails(struct faulty_call *x)
{
    if (!has_no_elements(x))
        return;
    x->status = HAL_GENERAL_FAILURE;
    hal_clear_result(x->result);
}

/* As a division by a dimension of 0. */
static void zero_sized_crashes(struct faulty_call *x)
{
    if (has_no_elements(x))
        raise(SIGFPE);
}

static void asynchronous_fails(struct faulty_call *x)
{
    if (x->entry == ENTRY_ASYNCHRONOUS && x->result) {
        x->status = HAL_GENERAL_FAILURE;
        hal_clear_result(x->result);
    }
}

static void executed_twice(struct hal_execution_callback *client, enum hal_status status,
                           const struct hal_result *r)
{
    client->notify(client, status, r->n_shapes, r->shapes, r->timing);
    client->notify(client, status, r->n_shapes, r->shapes, r->timing);
}

static void executed_other_status(struct hal_execution_callback *client, enum hal_status status,
                                  const struct hal_result *r)
{
    client->notify(client, status == HAL_INVALID_ARGUMENT ? HAL_NONE : status, r->n_shapes,
                   r->shapes, r->timing);
}

/* ---- timing */

static bool is_timed(const struct faulty_call *x)
{
    return x->result && x->status == HAL_NONE && x->config.measure;
}

static void time_always(struct faulty_call *x)
{
    if (x->result && x->status == HAL_NONE && !x->config.measure)
        x->result->timing = (struct hal_timing){ 1000, 2000 };
}

static void time_of_failure(struct faulty_call *x)
{
    if (x->result && x->status != HAL_NONE)
        x->result->timing = (struct hal_timing){ 1000, 2000 };
}

/* Microseconds where nanoseconds are due. */
static void time_in_microseconds(struct faulty_call *x)
{
    if (is_timed(x)) {
        x->result->timing.on_device /= 1000;
        x->result->timing.in_driver /= 1000;
    }
}

static void time_exchanged(struct faulty_call *x)
{
    if (is_timed(x))
        x->result->timing =
            (struct hal_timing){ x->result->timing.in_driver + 1000, x->result->timing.on_device };
}

static void time_unrounded(struct faulty_call *x)
{
    if (is_timed(x) && x->version <= HAL_1_3)
        x->result->timing.in_driver++;
}

/* ---- deadlines and loops */

static void ignore_deadline(struct faulty_call *x)
{
    x->config.deadline = HAL_NO_DEADLINE;
}

static void deadline_from_now(struct faulty_call *x)
{
    if (x->config.deadline != HAL_NO_DEADLINE)
        x->config.deadline += clock_steady_ns();
}

static void deadline_missed(struct faulty_call *x)
{
    if (x->config.deadline != HAL_NO_DEADLINE)
        x->config.deadline = 1;
}

static bool is_missed(const struct faulty_call *x)
{
    return x->status == HAL_MISSED_DEADLINE_TRANSIENT ||
           x->status == HAL_MISSED_DEADLINE_PERSISTENT;
}

static void missed_as_failure(struct faulty_call *x)
{
    if (is_missed(x))
        x->status = HAL_GENERAL_FAILURE;
}

static void missed_with_timing(struct faulty_call *x)
{
    if (is_missed(x) && x->result)
        x->result->timing = (struct hal_timing){ 1000, 2000 };
}

static void loop_stops_silently(struct faulty_call *x)
{
    if (is_missed(x) && x->config.deadline == HAL_NO_DEADLINE)
        x->status = HAL_NONE;
}

/* ---- requests */

static void measure_refused(struct faulty_call *x)
{
    if (x->entry == ENTRY_BURST && x->config.measure)
        x->request.n_inputs++;
}

static void file_pools_refused(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_pools; i++)
        if (!x->request.pools[i].is_token && x->request.pools[i].memory.kind == HAL_MEMORY_FD)
            x->request.n_inputs = 0;
}

static void padding_refused(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_inputs; i++)
        if (x->request.inputs[i].location.padding)
            x->request.n_pools = 0;
}

static void second_output_unwritten(struct faulty_call *x)
{
    if (x->request.n_outputs > 1 && x->result && x->status == HAL_NONE) {
        const struct hal_location *at = &x->request.outputs[1].location;
        const struct hal_request_pool *p = &x->request.pools[at->pool];
        struct mapping m = { 0 };
        struct why w;

        if (!p->is_token && memory_map(&p->memory, true, &m, &w) == 0) {
            memset(m.address + at->offset, 0, at->length);
            memory_unmap(&m);
        }
    }
}

/* ---- fences */

/* Reports completion at once, although the execution waits for other fences. */
static enum hal_status fence_too_early(struct hal_prepared_model *self, enum hal_version version,
                                       const struct hal_request *request, uint32_t n_wait_for,
                                       const int *wait_for,
                                       const struct hal_execution_config *config, uint64_t duration,
                                       int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct faulty_model *m = faulty_model_of(self);
    struct fence f;
    enum hal_status status = m->inner->methods->execute_fenced(
        m->inner, version, request, n_wait_for, wait_for, config, duration, ret_fence, ret_info);

    if (status == HAL_NONE && *ret_fence >= 0 && fence_open(&f) == 0) {
        close(*ret_fence);
        fence_complete(&f, true);
        *ret_fence = f.wait;
    }
    return status;
}

/* Returns a fence that is never signalled. */
static enum hal_status fence_never(struct hal_prepared_model *self, enum hal_version version,
                                   const struct hal_request *request, uint32_t n_wait_for,
                                   const int *wait_for, const struct hal_execution_config *config,
                                   uint64_t duration, int *ret_fence,
                                   struct hal_fenced_info **ret_info)
{
    struct faulty_model *m = faulty_model_of(self);
    struct fence f;
    enum hal_status status = m->inner->methods->execute_fenced(
        m->inner, version, request, n_wait_for, wait_for, config, duration, ret_fence, ret_info);

    if (status == HAL_NONE && fence_open(&f) == 0) {
        if (*ret_fence >= 0)
            close(*ret_fence);
        *ret_fence = f.wait;
    }
    return status;
}

static void first_fence_only(struct faulty_call *x)
{
    if (x->entry == ENTRY_FENCED && x->n_wait_for > 1)
        x->n_wait_for = 1;
}

static void no_fences(struct faulty_call *x)
{
    if (x->entry == ENTRY_FENCED && fence_all_open(x->n_wait_for, x->wait_for))
        x->n_wait_for = 0;
}

/* A descriptor that is not open counts as a fence that has signalled. */
static void skip_closed_fences(struct faulty_call *x)
{
    if (x->entry == ENTRY_FENCED && !fence_all_open(x->n_wait_for, x->wait_for))
        x->n_wait_for = 0;
}

static enum hal_status inner_info(struct hal_fenced_info *self, struct hal_timing *launched,
                                  struct hal_timing *fenced)
{
    struct hal_fenced_info *f = ((struct faulty_info *) self)->inner;

    return f->methods->get_execution_info(f, launched, fenced);
}

static enum hal_status info_failed(struct hal_fenced_info *self, struct hal_timing *launched,
                                   struct hal_timing *fenced)
{
    inner_info(self, launched, fenced);
    return HAL_GENERAL_FAILURE;
}

static enum hal_status info_always_good(struct hal_fenced_info *self, struct hal_timing *launched,
                                        struct hal_timing *fenced)
{
    inner_info(self, launched, fenced);
    return HAL_NONE;
}

static enum hal_status info_launched_short(struct hal_fenced_info *self,
                                           struct hal_timing *launched, struct hal_timing *fenced)
{
    enum hal_status status = inner_info(self, launched, fenced);

    if (launched->on_device != HAL_NO_TIME)
        *launched = (struct hal_timing){ fenced->on_device / 2, fenced->in_driver / 2 };
    return status;
}

static enum hal_status info_timing_reversed(struct hal_fenced_info *self,
                                            struct hal_timing *launched, struct hal_timing *fenced)
{
    enum hal_status status = inner_info(self, launched, fenced);

    if (launched->on_device != HAL_NO_TIME)
        *launched = (struct hal_timing){ launched->in_driver + 1000, launched->on_device };
    return status;
}

static enum hal_status info_always_timed(struct hal_fenced_info *self, struct hal_timing *launched,
                                         struct hal_timing *fenced)
{
    enum hal_status status = inner_info(self, launched, fenced);

    *launched = *fenced = (struct hal_timing){ 1000, 2000 };
    return status;
}

/* ---- bursts */

static struct faulty_burst *burst_of(struct hal_burst *b)
{
    return (struct faulty_burst *) b;
}

static enum hal_status identifiers_unchecked(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct hal_burst *b = burst_of(self)->inner;
    int64_t *all = calloc(request->n_pools + 1, sizeof *all);

    if (!all)
        abort();
    for (uint32_t i = 0; i < request->n_pools; i++)
        all[i] = i < n_identifiers && identifiers[i] >= -1 ? identifiers[i] : -1;
    enum hal_status status =
        b->methods->execute_synchronously(b, request, request->n_pools, all, config, result);
    free(all);
    return status;
}

enum { NAMED = 14 }; /* entries of `kept` for identifiers; the others: for -1, by pool */

/* Executes with the memories that were first seen under the identifiers, or under -1. */
static enum hal_status run_kept(struct hal_burst *self, const struct hal_request *request,
                                uint32_t n, const int64_t *identifiers,
                                const struct hal_execution_config *config,
                                struct hal_result *result, bool keep_minus_one)
{
    struct faulty_burst *b = burst_of(self);
    struct hal_request_pool *pools = calloc(request->n_pools + 1, sizeof *pools);
    struct hal_request kept = *request;

    if (!pools)
        abort();
    kept.pools = pools;
    for (uint32_t i = 0; i < request->n_pools; i++) {
        int64_t id = i < n ? identifiers[i] : -2;
        int slot = keep_minus_one ? (id == -1 && i < 2 ? NAMED + (int) i : -1)
                                  : (id >= 0 && id < NAMED ? (int) id : -1);
        pools[i] = request->pools[i];
        if (slot < 0 || pools[i].is_token)
            continue;
        struct hal_memory *m = &b->kept[slot];
        if (!m->size) {
            *m = pools[i].memory;
            m->fd = m->fd >= 0 ? dup(m->fd) : -1;
        }
        if (m->size == pools[i].memory.size)
            pools[i].memory = *m;
    }
    enum hal_status status =
        b->inner->methods->execute_synchronously(b->inner, &kept, n, identifiers, config, result);
    free(pools);
    return status;
}

static enum hal_status keeps_released(struct hal_burst *self, const struct hal_request *request,
                                      uint32_t n, const int64_t *identifiers,
                                      const struct hal_execution_config *config,
                                      struct hal_result *result)
{
    return run_kept(self, request, n, identifiers, config, result, false);
}

static enum hal_status keeps_unnamed(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    return run_kept(self, request, n, identifiers, config, result, true);
}

static enum hal_status release_unknown_fails(struct hal_burst *self, int64_t identifier)
{
    struct hal_burst *b = burst_of(self)->inner;
    enum hal_status status = b->methods->release_memory(b, identifier);

    return status == HAL_NONE && identifier > 2 ? HAL_INVALID_ARGUMENT : status;
}

static enum hal_status release_negative(struct hal_burst *self, int64_t identifier)
{
    (void) self, (void) identifier;
    return HAL_NONE;
}

static void burst_fails_second_time(struct faulty_call *x)
{
    if (x->entry == ENTRY_BURST && x->status == HAL_NONE &&
        atomic_load(&x->model->executions) % 4 == 3) {
        x->status = HAL_GENERAL_FAILURE;
        hal_clear_result(x->result);
    }
}

/* ---- reusable executions */

/* Copies the memory of the inputs; the execution computes on the copies ever after. */
static bool snapshot_inputs(struct faulty_reusable *r, struct hal_request *request)
{
    uint32_t n = request->n_pools;
    struct hal_request_pool *pools = arena_alloc(r->arena, 2 * (size_t) n + 1, sizeof *pools);
    struct hal_argument *inputs =
        arena_copy(r->arena, request->inputs, request->n_inputs * sizeof *inputs);
    struct why w;

    for (uint32_t i = 0; pools && inputs && i < n; i++) {
        struct mapping m = { 0 };
        pools[i] = pools[n + i] = request->pools[i];
        if (pools[i].is_token || memory_map(&pools[i].memory, false, &m, &w) < 0)
            continue;
        pools[n + i].memory = (struct hal_memory){
            .kind = HAL_MEMORY_ADDRESS,
            .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
            .address = arena_copy(r->arena, m.address, (size_t) m.size),
            .fd = -1,
            .size = m.size,
        };
        memory_unmap(&m);
    }
    for (uint32_t i = 0; pools && inputs && i < request->n_inputs; i++)
        if (!inputs[i].has_no_value && inputs[i].location.pool < n)
            inputs[i].location.pool += n;
    request->pools = pools;
    request->inputs = inputs;
    request->n_pools = 2 * n;
    return pools && inputs;
}

static enum hal_status reuses_first_inputs(struct hal_prepared_model *self,
                                           const struct hal_request *request,
                                           const struct hal_execution_config *config,
                                           struct hal_execution **ret_execution)
{
    struct faulty_model *m = faulty_model_of(self);
    struct faulty_reusable *r = m->inner ? calloc(1, sizeof *r) : NULL;
    struct hal_request changed = *request;
    enum hal_status status = HAL_GENERAL_FAILURE;

    if (r)
        *r = (struct faulty_reusable){ { &m->driver->reusable_methods }, m, NULL, arena_new(0) };
    if (r && r->arena && snapshot_inputs(r, &changed))
        status =
            m->inner->methods->create_reusable_execution(m->inner, &changed, config, &r->inner);
    if (status == HAL_NONE) {
        *ret_execution = &r->base;
        return HAL_NONE;
    }
    arena_free(r ? r->arena : NULL);
    free(r);
    return status;
}

static enum hal_status runs_once(struct hal_execution *self, uint64_t deadline,
                                 struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    if (atomic_fetch_add(&r->model->executions, 1) % 2 == 0)
        return r->inner->methods->execute_synchronously(r->inner, deadline, result);
    hal_clear_result(result);
    return HAL_GENERAL_FAILURE;
}

static enum hal_status reusable_ignores_deadline(struct hal_execution *self, uint64_t deadline,
                                                 struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    (void) deadline;
    return r->inner->methods->execute_synchronously(r->inner, HAL_NO_DEADLINE, result);
}

/* ---- the rows */

#define EXECUTES(name, kind, suite, doc, ...)                                                      \
    {                                                                                              \
        name, kind, suite, doc, .contract = CONTRACT(__VA_ARGS__)                                  \
    }
#define ACCEPTS(name, suite, doc, bits)                                                            \
    {                                                                                              \
        name, "request", suite, doc, .contract = CONTRACT(.unchecked = bits)                       \
    }

static const struct fault rows[] = {
    ACCEPTS("arguments-unchecked", "request", "accepts requests with a missing input or output",
            UNCHECKED(ARGUMENTS)),
    ACCEPTS("pool-index-unchecked", "version", "accepts pool indexes that are out of range",
            UNCHECKED(POOL)),
    ACCEPTS("region-unchecked", "version",
            "does not check offset + length, which may exceed the pool and 64 bits",
            UNCHECKED(REGION)),
    ACCEPTS("request-unchecked", "version", "accepts all other invalid requests",
            UNCHECKED(REQUEST) | UNCHECKED(DIMENSIONS) | UNCHECKED(POOL) | UNCHECKED(REGION)),
    EXECUTES("closed-fence-accepted", "fence", "request",
             "execute_fenced takes a descriptor that is not open for a signalled fence",
             .before = skip_closed_fences),
    EXECUTES("failure-as-success", "status", "request",
             "executions that fail at run time report success", .after = failure_as_success),
    EXECUTES("measure-refused", "request", "request", "bursts refuse requests to be measured",
             .before = measure_refused),
    EXECUTES("files-refused", "request", "generated", "refuses pools that are files",
             .before = file_pools_refused),
    EXECUTES("padding-refused", "version", "version", "refuses inputs with padding",
             .before = padding_refused),

    EXECUTES("insufficient-as-success", "status", "generated",
             "HAL_NONE where an output is too small", .after = insufficient_as_success),
    EXECUTES("insufficient-as-failure", "status", "generated",
             "GENERAL_FAILURE where an output is too small", .after = insufficient_as_failure),
    EXECUTES("insufficient-without-shapes", "shape", "generated",
             "no shapes where an output is too small", .after = insufficient_without_shapes),
    EXECUTES("insufficient-all-sufficient", "shape", "generated",
             "reports all outputs as sufficient where one is too small",
             .after = insufficient_as_sufficient),
    EXECUTES("insufficient-wrong-shape", "shape", "generated",
             "a wrong shape where an output is too small", .after = wrong_shape_when_insufficient),
    EXECUTES("shapes-missing", "shape", "generated", "no shapes, though outputs are unspecified",
             .after = no_shapes),
    EXECUTES("shapes-of-first-output", "shape", "generated",
             "only the shape of the first output is reported", .after = shapes_of_first_output),
    EXECUTES("success-insufficient", "shape", "generated",
             "reports an output as insufficient on success", .after = insufficient_on_success),
    EXECUTES("failure-with-shapes", "shape", "generated", "reports shapes of executions that fail",
             .after = shapes_of_failure),
    EXECUTES("zero-sized-fails", "shape", "generated", "fails where an output has no elements",
             .after = zero_sized_fails),
    EXECUTES("zero-sized-crash", "crash", "generated", "crashes where an output has no elements",
             .after = zero_sized_crashes),
    EXECUTES("asynchronous-fails", "status", "generated",
             "asynchronous executions launch, then fail (HAL 1.0 to 1.3)",
             .after = asynchronous_fails),
    EXECUTES("second-output-unwritten", "memory", "generated", "the second output is not written",
             .after = second_output_unwritten),
    EXECUTES("executed-twice", "callback", "concurrency",
             "calls the callback of an execution twice (HAL 1.0 to 1.3)",
             .executed = executed_twice),
    EXECUTES("executed-other-status", "callback", "request",
             "the callback of a failed launch gets HAL_NONE (HAL 1.0 to 1.3)",
             .executed = executed_other_status),
    EXECUTES("status-too-new", "version", "version",
             "statuses of HAL 1.3 through the entry points of HAL 1.2 and older",
             .after = new_status_at_old_entry),
    EXECUTES("timing-too-new", "version", "version",
             "durations through the entry points of HAL 1.0 and 1.1", .after = shapes_at_old_entry),

    EXECUTES("timing-unrequested", "timing", "generated", "durations without measurement",
             .after = time_always),
    EXECUTES("timing-of-failure", "timing", "generated", "durations of executions that fail",
             .after = time_of_failure),
    EXECUTES("timing-microseconds", "timing", "version", "durations in us instead of ns",
             .after = time_in_microseconds),
    EXECUTES("timing-exchanged", "timing", "generated",
             "the durations on the device and in the driver are exchanged",
             .after = time_exchanged),
    EXECUTES("timing-unrounded", "timing", "version",
             "durations up to HAL 1.3 are not whole microseconds", .after = time_unrounded),

    EXECUTES("deadline-ignored", "deadline", "version", "executions do not observe deadlines",
             .before = ignore_deadline),
    EXECUTES("deadline-duration", "deadline", "burst", "deadlines are taken as a time from now",
             .before = deadline_from_now),
    EXECUTES("deadline-missed", "deadline", "deadline", "every deadline is missed",
             .before = deadline_missed),
    EXECUTES("deadline-failure", "deadline", "deadline",
             "GENERAL_FAILURE for a deadline that is missed", .after = missed_as_failure),
    EXECUTES("deadline-timing", "deadline", "deadline", "durations with a missed deadline",
             .after = missed_with_timing),
    EXECUTES("reusable-deadline-ignored", "deadline", "deadline",
             "reusable executions do not observe deadlines",
             .reusable = { .execute_synchronously = reusable_ignores_deadline }),
    EXECUTES("loop-success", "deadline", "loop-timeout",
             "a loop that exceeds its time-out succeeds", .after = loop_stops_silently),
    EXECUTES("loop-failure", "deadline", "loop-timeout",
             "GENERAL_FAILURE for a loop that exceeds its time-out", .after = missed_as_failure),

    EXECUTES("fence-early", "fence", "fenced", "fences signal before the work is done",
             .model = { .execute_fenced = fence_too_early }),
    EXECUTES("fence-never", "fence", "fenced", "fences never signal",
             .model = { .execute_fenced = fence_never }),
    EXECUTES("fence-second-ignored", "fence", "fenced", "waits for the first fence only",
             .before = first_fence_only),
    EXECUTES("fence-ignored", "fence", "fenced", "does not wait for fences", .before = no_fences),
    EXECUTES("info-failed", "fence", "fenced", "get_execution_info reports a failure",
             .info = { .get_execution_info = info_failed }),
    EXECUTES("info-success", "fence", "fenced",
             "get_execution_info reports success of executions that fail",
             .info = { .get_execution_info = info_always_good }),
    EXECUTES("info-launched-short", "fence", "fenced",
             "get_execution_info reports less time since the launch than since the fences",
             .info = { .get_execution_info = info_launched_short }),
    EXECUTES("info-reversed", "fence", "fenced",
             "get_execution_info exchanges durations on the device and in the driver",
             .info = { .get_execution_info = info_timing_reversed }),
    EXECUTES("info-timing-unrequested", "fence", "fenced",
             "get_execution_info reports durations without measurement",
             .info = { .get_execution_info = info_always_timed }),

    EXECUTES("identifiers-unchecked", "burst", "burst",
             "accepts a wrong number of identifiers, and negative ones",
             .burst = { .execute_synchronously = identifiers_unchecked }),
    EXECUTES("burst-keeps-released", "burst", "burst",
             "uses the first memory of an identifier after its release",
             .burst = { .execute_synchronously = keeps_released }),
    EXECUTES("burst-keeps-unnamed", "burst", "burst", "keeps memory of identifier -1",
             .burst = { .execute_synchronously = keeps_unnamed }),
    EXECUTES("burst-release-unknown", "burst", "burst",
             "release_memory fails for unknown identifiers",
             .burst = { .release_memory = release_unknown_fails }),
    EXECUTES("burst-release-negative", "burst", "burst",
             "release_memory accepts negative identifiers",
             .burst = { .release_memory = release_negative }),
    EXECUTES("burst-fails-later", "burst", "burst", "every fourth execution of a burst fails",
             .after = burst_fails_second_time),
    EXECUTES("reusable-first-inputs", "reusable", "generated",
             "reusable executions compute on the first contents of their inputs",
             .model = { .create_reusable_execution = reuses_first_inputs }),
    EXECUTES("reusable-once", "reusable", "generated", "reusable executions succeed only once",
             .reusable = { .execute_synchronously = runs_once }),

};
const struct fault_group execution_faults = { rows, COUNT(rows) };
