/* What random graphs were drawn for and by, and the identities of campaigns, by digest. */
#include <string.h>

#include "harness/store/results_internal.h"

static const char *const table_name[] = {
    [SET_SUPPORT] = "support_sets",
    [SET_STEERING] = "steering_sets",
    [SET_CAMPAIGN] = "campaigns",
};

const char *results_set_table(enum drawing_set kind)
{
    return table_name[kind];
}

int results_keep_set(struct results *r, enum drawing_set kind, const char *digest, const char *text,
                     struct why *w)
{
    sqlite3_stmt *s;
    char sql[80];
    snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO %s VALUES (?1, ?2)", table_name[kind]);
    TRY(results_begin(r, w));
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_text(s, 1, digest, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_find_set(struct results *r, enum drawing_set kind, const char *digest, char **ret_text,
                     struct why *w)
{
    sqlite3_stmt *s;
    char sql[80];
    if (!results_has_table(r, table_name[kind]))
        return 0;
    snprintf(sql, sizeof sql, "SELECT text FROM %s WHERE digest = ?1", table_name[kind]);
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_text(s, 1, digest, -1, SQLITE_STATIC);
    int step = sqlite3_step(s), found = step == SQLITE_ROW ? 1 : 0;
    const char *text = found ? (const char *) sqlite3_column_text(s, 0) : NULL;
    char *copy = found ? strdup(text ? text : "") : NULL;
    sqlite3_finalize(s);
    if (!found)
        return step == SQLITE_DONE ? 0 : results_failed(r, w);
    if (!copy)
        return why_no_memory(w);
    *ret_text = copy;
    return 1;
}
