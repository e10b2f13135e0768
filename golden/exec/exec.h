/* The reference executor: a model prepared once, run any number of times. */
#ifndef GOLDEN_EXEC_H
#define GOLDEN_EXEC_H

#include "golden/model/model.h"
#include "golden/model/op.h"

struct plan;
struct matmul_pool;

/* Validates the model (which must outlive the plan), resolves records, orders operations.  A model
 * whose shapes contradict each other prepares all the same, as in NNAPI: plan_run() will fail. */
int plan_new(const struct model *m, struct plan **ret_plan, struct why *w);
void plan_free(struct plan *p);
int plan_level(const struct plan *p); /* feature level the model needs */

/* The arithmetic that results are judged by; 0: that of the operand types themselves. */
struct arithmetic {
    double f32, f16;    /* unit roundoff of accumulators: 2^-24, 2^-11 */
    double dot_factor;  /* 6: bound of a dot product is factor * sqrt(K) * u * sum|xw| */
    double quant_steps; /* extra steps allowed to every rounding quantised operation */
};

/* Called after each operation of the main graph and, with their index, of subgraphs. */
struct exec_event {
    uint32_t graph, operation;
    const struct call *call; /* out[] is valid; with bounds y and ey too */
};

struct exec_options {
    bool bounds; /* compute bounds of error too */
    struct arithmetic arithmetic;
    double loop_timeout;      /* seconds for one WHILE; 0: the NNAPI default, 2 */
    uint64_t max_iterations;  /* of one WHILE, for reproducible limits; 0: none */
    uint64_t max_operations;  /* of the run, counting those of subgraphs each time; 0: none */
    struct arena *arena;      /* for results, result_done() leaves it; NULL: one of its own */
    size_t memory_limit;      /* bytes of an arena of the run's own; 0: none */
    struct matmul_pool *pool; /* NULL: this thread alone */
    void (*on_operation)(const struct exec_event *e, void *user);
    void *user;
};

/* What a run gives; everything lives in its arena. */
struct result {
    struct arena *arena;
    bool owns_arena;
    uint32_t n;
    struct tensor *out;
    /* With options.bounds, per output and element: the unrounded result, and how far a right
     * implementation may be from it (INFINITY: undecidable, any value is right). */
    double **real, **bound;
    /* error.kind of the operation that made the output; ERROR_ELEMENT for sums of products that
     * were not exact already */
    enum error_kind *kind;
    /* With options.bounds: what selected the elements is undecided, another number of them may be
     * right too; all bounds are INFINITY then. */
    bool *open;
    struct odds **odds; /* of a random output; NULL: it is not one */
};

/* in: one tensor per input of the main graph (shape complete; .data NULL: omitted).  On failure
 * nothing is left in *ret_result.  WHY_EXECUTION, WHY_TIMEOUT, WHY_MEMORY as they say. */
int plan_run(const struct plan *p, const struct tensor *in, const struct exec_options *options,
             struct result *ret_result, struct why *w);
void result_done(struct result *r);

/* For control(): a value of the running model. */
struct value {
    struct tensor tensor;
    double *real;  /* before rounding; NULL: the tensor's values */
    double *bound; /* how far an implementation may be from real; NULL: not at all */
    enum error_kind kind;
    struct prepared *prepared; /* of a constant of the plan; else NULL */
    bool open;                 /* even its shape may be another */
    struct odds *odds;         /* of a random result; NULL: it is not one */
};
/* Runs subgraph `graph`.  Results stay valid until the third following call of the same graph: a
 * loop may feed the results of one turn to the next, and nothing piles up. */
int frame_call(struct exec_frame *f, uint32_t graph, const struct value *in, uint32_t n_in,
               struct value *ret_out, uint32_t n_out, struct why *w);
/* The values of the call's operands, outputs to be filled by control(); the subgraph operand i. */
struct value *frame_in(struct exec_frame *f, uint32_t i);
struct value *frame_out(struct exec_frame *f, uint32_t i);
uint32_t frame_subgraph(const struct exec_frame *f, uint32_t i);
uint32_t frame_n_outputs(const struct exec_frame *f, uint32_t graph);
/* -1 with WHY_TIMEOUT when a loop begun at `since` (frame_now()) has run for too long. */
double frame_now(void);
int frame_check_loop(const struct exec_frame *f, double since, uint64_t iterations, struct why *w);
/* All outputs may be anything: a condition could not be decided. */
void frame_undecided(struct exec_frame *f);

#endif
