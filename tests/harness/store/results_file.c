#include "tests/harness/store/results_file.h"

#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/packed_text.h"

char results_folder[] = "/tmp/halcyon-test-XXXXXX";
char results_path[64];

const struct run_row results_file_run = { .kind = "random",
                                          .command = "halcyon random -d golden",
                                          .options = "{\"seed\":\"7\"}",
                                          .judge = "bound",
                                          .n_cases = 1000 };
const struct target_row results_file_targets[2] = {
    { "golden", "golden", "1", "CPU", "fl8" },
    { "sim:cpu?fault=nan", "cpu", "1", "CPU", "1.3" },
};

void results_file_make(void)
{
    strcpy(results_folder, "/tmp/halcyon-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(results_folder));
    snprintf(results_path, sizeof results_path, "%s/r.db", results_folder);
}

void results_file_remove(void)
{
    char name[80];
    static const char *const ending[] = { "", "-wal", "-shm", "-journal" };
    for (int i = 0; i < COUNT(ending); i++) {
        snprintf(name, sizeof name, "%s%s", results_path, ending[i]);
        unlink(name);
    }
    rmdir(results_folder);
}

struct results *results_file_open(void)
{
    struct results *r;
    struct why w;
    ck_assert_msg(results_open(results_path, RESULTS_WRITE, &r, &w) == 0, "%s", w.text);
    return r;
}

int64_t results_file_int(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(sqlite3_open_v2(results_path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(packed_text_functions(db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return answer;
}

void results_file_sql(const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    ck_assert_int_eq(sqlite3_open(results_path, &db), SQLITE_OK);
    ck_assert_int_eq(packed_text_functions(db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    sqlite3_close(db);
}

struct check_result results_file_fail(void)
{
    return (struct check_result){ .verdict = VERDICT_FAIL,
                                  .judge = JUDGE_BOUND,
                                  .stage = "done",
                                  .status = "NONE",
                                  .why = "one element",
                                  .device_ns = HAL_NO_TIME,
                                  .checked = 4,
                                  .wrong = 1,
                                  .element = 2,
                                  .expected = 1,
                                  .actual = NAN,
                                  .bound = 0.5,
                                  .ratio = INFINITY,
                                  .place = "[0,2]",
                                  .operation = "ADD",
                                  .type = "TENSOR_FLOAT32" };
}

void results_file_write_case(struct results *r, uint64_t ordinal, enum verdict first,
                             enum verdict second)
{
    char name[32];
    struct check_result result[2] = { results_file_fail(), results_file_fail() };
    struct verdict_row verdict[2] = { { .result = &result[0] }, { .result = &result[1] } };
    result[0].verdict = first;
    result[1].verdict = second;
    for (int t = 0; t < 2; t++)
        verdict[t].replay = verdict_conforming(result[t].verdict) ? NULL : "replay";
    bool conforming = verdict_conforming(first) && verdict_conforming(second);
    snprintf(name, sizeof name, "random/v2/s7/i%d", (int) ordinal);
    struct case_row c = { .ordinal = ordinal,
                          .name = name,
                          .seed = UINT64_MAX,
                          .index = ordinal,
                          .level = 3,
                          .n_operations = 1,
                          .operations = "ADD\tTENSOR_FLOAT32\nADD\tTENSOR_FLOAT32\n",
                          .verdict = verdict };
    if (!conforming)
        c.spec = (struct spec_row){ "the spec", 8 };
    struct why w;
    ck_assert_msg(results_write_case(r, &c, &w) == 0, "%s", w.text);
}

void results_file_write_killed_run(void)
{
    struct results *r = results_file_open();
    struct why w;
    ck_assert_int_eq(results_start_run(r, &results_file_run, results_file_targets, 2, &w), 0);
    results_file_write_case(r, 0, VERDICT_PASS, VERDICT_FAIL);
    results_file_write_case(r, 1, VERDICT_PASS, VERDICT_PASS);
    results_close(r);
    results_file_sql("DELETE FROM verdicts WHERE case_id = 2 AND target = 2");
}
