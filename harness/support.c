#include "harness/support.h"

#include <string.h>

#include "harness/check.h"
#include "harness/crew.h"
#include "harness/devices.h"
#include "randgraph/randgraph.h"

/* A yes needs one model that is supported; limits (sizes, constants) may cost some. */
enum { TRIES = 3 };

struct asking {
    const char *uri;
    struct target *target; /* in the worker */
    struct support support;
};

/* An item is an operation and a type. */
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
    struct asking *a = user;
    TRY(target_open(a->uri, &harness_host, &a->target, w));
    *ret_state = a;
    return 0;
}

static void end(void *state, void *user)
{
    (void) user;
    target_free(((struct asking *) state)->target);
}

static bool is_supported(struct target *t, const struct example *e)
{
    struct check c;
    struct outcome o;
    struct check_result r;
    struct why why;
    if (check_begin(&c, e, JUDGE_BOUND, &why) < 0)
        return false;
    check_reference(&c);
    bool yes = check_run(&c, t, &o, &r) >= 0;
    if (yes) {
        yes = o.stage != STAGE_SUPPORTED;
        outcome_done(&o);
    }
    check_done(&c);
    return yes;
}

static void ask(struct crew_link *l, uint64_t item, uint32_t step, void *state, void *user)
{
    (void) step, (void) user;
    struct asking *a = state;
    struct randgraph_options options = randgraph_default;
    options.min_ops = options.max_ops = 1;
    options.max_dim = 4;
    options.only = op_table[op_of(item)]->name;
    options.dtypes = 1u << type_of(item);
    char answer = 0;
    for (uint64_t i = 0; i < TRIES && answer != 2; i++) {
        struct arena *arena = arena_new(0);
        struct example e;
        struct why why;
        if (arena && randgraph_make(&options, 1, i, arena, &e, &why) >= 0)
            answer = is_supported(a->target, &e) ? 2 : 1;
        arena_free(arena);
    }
    crew_send(l, &answer, 1);
}

static int take(uint64_t item, const void *bytes, size_t length, void *user, struct why *w)
{
    struct asking *a = user;
    REQUIRE(w, length == 1, "a worker's answer makes no sense");
    char answer = *(const char *) bytes;
    if (answer > 0)
        a->support.asked[op_of(item)] |= 1u << type_of(item);
    if (answer > 1)
        a->support.supported[op_of(item)] |= 1u << type_of(item);
    return 0;
}

/* A driver that dies of the model had said yes. */
static int died(uint64_t item, const struct crew_death *d, uint32_t *ret_step, void *user,
                struct why *w)
{
    (void) d, (void) ret_step;
    char yes = 2;
    TRY(take(item, &yes, 1, user, w));
    return 0;
}

static int complete(uint64_t item, void *user, struct why *w)
{
    (void) item, (void) user, (void) w;
    return 0;
}

int support_ask(const char *uri, double timeout, struct support *ret_support, struct why *w)
{
    static const struct crew_work work = {
        .start = start, .end = end, .item = ask, .message = take, .died = died, .complete = complete
    };
    struct asking a = { .uri = uri };
    struct crew_options options = { .workers = 1, .timeout = timeout };
    REQUIRE(w, op_table_n <= SUPPORT_OPS, "the catalogue has more than %d operations", SUPPORT_OPS);
    TRY(crew_run(&options, &work, (uint64_t) op_table_n * DT_COUNT, &a, w));
    *ret_support = a.support;
    return 0;
}
