/* The reference against oracles: specifications whose expected values numpy computes in double,
 * from plain definitions of the operations (tests/oracle/oracle.py).
 *
 *     test_oracle PATH...
 *
 * Every example must have the results of its oracle, with declared shapes, with unknown dimensions
 * and with unknown ranks.  Every form, typing row, layout and optional operand of the catalogue
 * must be used by an example that passes.  ORACLE_ONLY=NAME runs one example.
 *
 * An expected value is the reference's, or the other neighbour of a real result that lies on the
 * border between two (a tie, which another order of summation may round differently). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "specs/specs.h"

enum { MAX_RECORDS = 256, MAX_FORMS = 16, MAX_TYPINGS = 64 };

/* The parts of one record that passing examples use. */
struct used {
    bool form[MAX_FORMS], typing[MAX_TYPINGS];
    bool given[MAX_ROLES], omitted[MAX_ROLES]; /* optional operands */
    bool nchw, nhwc;
};

struct tally {
    unsigned long run, failed;
    const char *only;              /* name of the only example to run; NULL: all */
    struct used used[MAX_RECORDS]; /* in the order of op_table */
};

/* --- values */

/* The distance between neighbouring values of a float type at x. */
static double spacing(const struct tensor *t, double x)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    int digits = c->size == 2 ? 11 : 24, lowest = c->size == 2 ? -14 : -126;
    int exponent = x == 0 || ilogb(x) < lowest ? lowest : ilogb(x);

    return ldexp(1, exponent - (digits - 1));
}

static bool is_float(const struct tensor *t)
{
    return dtype_info[t->dtype].quant == QUANT_NONE && !dtype_info[t->dtype].codec->integer &&
           t->dtype != DT_BOOL && t->dtype != DT_B8;
}

/* Whether `expected` is a right rounding of a value within `slack` of `real`.  slack: how much
 * another order of summation may change the double. */
static bool rounds_to(const struct tensor *t, double real, double expected, double slack)
{
    const double border = 0.5 * (1 + 1e-6);

    if (is_float(t))
        return fabs(expected - real) <= border * spacing(t, expected) + slack;
    if (dtype_info[t->dtype].quant == QUANT_AFFINE || dtype_info[t->dtype].quant == QUANT_SYMM)
        return fabs(expected - real) <= border * tensor_step(t, 0) + slack;
    return false;
}

static double largest(const struct tensor *t)
{
    double most = 0;

    for (size_t n = tensor_count(t), i = 0; i < n; i++) {
        double x = fabs(tensor_at(t, i));
        if (isfinite(x) && x > most)
            most = x;
    }
    return most;
}

static int compare_output(const struct tensor *e, const struct tensor *a, const double *real,
                          struct why *w)
{
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    double slack = 1e-13 * largest(e);

    REQUIRE(w, shape_equal(&e->shape, &a->shape), "shape %s, expected %s",
            shape_text(&a->shape, text), shape_text(&e->shape, other));
    for (size_t n = tensor_count(e), i = 0; i < n; i++) {
        double x = tensor_at(e, i), y = tensor_at(a, i);
        bool same = x == y || (isnan(x) && isnan(y));
        REQUIRE(w, same || rounds_to(a, real[i], x, slack),
                "element %zu is %.9g (%.17g before rounding), expected %.9g", i, y, real[i], x);
    }
    return 0;
}

/* The fraction of a row of n numbers that equals k. */
static double frequency(const int32_t *row, size_t n, int32_t k)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += row[i] == k;
    return (double) found / (double) n;
}

/* Random indexes, [rows, samples]: each has its expected frequency in each row, within tolerance.
 */
static int compare_frequencies(const struct tensor *e, const struct tensor *a, double tolerance,
                               struct why *w)
{
    REQUIRE(w, a->dtype == DT_I32 && a->shape.rank == 2 && shape_equal(&e->shape, &a->shape),
            "not random indexes of the expected shape");
    size_t n = a->shape.dim[1];
    for (uint32_t r = 0; r < a->shape.dim[0]; r++) {
        const int32_t *expected = (const int32_t *) e->data + r * n;
        const int32_t *actual = (const int32_t *) a->data + r * n;
        for (size_t i = 0; i < 2 * n; i++) {
            int32_t k = i < n ? actual[i] : expected[i - n];
            double want = frequency(expected, n, k), got = frequency(actual, n, k);
            REQUIRE(w, fabs(got - want) <= tolerance,
                    "row %u: the frequency of %d is %g, expected %g", r, k, got, want);
        }
    }
    return 0;
}

static int compare_result(const struct example *e, const struct result *r, struct why *w)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (e->ignored[i] || !e->expected[i].data)
            continue;
        int rc = e->multinomial_tolerance > 0
                     ? compare_frequencies(&e->expected[i], &r->out[i], e->multinomial_tolerance, w)
                     : compare_output(&e->expected[i], &r->out[i], r->real[i], w);
        if (rc < 0)
            return why_prefix(w, "output %u", i);
    }
    return 0;
}

/* --- coverage */

static const struct tensor *operand_at(const struct graph *g, uint32_t i)
{
    return operand_omitted(&g->operand[i]) ? NULL : &g->operand[i].tensor;
}

static void record_call(struct used *u, const struct call *c)
{
    const struct op *op = c->op;

    u->form[c->form - op->forms] = true;
    u->typing[c->typing - op->typings] = true;
    *(c->nchw ? &u->nchw : &u->nhwc) = true;
    for (const unsigned char *r = c->form->role; *r != END; r++)
        *(c->in[*r] ? &u->given[*r] : &u->omitted[*r]) = true;
}

static int record_operation(struct tally *t, const struct graph *g, const struct operation *o,
                            struct why *w)
{
    const struct tensor *in[MAX_ROLES] = { NULL };
    struct tensor tensor[MAX_ROLES], *out[MAX_ROLES];
    struct call call;

    REQUIRE(w, o->n_in <= MAX_ROLES && o->n_out <= MAX_ROLES, "too many operands");
    for (uint32_t i = 0; i < o->n_in; i++)
        in[i] = operand_at(g, o->in[i]);
    for (uint32_t i = 0; i < o->n_out; i++) {
        tensor[i] = g->operand[o->out[i]].tensor;
        out[i] = &tensor[i];
    }
    TRY(op_bind(op_find(o->code), in, o->n_in, out, o->n_out, false, &call, w));
    for (int i = 0; i < op_table_n; i++)
        if (op_table[i] == call.op)
            record_call(&t->used[i], &call);
    return 0;
}

static int record_model(struct tally *t, const struct model *m, struct why *w)
{
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++)
            TRY(record_operation(t, &m->graph[g], &m->graph[g].operation[i], w));
    return 0;
}

static unsigned long missing(const struct op *op, bool used, const char *what, const char *name)
{
    if (!used)
        printf("%s: no example uses %s %s\n", op->name, what, name);
    return !used;
}

static unsigned long missing_typings(const struct op *op, const struct used *u)
{
    unsigned long n = 0;

    for (int t = 0; t < op->n_typings; t++) {
        char text[400];
        size_t at = (size_t) snprintf(text, sizeof text, "%d (level %d, ranks 0x%x:", t,
                                      (int) op->typings[t].since, op->typings[t].ranks);
        for (int r = 0; r < op->n_in && at + 48 < sizeof text; r++)
            if (op->in[r].slot >= 0)
                at += (size_t) snprintf(text + at, sizeof text - at, " %s %s", op->in[r].name,
                                        dtype_info[role_type(&op->in[r], &op->typings[t])].brief);
        snprintf(text + at, sizeof text - at, ")");
        n += missing(op, u->typing[t], "typing row", text);
    }
    return n;
}

static unsigned long missing_of(const struct op *op, const struct used *u)
{
    unsigned long n = missing_typings(op, u);

    for (int f = 0; f < op->n_forms; f++)
        n += missing(op, u->form[f], "form", *op->forms[f].name ? op->forms[f].name : "(only)");
    /* Control flow is excluded: without its condition it prepares, but cannot run. */
    for (int r = 0; r < op->n_in && !op->control; r++)
        if (op->in[r].optional) {
            n += missing(op, u->given[r], "optional operand, given:", op->in[r].name);
            n += missing(op, u->omitted[r], "optional operand, omitted:", op->in[r].name);
        }
    if (op->layout) {
        n += missing(op, u->nhwc, "layout", "NHWC");
        n += missing(op, u->nchw, "layout", "NCHW");
    }
    return n;
}

static unsigned long report_missing(const struct tally *t)
{
    unsigned long n = 0;

    for (int i = 0; i < op_table_n; i++)
        n += missing_of(op_table[i], &t->used[i]);
    return n;
}

/* --- running */

/* Gives inputs without data whose shape has no elements an (unused) address: an oracle omits an
 * operand in the model, never by an input without data. */
static void make_empty(struct example *e)
{
    static char nothing[16];

    for (uint32_t i = 0; i < e->model.graph[0].n_inputs; i++) {
        struct tensor *t = &e->in[i];
        if (!t->data && t->shape.rank > 0 && shape_count(&t->shape) == 0)
            t->data = nothing;
    }
}

static int run_plan(const struct example *e, const struct plan *plan, struct why *w)
{
    struct exec_options options = { .bounds = true };
    struct result result;

    if (plan_run(plan, e->in, &options, &result, w) < 0)
        return e->expect_failure ? 0 : -1;
    int rc = e->expect_failure ? why_fail(w, WHY_INVALID, "executed, but must fail")
                               : compare_result(e, &result, w);
    result_done(&result);
    return rc;
}

static int run_model(const struct example *e, struct why *w)
{
    struct plan *plan;

    TRY(plan_new(&e->model, &plan, w));
    int rc = run_plan(e, plan, w);
    plan_free(plan);
    return rc;
}

/* The part of the shapes that the model does not declare: dimensions, or ranks too. */
enum hidden { HIDDEN_DIMS, HIDDEN_RANK };

static void hide_shape(struct tensor *t, enum hidden hidden)
{
    if (!dtype_info[t->dtype].tensor || t->channel_scale)
        return;
    memset(t->shape.dim, 0, sizeof t->shape.dim);
    if (hidden == HIDDEN_RANK)
        t->shape.rank = 0;
}

/* Runs the example with unspecified shapes of inputs and outputs. */
static int run_hidden(const struct example *e, enum hidden hidden, struct why *w)
{
    struct arena *a = arena_new(0);
    struct example unknown = *e;
    int rc = model_copy(&e->model, a, &unknown.model);

    for (uint32_t i = 0; rc >= 0 && i < unknown.model.graph[0].n_operands; i++) {
        struct operand *o = &unknown.model.graph[0].operand[i];
        if (o->life == LIFE_INPUT || o->life == LIFE_OUTPUT)
            hide_shape(&o->tensor, hidden);
    }
    rc = rc < 0 ? why_no_memory(w) : run_model(&unknown, w);
    arena_free(a);
    return rc < 0 ? why_prefix(w, hidden == HIDDEN_RANK ? "unknown ranks" : "unknown dimensions")
                  : 0;
}

static int run_example(struct tally *t, struct example *e, struct why *w)
{
    make_empty(e);
    TRY(run_model(e, w));
    if (e->expect_failure)
        return 0;
    TRY(run_hidden(e, HIDDEN_DIMS, w));
    TRY(run_hidden(e, HIDDEN_RANK, w));
    return record_model(t, &e->model, w);
}

static int each(const struct example *given, void *user, struct why *unused)
{
    struct tally *t = user;
    struct example e = *given;
    struct why w = { 0 };

    (void) unused;
    if (t->only && strcmp(t->only, e.name) != 0)
        return 0;
    t->run++;
    if (run_example(t, &e, &w) < 0) {
        t->failed++;
        printf("%s: %s\n", e.name, w.text);
    }
    return 0;
}

static bool has_room(void)
{
    for (int i = 0; i < op_table_n; i++)
        if (op_table[i]->n_forms > MAX_FORMS || op_table[i]->n_typings > MAX_TYPINGS)
            return false;
    return op_table_n <= MAX_RECORDS;
}

int main(int argc, char **argv)
{
    static struct tally all;
    struct why w = { 0 };

    if (argc < 2 || !has_room())
        return 2;
    all.only = getenv("ORACLE_ONLY");
    for (int i = 1; i < argc; i++) {
        if (specs_load(argv[i], NULL, each, &all, &w) < 0) {
            printf("%s\n", w.text);
            return 1;
        }
    }
    printf("%lu examples run, %lu failed\n", all.run, all.failed);
    if (all.only)
        return all.run != 1 || all.failed;
    unsigned long n = report_missing(&all);
    printf("%lu rows, forms and operands of the catalogue have no example\n", n);
    return all.failed || n;
}
