#include "harness/shrink/shrink.h"

#include <stdio.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/model/one_op.h"
#include "harness/explain/matching.h"
#include "harness/shrink/bucket.h"
#include "harness/shrink/reductions.h"
#include "harness/shrink/trial.h"

/* In this order, big steps first, again and again until none applies. */
static const struct reduction {
    const char *name;
    reduce_at *at;
} reductions[] = {
    { "operations", shrink_operations },
    { "subgraphs", shrink_subgraphs },
    { "outputs", shrink_outputs },
    { "chains", shrink_chains },
    { "signatures", shrink_signatures },
    { "variadic operands", shrink_variadic },
    { "optional operands", shrink_optional },
    { "forms", shrink_forms },
    { "types", shrink_types },
    { "flags", shrink_flags },
    { "scalars", shrink_scalars },
    { "tensors", shrink_tensors },
    { "dimensions", shrink_dimensions },
    { "scales", shrink_scales },
    { "lifetimes", shrink_lifetimes },
    { "unknown shapes", shrink_unknown_shapes },
    { "ranks", shrink_ranks },
    { "elements", shrink_elements },
};

/* The smallest candidate so far, and memory for the next one. */
struct progress {
    struct trial *trial;
    struct edit best;
    struct check_result result; /* of best */
    struct arena *spare;
    struct arena *start_arena;
    struct edit start;
    struct check_result start_result;
};

/* Runs the candidate; if it fails as wanted, it is the best one. */
static bool accept(struct progress *p, struct edit *c)
{
    struct check_result r;
    if (!trial_fails(p->trial, &c->e, &r))
        return false;
    p->spare = p->best.arena;
    p->best = *c;
    p->result = r;
    return true;
}

/* One reduction at all of its sites.  True: something was reduced. */
static bool reduce(struct progress *p, const struct reduction *r)
{
    bool any = false;
    for (uint32_t site = 0; trial_over(p->trial) == SHRINK_COMPLETE;) {
        struct edit c;
        struct why why;
        arena_empty(p->spare, 1 << 20);
        if (edit_copy(&p->best.e, p->spare, &c, &why) < 0)
            break;
        enum reduced done = r->at(&c, site);
        if (done == REDUCE_END)
            break;
        if (done == REDUCE_DONE)
            edit_repair(&c);
        bool accepted = done == REDUCE_DONE && edit_settle(&c, &why) >= 0 && accept(p, &c);
        any = any || accepted;
        if (!accepted) /* else the next one is at this site now */
            site = c.next > site ? c.next : site + 1;
    }
    return any;
}

static void reduce_until_done(struct progress *p)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < COUNT(reductions); i++)
            any = reduce(p, &reductions[i]) || any;
    }
}

/* Back to the start.  Fails only when out of memory. */
static int restart(struct progress *p, struct why *w)
{
    arena_empty(p->best.arena, 1 << 20);
    p->result = p->start_result;
    return edit_copy(&p->start.e, p->best.arena, &p->best, w);
}

/* A new process of the driver is costly: only the last candidate is run in one, unless it then does
 * not fail. */
static int reduce_all(struct progress *p, struct why *w)
{
    reduce_until_done(p);
    if (trial_fails_judged(p->trial, &p->best.e, p->trial->judge, &p->result))
        return 0;
    trial_be_careful(p->trial);
    TRY(restart(p, w));
    reduce_until_done(p);
    return 0;
}

/* ---- the result */

/* Expected values, where the example then fails with the tolerances of the suites, too: the file
 * with them is a complete test. */
static void add_expected(struct progress *p, struct shrunk *s)
{
    struct check c;
    struct why why;
    struct example with = p->best.e;
    struct tensor *expected =
        arena_alloc(s->arena, p->best.e.model.graph[0].n_outputs + 1, sizeof *expected);
    if (!expected || p->result.verdict != VERDICT_FAIL ||
        check_begin(&c, &p->best.e, JUDGE_BOUND, &why) < 0)
        return;
    check_reference(&c);
    bool has = c.have_result;
    for (uint32_t k = 0; has && k < c.result.n; k++) {
        expected[k] = c.result.out[k];
        expected[k].data = arena_copy(s->arena, expected[k].data, tensor_bytes(&expected[k]));
        has = expected[k].data && !c.result.distribution[k] && !c.result.open[k];
    }
    check_done(&c);
    with.expected = expected;
    if (has && trial_fails_judged(p->trial, &with, JUDGE_CTS, &p->result))
        s->example = with;
}

/* The hypotheses that match the failure as it is now, and those of them that match it at the start,
 * where many elements decide; all, if none could be tried at the start. */
static void find_hypotheses(struct progress *p, struct symptom *s)
{
    const struct variation *way = p->trial->is_varied ? &p->trial->variation : NULL;
    struct matching before;
    matching_find(&p->best.e, p->trial->target, way, &s->possible);
    s->matching = s->possible;
    if (!s->possible.n)
        return;
    matching_find(&p->start.e, p->trial->target, way, &before);
    if (before.tried)
        s->matching.n = 0;
    for (int i = 0; i < before.n; i++)
        for (int k = 0; k < s->possible.n; k++)
            if (!strcmp(before.name[i], s->possible.name[k]))
                s->matching.name[s->matching.n++] = s->possible.name[k];
}

static void finish(struct progress *p, struct shrunk *s)
{
    struct trial *t = p->trial;
    s->arena = p->best.arena;
    s->example = p->best.e;
    s->end = trial_over(t);
    add_expected(p, s);
    s->result = p->result;
    s->executions = t->executions;
    s->deaths = t->deaths;
    s->seconds = (double) (clock_steady_ns() - t->begun) * 1e-9;
    s->n_operations = s->example.model.graph[0].n_operations;
    s->n_elements = edit_largest(&s->example);
    s->is_varied = p->trial->is_varied;
    s->variation = p->trial->variation;
    s->is_any = s->is_varied && p->trial->is_any;
    bucket_structure(&p->best, &p->result, s, s->structure);
    symptom_of(&p->best, s, &s->symptom);
    if (s->symptom.code >= 0 && p->result.verdict == VERDICT_FAIL)
        find_hypotheses(p, &s->symptom);
}

/* Makes the start of an example, if that fails as the case does when the reference's outputs are
 * expected.  1: it does not. */
static int start_with(struct progress *p, const struct example *e, const struct check_result *first,
                      struct why *w)
{
    arena_empty(p->start_arena, 1 << 20);
    TRY(edit_copy(e, p->start_arena, &p->start, w));
    TRY(edit_settle(&p->start, w));
    return trial_begin_part(p->trial, &p->start.e, first, &p->start_result) ? 0 : 1;
}

/* Of operations and types that most drivers have. */
static const struct one_op plain_models[] = {
    { "addition", "ADD", 1, { "F32[1]: 1", "F32[1]: 2", "INT32: 0" }, "F32[1]: 3" },
    { "comparison", "RELU", 1, { "F32[1]: 1" }, "F32[1]: 1" },
    { "addition of 8 bits",
      "ADD",
      1,
      { "U8[1]*1@0: 1", "U8[1]*1@0: 2", "INT32: 0" },
      "U8[1]*1@0: 3" },
    { "comparison of 8 bits", "RELU", 1, { "U8[1]*1@0: 1" }, "U8[1]*1@0: 1" },
};

/* As struct example, until build_done(). */
struct plain_example {
    struct build build;
    struct tensor in[ONE_OP_INPUTS], expected[ONE_OP_OUTPUTS];
    struct example example;
};

static void plain_example_init(struct plain_example *x, const struct one_op *o, const char *name)
{
    one_op_build(&x->build, o, x->in, x->expected);
    x->example = (struct example){
        .name = name, .model = x->build.model, .in = x->in, .expected = x->expected
    };
}

/* The first plain model, if all that the target supports fail as the case does, and these are at
 * least two: what is wrong then is not the operation.  NULL: they do not. */
static const struct one_op *find_plain(struct progress *p, const struct check_result *first)
{
    const struct trial_kind wanted = trial_kind_of(first);
    const struct one_op *found = NULL;
    int n = 0;
    if (first->verdict == VERDICT_FAIL && !first->varied)
        return NULL; /* wrong numbers are the operation's */
    for (int i = COUNT(plain_models); i-- > 0;) {
        struct plain_example x;
        struct check_result result;
        struct why why;
        plain_example_init(&x, &plain_models[i], plain_models[i].name);
        int failed = trial_run(p->trial, &x.example, &result, &why);
        build_done(&x.build);
        const struct trial_kind kind = trial_kind_of(&result);
        if (!failed && result.verdict == VERDICT_UNSUPPORTED)
            continue;
        if (failed || !trial_kind_equal(&kind, &wanted))
            return NULL;
        found = &plain_models[i];
        n++;
    }
    return n >= 2 ? found : NULL;
}

/* 1: the failure depends on the operation. */
static int start_with_plain(struct progress *p, const struct check_result *first, struct why *w)
{
    const struct one_op *plain = find_plain(p, first);
    struct plain_example x;
    if (!plain)
        return 1;
    plain_example_init(&x, plain, p->trial->request->example->name);
    int r = start_with(p, &x.example, first, w);
    build_done(&x.build);
    return r;
}

/* Starts with a plain model, or the part that is blamed, else with the whole case. */
static int begin(struct progress *p, struct shrunk *s, struct why *w)
{
    const struct example *e = p->trial->request->example;
    struct example part;
    TRY(trial_run_whole(p->trial, e, p->spare, &s->first, &part, w));
    if (verdict_conforming(s->first.verdict) || s->first.verdict == VERDICT_ERROR)
        return 1;
    part.name = e->name;
    int r = start_with_plain(p, &s->first, w);
    s->everywhere = r == 0;
    if (r != 0)
        r = start_with(p, &part, &s->first, w);
    if (r != 0)
        r = start_with(p, e, &s->first, w);
    if (r != 0)
        return r < 0 ? why_prefix(w, "%s: cannot be shrunk", e->name)
                     : why_fail(w, WHY_UNSUPPORTED,
                                "%s: cannot be shrunk: it does not fail again, or only with the "
                                "values that it expects, which are not the reference's",
                                e->name);
    trial_simplify_way(p->trial, &p->start.e, &p->start_result);
    return restart(p, w);
}

int shrink_case(const struct shrink_request *request, struct shrunk *ret, struct why *w)
{
    struct trial t = { 0 };
    struct progress p = {
        .trial = &t, .best.arena = arena_new(0), .spare = arena_new(0), .start_arena = arena_new(0)
    };
    *ret = (struct shrunk){ 0 };
    int r =
        p.best.arena && p.spare && p.start_arena ? trial_begin(&t, request, w) : why_no_memory(w);
    if (r == 0)
        r = begin(&p, ret, w);
    if (r == 0)
        r = reduce_all(&p, w);
    if (r == 0)
        finish(&p, ret);
    else
        arena_free(p.best.arena);
    arena_free(p.spare);
    arena_free(p.start_arena);
    trial_done(&t);
    return r;
}

void shrunk_done(struct shrunk *s)
{
    arena_free(s->arena);
    *s = (struct shrunk){ 0 };
}
