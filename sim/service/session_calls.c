/* The calls of a session: dispatch to the methods' functions, common parts of replies. */
#include <string.h>

#include "golden/base/trace.h"
#include "sim/base/failure_text.h"
#include "sim/hal/hal_convert.h"
#include "sim/service/session_calls.h"

int reply_shapes(struct arena *a, uint32_t n, const struct hal_output_shape *shapes, size_t *ret_n,
                 Wire__Shape ***ret_shapes)
{
    Wire__Shape **list = arena_alloc(a, n, sizeof(*list));

    if (!list)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct hal_output_shape *s = &shapes[i];
        Wire__Shape *m = arena_alloc(a, 1, sizeof(*m));
        if (!m)
            return -1;
        wire__shape__init(m);
        m->n_dims = s->n_dims < HAL_MAX_RANK ? s->n_dims : HAL_MAX_RANK;
        m->dims = arena_copy(a, s->dims, m->n_dims * sizeof(*s->dims));
        m->is_sufficient = s->is_sufficient;
        if (!m->dims)
            return -1;
        list[i] = m;
    }
    *ret_n = n;
    *ret_shapes = list;
    return 0;
}

Wire__Timing *reply_timing(struct arena *a, const struct hal_timing *t)
{
    Wire__Timing *m = arena_alloc(a, 1, sizeof(*m));

    if (m) {
        wire__timing__init(m);
        m->on_device = t->on_device;
        m->in_driver = t->in_driver;
    }
    return m;
}

int answer_status(const struct answer *q, enum hal_status s)
{
    q->reply->status = (int32_t) s;
    return 0;
}

int answer_result(const struct answer *q, enum hal_status s)
{
    char *text = s == HAL_NONE ? NULL : arena_alloc(q->a, HAL_TEXT_BYTES, 1);

    if (text) {
        failure_text_of(q->d, text);
        q->reply->text = text;
    }
    return answer_status(q, s);
}

int answer_object(struct answer *q, enum hal_status s, const struct object *what)
{
    if (s != HAL_NONE || !what->driver_object)
        return answer_result(q, s);
    q->reply->object = object_add(q->s, what);
    if (q->reply->object)
        return 0;
    object_release_driver_object(what->kind, what->driver_object);
    return why_no_memory(q->w);
}

static const struct {
    answer_fn *answer;
    bool has_object; /* a method of the object that the call names, of this kind */
    enum object_kind kind;
} methods[] = {
    [WIRE__METHOD__OPEN_CHANNEL] = { answer_open_channel },
    [WIRE__METHOD__OPEN_EVENTS] = { answer_open_events },
    [WIRE__METHOD__SET_STAGING] = { answer_set_staging },
    [WIRE__METHOD__GET_INFO] = { answer_get_info },
    [WIRE__METHOD__GET_STATUS] = { answer_get_status },
    [WIRE__METHOD__GET_CAPABILITIES] = { answer_get_capabilities },
    [WIRE__METHOD__GET_SUPPORTED_OPERATIONS] = { answer_get_supported_operations },
    [WIRE__METHOD__PREPARE_MODEL] = { answer_prepare_model },
    [WIRE__METHOD__PREPARE_MODEL_FROM_CACHE] = { answer_prepare_model_from_cache },
    [WIRE__METHOD__ALLOCATE] = { answer_allocate },
    [WIRE__METHOD__EXECUTE_SYNCHRONOUSLY] = { answer_execute_synchronously, true, OBJECT_PREPARED },
    [WIRE__METHOD__EXECUTE] = { answer_execute, true, OBJECT_PREPARED },
    [WIRE__METHOD__EXECUTE_FENCED] = { answer_execute_fenced, true, OBJECT_PREPARED },
    [WIRE__METHOD__CONFIGURE_BURST] = { answer_configure_burst, true, OBJECT_PREPARED },
    [WIRE__METHOD__CREATE_REUSABLE_EXECUTION] = { answer_create_reusable_execution, true,
                                                  OBJECT_PREPARED },
    [WIRE__METHOD__RELEASE] = { answer_release },
    [WIRE__METHOD__BURST_EXECUTE] = { answer_burst_execute, true, OBJECT_BURST },
    [WIRE__METHOD__BURST_RELEASE_MEMORY] = { answer_burst_release_memory, true, OBJECT_BURST },
    [WIRE__METHOD__REUSABLE_EXECUTE] = { answer_reusable_execute, true, OBJECT_EXECUTION },
    [WIRE__METHOD__REUSABLE_EXECUTE_FENCED] = { answer_reusable_execute_fenced, true,
                                                OBJECT_EXECUTION },
    [WIRE__METHOD__GET_EXECUTION_INFO] = { answer_get_execution_info, true, OBJECT_INFO },
    [WIRE__METHOD__COPY_TO] = { answer_copy, true, OBJECT_BUFFER },
    [WIRE__METHOD__COPY_FROM] = { answer_copy, true, OBJECT_BUFFER },
};

/* An invalid handle: HAL_INVALID_ARGUMENT, as a driver in the client's process would return. */
static int answer(struct answer *q, unsigned method)
{
    if (!methods[method].has_object)
        return methods[method].answer(q);
    q->o = object_pin(q->s, q->call->object, methods[method].kind);
    if (!q->o)
        return answer_status(q, HAL_INVALID_ARGUMENT);
    int rc = methods[method].answer(q);
    object_unpin(q->s, q->o);
    return rc;
}

int session_execute_call(struct channel *c, const Wire__Call *call, struct wire_fds *fds,
                         Wire__Reply *reply, struct wire_fds *ret_fds, struct why *w)
{
    struct answer q = { .c = c,
                        .s = c->session,
                        .d = c->session->driver,
                        .call = call,
                        .fds = fds,
                        .reply = reply,
                        .out = ret_fds,
                        .a = c->arena,
                        .w = w };
    unsigned method = (unsigned) call->method;

    REQUIRE(w, method < sizeof(methods) / sizeof(*methods) && methods[method].answer,
            "unknown method %u", method);
    TRACE_COMPUTED(LD, wire_method_phase(call->method), wire_method_name(call->method));
    if (answer(&q, method) == 0)
        return 0;
    /* Lack of memory is not the client's fault; any other error in a message ends the channel. */
    if (w->code != WHY_MEMORY)
        return -1;
    *reply = (Wire__Reply) WIRE__REPLY__INIT;
    enum hal_version version =
        call->version ? (enum hal_version) call->version : c->session->driver->hal_version;
    enum hal_status status = hal_status_exhausted(version);
    reply->status = (int32_t) status;
    if (call->callback) /* it was not passed to the driver */
        session_send_failure(c->session, call->callback, status);
    return 0;
}
