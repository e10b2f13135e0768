/* Coverage: which calls of the catalogue's operations have been executed, and weights that move to
 * those that were executed least.
 *
 * A cell is what a call is counted under: operation, form, typing row, rank, options and the class
 * of its operands' values.  Its members are text, as the results database has them
 * (harness/store/schema.sql), so that counts of other versions can be read. */
#ifndef RANDGRAPH_COVERAGE_H
#define RANDGRAPH_COVERAGE_H

#include <stdio.h>

#include "randgraph/randgraph.h"

struct randgraph_cell {
    const char *operation; /* "CONV_2D" */
    const char *form;      /* "implicit padding"; "" where the operation has one form */
    const char *types;     /* the typing row: "TENSOR_FLOAT32,TENSOR_FLOAT32", by slot */
    uint32_t rank;         /* of the first tensor that is read; 0: scalar or unknown */
    const char *options;   /* "padding=same stride_width=more nchw=true bias=omitted"; may be "" */
    const char *values;    /* a word of randgraph_value_class[] */
};

/* Classes of the values of a call's tensors that the example gives, as inputs or constants.  The
 * first class that one of them belongs to counts. */
enum randgraph_value_class {
    CLASS_EMPTY,     /* no elements */
    CLASS_NONFINITE, /* infinite or NaN */
    CLASS_LARGE,     /* a magnitude of at least 10,000; of TENSOR_INT32 at least 2^15 */
    CLASS_SUBNORMAL, /* a subnormal number of its type */
    CLASS_LIMITS,    /* at least half of the codes are the least or the greatest of their type */
    CLASS_ZEROS,     /* all elements are zero */
    CLASS_WHOLE,     /* floats that are all whole numbers */
    CLASS_OTHER,
    CLASS_COMPUTED, /* all tensors are results of other operations */
    RANDGRAPH_VALUE_CLASSES
};
extern const char *const randgraph_value_class[RANDGRAPH_VALUE_CLASSES];

/* Calls cell() for each operation of the example's graphs, and pair() for each operand that one
 * operation writes and another reads.  scratch is rewound.  -1: out of memory. */
int randgraph_each_cell(const struct example *e, struct arena *scratch,
                        void (*cell)(const struct randgraph_cell *c, void *user),
                        void (*pair)(const char *producer, const char *consumer, void *user),
                        void *user);

/* ---- counts (randgraph/coverage.c) */

/* How often something was executed; and how often it was in a graph that was not, as the target
 * does not support or refuses the graph. */
struct randgraph_count {
    uint64_t ran, not_run;
};

struct randgraph_coverage;
/* No counts.  NULL: out of memory. */
struct randgraph_coverage *randgraph_coverage_new(void);
void randgraph_coverage_free(struct randgraph_coverage *c);
/* Adds counts.  What this version does not know, as of an extension, is left out. */
void randgraph_coverage_add(struct randgraph_coverage *c, const struct randgraph_cell *cell,
                            struct randgraph_count n);
bool randgraph_coverage_is_empty(const struct randgraph_coverage *c);
void randgraph_coverage_add_pair(struct randgraph_coverage *c, const char *producer,
                                 const char *consumer, struct randgraph_count n);

/* What is counted: an operation; one of its forms with one of its typing rows; this with a rank,
 * with an option, with a class of values; and a pair of operations, the first of which writes what
 * the second reads. */
enum randgraph_facet {
    FACET_OPERATION,
    FACET_ROW,
    FACET_RANK,
    FACET_OPTION,
    FACET_VALUES,
    FACET_NEIGHBOURS,
    RANDGRAPH_FACETS
};
extern const char *const randgraph_facet_name[RANDGRAPH_FACETS]; /* "operation", "row", ... */

/* An item of a facet; members that the facet does not have are "". */
struct randgraph_item {
    enum randgraph_facet facet;
    const char *operation, *form, *types;
    const char *what; /* "4", "activation=relu", "zeros"; of neighbours the consumer */
    struct randgraph_count n;
};
/* Calls each() for every item of the facet, in the order of the catalogue: those that can occur,
 * and those that did. */
void randgraph_coverage_each(const struct randgraph_coverage *c, enum randgraph_facet facet,
                             void (*each)(const struct randgraph_item *i, void *user), void *user);

/* Writes all counts that are not 0 as lines of text, the same for equal counts.  -1: writing fails.
 */
int randgraph_coverage_write(const struct randgraph_coverage *c, FILE *to);
/* Adds the counts of such a text.  WHY_INVALID: it is none.  What this version does not know is
 * left out. */
int randgraph_coverage_read(struct randgraph_coverage *c, const char *text, struct why *w);

/* ---- weights (randgraph/steering.c)
 *
 * A steering set has a weight for each operation, form with typing row, rank, option, class of
 * values and pair of neighbours.  With options.steering, graphs have more of what has a large
 * weight.  It is never changed, and may be used by several threads. */

struct randgraph_steering;
/* Weights by the counts; support: what is drawn for, or NULL.  Draws nothing: equal counts give
 * equal weights.  WHY_MEMORY. */
int randgraph_steering_new(const struct randgraph_coverage *c,
                           const struct randgraph_support *support,
                           struct randgraph_steering **ret_steering, struct why *w);
void randgraph_steering_free(const struct randgraph_steering *s);
/* The text that randgraph_steering_parse() reads; there is one for each set. */
const char *randgraph_steering_text(const struct randgraph_steering *s);
uint64_t randgraph_steering_digest(const struct randgraph_steering *s); /* of the text; never 0 */
int randgraph_steering_parse(const char *text, struct randgraph_steering **ret_steering,
                             struct why *w);

#endif
