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
        t,
        d->get_supported_operations(d, d->hal_version, run->model, run->supported, &a->n_answers));
    if (a->status != HAL_NONE || a->n_answers != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!run->supported[i])
            return false;
    return true;
}

static bool prepare(struct target *t, const struct host_case *run, struct host_answers *a,
                    struct hal_prepared_model **ret_prepared)
{
    a->stage = STAGE_PREPARE;
    if (run->only_query_support)
        return false;
    a->status = (int32_t) target_prepare(t, run->model, &run->prepare, ret_prepared, a->violation,
                                         sizeof(a->violation));
    return a->status == HAL_NONE && !a->violation[0];
}

static void execute(struct target *t, const struct host_case *run, struct hal_prepared_model *p,
                    struct host_answers *a)
{
    struct hal_result result = { .shapes = run->shapes,
                                 .capacity = run->n_shapes,
                                 .n_shapes = UINT32_MAX, /* a driver must write it */
                                 .timing = { 0, 1 } };

    a->lacks = !p->methods || !p->methods->release  ? HOST_LACKS_RELEASE
               : !target_can_execute(t, p->methods) ? HOST_LACKS_EXECUTE
                                                    : HOST_LACKS_NOTHING;
    if (a->lacks)
        return;
    a->stage = STAGE_EXECUTE;
    a->status = (int32_t) target_execute(t, p, &run->request, &run->execution, &result,
                                         a->violation, sizeof(a->violation));
    a->n_shapes = result.n_shapes;
    a->timing = result.timing;
}

static void release(struct target *t, struct hal_prepared_model *p)
{
    target_at(t, TARGET_AT_RELEASE);
    if (p && p->methods && p->methods->release)
        p->methods->release(p);
}

void target_answer_late(struct target *t, struct host_answers *a)
{
    const char *repeated = callback_waits_repeated(t, &a->repeated_run);

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
    if (ask(t, run, a) && prepare(t, run, a, &prepared))
        execute(t, run, prepared, a);
    release(t, prepared);
    target_at(t, TARGET_AT_NOTHING);
    memcpy(a->failure_text, t->failure_text, sizeof(a->failure_text));
    target_answer_late(t, a);
}
