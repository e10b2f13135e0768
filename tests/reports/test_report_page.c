/* The report of small databases, made with the schema of harness/store/results.h. */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cases/found_case.h"
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

static int load_spec(void *user, const char *spec, struct arena *a, struct example *e,
                     struct why *w)
{
    struct cases c = { 0 };
    (void) user;
    int failed = cases_load_text(&c, spec, "a test", w);
    if (!failed)
        failed = model_copy(&c.spec[0].example.model, a, &e->model);
    cases_done(&c);
    return failed;
}

static int write_report(int64_t run, struct why *w)
{
    const struct report_options options = { .run = run, .load = load_spec };
    char page[64];
    snprintf(page, sizeof(page), "%s/page", dir);
    return report_write(db_path, page, &options, w);
}

/* The page of a run; 0: of all runs. */
static char *page_of(int64_t run)
{
    struct why w = { 0 };
    ck_assert_msg(write_report(run, &w) == 0, "%s", w.text);
    return read_file(page_path);
}

/* A file of the report that page_of() wrote. */
static char *part_of(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/page/%s", dir, name);
    return read_file(path);
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* The summary of all runs, malloced. */
static char *summary_of(bool markdown)
{
    const struct report_options options = { 0 };
    struct why w = { 0 };
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    ck_assert_msg(report_summary(db_path, markdown, &options, to, &w) == 0, "%s", w.text);
    fclose(to);
    return text;
}

#define TARGET                                                                                     \
    "INSERT INTO runs(run,kind,command,options,version,judge,n_cases,started,finished,seconds) "   \
    "VALUES(1,'random','halcyon random','{}','0.1','bound',3,"                                     \
    "'2026-01-02T03:04:05Z','2026-01-02T03:05:05Z',60);"                                           \
    "INSERT INTO targets VALUES(1,1,0,'sim:cpu','cpu','1','CPU','1.3');"
/* One element, stored as q with scale 0.5 and zero point 10. */
#define SPEC                                                                                       \
    "x = Input(\"x\", (\"TENSOR_QUANT8_ASYMM\", [1], 0.5, 10))\n"                                  \
    "y = Output(\"y\", (\"TENSOR_QUANT8_ASYMM\", [1], 0.5, 10))\n"                                 \
    "m = Model()\nm.Operation(\"RELU\", x).To(y)\nExample({x: [1], y: [10]}, model=m)"             \
    ".DisableLifeTimeVariation()\n"
#define CASES                                                                                      \
    "INSERT INTO cases(case_id,run,ordinal,name,file,seed,idx,level,n_operations,spec) "           \
    "VALUES(1,1,0,'random/v2/s1/i0',NULL,1,0,1,1,NULL),"                                           \
    "(2,1,1,'random/v2/s1/i1',NULL,1,1,1,2,'" SPEC "');"                                           \
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
    ck_assert_ptr_nonnull(strstr(page, "<h1>Nothing is wrong in 1 verdict</h1>"));
    ck_assert_ptr_nonnull(strstr(page, "class=\"state good\""));
    ck_assert_ptr_null(strstr(page, "class=\"bug"));
    free(page);
}
END_TEST

START_TEST(report_shows_what_was_compared)
{
    run_sql(TARGET CASES PASS VERDICT
            "(2,1,'undecided','no element could be compared','bound','done','NONE',1,0,0,NULL,NULL,"
            "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "Nothing is wrong in 2 verdicts"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1</b> <span><i class=\"dot v-undecided\"></i>"));
    ck_assert_ptr_nonnull(strstr(page, "<b>1</b> <span><i class=\"dot v-pass\"></i>"));
    ck_assert_ptr_nonnull(strstr(page, "9 elements compared"));
    ck_assert_ptr_nonnull(strstr(page, "<td class=\"wide\">no element could be compared</td>"));
    free(page);
}
END_TEST

static void expect_parts(const char *text, const char *const *parts, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "there is no '%s'", parts[i]);
}

START_TEST(report_shows_a_failure)
{
    static const char *const parts[] = {
        "<h1>1 bug in 1 of 2 verdicts</h1>",
        "<b>1</b> case</span>",
        "output 0 [1,2]",
        "<th scope=\"row\">expected</th><td class=\"n\">0.25</td>",
        "<th scope=\"row\">actual</th><td class=\"n wrong\">0.75</td>",
        "<th scope=\"row\">difference</th><td class=\"n\">0.5</td>",
        "<th scope=\"row\">allowed error</th><td class=\"n\">0.125</td>",
        "<code>halcyon replay random/v2/s1/i1</code>",
        "<code>halcyon explain random/v2/s1/i1</code>",
        "<img src=\"graphs/bug-",
        "Content-Security-Policy",
    };
    static const char *const details[] = { "random/v2/s1/i1", "why it failed",
                                           "4 of 9 outside their bound", "Example(" };
    run_sql(TARGET CASES PASS FAIL);
    char *page = page_of(0), *data = part_of("data/details-0001.js"), name[64];
    expect_parts(page, parts, COUNT(parts));
    expect_parts(data, details, COUNT(details));
    ck_assert_ptr_null(strstr(page, "http:"));
    ck_assert_ptr_null(strstr(page, "https:"));
    ck_assert_ptr_null(strstr(page, "style=")); /* its policy forbids it */
    ck_assert_int_eq(sscanf(strstr(page, "graphs/"), "%60[^\"]", name), 1);
    char *graph = part_of(name);
    ck_assert_ptr_nonnull(strstr(graph, "RELU"));
    ck_assert_ptr_nonnull(strstr(graph, "#dc2626")); /* the output is marked */
    free(graph);
    free(data);
    free(page);
}
END_TEST

/* Expected 4 and actual 1, scale 0.5, zero point 10: stored 18 and 12, six steps. */
START_TEST(report_shows_stored_values)
{
    static const char *const parts[] = {
        "expected</th><td class=\"n\">4</td><td class=\"n\">18</td>",
        "actual</th><td class=\"n wrong\">1</td><td class=\"n wrong\">12</td>",
        "difference</th><td class=\"n\">-3</td><td class=\"n\">-6</td>",
        "allowed error</th><td class=\"n\">0.25</td><td class=\"n\">0.50</td>",
        "scale 0.5, zero point 10",
    };
    run_sql(TARGET CASES FAIL
            "UPDATE verdicts SET blamed_operation = 'RELU', blamed_index = 0, blamed_graph = 0, "
            "blamed_count = 1, blamed_output = 0, blamed_type = 'TENSOR_QUANT8_ASYMM', "
            "blamed_place = '[0]', blamed_expected = 4, blamed_actual = 1, blamed_bound = 0.25, "
            "blamed_ratio = 12");
    char *page = page_of(0);
    expect_parts(page, parts, COUNT(parts));
    free(page);
}
END_TEST

START_TEST(report_shows_reported_performance)
{
    run_sql(TARGET CASES PASS
            "INSERT INTO target_performance VALUES (1,1,'IF',2,0.5),(1,1,'INT32',3.4e38,3.4e38)");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(
        page, "<th scope=\"row\">IF</th><td class=\"n\">2</td><td class=\"n soft\">0.5</td>"));
    ck_assert_ptr_nonnull(strstr(page, "INT32</th><td class=\"n zero\">\xe2\x80\x93</td>"));
    free(page);
}
END_TEST

/* A case of ADD and MUL fails by MUL, one of DIV is not supported: neither ADD nor DIV has failed
 * or passed. */
START_TEST(matrix_counts_the_blamed_operation)
{
    run_sql(
        TARGET CASES FAIL
        "INSERT INTO case_operations VALUES (2,'ADD','TENSOR_FLOAT32'),(1,'DIV','TENSOR_INT32');"
        "UPDATE verdicts SET blamed_operation = 'MUL', blamed_count = 1, blamed_index = 1;" VERDICT
        "(1,1,'unsupported','no','bound','supported','NONE',1,0,0,NULL,NULL,NULL,NULL,"
        "NULL,NULL,NULL,NULL,NULL,NULL);"
        "UPDATE verdicts SET blamed_operation = 'DIV' WHERE case_id = 1");
    char *page = page_of(0), *facts = part_of("data/facts.js");
    ck_assert_ptr_nonnull(strstr(facts, "\"pairs\":[[\"ADD\",\"TENSOR_FLOAT32\"],[\"DIV\","
                                        "\"TENSOR_INT32\"],[\"MUL\",\"TENSOR_FLOAT16\"]]"));
    /* pair, target, failed, suspect, others failed, passed, undecided, waived, unsupported, not
     * run; ADD is in both cases */
    ck_assert_ptr_nonnull(strstr(facts, "\"cells\":[[0,0,0,0,1,0,0,0,0,1],[1,0,0,0,0,0,0,0,1,0],"
                                        "[2,0,1,0,0,0,0,0,0,0]]"));
    free(facts);
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
    ck_assert_ptr_nonnull(strstr(page, "Nothing is wrong in 2 verdicts"));
    free(page);
    page = page_of(1);
    ck_assert_ptr_nonnull(strstr(page, "1 bug in 1 of 2 verdicts"));
    free(page);
}
END_TEST

START_TEST(report_shows_that_a_run_is_unfinished)
{
    run_sql(TARGET CASES PASS "UPDATE runs SET finished = NULL");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "did not finish"));
    ck_assert_ptr_nonnull(strstr(page, "Nothing is wrong in 1 verdict"));
    ck_assert_ptr_nonnull(strstr(page, "state bad"));
    free(page);
}
END_TEST

/* n failures, every thirtieth a crash, whose reasons differ in numbers only. */
static void insert_failures(int n)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&sql, &length);
    fputs("BEGIN;", to);
    for (int i = 0; i < n; i++)
        fprintf(to,
                "INSERT INTO cases(case_id,run,ordinal,name,file,seed,idx,level,n_operations,spec) "
                "VALUES(%d,1,%d,'random/s1/i%d',NULL,1,%d,1,2,NULL);"
                "INSERT INTO verdicts(case_id,target,verdict,why,judge,stage,status,ms,checked,"
                "wrong) VALUES(%d,1,'%s','%d elements are 0x%x','cts','done','NONE',1,1,1);",
                i + 1, i, i, i, i + 1, i % 30 ? "fail" : "crash", i, i);
    fputs("COMMIT;", to);
    fclose(to);
    run_sql(TARGET);
    run_sql(sql);
    free(sql);
}

START_TEST(report_groups_reasons)
{
    insert_failures(300);
    char *page = page_of(0), *rows = part_of("data/cases-0001.js");
    ck_assert_int_eq(count_of(page, "<article class=\"bug"), 2);
    ck_assert_ptr_nonnull(strstr(page, "<h1>2 bugs in 300 of 300 verdicts</h1>"));
    ck_assert_int_eq(count_of(rows, "random/s1/i"), 300);
    free(rows);
    free(page);
}
END_TEST

/* A bucket is a bug, on whichever targets; what has no bucket beside it is not counted as bugs. */
START_TEST(report_groups_by_bucket)
{
    insert_failures(300);
    run_sql("UPDATE verdicts SET bucket = 'fail ADD(TENSOR_FLOAT32)' WHERE verdict = 'fail' AND "
            "case_id > 40; UPDATE verdicts SET why = 'reason ' || char(64 + case_id) "
            "WHERE verdict = 'fail' AND case_id <= 40");
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "<h1>2 bugs and 38 unsorted failures in 300 of 300 "));
    ck_assert_int_eq(count_of(page, "<article class=\"bug"), 3);
    ck_assert_ptr_nonnull(strstr(page, ">ADD (TENSOR_<wbr>FLOAT32)</a></h3>"));
    free(page);
}
END_TEST

/* The names that the bugs of two runs have, and how many bugs these are in all. */
static void expect_joined(const char *first, const char *second, const char *beside, int n)
{
    char sql[2048];
    snprintf(sql, sizeof(sql),
             "INSERT INTO runs(run,kind,command,options,version,judge,n_cases,started,finished,"
             "seconds) VALUES(2,'random','','{}','0.1','bound',2,'2026-01-03T03:04:05Z',"
             "'2026-01-03T03:05:05Z',60);"
             "INSERT INTO targets VALUES(2,2,0,'sim:cpu','cpu','1','CPU','1.3');"
             "UPDATE cases SET run = 2, ordinal = ordinal - 1 WHERE case_id > 1;"
             "UPDATE verdicts SET target = 2 WHERE case_id > 1;"
             "UPDATE verdicts SET verdict = 'fail', bucket = CASE case_id WHEN 1 THEN '%s' "
             "WHEN 2 THEN '%s' ELSE '%s' END;",
             first, second, beside);
    insert_failures(3);
    run_sql(sql);
    char *page = page_of(0);
    ck_assert_int_eq(count_of(page, "<article class=\"bug"), n);
    if (n == 2)
        ck_assert_ptr_nonnull(strstr(page, "run 1, 2026-01-02; in 2 runs"));
    free(page);
}

/* A bug of several runs is one, although its bucket has another name in each. */
START_TEST(report_joins_buckets_of_runs)
{
    static const struct {
        const char *first, *second, *beside;
        int n;
    } row[] = {
        { "fail ADD, SUB(TENSOR_FLOAT32): truncation", "fail MUL, SUB(TENSOR_FLOAT32): truncation",
          "fail EXP(TENSOR_FLOAT32)", 2 },
        { "fail ADD, B, C, D, E, F, G, H and 8 others(T, TENSOR_INT32)", "fail A, H(TENSOR_INT32)",
          "crash A, H(TENSOR_INT32)", 2 },
        /* another operation, type, attribute, hypothesis, verdict */
        { "fail ADD(T)", "fail ADDITION(T)", "fail EXP(T)", 3 },
        { "fail ADD(T)", "fail ADD(T16)", "fail EXP(T)", 3 },
        { "fail ADD(T)", "fail ADD, SUB(T; broadcast)", "fail EXP(T)", 3 },
        { "fail ADD, SUB(T): truncation", "fail ADD, SUB(T): wrap-around", "fail EXP(T)", 3 },
        { "fail ADD(T)", "violation ADD(T)", "fail EXP(T)", 3 },
        /* a run that has both keeps them apart */
        { "fail ADD(T)", "fail ADD, SUB(T)", "fail ADD(T)", 2 },
        /* chains of operations, and names without operations */
        { "fail ADD(T) SUB(T)", "fail ADD(T) EXP(T)", "fail EXP(T)", 3 },
        { "violation rule basic/B1", "violation rule basic/B2", "fail EXP(T)", 3 },
    };
    expect_joined(row[_i].first, row[_i].second, row[_i].beside, row[_i].n);
}
END_TEST

/* Bugs that do not fit into the page are in files that it loads. */
START_TEST(report_puts_most_bugs_into_files)
{
    insert_failures(300);
    run_sql("UPDATE verdicts SET bucket = 'fail b' || case_id");
    char *page = page_of(0), *last = part_of("data/bugs-0012.js");
    ck_assert_int_eq(count_of(page, "<article class=\"bug"), 20);
    ck_assert_ptr_nonnull(strstr(page, "Show more bugs"));
    ck_assert_ptr_nonnull(strstr(last, "halcyon(\"bugs-0012\",["));
    ck_assert_int_eq(count_of(last, "\\u003carticle class"), 280 % 25);
    free(last);
    free(page);
}
END_TEST

static void expect_no_markup(const char *text)
{
    ck_assert_ptr_null(strstr(text, "<evil>"));
    ck_assert_ptr_null(strstr(text, "<script>evil"));
    ck_assert_ptr_null(strstr(text, "<img src=x"));
    ck_assert_ptr_null(strstr(text, "</pre><b>"));
    ck_assert_ptr_null(strstr(text, "onerror=evil()>"));
}

START_TEST(report_escapes_everything)
{
    static const char *const files[] = { "data/facts.js", "data/cases-0001.js",
                                         "data/details-0001.js" };
    run_sql(TARGET CASES FAIL
            "UPDATE cases SET name = '</script><script>evil()</script>', spec = '</pre><b>&' "
            "WHERE case_id = 2;"
            "UPDATE verdicts SET why = '<img src=x onerror=evil()>' || char(1), place = '<i>',"
            "operation = '<evil>', replay = '\"><evil>', bucket = 'fail <evil>', "
            "shrunk = '</pre><b>', printed = '</script><evil>', backtrace = '<evil>';"
            "UPDATE targets SET uri = 'sim:<evil>', name = '<evil>', version = '</table>';"
            "UPDATE runs SET command = '<evil>', version = '<evil>';"
            "INSERT INTO run_notes VALUES (1, 1, '<evil>');"
            "INSERT INTO unloaded_files VALUES (1, 0, '<evil>', '<evil>');"
            "UPDATE case_operations SET operation = '<evil>' || case_id, type = '<evil>'");
    char *page = page_of(0);
    expect_no_markup(page);
    ck_assert_ptr_nonnull(strstr(page, "&lt;evil&gt;"));
    for (int i = 0; i < COUNT(files); i++) {
        char *data = part_of(files[i]);
        ck_assert_ptr_null(strchr(data, '<')); /* nothing can end the script element */
        free(data);
    }
    free(page);
}
END_TEST

/* ---- the folder */

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void remove_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_int_eq(unlink(path), 0);
}

static bool exists(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

START_TEST(report_replaces_a_report_only)
{
    struct why w = { 0 };
    char path[64];
    snprintf(path, sizeof(path), "%s/page", dir);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    write_text("page/letter.txt", "dear");
    ck_assert_int_eq(write_report(0, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "no report of halcyon"));
    ck_assert(exists("page/letter.txt") && !exists("page/index.html"));
    ck_assert(!exists("page.halcyon-part"));
    remove_file("page/letter.txt");

    free(page_of(0));
    write_text("page/junit.xml", "<x/>");
    write_text("page/data/old.js", "old");
    run_sql(TARGET CASES PASS);
    char *page = page_of(0);
    ck_assert_ptr_nonnull(strstr(page, "Nothing is wrong in 1 verdict"));
    ck_assert(exists("page/junit.xml"));    /* somebody else's */
    ck_assert(!exists("page/data/old.js")); /* of the replaced report */
    ck_assert(!exists("page.halcyon-part"));
    free(page);
}
END_TEST

/* ---- summaries */

START_TEST(summary_begins_with_what_is_wrong)
{
    run_sql(TARGET CASES PASS FAIL);
    char *text = summary_of(false);
    static const char begin[] =
        "1 bug in 1 of 2 verdicts\n1 pass, 1 fail\n\nWhat is wrong\n"
        "  1  fail      MUL (TENSOR_FLOAT16)\n"
        "     1 case on sim:cpu: expected 0.25, actual 0.75, allowed error 0.125\n"
        "     halcyon replay random/v2/s1/i1\n\nTargets\n  sim:cpu: 1 bug, 1 pass, 1 fail\n";
    ck_assert_str_eq(text, begin);
    free(text);
}
END_TEST

START_TEST(summary_in_markdown_is_escaped_and_limited)
{
    insert_failures(2000);
    run_sql("UPDATE verdicts SET bucket = 'fail b' || case_id || hex(zeroblob(150)),"
            " replay = '`|<evil>[a](b) @all'");
    char *text = summary_of(true);
    ck_assert_ptr_nonnull(strstr(text, "## Halcyon: 2,000 bugs in"));
    ck_assert_ptr_nonnull(strstr(text, "`'\\|<evil>[a](b) @all`"));
    ck_assert_uint_lt(strlen(text), REPORT_MARKDOWN_BYTES);
    ck_assert_ptr_nonnull(strstr(text, " more; 'halcyon report -o DIR' shows all."));
    ck_assert_ptr_nonnull(strstr(text, "| `sim:cpu` | 2000 |"));
    free(text);
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
    tcase_add_test(page, report_shows_stored_values);
    tcase_add_test(page, matrix_counts_the_blamed_operation);
    tcase_add_test(page, report_shows_reported_performance);
    tcase_add_test(page, report_groups_reasons);
    tcase_add_test(page, report_groups_by_bucket);
    tcase_add_loop_test(page, report_joins_buckets_of_runs, 0, 10);
    tcase_add_test(page, report_puts_most_bugs_into_files);
    tcase_add_test(page, report_replaces_a_report_only);
    tcase_add_test(page, summary_begins_with_what_is_wrong);
    tcase_add_test(page, summary_in_markdown_is_escaped_and_limited);
    tcase_add_test(page, report_escapes_everything);
    tcase_add_test(page, report_rejects_other_databases);
    return make_suite("report_page", page, NULL);
}
