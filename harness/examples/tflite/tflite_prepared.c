#include "tflite_prepared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hal_validate.h"
#include "tflite_convert.h"
#include "tflite_failure.h"
#include "tflite_memory.h"

struct prepared {
    struct hal_prepared_model base;
    const struct tfl_library *library;
    struct arena arena; /* of the model, which is converted again when a request omits inputs */
    struct model model;
    struct hal_subgraph main; /* types and dimensions of its operands, to check requests against */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t finished;
    uint32_t n_running;                  /* asynchronous executions */
    struct tfl_interpreter *interpreter; /* NULL: none yet */
    uint8_t *bytes;                      /* the .tflite file that it runs */
    size_t size;
    bool delegates;          /* XNNPACK may run operators */
    struct tfl_shape *shape; /* of the inputs that it is for */
    bool *is_omitted;        /* the inputs that are not there */
};

static struct value *input_value(const struct prepared *p, uint32_t i)
{
    return &p->model.graph[0].value[p->model.graph[0].in[i]];
}

static const struct value *output_value(const struct prepared *p, uint32_t i)
{
    return &p->model.graph[0].value[p->model.graph[0].out[i]];
}

bool has_entry(enum hal_version version, enum hal_version since)
{
    return version >= since && version <= HAL_FL8 && version != 14;
}

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

bool is_past_deadline(enum hal_version version, uint64_t deadline)
{
    return deadline != HAL_NO_DEADLINE &&
           now(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC) >= deadline;
}

/* False: the shape is not completely known. */
static bool shape_of(const struct value *v, struct tfl_shape *ret_shape)
{
    ret_shape->n_dims = v->n_dims;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        if (!v->dims[i] || v->dims[i] > INT32_MAX)
            return false;
        ret_shape->dims[i] = (int32_t) v->dims[i];
    }
    return v->n_dims || is_scalar_type(v->type);
}

static size_t bytes_of(const struct value *v, const struct tfl_shape *s)
{
    size_t n = element_size(v->type);

    for (uint32_t i = 0; i < s->n_dims; i++)
        if (__builtin_mul_overflow(n, (size_t) s->dims[i], &n))
            return SIZE_MAX;
    return n;
}

/* ---- requests */

struct argument {
    uint8_t *data; /* NULL: an input that is omitted */
    size_t length;
    struct tfl_shape shape; /* an input's; an output's, as far as the request knows it: 0 not */
};

/* One execution. */
struct run {
    struct prepared *p;
    enum hal_version version;
    bool measures;
    struct mapping *pools;
    uint32_t n_pools;
    struct argument *in, *out;
    struct hal_output_shape *shapes; /* of the outputs, p->base.n_outputs of them */
    uint32_t n_shapes;
    struct hal_timing timing;
    struct hal_execution_callback *callback; /* of an asynchronous one */
};

/* Where an argument is, and the dimensions that the model and the request give. */
static bool place(const struct run *r, const struct hal_argument *a, const struct value *v,
                  struct argument *ret)
{
    ret->shape.n_dims = a->n_dims ? a->n_dims : v->n_dims;
    for (uint32_t i = 0; i < ret->shape.n_dims; i++) {
        const uint32_t declared = v->n_dims ? v->dims[i] : 0;
        const uint32_t dim = declared || !a->n_dims ? declared : a->dims[i];
        if (dim > INT32_MAX)
            return false;
        ret->shape.dims[i] = (int32_t) dim;
    }
    ret->data = r->pools[a->location.pool].address + a->location.offset;
    ret->length = a->location.length;
    return true;
}

static enum hal_status open_arguments(struct run *r, const struct hal_request *q)
{
    struct prepared *p = r->p;

    for (; r->n_pools < q->n_pools; r->n_pools++)
        if (q->pools[r->n_pools].is_token ||
            !map_memory(&q->pools[r->n_pools].memory, &r->pools[r->n_pools]))
            return HAL_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < p->base.n_inputs; i++) {
        if (q->inputs[i].has_no_value) {
            r->in[i].shape = is_scalar_type(input_value(p, i)->type)
                                 ? (struct tfl_shape){ 0 }
                                 : (struct tfl_shape){ 1, { 1 } };
            continue;
        }
        if (!place(r, &q->inputs[i], input_value(p, i), &r->in[i]))
            return HAL_INVALID_ARGUMENT;
        if (!r->in[i].length) {
            failure_set("input %u has no elements; TensorFlow Lite needs some", i);
            return HAL_GENERAL_FAILURE;
        }
    }
    for (uint32_t i = 0; i < p->base.n_outputs; i++)
        if (q->outputs[i].has_no_value || !place(r, &q->outputs[i], output_value(p, i), &r->out[i]))
            return HAL_INVALID_ARGUMENT;
    return HAL_NONE;
}

/* Checks a request and maps its memory.  To be closed, also after a failure. */
static enum hal_status open_run(struct prepared *p, enum hal_version version,
                                const struct hal_request *q, const struct hal_execution_config *c,
                                struct run *r)
{
    char text[HAL_TEXT_BYTES];
    enum hal_status status;

    *r = (struct run){
        .p = p, .version = version, .measures = c->measure, .timing = { HAL_NO_TIME, HAL_NO_TIME }
    };
    status = failure_of(hal_validate_execution_config(version, c, text, sizeof(text)), text);
    if (status == HAL_NONE)
        status = failure_of(hal_validate_request(version, &p->main, q, text, sizeof(text)), text);
    if (status != HAL_NONE)
        return status;
    r->pools = calloc((size_t) q->n_pools + 1, sizeof(*r->pools));
    r->in = calloc((size_t) p->base.n_inputs + 1, sizeof(*r->in));
    r->out = calloc(p->base.n_outputs, sizeof(*r->out));
    r->shapes = calloc(p->base.n_outputs, sizeof(*r->shapes));
    if (!r->pools || !r->in || !r->out || !r->shapes)
        return HAL_GENERAL_FAILURE;
    status = open_arguments(r, q);
    if (status == HAL_NONE && is_past_deadline(version, c->deadline))
        return HAL_MISSED_DEADLINE_PERSISTENT;
    return status;
}

static void close_run(struct run *r)
{
    unmap_memory(r->pools, r->n_pools);
    free(r->pools);
    free(r->in);
    free(r->out);
    free(r->shapes);
}

/* ---- executions */

/* Converts the model, without the inputs that are omitted, and makes an interpreter for p->shape,
 * if that is known.  HAL_INVALID_ARGUMENT: an operation is not supported. */
static enum hal_status convert_and_open(struct prepared *p, bool is_known)
{
    struct arena arena = { 0 };
    struct model m = p->model;
    const struct graphs *g;
    size_t size = 0;

    m.arena = &arena;
    tfl_free_interpreter(p->interpreter);
    p->interpreter = NULL;
    free(p->bytes);
    for (uint32_t i = 0; i < p->base.n_inputs; i++)
        input_value(p, i)->lifetime = p->is_omitted[i] ? HAL_NO_VALUE : HAL_SUBGRAPH_INPUT;
    g = convert_model(&m);
    p->bytes = g ? tfl_serialise(g->graph, g->n, &size) : NULL;
    p->delegates = g && !tfl_has_variables(g->graph, g->n);
    const bool is_unsupported = !g && !arena.failed;
    arena_free(&arena);
    if (is_unsupported)
        failure_set("an operation is not supported");
    if (!p->bytes)
        return is_unsupported ? HAL_INVALID_ARGUMENT : HAL_GENERAL_FAILURE;
    p->size = size;
    if (is_known)
        p->interpreter = tfl_new_interpreter(p->library, p->bytes, size, p->base.n_inputs, p->shape,
                                             p->delegates);
    return p->interpreter || !is_known ? HAL_NONE : HAL_GENERAL_FAILURE;
}

/* Makes the interpreter one for the inputs of this execution. */
static bool choose_interpreter(struct run *r)
{
    struct prepared *p = r->p;
    bool is_same_model = p->bytes, is_same_shape = p->interpreter;

    for (uint32_t i = 0; i < p->base.n_inputs; i++) {
        const struct tfl_shape *a = &p->shape[i], *b = &r->in[i].shape;
        if (a->n_dims != b->n_dims || memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)) != 0)
            is_same_shape = false;
        if (p->is_omitted[i] != !r->in[i].data)
            is_same_model = false;
        p->shape[i] = *b;
        p->is_omitted[i] = !r->in[i].data;
    }
    if (!is_same_model)
        return convert_and_open(p, true) == HAL_NONE;
    if (is_same_shape)
        return true;
    tfl_free_interpreter(p->interpreter);
    p->interpreter = tfl_new_interpreter(p->library, p->bytes, p->size, p->base.n_inputs, p->shape,
                                         p->delegates);
    return p->interpreter;
}

/* Booleans are 0 or 1 in TensorFlow Lite, 0 or not in NNAPI. */
static bool write_input(struct run *r, uint32_t i)
{
    const struct argument *a = &r->in[i];
    size_t size;
    uint8_t *to = tfl_input(r->p->interpreter, i, &size);
    const int32_t type = input_value(r->p, i)->type;

    if (!to || !a->data) /* no operation reads it */
        return true;
    if (size != a->length)
        return false;
    memcpy(to, a->data, size);
    for (size_t k = 0; (type == HAL_TYPE_TENSOR_BOOL8 || type == HAL_TYPE_BOOL) && k < size; k++)
        to[k] = to[k] != 0;
    return true;
}

/* The output's shape as NNAPI has it; false: not that which the model or the request gives. */
static bool check_shape(const struct run *r, uint32_t i, struct tfl_shape *s)
{
    const struct tfl_shape *known = &r->out[i].shape;

    if (!s->n_dims && !is_scalar_type(output_value(r->p, i)->type))
        *s = (struct tfl_shape){ 1, { 1 } };
    if (known->n_dims && known->n_dims != s->n_dims)
        return false;
    for (uint32_t k = 0; k < known->n_dims; k++)
        if (known->dims[k] && known->dims[k] != s->dims[k])
            return false;
    return true;
}

static enum hal_status read_output(struct run *r, uint32_t i)
{
    struct hal_output_shape *reported = &r->shapes[i];
    struct tfl_shape s;
    size_t size;
    const void *from = tfl_output(r->p->interpreter, i, &size, &s);

    if (!check_shape(r, i, &s) || (size && !from) || size != bytes_of(output_value(r->p, i), &s)) {
        failure_set("output %u has another shape than the model gives", i);
        return HAL_GENERAL_FAILURE;
    }
    reported->n_dims = s.n_dims;
    for (uint32_t k = 0; k < s.n_dims; k++)
        reported->dims[k] = (uint32_t) s.dims[k];
    reported->is_sufficient = r->out[i].length >= size;
    if (!reported->is_sufficient)
        return HAL_OUTPUT_INSUFFICIENT_SIZE;
    if (size)
        memcpy(r->out[i].data, from, size);
    return HAL_NONE;
}

static enum hal_status invoke(struct run *r, uint64_t *ret_time)
{
    enum hal_status status = HAL_NONE;

    if (!choose_interpreter(r))
        return HAL_GENERAL_FAILURE;
    for (uint32_t i = 0; i < r->p->base.n_inputs; i++)
        if (!write_input(r, i))
            return HAL_GENERAL_FAILURE;
    const uint64_t begun = now(CLOCK_MONOTONIC);
    if (!tfl_invoke(r->p->interpreter))
        return HAL_GENERAL_FAILURE;
    *ret_time = now(CLOCK_MONOTONIC) - begun;
    for (uint32_t i = 0; i < r->p->base.n_outputs; i++) {
        const enum hal_status one = read_output(r, i);
        if (one == HAL_GENERAL_FAILURE)
            return one;
        status = one != HAL_NONE ? one : status;
    }
    r->n_shapes = r->version >= HAL_1_2 ? r->p->base.n_outputs : 0;
    return status;
}

static enum hal_status compute(struct run *r)
{
    const uint64_t begun = now(CLOCK_MONOTONIC);
    uint64_t on_device = 0;

    pthread_mutex_lock(&r->p->lock);
    const enum hal_status status = invoke(r, &on_device);
    if (status == HAL_GENERAL_FAILURE) {
        /* Its state is not known. */
        tfl_free_interpreter(r->p->interpreter);
        r->p->interpreter = NULL;
    }
    pthread_mutex_unlock(&r->p->lock);
    if (r->measures && status == HAL_NONE) {
        const uint64_t unit = r->version <= HAL_1_3 ? 1000 : 1;
        r->timing.on_device = on_device / unit * unit;
        r->timing.in_driver = (now(CLOCK_MONOTONIC) - begun) / unit * unit;
    }
    return status;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct prepared *p = (struct prepared *) self;
    struct run r;

    failure_clear();
    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (!has_entry(version, HAL_1_2) || result->capacity < p->base.n_outputs)
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = open_run(p, version, request, config, &r);
    if (status == HAL_NONE)
        status = compute(&r);
    if (r.n_shapes)
        memcpy(result->shapes, r.shapes, r.n_shapes * sizeof(*r.shapes));
    result->n_shapes = r.n_shapes;
    result->timing = r.timing;
    close_run(&r);
    return status;
}

static void *run_in_thread(void *argument)
{
    struct run *r = argument;
    struct prepared *p = r->p;

    failure_clear();
    const enum hal_status status = compute(r);

    r->callback->notify(r->callback, status, r->n_shapes, r->shapes, r->timing);
    close_run(r);
    free(r);
    pthread_mutex_lock(&p->lock);
    p->n_running--;
    pthread_cond_broadcast(&p->finished);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool launch(struct run *r)
{
    pthread_attr_t detached;
    pthread_t thread;

    if (pthread_attr_init(&detached) != 0)
        return false;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_mutex_lock(&r->p->lock);
    const bool launched = pthread_create(&thread, &detached, run_in_thread, r) == 0;
    if (launched)
        r->p->n_running++;
    pthread_mutex_unlock(&r->p->lock);
    pthread_attr_destroy(&detached);
    return launched;
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct prepared *p = (struct prepared *) self;
    struct run *r = calloc(1, sizeof(*r));
    enum hal_status status = HAL_GENERAL_FAILURE;

    failure_clear();
    if (!has_entry(version, HAL_1_0) || version > HAL_1_3)
        status = HAL_INVALID_ARGUMENT;
    else if (r)
        status = open_run(p, version, request, config, r);
    if (status == HAL_NONE) {
        r->callback = callback;
        if (launch(r))
            return HAL_NONE;
        status = HAL_GENERAL_FAILURE;
    }
    callback->notify(callback, status, 0, NULL, (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME });
    if (r)
        close_run(r);
    free(r);
    return status;
}

/* ---- prepared models */

static void release(struct hal_prepared_model *self)
{
    struct prepared *p = (struct prepared *) self;

    pthread_mutex_lock(&p->lock);
    while (p->n_running)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
    tfl_free_interpreter(p->interpreter);
    pthread_cond_destroy(&p->finished);
    pthread_mutex_destroy(&p->lock);
    free(p->bytes);
    arena_free(&p->arena);
    free(p);
}

static const struct hal_prepared_model_methods methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .release = release,
};

/* Sets p->main, whose lists are those of the loaded model. */
static void declare_operands(struct prepared *p, struct arena *arena)
{
    const struct subgraph *g = &p->model.graph[0];
    struct hal_operand *o = arena_take(arena, g->n_values, sizeof(*o));

    p->main = (struct hal_subgraph){ .n_operands = g->n_values,
                                     .n_inputs = g->n_in,
                                     .n_outputs = g->n_out,
                                     .operands = o,
                                     .inputs = g->in,
                                     .outputs = g->out };
    for (uint32_t i = 0; o && i < g->n_values; i++) {
        o[i].type = g->value[i].type;
        o[i].n_dims = g->value[i].n_dims;
        o[i].dims = g->value[i].dims;
    }
}

enum hal_status new_prepared_model(const struct tfl_library *library, struct arena *arena,
                                   const struct model *m, struct hal_prepared_model **ret_prepared)
{
    const struct subgraph *g = &m->graph[0];
    struct prepared *p = calloc(1, sizeof(*p));
    bool is_known = true;

    if (!p)
        return HAL_GENERAL_FAILURE;
    *p = (struct prepared){ .base = { &methods, g->n_in, g->n_out },
                            .library = library,
                            .model = *m,
                            .shape = arena_take(arena, g->n_in, sizeof(*p->shape)),
                            .is_omitted = arena_take(arena, g->n_in, sizeof(*p->is_omitted)) };
    declare_operands(p, arena);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->finished, NULL);
    for (uint32_t i = 0; p->shape && i < g->n_in; i++)
        is_known = shape_of(&g->value[g->in[i]], &p->shape[i]) && is_known;
    const enum hal_status status =
        arena->failed ? HAL_GENERAL_FAILURE : convert_and_open(p, is_known);
    if (status != HAL_NONE) {
        release(&p->base);
        return status;
    }
    p->arena = *arena;
    *arena = (struct arena){ 0 };
    *ret_prepared = &p->base;
    return HAL_NONE;
}
