/* Examples as text, and their comparison. */
#ifndef TESTS_EXAMPLE_TEXT_H
#define TESTS_EXAMPLE_TEXT_H

#include <stdio.h>

#include "golden/golden.h"

/* Writes one line for the example and one for each operand and operation; the .expected files of
 * tests/specs/language have this form. */
void example_print(const struct example *e, FILE *to);

/* Returns 0 if two examples are equal: inputs and outputs with the same bits, the same operations
 * in the same order on equal operands, the same expectations.  Operands may be numbered
 * differently. Otherwise returns a negative number, with the first difference in w. */
int example_same(const struct example *a, const struct example *b, struct why *w);

#endif
