#include "tests/harness/store/results_file.h"

#include <check.h>
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
