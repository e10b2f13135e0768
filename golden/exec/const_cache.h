/* Cache of forms derived from a model's constants (values widened, weights packed), which all runs
 * of a plan share.  Safe for concurrent runs; all get the same memory. */
#ifndef GOLDEN_PREPARED_H
#define GOLDEN_PREPARED_H

#include <stdatomic.h>
#include <stddef.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

/* The cache of one constant; with all members but `room` zero it is empty. */
struct prepared {
    _Atomic(struct prepared_item *) first;
    _Atomic size_t *room; /* bytes that the plan may still cache, of all its constants */
};
/* Frees what is cached. */
void prepared_done(struct prepared *p);

enum prepared_form {
    PREPARED_VALUES,       /* double, widened to real values */
    PREPARED_UNITS,        /* double, q - zero point without scale */
    PREPARED_PANELS,       /* struct matmul_packed, of units */
    PREPARED_VALUE_PANELS, /* struct matmul_packed, of real values */
    PREPARED_INT_PANELS,   /* matmul_int_pack(), per group */
    PREPARED_INT_TAPS      /* matmul_int_pack_taps() */
};

/* A form and how to compute it.  form, n, k and groups are the key within one constant's cache. */
struct recipe {
    enum prepared_form form;
    size_t n, k, groups; /* as in matmul_pack(); 0 if not applicable */
    size_t bytes;
    int (*make)(const void *context, void *to, struct why *w);
    const void *context;
};

/* Returns the form, from the cache or computed by make(context, to).  It is computed into `scratch`
 * if p is NULL or the plan has no room left.  NULL with the reason when out of memory or if make()
 * fails. */
const void *prepared_get(struct prepared *p, const struct recipe *r, struct arena *scratch,
                         struct why *w);

#endif
