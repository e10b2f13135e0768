/* Random convolutions have the results of the definition, computed for each output separately;
 * their bounds accept other orders of summation and reject small mistakes. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (seed >> 33) % n;
}

static float uniform(void)
{
    return (float) below(1 << 20) / (1 << 19) - 1;
}

struct geometry {
    uint32_t n, h, w, i, o, kh, kw, sh, sw, dh, dw, top, bottom, left, right;
    uint32_t oh, ow;
    bool depthwise;
};

static struct geometry draw_geometry(bool depthwise)
{
    struct geometry g = { .depthwise = depthwise };

    g.n = 1 + below(2), g.h = 1 + below(9), g.w = 1 + below(9), g.i = 1 + below(7);
    g.o = depthwise ? g.i * (1 + below(3)) : 1 + below(9);
    g.sh = 1 + below(3), g.sw = 1 + below(3), g.dh = 1 + below(3), g.dw = 1 + below(3);
    do {
        g.kh = 1 + below(4), g.kw = 1 + below(4);
        uint32_t reach_h = (g.kh - 1) * g.dh + 1, reach_w = (g.kw - 1) * g.dw + 1;
        g.top = below(reach_h), g.bottom = below(reach_h);
        g.left = below(reach_w), g.right = below(reach_w);
        g.oh = g.h + g.top + g.bottom < reach_h ? 0 : (g.h + g.top + g.bottom - reach_h) / g.sh + 1;
        g.ow = g.w + g.left + g.right < reach_w ? 0 : (g.w + g.left + g.right - reach_w) / g.sw + 1;
    } while (g.oh == 0 || g.ow == 0);
    return g;
}

/* The model of one convolution; all operands but the image are constants. */
struct conv {
    struct build b;
    struct geometry g;
    struct tensor x, w, bias, y;
    struct plan *plan;
    struct result r;
};

static void *random_data(struct build *b, const struct tensor *t)
{
    size_t n = tensor_count(t);
    unsigned char *bytes = arena_alloc(b->arena, tensor_bytes(t), 1);

    for (size_t i = 0; i < n; i++)
        if (t->dtype == DT_F32)
            ((float *) (void *) bytes)[i] = uniform();
        else if (t->dtype == DT_I32)
            ((int32_t *) (void *) bytes)[i] = (int32_t) below(20000) - 10000;
        else
            bytes[i] = (unsigned char) below(256);
    return bytes;
}

static uint32_t constant(struct build *b, const struct tensor *t)
{
    uint32_t id = build_constant(b, t->dtype, t->shape, t->data);
    void *data = b->graph->operand[id].tensor.data;

    b->graph->operand[id].tensor = *t;
    b->graph->operand[id].tensor.data = data;
    return id;
}

static void conv_run(struct conv *c, enum dtype image, enum dtype filter)
{
    struct geometry *g = &c->g;
    struct build *b = &c->b;
    struct why w = { 0 };
    static const float scales[32] = { 0.01f,  0.02f,  0.03f, 0.015f, 0.5f,  0.25f, 0.007f,
                                      0.011f, 0.013f, 0.1f,  0.2f,   0.05f, 0.06f, 0.07f,
                                      0.08f,  0.09f,  0.12f, 0.14f,  0.16f, 0.18f, 0.003f };
    bool quantised = image != DT_F32;

    build_init(b, 1);
    c->x = (struct tensor){ .dtype = image, .shape = DIMS(g->n, g->h, g->w, g->i) };
    c->w = (struct tensor){ .dtype = filter };
    c->w.shape = g->depthwise ? DIMS(1, g->kh, g->kw, g->o) : DIMS(g->o, g->kh, g->kw, g->i);
    c->bias = (struct tensor){ .dtype = quantised ? DT_I32 : DT_F32, .shape = DIMS(g->o) };
    c->y = (struct tensor){ .dtype = image, .shape = DIMS(g->n, g->oh, g->ow, g->o) };
    if (quantised) {
        c->x.scale = 0.037f, c->x.zero = image == DT_U8 ? 131 : 7;
        c->y.scale = 0.61f, c->y.zero = image == DT_U8 ? 120 : -11;
        if (filter == DT_PC8) {
            c->w.channel_dim = g->depthwise ? 3 : 0;
            c->w.n_channels = g->o;
            c->w.channel_scale = scales;
        } else {
            c->w.scale = 0.021f, c->w.zero = filter == DT_U8 ? 77 : -20;
            c->bias.scale = c->x.scale * c->w.scale;
        }
    }
    c->x.data = random_data(b, &c->x);
    c->w.data = random_data(b, &c->w);
    c->bias.data = random_data(b, &c->bias);
    uint32_t in = build_quant(b, LIFE_INPUT, image, c->x.shape, c->x.scale, c->x.zero);
    uint32_t out = build_quant(b, LIFE_OUTPUT, image, c->y.shape, c->y.scale, c->y.zero);
    bool no = false;
    uint32_t ids[15] = { in, constant(b, &c->w), constant(b, &c->bias) }, n = 3;
    const uint32_t scalars[] = { g->left, g->right, g->top, g->bottom, g->sw, g->sh };
    for (size_t i = 0; i < 6; i++)
        ids[n++] = build_int(b, (int32_t) scalars[i]);
    if (g->depthwise)
        ids[n++] = build_int(b, (int32_t) (g->o / g->i));
    ids[n++] = build_int(b, 0);
    ids[n++] = build_constant(b, DT_BOOL, (struct shape){ 0 }, &no);
    ids[n++] = build_int(b, (int32_t) g->dw);
    ids[n++] = build_int(b, (int32_t) g->dh);
    build_operation(b, g->depthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", ids, n, &out, 1);
    struct exec_options options = { .bounds = true };
    ck_assert_msg(plan_new(&b->model, &c->plan, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_run(c->plan, &c->x, &options, &c->r, &w) == 0, "%s", w.text);
}

static void conv_done(struct conv *c)
{
    result_done(&c->r);
    plan_free(c->plan);
    build_done(&c->b);
}

static double stored(const struct tensor *t, size_t i)
{
    switch (t->dtype) {
    case DT_F32: return (double) ((const float *) t->data)[i];
    case DT_I32: return ((const int32_t *) t->data)[i];
    case DT_U8: return ((const unsigned char *) t->data)[i] - t->zero;
    default: return ((const signed char *) t->data)[i] - t->zero;
    }
}

/* The products of output e, in order; returns their number.  spoil: this product is 1 % larger. */
static int products(const struct conv *c, size_t e, double *ret)
{
    const struct geometry *g = &c->g;
    size_t o = e % g->o, ox = e / g->o % g->ow, oy = e / g->o / g->ow % g->oh,
           n = e / g->o / g->ow / g->oh;
    int count = 0;

    for (size_t i = 0; i < g->kh; i++)
        for (size_t j = 0; j < g->kw; j++)
            for (size_t k = 0; k < (g->depthwise ? 1 : g->i); k++) {
                long y = (long) (oy * g->sh + i * g->dh) - (long) g->top;
                long x = (long) (ox * g->sw + j * g->dw) - (long) g->left;
                if (y < 0 || x < 0 || y >= (long) g->h || x >= (long) g->w)
                    continue;
                size_t channel = g->depthwise ? o / (g->o / g->i) : k;
                size_t at = ((n * g->h + (size_t) y) * g->w + (size_t) x) * g->i + channel;
                size_t tap = g->depthwise ? (i * g->kw + j) * g->o + o
                                          : ((o * g->kh + i) * g->kw + j) * g->i + k;
                ret[count++] = stored(&c->x, at) * stored(&c->w, tap);
            }
    return count;
}

enum { MAX_PRODUCTS = 256 };

/* The value that output e must have, in the units in which it is stored. */
static double defined(const struct conv *c, size_t e)
{
    double p[MAX_PRODUCTS];
    long double sum = stored(&c->bias, e % c->g.o);
    int n = products(c, e, p);

    for (int i = 0; i < n; i++)
        sum += p[i];
    if (c->x.dtype == DT_F32)
        return (double) (float) sum;
    double scale = (double) (c->w.channel_scale ? c->w.channel_scale[e % c->g.o] : c->w.scale);
    double q = round((double) sum * ((double) c->x.scale * scale) / (double) c->y.scale);
    double lo = c->y.dtype == DT_U8 ? 0 : -128, hi = c->y.dtype == DT_U8 ? 255 : 127;
    return fmin(fmax(q + c->y.zero, lo), hi) - c->y.zero;
}

static const enum dtype kinds[][2] = {
    { DT_F32, DT_F32 }, { DT_U8, DT_U8 }, { DT_U8, DT_PC8 }, { DT_S8, DT_S8 }, { DT_S8, DT_PC8 },
};

START_TEST(random_convolutions_follow_the_definition)
{
    for (int round = 0; round < 60; round++) {
        struct conv c = { .g = draw_geometry(round % 2) };
        conv_run(&c, kinds[_i][0], kinds[_i][1]);
        for (size_t e = 0; e < tensor_count(&c.y); e++) {
            double got = stored(&c.r.out[0], e), want = defined(&c, e);
            /* One float32 step: rounding to long double first may round twice. */
            double slack = c.x.dtype == DT_F32 ? fabs(want) * 0x1p-23 : 0;
            ck_assert_msg(fabs(got - want) <= slack, "round %d, element %zu: %.17g, expected %.17g",
                          round, e, got, want);
        }
        conv_done(&c);
    }
}
END_TEST

/* --- bounds --- */

enum order { FORWARD, BACKWARD, LANES, ORDERS };

/* The sum as single-precision hardware may compute it. */
static float sum_in_float(const double *p, int n, float bias, enum order order)
{
    float acc = order == FORWARD ? bias : 0, lane[8] = { 0 };

    for (int i = 0; i < n; i++)
        if (order == LANES)
            lane[i % 8] += (float) p[i];
        else
            acc += (float) p[order == FORWARD ? i : n - 1 - i];
    for (int i = 0; i < 8; i++)
        acc += lane[i];
    return order == FORWARD ? acc : acc + bias;
}

static struct judgement judge(const struct conv *c, const float *values)
{
    struct tensor actual = c->y;

    actual.data = (void *) values;
    return judge_result(&c->r, 0, &actual);
}

START_TEST(bounds_hold_for_any_order_of_summation)
{
    for (int round = 0; round < 40; round++) {
        struct conv c = { .g = draw_geometry(round % 2) };
        conv_run(&c, DT_F32, DT_F32);
        size_t count = tensor_count(&c.y);
        float *values = calloc(count, sizeof *values);
        for (enum order order = 0; order < ORDERS; order++) {
            for (size_t e = 0; e < count; e++) {
                double p[MAX_PRODUCTS];
                int n = products(&c, e, p);
                values[e] = sum_in_float(p, n, (float) stored(&c.bias, e % c.g.o), order);
            }
            struct judgement j = judge(&c, values);
            ck_assert_msg(j.ok && j.checked == count, "round %d, order %d: %s", round, (int) order,
                          j.why);
        }
        free(values);
        conv_done(&c);
    }
}
END_TEST

START_TEST(bounds_catch_one_weight_that_is_1_percent_off)
{
    int caught = 0, rounds = 0;

    for (int round = 0; round < 40; round++) {
        struct conv c = { .g = draw_geometry(false) };
        conv_run(&c, DT_F32, DT_F32);
        size_t count = tensor_count(&c.y);
        float *values = calloc(count, sizeof *values);
        for (size_t e = 0; e < count; e++) {
            double p[MAX_PRODUCTS];
            int n = products(&c, e, p);
            if (n > 0 && e % c.g.o == 0)
                p[n / 2] *= 1.01;
            values[e] = sum_in_float(p, n, (float) stored(&c.bias, e % c.g.o), FORWARD);
        }
        caught += !judge(&c, values).ok;
        rounds++;
        free(values);
        conv_done(&c);
    }
    /* In some windows that tap lies in the padding, or the weight is near zero. */
    ck_assert_msg(caught >= rounds - 2, "only %d of %d found", caught, rounds);
}
END_TEST

/* With exact operands the bound allows half a step of rounding and a quarter of a step for
 * requantisation. */
START_TEST(quantised_bounds_are_less_than_a_step)
{
    struct conv c = { .g = draw_geometry(false) };

    conv_run(&c, DT_U8, DT_U8);
    for (size_t e = 0; e < tensor_count(&c.y); e++) {
        double steps = c.r.bound[0][e] / (double) c.y.scale;
        ck_assert_msg(steps >= 0.5 && steps < 0.76, "element %zu: %g steps", e, steps);
    }
    conv_done(&c);
}
END_TEST

static void set_up(void)
{
    seed = 20240229;
}

Suite *ops_convolve_suite(void)
{
    TCase *t = tcase_create("results");

    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, random_convolutions_follow_the_definition, 0, COUNT(kinds));
    tcase_add_test(t, bounds_hold_for_any_order_of_summation);
    tcase_add_test(t, bounds_catch_one_weight_that_is_1_percent_off);
    tcase_add_test(t, quantised_bounds_are_less_than_a_step);
    return make_suite("ops_convolve", t, NULL);
}
