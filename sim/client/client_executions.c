/* Executions of one prepared model at once, with arguments in buffers of the driver. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/arena.h"
#include "sim/client/driver_client.h"
#include "sim/hal/hal_convert.h"

/* ---- buffers */

static void violate(struct client_end *e, const char *what, enum hal_status status)
{
    if (!e->violation[0])
        snprintf(e->violation, sizeof(e->violation), "%s%s%s", what, status ? " ends with " : "",
                 status ? hal_status_name(status) : "");
}

struct allocated {
    struct hal_buffer *buffer; /* NULL: the driver provides none */
    uint32_t token;
};

/* Allocates a buffer for one argument; an input's gets its value. */
static struct allocated allocate(struct hal_driver *d, struct hal_prepared_model *p,
                                 const struct client_buffer *b, struct client_end *e)
{
    const struct hal_buffer_role role = { 0, b->index, 1 };
    const struct hal_buffer_desc desc = { b->n_dims, b->dims };
    struct allocated a = { 0 };

    if (!d->allocate)
        return a;
    enum hal_status s = d->allocate(d, &desc, 1, &p, !b->is_output, &role, b->is_output, &role,
                                    &a.buffer, &a.token);
    if (s == HAL_INVALID_ARGUMENT)
        violate(e, "allocate for a valid role", s);
    if ((s == HAL_NONE) != (a.buffer != NULL))
        violate(e, "allocate: status and buffer contradict each other", HAL_NONE);
    if (a.buffer && !b->is_output) {
        s = a.buffer->methods->copy_from(a.buffer, &b->memory, b->n_dims, b->dims);
        if (s != HAL_NONE)
            violate(e, "copy_from", s);
    }
    return a;
}

static uint32_t find_buffer(const struct client_execution *x, bool is_output, uint32_t index)
{
    uint32_t k = 0;

    while (k < x->n_buffers && (x->buffer[k].is_output != is_output || x->buffer[k].index != index))
        k++;
    return k;
}

/* A request in the making: `pool` has the pools that its arguments use. */
struct placing {
    const struct client_execution *x;
    const struct allocated *allocated;
    struct hal_request_pool *pool;
    uint32_t n_pools;
    uint32_t *moved; /* per pool of the given request: 1 + its new index; 0: not used so far */
};

static void place_arguments(struct placing *p, bool is_output, uint32_t n,
                            struct hal_argument *args)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = find_buffer(p->x, is_output, i), from = args[i].location.pool;
        if (args[i].has_no_value)
            continue;
        if (k < p->x->n_buffers && p->allocated[k].buffer) {
            p->pool[p->n_pools] =
                (struct hal_request_pool){ .is_token = true, .token = p->allocated[k].token };
            args[i].location = (struct hal_location){ .pool = p->n_pools++ };
            continue;
        }
        if (!p->moved[from]) {
            p->pool[p->n_pools] = p->x->request->pools[from];
            p->moved[from] = ++p->n_pools;
        }
        args[i].location.pool = p->moved[from] - 1;
    }
}

/* The request with the buffers instead of their pools.  False: out of memory. */
static bool place(const struct client_execution *x, const struct allocated *allocated,
                  struct arena *a, struct hal_request *ret)
{
    const struct hal_request *r = x->request;
    struct hal_argument *in = arena_copy(a, r->inputs, r->n_inputs * sizeof(*in));
    struct hal_argument *out = arena_copy(a, r->outputs, r->n_outputs * sizeof(*out));
    struct placing p = { .x = x, .allocated = allocated };

    p.pool = arena_alloc(a, (size_t) r->n_inputs + r->n_outputs + 1, sizeof(*p.pool));
    p.moved = arena_alloc(a, r->n_pools + (size_t) 1, sizeof(*p.moved));
    if (!in || !out || !p.pool || !p.moved)
        return false;
    place_arguments(&p, false, r->n_inputs, in);
    place_arguments(&p, true, r->n_outputs, out);
    *ret = (struct hal_request){ r->n_inputs, r->n_outputs, p.n_pools, in, out, p.pool };
    return true;
}

/* ---- one execution */

struct course {
    struct driver_client *client;
    enum execution_way way;
    struct hal_prepared_model *prepared;
    enum hal_version entry;
    const struct hal_execution_config *config;
};

static void execute(const struct course *c, const struct hal_request *request,
                    struct client_execution *x)
{
    struct client_end end;

    driver_client_execute(c->client, c->way, c->prepared, c->entry, request, c->config, x->result,
                          NULL, &end);
    if (x->end.violation[0])
        memcpy(end.violation, x->end.violation, sizeof(end.violation));
    x->end = end;
}

static void copy_outputs(struct client_execution *x, const struct allocated *allocated)
{
    for (uint32_t k = 0; k < x->n_buffers; k++) {
        struct hal_buffer *b = allocated[k].buffer;
        if (!b || !x->buffer[k].is_output || x->end.status != HAL_NONE)
            continue;
        enum hal_status s = b->methods->copy_to(b, &x->buffer[k].memory);
        if (s != HAL_NONE)
            violate(&x->end, "copy_to after the execution", s);
    }
}

static void execute_in_buffers(const struct course *c, struct client_execution *x)
{
    struct arena *a = arena_new(0);
    struct allocated *allocated = a ? arena_alloc(a, x->n_buffers, sizeof(*allocated)) : NULL;
    struct hal_request request;

    x->n_allocated = 0;
    for (uint32_t k = 0; allocated && k < x->n_buffers; k++) {
        allocated[k] = allocate(c->client->driver, c->prepared, &x->buffer[k], &x->end);
        x->n_allocated += allocated[k].buffer != NULL;
    }
    if (allocated && place(x, allocated, a, &request)) {
        execute(c, &request, x);
        copy_outputs(x, allocated);
    } else {
        x->end.launched = x->end.status = hal_status_exhausted(c->entry);
    }
    for (uint32_t k = 0; allocated && k < x->n_buffers; k++)
        if (allocated[k].buffer)
            allocated[k].buffer->methods->release(allocated[k].buffer);
    arena_free(a);
}

static void run(const struct course *c, struct client_execution *x)
{
    x->end = (struct client_end){ .launched = HAL_NONE };
    if (x->n_buffers)
        execute_in_buffers(c, x);
    else
        execute(c, x->request, x);
}

/* ---- several at once */

struct thread {
    const struct course *course;
    struct client_execution *execution;
    atomic_uint *ready; /* threads that wait for *begun */
    atomic_bool *begun;
    pthread_t id;
};

static void *run_thread(void *user)
{
    struct thread *t = user;

    atomic_fetch_add(t->ready, 1);
    while (!atomic_load(t->begun)) /* a wait that blocks would let them begin one after another */
        sched_yield();
    run(t->course, t->execution);
    return NULL;
}

/* The first one on this thread.  Those that no thread can be created for run afterwards. */
static void run_at_once(const struct course *c, uint32_t n, struct client_execution *x)
{
    struct thread thread[CLIENT_MOST_AT_ONCE];
    atomic_uint ready = 0;
    atomic_bool begun = false;
    uint32_t created = 1;

    for (; created < n; created++) {
        struct thread *t = &thread[created];
        *t = (struct thread){ c, &x[created], &ready, &begun, 0 };
        if (pthread_create(&t->id, NULL, run_thread, t) != 0)
            break;
    }
    while (atomic_load(&ready) < created - 1)
        sched_yield();
    atomic_store(&begun, true);
    run(c, &x[0]);
    for (uint32_t i = 1; i < created; i++)
        pthread_join(thread[i].id, NULL);
    for (uint32_t i = created; i < n; i++)
        run(c, &x[i]);
}

/* Steps are those of one execution: others do not report theirs. */
void driver_client_execute_at_once(struct driver_client *c, enum execution_way way,
                                   struct hal_prepared_model *p, enum hal_version entry,
                                   const struct hal_execution_config *config, uint32_t n,
                                   struct client_execution *x)
{
    const struct course course = { c, way, p, entry, config };
    void (*at)(enum target_step step, void *user) = c->at;
    bool uses_buffers = false;

    for (uint32_t i = 0; i < n; i++)
        uses_buffers = uses_buffers || x[i].n_buffers;
    if (at && (n > 1 || uses_buffers))
        at(n > 1 ? TARGET_AT_ONCE : TARGET_AT_BUFFERS, c->user);
    c->at = n > 1 ? NULL : at;
    run_at_once(&course, n, x);
    c->at = at;
    for (uint32_t i = 0; i < n && n > 1; i++) /* the others may have had its resources */
        if (x[i].end.status == hal_status_exhausted(entry))
            run(&course, &x[i]);
}
