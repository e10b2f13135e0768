/* Calls of a session: channels, methods of the driver, buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/base/process_quota.h"
#include "sim/hal/hal_result.h"
#include "sim/service/session_calls.h"

/* ---- channels */

/* Whether a descriptor is one end of a socketpair().  A connection to a listener is rejected: if it
 * were one to this service, the session would keep itself alive. */
static bool is_channel(int fd)
{
    struct sockaddr_un peer;
    int type = 0, domain = 0;
    socklen_t n = sizeof(int), length = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_SEQPACKET &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 && domain == AF_UNIX &&
           getpeername(fd, (struct sockaddr *) &peer, &length) == 0 &&
           length <= offsetof(struct sockaddr_un, sun_path);
}

static int take_channel_socket(struct answer *q, int *ret_fd)
{
    int fd = wire_fd(q->fds, q->call->fd);

    REQUIRE(q->w, fd >= 0 && is_channel(fd), "a socket of a pair is missing");
    *ret_fd = wire_take_fd(q->fds, q->call->fd);
    return 0;
}

int answer_open_channel(struct answer *q)
{
    int fd = -1;

    TRY(take_channel_socket(q, &fd));
    if (channel_start(q->s, fd, q->w) == 0)
        return 0;
    close(fd);
    return -1;
}

int answer_open_events(struct answer *q)
{
    int fd = -1;

    TRY(take_channel_socket(q, &fd));
    bool ok = process_quota_charge(QUOTA_FILES, q->s->caller->client, 1);
    pthread_mutex_lock(&q->s->lock);
    bool first = q->s->events < 0;
    if (first && ok)
        q->s->events = fd;
    pthread_mutex_unlock(&q->s->lock);
    if (first && ok)
        return 0;
    close(fd);
    process_quota_release(QUOTA_FILES, q->s->caller->client, ok);
    REQUIRE(q->w, first, "a second channel for events");
    return why_no_memory(q->w);
}

/* The memory file must be sealed: access beyond the end of a shrunk file crashes the service. */
int answer_set_staging(struct answer *q)
{
    struct wire_staging *s = &q->c->staging;
    int fd = wire_fd(q->fds, q->call->fd);
    uint64_t size = q->call->size;
    struct stat st;

    REQUIRE(q->w, fd >= 0 && size && size <= SIZE_MAX / 2,
            "staging memory without a file or of a wrong size");
    REQUIRE(q->w, fstat(fd, &st) == 0 && st.st_size >= 0 && (uint64_t) st.st_size >= size,
            "the file of staging memory is too short");
    REQUIRE(q->w, wire_is_sealed(fd, F_SEAL_SHRINK),
            "the file of staging memory is not sealed against shrinking");
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED)
        return why_fail(q->w, WHY_MEMORY, "staging memory cannot be mapped: %s", strerror(errno));
    if (s->address)
        munmap(s->address, s->size);
    *s = (struct wire_staging){ address, size };
    return 0;
}

/* ---- the driver */

/* The driver's methods that are NULL have the results that their comments in sim/hal.h give. */
static void gather_info(struct hal_driver *d, struct hal_driver_info *ret_info)
{
    struct hal_driver_info i = { .protocol = WIRE_PROTOCOL,
                                 .abi_version = d->abi_version,
                                 .hal_version = d->hal_version,
                                 .lowest_version = d->lowest_version,
                                 .name = d->name,
                                 .type_status = HAL_GENERAL_FAILURE,
                                 .type = HAL_DEVICE_OTHER,
                                 .version_status = HAL_GENERAL_FAILURE,
                                 .version = "" };

    if (d->get_type)
        i.type_status = d->get_type(d, &i.type);
    if (d->get_version_string)
        i.version_status = d->get_version_string(d, &i.version);
    if (d->get_supported_extensions)
        i.extensions_status = d->get_supported_extensions(d, &i.n_extensions, &i.extensions);
    if (d->get_number_of_cache_files_needed)
        i.cache_status = d->get_number_of_cache_files_needed(d, &i.n_model_cache, &i.n_data_cache);
    if (i.extensions_status != HAL_NONE)
        i.n_extensions = 0;
    i.name = i.name ? i.name : "";
    i.version = i.version ? i.version : "";
    *ret_info = i;
}

static int put_info(const struct answer *q, const struct hal_driver_info *i)
{
    struct wire_passing p = { .arena = q->a };

    return wire_put(&hal_driver_info_record, &wire__driver_info__descriptor, i, &p, &q->reply->info,
                    q->w);
}

int answer_get_info(struct answer *q)
{
    struct hal_driver_info i;

    gather_info(q->d, &i);
    if (put_info(q, &i) == 0)
        return 0;
    TRY(answer_violation(q)); /* only the extensions have pointers that can be wrong */
    i.extensions_status = HAL_GENERAL_FAILURE;
    i.n_extensions = 0;
    q->reply->status = HAL_NONE;
    return put_info(q, &i);
}

int answer_get_status(struct answer *q)
{
    q->reply->device_status = (int32_t) q->d->get_status(q->d);
    return 0;
}

int answer_get_capabilities(struct answer *q)
{
    struct wire_passing p = { .arena = q->a };
    struct hal_capabilities h;
    enum hal_status s = q->d->get_capabilities(q->d, (enum hal_version) q->call->version, &h);

    if (s != HAL_NONE)
        return answer_result(q, s);
    if (wire_put(&hal_capabilities_record, &wire__capabilities__descriptor, &h, &p,
                 &q->reply->capabilities, q->w) < 0)
        return answer_violation(q);
    return 0;
}

static int take_model(struct answer *q, struct hal_model *ret_model)
{
    REQUIRE(q->w, q->call->model, "the model is missing");
    return wire_decode_model(q->call->model, q->fds, q->a, ret_model, q->w);
}

int answer_get_supported_operations(struct answer *q)
{
    struct hal_model model;
    uint32_t n_reported = UINT32_MAX;

    TRY(take_model(q, &model));
    bool *supported = arena_alloc(q->a, model.main.n_operations, sizeof(*supported));
    protobuf_c_boolean *answers = arena_alloc(q->a, model.main.n_operations, sizeof(*answers));
    if (!supported || !answers)
        return why_no_memory(q->w);
    enum hal_status s = q->d->get_supported_operations(q->d, (enum hal_version) q->call->version,
                                                       &model, supported, &n_reported);
    if (s != HAL_NONE)
        return answer_result(q, s);
    uint32_t n = n_reported < model.main.n_operations ? n_reported : model.main.n_operations;
    for (uint32_t i = 0; i < n; i++)
        answers[i] = supported[i];
    q->reply->supported = answers;
    q->reply->n_supported = n;
    q->reply->more = n_reported - n;
    return 0;
}

static int take_prepare_config(const struct answer *q, struct hal_prepare_config *h)
{
    struct wire_passing p = { .arena = q->a, .received = q->fds };

    REQUIRE(q->w, q->call->prepare, "the configuration is missing");
    return wire_take(&hal_prepare_config_record, q->call->prepare, &p, h, q->w);
}

int answer_prepare_model(struct answer *q)
{
    struct hal_prepare_callback *callback;
    struct hal_prepare_config config;
    struct hal_model model;

    TRY(take_model(q, &model));
    TRY(take_prepare_config(q, &config));
    callback = session_prepare_callback(q->s, q->call->callback);
    if (!callback)
        return why_no_memory(q->w);
    return answer_result(q, q->d->prepare_model(q->d, (enum hal_version) q->call->version, &model,
                                                &config, callback));
}

int answer_prepare_model_from_cache(struct answer *q)
{
    struct hal_prepare_callback *callback;
    struct hal_prepare_config config;

    TRY(take_prepare_config(q, &config));
    callback = session_prepare_callback(q->s, q->call->callback);
    if (!callback)
        return why_no_memory(q->w);
    if (!q->d->prepare_model_from_cache)
        return answer_status(q, hal_fail_preparation(callback, HAL_GENERAL_FAILURE));
    return answer_result(q, q->d->prepare_model_from_cache(
                                q->d, (enum hal_version) q->call->version, &config, callback));
}

/* ---- buffers */

static int allocate_for(struct answer *q, struct hal_prepared_model *const *models)
{
    const Wire__Call *m = q->call;
    const struct hal_buffer_role *in = NULL, *out = NULL;
    struct wire_passing p = { .arena = q->a };
    struct hal_buffer *buffer = NULL;
    struct hal_buffer_desc desc;

    REQUIRE(q->w, m->desc, "the description is missing");
    TRY(wire_take(&hal_buffer_desc_record, m->desc, &p, &desc, q->w));
    TRY(wire_take_list(&hal_buffer_role_record, m->n_input_roles, m->input_roles, &p, &in, q->w));
    TRY(wire_take_list(&hal_buffer_role_record, m->n_output_roles, m->output_roles, &p, &out,
                       q->w));
    if (!q->d->allocate)
        return answer_status(q, HAL_GENERAL_FAILURE);
    enum hal_status s =
        q->d->allocate(q->d, &desc, (uint32_t) m->n_models, models, (uint32_t) m->n_input_roles, in,
                       (uint32_t) m->n_output_roles, out, &buffer, &q->reply->token);
    return answer_object(q, s, &(struct object){ .kind = OBJECT_BUFFER, .driver_object = buffer });
}

/* An invalid handle is passed on as NULL, which the driver rejects. */
int answer_allocate(struct answer *q)
{
    size_t n = q->call->n_models;
    struct object **pinned = arena_alloc(q->a, n, sizeof(*pinned));
    struct hal_prepared_model **models = arena_alloc(q->a, n, sizeof(*models));

    if (!pinned || !models)
        return why_no_memory(q->w);
    for (size_t i = 0; i < n; i++) {
        pinned[i] = object_pin(q->s, q->call->models[i], OBJECT_PREPARED);
        models[i] = pinned[i] ? pinned[i]->driver_object : NULL;
    }
    int rc = allocate_for(q, models);
    for (size_t i = 0; i < n; i++)
        object_unpin(q->s, pinned[i]);
    return rc;
}

int answer_copy(struct answer *q)
{
    struct hal_buffer *b = q->o->driver_object;
    struct hal_memory memory;

    REQUIRE(q->w, q->call->memory, "the memory is missing");
    TRY(wire_decode_memory(q->call->memory, q->fds, &q->c->staging, &memory, q->w));
    return answer_result(
        q, q->call->method == WIRE__METHOD__COPY_TO
               ? b->methods->copy_to(b, &memory)
               : b->methods->copy_from(b, &memory, (uint32_t) q->call->n_dims, q->call->dims));
}
