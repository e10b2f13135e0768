/* Cache of forms derived from a model's constants (values widened, weights packed), which all runs
 * of a plan share.  Safe for concurrent runs; all get the same memory. */
#ifndef GOLDEN_CONST_CACHE_H
#define GOLDEN_CONST_CACHE_H

#include <stdatomic.h>
#include <stddef.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

/* The cache of one constant; with all members but `room` zero it is empty. */
struct const_cache {
    _Atomic(struct const_cache_item *) first;
    _Atomic size_t *room; /* bytes that the plan may still cache, of all its constants */
};
/* Frees what is cached. */
void const_cache_done(struct const_cache *p);

enum const_form {
    CONST_VALUES,       /* double, widened to real values */
    CONST_UNITS,        /* double, q - zero point without scale */
    CONST_PANELS,       /* struct matmul_packed, of units */
    CONST_VALUE_PANELS, /* struct matmul_packed, of real values */
    CONST_INT_PANELS,   /* matmul_int_pack(), per group */
    CONST_INT_TAPS,     /* matmul_int_pack_taps() */
    /* The same of magnitudes, for error bounds. */
    CONST_ABS_UNITS,
    CONST_ABS_PANELS,
    CONST_ABS_VALUE_PANELS,
    CONST_ABS_INT_PANELS,
    CONST_ABS_INT_TAPS
};

/* A form and how to compute it.  form, n, k and groups are the key within one constant's cache. */
struct const_recipe {
    enum const_form form;
    size_t n, k, groups; /* as in matmul_pack(); 0 if not applicable */
    size_t bytes;
    int (*make)(const void *context, void *to, struct why *w);
    const void *context;
};

/* Returns the form, from the cache or computed by make(context, to).  It is computed into `scratch`
 * if p is NULL or the plan has no room left.  NULL with the reason when out of memory or if make()
 * fails. */
const void *const_cache_get(struct const_cache *p, const struct const_recipe *r,
                            struct arena *scratch, struct why *w);

#endif
