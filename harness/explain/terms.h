/* The terms of one element's sum: of convolutions, matrix products, poolings and reductions. */
#ifndef HARNESS_TERMS_H
#define HARNESS_TERMS_H

#include "harness/check/buffer.h"
#include "harness/explain/subject.h"

/* A term: an element of one operand, times one of another. */
struct term {
    size_t a, b;
};

struct element_sum {
    uint32_t arg_a;
    int arg_b;    /* -1: no factor */
    int arg_bias; /* -1: none */
    size_t bias;  /* its element */
    struct term *term;
    size_t n;
};

/* The sum of an element of the explained output, in the order of the operation's definition;
 * allocated in the subject's arena.  False: the operation is none of those, or out of memory. */
bool terms_of(const struct subject *s, size_t element, struct element_sum *ret);

/* Appends a table of the terms with stored and real values and partial sums.  all: else the middle
 * of long sums is left out. */
void terms_print(const struct subject *s, const struct element_sum *sum, bool all,
                 struct buffer *to);

#endif
