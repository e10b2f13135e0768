/* The methods that `halcyon random` does not call, of the driver of hostile.h in a process of its
 * own: whatever it does in one of them, this process survives, the call that it ends in reports a
 * failure, no call outlasts the time-out, and no process is left.
 *
 * HOSTILE_ACTIONS: the actions to test, separated by spaces; all if absent. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/sim.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

/* N: elements.  TIMEOUT: seconds of a reply, on a processor.  LONGEST: of all calls, by the clock
 * on the wall: a busy machine shares its processors. */
enum { N = 8, MAX_ACTIONS = 300, TIMEOUT = 1, LONGEST = 60 };

/* In the order of their calls. */
enum at {
    AT_FROM_CACHE,
    AT_ALLOCATE,
    AT_COPY_FROM,
    AT_COPY_TO,
    AT_FENCED,
    AT_INFO,
    AT_RELEASE_INFO,
    AT_BURST,
    AT_BURST_EXECUTE,
    AT_RELEASE_MEMORY,
    AT_RELEASE_BURST,
    AT_REUSABLE,
    AT_REUSABLE_EXECUTE,
    AT_REUSABLE_FENCED,
    AT_RELEASE_EXECUTION,
    AT_RELEASE_BUFFER,
    AT_RELEASE_MODEL,
    AT_CLOSE,
    METHODS
};
static const char *const methods[METHODS] = {
    [AT_FROM_CACHE] = "prepare_model_from_cache",
    [AT_ALLOCATE] = "allocate",
    [AT_COPY_FROM] = "copy_from",
    [AT_COPY_TO] = "copy_to",
    [AT_FENCED] = "execute_fenced",
    [AT_INFO] = "get_execution_info",
    [AT_RELEASE_INFO] = "release_info",
    [AT_BURST] = "configure_burst",
    [AT_BURST_EXECUTE] = "burst_execute",
    [AT_RELEASE_MEMORY] = "burst_release_memory",
    [AT_RELEASE_BURST] = "release_burst",
    [AT_REUSABLE] = "create_reusable_execution",
    [AT_REUSABLE_EXECUTE] = "reusable_execute",
    [AT_REUSABLE_FENCED] = "reusable_execute_fenced",
    [AT_RELEASE_EXECUTION] = "release_execution",
    [AT_RELEASE_BUFFER] = "release_buffer",
    [AT_RELEASE_MODEL] = "release_model",
    [AT_CLOSE] = "close",
};

/* ---- the driver's actions */

struct hostile_action {
    char name[40], expect[16];
    unsigned needs;
};
static struct hostile_action actions[MAX_ACTIONS];
static int n_actions;
static unsigned has[METHODS];
static char library[4096];

static bool is_wanted(const char *action)
{
    const char *wanted = getenv("HOSTILE_ACTIONS");
    size_t length = strlen(action);

    for (const char *at = wanted; at && (at = strstr(at, action)); at += length)
        if ((at == wanted || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return !wanted;
}

static void read_line(const char *line)
{
    struct hostile_action a;
    char name[64];
    unsigned of_method;

    if (sscanf(line, "action\t%39s\t%u\t%15s", a.name, &a.needs, a.expect) == 3 &&
        is_wanted(a.name) && n_actions < MAX_ACTIONS)
        actions[n_actions++] = a;
    else if (sscanf(line, "method\t%63s\t%u", name, &of_method) == 2)
        for (int i = 0; i < METHODS; i++)
            if (strcmp(methods[i], name) == 0)
                has[i] = of_method;
}

/* From the driver, which is built into the folder of this program. */
static void read_tables(void)
{
    char self[4000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    union {
        void *symbol;
        const char *(*list)(void);
    } entry = { NULL };

    self[n > 0 ? n : 0] = 0;
    *strrchr(self, '/') = 0;
    snprintf(library, sizeof library, "%s/hostile_driver.so", self);
    void *driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    entry.symbol = driver ? dlsym(driver, "hostile_list") : NULL;
    for (const char *line = entry.symbol ? entry.list() : NULL; line && *line;) {
        read_line(line);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

/* ---- every method once */

/* What the calls have returned; HAL_NONE for methods without a status. */
struct trail {
    struct hal_driver *driver;
    enum hal_status status[METHODS];
    bool is_called[METHODS];
    unsigned wrong; /* executions that succeeded with wrong numbers */
};

/* The first call counts. */
static bool keep(struct trail *t, enum at at, enum hal_status status)
{
    if (!t->is_called[at])
        t->status[at] = status;
    t->is_called[at] = true;
    return status == HAL_NONE;
}

/* Of a method that returns an object: success without one is a failure. */
static bool keep_object(struct trail *t, enum at at, enum hal_status status, const void *object)
{
    return keep(t, at, status == HAL_NONE && !object ? HAL_GENERAL_FAILURE : status);
}

static void keep_numbers(struct trail *t, const struct client_request *r)
{
    for (int i = 0; i < N; i++)
        if (r->z[i] != (float) (11 * i)) {
            t->wrong++;
            return;
        }
}

struct cache_callback {
    struct hal_prepare_callback base;
    struct client_wait wait;
};

static void notify_prepared(struct hal_prepare_callback *self, enum hal_status status,
                            struct hal_prepared_model *prepared)
{
    struct hal_execution_callback *w = &((struct cache_callback *) self)->wait.base;
    const struct hal_timing unknown = { HAL_NO_TIME, HAL_NO_TIME };

    if (prepared)
        prepared->methods->release(prepared);
    w->notify(w, status, 0, NULL, unknown);
}

/* Waits for the callback for a while.  It may come later, so its object is static. */
static void call_from_cache(struct trail *t)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_DEADLINE };
    static struct cache_callback callback;
    struct cache_callback *c = &callback;

    c->base.notify = notify_prepared;
    client_wait_init(&c->wait);
    enum hal_status status =
        t->driver->prepare_model_from_cache(t->driver, HAL_FL8, &config, &c->base);
    bool called = false;
    for (int i = 0; i < 100 && !called; i++) {
        usleep(i ? 10000 : 0);
        pthread_mutex_lock(&c->wait.lock);
        called = c->wait.calls;
        if (called && status == HAL_NONE)
            status = c->wait.status;
        pthread_mutex_unlock(&c->wait.lock);
    }
    keep(t, AT_FROM_CACHE, called ? status : HAL_MISSED_DEADLINE_TRANSIENT);
}

static struct hal_buffer *call_buffer(struct trail *t, struct hal_prepared_model *p,
                                      const struct client_request *r)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0, NULL };
    struct hal_memory memory = r->pool[0].memory;
    struct hal_buffer *b = NULL;
    uint32_t token = 0;

    enum hal_status status =
        t->driver->allocate(t->driver, &desc, 1, &p, 1, &role, 0, NULL, &b, &token);
    if (!keep_object(t, AT_ALLOCATE, status, b))
        return NULL;
    memory.size = N * sizeof(float);
    keep(t, AT_COPY_FROM, b->methods->copy_from(b, &memory, 0, NULL));
    keep(t, AT_COPY_TO, b->methods->copy_to(b, &memory));
    return b;
}

/* A hostile driver's fence may never signal. */
static void end_fenced(struct trail *t, int fence, struct hal_fenced_info *info)
{
    struct hal_timing launched, fenced;

    if (fence != HAL_NO_FENCE)
        fence_wait(1, &fence, UINT64_C(1000000000) * TIMEOUT);
    keep(t, AT_INFO, info->methods->get_execution_info(info, &launched, &fenced));
    info->methods->release(info);
    keep(t, AT_RELEASE_INFO, HAL_NONE);
    if (fence != HAL_NO_FENCE)
        close(fence);
}

static void call_fenced(struct trail *t, struct hal_prepared_model *p, struct client_request *r)
{
    const struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = NULL;
    int fence = HAL_NO_FENCE;

    enum hal_status status = p->methods->execute_fenced(p, HAL_FL8, &r->hal, 0, NULL, &config,
                                                        HAL_NO_TIME, &fence, &info);
    if (!keep_object(t, AT_FENCED, status, info))
        return;
    end_fenced(t, fence, info);
    keep_numbers(t, r);
}

static void call_burst(struct trail *t, struct hal_prepared_model *p, struct client_request *r)
{
    const struct hal_execution_config config = client_config();
    const int64_t identifiers[] = { 1, 2, -1 };
    struct hal_burst *b = NULL;

    enum hal_status status = p->methods->configure_burst(p, HAL_FL8, &b);
    if (!keep_object(t, AT_BURST, status, b))
        return;
    if (keep(t, AT_BURST_EXECUTE,
             b->methods->execute_synchronously(b, &r->hal, 3, identifiers, &config, &r->result)))
        keep_numbers(t, r);
    keep(t, AT_RELEASE_MEMORY, b->methods->release_memory(b, 1));
    b->methods->release(b);
    keep(t, AT_RELEASE_BURST, HAL_NONE);
}

static void call_reusable(struct trail *t, struct hal_prepared_model *p, struct client_request *r)
{
    const struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = NULL;
    struct hal_execution *e = NULL;
    int fence = HAL_NO_FENCE;

    enum hal_status status = p->methods->create_reusable_execution(p, &r->hal, &config, &e);
    if (!keep_object(t, AT_REUSABLE, status, e))
        return;
    if (keep(t, AT_REUSABLE_EXECUTE,
             e->methods->execute_synchronously(e, HAL_NO_DEADLINE, &r->result)))
        keep_numbers(t, r);
    status = e->methods->execute_fenced(e, 0, NULL, HAL_NO_DEADLINE, HAL_NO_TIME, &fence, &info);
    if (keep_object(t, AT_REUSABLE_FENCED, status, info))
        end_fenced(t, fence, info);
    e->methods->release(e);
    keep(t, AT_RELEASE_EXECUTION, HAL_NONE);
}

/* r: outlives the target, which may write the outputs of an execution whose fence has not signalled
 * until it is closed. */
static void call_all(struct trail *t, struct client_request *r)
{
    struct client_model m;

    client_add_model(&m, N, false);
    client_prepare(&m, t->driver, HAL_PRIORITY_MEDIUM);
    client_fill(r, N);
    call_from_cache(t);
    struct hal_buffer *b = call_buffer(t, m.prepared, r);
    call_fenced(t, m.prepared, r);
    memset(r->z, 0, sizeof r->z);
    call_burst(t, m.prepared, r);
    memset(r->z, 0, sizeof r->z);
    call_reusable(t, m.prepared, r);
    if (b) {
        b->methods->release(b);
        keep(t, AT_RELEASE_BUFFER, HAL_NONE);
    }
    client_done(&m);
    keep(t, AT_RELEASE_MODEL, HAL_NONE);
}

/* ---- what must be so */

static const char *pair; /* ACTION@METHOD */

/* What the driver's process has started must end with it. */
static void check_no_process(void)
{
    for (int i = 0; i < 200; i++) {
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return;
        usleep(10000);
    }
    ck_abort_msg("%s: a process is left", pair);
}

static bool has_status(enum at at)
{
    return strncmp(methods[at], "release_", 8) != 0 && at != AT_CLOSE;
}

static void check_trail(const struct trail *t, enum at at, const char *expect)
{
    bool is_legal = strcmp(expect, "legal") == 0;
    bool is_fatal = strcmp(expect, "death") == 0 || strcmp(expect, "hang") == 0;

    for (int i = 0; i < METHODS; i++) {
        enum hal_status right = i == AT_FROM_CACHE ? HAL_GENERAL_FAILURE : HAL_NONE;
        if (has_status((enum at) i) && (is_legal || i < (int) at))
            ck_assert_msg(t->is_called[i] && t->status[i] == right, "%s: %s returns %d", pair,
                          methods[i], (int) t->status[i]);
    }
    if (is_fatal && has_status(at))
        ck_assert_msg(t->status[at] != HAL_NONE, "%s: it returns NONE", pair);
    if (is_legal)
        ck_assert_msg(!t->wrong, "%s: %u executions have wrong results", pair, t->wrong);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* No action is done while the driver is opened: on a busy machine that alone can take longer than
 * TIMEOUT, so that it is tried again. */
static int open_target(const char *uri, const struct target_host *host, struct target **ret_target,
                       struct why *w)
{
    int tries = 5, r;

    do
        r = target_open(uri, host, ret_target, w);
    while (r < 0 && --tries > 0);
    return r;
}

static void check_pair(const struct hostile_action *a, enum at at)
{
    const struct target_host host = { .isolation = ISOLATE_FOREIGN,
                                      .is_served = true,
                                      .reply_timeout = TIMEOUT };
    struct client_request r;
    struct trail t = { NULL };
    char uri[4400];
    struct target *target;
    struct why w;
    double began;

    snprintf(uri, sizeof uri, "lib:%s?%s", library, pair);
    ck_assert_msg(open_target(uri, &host, &target, &w) == 0, "%s: %s", pair, w.text);
    began = now();
    t.driver = (struct hal_driver *) (uintptr_t) target_driver(target);
    call_all(&t, &r);
    target_free(target);
    keep(&t, AT_CLOSE, HAL_NONE);
    check_trail(&t, at, a->expect);
    check_no_process();
    ck_assert_msg(now() - began < LONGEST, "%s: it takes %.1f s", pair, now() - began);
}

START_TEST(a_hostile_method_harms_nothing_else)
{
    const struct hostile_action *a = &actions[_i / METHODS];
    enum at at = (enum at)(_i % METHODS);
    char name[128];

    if ((a->needs & has[at]) != a->needs)
        return;
    snprintf(name, sizeof name, "%s@%s", a->name, methods[at]);
    pair = name;
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1L), 0);
    check_pair(a, at);
}
END_TEST

START_TEST(there_are_actions)
{
    ck_assert_int_gt(n_actions, 0);
    for (int i = 0; i < METHODS - 5; i++)
        ck_assert_msg(has[i] || !has_status((enum at) i), "no method %s", methods[i]);
}
END_TEST

Suite *hostile_client_suite(void)
{
    TCase *t = tcase_create("hostile_client");

    read_tables();
    tcase_add_test(t, there_are_actions);
    tcase_add_loop_test(t, a_hostile_method_harms_nothing_else, 0, n_actions * METHODS);
    return make_suite("hostile_client", t, NULL);
}
