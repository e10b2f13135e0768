/* What a shrunk failure is like, as far as it tells whether others have the same cause. */
#ifndef HARNESS_SYMPTOM_H
#define HARNESS_SYMPTOM_H

#include "golden/edit/edit.h"
#include "harness/explain/matching.h"

struct shrunk;

enum {
    SYMPTOM_ATTRIBUTES = 12,
    SYMPTOM_SEVERAL = 8,
    SYMPTOM_ATTRIBUTE = 32,
    SYMPTOM_TYPE = 48,
    SYMPTOM_TEXT = 512
};

/* The attributes of a call that are not plain: without side or dimension, each once. */
struct call_attributes {
    char name[SYMPTOM_ATTRIBUTES][SYMPTOM_ATTRIBUTE];
    int n;
};

struct symptom {
    enum verdict verdict;
    char failure[SYMPTOM_TEXT]; /* verdict, and its reason without numbers */
    char way[VARIATION_TEXT];   /* symptom_way(); "" if it fails plainly */
    bool is_accepted;           /* the target prepares the model: its execution fails */
    bool is_any;                /* in that way, any operation fails */
    bool everywhere;            /* plain operations that have nothing to do with it fail alike */
    int32_t code;               /* of the only operation; -1: there are several, or any fails */
    int32_t several[SYMPTOM_SEVERAL]; /* the first of several */
    int n_several;
    bool is_compound;        /* the only one runs a subgraph of several, which are right alone */
    int32_t later_output;    /* the wrong one of several outputs; 0: the first, or there is one */
    char type[SYMPTOM_TYPE]; /* of its first tensor; of 8 bits without the sign */
    struct call_attributes attributes;
    char shapes[SYMPTOM_TEXT]; /* of the operands that have several elements; "" if none has */
    struct matching possible;  /* hypotheses that match the shrunk case */
    struct matching matching;  /* those that match the case as it was, too */
};

bool has_attribute(const struct call_attributes *a, const char *name);
bool has_hypothesis(const struct matching *m, const char *name);
void attributes_of(const struct call *call, struct call_attributes *ret);
/* The way without its numbers, "burst,shift".  Returns ret. */
char *symptom_way(const struct variation *v, char ret[VARIATION_TEXT]);
/* The type that an operation is counted under, without the sign of 8 bits: one mistake mostly
 * concerns both. */
const char *symptom_type(const struct graph *g, const struct operation *o);
/* c: the shrunk case, s its results.  Does not set .possible and .matching. */
void symptom_of(const struct edit *c, const struct shrunk *s, struct symptom *ret);

#endif
