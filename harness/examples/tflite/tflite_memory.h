/* Memory of the client, mapped. */
#ifndef TFLITE_MEMORY_H
#define TFLITE_MEMORY_H

#include "hal.h"

struct mapping {
    uint8_t *address;
    uint64_t size;
    bool is_writable, is_mapped;
};

/* False: the memory is invalid. */
bool map_memory(const struct hal_memory *h, struct mapping *ret);
void unmap_memory(struct mapping *m, uint32_t n);

/* Address of a location; NULL if it does not lie within the memory. */
uint8_t *bytes_at(const struct mapping *m, const struct hal_location *l);

#endif
