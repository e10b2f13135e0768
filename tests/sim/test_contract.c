/* The runtime against faulty drivers: each violates one rule of the HAL contract, in this process
 * and over a socket.  The runtime must report the violation. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/build.h"
#include "sim/client/runtime.h"
#include "sim/device/engine.h"
#include "sim/hal/hal_convert.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum defect {
    CORRECT,
    SUPPORTED_ERROR,
    SUPPORTED_SHORT,
    SUPPORTED_UNWRITTEN,
    SUPPORTS_NOTHING,
    PREPARE_TWICE,
    PREPARE_NULL,
    PREPARE_WITHOUT_METHODS,
    PREPARE_WRONG_COUNTS,
    PREPARE_ERROR_WITH_MODEL,
    PREPARE_UNKNOWN,
    PREPARE_REFUSED,
    PREPARE_LATE_STATUS,
    EXECUTION_REFUSED,
    STATUS_UNKNOWN,
    STATUS_TOO_NEW,
    SHAPES_SHORT,
    SHAPES_UNWRITTEN,
    SHAPES_WITH_ERROR,
    SHAPE_WRONG,
    SHAPE_RANK,
    SHAPE_INSUFFICIENT,
    SHAPE_TOO_LARGE,
    SHAPES_MISSING,
    INSUFFICIENT_ALL_SUFFICIENT,
    INSUFFICIENT_CORRECT,
    INSUFFICIENT_KNOWN,
    TIMING_REVERSED,
    TIMING_UNASKED,
    TIMING_WITH_ERROR,
    TIMING_CORRECT,
    WRITES_PAST,
    WRITES_BEFORE,
    WRITES_INPUT,
    WRITES_NOT,
    LEAVES_LAST,
    TIMING_TOO_FINE, /* of HAL 1.3 */
    OLD_CORRECT,     /* from here on of HAL 1.0 */
    OLD_NO_EXECUTE,
    OLD_SHAPES,
    OLD_TIMING,
    OLD_STATUS,
    OLD_TWICE
};

/* The reference's driver, with one result changed. */
struct faulty {
    struct hal_driver base;
    struct hal_driver *inner;
    enum defect defect;
    unsigned executions;
    struct faulty_model *lost; /* has no methods; released when the driver is closed */
};

struct faulty_model {
    struct hal_prepared_model base;
    struct faulty *driver;
    struct hal_prepared_model *inner;
};

static _Thread_local const char *failure_text = "";

static enum hal_status supported(struct hal_driver *self, enum hal_version version,
                                 const struct hal_model *model, bool *answers, uint32_t *ret_n)
{
    struct faulty *l = (struct faulty *) self;
    uint32_t n;
    enum hal_status status =
        l->inner->get_supported_operations(l->inner, version, model, answers, &n);

    failure_text = l->defect == SUPPORTED_ERROR ? "not\ntoday" : "";
    if (l->defect == SUPPORTED_ERROR)
        return HAL_GENERAL_FAILURE;
    if (l->defect == SUPPORTS_NOTHING)
        answers[0] = false;
    if (l->defect != SUPPORTED_UNWRITTEN)
        *ret_n = n - (l->defect == SUPPORTED_SHORT);
    return status;
}

/* Changes the result of an execution, or the memory that it leaves. */
static enum hal_status change_result(struct faulty *l, const struct hal_request *q,
                                     struct hal_result *r, enum hal_status status)
{
    uint8_t *out = q->pools[1].memory.address;
    uint8_t *first = out + q->outputs[0].location.offset;
    size_t length = q->outputs[0].location.length;

    l->executions++;
    switch (l->defect) {
    case EXECUTION_REFUSED: r->n_shapes = 0; return HAL_GENERAL_FAILURE;
    case STATUS_UNKNOWN: return (enum hal_status) 9;
    case STATUS_TOO_NEW: r->n_shapes = 0; return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    case SHAPES_SHORT: r->n_shapes = 5; break;
    case SHAPES_UNWRITTEN: r->n_shapes = UINT32_MAX; break;
    case SHAPES_WITH_ERROR: return HAL_GENERAL_FAILURE;
    case SHAPE_WRONG: r->shapes[0].dims[1] = 3; break;
    case SHAPE_RANK: r->shapes[0].n_dims = 1; break;
    case SHAPE_INSUFFICIENT: r->shapes[0].is_sufficient = false; break;
    case SHAPE_TOO_LARGE: r->shapes[0].dims[0] = 1000; break;
    case SHAPES_MISSING: r->n_shapes = 0; break;
    case INSUFFICIENT_ALL_SUFFICIENT: return HAL_OUTPUT_INSUFFICIENT_SIZE;
    case INSUFFICIENT_CORRECT:
        r->shapes[0].dims[0] = 0;
        /* fallthrough */
    case INSUFFICIENT_KNOWN:
        r->shapes[0].is_sufficient = false;
        return HAL_OUTPUT_INSUFFICIENT_SIZE;
    case TIMING_REVERSED: r->timing = (struct hal_timing){ 20, 10 }; break;
    case TIMING_UNASKED: r->timing = (struct hal_timing){ 10, 20 }; break;
    case TIMING_CORRECT: r->timing = (struct hal_timing){ 10, HAL_NO_TIME }; break;
    case TIMING_TOO_FINE: r->timing = (struct hal_timing){ 1000, 2001 }; break;
    case TIMING_WITH_ERROR:
        r->n_shapes = 0;
        r->timing = (struct hal_timing){ 10, 20 };
        return HAL_GENERAL_FAILURE;
    case WRITES_PAST: first[length] ^= 1; break;
    case WRITES_BEFORE: first[-1] ^= 1; break;
    case WRITES_INPUT:
        ((uint8_t *) q->pools[0].memory.address)[q->inputs[0].location.offset] ^= 1;
        break;
    default: break;
    }
    return status;
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config, struct hal_result *result)
{
    struct faulty_model *m = (struct faulty_model *) self;
    size_t length = request->outputs[0].location.length;
    uint8_t *out =
        (uint8_t *) request->pools[1].memory.address + request->outputs[0].location.offset;
    uint8_t before[64];

    ck_assert_uint_le(length, sizeof before);
    memcpy(before, out, length);
    enum hal_status status =
        m->inner->methods->execute_synchronously(m->inner, version, request, config, result);
    if (m->driver->defect == WRITES_NOT)
        memcpy(out, before, length);
    if (m->driver->defect == LEAVES_LAST)
        memcpy(out + length - 4, before + length - 4, 4);
    return change_result(m->driver, request, result, status);
}

/* The callback of an asynchronous execution, with one argument changed. */
struct end {
    struct hal_execution_callback base;
    struct hal_execution_callback *to;
    enum defect defect;
};

static void pass_on(struct hal_execution_callback *self, enum hal_status status, uint32_t n_shapes,
                    const struct hal_output_shape *shapes, struct hal_timing timing)
{
    static const struct hal_output_shape shape = { 2, { 2, 2 }, true };
    struct end *e = (struct end *) self;

    if (e->defect == OLD_SHAPES) {
        n_shapes = 1;
        shapes = &shape;
    }
    if (e->defect == OLD_TIMING)
        timing = (struct hal_timing){ 1000, 1000 };
    if (e->defect == OLD_STATUS)
        status = HAL_MISSED_DEADLINE_TRANSIENT;
    e->to->notify(e->to, status, n_shapes, shapes, timing);
    free(e);
}

/* Synchronously, so that both callbacks are called before it returns. */
static enum hal_status execute_twice(struct faulty_model *m, const struct hal_request *request,
                                     const struct hal_execution_config *config,
                                     struct hal_execution_callback *callback)
{
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };
    const struct hal_timing none = { HAL_NO_TIME, HAL_NO_TIME };
    enum hal_status status =
        m->inner->methods->execute_synchronously(m->inner, HAL_FL8, request, config, &result);

    for (int i = 0; i < 2; i++)
        callback->notify(callback, status, 0, NULL, none);
    return status;
}

static enum hal_status execute_asynchronously(struct hal_prepared_model *self,
                                              enum hal_version version,
                                              const struct hal_request *request,
                                              const struct hal_execution_config *config,
                                              struct hal_execution_callback *callback)
{
    struct faulty_model *m = (struct faulty_model *) self;
    struct end *e;

    if (m->driver->defect == OLD_TWICE)
        return execute_twice(m, request, config, callback);
    e = malloc(sizeof *e);
    *e = (struct end){ { pass_on }, callback, m->driver->defect };
    return m->inner->methods->execute(m->inner, version, request, config, &e->base);
}

static void release(struct hal_prepared_model *self)
{
    struct faulty_model *m = (struct faulty_model *) self;

    m->inner->methods->release(m->inner);
    free(m);
}

static const struct hal_prepared_model_methods faulty_methods = { .execute_synchronously = execute,
                                                                  .execute = execute_asynchronously,
                                                                  .release = release };
static const struct hal_prepared_model_methods without_execute = { .execute_synchronously = execute,
                                                                   .release = release };

struct catcher {
    struct hal_prepare_callback base;
    struct hal_prepared_model *prepared;
};

static void catch (struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    (void) status;
    ((struct catcher *) self)->prepared = prepared;
}

static enum hal_status prepare(struct hal_driver *self, enum hal_version version,
                               const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepare_callback *callback)
{
    struct faulty *l = (struct faulty *) self;
    struct catcher c = { { catch }, NULL };
    struct faulty_model *m;

    if (l->defect == PREPARE_NULL || l->defect == PREPARE_REFUSED || l->defect == PREPARE_UNKNOWN) {
        enum hal_status status = l->defect == PREPARE_NULL      ? HAL_NONE
                                 : l->defect == PREPARE_REFUSED ? HAL_GENERAL_FAILURE
                                                                : (enum hal_status) 1000;
        failure_text = "the third layer is too wide";
        callback->notify(callback, status, NULL);
        return HAL_NONE;
    }
    ck_assert_int_eq(l->inner->prepare_model(l->inner, version, model, config, &c.base), HAL_NONE);
    m = calloc(1, sizeof *m);
    *m = (struct faulty_model){ { l->defect == OLD_NO_EXECUTE ? &without_execute : &faulty_methods,
                                  model->main.n_inputs, model->main.n_outputs },
                                l,
                                c.prepared };
    if (l->defect == PREPARE_WRONG_COUNTS)
        m->base.n_outputs++;
    if (l->defect == PREPARE_WITHOUT_METHODS) {
        m->base.methods = NULL;
        l->lost = m;
    }
    callback->notify(
        callback, l->defect == PREPARE_ERROR_WITH_MODEL ? HAL_GENERAL_FAILURE : HAL_NONE, &m->base);
    if (l->defect == PREPARE_TWICE)
        callback->notify(callback, HAL_GENERAL_FAILURE, NULL);
    return l->defect == PREPARE_LATE_STATUS ? HAL_INVALID_ARGUMENT : HAL_NONE;
}

static struct hal_driver *inner_of(struct hal_driver *self)
{
    return ((struct faulty *) self)->inner;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    return inner_of(self)->get_type(inner_of(self), ret_type);
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    return inner_of(self)->get_version_string(inner_of(self), ret_version);
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    return inner_of(self)->get_status(inner_of(self));
}

static void close_faulty(struct hal_driver *self)
{
    struct faulty *l = (struct faulty *) self;

    if (l->lost)
        release(&l->lost->base);
    l->inner->close(l->inner);
    free(l);
}

static enum hal_status reference_capabilities(struct hal_driver *self, enum hal_version version,
                                              struct hal_capabilities *ret_capabilities)
{
    return inner_of(self)->get_capabilities(inner_of(self), version, ret_capabilities);
}

static struct why w;
static bool over_socket;

static void get_failure_text(struct hal_driver *self, char *ret_text, size_t size)
{
    (void) self;
    snprintf(ret_text, size, "%s", failure_text);
}

static struct target *open_faulty(enum defect defect)
{
    struct faulty *l = calloc(1, sizeof *l);
    struct hal_driver *d = &l->base;
    struct target *t = NULL;
    struct engine *e = NULL;

    ck_assert_int_eq(engine_reference(&e, &w), 0);
    ck_assert_int_eq(driver_new(e, &l->inner, &w), 0);
    l->base = (struct hal_driver){ .abi_version = HAL_ABI_VERSION,
                                   .hal_version = HAL_FL8,
                                   .lowest_version = HAL_1_0,
                                   .name = "faulty",
                                   .get_capabilities = reference_capabilities,
                                   .get_type = get_type,
                                   .get_version_string = get_version_string,
                                   .get_status = get_status,
                                   .get_failure_text = get_failure_text,
                                   .get_supported_operations = supported,
                                   .prepare_model = prepare,
                                   .close = close_faulty };
    if (defect == STATUS_TOO_NEW)
        l->base.hal_version = HAL_1_2;
    if (defect == TIMING_TOO_FINE)
        l->base.hal_version = HAL_1_3;
    if (defect >= OLD_CORRECT)
        l->base.hal_version = HAL_1_0;
    l->defect = defect;
    if (over_socket)
        d = client_over_socket(d);
    ck_assert_int_eq(target_of_driver("faulty:", d, &t, &w), 0);
    if (over_socket)
        t->socket = t->uri;
    return t;
}

/* Runs z[2,2] = x[2,2] + y[2]; unknown: the output's first dimension is not declared. */
static struct outcome run_faulty(enum defect defect, bool unknown, bool measure)
{
    static float xs[] = { 1, 2, 3, 4 }, ys[] = { 10, 20 };
    struct target_run_options options = { .measure = measure };
    struct target *t = open_faulty(defect);
    struct shape shape = DIMS(2, 2);
    struct outcome o;
    struct build b;

    build_init(&b, 1);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2, 2));
    uint32_t y = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t act = build_int(&b, 0);
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, unknown ? DIMS(0, 2) : shape);
    OPERATION(&b, "ADD", IDS(x, y, act), IDS(z));
    struct tensor in[] = { b.graph->operand[x].tensor, b.graph->operand[y].tensor };
    in[0].data = xs;
    in[1].data = ys;
    ck_assert_msg(target_run(t, &b.model, in, &shape, &options, &o, &w) == 0, "%s", w.text);
    target_free(t);
    build_done(&b);
    return o;
}

static void check_violation(enum defect defect, bool unknown, bool measure, const char *text)
{
    struct outcome o = run_faulty(defect, unknown, measure);

    ck_assert_msg(strstr(o.violation, text), "\"%s\" does not contain \"%s\"", o.violation, text);
    outcome_done(&o);
}

static void check_run(enum defect defect, bool unknown, bool measure, enum stage stage,
                      enum hal_status status)
{
    struct outcome o = run_faulty(defect, unknown, measure);

    ck_assert_str_eq(o.violation, "");
    ck_assert_int_eq(o.stage, stage);
    ck_assert_int_eq(o.status, status);
    outcome_done(&o);
}

/* The reason that the driver gives is part of the outcome, whichever thread fails; without a reason
 * that of an earlier failure is not. */
START_TEST(the_drivers_reason_comes_with_the_status)
{
    over_socket = _i;
    static const struct {
        enum defect defect;
        const char *text;
    } cases[] = { { SUPPORTED_ERROR, "not today" },
                  { PREPARE_REFUSED, "the third layer is too wide" },
                  { EXECUTION_REFUSED, "" },
                  { SUPPORTS_NOTHING, "" },
                  { CORRECT, "" } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = run_faulty(cases[i].defect, false, false);
        ck_assert_str_eq(o.failure_text, cases[i].text);
        outcome_done(&o);
    }
}
END_TEST

START_TEST(a_correct_driver_returns_its_result)
{
    over_socket = _i;
    const float expected[] = { 11, 22, 13, 24 };

    for (int unknown = 0; unknown < 2; unknown++) {
        struct outcome o = run_faulty(CORRECT, unknown, false);
        ck_assert_str_eq(o.violation, "");
        ck_assert_int_eq(o.stage, STAGE_DONE);
        ck_assert_uint_eq(o.n_out, 1);
        ck_assert(shape_equal(&o.out[0].shape, &DIMS(2, 2)));
        ck_assert_mem_eq(o.out[0].data, expected, sizeof expected);
        ck_assert(o.timing.on_device == HAL_NO_TIME && o.timing.in_driver == HAL_NO_TIME);
        outcome_done(&o);
    }
}
END_TEST

START_TEST(permitted_failures_are_reported_by_stage_and_status)
{
    over_socket = _i;
    check_run(SUPPORTS_NOTHING, false, false, STAGE_SUPPORTED, HAL_NONE);
    check_run(SUPPORTED_ERROR, false, false, STAGE_SUPPORTED, HAL_GENERAL_FAILURE);
    check_run(PREPARE_REFUSED, false, false, STAGE_PREPARE, HAL_GENERAL_FAILURE);
    check_run(INSUFFICIENT_CORRECT, true, false, STAGE_EXECUTE, HAL_OUTPUT_INSUFFICIENT_SIZE);
    check_run(SHAPES_MISSING, false, false, STAGE_DONE, HAL_NONE);
    check_run(TIMING_CORRECT, false, true, STAGE_DONE, HAL_NONE);
}
END_TEST

START_TEST(support_must_be_answered_for_every_operation)
{
    over_socket = _i;
    check_violation(SUPPORTED_SHORT, false, false, "0 answers for 1 operations");
    check_violation(SUPPORTED_UNWRITTEN, false, false, "answers for 1 operations");
}
END_TEST

START_TEST(preparation_calls_back_once_with_a_model_or_an_error)
{
    over_socket = _i;
    check_violation(PREPARE_TWICE, false, false, "called back");
    check_violation(PREPARE_NULL, false, false, "without a prepared model");
    check_violation(PREPARE_ERROR_WITH_MODEL, false, false, "GENERAL_FAILURE and a prepared model");
    check_violation(PREPARE_UNKNOWN, false, false, "unknown status 1000");
    check_violation(PREPARE_WRONG_COUNTS, false, false,
                    "has 2 inputs and 2 outputs, the model has 2 and 1");
    check_violation(PREPARE_WITHOUT_METHODS, false, false, "a prepared model without methods, or");
    check_violation(PREPARE_LATE_STATUS, false, false, "returned INVALID_ARGUMENT but");
}
END_TEST

START_TEST(statuses_must_exist_in_the_drivers_version)
{
    over_socket = _i;
    check_violation(STATUS_UNKNOWN, false, false, "unknown status 9");
    check_violation(STATUS_TOO_NEW, false, false, "which HAL 1.2 does not have");
}
END_TEST

START_TEST(shapes_are_absent_or_exact)
{
    over_socket = _i;
    check_violation(SHAPES_SHORT, false, false, "5 output shapes for 1 outputs");
    check_violation(SHAPES_UNWRITTEN, false, false, "leaves its result unwritten");
    check_violation(SHAPES_WITH_ERROR, false, false, "1 output shapes with status GENERAL_FAILURE");
    check_violation(SHAPE_WRONG, false, false,
                    "dimension 1 of output 0 is reported as 3, declared 2");
    check_violation(SHAPE_RANK, false, false, "rank 1, declared 2");
    check_violation(SHAPE_INSUFFICIENT, false, false, "too small with status NONE");
    check_violation(SHAPE_TOO_LARGE, true, false, "in a buffer of 16");
    check_violation(SHAPES_MISSING, true, false, "not fully specified");
    check_violation(INSUFFICIENT_ALL_SUFFICIENT, false, false, "every output is reported as suff");
    check_violation(INSUFFICIENT_KNOWN, false, false,
                    "output 0 is reported as too small: its buffer has the 16 bytes of its");
}
END_TEST

START_TEST(durations_are_measured_on_request_and_ordered)
{
    over_socket = _i;
    check_violation(TIMING_REVERSED, false, true, "exceeds time in the driver");
    check_violation(TIMING_UNASKED, false, false, "not asked for");
    check_violation(TIMING_WITH_ERROR, false, true, "timing was given with status GENERAL_FAILURE");
    check_violation(TIMING_TOO_FINE, false, true, "HAL 1.3 reports whole microseconds");
}
END_TEST

/* The callback has a status, and neither shapes nor durations. */
START_TEST(drivers_before_1_2_execute_asynchronously)
{
    over_socket = _i;
    const float expected[] = { 11, 22, 13, 24 };

    for (int unknown = 0; unknown < 2; unknown++) {
        struct outcome o = run_faulty(OLD_CORRECT, unknown, true);
        ck_assert_str_eq(o.violation, "");
        ck_assert_int_eq(o.stage, STAGE_DONE);
        ck_assert_mem_eq(o.out[0].data, expected, sizeof expected);
        ck_assert(o.timing.on_device == HAL_NO_TIME && o.timing.in_driver == HAL_NO_TIME);
        outcome_done(&o);
    }
    check_violation(OLD_NO_EXECUTE, false, false, "a prepared model without execute");
    check_violation(OLD_SHAPES, false, false, "1 output shapes at HAL 1.0, which reports none");
    check_violation(OLD_TIMING, false, true, "not asked for");
    check_violation(OLD_STATUS, false, false, "MISSED_DEADLINE_TRANSIENT, which HAL 1.0 does not");
    check_violation(OLD_TWICE, false, false, "execute called back");
}
END_TEST

START_TEST(exactly_the_outputs_are_written)
{
    over_socket = _i;
    check_violation(WRITES_PAST, false, false,
                    "memory after output 0 was written to: byte 16 of its buffer of 16 bytes");
    check_violation(WRITES_BEFORE, false, false, "before output 0 was written to: 1 byte before");
    check_violation(WRITES_INPUT, false, false, "input 0 was written to");
    check_violation(WRITES_NOT, false, false, "element 0 of output 0 was never written");
    check_violation(LEAVES_LAST, false, false, "element 3 of output 0 was never written");
}
END_TEST

/* ---- capabilities */

static struct hal_capabilities capabilities;

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret)
{
    static struct hal_operand_performance rows[4];
    const struct hal_capabilities none = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0, NULL };

    hal_capabilities_at(&none, version, rows, ret);
    if (version == self->hal_version)
        *ret = capabilities;
    return HAL_NONE;
}

static void check_info(const char *text)
{
    struct target *t = open_faulty(CORRECT);
    struct target_info i;

    t->driver->get_capabilities = get_capabilities;
    int rc = target_info(t, &i, &w);
    if (text)
        ck_assert_msg(rc < 0 && strstr(w.text, text), "%s", rc < 0 ? w.text : "accepted");
    else
        ck_assert_msg(rc == 0, "%s", w.text);
    target_free(t);
}

START_TEST(capabilities_are_above_zero_and_in_order)
{
    struct hal_operand_performance rows[] = { { 3, { 1, 1 } }, { 5, { 1, 1 } } };
    struct hal_performance one = { 1, 1 };
    struct hal_capabilities good = { one, one, one, one, 2, rows };

    capabilities = good;
    check_info(NULL);
    capabilities.relaxed_tensor.exec_time = 0;
    check_info("relaxed tensor");
    capabilities = good;
    capabilities.while_performance.power_usage = -1;
    check_info("WHILE");
    capabilities = good;
    rows[1].type = 3;
    check_info("ascending");
    rows[1].type = 15;
    check_info("SUBGRAPH");
}
END_TEST

Suite *contract_suite(void)
{
    TCase *c = tcase_create("contract");

    tcase_add_loop_test(c, a_correct_driver_returns_its_result, 0, 2);
    tcase_add_loop_test(c, permitted_failures_are_reported_by_stage_and_status, 0, 2);
    tcase_add_loop_test(c, the_drivers_reason_comes_with_the_status, 0, 2);
    tcase_add_loop_test(c, support_must_be_answered_for_every_operation, 0, 2);
    tcase_add_loop_test(c, preparation_calls_back_once_with_a_model_or_an_error, 0, 2);
    tcase_add_loop_test(c, statuses_must_exist_in_the_drivers_version, 0, 2);
    tcase_add_loop_test(c, shapes_are_absent_or_exact, 0, 2);
    tcase_add_loop_test(c, durations_are_measured_on_request_and_ordered, 0, 2);
    tcase_add_loop_test(c, drivers_before_1_2_execute_asynchronously, 0, 2);
    tcase_add_loop_test(c, exactly_the_outputs_are_written, 0, 2);
    tcase_add_test(c, capabilities_are_above_zero_and_in_order);
    return make_suite("contract", c, NULL);
}
