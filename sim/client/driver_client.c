#define _GNU_SOURCE
#include "sim/client/driver_client.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "golden/base/trace.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/client/callback_wait.h"
#include "sim/hal/hal_convert.h"
#include "sim/hal/hal_result.h"

void driver_client_init(struct driver_client *c, struct hal_driver *driver)
{
    *c = (struct driver_client){ .driver = driver, .patience = 5 };
    pthread_mutex_init(&c->lock, NULL);
}

void driver_client_done(struct driver_client *c)
{
    callback_waits_free(c->waits);
    pthread_mutex_destroy(&c->lock);
}

static void at(const struct driver_client *c, enum target_step step)
{
    if (c->at)
        c->at(step, c->user);
}

/* Sets what the call returned, with the driver's reason for a failure. */
static void take_status(const struct driver_client *c, enum hal_status status, struct client_end *e)
{
    e->status = status;
    if (status != HAL_NONE && c->driver)
        failure_text_of(c->driver, e->failure_text);
}

static void take_launch(const struct driver_client *c, enum hal_status launched,
                        struct client_end *e)
{
    take_status(c, launched, e);
    e->launched = launched;
}

static void require(struct client_end *e, bool ok, const char *what)
{
    if (!ok && !e->violation[0])
        snprintf(e->violation, sizeof(e->violation), "%s", what);
}

static void lacks_memory(struct client_end *e, enum hal_version version)
{
    e->launched = e->status = hal_status_exhausted(version);
}

/* ---- preparing */

static void judge_prepared(const struct callback_wait *w, const struct hal_model *m,
                           struct client_end *e)
{
    const struct hal_prepared_model *p = w->prepared;

    if (w->status == HAL_NONE && !p)
        snprintf(e->violation, sizeof(e->violation),
                 "%s called back with NONE but without a prepared model", w->method);
    else if (w->status != HAL_NONE && p)
        snprintf(e->violation, sizeof(e->violation), "%s called back with %s and a prepared model",
                 w->method, hal_status_name(w->status));
    else if (p && m && (p->n_inputs != m->main.n_inputs || p->n_outputs != m->main.n_outputs))
        snprintf(e->violation, sizeof(e->violation),
                 "the prepared model has %u inputs and %u outputs, the model has %u and %u",
                 p->n_inputs, p->n_outputs, m->main.n_inputs, m->main.n_outputs);
}

struct hal_prepared_model *driver_client_prepare(struct driver_client *c, enum hal_version entry,
                                                 const struct hal_model *model,
                                                 const struct hal_prepare_config *config,
                                                 struct client_end *ret_end)
{
    const char *method = model ? "prepare_model" : "prepare_model_from_cache";
    struct hal_driver *d = c->driver;
    struct client_end judged;

    *ret_end =
        (struct client_end){ .launched = HAL_GENERAL_FAILURE, .status = HAL_GENERAL_FAILURE };
    if (!model && !d->prepare_model_from_cache)
        return NULL;
    struct callback_wait *w = callback_wait_new(c, method, NULL);
    if (!w) {
        lacks_memory(ret_end, entry);
        return NULL;
    }
    at(c, TARGET_AT_PREPARE);
    take_launch(c,
                model ? d->prepare_model(d, entry, model, config, &w->prepare)
                      : d->prepare_model_from_cache(d, entry, config, &w->prepare),
                ret_end);
    at(c, TARGET_AT_PREPARED);
    if (!callback_wait_finish(c, w, ret_end->launched, ret_end))
        return NULL;
    judged = *ret_end;
    judge_prepared(w, model, ret_end);
    if (judged.violation[0])
        *ret_end = judged;
    if (w->status == HAL_NONE && ret_end->status == HAL_NONE)
        return w->prepared;
    if (w->prepared && w->prepared->methods && w->prepared->methods->release)
        w->prepared->methods->release(w->prepared);
    return NULL;
}

/* Empty files for a cache; false: none are needed, or cannot be created. */
static bool open_cache(struct hal_driver *d, enum hal_version entry,
                       int file[2][HAL_MAX_CACHE_FILES], struct hal_cache *ret)
{
    uint32_t n[2] = { 0, 0 };

    if (entry < HAL_1_2 || !d->get_number_of_cache_files_needed || !d->prepare_model_from_cache ||
        d->get_number_of_cache_files_needed(d, &n[0], &n[1]) != HAL_NONE ||
        n[0] > HAL_MAX_CACHE_FILES || n[1] > HAL_MAX_CACHE_FILES || n[0] + n[1] == 0)
        return false;
    *ret = (struct hal_cache){ n[0], n[1], file[0], file[1], { 0x5a } };
    bool opened = true;
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < n[kind]; i++) {
            file[kind][i] = memfd_create("cache", MFD_CLOEXEC);
            opened = opened && file[kind][i] >= 0;
        }
    return opened;
}

static void close_cache(int file[2][HAL_MAX_CACHE_FILES])
{
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < HAL_MAX_CACHE_FILES; i++)
            if (file[kind][i] >= 0)
                close(file[kind][i]);
}

struct hal_prepared_model *driver_client_prepare_cached(struct driver_client *c,
                                                        enum hal_version entry,
                                                        const struct hal_model *model,
                                                        const struct hal_prepare_config *config,
                                                        struct client_end *ret_end)
{
    int file[2][HAL_MAX_CACHE_FILES];
    struct hal_prepare_config cached = *config;
    struct hal_prepared_model *p = NULL;

    memset(file, 0xff, sizeof(file));
    bool may_restore = open_cache(c->driver, entry, file, &cached.cache);
    if (may_restore) {
        p = driver_client_prepare(c, entry, model, &cached, ret_end);
        may_restore = p && !ret_end->violation[0] && p->methods && p->methods->release;
    }
    if (may_restore) {
        at(c, TARGET_AT_RELEASE);
        DRIVER_RELEASE(p);
        p = driver_client_prepare(c, entry, NULL, &cached, ret_end);
    }
    close_cache(file);
    if (p || (may_restore && ret_end->violation[0]))
        return p;
    return driver_client_prepare(c, entry, model, config, ret_end);
}

/* ---- executing */

struct execution {
    struct driver_client *client;
    struct hal_prepared_model *prepared;
    enum hal_version entry;
    const struct hal_request *request;
    const struct hal_execution_config *config;
    struct hal_result *result;
    struct hal_timing since_launch;
    struct client_end *end;
};

/* What no driver writes: shows that a result, fence or info was left unwritten. */
static const uint64_t unwritten_time = HAL_NO_TIME - 1;
static const int unwritten_fence = INT_MIN;

static void clear_before(struct hal_result *r)
{
    r->n_shapes = UINT32_MAX;
    r->timing = (struct hal_timing){ unwritten_time, unwritten_time };
}

/* A method writes the number of shapes and the timing whatever its status. */
static void require_written(struct execution *x)
{
    const struct hal_result *r = x->result;
    const bool is_written = r->n_shapes != UINT32_MAX && r->timing.on_device != unwritten_time &&
                            r->timing.in_driver != unwritten_time;

    require(x->end, is_written, "an execution leaves its result unwritten");
    if (!is_written)
        hal_clear_result(x->result);
}

static void execute_synchronously(struct execution *x)
{
    struct hal_prepared_model *p = x->prepared;

    at(x->client, TARGET_AT_EXECUTE_SYNCHRONOUSLY);
    clear_before(x->result);
    take_launch(x->client,
                p->methods->execute_synchronously(p, x->entry, x->request, x->config, x->result),
                x->end);
    require_written(x);
}

static void execute_asynchronously(struct execution *x)
{
    struct callback_wait *w = callback_wait_new(x->client, "execute", x->result);
    struct hal_prepared_model *p = x->prepared;

    if (!w) {
        lacks_memory(x->end, x->entry);
        return;
    }
    at(x->client, TARGET_AT_EXECUTE);
    take_launch(x->client, p->methods->execute(p, x->entry, x->request, x->config, &w->execution),
                x->end);
    at(x->client, TARGET_AT_EXECUTED);
    callback_wait_finish(x->client, w, x->end->launched, x->end);
}

/* release_memory() must succeed for an identifier that is known, just released, or unknown. */
static void release_memories(struct hal_burst *b, int64_t identifier, struct client_end *e)
{
    const int64_t released[] = { identifier, identifier, INT32_MAX };

    for (size_t i = 0; i < sizeof(released) / sizeof(*released); i++)
        require(e, b->methods->release_memory(b, released[i]) == HAL_NONE, "release_memory fails");
}

static void execute_in_burst(struct execution *x)
{
    enum { STEP = 7 }; /* between identifiers */
    const uint32_t n = x->request->n_pools;
    struct hal_prepared_model *p = x->prepared;
    struct hal_burst *b = NULL;
    int64_t *identifier = calloc((size_t) n + 1, sizeof(*identifier));

    if (!identifier) {
        lacks_memory(x->end, x->entry);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        identifier[i] = x->config->measure ? STEP * (int64_t) i : -1;
    at(x->client, TARGET_AT_BURST);
    take_launch(x->client, p->methods->configure_burst(p, x->entry, &b), x->end);
    require(x->end, (x->end->launched == HAL_NONE) == (b != NULL),
            "configure_burst: status and burst contradict each other");
    if (b) {
        clear_before(x->result);
        take_status(
            x->client,
            b->methods->execute_synchronously(b, x->request, n, identifier, x->config, x->result),
            x->end);
        require_written(x);
        release_memories(b, n ? STEP * (int64_t) (n - 1) : 0, x->end);
        DRIVER_RELEASE(b);
    }
    free(identifier);
}

/* ---- fences */

static struct hal_fenced_info unwritten_info;

static bool is_unknown(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;
}

/* Waits for the end of what was launched. */
static void await_fence(struct execution *x, int fence, struct hal_fenced_info *info)
{
    struct client_end *e = x->end;

    hal_clear_result(x->result);
    x->since_launch = hal_unknown_timing;
    if (fence == unwritten_fence || info == &unwritten_info) {
        require(e, false, "execute_fenced leaves its fence or its info unwritten");
        return;
    }
    if (e->launched != HAL_NONE) {
        require(e, fence == HAL_NO_FENCE && !info,
                "execute_fenced returns a fence or an info with a failure");
        return;
    }
    at(x->client, TARGET_AT_FENCE);
    int ready = fence == HAL_NO_FENCE ? 1 : fence_wait(1, &fence, HAL_NO_TIME);
    if (fence != HAL_NO_FENCE)
        close(fence);
    require(e, info, "execute_fenced succeeds without an info");
    if (!info)
        return;
    take_status(x->client,
                info->methods->get_execution_info(info, &x->since_launch, &x->result->timing), e);
    require(e, (ready == 1) == (e->status == HAL_NONE),
            "the fence and get_execution_info contradict each other");
    require(e, e->status == HAL_NONE || is_unknown(x->since_launch),
            "a failed execution has launch times");
    DRIVER_RELEASE(info);
}

static void execute_fenced(struct execution *x)
{
    struct hal_prepared_model *p = x->prepared;
    struct hal_fenced_info *info = &unwritten_info;
    int fence = unwritten_fence;

    at(x->client, TARGET_AT_FENCED);
    take_launch(x->client,
                p->methods->execute_fenced(p, x->entry, x->request, 0, NULL, x->config, HAL_NO_TIME,
                                           &fence, &info),
                x->end);
    await_fence(x, fence, info);
}

/* ---- reusable executions */

static void compute_synchronously(struct execution *x, struct hal_execution *e)
{
    clear_before(x->result);
    take_status(x->client, e->methods->execute_synchronously(e, x->config->deadline, x->result),
                x->end);
    require_written(x);
}

static void compute_fenced(struct execution *x, struct hal_execution *e)
{
    struct hal_fenced_info *info = &unwritten_info;
    int fence = unwritten_fence;

    take_launch(
        x->client,
        e->methods->execute_fenced(e, 0, NULL, x->config->deadline, HAL_NO_TIME, &fence, &info),
        x->end);
    await_fence(x, fence, info);
}

/* Both runs have the same status, unless the deadline passes between them, or the driver is short
 * of resources. */
static void execute_twice(struct execution *x,
                          void (*compute)(struct execution *x, struct hal_execution *e))
{
    struct hal_prepared_model *p = x->prepared;
    struct hal_execution_config config = *x->config;
    struct hal_execution *e = NULL;

    config.deadline = HAL_NO_DEADLINE; /* each run has its own */
    at(x->client, TARGET_AT_REUSABLE);
    take_launch(x->client, p->methods->create_reusable_execution(p, x->request, &config, &e),
                x->end);
    hal_clear_result(x->result);
    require(x->end, (x->end->launched == HAL_NONE) == (e != NULL),
            "create_reusable_execution: status and execution contradict each other");
    if (!e)
        return;
    compute(x, e);
    enum hal_status first = x->end->status;
    if (first != HAL_RESOURCE_EXHAUSTED_TRANSIENT) {
        at(x->client, TARGET_AT_REUSABLE);
        compute(x, e);
    }
    require(x->end,
            first == x->end->status || x->end->status == HAL_RESOURCE_EXHAUSTED_TRANSIENT ||
                x->config->deadline != HAL_NO_DEADLINE,
            "the second run of a reusable execution has another status");
    DRIVER_RELEASE(e);
}

static void execute_reusable(struct execution *x)
{
    execute_twice(x, compute_synchronously);
}

static void execute_reusable_fenced(struct execution *x)
{
    execute_twice(x, compute_fenced);
}

/* ---- ways */

static void (*const execute[EXECUTION_WAYS])(struct execution *x) = {
    [EXECUTION_SYNCHRONOUS] = execute_synchronously,
    [EXECUTION_ASYNCHRONOUS] = execute_asynchronously,
    [EXECUTION_BURST] = execute_in_burst,
    [EXECUTION_FENCED] = execute_fenced,
    [EXECUTION_REUSABLE] = execute_reusable,
    [EXECUTION_REUSABLE_FENCED] = execute_reusable_fenced,
};

const struct execution_way_info execution_ways[EXECUTION_WAYS] = {
    [EXECUTION_SYNCHRONOUS] = { "synchronous", WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, true },
    [EXECUTION_ASYNCHRONOUS] = { "asynchronous", WIRE__METHOD__EXECUTE, true },
    [EXECUTION_BURST] = { "burst", WIRE__METHOD__CONFIGURE_BURST, true },
    [EXECUTION_FENCED] = { "fenced", WIRE__METHOD__EXECUTE_FENCED, false },
    [EXECUTION_REUSABLE] = { "reusable", WIRE__METHOD__CREATE_REUSABLE_EXECUTION, true },
    [EXECUTION_REUSABLE_FENCED] = { "reusable, fenced", WIRE__METHOD__CREATE_REUSABLE_EXECUTION,
                                    false },
};

const struct wire_method *execution_way_method(enum execution_way way)
{
    return wire_method(execution_ways[way].method);
}

bool execution_way_is_of(enum execution_way way, enum hal_version version)
{
    const struct wire_method *m = execution_way_method(way);

    return version >= m->since && version <= m->until;
}

bool execution_way_has_method(enum execution_way way, const struct hal_prepared_model_methods *m)
{
    switch (way) {
    case EXECUTION_SYNCHRONOUS: return m->execute_synchronously;
    case EXECUTION_ASYNCHRONOUS: return m->execute;
    case EXECUTION_BURST: return m->configure_burst;
    case EXECUTION_FENCED: return m->execute_fenced;
    case EXECUTION_REUSABLE:
    case EXECUTION_REUSABLE_FENCED: return m->create_reusable_execution;
    case EXECUTION_WAYS: break;
    }
    return false;
}

void driver_client_execute(struct driver_client *c, enum execution_way way,
                           struct hal_prepared_model *p, enum hal_version entry,
                           const struct hal_request *request,
                           const struct hal_execution_config *config, struct hal_result *result,
                           struct hal_timing *ret_since_launch, struct client_end *ret_end)
{
    struct execution x = { c, p, entry, request, config, result, hal_unknown_timing, ret_end };

    *ret_end = (struct client_end){ .launched = HAL_NONE };
    execute[way](&x);
    if (ret_since_launch)
        *ret_since_launch = x.since_launch;
}
