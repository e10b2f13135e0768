/* The HTML report of small databases, made with the schema of harness/store/results.h. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/store/results.h"
#include "reports/reports.h"
#include "tests/support/check_main.h"

static char dir[] = "/tmp/halcyon-report-XXXXXX", db_path[64], page_path[64];

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    char *text = calloc(1, 4 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, (4 << 20) - 1, file), (4 << 20) - 1);
    fclose(file);
    return text;
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(db_path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    char *error = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s", error);
    sqlite3_close(db);
}

static void setup(void)
{
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(db_path, sizeof(db_path), "%s/results.db", dir);
    snprintf(page_path, sizeof(page_path), "%s/page/index.html", dir);
    char *schema = results_schema();
    ck_assert_ptr_nonnull(schema);
    run_sql(schema);
    sqlite3_free(schema);
}

static void teardown(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

static int write_report(int64_t run, struct why *w)
{
    char page[64];
    snprintf(page, sizeof(page), "%s/page", dir);
    return report_write(db_path, page, run, w);
}

/* The page of a run; 0: of all runs. */
static char *page_of(int64_t run)
{
    struct why w = { 0 };
    ck_assert_msg(write_report(run, &w) == 0, "%s", w.text);
    return read_file(page_path);
}

#define TARGET                                                                                     \
    "INSERT INTO runs(run,kind,command,options,version,judge,n_cases,started,finished,seconds) "   \
    "VALUES(1,'random','halcyon random','{}','0.1','bound',3,"                                     \
    "'2026-01-02T03:04:05Z','2026-01-02T03:05:05Z',60);"                                           \
    "INSERT INTO targets VALUES(1,1,0,'sim:cpu','cpu','1','CPU','1.3');"
#define CASES                                                                                      \
    "INSERT INTO cases(case_id,run,ordinal,name,file,seed,idx,level,n_operations,spec) "           \
    "VALUES(1,1,0,'random/v2/s1/i0',NULL,1,0,1,1,NULL),"                                           \
    "(2,1,1,'random/v2/s1/i1',NULL,1,1,1,2,'spec');"                                               \
    "INSERT INTO case_operations VALUES(1,'ADD','TENSOR_FLOAT32'),(2,'MUL','TENSOR_FLOAT16');"
#define VERDICT                                                                                    \
    "INSERT INTO verdicts(case_id,target,verdict,why,judge,stage,status,ms,checked,wrong,output,"  \
    "element,place,operation,type,expected,actual,bound,ratio,replay) VALUES"
#define PASS                                                                                       \
    VERDICT "(1,1,'pass','','bound','done','NONE',1.5,9,0,0,0,'[0]','ADD','T',1,1,1,0,NULL);"
#define FAIL                                                                                       \
    VERDICT "(2,1,'fail','why it failed','bound','done','NONE',2.5,9,4,0,7,'[1,2]','MUL',"         \
            "'TENSOR_FLOAT16',0.25,0.75,0.125,4,'halcyon replay random/v2/s1/i1');"

START_TEST(report_of_an_empty_database)
{
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "Nothing was run"));
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    free(page);
}
END_TEST

START_TEST(report_of_conforming_verdicts)
{
    run_sql(TARGET CASES PASS);
    char *page = page_of(1);
    ck_assert_ptr_nonnull(strstr(page, "All 1 verdicts conform"));
    ck_assert_ptr_null(strstr(page, "Not conforming"));
    free(page);
}
END_TEST

START_TEST(report_shows_what_was_compared)
{
    run_sql(TARGET CASES PASS VERDICT
            "(2,1,'undecided','no element could be compared','bound','done','NONE',1,0,0,NULL,NULL,"
            "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "All 2 verdicts conform"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1 undecided</b>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1</b><i class=\"undecided\"></i>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1</b><i class=\"pass\"></i>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>9</b><i class=\"\"></i><span>elements compared"));
    free(page);
}
END_TEST

START_TEST(report_shows_a_failure)
{
    static const char *const parts[] = {
        "1 of 2 verdicts do not conform",
        "random/v2/s1/i1",
        "why it failed",
        "output 0 [1,2]",
        "<dt>expected</dt><dd>0.25</dd>",
        "<dt>actual</dt><dd>0.75</dd>",
        "<dt>bound</dt><dd>0.125</dd>",
        "<dt>ratio</dt><dd>4</dd>",
        "4 of 9 outside their bound",
        "<code>halcyon replay random/v2/s1/i1</code>",
        "<pre>spec</pre>",
        "prefers-color-scheme: dark",
    };
    run_sql(TARGET CASES PASS FAIL);
    char *page = page_of(0);
    for (int i = 0; i < COUNT(parts); i++)
        ck_assert_msg(strstr(page, parts[i]) != NULL, "the page does not contain '%s'", parts[i]);
    ck_assert_ptr_null(strstr(page, "http-equiv"));
    ck_assert_ptr_null(strstr(page, "src="));
    free(page);
}
END_TEST

/* A case failed in run 1 and passed in run 2: only the page of run 1 has the failure. */
START_TEST(report_shows_the_newest_verdict)
{
    run_sql(
        TARGET CASES PASS FAIL
        "INSERT INTO runs(run,kind,command,options,version,judge,n_cases,started,finished,seconds) "
        "VALUES(2,'random','halcyon random','{}','0.1','bound',1,"
        "'2026-01-03T03:04:05Z','2026-01-03T03:05:05Z',60);"
        "INSERT INTO targets VALUES(2,2,0,'sim:cpu','cpu','1','CPU','1.3');"
        "INSERT INTO cases(case_id,run,ordinal,name,file,seed,idx,level,n_operations,spec) "
        "VALUES(3,2,0,'random/v2/s1/i1',NULL,1,1,1,2,NULL);" VERDICT
        "(3,2,'pass','','bound','done','NONE',1.5,9,0,0,0,'[0]','MUL','T',1,1,1,0,NULL);");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "All 2 verdicts conform"));
    free(page);
    page = page_of(1);
    ck_assert_ptr_nonnull(strstr(page, "1 of 2 verdicts do not conform"));
    free(page);
}
END_TEST

START_TEST(report_shows_that_a_run_is_unfinished)
{
    run_sql(TARGET CASES PASS "UPDATE runs SET finished = NULL");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "did not finish"));
    ck_assert_ptr_nonnull(strstr(page, "verdicts so far conform"));
    ck_assert_ptr_nonnull(strstr(page, "light bad"));
    free(page);
}
END_TEST

START_TEST(report_groups_reasons_and_caps_cases)
{
    char sql[512];
    run_sql(TARGET);
    for (int i = 0; i < 300; i++) {
        snprintf(
            sql, sizeof(sql),
            "INSERT INTO cases(case_id,run,ordinal,name,file,seed,idx,level,n_operations,spec) "
            "VALUES(%d,1,%d,'random/s1/i%d',NULL,1,%d,1,2,'s');"
            "INSERT INTO verdicts(case_id,target,verdict,why,judge,stage,status,ms,checked,"
            "wrong) VALUES(%d,1,'%s','%d elements are 0x%x','cts','done','NONE',1,1,1);",
            i + 1, i, i, i, i + 1, i % 30 ? "fail" : "crash", i, i);
        run_sql(sql);
    }
    char *page = page_of(0);
    int groups = 0;
    for (const char *at = page; (at = strstr(at, "<details class=\"card group\"")); at++)
        groups++;
    ck_assert_int_eq(groups, 2);
    ck_assert_ptr_nonnull(strstr(page, "100 more cases"));
    free(page);
}
END_TEST

START_TEST(report_escapes_everything)
{
    run_sql(TARGET CASES FAIL
            "UPDATE cases SET name = '</h3><script>evil()</script>', spec = '</pre><b>&' WHERE "
            "case_id = 2;"
            "UPDATE verdicts SET why = '<img src=x onerror=evil()>' || char(1), place = '<i>',"
            "operation = '<evil>', replay = '\"><evil>';"
            "UPDATE targets SET uri = 'sim:<evil>', name = '<evil>', version = '</table>';"
            "UPDATE runs SET command = '<evil>', version = '<evil>';"
            "UPDATE case_operations SET operation = '<evil>', type = '<evil>'");
    char *page = page_of(0);
    ck_assert_ptr_null(strstr(page, "<evil>"));
    ck_assert_ptr_null(strstr(page, "<script>evil"));
    ck_assert_ptr_null(strstr(page, "<img"));
    ck_assert_ptr_null(strstr(page, "</pre><b>"));
    free(page);
}
END_TEST

static void expect_error(const char *path, int64_t run, const char *text)
{
    struct why w = { 0 };
    struct stat status;
    memmove(db_path, path, strlen(path) + 1);
    ck_assert_int_eq(write_report(run, &w), -1);
    ck_assert_msg(strstr(w.text, text) != NULL, "%s", w.text);
    ck_assert_int_eq(stat(page_path, &status), -1); /* no page is written */
}

START_TEST(report_rejects_other_databases)
{
    char path[64];
    expect_error(db_path, 77, "no run 77");
    snprintf(path, sizeof(path), "%s/other.db", dir);
    expect_error(path, 0, "No such file");

    FILE *file = fopen(path, "w");
    fputs("this is a text, not a database; it is long enough to have a header, though it is none: "
          "the first hundred bytes would be one",
          file);
    fclose(file);
    expect_error(path, 0, "not a database");

    snprintf(path, sizeof(path), "%s/foreign.db", dir);
    snprintf(db_path, sizeof(db_path), "%s", path);
    run_sql("CREATE TABLE people (name TEXT)");
    expect_error(path, 0, "not a results database");
    run_sql("PRAGMA application_id = 1212238937; PRAGMA user_version = 99");
    expect_error(path, 0, "schema version 99");
}
END_TEST

Suite *report_page_suite(void)
{
    TCase *page = tcase_create("page");
    tcase_add_checked_fixture(page, setup, teardown);
    tcase_add_test(page, report_of_an_empty_database);
    tcase_add_test(page, report_of_conforming_verdicts);
    tcase_add_test(page, report_shows_what_was_compared);
    tcase_add_test(page, report_shows_a_failure);
    tcase_add_test(page, report_shows_the_newest_verdict);
    tcase_add_test(page, report_shows_that_a_run_is_unfinished);
    tcase_add_test(page, report_groups_reasons_and_caps_cases);
    tcase_add_test(page, report_escapes_everything);
    tcase_add_test(page, report_rejects_other_databases);
    return make_suite("report_page", page, NULL);
}
