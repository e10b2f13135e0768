/* Synchronous executions: single, in bursts, reusable. */
#include <stdlib.h>

#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/hal/hal_result.h"

/* Under rt: a deadline is not passed on; an execution that ends after it has missed it. */
static enum hal_status in_time(const struct adapter *a, uint64_t deadline, enum hal_status status,
                               struct hal_result *result)
{
    if (status != HAL_NONE || !a->is_runtime || adapter_time_left(deadline))
        return status;
    hal_clear_result(result);
    return adapter_missed_deadline("the execution");
}

enum hal_status adapter_execute_synchronously(struct hal_prepared_model *self,
                                              enum hal_version version,
                                              const struct hal_request *request,
                                              const struct hal_execution_config *config,
                                              struct hal_result *result)
{
    struct adapter_prepared *p = (struct adapter_prepared *) self;
    const struct adapter_setup setup = { .version = version,
                                         .config = config,
                                         .time_left = adapter_time_left(config->deadline) };
    struct adapter_execution *x = NULL;

    failure_text_clear();
    hal_clear_result(result);
    if (!adapter_has_entry(p->adapter, version))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = adapter_execution_new(p, request, &setup, &x);
    if (status != HAL_NONE)
        return status;
    if (setup.time_left)
        status = adapter_execution_results(x, p->adapter->api.Execution_compute(x->execution),
                                           "Execution_compute", result);
    else
        status = adapter_missed_deadline("the execution");
    adapter_execution_unref(x);
    return in_time(p->adapter, config->deadline, status, result);
}

/* ---- bursts */

struct kept_memory {
    struct kept_memory *next;
    int64_t identifier;
    ANeuralNetworksMemory *memory;
};

/* One execution at a time: the C API refuses a second one of a burst. */
struct adapter_burst {
    struct hal_burst base;
    struct adapter_prepared *prepared;
    ANeuralNetworksBurst *burst;
    enum hal_version version; /* of the entry point that made it */
    pthread_mutex_t lock;
    struct kept_memory *kept;
};

enum hal_status adapter_burst_memory(struct adapter_burst *b, int64_t identifier,
                                     const struct hal_memory *memory,
                                     ANeuralNetworksMemory **ret_memory)
{
    struct kept_memory *k = b->kept;

    while (k && k->identifier != identifier)
        k = k->next;
    if (!k) {
        k = calloc(1, sizeof(*k));
        if (!k)
            return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a burst");
        enum hal_status status = adapter_memory_new(b->prepared->adapter, memory, &k->memory);
        if (status != HAL_NONE) {
            free(k);
            return status;
        }
        k->identifier = identifier;
        k->next = b->kept;
        b->kept = k;
    }
    *ret_memory = k->memory;
    return HAL_NONE;
}

static enum hal_status check_identifiers(const struct hal_request *request, uint32_t n,
                                         const int64_t *identifiers)
{
    if (n != request->n_pools)
        return adapter_fail(HAL_INVALID_ARGUMENT, "%u identifiers for %u pools", n,
                            request->n_pools);
    for (uint32_t i = 0; i < n; i++)
        if (identifiers[i] < -1)
            return adapter_fail(HAL_INVALID_ARGUMENT, "pool %u: identifier %lld", i,
                                (long long) identifiers[i]);
    return HAL_NONE;
}

static enum hal_status burst_execute(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n_identifiers, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    struct adapter_burst *b = (struct adapter_burst *) self;
    const struct adapter *a = b->prepared->adapter;
    const struct adapter_setup setup = { .version = b->version,
                                         .config = config,
                                         .time_left = adapter_time_left(config->deadline),
                                         .burst = b,
                                         .identifiers = identifiers };
    struct adapter_execution *x = NULL;

    failure_text_clear();
    hal_clear_result(result);
    enum hal_status status = check_identifiers(request, n_identifiers, identifiers);
    if (status != HAL_NONE)
        return status;
    pthread_mutex_lock(&b->lock);
    status = adapter_execution_new(b->prepared, request, &setup, &x);
    if (status == HAL_NONE && !setup.time_left)
        status = adapter_missed_deadline("the execution");
    if (status == HAL_NONE)
        status = adapter_execution_results(x, a->api.Execution_burstCompute(x->execution, b->burst),
                                           "Execution_burstCompute", result);
    adapter_execution_unref(x);
    pthread_mutex_unlock(&b->lock);
    return in_time(a, config->deadline, status, result);
}

static enum hal_status burst_release_memory(struct hal_burst *self, int64_t identifier)
{
    struct adapter_burst *b = (struct adapter_burst *) self;

    failure_text_clear();
    if (identifier < 0)
        return adapter_fail(HAL_INVALID_ARGUMENT, "identifier %lld", (long long) identifier);
    pthread_mutex_lock(&b->lock);
    for (struct kept_memory **at = &b->kept; *at; at = &(*at)->next)
        if ((*at)->identifier == identifier) {
            struct kept_memory *k = *at;
            *at = k->next;
            b->prepared->adapter->api.Memory_free(k->memory);
            free(k);
            break;
        }
    pthread_mutex_unlock(&b->lock);
    return HAL_NONE;
}

static void burst_release(struct hal_burst *self)
{
    struct adapter_burst *b = (struct adapter_burst *) self;
    const struct api_library *api = &b->prepared->adapter->api;
    struct kept_memory *next;

    api->Burst_free(b->burst);
    for (struct kept_memory *k = b->kept; k; k = next) {
        next = k->next;
        api->Memory_free(k->memory);
        free(k);
    }
    pthread_mutex_destroy(&b->lock);
    adapter_prepared_unref(b->prepared);
    free(b);
}

static const struct hal_burst_methods burst_methods = { burst_execute, burst_release_memory,
                                                        burst_release };

enum hal_status adapter_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                        struct hal_burst **ret_burst)
{
    struct adapter_prepared *p = (struct adapter_prepared *) self;
    enum hal_status status = HAL_NONE;

    failure_text_clear();
    if (!adapter_has_entry(p->adapter, version))
        return HAL_INVALID_ARGUMENT;
    struct adapter_burst *b = calloc(1, sizeof(*b));
    if (!b)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a burst");
    if (!adapter_ok(&status, p->adapter->api.Burst_create(p->compilation, &b->burst),
                    "Burst_create", "a model")) {
        free(b);
        return status;
    }
    b->base.methods = &burst_methods;
    b->prepared = p;
    b->version = version;
    atomic_fetch_add(&p->references, 1);
    pthread_mutex_init(&b->lock, NULL);
    *ret_burst = &b->base;
    return HAL_NONE;
}

/* ---- reusable executions */

struct reusable {
    struct hal_execution base;
    struct adapter_execution *execution;
};

/* The C API takes no time-out between the computations of an execution: the deadline is checked
 * before and after. */
static enum hal_status reusable_execute(struct hal_execution *self, uint64_t deadline,
                                        struct hal_result *result)
{
    struct adapter_execution *x = ((struct reusable *) self)->execution;
    const struct adapter *a = x->prepared->adapter;

    failure_text_clear();
    hal_clear_result(result);
    enum hal_status status = adapter_check_time("a deadline", deadline);
    if (status == HAL_NONE && !adapter_time_left(deadline))
        status = adapter_missed_deadline("the execution");
    if (status == HAL_NONE)
        status = adapter_execution_results(x, a->api.Execution_compute(x->execution),
                                           "Execution_compute", result);
    if (status != HAL_NONE || adapter_time_left(deadline))
        return status;
    hal_clear_result(result);
    return adapter_missed_deadline("the execution");
}

static enum hal_status reusable_execute_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                               const int *wait_for, uint64_t deadline,
                                               uint64_t duration, int *ret_fence,
                                               struct hal_fenced_info **ret_info)
{
    struct adapter_execution *x = ((struct reusable *) self)->execution;

    failure_text_clear();
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    enum hal_status status = adapter_check_time("a deadline", deadline);
    return status == HAL_NONE ? adapter_launch(x, n_wait_for, wait_for, adapter_time_left(deadline),
                                               duration, ret_fence, ret_info)
                              : status;
}

static void reusable_release(struct hal_execution *self)
{
    struct reusable *r = (struct reusable *) self;

    adapter_execution_unref(r->execution);
    free(r);
}

static const struct hal_execution_methods reusable_methods = { reusable_execute,
                                                               reusable_execute_fenced,
                                                               reusable_release };

enum hal_status adapter_create_reusable(struct hal_prepared_model *self,
                                        const struct hal_request *request,
                                        const struct hal_execution_config *config,
                                        struct hal_execution **ret_execution)
{
    struct adapter_prepared *p = (struct adapter_prepared *) self;
    const struct adapter_setup setup = { .version = p->adapter->base.hal_version,
                                         .config = config,
                                         .time_left = HAL_NO_TIME,
                                         .is_reusable = true };
    struct reusable *r = calloc(1, sizeof(*r));

    failure_text_clear();
    if (!r)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for an execution");
    enum hal_status status = adapter_execution_new(p, request, &setup, &r->execution);
    if (status != HAL_NONE) {
        free(r);
        return status;
    }
    r->base.methods = &reusable_methods;
    *ret_execution = &r->base;
    return HAL_NONE;
}
