/* Bursts: executions of one model in rapid succession, whose memories stay mapped. */
#include <stdlib.h>

#include "sim/driver.h"

/* The contract's identifiers name memories that the client will send again.  The mapping is cheap
 * here, what is kept is which identifiers live: releasing an unknown one is no error. */
struct burst {
    struct hal_burst base;
    struct prepared *prepared;
    enum hal_version version;
};

static int check_identifiers(const struct hal_request *request, uint32_t n,
                             const int64_t *identifiers, struct why *w)
{
    REQUIRE(w, n == request->n_pools && (!n || identifiers), "%u identifiers for %u pools", n,
            request->n_pools);
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(w, identifiers[i] >= -1, "identifier %lld", (long long) identifiers[i]);
    return 0;
}

static enum hal_status execute_synchronously(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct burst *b = (struct burst *) self;
    struct why w;

    if (check_identifiers(request, n_identifiers, identifiers, &w) == 0)
        return prepared_methods.execute_synchronously(&b->prepared->base, b->version, request,
                                                      config, result);
    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    return driver_refuse("burst", b->version, &w);
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    (void) self;
    return identifier < 0 ? HAL_INVALID_ARGUMENT : HAL_NONE;
}

static void release(struct hal_burst *self)
{
    struct burst *b = (struct burst *) self;

    prepared_unref(b->prepared);
    free(b);
}

static const struct hal_burst_methods methods = { execute_synchronously, release_memory, release };

enum hal_status driver_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    struct prepared *p = (struct prepared *) self;
    struct burst *b;

    if (version < HAL_1_2 || version > p->driver->engine->hal)
        return driver_answer("configure_burst", version, HAL_INVALID_ARGUMENT);
    b = calloc(1, sizeof(*b));
    if (!b)
        return HAL_GENERAL_FAILURE;
    *b = (struct burst){ { &methods }, p, version };
    atomic_fetch_add(&p->references, 1);
    *ret_burst = &b->base;
    return driver_answer("configure_burst", version, HAL_NONE);
}
