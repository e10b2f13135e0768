/* A connection to a PostgreSQL server, and what its errors mean.
 *
 * Reasons start with the URL without its password, which is never printed nor stored.
 * WHY_INVALID: what the caller or an administrator has to change (URL, role, rights, database,
 * rows that break a rule); WHY_SYSTEM: a server that does not answer, or fails. */
#ifndef HARNESS_SERVER_H
#define HARNESS_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/server/libpq.h"
#include "harness/server/server_url.h"

struct server {
    const struct libpq *pq;
    PGconn *connection;
    char *shown;      /* the URL without its password */
    char *space;      /* the schema (namespace) of the tables, quoted as an identifier */
    char *space_name; /* the same as it is */
};

/* Connects.  The schema is `halcyon`, or the one of the connection's search_path
 * (?options=-csearch_path%3Dteam, PGOPTIONS); it need not exist. */
int server_connect(const char *url, struct server **ret_server, struct why *w);
/* An open transaction is rolled back.  NULL does nothing. */
void server_close(struct server *s);

/* Sets the reason from the last error; result NULL: that of the connection.  Returns -1. */
int server_failed(struct server *s, const PGresult *result, struct why *w);

/* Executes statements that return no rows; each %S of the format is the schema, quoted. */
int server_exec(struct server *s, const char *sql, struct why *w);
/* Executes one statement with text parameters ($1...); *ret_rows is to be freed with PQclear(). */
int server_query(struct server *s, const char *sql, int n, const char *const *parameter,
                 PGresult **ret_rows, struct why *w);
/* The first column of the first row as a number; 0: there is no row, or it is NULL. */
int server_query_int(struct server *s, const char *sql, int n, const char *const *parameter,
                     int64_t *ret_value, struct why *w);
/* Executes a statement that begins a COPY; state: PGRES_COPY_IN or PGRES_COPY_OUT. */
int server_copy(struct server *s, const char *sql, ExecStatusType state, struct why *w);
/* Reads the result of a COPY whose data has been sent or received. */
int server_copy_end(struct server *s, struct why *w);

#endif
