/* Profiles: errors name file, key, expected and found value; rules limit the supported operations.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device/profile.h"
#include "sim/sim.h"
#include "tests/support/check_main.h"
#include "tests/support/one_op_run.h"

static struct why w;

/* A small valid profile up to its list of rules. */
static const char head[] =
    "{\"name\": \"p\", \"version\": \"1\", \"type\": \"gpu\", \"hal\": \"1.2\", "
    "\"arithmetic\": \"fp32\", \"cost\": {\"launch_ns\": 1000, \"driver_ns\": 900, "
    "\"operation_ns\": 100, \"bandwidth\": 1e9, \"rate\": {\"default\": 1e9, "
    "\"TENSOR_FLOAT32\": 1e9}}, \"performance\": {\"relaxed_scalar\": {\"time\": 1, \"power\": 1}, "
    "\"relaxed_tensor\": {\"time\": 1, \"power\": 1}, \"if\": {\"time\": 1, \"power\": 1}, "
    "\"while\": {\"time\": 1, \"power\": 1}, \"operand\": {\"TENSOR_INT32\": {\"time\": 2, "
    "\"power\": 3}, \"FLOAT32\": {\"time\": 1, \"power\": 1}}}, \"operations\": [";

/* The head with `from` replaced by `to`, then the rules; freed by the caller. */
static char *profile_with(const char *from, const char *to, const char *rules)
{
    size_t size = sizeof head + strlen(to) + strlen(rules) + 8;
    char *text = calloc(1, size), *at = strstr(head, from);

    ck_assert_msg(at, "the head does not contain %s", from);
    memcpy(text, head, (size_t) (at - head));
    strcat(text, to);
    strcat(text, at + strlen(from));
    strcat(text, rules);
    strcat(text, "]}");
    return text;
}

static void check_error(const char *json, const char *message)
{
    struct profile *p = NULL;

    ck_assert_msg(profile_parse(json, "dev.toml", &p, &w) < 0, "accepted: %s", json);
    ck_assert_msg(strstr(w.text, message), "\"%s\" does not contain \"%s\"", w.text, message);
}

START_TEST(errors_name_file_key_expectation_and_value)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        { "\"name\": \"p\", ", "", "dev.toml: name: expected a string, found nothing" },
        { "\"name\": \"p\"", "\"name\": 3",
          "dev.toml: name: expected a string that is not empty, found 3" },
        { "\"gpu\"", "\"tpu\"",
          "dev.toml: type: expected one of other, cpu, gpu, accelerator, found \"tpu\"" },
        { "\"1.2\"", "\"2.0\"", "dev.toml: hal: expected one of 1.0" },
        { "\"fp32\"", "\"fp8\"", "dev.toml: arithmetic: expected one of fp32" },
        { "\"cost\"", "\"limits\": 3, \"cost\"", "dev.toml: limits: expected a table, found 3" },
        { "\"cost\"", "\"limits\": {\"threads\": 3}, \"cost\"",
          "dev.toml: limits.threads: unknown key, expected one of models, memory" },
        { "\"cost\"", "\"limits\": {\"executions\": 2000}, \"cost\"",
          "dev.toml: limits.executions: expected an integer from 0 to 1024, found 2000" },
        { "\"cost\"", "\"extensions\": [\"org.halcyon.example.other\"], \"cost\"",
          "dev.toml: extensions[0]: expected the name of an extension: one of "
          "org.halcyon.example.fibonacci, found \"org.halcyon.example.other\"" },
        { "\"cost\"", "\"extensions\": [1], \"cost\"",
          "dev.toml: extensions[0]: expected the name of an extension" },
        { "\"cost\"", "\"extensions\": \"\", \"cost\"",
          "dev.toml: extensions: expected a list, found \"\"" },
        { "\"hal\": \"1.2\"",
          "\"extensions\": [\"org.halcyon.example.fibonacci\"], \"hal\": \"1.1\"",
          "dev.toml: extensions[0]: expected no extensions before HAL 1.2, found" },
        { "\"cost\"", "\"oem\": 1, \"cost\"", "dev.toml: oem: expected true or false, found 1" },
        { "\"cost\"", "\"costs\"", "dev.toml: costs: unknown key; did you mean cost?" },
        { "\"launch_ns\": 1000", "\"launch_ns\": -1",
          "cost.launch_ns: expected a number >= 0, found -1" },
        { "\"bandwidth\": 1e9", "\"bandwidth\": 0",
          "cost.bandwidth: expected a number above 0, found 0" },
        { "\"TENSOR_FLOAT32\": 1e9", "\"TENSOR_F32\": 1e9",
          "cost.rate.TENSOR_F32: expected an operand type" },
        { "{\"time\": 2, ", "{\"time\": \"fast\", ",
          "performance.operand.TENSOR_INT32.time: expected a number above 0, found \"fast\"" },
        { "\"TENSOR_INT32\": {", "\"SUBGRAPH\": {",
          "performance.operand.SUBGRAPH: expected an operand type" },
        { "\"if\": {\"time\": 1, \"power\": 1}", "\"if\": [1]",
          "performance.if: expected a table, found [1]" },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        char *json = profile_with(cases[i].from, cases[i].to, "");
        check_error(json, cases[i].message);
        free(json);
    }
    check_error("[1]", "dev.toml: the profile: expected a table");
    check_error("{\"a\": 1, \"a\": 2}", "dev.toml: line 1");
    check_error("", "dev.toml: line 1");
}
END_TEST

START_TEST(errors_in_rules_name_their_place)
{
    static const struct {
        const char *rule, *message;
    } cases[] = {
        { "3", "operations[0]: expected a table, found 3" },
        { "{\"names\": [\"ADD\"]}", "operations[0].types: expected a list, found nothing" },
        { "{\"names\": [\"ADD\", \"CONV\"], \"types\": []}",
          "operations[0].names[1]: expected the name of an operation of the catalogue, found "
          "\"CONV\"" },
        { "{\"names\": [\"ADD\"], \"types\": [\"F32\"]}",
          "operations[0].types[0]: expected the name" },
        { "{\"names\": [\"ADD\"], \"types\": [], \"windows\": [[3, 3], [3]]}",
          "operations[0].windows[1]: expected a pair of height and width, found [3]" },
        { "{\"names\": [\"ADD\"], \"types\": [], \"constant\": [\"filter\"]}",
          "operations[0].constant[0]: expected the name of an operand of these operations" },
        { "{\"names\": [\"ADD\"], \"types\": [], \"max_rank\": 1.5}",
          "operations[0].max_rank: expected an integer" },
        { "{\"names\": [\"ADD\"], \"types\": [], \"max_ranks\": 1}",
          "operations[0].max_ranks: unknown key" },
        { "{\"names\": [\"ADD\"], \"types\": [], \"nchw\": 0}",
          "operations[0].nchw: expected true or false, found 0" },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        char *json = profile_with("x", "x", cases[i].rule); /* the head unchanged */
        check_error(json, cases[i].message);
        free(json);
    }
}
END_TEST

START_TEST(values_of_a_profile_are_read)
{
    char *json = profile_with(
        "\"type\"",
        "\"queue\": {\"depth\": 7}, \"limits\": {\"memory\": 8, \"sessions\": 9}, \"type\"",
        "{\"names\": [\"ADD\"], \"types\": [\"TENSOR_FLOAT32\"]}");
    struct profile *p = NULL;

    ck_assert_msg(profile_parse(json, "dev.toml", &p, &w) == 0, "%s", w.text);
    ck_assert_str_eq(p->name, "p");
    ck_assert_int_eq(p->type, HAL_DEVICE_GPU);
    ck_assert_int_eq(p->hal, HAL_1_2);
    ck_assert_uint_eq(p->queue_depth, 7);
    ck_assert_uint_eq(p->limits.most[QUOTA_MODELS], 0);
    ck_assert_uint_eq(p->limits.most[QUOTA_MEMORY], 8);
    ck_assert_uint_eq(p->limits.most[QUOTA_EXECUTIONS], 64);
    ck_assert_uint_eq(p->limits.sessions, 9);
    ck_assert_uint_eq(p->capabilities.n_operands, 2);
    ck_assert_int_eq(p->capabilities.operand[0].type, DT_FLOAT32);
    ck_assert_int_eq(p->capabilities.operand[1].type, DT_I32);
    ck_assert(p->capabilities.operand[1].info.power_usage == 3);
    ck_assert_uint_eq(p->n_rules, 1);
    profile_free(p);
    free(json);
}
END_TEST

/* ---- rules */

static const char *given; /* contents of any file */

static int read_profile(const char *path, char **ret_json, struct why *why)
{
    (void) path;
    *ret_json = strdup(given);
    return *ret_json ? 0 : why_no_memory(why);
}

/* Runs an operation on a device with one rule. */
static struct outcome run_on(const char *rule, const struct one_op *c)
{
    static const struct target_host host = { read_profile };
    struct target_run_options options = { .measure = true };
    char *json = profile_with("x", "x", rule);
    struct target *t = NULL;
    struct one_op_run r;
    struct shape shapes[ONE_OP_OUTPUTS];
    struct outcome o;

    given = json;
    ck_assert_msg(target_open("sim:dev.toml", &host, &t, &w) == 0, "%s", w.text);
    ck_assert_msg(one_op_start(&r, c, NULL, &w) == 0, "%s: %s", c->name, w.text);
    for (uint32_t i = 0; i < r.result.n; i++)
        shapes[i] = r.result.out[i].shape;
    ck_assert_msg(target_run(t, &r.b.model, r.arg, shapes, &options, &o, &w) == 0, "%s", w.text);
    ck_assert_str_eq(o.violation, "");
    target_free(t);
    one_op_done(&r);
    free(json);
    return o;
}

static void check_limit(const char *rule, const struct one_op *c, bool supported)
{
    struct outcome o = run_on(rule, c);

    ck_assert_msg((o.stage == STAGE_DONE) == supported, "%s: %s", c->name, rule);
    outcome_done(&o);
}

#define RULE(names, types, more)                                                                   \
    "{\"names\": [" names "], \"types\": [\"TENSOR_FLOAT32\"" types "]" more "}"

START_TEST(rules_limit_types_ranks_and_sizes)
{
    const struct one_op add = { "add",
                                "ADD",
                                0,
                                { "F32[2,3]: 1 2 3 4 5 6", "F32[3]: 1 2 3", "INT32: 0" },
                                "F32[2,3]: 2 4 6 5 7 9" };

    check_limit(RULE("\"ADD\"", "", ""), &add, true);
    check_limit(RULE("\"MUL\"", "", ""), &add, false);
    check_limit("{\"names\": [\"ADD\"], \"types\": [\"TENSOR_FLOAT16\"]}", &add, false);
    check_limit(RULE("\"ADD\"", "", ", \"max_rank\": 2"), &add, true);
    check_limit(RULE("\"ADD\"", "", ", \"max_rank\": 1"), &add, false);
    check_limit(RULE("\"ADD\"", "", ", \"max_elements\": 6"), &add, true);
    check_limit(RULE("\"ADD\"", "", ", \"max_elements\": 5"), &add, false);
    check_limit(RULE("\"ADD\"", "", ", \"broadcast\": false"), &add, false);
    check_limit(RULE("\"MUL\"", "", "") "," RULE("\"ADD\"", "",
                                                 ", \"max_rank\": 1") "," RULE("\"ADD\"", "", ""),
                &add, true);
}
END_TEST

START_TEST(rules_limit_windows_layouts_and_constants)
{
    const struct one_op conv = { "conv",
                                 "CONV_2D",
                                 0,
                                 { "F32[1,3,3,1]: 1 1 1 1 1 1 1 1 1", "const F32[1,2,2,1]: 1 2 3 4",
                                   "const F32[1]: 1", "INT32: 2", "INT32: 1", "INT32: 1",
                                   "INT32: 0" },
                                 "F32[1,2,2,1]: 11 11 11 11" };
    struct one_op nchw = conv, open = conv;

    nchw.in[0] = "F32[1,1,3,3]: 1 1 1 1 1 1 1 1 1";
    nchw.in[7] = "BOOL: 1";
    nchw.out = "F32[1,1,2,2]: 11 11 11 11";
    open.in[1] = "F32[1,2,2,1]: 1 2 3 4";
    check_limit(RULE("\"CONV_2D\"", "", ""), &conv, true);
    check_limit(RULE("\"CONV_2D\"", "", ", \"windows\": [[3, 3], [2, 2]]"), &conv, true);
    check_limit(RULE("\"CONV_2D\"", "", ", \"windows\": [[3, 3], [2, 3]]"), &conv, false);
    check_limit(RULE("\"CONV_2D\"", "", ", \"max_window\": 1"), &conv, false);
    check_limit(RULE("\"CONV_2D\"", "", ", \"constant\": [\"filter\"]"), &conv, true);
    check_limit(RULE("\"CONV_2D\"", "", ", \"constant\": [\"filter\"]"), &open, false);
    check_limit(RULE("\"CONV_2D\"", "", ", \"nchw\": false"), &conv, true);
    check_limit(RULE("\"CONV_2D\"", "", ", \"nchw\": false"), &nchw, false);
    check_limit(RULE("\"CONV_2D\"", "", ""), &nchw, true);
}
END_TEST

START_TEST(durations_follow_the_cost_model)
{
    const struct one_op add = {
        "add", "ADD", 0, { "F32[2]: 1 2", "F32[2]: 1 2", "INT32: 0" }, "F32[2]: 2 4"
    };
    struct outcome o = run_on(RULE("\"ADD\"", "", ""), &add);

    /* launch 1000, operation 100, 5 operands at 1e9/s, 28 bytes at 1e9/s; 900 in the driver.  HAL
     * 1.2 reports whole microseconds of these 1133 and 2033 ns. */
    ck_assert_uint_eq(o.timing.on_device, 1000);
    ck_assert_uint_eq(o.timing.in_driver, 2000);
    outcome_done(&o);
}
END_TEST

START_TEST(the_shipped_profiles_are_valid)
{
    struct profile *p = NULL;

    for (int i = 0; target_shipped[i]; i++) {
        const char *json = profile_shipped(target_shipped[i] + strlen("sim:"));
        ck_assert_ptr_nonnull(json);
        ck_assert_msg(profile_parse(json, target_shipped[i], &p, &w) == 0, "%s", w.text);
        ck_assert_uint_gt(p->n_rules, 0);
        profile_free(p);
    }
    ck_assert_ptr_null(profile_shipped("tpu"));
}
END_TEST

/* Also of types that the device does not compute: neighbouring operations may have such operands.
 */
START_TEST(shipped_devices_report_performance_of_every_type)
{
    struct profile *p = NULL;

    for (int i = 0; target_shipped[i]; i++) {
        const char *json = profile_shipped(target_shipped[i] + strlen("sim:"));
        ck_assert_msg(profile_parse(json, target_shipped[i], &p, &w) == 0, "%s", w.text);
        ck_assert_msg(p->capabilities.n_operands == DT_MODEL, "%s: %u of %d types",
                      target_shipped[i], p->capabilities.n_operands, DT_MODEL);
        for (uint32_t k = 0; k < p->capabilities.n_operands; k++)
            ck_assert_int_eq(p->capabilities.operand[k].type, (int) k);
        profile_free(p);
    }
}
END_TEST

/* Whether the operation has a typing row with TENSOR_QUANT8_ASYMM_SIGNED. */
static bool has_signed(const struct op *op)
{
    for (int i = 0; i < op->n_typings; i++)
        for (int k = 0; k < MAX_SLOTS; k++)
            if (op->typings[i].slot[k] == DT_S8)
                return true;
    return false;
}

/* Since HAL 1.3 a device that computes TENSOR_QUANT8_ASYMM computes TENSOR_QUANT8_ASYMM_SIGNED too.
 */
START_TEST(shipped_devices_support_signed_where_they_support_unsigned)
{
    struct profile *p = NULL;

    for (int i = 0; target_shipped[i]; i++) {
        const char *json = profile_shipped(target_shipped[i] + strlen("sim:"));
        ck_assert_msg(profile_parse(json, target_shipped[i], &p, &w) == 0, "%s", w.text);
        for (uint32_t r = 0; r < p->n_rules; r++)
            for (uint32_t k = 0; k < p->rules[r].n_ops; k++)
                ck_assert_msg(!(p->rules[r].types & 1u << DT_U8) ||
                                  p->rules[r].types & 1u << DT_S8 || !has_signed(p->rules[r].op[k]),
                              "%s: %s", target_shipped[i], p->rules[r].op[k]->name);
        profile_free(p);
    }
}
END_TEST

Suite *profile_suite(void)
{
    TCase *c = tcase_create("profile");

    tcase_add_test(c, errors_name_file_key_expectation_and_value);
    tcase_add_test(c, errors_in_rules_name_their_place);
    tcase_add_test(c, values_of_a_profile_are_read);
    tcase_add_test(c, rules_limit_types_ranks_and_sizes);
    tcase_add_test(c, rules_limit_windows_layouts_and_constants);
    tcase_add_test(c, durations_follow_the_cost_model);
    tcase_add_test(c, the_shipped_profiles_are_valid);
    tcase_add_test(c, shipped_devices_report_performance_of_every_type);
    tcase_add_test(c, shipped_devices_support_signed_where_they_support_unsigned);
    return make_suite("profile", c, NULL);
}
