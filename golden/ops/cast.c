#include "golden/base/arena.h"
#include "golden/judge/bounds.h"

enum { INPUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "stored numbers: scale and zero point are ignored", "*" },
};

static const struct role outputs[] = {
    { "output", "the same numbers in the other type", "*", .slot = 1 },
};

static const struct form forms[] = {
    { "", { INPUT, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input, output */
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32, DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32, DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32, DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32, DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8, DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8, DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8, DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8, DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_B8, DT_B8 } },
    { L4, RANKS(1, MAX_RANK), { DT_Q16A, DT_Q16A } },
    { L4, RANKS(1, MAX_RANK), { DT_Q16S, DT_Q16S } },
    { L4, RANKS(1, MAX_RANK), { DT_S8, DT_S8 } },
    { L4, RANKS(1, MAX_RANK), { DT_Q8S, DT_Q8S } },
};

/* How stored integers map to real values: (stored - zero) * step. */
struct storage {
    double zero, step;
};

static struct storage storage_of(const struct tensor *t)
{
    bool scaled = dtype_info[t->dtype].quant != QUANT_NONE && t->scale != 0;
    return (struct storage){ t->zero, scaled ? tensor_step(t, 0) : 1 };
}

/* Converts a stored number: to integers by truncation and saturation; NaN becomes 0. */
static double convert(double stored, const struct codec *to)
{
    if (!to->integer)
        return stored;
    return isnan(stored) ? 0 : fmin(fmax(trunc(stored), to->min), to->max);
}

static int eval(struct call *c, struct why *w)
{
    const struct tensor *in = c->arg[INPUT];
    const struct codec *to = dtype_info[c->out[0]->dtype].codec;
    struct storage out = storage_of(c->out[0]);
    size_t n = tensor_count(in);
    double *stored = arena_alloc_raw(c->scratch, n, sizeof(double)), *y = c->y[0];

    if (!stored)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, n);
    dtype_info[in->dtype].codec->widen(in->data, n, 0, 1, stored);
    for (size_t i = 0; i < n; i++)
        y[i] = (convert(stored[i], to) - out.zero) * out.step;
    return 0;
}

/* Floats outside the range of TENSOR_INT32 convert to an unspecified value, as in C. */
static bool undefined(double lo, double hi, enum dtype to)
{
    return to == DT_I32 && !(lo >= INT32_MIN && hi <= INT32_MAX);
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    enum dtype type = c->out[0]->dtype;
    const struct codec *to = dtype_info[type].codec;
    struct storage in = storage_of(c->arg[INPUT]), out = storage_of(c->out[0]);
    size_t n = tensor_count(c->arg[INPUT]);

    for (size_t i = 0; i < n; i++) {
        double e = c->ex[INPUT] ? c->ex[INPUT][i] / in.step : 0;
        double x = c->x[INPUT][i] / in.step + in.zero;
        double y = c->y[0][i] / out.step + out.zero;
        double ey = e > 0 ? bound_interval(y, convert(x - e, to), convert(x + e, to)) : 0;
        c->ey[0][i] = undefined(x - e, x + e, type) ? INFINITY : ey * out.step;
    }
    return 0;
}

const struct op op_CAST = {
    .code = OP_CAST,
    .name = "CAST",
    .summary = "Converts stored numbers to another type; fractions are truncated, 8-bit results "
               "saturate.",
    .formula = "out = type(in)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE, .ulps = 1, .text = "interval of the input, converted" },
    .eval = eval,
    .bound = bound,
};
