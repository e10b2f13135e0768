#include "specs/op_names.h"

#include <stddef.h>
#include <string.h>

static const struct {
    int32_t code;
    const char *name;
} names[] = {
#define NAMED(code, name) { code, #name },
#include "specs/op_names.def"
#undef NAMED
};

enum { N_NAMES = sizeof names / sizeof names[0] };

int32_t op_name_code(const char *name)
{
    const struct op *op = extension_op_of_text(name);

    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].code;
    return op ? op->code : -1;
}

const char *op_name(int32_t code, char text[EXTENSION_TEXT])
{
    const struct op *op = extension_op(code);

    for (int i = 0; i < N_NAMES; i++)
        if (names[i].code == code)
            return names[i].name;
    return op ? extension_op_text(op, text) : NULL;
}

int type_name_dtype(const char *name)
{
    enum dtype type = extension_type_of_text(name);

    return type == DT_FOREIGN ? dtype_by_name(name) : (int) type;
}

const char *type_name(enum dtype type, char text[EXTENSION_TEXT])
{
    return type < DT_COUNT ? dtype_info[type].name : extension_type_text(type, text);
}
