/* Convolutions computed from stored elements to stored elements have the same bits as those that
 * widen all operands first, and the same bounds: on each instance of the kernel, with and without
 * threads, in the first run of a plan and in later runs, whose weights are packed. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "golden/math/matmul.h"
#include "golden/model/build.h"
#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"

static struct matmul_pool *pools[2]; /* none, and two threads */

static struct result run(const struct plan *p, const struct tensor *in,
                         const struct exec_options *o)
{
    struct result r;
    struct why w;

    if (plan_run(p, in, o, &r, &w) < 0)
        ck_abort_msg("%s", w.text);
    return r;
}

/* Integer sums of errors are exact, those of the definition rounded to double. */
static void compare_bounds(const struct result *want, const struct result *got, uint32_t i,
                           const char *name)
{
    size_t n = tensor_count(&want->out[i]);

    if (memcmp(want->real[i], got->real[i], n * sizeof(double)))
        ck_abort_msg("%s: real values of output %u differ from the definition", name, i);
    for (size_t k = 0; k < n; k++) {
        double a = want->bound[i][k], b = got->bound[i][k];
        if (!(a == b || fabs(a - b) <= 1e-12 * a))
            ck_abort_msg("%s: bound %zu of output %u is %.17g, by definition %.17g", name, k, i, b,
                         a);
    }
}

static void compare(const struct result *want, struct result got, const char *name)
{
    for (uint32_t i = 0; i < want->n; i++) {
        ck_assert(shape_equal(&want->out[i].shape, &got.out[i].shape));
        if (memcmp(want->out[i].data, got.out[i].data, tensor_bytes(&want->out[i])))
            ck_abort_msg("%s: output %u differs from the definition", name, i);
        if (got.bound)
            compare_bounds(want, &got, i, name);
    }
    result_done(&got);
}

static void check_model(const struct model *m, const struct tensor *in, const char *name)
{
    const struct exec_options by_definition = { .bounds = true,
                                                .by_definition = true,
                                                .max_iterations = 100 };
    struct plan *plan;
    struct why w;

    if (plan_new(m, &plan, &w) < 0)
        ck_abort_msg("%s: %s", name, w.text);
    struct result want = run(plan, in, &by_definition);
    for (enum matmul_isa isa = MATMUL_BEST; isa <= MATMUL_AVX2; isa++)
        for (int i = 0; i < 2 && matmul_use(isa); i++) {
            struct exec_options o = { .pool = pools[i], .max_iterations = 100 };
            compare(&want, run(plan, in, &o), name);
            o.bounds = true;
            compare(&want, run(plan, in, &o), name);
        }
    matmul_use(MATMUL_BEST);
    result_done(&want);
    plan_free(plan);
}

static void check_random(const char *only, uint32_t ops, uint64_t graphs)
{
    struct randgraph_options o = randgraph_default;
    struct arena *arena = arena_new(0);
    struct example e;
    struct why w;

    o.only = randgraph_only(only);
    o.min_ops = o.max_ops = ops;
    for (uint64_t i = 0; i < graphs; i++) {
        arena_rewind(arena, (struct arena_mark){ 0 });
        if (randgraph_make(&o, 3, i, arena, &e, &w) < 0)
            ck_abort_msg("%s", w.text);
        check_model(&e.model, e.in, e.name);
    }
    arena_free(arena);
}

START_TEST(single_operations_have_the_same_bits)
{
    static const char *const names[] = { "CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D",
                                         "FULLY_CONNECTED" };

    for (int i = 0; i < COUNT(names); i++)
        check_random(names[i], 1, 250);
}
END_TEST

START_TEST(graphs)
{
    check_random(NULL, 10, 100);
}
END_TEST

/* ---- images that span many chunks */

struct large {
    const char *op;
    enum dtype in, filter;
    uint32_t batch, size, in_c, out_c, kernel, stride;
    bool nchw;
};

/* Different elements that cover most of the type's range. */
static void *elements(struct build *b, enum dtype dtype, struct shape s)
{
    const struct codec *c = dtype_info[dtype].codec;
    size_t n = shape_count(&s);
    char *data = arena_alloc(b->arena, n + 1, c->size);

    for (size_t i = 0; i < n; i++) {
        double x = (double) (i * 2654435761u % 1000) - 500;
        c->narrow(&x, 1, 0, dtype == DT_I32 ? 0.01 : 3, data + i * c->size);
    }
    return data;
}

static uint32_t constant(struct build *b, const struct large *l, enum dtype dtype, struct shape s)
{
    uint32_t index = build_constant(b, dtype, s, elements(b, dtype, s));
    struct tensor *t = &b->graph->operand[index].tensor;

    if (dtype == DT_PC8) {
        float *scales = arena_alloc(b->arena, l->out_c, sizeof *scales);
        for (uint32_t i = 0; i < l->out_c; i++)
            scales[i] = 0.001f * (float) (i % 7 + 1);
        t->n_channels = l->out_c;
        t->channel_scale = scales;
        t->channel_dim = l->op[0] == 'D' ? 3 : 0;
    } else if (dtype_info[dtype].quant == QUANT_AFFINE) {
        t->scale = 0.01f;
        t->zero = (int32_t) dtype_info[dtype].codec->max;
    }
    return index;
}

static struct shape image(const struct large *l, uint32_t size, uint32_t channels)
{
    return l->nchw ? DIMS(l->batch, channels, size, size) : DIMS(l->batch, size, size, channels);
}

static void check_large(const struct large *l)
{
    struct build b;
    struct tensor in = { .dtype = l->in, .shape = image(l, l->size, l->in_c) };
    bool quantised = dtype_info[l->in].quant == QUANT_AFFINE, depthwise = l->op[0] == 'D';

    build_init(&b, 1);
    float scale = quantised ? 0.5f : 0;
    int32_t zero = l->in == DT_U8 ? 3 : l->in == DT_S8 ? -128 : 0;
    uint32_t given = build_quant(&b, LIFE_INPUT, l->in, in.shape, scale, zero);
    uint32_t x = build_quant(&b, LIFE_TEMPORARY, l->in, in.shape, scale, zero);
    struct shape s = depthwise ? DIMS(1, l->kernel, l->kernel, l->out_c)
                               : DIMS(l->out_c, l->kernel, l->kernel, l->in_c);
    uint32_t f = constant(&b, l, l->filter, s);
    uint32_t bias = constant(&b, l, quantised ? DT_I32 : l->in, DIMS(l->out_c));
    if (quantised && l->filter != DT_PC8)
        b.graph->operand[bias].tensor.scale = scale * 0.01f;
    uint32_t out =
        build_quant(&b, LIFE_OUTPUT, l->in, image(l, (l->size - 1) / l->stride + 1, l->out_c),
                    quantised ? 20 : 0, zero);
    uint32_t same = build_int(&b, 1), stride = build_int(&b, (int32_t) l->stride);
    uint32_t relu = build_int(&b, 1), one = build_int(&b, 1);
    uint32_t two = build_int(&b, 2), none = build_int(&b, 0);
    const uint8_t yes = l->nchw;
    uint32_t nchw = build_constant(&b, DT_BOOL, (struct shape){ 0 }, &yes);
    /* means, so that the image has errors */
    OPERATION(&b, "AVERAGE_POOL_2D", IDS(given, same, one, one, two, two, none, nchw), IDS(x));
    if (depthwise)
        OPERATION(&b, l->op, IDS(x, f, bias, same, stride, stride, one, relu, nchw), IDS(out));
    else
        OPERATION(&b, l->op, IDS(x, f, bias, same, stride, stride, relu, nchw), IDS(out));
    in.data = elements(&b, l->in, in.shape);
    in.scale = scale;
    in.zero = zero;
    check_model(&b.model, &in, l->op);
    build_done(&b);
}

START_TEST(images_of_many_chunks)
{
    static const struct large all[] = {
        { "CONV_2D", DT_F32, DT_F32, 2, 61, 24, 40, 3, 2, false },
        { "CONV_2D", DT_F16, DT_F16, 1, 64, 32, 33, 1, 1, false },
        { "CONV_2D", DT_U8, DT_U8, 2, 61, 23, 37, 3, 2, false },
        { "CONV_2D", DT_U8, DT_PC8, 1, 80, 64, 100, 1, 1, false },
        { "CONV_2D", DT_S8, DT_S8, 1, 50, 31, 20, 5, 1, true },
        { "CONV_2D", DT_S8, DT_PC8, 3, 40, 7, 129, 1, 3, false },
        { "DEPTHWISE_CONV_2D", DT_F32, DT_F32, 1, 90, 37, 37, 3, 1, false },
        { "DEPTHWISE_CONV_2D", DT_U8, DT_U8, 2, 90, 45, 45, 3, 1, false },
        { "DEPTHWISE_CONV_2D", DT_S8, DT_PC8, 1, 113, 16, 16, 4, 2, false },
    };
    check_large(&all[_i]);
}
END_TEST

/* ---- simultaneous runs of one plan */

struct runner {
    const struct plan *plan;
    const struct tensor *in;
    struct result result;
};

static void *run_thread(void *user)
{
    struct runner *r = user;
    r->result = run(r->plan, r->in, NULL);
    return NULL;
}

/* All runs have the same result, whichever of them packs the weights. */
static void check_simultaneous(const struct model *m, const struct tensor *in, const char *name)
{
    enum { RUNNERS = 4 };
    struct runner runner[RUNNERS];
    pthread_t thread[RUNNERS];
    struct plan *plan;
    struct why w;

    if (plan_new(m, &plan, &w) < 0)
        ck_abort_msg("%s: %s", name, w.text);
    for (int i = 0; i < RUNNERS; i++) {
        runner[i] = (struct runner){ .plan = plan, .in = in };
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_thread, &runner[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < RUNNERS; i++)
        compare(&runner[0].result, runner[i].result, name);
    result_done(&runner[0].result);
    plan_free(plan);
}

START_TEST(simultaneous_runs)
{
    struct randgraph_options o = randgraph_default;
    struct arena *arena = arena_new(0);
    struct example e;
    struct why w;

    o.only = randgraph_only("CONV_2D");
    o.constant = 0.9;
    for (uint64_t i = 0; i < 40; i++) {
        ck_assert_int_eq(randgraph_make(&o, 4, i, arena, &e, &w), 0);
        check_simultaneous(&e.model, e.in, e.name);
        arena_rewind(arena, (struct arena_mark){ 0 });
    }
    arena_free(arena);
}
END_TEST

static void make_pools(void)
{
    pools[1] = matmul_pool_new(2);
    ck_assert_ptr_nonnull(pools[1]);
}

static void free_pools(void)
{
    matmul_pool_free(pools[1]);
}

Suite *dot_stored_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, make_pools, free_pools);
    tcase_add_test(t, single_operations_have_the_same_bits);
    tcase_add_test(t, graphs);
    tcase_add_test(t, simultaneous_runs);
    tcase_add_loop_test(t, images_of_many_chunks, 0, 9);
    return make_suite("dot_stored", t, NULL);
}
