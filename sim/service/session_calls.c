/* The calls of a session: dispatch to the methods' functions, common parts of replies. */
#include <string.h>

#include "golden/base/trace.h"
#include "sim/base/failure_text.h"
#include "sim/hal/hal_convert.h"
#include "sim/service/session_calls.h"

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

int answer_violation(const struct answer *q)
{
    if (q->w->code != WHY_INVALID)
        return -1;
    char *text = arena_printf(q->a, "a result of the driver: %s", q->w->text);
    if (!text)
        return why_no_memory(q->w);
    q->reply->breach = q->reply->text = text;
    return answer_status(q, HAL_GENERAL_FAILURE);
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

static answer_fn *const answers[] = {
#define X(code, function) [WIRE__METHOD__##code] = (function),
    ANSWERS(X)
#undef X
};

/* An invalid handle: HAL_INVALID_ARGUMENT, as a driver in the client's process would return. */
static int answer(struct answer *q, const struct wire_method *m)
{
    answer_fn *const function = answers[q->call->method];

    if (m->object == OBJECT_NONE)
        return function(q);
    q->o = object_pin(q->s, q->call->object, m->object);
    if (!q->o)
        return answer_status(q, HAL_INVALID_ARGUMENT);
    int rc = function(q);
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
    const struct wire_method *m = wire_method(call->method);

    REQUIRE(w, m, "unknown method %d", (int) call->method);
    TRACE_COMPUTED(LD, m->phase, wire_method_name(call->method));
    if (answer(&q, m) == 0)
        return 0;
    /* Lack of memory is not the client's fault; any other error in a message ends the channel. */
    if (w->code != WHY_MEMORY)
        return why_prefix(w, "%s", wire_method_name(call->method));
    *reply = (Wire__Reply) WIRE__REPLY__INIT;
    enum hal_version version =
        call->version ? (enum hal_version) call->version : c->session->driver->hal_version;
    enum hal_status status = hal_status_exhausted(version);
    reply->status = (int32_t) status;
    if (call->callback) /* it was not passed to the driver */
        session_send_failure(c->session, call->callback, status);
    return 0;
}
