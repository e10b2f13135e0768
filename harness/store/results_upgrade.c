/* Makes a results database of version 1 one of version 2 (harness/store/schema.sql). */
#include <string.h>

#include "harness/store/results_internal.h"

extern const char schema_sql[];

static const char before[] =
    "DROP VIEW totals_by_verdict; DROP VIEW totals_by_target; DROP VIEW totals_by_operation; "
    "DROP VIEW totals_by_type; DROP VIEW totals_by_operation_type; DROP VIEW failures; "
    "DROP VIEW details; "
    "ALTER TABLE runs ADD COLUMN owner_pid INTEGER; "
    "ALTER TABLE runs ADD COLUMN owner_start INTEGER; "
    "ALTER TABLE runs ADD COLUMN owner_place TEXT; "
    "ALTER TABLE runs ADD COLUMN heartbeat INTEGER; "
    "ALTER TABLE cases ADD COLUMN suite TEXT; "
    "ALTER TABLE verdicts RENAME TO verdicts_1; ";
static const char after[] =
    "INSERT INTO verdicts (case_id, target, verdict, was, why, judge, stage, status, ms, "
    "device_ns, checked, wrong, output, element, place, operation, type, expected, actual, bound, "
    "ratio, replay) SELECT * FROM verdicts_1; "
    "DROP TABLE verdicts_1; "
    "PRAGMA user_version = 2";

/* Appends the part of the schema from the text `from` to an empty line, or to its end. */
static void put_part(sqlite3_str *sql, const char *from, bool to_end)
{
    const char *part = strstr(schema_sql, from), *end = part ? strstr(part, "\n\n") : NULL;
    if (!part)
        return;
    sqlite3_str_append(sql, part, to_end || !end ? (int) strlen(part) : (int) (end - part));
    sqlite3_str_appendall(sql, "\n");
}

char *results_upgrade_sql(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, before);
    put_part(sql, "CREATE TABLE verdict_names", false);
    put_part(sql, "CREATE TABLE verdicts", false);
    put_part(sql, "CREATE TABLE run_notes", false);
    put_part(sql, "CREATE VIEW details", true);
    sqlite3_str_appendall(sql, after);
    return sqlite3_str_finish(sql);
}
