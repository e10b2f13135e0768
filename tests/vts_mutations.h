/* The mutations with which a conformance suite makes a valid model invalid, as data: one row per
 * mutation, which enumerates its mutants of any model.  Every driver must reject every mutant.
 *
 * Only the main subgraph is changed.  Mutants that would be valid models are left out: each row
 * names its exemptions, the tables are in tests/vts_exempt.c. */
#ifndef TESTS_VTS_MUTATIONS_H
#define TESTS_VTS_MUTATIONS_H

#include "golden/base/arena.h"
#include "sim/hal.h"

/* Valid during the visitor's call only. */
struct vts_mutant {
    struct hal_model model;
    struct hal_prepare_config config;
    char what[80]; /* "operand 3: type 14" */
};

typedef void vts_visit(const struct vts_mutant *mutant, void *user);

/* The enumeration of one mutation's mutants of one model. */
struct vts_walk {
    const struct hal_model *original;
    enum hal_version version; /* of the entry points that get the mutants */
    struct arena *arena;
    struct arena_mark start;
    vts_visit *visit;
    void *user;
    /* The current mutant; its operands and operations, each with room for one more. */
    struct vts_mutant mutant;
    struct hal_operand *operand;
    struct hal_operation *operation;
};

struct vts_mutation {
    const char *rule; /* "M1" */
    const char *name;
    enum hal_version since, until; /* of the entry point; 0: all */
    bool is_config;                /* the configuration is invalid: only prepare_model rejects it */
    void (*each)(struct vts_walk *w); /* visits all mutants */
    const char *except;               /* NULL: none; else what has no mutants, and why */
};

extern const struct vts_mutation vts_mutations[];
extern const int vts_n_mutations;

/* The default configuration: fast single answer, medium priority, no deadline, no cache. */
extern const struct hal_prepare_config vts_default_config;

/* Visits all mutants of a model that is valid at the entry point's version; returns their number.
 */
unsigned vts_walk(const struct vts_mutation *m, const struct hal_model *original,
                  enum hal_version version, vts_visit *visit, void *user);

#endif
