/* Whole numbers in names and options. */
#ifndef GOLDEN_PARSE_NUMBER_H
#define GOLDEN_PARSE_NUMBER_H

#include <stdint.h>

#include "golden/base/why.h"

/* Decimal, or hexadecimal after 0x; a leading 0 does not mean octal.  Nothing may stand before or
 * after it.  WHY_INVALID for anything else, and for a number out of least..most. */
int parse_u64(const char *text, uint64_t least, uint64_t most, uint64_t *ret_number, struct why *w);

#endif
