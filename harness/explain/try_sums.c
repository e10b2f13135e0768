/* Hypotheses about how sums of products are computed: the bias, the accumulator, the division. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/ops/shared/elementwise/activation.h"
#include "harness/explain/hypotheses.h"
#include "harness/explain/terms.h"

/* Clamps real results by the fused activation, if the operation has one. */
static void activate(struct variant *v)
{
    int32_t which;

    if (!variant_get(v, "activation", &which))
        return;
    const struct activation_range r = activation_range(which);
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = fmin(fmax(v->real[i], r.lo), r.hi);
}

/* ---- integer sums, one element after the other */

/* The sum of an element in units of its last place. */
struct units {
    const double *product; /* stored numbers less their zero points */
    size_t n;
    double bias;
    double scale; /* of one unit */
};

/* What the element becomes, in units. */
typedef double sum_units(const struct units *u, int attempt);

static double stored_units(const struct tensor *t, size_t at)
{
    return tensor_stored(t, at) - t->zero;
}

static double scale_at(const struct tensor *t, size_t channel)
{
    return t->channel_scale ? (double) t->channel_scale[channel] : (double) t->scale;
}

static bool units_of(const struct subject *s, const struct element_sum *sum, struct units *ret)
{
    const struct tensor *a = s->arg[sum->arg_a], *b = sum->arg_b < 0 ? NULL : s->arg[sum->arg_b];
    const struct tensor *bias = sum->arg_bias < 0 ? NULL : s->arg[sum->arg_bias];
    double *product = arena_alloc(s->arena, sum->n + 1, sizeof *product);

    if (!product)
        return false;
    for (size_t i = 0; i < sum->n; i++)
        product[i] = stored_units(a, sum->term[i].a) * (b ? stored_units(b, sum->term[i].b) : 1);
    *ret = (struct units){ .product = product,
                           .n = sum->n,
                           .bias = bias ? tensor_stored(bias, sum->bias) : 0,
                           .scale = (double) a->scale * (b ? scale_at(b, sum->bias) : 1) };
    return true;
}

/* Computes every element by compute().  False: none changes, or it is no quantised sum. */
static bool sum_again(struct variant *v, sum_units *compute, int attempt)
{
    const struct subject *s = v->s;
    bool any = false;

    if (s->expected->scale == 0 || !s->operation->n_in || !s->arg[0] || s->arg[0]->scale == 0)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct arena_mark mark = arena_mark(s->arena);
        struct element_sum sum;
        struct units u;
        const bool has = terms_of(s, i, &sum) && units_of(s, &sum, &u);
        const double real = has ? compute(&u, attempt) * u.scale : NAN;
        arena_rewind(s->arena, mark);
        if (isnan(real))
            return false;
        v->real[i] = real;
    }
    activate(v);
    for (size_t i = 0; i < s->n; i++)
        any = any || fabs(v->real[i] - s->real[i]) > s->bound[i];
    return any;
}

static double wrapped(double x)
{
    return x - floor((x + 0x8000) / 0x10000) * 0x10000;
}

static double saturated(double x)
{
    return fmin(fmax(x, -0x8000), 0x7fff);
}

static const struct width {
    const char *note;
    bool wraps, pairs;
    enum { BIAS_FIRST, BIAS_LAST, BIAS_WIDE } bias; /* WIDE: added to a wider number at the end */
} widths[] = {
    { "it wraps around", .wraps = true, .bias = BIAS_LAST },
    { "it wraps around; the bias is added after", .wraps = true, .bias = BIAS_WIDE },
    { "it saturates", .bias = BIAS_FIRST },
    { "it saturates; the bias is added last", .bias = BIAS_LAST },
    { "it saturates; the bias is added after, to more bits", .bias = BIAS_WIDE },
    { "pairs of products saturate", .pairs = true, .bias = BIAS_WIDE },
};

static double in_16_bits(const struct units *u, int attempt)
{
    const struct width *w = &widths[attempt];
    double (*const narrow)(double) = w->wraps ? wrapped : saturated;
    double sum = w->bias == BIAS_FIRST ? narrow(u->bias) : 0;

    for (size_t i = 0; i < u->n && !w->pairs; i++)
        sum = narrow(sum + u->product[i]);
    for (size_t i = 0; i < u->n && w->pairs; i += 2)
        sum += saturated(u->product[i] + (i + 1 < u->n ? u->product[i + 1] : 0));
    return w->bias == BIAS_FIRST  ? sum
           : w->bias == BIAS_LAST ? narrow(sum + u->bias)
                                  : sum + u->bias;
}

/* Of sums of products only. */
static bool accumulator_16_bit(struct variant *v, int attempt)
{
    snprintf(v->note, sizeof v->note, "%s", widths[attempt].note);
    return subject_role(v->s, "filter_width") < 0 && sum_again(v, in_16_bits, attempt);
}

/* Each term is divided by their number, and truncated, before it is added. */
static double divided_first(const struct units *u, int attempt)
{
    double sum = 0;

    (void) attempt;
    for (size_t i = 0; i < u->n; i++)
        sum += trunc(u->product[i] / (double) u->n);
    return sum;
}

static double mean_of(const struct units *u, int attempt)
{
    double sum = 0;

    (void) attempt;
    for (size_t i = 0; i < u->n; i++)
        sum += u->product[i];
    return u->n ? sum / (double) u->n : 0;
}

/* Only of operations that compute means, which sum_again() finds to change nothing. */
static bool each_term_divided(struct variant *v, int attempt)
{
    struct variant mean = *v;

    if (subject_arg(v->s, "filter") >= 0 || subject_arg(v->s, "weights") >= 0)
        return false;
    mean.real = arena_copy(v->arena, v->real, v->s->n * sizeof *v->real);
    if (!mean.real || sum_again(&mean, mean_of, attempt))
        return false;
    return sum_again(v, divided_first, attempt);
}

/* ---- the scale of the bias */

static double bias_scale(const struct subject *s, size_t at, int attempt)
{
    const struct tensor *filter = s->arg[1];

    (void) at;
    switch (attempt) {
    case 0: return 1;
    case 1: return (double) s->arg[0]->scale;
    case 2: return filter->channel_scale ? 0 : (double) filter->scale;
    case 3: return (double) s->expected->scale;
    default:
        return filter->channel_scale ? (double) s->arg[0]->scale * (double) filter->channel_scale[0]
                                     : 0;
    }
}

bool variant_run_bias(struct variant *v,
                      double (*scale)(const struct subject *s, size_t bias, int attempt),
                      int attempt)
{
    const int arg = subject_arg(v->s, "bias");
    const struct tensor *bias = arg < 0 ? NULL : v->s->arg[arg];

    if (!bias || arg != 2 || bias->dtype != DT_I32 || v->s->arg[0]->scale == 0 ||
        v->s->expected->scale == 0 || scale(v->s, 0, attempt) == 0)
        return false;
    struct tensor *none = variant_own(v, (uint32_t) arg);
    if (!none)
        return false;
    memset(none->data, 0, tensor_bytes(none));
    variant_set(v, "activation", 0);
    if (!variant_run(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        struct arena_mark mark = arena_mark(v->s->arena);
        struct element_sum sum;
        const bool has = terms_of(v->s, i, &sum);
        arena_rewind(v->s->arena, mark);
        if (!has)
            return false;
        v->real[i] += tensor_stored(bias, sum.bias) * scale(v->s, sum.bias, attempt);
    }
    activate(v);
    return true;
}

static bool bias_scaled(struct variant *v, int attempt)
{
    static const char *const text[] = { "its scale is taken as 1", "that of the input",
                                        "that of the weights", "that of the output",
                                        "that of channel 0 for all channels" };

    strcpy(v->note, text[attempt]);
    return variant_run_bias(v, bias_scale, attempt);
}

const struct hypothesis sum_hypotheses[] = {
    { "accumulator-16-bit", "sums are computed in 16 bits", COUNT(widths),
      .make = accumulator_16_bit },
    { "divided-first", "each term of a mean is divided and truncated before it is added",
      .make = each_term_divided },
    { "bias-scale", "the bias is taken in another scale than that of the products", 5,
      .make = bias_scaled },
    { 0 },
};
