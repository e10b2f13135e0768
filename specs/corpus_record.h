/* Reads one record of the corpus. */
#ifndef SPECS_CORPUS_RECORD_H
#define SPECS_CORPUS_RECORD_H

#include <jansson.h>

#include "golden/golden.h"

/* Converts a record to an example, which is allocated in the arena.  -1: the record is malformed;
 * the reason names the place in it, such as main.operands[3].data[7]. */
int corpus_record_read(const json_t *record, struct arena *a, struct example *ret_example,
                       struct why *w);

#endif
