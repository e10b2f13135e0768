/* The activation function that NNAPI fuses into arithmetic, convolution and pooling operations: a
 * clamp of the real-valued result.  0 none, 1 ReLU [0, inf), 2 ReLU1 [-1, 1], 3 ReLU6 [0, 6]. */
#ifndef GOLDEN_ACTIVATION_H
#define GOLDEN_ACTIVATION_H

#include "golden/judge/ball.h"
#include "golden/model/op.h"

/* In tables shared by a family of operations: this operation has no such role. */
enum { NO_ROLE = -1 };

enum activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU1, ACTIVATION_RELU6 };

struct activation_range {
    double lo, hi;
};
/* The range of an activation code; of a code outside 0..3, that of ACTIVATION_NONE. */
struct activation_range activation_range(int32_t code);

/* The functions below read the code from scalar operand `role`; NO_ROLE: no activation. */

/* For infer(): checks that the code, if known, is 0..3, and 0 if the output is TENSOR_INT32. */
int activation_check(const struct call *c, int role, struct why *w);

/* Clamps y[0..n-1] in place.  NaN stays NaN. */
void activation_apply(const struct call *c, int role, double *y, size_t n);

/* Updates ey[0..n-1] from the error bounds before the clamp to those after it: a clamp never
 * enlarges a difference, and both values end in the range.  y: the clamped values. */
void activation_bound(const struct call *c, int role, const double *y, double *ey, size_t n);

/* The activations of recurrent cells: those above, tanh, and the logistic function. */
enum {
    CELL_NONE = ACTIVATION_NONE,
    CELL_RELU = ACTIVATION_RELU,
    CELL_RELU1 = ACTIVATION_RELU1,
    CELL_RELU6 = ACTIVATION_RELU6,
    CELL_TANH,
    CELL_LOGISTIC = 6
};
/* With its error; u: see golden/judge/ball.h. */
struct ball activation_of_cell(struct ball a, int32_t code, double u);
/* to[i] = that of x[i], for n values; `to` is another array */
void activation_of_cells(const struct ball_array *x, size_t n, int32_t code, double u,
                         const struct ball_array *to);

#endif
