/* Suggests a case for a name or pattern that matches none: that with the nearest name, or in which
 * the nearest of the parts between slashes is. */
#ifndef HARNESS_NEAREST_CASE_H
#define HARNESS_NEAREST_CASE_H

#include "harness/check/cases.h"

enum { NEAREST_CASE_TEXT = CASE_NAME + 32 };

struct nearest_case {
    char word[CASE_NAME]; /* what names are compared with */
    bool is_part;         /* it is a part of a name, or the longest text between wildcards */
    size_t distance;
    char name[CASE_NAME]; /* of the nearest case; "": none is near */
};

struct nearest_case nearest_case_to(const char *wanted);
void nearest_case_consider(struct nearest_case *n, const char *name);
/* "; did you mean NAME?", or "".  Returns text. */
const char *nearest_case_text(const struct nearest_case *n, char text[NEAREST_CASE_TEXT]);

#endif
