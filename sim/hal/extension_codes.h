/* Translates type and operation codes of extensions and OEMs between a HAL model, whose client
 * chooses the extension prefixes, and golden's fixed numbering (golden/model/extension.h). */
#ifndef SIM_EXTENSION_CODES_H
#define SIM_EXTENSION_CODES_H

#include "golden/model/extension.h"
#include "sim/hal.h"

/* The extensions that a device supports: one bit per enum extension_prefix.  Types and operations
 * of all others are foreign: valid, unchecked and unsupported. */
typedef uint64_t extension_set;
#define EXTENSION_BIT(prefix) (UINT64_C(1) << (prefix))
/* Every extension that has a name, that is all except OEM. */
#define EXTENSIONS_NAMED                                                                           \
    ((EXTENSION_BIT(EXTENSION_END) - 1) &                                                          \
     ~(EXTENSION_BIT(EXTENSION_NONE) | EXTENSION_BIT(EXTENSION_oem)))

/* The mapping of one HAL model's extension prefixes to golden's. */
struct extension_codes {
    enum hal_version version;
    extension_set known;
    uint32_t n;
    struct extension_codes_row *row; /* ascending by the client's prefix */
};

/* Checks that the extension names and prefixes of a model are valid and distinct, builds the
 * mapping and fills m->extension with golden's prefixes.  Results are allocated in the arena.
 * WHY_INVALID or WHY_MEMORY. */
int extension_codes_read(const struct hal_model *hal, enum hal_version version, extension_set known,
                         struct arena *a, struct extension_codes *ret_names, struct model *m,
                         struct why *w);

/* HAL to golden, for a code that is not one of NNAPI's own.  extension_codes_type() sets the
 * operand's tensor.dtype and foreign.  WHY_INVALID: the model names no extension for the code's
 * prefix, or the extension is supported and has no such operation or type. */
int extension_codes_operation(const struct extension_codes *n, int32_t code, int32_t *ret_code,
                              struct why *w);
int extension_codes_type(const struct extension_codes *n, int32_t code, struct operand *ret_operand,
                         struct why *w);

/* Checks that each hint has a value and the prefix of one of the extensions, whose names and
 * prefixes are legal and distinct, and that no token occurs twice.  WHY_INVALID or WHY_MEMORY. */
int extension_codes_check_hints(uint32_t n, const struct hal_token_value *hints,
                                uint32_t n_prefixes, const struct hal_extension_prefix *prefixes,
                                struct why *w);

/* Golden to HAL. */
int32_t extension_codes_hal_operation(int32_t code);
int32_t extension_codes_hal_type(const struct operand *o);

#endif
