/* Upgrades results databases of older versions (harness/store/schema.sql). */
#include <stdio.h>
#include <string.h>

#include "harness/store/results_internal.h"
#include "reports/database.h"

extern const char schema_sql[], views_sql[];

static const char before[] = "ALTER TABLE runs ADD COLUMN owner_pid INTEGER; "
                             "ALTER TABLE runs ADD COLUMN owner_start INTEGER; "
                             "ALTER TABLE runs ADD COLUMN owner_place TEXT; "
                             "ALTER TABLE runs ADD COLUMN heartbeat INTEGER; "
                             "ALTER TABLE cases ADD COLUMN suite TEXT; "
                             "ALTER TABLE verdicts RENAME TO verdicts_1; ";
static const char after[] =
    "INSERT INTO verdicts (case_id, target, verdict, was, why, judge, stage, status, ms, "
    "device_ns, checked, wrong, output, element, place, operation, type, expected, actual, bound, "
    "ratio, replay) SELECT * FROM verdicts_1; "
    "DROP TABLE verdicts_1; ";

/* From version 3 to 4: passes without a comparison are undecided.  Names of random cases without
 * the generator's version and options get them, as version 0, whose graphs cannot be generated any
 * more; so do the commands that replay them. */
#define GRAPHS                                                                                     \
    "CASE WHEN json_valid(r.options) THEN coalesce(r.options ->> '$.graphs', '') ELSE '' END"
#define NEW_NAME                                                                                   \
    "'random/v0' || replace(replace(" GRAPHS ", ' --', '/'), ' ', '=') || substr(c.name, 7)"
#define OLD_CASES "c.run = r.run AND c.file IS NULL AND c.name GLOB 'random/s[0-9]*/i[0-9]*'"
static const char version_4[] =
    "UPDATE verdicts SET verdict = 'undecided' WHERE " PASSED_UNDECIDED "; "
    "UPDATE verdicts SET replay = replace(replay, 'halcyon replay ' || c.name || " GRAPHS
    " || ' ', 'halcyon replay ' || " NEW_NAME " || ' ') FROM cases c, runs r "
    "WHERE verdicts.case_id = c.case_id AND replay IS NOT NULL AND " OLD_CASES "; "
    "UPDATE cases SET name = " NEW_NAME " FROM cases c, runs r "
    "WHERE cases.case_id = c.case_id AND " OLD_CASES "; ";
#undef GRAPHS
#undef NEW_NAME
#undef OLD_CASES

/* What versions below 4 and 5 lack in the table of verdicts. */
static const char attempts[] = "ALTER TABLE verdicts ADD COLUMN attempts INTEGER; "
                               "ALTER TABLE verdicts ADD COLUMN failed_attempts INTEGER; ";
static const char blamed[] = "ALTER TABLE verdicts ADD COLUMN blamed_count INTEGER; "
                             "ALTER TABLE verdicts ADD COLUMN blamed_graph INTEGER; "
                             "ALTER TABLE verdicts ADD COLUMN blamed_type TEXT; "
                             "ALTER TABLE verdicts ADD COLUMN blamed_output INTEGER; "
                             "ALTER TABLE verdicts ADD COLUMN blamed_why TEXT; ";

/* From version 5 to 6: graphs are derived from specifications, which are compressed. */
static const char version_6[] =
    "ALTER TABLE cases DROP COLUMN dot; "
    "UPDATE cases SET spec = packed(spec) WHERE spec IS NOT NULL; "
    "UPDATE verdicts SET shrunk = packed(shrunk) WHERE shrunk IS NOT NULL; ";

static void put_drop_views(sqlite3_str *sql)
{
    static const char create[] = "\nCREATE VIEW ";
    for (const char *at = views_sql; (at = strstr(at, create));) {
        at += strlen(create);
        sqlite3_str_appendf(sql, "DROP VIEW IF EXISTS %.*s; ", (int) strcspn(at, " "), at);
    }
}

/* Appends the part of the schema from the text `from` to an empty line. */
static void put_part(sqlite3_str *sql, const char *from)
{
    const char *part = strstr(schema_sql, from), *end = part ? strstr(part, "\n\n") : NULL;
    if (!part)
        return;
    sqlite3_str_append(sql, part, !end ? (int) strlen(part) : (int) (end - part));
    sqlite3_str_appendall(sql, "\n");
}

/* From version 1 to 2; the table of verdicts gets all columns of the newest version. */
static void put_version_2(sqlite3_str *sql)
{
    sqlite3_str_appendall(sql, before);
    put_part(sql, "CREATE TABLE verdict_names");
    put_part(sql, "CREATE TABLE verdicts");
    put_part(sql, "CREATE TABLE run_notes");
    sqlite3_str_appendall(sql, after);
}

bool results_has_table(struct results *r, const char *table)
{
    return sqlite3_table_column_metadata(r->db, NULL, table, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static const char *const added[] = { "support_sets",       "target_performance", "coverage_parts",
                                     "steering_sets",      "campaigns",          "shards",
                                     "bench_results",      "bench_times",        "bench_metrics",
                                     "bench_noise",        "summary_parts",      "summary_verdicts",
                                     "summary_operations", "summary_totals",     "summary_reasons",
                                     "summary_ratios",     "summary_buckets",    "summary_failures",
                                     "summary_coverage" };

bool results_has_tables(struct results *r)
{
    for (int i = 0; i < COUNT(added); i++)
        if (!results_has_table(r, added[i]))
            return false;
    return true;
}

int results_add_tables(struct results *r, struct why *w)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (int i = 0; i < COUNT(added); i++) {
        char from[64];
        snprintf(from, sizeof from, "CREATE TABLE %s (", added[i]);
        if (!results_has_table(r, added[i]))
            put_part(sql, from);
    }
    char *text = sqlite3_str_finish(sql);
    int failed = text ? results_exec(r, text, w) : 0; /* NULL: empty */
    sqlite3_free(text);
    return failed;
}

char *results_views_sql(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    put_drop_views(sql);
    sqlite3_str_appendall(sql, views_sql);
    return sqlite3_str_finish(sql);
}

char *results_upgrade_sql(int version)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    put_drop_views(sql);
    if (version < 2)
        put_version_2(sql);
    else if (version < 4)
        sqlite3_str_appendall(sql, attempts);
    if (version >= 2 && version < 5)
        sqlite3_str_appendall(sql, blamed);
    if (version < 3)
        put_part(sql, "CREATE TABLE unloaded_files");
    if (version < 4)
        sqlite3_str_appendall(sql, version_4);
    sqlite3_str_appendall(sql, version_6);
    put_part(sql, "CREATE INDEX verdicts_by_target");
    sqlite3_str_appendall(sql, views_sql);
    sqlite3_str_appendall(sql, "PRAGMA user_version = 6");
    return sqlite3_str_finish(sql);
}
