/* Numbers as decimal text that reads back to the same bits. */
#ifndef GOLDEN_REAL_TEXT_H
#define GOLDEN_REAL_TEXT_H

#include <stdint.h>

enum { REAL_TEXT = 32 }; /* size of the buffer for one number */

/* Decimal digits, after '-' for a negative number.  Returns text. */
const char *whole_text(int64_t n, char text[REAL_TEXT]);

/* The shortest decimal that reads back to the same binary32 value, which must be finite.  It always
 * has a point or an exponent, so that readers take it for a real number and keep the sign of a
 * zero.  Stored specifications depend on it (reports/spec_tokens.h).  Returns text. */
const char *real_text(double value, char text[REAL_TEXT]);

#endif
