/* Tensor elements as decimal text that reads back to the same bits (golden/base/real_text.h). */
#ifndef SPECS_ELEMENT_TEXT_H
#define SPECS_ELEMENT_TEXT_H

#include "golden/base/real_text.h"
#include "golden/golden.h"

enum { ELEMENT_TEXT = REAL_TEXT }; /* size of the buffer for one element */

/* How an element is written. */
enum element_kind { ELEMENT_INTEGER, ELEMENT_BOOL, ELEMENT_REAL };
enum element_kind element_kind(enum dtype dtype);

/* Element i as stored, without scale or zero point; exact, except for 64-bit integers. */
double element_value(const struct tensor *t, size_t i);
/* Element i of an integer tensor, exactly.  Returns text. */
const char *integer_text(const struct tensor *t, size_t i, char text[ELEMENT_TEXT]);

/* Whether no element is infinite or NaN. */
bool all_finite(const struct tensor *t);
/* Whether it is a TENSOR_BOOL8 whose stored bytes are not only 0 and 1: any other is true, too. */
bool has_other_truths(const struct tensor *t);

#endif
