#include "harness/explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/blame.h"
#include "harness/check/part.h"
#include "harness/check/per_op_check.h"
#include "harness/explain/explain_json.h"
#include "harness/explain/similar.h"
#include "harness/explain/subject.h"
#include "harness/explain/value_text.h"

enum { MOST_EXPLAINED = 3 };

/* One operation, run alone. */
struct alone {
    char name[96]; /* "operation 3 (CONV_2D)" */
    int32_t code;
    struct example example;
    struct check_result result;
    bool explained;
};

/* An explanation in progress. */
struct explaining {
    const struct explain_options *o;
    struct on_target on; /* the way: in which the case fails */
    struct check *c;     /* of the whole example */
    struct alone *alone;
    uint32_t n_alone;
    double *in_case; /* per operation of the main graph: the largest bound of its output 0 in the
                        whole case; NAN: not known */
    struct arena *arena;
    struct buffer *to;
    int explained;
};

/* ---- one operation */

/* "12" or "0,3,2", with or without brackets. */
static int find_element(const struct shape *s, const char *text, size_t *ret, struct why *w)
{
    uint32_t at[MAX_RANK], n = 0;
    const char *p = text + (text[0] == '[');
    char shape[SHAPE_TEXT], *end = NULL;

    for (; n < MAX_RANK; p = end + 1) {
        at[n++] = (uint32_t) strtoul(p, &end, 10);
        if (end == p || *end != ',')
            break;
    }
    REQUIRE(w, end && end != p && (!*end || (*end == ']' && !end[1])) && *p != '-',
            "--element %s: expected an index, such as 12, or coordinates, such as 0,3,2", text);
    bool inside = n == s->rank || n == 1;
    for (uint32_t d = 0; d < n && n == s->rank; d++)
        inside = inside && at[d] < s->dim[d];
    *ret = n == s->rank ? shape_index(s, at) : at[0];
    REQUIRE(w, inside && *ret < shape_count(s), "--element %s: the output has the shape %s", text,
            shape_text(s, shape));
    return 0;
}

/* The results of the second target; NULL: it has none, with a line about it. */
static const struct tensor *second_opinion(struct explaining *x, const struct example *e,
                                           struct check *c, struct why *w)
{
    struct check_result r = { 0 };
    struct tensor *out = NULL;

    const struct on_target second = { x->o->second, x->on.way };

    if (!x->o->second || on_target_run(&second, e, c, &r, &out, w) < 0)
        return NULL;
    const bool has =
        r.verdict == VERDICT_PASS || r.verdict == VERDICT_FAIL || r.verdict == VERDICT_UNDECIDED;
    if (!has)
        buffer_printf(x->to, "\nSecond opinion, %s: none: %s%s%s\n", target_uri(x->o->second),
                      verdict_name[r.verdict], r.why[0] ? ", " : "", r.why);
    return has ? out : NULL;
}

/* Explains an output of an operation.  on: where the operation fails alone; NULL: it does not. */
static int explain_output(struct explaining *x, const struct example *e, const struct check *c,
                          const struct tensor *actual, uint32_t output, const struct on_target *on,
                          struct why *w)
{
    struct subject *s = arena_alloc(x->arena, 1, sizeof *s);
    struct explained what = { .values = x->o->values, .on = on, .json = x->o->json };
    struct check second = { 0 };

    if (!s)
        return why_no_memory(w);
    TRY(subject_init(s, e, &c->result, actual, output, x->arena, w));
    if (!s->n_wrong) {
        buffer_puts(x->to,
                    "\nNo element is outside its bound: all of them together are, see above\n");
        return 0;
    }
    what.element = s->worst;
    if (x->o->element && !x->explained)
        TRY(find_element(&s->expected->shape, x->o->element, &what.element, w));
    what.second = second_opinion(x, e, &second, w);
    what.second_name = x->o->second ? target_uri(x->o->second) : NULL;
    x->explained++;
    int failed = explain_subject(s, &what, x->to, w);
    check_done(&second);
    return failed;
}

/* Elements whose bytes differ. */
static size_t count_changed(const struct tensor *a, const struct tensor *b)
{
    const size_t size = dtype_info[a->dtype].codec->size;
    size_t n = 0;

    if (!shape_equal(&a->shape, &b->shape))
        return tensor_count(a);
    for (size_t i = 0; i < tensor_count(a); i++)
        n +=
            memcmp((const char *) a->data + i * size, (const char *) b->data + i * size, size) != 0;
    return n;
}

/* Runs the operation again on the same values, and prints whether it computes the same. */
static int put_repeated(struct explaining *x, const struct alone *a, const struct tensor *first,
                        int32_t output, struct why *w)
{
    struct check_result r;
    struct tensor *out;
    struct check c;

    TRY(on_target_run(&x->on, &a->example, &c, &r, &out, w));
    const size_t n = out ? count_changed(&first[output], &out[output]) : 0;
    if (n || verdict_conforming(r.verdict)) {
        buffer_printf(
            x->to,
            "Run again on the same values, %zu of %zu elements of output %d are others%s: "
            "the results depend on earlier executions, memory that was not written, or "
            "the order of threads\n",
            n, tensor_count(&first[output]), output,
            verdict_conforming(r.verdict) ? ", and all are right" : "");
        explain_json_changed(x->o->json, a->name, n);
    }
    check_done(&c);
    return 0;
}

static int explain_alone(struct explaining *x, struct alone *a, struct why *w)
{
    struct check_result r;
    struct tensor *out;
    struct check c;
    char where[SHAPE_TEXT + 32] = "";

    a->explained = true;
    TRY(on_target_run(&x->on, &a->example, &c, &r, &out, w));
    if (r.output > 0)
        snprintf(where, sizeof where, ", output %d", r.output);
    buffer_printf(x->to, "\n== %s%s\n%s\n", a->name, where, r.why);
    int failed = 0;
    if (r.verdict == VERDICT_FAIL && r.output >= 0 && out) {
        failed = put_repeated(x, a, out, r.output, w);
        if (!failed)
            failed = explain_output(x, &a->example, &c, out, (uint32_t) r.output, &x->on, w);
    }
    check_done(&c);
    return failed;
}

/* The first operation of each kind that has wrong elements. */
static int explain_each(struct explaining *x, struct why *w)
{
    for (uint32_t i = 0; i < x->n_alone && x->explained < MOST_EXPLAINED; i++) {
        struct alone *a = &x->alone[i];
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || (x->alone[k].explained && x->alone[k].code == a->code);
        if (a->result.verdict == VERDICT_FAIL && !again)
            TRY(explain_alone(x, a, w));
    }
    return 0;
}

/* ---- all operations */

static void keep_bound(const struct exec_event *event, void *user)
{
    struct explaining *x = user;
    const double *e = event->call->ey[0];
    double most = 0;

    if (event->graph)
        return;
    for (size_t i = 0; e && i < tensor_count(event->call->out[0]); i++)
        most = e[i] > most ? e[i] : most;
    x->in_case[event->operation] = e ? most : NAN;
}

/* The bounds of each operation's output as they grow through the graph. */
static int find_bounds(struct explaining *x, struct why *w)
{
    const uint32_t n = x->c->example->model.graph[0].n_operations;
    struct exec_options options = { .bounds = true, .on_operation = keep_bound, .user = x };
    struct result r;

    x->in_case = arena_alloc(x->arena, n + 1, sizeof *x->in_case);
    if (!x->in_case)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++)
        x->in_case[i] = NAN;
    TRY(plan_run(x->c->plan, x->c->example->in, &options, &r, w));
    result_done(&r);
    return 0;
}

static void name_operation(struct alone *a, const struct graph *g, uint32_t graph, uint32_t index)
{
    char text[48];

    a->code = g->operation[index].code;
    snprintf(a->name, sizeof a->name, "%s%.0u%soperation %u (%s)", graph ? "graph " : "", graph,
             graph ? ", " : "", index, operation_name(a->code, text));
}

static int run_each(struct explaining *x, struct why *w)
{
    const struct parts *p = x->c->parts;
    const struct model *m = &x->c->example->model;
    const uint32_t n = m->graph[0].n_operations;

    x->alone = arena_alloc(x->arena, n + p->n_bodies + 1, sizeof *x->alone);
    if (!x->alone)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n + p->n_bodies; i++) {
        struct alone *a = &x->alone[x->n_alone];
        if (i < n && part_is_control(p, p->order[i]))
            continue;
        if (i < n) {
            TRY(part_make(p, &p->order[i], 1, x->arena, &a->example, w));
            name_operation(a, &m->graph[0], 0, p->order[i]);
        } else {
            const struct body_call *b = &p->body[i - n];
            TRY(part_make_body(p, i - n, x->arena, &a->example, w));
            name_operation(a, &m->graph[b->graph], b->graph, b->operation);
        }
        a->result = check_part(&a->example, x->on.t, x->on.way);
        if (a->result.died)
            target_restart(x->on.t);
        x->n_alone++;
    }
    return 0;
}

static bool is_wrong(const struct alone *a)
{
    return !verdict_conforming(a->result.verdict);
}

/* NAN: it is not known. */
static double bound_in_case(const struct explaining *x, uint32_t i)
{
    return x->in_case && i < x->c->example->model.graph[0].n_operations
               ? x->in_case[x->c->parts->order[i]]
               : NAN;
}

static void put_operations(struct explaining *x)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < x->n_alone; i++)
        wrong += is_wrong(&x->alone[i]);
    buffer_printf(
        x->to, "\nOperations, each run alone on the reference's values: %u of %u do not conform\n",
        wrong, x->n_alone);
    for (uint32_t i = 0; i < x->n_alone; i++) {
        const struct alone *a = &x->alone[i];
        const double in_case = bound_in_case(x, i);
        explain_json_operation(x->o->json, a->name, &a->result, in_case);
        if (x->n_alone > 40 && !is_wrong(a))
            continue;
        buffer_printf(x->to, "    %s: %s", a->name, verdict_name[a->result.verdict]);
        if (a->result.checked)
            buffer_printf(x->to, ", %llu of %llu elements wrong, error / bound %.3g, bound %.3g",
                          (unsigned long long) a->result.wrong,
                          (unsigned long long) a->result.checked, a->result.ratio, a->result.bound);
        else if (a->result.why[0] && (!i || strcmp(a->result.why, a[-1].result.why) != 0))
            buffer_printf(x->to, ", %s", a->result.why);
        if (a->result.checked && fabs(in_case - a->result.bound) > 1e-3 * in_case)
            buffer_printf(x->to, " alone, %.3g in the whole graph", in_case);
        buffer_puts(x->to, "\n");
    }
    if (x->n_alone > 40)
        buffer_puts(x->to, "    the others conform\n");
}

/* The operations are right alone: finds the part that fails, and explains its output by the
 * operation that computes it. */
static int explain_together(struct explaining *x, const struct check_result *r,
                            const struct tensor *out, struct why *w)
{
    const struct blame_options limits = { 0 };
    struct blame b;

    if (x->c->itself) {
        buffer_puts(x->to,
                    "    the target is the reference itself: the example expects other values\n");
        return 0;
    }
    if (!blame_applies(x->c, r) || blame_find(x->c, x->on.t, r, &limits, &b, w) < 0 || !b.count) {
        buffer_puts(x->to, "    no operation fails alone, and no part of the graph was found\n");
        return 0;
    }
    const struct blamed blamed = blame_summary(x->c, &b);
    buffer_printf(x->to, "    right alone, wrong together: %s\n", blamed.name);
    explain_json_part(x->o->json, blamed.name);
    const uint32_t writer = r->output >= 0 ? x->c->writer[r->output] : UINT32_MAX;
    if (r->verdict != VERDICT_FAIL || writer == UINT32_MAX || !out || !x->c->have_result ||
        part_is_control(x->c->parts, writer))
        return 0;
    struct example e;
    struct check c;
    struct why why;
    char text[48];
    const struct operation *p = &x->c->example->model.graph[0].operation[writer];
    uint32_t which = 0;
    TRY(part_make(x->c->parts, &writer, 1, x->arena, &e, w));
    TRY(check_begin(&c, &e, JUDGE_BOUND, w));
    check_reference(&c);
    while (which + 1 < p->n_out && p->out[which] != x->c->example->model.graph[0].output[r->output])
        which++;
    struct tensor *actual =
        c.have_result ? arena_copy(x->arena, c.result.out, c.result.n * sizeof *actual) : NULL;
    if (actual) {
        actual[which] = out[r->output];
        buffer_printf(x->to, "\n== operation %u (%s), which computes output %d of the case\n",
                      writer, operation_name(p->code, text), r->output);
        c.result.bound[which] = x->c->result.bound[r->output];
        if (explain_output(x, &e, &c, actual, which, NULL, &why) < 0)
            buffer_printf(x->to, "%s\n", why.text);
    }
    check_done(&c);
    return 0;
}

/* ---- the case */

static void put_verdict(const struct explaining *x, const struct check_result *r)
{
    buffer_printf(x->to, "%s on %s: %s", x->c->example->name, target_uri(x->on.t),
                  verdict_name[r->verdict]);
    if (r->why[0])
        buffer_printf(x->to, "\n    %s", r->why);
    buffer_puts(x->to, "\n");
}

/* The verdict by the judge of the options, where that is not by bound. */
static int judge_as_asked(struct explaining *x, struct check_result *r, struct why *w)
{
    struct check c;

    if (check_resolve(x->c->example, x->o->judge) == JUDGE_BOUND)
        return 0;
    TRY(check_begin(&c, x->c->example, x->o->judge, w));
    struct check_result by_suite;
    variation_check(&c, x->on.t, &by_suite, NULL, NULL);
    check_done(&c);
    if (by_suite.died)
        target_restart(x->on.t);
    if (!verdict_conforming(by_suite.verdict) && verdict_conforming(r->verdict)) {
        put_verdict(x, &by_suite);
        buffer_puts(x->to,
                    "    the values are within the reference's bounds: the file expects others\n");
        *r = by_suite;
    }
    return 0;
}

/* The element that is asked for, where nothing is wrong that it could be of: one of an output. */
static int check_element(const struct explaining *x, struct why *w)
{
    size_t element;

    if (!x->o->element || x->explained || !x->c->have_result || !x->c->result.n)
        return 0;
    for (uint32_t k = 0; k < x->c->result.n; k++)
        if (find_element(&x->c->result.out[k].shape, x->o->element, &element, w) == 0)
            return 0;
    return -1;
}

static int explain(struct explaining *x, struct check_result *r, const struct tensor *out,
                   struct why *w)
{
    struct why why;
    bool any = false;

    explain_json_verdict(x->o->json, x->c->example, x->on.t, r);
    TRY(judge_as_asked(x, r, w));
    put_verdict(x, r);
    if (r->verdict == VERDICT_ERROR || r->verdict == VERDICT_UNSUPPORTED || !x->c->plan)
        return 0;
    if (check_parts(x->c, &why) < 0) {
        buffer_printf(x->to, "\nOperation by operation: %s\n", why.text);
        return 0;
    }
    if (find_bounds(x, &why) < 0)
        x->in_case = NULL;
    TRY(run_each(x, w));
    put_operations(x);
    for (uint32_t i = 0; i < x->n_alone && !any; i++) {
        any = is_wrong(&x->alone[i]);
        if (any && verdict_conforming(r->verdict))
            *r = x->alone[i].result;
    }
    TRY(explain_each(x, w));
    TRY(check_element(x, w));
    return any || verdict_conforming(r->verdict) ? 0 : explain_together(x, r, out, w);
}

int explain_case(const struct example *e, struct target *t, const struct explain_options *o,
                 struct buffer *to, struct check_result *ret_result, struct why *w)
{
    struct check c;
    struct check_result r;
    struct tensor *out;
    struct explaining x = { .o = o, .on.t = t, .c = &c, .arena = arena_new(0), .to = to };

    if (!x.arena)
        return why_no_memory(w);
    struct check named = { .example = e };
    variation_choose(&named, &o->ways);
    x.on.way = named.is_varied ? &named.variation : NULL;
    int failed = on_target_run(&x.on, e, &c, &r, &out, w);
    if (!failed) {
        x.on.way = r.varied ? x.on.way : NULL;
        failed = explain(&x, &r, out, w);
        check_done(&c);
    }
    arena_free(x.arena);
    explain_json_verdict(o->json, e, t, &r);
    *ret_result = r;
    return failed;
}
