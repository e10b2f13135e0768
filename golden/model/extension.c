#include "golden/model/extension.h"

#include <stdio.h>
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
    uint32_t prefix = extension_prefix_of(code);
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

static const char *join(enum extension_prefix prefix, const char *name, char text[EXTENSION_TEXT])
{
    const char *before = extension_name[prefix];

    snprintf(text, EXTENSION_TEXT, "%s%s%s", before, *before ? "." : "", name);
    return text;
}

const char *extension_type_text(enum dtype type, char text[EXTENSION_TEXT])
{
    uint16_t number;

    return join(extension_of_type(type, &number), dtype_info[type].name, text);
}

const char *extension_op_text(const struct op *op, char text[EXTENSION_TEXT])
{
    return join((enum extension_prefix) extension_prefix_of(op->code), op->name, text);
}

/* The extension named before the last dot; EXTENSION_oem for a name without one.  *ret_name: the
 * name after it. */
static enum extension_prefix split(const char *text, const char **ret_name)
{
    const char *dot = strrchr(text, '.');
    size_t n = dot ? (size_t) (dot - text) : 0;

    *ret_name = text + n + (dot != NULL);
    if (!dot)
        return EXTENSION_oem;
    for (int i = EXTENSION_NONE + 1; i < EXTENSION_END; i++)
        if (n && strlen(extension_name[i]) == n && !memcmp(extension_name[i], text, n))
            return (enum extension_prefix) i;
    return EXTENSION_NONE;
}

enum dtype extension_type_of_text(const char *text)
{
    const char *name;
    enum extension_prefix prefix = split(text, &name);

    return prefix ? extension_type_by_name(prefix, name) : DT_FOREIGN;
}

const struct op *extension_op_of_text(const char *text)
{
    const char *name;
    enum extension_prefix prefix = split(text, &name);

    return prefix ? extension_op_by_name(prefix, name) : NULL;
}

bool model_uses_extensions(const struct model *m)
{
    uint16_t number;

    for (const struct graph *g = m->graph; g < m->graph + m->n_graphs; g++) {
        for (uint32_t i = 0; i < g->n_operations; i++)
            if (extension_prefix_of(g->operation[i].code) > EXTENSION_oem)
                return true;
        for (uint32_t i = 0; i < g->n_operands; i++) {
            const struct operand *o = &g->operand[i];
            if (o->tensor.dtype == DT_FOREIGN
                    ? extension_prefix_of(o->foreign) != 0
                    : extension_of_type(o->tensor.dtype, &number) > EXTENSION_oem)
                return true;
        }
    }
    return false;
}

bool model_uses_oem(const struct model *m)
{
    for (const struct graph *g = m->graph; g < m->graph + m->n_graphs; g++) {
        for (uint32_t i = 0; i < g->n_operations; i++) {
            int32_t code = g->operation[i].code;
            if (code == OEM_CODE || extension_prefix_of(code) == EXTENSION_oem)
                return true;
        }
        for (uint32_t i = 0; i < g->n_operands; i++) {
            const struct operand *o = &g->operand[i];
            if (o->tensor.dtype == DT_OEM_BYTE ||
                (o->tensor.dtype == DT_FOREIGN && !extension_prefix_of(o->foreign)))
                return true;
        }
    }
    return false;
}

int model_name_extensions(struct model *m, struct arena *a)
{
    bool used[EXTENSION_END] = { false };
    struct extension *x = arena_alloc(a, EXTENSION_END, sizeof *x);
    uint16_t number;

    if (!x)
        return -1;
    for (const struct graph *g = m->graph; g < m->graph + m->n_graphs; g++) {
        for (uint32_t i = 0; i < g->n_operands; i++)
            if (g->operand[i].tensor.dtype > DT_FOREIGN)
                used[extension_of_type(g->operand[i].tensor.dtype, &number)] = true;
        for (uint32_t i = 0; i < g->n_operations; i++)
            if (extension_op(g->operation[i].code))
                used[extension_prefix_of(g->operation[i].code)] = true;
    }
    m->extension = x;
    m->n_extensions = 0;
    for (int i = EXTENSION_NONE + 1; i < EXTENSION_END; i++)
        if (used[i] && *extension_name[i])
            x[m->n_extensions++] = (struct extension){ extension_name[i], (uint16_t) i };
    return 0;
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
