/* Values of operands in JSON: `data`, a list of numbers, or `bytes`, base64 of the dense tensor. */
#ifndef SPECS_VALUES_H
#define SPECS_VALUES_H

#include <jansson.h>

#include "golden/golden.h"

struct values {
    bool given;   /* the operand has `data` or `bytes` */
    void *data;   /* dense elements as stored, in the arena */
    size_t count; /* elements */
};

/* Reads the values of one operand record.  where: its place, for messages. */
int values_read(const json_t *operand, enum dtype dtype, const char *where, struct arena *a,
                struct values *ret_values, struct why *w);

/* Decodes canonical base64 (RFC 4648, padded) into the arena. */
int base64_decode(const char *text, size_t n, struct arena *a, void **ret_data, size_t *ret_length,
                  struct why *w);

/* The shape of a value of n elements.  One unknown dimension of the declared shape is computed from
 * n (unknown rank: rank 1); -1 where n does not fit, or more than one is unknown.  n 0: dimensions
 * stay unknown (0). */
int values_shape(const struct tensor *declared, size_t n, struct shape *ret_shape, struct why *w);

#endif
