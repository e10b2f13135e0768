/* The parent's half of a campaign: what workers send is checked, collected and recorded once;
 * deaths are confirmed. */
#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/run/campaign_internal.h"
#include "harness/run/devices.h"
#include "tests/support/check_main.h"

static char folder[] = "/tmp/halcyon-test-XXXXXX";
static char path[64];
static struct options options;
static struct cases cases;
static struct campaign campaign;
static const char *const target[] = { "sim:cpu", "lib:driver.so" };

static void setup(void)
{
    static const struct run_row run = { "random", "halcyon random", "{}", "bound", 8 };
    static const struct target_row rows[] = { { "sim:cpu", "cpu", "1", "CPU", "1.3" },
                                              { "lib:driver.so", "driver", "1", "CPU", "1.3" } };
    struct why w;
    strcpy(folder, "/tmp/halcyon-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.db", folder);
    options = (struct options){ .shard = 1, .n_shards = 1, .timeout = 10, .verbosity = -1 };
    cases = cases_random(&randgraph_default, 7, 0, 8);
    campaign = (struct campaign){ .options = &options,
                                  .cases = &cases,
                                  .judge = JUDGE_BOUND,
                                  .target = target,
                                  .n_targets = 2,
                                  .console = { .verbosity = -1 } };
    ck_assert_int_eq(results_open(path, RESULTS_WRITE, &campaign.results, &w), 0);
    ck_assert_int_eq(results_start_run(campaign.results, &run, rows, 2, &w), 0);
    ck_assert_int_eq(campaign_skip_done(&campaign, &w), 0);
}

static void teardown(void)
{
    static const char *const ending[] = { "", "-wal", "-shm" };
    char name[80];
    campaign_done(&campaign);
    results_close(campaign.results);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ending[i]);
        unlink(name);
    }
    rmdir(folder);
}

/* The first column of a query's first row, "" for none; valid until the next call. */
static const char *query(const char *sql)
{
    static char answer[1024];
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(results_commit(campaign.results, NULL), 0);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    const char *text =
        sqlite3_step(s) == SQLITE_ROW ? (const char *) sqlite3_column_text(s, 0) : "";
    snprintf(answer, sizeof answer, "%s", text ? text : "");
    sqlite3_finalize(s);
    sqlite3_close(db);
    return answer;
}

/* ---- what a worker sends */

static int send_bytes(uint64_t item, const void *bytes, size_t length, struct why *w)
{
    return campaign_take_message(item, bytes, length, &campaign, w);
}

static void send_ok(uint64_t item, const void *bytes, size_t length)
{
    struct why w;
    ck_assert_msg(send_bytes(item, bytes, length, &w) == 0, "%s", w.text);
}

static void send_text(uint64_t item, uint32_t kind, const char *text)
{
    char bytes[256];
    memcpy(bytes, &kind, sizeof kind);
    strcpy(bytes + sizeof kind, text);
    send_ok(item, bytes, sizeof kind + strlen(text));
}

static void send_case(uint64_t item)
{
    static const char operations[] = "ADD\tTENSOR_FLOAT32\n";
    struct case_message m = { MESSAGE_CASE, 3, 1, sizeof operations - 1 };
    char bytes[96];
    memcpy(bytes, &m, sizeof m);
    snprintf(bytes + sizeof m, sizeof bytes - sizeof m, "%sADD\t\tTENSOR_FLOAT32\t1\t\tother\n",
             operations);
    send_ok(item, bytes, sizeof m + strlen(bytes + sizeof m));
}

static struct verdict_message a_verdict(uint32_t t, enum verdict v)
{
    struct verdict_message m = { MESSAGE_VERDICT, t, check_without_outcome(v, JUDGE_BOUND) };
    snprintf(m.result.why, sizeof m.result.why, "%s", v == VERDICT_PASS ? "" : "text");
    return m;
}

static void send_verdict(uint64_t item, uint32_t t, enum verdict v)
{
    struct verdict_message m = a_verdict(t, v);
    send_ok(item, &m, sizeof m);
}

static void send_blame(uint64_t item, uint32_t t, const char *operation)
{
    struct blame_message m = { MESSAGE_BLAME, t, { .count = 1, .of = 2, .output = -1 } };
    snprintf(m.blamed.name, sizeof m.blamed.name, "%s", operation);
    send_ok(item, &m, sizeof m);
}

static void send_spec(uint64_t item)
{
    struct spec_message m = { .kind = MESSAGE_SPEC, .spec_length = 4 };
    char bytes[64];
    memcpy(bytes, &m, sizeof m);
    strcpy(bytes + sizeof m, "spec");
    send_ok(item, bytes, sizeof m + 4);
}

static void complete(uint64_t item)
{
    struct why w;
    ck_assert_msg(campaign_take_complete(item, &campaign, &w) == 0, "%s", w.text);
}

static void pass(uint64_t item)
{
    send_case(item);
    send_verdict(item, 0, VERDICT_PASS);
    send_verdict(item, 1, VERDICT_PASS);
    complete(item);
}

static uint64_t total(uint32_t t, enum verdict v)
{
    return campaign.totals[t].n[v];
}

START_TEST(a_case_is_written_when_it_is_complete)
{
    send_case(2);
    send_verdict(2, 0, VERDICT_PASS);
    send_text(2, MESSAGE_PRINTED, "one\ntwo \x1b[31m");
    send_text(2, MESSAGE_BACKTRACE, "#0 main");
    send_verdict(2, 1, VERDICT_CRASH);
    send_spec(2);
    ck_assert_str_eq(query("SELECT count(*) FROM cases"), "0");
    ck_assert_uint_eq(total(0, VERDICT_PASS), 0);
    complete(2);
    ck_assert_str_eq(query("SELECT name || spec || level FROM cases"), "random/v2/s7/i2spec3");
    ck_assert_str_eq(query("SELECT operation FROM case_operations"), "ADD");
    ck_assert_str_eq(query("SELECT group_concat(operation || ran) FROM coverage"), "ADD1,ADD1");
    ck_assert_str_eq(query("SELECT printed || backtrace FROM failures"), "one\ntwo ?[31m#0 main");
    ck_assert_str_eq(query("SELECT count(*) FROM verdicts WHERE printed IS NULL"), "1");
    ck_assert_uint_eq(total(0, VERDICT_PASS), 1);
    ck_assert_uint_eq(total(1, VERDICT_CRASH), 1);
}
END_TEST

START_TEST(a_second_verdict_replaces_the_first)
{
    send_case(0);
    send_verdict(0, 0, VERDICT_FAIL);
    send_verdict(0, 0, VERDICT_PASS);
    send_verdict(0, 1, VERDICT_PASS);
    send_spec(0);
    complete(0);
    ck_assert_uint_eq(total(0, VERDICT_FAIL), 0);
    ck_assert_uint_eq(total(0, VERDICT_PASS), 1);
    ck_assert_str_eq(query("SELECT count(*) FROM failures"), "0");
    ck_assert_str_eq(query("SELECT count(*) FROM cases WHERE spec IS NULL"), "1");
}
END_TEST

/* Each is refused as nonsense, and the campaign goes on. */
START_TEST(messages_are_bounded)
{
    struct verdict_message wrong[] = { a_verdict(2, VERDICT_PASS), a_verdict(0, VERDICT_COUNT),
                                       a_verdict(0, VERDICT_PASS), a_verdict(0, VERDICT_PASS),
                                       a_verdict(0, VERDICT_PASS), a_verdict(0, VERDICT_PASS) };
    struct spec_message spec = { .kind = MESSAGE_SPEC, .spec_length = 1 };
    struct note_message note = { MESSAGE_NOTE, 2 };
    struct amend_message amend = { .kind = MESSAGE_AMEND, .ordinal = 1 };
    uint32_t unknown = 99;
    struct why w;
    wrong[2].result.judge = JUDGE_BOUND + 1;
    wrong[3].result.was = VERDICT_COUNT;
    wrong[4].result.output = -2;
    memset(&wrong[5].result.lost, 77, 1);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(send_bytes(0, &wrong[i], sizeof wrong[i], &w), 1);
    ck_assert_int_eq(send_bytes(0, &wrong[5], sizeof wrong[5] - 1, &w), 1);
    ck_assert_int_eq(send_bytes(0, &spec, sizeof spec, &w), 1);
    ck_assert_int_eq(send_bytes(0, &note, sizeof note, &w), 1);
    ck_assert_int_eq(send_bytes(0, &amend, sizeof amend, &w), 1); /* not complete */
    amend.ordinal = UINT64_MAX;
    ck_assert_int_eq(send_bytes(0, &amend, sizeof amend, &w), 1);
    ck_assert_int_eq(send_bytes(0, &unknown, sizeof unknown, &w), 1);
    ck_assert_int_eq(send_bytes(0, &unknown, 3, &w), 1);
    ck_assert_int_eq(campaign_take_complete(0, &campaign, &w), 1);
    ck_assert_msg(strstr(w.text, "without a verdict for sim:cpu"), "%s", w.text);
    wrong[0] = a_verdict(0, VERDICT_FAIL);
    memset(wrong[0].result.why, 'x', sizeof wrong[0].result.why); /* no end */
    ck_assert_int_eq(send_bytes(0, &wrong[0], sizeof wrong[0], &w), 0);
}
END_TEST

/* ---- later findings */

static void send_amendment(uint64_t item, uint64_t ordinal, enum verdict v)
{
    struct amend_message m = { .kind = MESSAGE_AMEND,
                               .target = 1,
                               .ordinal = ordinal,
                               .spec_length = 4,
                               .result = a_verdict(1, v).result };
    char bytes[sizeof m + 8];
    memcpy(bytes, &m, sizeof m);
    memcpy(bytes + sizeof m, "late", 4);
    send_ok(item, bytes, sizeof m + 4);
}

START_TEST(an_earlier_verdict_is_amended)
{
    pass(0);
    send_case(1);
    send_verdict(1, 0, VERDICT_PASS);
    send_verdict(1, 1, VERDICT_FAIL);
    send_spec(1);
    complete(1);
    send_amendment(2, 0, VERDICT_VIOLATION);
    send_amendment(2, 1, VERDICT_VIOLATION); /* does not conform already */
    ck_assert_str_eq(query("SELECT group_concat(verdict || spec) FROM "
                           "(SELECT * FROM failures ORDER BY ordinal)"),
                     "violationlate,failspec");
    ck_assert_uint_eq(total(1, VERDICT_PASS), 0);
    ck_assert_uint_eq(total(1, VERDICT_VIOLATION), 1);
    ck_assert_uint_eq(total(1, VERDICT_FAIL), 1);
    ck_assert_uint_eq(total(0, VERDICT_PASS), 2);
    ck_assert_uint_eq(campaign_failures(&campaign), 2);
}
END_TEST

START_TEST(notes_are_kept_once)
{
    struct note_message m = { MESSAGE_NOTE, 1 };
    char bytes[2000];
    memcpy(bytes, &m, sizeof m);
    memset(bytes + sizeof m, 'x', sizeof bytes - sizeof m);
    for (int i = 0; i < 3; i++)
        send_ok(0, bytes, sizeof m + 5);
    send_ok(0, bytes, sizeof bytes);
    ck_assert_uint_eq(campaign.n_notes, 2);
    ck_assert_str_eq(campaign.note[0].text, "xxxxx");
    ck_assert_uint_eq(strlen(campaign.note[1].text), 399);
    ck_assert_str_eq(query("SELECT count(*) FROM run_notes"), "2");
}
END_TEST

/* ---- deaths */

static const struct worker_pool_death a_crash = { .signal = SIGSEGV,
                                                  .mark = 1 << MARK_PHASE_BITS | PHASE_TARGET,
                                                  .step = TARGET_AT_EXECUTE,
                                                  .after = 5 };

/* The step at which the case is continued; -1: it is not. */
static int64_t die(uint64_t item, struct worker_pool_death d)
{
    struct why w;
    uint32_t step = 0;
    int again = campaign_take_death(item, &d, &step, &campaign, &w);
    ck_assert_int_ge(again, 0);
    return again ? (int64_t) step : -1;
}

static void begin(uint64_t item)
{
    send_case(item);
    send_verdict(item, 0, VERDICT_PASS);
}

START_TEST(a_death_that_repeats_is_believed)
{
    begin(0);
    ck_assert_int_eq(die(0, a_crash), STEP_SPEC); /* from the start */
    begin(0);
    ck_assert_int_eq(die(0, a_crash), 2 | STEP_SPEC | STEP_BLAME);
    send_verdict(0, 1, VERDICT_PASS); /* does not replace the death's */
    send_blame(0, 1, "MUL");
    send_spec(0);
    complete(0);
    ck_assert_str_eq(query("SELECT blamed_operation FROM failures"), "MUL");
    ck_assert_str_eq(query("SELECT verdict || confirmed || stage || uri || spec FROM failures"),
                     "crashrepeatsexecutelib:driver.sospec");
    ck_assert_uint_eq(total(0, VERDICT_PASS), 1);
}
END_TEST

/* The worker that searches for the operation to blame may die, too. */
START_TEST(a_death_in_the_search_for_blame_ends_it)
{
    struct worker_pool_death d = a_crash;
    begin(0);
    die(0, a_crash);
    begin(0);
    die(0, a_crash);
    d.mark = mark_of(PHASE_BLAME, 1);
    ck_assert_int_eq(die(0, d), 2 | STEP_SPEC);
    send_blame(0, 1, "MUL"); /* of no death */
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || coalesce(blamed_operation, '') FROM failures"),
                     "crash");
}
END_TEST

START_TEST(a_death_that_does_not_repeat_names_the_case_before)
{
    begin(0);
    die(0, a_crash);
    begin(0);
    send_verdict(0, 1, VERDICT_PASS);
    send_spec(0);
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || ' ' || confirmed || spec FROM failures"),
                     "crash does not repeat; after case random/v2/s7/i5spec");
    struct worker_pool_death first = a_crash;
    first.is_first = true;
    first.hang = true;
    begin(1);
    die(1, first);
    begin(1);
    send_verdict(1, 1, VERDICT_PASS);
    complete(1);
    ck_assert_str_eq(query("SELECT verdict || ' ' || confirmed FROM failures WHERE ordinal = 1"),
                     "hang does not repeat; in the first case of its process");
}
END_TEST

/* A kill from outside, and deaths that are not the driver's. */
START_TEST(only_the_second_run_counts)
{
    struct worker_pool_death d[] = { a_crash, a_crash, a_crash, a_crash };
    d[0].signal = SIGKILL;
    d[1].mark = mark_of(PHASE_JUDGE, 1);
    d[2].mark = mark_of(PHASE_REFERENCE, 0);
    d[3].mark = UINT32_MAX; /* written over by a driver */
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_int_eq(die(i, d[i]), STEP_SPEC);
        pass(i);
    }
    campaign.isolated[1] = true;
    ck_assert_int_eq(die(4, a_crash), STEP_SPEC);
    pass(4);
    ck_assert_str_eq(query("SELECT count(*) FROM verdicts WHERE verdict = 'pass' AND confirmed IS "
                           "NULL"),
                     "10");
    ck_assert_uint_eq(total(1, VERDICT_PASS), 5);
}
END_TEST

START_TEST(deaths_that_are_not_the_drivers_are_errors)
{
    struct worker_pool_death d = a_crash;
    campaign.isolated[1] = true;
    begin(0);
    die(0, d);
    begin(0);
    ck_assert_int_eq(die(0, d), 2 | STEP_SPEC);
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || confirmed FROM failures"), "errorrepeats");
    d.mark = mark_of(PHASE_MAKE, 0);
    die(1, d);
    ck_assert_int_eq(die(1, d), -1);
    complete(1);
    ck_assert_str_eq(query("SELECT count(*) FROM failures WHERE verdict = 'error'"), "3");
    d.mark = mark_of(PHASE_SPEC, 0);
    begin(2);
    send_verdict(2, 1, VERDICT_FAIL);
    die(2, d);
    begin(2);
    send_verdict(2, 1, VERDICT_FAIL);
    ck_assert_int_eq(die(2, d), -1);
    complete(2);
    ck_assert_str_eq(query("SELECT verdict FROM failures WHERE ordinal = 2"), "fail");
}
END_TEST

START_TEST(after_three_of_a_kind_deaths_are_believed_at_once)
{
    for (uint64_t i = 0; i < 5; i++) {
        begin(i);
        if (i < 3) {
            ck_assert_int_eq(die(i, a_crash), STEP_SPEC);
            begin(i);
        }
        ck_assert_int_eq(die(i, a_crash), 2 | STEP_SPEC | STEP_BLAME);
        complete(i);
    }
    struct worker_pool_death other = a_crash;
    other.signal = SIGBUS;
    begin(5);
    ck_assert_int_eq(die(5, other), STEP_SPEC);
    ck_assert_str_eq(query("SELECT count(*) FROM failures WHERE confirmed = 'repeats'"), "5");
}
END_TEST

START_TEST(two_targets_that_crash_have_a_verdict_each)
{
    struct worker_pool_death d = a_crash;
    d.mark = mark_of(PHASE_TARGET, 0);
    send_case(0);
    die(0, d);
    send_case(0);
    ck_assert_int_eq(die(0, d), 1 | STEP_SPEC | STEP_BLAME);
    ck_assert_int_eq(die(0, a_crash), 1 | STEP_SPEC | STEP_BLAME);
    ck_assert_int_eq(die(0, a_crash), 2 | STEP_SPEC | STEP_BLAME);
    complete(0);
    ck_assert_str_eq(query("SELECT count(*) FROM failures WHERE confirmed = 'repeats'"), "2");
}
END_TEST

/* The number of runs of one case is limited, even if each run dies at another step. */
START_TEST(a_case_ends_whatever_dies)
{
    int deaths = 0;
    for (int64_t step = 0; step >= 0 && (step & ~STEP_FLAGS) < 2; deaths++) {
        struct worker_pool_death d = a_crash;
        d.mark = mark_of(PHASE_TARGET, (uint32_t) deaths % 2);
        step = die(0, d);
        ck_assert_int_lt(deaths, 50);
    }
    send_verdict(0, 0, VERDICT_PASS);
    complete(0);
    ck_assert_uint_eq(total(0, VERDICT_PASS), 0);
    ck_assert_uint_eq(total(1, VERDICT_CRASH), 1);
}
END_TEST

START_TEST(nonsense_is_a_death_of_the_driver)
{
    struct worker_pool_death d = a_crash;
    d.signal = 0;
    strcpy(d.nonsense, "a message of the unknown kind 9");
    begin(0);
    die(0, d);
    begin(0);
    die(0, d);
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || ': ' || why FROM failures"),
                     "crash: the driver falsifies the worker's messages in execute: a message of "
                     "the unknown kind 9");
}
END_TEST

START_TEST(isolated_drivers_make_the_harness_undumpable)
{
    devices_isolate(ISOLATE_FOREIGN, false, 0);
    devices_protect_from("sim:cpu");
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
    devices_isolate(ISOLATE_NONE, false, 0);
    devices_protect_from("lib:driver.so");
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
    devices_isolate(ISOLATE_FOREIGN, false, 0);
    devices_protect_from("lib:driver.so");
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 0);
    prctl(PR_SET_DUMPABLE, 1);
}
END_TEST

/* ---- --rerun */

/* The step of the next run; -1: the case is complete. */
static int64_t ask_again(uint64_t item)
{
    struct why w;
    uint32_t step = 0;
    int again = campaign_take_again(item, &step, &campaign, &w);
    ck_assert_int_ge(again, 0);
    return again ? (int64_t) step : -1;
}

START_TEST(without_rerun_a_case_runs_once)
{
    begin(0);
    send_verdict(0, 1, VERDICT_FAIL);
    ck_assert_int_eq(ask_again(0), -1);
}
END_TEST

START_TEST(a_case_that_sometimes_fails_is_flaky)
{
    static const enum verdict later[] = { VERDICT_PASS, VERDICT_VIOLATION, VERDICT_PASS };
    options.rerun = 3;
    begin(0);
    send_verdict(0, 1, VERDICT_FAIL);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ask_again(0), STEP_AGAIN | 1);
        send_text(0, MESSAGE_PRINTED, "again");
        send_verdict(0, 1, later[i]);
    }
    ck_assert_int_eq(ask_again(0), -1);
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || was || why || attempts || failed_attempts || "
                           "confirmed || ifnull(printed, '-') FROM failures"),
                     "flakyfailtext422 of 4 runs do not conform-");
    ck_assert_uint_eq(total(0, VERDICT_PASS), 1);
    ck_assert_uint_eq(total(1, VERDICT_FLAKY), 1);
    ck_assert_uint_eq(campaign_failures(&campaign), 1);
}
END_TEST

/* Each target that failed, one after the other; an error of Halcyon's own is not the driver's. */
START_TEST(a_case_that_always_fails_keeps_its_verdict)
{
    options.rerun = 2;
    begin(0);
    send_verdict(0, 0, VERDICT_REFUSED);
    send_verdict(0, 1, VERDICT_FAIL);
    for (uint32_t t = 0; t < 2; t++)
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(ask_again(0), STEP_AGAIN | t);
            send_verdict(0, t, VERDICT_HANG);
        }
    ck_assert_int_eq(ask_again(0), -1);
    complete(0);
    ck_assert_str_eq(query("SELECT group_concat(verdict || ' ' || failed_attempts) FROM "
                           "(SELECT * FROM failures ORDER BY target_ordinal)"),
                     "refused 3,fail 3");
    begin(1);
    send_verdict(1, 1, VERDICT_ERROR);
    ck_assert_int_eq(ask_again(1), -1);
}
END_TEST

START_TEST(a_death_in_a_rerun_is_a_failure)
{
    struct worker_pool_death kill = { .signal = SIGKILL };
    options.rerun = 2;
    begin(0);
    send_verdict(0, 1, VERDICT_FAIL);
    ck_assert_int_eq(ask_again(0), STEP_AGAIN | 1);
    ck_assert_int_eq(die(0, kill), STEP_AGAIN | 1); /* may have come from outside */
    ck_assert_int_eq(die(0, a_crash), -1);
    ck_assert_int_eq(ask_again(0), STEP_AGAIN | 1);
    send_verdict(0, 1, VERDICT_PASS);
    ck_assert_int_eq(ask_again(0), -1);
    complete(0);
    ck_assert_str_eq(query("SELECT verdict || failed_attempts || attempts FROM failures"),
                     "flaky23");
}
END_TEST

/* A late finding about the case that is being run again is no nonsense. */
START_TEST(a_case_that_is_run_again_is_not_amended)
{
    struct verdict_message other = a_verdict(0, VERDICT_PASS);
    struct why w;
    options.rerun = 1;
    begin(0);
    send_verdict(0, 1, VERDICT_FAIL);
    ck_assert_int_eq(ask_again(0), STEP_AGAIN | 1);
    send_amendment(WORKER_POOL_NO_ITEM, 0, VERDICT_VIOLATION);
    ck_assert_int_eq(send_bytes(0, &other, sizeof other, &w), 1);
    ck_assert_msg(strstr(w.text, "a verdict for target 0, expected one for 1"), "%s", w.text);
}
END_TEST

Suite *campaign_suite(void)
{
    TCase *t = tcase_create("campaign");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_case_is_written_when_it_is_complete);
    tcase_add_test(t, a_second_verdict_replaces_the_first);
    tcase_add_test(t, messages_are_bounded);
    tcase_add_test(t, an_earlier_verdict_is_amended);
    tcase_add_test(t, notes_are_kept_once);
    tcase_add_test(t, a_death_that_repeats_is_believed);
    tcase_add_test(t, a_death_in_the_search_for_blame_ends_it);
    tcase_add_test(t, a_death_that_does_not_repeat_names_the_case_before);
    tcase_add_test(t, only_the_second_run_counts);
    tcase_add_test(t, deaths_that_are_not_the_drivers_are_errors);
    tcase_add_test(t, after_three_of_a_kind_deaths_are_believed_at_once);
    tcase_add_test(t, two_targets_that_crash_have_a_verdict_each);
    tcase_add_test(t, a_case_ends_whatever_dies);
    tcase_add_test(t, nonsense_is_a_death_of_the_driver);
    tcase_add_test(t, isolated_drivers_make_the_harness_undumpable);
    tcase_add_test(t, without_rerun_a_case_runs_once);
    tcase_add_test(t, a_case_that_sometimes_fails_is_flaky);
    tcase_add_test(t, a_case_that_always_fails_keeps_its_verdict);
    tcase_add_test(t, a_death_in_a_rerun_is_a_failure);
    tcase_add_test(t, a_case_that_is_run_again_is_not_amended);
    return make_suite("campaign", t, NULL);
}
