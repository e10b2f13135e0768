/* Calls of a session: prepared models, executions of every kind. */
#include "sim/hal/hal_result.h"
#include "sim/service/burst_server.h"
#include "sim/service/session_calls.h"

/* Decodes the request and configuration.  staging: only for executions that end before the call
 * returns, because the client then reuses the staging memory; else NULL. */
static int take_request(struct answer *q, const struct wire_staging *staging,
                        struct hal_request *ret_request, struct hal_execution_config *ret_config)
{
    struct wire_passing p = { .arena = q->a, .received = q->fds };

    REQUIRE(q->w, q->call->request && q->call->execution, "the request is missing");
    TRY(wire_take(&hal_execution_config_record, q->call->execution, &p, ret_config, q->w));
    return wire_decode_request(q->call->request, q->fds, staging, q->a, ret_request, q->w);
}

/* Allocates n shapes, the number of outputs of the prepared model.  n_shapes is set to an
 * impossible value that the driver must overwrite. */
static int make_room(const struct answer *q, uint32_t n, struct hal_result *ret_result)
{
    struct hal_output_shape *shapes = arena_alloc(q->a, n, sizeof(*shapes));

    if (!shapes)
        return why_no_memory(q->w);
    *ret_result = (struct hal_result){
        .shapes = shapes, .capacity = n, .n_shapes = UINT32_MAX, .timing = hal_unknown_timing
    };
    return 0;
}

static int put_result(struct answer *q, enum hal_status s, const struct hal_result *r)
{
    uint32_t n = r->n_shapes < r->capacity ? r->n_shapes : r->capacity;

    q->reply->more = r->n_shapes - n;
    TRY(wire_encode_result(n, r->shapes, &r->timing, q->a, &q->reply->n_shapes, &q->reply->shapes,
                           &q->reply->timing, q->w));
    return answer_result(q, s);
}

/* Reply for a method that is NULL in the prepared model: a violation if it must not be NULL. */
static int missing_method(struct answer *q, bool is_violation)
{
    if (is_violation)
        q->reply->breach =
            arena_printf(q->a, "a prepared model without %s", wire_method(q->call->method)->name);
    if (!q->reply->breach)
        return why_no_memory(q->w);
    return answer_status(q, HAL_GENERAL_FAILURE);
}

int answer_execute_synchronously(struct answer *q)
{
    struct hal_prepared_model *p = q->o->driver_object;
    struct hal_execution_config config;
    struct hal_request request;
    struct hal_result result;

    TRY(take_request(q, &q->c->staging, &request, &config));
    TRY(make_room(q, p->n_outputs, &result));
    if (!p->methods->execute_synchronously)
        return missing_method(q, q->d->hal_version >= HAL_1_2);
    return put_result(q,
                      p->methods->execute_synchronously(p, (enum hal_version) q->call->version,
                                                        &request, &config, &result),
                      &result);
}

int answer_execute(struct answer *q)
{
    struct hal_prepared_model *p = q->o->driver_object;
    struct hal_execution_callback *callback;
    struct hal_execution_config config;
    struct hal_request request;

    TRY(take_request(q, NULL, &request, &config));
    callback = session_execution_callback(q->s, q->call->callback);
    if (!callback)
        return why_no_memory(q->w);
    if (!p->methods->execute) {
        hal_fail_execution(callback, HAL_GENERAL_FAILURE);
        return missing_method(q, q->d->hal_version < HAL_1_2);
    }
    return answer_result(q, p->methods->execute(p, (enum hal_version) q->call->version, &request,
                                                &config, callback));
}

static int take_fences(const struct answer *q, const int **ret_fences)
{
    struct wire_passing p = { .arena = q->a, .received = q->fds };

    return wire_pass_files(q->call->wait_for, q->call->n_wait_for, &p, ret_fences, q->w);
}

/* Reply of a fenced execution: the fence, and the handle of the object for get_execution_info(). */
static int put_fenced(struct answer *q, enum hal_status s, int fence, struct hal_fenced_info *info)
{
    if (s != HAL_NONE)
        return answer_result(q, s);
    q->reply->fd = fence == HAL_NO_FENCE ? 0 : wire_put_fd(q->out, fence);
    if (fence != HAL_NO_FENCE && !q->reply->fd)
        q->reply->fd = WIRE_INVALID_FD; /* the client detects the invalid descriptor */
    q->reply->info_object =
        info ? object_add(q->s, &(struct object){ .kind = OBJECT_INFO, .driver_object = info }) : 0;
    if (info && !q->reply->info_object) {
        info->methods->release(info);
        return why_no_memory(q->w);
    }
    return 0;
}

int answer_execute_fenced(struct answer *q)
{
    struct hal_prepared_model *p = q->o->driver_object;
    struct hal_fenced_info *info = NULL;
    struct hal_execution_config config;
    struct hal_request request;
    const int *fences = NULL;
    int fence = HAL_NO_FENCE;

    TRY(take_request(q, NULL, &request, &config));
    TRY(take_fences(q, &fences));
    if (!p->methods->execute_fenced)
        return answer_status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->execute_fenced(p, (enum hal_version) q->call->version, &request,
                                                   (uint32_t) q->call->n_wait_for, fences, &config,
                                                   q->call->duration, &fence, &info);
    return put_fenced(q, s, fence, info);
}

/* Maximum number of bursts with queues in a session, as each has a thread. */
enum { MAX_QUEUES = 32 };

static int open_queues(struct answer *q, struct burst_server *server)
{
    struct burst_fds fds;
    struct why none;

    REQUIRE(q->w,
            q->call->request_length <= RING_LENGTH_MAX && q->call->result_length <= RING_LENGTH_MAX,
            "queues of %u and %u datums, at most %d", q->call->request_length,
            q->call->result_length, RING_LENGTH_MAX);
    if (!q->call->request_length || object_count(q->s, OBJECT_BURST) >= MAX_QUEUES ||
        burst_server_open(server, q->call->request_length, q->call->result_length, &fds, &none) < 0)
        return 0;
    Wire__Queues *m = arena_alloc(q->a, 1, sizeof(*m));
    if (!m) {
        burst_fds_close(&fds);
        return why_no_memory(q->w);
    }
    wire__queues__init(m);
    m->request = wire_put_fd(q->out, fds.request);
    m->result = wire_put_fd(q->out, fds.result);
    m->socket = wire_put_fd(q->out, fds.socket);
    q->reply->queues = m;
    return 0;
}

int answer_configure_burst(struct answer *q)
{
    struct hal_prepared_model *p = q->o->driver_object;
    struct hal_burst *burst = NULL;

    if (!p->methods->configure_burst)
        return answer_status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->configure_burst(p, (enum hal_version) q->call->version, &burst);
    if (s != HAL_NONE || !burst)
        return answer_result(q, s);

    /* The queues are created before the client can use the handle. */
    struct burst_server *server =
        burst_server_new(burst, (enum hal_version) q->call->version, q->s->caller);
    if (!server) {
        burst->methods->release(burst);
        return why_no_memory(q->w);
    }
    burst_server_share_count(server, &q->s->kept);
    if (open_queues(q, server) < 0) {
        burst_server_free(server);
        return -1;
    }
    return answer_object(
        q, HAL_NONE,
        &(struct object){ .kind = OBJECT_BURST, .driver_object = server, .parent = q->o });
}

int answer_create_reusable_execution(struct answer *q)
{
    struct hal_prepared_model *p = q->o->driver_object;
    struct hal_execution_config config;
    struct hal_execution *execution = NULL;
    struct hal_request request;

    TRY(take_request(q, NULL, &request, &config));
    if (!p->methods->create_reusable_execution)
        return answer_status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->create_reusable_execution(p, &request, &config, &execution);
    return answer_object(
        q, s,
        &(struct object){ .kind = OBJECT_EXECUTION, .driver_object = execution, .parent = q->o });
}

int answer_release(struct answer *q)
{
    return answer_status(q,
                         object_release(q->s, q->call->object) ? HAL_NONE : HAL_INVALID_ARGUMENT);
}

/* ---- bursts and reusable executions */

int answer_burst_execute(struct answer *q)
{
    struct hal_burst *b = burst_server_burst(q->o->driver_object);
    const struct hal_prepared_model *p = q->o->parent->driver_object;
    struct hal_execution_config config;
    struct hal_request request;
    struct hal_result result;

    TRY(take_request(q, &q->c->staging, &request, &config));
    TRY(make_room(q, p->n_outputs, &result));
    return put_result(q,
                      b->methods->execute_synchronously(b, &request,
                                                        (uint32_t) q->call->n_identifiers,
                                                        q->call->identifiers, &config, &result),
                      &result);
}

int answer_burst_release_memory(struct answer *q)
{
    return answer_result(q, burst_server_release_memory(q->o->driver_object, q->call->identifier));
}

int answer_reusable_execute(struct answer *q)
{
    struct hal_execution *x = q->o->driver_object;
    const struct hal_prepared_model *p = q->o->parent->driver_object;
    struct hal_result result;

    TRY(make_room(q, p->n_outputs, &result));
    return put_result(q, x->methods->execute_synchronously(x, q->call->duration, &result), &result);
}

int answer_reusable_execute_fenced(struct answer *q)
{
    struct hal_execution *x = q->o->driver_object;
    struct hal_fenced_info *info = NULL;
    const int *fences = NULL;
    int fence = HAL_NO_FENCE;

    REQUIRE(q->w, q->call->execution, "the deadline is missing");
    TRY(take_fences(q, &fences));
    enum hal_status s =
        x->methods->execute_fenced(x, (uint32_t) q->call->n_wait_for, fences,
                                   q->call->execution->deadline, q->call->duration, &fence, &info);
    return put_fenced(q, s, fence, info);
}

int answer_get_execution_info(struct answer *q)
{
    struct hal_fenced_info *i = q->o->driver_object;
    struct hal_timing launched = hal_unknown_timing, fenced = hal_unknown_timing;
    struct wire_passing p = { .arena = q->a };
    enum hal_status s = i->methods->get_execution_info(i, &launched, &fenced);

    TRY(wire_put(&hal_timing_record, &wire__timing__descriptor, &launched, &p, &q->reply->timing,
                 q->w));
    TRY(wire_put(&hal_timing_record, &wire__timing__descriptor, &fenced, &p, &q->reply->fenced,
                 q->w));
    return answer_result(q, s);
}
