/* Values of unknown size between steps, executed: the scenarios 21 to 25 of runtime.md 4.7, and
 * results without elements; results known by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

enum { UNKNOWN_RANK = -1 };

static float in[2] = { 3, 5 }, out[2][128];
static int32_t padding[2];

static uint32_t floats_or_unknown(struct net *t, int n)
{
    return n == UNKNOWN_RANK ? operand(t, ANEURALNETWORKS_TENSOR_FLOAT32, 0, NULL)
                             : floats(t, (uint32_t) n);
}

/* o2 = PAD(i0, i1), o3 = PAD(i0, i1), o4 = o2 + o3; o2 and o4 are outputs.  The number of elements
 * of o2 and o4, and of o3; 0: unknown. */
static struct client_job pad_job(int n_outputs, int n_temporary)
{
    struct net t = net_new();
    struct client_job j = { .model = t.m };
    uint32_t i0 = floats(&t, 2);
    uint32_t i1 = operand(&t, ANEURALNETWORKS_TENSOR_INT32, 2, (uint32_t[]){ 1, 2 });
    uint32_t o2 = floats_or_unknown(&t, n_outputs), o3 = floats_or_unknown(&t, n_temporary);
    uint32_t o4 = floats_or_unknown(&t, n_outputs);

    operate(&t, ANEURALNETWORKS_PAD, LIST(i0, i1), LIST(o2));
    operate(&t, ANEURALNETWORKS_PAD, LIST(i0, i1), LIST(o3));
    fused(&t, ANEURALNETWORKS_ADD, 0, o2, o3, o4);
    finish(&t, LIST(i0, i1), LIST(o2, o4));
    padding[0] = padding[1] = 1;
    job_input(&j, in, sizeof in);
    job_input(&j, padding, sizeof padding);
    job_output(&j, out[0], 4 * sizeof(float));
    job_output(&j, out[1], 4 * sizeof(float));
    return j;
}

static void check_padded(const struct client_job *j)
{
    (void) j;
    expect_floats(out[0], 0, 3, 5, 0);
    expect_floats(out[1], 0, 6, 10, 0);
}

static const char devices[] = "%c?name=pad&ops=32,%c?name=add&ops=0";

/* Which sizes the model tells. */
static const struct {
    int outputs, temporary;
} sizes[] = { { 4, UNKNOWN_RANK }, { 4, 0 }, { 4, 4 },
              { 0, UNKNOWN_RANK }, { 0, 0 }, { UNKNOWN_RANK, 0 } };
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(padded)
{
    struct client_job j;
    use_devices(devices);
    j = pad_job(sizes[_i].outputs, sizes[_i].temporary);
    job_compile(&j);
    if (sizes[_i].outputs == 4) {
        job_run_each_way(&j, "pad add ", check_padded);
    } else {
        OK(job_compute(&j));
        ck_assert_str_eq(executed(), "pad add ");
        check_padded(&j);
    }
    job_done(&j);
}
END_TEST

/* 24: drivers that report no shapes. */
START_TEST(padded_before_level_3)
{
    struct client_job j;

    use_devices("%c?name=pad&ops=32&hal=11,%c?name=add&ops=0&hal=11");
    const ANeuralNetworksDevice *list[] = { device_named("pad"), device_named("add") };
    j = pad_job(4, 0);
    OK(ANeuralNetworksCompilation_createForDevices(j.model, list, 2, &j.compilation));
    EXPECT(ANeuralNetworksCompilation_finish(j.compilation), OP_FAILED);
    ANeuralNetworksCompilation_free(j.compilation);
    job_compile(&j);
    OK(job_compute(&j));
    ck_assert_str_eq(executed(), "");
    check_padded(&j);
    job_done(&j);
}
END_TEST

/* The rank of output 1, and then its elements, behind a step whose output is too small: as far as
 * the model tells. */
static void check_not_computed(ANeuralNetworksExecution *e, bool is_rank_known)
{
    uint32_t n = 99;

    OK(ANeuralNetworksExecution_getOutputOperandRank(e, 1, &n));
    ck_assert_uint_eq(n, is_rank_known);
    ck_assert_int_eq(ANeuralNetworksExecution_getOutputOperandDimensions(e, 1, &n),
                     is_rank_known ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA);
    ck_assert_uint_eq(n, 0);
}

/* 25: output buffers of three elements where there are four.  _i: which ones, and whether the rank
 * is known. */
START_TEST(outputs_too_small)
{
    const bool is_small[2] = { _i & 1, _i & 2 }, is_rank_known = _i & 4;
    struct client_job j;

    use_devices(devices);
    j = pad_job(is_rank_known ? 0 : UNKNOWN_RANK, 0);
    job_compile(&j);
    for (int i = 0; i < 2; i++)
        j.out_size[i] = (is_small[i] ? 3 : 4) * sizeof(float);
    ANeuralNetworksExecution *e = job_execution(&j);
    EXPECT(ANeuralNetworksExecution_compute(e), OUTPUT_INSUFFICIENT_SIZE);
    for (int i = 0; i < 2; i++) {
        uint32_t n;
        if (i == 1 && is_small[0]) {
            check_not_computed(e, is_rank_known);
            break;
        }
        int result = ANeuralNetworksExecution_getOutputOperandDimensions(e, i, &n);
        ck_assert_int_eq(result, is_small[i] ? ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE
                                             : ANEURALNETWORKS_NO_ERROR);
        ck_assert_uint_eq(n, 4);
    }
    ANeuralNetworksExecution_free(e);
    job_done(&j);
}
END_TEST

/* The memory of a value grows where it is too small, once. */
START_TEST(memory_grows)
{
    struct client_job j;

    use_devices(devices);
    j = pad_job(0, _i ? 0 : UNKNOWN_RANK);
    job_compile(&j);
    j.out_size[0] = j.out_size[1] = 102 * sizeof(float);
    padding[1] = 99;
    ANeuralNetworksExecution *e = job_execution(&j);
    OK(ANeuralNetworksExecution_setReusable(e, true));
    for (int i = 0; i < 3; i++) {
        job_clear_outputs(&j);
        OK(ANeuralNetworksExecution_compute(e));
        ck_assert_str_eq(executed(), i ? "pad add " : "pad pad add ");
        ck_assert(out[1][0] == 0 && out[1][1] == 6 && out[1][2] == 10 &&
                  out[1][2 + padding[1]] == 0);
        padding[1] = i ? 99 : 1; /* smaller, then as large again */
    }
    ANeuralNetworksExecution_free(e);
    job_done(&j);
}
END_TEST

/* ---- results without elements */

/* o2 = i0[b, b + n), o3 = o2 + o2. */
static struct client_job slice_job(int32_t *begin, int32_t *n)
{
    struct net t = net_new();
    struct client_job j = { .model = t.m };
    uint32_t i0 = floats(&t, 2);
    uint32_t b = operand(&t, ANEURALNETWORKS_TENSOR_INT32, 1, (uint32_t[]){ 1 });
    uint32_t size = operand(&t, ANEURALNETWORKS_TENSOR_INT32, 1, (uint32_t[]){ 1 });
    uint32_t o2 = floats(&t, 0), o3 = floats(&t, 0);

    operate(&t, ANEURALNETWORKS_SLICE, LIST(i0, b, size), LIST(o2));
    fused(&t, ANEURALNETWORKS_ADD, 0, o2, o2, o3);
    finish(&t, LIST(i0, b, size), LIST(o3));
    job_input(&j, in, sizeof in);
    job_input(&j, begin, sizeof *begin);
    job_input(&j, n, sizeof *n);
    job_output(&j, out[0], sizeof in);
    return j;
}

START_TEST(without_elements)
{
    int32_t begin = 1, n = 1;
    uint32_t dims = 1;
    struct client_job j;

    use_devices("%c?name=slice&ops=86,%c?name=add&ops=0");
    const ANeuralNetworksDevice *list[] = { device_named("slice"), device_named("add") };
    j = slice_job(&begin, &n);
    job_compile(&j);
    OK(job_compute(&j));
    ck_assert_str_eq(executed(), "slice add ");
    ck_assert(out[0][0] == 10);
    n = 0;
    ANeuralNetworksExecution *e = job_execution(&j);
    OK(ANeuralNetworksExecution_compute(e)); /* all on the reference */
    ck_assert_str_eq(executed(), "slice ");
    OK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &dims));
    ck_assert_uint_eq(dims, 0);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(j.compilation);
    OK(ANeuralNetworksCompilation_createForDevices(j.model, list, 2, &j.compilation));
    OK(ANeuralNetworksCompilation_finish(j.compilation));
    EXPECT(job_compute(&j), OP_FAILED);
    job_done(&j);
}
END_TEST

/* A step with such a value fails, and is repeated on the reference with the same memory. */
START_TEST(unknown_on_reference)
{
    struct client_job j;

    use_devices("%c?name=pad&ops=32&execute=2,%c?name=add&ops=0");
    j = pad_job(4, 0);
    job_compile(&j);
    job_run_each_way(&j, "pad add ", check_padded);
    job_done(&j);
}
END_TEST

Suite *api_dynamic_suite(void)
{
    TCase *values = tcase_create("values"), *limits = tcase_create("limits");

    tcase_add_loop_test(values, padded, 0, SIZES);
    tcase_add_test(values, padded_before_level_3);
    tcase_add_loop_test(values, memory_grows, 0, 2);
    tcase_add_test(values, unknown_on_reference);
    tcase_add_loop_test(limits, outputs_too_small, 1, 4);
    tcase_add_loop_test(limits, outputs_too_small, 5, 8);
    tcase_add_test(limits, without_elements);
    return make_suite("api_dynamic", values, limits, NULL);
}
