/* Speed of the matrix kernel compared with XNNPACK's f32 convolutions, with one thread each.
 *
 *   bench_conv [ROUNDS]
 *
 * For the shapes of MobileNet and some 3x3 convolutions it prints GFLOP/s of golden (double,
 * weights packed before, like XNNPACK's), of golden including the packing, and of XNNPACK, and
 * golden's time divided by XNNPACK's, without and with the packing.  They are timed in turn, ROUNDS
 * times (default 15); the medians are compared. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xnnpack.h>

#include "golden/math/matmul.h"
#include "tests/bench/bench.h"

struct shape {
    const char *name;
    size_t size, in_c, out_c, kernel, stride;
    bool depthwise;
};

static const struct shape shapes[] = {
    { "conv 1x1 112x112x32-64", 112, 32, 64, 1, 1 },
    { "conv 1x1 56x56x64-128", 56, 64, 128, 1, 1 },
    { "conv 1x1 56x56x128-128", 56, 128, 128, 1, 1 },
    { "conv 1x1 28x28x256-256", 28, 256, 256, 1, 1 },
    { "conv 1x1 14x14x512-512", 14, 512, 512, 1, 1 },
    { "conv 1x1 7x7x1024-1024", 7, 1024, 1024, 1, 1 },
    { "conv 3x3 224x224x3-32 s2", 224, 3, 32, 3, 2 },
    { "conv 3x3 56x56x64-64", 56, 64, 64, 3, 1 },
    { "conv 3x3 28x28x128-128", 28, 128, 128, 3, 1 },
    { "conv 3x3 14x14x256-256", 14, 256, 256, 3, 1 },
    { "depthwise 3x3 112x112x32", 112, 32, 32, 3, 1, true },
    { "depthwise 3x3 56x56x128", 56, 128, 128, 3, 1, true },
    { "depthwise 3x3 56x56x128 s2", 56, 128, 128, 3, 2, true },
    { "depthwise 3x3 14x14x512", 14, 512, 512, 3, 1, true },
};

/* One shape prepared for both implementations, with the same values. */
struct bench {
    struct matmul_conv conv;
    struct matmul_depthwise depthwise;
    struct matmul_packed *packed;
    double *image, *weights, *init, *out;
    float *f_image, *f_weights, *f_init, *f_out;
    xnn_operator_t xnn;
    double products;
};

/* n random values in both precisions; XNNPACK reads some bytes past the end. */
static void fill(size_t n, double **ret_d, float **ret_f)
{
    static uint32_t state = 1;
    *ret_d = aligned_alloc(64, (n * sizeof(double) / 64 + 1) * 64);
    *ret_f = aligned_alloc(64, (n * sizeof(float) / 64 + 2) * 64);
    if (!*ret_d || !*ret_f)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        (*ret_f)[i] = (float) (state >> 8) * 0x1p-23f - 1;
        (*ret_d)[i] = (double) (*ret_f)[i];
    }
}

static int set_up_xnn(const struct shape *s, uint32_t pad, struct bench *b)
{
    uint32_t k = (uint32_t) s->kernel, stride = (uint32_t) s->stride;
    uint32_t groups = s->depthwise ? (uint32_t) s->in_c : 1;
    enum xnn_status status = xnn_create_convolution2d_nhwc_f32(
        pad, pad, pad, pad, k, k, stride, stride, 1, 1, groups, s->in_c / groups, s->out_c / groups,
        s->in_c, s->out_c, b->f_weights, b->f_init, -INFINITY, INFINITY,
        s->depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, &b->xnn);
    if (status != xnn_status_success)
        return -1;
    status =
        xnn_setup_convolution2d_nhwc_f32(b->xnn, 1, s->size, s->size, b->f_image, b->f_out, NULL);
    return status == xnn_status_success ? 0 : -1;
}

static int set_up(const struct shape *s, struct bench *b)
{
    size_t pad = s->kernel / 2, outs = (s->size + 2 * pad - s->kernel) / s->stride + 1;
    size_t depth = s->depthwise ? 1 : s->in_c, k = s->kernel * s->kernel * depth;
    struct matmul_axis axis = { .in = s->size,
                                .out = outs,
                                .kernel = s->kernel,
                                .stride = s->stride,
                                .dilation = 1,
                                .pad = (ptrdiff_t) pad };
    fill(s->size * s->size * s->in_c, &b->image, &b->f_image);
    fill(s->out_c * k, &b->weights, &b->f_weights);
    fill(s->out_c, &b->init, &b->f_init);
    fill(outs * outs * s->out_c, &b->out, &b->f_out);
    b->conv = (struct matmul_conv){ .batch = 1,
                                    .in_c = s->in_c,
                                    .out_c = s->out_c,
                                    .y = axis,
                                    .x = axis,
                                    .image = b->image,
                                    .weights = b->weights,
                                    .init = b->init,
                                    .out = b->out };
    b->depthwise = (struct matmul_depthwise){ .batch = 1,
                                              .in_c = s->in_c,
                                              .multiplier = 1,
                                              .y = axis,
                                              .x = axis,
                                              .image = b->image,
                                              .weights = b->weights,
                                              .init = b->init,
                                              .out = b->out };
    b->packed = s->depthwise ? NULL : matmul_pack(s->out_c, k, 1, b->weights);
    b->products = (double) (outs * outs * s->out_c * k);
    return set_up_xnn(s, (uint32_t) pad, b);
}

static void tear_down(struct bench *b)
{
    void *all[] = { b->image,   b->weights,   b->init,   b->out,
                    b->f_image, b->f_weights, b->f_init, b->f_out };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    matmul_packed_free(b->packed);
    xnn_delete_operator(b->xnn);
}

static void run_golden(struct bench *b)
{
    if (!b->packed) {
        matmul_depthwise(&b->depthwise, NULL);
        return;
    }
    b->conv.packed = b->packed;
    matmul_conv(&b->conv, NULL);
}

static void run_unpacked(struct bench *b)
{
    if (!b->packed) {
        matmul_depthwise(&b->depthwise, NULL);
        return;
    }
    b->conv.packed = NULL;
    matmul_conv(&b->conv, NULL);
}

static void run_xnn(struct bench *b)
{
    xnn_run_operator(b->xnn, NULL);
}

/* Seconds per call, over enough calls to take some milliseconds. */
static double seconds(void (*run)(struct bench *b), struct bench *b)
{
    size_t calls = (size_t) (20e6 / b->products) + 1;
    double start = bench_now();
    for (size_t i = 0; i < calls; i++)
        run(b);
    return (bench_now() - start) / (double) calls;
}

enum { KINDS = 3, MOST_ROUNDS = 1000 };

static void measure(struct bench *b, size_t rounds, double ret_median[KINDS])
{
    static void (*const runs[KINDS])(struct bench *) = { run_golden, run_unpacked, run_xnn };
    static double times[KINDS][MOST_ROUNDS];
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < KINDS; i++)
            times[i][round] = seconds(runs[i], b);
    for (size_t i = 0; i < KINDS; i++) {
        ret_median[i] = bench_median(times[i], rounds);
    }
}

/* Largest difference of the results, relative to the largest result. */
static double difference(const struct bench *b, size_t n)
{
    double most = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(b->out[i]));
        worst = fmax(worst, fabs(b->out[i] - (double) b->f_out[i]));
    }
    return worst / most;
}

static int bench_shape(const struct shape *s, size_t rounds, double *ret_log_ratio)
{
    struct bench b = { 0 };
    double t[KINDS];
    if (set_up(s, &b) < 0) {
        fprintf(stderr, "bench_conv: XNNPACK does not support %s\n", s->name);
        return -1;
    }
    measure(&b, rounds, t);
    size_t outs = b.conv.y.out;
    double wrong = difference(&b, outs * outs * s->out_c), flop = 2e-9 * b.products;
    printf("%-28s %8.2f %8.2f %8.2f %8.2f %8.2f\n", s->name, flop / t[0], flop / t[1], flop / t[2],
           t[0] / t[2], t[1] / t[2]);
    tear_down(&b);
    if (!(wrong < 1e-5)) {
        fprintf(stderr, "bench_conv: %s: results differ by %g\n", s->name, wrong);
        return -1;
    }
    *ret_log_ratio = log(t[0] / t[2]);
    return 0;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 15;
    if (argc > 2 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_conv [ROUNDS], 1..%d\n", MOST_ROUNDS);
        return 2;
    }
    if (xnn_initialize(NULL) != xnn_status_success) {
        fprintf(stderr, "bench_conv: XNNPACK does not run on this machine\n");
        return 3;
    }
    const size_t n = sizeof shapes / sizeof *shapes;
    double sum = 0, log_ratio;
    printf("%-28s %8s %8s %8s %8s %8s\n", "GFLOP/s, one thread", "golden", "packing", "XNNPACK",
           "ratio", "packing");
    for (size_t i = 0; i < n; i++) {
        if (bench_shape(&shapes[i], (size_t) rounds, &log_ratio) < 0)
            return 3;
        sum += log_ratio;
    }
    printf("golden takes %.2f times as long as XNNPACK f32 (geometric mean)\n",
           exp(sum / (double) n));
    return 0;
}
