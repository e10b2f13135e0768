/* Recurrent cells: what the RNN and LSTM operations share.
 *
 * A cell reads a sequence of rows and keeps a state.  Each of its gates is
 *
 *     activation(norm(input * W + auxiliary * A + state * R + peephole . cell_state) + bias)
 *
 * (without a norm the bias is the first term of the sum).  The products with the inputs of all
 * steps are one matrix product, computed before the first step.  The same code computes the values
 * (unit 0) and, together with them, their error bounds (unit: roundoff of the arithmetic judged);
 * errors are propagated through gates and from step to step by the functions of
 * golden/judge/ball.h. */
#ifndef GOLDEN_CELL_H
#define GOLDEN_CELL_H

#include "golden/base/arena.h"
#include "golden/judge/ball.h"
#include "golden/math/matmul.h"

enum { NO_OPERAND = -1 };

/* Layout of a sequence: the row of batch b at time t has index b * batch_step + t * time_step. */
struct cell_sequence {
    size_t batch, time;
    size_t batch_step, time_step;
};
/* Of an input [batch, time, size], or with time_major [time, batch, size]; rank 2, [batch, size]:
 * one step. */
struct cell_sequence cell_sequence_of(const struct tensor *input, bool time_major);

/* A recurrent operation being computed. */
struct cell {
    const struct call *c;
    struct cell_sequence rows;
    double unit; /* unit roundoff of the arithmetic judged; 0: no error bounds */
};

/* Returns y, the activation or clip of x, with error INFINITY where x may have left the range of
 * floats: a sum that overflowed may be NaN. */
struct ball cell_check_overflow(const struct cell *k, struct ball x, struct ball y);

/* The values of an operand, with their errors if bounds are computed; x NULL: omitted. */
struct ball_array cell_operand(const struct cell *k, int role);
/* Allocates n values, and errors if bounds are computed, in the call's scratch memory. */
int cell_array(const struct cell *k, size_t n, struct ball_array *ret_array, struct why *w);

/* A matrix operand of n rows of k weights, ready for products. */
struct cell_matrix {
    size_t n, k;
    struct ball_array weights;
    double *magnitude; /* |weights|, if bounds are computed and they are not packed */
    double largest;    /* of the numbers |weights|, or more; if bounds are computed */
    const struct matmul_packed *packed; /* NULL: matmul() packs the weights itself */
    const struct matmul_packed *packed_magnitude;
};
/* reused: several products will use it, so that packing pays off. */
int cell_matrix_init(const struct cell *k, int role, bool reused, struct cell_matrix *ret_matrix,
                     struct why *w);
/* Fills magnitude and largest, if bounds are computed, for a matrix whose weights are not an
 * operand. */
int cell_matrix_measure(const struct cell *k, struct cell_matrix *m, struct why *w);

/* Rows of an array, `stride` numbers apart. */
struct cell_rows {
    struct ball_array at;
    size_t n, stride;
};
/* to += from * transposed matrix; terms: number of products in the whole sum, these among them. */
int cell_product(const struct cell *k, const struct cell_rows *from, const struct cell_matrix *m,
                 size_t terms, const struct cell_rows *to, struct why *w);

/* Input roles of a gate's operands; NO_OPERAND, or omitted in the call: it has no such term. */
struct cell_gate_roles {
    int input, weights, aux, aux_weights, recurrent, bias, peephole, norm;
};

struct cell_gate {
    size_t units, terms; /* terms: products in the sum of one unit */
    struct cell_matrix recurrent;
    struct ball_array sum; /* by row of the sequence */
    struct ball_array bias, peephole, norm;
    double *scratch; /* [units]; NULL unless bounds pass through a layer norm */
};
/* Computes the products with the inputs of all steps. */
int cell_gate_init(const struct cell *k, const struct cell_gate_roles *roles,
                   struct cell_gate *ret_gate, struct why *w);

/* Adds the products with the recurrent input, [batch][recurrent.k], to the sums of step t. */
int cell_gate_recur(const struct cell *k, const struct cell_gate *g, const struct ball_array *state,
                    size_t t, struct why *w);
/* Computes the gate of batch b at step t, `units` values.  cell_state: that batch's, for the
 * peephole. */
void cell_gate_finish(const struct cell *k, const struct cell_gate *g, size_t t, size_t b,
                      const struct ball_array *cell_state, int32_t activation,
                      const struct ball_array *to);

/* Initial values of a state: a copy of the operand's n values. */
int cell_state(const struct cell *k, int role, size_t n, struct ball_array *ret_state,
               struct why *w);

/* Output i of the call: where its values and, if unit is not 0, its errors are written. */
struct ball_array cell_result(const struct call *c, int i, double unit);

/* Whether any operand has an error. */
bool cell_inexact(const struct call *c);
/* For bound() of an operation with op->units: a copy of the call with operands as real numbers, and
 * dot_factor 0 because its sums of products are exact. */
int cell_real_call(const struct call *c, struct call *ret_real, struct why *w);

/* --- for records */

/* The scalar role that selects the dimension of time; dtype: DT_BOOL or DT_INT32. */
#define CELL_TIME_MAJOR_ROLE(dtype)                                                                \
    {                                                                                              \
        "time_major", "true: the time is the first dimension, the batch the second",               \
            .slot = FIXED(dtype), .draw = DRAW_OP, .needs = NEEDS_CONST                            \
    }

/* For infer(): checks the batch of the input against that of the states, letter B, and returns the
 * shape of an output sequence of `outputs` values per step; 0 for dimensions that are unknown while
 * time_major is. */
int cell_infer_sequence(const struct call *c, int input, int time_major, uint32_t outputs,
                        struct shape *ret_shape, struct why *w);
/* For draw(): sets the shape of a role from the letters of its pattern: B from the input, unbound
 * letters 1..6. */
bool cell_draw_shape(const struct call *c, int input, int role, struct drawer *d,
                     struct tensor *to);
/* For draw(): a value of time_major that fits the batch of the states. */
bool cell_draw_time_major(const struct call *c, int input, struct drawer *d, struct tensor *to);

/* For infer(): checks that the activation code, if known, has its bit (1 << code) in `allowed`. */
int cell_check_activation(const struct call *c, int role, unsigned allowed, struct why *w);

#endif
