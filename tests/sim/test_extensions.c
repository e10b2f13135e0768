/* Vendor extensions through drivers: supported extensions, results, failures at run time.  Rejected
 * models are in test_extensions_refused.c. */
#include <check.h>
#include <string.h>

#include "harness/corrupt/cache_files.h"
#include "tests/support/check_main.h"
#include "tests/support/extension_model.h"

static const struct extension_scale plain = { 1, 0 };

/* i: 0 in process, 1 over a socket. */
static struct hal_driver *open_dsp(int i)
{
    struct hal_driver *d = client_open("dsp", HAL_FL8);

    return i ? client_over_socket(d) : d;
}

static enum hal_status run(struct hal_prepared_model *p, enum hal_version version,
                           struct extension_request *r)
{
    return client_execute(p, version, &r->hal, &r->result);
}

static void check_numbers(const struct extension_request *r, uint32_t n)
{
    ck_assert_uint_eq(r->result.n_shapes, 1);
    ck_assert_uint_eq(r->shape[0].n_dims, 1);
    ck_assert_uint_eq(r->shape[0].dims[0], n);
    ck_assert(r->shape[0].is_sufficient);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_int_eq(r->q[i], fibonacci(i));
}

/* ---- supported extensions */

START_TEST(a_device_lists_its_extensions)
{
    struct hal_driver *d = open_dsp(_i);
    const struct hal_extension *e = NULL;
    uint32_t n = 0;

    ck_assert_int_eq(d->get_supported_extensions(d, &n, &e), HAL_NONE);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(e->name, "org.halcyon.example.fibonacci");
    ck_assert_uint_eq(e->n_types, 2);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(e->type[i].type, i);
        ck_assert_uint_eq(e->type[i].byte_size, 8);
        ck_assert(e->type[i].is_tensor == (i == 1));
    }
    d->close(d);
}
END_TEST

START_TEST(other_devices_have_no_extensions)
{
    const struct hal_extension *e = NULL;
    uint32_t n = 9;
    struct hal_driver *d[] = { client_open("cpu", 0), client_open("gpu", 0),
                               client_open("dsp", HAL_1_1) };

    for (int i = 0; i < COUNT(d); i++, n = 9) {
        bool is_old = d[i]->hal_version < HAL_1_2;
        ck_assert_int_eq(d[i]->get_supported_extensions(d[i], &n, &e),
                         is_old ? HAL_GENERAL_FAILURE : HAL_NONE);
        ck_assert_uint_eq(n, is_old ? 9 : 0);
        d[i]->close(d[i]);
    }
}
END_TEST

/* ---- supported operations */

static void check_supported(struct hal_driver *d, const struct hal_model *m, uint32_t n,
                            const bool *expected)
{
    bool supported[8];
    uint32_t answers = 0;

    ck_assert_int_eq(d->get_supported_operations(d, d->hal_version, m, supported, &answers),
                     HAL_NONE);
    ck_assert_uint_eq(answers, n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(supported[i] == expected[i], "%s, operation %u", d->name, i);
    d->close(d);
}

START_TEST(support_is_reported_per_operation_of_a_mixed_model)
{
    static const bool all[] = { true, true, true, true };
    static const bool standard[] = { true, false, false, true };
    struct client_model m;

    extension_model_mixed(&m, plain, 7);
    check_supported(open_dsp(0), &m.hal, 4, all);
    check_supported(open_dsp(1), &m.hal, 4, all);
    check_supported(client_open("golden", 0), &m.hal, 4, all);
    check_supported(client_open("cpu", 0), &m.hal, 4, standard);
    check_supported(client_over_socket(client_open("cpu", 0)), &m.hal, 4, standard);
    client_done(&m);
}
END_TEST

START_TEST(unknown_extensions_are_valid_and_unsupported)
{
    static const bool standard[] = { true, false, false, true };
    static const char blob[100000];
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    struct hal_driver *d = open_dsp(_i);
    struct client_model m;

    extension_model_mixed(&m, plain, 7);
    ((struct hal_extension_prefix *) m.hal.extension_name_to_prefix)->name = "com.elsewhere.x";
    for (uint32_t i = 0; i < m.hal.main.n_operands; i++) {
        struct hal_operand *o = (struct hal_operand *) &m.hal.main.operands[i];
        if (o->extra == HAL_EXTRA_EXTENSION) { /* of any size */
            o->extension = blob;
            o->extension_length = sizeof(blob);
        }
    }
    ck_assert_int_eq(client_prepare_with(d, HAL_FL8, &m.hal, &config, &m.prepared),
                     HAL_INVALID_ARGUMENT);
    check_supported(d, &m.hal, 4, standard);
    client_done(&m);
}
END_TEST

/* ---- results */

static void check_plain(struct hal_driver *d, enum hal_version version)
{
    static const int32_t counts[] = { 1, 2, 10, 93, 0 };
    struct extension_request r;
    struct client_model m;

    extension_model_plain(&m, plain);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int i = 0; i < COUNT(counts); i++) {
        extension_request_fill(&r, 1, 8 * 93);
        r.in[0] = counts[i];
        ck_assert_int_eq(run(m.prepared, version, &r), HAL_NONE);
        check_numbers(&r, (uint32_t) counts[i]);
    }
    client_done(&m);
    d->close(d);
}

START_TEST(fibonacci_numbers_are_exact)
{
    ck_assert_int_eq(fibonacci(92), 7540113804746346429);
    check_plain(open_dsp(_i), HAL_FL8);
    check_plain(open_dsp(_i), HAL_1_2);
    check_plain(client_open("dsp", HAL_1_2), HAL_1_2);
    check_plain(client_open("golden", 0), HAL_FL8);
}
END_TEST

static enum hal_status run_scaled(struct extension_scale s, int32_t n, struct extension_request *r)
{
    struct hal_driver *d = client_open("dsp", 0);
    struct client_model m;

    extension_model_plain(&m, s);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    extension_request_fill(r, 1, 8 * 93);
    r->in[0] = n;
    enum hal_status status = run(m.prepared, HAL_1_3, r);
    client_done(&m);
    d->close(d);
    return status;
}

/* The fifth number is 3, the seventh 8, the last 7540113804746346429. */
START_TEST(the_attached_scale_is_applied)
{
    static const struct {
        struct extension_scale s;
        int64_t fifth, seventh, last;
    } rows[] = {
        { { 1, -100 }, -97, -92, 7540113804746346329 },
        { { 0.9999999999999999, 0 }, 3, 8, 7540113804746347266 },
        { { 2, 0 }, 2, 4, 3770056902373173215 }, /* 1.5 and ...214.5 round away from zero */
        { { 3, 1000 }, 1001, 1003, 2513371268248783143 },
        { { 1e300, 7 }, 7, 7, 7 },
        { { 0x1p62, 0 }, 0, 0, 2 },
        { { 16, INT64_MIN }, INT64_MIN, INT64_MIN + 1, INT64_MIN + 471257112796646652 },
    };
    struct extension_request r;

    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(run_scaled(rows[i].s, 93, &r), HAL_NONE);
        ck_assert_int_eq(r.q[4], rows[i].fifth);
        ck_assert_int_eq(r.q[6], rows[i].seventh);
        ck_assert_int_eq(r.q[92], rows[i].last);
    }
    ck_assert_int_eq(run_scaled((struct extension_scale){ 0x1p-20, 5 }, 7, &r), HAL_NONE);
    ck_assert_int_eq(r.q[6], 8 * 1048576 + 5);
    ck_assert_int_eq(run_scaled((struct extension_scale){ 0x1p-62, -1 }, 3, &r), HAL_NONE);
    ck_assert_int_eq(r.q[2], 4611686018427387903);
}
END_TEST

START_TEST(overflow_fails_without_shapes)
{
    static const struct {
        struct extension_scale s;
        int32_t n;
    } rows[] = { { { 1, 0 }, 94 },        { { 1, 0 }, -1 },         { { 0.5, 0 }, 93 },
                 { { 1, INT64_MAX }, 2 }, { { 0x1p-63, 0 }, 2 },    { { 0x1p-80, 0 }, 2 },
                 { { 1e-300, 0 }, 2 },    { { 1, INT32_MIN }, 94 }, { { 5e-324, -7 }, 2 } };
    struct extension_request r;

    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(run_scaled(rows[i].s, rows[i].n, &r), HAL_GENERAL_FAILURE);
        ck_assert_uint_eq(r.result.n_shapes, 0);
    }
}
END_TEST

START_TEST(a_small_output_is_insufficient)
{
    struct hal_driver *d = open_dsp(_i);
    struct extension_request r;
    struct client_model m;

    extension_model_plain(&m, plain);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    extension_request_fill(&r, 1, 8 * 5 - 1);
    r.in[0] = 5;
    ck_assert_int_eq(run(m.prepared, HAL_1_3, &r), HAL_OUTPUT_INSUFFICIENT_SIZE);
    ck_assert_uint_eq(r.shape[0].dims[0], 5);
    ck_assert(!r.shape[0].is_sufficient);
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(extensions_mix_with_standard_operations)
{
    struct hal_driver *d = open_dsp(_i);
    struct extension_request r;
    struct client_model m;

    extension_model_mixed(&m, (struct extension_scale){ 0.25, 1 }, 7);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    extension_request_fill(&r, 2, 4 * 7);
    r.in[0] = 3;
    r.in[1] = 4;
    ck_assert_int_eq(run(m.prepared, HAL_1_3, &r), HAL_NONE);
    for (uint32_t i = 0; i < 7; i++)
        ck_assert_float_eq(r.f[i], (float) fibonacci(i));
    r.in[1] = 5; /* eight numbers do not fit the seven that are declared */
    ck_assert_int_eq(run(m.prepared, HAL_1_3, &r), HAL_GENERAL_FAILURE);
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(extensions_work_in_branches)
{
    struct hal_driver *d = _i == 2 ? client_open("golden", 0) : open_dsp(_i);
    struct extension_request r;
    struct client_model m;

    extension_model_branch(&m);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    extension_request_fill(&r, 3, 8 * 5);
    r.arg[0].location.length = 1;
    r.in[0] = 1;
    r.in[1] = 5;
    r.in[2] = -1;
    ck_assert_int_eq(run(m.prepared, HAL_1_3, &r), HAL_NONE);
    check_numbers(&r, 5);
    r.in[0] = 0; /* the other branch has -1 numbers to compute */
    ck_assert_int_eq(run(m.prepared, HAL_1_3, &r), HAL_GENERAL_FAILURE);
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- every kind of execution */

static void run_async(struct hal_prepared_model *p, struct extension_request *r)
{
    struct hal_execution_config config = client_config();
    struct client_wait wait;

    client_wait_init(&wait);
    ck_assert_int_eq(p->methods->execute(p, HAL_1_3, &r->hal, &config, &wait.base), HAL_NONE);
    ck_assert_int_eq(client_wait(&wait), HAL_NONE);
    ck_assert_uint_eq(wait.n_shapes, 1);
}

static void run_fenced(struct hal_prepared_model *p, struct extension_request *r)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info;
    int fence;

    enum hal_status launched = p->methods->execute_fenced(p, HAL_FL8, &r->hal, 0, NULL, &config,
                                                          HAL_NO_TIME, &fence, &info);
    ck_assert_int_eq(client_end_fenced(launched, fence, info), HAL_NONE);
}

static void run_burst(struct hal_prepared_model *p, struct extension_request *r)
{
    struct hal_execution_config config = client_config();
    const int64_t none[] = { -1, -1 };
    struct hal_burst *burst;

    ck_assert_int_eq(p->methods->configure_burst(p, HAL_FL8, &burst), HAL_NONE);
    ck_assert_int_eq(
        burst->methods->execute_synchronously(burst, &r->hal, 2, none, &config, &r->result),
        HAL_NONE);
    burst->methods->release(burst);
}

static void run_reusable(struct hal_prepared_model *p, struct extension_request *r)
{
    struct hal_execution_config config = client_config();
    struct hal_execution *x;

    ck_assert_int_eq(p->methods->create_reusable_execution(p, &r->hal, &config, &x), HAL_NONE);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(x->methods->execute_synchronously(x, HAL_NO_DEADLINE, &r->result),
                         HAL_NONE);
    x->methods->release(x);
}

START_TEST(extensions_run_in_every_kind_of_execution)
{
    static void (*const kinds[])(struct hal_prepared_model *,
                                 struct extension_request *) = { run_async, run_fenced, run_burst,
                                                                 run_reusable };
    struct hal_driver *d = open_dsp(_i);
    struct extension_request r;
    struct client_model m;

    extension_model_mixed(&m, plain, 4);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    for (int k = 0; k < COUNT(kinds); k++) {
        extension_request_fill(&r, 2, 4 * 4);
        r.in[0] = 4;
        r.f[3] = 99;
        kinds[k](m.prepared, &r);
        ck_assert_float_eq(r.f[2], 1);
        ck_assert_float_eq(r.f[3], 2);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- prefixes and caches */

START_TEST(prefixes_are_per_model_and_kept_in_caches)
{
    static const uint16_t prefixes[] = { 1, 2, 0x0fff, 0x7fff };
    struct hal_driver *d = client_open_cached("dsp", 1, 1, NULL);
    struct hal_prepared_model *cached[COUNT(prefixes)];
    struct extension_request r;
    struct client_model m;

    d = _i ? client_over_socket(d) : d;
    for (int i = 0; i < COUNT(prefixes); i++) {
        struct files f;
        files_init(&f, 1, 1);
        struct hal_prepare_config config = files_config(&f);
        extension_model_plain(&m, (struct extension_scale){ 1, i });
        extension_model_renumber(&m, prefixes[i]);
        ck_assert_int_eq(client_prepare_with(d, HAL_1_3, &m.hal, &config, &m.prepared), HAL_NONE);
        client_done(&m);
        ck_assert_int_eq(client_prepare_with(d, HAL_1_3, NULL, &config, &cached[i]), HAL_NONE);
        files_done(&f);
    }
    for (int i = 0; i < COUNT(prefixes); i++) { /* all of them at the same time */
        extension_request_fill(&r, 1, 8 * 93);
        r.in[0] = 93;
        ck_assert_int_eq(run(cached[i], HAL_1_3, &r), HAL_NONE);
        ck_assert_int_eq(r.q[92], fibonacci(92) + i);
        cached[i]->methods->release(cached[i]);
    }
    d->close(d);
}
END_TEST

START_TEST(buffers_of_extension_types_are_not_allocated)
{
    struct hal_buffer_role role = { 0, 0, 1 };
    const uint32_t dims[] = { 5 };
    struct hal_buffer_desc desc = { 1, dims };
    struct hal_driver *d = open_dsp(_i);
    struct hal_buffer *b;
    struct client_model m;
    uint32_t token;

    extension_model_plain(&m, plain);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(d->allocate(d, &desc, 1, &m.prepared, 0, NULL, 1, &role, &b, &token),
                     HAL_GENERAL_FAILURE);
    ck_assert_ptr_null(b);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *extensions_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_loop_test(t, a_device_lists_its_extensions, 0, 2);
    tcase_add_test(t, other_devices_have_no_extensions);
    tcase_add_test(t, support_is_reported_per_operation_of_a_mixed_model);
    tcase_add_loop_test(t, unknown_extensions_are_valid_and_unsupported, 0, 2);
    tcase_add_loop_test(t, fibonacci_numbers_are_exact, 0, 2);
    tcase_add_test(t, the_attached_scale_is_applied);
    tcase_add_test(t, overflow_fails_without_shapes);
    tcase_add_loop_test(t, a_small_output_is_insufficient, 0, 2);
    tcase_add_loop_test(t, extensions_mix_with_standard_operations, 0, 2);
    tcase_add_loop_test(t, extensions_work_in_branches, 0, 3);
    tcase_add_loop_test(t, extensions_run_in_every_kind_of_execution, 0, 2);
    tcase_add_loop_test(t, prefixes_are_per_model_and_kept_in_caches, 0, 2);
    tcase_add_loop_test(t, buffers_of_extension_types_are_not_allocated, 0, 2);
    return make_suite("extensions", t, NULL);
}
