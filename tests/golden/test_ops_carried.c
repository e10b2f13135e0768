/* Propagation of operand errors, for every operation: with operands moved anywhere within their
 * errors, the results of the reference stay within the bounds that the record propagates. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/exec/call.h"
#include "golden/judge/judge.h"
#include "golden/model/build.h"
#include "randgraph/randgraph.h"
#include "tests/support/check_main.h"

/* Relative errors of float operands: small; too large for exponentials; beyond the range of half
 * precision; infinite.  Quantised operands have an error of one step. */
static const double relative[] = { 0x1p-6, 4, 400, INFINITY };

/* Operations whose results always have finite bounds if the operands' errors are small. */
static const char *const always_bounded[] = {
    "LSTM",
    "RNN",
    "SVDF",
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "QUANTIZED_16BIT_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    "QUANTIZED_LSTM",
    "SOFTMAX",
    "LOG_SOFTMAX",
};

enum { EXAMPLES = 240, TURNS = 4, MOST = 80, ALL_OPERANDS = MOST, STEPS_OFF = 1 };

static struct arena *keep, *scratch;
static struct rng r;

static void set_up(void)
{
    keep = arena_new(0);
    scratch = arena_new(0);
    rng_seed(&r, 5, 5);
}

static void tear_down(void)
{
    arena_free(keep);
    arena_free(scratch);
}

/* One operation with its operands, evaluated without a plan. */
struct single {
    const struct op *op;
    struct value in[MOST], out[MOST];
    uint32_t n_in, n_out;
    bool omitted[MOST];
};

static void load_single(const struct example *e, struct single *ret)
{
    const struct graph *g = &e->model.graph[0];
    const struct operation *o = &g->operation[0];

    ck_assert_uint_le(o->n_in, MOST);
    ck_assert_uint_le(o->n_out, MOST);
    memset(ret, 0, sizeof *ret);
    ret->op = op_find(o->code);
    ret->n_in = o->n_in;
    ret->n_out = o->n_out;
    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *p = &g->operand[o->in[i]];
        ret->omitted[i] = operand_omitted(p);
        ret->in[i].tensor = p->tensor;
        for (uint32_t k = 0; k < g->n_inputs; k++)
            if (g->input[k] == o->in[i])
                ret->in[i].tensor = e->in[k];
    }
    for (uint32_t i = 0; i < o->n_out; i++)
        ret->out[i].tensor = g->operand[o->out[i]].tensor;
}

static bool may_have_error(const struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];

    return info->tensor &&
           (info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM || !info->codec->integer);
}

static double error_of(const struct tensor *t, double x, double relative_error)
{
    if (dtype_info[t->dtype].codec->integer)
        return STEPS_OFF * tensor_step(t, 0);
    return isinf(relative_error) ? INFINITY : fabs(x) * relative_error;
}

/* Sets the operands' errors; only: the one operand that has errors, or ALL_OPERANDS. */
static void set_errors(struct single *s, uint32_t only, double relative_error)
{
    for (uint32_t i = 0; i < s->n_in; i++) {
        struct value *v = &s->in[i];
        if (s->omitted[i] || !may_have_error(&v->tensor) || (only != ALL_OPERANDS && i != only))
            continue;
        size_t n = tensor_count(&v->tensor);
        v->bound = arena_alloc(keep, n + 1, sizeof(double));
        for (size_t k = 0; k < n; k++)
            v->bound[k] = error_of(&v->tensor, tensor_at(&v->tensor, k), relative_error);
    }
}

static double moved_value(const struct tensor *t, size_t k, double error)
{
    bool steps = dtype_info[t->dtype].codec->integer;
    double off = steps ? (double) rng_below(&r, 3) - 1 : 1.9 * rng_unit(&r) - 0.95;

    return tensor_at(t, k) + off * error;
}

/* A copy with random operand values within the errors. */
static struct single moved(const struct single *s)
{
    struct single to = *s;

    for (uint32_t i = 0; i < s->n_in; i++) {
        const struct tensor *from = &s->in[i].tensor;
        struct tensor *t = &to.in[i].tensor;
        const double *error = s->in[i].bound;
        size_t n = tensor_count(t), size = dtype_info[t->dtype].codec->size;
        if (!error)
            continue;
        double *x = arena_alloc(keep, n + 1, sizeof *x);
        for (size_t k = 0; k < n; k++)
            x[k] = moved_value(from, k, error[k]);
        t->data = arena_alloc(keep, tensor_bytes(t) + 1, 1);
        tensor_narrow(x, t);
        for (size_t k = 0; k < n; k++)
            if (!(fabs(tensor_at(t, k) - tensor_at(from, k)) <=
                  error[k])) /* rounded out of the error */
                memcpy((char *) t->data + k * size, (char *) from->data + k * size, size);
        to.in[i].bound = NULL;
    }
    return to;
}

/* Returns a negative number if the operation rejects the operands. */
static int evaluate(struct single *s, bool bounds, bool *ret_undecided)
{
    static const struct exec_options plain, bounded = { .bounds = true };
    const struct tensor *arg[MOST];
    struct tensor *result[MOST];
    struct value *in[MOST], *out[MOST];
    struct evaluation e = { bounds ? &bounded : &plain, false, keep, scratch, false };
    struct call c;
    struct why w = { 0 };

    for (uint32_t i = 0; i < s->n_in; i++) {
        in[i] = s->omitted[i] ? NULL : &s->in[i];
        arg[i] = s->omitted[i] ? NULL : &s->in[i].tensor;
    }
    for (uint32_t i = 0; i < s->n_out; i++) {
        out[i] = &s->out[i];
        result[i] = &s->out[i].tensor;
    }
    TRY(op_bind(s->op, arg, s->n_in, result, s->n_out, true, &c, &w));
    int rc = call_evaluate(&c, in, out, &e, &w);
    *ret_undecided = c.undecided;
    arena_rewind(scratch, (struct arena_mark){ 0 });
    return rc;
}

/* The values before rounding, and their bounds (0 if the value has none). */
static void reals_of(const struct value *v, double **ret_real, double **ret_bound)
{
    size_t n = tensor_count(&v->tensor);

    *ret_bound = v->bound ? v->bound : arena_alloc(keep, n + 1, sizeof(double));
    *ret_real = v->real;
    if (v->real)
        return;
    *ret_real = arena_alloc(keep, n + 1, sizeof(double));
    for (size_t k = 0; k < n; k++)
        (*ret_real)[k] = tensor_at(&v->tensor, k);
}

/* The number of judged elements, and of elements whose bound is infinite. */
struct tally {
    size_t judged, open;
};

static void compare(const char *name, const struct single *expected, const struct single *actual,
                    struct tally *t)
{
    for (uint32_t i = 0; i < expected->n_out; i++) {
        const struct value *e = &expected->out[i];
        double *real, *bound;
        int role = (int) i < expected->op->n_out ? (int) i : expected->op->n_out - 1;
        if (expected->op->out[role].unspecified)
            continue;
        reals_of(e, &real, &bound);
        struct judgement j =
            judge_bound(&e->tensor, real, bound, ERROR_ELEMENT, &actual->out[i].tensor);
        ck_assert_msg(j.ok, "%s, %s, output %u: %s", expected->op->name, name, i, j.why);
        t->judged += j.checked;
        for (size_t k = 0; k < tensor_count(&e->tensor); k++)
            t->open += isinf(bound[k]) != 0;
    }
}

static void check_example(const struct example *e, uint32_t only, double relative_error,
                          struct tally *t)
{
    struct single s;
    bool undecided;

    load_single(e, &s);
    set_errors(&s, only < s.n_in ? only : ALL_OPERANDS, relative_error);
    struct single judged = s;
    if (evaluate(&judged, true, &undecided) < 0 || undecided)
        return;
    for (int turn = 0; turn < TURNS; turn++) {
        struct single other = moved(&s);
        if (evaluate(&other, false, &undecided) == 0)
            compare(e->name, &judged, &other, t);
    }
}

/* In every other example all operands have errors, in the others one operand. */
static struct tally check_operation(const struct op *op, enum randgraph_values values,
                                    double relative_error)
{
    struct randgraph_options o = randgraph_default;
    struct example example;
    struct tally t = { 0 };
    struct why w = { 0 };

    o.only = randgraph_only(op->name);
    o.values = values;
    o.min_ops = o.max_ops = 1;
    o.control_flow = o.relaxed = 0;
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        arena_rewind(keep, (struct arena_mark){ 0 });
        ck_assert_msg(randgraph_make(&o, 3, i, keep, &example, &w) == 0, "%s", w.text);
        uint32_t n = example.model.graph[0].operation[0].n_in;
        check_example(&example, i % 2 ? rng_below(&r, n) : ALL_OPERANDS, relative_error, &t);
    }
    return t;
}

START_TEST(results_stay_within_the_bounds)
{
    const struct op *op = op_table[_i];

    if (op->control_kind != CONTROL_NONE || op->error.kind == ERROR_RANDOM)
        return;
    for (int i = 0; i < COUNT(relative); i++) {
        struct tally t = check_operation(op, VALUES_MIX, relative[i]);
        ck_assert_msg(t.judged > 0 || relative[i] > 1, "%s: no element was judged", op->name);
    }
}
END_TEST

/* With usual values: sums of large ones may overflow. */
START_TEST(small_errors_have_finite_bounds)
{
    const struct op *op = op_by_name(always_bounded[_i]);
    struct tally t = check_operation(op, VALUES_UNIFORM, relative[0]);

    ck_assert_msg(t.judged > 0 && t.open == 0, "%s: %zu results have an infinite bound", op->name,
                  t.open);
}
END_TEST

/* The largest first result has the second logit at its lower end, 1.5; exponentials relative to
 * that of its upper end, 746, are zero. */
START_TEST(softmax_of_errors_beyond_the_range_of_exp)
{
    float x[] = { 0, 373.75f }, beta = 1;
    double error[] = { 0, 372.25 }, largest = 1 / (1 + exp(1.5));
    struct single s = { .op = op_by_name("SOFTMAX"), .n_in = 2, .n_out = 1 };
    bool undecided;

    s.in[0] = (struct value){ { .dtype = DT_F32, .shape = DIMS(1, 2), .data = x }, .bound = error };
    s.in[1].tensor = (struct tensor){ .dtype = DT_FLOAT32, .data = &beta };
    s.out[0].tensor = (struct tensor){ .dtype = DT_F32, .shape = DIMS(1, 2) };
    ck_assert(evaluate(&s, true, &undecided) == 0 && !undecided);
    ck_assert_double_eq_tol(s.out[0].bound[0], largest, 1e-4);
}
END_TEST

/* The slope may be 0, or a small number of either sign: the product is NaN or infinite. */
START_TEST(infinity_times_a_slope_that_may_be_0)
{
    float x[] = { -INFINITY, -2, -INFINITY }, alpha[] = { 0, 0, 1 };
    double error[] = { 0x1p-30, 0x1p-30, 0x1p-30 };
    struct single s = { .op = op_by_name("PRELU"), .n_in = 2, .n_out = 1 };
    bool undecided;

    s.in[0].tensor = (struct tensor){ .dtype = DT_F32, .shape = DIMS(3), .data = x };
    s.in[1] =
        (struct value){ { .dtype = DT_F32, .shape = DIMS(3), .data = alpha }, .bound = error };
    s.out[0].tensor = (struct tensor){ .dtype = DT_F32, .shape = DIMS(3) };
    ck_assert(evaluate(&s, true, &undecided) == 0 && !undecided);
    ck_assert(isinf(s.out[0].bound[0]));
    ck_assert_double_le(s.out[0].bound[1], 0x1p-28);
    ck_assert_double_eq(s.out[0].bound[2], 0);
}
END_TEST

Suite *ops_carried_suite(void)
{
    TCase *t = tcase_create("errors of operands");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, results_stay_within_the_bounds, 0, op_table_n);
    tcase_add_loop_test(t, small_errors_have_finite_bounds, 0, COUNT(always_bounded));
    tcase_add_test(t, softmax_of_errors_beyond_the_range_of_exp);
    tcase_add_test(t, infinity_times_a_slope_that_may_be_0);
    return make_suite("ops_carried", t, NULL);
}
