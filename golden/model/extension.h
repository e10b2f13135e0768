/* Vendor extensions: sets of operand types and operations that NNAPI does not have, under a name.
 *
 * An extension is a record, in golden/extensions/, with its name and types in golden/extension.def.
 * Its operations are `struct op` as the catalogue's are, so that everything which interprets those
 * (validation, inference, execution, judging, graphDump) knows them too; they are no part of the
 * catalogue, so that nothing draws or documents them as NNAPI's.
 *
 * In a model, codes of an extension carry a prefix in their high bits, and the model says which
 * name each prefix stands for.  Clients number as they like; within Halcyon every extension of the
 * list has one prefix, its place in the list, and its types are members of enum dtype.  Models are
 * renumbered where they come in and go out (sim/hal/convert.h).  What is not in the list is
 * foreign: the model keeps code and name, nothing can be said of its meaning. */
#ifndef GOLDEN_EXTENSION_H
#define GOLDEN_EXTENSION_H

#include "golden/model/model.h"
#include "golden/model/op.h"

/* Their prefixes.  The first is no extension: OEM operations of Halcyon's own kind. */
enum extension_prefix {
    EXTENSION_NONE,
#define EXTENSION(id, name) EXTENSION_##id,
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since)
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
    EXTENSION_END
};

/* `code` of an operation's record. */
#define EXTENSION_CODE(id, number) ((EXTENSION_##id << 16) | (number))
/* The prefix of a type's or operation's code; 0: NNAPI's own, or an OEM's. */
static inline uint32_t extension_prefix_of(int32_t code)
{
    return (uint32_t) code >> 16;
}

/* Codes of what OEMs define; as numbers of the OEM record they count from here. */
enum { OEM_CODE = 10000, OEM_CODES_TYPES = 2, OEM_CODES_OPERATIONS = 1 };

struct extension_record {
    const char *summary;
    const struct op *op; /* by number, ascending */
    int n_ops;
    /* Whether the data attached to an operand of one of its types is right.  NULL: there must be
     * none. */
    int (*check_data)(const struct tensor *t, struct why *w);
};

/* By prefix; EXTENSION_NONE: NULL. */
extern const struct extension_record *const extension_table[EXTENSION_END];
extern const char *const extension_name[EXTENSION_END];

/* EXTENSION_NONE unless there is one of that name. */
enum extension_prefix extension_by_name(const char *name);

/* What a type belongs to, and its number there; EXTENSION_NONE for NNAPI's types and foreign ones.
 */
enum extension_prefix extension_of_type(enum dtype type, uint16_t *ret_number);
/* DT_FOREIGN unless the extension has such a type. */
enum dtype extension_type(enum extension_prefix prefix, uint16_t number);
enum dtype extension_type_by_name(enum extension_prefix prefix, const char *name);

/* NULL unless some extension has the operation. */
const struct op *extension_op(int32_t code);
const struct op *extension_op_by_name(enum extension_prefix prefix, const char *name);

/* "org.halcyon.example.fibonacci.FIBONACCI": names of types and operations with the extension's
 * before them, as files and people write them; OEM's, which are no extension, stand alone. */
enum { EXTENSION_TEXT = 160 };
const char *extension_type_text(enum dtype type, char text[EXTENSION_TEXT]);
const char *extension_op_text(const struct op *op, char text[EXTENSION_TEXT]);
/* DT_FOREIGN, NULL: nothing has that name. */
enum dtype extension_type_of_text(const char *text);
const struct op *extension_op_of_text(const char *text);

/* Whether it has types or operations of extensions, known or not; OEM's are none. */
bool model_uses_extensions(const struct model *m);
/* Whether it has types or operations of OEMs. */
bool model_uses_oem(const struct model *m);

/* Names in the model the extensions whose types or operations it has; -1: out of memory. */
int model_name_extensions(struct model *m, struct arena *a);

/* a-z, 0-9, '_' and '.', at least one of these. */
bool extension_name_is_legal(const char *name);

/* Whether nothing is known of an operation, or of an operand that it has. */
bool operation_is_foreign(const struct graph *g, const struct operation *o);
/* Whether there is such an operation; *ret_code (may be NULL): the first code of that kind. */
bool model_is_foreign(const struct model *m, int32_t *ret_code);

#endif
