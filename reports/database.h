/* The results database, for those who only read it. */
#ifndef REPORTS_DATABASE_H
#define REPORTS_DATABASE_H

#include "golden/base/why.h"

struct sqlite3;

/* Opens a database to read, also where nothing may be written (an archive, another user's folder):
 * SQLite alone cannot, as readers of a WAL database write beside it.  Not whose database it is. */
int database_read(const char *path, struct sqlite3 **ret_db, struct why *w);

#endif
