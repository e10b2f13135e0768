/* Computes the results of a call as soon as it is drawn: scales are fitted to the range of values,
 * and a call whose results are infinite, or have equal elements only, is rejected. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "golden/exec/call.h"
#include "golden/math/vector_loop.h"
#include "randgraph/randgraph_internal.h"

static const double integer_limit = 0x1p30; /* far from wrapping */

int draft_evaluate(struct draft *d, struct why *w)
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
    TRY(call_evaluate(&d->call, in, out, &e, w));
    for (uint32_t i = 0; i < d->n_out; i++)
        d->out[i]->t.data = out[i]->tensor.data;
    return 0;
}

static const struct role *out_role(const struct draft *d, uint32_t i)
{
    return &d->op->out[(int) i < d->op->n_out ? (int) i : d->op->n_out - 1];
}

/* Chooses the scale of result i from its values; returns 1 if it must be computed again. */
static int rescale(struct draft *d, uint32_t i, const struct tensor *like)
{
    struct tensor *t = &d->out[i]->t;
    const double *y = d->call.y[i];

    if (!y || !scale_is_free(out_role(d, i), t->dtype))
        return 0;
    if (like) {
        t->scale = like->scale;
        t->zero = like->zero;
    } else {
        size_t n = tensor_count(t);
        double lo = n ? y[0] : 0, hi = lo;
        for (size_t k = 0; k < n; k++) {
            lo = y[k] < lo ? y[k] : lo;
            hi = y[k] > hi ? y[k] : hi;
        }
        if (d->b->nonfinite) { /* most values are in this range; the others saturate */
            lo = fmax(lo, -fp16_limit);
            hi = fmin(hi, fp16_limit);
        }
        scale_result(d, out_role(d, i), lo, hi, t);
    }
    /* discrete operations may compute with stored values, which depend on the scale */
    if (d->call.nchw || d->op->error.kind == ERROR_DISCRETE)
        return 1;
    tensor_narrow(y, t);
    return 0;
}

/* Whether results have several elements, all equal: such results hide most errors.  Every result,
 * and in most calls any of them.  Not where the operation has no values to compute from, but
 * a shape alone. */
static bool degenerate(const struct draft *d)
{
    bool has_values = false;
    uint32_t n_equal = 0;

    for (uint32_t i = 0; i < d->n_in; i++)
        has_values |=
            d->in[i] && d->op->in[d->role[i]].dims && d->op->in[d->role[i]].draw != DRAW_OP;
    for (uint32_t i = 0; i < d->n_out; i++)
        n_equal += tensor_count(&d->out[i]->t) > 1 && !(d->out[i]->lo < d->out[i]->hi);
    if (n_equal < d->n_out)
        has_values = has_values && n_equal && rng_percent(d->b->rng, 75);
    return has_values;
}

VECTOR_LOOP static size_t count_beyond(const double *y, size_t n, double limit)
{
    size_t beyond = 0;

    for (size_t k = 0; k < n; k++)
        beyond += fabs(y[k]) <= limit ? 0 : 1; /* NaN is beyond */
    return beyond;
}

static int compute(struct draft *d, const struct tensor *like)
{
    struct builder *b = d->b;
    int again = 0;

    TRY(draft_evaluate(d, NULL));
    for (uint32_t i = 0; i < d->n_out; i++) {
        const struct tensor *t = &d->out[i]->t;
        const double *y = d->call.y[i];
        size_t n = tensor_count(t), beyond = 0;
        /* well within the range of fp16 where that is the result's type */
        double limit = t->dtype == DT_F16 && b->limit > fp16_limit ? fp16_limit : b->limit;
        if (b->wide_floats)
            limit = t->dtype == DT_F16 ? 65504 : FLT_MAX;
        double overflow = t->dtype == DT_F16 && takes_nonfinite(d->op) ? 65520 : INFINITY;
        if ((n == 0 && !may_be_empty(d)) || n > b->max_elements)
            return -1;
        bool any = t->dtype == DT_I32 && (b->nonfinite || b->wide_integers);
        if (y && !any)
            beyond = count_beyond(y, n, limit);
        for (size_t k = 0; b->nonfinite_call && beyond && k < n; k++)
            beyond -= !(fabs(y[k]) <= limit) && (isnan(y[k]) || fabs(y[k]) >= overflow);
        if (beyond)
            return -1;
        again |= rescale(d, i, like);
    }
    if (again)
        TRY(draft_evaluate(d, NULL));
    bool nonfinite = false;
    for (uint32_t i = 0; i < d->n_in; i++)
        nonfinite |= d->in[i] && d->in[i]->nonfinite;
    for (uint32_t i = 0; i < d->n_out; i++) {
        graph_value_measure(d->out[i]);
        d->out[i]->nonfinite = nonfinite || !(d->out[i]->hi - d->out[i]->lo < INFINITY);
        if (d->out[i]->t.dtype == DT_I32 && !b->nonfinite && !b->wide_integers &&
            (d->out[i]->lo < -integer_limit || d->out[i]->hi > integer_limit))
            return -1;
    }
    return 0;
}

int draft_compute(struct draft *d, const struct tensor *like)
{
    const struct tensor *t = &d->out[0]->t;

    if (like && !(d->n_out == 1 && t->dtype == like->dtype &&
                  shape_equal(&t->shape, &like->shape) && scale_allowed(d, out_role(d, 0), like)))
        return -1;
    struct arena_mark mark = arena_mark(d->b->scratch);
    int rc = compute(d, like);
    arena_rewind(d->b->scratch, mark);
    /* the feature level may depend on the new scales */
    if (rc < 0 || (d->b->options->max_level < L8 && draft_bind(d) < 0))
        return -1;
    if (!draft_result_allowed(d))
        return -1;
    return degenerate(d) && !d->b->lenient ? -1 : 0;
}

int draft_commit(struct draft *d)
{
    struct builder *b = d->b;

    /* an omitted operand is a NO_VALUE operand, which must have a legal type all the same */
    for (uint32_t i = 0; i < d->n_in; i++) {
        if (d->in[i])
            continue;
        enum dtype dtype = role_type(&d->op->in[d->role[i]], d->typing);
        enum quant quant = dtype_info[dtype].quant;
        struct graph_value *k = graph_value_new(b, dtype, LIFE_NO_VALUE);
        if (!k)
            return -1;
        k->t.shape.rank = dtype_info[dtype].tensor; /* of a tensor: [0] */
        k->t.scale = quant == QUANT_AFFINE || quant == QUANT_SYMM;
        d->in[i] = k;
    }
    /* no selection is close to having an element: the shape is certain */
    for (uint32_t i = 0; i < d->n_out; i++)
        if (graph_value_empty(d->out[i]))
            d->out[i]->open = 0;
    for (uint32_t i = 0; d->limits && i < d->n_in; i++)
        d->in[i]->without |= support_unknown_inputs(d->limits->without);
    for (uint32_t i = 0; d->limits && i < d->n_out; i++)
        d->out[i]->without |= d->limits->without;
    TRY(builder_operation(b, d->op, d->in, d->n_in, d->out, d->n_out));
    if (b->failing && !b->fails && b->depth == 0)
        draw_illegal(d);
    return 0;
}
