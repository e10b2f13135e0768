/* Read-only access to the results database. */
#ifndef REPORTS_DATABASE_H
#define REPORTS_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"

struct sqlite3;

/* Fails with WHY_INVALID where the path is that of a folder. */
int database_check_path(const char *path, struct why *w);

/* Opens an SQLite database for reading, also in a folder where nothing can be written (an archive,
 * another user's): SQLite's readers of a WAL database normally create files beside it.  Does not
 * check that it is a results database.  Has the functions of reports/packed_text.h.  A compressed
 * database is read into memory.  *ret_db is to be closed with sqlite3_close(). */
int database_read(const char *path, struct sqlite3 **ret_db, struct why *w);

/* Compresses the file of a closed database without a log, as the shards of summaries are kept, and
 * the reverse, which leaves other files as they are and rejects what is not Halcyon's.  The file is
 * replaced when the new one is complete. */
int database_pack(const char *path, struct why *w);
int database_unpack(const char *path, struct why *w);
bool database_is_packed(const char *path);

/* Fails with SQLite's last error: WHY_INVALID for a file that cannot be used, WHY_SYSTEM for other
 * reasons.  Returns -1. */
int database_failed(struct sqlite3 *db, const char *path, struct why *w);

/* SQL: a verdict of a database before version 4 that is `undecided` now. */
#define PASSED_UNDECIDED                                                                           \
    "verdict = 'pass' AND NOT checked AND (why GLOB 'no element could be compared*' OR "           \
    "why GLOB 'undecided: *')"

/* Version of the schema (harness/store/schema.sql) that this Halcyon writes. */
enum { DATABASE_VERSION = 6 };
/* The schema's version, 1 to DATABASE_VERSION; 0: the database is empty.  A database that is not
 * Halcyon's, or newer, is WHY_INVALID. */
int database_version(struct sqlite3 *db, const char *path, int *ret_version, struct why *w);
/* The same; fails for an empty database. */
int database_check_version(struct sqlite3 *db, const char *path, int *ret_version, struct why *w);
/* Fails if there is no run of this number. */
int database_check_run(struct sqlite3 *db, const char *path, int64_t run, struct why *w);

#endif
