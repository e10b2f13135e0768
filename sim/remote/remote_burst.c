/* Bursts of a driver in another process.  Requests go through queues in shared memory; a request
 * that is not representable in a packet, or that comes while another is in flight, is sent as
 * a call. */
#include <stdlib.h>

#include "golden/base/trace.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/burst_client.h"
#include "sim/remote/remote_internal.h"

struct remote_burst {
    struct hal_burst base;
    struct remote *r;
    enum hal_version version;
    uint64_t handle;
    struct burst_client *client; /* NULL: the service provides no queues */
};

/* With queues, the driver's identifiers are slots: then those of a call are replaced by -1. */
static int put_identifiers(struct remote_call *q, const struct remote_burst *b, uint32_t n,
                           const int64_t *identifiers)
{
    int64_t *ids = arena_alloc(q->a, n, sizeof(*ids));

    if (!ids)
        return why_no_memory(&q->why);
    for (uint32_t i = 0; identifiers && i < n; i++)
        ids[i] = b->client && identifiers[i] >= 0 ? -1 : identifiers[i];
    q->call.n_identifiers = identifiers ? n : 0;
    q->call.identifiers = ids;
    return 0;
}

static enum hal_status execute_as_call(struct remote_burst *b, const struct hal_request *request,
                                       uint32_t n_identifiers, const int64_t *identifiers,
                                       const struct hal_execution_config *config,
                                       struct hal_result *result)
{
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__BURST_EXECUTE, b->version, &q) < 0)
        return remote_failure(&q);
    q.call.object = b->handle;
    status = put_identifiers(&q, b, n_identifiers, identifiers) < 0
                 ? remote_failure(&q)
                 : remote_run_staged(&q, request, config, result);
    remote_end(&q);
    return status;
}

static enum hal_status execute_synchronously(struct hal_burst *self,
                                             const struct hal_request *request,
                                             uint32_t n_identifiers, const int64_t *identifiers,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct remote_burst *b = (struct remote_burst *) self;
    enum burst_outcome way = BURST_NOT_SENT;
    enum hal_status status;
    struct why w;

    hal_clear_result(result);
    if (remote_is_dead(&b->r->base, NULL))
        return HAL_DEVICE_UNAVAILABLE;
    if (b->client) {
        TRACE(LI, PE, "burst");
        way = burst_client_execute(b->client, request, n_identifiers, identifiers, config, result,
                                   &status, &w);
    }
    if (way == BURST_EXECUTED)
        return status;
    if (way == BURST_NOT_SENT)
        return execute_as_call(b, request, n_identifiers, identifiers, config, result);
    remote_disconnect(b->r, &w);
    return HAL_DEVICE_UNAVAILABLE;
}

static enum hal_status release_at_service(void *user, int64_t identifier)
{
    struct remote_burst *b = user;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__BURST_RELEASE_MEMORY, b->version, &q) < 0)
        return remote_failure(&q);
    q.call.object = b->handle;
    q.call.identifier = identifier;
    status = remote_run(&q);
    remote_end(&q);
    return status;
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    struct remote_burst *b = (struct remote_burst *) self;

    return b->client ? burst_client_release_memory(b->client, identifier)
                     : release_at_service(b, identifier);
}

static void release(struct hal_burst *self)
{
    struct remote_burst *b = (struct remote_burst *) self;

    remote_release(b->r, b->handle);
    burst_client_free(b->client);
    free(b);
}

/* ---- creation */

enum hal_status remote_open_burst(struct hal_prepared_model *model, enum hal_version version,
                                  uint32_t request_length, uint32_t result_length,
                                  uint64_t *ret_handle, struct burst_fds *ret_fds)
{
    const struct remote_prepared *p = (const struct remote_prepared *) model;
    struct burst_fds fds = { -1, -1, -1 };
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(p->r, WIRE__METHOD__CONFIGURE_BURST, version, &q) < 0)
        return remote_failure(&q);
    q.call.object = p->handle;
    q.call.request_length = request_length;
    q.call.result_length = result_length;
    status = remote_run(&q);
    if (status == HAL_NONE) {
        const Wire__Queues *m = q.reply->queues;
        if (m)
            fds = (struct burst_fds){ wire_take_fd(&q.reply_fds, m->request),
                                      wire_take_fd(&q.reply_fds, m->result),
                                      wire_take_fd(&q.reply_fds, m->socket) };
        *ret_handle = q.reply->object;
        *ret_fds = fds;
    }
    remote_end(&q);
    return status;
}

/* Opens the queues.  Without queues, or memory for them, all requests are sent as calls. */
static void open_client(struct remote_burst *b, struct burst_fds *fds)
{
    const double seconds = b->r->limit.timeout.seconds;
    const struct burst_host host = { release_at_service, b, &b->r->limit };
    struct burst_link link;
    struct why w;

    if (fds->request < 0) {
        burst_fds_close(fds);
        return;
    }
    if (burst_link_open(fds, BURST_QUEUE_LENGTH, BURST_QUEUE_LENGTH, &link, &w) == 0) {
        wire_set_timeouts(link.socket, seconds, seconds);
        b->client = burst_client_new(&link, b->version, &host);
    } else if (w.code != WHY_MEMORY)
        remote_disconnect(b->r, &w);
}

enum hal_status remote_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { execute_synchronously, release_memory,
                                                      release };
    struct remote_burst *b = malloc(sizeof(*b));
    struct burst_fds fds = { -1, -1, -1 };
    enum hal_status status;

    if (!b)
        return hal_status_exhausted(version);
    *b = (struct remote_burst){ { &methods }, ((struct remote_prepared *) self)->r, version };
    status =
        remote_open_burst(self, version, BURST_QUEUE_LENGTH, BURST_QUEUE_LENGTH, &b->handle, &fds);
    if (status != HAL_NONE || !b->handle) { /* 0: the driver returned no burst, a violation */
        free(b);
        return status;
    }
    open_client(b, &fds);
    *ret_burst = &b->base;
    return HAL_NONE;
}
