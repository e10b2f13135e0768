/* The mutations with which a conformance suite makes a valid model invalid, as data: one row per
 * mutation, which enumerates its mutants of any model.  Every driver must reject every mutant.
 *
 * Mutants that can be valid models are left out: each row names
 * its exemptions, some of which harness/corrupt/conform_exempt.h derives from the operations. */
#ifndef HARNESS_CONFORM_MUTATIONS_H
#define HARNESS_CONFORM_MUTATIONS_H

#include "golden/base/arena.h"
#include "sim/hal.h"

/* Valid during the visitor's call only. */
struct conform_mutant {
    struct hal_model model;
    struct hal_prepare_config config;
    char what[80]; /* "operand 3: type 14" */
};

typedef void conform_visit(const struct conform_mutant *mutant, void *user);

/* The enumeration of one mutation's mutants of one model. */
struct conform_walk {
    const struct hal_model *original;
    enum hal_version version; /* of the entry points that get the mutants */
    /* 0: the main subgraph is changed.  Else: referenced[subgraph - 1], which the original and the
     * current mutant have exchanged with the main one; the visitor gets them in their places. */
    uint32_t subgraph;
    struct arena *arena;
    struct arena_mark start;
    conform_visit *visit;
    void *user;
    /* The current mutant; its operands and operations, each with room for one more. */
    struct conform_mutant mutant;
    struct hal_operand *operand;
    struct hal_operation *operation;
};

struct conform_mutation {
    const char *rule; /* "M1" */
    const char *name;
    enum hal_version since, until; /* of the entry point; 0: all */
    bool is_config;                /* the configuration is invalid: only prepare_model rejects it */
    void (*each)(struct conform_walk *w); /* visits all mutants */
    const char *except;                   /* NULL: none; else what has no mutants, and why */
};

extern const struct conform_mutation conform_mutations[];
extern const int conform_n_mutations;

/* Visits all mutants of a model that is valid at the entry point's version, those of its main
 * subgraph; returns their number. */
unsigned conform_walk(const struct conform_mutation *m, const struct hal_model *original,
                      enum hal_version version, conform_visit *visit, void *user);
/* The same with those of its referenced subgraphs. */
unsigned conform_walk_referenced(const struct conform_mutation *m, const struct hal_model *original,
                                 enum hal_version version, conform_visit *visit, void *user);

#endif
