#include "harness/shrink/trial.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/edit/edit.h"
#include "golden/math/farmhash.h"
#include "harness/check/blame.h"
#include "harness/check/per_op_check.h"
#include "harness/run/devices.h"
#include "specs/specs.h"

/* Once the case is known to hang, candidates get this time: those that do not hang are small. */
static const double patience = 1;

static int open_target(struct trial *t, double timeout, struct why *w)
{
    struct target_host host = harness_host;
    host.reply_timeout = timeout;
    host.isolation = ISOLATE_ALL; /* a candidate may make the driver crash */
    host.is_known = true;
    target_free(t->target);
    t->target = NULL;
    return target_open(t->request->target, &host, &t->target, w);
}

int trial_begin(struct trial *t, const struct shrink_request *request, struct why *w)
{
    *t = (struct trial){ .request = request,
                         .judge = check_resolve(request->example, request->judge),
                         .begun = clock_steady_ns() };
    devices_protect_from(request->target);
    return open_target(t, request->timeout, w);
}

void trial_done(struct trial *t)
{
    target_free(t->target);
    free(t->run);
}

/* ---- one execution */

/* Runs and judges a check that was begun.  -1: no verdict, because the reference does not run the
 * example; nothing was executed then. */
static int run_check(struct trial *t, struct check *c, struct check_result *ret, struct why *w)
{
    if (part_has_empty_input(c->example))
        return why_fail(w, WHY_EXECUTION, "an input has no elements");
    check_reference(c);
    if (c->reference_why[0])
        return why_fail(w, WHY_EXECUTION, "%s", c->reference_why);
    t->executions += c->is_varied ? 2 : 1;
    variation_check(c, t->target, ret, NULL, NULL);
    if (ret->verdict == VERDICT_ERROR)
        return why_fail(w, WHY_SYSTEM, "%.400s", ret->why);
    if (ret->died) {
        t->deaths++;
        target_restart(t->target);
    }
    return 0;
}

static int run_once(struct trial *t, const struct example *e, enum judge_kind judge,
                    struct check_result *ret, struct why *w)
{
    struct check c;
    TRY(check_begin(&c, e, judge, w));
    c.is_varied = t->is_varied;
    c.variation = t->variation;
    int failed = run_check(t, &c, ret, w);
    check_done(&c);
    return failed;
}

int trial_run(struct trial *t, const struct example *e, struct check_result *ret, struct why *w)
{
    target_restart(t->target);
    return run_once(t, e, t->judge, ret, w);
}

/* ---- the whole case */

static void count_run(void *user)
{
    struct trial *t = user;
    t->executions++;
}

/* The part that is blamed; 1: nothing is. */
static int take_part(const struct check *c, const struct blame *b, struct arena *arena,
                     struct example *ret, struct why *w)
{
    struct parts p;
    if (!b->count)
        return 1;
    TRY(parts_find(c->example, arena, &p, w));
    if (b->graph == 0)
        return part_make(&p, b->member, b->count, arena, ret, w);
    for (uint32_t i = 0; i < p.n_bodies; i++)
        if (p.body[i].graph == b->graph && p.body[i].operation == b->operation)
            return part_make_body(&p, i, arena, ret, w);
    return 1;
}

static int find_part(struct trial *t, struct check *c, const struct check_result *failed,
                     struct arena *arena, struct example *ret, struct why *w)
{
    struct blame_options options = { .before_run = count_run, .user = t };
    struct blame b;
    if (!blame_applies(c, failed) || edit_operations(c->example) <= 1)
        return 1;
    if (failed->verdict == VERDICT_HANG)
        TRY(open_target(t, t->request->timeout < patience ? t->request->timeout : patience, w));
    if (blame_find(c, t->target, failed, &options, &b, w) < 0)
        return 1; /* no values of the reference: the whole case is shrunk */
    t->is_any = b.is_any;
    return take_part(c, &b, arena, ret, w);
}

/* Whether an example that is wrong in executions at once is also wrong plainly, with the other
 * inputs of one of them: then it is not the way that is wrong. */
static bool find_wrong_inputs(struct trial *t, const struct example *e,
                              const struct check_result *varied, struct arena *arena,
                              struct example *ret)
{
    const uint32_t at_once = t->variation.at_once;
    struct check_result r;
    struct why why;

    t->is_varied = false;
    for (uint32_t k = 0; varied->verdict == VERDICT_FAIL && k + 1 < at_once; k++)
        if (variation_other_inputs(e, k, arena, ret, &why) == 0 &&
            run_once(t, ret, JUDGE_BOUND, &r, &why) == 0 && r.verdict == VERDICT_FAIL)
            return true;
    t->is_varied = true;
    return false;
}

int trial_run_whole(struct trial *t, const struct example *e, struct arena *arena,
                    struct check_result *ret, struct example *ret_part, struct why *w)
{
    struct example with_others;
    struct check c;
    TRY(check_begin(&c, e, t->judge, w));
    variation_choose(&c, &t->request->ways);
    int r = run_check(t, &c, ret, w);
    t->is_varied = r == 0 && ret->varied;
    t->variation = c.variation;
    if (t->is_varied && find_wrong_inputs(t, e, ret, arena, &with_others)) {
        check_done(&c);
        e = &with_others;
        TRY(check_begin(&c, e, JUDGE_BOUND, w));
        r = run_check(t, &c, ret, w);
    }
    if (r == 0) {
        c.by_layers = true;
        per_op_check_run(&c, t->target, ret, NULL);
    }
    if (r == 0 && !verdict_conforming(ret->verdict))
        r = find_part(t, &c, ret, arena, ret_part, w);
    check_done(&c);
    if (r == 1)
        *ret_part = *e;
    return r < 0 ? -1 : 0;
}

/* ---- kinds of failures */

/* The words of a reason without its numbers, names of values and the driver's own words. */
static void put_words(const char *why, char *text, size_t size)
{
    size_t n = strlen(text);
    for (; *why && *why != ';' && n + 1 < size; why++)
        if (isalpha((unsigned char) *why) || (*why == ' ' && n && text[n - 1] != ' '))
            text[n++] = *why;
    text[n] = 0;
}

struct trial_kind trial_kind_of(const struct check_result *r)
{
    struct trial_kind k = { .verdict = r->verdict, .is_varied = r->varied };
    const char *why = variation_reason(r);
    if (r->verdict == VERDICT_FAIL) {
        k.is_nan = isnan(r->actual);
        if (r->blamed.count && r->output < 0) /* must fail: why */
            put_words(r->blamed.why, k.text, sizeof k.text);
        return k;
    }
    const char *alone = strstr(why, " alone: ");
    snprintf(k.text, sizeof k.text, "%s %d ", r->stage, r->signal);
    if (r->verdict != VERDICT_HANG && !r->signal) /* else the rest names the method */
        put_words(alone ? alone + 8 : why, k.text, sizeof k.text);
    return k;
}

bool trial_kind_equal(const struct trial_kind *a, const struct trial_kind *b)
{
    return a->verdict == b->verdict && a->is_varied == b->is_varied && a->is_nan == b->is_nan &&
           !strcmp(a->text, b->text);
}

/* ---- candidates that were run already: the best one, too */

/* 0: cannot be written, and is run again each time. */
static uint64_t digest(const struct example *e)
{
    char *text = NULL;
    size_t length = 0;
    struct why why;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return 0;
    int failed = specs_write_json(e, memory, &why);
    failed = fclose(memory) != 0 || failed < 0;
    uint64_t d = failed ? 0 : farmhash64(text, length);
    free(text);
    return d;
}

static bool was_run(const struct trial *t, uint64_t d)
{
    for (size_t i = 0; d && i < t->n_run; i++)
        if (t->run[i] == d)
            return true;
    return false;
}

static void remember(struct trial *t, uint64_t d)
{
    if (t->n_run == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        uint64_t *larger = realloc(t->run, capacity * sizeof *larger);
        if (!larger)
            return;
        t->run = larger;
        t->capacity = capacity;
    }
    t->run[t->n_run++] = d;
}

/* ---- the predicate */

static bool fails_once(struct trial *t, const struct example *e, enum judge_kind judge,
                       struct check_result *ret)
{
    struct why why;
    if (run_once(t, e, judge, ret, &why) < 0)
        return false;
    struct trial_kind k = trial_kind_of(ret);
    return trial_kind_equal(&k, &t->wanted);
}

bool trial_fails(struct trial *t, const struct example *e, struct check_result *ret)
{
    uint64_t d = digest(e);
    if (was_run(t, d))
        return false;
    bool fails = fails_once(t, e, t->judge, ret);
    if (fails && t->careful)
        fails = trial_fails_judged(t, e, t->judge, ret);
    remember(t, d);
    return fails;
}

bool trial_fails_judged(struct trial *t, const struct example *e, enum judge_kind judge,
                        struct check_result *ret)
{
    struct check_result r;
    target_restart(t->target);
    if (!fails_once(t, e, judge, &r))
        return false;
    *ret = r;
    return true;
}

bool trial_begin_part(struct trial *t, const struct example *part, const struct check_result *first,
                      struct check_result *ret)
{
    const enum judge_kind judges[] = { t->judge, JUDGE_BOUND }; /* blame is by bound */
    for (int i = 0; i < 2; i++) {
        struct why why;
        target_restart(t->target);
        if (run_once(t, part, judges[i], ret, &why) == 0 && blame_is_alike(first, ret)) {
            t->judge = judges[i];
            t->wanted = trial_kind_of(ret);
            return true;
        }
    }
    return false;
}

void trial_simplify_way(struct trial *t, const struct example *e, struct check_result *r)
{
    for (uint32_t i = 0; t->is_varied && i < VARIATION_PARTS; i++) {
        const struct variation was = t->variation;
        struct check_result simpler;
        if (!variation_simplify(&t->variation, i))
            continue;
        if (trial_over(t) == SHRINK_COMPLETE && trial_fails_judged(t, e, t->judge, &simpler))
            *r = simpler;
        else
            t->variation = was;
    }
}

void trial_be_careful(struct trial *t)
{
    t->careful = true;
    t->n_run = 0;
}

enum shrink_end trial_over(const struct trial *t)
{
    const struct shrink_request *r = t->request;
    uint64_t most = r->executions ? r->executions : SHRINK_EXECUTIONS_DEFAULT;
    double seconds = r->seconds > 0 ? r->seconds : SHRINK_SECONDS_DEFAULT;
    if (r->tick)
        r->tick(r->user);
    if (r->stop && *r->stop)
        return SHRINK_STOPPED;
    if (t->executions >= most)
        return SHRINK_EXECUTIONS;
    return (double) (clock_steady_ns() - t->begun) * 1e-9 >= seconds ? SHRINK_SECONDS
                                                                     : SHRINK_COMPLETE;
}
