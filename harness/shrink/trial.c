#include "harness/shrink/trial.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/math/farmhash.h"
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
    free(t->failed);
}

/* ---- one execution */

/* -1: no verdict, because the reference does not run the example; nothing was executed then. */
static int run_once(struct trial *t, const struct example *e, enum judge_kind judge, bool by_layers,
                    struct check_result *ret, struct why *w)
{
    struct check c;
    struct outcome o;
    TRY(check_begin(&c, e, judge, w));
    check_reference(&c);
    if (c.reference_why[0]) {
        why_fail(w, WHY_EXECUTION, "%s", c.reference_why);
        check_done(&c);
        return -1;
    }
    t->executions++;
    int ran = check_run(&c, t->target, &o, ret);
    if (ran >= 0)
        check_judge(&c, &o, ret, NULL);
    else
        why_fail(w, WHY_SYSTEM, "%s", ret->why);
    if (ran >= 0 && by_layers) {
        c.by_layers = true;
        per_op_check_run(&c, t->target, ret, NULL);
        t->executions += c.n_layers;
    }
    check_done(&c);
    if (ret->died) {
        t->deaths++;
        target_restart(t->target);
    }
    return ran < 0 ? -1 : 0;
}

int trial_run_whole(struct trial *t, const struct example *e, struct check_result *ret,
                    struct why *w)
{
    TRY(run_once(t, e, t->judge, true, ret, w));
    if (ret->verdict == VERDICT_HANG)
        return open_target(t, t->request->timeout < patience ? t->request->timeout : patience, w);
    return 0;
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
    struct trial_kind k = { .verdict = r->verdict };
    const char *why = r->why;
    if (r->verdict == VERDICT_FAIL) {
        k.is_nan = isnan(r->actual);
        return k;
    }
    const char *alone = strstr(why, " alone: ");
    snprintf(k.text, sizeof k.text, "%s %d ", r->stage, r->signal);
    if (r->verdict != VERDICT_HANG)
        put_words(alone ? alone + 8 : why, k.text, sizeof k.text);
    return k;
}

bool trial_kind_equal(const struct trial_kind *a, const struct trial_kind *b)
{
    return a->verdict == b->verdict && a->is_nan == b->is_nan && !strcmp(a->text, b->text);
}

/* ---- candidates that were run already */

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

static bool is_known(const struct trial *t, uint64_t d)
{
    for (size_t i = 0; d && i < t->n_failed; i++)
        if (t->failed[i] == d)
            return true;
    return false;
}

static void remember(struct trial *t, uint64_t d)
{
    if (t->n_failed == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        uint64_t *larger = realloc(t->failed, capacity * sizeof *larger);
        if (!larger)
            return;
        t->failed = larger;
        t->capacity = capacity;
    }
    t->failed[t->n_failed++] = d;
}

/* ---- the predicate */

static bool fails_once(struct trial *t, const struct example *e, bool only_verdict,
                       struct check_result *ret)
{
    struct why why = { 0 };
    if (run_once(t, e, t->judge, false, ret, &why) < 0)
        return false;
    struct trial_kind k = trial_kind_of(ret);
    return only_verdict ? k.verdict == t->wanted.verdict : trial_kind_equal(&k, &t->wanted);
}

bool trial_fails(struct trial *t, const struct example *e, bool only_verdict,
                 struct check_result *ret)
{
    uint64_t d = digest(e);
    if (is_known(t, d))
        return false;
    bool fails = fails_once(t, e, only_verdict, ret);
    if (fails) {
        target_restart(t->target);
        fails = fails_once(t, e, only_verdict, ret);
    }
    if (!fails)
        remember(t, d);
    return fails;
}

bool trial_fails_judged(struct trial *t, const struct example *e, enum judge_kind judge,
                        struct check_result *ret)
{
    struct why why = { 0 };
    struct check_result r;
    target_restart(t->target);
    if (run_once(t, e, judge, false, &r, &why) < 0)
        return false;
    struct trial_kind k = trial_kind_of(&r);
    if (!trial_kind_equal(&k, &t->wanted))
        return false;
    *ret = r;
    return true;
}

enum shrink_end trial_over(const struct trial *t)
{
    const struct shrink_request *r = t->request;
    uint64_t most = r->executions ? r->executions : SHRINK_EXECUTIONS_DEFAULT;
    double seconds = r->seconds > 0 ? r->seconds : SHRINK_SECONDS_DEFAULT;
    if (r->stop && *r->stop)
        return SHRINK_STOPPED;
    if (t->executions >= most)
        return SHRINK_EXECUTIONS;
    return (double) (clock_steady_ns() - t->begun) * 1e-9 >= seconds ? SHRINK_SECONDS
                                                                      : SHRINK_COMPLETE;
}
