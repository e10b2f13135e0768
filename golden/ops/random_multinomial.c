#include <string.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"

enum { LOGITS, SAMPLES, SEEDS };

static const struct role inputs[] = {
    [LOGITS] = { "logits", "unnormalised logarithms of probabilities", "BC", .slot = 0,
                 .likes = LIKES_LARGE },
    [SAMPLES] = { "samples", "number of draws for each row", .slot = FIXED(DT_INT32),
                  .draw = DRAW_OP },
    [SEEDS] = { "seeds", "two seeds of the generator", "2", .slot = FIXED(DT_I32) },
};

static const struct role outputs[] = {
    { "output", "indexes of classes, drawn with the probabilities softmax(row)", "B?",
      .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "", { LOGITS, SAMPLES, SEEDS, END } },
};

static const struct typing typings[] = {
    { L3, RANK(2), { DT_F32 } },
    { L3, RANK(2), { DT_F16 } },
};

static int infer(struct call *c, struct why *w)
{
    if (!call_known(c, SAMPLES))
        return 0;
    REQUIRE(w, call_int(c, SAMPLES) > 0, "%s: %d samples, must be positive", c->op->name,
            call_int(c, SAMPLES));
    c->out[0]->shape.dim[1] = (uint32_t) call_int(c, SAMPLES);
    return 0;
}

/* Mixes a counter: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Draw i of a row: 53 bits of a hash of seeds, row and i, in [0, 1).  No draw depends on another,
 * so the order of computation does not matter. */
static double uniform(uint64_t seed, size_t row, size_t i)
{
    return (double) (mix(mix(seed ^ mix(row)) + i) >> 11) * 0x1p-53;
}

/* The probabilities of one row: softmax, ignoring logits that are not finite. */
static int probabilities(const struct call *c, size_t row, double *p, struct why *w)
{
    size_t classes = c->letter['C'];
    const double *x = c->x[LOGITS] + row * classes;
    double most = -INFINITY, sum = 0;

    for (size_t k = 0; k < classes; k++)
        if (isfinite(x[k]))
            most = fmax(most, x[k]);
    if (most == -INFINITY)
        return why_fail(w, WHY_EXECUTION, "%s: no logit of row %zu is finite", c->op->name, row);
    for (size_t k = 0; k < classes; k++)
        sum += p[k] = isfinite(x[k]) ? elementary_exp(x[k] - most) : 0;
    for (size_t k = 0; k < classes; k++)
        p[k] /= sum;
    return 0;
}

/* Intervals of [0, 1) of length p, in the order of the classes. */
struct intervals {
    double *end;
    size_t last; /* the last that is not empty; the rounded sum of all may be below 1 */
};

static void set_intervals(const double *p, size_t classes, struct intervals *to)
{
    double sum = 0;

    to->last = 0;
    for (size_t k = 0; k < classes; k++) {
        to->end[k] = sum += p[k];
        to->last = p[k] > 0 ? k : to->last;
    }
}

/* The class whose interval contains x. */
static size_t pick(const struct intervals *of, size_t classes, double x)
{
    size_t k = 0;

    while (k < classes && x >= of->end[k])
        k++;
    return k < classes ? k : of->last;
}

static struct distribution *odds_new(const struct call *c)
{
    size_t rows = c->letter['B'], classes = c->letter['C'];
    struct distribution *o = arena_alloc(c->scratch, 1, sizeof *o);

    if (!o)
        return NULL;
    *o = (struct distribution){ rows, classes,
                                arena_alloc_raw(c->scratch, rows * classes + 1, sizeof *o->p),
                                arena_alloc(c->scratch, rows + 1, sizeof *o->relative) };
    return o->p && o->relative ? o : NULL;
}

/* Errors e of the logits change a probability by a factor of at most exp(2e); the errors of the
 * exponentials are added. */
static double relative_error(const struct call *c, size_t row)
{
    size_t classes = c->letter['C'];
    const double *x = c->x[LOGITS] + row * classes;
    double most = 0, largest = 0;

    for (size_t k = 0; k < classes; k++) {
        most = fmax(most, c->ex[LOGITS] ? c->ex[LOGITS][row * classes + k] : 0);
        largest = fmax(largest, isfinite(x[k]) ? fabs(x[k]) : 0);
    }
    return elementary_expm1(2 * most) + 2 * bound_exp(c->unit, 2 * largest);
}

static int eval(struct call *c, struct why *w)
{
    const int32_t *seeds = c->in[SEEDS]->data;
    uint64_t seed = (uint64_t) (uint32_t) seeds[0] << 32 | (uint32_t) seeds[1];
    size_t classes = c->letter['C'], samples = c->out[0]->shape.dim[1];
    struct distribution *o = odds_new(c);
    struct intervals of = { .end = arena_alloc_raw(c->scratch, classes + 1, sizeof *of.end) };

    if (!o || !of.end)
        return why_no_memory_for(w, "%s", c->op->name);
    for (size_t row = 0; row < o->rows; row++) {
        double *p = o->p + row * classes;
        TRY(probabilities(c, row, p, w));
        o->relative[row] = relative_error(c, row);
        set_intervals(p, classes, &of);
        for (size_t i = 0; i < samples; i++)
            c->y[0][row * samples + i] = (double) pick(&of, classes, uniform(seed, row, i));
    }
    o->absolute = 2 * c->unit;
    c->distribution = o;
    return 0;
}

/* A single value has no bound; call.distribution judges all of them by their distribution. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);

    (void) w;
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = INFINITY;
    return 0;
}

enum { MOST_SAMPLES = 4000 };

/* In most calls as many samples in all that wrong frequencies show. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t most = MOST_SAMPLES / (c->letter['B'] ? c->letter['B'] : 1);

    (void) role;
    *(int32_t *) to->data = (int32_t) (d->below(d, 4) ? most - most / 4 : 1 + d->below(d, most));
    return true;
}

const struct op op_RANDOM_MULTINOMIAL = {
    .code = OP_RANDOM_MULTINOMIAL,
    .name = "RANDOM_MULTINOMIAL",
    .summary = "Draws random classes; the same seeds give the same draws.",
    .formula = "P(output[b,i] = c) = exp(logits[b,c]) / sum_k exp(logits[b,k])",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_RANDOM,
               .text = "judged by its distribution; results computed from it are undecided" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
