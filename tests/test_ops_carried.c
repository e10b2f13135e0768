/* Errors of operands: whatever the operands are within theirs, the reference's own results must
 * stay within the bounds that the record has carried to them. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/call.h"
#include "randgraph/randgraph.h"
#include "tests/check_main.h"

/* relative: the errors of float operands; far too large for exponentials, where logits come from
 * long sums that cancel; INFINITY: operands, or one of them, are infinite */
static const struct {
    const char *name;
    double relative;
} ops[] = {
    { "LSTM", 0x1p-6 },
    { "RNN", 0x1p-6 },
    { "SVDF", 0x1p-6 },
    { "BIDIRECTIONAL_SEQUENCE_LSTM", 0x1p-6 },
    { "BIDIRECTIONAL_SEQUENCE_RNN", 0x1p-6 },
    { "QUANTIZED_16BIT_LSTM", 0x1p-6 },
    { "UNIDIRECTIONAL_SEQUENCE_LSTM", 0x1p-6 },
    { "UNIDIRECTIONAL_SEQUENCE_RNN", 0x1p-6 },
    { "QUANTIZED_LSTM", 0x1p-6 },
    { "LSTM", INFINITY },
    { "RNN", INFINITY },
    { "SVDF", INFINITY },
    { "BIDIRECTIONAL_SEQUENCE_LSTM", INFINITY },
    { "BIDIRECTIONAL_SEQUENCE_RNN", INFINITY },
    { "UNIDIRECTIONAL_SEQUENCE_LSTM", INFINITY },
    { "UNIDIRECTIONAL_SEQUENCE_RNN", INFINITY },
    { "SOFTMAX", 0x1p-6 },
    { "SOFTMAX", 400 },
    { "LOG_SOFTMAX", 0x1p-6 },
    { "LOG_SOFTMAX", 400 },
};

enum { EXAMPLES = 60, TURNS = 8, MOST = 80, ALL_OPERANDS = MOST, STEPS_OFF = 1 };

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

/* One operation with its operands, outside a plan. */
struct single {
    const struct op *op;
    struct value in[MOST], out[MAX_OUT_ROLES];
    uint32_t n_in, n_out;
    bool omitted[MOST];
};

static void take(const struct example *e, struct single *ret)
{
    const struct graph *g = &e->model.graph[0];
    const struct operation *o = &g->operation[0];

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

static bool may_be_off(const struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];

    return info->tensor &&
           (info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM || !info->codec->integer);
}

static double reach(const struct tensor *t, double x, double relative)
{
    if (dtype_info[t->dtype].codec->integer)
        return STEPS_OFF * tensor_step(t, 0);
    return isinf(relative) ? INFINITY : fabs(x) * relative;
}

/* only: the one operand that may be off, or ALL_OPERANDS */
static void give_errors(struct single *s, uint32_t only, double relative)
{
    for (uint32_t i = 0; i < s->n_in; i++) {
        struct value *v = &s->in[i];
        if (s->omitted[i] || !may_be_off(&v->tensor) || (only != ALL_OPERANDS && i != only))
            continue;
        size_t n = tensor_count(&v->tensor);
        v->bound = arena_alloc(keep, n + 1, sizeof(double));
        for (size_t k = 0; k < n; k++)
            v->bound[k] = reach(&v->tensor, tensor_at(&v->tensor, k), relative);
    }
}

/* Other values of the operands, within their errors. */
static struct single moved(const struct single *s)
{
    struct single to = *s;

    for (uint32_t i = 0; i < s->n_in; i++) {
        struct tensor *t = &to.in[i].tensor;
        size_t n = tensor_count(t);
        if (!s->in[i].bound)
            continue;
        double *x = arena_alloc(keep, n + 1, sizeof *x);
        for (size_t k = 0; k < n; k++) {
            double off = dtype_info[t->dtype].codec->integer ? (double) rng_below(&r, 3) - 1
                                                             : 1.9 * rng_unit(&r) - 0.95;
            x[k] = tensor_at(t, k) + off * s->in[i].bound[k];
        }
        t->data = arena_alloc(keep, tensor_bytes(t) + 1, 1);
        tensor_narrow(x, t);
        to.in[i].bound = NULL;
    }
    return to;
}

static void evaluate(struct single *s, bool bounds)
{
    static const struct exec_options plain, bounded = { .bounds = true };
    const struct tensor *arg[MOST];
    struct tensor *result[MAX_OUT_ROLES];
    struct value *in[MOST], *out[MAX_OUT_ROLES];
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
    if (op_bind(s->op, arg, s->n_in, result, s->n_out, true, &c, &w) < 0 ||
        call_evaluate(&c, in, out, &e, &w) < 0)
        ck_abort_msg("%s", w.text);
    arena_rewind(scratch, (struct arena_mark){ 0 });
}

static void compare(const char *name, const struct single *expected, const struct single *actual,
                    size_t *ret_open)
{
    for (uint32_t i = 0; i < expected->n_out; i++) {
        const struct value *e = &expected->out[i];
        size_t n = tensor_count(&e->tensor);
        for (size_t k = 0; k < n && !expected->op->out[i].unspecified; k++) {
            double y = tensor_at(&actual->out[i].tensor, k), d = fabs(y - e->real[k]);
            *ret_open += isinf(e->bound[k]) != 0;
            if (e->bound[k] < INFINITY && !(d <= e->bound[k] * (1 + 1e-9)))
                ck_abort_msg("%s, output %u [%zu]: %g instead of %g, bound %g", name, i, k, y,
                             e->real[k], e->bound[k]);
        }
    }
}

START_TEST(results_stay_within)
{
    struct randgraph_options o = randgraph_default;
    struct example example;
    struct why w = { 0 };
    size_t open = 0;

    o.only = ops[_i].name;
    o.min_ops = o.max_ops = 1;
    o.control_flow = o.relaxed = 0;
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        struct single s;
        arena_rewind(keep, (struct arena_mark){ 0 });
        ck_assert_msg(randgraph_make(&o, 3, i, keep, &example, &w) == 0, "%s", w.text);
        take(&example, &s);
        bool one = isinf(ops[_i].relative) && i % 4;
        give_errors(&s, one ? rng_below(&r, s.n_in) : ALL_OPERANDS, ops[_i].relative);
        evaluate(&s, true);
        for (int turn = 0; turn < TURNS; turn++) {
            struct single other = moved(&s);
            evaluate(&other, false);
            compare(example.name, &s, &other, &open);
        }
    }
    ck_assert_msg(open == 0 || ops[_i].relative == INFINITY, "%s: %zu results without a bound",
                  ops[_i].name, open);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("errors of operands");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, results_stay_within, 0, COUNT(ops));
    return check_main("ops_carried", t, NULL);
}
