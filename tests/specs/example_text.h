/* An example as text, for comparing with what is expected of it. */
#ifndef TESTS_EXAMPLE_TEXT_H
#define TESTS_EXAMPLE_TEXT_H

#include <stdio.h>

#include "golden/golden.h"

/* One line for the example and one for each operand and operation. */
void example_print(const struct example *e, FILE *to);

/* Whether two examples mean the same: the same inputs and outputs with the same bits, the same
 * operations in the same order on operands that are alike.  Operands may be numbered differently.
 */
int example_same(const struct example *a, const struct example *b, struct why *w);

#endif
