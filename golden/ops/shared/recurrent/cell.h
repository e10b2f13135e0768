/* Cells of recurrent operations: what RNN and LSTM operations share.
 *
 * A cell reads a sequence of rows and keeps a state.  Each of its gates is
 *
 *     activation(norm(input * W + auxiliary * A + state * R + peephole . cell_state) + bias)
 *
 * (without a norm the bias is the first term of the sum).  The products with the inputs of all
 * steps are one matrix product, made before the first step.  The same code gives the values (unit
 * 0) and, beside them, the bounds of their errors (unit: roundoff of the arithmetic judged): errors
 * go through gates and from step to step as near.h has it. */
#ifndef GOLDEN_CELL_H
#define GOLDEN_CELL_H

#include "golden/base/arena.h"
#include "golden/judge/ball.h"
#include "golden/math/matmul.h"

enum { NO_OPERAND = -1 };

/* Where the rows of a sequence are: that of batch b at time t is b * batch_step + t * time_step. */
struct cell_sequence {
    size_t batch, time;
    size_t batch_step, time_step;
};
/* [batch, time, size], or with time_major [time, batch, size]; rank 2: one step. */
struct cell_sequence cell_sequence_of(const struct tensor *input, bool time_major);

/* A call that is computed. */
struct cell {
    const struct call *c;
    struct cell_sequence rows;
    double unit;
    double limit; /* where the sums of gates saturate, operand by operand; 0: nowhere */
};

/* Activations and clips, y of x: keeps y open where x may have left the range of floats, as a sum
 * that overflowed may be no number. */
struct near cell_follows(const struct cell *k, struct near x, struct near y);

/* The values of an operand, with their errors if the cell asks for any. */
struct near_array cell_operand(const struct cell *k, int role);
/* n values to be computed. */
int cell_array(const struct cell *k, size_t n, struct near_array *ret_array, struct why *w);

/* A matrix operand of n rows of k weights, prepared for products. */
struct cell_matrix {
    size_t n, k;
    struct near_array weights;
    double *magnitude;                  /* |weights|, where errors are asked for */
    const struct matmul_packed *packed; /* NULL: on the way */
};
/* reused: there will be several products with it. */
int cell_matrix_init(const struct cell *k, int role, bool reused, struct cell_matrix *ret_matrix,
                     struct why *w);
/* The magnitudes of one whose weights are no operand, where errors are asked for. */
int cell_matrix_measure(const struct cell *k, struct cell_matrix *m, struct why *w);

/* Rows of an array, `stride` numbers apart. */
struct cell_rows {
    struct near_array at;
    size_t n, stride;
};
/* to += from * matrix; terms: products in the whole sum, of which these are some */
int cell_product(const struct cell *k, const struct cell_rows *from, const struct cell_matrix *m,
                 size_t terms, const struct cell_rows *to, struct why *w);

/* The operands of a gate by role; NO_OPERAND or omitted in the call: it has none. */
struct cell_gate_roles {
    int input, weights, aux, aux_weights, recurrent, bias, peephole, norm;
};

struct cell_gate {
    size_t units, terms;
    struct cell_matrix recurrent;
    struct near_array sum; /* by row of the sequence */
    struct near_array bias, peephole, norm;
    double *scratch; /* a number a unit; NULL where no errors are normalised */
};
int cell_gate_init(const struct cell *k, const struct cell_gate_roles *roles,
                   struct cell_gate *ret_gate, struct why *w);

/* Adds the products with the state, a row a batch, to the sums of step t. */
int cell_gate_recur(const struct cell *k, const struct cell_gate *g, const struct near_array *state,
                    size_t t, struct why *w);
/* The gate of batch b at step t, into `units` values; cell_state: of that batch, for the
 * peephole. */
void cell_gate_finish(const struct cell *k, const struct cell_gate *g, size_t t, size_t b,
                      const struct near_array *cell_state, int32_t activation,
                      const struct near_array *to);

/* Starting values of a state: a copy of the operand. */
int cell_state(const struct cell *k, int role, size_t n, struct near_array *ret_state,
               struct why *w);

/* Result i of the call, as a place for values and, with a unit, errors. */
struct near_array cell_result(const struct call *c, int i, double unit);

/* Whether any operand has an error. */
bool cell_inexact(const struct call *c);
/* The call of an operation with units, with its operands as real numbers and exact sums of
 * products: for bounds. */
int cell_real_call(const struct call *c, struct call *ret_real, struct why *w);

/* --- for records */

/* How operations with sequences say which dimension is the time; dtype: BOOL or INT32. */
#define CELL_TIME_MAJOR_ROLE(dtype)                                                                \
    {                                                                                              \
        "time_major", "true: the time is the first dimension, the batch the second",               \
            .slot = FIXED(dtype), .draw = DRAW_OP, .needs = NEEDS_CONST                            \
    }

/* For infer(): the batch is that of the states, the letter B; the shape of a sequence of outputs,
 * as far as time_major is known. */
int cell_infer_sequence(const struct call *c, int input, int time_major, uint32_t outputs,
                        struct shape *ret_shape, struct why *w);
/* For draw(): the shape of a role from the letters of its pattern: B from the input, what is not
 * bound yet up to 6. */
bool cell_draw_shape(const struct call *c, int input, int role, struct drawer *d,
                     struct tensor *to);
/* For draw(): an order that fits the batch of the states. */
bool cell_draw_time_major(const struct call *c, int input, struct drawer *d, struct tensor *to);

/* For infer(): the activation, if known, is among the codes that `allowed` has a bit for. */
int cell_check_activation(const struct call *c, int role, unsigned allowed, struct why *w);

#endif
