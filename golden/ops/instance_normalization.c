#include "golden/judge/bounds.h"

enum { INPUT, GAMMA, BETA, EPSILON, LAYOUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "the image", "NHWC", .slot = 0, .image = true, .needs = NEEDS_SPREAD,
                .likes = LIKES_SHIFTED },
    [GAMMA] = { "gamma", "standard deviation of the result", .slot = 1 },
    [BETA] = { "beta", "mean of the result", .slot = 1 },
    [EPSILON] = { "epsilon", "added to the variance", .slot = 1, .draw = DRAW_POSITIVE,
                  .likes = LIKES_TINY },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                 .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "NHWC", .slot = 0, .image = true },
};

static const struct form forms[] = {
    { "", { INPUT, GAMMA, BETA, EPSILON, LAYOUT, END } },
};

static const struct typing typings[] = {
    { L3, RANK(4), { DT_F32, DT_FLOAT32 } },
    { L3, RANK(4), { DT_F16, DT_FLOAT16 } },
};

/* One channel of one image: n elements from index `at`, `step` apart. */
struct instance {
    size_t at, n, step;
};

static double mean(const struct instance *p, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += x[p->at + i * p->step];
    return sum / (double) p->n;
}

static double variance(const struct instance *p, const double *x, double m)
{
    double sum = 0;

    for (size_t i = 0; i < p->n; i++) {
        double d = x[p->at + i * p->step] - m;
        sum += d * d;
    }
    return sum / (double) p->n;
}

static void normalize(const struct call *c, const struct instance *p)
{
    const double *x = c->x[INPUT], gamma = call_real(c, GAMMA), beta = call_real(c, BETA);
    double m = mean(p, x), s = sqrt(variance(p, x, m) + call_real(c, EPSILON));

    for (size_t i = 0, at = p->at; i < p->n; i++, at += p->step)
        c->y[0][at] = (x[at] - m) / s * gamma + beta;
}

static void each_instance(const struct call *c,
                          void (*f)(const struct call *c, const struct instance *p))
{
    size_t pixels = (size_t) c->letter['H'] * c->letter['W'], channels = c->letter['C'];

    for (size_t n = 0; n < c->letter['N']; n++)
        for (size_t k = 0; k < channels; k++) {
            struct instance p = { n * pixels * channels + k, pixels, channels };
            f(c, &p);
        }
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    each_instance(c, normalize);
    return 0;
}

/* Error of the mean: that of the pixels and that of the sum. */
static double mean_error(const struct call *c, const struct instance *p)
{
    double sum = 0, carried = 0;

    for (size_t i = 0, at = p->at; i < p->n; i++, at += p->step) {
        sum += fabs(c->x[INPUT][at]);
        carried += c->ex[INPUT] ? c->ex[INPUT][at] : 0;
    }
    return (carried + bound_sum(c, p->n + 1, sum)) / (double) p->n;
}

/* Error of x - mean: that of both, and the rounding of the difference. */
static double deviation_error(const struct call *c, size_t at, double m, double em)
{
    double ex = c->ex[INPUT] ? c->ex[INPUT][at] : 0;

    return ex + em + c->unit * (fabs(c->x[INPUT][at] - m) + ex + em);
}

/* Error of the variance: a deviation d has error e, its square 2|d|e + e^2.  Small squares may be
 * flushed to zero. */
static double variance_error(const struct call *c, const struct instance *p, double m, double em)
{
    double sum = 0, carried = 0;

    for (size_t i = 0, at = p->at; i < p->n; i++, at += p->step) {
        double d = fabs(c->x[INPUT][at] - m), e = deviation_error(c, at, m, em);
        sum += d * d;
        carried += 2 * d * e + e * e + bound_tiny(c->unit);
    }
    return (carried + bound_sum(c, p->n + 2, sum)) / (double) p->n;
}

static void bound_instance(const struct call *c, const struct instance *p)
{
    double gamma = call_real(c, GAMMA), beta = call_real(c, BETA), u = c->unit;
    double m = mean(p, c->x[INPUT]), em = mean_error(c, p);
    double ev = variance_error(c, p, m, em);
    double v = variance(p, c->x[INPUT], m) + call_real(c, EPSILON), s = sqrt(v);
    double shortest = sqrt(fmax(v - ev, 0)) * (1 - 2 * u);

    for (size_t i = 0, at = p->at; i < p->n; i++, at += p->step) {
        double d = fabs(c->x[INPUT][at] - m), e = deviation_error(c, at, m, em);
        double scaled = fabs(gamma) * ((d + e) / shortest - d / s);
        double e_all = scaled + u * (4 * fabs(gamma) * d / s + fabs(beta) + fabs(c->y[0][at]));
        c->ey[0][at] = bound_clean(e_all + bound_tiny(u));
    }
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    each_instance(c, bound_instance);
    return 0;
}

const struct op op_INSTANCE_NORMALIZATION = {
    .code = OP_INSTANCE_NORMALIZATION,
    .name = "INSTANCE_NORMALIZATION",
    .summary = "Normalises every channel of every image to a given mean and standard deviation.",
    .formula = "output[n,y,x,c] = (input[n,y,x,c] - mean[n,c]) / "
               "sqrt(variance[n,c] + epsilon) * gamma + beta, "
               "mean and variance over all y and x",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + LAYOUT,
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "interval of |x - mean| / deviation, from the errors of mean and variance" },
    .eval = eval,
    .bound = bound,
};
