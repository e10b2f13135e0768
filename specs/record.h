/* One record of the corpus as an example. */
#ifndef SPECS_RECORD_H
#define SPECS_RECORD_H

#include <jansson.h>

#include "golden/golden.h"

/* Everything in the example lives in the arena.  On failure the reason names the place in the
 * record, such as main.operands[3].data[7]. */
int record_read(const json_t *record, struct arena *a, struct example *ret_example, struct why *w);

#endif
