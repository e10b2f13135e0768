/* Computes the results of a call as soon as it is drawn: scales are fitted to the range of values,
 * and a call whose results are infinite, or have equal elements only, is rejected. */
#include <math.h>
#include <string.h>

#include "golden/exec/call.h"
#include "randgraph/randgraph_internal.h"

static const double integer_limit = 0x1p30; /* far from wrapping */

/* One evaluation by the reference; call.y is in the scratch arena. */
static int evaluate(struct draft *d)
{
    static const struct exec_options options;
    struct value value[MAX_CALL + MAX_RESULTS], *in[MAX_CALL], *out[MAX_RESULTS];
    struct evaluation e = { &options, false, d->b->arena, d->b->scratch };

    for (uint32_t i = 0; i < d->n_in; i++) {
        in[i] = d->in[i] ? &value[i] : NULL;
        if (d->in[i])
            value[i] = (struct value){ .tensor = d->in[i]->t };
    }
    for (uint32_t i = 0; i < d->n_out; i++) {
        out[i] = &value[MAX_CALL + i];
        *out[i] = (struct value){ .tensor = d->out[i]->t };
    }
    TRY(call_evaluate(&d->call, in, out, &e, NULL));
    for (uint32_t i = 0; i < d->n_out; i++)
        d->out[i]->t.data = out[i]->tensor.data;
    return 0;
}

static const struct role *out_role(const struct draft *d, uint32_t i)
{
    return &d->op->out[(int) i < d->op->n_out ? (int) i : d->op->n_out - 1];
}

static bool within(const double *y, size_t n, double limit)
{
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += !(fabs(y[i]) <= limit);
    return wrong == 0;
}

static void range_of(const double *y, size_t n, double *ret_lo, double *ret_hi)
{
    double lo = n ? y[0] : 0, hi = lo;

    for (size_t i = 0; i < n; i++) {
        lo = y[i] < lo ? y[i] : lo;
        hi = y[i] > hi ? y[i] : hi;
    }
    *ret_lo = lo;
    *ret_hi = hi;
}

/* Chooses the scale of result i from its values; returns 1 if it must be computed again. */
static int rescale(struct draft *d, uint32_t i, const struct tensor *like)
{
    struct tensor *t = &d->out[i]->t;
    const double *y = d->call.y[i];
    double lo, hi;

    if (!y || !scale_is_free(out_role(d, i), t->dtype))
        return 0;
    if (like) {
        t->scale = like->scale;
        t->zero = like->zero;
    } else {
        range_of(y, tensor_count(t), &lo, &hi);
        scale_result(d, out_role(d, i), lo, hi, t);
    }
    /* discrete operations may compute with stored values, which depend on the scale */
    if (d->call.nchw || d->op->error.kind == ERROR_DISCRETE)
        return 1;
    tensor_narrow(y, t);
    return 0;
}

static bool is_like(const struct draft *d, const struct tensor *like)
{
    const struct tensor *t = &d->out[0]->t;

    return d->n_out == 1 && t->dtype == like->dtype && shape_equal(&t->shape, &like->shape) &&
           scale_allowed(d, out_role(d, 0), like);
}

/* Whether the results depend on values, not on a shape alone. */
static bool has_values(const struct draft *d)
{
    for (uint32_t i = 0; i < d->n_in; i++)
        if (d->in[i] && d->op->in[d->role[i]].dims && d->op->in[d->role[i]].draw != DRAW_OP)
            return true;
    return false;
}

/* Whether every result has several elements, all equal: such results hide most errors.  Not where
 * the operation has no values to compute from. */
static bool degenerate(const struct draft *d)
{
    if (!has_values(d))
        return false;
    for (uint32_t i = 0; i < d->n_out; i++)
        if (tensor_count(&d->out[i]->t) == 1 || d->out[i]->lo < d->out[i]->hi)
            return false;
    return true;
}

/* Largest magnitude allowed in a result: well within the range of fp16 where that is its type. */
static double limit_of(const struct draft *d, const struct tensor *t)
{
    return t->dtype == DT_F16 && d->b->limit > fp16_limit ? fp16_limit : d->b->limit;
}

static int compute(struct draft *d, const struct tensor *like)
{
    struct builder *b = d->b;
    int again = 0;

    TRY(evaluate(d));
    for (uint32_t i = 0; i < d->n_out; i++) {
        const struct tensor *t = &d->out[i]->t;
        size_t n = tensor_count(t);
        if (n == 0 || n > b->options->max_elements)
            return -1;
        if (d->call.y[i] && !within(d->call.y[i], n, limit_of(d, t)))
            return -1;
        again |= rescale(d, i, like);
    }
    if (again)
        TRY(evaluate(d));
    for (uint32_t i = 0; i < d->n_out; i++) {
        TRY(graph_value_measure(b, d->out[i]));
        if (d->out[i]->t.dtype == DT_I32 &&
            (d->out[i]->lo < -integer_limit || d->out[i]->hi > integer_limit))
            return -1;
    }
    return 0;
}

int draft_compute(struct draft *d, const struct tensor *like)
{
    if (like && !is_like(d, like))
        return -1;
    struct arena_mark mark = arena_mark(d->b->scratch);
    int rc = compute(d, like);
    arena_rewind(d->b->scratch, mark);
    /* the feature level may depend on the new scales */
    if (rc < 0 || (d->b->options->max_level < L8 && draft_bind(d) < 0))
        return -1;
    return degenerate(d) && !d->b->lenient ? -1 : 0;
}

/* A NO_VALUE operand, which must have a legal type all the same. */
static struct graph_value *omitted(struct builder *b, enum dtype dtype)
{
    struct graph_value *k = graph_value_new(b, dtype, LIFE_NO_VALUE);
    enum quant quant = dtype_info[dtype].quant;

    if (!k)
        return NULL;
    k->t.shape.rank = dtype_info[dtype].tensor; /* of a tensor: [0] */
    k->t.scale = quant == QUANT_AFFINE || quant == QUANT_SYMM;
    return k;
}

int draft_commit(struct draft *d)
{
    struct builder *b = d->b;

    for (uint32_t i = 0; i < d->n_in; i++) {
        if (!d->in[i])
            d->in[i] = omitted(b, role_type(&d->op->in[d->role[i]], d->typing));
        if (!d->in[i])
            return -1;
    }
    return builder_operation(b, d->op, d->in, d->n_in, d->out, d->n_out);
}
