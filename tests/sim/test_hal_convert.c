/* Conversion between HAL versions: tables of what each version introduced, checked at all versions.
 */
#include "sim/hal/hal_convert.h"

#include <check.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

static struct why w;

/* ---- codes */

START_TEST(operation_codes_are_those_of_the_records)
{
    int n = 0;

#define OP(number, id)                                                                             \
    ck_assert_int_eq(HAL_OP_##id, (number));                                                       \
    ck_assert_str_eq(op_find(HAL_OP_##id)->name, #id);                                             \
    n++;
#include "golden/ops.def"
#undef OP
    ck_assert_int_eq(n, op_table_n);
    ck_assert_int_eq(HAL_OP_OEM_OPERATION, OEM_CODE);
}
END_TEST

START_TEST(type_codes_are_those_of_the_records)
{
#define CODE(id)                                                                                   \
    {                                                                                              \
        HAL_TYPE_##id, #id                                                                         \
    }
    static const struct {
        int32_t code;
        const char *name;
    } types[] = {
        CODE(FLOAT32),
        CODE(INT32),
        CODE(UINT32),
        CODE(TENSOR_FLOAT32),
        CODE(TENSOR_INT32),
        CODE(TENSOR_QUANT8_ASYMM),
        CODE(BOOL),
        CODE(TENSOR_QUANT16_SYMM),
        CODE(TENSOR_FLOAT16),
        CODE(TENSOR_BOOL8),
        CODE(FLOAT16),
        CODE(TENSOR_QUANT8_SYMM_PER_CHANNEL),
        CODE(TENSOR_QUANT16_ASYMM),
        CODE(TENSOR_QUANT8_SYMM),
        CODE(TENSOR_QUANT8_ASYMM_SIGNED),
        CODE(SUBGRAPH),
    };
#undef CODE

    ck_assert_int_eq(COUNT(types), DT_COUNT);
    for (int i = 0; i < COUNT(types); i++) {
        ck_assert_int_eq(types[i].code, i);
        ck_assert_str_eq(dtype_info[types[i].code].name, types[i].name);
    }
    ck_assert_int_eq(HAL_TYPE_OEM, OEM_CODE);
    ck_assert_int_eq(HAL_TYPE_TENSOR_OEM_BYTE, OEM_CODE + 1);
}
END_TEST

START_TEST(versions_have_names_and_levels)
{
    static const struct {
        int version;
        const char *name;
        int level;
    } rows[] = {
        { 10, "1.0", 1 }, { 11, "1.1", 2 }, { 12, "1.2", 3 }, { 13, "1.3", 4 }, { 15, "fl5", 5 },
        { 16, "fl6", 6 }, { 17, "fl7", 7 }, { 18, "fl8", 8 }, { 14, "?", 0 },   { 0, "?", 0 },
        { 9, "?", 0 },    { 19, "?", 0 },   { -1, "?", 0 },
    };

    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_str_eq(hal_version_name((enum hal_version) rows[i].version), rows[i].name);
        ck_assert_int_eq(hal_level((enum hal_version) rows[i].version), rows[i].level);
    }
    ck_assert_ptr_null(hal_version_names[HAL_VERSIONS]);
}
END_TEST

/* ---- statuses */

START_TEST(statuses_of_1_3_become_general_failures_before)
{
    for (int s = -1; s <= HAL_STATUS_COUNT; s++)
        for (int v = 0; v < HAL_VERSIONS; v++) {
            bool known = s >= 0 && s < (hal_versions[v] < HAL_1_3 ? HAL_MISSED_DEADLINE_TRANSIENT
                                                                  : HAL_STATUS_COUNT);
            enum hal_status status = (enum hal_status) s;
            ck_assert_int_eq(hal_status_complies(status, hal_versions[v]), known);
            ck_assert_int_eq(hal_status_at(status, hal_versions[v]),
                             known ? status : HAL_GENERAL_FAILURE);
        }
}
END_TEST

/* ---- durations */

START_TEST(durations_are_whole_microseconds_up_to_1_3)
{
    static const struct {
        struct hal_timing ns, whole;
    } rows[] = {
        { { 1999, 2001 }, { 1000, 2000 } },
        { { 0, 999 }, { 0, 0 } },
        { { 5000, 5000 }, { 5000, 5000 } },
        { { HAL_NO_TIME, 1234 }, { HAL_NO_TIME, 1000 } },
        { { 1234, HAL_NO_TIME }, { 1000, HAL_NO_TIME } },
        { { HAL_NO_TIME, HAL_NO_TIME }, { HAL_NO_TIME, HAL_NO_TIME } },
        { { UINT64_MAX - 2, UINT64_MAX - 1 }, { UINT64_MAX - 615, UINT64_MAX - 615 } },
    };

    for (int i = 0; i < COUNT(rows); i++)
        for (int v = 0; v < HAL_VERSIONS; v++) {
            bool old = hal_versions[v] <= HAL_1_3;
            struct hal_timing converted = hal_timing_at(rows[i].ns, hal_versions[v]);
            const struct hal_timing *expected = old ? &rows[i].whole : &rows[i].ns;
            ck_assert_uint_eq(converted.on_device, expected->on_device);
            ck_assert_uint_eq(converted.in_driver, expected->in_driver);
            ck_assert(hal_timing_complies(converted, hal_versions[v]));
            ck_assert_int_eq(hal_timing_complies(rows[i].ns, hal_versions[v]),
                             !old || memcmp(&rows[i].ns, &rows[i].whole, sizeof converted) == 0);
        }
}
END_TEST

START_TEST(times_are_signed_since_feature_level_5)
{
    static const struct {
        uint64_t ns;
        bool later;
    } rows[] = { { 0, true },
                 { INT64_MAX, true },
                 { UINT64_C(1) << 63, false },
                 { UINT64_MAX - 1, false },
                 { HAL_NO_TIME, true } };

    for (int i = 0; i < COUNT(rows); i++)
        for (int v = 0; v < HAL_VERSIONS; v++)
            ck_assert_int_eq(hal_time_complies(rows[i].ns, hal_versions[v]),
                             hal_versions[v] < HAL_FL5 || rows[i].later);
}
END_TEST

/* Expects no note where the version has the member, else one loss that names it. */
static void check_notes(const struct conversion *notes, bool is_available, const char *what)
{
    ck_assert_uint_eq(notes->n_notes, !is_available);
    if (is_available)
        return;
    ck_assert(notes->note[0].lost);
    ck_assert_msg(strstr(notes->note[0].text, what), "%s", notes->note[0].text);
}

/* ---- capabilities */

/* All types, the OEM types and an unknown extension type; and by version which of them it has. */
enum { ROWS = 19 };
static const int32_t types[ROWS] = { 0,  1,  2,  3,  4,  5,  6,     7,     8,       9,
                                     10, 11, 12, 13, 14, 15, 10000, 10001, 77 << 16 };
static const char *const has[HAL_VERSIONS] = {
    "...x.x.............", "...x.x.............", "xxxxxxxxxxxxxx..xxx", "xxxxxxxxxxxxxxx.xxx",
    "xxxxxxxxxxxxxxx.xxx", "xxxxxxxxxxxxxxx.xxx", "xxxxxxxxxxxxxxx.xxx", "xxxxxxxxxxxxxxx.xxx",
};

static struct hal_capabilities all_capabilities(struct hal_operand_performance *rows)
{
    for (int i = 0; i < ROWS; i++)
        rows[i] = (struct hal_operand_performance){ types[i], { (float) i + 1, (float) i + 2 } };
    return (struct hal_capabilities){ { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, ROWS, rows };
}

static void check_member(struct hal_performance p, struct hal_performance full, bool is_available)
{
    ck_assert_float_eq(p.exec_time, is_available ? full.exec_time : 0);
    ck_assert_float_eq(p.power_usage, is_available ? full.power_usage : 0);
}

START_TEST(capabilities_have_the_members_of_their_version)
{
    struct hal_operand_performance rows[ROWS], room[ROWS + 2];
    const struct hal_capabilities full = all_capabilities(rows);
    struct hal_capabilities c;

    for (int v = 0; v < HAL_VERSIONS; v++) {
        uint32_t at = 0;
        hal_capabilities_at(&full, hal_versions[v], room, &c);
        check_member(c.relaxed_tensor, full.relaxed_tensor, v >= 1);
        check_member(c.relaxed_scalar, full.relaxed_scalar, v >= 2);
        check_member(c.if_performance, full.if_performance, v >= 3);
        check_member(c.while_performance, full.while_performance, v >= 3);
        for (int i = 0; i < ROWS; i++)
            if (has[v][i] == 'x') {
                ck_assert_int_eq(c.operand[at].type, types[i]);
                check_member(c.operand[at++].info, rows[i].info, true);
            }
        ck_assert_uint_eq(c.n_operands, at);
        for (int k = 0; k < HAL_VERSIONS; k++)
            ck_assert_int_eq(hal_capabilities_comply(&c, hal_versions[k], &w) == 0,
                             k >= v || k >= 3);
    }
    ck_assert_int_eq(hal_capabilities_comply(&full, HAL_FL8, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "SUBGRAPH"));
}
END_TEST

START_TEST(missing_rows_of_1_0_are_filled_in)
{
    struct hal_capabilities none = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 0, NULL }, c;
    struct hal_operand_performance room[2];

    hal_capabilities_at(&none, HAL_1_0, room, &c);
    ck_assert_int_eq(hal_capabilities_comply(&c, HAL_1_0, &w), 0);
    for (int i = 0; i < 2; i++)
        ck_assert(c.operand[i].info.exec_time > 1e30f && c.operand[i].info.power_usage > 1e30f);
    ck_assert_int_eq(hal_capabilities_comply(&none, HAL_1_2, &w), -1);
}
END_TEST

/* Older capabilities as newer clients see them; reported: float32 2, quantized8 3, relaxed 4. */
START_TEST(older_capabilities_are_completed_for_newer_clients)
{
    static const struct hal_operand_performance converted[] = { { 3, { 2, 2 } }, { 5, { 3, 3 } } };
    static const int32_t newest_types[] = { 0, 1, 2, 3, 4, 5, 10000, 10001 };
    static const float expected[] = { 2, 3, 3, 2, 3, 3, 3, 3 };
    struct hal_capabilities old = { .relaxed_tensor = { 4, 4 },
                                    .n_operands = 2,
                                    .operand = converted };
    struct hal_operand_performance room[HAL_NEWEST_ROWS];
    struct hal_capabilities c;

    for (int v = 0; v < 2; v++) {
        hal_capabilities_to_newest(&old, hal_versions[v], room, &c);
        ck_assert_uint_eq(c.n_operands, COUNT(newest_types));
        for (int i = 0; i < COUNT(newest_types); i++) {
            ck_assert_int_eq(c.operand[i].type, newest_types[i]);
            ck_assert_float_eq(c.operand[i].info.exec_time, expected[i]);
        }
        ck_assert_float_eq(c.relaxed_scalar.exec_time, v ? 4 : 2);
        ck_assert_float_eq(c.relaxed_tensor.power_usage, v ? 4 : 2);
        ck_assert(c.if_performance.exec_time > 1e30f && c.while_performance.power_usage > 1e30f);
    }
    hal_capabilities_to_newest(&old, HAL_1_2, room, &c);
    ck_assert_uint_eq(c.n_operands, 2);
    ck_assert_float_eq(c.relaxed_scalar.exec_time, 0);
    ck_assert(c.if_performance.exec_time > 1e30f);
    hal_capabilities_to_newest(&old, HAL_1_3, room, &c);
    ck_assert_float_eq(c.if_performance.exec_time, 0);
}
END_TEST

/* The first version that represents the capabilities without loss, when one member differs from the
 * value that an older version implies. */
START_TEST(lossless_capabilities_are_detected)
{
    enum { RELAXED = 1, SCALAR, INTEGERS, BRANCHES, CASES };
    const struct hal_performance float32 = { 2, 2 }, quantised = { 3, 3 }, other = { 5, 5 };
    static const int first[CASES] = { 0, 1, 2, 2, 3 };

    for (int k = 0; k < CASES; k++) {
        const struct hal_operand_performance rows[] = { { 1, k == INTEGERS ? other : quantised },
                                                        { 3, float32 },
                                                        { 5, quantised } };
        struct hal_capabilities c = {
            .relaxed_tensor = k == RELAXED ? other : float32,
            .relaxed_scalar = k == RELAXED || k == SCALAR ? other : float32,
            .if_performance = k == BRANCHES ? other : hal_unreported_performance,
            .while_performance = hal_unreported_performance,
            .n_operands = COUNT(rows),
            .operand = rows,
        };
        for (int v = 0; v < HAL_VERSIONS; v++)
            ck_assert_msg(hal_capabilities_are_lossless(&c, hal_versions[v]) == (v >= first[k]),
                          "case %d at HAL %s", k, hal_version_names[v]);
    }
}
END_TEST

/* ---- requests */

/* Members that a version introduced; before it padding is lost, the others make the request fail.
 */
enum { PLAIN, PADDING, TOKEN, LARGE, HARDWARE_BUFFER, REQUESTS };
static const struct request_row {
    int since; /* index of the version */
    bool can_be_lost;
    const char *what;
} request_rows[REQUESTS] = { { 0, false, "" },
                             { 4, true, "output 0: padding" },
                             { 3, false, "token" },
                             { 4, false, "bytes at" },
                             { 2, false, "hardware buffer" } };

static void vary_request(struct client_request *r, int how)
{
    switch (how) {
    case PADDING: r->out[0].location.padding = 16; return;
    case TOKEN: r->pool[0] = (struct hal_request_pool){ .is_token = true, .token = 1 }; return;
    case LARGE: r->in[1].location.offset = UINT64_C(1) << 32; return;
    case HARDWARE_BUFFER: r->pool[0].memory.kind = HAL_MEMORY_HARDWARE_BUFFER; return;
    default: return;
    }
}

START_TEST(requests_convert_where_representable)
{
    const struct request_row *row = &request_rows[_i];
    struct arena *a = arena_new(0);
    struct client_request r;

    client_fill(&r, 4);
    vary_request(&r, _i);
    for (int v = 0; v < HAL_VERSIONS; v++) {
        struct conversion notes = { 0 };
        struct hal_request converted;
        bool is_available = v >= row->since;
        int rc = hal_request_at(&r.hal, hal_versions[v], a, &notes, &converted, &w);
        ck_assert_int_eq(rc, is_available || row->can_be_lost ? 0 : -1);
        if (rc < 0) {
            ck_assert_int_eq(w.code, WHY_UNSUPPORTED);
            ck_assert_msg(strstr(w.text, row->what), "%s", w.text);
            continue;
        }
        check_notes(&notes, is_available, row->what);
        ck_assert_int_eq(hal_request_complies(&converted, hal_versions[v], &w), 0);
        ck_assert_uint_eq(converted.outputs[0].location.padding,
                          is_available && _i == PADDING ? 16 : 0);
        ck_assert_uint_eq(converted.outputs[0].location.length, r.out[0].location.length);
        ck_assert_int_eq(converted.n_pools, 3);
    }
    arena_free(a);
}
END_TEST

/* ---- arguments */

static const struct prepare_row {
    struct hal_prepare_config config;
    int since; /* index of the version */
    const char *what;
} prepare_rows[] = {
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE }, 0, "" },
    { { HAL_LOW_POWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE }, 1, "preference" },
    { { HAL_SUSTAINED_SPEED, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE }, 1, "preference" },
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE, .cache.n_model = 1 },
      2,
      "model_cache" },
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE, .cache.n_data = 1 },
      2,
      "data_cache" },
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_LOW, HAL_NO_DEADLINE }, 3, "priority" },
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, 7 }, 3, "deadline" },
    { { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE, .n_hints = 1 }, 7, "hints" },
};

static const struct execute_row {
    struct hal_execution_config config;
    int since, in_bursts;
    const char *what;
} execute_rows[] = {
    { { false, HAL_NO_DEADLINE, HAL_NO_TIME }, 0, 0, "" },
    { { true, HAL_NO_DEADLINE, HAL_NO_TIME }, 2, 2, "measure" },
    { { false, 7, HAL_NO_TIME }, 3, 4, "deadline" },
    { { false, HAL_NO_DEADLINE, 7 }, 3, 4, "loop_timeout" },
    { { false, HAL_NO_DEADLINE, HAL_NO_TIME, .n_hints = 1 }, 7, 7, "hints" },
};

START_TEST(prepare_arguments_exist_since_their_version)
{
    const struct prepare_row *r = &prepare_rows[_i];
    struct arena *a = arena_new(0);

    for (int v = 0; v < HAL_VERSIONS; v++) {
        struct conversion notes = { 0 };
        struct hal_prepare_config converted;
        bool is_available = v >= r->since;
        ck_assert_int_eq(hal_prepare_config_complies(&r->config, hal_versions[v], &w) == 0,
                         is_available);
        ck_assert_int_eq(
            hal_prepare_config_at(&r->config, hal_versions[v], a, &notes, &converted, &w), 0);
        ck_assert_int_eq(hal_prepare_config_complies(&converted, hal_versions[v], &w), 0);
        check_notes(&notes, is_available, r->what);
        ck_assert(!is_available || memcmp(&converted, &r->config, sizeof converted) == 0);
    }
    arena_free(a);
}
END_TEST

START_TEST(execution_arguments_exist_since_their_version)
{
    const struct execute_row *r = &execute_rows[_i];
    struct arena *a = arena_new(0);

    for (int v = 0; v < HAL_VERSIONS; v++) {
        struct conversion notes = { 0 };
        struct hal_execution_config converted;
        bool is_available = v >= r->since;
        ck_assert_int_eq(hal_execution_config_complies(&r->config, hal_versions[v], &w) == 0,
                         is_available);
        if (v >= 2)
            ck_assert_int_eq(hal_burst_config_complies(&r->config, hal_versions[v], &w) == 0,
                             v >= r->in_bursts);
        ck_assert_int_eq(
            hal_execution_config_at(&r->config, hal_versions[v], a, &notes, &converted, &w), 0);
        ck_assert_int_eq(hal_execution_config_complies(&converted, hal_versions[v], &w), 0);
        check_notes(&notes, is_available, r->what);
    }
    arena_free(a);
}
END_TEST

Suite *hal_convert_suite(void)
{
    TCase *c = tcase_create("versions");

    tcase_add_test(c, operation_codes_are_those_of_the_records);
    tcase_add_test(c, type_codes_are_those_of_the_records);
    tcase_add_test(c, versions_have_names_and_levels);
    tcase_add_test(c, statuses_of_1_3_become_general_failures_before);
    tcase_add_test(c, durations_are_whole_microseconds_up_to_1_3);
    tcase_add_test(c, times_are_signed_since_feature_level_5);
    tcase_add_test(c, capabilities_have_the_members_of_their_version);
    tcase_add_test(c, missing_rows_of_1_0_are_filled_in);
    tcase_add_test(c, older_capabilities_are_completed_for_newer_clients);
    tcase_add_test(c, lossless_capabilities_are_detected);
    tcase_add_loop_test(c, requests_convert_where_representable, 0, REQUESTS);
    tcase_add_loop_test(c, prepare_arguments_exist_since_their_version, 0, COUNT(prepare_rows));
    tcase_add_loop_test(c, execution_arguments_exist_since_their_version, 0, COUNT(execute_rows));
    return make_suite("hal_convert", c, NULL);
}
