#include "harness/bench/bench_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/run/devices.h"
#include "sim/hal/hal_convert.h"

/* A driver that is short of resources for a moment is asked again for this long. */
enum { RETRIES = 5000, RETRY_US = 1000 };
enum { ALIGNMENT = 64 };

/* ---- what the driver does wrong */

__attribute__((format(printf, 3, 4))) static bool end_with(struct bench_end *e, enum verdict v,
                                                           const char *fmt, ...)
{
    va_list args;

    e->verdict = v;
    va_start(args, fmt);
    vsnprintf(e->why, sizeof e->why, fmt, args);
    va_end(args);
    return false;
}

/* After a call that failed: the driver's process may have died meanwhile. */
static bool end_failed(struct bench_driver *d, const char *what, const struct client_end *c,
                       struct bench_end *e)
{
    struct outcome o;

    if (target_has_failed(d->target, &o)) {
        end_with(e, o.hung ? VERDICT_HANG : VERDICT_CRASH, "%s %s", o.violation, what);
        outcome_done(&o);
        return false;
    }
    if (c->violation[0])
        return end_with(e, VERDICT_VIOLATION, "%s: %s", what, c->violation);
    return end_with(e, VERDICT_REFUSED, "%s ended with %s%s%s", what, hal_status_name(c->status),
                    c->failure_text[0] ? ": " : "", c->failure_text);
}

/* ---- opening */

static bool ask(struct bench_driver *d, struct bench_end *e, bool *supported)
{
    struct hal_driver *driver = d->client.driver;
    const uint32_t n = d->hal.main.n_operations;
    uint32_t n_answers = UINT32_MAX;
    struct client_end c = { 0 };

    c.status = driver->get_supported_operations(driver, d->version, &d->hal, supported, &n_answers);
    if (c.status != HAL_NONE)
        return end_failed(d, "get_supported_operations", &c, e);
    if (n_answers != n)
        return end_with(e, VERDICT_VIOLATION,
                        "get_supported_operations gave %u answers for %u operations", n_answers, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct op *op = op_find(d->hal.main.operations[i].type);
        if (!supported[i])
            return end_with(e, VERDICT_UNSUPPORTED, "operation %u (%s) is not supported", i,
                            op ? op->name : "of an extension");
    }
    return true;
}

/* The model at the driver's version. */
static int convert(struct bench_driver *d, struct bench_end *e, struct why *w)
{
    const struct model *m = &d->model->model;
    const int level = hal_level(d->version);
    struct conversion c;
    struct why why;

    if (model_complies(m, level, &why) < 0) {
        if (model_convert(m, level, d->arena, &c, &why) < 0) {
            if (why.code != WHY_UNSUPPORTED) {
                *w = why;
                return -1;
            }
            end_with(e, VERDICT_UNSUPPORTED, "%.300s; the target has HAL %s", why.text,
                     hal_version_name(d->version));
            return 0;
        }
        struct model *kept = arena_copy(d->arena, &c.model, sizeof(c.model));
        if (!kept)
            return why_no_memory(w);
        m = kept;
    }
    return convert_to_hal(m, d->arena, &d->hal, w);
}

static int start(struct bench_driver *d, struct bench_end *e, struct why *w)
{
    struct target_info info;

    d->version = target_version(d->target);
    driver_client_init(&d->client, (struct hal_driver *) (uintptr_t) target_driver(d->target));
    TRY(target_info(d->target, &info, w));
    d->n_model_cache = info.n_model_cache;
    d->n_data_cache = info.n_data_cache;
    TRY(convert(d, e, w));
    bool *supported = arena_alloc(d->arena, d->hal.main.n_operations + 1, sizeof(bool));
    if (!supported)
        return why_no_memory(w);
    if (e->verdict == VERDICT_PASS)
        ask(d, e, supported);
    return 0;
}

int bench_driver_open(const char *uri, const struct bench_model *m, double timeout,
                      struct bench_driver *ret_driver, struct bench_end *ret_end, struct why *w)
{
    struct target_host host = harness_host;
    struct bench_driver *d = ret_driver;

    host.is_served = true;
    host.reply_timeout = timeout;
    *ret_end = (struct bench_end){ .verdict = VERDICT_PASS };
    *d = (struct bench_driver){ .model = m, .arena = arena_new(0) };
    if (!d->arena)
        return why_no_memory(w);
    if (target_open(uri, &host, &d->target, w) < 0) {
        arena_free(d->arena);
        return -1;
    }
    if (start(d, ret_end, w) < 0) {
        bench_driver_close(d);
        return why_prefix(w, "%s", uri);
    }
    return 0;
}

static void release(struct bench_driver *d)
{
    if (d->prepared)
        d->prepared->methods->release(d->prepared);
    d->prepared = NULL;
}

void bench_driver_close(struct bench_driver *d)
{
    release(d);
    target_free(d->target);
    driver_client_done(&d->client);
    arena_free(d->arena);
    *d = (struct bench_driver){ 0 };
}

bool bench_driver_prepare(struct bench_driver *d, enum bench_what what,
                          const struct hal_cache *cache, uint64_t *ret_ns,
                          struct bench_end *ret_end)
{
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    const bool loads = what == BENCH_COMPILE_LOAD;
    struct client_end c;

    release(d);
    if (cache)
        config.cache = *cache;
    const uint64_t begun = clock_steady_ns();
    d->prepared =
        driver_client_prepare(&d->client, d->version, loads ? NULL : &d->hal, &config, &c);
    *ret_ns = clock_steady_ns() - begun;
    return d->prepared ||
           end_failed(d, loads ? "prepare_model_from_cache" : "prepare_model", &c, ret_end);
}

static uint64_t peak_of(int pid)
{
    char path[64], line[256];
    unsigned long long kib = 0;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (uint64_t) kib << 10;
}

uint64_t bench_driver_memory(const struct bench_driver *d)
{
    const int pid = target_process(d->target);

    return pid > 0 ? peak_of(pid) : 0;
}

/* ---- memory of executions */

static size_t aligned(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Arguments one after the other, from `at` on; returns the end. */
static size_t place(const struct tensor *t, uint32_t n, size_t *at)
{
    size_t end = 0;

    for (uint32_t i = 0; i < n; i++) {
        at[i] = end;
        end = aligned(end + tensor_bytes(&t[i]) + 1, ALIGNMENT);
    }
    return end;
}

static void put_arguments(const struct bench_slot *s, uint32_t pool, uint32_t n,
                          const struct tensor *t, const uint32_t *operand, const size_t *at,
                          struct hal_argument *to)
{
    const struct graph *g = &s->driver->model->model.graph[0];

    for (uint32_t i = 0; i < n; i++) {
        const struct tensor *declared = &g->operand[operand[i]].tensor;
        const bool is_open = dtype_info[t[i].dtype].tensor && !shape_known(&declared->shape);
        const size_t length = tensor_bytes(&t[i]);
        to[i] = (struct hal_argument){
            .location = { .pool = pool, .offset = at[i], .length = length ? length : 1 },
            .n_dims = is_open ? t[i].shape.rank : 0,
            .dims = is_open ? t[i].shape.dim : NULL,
        };
    }
}

/* A sealed file, so that a driver need not fear that it shrinks. */
static int map_memory(struct bench_slot *s, struct why *w)
{
    s->fd = memfd_create("halcyon-bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0 || ftruncate(s->fd, (off_t) s->size) < 0)
        return why_fail(w, WHY_SYSTEM, "memory of %zu bytes: %s", s->size, strerror(errno));
    fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    void *at = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (at == MAP_FAILED)
        return why_fail(w, WHY_SYSTEM, "memory of %zu bytes: %s", s->size, strerror(errno));
    s->memory = at;
    return 0;
}

static struct hal_request_pool pool_of(const struct bench_slot *s, size_t at, size_t size,
                                       bool is_output)
{
    return (struct hal_request_pool){ .memory = { .kind = HAL_MEMORY_FD,
                                                  .protection = HAL_MEMORY_READ |
                                                                (is_output ? HAL_MEMORY_WRITE : 0u),
                                                  .address = s->memory + at,
                                                  .fd = s->fd,
                                                  .offset = at,
                                                  .size = size } };
}

static int make_slot(struct bench_slot *s, struct why *w)
{
    const struct bench_model *m = s->driver->model;
    const struct graph *g = &m->model.graph[0];
    struct arena *a = s->arena;
    size_t *in_at = arena_alloc(a, g->n_inputs, sizeof(size_t));
    size_t *out_at = arena_alloc(a, g->n_outputs, sizeof(size_t));
    struct hal_argument *in = arena_alloc(a, g->n_inputs, sizeof(*in));
    struct hal_argument *out = arena_alloc(a, g->n_outputs, sizeof(*out));
    struct hal_request_pool *pools = arena_alloc(a, 2, sizeof(*pools));
    struct conversion notes = { 0 };

    s->in = arena_alloc(a, g->n_inputs, sizeof(*s->in));
    s->out = arena_alloc(a, g->n_outputs, sizeof(*s->out));
    s->shapes = arena_alloc(a, g->n_outputs, sizeof(*s->shapes));
    if (!in_at || !out_at || !in || !out || !pools || !s->in || !s->out || !s->shapes)
        return why_no_memory(w);
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    const size_t in_size = aligned(place(m->in, g->n_inputs, in_at), page);
    const size_t out_size = aligned(place(m->out, g->n_outputs, out_at), page);
    s->size = in_size + out_size;
    TRY(map_memory(s, w));
    for (uint32_t i = 0; i < g->n_inputs; i++)
        s->in[i] = s->memory + in_at[i];
    for (uint32_t i = 0; i < g->n_outputs; i++)
        s->out[i] = s->memory + in_size + out_at[i];
    put_arguments(s, 0, g->n_inputs, m->in, g->input, in_at, in);
    put_arguments(s, 1, g->n_outputs, m->out, g->output, out_at, out);
    pools[0] = pool_of(s, 0, in_size, false);
    pools[1] = pool_of(s, in_size, out_size, true);
    s->request = (struct hal_request){ g->n_inputs, g->n_outputs, 2, in, out, pools };
    return hal_request_at(&s->request, s->driver->version, a, &notes, &s->request, w);
}

int bench_slot_init(struct bench_slot *s, struct bench_driver *d, struct why *w)
{
    *s = (struct bench_slot){ .driver = d, .fd = -1, .arena = arena_new(0) };
    if (!s->arena)
        return why_no_memory(w);
    if (make_slot(s, w) == 0)
        return 0;
    bench_slot_done(s);
    return -1;
}

void bench_slot_done(struct bench_slot *s)
{
    if (s->burst)
        s->burst->methods->release(s->burst);
    if (s->memory)
        munmap(s->memory, s->size);
    if (s->fd >= 0)
        close(s->fd);
    arena_free(s->arena);
    *s = (struct bench_slot){ .fd = -1 };
}

void bench_slot_put(struct bench_slot *s, const struct bench_sequence *q, uint32_t i)
{
    const struct bench_model *m = s->driver->model;

    for (uint32_t k = 0; k < m->n_data; k++) {
        const size_t bytes = tensor_bytes(&m->in[m->data[k]]);
        memcpy(s->in[m->data[k]], q->in[k] + i * bytes, bytes);
    }
    for (uint32_t k = 0; k < m->n_states; k++) {
        const struct bench_state *t = &m->state[k];
        if (i)
            memcpy(s->in[t->in], s->out[t->out], tensor_bytes(&m->in[t->in]));
        else
            bench_model_reset(&m->in[t->in], s->in[t->in]);
    }
}

/* ---- executing */

static void execute_in_burst(struct bench_slot *s, const struct hal_execution_config *config,
                             struct hal_result *result, struct client_end *c)
{
    static const int64_t identifier[] = { 0, 1 };

    c->status = s->burst->methods->execute_synchronously(s->burst, &s->request, 2, identifier,
                                                         config, result);
}

static bool configure(struct bench_slot *s, struct bench_end *e)
{
    struct bench_driver *d = s->driver;
    struct hal_prepared_model *p = d->prepared;
    struct client_end c = { .status = HAL_GENERAL_FAILURE };

    if (p->methods->configure_burst)
        c.status = p->methods->configure_burst(p, d->version, &s->burst);
    if (c.status == HAL_NONE && s->burst)
        return true;
    s->burst = NULL;
    return end_failed(d, "configure_burst", &c, e);
}

bool bench_slot_execute(struct bench_slot *s, enum bench_what what, uint64_t ret_ns[BENCH_CLOCKS],
                        struct bench_end *ret_end)
{
    struct bench_driver *d = s->driver;
    const struct hal_execution_config config = { .measure = d->version >= HAL_1_2,
                                                 .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout = HAL_NO_TIME };
    struct hal_result result = { .capacity = s->request.n_outputs, .shapes = s->shapes };
    struct client_end c;

    if (what == BENCH_BURST && !s->burst && !configure(s, ret_end))
        return false;
    for (int i = 0; i <= RETRIES; i++) {
        c = (struct client_end){ 0 };
        const uint64_t begun = clock_steady_ns();
        if (what == BENCH_BURST)
            execute_in_burst(s, &config, &result, &c);
        else
            driver_client_execute(
                &d->client, d->version < HAL_1_2 ? EXECUTION_ASYNCHRONOUS : EXECUTION_SYNCHRONOUS,
                d->prepared, d->version, &s->request, &config, &result, NULL, &c);
        ret_ns[BENCH_WALL] = clock_steady_ns() - begun;
        if (c.status != HAL_RESOURCE_EXHAUSTED_TRANSIENT)
            break;
        usleep(RETRY_US);
    }
    if (c.status != HAL_NONE || c.violation[0])
        return end_failed(d, what == BENCH_BURST ? "an execution in a burst" : "an execution", &c,
                          ret_end);
    ret_ns[BENCH_DEVICE] = result.timing.on_device;
    ret_ns[BENCH_DRIVER] = result.timing.in_driver;
    return true;
}
