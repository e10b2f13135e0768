/* What the database has of a failure, as notes. */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "harness/dump/dump_notes.h"
#include "reports/database.h"

static const char query[] =
    "SELECT v.verdict, v.why, v.blamed_operation, v.blamed_index, v.blamed_graph, v.blamed_ratio,"
    " v.blamed_why, v.blamed_count, v.output"
    " FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING (target)"
    " WHERE c.name = ?1 AND t.uri = ?2 ORDER BY c.run DESC LIMIT 1";

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *) sqlite3_column_text(row, column);
    return text ? text : "";
}

static void mark(struct dump_notes *n, uint32_t graph, uint32_t operation, sqlite3_stmt *row,
                 bool first)
{
    if (graph >= n->e->model.n_graphs || operation >= n->e->model.graph[graph].n_operations)
        return;
    struct graph_note *note = &n->operation[graph][operation];
    note->tone = first ? TONE_FIRST_WRONG : TONE_WRONG;
    if (first && sqlite3_column_type(row, 5) != SQLITE_NULL)
        note->ratio = sqlite3_column_double(row, 5);
    if (first)
        dump_note_add(n, note, "%.200s", text_of(row, 6));
    n->is_wrong = true;
}

/* One operation, or several that are wrong only together: "CONV_2D (3), RELU (5)". */
static void mark_blamed(struct dump_notes *n, sqlite3_stmt *row)
{
    const uint32_t graph = (uint32_t) sqlite3_column_int(row, 4);
    const char *at = text_of(row, 2);
    if (sqlite3_column_type(row, 3) == SQLITE_NULL)
        return;
    mark(n, graph, (uint32_t) sqlite3_column_int(row, 3), row, true);
    for (int count = 0; sqlite3_column_int(row, 7) > 1 && (at = strchr(at, '(')); count++) {
        const uint32_t operation = (uint32_t) strtoul(++at, NULL, 10);
        if (count)
            mark(n, graph, operation, row, false);
    }
}

int dump_notes_recorded(struct dump_notes *n, const char *db, const char *name, const char *uri,
                        struct why *w)
{
    sqlite3 *base = NULL;
    sqlite3_stmt *row = NULL;
    TRY(database_read(db, &base, w));
    int failed = sqlite3_prepare_v2(base, query, -1, &row, NULL) == SQLITE_OK
                     ? 0
                     : database_failed(base, db, w);
    if (!failed) {
        sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_text(row, 2, uri, -1, SQLITE_STATIC);
        if (sqlite3_step(row) == SQLITE_ROW) {
            n->options.subtitle =
                arena_printf(n->arena, "recorded on %s: %s%s%.300s", uri, text_of(row, 0),
                             *text_of(row, 1) ? ": " : "", text_of(row, 1));
            if (sqlite3_column_type(row, 8) != SQLITE_NULL)
                n->options.mark_output = sqlite3_column_int(row, 8);
            mark_blamed(n, row);
        }
    }
    sqlite3_finalize(row);
    sqlite3_close(base);
    return failed;
}
