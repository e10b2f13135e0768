/* Internal to randgraph: a support set, and its text. */
#ifndef RANDGRAPH_SUPPORT_H
#define RANDGRAPH_SUPPORT_H

#include "randgraph/randgraph_internal.h"

struct randgraph_support {
    struct arena *arena;             /* owns it all */
    int level;                       /* highest feature level */
    struct randgraph_limits *limits; /* by probe row */
    struct rows rows;                /* those that are supported */
    bool has_relaxed;
    uint32_t control[2]; /* of IF, of WHILE: bit per enum dtype of their arguments */
    struct randgraph_model_limits models;
    const char *text;
    uint64_t digest; /* of the text; never 0 */
};

/* The text of the set, in its arena.  NULL: out of memory. */
char *support_write(const struct randgraph_support *s);

#endif
