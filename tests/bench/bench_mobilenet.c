/* MobileNet-V1-1.0-224 on golden and, layer by layer, on XNNPACK: in float and in quant8, with one
 * thread each.
 *
 *   bench_mobilenet [ROUNDS]
 *
 * Weights and image are pseudo-random and always the same.  Golden runs the model as a plan,
 * without bounds; XNNPACK's operators (f32 and qu8) are set up once, each with golden's input of
 * the layer. Both are timed in turn, ROUNDS times (default 11); the table has the medians of each
 * layer and of whole runs, and golden's time divided by XNNPACK's.  Outputs are compared: float
 * relative to the largest of the layer, quant8 within a step.  Exit status 3 if they differ. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

#include "golden/model/build.h"
#include "tests/bench/bench.h"

enum { BLOCKS = 13, LAYERS = 1 + 2 * BLOCKS + 3, MOST_ROUNDS = 201, CLASSES = 1001, SLACK = 64 };
enum layer_kind { CONV, DEPTHWISE, POOL, SOFTMAX };

struct layer {
    enum layer_kind kind;
    uint32_t size, in_c, out_c, kernel, stride; /* size: of the input, which is square */
    struct tensor weights, bias, in, out;
    xnn_operator_t xnn;
    void *xnn_in, *xnn_out;
    double golden[MOST_ROUNDS], xnnpack[MOST_ROUNDS]; /* seconds */
};

struct bench {
    bool quantised;
    struct build build;
    struct layer layer[LAYERS];
    size_t n_layers;
    struct plan *plan;
    struct tensor image;
    struct arena *results;
    size_t round;
    double since; /* end of the previous layer */
    double wrong; /* largest difference of the outputs */
};

static uint32_t draw(void)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* Fills t with random values in -limit..limit, saturated to its type. */
static void fill(struct bench *b, struct tensor *t, double limit)
{
    size_t n = tensor_count(t);
    double *x = bench_must(malloc((n + 1) * sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = ((double) draw() * 0x1p-23 - 1) * limit;
    t->data = bench_must(arena_alloc(b->build.arena, tensor_bytes(t) + SLACK, 1));
    tensor_narrow(x, t);
    free(x);
}

/* ---- the model */

static struct shape square(uint32_t size, uint32_t channels)
{
    return DIMS(1, size, size, channels);
}

static uint32_t out_size(const struct layer *l)
{
    return l->kind == POOL ? 1 : (l->size - 1) / l->stride + 1;
}

static struct tensor typed(const struct bench *b, struct shape s, double scale, int32_t zero)
{
    struct tensor t = { .dtype = b->quantised ? DT_U8 : DT_F32, .shape = s };
    if (b->quantised) {
        t.scale = (float) scale;
        t.zero = zero;
    }
    return t;
}

static uint32_t add_operand(struct bench *b, enum lifetime life, const struct tensor *t)
{
    if (life != LIFE_CONSTANT_COPY)
        return build_quant(&b->build, life, t->dtype, t->shape, t->scale, t->zero);
    uint32_t i = build_constant(&b->build, t->dtype, t->shape, t->data);
    b->build.graph->operand[i].tensor.scale = t->scale;
    b->build.graph->operand[i].tensor.zero = t->zero;
    return i;
}

/* Random weights, scaled so that activations keep their magnitude, and a bias. */
static void draw_weights(struct bench *b, struct layer *l)
{
    uint32_t depth = l->kind == DEPTHWISE ? 1 : l->in_c, k = l->kernel;
    double limit = sqrt(6.0 / (k * k * depth));
    struct shape s = l->kind == DEPTHWISE ? DIMS(1, k, k, l->out_c) : DIMS(l->out_c, k, k, l->in_c);
    l->weights = typed(b, s, limit / 128, 127);
    fill(b, &l->weights, limit);
    l->bias = (struct tensor){ .dtype = b->quantised ? DT_I32 : DT_F32, .shape = DIMS(l->out_c) };
    if (b->quantised)
        l->bias.scale = l->in.scale * l->weights.scale;
    fill(b, &l->bias, 0.5);
}

static uint32_t add_convolution(struct bench *b, struct layer *l, uint32_t input, uint32_t output)
{
    draw_weights(b, l);
    uint32_t w = add_operand(b, LIFE_CONSTANT_COPY, &l->weights);
    uint32_t bias = add_operand(b, LIFE_CONSTANT_COPY, &l->bias);
    uint32_t same = build_int(&b->build, 1), stride = build_int(&b->build, (int32_t) l->stride);
    uint32_t one = build_int(&b->build, 1);
    uint32_t activation = build_int(&b->build, l->out_c == CLASSES ? 0 : 3);
    if (l->kind == CONV)
        OPERATION(&b->build, "CONV_2D", IDS(input, w, bias, same, stride, stride, activation),
                  IDS(output));
    else
        OPERATION(&b->build, "DEPTHWISE_CONV_2D",
                  IDS(input, w, bias, same, stride, stride, one, activation), IDS(output));
    return output;
}

static void add_pool(struct bench *b, const struct layer *l, uint32_t input, uint32_t output)
{
    uint32_t valid = build_int(&b->build, 2), one = build_int(&b->build, 1);
    uint32_t kernel = build_int(&b->build, (int32_t) l->size), none = build_int(&b->build, 0);
    OPERATION(&b->build, "AVERAGE_POOL_2D", IDS(input, valid, one, one, kernel, kernel, none),
              IDS(output));
}

static void add_softmax(struct bench *b, uint32_t input, uint32_t output)
{
    const float one = 1;
    uint32_t beta = build_constant(&b->build, DT_FLOAT32, (struct shape){ 0 }, &one);
    OPERATION(&b->build, "SOFTMAX", IDS(input, beta), IDS(output));
}

/* Adds a layer whose input is the previous layer's output; returns its output. */
static uint32_t add_layer(struct bench *b, struct layer l, uint32_t input)
{
    struct layer *to = &b->layer[b->n_layers++];
    double scale = l.out_c == CLASSES ? 0.05 : 6.0 / 255;
    *to = l;
    to->in = b->build.graph->operand[input].tensor;
    to->out = typed(b, square(out_size(&l), l.out_c), scale, l.out_c == CLASSES ? 128 : 0);
    if (l.kind == SOFTMAX)
        to->out = typed(b, to->out.shape, 1.0 / 256, 0);
    enum lifetime life = l.kind == SOFTMAX ? LIFE_OUTPUT : LIFE_TEMPORARY;
    uint32_t output = add_operand(b, life, &to->out);
    if (l.kind == POOL)
        add_pool(b, to, input, output);
    else if (l.kind == SOFTMAX)
        add_softmax(b, input, output);
    else
        add_convolution(b, to, input, output);
    return output;
}

static void build_model(struct bench *b)
{
    static const uint32_t channels[] = { 32,  64,  128, 128, 256, 256,  512,
                                         512, 512, 512, 512, 512, 1024, 1024 };
    static const uint32_t stride[BLOCKS] = { 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1 };
    uint32_t size = 112;
    build_init(&b->build, 1);
    b->image = typed(b, square(224, 3), 1.0 / 128, 128);
    fill(b, &b->image, 1);
    uint32_t x = add_operand(b, LIFE_INPUT, &b->image);
    x = add_layer(b, (struct layer){ CONV, 224, 3, 32, 3, 2 }, x);
    for (size_t i = 0; i < BLOCKS; i++) {
        uint32_t in = channels[i], out = channels[i + 1];
        x = add_layer(b, (struct layer){ DEPTHWISE, size, in, in, 3, stride[i] }, x);
        size = (size - 1) / stride[i] + 1;
        x = add_layer(b, (struct layer){ CONV, size, in, out, 1, 1 }, x);
    }
    x = add_layer(b, (struct layer){ POOL, size, 1024, 1024, size, 1 }, x);
    x = add_layer(b, (struct layer){ CONV, 1, 1024, CLASSES, 1, 1 }, x);
    add_layer(b, (struct layer){ SOFTMAX, 1, CLASSES, CLASSES, 1, 1 }, x);
}

/* ---- XNNPACK */

/* The padding of SAME; an odd element is added after. */
static void same_padding(const struct layer *l, uint32_t *ret_before, uint32_t *ret_after)
{
    uint32_t reach = (out_size(l) - 1) * l->stride + l->kernel;
    uint32_t all = reach > l->size ? reach - l->size : 0;
    *ret_before = all / 2;
    *ret_after = all - all / 2;
}

static enum xnn_status create_convolution(const struct bench *b, struct layer *l)
{
    uint32_t p, q, k = l->kernel, s = l->stride, groups = l->kind == DEPTHWISE ? l->in_c : 1;
    uint32_t flags = l->kind == DEPTHWISE ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0;
    size_t depth = l->in_c / groups, outs = l->out_c / groups;
    bool limited = l->out_c != CLASSES;
    same_padding(l, &p, &q);
    if (b->quantised)
        return xnn_create_convolution2d_nhwc_qu8(
            p, q, q, p, k, k, s, s, 1, 1, groups, depth, outs, l->in_c, l->out_c,
            (uint8_t) l->in.zero, l->in.scale, (uint8_t) l->weights.zero, l->weights.scale,
            l->weights.data, l->bias.data, (uint8_t) l->out.zero, l->out.scale, 0, 255, flags,
            &l->xnn);
    return xnn_create_convolution2d_nhwc_f32(
        p, q, q, p, k, k, s, s, 1, 1, groups, depth, outs, l->in_c, l->out_c, l->weights.data,
        l->bias.data, limited ? 0 : -INFINITY, limited ? 6 : INFINITY, flags, &l->xnn);
}

static enum xnn_status create_pool(const struct bench *b, struct layer *l)
{
    if (b->quantised)
        return xnn_create_global_average_pooling_nwc_qu8(
            l->in_c, l->in_c, l->in_c, (uint8_t) l->in.zero, l->in.scale, (uint8_t) l->out.zero,
            l->out.scale, 0, 255, 0, &l->xnn);
    return xnn_create_global_average_pooling_nwc_f32(l->in_c, l->in_c, l->in_c, -INFINITY, INFINITY,
                                                     0, &l->xnn);
}

static enum xnn_status create_softmax(const struct bench *b, struct layer *l)
{
    if (b->quantised)
        return xnn_create_softmax_nc_qu8(l->in_c, l->in_c, l->in_c, l->in.scale,
                                         (uint8_t) l->out.zero, l->out.scale, 0, &l->xnn);
    return xnn_create_softmax_nc_f32(l->in_c, l->in_c, l->in_c, 0, &l->xnn);
}

static enum xnn_status set_up_convolution(const struct bench *b, struct layer *l)
{
    return b->quantised ? xnn_setup_convolution2d_nhwc_qu8(l->xnn, 1, l->size, l->size, l->xnn_in,
                                                           l->xnn_out, NULL)
                        : xnn_setup_convolution2d_nhwc_f32(l->xnn, 1, l->size, l->size, l->xnn_in,
                                                           l->xnn_out, NULL);
}

static enum xnn_status set_up_pool(const struct bench *b, struct layer *l)
{
    size_t pixels = (size_t) l->size * l->size;
    return b->quantised ? xnn_setup_global_average_pooling_nwc_qu8(l->xnn, 1, pixels, l->xnn_in,
                                                                   l->xnn_out, NULL)
                        : xnn_setup_global_average_pooling_nwc_f32(l->xnn, 1, pixels, l->xnn_in,
                                                                   l->xnn_out, NULL);
}

static enum xnn_status set_up_softmax(const struct bench *b, struct layer *l)
{
    return b->quantised ? xnn_setup_softmax_nc_qu8(l->xnn, 1, l->xnn_in, l->xnn_out, NULL)
                        : xnn_setup_softmax_nc_f32(l->xnn, 1, l->xnn_in, l->xnn_out, NULL);
}

static int set_up_layer(struct bench *b, struct layer *l)
{
    typedef enum xnn_status step(const struct bench *b, struct layer *l);
    static step *const create[] = { create_convolution, create_convolution, create_pool,
                                    create_softmax };
    static step *const set_up[] = { set_up_convolution, set_up_convolution, set_up_pool,
                                    set_up_softmax };
    l->xnn_in = bench_must(arena_alloc(b->build.arena, tensor_bytes(&l->in) + SLACK, 1));
    l->xnn_out = bench_must(arena_alloc(b->build.arena, tensor_bytes(&l->out) + SLACK, 1));
    bool ok =
        create[l->kind](b, l) == xnn_status_success && set_up[l->kind](b, l) == xnn_status_success;
    return ok ? 0 : -1;
}

/* ---- running */

/* Largest difference of the elements: relative to the largest in float, in steps in quant8. */
static double difference(const struct bench *b, const void *x, const void *y, size_t n)
{
    double most = b->quantised ? 1 : 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        const float *fx = x, *fy = y;
        const uint8_t *qx = x, *qy = y;
        double a = b->quantised ? qx[i] : (double) fx[i], c = b->quantised ? qy[i] : (double) fy[i];
        worst = fmax(worst, fabs(a - c));
        most = b->quantised ? 1 : fmax(most, fabs(a));
    }
    return most > 0 ? worst / most : worst;
}

/* Called after each layer of the first run: runs XNNPACK on the same input and compares the
 * outputs. */
static void compare_layer(const struct exec_event *e, void *user)
{
    struct bench *b = user;
    struct layer *l = &b->layer[e->operation];
    memcpy(l->xnn_in, e->call->arg[0]->data, tensor_bytes(&l->in));
    xnn_run_operator(l->xnn, NULL);
    b->wrong =
        fmax(b->wrong, difference(b, e->call->out[0]->data, l->xnn_out, tensor_count(&l->out)));
}

static void time_layer(const struct exec_event *e, void *user)
{
    struct bench *b = user;
    double at = bench_now();
    b->layer[e->operation].golden[b->round] = at - b->since;
    b->since = bench_now();
}

/* Runs the whole model; returns the seconds. */
static double run_golden(struct bench *b, void (*each)(const struct exec_event *e, void *user))
{
    struct exec_options options = { .arena = b->results, .on_operation = each, .user = b };
    struct result result;
    struct why why;
    double begun = bench_now();
    b->since = begun;
    if (plan_run(b->plan, &b->image, &options, &result, &why) < 0) {
        fprintf(stderr, "bench_mobilenet: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
    result_done(&result);
    arena_rewind(b->results, (struct arena_mark){ 0 });
    return bench_now() - begun;
}

static double run_xnnpack(struct bench *b, size_t round)
{
    double begun = bench_now();
    for (size_t i = 0; i < b->n_layers; i++) {
        double since = bench_now();
        xnn_run_operator(b->layer[i].xnn, NULL);
        b->layer[i].xnnpack[round] = bench_now() - since;
    }
    return bench_now() - begun;
}

/* ---- the table */

static void print_row(const char *name, double golden, double xnnpack)
{
    printf("  %-32s %9.3f %9.3f %7.2f\n", name, 1e3 * golden, 1e3 * xnnpack, golden / xnnpack);
}

static void print_layer(struct layer *l, size_t rounds)
{
    static const char *const kind[] = { "conv", "depthwise", "average pool", "softmax" };
    char name[64];
    uint32_t size = l->size;
    if (l->kind == SOFTMAX)
        snprintf(name, sizeof name, "softmax %u", l->in_c);
    else
        snprintf(name, sizeof name, "%s %ux%u %ux%ux%u-%u s%u", kind[l->kind], l->kernel, l->kernel,
                 size, size, l->in_c, l->out_c, l->stride);
    print_row(name, bench_median(l->golden, rounds), bench_median(l->xnnpack, rounds));
}

/* Prints the sum of all layers of a kind. */
static void print_kind(struct bench *b, enum layer_kind kind, const char *name, size_t rounds)
{
    double golden = 0, xnnpack = 0;
    for (size_t i = 0; i < b->n_layers; i++)
        if (b->layer[i].kind == kind) {
            golden += bench_median(b->layer[i].golden, rounds);
            xnnpack += bench_median(b->layer[i].xnnpack, rounds);
        }
    print_row(name, golden, xnnpack);
}

static void measure(struct bench *b, size_t rounds)
{
    static double golden[MOST_ROUNDS], xnnpack[MOST_ROUNDS];
    for (b->round = 0; b->round < rounds; b->round++) {
        golden[b->round] = run_golden(b, time_layer);
        xnnpack[b->round] = run_xnnpack(b, b->round);
    }
    printf("  %-32s %9s %9s %7s\n", "ms, one thread, median", "golden", "XNNPACK", "ratio");
    for (size_t i = 0; i < b->n_layers; i++)
        print_layer(&b->layer[i], rounds);
    print_kind(b, CONV, "all convolutions", rounds);
    print_kind(b, DEPTHWISE, "all depthwise convolutions", rounds);
    print_row("whole network", bench_median(golden, rounds), bench_median(xnnpack, rounds));
}

static int bench(bool quantised, size_t rounds)
{
    static struct bench b;
    struct why why;
    b = (struct bench){ .quantised = quantised, .results = bench_must(arena_new(0)) };
    build_model(&b);
    for (size_t i = 0; i < b.n_layers; i++)
        if (set_up_layer(&b, &b.layer[i]) < 0) {
            fprintf(stderr, "bench_mobilenet: XNNPACK does not support layer %zu\n", i);
            return -1;
        }
    if (plan_new(&b.build.model, &b.plan, &why) < 0) {
        fprintf(stderr, "bench_mobilenet: %s\n", why.text);
        return -1;
    }
    run_golden(&b, compare_layer);
    printf("MobileNet-V1-1.0-224 %s\n",
           quantised ? "quant8, beside XNNPACK qu8" : "float, beside XNNPACK f32");
    measure(&b, rounds);
    printf("  largest difference of an output: %g %s\n\n", b.wrong,
           quantised ? "steps" : "of the layer's largest");
    for (size_t i = 0; i < b.n_layers; i++)
        xnn_delete_operator(b.layer[i].xnn);
    plan_free(b.plan);
    arena_free(b.results);
    build_done(&b.build);
    return b.wrong <= (quantised ? 1 : 1e-5) ? 0 : -1;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 11;
    if (argc > 2 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_mobilenet [ROUNDS], 1..%d\n", MOST_ROUNDS);
        return 2;
    }
    if (xnn_initialize(NULL) != xnn_status_success) {
        fprintf(stderr, "bench_mobilenet: XNNPACK does not run on this machine\n");
        return 3;
    }
    int wrong = 0;
    for (int quantised = 0; quantised < 2; quantised++)
        wrong |= bench(quantised, (size_t) rounds) < 0;
    return wrong ? 3 : 0;
}
