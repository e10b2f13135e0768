#include "harness/server/server.h"

#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/check/buffer.h"

enum { OLDEST_SERVER = 120000 };

/* ---- errors */

/* Copies a message of libpq, of several lines, as one. */
static void one_line(const char *from, char *ret_text, size_t size)
{
    size_t n = 0;
    for (bool ended = false; *from && n < size - 3; from++) {
        ended |= *from == '\n';
        if (*from == '\n' || *from == '\t' || (ended && *from == ' '))
            continue;
        if (ended && n)
            n = (size_t) (stpcpy(ret_text + n, "; ") - ret_text);
        ended = false;
        ret_text[n++] = *from;
    }
    ret_text[n] = 0;
}

/* By SQLSTATE: what a caller or an administrator can put right, and how. */
static const struct {
    const char *state; /* or the class, its first two characters */
    const char *hint;
} invalid[] = {
    { "42501", "; expected a role with the rights of a writer or reader (docs/postgresql.md)" },
    { "25006", "; expected a server that can be written to" },
    { "22", "" },    /* a value that its type does not have */
    { "23", "" },    /* a row that breaks a rule */
    { "42P01", "" }, /* a table is missing */
    { "42P07", "; expected a schema of Halcyon's own" },
    { "42703", "" }, /* a column is missing */
    { "3F000", "" }, /* a schema is missing */
};

int server_failed(struct server *s, const PGresult *result, struct why *w)
{
    const struct libpq *pq = s->pq;
    char text[320];
    const char *state = result ? pq->PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = state ? pq->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    one_line(message ? message : pq->PQerrorMessage(s->connection), text, sizeof text);
    for (int i = 0; state && i < COUNT(invalid); i++)
        if (!strncmp(state, invalid[i].state, strlen(invalid[i].state)))
            return why_fail(w, WHY_INVALID, "%s: %s%s", s->shown, text, invalid[i].hint);
    return why_fail(w, WHY_SYSTEM, "%s: %s", s->shown, *text ? text : "the server failed");
}

/* ---- connecting */

static void ignore_notice(void *user, const char *text)
{
    (void) user, (void) text;
}

/* libpq's message may quote the URL. */
static int check_syntax(struct server *s, const char *url, struct why *w)
{
    char *error = NULL, text[320] = "";
    PQconninfoOption *options = s->pq->PQconninfoParse(url, &error);
    if (error)
        one_line(error, text, sizeof text);
    s->pq->PQfreemem(error);
    bool valid = options;
    s->pq->PQconninfoFree(options);
    if (valid)
        return 0;
    return why_fail(w, WHY_INVALID, "%s: is no URL of a server%s%s", s->shown,
                    strcmp(url, s->shown) ? "" : ": ", strcmp(url, s->shown) ? "" : text);
}

static int connect_failed(struct server *s, const char *url, struct why *w)
{
    char text[320];
    one_line(s->connection ? s->pq->PQerrorMessage(s->connection) : "", text, sizeof text);
    switch (s->pq->PQping(url)) {
    case PQPING_OK: /* it refuses this role, password or database */
        return why_fail(w, WHY_INVALID,
                        "%s: %s; expected a database and a role of this server (PGPASSWORD, "
                        "~/.pgpass or PGSERVICE give a password)",
                        s->shown, text);
    case PQPING_NO_ATTEMPT: return why_fail(w, WHY_INVALID, "%s: %s", s->shown, text);
    default: return why_fail(w, WHY_SYSTEM, "%s: %s", s->shown, text);
    }
}

static int open_connection(struct server *s, const char *url, struct why *w)
{
    /* What the URL, a service or the environment says comes before these. */
    const char *const keyword[] = { "fallback_application_name",
                                    getenv("PGCONNECT_TIMEOUT") ? "dbname" : "connect_timeout",
                                    "dbname", NULL };
    const char *const value[] = { "halcyon", getenv("PGCONNECT_TIMEOUT") ? url : "20", url, NULL };
    s->connection = s->pq->PQconnectdbParams(keyword, value, 1);
    if (!s->connection)
        return why_no_memory(w);
    if (s->pq->PQstatus(s->connection) != CONNECTION_OK)
        return connect_failed(s, url, w);
    s->pq->PQsetNoticeProcessor(s->connection, ignore_notice, NULL);
    int version = s->pq->PQserverVersion(s->connection);
    REQUIRE(w, version >= OLDEST_SERVER, "%s: is PostgreSQL %d; expected version %d or newer",
            s->shown, version / 10000, OLDEST_SERVER / 10000);
    return s->pq->PQsetClientEncoding(s->connection, "UTF8") == 0 ? 0 : server_failed(s, NULL, w);
}

/* The schema: one name of a search_path that the connection itself sets. */
static int choose_space(struct server *s, struct why *w)
{
    PGresult *rows;
    TRY(server_query(s,
                     "SELECT setting FROM pg_settings WHERE name = 'search_path' AND source = "
                     "'client'",
                     0, NULL, &rows, w));
    const char *path = s->pq->PQntuples(rows) ? s->pq->PQgetvalue(rows, 0, 0) : "halcyon";
    size_t n = strlen(path);
    bool quoted = n > 2 && path[0] == '"' && path[n - 1] == '"';
    s->space_name = quoted ? strndup(path + 1, n - 2) : strdup(path);
    int failed = s->space_name ? 0 : why_no_memory(w);
    if (!failed && (!*s->space_name || strpbrk(s->space_name, ",\"$")))
        failed = why_fail(w, WHY_INVALID,
                          "%s: search_path is '%s'; expected the name of one schema, as in "
                          "?options=-csearch_path%%3Dteam",
                          s->shown, path);
    s->pq->PQclear(rows);
    TRY(failed);
    s->space = s->pq->PQescapeIdentifier(s->connection, s->space_name, strlen(s->space_name));
    return s->space ? 0 : server_failed(s, NULL, w);
}

int server_connect(const char *url, struct server **ret_server, struct why *w)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s || !(s->shown = server_shown_url(url))) {
        free(s);
        return why_no_memory(w);
    }
    int failed = server_check_url(url, w);
    failed = failed ? failed : libpq_load(&s->pq, w);
    failed = failed ? failed : check_syntax(s, url, w);
    failed = failed ? failed : open_connection(s, url, w);
    failed = failed ? failed : choose_space(s, w);
    if (failed) {
        server_close(s);
        return -1;
    }
    *ret_server = s;
    return 0;
}

void server_close(struct server *s)
{
    if (!s)
        return;
    if (s->space)
        s->pq->PQfreemem(s->space);
    if (s->connection)
        s->pq->PQfinish(s->connection);
    free(s->space_name);
    free(s->shown);
    free(s);
}

/* ---- statements */

/* The SQL with the schema's name in the place of each %S. */
static int expand(const struct server *s, const char *sql, struct buffer *ret_sql, struct why *w)
{
    for (const char *mark; (mark = strstr(sql, "%S")); sql = mark + 2) {
        buffer_put(ret_sql, sql, (size_t) (mark - sql));
        buffer_puts(ret_sql, s->space);
    }
    buffer_puts(ret_sql, sql);
    return ret_sql->failed ? why_no_memory(w) : 0;
}

static int check_result(struct server *s, PGresult *result, ExecStatusType expected, struct why *w)
{
    ExecStatusType state = s->pq->PQresultStatus(result);
    if (state == expected || (expected == PGRES_COMMAND_OK && state == PGRES_TUPLES_OK))
        return 0;
    return server_failed(s, result, w);
}

int server_exec(struct server *s, const char *sql, struct why *w)
{
    return server_copy(s, sql, PGRES_COMMAND_OK, w);
}

int server_query(struct server *s, const char *sql, int n, const char *const *parameter,
                 PGresult **ret_rows, struct why *w)
{
    struct buffer text = { 0 };
    int failed = expand(s, sql, &text, w);
    if (!failed) {
        PGresult *rows = s->pq->PQexecParams(s->connection, buffer_text(&text), n, NULL, parameter,
                                             NULL, NULL, 0);
        failed = check_result(s, rows, PGRES_TUPLES_OK, w);
        if (failed)
            s->pq->PQclear(rows);
        else
            *ret_rows = rows;
    }
    buffer_done(&text);
    return failed;
}

int server_query_int(struct server *s, const char *sql, int n, const char *const *parameter,
                     int64_t *ret_value, struct why *w)
{
    PGresult *rows;
    TRY(server_query(s, sql, n, parameter, &rows, w));
    bool found = s->pq->PQntuples(rows) && !s->pq->PQgetisnull(rows, 0, 0);
    *ret_value = found ? strtoll(s->pq->PQgetvalue(rows, 0, 0), NULL, 10) : 0;
    s->pq->PQclear(rows);
    return 0;
}

int server_copy(struct server *s, const char *sql, ExecStatusType state, struct why *w)
{
    struct buffer text = { 0 };
    int failed = expand(s, sql, &text, w);
    if (!failed) {
        PGresult *result = s->pq->PQexec(s->connection, buffer_text(&text));
        failed = check_result(s, result, state, w);
        s->pq->PQclear(result);
    }
    buffer_done(&text);
    return failed;
}

int server_copy_end(struct server *s, struct why *w)
{
    int failed = 0;
    for (PGresult *result; (result = s->pq->PQgetResult(s->connection));) {
        if (!failed)
            failed = check_result(s, result, PGRES_COMMAND_OK, w);
        ExecStatusType state = s->pq->PQresultStatus(result);
        s->pq->PQclear(result);
        if (state == PGRES_COPY_IN || state == PGRES_COPY_OUT)
            break; /* the connection is lost */
    }
    return failed;
}
