#include "harness/server/copy_format.h"

#include <endian.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/base/text_escape.h"

static const char signature[11] = "PGCOPY\n\377\r\n";
enum { HEADER = sizeof signature + 8, TIME_LENGTH = 24 };
/* Seconds from 1970, where Unix counts from, to 2000, where PostgreSQL counts microseconds from. */
static const int64_t epoch = 946684800;

/* ---- writing */

static void put16(struct buffer *b, int value)
{
    uint16_t bytes = htobe16((uint16_t) value);
    buffer_put(b, &bytes, sizeof bytes);
}

static void put32(struct buffer *b, int64_t value)
{
    uint32_t bytes = htobe32((uint32_t) value);
    buffer_put(b, &bytes, sizeof bytes);
}

static void put64(struct buffer *b, uint64_t value)
{
    put32(b, 8);
    value = htobe64(value);
    buffer_put(b, &value, sizeof value);
}

void copy_put_header(struct buffer *b)
{
    buffer_put(b, signature, sizeof signature);
    put32(b, 0);
    put32(b, 0);
}

void copy_put_end(struct buffer *b)
{
    put16(b, -1);
}

/* A NUL is behind the text, or behind what follows it. */
static bool is_utf8(const char *text, size_t length)
{
    uint32_t code;
    size_t n = 1, i = 0;
    for (; n && i < length; i += n)
        n = (unsigned char) text[i] < 0x80 ? text[i] != 0 : text_utf8(text + i, &code);
    return i == length && n;
}

static int put_text(struct buffer *b, const char *text, size_t length, struct why *w)
{
    if (is_utf8(text, length)) {
        put32(b, (int64_t) length);
        buffer_put(b, text, length);
        return 0;
    }
    char *escaped = text_escaped(TEXT_JSON, text);
    if (!escaped)
        return why_no_memory(w);
    put32(b, (int64_t) strlen(escaped));
    buffer_puts(b, escaped);
    free(escaped);
    return 0;
}

/* "2026-01-31T12:00:00.000Z", as SQLite writes it (%Y-%m-%dT%H:%M:%fZ). */
static void write_time(int64_t ms, char ret_text[static TIME_LENGTH + 8])
{
    time_t seconds = (time_t) (ms / 1000 - (ms % 1000 < 0));
    struct tm t;
    size_t n =
        gmtime_r(&seconds, &t) ? strftime(ret_text, TIME_LENGTH, "%Y-%m-%dT%H:%M:%S", &t) : 0;
    snprintf(ret_text + n, TIME_LENGTH + 8 - n, ".%03dZ", (int) (ms - seconds * 1000) % 1000);
}

/* Milliseconds since 1970; fails unless the text is what write_time() makes of them. */
static int read_time(const char *text, int64_t *ret_ms)
{
    struct tm t = { 0 };
    char again[TIME_LENGTH + 8];
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
    if (!rest || *rest != '.')
        return -1;
    int64_t ms = (int64_t) timegm(&t) * 1000 + strtol(rest + 1, NULL, 10);
    write_time(ms, again);
    *ret_ms = ms;
    return strcmp(again, text) ? -1 : 0;
}

static int put_time(struct buffer *b, const char *text)
{
    int64_t ms = 0;
    if (read_time(text, &ms) < 0)
        return -1;
    put64(b, (uint64_t) ((ms - epoch * 1000) * 1000));
    return 0;
}

static int put_boolean(struct buffer *b, int64_t value)
{
    const char byte = value != 0;
    put32(b, 1);
    buffer_put(b, &byte, 1);
    return value == 0 || value == 1 ? 0 : -1;
}

static int put_real(struct buffer *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put64(b, bits);
    return 0;
}

static const char *const expected[] = {
    [SERVER_INTEGER] = "an integer", [SERVER_REAL] = "a number",
    [SERVER_TEXT] = "a text",        [SERVER_PACKED] = "a text, perhaps compressed",
    [SERVER_BLOB] = "bytes",         [SERVER_TIME] = "a time, such as 2026-01-31T12:00:00.000Z",
    [SERVER_BOOLEAN] = "0 or 1",
};

/* 1: the value is not one of the column. */
static int put_value(struct buffer *b, sqlite3_stmt *row, int i, enum server_type type,
                     int64_t more, struct why *w)
{
    const int stored = sqlite3_column_type(row, i);
    const char *text;
    int64_t number;
    if (stored == SQLITE_NULL) {
        put32(b, -1);
        return 0;
    }
    switch (type) {
    case SERVER_INTEGER:
        number = sqlite3_column_int64(row, i);
        if (stored != SQLITE_INTEGER || __builtin_add_overflow(number, more, &number))
            return 1;
        put64(b, (uint64_t) number);
        return 0;
    case SERVER_REAL:
        if (stored != SQLITE_FLOAT && stored != SQLITE_INTEGER)
            return 1;
        return put_real(b, sqlite3_column_double(row, i));
    case SERVER_BOOLEAN:
        return stored != SQLITE_INTEGER || put_boolean(b, sqlite3_column_int64(row, i)) < 0;
    case SERVER_TIME:
        text = (const char *) sqlite3_column_text(row, i);
        return stored != SQLITE_TEXT || !text || put_time(b, text) < 0;
    default: break;
    }
    if (stored != SQLITE_TEXT && (type == SERVER_TEXT || stored != SQLITE_BLOB))
        return 1;
    const bool is_text = stored == SQLITE_TEXT && type != SERVER_BLOB;
    const void *bytes =
        is_text ? (const void *) sqlite3_column_text(row, i) : sqlite3_column_blob(row, i);
    const int length = sqlite3_column_bytes(row, i);
    if (!bytes && length)
        return why_no_memory(w);
    if (is_text)
        return put_text(b, bytes ? bytes : "", (size_t) length, w);
    put32(b, length);
    buffer_put(b, bytes ? bytes : "", (size_t) length);
    return 0;
}

int copy_put_row(struct buffer *b, sqlite3_stmt *row, const struct server_table *t,
                 const int64_t *more, struct why *w)
{
    put16(b, t->n);
    for (int i = 0; i < t->n; i++) {
        const struct server_column *c = &t->column[i];
        int bad = put_value(b, row, i, c->type, more[i], w);
        TRY(bad);
        if (bad) {
            const char *text = (const char *) sqlite3_column_text(row, i);
            return why_fail(w, WHY_INVALID, "table %s: %s is '%.60s'; expected %s", t->name,
                            c->name, text ? text : "", expected[c->type]);
        }
    }
    return b->failed ? why_no_memory(w) : 0;
}

/* ---- reading */

struct reader {
    const unsigned char *at;
    size_t left;
};

static bool get(struct reader *r, void *ret_bytes, size_t n)
{
    if (r->left < n)
        return false;
    memcpy(ret_bytes, r->at, n);
    r->at += n;
    r->left -= n;
    return true;
}

static bool get32(struct reader *r, uint32_t *ret_value)
{
    uint32_t value;
    if (!get(r, &value, sizeof value))
        return false;
    *ret_value = be32toh(value);
    return true;
}

static bool skip_header(struct reader *r)
{
    char found[sizeof signature];
    uint32_t flags, more;
    if (!get(r, found, sizeof found) || memcmp(found, signature, sizeof found) != 0 ||
        !get32(r, &flags) || flags || !get32(r, &more) || r->left < more)
        return false;
    r->at += more;
    r->left -= more;
    return true;
}

static bool bind_time(sqlite3_stmt *to, int i, int64_t us)
{
    char text[TIME_LENGTH + 8];
    if (us == INT64_MIN || us == INT64_MAX) /* -infinity, infinity */
        return false;
    write_time((us - (us % 1000 + 1000) % 1000) / 1000 + epoch * 1000, text);
    return strlen(text) == TIME_LENGTH &&
           sqlite3_bind_text(to, i, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
}

/* bytes are followed by another byte of the message. */
static bool bind_value(sqlite3_stmt *to, int i, enum server_type type, const unsigned char *bytes,
                       uint32_t length)
{
    uint64_t bits = 0;
    double real;
    const char *text = (const char *) bytes;
    switch (type) {
    case SERVER_INTEGER:
    case SERVER_REAL:
    case SERVER_TIME:
        if (length != sizeof bits)
            return false;
        memcpy(&bits, bytes, sizeof bits);
        bits = be64toh(bits);
        memcpy(&real, &bits, sizeof real);
        return type == SERVER_TIME   ? bind_time(to, i, (int64_t) bits)
               : type == SERVER_REAL ? sqlite3_bind_double(to, i, real) == SQLITE_OK
                                     : sqlite3_bind_int64(to, i, (int64_t) bits) == SQLITE_OK;
    case SERVER_BOOLEAN:
        return length == 1 && bytes[0] <= 1 && sqlite3_bind_int(to, i, bytes[0]) == SQLITE_OK;
    case SERVER_PACKED: /* compressed texts are no UTF-8: in the zlib format their second byte
                         * cannot begin a character, and PACKED_SPEC is in none */
        if (!is_utf8(text, length))
            return sqlite3_bind_blob64(to, i, bytes, length, SQLITE_STATIC) == SQLITE_OK;
        break;
    case SERVER_BLOB: return sqlite3_bind_blob64(to, i, bytes, length, SQLITE_STATIC) == SQLITE_OK;
    default: break;
    }
    return is_utf8(text, length) &&
           sqlite3_bind_text64(to, i, text, length, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
}

static bool bind_row(struct reader *r, const struct server_table *t, sqlite3_stmt *to)
{
    for (int i = 0; i < t->n; i++) {
        uint32_t length;
        if (!get32(r, &length))
            return false;
        if (length == UINT32_MAX) {
            sqlite3_bind_null(to, i + 1);
            continue;
        }
        if (r->left < length || !bind_value(to, i + 1, t->column[i].type, r->at, length))
            return false;
        r->at += length;
        r->left -= length;
    }
    return !r->left;
}

int copy_bind_row(struct copy_source *c, const char *bytes, size_t length,
                  const struct server_table *t, sqlite3_stmt *to, struct why *w)
{
    struct reader r = { (const unsigned char *) bytes, length };
    uint16_t n;
    REQUIRE(w, c->has_header || skip_header(&r), "table %s: not in the binary format of COPY",
            t->name);
    c->has_header = true;
    if (!r.left)
        return 0;
    REQUIRE(w, !c->has_ended && get(&r, &n, sizeof n), "table %s: data after the end", t->name);
    n = be16toh(n);
    c->has_ended = n == UINT16_MAX && !r.left;
    if (c->has_ended)
        return 0;
    REQUIRE(w, n == t->n && bind_row(&r, t, to), "table %s: a row that is not of this table",
            t->name);
    return 1;
}
