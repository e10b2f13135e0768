/* Every way in which a conformance suite bends a right model so that no driver may accept it, as
 * data: one row per mutation, which enumerates its mutants of any model.
 *
 * Only the main subgraph is bent.  What a mutation leaves out, because the bent model would be
 * legal, stands in its row and in the tables of exemptions of tests/vts_mutations.c. */
#ifndef TESTS_VTS_MUTATIONS_H
#define TESTS_VTS_MUTATIONS_H

#include "golden/base/arena.h"
#include "sim/hal.h"

/* Lent for the call. */
struct vts_mutant {
    struct hal_model model;
    struct hal_prepare_config config;
    char what[80]; /* "operand 3: type 14" */
};

typedef void vts_visit(const struct vts_mutant *mutant, void *user);

/* The enumeration of one mutation's mutants of one model. */
struct vts_walk {
    const struct hal_model *honest;
    enum hal_version version; /* of the entry points that get the mutants */
    struct arena *arena;
    struct arena_mark start;
    vts_visit *visit;
    void *user;
    /* The mutant under way, with room for one more of each. */
    struct vts_mutant mutant;
    struct hal_operand *operand;
    struct hal_operation *operation;
};

struct vts_mutation {
    const char *rule; /* "M1" */
    const char *name;
    enum hal_version since, until; /* of the entry point; 0: all */
    bool is_config;                /* the model is right: only its preparation is refused */
    void (*each)(struct vts_walk *w);
    const char *except; /* NULL: nothing; else what has no mutants, and why */
};

extern const struct vts_mutation vts_mutations[];
extern const int vts_n_mutations;

/* The usual way to prepare. */
extern const struct hal_prepare_config vts_usual;

/* Visits all mutants of a model that is legal at that version; returns how many there were. */
unsigned vts_walk(const struct vts_mutation *m, const struct hal_model *honest,
                  enum hal_version version, vts_visit *visit, void *user);

#endif
