#include "harness/conform/conform_requests.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_guard.h"
#include "sim/client/driver_client.h"

enum { ALIGNMENT = 64 };

static const struct graph *main_graph(const struct example *e)
{
    return &e->model.graph[0];
}

static struct hal_request_pool pool_of(struct arena *a, uint64_t size)
{
    return (struct hal_request_pool){ .memory = { .kind = HAL_MEMORY_ADDRESS,
                                                  .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                                  .address = arena_alloc(a, size, 1),
                                                  .fd = -1,
                                                  .size = size } };
}

static uint64_t aligned(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t put_input(const struct tensor *t, uint64_t at, struct hal_argument *ret)
{
    size_t n = tensor_bytes(t);

    *ret = (struct hal_argument){ .has_no_value = !t->data && n };
    if (ret->has_no_value)
        return at;
    ret->location = (struct hal_location){ .pool = 0, .offset = at, .length = n };
    ret->n_dims = t->shape.rank;
    ret->dims = t->shape.dim;
    return at + aligned(n);
}

/* More than the expected value needs. */
static uint64_t room_of(const struct tensor *expected)
{
    return aligned(tensor_bytes(expected)) + ALIGNMENT;
}

static uint64_t place_arguments(const struct example *e, struct conform_request *r)
{
    uint64_t size = 0, at = 0;

    for (uint32_t i = 0; i < main_graph(e)->n_inputs; i++)
        size = put_input(&e->in[i], size, &r->inputs[i]);
    r->pool[0].memory.size = size + ALIGNMENT;
    for (uint32_t i = 0; i < main_graph(e)->n_outputs; i++) {
        uint64_t room = room_of(&e->expected[i]);
        r->outputs[i].location = (struct hal_location){ .pool = 1, .offset = at, .length = room };
        at += room;
    }
    return at;
}

void conform_request(const struct example *e, struct arena *a, struct conform_request *ret_request)
{
    uint32_t n_in = main_graph(e)->n_inputs, n_out = main_graph(e)->n_outputs;
    struct conform_request r = { .inputs = arena_alloc(a, n_in, sizeof *r.inputs),
                                 .outputs = arena_alloc(a, n_out, sizeof *r.outputs) };
    uint64_t out = place_arguments(e, &r);

    r.pool[0] = pool_of(a, r.pool[0].memory.size);
    r.pool[1] = pool_of(a, out);
    for (uint32_t i = 0; i < n_in; i++)
        if (e->in[i].data && tensor_bytes(&e->in[i]))
            memcpy((char *) r.pool[0].memory.address + r.inputs[i].location.offset, e->in[i].data,
                   tensor_bytes(&e->in[i]));
    for (int i = 0; i < CONFORM_OWN; i++) {
        r.own[i] = r.pool[i].memory.address;
        r.own_size[i] = r.pool[i].memory.size;
    }
    r.result = (struct hal_result){ .shapes = arena_alloc(a, n_out + 1, sizeof *r.result.shapes),
                                    .capacity = n_out };
    r.hal = (struct hal_request){ n_in, n_out, 2, r.inputs, r.outputs, NULL };
    *ret_request = r;
    ret_request->hal.pools = ret_request->pool;
}

static void use_file(struct conform_request *r, uint32_t pool)
{
    struct hal_memory *m = &r->pool[pool].memory;
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), size = (m->size + page - 1) / page * page;
    int fd = memfd_create("pool", MFD_CLOEXEC);

    MUST(fd >= 0 && ftruncate(fd, (off_t) (page + size)) == 0);
    r->map[pool] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t) page);
    MUST(r->map[pool] != MAP_FAILED);
    memcpy(r->map[pool], m->address, m->size);
    r->own[pool] = r->map[pool];
    r->own_size[pool] = m->size;
    *m = (struct hal_memory){ HAL_MEMORY_FD, m->protection, NULL, fd, page, m->size };
}

void conform_request_use_files(struct conform_request *r)
{
    for (uint32_t i = 0; i < 2; i++)
        use_file(r, i);
}

void conform_request_close_files(struct conform_request *r)
{
    for (uint32_t i = 0; i < 2; i++) {
        munmap(r->map[i], r->pool[i].memory.size);
        r->own[i] = NULL;
        close(r->pool[i].memory.fd);
    }
}

void *conform_request_value(const struct conform_request *r, const struct hal_argument *a)
{
    uint32_t pool = a->location.pool;
    char *start = r->map[pool] ? r->map[pool] : r->pool[pool].memory.address;

    return start + a->location.offset;
}

void conform_request_use_token(struct conform_request *r, struct hal_argument *a, uint32_t token)
{
    conform_must(r->hal.n_pools < CONFORM_POOLS, "too many pools");
    r->pool[r->hal.n_pools] = (struct hal_request_pool){ .is_token = true, .token = token };
    a->location = (struct hal_location){ .pool = r->hal.n_pools++ };
}

bool conform_request_is_specified(const struct example *e)
{
    const struct graph *g = main_graph(e);

    for (uint32_t i = 0; i < g->n_outputs; i++) {
        const struct tensor *t = &g->operand[g->output[i]].tensor;
        if (dtype_info[t->dtype].tensor && !shape_known(&t->shape))
            return false;
    }
    return true;
}

/* ---- kinds of execution */

/* Callbacks of executions; a driver may call them late or again. */
static struct driver_client executions;

static void begin_executions(void)
{
    driver_client_init(&executions, NULL);
}

static atomic_uint executed;

unsigned conform_executed(void)
{
    return atomic_load(&executed);
}

void conform_forget_executed(void)
{
    atomic_store(&executed, 0);
}

/* A violation of the contract ends the rule. */
static enum hal_status run(enum execution_way way, struct hal_prepared_model *p,
                           enum hal_version version, struct conform_request *r,
                           const struct hal_execution_config *config)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local char violation[sizeof(((struct client_end *) 0)->violation)];
    struct conform_guard guard;
    struct client_end end;

    pthread_once(&once, begin_executions);
    conform_guard_begin(r, &guard);
    driver_client_execute(&executions, way, p, version, &r->hal, config, &r->result, &r->launched,
                          &end);
    r->launch = end.launched;
    const char *misbehaviour = conform_guard_end(&guard, r, way, version, config, end.status);
    memcpy(violation, end.violation, sizeof violation);
    conform_must(!violation[0], violation);
    conform_must(way != EXECUTION_BURST || end.launched == HAL_NONE, "configure_burst fails");
    conform_must(!misbehaviour, misbehaviour);
    if (end.status == HAL_NONE)
        atomic_fetch_or(&executed, 1u << way);
    return end.status;
}

#define RUN(name, way)                                                                             \
    static enum hal_status name(struct hal_prepared_model *p, enum hal_version version,            \
                                struct conform_request *r,                                         \
                                const struct hal_execution_config *config)                         \
    {                                                                                              \
        return run(way, p, version, r, config);                                                    \
    }
RUN(run_synchronous, EXECUTION_SYNCHRONOUS)
RUN(run_asynchronous, EXECUTION_ASYNCHRONOUS)
RUN(run_burst, EXECUTION_BURST)
RUN(run_fenced, EXECUTION_FENCED)
RUN(run_reusable, EXECUTION_REUSABLE)
RUN(run_reusable_fenced, EXECUTION_REUSABLE_FENCED)
#undef RUN

const struct conform_kind conform_kinds[] = {
    { "synchronous", EXECUTION_SYNCHRONOUS, HAL_1_3, false, true, false, run_synchronous },
    { "asynchronous", EXECUTION_ASYNCHRONOUS, HAL_1_3, false, true, true, run_asynchronous },
    { "burst", EXECUTION_BURST, HAL_FL5, false, true, false, run_burst },
    { "fenced", EXECUTION_FENCED, HAL_1_3, true, false, true, run_fenced },
    { "reusable", EXECUTION_REUSABLE, HAL_FL8, false, true, false, run_reusable },
    { "reusable, fenced", EXECUTION_REUSABLE_FENCED, HAL_FL8, true, false, true,
      run_reusable_fenced },
};
const int conform_n_kinds = sizeof conform_kinds / sizeof *conform_kinds;

const struct conform_kind *conform_kind_named(const char *name)
{
    for (int k = 0; k < conform_n_kinds; k++)
        if (strcmp(conform_kinds[k].name, name) == 0)
            return &conform_kinds[k];
    abort();
}

bool conform_kind_is_of(const struct conform_kind *k, enum hal_version version)
{
    return execution_way_is_of(k->way, version);
}

/* A service returns GENERAL_FAILURE for a method that its driver does not have, also for a request
 * without arguments, which is INVALID_ARGUMENT else. */
static bool service_has_method(struct conform *c, struct hal_prepared_model *p,
                               const struct conform_kind *k, enum hal_version version)
{
    const unsigned bit = 1u << (k - conform_kinds);
    struct conform_state *s = c->state;

    if (!(s->known & bit)) {
        struct hal_execution_config config = client_config();
        struct conform_request none = { .result = { .n_shapes = 0 } };
        struct hal_burst *b = NULL;
        enum hal_status status = k->way == EXECUTION_BURST
                                     ? p->methods->configure_burst(p, version, &b)
                                     : k->run(p, version, &none, &config);
        if (b)
            b->methods->release(b);
        s->known |= bit;
        s->missing |= status == HAL_GENERAL_FAILURE ? bit : 0;
    }
    return !(s->missing & bit);
}

bool conform_can_run(struct conform *c, const struct hal_prepared_model *p,
                     const struct conform_kind *k, enum hal_version version)
{
    if (!conform_kind_is_of(k, version))
        return false;
    if (execution_way_has_method(k->way, p->methods) &&
        (!c->is_remote ||
         service_has_method(c, (struct hal_prepared_model *) (uintptr_t) p, k, version)))
        return true;
    conform_not_applicable(c, "the driver has no %s executions", k->name);
    return false;
}

bool conform_result_is_empty(const struct hal_result *r)
{
    return !r->n_shapes && r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME;
}

void conform_reported_shape(const struct conform_request *r, uint32_t i, struct shape *s)
{
    if (r->result.n_shapes != r->hal.n_outputs)
        return;
    const struct hal_output_shape *reported = &r->result.shapes[i];
    s->rank = reported->n_dims < MAX_RANK ? reported->n_dims : MAX_RANK;
    memcpy(s->dim, reported->dims, s->rank * sizeof *s->dim);
}

bool conform_outputs_are(const struct conform_request *r, const struct tensor *expected)
{
    bool ok = true;

    for (uint32_t i = 0; i < r->hal.n_outputs; i++) {
        const void *at = conform_request_value(r, &r->outputs[i]);
        ok = ok && memcmp(at, expected[i].data, tensor_bytes(&expected[i])) == 0;
    }
    return ok;
}

/* ---- subjects */

bool conform_subject_open(struct conform *c, const struct one_op *o,
                          struct conform_subject *ret_subject)
{
    *ret_subject = (struct conform_subject){ .prepared = NULL };
    if (!o) /* the reason is set by the function that looked for one */
        return false;
    conform_model_of(&ret_subject->model, o);
    conform_doing(c, "%s", ret_subject->model.name);
    ret_subject->prepared = conform_prepare_supported(c, &ret_subject->model.hal);
    conform_subject_reset(ret_subject);
    return ret_subject->prepared;
}

void conform_subject_close(struct conform_subject *s)
{
    if (s->prepared)
        s->prepared->methods->release(s->prepared);
    if (s->model.arena)
        conform_model_done(&s->model);
}

void conform_subject_reset(struct conform_subject *s)
{
    conform_request(&s->model.example, s->model.arena, &s->request);
    memset(s->request.pool[1].memory.address, 0x55, s->request.pool[1].memory.size);
}

bool conform_subject_is_correct(const struct conform_subject *s)
{
    return conform_outputs_are(&s->request, s->model.example.expected);
}
