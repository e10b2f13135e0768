/* Explains why a case fails on a target: which operations are wrong, the pattern of their wrong
 * elements, the terms of one element's sum, the bounds, and the hypotheses that match. */
#ifndef HARNESS_EXPLAIN_H
#define HARNESS_EXPLAIN_H

#include "harness/check/check.h"

struct explain_options {
    enum judge_kind judge; /* by which the verdict is given; explained are errors by bound */
    struct ways ways;      /* in which the case is also run, if plainly it conforms */
    bool values;           /* also print every element of every operand */
    const char *element;   /* of the first wrong operation: "12" or "0,3,2"; NULL: the worst */
    struct target *second; /* another target, whose results are shown beside; NULL: none */
    struct json_t *json;   /* an object that gets the same as members; NULL: none */
};

/* Runs the example on the target, then each of its operations alone, and appends the explanation.
 * *ret_result: the verdict of the example, or the first verdict of an operation alone that does not
 * conform.  -1: an error of Halcyon's own, or an element that does not exist. */
int explain_case(const struct example *e, struct target *t, const struct explain_options *o,
                 struct buffer *to, struct check_result *ret_result, struct why *w);

/* Appends the sections about one operation with wrong elements. */
struct subject;
struct on_target;
struct explained {
    size_t element;
    bool values;
    const struct tensor *second; /* the outputs of another target; NULL: none */
    const char *second_name;
    const struct on_target
        *on;             /* runs similar cases, where the operation fails alone; NULL: none */
    struct json_t *json; /* of the options */
};
int explain_subject(const struct subject *s, const struct explained *x, struct buffer *to,
                    struct why *w);

#endif
