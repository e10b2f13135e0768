/* Faults of executions of every kind: requests, results, timing, deadlines, fences, reusable
 * executions. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/base/fence.h"
#include "sim/base/memory.h"
#include "sim/faulty/faulty.h"
#include "sim/hal/hal_convert.h"
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

/* A time-out of 0 counts as none. */
static void zero_timeout_is_default(struct faulty_call *x)
{
    if (!x->config.loop_timeout)
        x->config.loop_timeout = HAL_NO_TIME;
}

/* ---- requests */

static void measure_refused(struct faulty_call *x)
{
    if (x->entry == ENTRY_BURST && x->config.measure)
        x->request.n_inputs++;
}

static void omitted_refused(struct faulty_call *x)
{
    for (uint32_t i = 0; i < x->request.n_inputs; i++)
        if (x->request.inputs[i].has_no_value)
            x->request.n_pools = 0;
}

static void long_loops_refused(struct faulty_call *x)
{
    if (x->config.loop_timeout != HAL_NO_TIME && x->config.loop_timeout > HAL_LOOP_TIMEOUT_MAX)
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

struct expiring {
    struct fence own;
    int copy;  /* of own.wait, which the client may close */
    int inner; /* the driver's fence */
};

/* Passes on the signal, and takes it back after EXPIRES_US: the fence fails from then on. */
static void *expire_fence(void *user)
{
    enum { EXPIRES_US = 5000 };
    struct expiring e = *(struct expiring *) user;
    char byte = 1;

    free(user);
    if (fence_wait(1, &e.inner, HAL_NO_TIME) == 1 && write(e.own.signal, &byte, 1) == 1) {
        usleep(EXPIRES_US);
        (void) !read(e.copy, &byte, 1);
    }
    fence_complete(&e.own, false);
    close(e.copy);
    close(e.inner);
    return NULL;
}

static enum hal_status fence_expires(struct hal_prepared_model *self, enum hal_version version,
                                     const struct hal_request *request, uint32_t n_wait_for,
                                     const int *wait_for, const struct hal_execution_config *config,
                                     uint64_t duration, int *ret_fence,
                                     struct hal_fenced_info **ret_info)
{
    struct faulty_model *m = faulty_model_of(self);
    enum hal_status status = m->inner->methods->execute_fenced(
        m->inner, version, request, n_wait_for, wait_for, config, duration, ret_fence, ret_info);
    struct expiring *e = status == HAL_NONE && *ret_fence >= 0 ? calloc(1, sizeof *e) : NULL;
    pthread_t thread;

    if (!e)
        return status;
    e->inner = *ret_fence;
    if (fence_open(&e->own) < 0)
        abort();
    *ret_fence = e->own.wait;
    e->copy = dup(e->own.wait);
    if (pthread_create(&thread, NULL, expire_fence, e) != 0)
        abort();
    pthread_detach(thread);
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
static void duration_from_launch(struct faulty_call *x)
{
    if (x->entry == ENTRY_FENCED && x->duration != HAL_NO_TIME && x->duration < INT64_MAX)
        x->config.deadline = hal_now(x->version) + x->duration;
}

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

static enum hal_status info_is_read(struct hal_fenced_info *self, struct hal_timing *launched,
                                    struct hal_timing *fenced)
{
    ((struct faulty_info *) self)->is_read = true;
    return inner_info(self, launched, fenced);
}

/* Releases the info, and crashes if get_execution_info() was not called for it before. */
static void crash_on_unread_info(struct hal_fenced_info *self)
{
    struct faulty_info *f = (struct faulty_info *) self;

    if (!f->is_read)
        raise(SIGSEGV);
    f->inner->methods->release(f->inner);
    free(f);
}

static enum hal_status info_always_timed(struct hal_fenced_info *self, struct hal_timing *launched,
                                         struct hal_timing *fenced)
{
    enum hal_status status = inner_info(self, launched, fenced);

    *launched = *fenced = (struct hal_timing){ 1000, 2000 };
    return status;
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

static enum hal_status overlap_succeeds(struct hal_execution *self, uint64_t deadline,
                                        struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;
    enum hal_status status = r->inner->methods->execute_synchronously(r->inner, deadline, result);

    return status == HAL_GENERAL_FAILURE ? HAL_NONE : status;
}

static enum hal_status reusable_ignores_deadline(struct hal_execution *self, uint64_t deadline,
                                                 struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    (void) deadline;
    return r->inner->methods->execute_synchronously(r->inner, HAL_NO_DEADLINE, result);
}

/* ---- the rows */

static const struct fault rows[] = {
    ACCEPTS("arguments-unchecked", "request",
            RULES("request/R1", "request/R2", "request/additional"),
            "accepts requests with a missing or an additional argument", UNCHECKED(ARGUMENTS)),
    ACCEPTS("pool-index-unchecked", "request", RULES("request/ranges"),
            "accepts pool indexes that are out of range", UNCHECKED(POOL)),
    ACCEPTS("region-unchecked", "request", RULES("request/ranges"),
            "does not check offset + length, which may exceed the pool and 64 bits",
            UNCHECKED(REGION)),
    ACCEPTS("request-unchecked", "request", RULES("version/unknown", "version/gates"),
            "accepts all other invalid requests",
            UNCHECKED(REQUEST) | UNCHECKED(DIMENSIONS) | UNCHECKED(POOL) | UNCHECKED(REGION)),
    BREAKS("closed-fence-accepted", "fence", RULES("request/R3", "fenced/descriptors"),
           "execute_fenced takes a descriptor that is not open for a signalled fence",
           .before = skip_closed_fences),
    BREAKS("failure-as-success", "status", RULES("request/fails"),
           "executions that fail at run time report success", .after = failure_as_success),
    BREAKS("measure-refused", "request", RULES("request/R1"),
           "bursts refuse requests to be measured", .before = measure_refused),
    BREAKS("omitted-refused", "request", RULES("request/omitted"),
           "refuses requests that omit an optional input", .before = omitted_refused),
    BREAKS("loop-timeout-refused", "request", RULES("loop-timeout/finite"),
           "refuses loop time-outs above 15 s", .before = long_loops_refused),
    BREAKS("files-refused", "request", RULES("generated/pools"), "refuses pools that are files",
           .before = file_pools_refused),
    BREAKS("padding-refused", "version", RULES("version/padding", "version/widths"),
           "refuses inputs with padding", .before = padding_refused),

    BREAKS("insufficient-as-success", "status", RULES("generated/insufficient"),
           "HAL_NONE where an output is too small", .after = insufficient_as_success),
    BREAKS("insufficient-as-failure", "status", RULES("generated/insufficient"),
           "GENERAL_FAILURE where an output is too small", .after = insufficient_as_failure),
    BREAKS("insufficient-without-shapes", "shape", RULES("generated/insufficient"),
           "no shapes where an output is too small", .after = insufficient_without_shapes),
    BREAKS("insufficient-all-sufficient", "shape", RULES("generated/insufficient"),
           "reports all outputs as sufficient where one is too small",
           .after = insufficient_as_sufficient),
    BREAKS("insufficient-wrong-shape", "shape", RULES("generated/insufficient"),
           "a wrong shape where an output is too small", .after = wrong_shape_when_insufficient),
    BREAKS("shapes-missing", "shape", RULES("generated/unspecified"),
           "no shapes, though outputs are unspecified", .after = no_shapes),
    BREAKS("shapes-of-first-output", "shape", RULES("generated/specified"),
           "only the shape of the first output is reported", .after = shapes_of_first_output),
    BREAKS("success-insufficient", "shape", RULES("generated/specified"),
           "reports an output as insufficient on success", .after = insufficient_on_success),
    BREAKS("failure-with-shapes", "shape", RULES("generated/protocol"),
           "reports shapes of executions that fail", .after = shapes_of_failure),
    BREAKS("zero-sized-fails", "shape", RULES("generated/zero-sized"),
           "fails where an output has no elements", .after = zero_sized_fails),
    BREAKS("zero-sized-crash", "crash", RULES("generated/zero-sized"),
           "crashes where an output has no elements", .after = zero_sized_crashes),
    BREAKS("asynchronous-fails", "status", RULES("generated/status"),
           "asynchronous executions launch, then fail (HAL 1.0 to 1.3)",
           .after = asynchronous_fails),
    BREAKS("second-output-unwritten", "memory", RULES("generated/results"),
           "the second output is not written", .after = second_output_unwritten),
    BREAKS("executed-twice", "callback", RULES("concurrency/callbacks", "concurrency/launches"),
           "calls the callback of an execution twice (HAL 1.0 to 1.3)", .executed = executed_twice),
    BREAKS("executed-other-status", "callback", RULES("request/R1"),
           "the callback of a failed launch gets HAL_NONE (HAL 1.0 to 1.3)",
           .executed = executed_other_status),
    BREAKS("status-too-new", "version", RULES("version/gates"),
           "statuses of HAL 1.3 through the entry points of HAL 1.2 and older",
           .after = new_status_at_old_entry),
    BREAKS("timing-too-new", "version", RULES("version/results"),
           "durations through the entry points of HAL 1.0 and 1.1", .after = shapes_at_old_entry),

    BREAKS("timing-unrequested", "timing", RULES("generated/untimed"),
           "durations without measurement", .after = time_always),
    BREAKS("timing-of-failure", "timing", RULES("generated/insufficient"),
           "durations of executions that fail", .after = time_of_failure),
    BREAKS("timing-microseconds", "timing", RULES("version/units"), "durations in us instead of ns",
           .after = time_in_microseconds),
    BREAKS("timing-exchanged", "timing", RULES("generated/timed"),
           "the durations on the device and in the driver are exchanged", .after = time_exchanged),
    BREAKS("timing-unrounded", "timing", RULES("version/units"),
           "durations up to HAL 1.3 are not whole microseconds", .after = time_unrounded),

    BREAKS("deadline-ignored", "deadline", RULES("deadline/range"),
           "executions take no notice of deadlines, not even of invalid ones",
           .before = ignore_deadline),
    BREAKS("deadline-duration", "deadline", RULES("deadline/far"),
           "deadlines are taken as a time from now", .before = deadline_from_now),
    BREAKS("deadline-missed", "deadline", RULES("deadline/Q3", "deadline/far"),
           "every deadline is missed", .before = deadline_missed),
    BREAKS("deadline-failure", "deadline", RULES("deadline/Q3"),
           "GENERAL_FAILURE for a deadline that is missed", .after = missed_as_failure),
    BREAKS("deadline-timing", "deadline", RULES("deadline/past"),
           "durations with a missed deadline", .after = missed_with_timing),
    BREAKS("reusable-deadline-ignored", "deadline", RULES("deadline/range"),
           "reusable executions take no notice of deadlines, not even of invalid ones",
           .reusable = { .execute_synchronously = reusable_ignores_deadline }),
    BREAKS("loop-success", "deadline", RULES("loop-timeout/endless", "loop-timeout/nested"),
           "a loop that exceeds its time-out succeeds", .after = loop_stops_silently),
    BREAKS("loop-failure", "deadline",
           RULES("deadline/loop", "loop-timeout/default", "loop-timeout/clamped"),
           "GENERAL_FAILURE for a loop that exceeds its time-out", .after = missed_as_failure),
    BREAKS("loop-timeout-zero", "deadline", RULES("loop-timeout/prompt"),
           "a loop time-out of 0 is the default time-out", .before = zero_timeout_is_default),

    BREAKS("fence-early", "fence", RULES("fenced/chain", "fenced/complete"),
           "fences signal before the work is done", .model = { .execute_fenced = fence_too_early }),
    BREAKS("fence-never", "fence", RULES("fenced/info"), "fences never signal",
           .model = { .execute_fenced = fence_never }),
    BREAKS("fence-expires", "fence", RULES("fenced/lasting"), "fences fail 5 ms after their signal",
           .model = { .execute_fenced = fence_expires }),
    BREAKS("fence-second-ignored", "fence",
           RULES("fenced/many", "fenced/failed", "fenced/signalled"),
           "waits for the first fence only", .before = first_fence_only),
    BREAKS("fence-ignored", "fence", RULES("fenced/chain", "fenced/data"),
           "does not wait for fences", .before = no_fences),
    BREAKS("duration-from-launch", "fence", RULES("fenced/durations"),
           "maximum durations count from the launch, not from the signal of the fences",
           .before = duration_from_launch),
    BREAKS("info-release-crash", "crash", RULES("fenced/early-release"),
           "releasing an info that was not read crashes",
           .info = { .get_execution_info = info_is_read, .release = crash_on_unread_info }),
    BREAKS("info-failed", "fence", RULES("fenced/chain"), "get_execution_info reports a failure",
           .info = { .get_execution_info = info_failed }),
    BREAKS("info-success", "fence", RULES("fenced/info"),
           "get_execution_info reports success of executions that fail",
           .info = { .get_execution_info = info_always_good }),
    BREAKS("info-launched-short", "fence", RULES("fenced/launched"),
           "get_execution_info reports less time since the launch than since the fences",
           .info = { .get_execution_info = info_launched_short }),
    BREAKS("info-reversed", "fence", RULES("fenced/chain"),
           "get_execution_info exchanges durations on the device and in the driver",
           .info = { .get_execution_info = info_timing_reversed }),
    BREAKS("info-timing-unrequested", "fence", RULES("fenced/info"),
           "get_execution_info reports durations without measurement",
           .info = { .get_execution_info = info_always_timed }),

    BREAKS("reusable-first-inputs", "reusable", RULES("generated/reusable"),
           "reusable executions compute on the first contents of their inputs",
           .model = { .create_reusable_execution = reuses_first_inputs }),
    BREAKS("reusable-overlap", "reusable", RULES("generated/reusable"),
           "a run of a reusable execution that fails because another one runs reports success",
           .reusable = { .execute_synchronously = overlap_succeeds }),
    BREAKS("reusable-once", "reusable", RULES("generated/status"),
           "reusable executions succeed only once",
           .reusable = { .execute_synchronously = runs_once }),

};
const struct fault_group execution_faults = { rows, COUNT(rows) };
