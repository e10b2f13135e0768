/* The fault matrix: each call of a driver fails, or has a malformed answer, in each mode of
 * partitioning, for models of one and of several steps, with each way of execution.  The table has
 * what runtime.md demands (3.1, 4.8, 5.1 to 5.8, 7); results are known by hand. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/faults/two_devices.h"
#include "tests/support/check_main.h"

/* ---- the table */

/* What an application's call makes the runtime call. */
enum {
    AT_OPENING = 1 << 0,
    AT_SUPPORT = 1 << 1,
    AT_PREPARING = 1 << 2,
    AT_RESTORING = 1 << 3,
    AT_SYNCHRONOUS = 1 << 4,
    AT_ASYNCHRONOUS = 1 << 5, /* drivers before HAL 1.2 */
    AT_BURST = 1 << 6,
    AT_REUSABLE = 1 << 7,        /* create_reusable_execution */
    AT_REUSABLE_RUN = 1 << 8,    /* its execute_synchronously */
    AT_REUSABLE_LAUNCH = 1 << 9, /* its execute_fenced */
    AT_LAUNCH = 1 << 10,         /* execute_fenced */
    AT_END = 1 << 11,            /* of a fenced execution */
    AT_BURST_CREATION = 1 << 12, /* configure_burst */
    AT_RELEASE_OF_MEMORY = 1 << 13,
};

enum { BY_STATUS = -1 };
enum hal { OLD = 11, NEW = 18 };

/* The result where neither the reference nor another way of execution stands in. */
static const struct fault_row {
    const char *fault;
    unsigned at;
    enum hal hal;
    int result;       /* BY_STATUS: each status in turn, and the code that it is mapped to */
    bool is_launched; /* it appears after the launch of a fenced execution, which is not repeated */
} table[] = {
    { "capabilities", AT_OPENING, NEW, 0 },
    { "no-performance", AT_OPENING, NEW, 0 },
    { "no-rows", AT_OPENING, NEW, 0 },
    { "type", AT_OPENING, NEW, 0 },
    { "no-type", AT_OPENING, NEW, 0 },
    { "version", AT_OPENING, NEW, 0 },
    { "no-version", AT_OPENING, NEW, 0 },
    { "extensions", AT_OPENING, NEW, 0 },
    { "no-extensions", AT_OPENING, NEW, 0 },
    { "files", AT_OPENING, NEW, 0 },
    { "many-files", AT_OPENING, NEW, 0 },
    { "offline", AT_OPENING, NEW, 0 },

    { "support", AT_SUPPORT, NEW, BY_STATUS },
    { "support-of-few", AT_SUPPORT, NEW, 0 },
    { "support-of-many", AT_SUPPORT, NEW, 0 },

    { "launch", AT_PREPARING, NEW, BY_STATUS },
    { "launch", AT_PREPARING, OLD, BY_STATUS },
    { "prepare", AT_PREPARING, NEW, BY_STATUS },
    { "prepare", AT_PREPARING, OLD, BY_STATUS },
    { "silent", AT_PREPARING, NEW, ANEURALNETWORKS_OP_FAILED },
    { "no-model", AT_PREPARING, NEW, ANEURALNETWORKS_OP_FAILED },
    { "model-and-status", AT_PREPARING, NEW, BY_STATUS },
    { "arity", AT_PREPARING, NEW, ANEURALNETWORKS_OP_FAILED },
    { "no-methods", AT_PREPARING, NEW, ANEURALNETWORKS_OP_FAILED },
    { "contradictory", AT_PREPARING, NEW, BY_STATUS },
    { "prepared-twice", AT_PREPARING, NEW, 0 },
    { "restore", AT_RESTORING, NEW, BY_STATUS },
    { "no-restored", AT_RESTORING, NEW, 0 },

    { "execute", AT_SYNCHRONOUS, NEW, BY_STATUS },
    { "asynchronous-launch", AT_ASYNCHRONOUS, OLD, BY_STATUS },
    { "asynchronous", AT_ASYNCHRONOUS, OLD, BY_STATUS },
    { "executed-twice", AT_ASYNCHRONOUS, OLD, 0 },
    { "other-shape", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },
    { "other-rank", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },
    { "many-shapes", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },
    { "too-small", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },
    { "small-without-shape", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },
    { "small", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE },
    { "failed-with-shape", AT_SYNCHRONOUS | AT_BURST, NEW, ANEURALNETWORKS_OP_FAILED },

    { "fenced", AT_LAUNCH, NEW, BY_STATUS },
    { "no-info", AT_LAUNCH, NEW, ANEURALNETWORKS_OP_FAILED },
    { "no-fence", AT_LAUNCH, NEW, ANEURALNETWORKS_OP_FAILED },
    { "fence-and-status", AT_LAUNCH, NEW, ANEURALNETWORKS_OP_FAILED },
    { "failed-fence", AT_LAUNCH, NEW, ANEURALNETWORKS_OP_FAILED, true },
    { "info", AT_END, NEW, BY_STATUS, true },

    { "burst", AT_BURST_CREATION, NEW, 0 },
    { "null-burst", AT_BURST_CREATION, NEW, 0 },
    { "in-burst", AT_BURST, NEW, BY_STATUS },
    { "release-memory", AT_RELEASE_OF_MEMORY, NEW, 0 },
    { "reusable", AT_REUSABLE, NEW, BY_STATUS },
    { "null-reusable", AT_REUSABLE, NEW, ANEURALNETWORKS_OP_FAILED },
    { "in-reusable", AT_REUSABLE_RUN, NEW, BY_STATUS },
    { "fenced-reusable", AT_REUSABLE_LAUNCH, NEW, BY_STATUS },
};

/* Statuses of the HAL, one that does not exist, and their codes; the first three are all that HAL
 * 1.1 has. */
static const struct {
    int status, result;
} statuses[] = {
    { 1, ANEURALNETWORKS_UNAVAILABLE_DEVICE },
    { 2, ANEURALNETWORKS_OP_FAILED },
    { 4, ANEURALNETWORKS_BAD_DATA },
    { 5, ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT },
    { 6, ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT },
    { 7, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT },
    { 8, ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT },
    { 99, ANEURALNETWORKS_OP_FAILED },
};
enum { ROWS = sizeof table / sizeof *table, STATUSES = sizeof statuses / sizeof *statuses };

/* A row with one of its statuses. */
struct fault_case {
    char text[64]; /* of the driver's argument */
    unsigned at;
    enum hal hal;
    int result;
    bool is_launched;
};

static int cases_of(const struct fault_row *r)
{
    return r->result != BY_STATUS ? 1 : r->hal == OLD ? 3 : STATUSES;
}

static int number_of_cases(void)
{
    int n = 0;

    for (int i = 0; i < ROWS; i++)
        n += cases_of(&table[i]);
    return n;
}

static struct fault_case case_at(int index)
{
    const struct fault_row *r = table;

    for (; index >= cases_of(r); r++)
        index -= cases_of(r);
    struct fault_case c = { "", r->at, r->hal, r->result, r->is_launched };
    if (r->result == BY_STATUS) {
        c.result = statuses[index].result;
        snprintf(c.text, sizeof c.text, "%s.%d", r->fault, statuses[index].status);
    } else {
        snprintf(c.text, sizeof c.text, "%s", r->fault);
    }
    return c;
}

/* ---- what is expected */

/* *ret_on_device: whether executions then get to the driver. */
static int expected_of_compilation(const struct fault_case *c, enum mode mode, bool *ret_on_device)
{
    *ret_on_device = mode != NO_DEVICES && !(c->at & (AT_OPENING | AT_SUPPORT));
    if (mode == NO_DEVICES)
        return ANEURALNETWORKS_NO_ERROR;
    if (c->at & AT_SUPPORT && mode == LISTED)
        return ANEURALNETWORKS_BAD_DATA;
    if (!(c->at & AT_PREPARING) || c->result == ANEURALNETWORKS_NO_ERROR)
        return ANEURALNETWORKS_NO_ERROR;
    *ret_on_device = false;
    return mode == WITH_FALLBACK && c->result != ANEURALNETWORKS_BAD_DATA ? ANEURALNETWORKS_NO_ERROR
                                                                          : c->result;
}

/* The calls of the driver that an execution makes: reusable executions of the driver are of plans
 * of one step and of feature level 8. */
static unsigned calls_of(enum hal hal, enum plan plan, enum way way, bool is_reusable)
{
    const bool has_own = is_reusable && plan == ONE_STEP;

    if (hal == OLD)
        return AT_ASYNCHRONOUS;
    switch (way) {
    case BURST: return AT_BURST;
    case FENCED:
        return (has_own ? AT_REUSABLE | AT_REUSABLE_LAUNCH : (unsigned) AT_LAUNCH) | AT_END;
    case COMPUTE:
    case START:
    case WAYS: break;
    }
    return has_own ? AT_REUSABLE | AT_REUSABLE_RUN : (unsigned) AT_SYNCHRONOUS;
}

static int expected_of_run(const struct fault_case *c, enum mode mode, unsigned calls)
{
    if ((c->at & calls) == 0 || c->result == ANEURALNETWORKS_NO_ERROR)
        return ANEURALNETWORKS_NO_ERROR;
    if (c->result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE)
        return c->result;
    return mode == WITH_FALLBACK && !c->is_launched ? ANEURALNETWORKS_NO_ERROR : c->result;
}

/* ---- running */

static uint32_t faults_met(void)
{
    void *driver = dlopen(getenv("CHOSEN_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    const uint32_t *met = driver ? dlsym(driver, "call_faults_met") : NULL;
    uint32_t n;

    ck_assert_ptr_nonnull(met);
    n = *met;
    dlclose(driver);
    return n;
}

static void run(const struct fault_case *c, struct client_job *j, enum mode mode, enum plan plan,
                enum way way, bool is_reusable, bool on_device)
{
    static const char *const ways[] = { "compute", "start", "burst", "fenced" };
    const int code =
        on_device ? expected_of_run(c, mode, calls_of(c->hal, plan, way, is_reusable)) : 0;
    ANeuralNetworksExecution *e = job_execution(j);
    ANeuralNetworksBurst *burst;

    OK(ANeuralNetworksExecution_setReusable(e, is_reusable));
    OK(ANeuralNetworksBurst_create(j->compilation, &burst));
    for (int i = 0; i <= is_reusable; i++) {
        job_clear_outputs(j);
        const int found = job_run(e, way, burst);
        ck_assert_msg(found == code, "%s, mode %d, plan %d, %s%s: %d, expected %d", c->text, mode,
                      plan, ways[way], is_reusable ? ", reusable" : "", found, code);
        if (found == ANEURALNETWORKS_NO_ERROR)
            two_devices_check(j, plan);
    }
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksExecution_free(e);
}

static void run_each_way(const struct fault_case *c, struct client_job *j, enum mode mode,
                         enum plan plan, bool on_device)
{
    int n_files = 0;

    for (int i = 0; i < 2 * WAYS; i++) {
        run(c, j, mode, plan, (enum way)(i / 2), i % 2, on_device);
        if (i == 0)
            n_files = open_files();
    }
    ck_assert_msg(open_files_settle(n_files), "%s, mode %d, plan %d: descriptors are left open",
                  c->text, mode, plan);
}

/* Where something is restored from a cache, the first compilation fills it. */
static void check_plan(const struct fault_case *c, enum mode mode, enum plan plan)
{
    static const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1 };
    char folder[] = "/tmp/halcyon-faults-XXXXXX";
    const bool is_cached = c->at & AT_RESTORING;
    struct client_job j = two_devices_job(plan);
    bool on_device;
    const int code = expected_of_compilation(c, mode, &on_device);

    if (is_cached)
        ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i <= is_cached; i++) {
        two_devices_begin(&j, mode, plan);
        if (is_cached)
            OK(ANeuralNetworksCompilation_setCaching(j.compilation, folder, token));
        const int found = ANeuralNetworksCompilation_finish(j.compilation);
        ck_assert_msg(found == code, "%s, mode %d, plan %d: finish %d, expected %d", c->text, mode,
                      plan, found, code);
        if (code == ANEURALNETWORKS_NO_ERROR)
            run_each_way(c, &j, mode, plan, on_device);
        if (i < is_cached)
            ANeuralNetworksCompilation_free(j.compilation);
    }
    job_done(&j);
    if (is_cached) {
        char command[64];
        snprintf(command, sizeof command, "rm -r %s", folder);
        ck_assert_int_eq(system(command), 0);
    }
}

START_TEST(calls)
{
    const struct fault_case c = case_at(_i / MODES);
    const enum mode mode = (enum mode)(_i % MODES);
    char devices[256];
    uint32_t n;

    if (mode == LISTED && c.at & AT_OPENING)
        return;                                         /* there is no device to list */
    const bool is_slow = strcmp(c.text, "silent") == 0; /* 5 s for each callback that is missing */
    if (is_slow && mode != WITH_FALLBACK)
        return;
    set_mode(mode);
    snprintf(devices, sizeof devices, "%%c?name=a&ops=0.0&hal=%d&fault=%s,%%c?name=b&ops=0.1",
             c.hal, c.text);
    use_devices(devices);
    OK(ANeuralNetworks_getDeviceCount(&n));
    ck_assert_uint_eq(n, c.at & AT_OPENING ? 2 : 3);
    for (enum plan plan = 0; plan < (is_slow ? 1 : PLANS); plan++)
        check_plan(&c, mode, plan);
    if (mode != NO_DEVICES && !(c.at & (AT_OPENING | AT_RELEASE_OF_MEMORY)))
        ck_assert_msg(faults_met() > 0, "%s is never met", c.text);
}
END_TEST

/* ---- buffers of drivers (runtime.md 6.3, 6.5, 6.6) */

enum { SIZE = 2 * sizeof(float) };
enum { NOT_ALLOCATED, TOKEN_AGAIN, NOT_WRITTEN, NOT_READ };

static const struct buffer_row {
    const char *fault;
    int what;
    int result; /* of the copy that fails */
} buffer_table[] = {
    { "allocate.1", NOT_ALLOCATED, 0 },
    { "allocate.2", NOT_ALLOCATED, 0 },
    { "allocate.4", NOT_ALLOCATED, 0 },
    { "allocate.8", NOT_ALLOCATED, 0 },
    { "allocate.99", NOT_ALLOCATED, 0 },
    { "null-buffer", NOT_ALLOCATED, 0 },
    { "token-0", NOT_ALLOCATED, 0 },
    { "token-again", TOKEN_AGAIN, 0 },
    { "copy-from.1", NOT_WRITTEN, ANEURALNETWORKS_UNAVAILABLE_DEVICE },
    { "copy-from.2", NOT_WRITTEN, ANEURALNETWORKS_OP_FAILED },
    { "copy-from.4", NOT_WRITTEN, ANEURALNETWORKS_BAD_DATA },
    { "copy-from.7", NOT_WRITTEN, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT },
    { "copy-from.99", NOT_WRITTEN, ANEURALNETWORKS_OP_FAILED },
    { "copy-to.1", NOT_READ, ANEURALNETWORKS_UNAVAILABLE_DEVICE },
    { "copy-to.2", NOT_READ, ANEURALNETWORKS_OP_FAILED },
    { "copy-to.4", NOT_READ, ANEURALNETWORKS_BAD_DATA },
    { "copy-to.99", NOT_READ, ANEURALNETWORKS_OP_FAILED },
};
enum { BUFFER_ROWS = sizeof buffer_table / sizeof *buffer_table };

static ANeuralNetworksMemory *host_memory(const float *contents, int *ret_fd)
{
    ANeuralNetworksMemory *m;

    *ret_fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_eq(write(*ret_fd, contents, SIZE), SIZE);
    OK(ANeuralNetworksMemory_createFromFd(SIZE, PROT_READ | PROT_WRITE, *ret_fd, 0, &m));
    return m;
}

/* Input 0 comes from a memory that a copy has filled. */
static void run_from(const struct client_job *j, const ANeuralNetworksMemory *m, int code)
{
    ANeuralNetworksExecution *e;

    OK(ANeuralNetworksExecution_create(j->compilation, &e));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, j->input[1], SIZE));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, j->output[0], SIZE));
    memset(j->output[0], 0xee, SIZE);
    ck_assert_int_eq(ANeuralNetworksExecution_compute(e), code);
    if (code == ANEURALNETWORKS_NO_ERROR)
        two_devices_check(j, ONE_STEP);
    ANeuralNetworksExecution_free(e);
}

static void use_memory(const struct buffer_row *r, const struct client_job *j,
                       ANeuralNetworksMemory *m, bool on_device)
{
    static const float nothing[2];
    float copied[2];
    int from_fd, to_fd;
    ANeuralNetworksMemory *from = host_memory(j->input[0], &from_fd),
                          *to = host_memory(nothing, &to_fd);
    const int written = on_device && r->what == NOT_WRITTEN ? r->result : 0,
              read = on_device && r->what == NOT_READ ? r->result : 0;

    ck_assert_int_eq(ANeuralNetworksMemory_copy(from, m), written);
    run_from(j, m, written ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR);
    ck_assert_int_eq(ANeuralNetworksMemory_copy(m, to), written ? ANEURALNETWORKS_BAD_DATA : read);
    ck_assert_int_eq(pread(to_fd, copied, sizeof copied, 0), sizeof copied);
    if (!written && !read)
        ck_assert_mem_eq(copied, j->input[0], sizeof copied);
    ANeuralNetworksMemory_free(from);
    ANeuralNetworksMemory_free(to);
    close(from_fd);
    close(to_fd);
}

/* Without a list the runtime's own memory serves instead of the driver's. */
START_TEST(buffers)
{
    const struct buffer_row *r = &buffer_table[_i / MODES];
    const enum mode mode = (enum mode)(_i % MODES);
    ANeuralNetworksMemory *m[2] = { NULL, NULL };
    ANeuralNetworksMemoryDesc *desc;
    char devices[256];
    struct client_job j;

    set_mode(mode);
    snprintf(devices, sizeof devices, "%%c?name=a&ops=0.0&fault=%s,%%c?name=b&ops=0.1", r->fault);
    use_devices(devices);
    j = two_devices_job(ONE_STEP);
    OK(two_devices_compile(&j, mode, ONE_STEP));
    OK(ANeuralNetworksMemoryDesc_create(&desc));
    OK(ANeuralNetworksMemoryDesc_addInputRole(desc, j.compilation, 0, 1));
    OK(ANeuralNetworksMemoryDesc_finish(desc));
    for (int i = 0; i < 2; i++) {
        const bool fails =
            mode == LISTED && r->what <= TOKEN_AGAIN && (i || r->what != TOKEN_AGAIN);
        ck_assert_int_eq(ANeuralNetworksMemory_createFromDesc(desc, &m[i]),
                         fails ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR);
        /* The driver does not know the token of the first one with TOKEN_AGAIN. */
        if (!fails && (r->what != TOKEN_AGAIN || i))
            use_memory(r, &j, m[i], mode != NO_DEVICES && r->what >= NOT_WRITTEN);
    }
    ANeuralNetworksMemory_free(m[0]);
    ANeuralNetworksMemory_free(m[1]);
    if (r->what == TOKEN_AGAIN) { /* it is free again */
        OK(ANeuralNetworksMemory_createFromDesc(desc, &m[0]));
        ANeuralNetworksMemory_free(m[0]);
    }
    if (mode != NO_DEVICES)
        ck_assert_uint_gt(faults_met(), 0);
    ANeuralNetworksMemoryDesc_free(desc);
    job_done(&j);
}
END_TEST

Suite *api_faults_suite(void)
{
    TCase *matrix = tcase_create("matrix");

    tcase_add_loop_test(matrix, calls, 0, number_of_cases() * MODES);
    tcase_add_loop_test(matrix, buffers, 0, BUFFER_ROWS * MODES);
    return make_suite("api_faults", matrix, NULL);
}
