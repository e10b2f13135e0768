/* Queries of the report, and the formatting of their values. */
#include <inttypes.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/report_internal.h"

static int fail_query(const struct report *r, struct why *w)
{
    return why_fail(w, WHY_INVALID, "%s: %s", r->path, sqlite3_errmsg(r->db));
}

int report_each(const struct report *r, const char *sql, int64_t number, report_row *each,
                void *user, struct why *w)
{
    sqlite3_stmt *row;
    int step, failed = 0;
    if (sqlite3_prepare_v2(r->db, sql, -1, &row, NULL) != SQLITE_OK)
        return fail_query(r, w);
    if (sqlite3_bind_parameter_count(row))
        sqlite3_bind_int64(row, 1, number);
    while ((step = sqlite3_step(row)) == SQLITE_ROW && !failed)
        failed = each(r, row, user, w);
    if (!failed && step != SQLITE_DONE)
        failed = fail_query(r, w);
    sqlite3_finalize(row);
    return failed;
}

static int take_number(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) r, (void) w;
    *(int64_t *) user = sqlite3_column_int64(row, 0);
    return 0;
}

int report_number(const struct report *r, const char *sql, int64_t *ret_number, struct why *w)
{
    return report_each(r, sql, 0, take_number, ret_number, w);
}

void report_put_column(const struct report *r, sqlite3_stmt *row, int i)
{
    escape_put((const char *) sqlite3_column_text(row, i), 0, r->to);
}

void report_put_count(const struct report *r, int64_t n)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRId64, n);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            fputc(',', r->to);
        fputc(digits[i], r->to);
    }
}

void report_put_ms(const struct report *r, double ms)
{
    if (ms < 1)
        fprintf(r->to, "%.0f \xc2\xb5s", ms * 1000);
    else if (ms < 1000)
        fprintf(r->to, "%.1f ms", ms);
    else if (ms < 120e3)
        fprintf(r->to, "%.1f s", ms / 1000);
    else
        fprintf(r->to, "%.1f min", ms / 60e3);
}
