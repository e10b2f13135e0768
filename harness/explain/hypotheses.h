/* Hypotheses: what a driver may have done instead of what the operation requires.  Each is a
 * variant of the reference's computation; it matches if the device's results are within the bounds
 * of the variant's. */
#ifndef HARNESS_HYPOTHESES_H
#define HARNESS_HYPOTHESES_H

#include "harness/explain/variant.h"

struct hypothesis {
    const char *name;     /* "dilations-swapped": stable, for scripts */
    const char *sentence; /* "the dilations of height and width are swapped" */
    int attempts;         /* variants of it: make() is called with 0 .. attempts - 1; 0: one */
    bool loose;           /* its bounds are wide: it is ranked after the others that match */
    /* Makes a variant: changes *v and runs it, or changes its results.  False: there is none. */
    bool (*make)(struct variant *v, int attempt);
};

/* The families, each ending with a row without a name. */
extern const struct hypothesis storing_hypotheses[], layout_hypotheses[], window_hypotheses[],
    operand_hypotheses[], attribute_hypotheses[];
/* Row i of all families, NULL after the last. */
const struct hypothesis *hypothesis_at(int i);

/* How well a variant explains the device's results. */
struct hypothesis_result {
    const struct hypothesis *hypothesis;
    char note[120];
    bool matches;
    size_t explained;    /* wrong elements that are within the variant's bounds */
    size_t contradicted; /* right elements that the variant would make wrong */
    double distance;     /* mean of |actual - variant| / step of all elements, at most 1 each */
};

enum { MOST_FINDINGS = 8 };
struct hypothesis_results {
    struct hypothesis_result
        best[MOST_FINDINGS]; /* matches first, then those that explain half or more */
    int n;
    int tried;     /* hypotheses that apply to this operation and can be computed */
    int of;        /* all there are */
    int too_large; /* hypotheses of which variants were left out, because the operands are large */
};

/* Tries all hypotheses on a subject; none if it has no wrong elements.  -1: out of memory. */
int hypotheses_try(const struct subject *s, struct hypothesis_results *ret, struct why *w);

#endif
