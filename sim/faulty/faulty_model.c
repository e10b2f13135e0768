/* The layer around prepared models: executions of every kind. */
#include "sim/faulty/faulty.h"

#include <stdlib.h>

#include "sim/hal/hal_result.h"

static enum hal_status hollow(struct hal_result *result)
{
    hal_clear_result(result);
    return HAL_GENERAL_FAILURE;
}

/* ---- before and after every execution */

static bool has_unknown_token(struct faulty_driver *d, const struct hal_request *r)
{
    for (uint32_t i = 0; i < r->n_pools; i++)
        if (r->pools[i].is_token && !faulty_has_token(d, r->pools[i].token))
            return true;
    return false;
}

static bool accepts_request(struct faulty_call *x, enum hal_status status)
{
    struct faulty_model *m = x->model;
    struct faulty_driver *d = m->driver;

    if (!d->hooks->unchecked ||
        (status != HAL_INVALID_ARGUMENT &&
         !(status == HAL_GENERAL_FAILURE && faulty_accepts(d, UNCHECKED_BUFFER_EMPTY))))
        return false;
    return !(unchecked_in_request(&x->request, m->base.n_inputs, m->base.n_outputs,
                                  has_unknown_token(d, &x->request), status) &
             ~d->hooks->unchecked);
}

static bool begin(struct faulty_call *x, const struct hal_request *request,
                  const struct hal_execution_config *config)
{
    x->arena = arena_new(0);
    x->request = *request;
    x->config = *config;
    atomic_fetch_add(&x->model->executions, 1);
    atomic_fetch_add(&x->model->driver->executions, 1);
    if (x->arena && x->model->driver->hooks->before)
        x->model->driver->hooks->before(x);
    return x->arena != NULL;
}

static void end(struct faulty_call *x, enum hal_status status, struct hal_result *result)
{
    x->status = status;
    x->result = result;
    if (accepts_request(x, status)) {
        x->status = HAL_NONE;
        if (result)
            hal_clear_result(result);
    }
    if (x->model->driver->hooks->after)
        x->model->driver->hooks->after(x);
}

/* ---- synchronous */

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct faulty_call x = { faulty_model_of(self), ENTRY_SYNCHRONOUS, version };
    struct hal_prepared_model *inner = x.model->inner;

    if (!inner || !begin(&x, request, config))
        return hollow(result);
    end(&x, inner->methods->execute_synchronously(inner, x.version, &x.request, &x.config, result),
        result);
    arena_free(x.arena);
    return x.status;
}

/* ---- asynchronous */

struct launched {
    struct hal_execution_callback base;
    struct hal_execution_callback *client;
    struct faulty_call call;
    bool is_accepted;
};

static void notify(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                   const struct hal_output_shape *shapes, struct hal_timing timing)
{
    struct launched *l = (struct launched *) self;
    struct arena *a = l->call.arena;
    struct hal_result result = { .shapes = arena_copy(a, shapes, n_shapes * sizeof *shapes),
                                 .capacity = n_shapes,
                                 .n_shapes = n_shapes,
                                 .timing = timing };

    if (l->is_accepted) {
        l->call.status = HAL_NONE;
        l->call.result = &result;
    } else {
        end(&l->call, status, &result);
    }
    if (l->call.model->driver->hooks->executed)
        l->call.model->driver->hooks->executed(l->client, l->call.status, &result);
    else
        l->client->notify(l->client, l->call.status, result.n_shapes, result.shapes, result.timing);
    arena_free(a);
    free(l);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct faulty_model *m = faulty_model_of(self);
    struct launched *l = m->inner ? calloc(1, sizeof *l) : NULL;
    bool is_accepted;

    if (!l)
        return hal_fail_execution(callback, HAL_GENERAL_FAILURE);
    *l = (struct launched){ { notify }, callback, { m, ENTRY_ASYNCHRONOUS, version } };
    if (!begin(&l->call, request, config)) {
        free(l);
        return hal_fail_execution(callback, HAL_GENERAL_FAILURE);
    }
    is_accepted = l->is_accepted =
        accepts_request(&l->call, HAL_INVALID_ARGUMENT) && m->driver->hooks->unchecked;
    enum hal_status status = m->inner->methods->execute(m->inner, l->call.version, &l->call.request,
                                                        &l->call.config, &l->base);
    return is_accepted ? HAL_NONE : status;
}

/* ---- fenced */

static enum hal_status get_execution_info(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced)
{
    struct faulty_info *f = (struct faulty_info *) self;

    if (f->inner)
        return f->inner->methods->get_execution_info(f->inner, ret_launched, ret_fenced);
    *ret_launched = *ret_fenced = f->timing;
    return HAL_NONE;
}

static void release_info(struct hal_fenced_info *self)
{
    struct faulty_info *f = (struct faulty_info *) self;

    if (f->inner)
        f->inner->methods->release(f->inner);
    free(f);
}

/* Wraps the info of a launch that succeeded, or that the layer accepts. */
static enum hal_status wrap_info(struct faulty_driver *d, enum hal_status status,
                                 struct hal_fenced_info **info)
{
    struct faulty_info *f;

    if (status != HAL_NONE)
        return status;
    f = calloc(1, sizeof *f);
    if (!f)
        abort();
    *f = (struct faulty_info){ .base = { &d->info_methods },
                               .driver = d,
                               .inner = *info,
                               .timing = hal_unknown_timing,
                               .executions = atomic_load(&d->executions) };
    *info = &f->base;
    return HAL_NONE;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct faulty_call x = { .model = faulty_model_of(self),
                             .entry = ENTRY_FENCED,
                             .version = version,
                             .n_wait_for = n_wait_for,
                             .wait_for = wait_for,
                             .duration = duration };
    struct hal_prepared_model *inner = x.model->inner;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (!inner || !begin(&x, request, config))
        return HAL_GENERAL_FAILURE;
    end(&x,
        inner->methods->execute_fenced(inner, x.version, &x.request, x.n_wait_for, x.wait_for,
                                       &x.config, duration, ret_fence, ret_info),
        NULL);
    arena_free(x.arena);
    return wrap_info(x.model->driver, x.status, ret_info);
}

/* ---- bursts */

static enum hal_status burst_execute(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n_identifiers, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    struct faulty_burst *b = (struct faulty_burst *) self;
    struct faulty_call x = { b->model, ENTRY_BURST, b->model->driver->base.hal_version };

    if (!begin(&x, request, config))
        return hollow(result);
    end(&x,
        b->inner->methods->execute_synchronously(b->inner, &x.request, n_identifiers, identifiers,
                                                 &x.config, result),
        result);
    arena_free(x.arena);
    return x.status;
}

static enum hal_status burst_release_memory(struct hal_burst *self, int64_t identifier)
{
    struct hal_burst *b = ((struct faulty_burst *) self)->inner;

    return b->methods->release_memory(b, identifier);
}

static void burst_release(struct hal_burst *self)
{
    struct faulty_burst *b = (struct faulty_burst *) self;

    b->inner->methods->release(b->inner);
    free(b);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    struct faulty_model *m = faulty_model_of(self);
    struct faulty_burst *b = m->inner ? calloc(1, sizeof *b) : NULL;
    enum hal_status status =
        b ? m->inner->methods->configure_burst(m->inner, version, ret_burst) : HAL_GENERAL_FAILURE;

    if (status != HAL_NONE) {
        free(b);
        return status;
    }
    *b = (struct faulty_burst){ { &m->driver->burst_methods }, m, *ret_burst };
    *ret_burst = &b->base;
    return HAL_NONE;
}

/* ---- reusable executions */

static enum hal_status reusable_synchronously(struct hal_execution *self, uint64_t deadline,
                                              struct hal_result *result)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    return r->inner->methods->execute_synchronously(r->inner, deadline, result);
}

static enum hal_status reusable_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                       const int *wait_for, uint64_t deadline, uint64_t duration,
                                       int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    return wrap_info(r->model->driver,
                     r->inner->methods->execute_fenced(r->inner, n_wait_for, wait_for, deadline,
                                                       duration, ret_fence, ret_info),
                     ret_info);
}

static void reusable_release(struct hal_execution *self)
{
    struct faulty_reusable *r = (struct faulty_reusable *) self;

    r->inner->methods->release(r->inner);
    arena_free(r->arena);
    free(r);
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    struct faulty_model *m = faulty_model_of(self);
    struct faulty_reusable *r = m->inner ? calloc(1, sizeof *r) : NULL;
    enum hal_status status = HAL_GENERAL_FAILURE;

    if (r)
        status =
            m->inner->methods->create_reusable_execution(m->inner, request, config, ret_execution);
    if (status != HAL_NONE) {
        free(r);
        return status;
    }
    *r = (struct faulty_reusable){ .base = { &m->driver->reusable_methods },
                                   .model = m,
                                   .inner = *ret_execution };
    if (request->n_inputs) {
        r->client = request->inputs;
        r->first = request->inputs[0];
    }
    *ret_execution = &r->base;
    return HAL_NONE;
}

/* ---- the model */

static void release(struct hal_prepared_model *self)
{
    struct faulty_model *m = faulty_model_of(self);

    if (m->inner)
        m->inner->methods->release(m->inner);
    free(m);
}

struct faulty_model *faulty_model_new(struct faulty_driver *d, struct hal_prepared_model *inner)
{
    struct faulty_model *m = calloc(1, sizeof *m);

    if (m)
        *m = (struct faulty_model){ .base = { &d->model_methods, inner ? inner->n_inputs : 0,
                                              inner ? inner->n_outputs : 0 },
                                    .driver = d,
                                    .inner = inner };
    else if (inner)
        inner->methods->release(inner);
    return m;
}

#define CHOOSE(table, member, own) (d->hooks->table.member ? d->hooks->table.member : (own))

void faulty_model_methods(struct faulty_driver *d)
{
    enum hal_version v = d->inner->hal_version;

    d->model_methods = (struct hal_prepared_model_methods){
        .execute_synchronously = CHOOSE(model, execute_synchronously, execute_synchronously),
        .execute = CHOOSE(model, execute, execute),
        .execute_fenced = CHOOSE(model, execute_fenced, execute_fenced),
        .configure_burst = CHOOSE(model, configure_burst, configure_burst),
        .create_reusable_execution =
            v < HAL_FL8 ? NULL
                        : CHOOSE(model, create_reusable_execution, create_reusable_execution),
        .release = CHOOSE(model, release, release),
    };
    d->burst_methods = (struct hal_burst_methods){
        .execute_synchronously = CHOOSE(burst, execute_synchronously, burst_execute),
        .release_memory = CHOOSE(burst, release_memory, burst_release_memory),
        .release = CHOOSE(burst, release, burst_release),
    };
    d->reusable_methods = (struct hal_execution_methods){
        .execute_synchronously = CHOOSE(reusable, execute_synchronously, reusable_synchronously),
        .execute_fenced = CHOOSE(reusable, execute_fenced, reusable_fenced),
        .release = CHOOSE(reusable, release, reusable_release),
    };
    d->info_methods = (struct hal_fenced_info_methods){
        .get_execution_info = CHOOSE(info, get_execution_info, get_execution_info),
        .release = CHOOSE(info, release, release_info),
    };
}
#undef CHOOSE
