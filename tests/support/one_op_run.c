#include "tests/support/one_op_run.h"

#include <check.h>
#include <math.h>
#include <string.h>

int one_op_start(struct one_op_run *r, const struct one_op *c, const struct exec_options *options,
                 struct why *w)
{
    *r = (struct one_op_run){ 0 };
    r->n_expected = one_op_build(&r->b, c, r->arg, r->expected);
    TRY(plan_new(&r->b.model, &r->plan, w));
    return plan_run(r->plan, r->arg, options, &r->result, w);
}

void one_op_done(struct one_op_run *r)
{
    result_done(&r->result);
    plan_free(r->plan);
    build_done(&r->b);
}

static double stored_at(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double x;

    c->widen((const char *) t->data + i * c->size, 1, 0, 1, &x);
    return x;
}

static void check_tensor(const struct one_op *c, const struct tensor *got,
                         const struct tensor *want)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT];

    ck_assert_msg(shape_equal(&got->shape, &want->shape), "%s: shape %s, expected %s", c->name,
                  shape_text(&got->shape, a), shape_text(&want->shape, b));
    for (size_t i = 0; i < tensor_count(want); i++) {
        double x = stored_at(got, i), y = stored_at(want, i);
        ck_assert_msg(x == y || (isnan(x) && isnan(y)), "%s: element %zu is %.17g, expected %.17g",
                      c->name, i, x, y);
    }
}

void one_op_check(const struct one_op *c)
{
    struct one_op_run r;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&r, c, NULL, &w) == 0, "%s: %s", c->name, w.text);
    ck_assert_msg(!c->level || plan_level(r.plan) == c->level, "%s: level %d, expected %d", c->name,
                  plan_level(r.plan), c->level);
    for (uint32_t i = 0; i < r.n_expected; i++)
        check_tensor(c, &r.result.out[i], &r.expected[i]);
    one_op_done(&r);
}

void one_op_check_rejected(const struct one_op *c, enum why_code code, const char *text)
{
    struct one_op_run r;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&r, c, NULL, &w) < 0, "%s: accepted", c->name);
    ck_assert_msg(w.code == code && strstr(w.text, text), "%s: rejected with %d: %s", c->name,
                  (int) w.code, w.text);
    one_op_done(&r);
}

void one_op_bind(const struct graph *g, const struct operation *o, struct call *ret_call)
{
    const struct op *op = op_find(o->code);
    const struct tensor *in[MAX_ROLES];
    struct tensor result[MAX_ROLES], *out[MAX_ROLES];
    struct why w;

    for (uint32_t i = 0; i < o->n_in; i++)
        in[i] = operand_omitted(&g->operand[o->in[i]]) ? NULL : &g->operand[o->in[i]].tensor;
    for (uint32_t i = 0; i < o->n_out; i++) {
        result[i] = g->operand[o->out[i]].tensor;
        out[i] = &result[i];
    }
    ck_assert_msg(op_bind(op, in, o->n_in, out, o->n_out, false, ret_call, &w) >= 0, "%s: %s",
                  op->name, w.text);
}
