/* In the process that hosts a driver: one case from get_supported_operations to release, and what
 * the driver answered.  The client judges it (sim/client/hosted.c). */
#include <stdio.h>
#include <string.h>

#include "sim/client/runtime.h"
_Static_assert(sizeof(((struct host_answers *) 0)->begun) >= TARGET_STEPS * sizeof(uint64_t),
               "host_answers.begun has a place for each step");
_Static_assert((int) HOST_EXECUTIONS == (int) CLIENT_MOST_AT_ONCE &&
                   (int) HOST_EXECUTIONS == 1 + (int) TARGET_MOST_BESIDE &&
                   sizeof(((struct host_result *) 0)->violation) ==
                       sizeof(((struct client_end *) 0)->violation),
               "what the client can execute at once, the host can, too");

/* True: every operation is supported. */
static bool ask(struct target *t, const struct host_case *run, struct host_answers *a)
{
    struct hal_driver *d = t->driver;
    uint32_t n = run->model->main.n_operations;

    a->stage = STAGE_SUPPORTED;
    a->n_answers = UINT32_MAX;
    target_at(t, TARGET_AT_SUPPORTED);
    a->status = (int32_t) target_note_failure(
        t, d->get_supported_operations(d, (enum hal_version) run->version, run->model,
                                       run->supported, &a->n_answers));
    if (a->status != HAL_NONE || a->n_answers != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!run->supported[i])
            return false;
    return true;
}

static void take_end(struct target *t, const struct client_end *e, struct host_answers *a)
{
    a->status = (int32_t) e->status;
    if (e->status != HAL_NONE)
        memcpy(t->failure_text, e->failure_text, sizeof(t->failure_text));
    if (e->violation[0])
        snprintf(a->violation, sizeof(a->violation), "%s", e->violation);
}

static bool prepare(struct target *t, const struct host_case *run, struct host_answers *a,
                    struct hal_prepared_model **ret_prepared)
{
    a->stage = STAGE_PREPARE;
    if (run->only_query_support)
        return false;
    struct client_end end;
    *ret_prepared = (run->from_cache ? driver_client_prepare_cached : driver_client_prepare)(
        &t->client, (enum hal_version) run->version, run->model, &run->prepare, &end);
    take_end(t, &end, a);
    return a->status == HAL_NONE && !a->violation[0];
}

/* Executes requests at once; other: that request instead of the first one's. */
static void execute_requests(struct target *t, const struct host_case *run, uint32_t n,
                             const struct hal_request *other, struct hal_prepared_model *p,
                             struct host_answers *a)
{
    struct client_execution x[HOST_EXECUTIONS];
    struct hal_result result[HOST_EXECUTIONS];

    for (uint32_t i = 0; i < n; i++) {
        const struct host_execution *e = &run->at_once[i];
        result[i] = (struct hal_result){ .shapes = e->shapes,
                                         .capacity = e->n_shapes,
                                         .n_shapes = UINT32_MAX, /* a driver must write it */
                                         .timing = { 0, 1 } };
        x[i] = (struct client_execution){ .request = other ? other : &e->request,
                                          .n_buffers = other ? 0 : e->n_buffers,
                                          .buffer = e->buffer,
                                          .result = &result[i] };
    }
    driver_client_execute_at_once(&t->client, (enum execution_way) run->way, p,
                                  (enum hal_version) run->version, &run->execution, n, x);
    take_end(t, &x[0].end, a);
    for (uint32_t i = 0; i < n; i++) {
        a->at_once[i] = (struct host_result){ .status = (int32_t) x[i].end.status,
                                              .n_shapes = result[i].n_shapes,
                                              .n_buffers = x[i].n_allocated,
                                              .timing = result[i].timing };
        memcpy(a->at_once[i].violation, x[i].end.violation, sizeof(x[i].end.violation));
    }
}

static void execute(struct target *t, const struct host_case *run, struct hal_prepared_model *p,
                    struct host_answers *a)
{
    a->lacks = !p->methods || !p->methods->release ? HOST_LACKS_RELEASE
               : !execution_way_has_method((enum execution_way) run->way, p->methods)
                   ? HOST_LACKS_EXECUTE
                   : HOST_LACKS_NOTHING;
    if (a->lacks)
        return;
    a->stage = STAGE_EXECUTE;
    if (run->other.n_pools) /* may fail: the model need not take these inputs */
        execute_requests(t, run, 1, &run->other, p, a);
    execute_requests(t, run, run->n_at_once, NULL, p, a);
}

void target_release_here(struct target *t)
{
    struct hal_prepared_model *p = t->kept;

    if (!p)
        return;
    target_at(t, TARGET_AT_RELEASE);
    t->kept = NULL;
    if (p->methods && p->methods->release)
        p->methods->release(p);
    target_at(t, TARGET_AT_NOTHING);
}

void target_answer_late(struct target *t, struct host_answers *a)
{
    const char *repeated = driver_client_repeated(&t->client, &a->repeated_run);

    snprintf(a->repeated, sizeof(a->repeated), "%s", repeated ? repeated : "");
}

void target_answer(struct target *t, const struct host_case *run, struct host_answers *a)
{
    a->violation[0] = 0;
    t->failure_text[0] = 0;
    a->lacks = HOST_LACKS_NOTHING;
    t->runs = run->number;
    t->begun = a->begun;
    memset(a->begun, 0, sizeof(a->begun));
    caller_state_save(&t->state);
    target_begin_client(t);
    if (!run->model && t->kept) {
        a->stage = STAGE_PREPARE;
        a->status = HAL_NONE; /* of its preparation */
        execute(t, run, t->kept, a);
    } else {
        target_release_here(t);
        if (run->model && ask(t, run, a) && prepare(t, run, a, &t->kept))
            execute(t, run, t->kept, a);
    }
    if (!run->keep || a->stage != STAGE_EXECUTE)
        target_release_here(t);
    target_at(t, TARGET_AT_NOTHING);
    memcpy(a->failure_text, t->failure_text, sizeof(a->failure_text));
    target_answer_late(t, a);
}
