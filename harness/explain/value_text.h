/* Values as text: stored numbers of quantised types with the real numbers that they are. */
#ifndef HARNESS_VALUE_TEXT_H
#define HARNESS_VALUE_TEXT_H

#include "golden/golden.h"

enum { VALUE_TEXT = 64 };

/* "131 (1.5)" of a quantised type, "1.5" of a float, "-7" of an integer.  Returns text. */
const char *value_text(const struct tensor *t, size_t element, char text[VALUE_TEXT]);
/* The same for a real number in the place of an element, which is not rounded: "131.25 (1.5625)".
 */
const char *unrounded_text(const struct tensor *t, size_t element, double real,
                           char text[VALUE_TEXT]);
/* A difference or an allowed error: "4.2 steps (1.05)", "0.001". */
const char *error_text(const struct tensor *t, size_t element, double error, char text[VALUE_TEXT]);

/* "TENSOR_QUANT8_ASYMM [1,4,4,2], scale 0.5, zero point 128". */
enum { TYPE_TEXT = 288 };
const char *type_text(const struct tensor *t, char text[TYPE_TEXT]);

#endif
