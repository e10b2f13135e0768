/* Many executions of one model: the results stay right, and nothing is lost that the process has
 * only so much of. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_usage.h"
#include "harness/corrupt/cache_files.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

enum { RUNS = 300, WARM_RUNS = 60, MANY_RUNS = 1100 };

/* The n-th kind of execution that the version and the driver have, counted round and round. */
static const struct conform_kind *kind_of(struct conform *c, const struct conform_subject *s, int n)
{
    const struct conform_kind *kind[8];
    int n_kinds = 0;

    for (int i = 0; i < conform_n_kinds && n_kinds < COUNT(kind); i++)
        if (conform_can_run(c, s->prepared, &conform_kinds[i], c->version))
            kind[n_kinds++] = &conform_kinds[i];
    conform_must(n_kinds > 0, "the driver has no kind of execution");
    return kind[n % n_kinds];
}

static void run_once_as(struct conform *c, struct conform_subject *s,
                        const struct conform_kind *kind, int run)
{
    struct hal_execution_config config = client_config();

    conform_subject_reset(s);
    enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "execution %d, %s: %s, or wrong results", run, kind->name, hal_status_name(status));
}

static void run_once(struct conform *c, struct conform_subject *s, int run)
{
    run_once_as(c, s, kind_of(c, s, run), run);
}

static void results(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_sum(c), &s))
        for (int run = 0; run < MANY_RUNS; run++)
            run_once(c, &s, run);
    conform_subject_close(&s);
}

/* A device may power down between two executions. */
static void pauses(struct conform *c, const void *data)
{
    static const useconds_t pause_us[] = { 30000, 250000 };
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_sum(c), &s))
        for (int run = 0; run < COUNT(pause_us) * conform_n_kinds; run++) {
            if (!conform_can_run(c, s.prepared, &conform_kinds[run / COUNT(pause_us)], c->version))
                continue;
            usleep(pause_us[run % COUNT(pause_us)]);
            run_once_as(c, &s, &conform_kinds[run / COUNT(pause_us)], run);
        }
    conform_subject_close(&s);
}

/* ---- resources of the process */

/* False: the driver is not in this process, or does not support the model. */
static bool open_subject(struct conform *c, struct conform_subject *s)
{
    *s = (struct conform_subject){ .prepared = NULL };
    if (!c->is_remote)
        return conform_subject_open(c, conform_sum(c), s);
    conform_not_applicable(c, "the driver is in another process");
    return false;
}

static void resources(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (open_subject(c, &s)) {
        for (int run = 0; run < WARM_RUNS; run++)
            run_once(c, &s, run);
        struct conform_usage before = conform_usage_now();
        for (int run = 0; run < RUNS; run++)
            run_once(c, &s, run);
        conform_expect_usage(c, &before, RUNS, "executions");
    }
    conform_subject_close(&s);
}

/* ---- calls that fail, and objects that are made and released */

static void reject_requests(struct conform *c, struct conform_subject *s)
{
    struct hal_execution_config config = client_config();

    for (int k = 0; k < conform_n_kinds; k++) {
        if (!conform_can_run(c, s->prepared, &conform_kinds[k], c->version))
            continue;
        s->request.hal.n_outputs = 0;
        enum hal_status status =
            conform_kinds[k].run(s->prepared, c->version, &s->request, &config);
        s->request.hal.n_outputs = s->model.hal.main.n_outputs;
        EXPECT_STATUS(c, status, HAL_INVALID_ARGUMENT, "a request without outputs");
    }
}

static void reject_models(struct conform *c, struct conform_subject *s)
{
    struct hal_model invalid = s->model.hal;

    invalid.main.n_outputs = 0;
    struct conform_prepared p =
        conform_prepare(c, c->version, &invalid, &client_default_preparation);
    EXPECT_STATUS(c, p.status, HAL_INVALID_ARGUMENT, "a model without outputs");
}

/* Each ends with MISSED_DEADLINE, unless the driver ignores deadlines. */
static void miss_deadlines(struct conform *c, struct conform_subject *s)
{
    struct hal_execution_config config = client_config();

    config.deadline = 1;
    for (int k = 0; k < conform_n_kinds; k++)
        if (conform_can_run(c, s->prepared, &conform_kinds[k], c->version) &&
            c->version >= conform_kinds[k].deadlines)
            conform_kinds[k].run(s->prepared, c->version, &s->request, &config);
}

static void make_burst(struct conform *c, struct conform_subject *s)
{
    struct hal_burst *b = NULL;

    if (conform_can_run(c, s->prepared, conform_kind_named("burst"), c->version) &&
        s->prepared->methods->configure_burst(s->prepared, c->version, &b) == HAL_NONE)
        b->methods->release(b);
}

static void make_reusable(struct conform *c, struct conform_subject *s)
{
    const struct hal_execution_config config = client_config();
    struct hal_execution *x = NULL;

    if (conform_can_run(c, s->prepared, conform_kind_named("reusable"), c->version) &&
        s->prepared->methods->create_reusable_execution(s->prepared, &s->request.hal, &config,
                                                        &x) == HAL_NONE)
        x->methods->release(x);
}

static void make_buffer(struct conform *c, struct conform_subject *s)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    const struct hal_argument *in = &s->request.inputs[0];
    const struct hal_memory from = { HAL_MEMORY_ADDRESS,
                                     HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                     conform_request_value(&s->request, in),
                                     -1,
                                     0,
                                     in->location.length };
    struct hal_buffer *b = NULL;
    uint32_t token;

    if (c->version < HAL_1_3 || !c->driver->allocate ||
        c->driver->allocate(c->driver, &desc, 1, &s->prepared, 1, &role, 0, NULL, &b, &token) !=
            HAL_NONE)
        return;
    EXPECT_STATUS(c, b->methods->copy_from(b, &from, 0, NULL), HAL_NONE, "copy_from");
    b->methods->release(b);
}

static void save_and_restore(struct conform *c, struct conform_subject *s)
{
    uint32_t n_model = 0, n_data = 0;
    enum hal_status status;
    struct files f;

    if (c->version < HAL_1_2 || !conform_cache_files_needed(c, &n_model, &n_data, &status) ||
        status != HAL_NONE || n_model + n_data == 0)
        return;
    files_init(&f, n_model, n_data);
    const struct hal_prepare_config config = files_config(&f);
    for (int k = 0; k < 2; k++) {
        struct conform_prepared p =
            conform_prepare(c, c->version, k ? NULL : &s->model.hal, &config);
        if (p.model)
            p.model->methods->release(p.model);
    }
    files_done(&f);
}

static void ask_support(struct conform *c, struct conform_subject *s)
{
    conform_supports(c, c->version, &s->model.hal);
}

static void open_again(struct conform *c, struct conform_subject *s)
{
    (void) s;
    struct hal_driver *d = conform_open(c);
    d->close(d);
}

static const struct other_call {
    const char *what;
    void (*call)(struct conform *c, struct conform_subject *s);
    int n, warm;
} other_calls[] = {
    { "requests that are rejected", reject_requests, 600, 20 },
    { "models that are rejected", reject_models, 600, 20 },
    { "executions whose deadline has passed", miss_deadlines, 600, 20 },
    { "bursts", make_burst, 600, 20 },
    { "reusable executions", make_reusable, 600, 20 },
    { "buffers", make_buffer, 600, 20 },
    { "saved and restored models", save_and_restore, 300, 20 },
    { "queries of supported operations", ask_support, 1000, 20 },
    { "drivers that are opened and closed", open_again, 60, 5 },
};

static void other_resources(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (open_subject(c, &s))
        for (int i = 0; i < COUNT(other_calls); i++) {
            const struct other_call *o = &other_calls[i];
            conform_doing(c, "%d %s", o->n, o->what);
            for (int k = 0; k < o->warm; k++)
                o->call(c, &s);
            struct conform_usage before = conform_usage_now();
            for (int k = 0; k < o->n; k++)
                o->call(c, &s);
            conform_expect_usage(c, &before, o->n, o->what);
        }
    conform_subject_close(&s);
}

/* ---- too little memory: the address space is limited to what is in use, and a little more */

enum { SCARCE_ELEMENTS = 1 << 19 }; /* of a constant in float32 */

/* Bytes; 0: unknown. */
static uint64_t address_space(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

static bool is_refusal(const struct conform *c, enum hal_status s)
{
    return s == HAL_GENERAL_FAILURE ||
           (c->version >= HAL_1_3 &&
            (s == HAL_RESOURCE_EXHAUSTED_TRANSIENT || s == HAL_RESOURCE_EXHAUSTED_PERSISTENT));
}

/* With so many bytes more than are in use; all that the client needs is allocated before. */
static void run_scarce(struct conform *c, const struct conform_model *m, uint64_t more)
{
    static struct client_prepare_wait wait; /* static: a driver may call it late */
    const struct hal_execution_config config = client_config();
    enum hal_status status = HAL_NONE;
    struct conform_request r;
    struct rlimit old, scarce;

    client_prepare_wait_init(&wait);
    conform_request(&m->example, m->arena, &r);
    conform_must(getrlimit(RLIMIT_AS, &old) == 0, "getrlimit fails");
    scarce = old;
    scarce.rlim_cur = address_space() + more;
    conform_must(setrlimit(RLIMIT_AS, &scarce) == 0, "setrlimit fails");
    c->driver->prepare_model(c->driver, c->version, &m->hal, &client_default_preparation,
                             &wait.base);
    client_prepare_await(&wait, 1, 0);
    if (wait.prepared && wait.prepared->methods->execute_synchronously && c->version >= HAL_1_2)
        status = wait.prepared->methods->execute_synchronously(wait.prepared, c->version, &r.hal,
                                                               &config, &r.result);
    setrlimit(RLIMIT_AS, &old);
    EXPECT(c, wait.status == HAL_NONE || is_refusal(c, wait.status),
           "%s, with %llu KiB of memory: prepare_model: %s", m->name,
           (unsigned long long) more >> 10, hal_status_name(wait.status));
    EXPECT(c, status == HAL_NONE || is_refusal(c, status),
           "%s, with %llu KiB of memory: execute_synchronously: %s", m->name,
           (unsigned long long) more >> 10, hal_status_name(status));
    if (wait.prepared)
        wait.prepared->methods->release(wait.prepared);
}

/* Sanitizers end processes that run out of memory: with them, only very large allocations fail. */
static void scarce_memory(struct conform *c, const void *data)
{
    static const uint32_t kib[] = {
        0, 64, 512, 1024, 2048, 3072, 4096, 6144, 8192, 16384, 1 << 20
    };
    const bool is_sanitized = address_space() > UINT64_C(1) << 40;
    struct conform_subject s;
    struct conform_model m;

    (void) data;
    if (!open_subject(c, &s)) {
        conform_subject_close(&s);
        return;
    }
    conform_model_large(&m, DT_F32, SCARCE_ELEMENTS);
    bool supports = conform_supports(c, c->version, &m.hal);
    if (!supports)
        conform_not_applicable(c, "the driver does not support %s", m.name);
    for (int i = is_sanitized ? COUNT(kib) - 1 : 0; supports && i < COUNT(kib); i++) {
        conform_doing(c, "preparing and executing with %u KiB of memory", kib[i]);
        run_scarce(c, &m, (uint64_t) kib[i] << 10);
        run_once(c, &s, i);
    }
    conform_model_done(&m);
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "stress", "results", HAL_1_0, 0,
      "more than a thousand executions of one model: all results are right", results },
    { "consistency", "pauses", HAL_1_0, 0,
      "results do not depend on the time since the execution before", pauses },
    { "stress", "resources", HAL_1_0, 0,
      "hundreds of executions of one model: no descriptors, threads, mappings or memory are lost",
      resources },
    { "stress", "other-resources", HAL_1_0, 0,
      "nothing is lost by failures, preparations, bursts, buffers, caches and clients",
      other_resources },
    { "stress", "memory", HAL_1_0, 0,
      "with too little memory, preparing and executing succeed or fail, and work again afterwards",
      scarce_memory },
};
const struct conform_rules conform_rules_many_runs = { rules_of_file, COUNT(rules_of_file), NULL,
                                                       NULL };
