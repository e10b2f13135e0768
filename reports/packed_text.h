/* Long texts of the results database (harness/store/schema.sql: cases.spec, verdicts.shrunk).
 * Where it makes a text shorter it is kept as a BLOB, else as TEXT: a specification in a format of
 * its own (reports/packed_spec.h), other texts in the zlib format, with a preset dictionary or
 * without. Databases before version 6 have TEXT only.
 *
 * SQL functions: packed(TEXT) is what to store, text_of(COLUMN) the text again; NULL and what
 * packed() gets as a BLOB stay the same.  A BLOB that is not such a text makes text_of() fail.
 * packed_quick(TEXT) and packed_small(TEXT) are for texts of summaries: always a BLOB, in another
 * format (reports/packed_bytes.h). */
#ifndef REPORTS_PACKED_TEXT_H
#define REPORTS_PACKED_TEXT_H

struct sqlite3;

/* Adds the functions to a connection.  Returns an SQLite status. */
int packed_text_functions(struct sqlite3 *db);

#endif
