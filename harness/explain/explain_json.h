/* An explanation as JSON: what explain_case() prints, as members. */
#ifndef HARNESS_EXPLAIN_JSON_H
#define HARNESS_EXPLAIN_JSON_H

#include "harness/check/check.h"
#include "harness/explain/hypotheses.h"

struct json_t;

/* Each takes the object of the explanation; NULL: no JSON is wanted, and nothing is done.
 *
 * Case, target and verdict; a later call replaces the verdict. */
void explain_json_verdict(struct json_t *to, const struct example *e, const struct target *t,
                          const struct check_result *r);
/* Appends an operation that ran alone to the list "operations".  operation: its number in its
 * graph; in_case: the largest bound of its output in the whole case, NAN if it is not known. */
void explain_json_operation(struct json_t *to, const char *name, const struct check_result *r,
                            double in_case);
/* The part of the graph that fails together, where no operation fails alone. */
void explain_json_part(struct json_t *to, const char *name);
/* Appends to the list "second_opinions": how many of the wrong elements another target has as the
 * reference, and as the device. */
void explain_json_second(struct json_t *to, const char *target, size_t like_reference,
                         size_t like_device);
/* Appends an operation whose results are others in a second run to the list "changed". */
void explain_json_changed(struct json_t *to, const char *name, size_t elements);
/* Appends a wrong operation to the list "explained": its output, an element, the lines of the
 * pattern of its wrong elements, the hypotheses. */
void explain_json_subject(struct json_t *to, const struct subject *s, size_t element,
                          const char *pattern, const struct hypothesis_results *all);

#endif
