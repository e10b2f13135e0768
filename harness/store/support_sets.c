/* The support sets that random graphs were drawn for, by digest. */
#include <string.h>

#include "harness/store/results_internal.h"

extern const char schema_sql[];

static int has_table(struct results *r)
{
    return sqlite3_table_column_metadata(r->db, NULL, "support_sets", "digest", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

int results_add_support_sets(struct results *r, struct why *w)
{
    const char *from = strstr(schema_sql, "CREATE TABLE support_sets"),
               *to = from ? strstr(from, ";\n") : NULL;
    char sql[1024];
    if (has_table(r))
        return 0;
    REQUIRE(w, to && (size_t) (to - from) < sizeof sql, "the schema lacks support_sets");
    memcpy(sql, from, (size_t) (to - from));
    sql[to - from] = 0;
    return results_exec(r, sql, w);
}

int results_keep_support(struct results *r, const char *digest, const char *text, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_begin(r, w));
    TRY(results_prepare(r, "INSERT OR IGNORE INTO support_sets VALUES (?1, ?2)", &s, w));
    sqlite3_bind_text(s, 1, digest, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_find_support(struct results *r, const char *digest, char **ret_text, struct why *w)
{
    sqlite3_stmt *s;
    if (!has_table(r))
        return 0;
    TRY(results_prepare(r, "SELECT text FROM support_sets WHERE digest = ?1", &s, w));
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
