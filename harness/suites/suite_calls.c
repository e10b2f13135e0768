/* Behaviour that clients rely on: each callback is called once, reusable executions run several
 * times, fenced executions report their status and durations. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/must.h"
#include "sim/base/fence.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- callbacks */

enum { LAUNCHES = 6 };

/* Valid, invalid and late requests; the calls are counted after the model and the driver are
 * released. */
static void callbacks(struct conform *c, const void *data)
{
    const enum hal_version entry = c->version < HAL_1_3 ? c->version : HAL_1_3;
    struct hal_execution_config config = client_config();
    static struct client_wait wait[LAUNCHES]; /* static: for late calls */
    struct conform_request r[LAUNCHES];
    struct conform_subject s;

    (void) data;
    if (!conform_subject_open(c, conform_relu(c), &s) || !conform_has_entry(c, entry) ||
        !conform_can_run(c, s.prepared, conform_kind_named("asynchronous"), entry)) {
        if (s.prepared && !conform_has_entry(c, entry))
            conform_not_applicable(c, "the driver has no asynchronous executions");
        conform_subject_close(&s);
        return;
    }
    for (int k = 0; k < LAUNCHES; k++) {
        conform_request(&s.model.example, s.model.arena, &r[k]);
        client_wait_init(&wait[k]);
        r[k].hal.n_inputs -= k % 3 == 1;
        config.deadline = k % 3 == 2 && entry == HAL_1_3 ? 1 : HAL_NO_DEADLINE;
        enum hal_status launched =
            s.prepared->methods->execute(s.prepared, entry, &r[k].hal, &config, &wait[k].base);
        EXPECT_STATUS(c, launched, k % 3 == 1 ? HAL_INVALID_ARGUMENT : HAL_NONE, "execute");
        enum hal_status status = client_wait(&wait[k]);
        EXPECT(c, launched == HAL_NONE || launched == status, "execute: %s, callback: %s",
               hal_status_name(launched), hal_status_name(status));
    }
    conform_subject_close(&s);
    c->driver->close(c->driver);
    c->driver = conform_open(c);
    for (int k = 0; k < LAUNCHES; k++)
        EXPECT(c, wait[k].calls == 1, "execute calls its callback %u times, expected once",
               wait[k].calls);
}

static bool ordered(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME || t.in_driver == HAL_NO_TIME || t.on_device <= t.in_driver;
}

static bool is_unknown(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;
}

/* ---- reusable executions: with other input values in each run */

static void set_values(struct conform_subject *s, uint32_t run)
{
    uint8_t *x = s->request.pool[0].memory.address;
    const struct codec *codec = dtype_info[s->model.example.in[0].dtype].codec;

    for (int i = 0; i < 4; i++) {
        double v[2] = { i, run }, sum = i + (double) run;
        codec->narrow(&v[0], 1, 0, 1,
                      x + s->request.inputs[0].location.offset + (size_t) i * codec->size);
        codec->narrow(&v[1], 1, 0, 1,
                      x + s->request.inputs[1].location.offset + (size_t) i * codec->size);
        codec->narrow(&sum, 1, 0, 1,
                      (uint8_t *) s->model.example.expected[0].data + (size_t) i * codec->size);
    }
}

static void expect_run(struct conform *c, struct conform_subject *s, struct hal_execution *x,
                       bool measured)
{
    struct hal_result *r = &s->request.result;

    enum hal_status status = x->methods->execute_synchronously(x, HAL_NO_DEADLINE, r);

    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s) && r->n_shapes <= 1,
           "%s, a run of a reusable execution with new input values: %s, %u shapes, or wrong "
           "results",
           s->model.name, hal_status_name(status), r->n_shapes);
    EXPECT(c, measured ? ordered(r->timing) : is_unknown(r->timing),
           "%s, a run of a reusable execution: durations without measurement, or more on the "
           "device than in the driver",
           s->model.name);
}

/* Creates it from structures that are overwritten afterwards, as the driver copies them. */
static enum hal_status create_reusable(struct conform_subject *s,
                                       const struct hal_execution_config *config,
                                       struct hal_execution **ret)
{
    struct hal_request r = s->request.hal;
    struct hal_argument *in = arena_copy(s->model.arena, r.inputs, r.n_inputs * sizeof *in),
                        *out = arena_copy(s->model.arena, r.outputs, r.n_outputs * sizeof *out);
    struct hal_request_pool *pool = arena_copy(s->model.arena, r.pools, r.n_pools * sizeof *pool);
    struct hal_execution_config copy = *config;

    conform_must(in && out && pool, "out of memory");
    r.inputs = in;
    r.outputs = out;
    r.pools = pool;
    enum hal_status status =
        s->prepared->methods->create_reusable_execution(s->prepared, &r, &copy, ret);
    memset(in, 0x11, r.n_inputs * sizeof *in);
    memset(out, 0x11, r.n_outputs * sizeof *out);
    memset(pool, 0x11, r.n_pools * sizeof *pool);
    memset(&r, 0x11, sizeof r);
    memset(&copy, 0x11, sizeof copy);
    return status;
}

struct signal_later {
    struct fence *fence;
    bool well;
    unsigned ms;
};

enum { SIGNAL_MS = 20 };

/* After the launches have returned, or else, as a driver may wait for fences in the call, in that
 * time. */
static void *signal_fence(void *user)
{
    const struct signal_later *l = user;

    usleep(1000 * l->ms);
    fence_complete(l->fence, l->well);
    return NULL;
}

enum overlap { REFUSED, SUCCEEDED, SUCCEEDED_AFTER, NO_OVERLAP };

/* A computation while a fenced one waits for a fence that is signalled in `ms`.  SUCCEEDED: before
 * that; SUCCEEDED_AFTER: it has waited, or begun late; NO_OVERLAP: the fence was signalled within
 * the call of the fenced one. */
static enum overlap run_during_another(struct conform *c, struct conform_subject *s,
                                       struct hal_execution *x, unsigned ms)
{
    enum overlap overlap = NO_OVERLAP;
    struct hal_fenced_info *info = NULL;
    int done = HAL_NO_FENCE;
    struct fence before;
    pthread_t thread;

    MUST(fence_open(&before) == 0);
    struct signal_later later = { &before, true, ms };
    MUST(pthread_create(&thread, NULL, signal_fence, &later) == 0);
    enum hal_status launched =
        x->methods->execute_fenced(x, 1, &before.wait, HAL_NO_DEADLINE, HAL_NO_TIME, &done, &info);
    EXPECT_STATUS(c, launched, HAL_NONE, "a fenced run of a reusable execution");
    if (fence_wait(1, &before.wait, 0) == 0) {
        enum hal_status status =
            x->methods->execute_synchronously(x, HAL_NO_DEADLINE, &s->request.result);
        bool waits = fence_wait(1, &before.wait, 0) == 0;
        overlap = status == HAL_GENERAL_FAILURE || status == HAL_INVALID_ARGUMENT ? REFUSED
                  : waits                                                         ? SUCCEEDED
                                                                                  : SUCCEEDED_AFTER;
    }
    pthread_join(thread, NULL);
    if (done >= 0) {
        fence_wait(1, &done, HAL_NO_TIME);
        close(done);
    }
    if (info)
        info->methods->release(info);
    close(before.wait);
    return overlap;
}

/* It fails, unless it begins late, as on a busy machine: not each time. */
static void expect_one_at_a_time(struct conform *c, struct conform_subject *s,
                                 struct hal_execution *x)
{
    enum { TIMES = 4 };
    int n[NO_OVERLAP + 1] = { 0 };

    if (!conform_can_run(c, s->prepared, conform_kind_named("reusable, fenced"), c->version))
        return;
    for (int i = 0; i < TIMES && !n[SUCCEEDED]; i++) {
        n[run_during_another(c, s, x, (unsigned) SIGNAL_MS << i)]++;
        expect_run(c, s, x, false);
    }
    EXPECT(c, !n[SUCCEEDED] && n[SUCCEEDED_AFTER] < TIMES,
           "%s: a run of a reusable execution during another one succeeds", s->model.name);
}

static void reusable(struct conform *c, const void *data)
{
    struct hal_execution_config config = client_config();
    struct hal_execution *x = NULL;
    struct conform_subject s;

    (void) data;
    for (int measured = 0; measured < 2; measured++) {
        if (!conform_subject_open(c, conform_sum(c), &s) ||
            !conform_can_run(c, s.prepared, conform_kind_named("reusable"), c->version)) {
            conform_subject_close(&s);
            return;
        }
        config.measure = measured;
        config.deadline = measured ? 1 : HAL_NO_DEADLINE; /* is ignored */
        enum hal_status status = create_reusable(&s, &config, &x);
        for (uint32_t run = 0;
             EXPECT_STATUS(c, status, HAL_NONE, "create_reusable_execution") && run < 4; run++) {
            set_values(&s, run);
            expect_run(c, &s, x, measured);
        }
        if (x && !measured)
            expect_one_at_a_time(c, &s, x);
        if (x)
            x->methods->release(x);
        x = NULL;
        conform_subject_close(&s);
    }
}

/* ---- fenced executions */

/* One execution of the chain.  False: it was not launched, as it may be if what it waits for
 * fails. */
static bool launch(struct conform *c, struct conform_subject *s, int wait_for, bool well,
                   const struct hal_execution_config *config, int *ret_fence,
                   struct hal_fenced_info **ret_info)
{
    enum hal_status status = s->prepared->methods->execute_fenced(
        s->prepared, c->version, &s->request.hal, wait_for >= 0, &wait_for, config, HAL_NO_TIME,
        ret_fence, ret_info);

    EXPECT(c, status == HAL_NONE ? *ret_info != NULL : !*ret_info && *ret_fence == HAL_NO_FENCE,
           "%s: execute_fenced returns %s with fence %d, %s an info", s->model.name,
           hal_status_name(status), *ret_fence, *ret_info ? "with" : "without");
    EXPECT(c, status == HAL_NONE || (!well && status == HAL_GENERAL_FAILURE),
           "%s: execute_fenced waiting for a fence%s: %s, expected NONE", s->model.name,
           well ? "" : " that fails", hal_status_name(status));
    return status == HAL_NONE && *ret_info;
}

static void expect_info(struct conform *c, const struct conform_subject *s,
                        struct hal_fenced_info *info, bool well, bool measured)
{
    struct hal_timing launched, fenced;
    enum hal_status status = info->methods->get_execution_info(info, &launched, &fenced);
    bool may_be_known = well && measured;

    EXPECT(c, status == (well ? HAL_NONE : HAL_GENERAL_FAILURE),
           "%s, execute_fenced waiting for a fence%s: get_execution_info reports %s, expected %s",
           s->model.name, well ? "" : " that fails", hal_status_name(status),
           well ? "NONE" : "GENERAL_FAILURE");
    EXPECT(c,
           may_be_known ? ordered(launched) && ordered(fenced)
                        : is_unknown(launched) && is_unknown(fenced),
           "%s: get_execution_info reports %s with durations%s", s->model.name,
           hal_status_name(status),
           may_be_known ? " of more time on the device than in the driver"
                        : ", expected none without success and measurement");
    info->methods->release(info);
}

/* An execution that waits for another one, which waits for a fence that is signalled (well) or
 * fails; both report their status. */
static void run_chain(struct conform *c, struct conform_subject *s, bool well, bool measured)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info[2] = { NULL };
    int fence[2] = { -1, -1 };
    struct fence before;
    pthread_t thread;

    config.measure = measured;
    MUST(fence_open(&before) == 0);
    struct signal_later later = { &before, well, SIGNAL_MS };
    MUST(pthread_create(&thread, NULL, signal_fence, &later) == 0);
    bool first = launch(c, s, before.wait, well, &config, &fence[0], &info[0]),
         second = first && (well || fence[0] >= 0) &&
                  launch(c, s, fence[0], well, &config, &fence[1], &info[1]);
    pthread_join(thread, NULL);
    int last = second ? fence[1] : fence[0];
    EXPECT(c, !first || last < 0 || fence_wait(1, &last, HAL_NO_TIME) == (well ? 1 : -1),
           "%s: the fence of an execution that %s is signalled as one that %s", s->model.name,
           well ? "succeeds" : "fails", well ? "fails" : "succeeds");
    if (first)
        expect_info(c, s, info[0], well, measured);
    if (second)
        expect_info(c, s, info[1], well, measured);
    EXPECT(c, !well || conform_subject_is_correct(s), "%s: wrong results after fences",
           s->model.name);
    for (int k = 0; k < 2; k++)
        if (fence[k] >= 0)
            close(fence[k]);
    close(before.wait);
}

static void fence_info(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_relu(c), &s) &&
        conform_can_run(c, s.prepared, conform_kind_named("fenced"), c->version))
        for (int k = 0; k < 4; k++) {
            conform_subject_reset(&s);
            run_chain(c, &s, k & 1, k >> 1);
        }
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "generated", "reusable", HAL_FL8, 0,
      "a reusable execution runs several times, on the current contents of its memories, and needs "
      "nothing else of its client",
      reusable },
    { "fenced", "info", HAL_1_3, 0,
      "get_execution_info reports the status and durations of a fenced execution", fence_info },
    { "concurrency", "callbacks", HAL_1_0, 0, "every callback is called exactly once", callbacks },
};
const struct conform_rules conform_rules_calls = { rules_of_file, COUNT(rules_of_file), NULL,
                                                   NULL };
