#include "runtime/compile/operation_text.h"

#include <stdio.h>

const char *operation_text(const struct model *m, int32_t code, char text[EXTENSION_TEXT])
{
    const struct op *op = op_find(code == OEM_CODE ? EXTENSION_CODE(oem, 0) : code);
    uint32_t prefix = extension_prefix_of(code);

    if (op)
        return prefix || code == OEM_CODE ? extension_op_text(op, text) : op->name;
    for (uint32_t i = 0; i < m->n_extensions; i++)
        if (prefix && m->extension[i].prefix == prefix) {
            snprintf(text, EXTENSION_TEXT, "%.120s.%u", m->extension[i].name,
                     (uint32_t) code & 0xffff);
            return text;
        }
    snprintf(text, EXTENSION_TEXT, "operation %d", code);
    return text;
}
