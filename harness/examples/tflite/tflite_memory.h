/* Memory of the client, mapped. */
#ifndef TFLITE_MEMORY_H
#define TFLITE_MEMORY_H

#include "hal.h"

struct mapping {
    uint8_t *address;
    uint64_t size;
    bool is_mapped;
};

/* Valid memory; false: its file is too short or cannot be mapped. */
bool map_memory(const struct hal_memory *h, struct mapping *ret);
void unmap_memory(struct mapping *m, uint32_t n);

#endif
