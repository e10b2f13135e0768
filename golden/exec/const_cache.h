/* What is made of a constant of a model once, and used by all runs of its plan: values widened,
 * weights packed.  Runs may ask at once; all get the same. */
#ifndef GOLDEN_PREPARED_H
#define GOLDEN_PREPARED_H

#include <stdatomic.h>
#include <stddef.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

/* One constant; zero but for `room`: nothing made yet. */
struct prepared {
    _Atomic(struct prepared_item *) first;
    _Atomic size_t *room; /* bytes that the plan may still keep */
};
void prepared_done(struct prepared *p);

enum prepared_form {
    PREPARED_VALUES, /* double, widened */
    PREPARED_UNITS,  /* double, without scale and zero point */
    PREPARED_PANELS, /* struct matmul_packed, of units */
    PREPARED_VALUE_PANELS,
    PREPARED_INT_PANELS,
    PREPARED_INT_TAPS
};

/* How to make it.  What is made of one constant differs in the first four alone. */
struct recipe {
    enum prepared_form form;
    size_t n, k, groups; /* as in matmul_pack(); 0 where they do not matter */
    size_t bytes;
    int (*make)(const void *context, void *to, struct why *w);
    const void *context;
};

/* Made now or before.  Where p is NULL or the plan has no room left, it is made in `scratch`.  NULL
 * when out of memory, and where make() failed, with the reason. */
const void *prepared_get(struct prepared *p, const struct recipe *r, struct arena *scratch,
                         struct why *w);

#endif
