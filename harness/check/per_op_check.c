#include "harness/check/per_op_check.h"

#include <stdio.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "harness/check/blame.h"

int check_parts(struct check *c, struct why *w)
{
    if (!c->parts && !c->parts_why[0]) {
        struct why why = { 0 };
        struct parts *p = arena_alloc(c->arena, 1, sizeof *p);
        if (c->example->expect_failure)
            snprintf(c->parts_why, sizeof c->parts_why, "the execution must fail");
        else if (p && parts_find(c->example, c->arena, p, &why) == 0)
            c->parts = p;
        else
            snprintf(c->parts_why, sizeof c->parts_why, "%.230s", p ? why.text : "out of memory");
    }
    REQUIRE(w, c->parts, "%s", c->parts_why);
    return 0;
}

struct check_result check_part(const struct example *part, struct target *t,
                               const struct variation *v)
{
    struct check_result r = check_without_outcome(VERDICT_ERROR, JUDGE_BOUND);
    struct check c;
    struct why why = { 0 };

    if (part_has_empty_input(part)) {
        r.verdict = VERDICT_UNSUPPORTED;
        snprintf(r.why, sizeof r.why,
                 "cannot be run alone: a request gives no input of 0 elements");
        return r;
    }
    if (check_begin(&c, part, JUDGE_BOUND, &why) < 0) {
        snprintf(r.why, sizeof r.why, "%s", why.text);
        return r;
    }
    c.is_varied = v;
    if (v)
        c.variation = *v;
    variation_check(&c, t, &r, NULL, NULL);
    check_done(&c);
    return r;
}

bool per_op_check_is_drawn(const char *name)
{
    return (farmhash64(name, strlen(name)) >> 8) % 4 == 0;
}

static bool applies(const struct check *c, const struct check_result *r)
{
    return c->judge == JUDGE_BOUND &&
           (r->verdict == VERDICT_PASS || r->verdict == VERDICT_UNDECIDED) &&
           !c->example->expect_failure && c->example->model.graph[0].n_operations > 1 &&
           (c->by_layers || !r->checked);
}

/* The operation alone; false: out of memory. */
static bool run_operation(struct check *c, uint32_t operation, struct target *t,
                          struct check_result *ret)
{
    struct arena_mark mark = arena_mark(c->arena);
    struct example part;
    struct why why;
    bool made = part_make(c->parts, &operation, 1, c->arena, &part, &why) == 0;

    if (made)
        *ret = check_part(&part, t, NULL);
    arena_rewind(c->arena, mark);
    return made;
}

static void take_failure(struct check *c, uint32_t operation, const struct check_result *own,
                         struct check_result *r)
{
    char text[48];
    int32_t code = c->example->model.graph[0].operation[operation].code;
    struct blame b = { .operation = operation,
                       .code = code,
                       .is_alone = true,
                       .first = operation,
                       .count = 1,
                       .member = &operation,
                       .own = *own };

    r->verdict = own->verdict;
    r->died = own->died;
    r->signal = own->signal;
    snprintf(r->why, sizeof r->why, "operation %u (%s) alone: %.400s", operation,
             operation_name(code, text), own->why);
    r->blamed = blame_summary(c, &b);
}

/* Whether the outputs of the whole case judged the operation as it would be judged alone: it reads
 * no results, and its results are outputs. */
static bool is_judged(const struct graph *g, const struct operation *o)
{
    for (uint32_t i = 0; i < o->n_in; i++) {
        enum lifetime life = g->operand[o->in[i]].life;
        if (life == LIFE_TEMPORARY || life == LIFE_OUTPUT)
            return false;
    }
    for (uint32_t i = 0; i < o->n_out; i++)
        if (g->operand[o->out[i]].life != LIFE_OUTPUT)
            return false;
    return true;
}

static bool all_judged(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!is_judged(g, &g->operation[i]))
            return false;
    return true;
}

void per_op_check_run(struct check *c, struct target *t, struct check_result *r,
                      struct buffer *detail)
{
    uint32_t n = 0;
    double worst = 0;
    struct why why = { 0 };

    const struct graph *g = &c->example->model.graph[0];
    const bool compared = r->checked > 0;

    if (!applies(c, r) || (compared && all_judged(g)))
        return;
    if (check_parts(c, &why) < 0) {
        r->verdict = VERDICT_ERROR;
        snprintf(r->why, sizeof r->why, "operation by operation: %s", why.text);
        return;
    }
    for (uint32_t i = 0; i < g->n_operations && verdict_conforming(r->verdict); i++) {
        struct check_result own;
        uint32_t operation = c->parts->order[i];
        if (part_is_control(c->parts, operation) ||
            (compared && is_judged(g, &g->operation[operation])))
            continue;
        if (!run_operation(c, operation, t, &own)) {
            r->verdict = VERDICT_ERROR;
            snprintf(r->why, sizeof r->why, "operation by operation: out of memory");
            return;
        }
        if (own.verdict == VERDICT_UNSUPPORTED)
            continue; /* perhaps supported only within a larger graph */
        n++;
        for (uint32_t k = 0; k < own.n_gains; k++) {
            own.gain[k].operation = operation;
            check_add_gain(r, &own.gain[k]);
        }
        r->checked += own.checked;
        r->wrong += own.wrong;
        worst = own.ratio > worst ? own.ratio : worst;
        if (!verdict_conforming(own.verdict))
            take_failure(c, operation, &own, r);
    }
    if (r->verdict == VERDICT_UNDECIDED && r->checked) {
        r->verdict = VERDICT_PASS;
        snprintf(r->why, sizeof r->why, "compared operation by operation only");
    }
    if (detail)
        buffer_printf(detail, "operation by operation: %u run alone, worst ratio %.3g\n", n, worst);
}
