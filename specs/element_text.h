/* Elements of tensors as text that reads back to the same bits. */
#ifndef SPECS_ELEMENT_TEXT_H
#define SPECS_ELEMENT_TEXT_H

#include "golden/golden.h"

enum { ELEMENT_TEXT = 32 };

/* What an element is, as far as writing goes. */
enum element_kind { ELEMENT_INTEGER, ELEMENT_BOOL, ELEMENT_REAL };
enum element_kind element_kind(enum dtype dtype);

/* Element i as a number, exactly but for integers of 64 bits. */
double element_value(const struct tensor *t, size_t i);
/* Element i of integers, exactly. */
const char *integer_text(const struct tensor *t, size_t i, char text[ELEMENT_TEXT]);

/* The shortest decimal that reads back, through binary32, to the same finite value; always with a
 * point or an exponent, so that it stays a real number and keeps the sign of a zero. */
const char *real_text(double value, char text[ELEMENT_TEXT]);

bool all_finite(const struct tensor *t);

#endif
