#include "tests/sim/on_device.h"

#include <check.h>

#include "sim/sim.h"

static double stored(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double x;

    c->widen((const char *) t->data + i * c->size, 1, 0, 1, &x);
    return x;
}

static void check_output(const struct on_device *d, const struct tensor *got,
                         const struct tensor *expected)
{
    ck_assert_msg(shape_equal(&got->shape, &expected->shape), "%s on %s: wrong shape", d->c.name,
                  d->uri);
    for (size_t i = 0; i < tensor_count(expected); i++)
        ck_assert_msg(stored(got, i) == stored(expected, i),
                      "%s on %s: element %zu is %.17g, expected %.17g", d->c.name, d->uri, i,
                      stored(got, i), stored(expected, i));
}

void on_device_check(const struct on_device *d)
{
    struct target *t = NULL;
    struct shape shapes[ONE_OP_OUTPUTS];
    struct one_op_run r;
    struct outcome o;
    struct why w = { 0 };

    ck_assert_msg(target_open(d->uri, NULL, &t, &w) == 0, "%s", w.text);
    ck_assert_msg(one_op_start(&r, &d->c, NULL, &w) == 0, "%s: %s", d->c.name, w.text);
    r.b.model.relaxed = d->relaxed;
    for (uint32_t i = 0; i < r.n_expected; i++)
        shapes[i] = r.expected[i].shape;
    ck_assert_msg(target_run(t, &r.b.model, r.arg, shapes, NULL, &o, &w) == 0, "%s", w.text);
    ck_assert_msg(o.stage == STAGE_DONE && !o.violation[0], "%s on %s: stage %d, status %d, %s",
                  d->c.name, d->uri, (int) o.stage, (int) o.status, o.violation);
    for (uint32_t i = 0; i < r.n_expected; i++)
        check_output(d, &o.out[i], &r.expected[i]);
    outcome_done(&o);
    one_op_done(&r);
    target_free(t);
}
