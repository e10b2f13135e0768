/* Hypotheses: each names the mistake that it is about, on results that NumPy computes with that
 * mistake (explain_mistakes.py), and a right driver has none. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/one_op.h"
#include "harness/explain/explain.h"
#include "harness/explain/hypotheses.h"
#include "harness/explain/pattern.h"
#include "harness/explain/similar.h"
#include "harness/explain/terms.h"
#include "tests/support/check_main.h"

/* mistake: the name of the hypothesis; NULL: none may match.  op.out: what the driver returns. */
static const struct mistake {
    const char *mistake;
    struct one_op op;
} mistakes[] = {
#include "explain_mistakes.def"
};

static struct build b;
static struct arena *a;
static struct example e;
static struct tensor in[ONE_OP_INPUTS], wrong[ONE_OP_OUTPUTS];
static struct plan *plan;
static struct result reference;
static struct subject s;

/* Makes the subject of a mistake; right: with the reference's results instead of its own. */
static void begin(const struct mistake *m, bool right)
{
    const struct exec_options options = { .bounds = true };
    struct why w = { 0 };

    a = arena_new(0);
    uint32_t n = one_op_build(&b, &m->op, in, wrong);
    ck_assert_uint_ge(n, 1);
    model_count_consumers(&b.model);
    e = (struct example){ .name = "mistake", .model = b.model, .in = in, .expected = wrong };
    ck_assert_msg(plan_new(&e.model, &plan, &w) == 0, "%s: %s", m->op.op, w.text);
    ck_assert_msg(plan_run(plan, in, &options, &reference, &w) == 0, "%s: %s", m->op.op, w.text);
    int rc = subject_init(&s, &e, &reference, right ? reference.out : wrong, 0, a, &w);
    ck_assert_msg(rc == 0, "%s %s: %s", m->mistake, m->op.op, w.text);
}

static void end(void)
{
    result_done(&reference);
    plan_free(plan);
    build_done(&b);
    arena_free(a);
}

static bool has(const struct hypothesis_results *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (f->best[i].matches && !strcmp(f->best[i].hypothesis->name, name))
            return true;
    return false;
}

START_TEST(each_mistake_is_named)
{
    const struct mistake *m = &mistakes[_i];
    struct hypothesis_results f;
    struct why w;
    char all[600] = "";

    begin(m, false);
    ck_assert_msg(s.n_wrong > 0, "%s: the results are right", m->mistake);
    ck_assert_int_eq(hypotheses_try(&s, NULL, &f, &w), 0);
    for (int i = 0; i < f.n; i++)
        text_append(all, sizeof all, "%s%s (%s): %zu of %zu, contradicted by %zu", i ? "; " : "",
                    f.best[i].hypothesis->name, f.best[i].note, f.best[i].explained, s.n_wrong,
                    f.best[i].contradicted);
    if (m->mistake)
        ck_assert_msg(has(&f, m->mistake), "%s is not named, but: %s", m->mistake, all);
    else
        ck_assert_msg(f.n == 0 || !f.best[0].matches, "no hypothesis is right, but: %s", all);
    end();
}
END_TEST

START_TEST(a_right_driver_has_none)
{
    for (int i = 0; i < COUNT(mistakes); i++) {
        struct hypothesis_results f;
        struct why w;
        begin(&mistakes[i], true);
        ck_assert_uint_eq(s.n_wrong, 0);
        ck_assert_int_eq(hypotheses_try(&s, NULL, &f, &w), 0);
        ck_assert_int_eq(f.n, 0);
        end();
    }
}
END_TEST

/* LSH_PROJECTION's weights may be omitted: no hypothesis about weights may read them. */
START_TEST(omitted_weights_have_no_hypothesis)
{
    static const struct mistake omitted = { "omitted",
                                            { .op = "LSH_PROJECTION",
                                              .in = { "F32[2,1]: 1 2", "F32[3]: 1 2 3",
                                                      "none F32[3]:", "INT32: 3" },
                                              .out = "I32[2]: 90 91" } };
    struct hypothesis_results f;
    struct why w;

    begin(&omitted, false);
    ck_assert_uint_gt(s.n_wrong, 0);
    ck_assert_int_eq(hypotheses_try(&s, NULL, &f, &w), 0);
    ck_assert(!has(&f, "weights-zero-point") && !has(&f, "weights-flipped"));
    end();
}
END_TEST

START_TEST(every_hypothesis_has_a_mistake)
{
    const struct hypothesis *h;
    char missing[600] = "";

    for (int i = 0; (h = hypothesis_at(i)); i++) {
        bool found = false;
        for (int k = 0; k < COUNT(mistakes); k++)
            found = found || (mistakes[k].mistake && !strcmp(mistakes[k].mistake, h->name));
        if (!found)
            text_append(missing, sizeof missing, " %s", h->name);
    }
    ck_assert_msg(!missing[0], "no mistake for%s", missing);
}
END_TEST

/* ---- similar cases: several hypotheses explain these cases on a device with the fault */

static const struct {
    const char *target, *mistake;
    struct one_op op;
} ties[] = {
    { "sim:cpu?fault=dilation-ignored",
      "dilation-ignored",
      { .op = "CONV_2D",
        .in = { "F32[1,1,1,1]: 1", "F32[1,1,2,1]: 1 0", "F32[1]: 0", "INT32: 1", "INT32: 1",
                "INT32: 1", "INT32: 0", "BOOL: 0", "INT32: 2", "INT32: 1" },
        .out = "F32[1,1,1,1]: 1" } },
    { "sim:cpu?fault=requantise-truncates",
      "truncation",
      { .op = "ADD",
        .in = { "U8[1]*1@0: 1", "U8[1]*0.5@0: 1", "INT32: 0" },
        .out = "U8[1]*0.38@0: 3" } },
};

static struct hypothesis_results explain_on(struct target *t)
{
    const struct on_target on = { .t = t };
    struct hypothesis_results f;
    struct similar similar;
    struct why w;

    similar_begin(&similar, &s, &on);
    ck_assert_int_eq(hypotheses_try(&s, t ? &similar : NULL, &f, &w), 0);
    similar_end(&similar);
    return f;
}

START_TEST(similar_cases_decide)
{
    const struct mistake m = { ties[_i].mistake, ties[_i].op };
    struct target *t;
    struct why w = { 0 };

    ck_assert_msg(target_open(ties[_i].target, NULL, &t, &w) == 0, "%s", w.text);
    begin(&m, false);
    struct hypothesis_results f = explain_on(NULL);
    ck_assert_int_gt(f.n, 1);
    ck_assert_msg(has(&f, m.mistake) && strcmp(f.best[0].hypothesis->name, m.mistake) != 0,
                  "the case alone is explained by %s", f.best[0].hypothesis->name);
    f = explain_on(t);
    ck_assert_msg(!strcmp(f.best[0].hypothesis->name, m.mistake), "%s: %u of %u",
                  f.best[0].hypothesis->name, f.best[0].similar, f.similar);
    ck_assert_uint_eq(f.best[0].similar, f.similar);
    ck_assert_uint_ge(f.similar, 24);
    ck_assert_uint_gt(f.similar_wrong, 0);
    for (int i = 1; i < f.n; i++)
        ck_assert_uint_lt(hypothesis_rank(&f.best[i]), hypothesis_rank(&f.best[0]));
    end();
    target_free(t);
}
END_TEST

/* ---- patterns */

/* RELU of 24 ones as 1x3x4x2, with results that are wrong at some places. */
static void begin_pattern(const char *results)
{
    static struct mistake m = {
        "",
        { .op = "RELU", .in = { "F32[1,3,4,2]: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" } }
    };

    m.op.out = results;
    begin(&m, false);
}

static const struct {
    const char *results, *line;
} patterns[] = {
    { "F32[1,3,4,2]: 2 3 4 5 6 7 8 9 2 3 4 5 6 7 8 9 2 3 4 5 6 7 8 9", "every element" },
    { "F32[1,3,4,2]: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5",
      "one element, [0,2,3,1], the last" },
    { "F32[1,3,4,2]: 1 5 1 6 1 7 1 5 1 6 1 7 1 5 1 6 1 7 1 5 1 6 1 7",
      "dimension 3: only index 1 of 0..1 (the last), all of it wrong" },
    { "F32[1,3,4,2]: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5 6 7 8 9 5 6 7",
      "dimension 1: only index 2 of 0..2 (the last), all of it wrong" },
    { "F32[1,3,4,2]: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0",
      "the last 3 elements, from [0,2,2,1] on" },
    { "F32[1,3,4,2]: 1 3 1 1 3 3 1 3 1 1 1 1 3 3 1 1 1 1 3 1 1 1 3 1",
      "all differ by nearly the same: +2" },
    { "F32[1,3,4,2]: 1 nan 1 1 nan nan 1 nan 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
      "all of the wrong elements are NaN" },
};

START_TEST(patterns_are_described)
{
    struct buffer text = { 0 };

    begin_pattern(patterns[_i].results);
    pattern_describe(&s, &text);
    ck_assert_msg(strstr(buffer_text(&text), patterns[_i].line), "expected '%s', found:\n%s",
                  patterns[_i].line, buffer_text(&text));
    buffer_done(&text);
    end();
}
END_TEST

/* ---- terms: the sum of an element's terms is the reference's result */

static void check_terms(void)
{
    struct element_sum sum;
    const int activation = subject_role(&s, "activation");

    if (!terms_of(&s, s.worst, &sum) || sum.arg_b < 0 || s.arg[sum.arg_b]->channel_scale ||
        (activation >= 0 && call_int(&s.call, activation)))
        return;
    double total = sum.arg_bias < 0 ? 0 : tensor_at(s.arg[sum.arg_bias], sum.bias);
    for (size_t i = 0; i < sum.n; i++)
        total +=
            tensor_at(s.arg[sum.arg_a], sum.term[i].a) * tensor_at(s.arg[sum.arg_b], sum.term[i].b);
    ck_assert_double_eq_tol(total, s.real[s.worst], 1e-6);
}

START_TEST(terms_sum_to_the_result)
{
    for (int i = 0; i < COUNT(mistakes); i++) {
        begin(&mistakes[i], false);
        check_terms();
        end();
    }
}
END_TEST

Suite *explain_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_loop_test(t, each_mistake_is_named, 0, COUNT(mistakes));
    tcase_add_loop_test(t, similar_cases_decide, 0, COUNT(ties));
    tcase_add_test(t, every_hypothesis_has_a_mistake);
    tcase_add_test(t, a_right_driver_has_none);
    tcase_add_test(t, omitted_weights_have_no_hypothesis);
    tcase_add_test(t, terms_sum_to_the_result);
    tcase_add_loop_test(t, patterns_are_described, 0, COUNT(patterns));
    return make_suite("explain", t, NULL);
}
