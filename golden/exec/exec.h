/* The reference executor: a plan is made once from a model and run any number of times. */
#ifndef GOLDEN_EXEC_H
#define GOLDEN_EXEC_H

#include "golden/model/model.h"
#include "golden/model/op.h"

struct plan;
struct matmul_pool;

/* Validates the model (which must outlive the plan), looks up the records and orders the
 * operations.  As in NNAPI, succeeds for a model whose shapes contradict each other: plan_run()
 * fails.  WHY_UNSUPPORTED: an operation of an unknown extension or OEM. */
int plan_new(const struct model *m, struct plan **ret_plan, struct why *w);
void plan_free(struct plan *p);
int plan_level(const struct plan *p); /* feature level that the model needs */

/* The arithmetic that error bounds assume.  A member of 0 stands for its default, given here. */
struct arithmetic {
    double f32, f16;    /* unit roundoff of accumulators: 2^-24, 2^-11 */
    double dot_factor;  /* 6: bound of K products is dot_factor * sqrt(K) * u * sum |xw| */
    double quant_steps; /* 0.25: steps added to the bound of inexact quantised operations */
};

/* Reported after each operation of the main graph (graph 0) and of subgraphs; not after IF and
 * WHILE themselves. */
struct exec_event {
    uint32_t graph, operation;
    const struct call *call; /* out[] is valid; with bounds y and ey too */
};

struct exec_options {
    bool bounds;        /* compute error bounds too */
    bool by_definition; /* never use eval_stored(), for tests that compare it with eval() */
    struct arithmetic arithmetic;
    double loop_timeout;      /* processor seconds for one WHILE; 0: the NNAPI default, 2 */
    uint64_t max_iterations;  /* of one WHILE, a reproducible limit; 0: no limit */
    uint64_t max_operations;  /* executed in the run, subgraphs included; 0: no limit */
    struct arena *arena;      /* for results, owned by the caller; NULL: the result owns one */
    size_t memory_limit;      /* bytes of each arena that the run creates; 0: no limit */
    struct matmul_pool *pool; /* NULL: the calling thread alone */
    void (*on_operation)(const struct exec_event *e, void *user);
    void *user;
};

/* The results of a run, allocated in its arena. */
struct result {
    struct arena *arena;
    bool owns_arena;
    uint32_t n;
    struct tensor *out;
    /* With options.bounds, per output and element: the unrounded result, and the allowed absolute
     * error (INFINITY: undecided, any value is correct).  Otherwise NULL. */
    double **real, **bound;
    /* Per output, error.kind of the operation that computed it; ERROR_ELEMENT for sums of products
     * whose inputs were not exact. */
    enum error_kind *kind;
    /* Per output, with options.bounds: its shape is undecided, another number of elements may be
     * correct too; all bounds are INFINITY then. */
    bool *open;
    struct distribution **distribution; /* per output; NULL: not random */
    struct choices **choices; /* per output: the right values within the bounds; NULL: all */
};

/* in: one tensor per input of the main graph, with complete shape; .data NULL: omitted.  options
 * NULL: defaults (all 0).  *ret_result is untouched on failure; free it with result_done().  Runs
 * of one plan may overlap.  WHY_INVALID: an input does not fit its declaration. */
int plan_run(const struct plan *p, const struct tensor *in, const struct exec_options *options,
             struct result *ret_result, struct why *w);
void result_done(struct result *r);

/* The value of an operand during a run; for control(). */
struct value {
    struct tensor tensor;
    double *real;  /* before rounding; NULL: the tensor's values */
    double *bound; /* allowed absolute error of real; NULL: exact */
    enum error_kind kind;
    struct const_cache *const_cache; /* cache of a constant's derived forms; NULL: not a constant */
    bool open;                       /* its shape is undecided */
    struct distribution *distribution; /* distribution of a random result; NULL: not random */
    struct choices *choices;           /* right values within the bounds; NULL: all */
};
/* Runs subgraph `graph`.  Results stay valid until the third following call of the same graph, so
 * that a loop can pass the results of one iteration to the next in constant memory. */
int frame_call(struct exec_frame *f, uint32_t graph, const struct value *in, uint32_t n_in,
               struct value *ret_out, uint32_t n_out, struct why *w);
/* Input i of the call (NULL: omitted); output i, which control() fills; the graph index that input
 * i, a subgraph operand, refers to. */
struct value *frame_in(struct exec_frame *f, uint32_t i);
struct value *frame_out(struct exec_frame *f, uint32_t i);
uint32_t frame_subgraph(const struct exec_frame *f, uint32_t i);
uint32_t frame_n_outputs(const struct exec_frame *f, uint32_t graph);
/* Processor time of the calling thread, in seconds: the load of the machine does not end loops. */
double frame_now(void);
/* Fails with WHY_TIMEOUT if a loop that started at `since` (frame_now()) exceeds the run's limit of
 * time or of iterations. */
int frame_check_loop(const struct exec_frame *f, double since, uint64_t iterations, struct why *w);
/* Marks all outputs undecided, because a condition is. */
void frame_undecided(struct exec_frame *f);

#endif
