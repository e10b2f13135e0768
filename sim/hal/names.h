/* Codes of extensions and OEMs between a HAL model, whose client numbers as it likes, and golden's
 * (golden/model/extension.h). */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "golden/model/extension.h"
#include "sim/hal.h"

/* Which extensions are known: bits of enum extension_prefix.  The others are foreign. */
typedef uint64_t extension_set;
#define EXTENSION_BIT(prefix) (UINT64_C(1) << (prefix))
/* Those with a name: all but OEM's. */
#define EXTENSIONS_NAMED                                                                           \
    ((EXTENSION_BIT(EXTENSION_END) - 1) &                                                          \
     ~(EXTENSION_BIT(EXTENSION_NONE) | EXTENSION_BIT(EXTENSION_oem)))

/* What the prefixes of one HAL model stand for. */
struct names {
    enum hal_version version;
    extension_set known;
    uint32_t n;
    struct names_row *row; /* ascending by the client's prefix */
};

/* Checks the names and prefixes of a model, which are distinct, and gives them in golden's numbers.
 * What comes out is the arena's. */
int names_read(const struct hal_model *hal, enum hal_version version, extension_set known,
               struct arena *a, struct names *ret_names, struct model *m, struct why *w);

/* A code that is not NNAPI's own.  WHY_INVALID: it is none of this model's either, or its extension
 * is known and has no such operation or type. */
int names_operation(const struct names *n, int32_t code, int32_t *ret_code, struct why *w);
int names_type(const struct names *n, int32_t code, struct operand *ret_operand, struct why *w);

/* The other way. */
int32_t names_hal_operation(int32_t code);
int32_t names_hal_type(const struct operand *o);

#endif
