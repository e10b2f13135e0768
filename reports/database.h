/* Read-only access to the results database. */
#ifndef REPORTS_DATABASE_H
#define REPORTS_DATABASE_H

#include "golden/base/why.h"

struct sqlite3;

/* Opens an SQLite database for reading, also in a folder where nothing can be written (an archive,
 * another user's): SQLite's readers of a WAL database normally create files beside it.  Does not
 * check that it is a results database.  *ret_db is to be closed with sqlite3_close(). */
int database_read(const char *path, struct sqlite3 **ret_db, struct why *w);

#endif
