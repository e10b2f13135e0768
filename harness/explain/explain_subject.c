/* The sections about one operation: its operands, its wrong elements and their pattern, the terms
 * of one sum, and the hypotheses. */
#include <math.h>
#include <stdio.h>

#include "harness/explain/explain.h"
#include "harness/explain/explain_json.h"
#include "harness/explain/hypotheses.h"
#include "harness/explain/pattern.h"
#include "harness/explain/similar.h"
#include "harness/explain/terms.h"
#include "harness/explain/value_text.h"

enum { MOST_SCALAR = 16, SHOWN_WRONG = 8, VALUES_IN_LINE = 8 };
enum { MOST_FINDINGS = 8, MOST_UNLIKELY = 4 }; /* hypotheses shown */

/* ---- operands */

/* The values of a short operand in one line, or of a long one with --values in several.  doc: what
 * the value of a scalar means; NULL: none. */
static void put_values(const struct tensor *t, bool all, const char *doc, struct buffer *to)
{
    const size_t n = tensor_count(t);
    char value[VALUE_TEXT], place[SHAPE_TEXT];

    if (n <= MOST_SCALAR && (!all || n == 1)) {
        buffer_puts(to, ":");
        for (size_t i = 0; i < n; i++)
            buffer_printf(to, "%s %s", i ? "," : "", value_text(t, i, value));
        buffer_printf(to, "%s%s%s\n", doc ? " (" : "", doc ? doc : "", doc ? ")" : "");
        return;
    }
    buffer_puts(to, "\n");
    for (size_t i = 0; all && i < n; i++) {
        if (i % VALUES_IN_LINE == 0)
            buffer_printf(to, "        %s", place_text(&t->shape, i, place));
        buffer_printf(to, " %s%s", value_text(t, i, value),
                      i % VALUES_IN_LINE == VALUES_IN_LINE - 1 || i == n - 1 ? "\n" : ",");
    }
}

static void put_operands(const struct subject *s, const struct explained *x, struct buffer *to)
{
    char name[64], type[TYPE_TEXT];

    buffer_printf(to, "\nOperands%s%s\n", s->call.form->name[0] ? ", form " : "",
                  s->call.form->name);
    for (uint32_t i = 0; i < s->operation->n_in; i++) {
        if (!s->arg[i]) {
            buffer_printf(to, "    %s: omitted\n", subject_arg_name(s, i, name));
            continue;
        }
        buffer_printf(to, "    %s: %s", subject_arg_name(s, i, name), type_text(s->arg[i], type));
        const struct role *role = call_role(&s->call, i);
        put_values(s->arg[i], x->values, role->dims ? NULL : role->doc, to);
    }
    for (uint32_t i = 0; i < s->operation->n_out; i++)
        buffer_printf(to, "    output %u: %s\n", i, type_text(&s->reference->out[i], type));
}

/* ---- elements */

static double expected_at(const struct subject *s, size_t i)
{
    return tensor_saturate(s->expected, s->real[i]);
}

static void put_element(const struct subject *s, const struct explained *x, size_t i,
                        struct buffer *to)
{
    char place[SHAPE_TEXT], a[VALUE_TEXT], b[VALUE_TEXT], c[VALUE_TEXT], d[VALUE_TEXT];
    static const char *const verdict[] = { "", ", wrong", ", undecided" };

    buffer_printf(to, "    %s: expected %s, got %s, off by %s, allowed %s%s",
                  place_text(&s->expected->shape, i, place), value_text(s->expected, i, a),
                  value_text(&s->actual[s->output], i, b),
                  error_text(s->expected, i, fabs(s->value[i] - expected_at(s, i)), c),
                  error_text(s->expected, i, s->bound[i], d), verdict[s->verdict[i]]);
    if (x->second)
        buffer_printf(to, "; %s got %s", x->second_name, value_text(&x->second[s->output], i, a));
    buffer_puts(to, "\n");
}

static void put_elements(const struct subject *s, const struct explained *x, struct buffer *to)
{
    char type[TYPE_TEXT], exact[VALUE_TEXT];
    size_t shown = 0;

    buffer_printf(to, "\nOutput %u, %s: %zu of %zu elements compared are wrong\n", s->output,
                  type_text(s->expected, type), s->n_wrong, s->n_wrong + s->n_right);
    put_element(s, x, x->element, to);
    buffer_printf(to, "    before rounding, the reference has %s\n",
                  unrounded_text(s->expected, x->element, s->real[x->element], exact));
    for (size_t i = 0; i < s->n && (x->values || shown < SHOWN_WRONG); i++) {
        if (i == x->element || (!x->values && s->verdict[i] != ELEMENT_WRONG))
            continue;
        put_element(s, x, i, to);
        shown++;
    }
    if (!x->values && s->n_wrong > shown + 1)
        buffer_printf(to, "    ... %zu more (--values shows all)\n", s->n_wrong - shown - 1);
}

static void put_second(const struct subject *s, const struct explained *x, struct buffer *to)
{
    size_t like_reference = 0, like_device = 0;

    if (!x->second)
        return;
    for (size_t i = 0; i < s->n; i++) {
        const double second = tensor_at(&x->second[s->output], i);
        if (s->verdict[i] != ELEMENT_WRONG)
            continue;
        like_reference += judge_result_value(s->reference, s->output, i, second) == ELEMENT_RIGHT;
        like_device += second == s->value[i];
    }
    buffer_printf(
        to,
        "\nSecond opinion, %s\n    of the %zu wrong elements it has %zu as the reference, "
        "%zu as the device\n",
        x->second_name, s->n_wrong, like_reference, like_device);
    explain_json_second(x->json, x->second_name, like_reference, like_device);
}

/* ---- terms and hypotheses */

static void put_terms(const struct subject *s, const struct explained *x, struct buffer *to)
{
    char place[SHAPE_TEXT], exact[VALUE_TEXT], got[VALUE_TEXT];
    struct element_sum sum;

    if (!terms_of(s, x->element, &sum))
        return;
    buffer_printf(
        to, "\nTerms of the sum of %s: %zu without those of padding, in the reference's order\n",
        place_text(&s->expected->shape, x->element, place), sum.n);
    terms_print(s, &sum, x->values, to);
    buffer_printf(to, "    result %s; the device has %s\n",
                  unrounded_text(s->expected, x->element, s->real[x->element], exact),
                  value_text(&s->actual[s->output], x->element, got));
}

static void put_finding(const struct subject *s, const struct hypothesis_result *f,
                        struct buffer *to)
{
    buffer_printf(to, "        %s%s%s (%s)", f->hypothesis->sentence, f->note[0] ? ": " : "",
                  f->note, f->hypothesis->name);
    if (!f->matches)
        buffer_printf(to, ": %.0f %% of the wrong elements, contradicted by %zu others",
                      100 * (double) f->explained / (double) s->n_wrong, f->contradicted);
}

/* Hypotheses from..until-1; similar: with the number of similar cases that each explains. */
static void put_findings(const struct subject *s, const struct hypothesis_results *all, int from,
                         int until, bool similar, struct buffer *to)
{
    for (int i = from; i < until; i++) {
        put_finding(s, &all->best[i], to);
        if (similar)
            buffer_printf(to, ", %u of %u similar cases", all->best[i].similar, all->similar);
        buffer_puts(to, "\n");
    }
}

/* Whether even the best hypothesis explains this case, but not most similar ones that are wrong. */
static bool is_weak(const struct hypothesis_results *all)
{
    return 4 * all->best[0].similar_wrong < 3 * all->similar_wrong;
}

/* The best hypothesis of an operation, before the details. */
static void put_conclusion(const struct hypothesis_results *all, struct buffer *to)
{
    const struct hypothesis_result *f = all->n && all->best[0].matches ? &all->best[0] : NULL;
    int n = 1;

    if (!f)
        return;
    while (n < all->n && hypothesis_rank(&all->best[n]) == hypothesis_rank(f))
        n++;
    buffer_printf(to, "%s: %s%s%s (%s)", is_weak(all) ? "Perhaps" : "Most likely",
                  f->hypothesis->sentence, f->note[0] ? ": " : "", f->note, f->hypothesis->name);
    if (n == 2)
        buffer_printf(to, ", or another one, see Hypotheses");
    else if (n > 2)
        buffer_printf(to, ", or one of %d others, see Hypotheses", n - 1);
    buffer_puts(to, "\n");
}

static void put_matches(const struct subject *s, const struct hypothesis_results *all,
                        struct buffer *to)
{
    int n = 1;

    while (n < all->n && hypothesis_rank(&all->best[n]) == hypothesis_rank(&all->best[0]))
        n++;
    buffer_printf(to, "    %s every element of the device",
                  n == 1 ? "this explains" : "these explain");
    if (all->similar)
        buffer_printf(to, ", here and in %u of %u similar cases", all->best[0].similar,
                      all->similar);
    buffer_puts(to, n == 1 ? ":\n" : ", the closest first:\n");
    put_findings(s, all, 0, n < MOST_FINDINGS ? n : MOST_FINDINGS, false, to);
    if (is_weak(all))
        buffer_puts(
            to, "    this is not all: in the other similar cases the device does something else\n");
    if (n == all->n)
        return;
    buffer_puts(to, "    less likely: here, but not in as many similar cases:\n");
    put_findings(s, all, n, all->n < n + MOST_UNLIKELY ? all->n : n + MOST_UNLIKELY, true, to);
}

static void put_hypotheses(const struct subject *s, const struct hypothesis_results *all,
                           struct buffer *to)
{
    buffer_printf(to, "\nHypotheses: %d of %d apply to this operation and its values\n", all->tried,
                  all->of);
    if (all->similar)
        buffer_printf(
            to,
            "    also tried on %u similar cases, with other values, sizes and attributes; "
            "in %u of them the device is wrong\n",
            all->similar, all->similar_wrong);
    if (all->n && all->best[0].matches)
        put_matches(s, all, to);
    else
        buffer_puts(to, "    none of them explains every element of the device\n");
    if (all->n && !all->best[0].matches) {
        buffer_puts(to, "    partly:\n");
        put_findings(s, all, 0, all->n < MOST_UNLIKELY ? all->n : MOST_UNLIKELY, all->similar, to);
    }
    if (all->too_large)
        buffer_printf(to, "    not all variants of %d were computed: the operands are large\n",
                      all->too_large);
}

/* Tries the hypotheses, also on similar cases where the device can run them. */
static int try_hypotheses(const struct subject *s, const struct explained *x,
                          struct hypothesis_results *ret, struct why *w)
{
    struct similar similar;

    if (!x->on)
        return hypotheses_try(s, NULL, ret, w);
    similar_begin(&similar, s, x->on);
    const int failed = hypotheses_try(s, &similar, ret, w);
    similar_end(&similar);
    return failed;
}

int explain_subject(const struct subject *s, const struct explained *x, struct buffer *to,
                    struct why *w)
{
    struct hypothesis_results all;
    struct buffer pattern = { 0 };

    TRY(try_hypotheses(s, x, &all, w));
    put_conclusion(&all, to);
    put_operands(s, x, to);
    put_elements(s, x, to);
    put_second(s, x, to);
    pattern_describe(s, &pattern);
    buffer_printf(to, "\nPattern\n%s", buffer_text(&pattern));
    put_terms(s, x, to);
    put_hypotheses(s, &all, to);
    explain_json_subject(x->json, s, x->element, buffer_text(&pattern), &all);
    buffer_done(&pattern);
    return 0;
}
