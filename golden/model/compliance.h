/* Feature levels of a model's parts, and expressing it at a lower one.
 *
 * A model complies with a level, and with the version of the HAL that speaks it, when no operand
 * and no operation in it needs a higher one.  One that does not may still say the same in other
 * words: trailing operands that hold their defaults can be left off, results that nobody reads can
 * be dropped, a rank that follows from the inputs can be written down, and an older HAL can be
 * stricter than it was asked to be.  Nothing that changes what a client passes in or gets out is
 * done: types of operands stay as they are. */
#ifndef GOLDEN_COMPLIANCE_H
#define GOLDEN_COMPLIANCE_H

#include "golden/model/model.h"
#include "golden/model/op.h"

/* What one part of a model needs. */
struct level_need {
    int level;
    uint32_t graph, index;    /* of an operand, or of an operation */
    const struct call *call;  /* the operation, bound; NULL: an operand */
    const struct tensor *now; /* of an operation: all operands of the graph with the shapes inferred
                                 up to here */
};
/* Return -1 to stop. */
typedef int level_each(const struct level_need *n, void *user, struct why *w);

/* Validates the model as model_prepare() does and hands over every operand, then every operation
 * that can be executed.  Returns the feature level of the whole. */
int model_levels(const struct model *m, level_each *each, void *user, struct why *ret_impossible,
                 struct why *w);

/* 0 when the model, as it is, needs no more than `level`; else -1 and, with WHY_UNSUPPORTED, the
 * first part that does and what in it; or why the model is not valid. */
int model_complies(const struct model *m, int level, struct why *w);

/* One change that a conversion has made. */
struct conversion_note {
    bool lost; /* something that the model said is gone; else it is only said in other words */
    char text[200];
};

struct conversion {
    struct model model; /* needs no more than the level, and gives the same results */
    int level;          /* that it needs */
    struct conversion_note *note;
    uint32_t n_notes, room_for_notes;
};

/* Adds to what a conversion has to say, in its arena. */
__attribute__((format(printf, 5, 6))) int conversion_add_note(struct conversion *c, struct arena *a,
                                                              bool lost, struct why *w,
                                                              const char *fmt, ...);

/* Expresses a valid model at `level`, in `a`.  -1 with WHY_UNSUPPORTED: it cannot be, and why. */
int model_convert(const struct model *m, int level, struct arena *a,
                  struct conversion *ret_conversion, struct why *w);

/* "HAL 1.2", "AIDL 1"; "?" for what is no level. */
const char *level_name(int level);

#endif
