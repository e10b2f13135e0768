/* Tensors without elements, which feature level 3 allows at run time where the model leaves a
 * dimension unspecified; detection operations that find no box produce them.  Random calls of every
 * operation are run with a dimension of 0.  An operation whose results keep the shape, or at least
 * the batches of images, must give empty results; any other may also reject the operands. */
#include <check.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

enum { DRAWN = 150, LEAST = 20 };

static struct arena *arena;
static struct example example;

/* The operation and the role of each of its operands, in the form that op_bind() chose. */
struct roles {
    const struct op *op;
    const struct role *of[MAX_ROLES];
};

static bool find_roles(const struct graph *g, struct roles *ret)
{
    const struct operation *o = &g->operation[0];
    struct call c;

    one_op_bind(g, o, &c);
    ret->op = c.op;
    for (uint32_t i = 0, k = 0; i < o->n_in; i++) {
        ret->of[i] = &c.op->in[c.form->role[k]];
        k += !ret->of[i]->many || i + 1 >= c.many_at + c.n_many;
    }
    return c.n_many == 0;
}

static bool is_whole(const struct role *r)
{
    return r->dims && r->dims[0] == '*';
}

static bool is_image(const struct role *r)
{
    return r->image && r->dims[0] == 'N';
}

/* Whether the operation must accept a tensor without elements: its results keep the shape, or at
 * least the batches. */
static bool must_run(const struct op *op, const struct role *first)
{
    bool whole = is_whole(first), image = is_image(first);

    for (int i = 0; i < op->n_out; i++) {
        whole = whole && is_whole(&op->out[i]);
        image = image && is_image(&op->out[i]);
    }
    return whole || image;
}

/* The letter that dimension `at` shares with other operands; 0: none. */
static char letter_at(const struct role *r, uint32_t at)
{
    return at < strlen(r->dims) && !strchr("?*", r->dims[at]) ? r->dims[at] : 0;
}

/* Sets dimension `at` of the first operand, and the same dimension of other operands, to 0. Returns
 * false if a constant or a per-channel operand has this dimension, which must not be 0. */
static bool empty_inputs(struct example *e, const struct roles *r, uint32_t at)
{
    struct graph *g = &e->model.graph[0];
    const struct operation *o = &g->operation[0];
    char letter = letter_at(r->of[0], at);
    bool whole = is_whole(r->of[0]);

    for (uint32_t i = 0; i < o->n_in; i++) {
        struct operand *t = &g->operand[o->in[i]];
        const char *dims = r->of[i]->dims;
        const char *same = dims && letter ? strchr(dims, letter) : NULL;
        bool shares = i == 0 || (whole ? is_whole(r->of[i]) : same != NULL);
        if (!shares || operand_omitted(t))
            continue;
        uint32_t dim = i == 0 || whole ? at : (uint32_t) (same - dims);
        if (t->life != LIFE_INPUT || t->tensor.channel_scale || dim >= t->tensor.shape.rank)
            return false;
        t->tensor.shape.dim[dim] = 0;
        for (uint32_t k = 0; k < g->n_inputs; k++)
            if (g->input[k] == o->in[i])
                e->in[k].shape.dim[dim] = 0;
    }
    for (uint32_t i = 0; i < o->n_out; i++)
        g->operand[o->out[i]].tensor.shape = (struct shape){ 0 };
    return true;
}

/* Plans and runs the example; returns a negative number if it is rejected. */
static int run(bool bounds, struct result *ret, struct why *w)
{
    struct exec_options options = { .arena = arena, .bounds = bounds };
    struct plan *plan;

    TRY(plan_new(&example.model, &plan, w));
    int rc = plan_run(plan, example.in, &options, ret, w);
    plan_free(plan);
    return rc;
}

/* Runs the example with and without bounds and returns whether it was accepted. */
static bool run_empty(const struct roles *r)
{
    struct why w = { 0 };
    struct result result;
    bool must = must_run(r->op, r->of[0]);

    for (int bounds = 0; bounds < 2; bounds++) {
        if (run(bounds, &result, &w) < 0) {
            if (must || w.code != WHY_EXECUTION)
                ck_abort_msg("%s, %s: %s", example.name, r->op->name, w.text);
            return false;
        }
        for (uint32_t i = 0; i < result.n && must; i++)
            if (tensor_count(&result.out[i]) != 0)
                ck_abort_msg("%s, %s: output %u has elements", example.name, r->op->name, i);
    }
    return true;
}

START_TEST(operations_accept_empty_tensors)
{
    struct randgraph_options o = randgraph_default;
    const struct op *op = op_table[_i];
    struct roles r;
    struct why w;
    unsigned ran = 0;
    bool must = false;

    arena = arena_new(0);
    o.min_ops = o.max_ops = 1;
    o.control_flow = o.constant = 0;
    o.only = randgraph_only(op->name);
    for (uint64_t i = 0; i < DRAWN && op->control_kind == CONTROL_NONE; i++) {
        arena_rewind(arena, (struct arena_mark){ 0 });
        ck_assert_msg(randgraph_make(&o, 10, i, arena, &example, &w) == 0, "%s: %s", op->name,
                      w.text);
        if (!find_roles(&example.model.graph[0], &r) || !r.of[0]->dims)
            continue;
        uint32_t rank = example.model.graph[0]
                            .operand[example.model.graph[0].operation[0].in[0]]
                            .tensor.shape.rank;
        uint32_t at = is_image(r.of[0]) ? 0 : (uint32_t) i % rank;
        must = must || must_run(op, r.of[0]);
        if (empty_inputs(&example, &r, at))
            ran += run_empty(&r);
    }
    ck_assert_msg(ran >= LEAST || !must, "%s: accepted only %u times", op->name, ran);
    arena_free(arena);
}
END_TEST

static uint32_t ones(struct build *b, struct shape shape)
{
    float *x = arena_alloc(b->arena, shape_count(&shape), sizeof *x);

    for (size_t i = 0; i < shape_count(&shape); i++)
        x[i] = 1;
    return build_constant(b, DT_F32, shape, x);
}

static uint32_t unknown(struct build *b, enum lifetime life)
{
    return build_operand(b, life, DT_F32, (struct shape){ 0 });
}

/* Adds a network on the batches that SLICE keeps; `batches`: the operand with the slice's size. */
static void add_network(struct build *b, uint32_t batches)
{
    static const int32_t begin[4];
    uint32_t x = build_operand(b, LIFE_INPUT, DT_F32, DIMS(3, 4, 4, 2)), t[8];
    uint32_t none = build_int(b, 0), one = build_int(b, 1), two = build_int(b, 2);
    uint32_t scheme = build_int(b, 1), axis = build_int(b, -1);
    float beta = 1;
    uint32_t soft = build_constant(b, DT_FLOAT32, (struct shape){ 0 }, &beta);

    for (int i = 0; i < COUNT(t); i++)
        t[i] = unknown(b, i < COUNT(t) - 1 ? LIFE_TEMPORARY : LIFE_OUTPUT);
    OPERATION(b, "SLICE", IDS(x, build_constant(b, DT_I32, DIMS(4), begin), batches), IDS(t[0]));
    OPERATION(b, "CONV_2D",
              IDS(t[0], ones(b, DIMS(3, 3, 3, 2)), ones(b, DIMS(3)), scheme, one, one, one),
              IDS(t[1]));
    OPERATION(b, "DEPTHWISE_CONV_2D",
              IDS(t[1], ones(b, DIMS(1, 2, 2, 6)), ones(b, DIMS(6)), scheme, one, one, two, none),
              IDS(t[2]));
    OPERATION(b, "MAX_POOL_2D", IDS(t[2], scheme, two, two, two, two, none), IDS(t[3]));
    OPERATION(b, "AVERAGE_POOL_2D", IDS(t[3], scheme, two, two, two, two, none), IDS(t[4]));
    OPERATION(b, "FULLY_CONNECTED", IDS(t[4], ones(b, DIMS(5, 6)), ones(b, DIMS(5)), none),
              IDS(t[5]));
    OPERATION(b, "L2_NORMALIZATION", IDS(t[5], axis), IDS(t[6]));
    OPERATION(b, "SOFTMAX", IDS(t[6], soft), IDS(t[7]));
}

/* A network runs on 0 to 3 batches, as behind a detection operation that may find no box. */
START_TEST(a_network_runs_on_empty_tensors)
{
    const struct exec_options options = { .bounds = true };
    int32_t size[4] = { _i, 4, 4, 2 };
    static float image[3 * 4 * 4 * 2];
    struct plan *plan;
    struct result r;
    struct build b;
    struct why w = { 0 };

    build_init(&b, 1);
    add_network(&b, build_operand(&b, LIFE_INPUT, DT_I32, DIMS(4)));
    struct tensor in[] = { { .dtype = DT_I32, .shape = DIMS(4), .data = size },
                           { .dtype = DT_F32, .shape = DIMS(3, 4, 4, 2), .data = image } };
    ck_assert_msg(plan_new(&b.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, in, &options, &r, &w) == 0, "%s", w.text);
    ck_assert(shape_equal(&r.out[0].shape, &DIMS((uint32_t) _i, 5)));
    result_done(&r);
    plan_free(plan);
    build_done(&b);
}
END_TEST

Suite *zero_sized_suite(void)
{
    TCase *t = tcase_create("operations");

    tcase_add_loop_test(t, operations_accept_empty_tensors, 0, op_table_n);
    tcase_add_loop_test(t, a_network_runs_on_empty_tensors, 0, 4);
    return make_suite("zero_sized", t, NULL);
}
