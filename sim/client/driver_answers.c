/* In the process that hosts a driver: one case from get_supported_operations to release, and what
 * the driver answered.  The client judges it (sim/client/hosted.c). */
#include <stdio.h>
#include <string.h>

#include "sim/client/runtime.h"
_Static_assert(sizeof(((struct host_answers *) 0)->begun) >= TARGET_STEPS * sizeof(uint64_t),
               "host_answers.begun has a place for each step");

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

static void execute_request(struct target *t, const struct host_case *run,
                            const struct hal_request *request, struct hal_prepared_model *p,
                            struct host_answers *a)
{
    struct hal_result result = { .shapes = run->shapes,
                                 .capacity = run->n_shapes,
                                 .n_shapes = UINT32_MAX, /* a driver must write it */
                                 .timing = { 0, 1 } };
    struct client_end end;

    driver_client_execute(&t->client, (enum execution_way) run->way, p,
                          (enum hal_version) run->version, request, &run->execution, &result, NULL,
                          &end);
    take_end(t, &end, a);
    a->n_shapes = result.n_shapes;
    a->timing = result.timing;
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
        execute_request(t, run, &run->other, p, a);
    execute_request(t, run, &run->request, p, a);
}

static void release(struct target *t, struct hal_prepared_model *p)
{
    target_at(t, TARGET_AT_RELEASE);
    if (p && p->methods && p->methods->release)
        p->methods->release(p);
}

void target_answer_late(struct target *t, struct host_answers *a)
{
    const char *repeated = driver_client_repeated(&t->client, &a->repeated_run);

    snprintf(a->repeated, sizeof(a->repeated), "%s", repeated ? repeated : "");
}

void target_answer(struct target *t, const struct host_case *run, struct host_answers *a)
{
    struct hal_prepared_model *prepared = NULL;

    a->violation[0] = 0;
    t->failure_text[0] = 0;
    a->lacks = HOST_LACKS_NOTHING;
    t->runs = run->number;
    t->begun = a->begun;
    memset(a->begun, 0, sizeof(a->begun));
    caller_state_save(&t->state);
    target_begin_client(t);
    if (ask(t, run, a) && prepare(t, run, a, &prepared))
        execute(t, run, prepared, a);
    release(t, prepared);
    target_at(t, TARGET_AT_NOTHING);
    memcpy(a->failure_text, t->failure_text, sizeof(a->failure_text));
    target_answer_late(t, a);
}
