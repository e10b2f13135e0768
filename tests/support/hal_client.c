#include "tests/support/hal_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/client/driver_client.h"
#include "sim/device/profile.h"
#include "sim/hal/convert.h"
#include "sim/remote/remote.h"
#include "sim/service/session.h"

static struct why w;

static struct hal_driver *open_engine(struct engine *e)
{
    struct hal_driver *d = NULL;

    ck_assert_int_eq(driver_new(e, &d, &w), 0);
    return d;
}

static struct profile *read_profile(const char *name)
{
    struct profile *p = NULL;

    ck_assert_msg(profile_parse(profile_shipped(name), name, &p, &w) == 0, "%s", w.text);
    return p;
}

static struct hal_driver *open_profile(struct profile *p)
{
    struct engine *e = NULL;

    ck_assert_int_eq(engine_device(p, NULL, &e, &w), 0);
    return open_engine(e);
}

struct hal_driver *client_open(const char *name, enum hal_version version)
{
    struct profile *p;
    struct engine *e = NULL;

    if (strcmp(name, "golden") == 0) {
        ck_assert_int_eq(engine_reference(&e, &w), 0);
        return open_engine(e);
    }
    p = read_profile(name);
    p->hal = version ? version : p->hal;
    return open_profile(p);
}

struct hal_driver *client_open_slow(const char *name, double ns)
{
    return client_open_queue(name, ns, 0, 3);
}

struct hal_driver *client_open_queue(const char *name, double ns, uint32_t depth,
                                     uint32_t priorities)
{
    struct profile *p = read_profile(name);

    p->launch_ns = p->operation_ns = ns;
    p->driver_ns = p->prepare_ns = p->prepare_operation_ns = 0;
    p->bandwidth = 1e30;
    p->queue_depth = depth;
    p->priorities = priorities;
    for (int i = 0; i < DT_END; i++)
        p->rate[i] = 1e30;
    return open_profile(p);
}

struct hal_driver *client_open_idle(const char *name, uint64_t ms)
{
    struct profile *p = read_profile(name);

    p->burst_idle_ns = ms * 1000000;
    return open_profile(p);
}

struct hal_driver *client_open_cached(const char *name, uint32_t n_model, uint32_t n_data,
                                      const char *version)
{
    struct profile *p = read_profile(name);

    p->model_cache_files = n_model;
    p->data_cache_files = n_data;
    p->version = version ? version : p->version;
    return open_profile(p);
}

struct hal_driver *client_open_changed(const char *name, void (*change)(struct profile *p))
{
    struct profile *p = read_profile(name);

    change(p);
    return open_profile(p);
}

struct hal_driver *client_open_limited(const char *name, enum hal_version version,
                                       const struct client_limits *limits)
{
    struct profile *p = read_profile(name);

    p->hal = version;
    p->limits = *limits;
    return open_profile(p);
}

/* ---- over a socket */

/* A session of the service within this process, and the remote driver connected to it. */
struct local_service {
    struct hal_driver *driver,
        *remote; /* driver: closed with the remote driver; NULL: not closed */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_over;
    void (*close)(struct hal_driver *self);
    struct local_service *next;
};
static struct local_service *services;

static void begun(struct session *s, void *user)
{
    (void) s, (void) user;
}

static void ended(struct session *s, void *user)
{
    struct local_service *n = user;

    (void) s;
    pthread_mutex_lock(&n->lock);
    n->is_over = true;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

static void close_both(struct hal_driver *self)
{
    struct local_service **at = &services, *n;

    while ((*at)->remote != self)
        at = &(*at)->next;
    n = *at;
    *at = n->next;
    n->close(self);
    pthread_mutex_lock(&n->lock);
    while (!n->is_over)
        pthread_cond_wait(&n->changed, &n->lock);
    pthread_mutex_unlock(&n->lock);
    if (n->driver)
        n->driver->close(n->driver);
    free(n);
}

static struct local_service *serve(struct hal_driver *d, uint32_t client)
{
    static const struct session_owner owner = { begun, ended };
    struct local_service *n = calloc(1, sizeof *n);
    int pair[2];

    ck_assert_ptr_nonnull(n);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->changed, NULL);
    ck_assert_int_eq(session_start(d, pair[0], client, &owner, n, &w), 0);
    ck_assert_msg(remote_open_socket(pair[1], NULL, &n->remote, &w) == 0, "%s", w.text);
    n->close = n->remote->close;
    n->remote->close = close_both;
    n->next = services;
    services = n;
    return n;
}

struct hal_driver *client_over_socket(struct hal_driver *d)
{
    struct local_service *n = serve(d, 7);

    n->driver = d;
    return n->remote;
}

struct hal_driver *client_join(struct hal_driver *d, uint32_t client)
{
    return serve(d, client)->remote;
}

void client_convert(struct client_model *m)
{
    m->arena = arena_new(0);
    m->prepared = NULL;
    if (convert_to_hal(&m->b.model, m->arena, &m->hal, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        abort();
    }
}

static void add_sums(struct client_model *m, uint32_t n, uint32_t n_out, uint32_t ops)
{
    build_init(&m->b, 1);
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(n));
    uint32_t y = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(n));
    uint32_t act = build_int(&m->b, 0);
    for (uint32_t i = 1; i <= ops; i++) {
        uint32_t z = i < ops ? build_operand(&m->b, LIFE_TEMPORARY, DT_F32, DIMS(n))
                             : build_operand(&m->b, LIFE_OUTPUT, DT_F32, DIMS(n_out));
        OPERATION(&m->b, "ADD", IDS(x, y, act), IDS(z));
        x = z;
    }
    client_convert(m);
}

void client_add_model(struct client_model *m, uint32_t n, bool unknown_dim)
{
    add_sums(m, n, unknown_dim ? 0 : n, 1);
}

void client_add_chain(struct client_model *m, uint32_t n, uint32_t ops)
{
    add_sums(m, n, n, ops);
}

void client_add_endless(struct client_model *m)
{
    build_init(&m->b, 3);
    uint32_t cond = build_subgraph(&m->b, 1), body = build_subgraph(&m->b, 2);
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
    uint32_t y = build_operand(&m->b, LIFE_OUTPUT, DT_F32, DIMS(1));
    OPERATION(&m->b, "WHILE", IDS(cond, body, x), IDS(y));
    for (uint32_t g = 1; g < 3; g++) {
        build_graph(&m->b, g);
        x = build_operand(&m->b, LIFE_INPUT, DT_F32, DIMS(1));
        uint32_t one = build_constant(&m->b, DT_F32, DIMS(1), &(float){ g == 2 });
        uint32_t act = build_int(&m->b, 0);
        y = build_operand(&m->b, LIFE_OUTPUT, g == 1 ? DT_B8 : DT_F32, DIMS(1));
        if (g == 1)
            OPERATION(&m->b, "GREATER_EQUAL", IDS(x, one), IDS(y));
        else
            OPERATION(&m->b, "ADD", IDS(x, one, act), IDS(y));
    }
    build_graph(&m->b, 0);
    model_count_consumers(&m->b.model);
    client_convert(m);
}

enum hal_status client_prepare_with(struct hal_driver *d, enum hal_version version,
                                    const struct hal_model *m,
                                    const struct hal_prepare_config *config,
                                    struct hal_prepared_model **ret_prepared)
{
    struct driver_client client;
    struct client_end end;

    driver_client_init(&client, d);
    *ret_prepared = driver_client_prepare(&client, version, m, config, &end);
    driver_client_done(&client);
    ck_assert_str_eq(end.violation, "");
    return end.status;
}

void client_prepare(struct client_model *m, struct hal_driver *d, enum hal_priority priority)
{
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = priority,
                                         .deadline = HAL_NO_DEADLINE };

    ck_assert_int_eq(client_prepare_with(d, d->hal_version, &m->hal, &config, &m->prepared),
                     HAL_NONE);
}

void client_done(struct client_model *m)
{
    if (m->prepared)
        m->prepared->methods->release(m->prepared);
    arena_free(m->arena);
    build_done(&m->b);
}

void client_fill(struct client_request *r, uint32_t n)
{
    uint32_t bytes = n * (uint32_t) sizeof(float);

    *r = (struct client_request){ 0 };
    for (uint32_t i = 0; i < n; i++) {
        r->x[i] = (float) i;
        r->y[i] = (float) (10 * i);
    }
    r->in[0].location = (struct hal_location){ .pool = 0, .length = bytes };
    r->in[1].location = (struct hal_location){ .pool = 1, .length = bytes };
    r->out[0].location = (struct hal_location){ .pool = 2, .length = bytes };
    float *memory[] = { r->x, r->y, r->z };
    for (int i = 0; i < 3; i++)
        r->pool[i].memory = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                                 .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                                 .address = memory[i],
                                                 .fd = -1,
                                                 .size = sizeof r->x };
    r->hal = (struct hal_request){ 2, 1, 3, r->in, r->out, r->pool };
    r->result = (struct hal_result){ .shapes = r->shape, .capacity = 1 };
}

void client_check(const struct client_request *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ck_assert_float_eq(r->z[i], (float) (11 * i));
}

enum hal_status client_execute(struct hal_prepared_model *p, enum hal_version version,
                               const struct hal_request *request, struct hal_result *result)
{
    const struct hal_execution_config config = client_config();

    return p->methods->execute_synchronously(p, version, request, &config, result);
}

int client_execute_after(int fence, struct hal_prepared_model *p, const struct hal_request *request,
                         struct hal_fenced_info **ret_info)
{
    const struct hal_execution_config config = client_config();
    int own;

    ck_assert_int_eq(p->methods->execute_fenced(p, HAL_FL8, request, 1, &fence, &config,
                                                HAL_NO_TIME, &own, ret_info),
                     HAL_NONE);
    return own;
}

enum hal_status client_end_fenced(enum hal_status launched, int fence, struct hal_fenced_info *info)
{
    struct hal_timing of_launch, of_fences;

    if (launched != HAL_NONE)
        return launched;
    bool ok = fence == HAL_NO_FENCE || fence_wait(1, &fence, HAL_NO_TIME) == 1;
    enum hal_status status = info->methods->get_execution_info(info, &of_launch, &of_fences);
    ck_assert_int_eq(ok, status == HAL_NONE);
    info->methods->release(info);
    if (fence != HAL_NO_FENCE)
        close(fence);
    return status;
}

int client_mappings(pid_t pid, const char *name)
{
    char path[64], wanted[64], line[512];
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/maps", (int) pid);
    snprintf(wanted, sizeof wanted, "memfd:%s", name);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, wanted) != NULL;
    fclose(f);
    return n;
}
