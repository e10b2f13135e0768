/* A plan of several steps, prepared: each step's model on its device, and where an execution puts
 * what goes from step to step. */
#ifndef RUNTIME_COMPILED_PLAN_H
#define RUNTIME_COMPILED_PLAN_H

#include "runtime/compile/partition.h"
#include "runtime/compile/preparation.h"

/* A use of an input or output of a compilation in a step of its plan. */
struct step_role {
    const ANeuralNetworksDevice *device;
    struct hal_prepared_model *prepared;
    bool is_output;
    uint32_t index; /* of the step's model */
};
struct argument_roles {
    uint32_t n;
    const struct step_role *role;
};

struct compiled_step {
    /* STEP_EXECUTE */
    struct hal_prepared_model *prepared;
    struct hal_prepared_model *fallback; /* on the reference executor; NULL: not yet */
    /* STEP_WHILE: of each output of the body two offsets, which iterations use in turn. */
    size_t (*body_output)[2];
};

/* An operand of known size that has a place in a memory of the execution: `length` bytes and
 * padding behind them. */
struct temporary {
    uint32_t number; /* plan_operand() */
    size_t offset, length, padding;
};

struct compiled_plan {
    const ANeuralNetworksModel *model;
    struct partition partition;
    struct compiled_step *step;
    /* Operands of all sources in one numbering: that of operand 0 of each source. */
    const uint32_t *base;
    uint32_t n_operands;
    uint32_t n_temporaries;
    struct temporary *temporary;
    size_t temporaries_size;
    struct plan_roles *roles;
};

static inline uint32_t plan_operand(const struct compiled_plan *p, uint32_t source,
                                    uint32_t operand)
{
    return p->base[source] + operand;
}
/* The graph of a source model. */
static inline const struct graph *plan_graph(const struct compiled_plan *p, uint32_t source)
{
    return &p->model->model.graph[p->partition.source[source].graph];
}
/* The operation of a STEP_IF or STEP_WHILE. */
static inline const struct operation *plan_construct(const struct compiled_plan *p,
                                                     const struct plan_step *s)
{
    return &plan_graph(p, s->source)->operation[s->construct];
}

/* Everything but prepared models; in `a`, as is the partition.  WHY_EXECUTION: a value between
 * steps has a type whose values have any length. */
int compiled_plan_make(const ANeuralNetworksModel *m, const struct partition *p, struct arena *a,
                       struct compiled_plan **ret, struct why *w);
/* Prepares each step on its device; in the cache's place, which has no `part`, each is a part of
 * its own.  Results: those of prepare_on_device(). */
int compiled_plan_prepare(struct compiled_plan *p, const struct preparation *how);
/* Prepares a step on the reference executor unless that has been done. */
int compiled_plan_prepare_fallback(struct compiled_plan *p, uint32_t step);
/* The roles of the main model's inputs, then outputs; in `a`. */
int compiled_plan_roles(const struct compiled_plan *p, struct arena *a,
                        const struct argument_roles **ret, struct why *w);
/* Releases what is prepared. */
void compiled_plan_release(struct compiled_plan *p);

#endif
