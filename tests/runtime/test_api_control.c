/* IF and WHILE whose parts are on several devices, executed: the scenarios 26, 27 and 31 to 34 of
 * runtime.md 4.7, constructs within others, and values in buffers of drivers; results known by
 * hand.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

static float a[2] = { 1, -2 }, b[2] = { 10, -20 }, out[2][2];
static uint8_t condition = 1;

/* o = x + y, with an activation. */
static ANeuralNetworksModel *add_with(int32_t activation)
{
    struct net t = net_new();
    uint32_t x = floats(&t, 2), y = floats(&t, 2), o = floats(&t, 2);

    fused(&t, ANEURALNETWORKS_ADD, activation, x, y, o);
    finish(&t, LIST(x, y), LIST(o));
    return t.m;
}

/* ---- IF */

/* o = c ? x + y : relu(x + y). */
struct branches {
    struct client_job job;
    ANeuralNetworksModel *part[2];
};

static void branches_init(struct branches *s)
{
    struct net t = net_new();

    *s = (struct branches){ .part = { add_with(0), add_with(1) } };
    uint32_t c = bools(&t), x = floats(&t, 2), y = floats(&t, 2), o = floats(&t, 2);
    uint32_t then = model_operand(&t, s->part[0]), other = model_operand(&t, s->part[1]);
    operate(&t, ANEURALNETWORKS_IF, LIST(c, then, other, x, y), LIST(o));
    finish(&t, LIST(c, x, y), LIST(o));
    s->job.model = t.m;
    job_input(&s->job, &condition, 1);
    job_input(&s->job, a, sizeof a);
    job_input(&s->job, b, sizeof b);
    job_output(&s->job, out[0], sizeof out[0]);
    job_compile(&s->job);
}

static void branches_done(struct branches *s)
{
    job_done(&s->job);
    ANeuralNetworksModel_free(s->part[0]);
    ANeuralNetworksModel_free(s->part[1]);
}

static void check_sum(const struct client_job *j)
{
    (void) j;
    expect_floats(out[0], 11, -22);
}

static void check_relu(const struct client_job *j)
{
    (void) j;
    expect_floats(out[0], 11, 0);
}

START_TEST(branches_on_one)
{
    struct branches s;

    use_devices("%c?name=v&ops=0.0-0.1&hal=10");
    branches_init(&s);
    condition = 1;
    OK(job_compute(&s.job));
    ck_assert_str_eq(executed(), "v ");
    check_sum(&s.job);
    condition = 0;
    OK(job_compute(&s.job));
    ck_assert_str_eq(executed(), "v ");
    check_relu(&s.job);
    branches_done(&s);
}
END_TEST

START_TEST(branches_on_two)
{
    struct branches s;

    use_devices("%c?name=a&ops=0.0,%c?name=b&ops=0.1");
    branches_init(&s);
    condition = 1;
    job_run_each_way(&s.job, "a ", check_sum);
    condition = 0;
    job_run_each_way(&s.job, "b ", check_relu);
    branches_done(&s);
}
END_TEST

/* A driver reports the output of a branch as too small: it is that of the model. */
START_TEST(branch_output_too_small)
{
    struct branches s;
    uint32_t n = 0;

    use_devices("%c?name=a&ops=0.0&fault=small.1,%c?name=b&ops=0.1");
    branches_init(&s);
    condition = 1;
    ANeuralNetworksExecution *e = job_execution(&s.job);
    EXPECT(ANeuralNetworksExecution_compute(e), OUTPUT_INSUFFICIENT_SIZE);
    EXPECT(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &n), OUTPUT_INSUFFICIENT_SIZE);
    ck_assert_uint_eq(n, 2);
    ANeuralNetworksExecution_free(e);
    branches_done(&s);
}
END_TEST

/* ---- WHILE */

/* Whether n is below the limit. */
static ANeuralNetworksModel *below_limit(void)
{
    struct net t = net_new();
    uint32_t n = floats(&t, 1), sum = floats(&t, 1), limit = floats(&t, 1), o = bools(&t);

    operate(&t, ANEURALNETWORKS_LESS, LIST(n, limit), LIST(o));
    finish(&t, LIST(n, sum, limit), LIST(o));
    return t.m;
}

/* n + 1 and sum + n, which the loop hands on; the limit is an input only. */
static ANeuralNetworksModel *count_and_sum(int32_t activation)
{
    const float one = 1;
    struct net t = net_new();
    uint32_t n = floats(&t, 1), sum = floats(&t, 1), limit = floats(&t, 1);
    uint32_t next = floats(&t, 1), total = floats(&t, 1);
    uint32_t step = constant(&t, floats(&t, 1), &one, sizeof one);

    fused(&t, ANEURALNETWORKS_ADD, activation, n, step, next);
    fused(&t, ANEURALNETWORKS_ADD, 0, sum, n, total);
    finish(&t, LIST(n, sum, limit), LIST(next, total));
    return t.m;
}

struct loop {
    struct client_job job;
    ANeuralNetworksModel *cond, *body;
    float sum, limit, result[2];
};

/* The sum of 0, 1, ... up to below the limit; 0, where the loop begins, is a constant. */
static void loop_init(struct loop *s, int32_t activation)
{
    const float zero = 0;
    struct net t = net_new();

    *s = (struct loop){ .cond = below_limit(), .body = count_and_sum(activation), .sum = 100 };
    uint32_t sum = floats(&t, 1), limit = floats(&t, 1), n = floats(&t, 1), total = floats(&t, 1);
    uint32_t begin = constant(&t, floats(&t, 1), &zero, sizeof zero);
    uint32_t c = model_operand(&t, s->cond), body = model_operand(&t, s->body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, body, begin, sum, limit), LIST(n, total));
    finish(&t, LIST(sum, limit), LIST(n, total));
    s->job.model = t.m;
    job_input(&s->job, &s->sum, sizeof s->sum);
    job_input(&s->job, &s->limit, sizeof s->limit);
    job_output(&s->job, &s->result[0], sizeof(float));
    job_output(&s->job, &s->result[1], sizeof(float));
    job_compile(&s->job);
}

static void loop_done(struct loop *s)
{
    job_done(&s->job);
    ANeuralNetworksModel_free(s->cond);
    ANeuralNetworksModel_free(s->body);
}

static void check_loop(const struct client_job *j)
{
    const float limit = *(float *) j->input[1];

    ck_assert(*(float *) j->output[0] == limit);
    ck_assert(*(float *) j->output[1] == 100 + limit * (limit - 1) / 2);
}

/* The body on one device, or on two; the condition is the reference's, or on the device, too. */
START_TEST(loops)
{
    static const char *const devices[] = { "%c?name=v&ops=0.0-0.1",
                                           "%c?name=v&ops=0.0,%c?name=w&ops=0.1",
                                           "%c?name=v&ops=0.0-0.1-58" };
    static const char *const first[] = { "", "", "v " };
    static const char *const iteration[] = { "v ", "w v ", "v v " };
    struct loop s;
    char log[256];

    use_devices(devices[_i]);
    loop_init(&s, 1);
    strcpy(log, first[_i]);
    for (s.limit = 0; s.limit < 6; s.limit += 1) {
        job_run_each_way(&s.job, log, check_loop);
        strcat(log, iteration[_i]);
    }
    loop_done(&s);
}
END_TEST

/* A loop without end: its time is over, within the reference and with a body on a device. */
START_TEST(loops_without_end)
{
    struct loop s;

    use_devices(_i ? "%c?name=v&ops=0.0" : "");
    loop_init(&s, 0);
    s.limit = 1e30f;
    s.job.loop_timeout = 1000000;
    ck_assert_int_eq(job_compute(&s.job), _i ? ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT
                                             : ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT);
    s.limit = 2; /* the next one ends */
    s.job.loop_timeout = 0;
    OK(job_compute(&s.job));
    check_loop(&s.job);
    loop_done(&s);
}
END_TEST

/* ---- 33: IF in WHILE */

/* While all of x are below y: x = first ? x + y : relu(x + y). */
struct nested {
    struct loop loop;
    ANeuralNetworksModel *part[2];
    uint8_t is_first;
};

static ANeuralNetworksModel *all_below(void)
{
    struct net t = net_new();
    uint32_t x = floats(&t, 2), y = floats(&t, 2), c = bools(&t), o = bools(&t);
    uint32_t axes = constant(&t, operand(&t, ANEURALNETWORKS_TENSOR_INT32, 1, (uint32_t[]){ 1 }),
                             &(int32_t){ 0 }, 4);
    uint8_t keep = 1;
    uint32_t kept = constant(&t, operand(&t, ANEURALNETWORKS_BOOL, 0, NULL), &keep, 1);
    uint32_t each = operand(&t, ANEURALNETWORKS_TENSOR_BOOL8, 1, (uint32_t[]){ 2 });

    operate(&t, ANEURALNETWORKS_LESS, LIST(x, y), LIST(each));
    operate(&t, ANEURALNETWORKS_REDUCE_ALL, LIST(each, axes, kept), LIST(o));
    finish(&t, LIST(x, y, c), LIST(o));
    return t.m;
}

static void nested_init(struct nested *s, float *x, float *y)
{
    struct net t = net_new();
    *s = (struct nested){ .part = { add_with(0), add_with(1) }, .is_first = 1 };
    s->loop.cond = all_below();

    uint32_t p = floats(&t, 2), q = floats(&t, 2), c = bools(&t), o = floats(&t, 2);
    uint32_t then = model_operand(&t, s->part[0]), other = model_operand(&t, s->part[1]);
    operate(&t, ANEURALNETWORKS_IF, LIST(c, then, other, p, q), LIST(o));
    finish(&t, LIST(p, q, c), LIST(o));
    s->loop.body = t.m;

    t = net_new();
    p = floats(&t, 2), q = floats(&t, 2), c = bools(&t), o = floats(&t, 2);
    uint32_t cond = model_operand(&t, s->loop.cond), body = model_operand(&t, s->loop.body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(cond, body, p, q, c), LIST(o));
    finish(&t, LIST(p, q, c), LIST(o));
    s->loop.job.model = t.m;
    job_input(&s->loop.job, x, 2 * sizeof *x);
    job_input(&s->loop.job, y, 2 * sizeof *y);
    job_input(&s->loop.job, &s->is_first, 1);
    job_output(&s->loop.job, out[0], sizeof out[0]);
    job_compile(&s->loop.job);
}

static void check_nested(const struct client_job *j)
{
    (void) j;
    expect_floats(out[0], 12, 14);
}

START_TEST(branches_in_loops)
{
    float x[2] = { 2, 4 }, y[2] = { 10, 10 };
    struct nested s;

    use_devices("%c?name=a&ops=0.0,%c?name=b&ops=0.1");
    nested_init(&s, x, y);
    job_run_each_way(&s.loop.job, "a ", check_nested);
    s.is_first = 0;
    job_run_each_way(&s.loop.job, "b ", check_nested);
    x[0] = -9, x[1] = -8; /* two iterations: 1, 2, then 11, 12 */
    OK(job_compute(&s.loop.job));
    ck_assert_str_eq(executed(), "b b ");
    expect_floats(out[0], 11, 12);
    loop_done(&s.loop);
    ANeuralNetworksModel_free(s.part[0]);
    ANeuralNetworksModel_free(s.part[1]);
}
END_TEST

/* ---- WHILE in WHILE */

/* sum + 0 + 1 + ... up to below n, by another loop; then n + 1. */
static ANeuralNetworksModel *loop_in_body(ANeuralNetworksModel *cond, ANeuralNetworksModel *body)
{
    const float zero = 0, one = 1;
    struct net t = net_new();
    uint32_t n = floats(&t, 1), sum = floats(&t, 1), limit = floats(&t, 1);
    uint32_t next = floats(&t, 1), last = floats(&t, 1), total = floats(&t, 1);
    uint32_t begin = constant(&t, floats(&t, 1), &zero, sizeof zero);
    uint32_t step = constant(&t, floats(&t, 1), &one, sizeof one);
    uint32_t c = model_operand(&t, cond), inner = model_operand(&t, body);

    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, inner, begin, sum, n), LIST(last, total));
    fused(&t, ANEURALNETWORKS_ADD, 1, n, step, next);
    finish(&t, LIST(n, sum, limit), LIST(next, total));
    return t.m;
}

/* 100 + the sum of m for all m < n < limit. */
static void check_loops_in_loops(const struct client_job *j)
{
    const float limit = *(float *) j->input[1];
    float expected = 100;

    for (float n = 0; n < limit; n += 1)
        for (float m = 0; m < n; m += 1)
            expected += m;
    ck_assert(*(float *) j->output[0] == limit);
    ck_assert(*(float *) j->output[1] == expected);
}

/* The counts on w, the sums on v; conditions on the reference, or on c. */
START_TEST(loops_in_loops)
{
    static const char *const devices[] = { "%c?name=v&ops=0.0,%c?name=w&ops=0.1",
                                           "%c?name=v&ops=0.0,%c?name=w&ops=0.1,%c?name=c&ops=58" };
    const char *compare = _i ? "c " : "";
    ANeuralNetworksModel *inner;
    struct loop s = { .sum = 100 };
    const float zero = 0;
    char log[1024];

    use_devices(devices[_i]);
    s.cond = below_limit();
    inner = count_and_sum(1);
    s.body = loop_in_body(s.cond, inner);
    struct net t = net_new();
    uint32_t sum = floats(&t, 1), limit = floats(&t, 1), n = floats(&t, 1), total = floats(&t, 1);
    uint32_t begin = constant(&t, floats(&t, 1), &zero, sizeof zero);
    uint32_t c = model_operand(&t, s.cond), body = model_operand(&t, s.body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, body, begin, sum, limit), LIST(n, total));
    finish(&t, LIST(sum, limit), LIST(n, total));
    s.job.model = t.m;
    job_input(&s.job, &s.sum, sizeof s.sum);
    job_input(&s.job, &s.limit, sizeof s.limit);
    job_output(&s.job, &s.result[0], sizeof(float));
    job_output(&s.job, &s.result[1], sizeof(float));
    job_compile(&s.job);
    strcpy(log, compare);
    for (s.limit = 0; s.limit < 5; s.limit += 1) {
        job_run_each_way(&s.job, log, check_loops_in_loops);
        strcat(log, compare);
        for (float m = 0; m < s.limit; m += 1) {
            strcat(log, "w v ");
            strcat(log, compare);
        }
        strcat(log, "w ");
        strcat(log, compare);
    }
    loop_done(&s);
    ANeuralNetworksModel_free(inner);
}
END_TEST

/* ---- 32: condition and body each on a device of its own, with roles of the arguments */

/* While z = x + y: x, y = relu(x + y), relu(x + z); the x at the end. */
struct scenario_32 {
    struct client_job job;
    ANeuralNetworksModel *cond, *body;
    float in[3], out;
};

static void scenario_32_init(struct scenario_32 *s)
{
    struct net t = net_new();
    uint32_t x = floats(&t, 1), y = floats(&t, 1), z = floats(&t, 1), o = bools(&t);
    uint32_t sum = fused(&t, ANEURALNETWORKS_ADD, 0, x, y, floats(&t, 1));

    *s = (struct scenario_32){ .in = { 1, 2, 3 } };
    operate(&t, ANEURALNETWORKS_EQUAL, LIST(z, sum), LIST(o));
    finish(&t, LIST(x, y, z), LIST(o));
    s->cond = t.m;
    t = net_new();
    x = floats(&t, 1), y = floats(&t, 1), z = floats(&t, 1);
    uint32_t first = fused(&t, ANEURALNETWORKS_ADD, 1, x, y, floats(&t, 1));
    uint32_t second = fused(&t, ANEURALNETWORKS_ADD, 1, x, z, floats(&t, 1));
    finish(&t, LIST(x, y, z), LIST(first, second));
    s->body = t.m;
    t = net_new();
    x = floats(&t, 1), y = floats(&t, 1), z = floats(&t, 1), o = floats(&t, 1);
    uint32_t c = model_operand(&t, s->cond), body = model_operand(&t, s->body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, body, x, y, z), LIST(o));
    finish(&t, LIST(x, y, z), LIST(o));
    s->job.model = t.m;
    for (int i = 0; i < 3; i++)
        job_input(&s->job, &s->in[i], sizeof s->in[i]);
    job_output(&s->job, &s->out, sizeof s->out);
    job_compile(&s->job);
}

/* The memory for one argument; NULL: there is none. */
static ANeuralNetworksMemory *memory_for(const struct client_job *j, bool is_output, uint32_t index)
{
    ANeuralNetworksMemoryDesc *d;
    ANeuralNetworksMemory *m;

    OK(ANeuralNetworksMemoryDesc_create(&d));
    OK(is_output ? ANeuralNetworksMemoryDesc_addOutputRole(d, j->compilation, index, 1)
                 : ANeuralNetworksMemoryDesc_addInputRole(d, j->compilation, index, 1));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    OK(ANeuralNetworksMemory_createFromDesc(d, &m));
    ANeuralNetworksMemoryDesc_free(d);
    return m;
}

START_TEST(condition_and_body_on_two)
{
    struct scenario_32 s;
    uint32_t alignment, padding;

    use_devices("%c?name=a&ops=0.0-48&row=0.8,%c?name=b&ops=0.1");
    scenario_32_init(&s);
    OK(job_compute(&s.job));
    ck_assert_str_eq(executed(), "a b a ");
    ck_assert(s.out == 3);
    s.in[2] = 4;
    OK(job_compute(&s.job));
    ck_assert_str_eq(executed(), "a ");
    ck_assert(s.out == 1);
    /* Inputs are used on both devices, the output on none: neither memory is a driver's. */
    for (uint32_t i = 0; i < 3; i++) {
        OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(s.job.compilation, i,
                                                                          &alignment));
        OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(s.job.compilation, i,
                                                                        &padding));
        ck_assert_uint_eq(alignment, 64);
        ck_assert_uint_eq(padding, 64);
        ANeuralNetworksMemory_free(memory_for(&s.job, false, i));
    }
    OK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(s.job.compilation, 0,
                                                                       &alignment));
    OK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(s.job.compilation, 0,
                                                                     &padding));
    ck_assert_uint_eq(alignment, 16);
    ck_assert_uint_eq(padding, 1);
    ANeuralNetworksMemory_free(memory_for(&s.job, true, 0));
    ck_assert_str_eq(executed(), "");
    job_done(&s.job);
    ANeuralNetworksModel_free(s.cond);
    ANeuralNetworksModel_free(s.body);
}
END_TEST

/* ---- values in buffers of drivers, without a fallback to the reference */

/* Host memory of some bytes, to copy to and from buffers. */
struct shared {
    ANeuralNetworksMemory *memory;
    void *at;
    size_t size;
};

static struct shared shared_new(size_t size)
{
    struct shared s = { .size = size };
    int fd = memfd_create("test", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, (off_t) size), 0);
    s.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(s.at, MAP_FAILED);
    OK(ANeuralNetworksMemory_createFromFd(size, PROT_READ | PROT_WRITE, fd, 0, &s.memory));
    close(fd);
    return s;
}

static void shared_done(struct shared *s)
{
    munmap(s->at, s->size);
    ANeuralNetworksMemory_free(s->memory);
}

/* Whether the reference repeats what fails. */
static void set_mode(int mode)
{
    ck_assert_int_eq(setenv("HALCYON_DEBUG_NN_PARTITION", mode == 1 ? "1" : "2", 1), 0);
}

/* n = !c on the driver, which has c; o = c ? x + y : relu(x + y). */
START_TEST(condition_in_a_driver)
{
    ANeuralNetworksModel *part[2];
    struct client_job j = { 0 };
    uint8_t inverse;

    set_mode(1 + _i);
    use_devices("%c?name=a&ops=62,%c?name=v&ops=0.0-0.1");
    part[0] = add_with(0), part[1] = add_with(1);
    struct net t = net_new();
    uint32_t c = bools(&t), x = floats(&t, 2), y = floats(&t, 2), o = floats(&t, 2), n = bools(&t);
    uint32_t then = model_operand(&t, part[0]), other = model_operand(&t, part[1]);
    operate(&t, ANEURALNETWORKS_IF, LIST(c, then, other, x, y), LIST(o));
    operate(&t, ANEURALNETWORKS_LOGICAL_NOT, LIST(c), LIST(n));
    finish(&t, LIST(c, x, y), LIST(o, n));
    j.model = t.m;
    job_compile(&j);
    ANeuralNetworksMemory *m = memory_for(&j, false, 0);
    ck_assert_str_eq(executed(), "+a ");
    struct shared host = shared_new(1);
    for (uint8_t value = 0; value < 2; value++) {
        ANeuralNetworksExecution *e;
        *(uint8_t *) host.at = value;
        OK(ANeuralNetworksMemory_copy(host.memory, m));
        OK(ANeuralNetworksExecution_create(j.compilation, &e));
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, 0));
        OK(ANeuralNetworksExecution_setInput(e, 1, NULL, a, sizeof a));
        OK(ANeuralNetworksExecution_setInput(e, 2, NULL, b, sizeof b));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out[0], sizeof out[0]));
        OK(ANeuralNetworksExecution_setOutput(e, 1, NULL, &inverse, 1));
        OK(ANeuralNetworksExecution_compute(e));
        ck_assert_str_eq(executed(), "v a ");
        ck_assert_uint_eq(inverse, !value);
        expect_floats(out[0], 11, value ? -22 : 0);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksMemory_free(m);
    shared_done(&host);
    job_done(&j);
    ANeuralNetworksModel_free(part[0]);
    ANeuralNetworksModel_free(part[1]);
}
END_TEST

/* The sum at the begin is in v's buffer, which the body reads; the sum at the end is in t's, which
 * takes the square root of it. */
START_TEST(loop_values_in_drivers)
{
    const float zero = 0;
    struct loop s = { .sum = 0 };
    float root, n;

    set_mode(1 + _i);
    use_devices("%c?name=v&ops=0.0-0.1,%c?name=t&ops=88");
    s.cond = below_limit();
    s.body = count_and_sum(0);
    struct net t = net_new();
    uint32_t sum = floats(&t, 1), limit = floats(&t, 1), last = floats(&t, 1);
    uint32_t total = floats(&t, 1), r = floats(&t, 1);
    uint32_t begin = constant(&t, floats(&t, 1), &zero, sizeof zero);
    uint32_t c = model_operand(&t, s.cond), body = model_operand(&t, s.body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, body, begin, sum, limit), LIST(last, total));
    operate(&t, ANEURALNETWORKS_SQRT, LIST(total), LIST(r));
    finish(&t, LIST(sum, limit), LIST(last, total, r));
    s.job.model = t.m;
    job_compile(&s.job);
    ANeuralNetworksMemory *from = memory_for(&s.job, false, 0), *to = memory_for(&s.job, true, 1);
    ck_assert_str_eq(executed(), "+v +t ");
    struct shared host = shared_new(sizeof(float));
    for (s.limit = 0; s.limit < 4; s.limit += 1) {
        const float expected = 100 + s.limit * (s.limit - 1) / 2;
        ANeuralNetworksExecution *e;
        *(float *) host.at = 100;
        OK(ANeuralNetworksMemory_copy(host.memory, from));
        OK(ANeuralNetworksExecution_create(s.job.compilation, &e));
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, from, 0, 0));
        OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &s.limit, sizeof s.limit));
        OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &n, sizeof n));
        OK(ANeuralNetworksExecution_setOutputFromMemory(e, 1, NULL, to, 0, 0));
        OK(ANeuralNetworksExecution_setOutput(e, 2, NULL, &root, sizeof root));
        OK(ANeuralNetworksExecution_compute(e));
        const char *log = executed();
        ck_assert_uint_eq(strlen(log), 2 * (size_t) s.limit + 2); /* v for each iteration, then t */
        OK(ANeuralNetworksMemory_copy(to, host.memory));
        ck_assert(n == s.limit);
        ck_assert(*(float *) host.at == expected);
        ck_assert(root > 0.99f && root * root < expected + 0.01f && root * root > expected - 0.01f);
        ANeuralNetworksExecution_free(e);
    }
    ANeuralNetworksMemory_free(from);
    ANeuralNetworksMemory_free(to);
    shared_done(&host);
    loop_done(&s);
}
END_TEST

/* ---- 34: a step that fails behind a loop */

START_TEST(failure_after_loop)
{
    const float zero = 0;
    struct loop s;
    struct net t;

    use_devices("%c?name=v&ops=0.0-0.1,%c?name=t&ops=88&row=0.1&execute=2");
    s = (struct loop){ .cond = below_limit(), .body = count_and_sum(0), .sum = 15, .limit = 5 };
    t = net_new();
    uint32_t sum = floats(&t, 1), limit = floats(&t, 1), n = floats(&t, 1), total = floats(&t, 1);
    uint32_t begin = constant(&t, floats(&t, 1), &zero, sizeof zero), root = floats(&t, 1);
    uint32_t c = model_operand(&t, s.cond), body = model_operand(&t, s.body);
    operate(&t, ANEURALNETWORKS_WHILE, LIST(c, body, begin, sum, limit), LIST(n, total));
    operate(&t, ANEURALNETWORKS_SQRT, LIST(total), LIST(root));
    finish(&t, LIST(sum, limit), LIST(n, root));
    s.job.model = t.m;
    job_input(&s.job, &s.sum, sizeof s.sum);
    job_input(&s.job, &s.limit, sizeof s.limit);
    job_output(&s.job, &s.result[0], sizeof(float));
    job_output(&s.job, &s.result[1], sizeof(float));
    job_compile(&s.job);
    OK(job_compute(&s.job));
    ck_assert_str_eq(executed(), "v v v v v t "); /* the loop is not repeated */
    ck_assert(s.result[0] == 5 && s.result[1] == 5);
    loop_done(&s);
}
END_TEST

Suite *api_control_suite(void)
{
    TCase *branches = tcase_create("branches"), *loops_case = tcase_create("loops");

    tcase_add_test(branches, branches_on_one);
    tcase_add_test(branches, branches_on_two);
    tcase_add_test(branches, branch_output_too_small);
    tcase_add_loop_test(loops_case, loops, 0, 3);
    tcase_add_loop_test(loops_case, loops_without_end, 0, 2);
    tcase_add_test(loops_case, branches_in_loops);
    tcase_add_test(loops_case, failure_after_loop);
    tcase_add_loop_test(loops_case, loops_in_loops, 0, 2);
    tcase_add_test(loops_case, condition_and_body_on_two);
    tcase_add_loop_test(branches, condition_in_a_driver, 0, 2);
    tcase_add_loop_test(loops_case, loop_values_in_drivers, 0, 2);
    return make_suite("api_control", branches, loops_case, NULL);
}
