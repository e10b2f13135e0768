/* Hypotheses about how results are rounded and stored: changes of the reference's results. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/explain/hypotheses.h"

static const struct codec *codec_of(const struct variant *v)
{
    return dtype_info[v->s->expected->dtype].codec;
}

/* Whether the output is quantised, with one scale and zero point. */
static bool is_quantised(const struct variant *v)
{
    return v->s->expected->scale != 0;
}

static bool is_float(const struct variant *v)
{
    return !codec_of(v)->integer;
}

static bool is_truth(const struct variant *v)
{
    return v->s->expected->dtype == DT_B8;
}

static double step_of(const struct variant *v)
{
    return is_quantised(v) ? (double) v->s->expected->scale : 1;
}

static double toward_zero(double x, double by)
{
    return fabs(x) <= by ? 0 : x > 0 ? x - by : x + by;
}

static bool truncated(struct variant *v, int attempt)
{
    const double half = 0.5 * step_of(v), zero = v->s->expected->zero * step_of(v);

    if (is_float(v) || is_truth(v) || codec_of(v)->size > 4)
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = attempt == 0   ? v->real[i] - half
                     : attempt == 1 ? toward_zero(v->real[i], half)
                                    : toward_zero(v->real[i] + zero, half) - zero;
    strcpy(v->note, attempt == 0   ? "towards minus infinity"
                    : attempt == 1 ? "of the real value towards zero"
                                   : "of the stored value towards zero");
    return true;
}

static bool rounded_up(struct variant *v, int attempt)
{
    (void) attempt;
    if (is_float(v) || is_truth(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] += 0.5 * step_of(v);
    return true;
}

static bool one_step_off(struct variant *v, int attempt)
{
    if (is_float(v) || is_truth(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = tensor_saturate(v->s->expected, v->real[i]) + (attempt ? -1 : 1) * step_of(v);
    strcpy(v->note, attempt ? "one less" : "one more");
    return true;
}

/* Every result is off by as many steps as the one that is off most; those that saturate do not
 * count. */
static bool steps_off(struct variant *v, int attempt)
{
    const struct codec *c = codec_of(v);
    const struct tensor *t = &v->s->actual[v->s->output];
    double off = 0;

    (void) attempt;
    if (is_float(v) || is_truth(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double q = tensor_stored(t, i), was = tensor_stored(v->s->expected, i);
        const bool inside = q > c->min && q < c->max && was > c->min && was < c->max;
        if (inside && fabs(q - was) > fabs(off))
            off = q - was;
    }
    if (fabs(off) < 2)
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = tensor_saturate(v->s->expected, v->real[i]) + off * step_of(v);
    snprintf(v->note, sizeof v->note, "by %+.0f", off);
    return true;
}

/* Stored number before saturation. */
static double unsaturated(const struct variant *v, size_t i)
{
    return v->real[i] / step_of(v) + v->s->expected->zero;
}

static void put_stored(struct variant *v, size_t i, double q)
{
    v->real[i] = (q - v->s->expected->zero) * step_of(v);
}

/* The stored number before saturation.  Within the bound of the range's ends, correct arithmetic
 * may be on either side: there it is that of the device. */
static double before_wrapping(const struct variant *v, size_t i)
{
    const struct codec *c = codec_of(v);
    const double q = floor(unsaturated(v, i) + 0.5), room = v->s->bound[i] / step_of(v);
    const double device = tensor_stored(&v->s->actual[v->s->output], i);
    const bool is_low = device - c->min < c->max - device;

    if (fabs(unsaturated(v, i) - (c->max + 0.5)) <= room)
        return is_low ? c->max + 1 : c->max;
    if (fabs(unsaturated(v, i) - (c->min - 0.5)) <= room)
        return is_low ? c->min : c->min - 1;
    return q;
}

static bool wraps(struct variant *v, int attempt)
{
    const struct codec *c = codec_of(v);
    bool any = false;

    if (is_float(v) || is_truth(v) || c->size > 2)
        return false;
    strcpy(v->note, attempt == 1   ? "those above it only"
                    : attempt == 2 ? "those below it only"
                                   : "");
    for (size_t i = 0; i < v->s->n; i++) {
        const double q = before_wrapping(v, i), range = c->max - c->min + 1;
        if (isnan(q) || (q >= c->min && q <= c->max) || (attempt == 1 && q < c->min) ||
            (attempt == 2 && q > c->max))
            continue;
        put_stored(v, i, unsaturated(v, i) - floor((q - c->min) / range) * range);
        any = true;
    }
    return any;
}

static bool narrower(struct variant *v, int attempt)
{
    static const double inset[][2] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 0, 128 }, { 128, 0 } };
    const struct codec *c = codec_of(v);
    const double lo = c->min + inset[attempt][0], hi = c->max - inset[attempt][1];
    bool any = false;

    if (is_float(v) || c->size > 1 || c->max < 127)
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double q = unsaturated(v, i), to = q < lo ? lo : q > hi ? hi : q;
        any = any || to != q;
        put_stored(v, i, to);
    }
    snprintf(v->note, sizeof v->note, "to %.0f..%.0f", lo, hi);
    return any;
}

/* The middle of the range is where the direction changes: within the bound of it, correct
 * arithmetic may be on either side, and is on that of the device. */
static bool sign_flipped(struct variant *v, int attempt)
{
    const struct codec *c = codec_of(v);

    (void) attempt;
    if (is_float(v) || c->size > 1 || c->max < 127)
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double real = tensor_saturate(v->s->expected, v->real[i]);
        const double q = real / step_of(v) + v->s->expected->zero, middle = c->min + 127.5;
        const double device = tensor_stored(&v->s->actual[v->s->output], i);
        const bool unsure = fabs(q - middle) <= v->s->bound[i] / step_of(v);
        put_stored(v, i, (unsure ? device > middle : q < middle) ? q + 128 : q - 128);
    }
    return true;
}

static bool zero_point_added(struct variant *v, int times)
{
    if (!is_quantised(v) || v->s->expected->zero == 0)
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] += (times - 1) * v->s->expected->zero * step_of(v);
    return true;
}

static bool no_zero_point(struct variant *v, int attempt)
{
    (void) attempt;
    return zero_point_added(v, 0);
}

static bool zero_point_twice(struct variant *v, int attempt)
{
    (void) attempt;
    return zero_point_added(v, 2);
}

static bool stored_as_input(struct variant *v, int attempt)
{
    const struct tensor *in = v->s->operation->n_in ? v->s->arg[0] : NULL;

    (void) attempt;
    if (!is_quantised(v) || !in || in->scale == 0 || in->dtype != v->s->expected->dtype ||
        tensor_same_quant(in, v->s->expected))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double grow = step_of(v) / in->scale;
        put_stored(v, i, tensor_saturate(in, v->real[i]) / in->scale + in->zero);
        v->bound[i] *= grow > 1 ? grow : 1;
    }
    return true;
}

static bool scale_left_out(struct variant *v, int attempt)
{
    (void) attempt;
    if (!is_quantised(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        put_stored(v, i, v->real[i] + v->s->expected->zero);
    return true;
}

/* ---- floats */

static double bfloat(double x)
{
    float f = (float) x;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool result_in_half(struct variant *v, int attempt)
{
    if (v->s->expected->dtype != DT_F32 || v->s->example->model.relaxed)
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double x = v->real[i];
        /* the rounding of a value near a tie may differ */
        const double y = attempt ? bfloat(x) : f16_to_double(f16_from_double(x));
        v->bound[i] += fmax(fabs(attempt ? bfloat(x + v->bound[i]) - y
                                         : f16_to_double(f16_from_double(x + v->bound[i])) - y),
                            fabs(attempt ? bfloat(x - v->bound[i]) - y
                                         : f16_to_double(f16_from_double(x - v->bound[i])) - y));
        v->real[i] = y;
    }
    strcpy(v->note, attempt ? "bfloat16" : "fp16");
    return true;
}

static bool half_arithmetic(struct variant *v, int attempt)
{
    (void) attempt;
    if (v->s->example->model.relaxed || v->s->expected->dtype != DT_F32)
        return false;
    v->options.arithmetic.f32 = 0x1p-11;
    return variant_run(v);
}

static bool negated(struct variant *v, int attempt)
{
    (void) attempt;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = -v->real[i];
    return !is_truth(v);
}

static bool inverted(struct variant *v, int attempt)
{
    (void) attempt;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] = v->real[i] == 0;
    return is_truth(v);
}

/* ---- values that were not computed */

/* All elements the same stored number. */
static bool not_written(struct variant *v, int attempt)
{
    const struct tensor *t = &v->s->actual[v->s->output];
    const double first = v->s->n ? v->s->value[0] : 0;
    size_t same = 0;

    (void) attempt;
    while (same < v->s->n &&
           (v->s->value[same] == first || (isnan(first) && isnan(v->s->value[same]))))
        same++;
    if (same < v->s->n || v->s->n < 4)
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        v->real[i] = first;
        v->bound[i] = 0;
    }
    snprintf(v->note, sizeof v->note, "every element is stored as %.9g",
             codec_of(v)->size > 4 ? first : tensor_stored(t, 0));
    return true;
}

/* The elements after the last complete vector are 0, or stored as 0. */
static bool tail_left_out(struct variant *v, int attempt)
{
    static const size_t lanes[] = { 4, 8, 16, 32 };
    const size_t from = v->s->n - v->s->n % lanes[attempt];
    const double stored_zero = -v->s->expected->zero * step_of(v);

    if (from == v->s->n || from == 0)
        return false;
    for (size_t i = from; i < v->s->n; i++) {
        const bool is_zero = v->s->value[i] == 0 || v->s->value[i] == stored_zero;
        if (!is_zero || v->s->value[i] != v->s->value[from])
            return false;
        v->real[i] = v->s->value[i];
        v->bound[i] = 0;
    }
    snprintf(v->note, sizeof v->note, "after the last multiple of %zu", lanes[attempt]);
    return true;
}

const struct hypothesis storing_hypotheses[] = {
    { "truncation", "truncation instead of rounding", 3, .make = truncated },
    { "rounding-up", "results are rounded up", .make = rounded_up },
    { "one-step-off", "every result is off by one step", 2, .make = one_step_off },
    { "steps-off", "every result is off by the same number of steps", .make = steps_off },
    { "wrap-around", "results out of range wrap around instead of saturating", 3, .make = wraps },
    { "narrow-range", "results are clamped to a narrower range", 5, .make = narrower },
    { "sign-bit", "int8 and uint8 are exchanged in the output: the top bit is flipped",
      .make = sign_flipped },
    { "output-zero-point-left-out", "the zero point of the output is not added",
      .make = no_zero_point },
    { "output-zero-point-twice", "the zero point of the output is added twice",
      .make = zero_point_twice },
    { "output-scale-of-input", "the output is stored with the scale and zero point of input 0",
      .make = stored_as_input },
    { "output-scale-left-out", "the output is stored with scale 1", .make = scale_left_out },
    { "result-in-half", "results are rounded to 16 bits", 2, .make = result_in_half },
    { "half-arithmetic", "the errors are those of half-precision arithmetic", 0, true,
      half_arithmetic },
    { "negated", "the sign of every result is wrong", .make = negated },
    { "inverted", "true and false are exchanged", .make = inverted },
    { "not-written", "the output was not written", .make = not_written },
    { "tail-left-out", "the last elements, which do not fill a vector, were not computed", 4,
      .make = tail_left_out },
    { 0 },
};
