#include "harness/check/blame.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness/check/part.h"
#include "harness/check/per_op_check.h"

/* A search in progress. */
struct search {
    struct check *c;
    struct target *t;
    const struct check_result *failed;
    const struct blame_options *options;
    uint32_t most, hangs;
    struct blame *b;
    struct why *w;
    bool broken;            /* out of memory; *w has the reason */
    bool *body_done;        /* per body_call */
    struct check_result of; /* of the last part that was run */
};

bool blame_applies(const struct check *c, const struct check_result *failed)
{
    switch (failed->verdict) {
    case VERDICT_FAIL:
    case VERDICT_VIOLATION:
    case VERDICT_REFUSED:
    case VERDICT_CRASH:
    case VERDICT_HANG: break;
    default: return false;
    }
    /* A driver that does not even open, or answer, says nothing about a single operation. */
    return !c->example->expect_failure && !c->itself &&
           (c->example->model.graph[0].n_operations > 1 ||
            strcmp(failed->stage, stage_name[STAGE_SUPPORTED]) != 0);
}

static bool is_wrong_output(enum verdict v)
{
    return v == VERDICT_FAIL || v == VERDICT_VIOLATION;
}

bool blame_is_alike(const struct check_result *failed, const struct check_result *part)
{
    if (failed->varied != part->varied && !verdict_conforming(part->verdict))
        return false;
    return is_wrong_output(failed->verdict) ? is_wrong_output(part->verdict)
                                            : failed->verdict == part->verdict;
}

/* ---- running */

/* Whether the limits leave room for another execution. */
static bool may_run(struct search *s)
{
    if (s->broken)
        return false;
    if (s->b->runs >= s->most || s->hangs >= BLAME_HANGS)
        s->b->ran_out = true;
    return !s->b->ran_out;
}

static void restart(struct search *s)
{
    if (s->options->before_restart)
        s->options->before_restart(s->options->user);
    target_restart(s->t);
}

/* Runs an example, with its result in s->of.  True: it fails as the case did. */
static bool run_example(struct search *s, const struct example *e)
{
    s->b->runs++;
    if (s->options->before_run)
        s->options->before_run(s->options->user);
    const struct variation *v = s->failed->varied ? &s->c->variation : NULL;

    s->of = check_part(e, s->t, v);
    if (s->of.died && s->of.signal == SIGKILL && s->of.verdict != VERDICT_HANG) {
        restart(s); /* the kill may have come from outside */
        s->of = check_part(e, s->t, v);
    }
    s->hangs += s->of.verdict == VERDICT_HANG;
    if (s->of.died)
        restart(s);
    return blame_is_alike(s->failed, &s->of);
}

/* Runs n operations of the main graph, or, if n is 0, that body_call; false also when the limits
 * are reached. */
static bool run_made(struct search *s, const uint32_t *operation, uint32_t n, uint32_t body)
{
    struct check *c = s->c;
    struct arena_mark mark = arena_mark(c->arena);
    struct example e;
    bool fails = false;

    if (!may_run(s))
        return false;
    int made = n ? part_make(c->parts, operation, n, c->arena, &e, s->w)
                 : part_make_body(c->parts, body, c->arena, &e, s->w);
    s->broken = made < 0;
    if (!s->broken)
        fails = run_example(s, &e);
    arena_rewind(c->arena, mark);
    return fails;
}

static bool run_part(struct search *s, const uint32_t *operation, uint32_t n)
{
    return run_made(s, operation, n, 0);
}

static bool run_body(struct search *s, uint32_t body)
{
    return run_made(s, NULL, 0, body);
}

/* ---- one operation */

static void take(struct search *s, uint32_t graph, const uint32_t *operation, uint32_t n)
{
    struct blame *b = s->b;

    b->member = arena_copy(s->c->arena, operation, n * sizeof *operation);
    if (!b->member) {
        s->broken = true;
        why_no_memory(s->w);
        return;
    }
    b->graph = graph;
    b->first = b->operation = operation[0];
    b->count = n;
    b->is_alone = n == 1;
    b->code = s->c->example->model.graph[graph].operation[operation[0]].code;
    b->own = s->of;
}

/* After operation[at] has failed: whether others fail, too, when they are run alone.  Up to
 * MOST_OTHERS with other codes are run, of a hang one. */
static bool others_fail(struct search *s, uint32_t at)
{
    enum { MOST_OTHERS = 3 };
    const uint32_t *order = s->c->parts->order;
    const struct graph *g = &s->c->example->model.graph[0];
    const uint32_t most = s->failed->verdict == VERDICT_HANG ? 1 : MOST_OTHERS;
    uint32_t n = 0;

    for (uint32_t i = at + 1; i < g->n_operations && n < most && may_run(s); i++) {
        bool is_new = true;
        for (uint32_t k = at; k < i && is_new; k++)
            is_new = g->operation[order[k]].code != g->operation[order[i]].code;
        if (!is_new)
            continue;
        bool fails = run_part(s, &order[i], 1);
        if (s->of.verdict == VERDICT_UNSUPPORTED)
            continue;
        if (!fails)
            return false;
        n++;
    }
    return n > 0;
}

/* Whether graph `sub` is run by an operation of graph `graph`, or by one of a subgraph of that. */
static bool runs_graph(const struct model *m, const struct graph *g, const struct operation *o,
                       uint32_t sub)
{
    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *operand = &g->operand[o->in[i]];
        if (operand->life != LIFE_SUBGRAPH)
            continue;
        const struct graph *body = &m->graph[operand->subgraph];
        if (operand->subgraph == sub)
            return true;
        for (uint32_t k = 0; k < body->n_operations; k++)
            if (runs_graph(m, body, &body->operation[k], sub))
                return true;
    }
    return false;
}

/* The operations of the subgraphs that an operation of the main graph runs. */
static bool find_in_bodies(struct search *s, uint32_t operation)
{
    const struct parts *p = s->c->parts;
    const struct model *m = &s->c->example->model;
    const struct operation *o = &m->graph[0].operation[operation];

    for (uint32_t i = 0; i < p->n_bodies && !s->broken && !s->b->ran_out; i++) {
        if (s->body_done[i] || !runs_graph(m, &m->graph[0], o, p->body[i].graph))
            continue;
        s->body_done[i] = true;
        if (run_body(s, i)) {
            take(s, p->body[i].graph, &p->body[i].operation, 1);
            return true;
        }
    }
    return false;
}

static bool find_alone(struct search *s)
{
    const struct parts *p = s->c->parts;
    uint32_t n = s->c->example->model.graph[0].n_operations;
    bool any_right = false;

    for (uint32_t i = 0; i < n && !s->broken && !s->b->ran_out; i++) {
        uint32_t operation = p->order[i];
        if (part_is_control(p, operation) && find_in_bodies(s, operation))
            return true;
        if (n == 1)
            s->of = *s->failed; /* it is alone */
        if (n == 1 || run_part(s, &operation, 1)) {
            take(s, 0, &operation, 1);
            if (!any_right && (s->failed->verdict != VERDICT_FAIL || s->failed->varied))
                s->b->is_any = others_fail(s, i);
            return true;
        }
        any_right = any_right || s->of.verdict != VERDICT_UNSUPPORTED;
    }
    return false;
}

/* ---- several operations */

/* The shortest beginning of operation[0..n) that fails, which all of them do; its length. */
static uint32_t cut_end(struct search *s, const uint32_t *operation, uint32_t n,
                        struct check_result *own)
{
    uint32_t right = 1; /* so many are right: one alone is */

    while (n - right > 1) {
        uint32_t middle = right + (n - right) / 2;
        if (run_part(s, operation, middle)) {
            n = middle;
            *own = s->of;
        } else {
            right = middle;
        }
    }
    return n;
}

/* The shortest end of operation[0..n) that fails; its first index. */
static uint32_t cut_beginning(struct search *s, const uint32_t *operation, uint32_t n,
                              struct check_result *own)
{
    uint32_t first = 0, right = n - 1;

    while (right - first > 1) {
        uint32_t middle = first + (right - first) / 2;
        if (run_part(s, operation + middle, n - middle)) {
            first = middle;
            *own = s->of;
        } else {
            right = middle;
        }
    }
    return first;
}

/* Leaves out single operations as long as the others fail; returns how many are left. */
static uint32_t cut_inside(struct search *s, uint32_t *operation, uint32_t n, uint32_t *without,
                           struct check_result *own)
{
    for (bool again = true; again && n > 2;) {
        again = false;
        for (uint32_t i = n; i-- > 0 && n > 2;) {
            memcpy(without, operation, i * sizeof *without);
            memcpy(without + i, operation + i + 1, (n - i - 1) * sizeof *without);
            if (!run_part(s, without, n - 1))
                continue;
            memcpy(operation, without, --n * sizeof *operation);
            *own = s->of;
            again = true;
        }
    }
    return n;
}

/* Whether the whole model fails once more, judged as its parts are. */
static bool repeats(struct search *s)
{
    if (!may_run(s))
        return false;
    if (run_example(s, s->c->example))
        return true;
    snprintf(s->b->why, sizeof s->b->why, "every operation alone is right, and so is the model %s",
             s->c->judge == JUDGE_BOUND ? "when it is run again" : "within the reference's bound");
    return false;
}

static void find_together(struct search *s)
{
    uint32_t n = s->c->example->model.graph[0].n_operations;
    uint32_t *list = arena_copy(s->c->arena, s->c->parts->order, n * sizeof *list);
    uint32_t *without = arena_alloc(s->c->arena, n, sizeof *without);

    if (!list || !without) {
        s->broken = true;
        why_no_memory(s->w);
        return;
    }
    if (!repeats(s))
        return;
    struct check_result own = s->of;
    uint32_t most = s->b->runs + BLAME_CUT_RUNS;
    s->most = s->most < most ? s->most : most;
    n = cut_end(s, list, n, &own);
    uint32_t first = cut_beginning(s, list, n, &own);
    n = cut_inside(s, list + first, n - first, without, &own);
    s->of = own;
    take(s, 0, list + first, n);
}

/* ---- the search */

static void search(struct search *s)
{
    struct arena *a = s->c->arena;

    s->body_done = arena_alloc(a, s->c->parts->n_bodies + (size_t) 1, sizeof *s->body_done);
    if (!s->body_done) {
        s->broken = true;
        why_no_memory(s->w);
        return;
    }
    if (!find_alone(s) && !s->broken && !s->b->ran_out)
        find_together(s);
    if (s->b->ran_out && !s->b->count)
        snprintf(s->b->why, sizeof s->b->why, "not found in %u executions%s", s->b->runs,
                 s->hangs >= BLAME_HANGS ? ", too many of which exceeded the time-out" : "");
}

int blame_find(struct check *c, struct target *t, const struct check_result *failed,
               const struct blame_options *options, struct blame *ret, struct why *w)
{
    static const struct blame_options defaults;
    struct blame b = { .operation = UINT32_MAX, .first = UINT32_MAX };
    struct search s = {
        .c = c, .t = t, .failed = failed, .options = options ? options : &defaults, .b = &b, .w = w
    };

    s.most = s.options->most_runs ? s.options->most_runs : BLAME_RUNS;
    s.broken = check_parts(c, w) < 0;
    if (!s.broken)
        search(&s);
    if (s.broken) {
        b.count = 0;
        snprintf(b.why, sizeof b.why, "%.230s", w->text);
    }
    if (!b.count)
        b.operation = b.first = UINT32_MAX;
    *ret = b;
    return s.broken ? -1 : 0;
}

/* ---- as part of a result */

struct blamed blame_summary(const struct check *c, const struct blame *b)
{
    struct blamed s = { .count = b->is_any ? 0 : b->count, .output = -1 };
    const struct graph *g = &c->example->model.graph[b->graph];
    char text[48];

    snprintf(s.why, sizeof s.why, "%s%.280s",
             b->is_any ? "those that were run alone all fail: " : "",
             b->count ? b->own.why : b->why);
    if (!s.count)
        return s;
    s.graph = b->graph;
    s.operation = b->first;
    s.of = g->n_operations;
    for (uint32_t i = 0; i < b->count; i++) {
        const char *name = operation_name(g->operation[b->member[i]].code, text);
        if (b->count == 1)
            snprintf(s.name, sizeof s.name, "%s", name);
        else
            text_append(s.name, sizeof s.name, "%s%s (%u)", i ? ", " : "", name, b->member[i]);
    }
    s.output = b->own.output;
    snprintf(s.place, sizeof s.place, "%s", b->own.place);
    snprintf(s.type, sizeof s.type, "%s",
             b->own.output >= 0 ? b->own.type : operation_type(g, &g->operation[b->first]));
    s.expected = b->own.expected;
    s.actual = b->own.actual;
    s.bound = b->own.bound;
    s.ratio = b->own.ratio;
    s.units = b->own.units;
    return s;
}

const char *blamed_operation(const struct blamed *b, const char *writer)
{
    return b->count ? b->name : writer;
}

size_t failure_kind(const char *operation, const char *type, bool must_fail,
                    char ret_text[FAILURE_KIND])
{
    size_t n = 0;

    for (const char *at = operation; *at && n + 64 < FAILURE_KIND; at++)
        if (*at == '(') /* "CONV_2D (3)": the index */
            at += strcspn(at, ")") - (strchr(at, ')') ? 0 : 1);
        else
            ret_text[n++] = *at;
    snprintf(ret_text + n, FAILURE_KIND - n, " %.40s%s", type, must_fail ? " must fail" : "");
    return n;
}

char *failure_kind_of(const struct check_result *r, char ret_text[FAILURE_KIND])
{
    const struct blamed *b = &r->blamed;
    bool must_fail = strncmp(b->why, "must fail: ", strlen("must fail: ")) == 0;

    failure_kind(blamed_operation(b, r->operation), b->count ? b->type : r->type, must_fail,
                 ret_text);
    return ret_text;
}

char *blamed_text(const struct blamed *b, char *ret_text, size_t size)
{
    char where[32] = "";

    if (b->graph)
        snprintf(where, sizeof where, "subgraph %u, ", b->graph);
    if (!b->count && !b->why[0])
        ret_text[0] = 0;
    else if (!b->count)
        snprintf(ret_text, size, "no single operation: %s", b->why);
    else if (b->count == 1)
        snprintf(ret_text, size, "%soperation %u (%s, %s) alone: %s", where, b->operation, b->name,
                 b->type, b->why);
    else
        snprintf(ret_text, size, "operations %s, only together: %s", b->name, b->why);
    return ret_text;
}
