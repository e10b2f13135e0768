/* views_database FILE: writes the database of views_content.h. */
#include <sqlite3.h>
#include <stdio.h>

#include "harness/store/results.h"
#include "reports/packed_text.h"
#include "tests/harness/store/views_content.h"

int main(int argc, char **argv)
{
    struct results *r;
    struct why w;
    sqlite3 *db = NULL;
    if (argc != 2 || results_open(argv[1], RESULTS_WRITE, &r, &w) < 0)
        return 2;
    results_close(r);
    if (sqlite3_open(argv[1], &db) == SQLITE_OK && packed_text_functions(db) == SQLITE_OK &&
        sqlite3_exec(db, views_content[0], NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, views_content[1], NULL, NULL, NULL) == SQLITE_OK)
        return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
    fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
    sqlite3_close(db);
    return 1;
}
