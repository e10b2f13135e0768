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
    bool loose; /* its bounds are wide, or it follows the device's values: ranked after others */
    /* Makes a variant: changes *v and runs it, or changes its results.  False: there is none. */
    bool (*make)(struct variant *v, int attempt);
};

/* The families, each ending with a row without a name. */
extern const struct hypothesis storing_hypotheses[], layout_hypotheses[], window_hypotheses[],
    operand_hypotheses[], sum_hypotheses[], attribute_hypotheses[];
/* Computes the sums without bias and activation, then adds the bias in another scale, of an element
 * of the bias, and applies the activation.  False: not a quantised sum with a bias. */
bool variant_run_bias(struct variant *v,
                      double (*scale)(const struct subject *s, size_t bias, int attempt),
                      int attempt);
/* Row i of all families, NULL after the last. */
const struct hypothesis *hypothesis_at(int i);

/* The sentence of a hypothesis; NULL: there is none of that name. */
const char *hypothesis_sentence(const char *name);

/* How well a hypothesis explains the device's results, by its best variant. */
struct hypothesis_result {
    const struct hypothesis *hypothesis;
    int attempt, order; /* order: the number of hypothesis and attempt */
    char note[120];
    bool matches;
    size_t explained;    /* wrong elements that are within the variant's bounds */
    size_t contradicted; /* right elements that the variant would make wrong */
    double distance;     /* mean of |actual - variant| / step of all elements, at most 1 each */
    /* Similar cases in which the device computes what the variant does; those of them in which it
     * is wrong. */
    uint32_t similar, similar_wrong;
};

struct hypothesis_results {
    /* In the subject's arena, one per hypothesis, the best first: those that match; if none does,
     * those that explain half of the wrong elements or more. */
    struct hypothesis_result *best;
    int n;
    int tried;     /* hypotheses that apply to this operation and can be computed */
    int of;        /* all there are */
    int too_large; /* hypotheses of which variants were left out, because the operands are large */
    uint32_t similar, similar_wrong; /* similar cases; those of them in which the device is wrong */
};

/* How likely it is by the similar cases; only the order matters. */
uint32_t hypothesis_rank(const struct hypothesis_result *f);

/* Tries all hypotheses on a subject, and those that explain it on similar cases; none if it has no
 * wrong elements.  similar: NULL for none.  -1: out of memory. */
struct similar;
int hypotheses_try(const struct subject *s, struct similar *similar, struct hypothesis_results *ret,
                   struct why *w);

#endif
