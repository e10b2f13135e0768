#include "harness/conform/conform_guard.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory */

enum { MOST_COMPARED = 8 << 20 }; /* bytes */

void conform_guard_begin(const struct conform_request *r, struct conform_guard *ret_guard)
{
    *ret_guard = (struct conform_guard){ { NULL } };
    for (int i = 0; i < CONFORM_OWN; i++)
        if (r->own[i] && r->own_size[i] <= MOST_COMPARED &&
            (ret_guard->copy[i] = malloc(r->own_size[i] + 1)))
            memcpy(ret_guard->copy[i], r->own[i], r->own_size[i]);
}

/* Where the output's value lies in this process; NULL: in a buffer, in a file that is not mapped
 * here, or nowhere. */
static const uint8_t *start_of(const struct conform_request *r, const struct hal_location *l)
{
    const struct hal_request_pool *p =
        l->pool < r->hal.n_pools && r->hal.pools ? &r->hal.pools[l->pool] : NULL;

    if (!p || p->is_token)
        return NULL;
    if (p->memory.address)
        return (const uint8_t *) p->memory.address + l->offset;
    return l->pool < CONFORM_OWN && r->map[l->pool] ? (const uint8_t *) r->map[l->pool] + l->offset
                                                    : NULL;
}

/* Takes what the output's location has now into the copy. */
static void allow(struct conform_guard *g, const struct conform_request *r, int own,
                  const struct hal_location *l)
{
    const uintptr_t at = (uintptr_t) start_of(r, l), first = (uintptr_t) r->own[own],
                    size = (uintptr_t) r->own_size[own];

    if (!at || at - first >= size) /* also before it */
        return;
    uintptr_t left = size - (at - first);
    memcpy(g->copy[own] + (at - first), r->own[own] + (at - first),
           l->length < left ? l->length : left);
}

static bool is_memory_kept(struct conform_guard *g, const struct conform_request *r)
{
    bool kept = true;

    for (int own = 0; own < CONFORM_OWN; own++) {
        if (!g->copy[own])
            continue;
        for (uint32_t i = 0; i < r->hal.n_outputs; i++)
            if (!r->hal.outputs[i].has_no_value)
                allow(g, r, own, &r->hal.outputs[i].location);
        kept = kept && memcmp(g->copy[own], r->own[own], r->own_size[own]) == 0;
        free(g->copy[own]);
    }
    return kept;
}

/* ---- results */

static bool is_unknown(const struct hal_timing *t)
{
    return t->on_device == HAL_NO_TIME && t->in_driver == HAL_NO_TIME;
}

static bool is_ordered(const struct hal_timing *t)
{
    return t->on_device == HAL_NO_TIME || t->in_driver == HAL_NO_TIME ||
           t->on_device <= t->in_driver;
}

static bool is_whole(uint64_t ns)
{
    return ns == HAL_NO_TIME || ns % 1000 == 0;
}

static const char *misreported_time(const struct hal_timing *t, bool is_measured,
                                    enum hal_version version)
{
    if (!is_measured && !is_unknown(t))
        return "durations of an execution that fails or is not measured";
    if (!is_ordered(t))
        return "more time on the device than in the driver";
    if (version <= HAL_1_3 && !(is_whole(t->on_device) && is_whole(t->in_driver)))
        return "durations that are not whole microseconds";
    return NULL;
}

/* The execution has reported one shape per output, of which at least one is insufficient, or none
 * is. */
static bool are_shapes_of(const struct conform_request *r, bool are_sufficient)
{
    const struct hal_result *x = &r->result;
    bool are_all = true;

    for (uint32_t i = 0; i < x->n_shapes && i < x->capacity; i++) {
        are_all = are_all && x->shapes[i].is_sufficient;
        if (x->shapes[i].n_dims > HAL_MAX_RANK)
            return false;
    }
    return x->n_shapes == r->hal.n_outputs && are_all == are_sufficient;
}

static const char *misreported_shapes(const struct conform_request *r, bool may_report,
                                      enum hal_status status)
{
    if (status == HAL_OUTPUT_INSUFFICIENT_SIZE && may_report)
        return are_shapes_of(r, false) ? NULL : "OUTPUT_INSUFFICIENT_SIZE without its shapes";
    if (!r->result.n_shapes)
        return NULL;
    if (!may_report || status != HAL_NONE)
        return "shapes that the version, the kind of execution or the status does not have";
    return are_shapes_of(r, true) ? NULL : "success with missing or insufficient shapes";
}

static const char *misreported(const struct conform_request *r, enum execution_way way,
                               enum hal_version version, bool measure, enum hal_status status)
{
    const bool reports = execution_ways[way].reports && version >= HAL_1_2;
    const bool is_measured = measure && status == HAL_NONE && version >= HAL_1_2;
    const char *text = misreported_shapes(r, reports, status);

    if (version < HAL_1_3 && status > HAL_INVALID_ARGUMENT)
        return "a status that the entry point's version does not have";
    text = text ? text : misreported_time(&r->result.timing, is_measured, version);
    return text ? text : misreported_time(&r->launched, is_measured, version);
}

const char *conform_guard_end(struct conform_guard *g, const struct conform_request *r,
                              enum execution_way way, enum hal_version version,
                              const struct hal_execution_config *config, enum hal_status status)
{
    if (!is_memory_kept(g, r))
        return "an execution writes memory outside of its outputs";
    return misreported(r, way, version, config->measure, status);
}
