/* Attributes of extensions: hints for the driver with a preparation or an execution. */
#ifndef RUNTIME_ATTRIBUTES_H
#define RUNTIME_ATTRIBUTES_H

#include "sim/hal.h"

struct attributes {
    uint32_t n, n_prefixes;
    struct hal_token_value *value;
    struct hal_extension_prefix *prefix; /* of the extensions that the values belong to */
};

/* Adds a copy.  ANEURALNETWORKS_BAD_DATA: the attribute is there, or no prefix is left. */
int attributes_add(struct attributes *a, const char *extension, uint16_t code, const void *data,
                   size_t length);
void attributes_done(struct attributes *a);

#endif
