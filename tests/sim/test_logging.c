/* The log: tags that are enabled, the sink, and lines that give the reason of a failure. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/logging.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

#define LOG_TAG "Test"

static struct {
    char text[1 << 16];
    size_t length;
    unsigned lines;
} logged;

static void append_line(enum log_level level, const char *tag, const char *text, void *user)
{
    ck_assert_ptr_eq(user, &logged);
    logged.lines++;
    logged.length +=
        (size_t) snprintf(logged.text + logged.length, sizeof logged.text - logged.length,
                          "%c %s: %s\n", "IWE"[level], tag, text);
}

static void enable(const char *setting)
{
    struct why w;

    memset(&logged, 0, sizeof logged);
    log_set_sink(append_line, &logged);
    ck_assert_int_eq(vlog_set(setting, &w), 0);
}

static bool is_logged(const char *text)
{
    return strstr(logged.text, text);
}

/* ---- settings */

static unsigned mask_of(const char *setting)
{
    struct why w;

    vlog_set(setting, &w);
    return atomic_load(&vlog_mask);
}

START_TEST(tags_are_separated_by_spaces_commas_and_colons)
{
    const unsigned all = (1u << VLOG_TAG_COUNT) - 1, model = 1u << VLOG_MODEL;
    const unsigned memory = 1u << VLOG_MEMORY, driver = 1u << VLOG_DRIVER;

    ck_assert_uint_eq(mask_of(""), 0);
    ck_assert_uint_eq(mask_of(" ,:"), 0);
    ck_assert_uint_eq(mask_of("1"), all);
    ck_assert_uint_eq(mask_of("all"), all);
    ck_assert_uint_eq(mask_of("model"), model);
    ck_assert_uint_eq(mask_of("model,memory:driver"), model | memory | driver);
    ck_assert_uint_eq(mask_of(" memory  model "), model | memory);
    ck_assert_uint_eq(mask_of("model,all"), all);
    ck_assert_uint_eq(mask_of("compilation execution cpuexe manager model memory driver"), all);
}
END_TEST

START_TEST(an_unknown_tag_is_an_error_and_known_tags_are_enabled)
{
    struct why w;

    ck_assert_int_lt(vlog_set("model,drivers,memory", &w), 0);
    ck_assert_str_eq(w.text, "unknown tag 'drivers'; did you mean driver?");
    ck_assert_uint_eq(atomic_load(&vlog_mask), 1u << VLOG_MODEL | 1u << VLOG_MEMORY);
    ck_assert_int_lt(vlog_set("11", &w), 0);
    ck_assert_int_lt(vlog_set("al", &w), 0);
}
END_TEST

/* ---- lines */

static int evaluate(int *times)
{
    return ++*times;
}

START_TEST(arguments_of_disabled_tags_are_not_evaluated)
{
    int times = 0;

    enable("memory");
    VLOG(MODEL, "%d", evaluate(&times));
    ck_assert_int_eq(times, 0);
    VLOG(MEMORY, "%d", evaluate(&times));
    ck_assert_int_eq(times, 1);
    ck_assert_str_eq(logged.text, "I Test: 1\n");
}
END_TEST

START_TEST(control_characters_are_replaced)
{
    enable("all");
    VLOG(DRIVER, "name \"%s\"", "x\n11-21 E Forged: \x1b[31m");
    ck_assert_str_eq(logged.text, "I Test: name \"x?11-21 E Forged: ?[31m\"\n");
    log_set_sink(NULL, NULL);
    VLOG(DRIVER, "no sink");
    ck_assert_uint_eq(logged.lines, 1);
}
END_TEST

/* ---- lines of drivers */

static struct client_model model;
static struct client_request request;
static struct hal_driver *driver;

static void open_driver(void)
{
    driver = client_open("cpu", 0);
    client_add_model(&model, 4, false);
    client_fill(&request, 4);
}

static void close_driver(void)
{
    client_done(&model);
    driver->close(driver);
}

START_TEST(a_rejected_model_is_logged_with_its_reason)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_DEADLINE };
    struct hal_operand *operands =
        arena_copy(model.arena, model.hal.main.operands,
                   model.hal.main.n_operands * sizeof *model.hal.main.operands);
    struct hal_prepared_model *prepared;

    operands[0].type = 12345;
    model.hal.main.operands = operands;
    enable("model driver");
    ck_assert_int_eq(client_prepare_with(driver, HAL_1_3, &model.hal, &config, &prepared),
                     HAL_INVALID_ARGUMENT);
    ck_assert(is_logged("rejected: "));
    ck_assert(is_logged("12345"));
    ck_assert(is_logged("I Driver: client 0: prepare_model of HAL 1.3: INVALID_ARGUMENT: "));
}
END_TEST

START_TEST(a_rejected_request_is_logged_with_its_reason)
{
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    request.in[1].location.length--;
    enable("driver");
    ck_assert_int_eq(client_execute(model.prepared, HAL_1_3, &request.hal, &request.result),
                     HAL_INVALID_ARGUMENT);
    ck_assert(is_logged("INVALID_ARGUMENT: input 1: 15 bytes, expected 16"));
}
END_TEST

START_TEST(every_tag_logs_a_line)
{
    static const struct {
        const char *tag, *line;
    } lines[] = {
        { "model", "I ModelBuilder: model of client 0: 1 operations" },
        { "compilation", "is prepared: priority 1" },
        { "execution", "of client 0 starts at " },
        { "driver", "I Driver: client 0: execute_synchronously of HAL 1.3: NONE" },
    };

    for (int i = 0; i < COUNT(lines); i++) {
        enable(lines[i].tag);
        client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
        ck_assert_int_eq(client_execute(model.prepared, HAL_1_3, &request.hal, &request.result),
                         HAL_NONE);
        ck_assert_msg(is_logged(lines[i].line), "%s: %s", lines[i].tag, logged.text);
        model.prepared->methods->release(model.prepared);
        model.prepared = NULL;
    }
}
END_TEST

START_TEST(a_reduced_loop_timeout_is_a_warning)
{
    struct hal_execution_config config = client_config();

    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    enable("execution");
    for (int over = 0; over < 2; over++) {
        config.loop_timeout = HAL_LOOP_TIMEOUT_MAX + (uint64_t) over;
        ck_assert_int_eq(model.prepared->methods->execute_synchronously(
                             model.prepared, HAL_1_3, &request.hal, &config, &request.result),
                         HAL_NONE);
        ck_assert_int_eq(is_logged("W ExecutionBuilder: a loop timeout of 15000000001 ns is "
                                   "reduced to 15000000000"),
                         over);
    }
}
END_TEST

START_TEST(capabilities_lost_in_an_older_version_are_a_warning)
{
    struct hal_capabilities c;

    enable("driver");
    ck_assert_int_eq(driver->get_capabilities(driver, HAL_1_3, &c), HAL_NONE);
    ck_assert(!is_logged("W Driver"));
    ck_assert_int_eq(driver->get_capabilities(driver, HAL_1_1, &c), HAL_NONE);
    ck_assert(is_logged("W Driver: get_capabilities: the performance of halcyon-cpu is not fully "
                        "representable in HAL 1.1\n"));
}
END_TEST

START_TEST(nothing_is_logged_without_a_tag)
{
    enable("");
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(client_execute(model.prepared, HAL_1_3, &request.hal, &request.result),
                     HAL_NONE);
    ck_assert_uint_eq(logged.lines, 0);
}
END_TEST

Suite *logging_suite(void)
{
    TCase *settings = tcase_create("settings"), *drivers = tcase_create("drivers");

    tcase_add_test(settings, tags_are_separated_by_spaces_commas_and_colons);
    tcase_add_test(settings, an_unknown_tag_is_an_error_and_known_tags_are_enabled);
    tcase_add_test(settings, arguments_of_disabled_tags_are_not_evaluated);
    tcase_add_test(settings, control_characters_are_replaced);
    tcase_add_checked_fixture(drivers, open_driver, close_driver);
    tcase_add_test(drivers, a_rejected_model_is_logged_with_its_reason);
    tcase_add_test(drivers, a_rejected_request_is_logged_with_its_reason);
    tcase_add_test(drivers, every_tag_logs_a_line);
    tcase_add_test(drivers, a_reduced_loop_timeout_is_a_warning);
    tcase_add_test(drivers, capabilities_lost_in_an_older_version_are_a_warning);
    tcase_add_test(drivers, nothing_is_logged_without_a_tag);
    return make_suite("logging", settings, drivers, NULL);
}
