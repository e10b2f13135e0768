/* What is explained: one operation alone, with its operands, the reference's results and those of a
 * device. */
#ifndef HARNESS_SUBJECT_H
#define HARNESS_SUBJECT_H

#include "golden/golden.h"

struct subject {
    const struct example *example; /* a model of one operation, with its inputs */
    const struct op *op;           /* its record */
    const struct operation *operation;
    const struct tensor **arg;      /* input values in calling order; NULL: omitted */
    struct call call;               /* bound, without x and y */
    const struct result *reference; /* with bounds */
    const struct tensor *actual;    /* the device's outputs, as reference->out */

    /* Of the output that is explained. */
    uint32_t output;
    const struct tensor *expected; /* reference->out[output] */
    const double *real, *bound;    /* the reference's, unrounded */
    double *value;                 /* the device's real values */
    unsigned char *verdict;        /* enum element_verdict of each element */
    size_t n, n_wrong, n_right;    /* elements: all, outside and within their bounds */
    size_t worst; /* the element with the largest error as a multiple of its bound */
    struct arena *arena;
};

/* Binds the operation and judges output `output`.  What is passed must outlive *s, which does not
 * move.  reference: of the same example, with bounds. */
int subject_init(struct subject *s, const struct example *e, const struct result *reference,
                 const struct tensor *actual, uint32_t output, struct arena *a, struct why *w);

/* The role of that name, or -1; the argument (index in arg[]) that has it, or -1. */
int subject_role(const struct subject *s, const char *name);
int subject_arg(const struct subject *s, const char *name);
/* The name of an argument's role, with a number for those of a variadic role. */
const char *subject_arg_name(const struct subject *s, uint32_t arg, char text[64]);

/* Elements of the explained output and of all inputs. */
size_t subject_elements(const struct subject *s);

/* Elements of a stored value: the size of one step; 0 for floats and plain integers. */
double tensor_step_of(const struct tensor *t, size_t element);
/* The stored number that an element holds: q of quantised types. */
double tensor_stored(const struct tensor *t, size_t element);

/* Row-major index to coordinates, and back.  at[MAX_RANK]. */
void shape_place(const struct shape *s, size_t index, uint32_t *ret_at);
size_t shape_index(const struct shape *s, const uint32_t *at);
/* "[0,3,2]" of an element; returns text. */
char *place_text(const struct shape *s, size_t index, char text[SHAPE_TEXT]);

/* What the indexes of dimension d of the explained output are: "row", "channel"; NULL: no image. */
const char *subject_dimension(const struct subject *s, uint32_t d);

#endif
