/* TENSOR_QUANT8_ASYMM and TENSOR_QUANT8_ASYMM_SIGNED store the same real values 128 apart.  Where
 * an operation has a typing row for each, both must give the same real results.  Random calls of
 * every operation, in every such row, are run in both types, by the reference and by the shipped
 * devices. */
#include <check.h>
#include <string.h>

#include "harness/conform/signed_example.h"
#include "randgraph/randgraph.h"
#include "sim/sim.h"
#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

enum { CALLS_PER_ROW = 100, MAX_DRAWN = 20000, MAX_FAILED = 200, MAX_TYPINGS = 64 };

static enum dtype as_signed(enum dtype type)
{
    return type == DT_U8 ? DT_S8 : type;
}

/* The row with the types of `t`, S8 in place of U8; NULL: none, or t has no U8. */
static const struct typing *signed_row(const struct op *op, const struct typing *t)
{
    for (int i = 0; i < op->n_typings; i++) {
        const struct typing *other = &op->typings[i];
        bool same = other != t && (other->ranks & t->ranks) != 0;
        for (int k = 0; same && k < MAX_SLOTS; k++)
            same = other->slot[k] == as_signed(t->slot[k]);
        if (same)
            return other;
    }
    return NULL;
}

static struct result run(const struct example *e, struct arena *a)
{
    struct exec_options options = { .arena = a };
    struct plan *plan;
    struct result r;
    struct why w;

    if (plan_new(&e->model, &plan, &w) < 0)
        ck_abort_msg("%s: %s", e->name, w.text);
    if (plan_run(plan, e->in, &options, &r, &w) < 0)
        ck_abort_msg("%s: %s", e->name, w.text);
    plan_free(plan);
    return r;
}

static void compare(const struct example *e, const struct tensor *u, const struct tensor *s)
{
    const uint8_t *x = u->data, *y = s->data;
    bool shifted = u->dtype == DT_U8 && s->dtype == DT_S8;

    if (!shape_equal(&u->shape, &s->shape))
        ck_abort_msg("%s: shapes differ", e->name);
    for (size_t i = 0; i < tensor_bytes(u); i++)
        if (y[i] != (shifted ? signed_code(x[i]) : x[i]))
            ck_abort_msg("%s, %s: element %zu is %d unsigned, %d signed", e->name,
                         op_find(e->model.graph[0].operation[0].code)->name, i, x[i],
                         shifted ? (int8_t) y[i] : y[i]);
}

enum { DEVICES = 3 }; /* the shipped ones */
static struct target *device[DEVICES];

static struct outcome run_on(struct target *t, const struct example *e, const struct result *r)
{
    struct shape shape[MAX_ROLES];
    struct outcome o;
    struct why w;

    ck_assert_uint_le(r->n, MAX_ROLES);
    for (uint32_t i = 0; i < r->n; i++)
        shape[i] = r->out[i].shape;
    if (target_run(t, &e->model, e->in, shape, NULL, &o, &w) < 0)
        ck_abort_msg("%s on %s: %s", e->name, target_uri(t), w.text);
    ck_assert_msg(!o.violation[0], "%s on %s: %s", e->name, target_uri(t), o.violation);
    return o;
}

/* A device that computes the unsigned type must compute the signed one, with the same results. */
static void run_both_on(struct target *t, const struct example *u, const struct example *s,
                        const struct result *r)
{
    struct outcome of_unsigned = run_on(t, u, r);

    if (of_unsigned.stage == STAGE_DONE) {
        struct outcome of_signed = run_on(t, s, r);
        ck_assert_msg(of_signed.stage == STAGE_DONE, "%s, %s: not supported in signed on %s",
                      u->name, op_find(u->model.graph[0].operation[0].code)->name, target_uri(t));
        for (uint32_t i = 0; i < of_unsigned.n_out; i++)
            compare(u, &of_unsigned.out[i], &of_signed.out[i]);
        outcome_done(&of_signed);
    }
    outcome_done(&of_unsigned);
}

static void run_both(const struct example *e, struct arena *a)
{
    struct example other;

    signed_example(e, a, &other);
    struct result u = run(e, a), s = run(&other, a);
    ck_assert_uint_eq(u.n, s.n);
    for (uint32_t i = 0; i < u.n; i++)
        compare(e, &u.out[i], &s.out[i]);
    for (int d = 0; d < DEVICES; d++)
        run_both_on(device[d], e, &other, &u);
}

/* Number of rows that have a signed row and were run fewer than `n` times; *ret_row: one of them.
 */
static int rows_below(const struct op *op, const unsigned *count, unsigned n, int *ret_row)
{
    int rows = 0;

    for (int t = 0; t < op->n_typings; t++)
        if (count[t] < n && signed_row(op, &op->typings[t])) {
            *ret_row = t;
            rows++;
        }
    return rows;
}

START_TEST(signed_results_are_unsigned_results_less_128)
{
    struct randgraph_options o = randgraph_default;
    const struct op *op = op_table[_i];
    unsigned count[MAX_TYPINGS] = { 0 };
    struct arena *a = arena_new(0);
    struct example e;
    struct why w;
    int row, failed = 0;

    ck_assert_int_le(op->n_typings, MAX_TYPINGS);
    for (int d = 0; d < DEVICES; d++)
        ck_assert_int_eq(target_open(target_shipped[d], NULL, &device[d], &w), 0);
    o.min_ops = o.max_ops = 1;
    o.control_flow = 0;
    o.only = randgraph_only(op->name);
    for (uint64_t i = 0; i < MAX_DRAWN && rows_below(op, count, CALLS_PER_ROW, &row); i++) {
        arena_rewind(a, (struct arena_mark){ 0 });
        o.dtypes = i % 2 ? 1u << DT_U8 : 0;
        if (randgraph_make(&o, 128, i, a, &e, &w) < 0) {
            failed += o.dtypes == 0; /* no graph may begin with U8 */
            if (failed == MAX_FAILED)
                ck_abort_msg("%s: %s", op->name, w.text);
            continue;
        }
        struct call c;
        one_op_bind(&e.model.graph[0], &e.model.graph[0].operation[0], &c);
        if (!signed_row(op, c.typing))
            continue;
        count[c.typing - op->typings]++;
        run_both(&e, a);
    }
    if (rows_below(op, count, CALLS_PER_ROW, &row))
        ck_abort_msg("%s: typing row %d was drawn %u times", op->name, row, count[row]);
    for (int d = 0; d < DEVICES; d++)
        target_free(device[d]);
    arena_free(a);
}
END_TEST

Suite *signed_unsigned_suite(void)
{
    TCase *t = tcase_create("operations");

    tcase_add_loop_test(t, signed_results_are_unsigned_results_less_128, 0, op_table_n);
    return make_suite("signed_unsigned", t, NULL);
}
