#include "tests/sim/service/soak_client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/corrupt/cache_files.h"
#include "sim/base/fence.h"
#include "sim/remote/remote.h"
#include "tests/sim/service/service_lab.h"

enum { N = 8, AT_ONCE = 3 };

/* Virtual ns of a launch and of an operation; an execution takes one launch and three operations.
 */
static const double STEP_NS = 50e6;
static const uint64_t RUN_NS = 200000000;

struct hal_driver *soak_device(void)
{
    return client_open_slow("cpu", STEP_NS);
}

/* Outcome of an execution: correct, rejected for now, service dead, wrong result or status. */
enum ending { CORRECT, REJECTED, DEAD, WRONG };

struct soak {
    uint32_t seed;
    struct hal_driver *alone; /* the reference device, in this process */
    struct client_model reference, m;
    struct hal_driver *d;
    struct hal_burst *burst;
    const char *wrong;
};

/* ---- the model: z = LOGISTIC((x + y) * constant) */

static void make_model(struct client_model *m, uint32_t seed)
{
    struct build *b = &m->b;
    float factor[N];

    for (int i = 0; i < N; i++)
        factor[i] = (float) (lab_random(&seed) % 100) / 64;
    build_init(b, 1);
    uint32_t x = build_operand(b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t y = build_operand(b, LIFE_INPUT, DT_F32, DIMS(N));
    uint32_t sum = build_operand(b, LIFE_TEMPORARY, DT_F32, DIMS(N));
    uint32_t product = build_operand(b, LIFE_TEMPORARY, DT_F32, DIMS(N));
    uint32_t z = build_operand(b, LIFE_OUTPUT, DT_F32, DIMS(N));
    uint32_t act = build_int(b, 0), constant = build_constant(b, DT_F32, DIMS(N), factor);
    OPERATION(b, "ADD", IDS(x, y, act), IDS(sum));
    OPERATION(b, "MUL", IDS(sum, constant, act), IDS(product));
    OPERATION(b, "LOGISTIC", IDS(product), IDS(z));
    client_convert(m);
}

static void draw(struct soak *s, struct client_request *r)
{
    client_fill(r, N);
    for (int i = 0; i < N; i++) {
        r->x[i] = (float) (lab_random(&s->seed) % 1000) / 256;
        r->y[i] = (float) (lab_random(&s->seed) % 1000) / -256;
    }
}

/* ---- results */

static enum ending wrong(struct soak *s, const char *what)
{
    s->wrong = what;
    return WRONG;
}

/* Whether the results are those of the reference device. */
static bool is_correct(struct soak *s, const struct client_request *r)
{
    const struct hal_execution_config config = client_config();
    const struct hal_prepared_model *p = s->reference.prepared;
    struct client_request alone;

    client_fill(&alone, N);
    memcpy(alone.x, r->x, sizeof alone.x);
    memcpy(alone.y, r->y, sizeof alone.y);
    ck_assert_int_eq(p->methods->execute_synchronously(s->reference.prepared, HAL_FL8, &alone.hal,
                                                       &config, &alone.result),
                     HAL_NONE);
    return memcmp(alone.z, r->z, sizeof alone.z) == 0;
}

static enum ending judge_status(struct soak *s, enum hal_status status, const char *what)
{
    if (status == HAL_NONE)
        return CORRECT;
    if (status == HAL_RESOURCE_EXHAUSTED_TRANSIENT)
        return REJECTED;
    return status == HAL_DEVICE_UNAVAILABLE && remote_is_dead(s->d, NULL) ? DEAD : wrong(s, what);
}

static enum ending judge(struct soak *s, enum hal_status status, const struct client_request *r,
                         const char *what)
{
    enum ending e = judge_status(s, status, what);

    return e == CORRECT && !is_correct(s, r) ? wrong(s, what) : e;
}

static enum ending worse(enum ending a, enum ending b)
{
    return a > b ? a : b;
}

/* ---- kinds of execution */

static enum ending run_synchronous(struct soak *s)
{
    const struct hal_execution_config config = client_config();
    struct client_request r;

    draw(s, &r);
    enum hal_status status = s->m.prepared->methods->execute_synchronously(
        s->m.prepared, HAL_FL8, &r.hal, &config, &r.result);
    return judge(s, status, &r, "synchronous");
}

/* A deadline that may be too short, alone or only because of other clients. */
static enum ending run_deadline(struct soak *s)
{
    const uint64_t budget = RUN_NS / 2 + lab_random(&s->seed) % 20 * RUN_NS;
    struct hal_execution_config config = client_config();
    struct client_request r;
    struct timespec t;

    draw(s, &r);
    clock_gettime(CLOCK_MONOTONIC, &t);
    config.deadline = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec + budget;
    enum hal_status status = s->m.prepared->methods->execute_synchronously(
        s->m.prepared, HAL_1_3, &r.hal, &config, &r.result);
    if (status == HAL_MISSED_DEADLINE_TRANSIENT || status == HAL_MISSED_DEADLINE_PERSISTENT)
        return REJECTED;
    return judge(s, status, &r, "deadline");
}

static enum ending run_asynchronous(struct soak *s)
{
    const struct hal_execution_config config = client_config();
    struct client_request r[AT_ONCE];
    struct client_wait wait[AT_ONCE];
    enum ending e = CORRECT;

    for (int i = 0; i < AT_ONCE; i++) {
        draw(s, &r[i]);
        client_wait_init(&wait[i]);
        (void) s->m.prepared->methods->execute(s->m.prepared, HAL_1_3, &r[i].hal, &config,
                                               &wait[i].base);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        enum hal_status status = client_wait(&wait[i]);
        e = worse(e, judge(s, status, &r[i], "asynchronous"));
    }
    return e;
}

struct fenced {
    struct client_request r;
    enum hal_status status;
    int fence;
    struct hal_fenced_info *info;
};

static void start_fenced(struct soak *s, struct fenced *f, int wait_for)
{
    const struct hal_execution_config config = client_config();

    draw(s, &f->r);
    f->status = s->m.prepared->methods->execute_fenced(s->m.prepared, HAL_FL8, &f->r.hal,
                                                       wait_for >= 0, &wait_for, &config,
                                                       HAL_NO_TIME, &f->fence, &f->info);
}

static enum ending end_fenced(struct soak *s, struct fenced *f)
{
    struct hal_timing launched, fenced;

    if (f->status != HAL_NONE)
        return judge_status(s, f->status, "fenced: launch");
    bool ok = f->fence < 0 || fence_wait(1, &f->fence, HAL_NO_TIME) == 1;
    f->status = f->info->methods->get_execution_info(f->info, &launched, &fenced);
    f->info->methods->release(f->info);
    if (f->fence >= 0)
        close(f->fence);
    if (ok && f->status == HAL_DEVICE_UNAVAILABLE) /* it died after the execution */
        return is_correct(s, &f->r) ? DEAD
                                    : wrong(s, "fenced: wrong result before the service died");
    if (ok != (f->status == HAL_NONE) && f->status != HAL_DEVICE_UNAVAILABLE)
        return wrong(s, "fenced: fence and info contradict each other");
    return judge(s, f->status, &f->r, "fenced");
}

/* The second execution waits for the fence of the first. */
static enum ending run_fenced(struct soak *s)
{
    struct fenced first, second = { .status = HAL_RESOURCE_EXHAUSTED_TRANSIENT };

    start_fenced(s, &first, -1);
    if (first.status == HAL_NONE)
        start_fenced(s, &second, first.fence);
    enum ending e = end_fenced(s, &first);
    return worse(e, end_fenced(s, &second));
}

static enum ending run_burst(struct soak *s)
{
    const struct hal_execution_config config = client_config();
    int64_t identifiers[3];
    struct client_request r;
    enum ending e = CORRECT;

    for (int i = 0; i < AT_ONCE && e == CORRECT; i++) {
        draw(s, &r);
        for (int k = 0; k < 3; k++)
            identifiers[k] = -1;
        e = judge(s,
                  s->burst->methods->execute_synchronously(s->burst, &r.hal, 3, identifiers,
                                                           &config, &r.result),
                  &r, "burst");
    }
    return e;
}

static enum ending compute_reusable(struct soak *s, struct hal_execution *x,
                                    struct client_request *r)
{
    struct client_request values;
    enum ending e = CORRECT;

    for (int i = 0; i < AT_ONCE && e == CORRECT; i++) {
        draw(s, &values);
        memcpy(r->x, values.x, sizeof r->x);
        memcpy(r->y, values.y, sizeof r->y);
        e = judge(s, x->methods->execute_synchronously(x, HAL_NO_DEADLINE, &r->result), r,
                  "reusable");
    }
    return e;
}

static enum ending run_reusable(struct soak *s)
{
    const struct hal_execution_config config = client_config();
    struct client_request r;
    struct hal_execution *x;

    draw(s, &r);
    enum hal_status status =
        s->m.prepared->methods->create_reusable_execution(s->m.prepared, &r.hal, &config, &x);
    if (status != HAL_NONE)
        return judge_status(s, status, "reusable: creation");
    enum ending e = compute_reusable(s, x, &r);
    x->methods->release(x);
    return e;
}

/* ---- device buffers and caches */

static struct hal_memory memory_of(float *values)
{
    return (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                .address = values,
                                .fd = -1,
                                .size = N * sizeof(float) };
}

static enum ending allocate(struct soak *s, bool is_output, struct hal_buffer **ret_buffer,
                            uint32_t *ret_token)
{
    const struct hal_buffer_desc desc = { 0 };
    const struct hal_buffer_role role = { 0, 0, 1 };

    return judge_status(s,
                        s->d->allocate(s->d, &desc, 1, &s->m.prepared, !is_output, &role, is_output,
                                       &role, ret_buffer, ret_token),
                        "allocation");
}

/* x is read from one buffer, z written to the other. */
static enum ending run_in_buffers(struct soak *s, struct hal_buffer *const *b,
                                  const uint32_t *tokens)
{
    const struct hal_execution_config config = client_config();
    struct client_request r;
    enum ending e;

    draw(s, &r);
    struct hal_memory x = memory_of(r.x), z = memory_of(r.z);
    e = judge_status(s, b[0]->methods->copy_from(b[0], &x, 0, NULL), "copy_from");
    if (e != CORRECT)
        return e;
    r.pool[0] = (struct hal_request_pool){ .is_token = true, .token = tokens[0] };
    r.pool[2] = (struct hal_request_pool){ .is_token = true, .token = tokens[1] };
    r.in[0].location = (struct hal_location){ .pool = 0 };
    r.out[0].location = (struct hal_location){ .pool = 2 };
    e = judge_status(s,
                     s->m.prepared->methods->execute_synchronously(s->m.prepared, HAL_FL8, &r.hal,
                                                                   &config, &r.result),
                     "execution on buffers");
    if (e != CORRECT)
        return e;
    return judge(s, b[1]->methods->copy_to(b[1], &z), &r, "copy_to");
}

static enum ending run_buffers(struct soak *s)
{
    struct hal_buffer *b[2] = { NULL, NULL };
    uint32_t tokens[2];
    enum ending e = allocate(s, false, &b[0], &tokens[0]);

    if (e == CORRECT)
        e = allocate(s, true, &b[1], &tokens[1]);
    if (e == CORRECT)
        e = run_in_buffers(s, b, tokens);
    for (int i = 0; i < 2; i++)
        if (b[i])
            b[i]->methods->release(b[i]);
    return e;
}

static enum ending run_cached(struct soak *s, const struct hal_prepare_config *config)
{
    const struct hal_execution_config plain = client_config();
    struct hal_prepared_model *p;
    struct client_request r;

    enum hal_status status = client_prepare_with(s->d, HAL_FL8, &s->m.hal, config, &p);
    if (status != HAL_NONE)
        return judge_status(s, status, "preparing for a cache");
    p->methods->release(p);
    status = client_prepare_with(s->d, HAL_FL8, NULL, config, &p);
    if (status != HAL_NONE)
        return judge_status(s, status, "preparing from a cache");
    draw(s, &r);
    status = p->methods->execute_synchronously(p, HAL_FL8, &r.hal, &plain, &r.result);
    enum ending e = judge(s, status, &r, "cached");
    p->methods->release(p);
    return e;
}

static enum ending run_cache(struct soak *s)
{
    struct files f;
    uint32_t n_model = 0, n_data = 0;
    enum hal_status status = s->d->get_number_of_cache_files_needed(s->d, &n_model, &n_data);

    if (status != HAL_NONE)
        return judge_status(s, status, "number of cache files");
    files_init(&f, n_model, n_data);
    const struct hal_prepare_config config = files_config(&f);
    enum ending e = run_cached(s, &config);
    files_done(&f);
    return e;
}

/* ---- the client */

static enum ending (*const kinds[])(struct soak *s) = {
    run_synchronous, run_deadline, run_asynchronous, run_fenced,
    run_burst,       run_reusable, run_buffers,      run_cache,
};

static void disconnect(struct soak *s)
{
    if (!s->d)
        return;
    if (s->burst)
        s->burst->methods->release(s->burst);
    if (s->m.prepared)
        s->m.prepared->methods->release(s->m.prepared);
    s->d->close(s->d);
    s->d = NULL;
    s->burst = NULL;
    s->m.prepared = NULL;
}

static enum ending connect_and_prepare(struct soak *s)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .priority =
                                                   (enum hal_priority)(lab_random(&s->seed) % 3),
                                               .deadline = HAL_NO_DEADLINE };

    s->d = lab_connect();
    enum hal_status status = client_prepare_with(s->d, HAL_FL8, &s->m.hal, &config, &s->m.prepared);
    if (status == HAL_NONE)
        status = s->m.prepared->methods->configure_burst(s->m.prepared, HAL_FL8, &s->burst);
    return judge_status(s, status, "preparing");
}

static enum ending run_once(struct soak *s)
{
    enum ending e = s->d ? CORRECT : connect_and_prepare(s);

    if (e == CORRECT)
        e = kinds[lab_random(&s->seed) % COUNT(kinds)](s);
    if (e >= DEAD || !s->burst)
        disconnect(s);
    return e;
}

const char *soak_client_run(uint32_t seed, int runs)
{
    static char text[100];
    struct soak s = { .seed = seed, .alone = soak_device() };
    enum ending e = CORRECT;
    int i;

    make_model(&s.reference, seed);
    make_model(&s.m, seed);
    client_prepare(&s.reference, s.alone, HAL_PRIORITY_MEDIUM);
    for (i = 0; i < runs && e != WRONG; i++)
        e = run_once(&s);
    disconnect(&s);
    client_done(&s.m);
    client_done(&s.reference);
    s.alone->close(s.alone);
    snprintf(text, sizeof text, "execution %d: %s", i, s.wrong ? s.wrong : "");
    return e == WRONG ? text : NULL;
}
