/* Rows in PostgreSQL's binary COPY format, from and to statements of SQLite. */
#ifndef HARNESS_COPY_FORMAT_H
#define HARNESS_COPY_FORMAT_H

#include "harness/check/buffer.h"
#include "harness/server/server_schema.h"

struct sqlite3_stmt;

void copy_put_header(struct buffer *b);
void copy_put_end(struct buffer *b);
/* Appends the row that a statement is at, whose columns are those of the table; more[i] is added
 * to an integer of column i.  Texts that are not UTF-8 become it (TEXT_JSON of
 * golden/base/text_escape.h).  WHY_INVALID: a value that its column cannot have. */
int copy_put_row(struct buffer *b, struct sqlite3_stmt *row, const struct server_table *t,
                 const int64_t *more, struct why *w);

/* What a COPY has sent so far: the header comes first. */
struct copy_source {
    bool has_header, has_ended;
};
/* Binds the values of one row, which the server sends in one piece, to the parameters 1... of a
 * statement.  1: a row; 0: there was none, the end has come.  WHY_INVALID: not a row of this
 * table. */
int copy_bind_row(struct copy_source *c, const char *bytes, size_t length,
                  const struct server_table *t, struct sqlite3_stmt *to, struct why *w);

#endif
