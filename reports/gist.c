#include "reports/gist.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void gist(sqlite3_context *context, int n, sqlite3_value **value)
{
    const unsigned char *from = n == 1 ? sqlite3_value_text(value[0]) : NULL;
    char text[512];
    size_t used = 0;
    if (!from)
        return;
    for (bool word = false; *from && *from != '\n' && used < sizeof(text) - 1;) {
        if (isdigit(*from) && !word) {
            text[used++] = '#';
            /* 12, 0.5, 1e-05, 0x1f */
            while (isxdigit(*from) || *from == '.' || *from == 'x' ||
                   (strchr("+-", *from) && *from && from[-1] == 'e'))
                from++;
            continue;
        }
        word = isalnum(*from) || *from == '_';
        text[used++] = (char) *from++;
    }
    sqlite3_result_text(context, text, (int) used, SQLITE_TRANSIENT);
}

int gist_function(sqlite3 *db)
{
    return sqlite3_create_function(db, "gist", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, gist,
                                   NULL, NULL);
}
