/* Behaviour that clients rely on: each callback is called once, reusable executions run several
 * times, fenced executions report their status and durations. */
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
    struct client_wait wait[LAUNCHES];
    struct conform_request r[LAUNCHES];
    struct conform_subject s;

    (void) data;
    if (!conform_subject_must_open(c, conform_sum(c), &s))
        return;
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
        EXPECT(c, wait[k].calls == 1, "the callback was called %u times", wait[k].calls);
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

    EXPECT_STATUS(c, x->methods->execute_synchronously(x, HAL_NO_DEADLINE, r), HAL_NONE,
                  "reusable execution");
    EXPECT(c, conform_subject_is_correct(s) && r->n_shapes <= 1, "wrong results, %u shapes",
           r->n_shapes);
    EXPECT(c,
           measured ? r->timing.on_device <= r->timing.in_driver
                    : r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME,
           "wrong durations");
}

static void reusable(struct conform *c, const void *data)
{
    struct hal_execution_config config = client_config();
    struct hal_execution *x = NULL;
    struct conform_subject s;

    (void) data;
    for (int measured = 0; measured < 2 && conform_subject_must_open(c, conform_sum(c), &s);
         measured++) {
        config.measure = measured;
        enum hal_status status =
            s.prepared->methods->create_reusable_execution(s.prepared, &s.request.hal, &config, &x);
        for (uint32_t run = 0;
             EXPECT_STATUS(c, status, HAL_NONE, "create_reusable_execution") && run < 4; run++) {
            set_values(&s, run);
            expect_run(c, &s, x, measured);
        }
        if (x)
            x->methods->release(x);
        conform_subject_close(&s);
    }
}

/* ---- fenced executions */

static bool ordered(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME || t.in_driver == HAL_NO_TIME || t.on_device <= t.in_driver;
}

static bool are_known(struct hal_timing t)
{
    return t.on_device != HAL_NO_TIME && t.in_driver != HAL_NO_TIME;
}

static bool is_unknown(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;
}

/* An execution that waits for another one, which waits for a fence that is signalled (well) or
 * fails; both report their status. */
static void run_chain(struct conform *c, struct conform_subject *s, bool well, bool measured)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info[2] = { NULL };
    struct hal_timing launched, fenced;
    struct fence before;
    int fence[2] = { -1, -1 };

    config.measure = measured;
    MUST(fence_open(&before) == 0);
    const int *wait_for[] = { &before.wait, &fence[0] };
    for (int k = 0; k < 2; k++)
        EXPECT_STATUS(c,
                      s->prepared->methods->execute_fenced(s->prepared, c->version, &s->request.hal,
                                                           1, wait_for[k], &config, HAL_NO_TIME,
                                                           &fence[k], &info[k]),
                      HAL_NONE, "execute_fenced");
    fence_complete(&before, well);
    EXPECT(c, fence_wait(1, &fence[1], HAL_NO_TIME) == (well ? 1 : -1),
           "the fence is signalled after a failure, or the reverse");
    for (int k = 0; k < 2; k++) {
        enum hal_status status = info[k]->methods->get_execution_info(info[k], &launched, &fenced);
        EXPECT_STATUS(c, status, well ? HAL_NONE : HAL_GENERAL_FAILURE, "get_execution_info");
        bool known = well && measured;
        EXPECT(c,
               ordered(launched) && ordered(fenced) && are_known(launched) == known &&
                   are_known(fenced) == known && is_unknown(launched) == !known &&
                   is_unknown(fenced) == !known,
               "durations with status %s", hal_status_name(status));
        info[k]->methods->release(info[k]);
        close(fence[k]);
    }
    EXPECT(c, !well || conform_subject_is_correct(s), "wrong results");
    close(before.wait);
}

static void fence_info(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_must_open(c, conform_sum(c), &s))
        for (int k = 0; k < 4; k++) {
            conform_subject_reset(&s);
            run_chain(c, &s, k & 1, k >> 1);
        }
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "generated", "reusable", HAL_FL8, 0,
      "a reusable execution runs several times, on the current contents of its memories",
      reusable },
    { "fenced", "info", HAL_1_3, 0,
      "get_execution_info reports the status and durations of a fenced execution", fence_info },
    { "concurrency", "callbacks", HAL_1_0, 0, "every callback is called exactly once", callbacks },
};
const struct conform_rules conform_rules_calls = { rules_of_file, COUNT(rules_of_file), NULL,
                                                   NULL };
