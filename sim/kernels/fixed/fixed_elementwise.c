/* Element-wise kernels in fixed point, and CONCATENATION. */
#include "sim/kernels/fixed/fixed.h"

#define ROUND_DOWN(k) (((k)->kernel_faults & KERNEL_FAULT_TRUNCATE) != 0)

/* ---- two operands */

enum sum_kind { SUM, DIFFERENCE };

/* (a * scale_a + sign_b * b * scale_b) / output scale, rounded once. */
static int run_sum(struct kernel_call *k, struct why *w)
{
    int64_t sign_b = k->kernel->kind == DIFFERENCE ? -1 : 1;
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    struct tensor *out = k->out[0];
    double step = (double) out->scale;
    struct factor_pair f = factor_pair_of((double) a->scale / step, (double) b->scale / step);
    struct fixed_range r = fixed_fused_range(k, out);
    size_t n = tensor_count(out);
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &out->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at)) {
        int64_t x = fixed_at(a, at.a) * f.mantissa[0] + sign_b * fixed_at(b, at.b) * f.mantissa[1];
        fixed_store(out, i, shift_round(x, f.shift, ROUND_DOWN(k)), r);
    }
    return 0;
}

static int run_mul(struct kernel_call *k, struct why *w)
{
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    struct tensor *out = k->out[0];
    struct factor f = factor_of((double) a->scale * (double) b->scale / (double) out->scale);
    struct fixed_range r = fixed_fused_range(k, out);
    size_t n = tensor_count(out);
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &out->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at))
        fixed_store(out, i,
                    factor_apply((int64_t) fixed_at(a, at.a) * fixed_at(b, at.b), f, ROUND_DOWN(k)),
                    r);
    return 0;
}

enum extreme { LARGER, SMALLER };

/* Both operands are rescaled to the result's scale; rounding preserves their order. */
static int run_extreme(struct kernel_call *k, struct why *w)
{
    bool larger = k->kernel->kind == LARGER;
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    struct tensor *out = k->out[0];
    struct factor fa = factor_of((double) a->scale / (double) out->scale);
    struct factor fb = factor_of((double) b->scale / (double) out->scale);
    struct fixed_range r = fixed_range(out);
    size_t n = tensor_count(out);
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &out->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at)) {
        int64_t x = factor_apply(fixed_at(a, at.a), fa, ROUND_DOWN(k));
        int64_t y = factor_apply(fixed_at(b, at.b), fb, ROUND_DOWN(k));
        fixed_store(out, i, (x > y) == larger ? x : y, r);
    }
    return 0;
}

/* PRELU: negative inputs are multiplied by a slope operand, which has a scale of its own. */
static int run_prelu(struct kernel_call *k, struct why *w)
{
    const struct tensor *a = k->arg[0], *b = k->arg[1];
    struct tensor *out = k->out[0];
    struct factor plain = factor_of((double) a->scale / (double) out->scale);
    struct factor leak = factor_of((double) a->scale * (double) b->scale / (double) out->scale);
    struct fixed_range r = fixed_range(out);
    size_t n = tensor_count(out);
    struct broadcast_walk at;

    (void) w;
    broadcast_start(&at, &out->shape, &a->shape, &b->shape);
    for (size_t i = 0; i < n; i++, broadcast_step(&at)) {
        int64_t x = fixed_at(a, at.a);
        fixed_store(out, i,
                    x >= 0 ? factor_apply(x, plain, ROUND_DOWN(k))
                           : factor_apply(x * fixed_at(b, at.b), leak, ROUND_DOWN(k)),
                    r);
    }
    return 0;
}

/* SELECT of one operand, rescaled to the result's scale. */
static int run_select(struct kernel_call *k, struct why *w)
{
    const struct tensor *a = k->arg[1], *b = k->arg[2];
    struct tensor *out = k->out[0];
    const uint8_t *condition = k->arg[0]->data;

    (void) w;
    if (!(QUANTISED8 >> out->dtype & 1u)) {
        kernel_select(k);
        return 0;
    }
    struct factor fa = factor_of((double) a->scale / (double) out->scale);
    struct factor fb = factor_of((double) b->scale / (double) out->scale);
    struct fixed_range r = fixed_range(out);
    size_t n = tensor_count(out);
    for (size_t i = 0; i < n; i++)
        fixed_store(out, i,
                    condition[i] ? factor_apply(fixed_at(a, i), fa, ROUND_DOWN(k))
                                 : factor_apply(fixed_at(b, i), fb, ROUND_DOWN(k)),
                    r);
    return 0;
}

/* ---- one operand: input and result have the same scale */

/* A real bound >= 0 in steps of t's scale, saturated beyond the 8-bit range. */
static int64_t steps_of(const struct tensor *t, double real)
{
    double q = real / (double) t->scale;

    return q > 4096 ? 4096 : (int64_t) (q + 0.5);
}

enum relu_kind { RELU, RELU1, RELU6 };

/* Clamps to [0, inf), [-1, 1] or [0, 6]. */
static int run_relu(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    struct fixed_range r = fixed_range(out);
    int64_t lo = k->kernel->kind == RELU1 ? -steps_of(out, 1) : 0;
    int64_t hi = k->kernel->kind == RELU    ? INT32_MAX
                 : k->kernel->kind == RELU1 ? -lo
                                            : steps_of(out, 6);
    size_t n = tensor_count(x);

    (void) w;
    for (size_t i = 0; i < n; i++) {
        int64_t q = fixed_at(x, i);
        fixed_store(out, i, q < lo ? lo : q > hi ? hi : q, r);
    }
    return 0;
}

/* ---- concatenation of operands with different scales */

static void put_rows(struct kernel_call *k, const struct tensor *x, struct axis_view a, size_t at)
{
    struct tensor *out = k->out[0];
    struct factor f = factor_of((double) x->scale / (double) out->scale);
    struct fixed_range r = fixed_range(out);
    size_t row = a.n * a.inner, part = tensor_count(x) / a.outer;

    for (size_t o = 0; o < a.outer; o++)
        for (size_t e = 0; e < part; e++)
            fixed_store(out, o * row + at + e,
                        factor_apply(fixed_at(x, o * part + e), f, ROUND_DOWN(k)), r);
}

static int run_concatenation(struct kernel_call *k, struct why *w)
{
    struct axis_view a = shape_axis_view(&k->out[0]->shape, kernel_int(k, ROLE_AXIS, 0));
    size_t at = 0;

    (void) w;
    for (uint32_t i = k->call.many_at; a.outer && i < k->call.many_at + k->call.n_many; i++) {
        put_rows(k, k->arg[i], a, at);
        at += tensor_count(k->arg[i]) / a.outer;
    }
    return 0;
}

static const struct kernel_roles fused_roles = { .role = { ROLE_ACTIVATION } };

static const struct kernel_roles concatenation_roles = { .role = { ROLE_AXIS } };

const struct device_kernel fixed_elementwise_kernels[] = {
    { "ADD", QUANTISED8, run_sum, &fused_roles, .kind = SUM },
    { "SUB", QUANTISED8, run_sum, &fused_roles, .kind = DIFFERENCE },
    { "MUL", QUANTISED8, run_mul, &fused_roles },
    { "MAXIMUM", QUANTISED8, run_extreme, .kind = LARGER },
    { "MINIMUM", QUANTISED8, run_extreme, .kind = SMALLER },
    { "PRELU", QUANTISED8, run_prelu },
    { "SELECT", TYPE(B8), run_select },
    { "RELU", QUANTISED8, run_relu, .kind = RELU },
    { "RELU1", QUANTISED8, run_relu, .kind = RELU1 },
    { "RELU6", QUANTISED8, run_relu, .kind = RELU6 },
    { "CONCATENATION", QUANTISED8, run_concatenation, &concatenation_roles },
    { NULL },
};
