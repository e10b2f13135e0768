/* The tables on a server.  They follow from those that harness/store/schema.sql makes in an empty
 * SQLite database: the same tables, columns, keys and indexes, and the same views.  So a new table
 * needs nothing here, unless a column of it has a type of its own (special_types).
 *
 *   INTEGER   bigint; the number of a row (INTEGER PRIMARY KEY) is an identity column
 *   REAL      double precision; NULL is NaN, as in SQLite; infinities are kept
 *   TEXT      text, ordered by bytes (COLLATE "C") as in SQLite
 *
 * There are no foreign keys: checking them would take most of the time of a push.  Rows are written
 * with their run or not at all, and checked when they are read. */
#ifndef HARNESS_SERVER_SCHEMA_H
#define HARNESS_SERVER_SCHEMA_H

#include <stddef.h>

#include "harness/server/server.h"

enum server_type {
    SERVER_INTEGER,
    SERVER_REAL,
    SERVER_TEXT,
    SERVER_PACKED,  /* a text that may be compressed (reports/packed_text.h), as bytea */
    SERVER_BLOB,    /* bytea */
    SERVER_TIME,    /* "2026-01-31T12:00:00.000Z", as timestamptz */
    SERVER_BOOLEAN, /* 0 or 1 */
};

/* A run has rows in tables of the first two kinds. */
enum table_kind {
    TABLE_OF_RUNS,  /* has a column `run` */
    TABLE_OF_CASES, /* has a column `case_id`, and none `run` */
    TABLE_SHARED    /* has neither: rows that several runs use */
};

enum { SERVER_COLUMNS = 64, SERVER_TABLES = 64, SERVER_NAME = 64 };

struct server_column {
    char name[SERVER_NAME];
    enum server_type type;
};
struct server_table {
    char name[SERVER_NAME];
    enum table_kind kind;
    int n;
    struct server_column column[SERVER_COLUMNS];
    char *create;  /* SQL: the table and its indexes */
    bool is_there; /* on the server; set by server_schema_find() */
};
/* In the order of schema.sql: what is referred to comes first. */
struct server_schema {
    int n;
    struct server_table table[SERVER_TABLES];
    char *views, *drop_views; /* SQL */
};

int server_schema_new(struct server_schema **ret_schema, struct why *w);
void server_schema_free(struct server_schema *schema);
/* Appends the names of the columns, "\"run\", \"text\"": SQL of both databases. */
struct buffer;
void server_put_columns(struct buffer *sql, const struct server_table *t);

/* Looks which tables the server has, for reading.  WHY_INVALID: there are none of Halcyon's, or a
 * newer Halcyon made them. */
int server_schema_find(struct server *s, struct server_schema *schema, struct why *w);
/* Creates in the open transaction what the server lacks.  WHY_INVALID: a newer Halcyon made the
 * tables, or others have their names. */
int server_schema_make(struct server *s, struct server_schema *schema, struct why *w);

#endif
