/* A variant of an operation: the same operation with other operands or attributes, computed by the
 * reference, or the reference's results changed afterwards. */
#ifndef HARNESS_VARIANT_H
#define HARNESS_VARIANT_H

#include "harness/explain/subject.h"

struct variant {
    const struct subject *s;
    struct arena *arena;
    struct example example; /* a copy whose operands can be changed; all inputs are constants */
    struct graph graph;
    char note[120]; /* what was changed: "stride_width", "dimension 2 as 1"; "" for nothing */
    struct exec_options options;

    /* The results of the explained output, in its shape: [s->n] each. */
    double *real, *bound;
};

/* A copy of the subject's operation, with the reference's results.  -1: out of memory. */
int variant_begin(struct variant *v, const struct subject *s, struct arena *a);

/* The tensor of an argument, to be changed: the operand is used nowhere else, and its data is a
 * copy.  NULL: it is omitted or has no elements, or out of memory. */
struct tensor *variant_own(struct variant *v, uint32_t arg);
/* The same for the argument of a role's name; NULL also where the call does not have it. */
struct tensor *variant_own_named(struct variant *v, const char *role);

/* The value of an integer or BOOL scalar, its default if it is omitted.  False: the operation has
 * no such role. */
bool variant_get(const struct variant *v, const char *role, int32_t *ret_value);
/* Sets a scalar; one that was left off at the end is added.  False: the call has no such scalar, or
 * it has this value already. */
bool variant_set(struct variant *v, const char *role, double value);

/* Rebuilds the arguments in the order of a form with explicit padding (roles pad_...), which are
 * given, instead of a padding scheme and the shape of the output.  The last change before
 * variant_run(). */
struct variant_padding {
    int64_t top, bottom, left, right;
};
bool variant_pad(struct variant *v, const struct variant_padding *p);

/* Replaces an argument by elements of it at other places: element i of the new shape is element
 * map[i] of the old one, or the stored number `fill` for VARIANT_FILL. */
#define VARIANT_FILL ((size_t) -1)
bool variant_gather(struct variant *v, uint32_t arg, const struct shape *shape, const size_t *map,
                    double fill);

/* Computes real and bound by the reference.  Where the variant's output has another shape, elements
 * of the same place are taken; others get the bound INFINITY.  False: the reference rejects it. */
bool variant_run(struct variant *v);

#endif
