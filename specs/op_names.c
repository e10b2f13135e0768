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
    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].code;
    return -1;
}

const char *op_name(int32_t code)
{
    for (int i = 0; i < N_NAMES; i++)
        if (names[i].code == code)
            return names[i].name;
    return NULL;
}
