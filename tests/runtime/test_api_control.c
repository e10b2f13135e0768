/* IF and WHILE whose parts are on several devices, executed: the scenarios 26, 27 and 31 to 34 of
 * runtime.md 4.7; results known by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    tcase_add_loop_test(loops_case, loops, 0, 3);
    tcase_add_loop_test(loops_case, loops_without_end, 0, 2);
    tcase_add_test(loops_case, branches_in_loops);
    tcase_add_test(loops_case, failure_after_loop);
    return make_suite("api_control", branches, loops_case, NULL);
}
