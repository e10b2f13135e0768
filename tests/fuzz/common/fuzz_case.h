/* Inputs of fuzz_model and fuzz_driver: a packed message Case (case.proto). */
#ifndef TESTS_FUZZ_CASE_H
#define TESTS_FUZZ_CASE_H

#include "case.pb-c.h"
#include "golden/base/arena.h"

/* Parts of a mutated model that are made to agree with the rest of it: a mutation reaches the code
 * behind the first checks only if what depends on it follows.  Without a repair the model is used
 * as it is. */
enum fuzz_repair {
    FUZZ_REPAIR_CONSUMERS = 1, /* numbers of consumers */
    FUZZ_REPAIR_VALUES = 2,    /* locations of constants: as long as type and dimensions demand */
    FUZZ_REPAIR_LISTS = 4,     /* inputs and outputs of the main graph: by the lifetimes */
    FUZZ_REPAIR_RESULTS = 8,   /* shapes of results are left to the driver */
    FUZZ_REPAIR_REQUEST = 16,  /* the request: one pool for inputs, one for outputs */
    FUZZ_REPAIRS = 31
};

/* Sizes, in bytes, that repairs keep to. */
enum { FUZZ_MAX_VALUE = 1 << 12, FUZZ_MAX_VALUES = 1 << 14, FUZZ_POOL = 1 << 13 };

/* Unpacks and repairs; NULL: not such a message, or a part is missing. */
Fuzz__Case *fuzz_case_read(const uint8_t *bytes, size_t length, struct arena *a);

/* An upper bound of the elements that the operands of the model have together, of those with known
 * shapes. */
uint64_t fuzz_case_elements(const Wire__Model *m);

size_t fuzz_case_mutate(uint8_t *bytes, size_t length, size_t max, unsigned seed);
size_t fuzz_case_cross(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *to,
                       size_t max, unsigned seed);

#endif
