#include "harness/run/op_support.h"

#include <stdio.h>
#include <string.h>

#include "harness/check/check.h"
#include "harness/run/devices.h"
#include "harness/run/worker_pool.h"
#include "randgraph/randgraph.h"
#include "sim/hal/hal_convert.h"

/* Models tried per operation and type: a driver's limits (sizes, constants) may exclude some, and
 * one supported model suffices. */
enum { TRIES = 30 };

struct query {
    const char *uri;
    double timeout;
    struct target *target; /* in the worker */
    struct support support;
};

/* An item is a pair of operation and type. */
static int op_of(uint64_t item)
{
    return (int) (item / DT_COUNT);
}

static uint32_t type_of(uint64_t item)
{
    return (uint32_t) (item % DT_COUNT);
}

static int start(void *user, void **ret_state, struct why *w)
{
    struct query *a = user;
    TRY(target_open(a->uri, &harness_host, &a->target, w));
    *ret_state = a;
    return 0;
}

static void end(struct worker_pool_link *l, void *state, void *user)
{
    (void) l, (void) user;
    target_free(((struct query *) state)->target);
}

/* The first byte of a worker's answer; after DEAD follows how the driver died. */
enum { NOT_ASKED, NO, YES, DEAD, MOST_BYTES = 300 };

static char answer_of(struct target *t, const struct example *e, char *ret_death, size_t size)
{
    const struct target_run_options options = { .only_query_support = true };
    struct check c;
    struct outcome o;
    struct why why;
    char answer = NO;
    if (check_begin(&c, e, JUDGE_BOUND, &why) < 0)
        return NO;
    check_reference(&c);
    if (target_run(t, &e->model, e->in, c.out_shape, &options, &o, &why) >= 0) {
        answer = o.died ? DEAD : o.stage == STAGE_SUPPORTED ? NO : YES;
        snprintf(ret_death, size, "%s", o.violation);
        outcome_done(&o);
    }
    check_done(&c);
    return answer;
}

/* Tries models of feature levels up to max_level.  answer: MOST_BYTES; unchanged if no model can be
 * generated. */
static void ask_at(const struct query *a, uint64_t item, int max_level, char *answer)
{
    struct randgraph_options options = randgraph_default;
    options.min_ops = options.max_ops = 1;
    options.max_dim = 4;
    options.max_level = max_level;
    options.only = randgraph_only(op_table[op_of(item)]->name);
    options.dtypes = 1u << type_of(item);
    for (uint64_t i = 0; i < TRIES && answer[0] < YES; i++) {
        struct arena *arena = arena_new(0);
        struct example e;
        struct why why;
        if (arena && randgraph_make(&options, 1, i, arena, &e, &why) >= 0)
            answer[0] = answer_of(a->target, &e, answer + 1, MOST_BYTES - 1);
        arena_free(arena);
    }
}

/* Tries models that the target's HAL version can represent first, then any. */
static void ask(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state, void *user)
{
    (void) step, (void) user;
    struct query *a = state;
    const enum hal_version version = target_version(a->target);
    char answer[MOST_BYTES] = { NOT_ASKED };
    ask_at(a, item, version ? hal_level(version) : randgraph_default.max_level, answer);
    if (answer[0] == NOT_ASKED)
        ask_at(a, item, randgraph_default.max_level, answer);
    worker_pool_send(l, answer, answer[0] == DEAD ? 1 + strlen(answer + 1) : 1);
}

/* Ends the query: a driver that hangs or dies once is likely to do so for other models too. */
static int give_up(const struct query *a, uint64_t item, const char *why, struct why *w)
{
    return why_fail(w, WHY_EXECUTION, "%s: get_supported_operations for %s of %s: %s", a->uri,
                    op_table[op_of(item)]->name, dtype_info[type_of(item)].name, why);
}

static int take(uint64_t item, const void *bytes, size_t length, void *user, struct why *w)
{
    struct query *a = user;
    REQUIRE(w, length >= 1 && length <= MOST_BYTES, "a worker's answer has %zu bytes", length);
    char answer = *(const char *) bytes, death[MOST_BYTES];
    snprintf(death, sizeof death, "%.*s", (int) length - 1, (const char *) bytes + 1);
    if (answer == DEAD)
        return give_up(a, item, death, w);
    if (answer != NOT_ASKED)
        a->support.asked[op_of(item)] |= 1u << type_of(item);
    if (answer == YES)
        a->support.supported[op_of(item)] |= 1u << type_of(item);
    return 0;
}

static int died(uint64_t item, const struct worker_pool_death *d, uint32_t *ret_step, void *user,
                struct why *w)
{
    const struct query *a = user;
    char how[80];
    (void) ret_step;
    if (d->hang)
        snprintf(how, sizeof how, "no answer within %g s", a->timeout);
    else if (d->signal)
        snprintf(how, sizeof how, "the driver crashes (%s)", strsignal(d->signal));
    else
        snprintf(how, sizeof how, "the driver exits the process (status %d)", d->exit_status);
    return give_up(a, item, how, w);
}

static int complete(uint64_t item, void *user, struct why *w)
{
    (void) item, (void) user, (void) w;
    return 0;
}

int support_query(const char *uri, double timeout, struct support *ret_support, struct why *w)
{
    static const struct worker_pool_work work = {
        .start = start, .end = end, .item = ask, .message = take, .died = died, .complete = complete
    };
    struct query a = { .uri = uri, .timeout = timeout };
    struct worker_pool_options options = { .workers = 1, .timeout = timeout };
    REQUIRE(w, op_table_n <= SUPPORT_OPS, "the catalogue has more than %d operations", SUPPORT_OPS);
    if (worker_pool_run(&options, &work, (uint64_t) op_table_n * DT_COUNT, &a, w) < 0) {
        if (w->code == WHY_EXECUTION) /* give_up(): the target is at fault */
            w->code = WHY_INVALID;
        return -1;
    }
    *ret_support = a.support;
    return 0;
}
