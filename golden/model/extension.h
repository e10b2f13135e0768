/* Vendor extensions: named sets of operand types and operations outside NNAPI.
 *
 * An extension is a record in golden/extensions/, with its name and types in golden/extension.def.
 * Its operations are `struct op` like the catalogue's, so that everything which interprets records
 * (validation, inference, execution, judging, graphDump) handles them too.  They are not in the
 * catalogue, so random generation and NNAPI's manual leave them out.
 *
 * In a model, the type and operation codes of an extension carry a prefix in their high 16 bits,
 * and the model maps prefixes to extension names.  Clients choose prefixes freely; within Halcyon
 * an extension's prefix is its position in golden/extension.def, and its types are members of enum
 * dtype.  Models are renumbered where they enter and leave (sim/hal/extension_codes.h).  The types
 * and operations of an extension that is not listed are foreign: the model keeps code and name, and
 * nothing else is known of them. */
#ifndef GOLDEN_EXTENSION_H
#define GOLDEN_EXTENSION_H

#include "golden/model/model.h"
#include "golden/model/op.h"

/* Prefixes.  EXTENSION_oem, the first, is not a vendor extension but stands for the OEM type and
 * operation. */
enum extension_prefix {
    EXTENSION_NONE,
#define EXTENSION(id, name) EXTENSION_##id,
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since)
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
    EXTENSION_END
};

/* `code` of the record of operation `number` of extension `id`. */
#define EXTENSION_CODE(id, number) ((EXTENSION_##id << 16) | (number))
/* The prefix of a type or operation code; 0: NNAPI's own, or an OEM code. */
static inline uint32_t extension_prefix_of(int32_t code)
{
    return (uint32_t) code >> 16;
}

/* NNAPI's OEM codes.  In the OEM record, types and operations are numbered from OEM_CODE. */
enum { OEM_CODE = 10000, OEM_CODES_TYPES = 2, OEM_CODES_OPERATIONS = 1 };

struct extension_record {
    const char *summary;
    const struct op *op; /* n_ops of them, by ascending number */
    int n_ops;
    /* Checks the extension data (t->extension) of an operand of one of its types.  NULL: there must
     * be none. */
    int (*check_data)(const struct tensor *t, struct why *w);
};

/* By prefix; EXTENSION_NONE: NULL. */
extern const struct extension_record *const extension_table[EXTENSION_END];
extern const char *const extension_name[EXTENSION_END];

/* EXTENSION_NONE if no listed extension has that name. */
enum extension_prefix extension_by_name(const char *name);

/* The extension of a type, and its number there; EXTENSION_NONE for NNAPI's and foreign types. */
enum extension_prefix extension_of_type(enum dtype type, uint16_t *ret_number);
/* DT_FOREIGN if the extension has no such type. */
enum dtype extension_type(enum extension_prefix prefix, uint16_t number);
enum dtype extension_type_by_name(enum extension_prefix prefix, const char *name);

/* NULL if no listed extension has the operation. */
const struct op *extension_op(int32_t code);
const struct op *extension_op_by_name(enum extension_prefix prefix, const char *name);

/* Qualified names of types and operations, "org.halcyon.example.fibonacci.FIBONACCI", as used in
 * files and on the command line; OEM names have no extension name before them.  Returns text. */
enum { EXTENSION_TEXT = 160 };
const char *extension_type_text(enum dtype type, char text[EXTENSION_TEXT]);
const char *extension_op_text(const struct op *op, char text[EXTENSION_TEXT]);
/* Types and operations by qualified name; DT_FOREIGN or NULL if there is none. */
enum dtype extension_type_of_text(const char *text);
const struct op *extension_op_of_text(const char *text);

/* Whether the model has types or operations of extensions, foreign ones included, OEM excluded. */
bool model_uses_extensions(const struct model *m);
/* Whether the model has OEM types or operations. */
bool model_uses_oem(const struct model *m);

/* Sets m->extension to the listed extensions whose types or operations the model has; allocated in
 * `a`.  -1: out of memory. */
int model_name_extensions(struct model *m, struct arena *a);

/* Whether the name consists of a-z, 0-9, '_' and '.', with at least one '.'. */
bool extension_name_is_legal(const char *name);

/* Whether an operation has no record, or one of its operands a foreign type. */
bool operation_is_foreign(const struct graph *g, const struct operation *o);
/* Whether the model has such an operation; *ret_code (may be NULL): the first foreign code. */
bool model_is_foreign(const struct model *m, int32_t *ret_code);

#endif
