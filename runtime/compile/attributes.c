#include "runtime/compile/attributes.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"

#define LOG_TAG "TypeManager"

/* Makes room for one more element of each list. */
static bool grow(struct attributes *a)
{
    struct hal_token_value *value = array_room(a->value, a->n, sizeof(*value));

    if (value)
        a->value = value;
    struct hal_extension_prefix *prefix = array_room(a->prefix, a->n_prefixes, sizeof(*prefix));
    if (prefix)
        a->prefix = prefix;
    return value && prefix;
}

static bool has_prefix(const struct attributes *a, uint16_t prefix)
{
    for (uint32_t i = 0; i < a->n_prefixes; i++)
        if (a->prefix[i].prefix == prefix)
            return true;
    return false;
}

int attributes_add(struct attributes *a, const char *extension, uint16_t code, const void *data,
                   size_t length)
{
    uint16_t prefix = extension_prefix_for(extension);
    int32_t token = (int32_t) ((uint32_t) prefix << 16 | code);
    uint8_t *copy;

    if (!prefix)
        return FAIL(BAD_DATA, "no prefix is left for the extension %s", extension);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->value[i].token == token)
            return FAIL(BAD_DATA, "attribute %u of %s has been added before", code, extension);
    copy = malloc(length ? length : 1);
    if (!copy || !grow(a)) {
        free(copy);
        return FAIL(OUT_OF_MEMORY, "no memory for an attribute of %zu bytes", length);
    }
    if (length)
        memcpy(copy, data, length);
    a->value[a->n++] = (struct hal_token_value){ token, copy, length };
    if (!has_prefix(a, prefix))
        a->prefix[a->n_prefixes++] =
            (struct hal_extension_prefix){ extension_of_prefix(prefix), prefix };
    return ANEURALNETWORKS_NO_ERROR;
}

void attributes_done(struct attributes *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        free((void *) (uintptr_t) a->value[i].value);
    free(a->value);
    free(a->prefix);
    *a = (struct attributes){ 0 };
}
