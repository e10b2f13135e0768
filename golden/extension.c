#include "golden/extension.h"

#include <string.h>

#define EXTENSION(id, name) extern const struct extension_record extension_##id;
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since)
#include "golden/extension.def"
#undef EXTENSION

const struct extension_record *const extension_table[EXTENSION_END] = {
#define EXTENSION(id, name) [EXTENSION_##id] = &extension_##id,
#include "golden/extension.def"
#undef EXTENSION
};

const char *const extension_name[EXTENSION_END] = {
#define EXTENSION(id, name) [EXTENSION_##id] = (name),
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
};

struct extension_type {
    enum extension_prefix prefix;
    uint16_t number;
};

static const struct extension_type type_table[DT_END] = {
#define EXTENSION(id, name)
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since)                           \
    [DT_##id] = { EXTENSION_##extension, number },
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
};

enum extension_prefix extension_by_name(const char *name)
{
    for (int i = EXTENSION_NONE + 1; i < EXTENSION_END; i++)
        if (*name && !strcmp(extension_name[i], name))
            return (enum extension_prefix) i;
    return EXTENSION_NONE;
}

enum extension_prefix extension_of_type(enum dtype type, uint16_t *ret_number)
{
    *ret_number = type_table[type].number;
    return type_table[type].prefix;
}

enum dtype extension_type(enum extension_prefix prefix, uint16_t number)
{
    for (int i = DT_FOREIGN + 1; i < DT_END; i++)
        if (type_table[i].prefix == prefix && type_table[i].number == number)
            return (enum dtype) i;
    return DT_FOREIGN;
}

enum dtype extension_type_by_name(enum extension_prefix prefix, const char *name)
{
    for (int i = DT_FOREIGN + 1; i < DT_END; i++)
        if (type_table[i].prefix == prefix && !strcmp(dtype_info[i].name, name))
            return (enum dtype) i;
    return DT_FOREIGN;
}

const struct op *extension_op(int32_t code)
{
    uint32_t prefix = (uint32_t) code >> 16;
    const struct extension_record *x = prefix < EXTENSION_END ? extension_table[prefix] : NULL;

    for (int i = 0; x && i < x->n_ops; i++)
        if (x->op[i].code == code)
            return &x->op[i];
    return NULL;
}

const struct op *extension_op_by_name(enum extension_prefix prefix, const char *name)
{
    const struct extension_record *x = extension_table[prefix];

    for (int i = 0; x && i < x->n_ops; i++)
        if (!strcmp(x->op[i].name, name))
            return &x->op[i];
    return NULL;
}

bool extension_name_is_legal(const char *name)
{
    return strchr(name, '.') && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")];
}

static bool is_foreign(const struct graph *g, const struct operation *o, int32_t *ret_code)
{
    *ret_code = o->code;
    if (!op_find(o->code))
        return true;
    for (uint32_t i = 0; i < o->n_in + o->n_out; i++) {
        const struct operand *x = &g->operand[i < o->n_in ? o->in[i] : o->out[i - o->n_in]];
        *ret_code = x->foreign;
        if (x->tensor.dtype == DT_FOREIGN)
            return true;
    }
    return false;
}

bool operation_is_foreign(const struct graph *g, const struct operation *o)
{
    int32_t code;

    return is_foreign(g, o, &code);
}

bool model_is_foreign(const struct model *m, int32_t *ret_code)
{
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++) {
            int32_t code;
            if (!is_foreign(&m->graph[g], &m->graph[g].operation[i], &code))
                continue;
            if (ret_code)
                *ret_code = code;
            return true;
        }
    return false;
}
