/* Heavy use and unusual clients: long runs over many models, many models at once, clients that are
 * killed.  Each rule runs for conform_stress_seconds; a driver may refuse for lack of resources,
 * and must work afterwards. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"

static uint64_t end_time(void)
{
    return clock_steady_ns() + (uint64_t) (conform_stress_seconds * 1e9);
}

static bool is_refusal(const struct conform *c, enum hal_status s)
{
    return s == HAL_GENERAL_FAILURE ||
           (c->version >= HAL_1_3 &&
            (s == HAL_RESOURCE_EXHAUSTED_TRANSIENT || s == HAL_RESOURCE_EXHAUSTED_PERSISTENT));
}

/* The driver prepares and executes a model; false: it does not support it. */
static bool expect_works(struct conform *c, const char *when)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    struct conform_subject s;

    conform_subject_open(c, conform_sum(c), &s);
    bool supported = s.prepared;
    if (supported) {
        enum hal_status status =
            conform_run_beside(kind, s.prepared, c->version, &s.request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(&s), "%s: %s, or wrong results",
               when, hal_status_name(status));
    } else {
        conform_not_applicable(c, "ADD of float32 and of quant8 is not supported");
    }
    conform_subject_close(&s);
    return supported;
}

/* ---- long runs: every built-in model in turn, with the same results each time */

static struct tensor *first_results; /* by model; data NULL: none yet; of output 0 */

static void run_model(struct conform *c, int i, struct arena *results, unsigned turn)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    const struct conform_model *m = &conform_models[i];
    struct tensor *first = &first_results[i];
    struct conform_request r;

    if (!conform_model_is_of(m, c) ||
        (c->version < HAL_1_2 && !conform_request_is_specified(&m->example)))
        return;
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (!p)
        return;
    struct arena *a = arena_new(0);
    conform_request(&m->example, a, &r);
    enum hal_status s = kind->run(p, c->version, &r, &config);
    size_t size = tensor_bytes(&m->example.expected[0]);
    const void *value = conform_request_value(&r, &r.outputs[0]);
    EXPECT(c, !first->data || (s == HAL_NONE && memcmp(first->data, value, size) == 0),
           "%s, turn %u: %s, or other results than in the first turn", m->name, turn,
           hal_status_name(s));
    if (!first->data && s == HAL_NONE)
        first->data = arena_copy(results, value, size);
    arena_free(a);
    p->methods->release(p);
}

static void long_run(struct conform *c, const void *data)
{
    struct arena *results = arena_new(0);
    uint64_t end = end_time();

    (void) data;
    conform_must(results, "out of memory");
    first_results = arena_alloc(results, (size_t) conform_n_models + 1, sizeof *first_results);
    conform_must(first_results, "out of memory");
    conform_not_applicable(c, "no model of this version is supported");
    for (unsigned turn = 0; turn < 2 || clock_steady_ns() < end; turn++)
        for (int i = 0; i < conform_n_models && (turn < 2 || clock_steady_ns() < end); i++)
            run_model(c, i, results, turn);
    arena_free(results);
}

/* ---- many prepared models at once */

enum { MANY = 400 };

static unsigned prepare_many(struct conform *c, struct hal_prepared_model **model)
{
    unsigned n = 0;

    for (unsigned i = 0; i < MANY; i++) {
        const struct conform_model *m = &conform_models[(int) i % conform_n_models];
        if (!conform_model_is_of(m, c))
            continue;
        struct conform_prepared p =
            conform_prepare(c, c->version, &m->hal, &client_default_preparation);
        EXPECT(c,
               p.status == HAL_NONE || p.status == HAL_INVALID_ARGUMENT || is_refusal(c, p.status),
               "%s, with %u models prepared: %s", m->name, n, hal_status_name(p.status));
        if (p.model)
            model[n++] = p.model;
    }
    return n;
}

/* They are released in order, in the reverse order, and every other one first. */
static void release_many(struct hal_prepared_model **model, unsigned n, unsigned turn)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned half = (n + 1) / 2;
        unsigned k = turn % 3 == 0   ? i
                     : turn % 3 == 1 ? n - 1 - i
                     : i < half      ? 2 * i
                                     : 2 * (i - half) + 1;
        model[k]->methods->release(model[k]);
    }
}

/* A model executes while the others exist, unless there is no room for it. */
static void run_many(struct conform *c)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    struct conform_subject s = { .prepared = NULL };

    conform_model_of(&s.model, conform_sum(c));
    struct conform_prepared p =
        conform_prepare(c, c->version, &s.model.hal, &client_default_preparation);
    s.prepared = p.model;
    conform_subject_reset(&s);
    enum hal_status status =
        s.prepared ? conform_run_beside(kind, s.prepared, c->version, &s.request, &config)
                   : p.status;
    EXPECT(c, status == HAL_NONE ? conform_subject_is_correct(&s) : is_refusal(c, status),
           "beside many prepared models: %s%s", hal_status_name(status),
           status == HAL_NONE ? ", but wrong results" : "");
    conform_subject_close(&s);
}

static void many_models(struct conform *c, const void *data)
{
    static struct hal_prepared_model *model[MANY];
    uint64_t end = end_time();

    (void) data;
    if (!expect_works(c, "before many models"))
        return;
    for (unsigned turn = 0; turn < 3 || clock_steady_ns() < end; turn++) {
        unsigned n = prepare_many(c, model);
        run_many(c);
        release_many(model, n, turn);
        expect_works(c, "after many models were released");
    }
}

/* ---- what is left in the process after many preparations and executions */

static unsigned count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    conform_must(d, "a folder of /proc cannot be opened");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static double resident_mb(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    conform_must(f && fscanf(f, "%lu %lu", &size, &resident) == 2,
                 "/proc/self/statm is unreadable");
    fclose(f);
    return (double) resident * (double) sysconf(_SC_PAGESIZE) / 1048576.0;
}

/* Growth in MB that is allowed: caches of the driver and of the allocator.  Sanitizers keep freed
 * memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_MB = 768 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { MOST_MB = 768 };
#else
enum { MOST_MB = 64 };
#endif
#else
enum { MOST_MB = 64 };
#endif

static void leaks(struct conform *c, const void *data)
{
    enum { WARM_UP = 100, TURNS = 1500, SLACK = 8 };
    unsigned files = 0, threads = 0;
    double memory = 0;

    (void) data;
    if (c->is_remote) {
        conform_not_applicable(c, "the driver is in another process");
        return;
    }
    for (unsigned turn = 0; turn < WARM_UP + TURNS && expect_works(c, "again and again"); turn++) {
        if (turn != WARM_UP)
            continue;
        files = count_entries("/proc/self/fd");
        threads = count_entries("/proc/self/task");
        memory = resident_mb();
    }
    unsigned more_files = count_entries("/proc/self/fd"),
             more_threads = count_entries("/proc/self/task");
    double grown = resident_mb() - memory;
    EXPECT(c, !files || more_files <= files + SLACK, "%u open descriptors, %u before %u executions",
           more_files, files, TURNS);
    EXPECT(c, !files || more_threads <= threads + SLACK, "%u threads, %u before %u executions",
           more_threads, threads, TURNS);
    EXPECT(c, !files || grown < MOST_MB, "%.0f MB more memory after %u executions", grown, TURNS);
}

/* ---- clients that are killed in the middle of a call */

enum { VICTIMS = 3 };

/* Why a client ended by itself; in memory that it shares with this process. */
struct ended {
    char why[160];
};

/* Prepares and executes without an end, on a connection of its own. */
static void run_for_ever(struct conform *c, const struct conform_model *m)
{
    static struct client_prepare_wait wait;
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    struct hal_driver *d = conform_open(c);

    client_prepare_wait_init(&wait);
    for (;;) {
        struct hal_prepared_model *p = conform_thread_prepare(c, d, &wait, &m->hal);
        struct arena *a = arena_new(0);
        for (int i = 0; p && i < 10; i++) {
            struct conform_request r;
            conform_request(&m->example, a, &r);
            kind->run(p, c->version, &r, &config);
        }
        arena_free(a);
        if (p)
            p->methods->release(p);
    }
}

/* In a process of its own. */
static void be_a_client(struct conform *c, const struct conform_model *m, struct ended *ended)
{
    sigjmp_buf failed;

    c->state->keep_alive = NULL; /* that of the parent's process */
    alarm(20);
    conform_must_return = &failed;
    if (sigsetjmp(failed, 0) == 0)
        run_for_ever(c, m);
    const struct conform_result *r = c->state->result;
    snprintf(ended->why, sizeof ended->why, "%s",
             conform_must_text ? conform_must_text
             : r->n_findings   ? r->finding[r->n_findings - 1]
                               : "");
    _exit(1);
}

static void killed_clients(struct conform *c, const void *data)
{
    uint64_t end = end_time();
    struct conform_model m;
    struct ended *ended;

    (void) data;
    if (!c->is_remote) {
        conform_not_applicable(c, "the driver is in the client's process, and dies with it");
        return;
    }
    if (!expect_works(c, "before clients are killed"))
        return;
    conform_model_of(&m, conform_sum(c));
    ended = mmap(NULL, VICTIMS * sizeof *ended, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    conform_must(ended != MAP_FAILED, "no memory can be shared with clients");
    for (unsigned turn = 0; turn < 5 || clock_steady_ns() < end; turn++) {
        pid_t victim[VICTIMS];
        int status;
        for (int i = 0; i < VICTIMS; i++) {
            victim[i] = fork();
            conform_must(victim[i] >= 0, "no process can be started");
            if (victim[i] == 0)
                be_a_client(c, &m, &ended[i]);
        }
        usleep(5000 + turn * 7919 % 60000);
        for (int i = 0; i < VICTIMS; i++) {
            kill(victim[i], SIGKILL);
            waitpid(victim[i], &status, 0);
            EXPECT(c, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                   "a client ends with status %x before it is killed: %s", (unsigned) status,
                   ended[i].why);
            ended[i].why[0] = 0;
        }
        expect_works(c, "after clients were killed");
    }
    munmap(ended, VICTIMS * sizeof *ended);
    conform_model_done(&m);
}

static const struct conform_rule rules_of_file[] = {
    { "stress", "long-run", HAL_1_0, 0, "all models in turn, with the same results each time",
      long_run },
    { "stress", "many-models", HAL_1_0, 0,
      "many prepared models at once: prepared, or refused for lack of resources", many_models },
    { "stress", "leaks", HAL_1_0, 0,
      "preparing and executing leave neither descriptors nor threads nor memory", leaks },
    { "stress", "killed-clients", HAL_1_0, 0,
      "a service goes on when clients are killed in the middle of a call", killed_clients },
};
const struct conform_rules conform_rules_stress = { rules_of_file, COUNT(rules_of_file),
                                                    conform_models_draw, conform_models_free };
