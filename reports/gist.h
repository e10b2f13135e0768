/* gist(WHY), an SQL function: the first line of a reason, with each number replaced by "#", so that
 * reasons that differ only in numbers are the same. */
#ifndef REPORTS_GIST_H
#define REPORTS_GIST_H

struct sqlite3;

/* Adds the function to a connection.  Returns an SQLite status. */
int gist_function(struct sqlite3 *db);

#endif
