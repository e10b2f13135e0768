/* Memory domains: what may be allocated, copied and named in a request. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/hal_client.h"

enum { N = 4, OTHER = 6 };

static struct hal_driver *driver, *foreign;
static struct client_model model, other, dynamic; /* [N], [OTHER], output [?] */
static struct client_request request;

static void open_all(void)
{
    client_add_model(&model, N, false);
    client_add_model(&other, OTHER, false);
    client_add_model(&dynamic, N, true);
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    client_prepare(&other, driver, HAL_PRIORITY_MEDIUM);
    client_prepare(&dynamic, driver, HAL_PRIORITY_MEDIUM);
    client_fill(&request, N);
}

static void open_here(void)
{
    driver = client_open("cpu", HAL_1_3);
    foreign = client_open("gpu", HAL_1_3);
    open_all();
}

static void open_there(void)
{
    driver = client_over_socket(client_open("cpu", HAL_1_3));
    foreign = client_over_socket(client_open("gpu", HAL_1_3));
    open_all();
}

static void close_all(void)
{
    client_done(&model);
    client_done(&other);
    client_done(&dynamic);
    driver->close(driver);
    foreign->close(foreign);
}

/* ---- allocation */

enum { ROLES = 3 };

/* Roles of probability 0 end a list. */
struct allocation {
    const char *what;
    uint32_t dims[3]; /* of the description, 0 ends them */
    struct hal_buffer_role in[ROLES], out[ROLES];
};

static uint32_t count_roles(const struct hal_buffer_role *r)
{
    uint32_t n = 0;

    while (n < ROLES && r[n].probability != 0)
        n++;
    return n;
}

static struct hal_buffer *allocate(const struct allocation *a, uint32_t *ret_token,
                                   enum hal_status *ret_status)
{
    struct hal_prepared_model *models[] = { model.prepared, other.prepared, dynamic.prepared };
    struct hal_buffer_desc desc = { 0, a->dims };
    struct hal_buffer *b = (void *) &desc;

    while (desc.n_dims < 3 && a->dims[desc.n_dims])
        desc.n_dims++;
    *ret_status = driver->allocate(driver, &desc, COUNT(models), models, count_roles(a->in), a->in,
                                   count_roles(a->out), a->out, &b, ret_token);
    return b;
}

static const struct allocation bad_allocations[] = {
    { "no roles" },
    { "a model that is not there", .in = { { 3, 0, 1 } } },
    { "an input that is not there", .in = { { 0, 2, 1 } } },
    { "an output that is not there", .out = { { 0, 1, 1 } } },
    { "a probability above 1", .in = { { 0, 0, 10 } } },
    { "a probability below 0", .in = { { 0, 0, -0.5f } } },
    { "no probability", .in = { { 0, 0, NAN } } },
    { "an input twice", .in = { { 0, 0, 1 }, { 0, 0, 0.5f } } },
    { "an output twice", .out = { { 0, 0, 1 }, { 0, 0, 1 } } },
    { "dimensions of roles that differ", .in = { { 0, 0, 1 }, { 1, 0, 1 } } },
    { "dimensions of input and output that differ", .in = { { 0, 0, 1 } }, .out = { { 1, 0, 1 } } },
    { "a described dimension that differs", { 5 }, .in = { { 0, 0, 1 } } },
    { "a described rank that differs", { N, 1 }, .in = { { 0, 0, 1 } } },
};

START_TEST(what_contradicts_itself_is_not_allocated)
{
    const struct allocation *a = &bad_allocations[_i];
    enum hal_status status;
    uint32_t token = 99;

    ck_assert_msg(!allocate(a, &token, &status), "%s", a->what);
    ck_assert_msg(status == HAL_INVALID_ARGUMENT && token == 0, "%s: %d", a->what, (int) status);
}
END_TEST

START_TEST(models_of_others_have_no_buffers_here)
{
    struct hal_buffer_role role = { 0, 0, 1 };
    struct hal_buffer_desc desc = { 0 };
    struct hal_prepared_model *models[] = { NULL, model.prepared };
    struct hal_buffer *b;
    uint32_t token;

    ck_assert_int_eq(driver->allocate(driver, &desc, 1, &models[0], 1, &role, 0, NULL, &b, &token),
                     HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(
        foreign->allocate(foreign, &desc, 1, &models[1], 1, &role, 0, NULL, &b, &token),
        HAL_INVALID_ARGUMENT);
}
END_TEST

/* ---- copies */

static struct hal_memory memory_of(float *values, uint32_t n)
{
    return (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                .address = values,
                                .fd = -1,
                                .size = n * sizeof(*values) };
}

static struct hal_buffer *must_allocate(const struct allocation *a, uint32_t *ret_token)
{
    enum hal_status status;
    struct hal_buffer *b = allocate(a, ret_token, &status);

    ck_assert_int_eq(status, HAL_NONE);
    ck_assert(b && *ret_token > 0);
    return b;
}

static const struct allocation input_role = { "", .in = { { 0, 0, 1 } } },
                               both_inputs = { "", .in = { { 0, 0, 1 }, { 0, 1, 1 } } },
                               output_role = { "", .out = { { 0, 0, 1 } } },
                               in_and_out = { "", .in = { { 0, 0, 1 } }, .out = { { 0, 0, 1 } } },
                               dynamic_output = { "", .out = { { 2, 0, 1 } } },
                               known_dynamic = { "", { N }, .out = { { 2, 0, 1 } } };

static enum hal_status copy_in(struct hal_buffer *b, uint32_t n, uint32_t n_dims, uint32_t d0,
                               uint32_t d1)
{
    static float values[16] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct hal_memory m = memory_of(values, n);
    uint32_t dims[] = { d0, d1 };

    return b->methods->copy_from(b, &m, n_dims, dims);
}

START_TEST(what_is_copied_in_has_the_size_and_shape_of_the_buffer)
{
    uint32_t token;
    struct hal_buffer *b = must_allocate(&input_role, &token);

    ck_assert_int_eq(copy_in(b, N / 2, 0, 0, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N * 2, 0, 0, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 2, N, 1), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 1, 2, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 1, 0, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 0, 0, 0), HAL_NONE);
    ck_assert_int_eq(copy_in(b, N, 1, N, 0), HAL_NONE);
    b->methods->release(b);
}
END_TEST

START_TEST(an_open_dimension_must_be_said)
{
    uint32_t token;
    struct hal_buffer *b = must_allocate(&dynamic_output, &token);

    ck_assert_int_eq(copy_in(b, N, 0, 0, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 1, 0, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 2, 2, 2), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 1, 5, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(copy_in(b, N, 1, N, 0), HAL_NONE);
    b->methods->release(b);
}
END_TEST

START_TEST(what_is_copied_out_was_copied_in)
{
    float values[2 * N] = { 0 };
    struct hal_memory half = memory_of(values, N / 2), twice = memory_of(values, 2 * N),
                      exact = memory_of(values, N);
    uint32_t token;
    struct hal_buffer *b = must_allocate(&input_role, &token);

    ck_assert_int_eq(b->methods->copy_to(b, &exact), HAL_GENERAL_FAILURE);
    ck_assert_int_eq(copy_in(b, N, 0, 0, 0), HAL_NONE);
    ck_assert_int_eq(b->methods->copy_to(b, &half), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(b->methods->copy_to(b, &twice), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(b->methods->copy_to(b, &exact), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(values[i], (float) (i + 1));
    b->methods->release(b);
}
END_TEST

/* ---- requests */

static enum hal_status run(struct client_model *m)
{
    struct hal_execution_config config = client_config();
    enum hal_status status = m->prepared->methods->execute_synchronously(
        m->prepared, HAL_1_3, &request.hal, &config, &request.result);

    ck_assert(status == HAL_NONE || request.result.n_shapes == 0);
    ck_assert(request.result.timing.on_device == HAL_NO_TIME);
    return status;
}

/* Argument and pool of a request name a buffer from now on. */
static void name(int pool, struct hal_argument *a, uint32_t token)
{
    request.pool[pool] = (struct hal_request_pool){ .is_token = true, .token = token };
    a->location = (struct hal_location){ .pool = (uint32_t) pool };
}

START_TEST(a_result_stays_on_the_device_and_goes_on_as_an_input)
{
    float z[N];
    struct hal_memory to = memory_of(z, N);
    uint32_t token;
    struct hal_buffer *b = must_allocate(&in_and_out, &token);

    name(2, &request.out[0], token);
    ck_assert_int_eq(run(&model), HAL_NONE);
    ck_assert_int_eq(b->methods->copy_to(b, &to), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(z[i], (float) (11 * i));
    client_fill(&request, N);
    name(0, &request.in[0], token);
    ck_assert_int_eq(run(&model), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(request.z[i], (float) (21 * i));
    b->methods->release(b);
}
END_TEST

START_TEST(unknown_tokens_are_refused)
{
    const uint32_t tokens[] = { 0, 100, UINT32_MAX };
    uint32_t token;
    struct hal_buffer *b = must_allocate(&input_role, &token);

    for (int i = 0; i < COUNT(tokens); i++) {
        client_fill(&request, N);
        name(0, &request.in[0], tokens[i]);
        ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT);
        client_fill(&request, N);
        name(2, &request.out[0], tokens[i]);
        ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT);
    }
    b->methods->release(b);
    client_fill(&request, N);
    name(0, &request.in[0], token); /* it has ended */
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT);
}
END_TEST

START_TEST(buffers_are_for_their_roles)
{
    uint32_t in_token, out_token;
    struct hal_buffer *in = must_allocate(&input_role, &in_token),
                      *out = must_allocate(&output_role, &out_token);

    ck_assert_int_eq(copy_in(in, N, 0, 0, 0), HAL_NONE);
    ck_assert_int_eq(copy_in(out, N, 0, 0, 0), HAL_NONE);
    name(0, &request.in[0], in_token);
    ck_assert_int_eq(run(&model), HAL_NONE);
    ck_assert_int_eq(run(&dynamic), HAL_INVALID_ARGUMENT); /* another model */
    request.in[0].location.length = 4;
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT); /* a part of it */
    client_fill(&request, N);
    name(0, &request.in[1], in_token);
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT); /* another input */
    client_fill(&request, N);
    name(0, &request.in[0], out_token);
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT); /* an output */
    client_fill(&request, N);
    name(2, &request.out[0], in_token);
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT); /* an input */
    in->methods->release(in);
    out->methods->release(out);
}
END_TEST

START_TEST(an_input_needs_contents)
{
    uint32_t token;
    struct hal_buffer *b = must_allocate(&in_and_out, &token);

    name(0, &request.in[0], token);
    ck_assert_int_eq(run(&model), HAL_GENERAL_FAILURE);
    client_fill(&request, N);
    name(2, &request.out[0], token);
    ck_assert_int_eq(run(&model), HAL_NONE);
    client_fill(&request, N);
    name(0, &request.in[0], token);
    ck_assert_int_eq(run(&model), HAL_NONE);
    b->methods->release(b);
}
END_TEST

START_TEST(one_request_writes_a_buffer_once_and_does_not_read_it)
{
    uint32_t token;
    struct hal_buffer *b = must_allocate(&in_and_out, &token);

    ck_assert_int_eq(copy_in(b, N, 0, 0, 0), HAL_NONE);
    name(0, &request.in[0], token);
    request.out[0].location = (struct hal_location){ 0 };
    ck_assert_int_eq(run(&model), HAL_INVALID_ARGUMENT);
    b->methods->release(b);

    b = must_allocate(&both_inputs, &token);
    client_fill(&request, N);
    ck_assert_int_eq(copy_in(b, N, 0, 0, 0), HAL_NONE);
    name(0, &request.in[0], token);
    request.in[1].location = (struct hal_location){ 0 };
    ck_assert_int_eq(run(&model), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(request.z[i], (float) (2 * (i + 1)));
    b->methods->release(b);
}
END_TEST

START_TEST(shapes_of_buffers_and_requests_agree)
{
    const uint32_t five = 5, four = 4;
    uint32_t token;
    struct hal_buffer *b = must_allocate(&known_dynamic, &token);

    name(2, &request.out[0], token);
    request.out[0].n_dims = 1;
    request.out[0].dims = &five;
    ck_assert_int_eq(run(&dynamic), HAL_INVALID_ARGUMENT);
    request.out[0].dims = &four;
    ck_assert_int_eq(run(&dynamic), HAL_NONE);
    b->methods->release(b);
}
END_TEST

START_TEST(a_result_that_does_not_fit_the_buffer_is_a_failure)
{
    const struct allocation five = { "", { 5 }, .out = { { 2, 0, 1 } } };
    uint32_t token;
    struct hal_buffer *b = must_allocate(&five, &token);

    name(2, &request.out[0], token);
    ck_assert_int_eq(run(&dynamic), HAL_GENERAL_FAILURE);
    b->methods->release(b);
}
END_TEST

START_TEST(tokens_come_with_hal_1_3)
{
    struct hal_execution_config config = client_config();
    uint32_t token;
    struct hal_buffer *b = must_allocate(&output_role, &token);

    name(2, &request.out[0], token);
    ck_assert_int_eq(model.prepared->methods->execute_synchronously(
                         model.prepared, HAL_1_2, &request.hal, &config, &request.result),
                     HAL_INVALID_ARGUMENT);
    b->methods->release(b);
}
END_TEST

static TCase *buffers(const char *name, void (*open)(void))
{
    TCase *c = tcase_create(name);

    tcase_add_checked_fixture(c, open, close_all);
    tcase_add_loop_test(c, what_contradicts_itself_is_not_allocated, 0, COUNT(bad_allocations));
    tcase_add_test(c, models_of_others_have_no_buffers_here);
    tcase_add_test(c, what_is_copied_in_has_the_size_and_shape_of_the_buffer);
    tcase_add_test(c, an_open_dimension_must_be_said);
    tcase_add_test(c, what_is_copied_out_was_copied_in);
    tcase_add_test(c, a_result_stays_on_the_device_and_goes_on_as_an_input);
    tcase_add_test(c, unknown_tokens_are_refused);
    tcase_add_test(c, buffers_are_for_their_roles);
    tcase_add_test(c, an_input_needs_contents);
    tcase_add_test(c, one_request_writes_a_buffer_once_and_does_not_read_it);
    tcase_add_test(c, shapes_of_buffers_and_requests_agree);
    tcase_add_test(c, a_result_that_does_not_fit_the_buffer_is_a_failure);
    tcase_add_test(c, tokens_come_with_hal_1_3);
    return c;
}

int main(void)
{
    Suite *s = suite_create("sim domain");

    suite_add_tcase(s, buffers("in process", open_here));
    suite_add_tcase(s, buffers("over a socket", open_there));
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
