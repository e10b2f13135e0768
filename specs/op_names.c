#include "specs/op_names.h"

#include <stddef.h>

int32_t op_name_code(const char *name)
{
    const struct op *op = op_by_name(name);

    if (!op)
        op = extension_op_of_text(name);
    if (op && extension_prefix_of(op->code) == EXTENSION_oem)
        return OEM_CODE + (op->code & 0xffff); /* NNAPI's code: files predate its extension */
    return op ? op->code : -1;
}

const char *op_name(int32_t code, char text[EXTENSION_TEXT])
{
    const struct op *op = op_find(code == OEM_CODE ? EXTENSION_CODE(oem, 0) : code);

    if (!op)
        return NULL;
    return extension_prefix_of(code) || code == OEM_CODE ? extension_op_text(op, text) : op->name;
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

const char *op_name_suggestion(const char *name, char text[SUGGEST_TEXT])
{
    struct suggestion s = suggest_for(name);

    for (int i = 0; i < op_table_n; i++)
        suggest_candidate(&s, op_table[i]->name);
    return suggest_text(&s, "", text);
}

const char *type_name_suggestion(const char *name, char text[SUGGEST_TEXT])
{
    struct suggestion s = suggest_for(name);

    for (int i = 0; i < DT_COUNT; i++)
        suggest_candidate(&s, dtype_info[i].name);
    return suggest_text(&s, "", text);
}
