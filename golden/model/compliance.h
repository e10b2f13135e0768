/* Feature levels of a model's parts, and converting a model to a lower level.
 *
 * A model complies with a feature level, and so with the HAL version of that level, if no operand
 * and no operation in it needs a higher one.  A model that does not comply can sometimes be
 * converted: trailing inputs that hold their defaults are left off, trailing optional outputs that
 * nothing reads are dropped, a rank that follows from the inputs is declared, and the relaxed flag
 * is cleared.  The client's inputs and outputs do not change: operand types stay as they are. */
#ifndef GOLDEN_COMPLIANCE_H
#define GOLDEN_COMPLIANCE_H

#include "golden/model/model.h"
#include "golden/model/op.h"

/* The feature level that one part of a model needs. */
struct level_requirement {
    int level;
    uint32_t graph, index;    /* of an operand, or of an operation */
    const struct call *call;  /* the bound operation; NULL: an operand */
    const struct tensor *now; /* with an operation: the operands of its graph, by index, with the
                                 shapes inferred up to this operation */
};
/* Returns 0, or -1 with the reason to stop. */
typedef int level_visitor(const struct level_requirement *n, void *user, struct why *w);

/* Validates the model as model_prepare() does and calls each() (NULL: none) for every operand of
 * all graphs, then for every operation that has a record.  Returns the model's feature level, or -1
 * with the reason, also that of each().  ret_impossible: as for model_prepare(). */
int model_levels(const struct model *m, level_visitor *each, void *user, struct why *ret_impossible,
                 struct why *w);

/* The same for a model that is valid for the C API only (model_check_api()). */
int model_api_levels(const struct model *m, level_visitor *each, void *user, struct why *w);

/* Returns 0 if the model needs no more than `level`.  -1 with WHY_UNSUPPORTED: the reason names the
 * first part that needs more; other codes: the model is not valid. */
int model_complies(const struct model *m, int level, struct why *w);

/* One change made by a conversion. */
struct conversion_note {
    bool lost; /* information is lost; false: an equivalent representation */
    char text[200];
};

struct conversion {
    struct model model; /* needs no more than the requested level, and computes the same results */
    int level;          /* the level that it needs */
    struct conversion_note *note;
    uint32_t n_notes, notes_capacity;
};

/* Appends a note, allocated in `a`. */
__attribute__((format(printf, 5, 6))) int conversion_add_note(struct conversion *c, struct arena *a,
                                                              bool lost, struct why *w,
                                                              const char *fmt, ...);

/* Converts a copy of a valid model, in `a`, to `level`.  -1 with WHY_UNSUPPORTED: not representable
 * there, with the first obstacle. */
int model_convert(const struct model *m, int level, struct arena *a,
                  struct conversion *ret_conversion, struct why *w);

/* "HAL 1.2", "AIDL 1"; "?" for an invalid level. */
const char *level_name(int level);

#endif
