/* Telemetry: the records that callbacks of a support library get. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/sl/sl_client.h"
#include "tests/support/check_main.h"

/* Copies of what a callback was given. */
struct record {
    bool is_execution;
    int32_t session, code;
    int64_t level;
    uint8_t hash[32];
    char devices[128];
    ANeuralNetworksDiagnosticDataClass in, out;
    ANeuralNetworksDiagnosticExecutionMode mode;
    uint64_t ns, driver_ns, hardware_ns;
    bool cached, control_flow, dynamic;
};
enum { MOST = 16 };
static struct record records[MOST];
static int n_records;
static const NnApiSLDriverImplFL5 *nn;
static int context;

static struct record *next_record(const void *given)
{
    ck_assert_ptr_eq(given, &context);
    ck_assert_int_lt(n_records, MOST);
    return &records[n_records++];
}

static void compiled(const void *given, const ANeuralNetworksDiagnosticCompilationInfo *i)
{
    struct record *r = next_record(given);

    r->session = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId(i);
    r->level = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getNnApiVersion(i);
    memcpy(r->hash, nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getModelArchHash(i), 32);
    snprintf(r->devices, sizeof r->devices, "%s",
             nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getDeviceIds(i));
    r->code = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getErrorCode(i);
    r->in = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getInputDataClass(i);
    r->out = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getOutputDataClass(i);
    r->ns = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos(i);
    r->cached = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_isCachingEnabled(i);
    r->control_flow = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_isControlFlowUsed(i);
    r->dynamic = nn->SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed(i);
}

static void executed(const void *given, const ANeuralNetworksDiagnosticExecutionInfo *i)
{
    struct record *r = next_record(given);

    r->is_execution = true;
    r->session = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getSessionId(i);
    r->level = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getNnApiVersion(i);
    memcpy(r->hash, nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getModelArchHash(i), 32);
    snprintf(r->devices, sizeof r->devices, "%s",
             nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getDeviceIds(i));
    r->code = (int32_t) nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getErrorCode(i);
    r->mode = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode(i);
    r->in = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getInputDataClass(i);
    r->out = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getOutputDataClass(i);
    r->ns = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos(i);
    r->driver_ns = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos(i);
    r->hardware_ns = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos(i);
    r->cached = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_isCachingEnabled(i);
    r->control_flow = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_isControlFlowUsed(i);
    r->dynamic = nn->SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed(i);
}

static const float a[2] = { 1, 2 }, b[2] = { 10, 20 };

static void expect_common(const struct record *r, bool is_execution, const char *devices)
{
    ck_assert_int_eq(r->is_execution, is_execution);
    ck_assert(r->session >= 0 && r->session < 999983);
    ck_assert_int_eq(r->session, records[0].session);
    ck_assert_int_eq(r->level, ANEURALNETWORKS_FEATURE_LEVEL_8);
    ck_assert_mem_eq(r->hash, records[0].hash, 32);
    ck_assert_str_eq(r->devices, devices);
    ck_assert_int_eq(r->in, ANNDIAG_DATA_CLASS_FLOAT32);
    ck_assert_int_eq(r->out, ANNDIAG_DATA_CLASS_FLOAT32);
    ck_assert(!r->control_flow && !r->dynamic);
}

/* One record per finish and per execution, before the call that ends it returns. */
START_TEST(records_of_every_way)
{
    static const char device[] = "halcyon-gpu=halcyon gpu 1";
    static const uint8_t token[32] = { 1 };
    ANeuralNetworksBurst *burst;
    ANeuralNetworksEvent *event;
    float sum[2];

    nn = load_library("sim:gpu");
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    nn->SL_ANeuralNetworksDiagnostic_registerCallbacks(compiled, executed, &context);
    OK(nn->SL_ANeuralNetworksCompilation_setCachingFromFds(c, NULL, 0, NULL, 0, token));
    OK(nn->ANeuralNetworksCompilation_finish(c));
    ck_assert_int_eq(n_records, 1);
    expect_common(&records[0], false, device);
    ck_assert_int_eq(records[0].code, ANEURALNETWORKS_NO_ERROR);
    ck_assert(records[0].cached && records[0].ns > 0 && records[0].ns < UINT64_C(100000000000));

    ANeuralNetworksExecution *e = sl_execution(nn, c, a, b, sum);
    OK(nn->ANeuralNetworksExecution_setReusable(e, true));
    OK(nn->ANeuralNetworksExecution_setMeasureTiming(e, true));
    OK(nn->ANeuralNetworksExecution_compute(e));
    OK(nn->ANeuralNetworksBurst_create(c, &burst));
    OK(nn->ANeuralNetworksExecution_burstCompute(e, burst));
    OK(nn->ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event));
    OK(nn->ANeuralNetworksEvent_wait(event));
    ck_assert_int_eq(n_records, 4);
    static const ANeuralNetworksDiagnosticExecutionMode mode[] = {
        ANNDIAG_EXECUTION_MODE_SYNC, ANNDIAG_EXECUTION_MODE_BURST,
        ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS
    };
    for (int i = 0; i < 3; i++) {
        const struct record *r = &records[1 + i];
        expect_common(r, true, device);
        ck_assert_int_eq(r->code, ANEURALNETWORKS_NO_ERROR);
        ck_assert_int_eq(r->mode, mode[i]);
        ck_assert(r->cached);
        ck_assert_int_eq(r->ns == UINT64_MAX, i == 2);
        ck_assert(r->hardware_ns > 0 && r->hardware_ns <= r->driver_ns);
        ck_assert_uint_ne(r->driver_ns, UINT64_MAX);
    }
    nn->ANeuralNetworksEvent_free(event);
    nn->ANeuralNetworksBurst_free(burst);
    nn->ANeuralNetworksExecution_free(e);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

START_TEST(unmeasured_and_not_registered)
{
    float sum[2];

    nn = load_library("sim:gpu");
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    OK(nn->ANeuralNetworksCompilation_finish(c));
    ck_assert_int_eq(n_records, 0);
    nn->SL_ANeuralNetworksDiagnostic_registerCallbacks(NULL, executed, &context);
    ANeuralNetworksExecution *e = sl_execution(nn, c, a, b, sum);
    OK(nn->ANeuralNetworksExecution_compute(e));
    EXPECT(nn->ANeuralNetworksExecution_compute(e), BAD_STATE); /* not an execution */
    ck_assert_int_eq(n_records, 1);
    ck_assert(records[0].driver_ns == UINT64_MAX && records[0].hardware_ns == UINT64_MAX);
    ck_assert(!records[0].cached);
    nn->ANeuralNetworksExecution_free(e);
    nn->SL_ANeuralNetworksDiagnostic_registerCallbacks(NULL, NULL, NULL);
    e = sl_execution(nn, c, a, b, sum);
    OK(nn->ANeuralNetworksExecution_compute(e));
    ck_assert_int_eq(n_records, 1);
    nn->ANeuralNetworksExecution_free(e);
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

/* A compilation that fails is reported, with its code. */
START_TEST(failures)
{
    char uri[512];
    float sum[2];

    snprintf(uri, sizeof uri, "lib:%s?name=a&ops=0&execute=2", getenv("CHOSEN_DRIVER"));
    nn = load_library(_i == 0 ? "null" : uri);
    ANeuralNetworksModel *m = sl_add_model(nn, 2);
    ANeuralNetworksCompilation *c = sl_compilation(nn, m);
    nn->SL_ANeuralNetworksDiagnostic_registerCallbacks(compiled, executed, &context);
    int result = nn->ANeuralNetworksCompilation_finish(c);
    ck_assert_int_eq(n_records, 1);
    ck_assert_int_eq(records[0].code, result);
    ck_assert_int_eq(result, _i == 0 ? ANEURALNETWORKS_BAD_DATA : ANEURALNETWORKS_NO_ERROR);
    if (_i == 0) {
        ck_assert_str_eq(records[0].devices, "");
    } else {
        ANeuralNetworksExecution *e = sl_execution(nn, c, a, b, sum);
        EXPECT(nn->ANeuralNetworksExecution_compute(e), OP_FAILED);
        ck_assert_int_eq(n_records, 2);
        ck_assert_int_eq(records[1].code, ANEURALNETWORKS_OP_FAILED);
        nn->ANeuralNetworksExecution_free(e);
    }
    nn->ANeuralNetworksCompilation_free(c);
    nn->ANeuralNetworksModel_free(m);
}
END_TEST

/* ---- what the model's structure gives */

/* out = CAST(in), {2} each, of those types. */
static ANeuralNetworksModel *cast_model(int32_t from, int32_t to, uint32_t n)
{
    const bool is_quantised = from == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    const ANeuralNetworksOperandType in = { from, 1, &n, is_quantised ? 0.5f : 0, 0 };
    const ANeuralNetworksOperandType out = { to, 1, &n, 0, 0 };
    const uint32_t first = 0, second = 1;
    ANeuralNetworksModel *m;

    OK(nn->ANeuralNetworksModel_create(&m));
    OK(nn->ANeuralNetworksModel_addOperand(m, &in));
    OK(nn->ANeuralNetworksModel_addOperand(m, &out));
    OK(nn->ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_CAST, 1, &first, 1, &second));
    OK(nn->ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &first, 1, &second));
    OK(nn->ANeuralNetworksModel_finish(m));
    return m;
}

static const struct {
    int32_t from, to;
    ANeuralNetworksDiagnosticDataClass in, out;
} classes[] = {
    { ANEURALNETWORKS_TENSOR_FLOAT16, ANEURALNETWORKS_TENSOR_FLOAT32, ANNDIAG_DATA_CLASS_FLOAT16,
      ANNDIAG_DATA_CLASS_FLOAT32 },
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, ANEURALNETWORKS_TENSOR_INT32, ANNDIAG_DATA_CLASS_QUANT,
      ANNDIAG_DATA_CLASS_OTHER },
};

START_TEST(classes_and_hashes)
{
    nn = load_library("golden");
    nn->SL_ANeuralNetworksDiagnostic_registerCallbacks(compiled, executed, &context);
    for (uint32_t n = 2; n <= 3; n++) {
        ANeuralNetworksModel *m = cast_model(classes[_i].from, classes[_i].to, n);
        for (int again = 0; again < 2; again++) {
            ANeuralNetworksCompilation *c = sl_compilation(nn, m);
            OK(nn->ANeuralNetworksCompilation_finish(c));
            nn->ANeuralNetworksCompilation_free(c);
        }
        nn->ANeuralNetworksModel_free(m);
    }
    ck_assert_int_eq(n_records, 4);
    ck_assert_int_eq(records[0].in, classes[_i].in);
    ck_assert_int_eq(records[0].out, classes[_i].out);
    /* The same structure has the same hash, another shape has another one. */
    ck_assert_mem_eq(records[0].hash, records[1].hash, 32);
    ck_assert_mem_ne(records[0].hash, records[2].hash, 32);
}
END_TEST

Suite *telemetry_suite(void)
{
    TCase *t = tcase_create("telemetry");

    tcase_add_test(t, records_of_every_way);
    tcase_add_test(t, unmeasured_and_not_registered);
    tcase_add_loop_test(t, failures, 0, 2);
    tcase_add_loop_test(t, classes_and_hashes, 0, sizeof classes / sizeof *classes);
    return make_suite("telemetry", t, NULL);
}
