#define _GNU_SOURCE
#include "reports/database.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "reports/packed_bytes.h"
#include "reports/packed_text.h"

enum { BUSY_MS = 20000, APPLICATION = 1212238937 }; /* harness/store/schema.sql */

/* The operating system's error behind the last error of SQLite; 0: none is known. */
static int system_error(sqlite3 *db, int error)
{
    int code = sqlite3_errcode(db), known = sqlite3_system_errno(db);
    if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN && code != SQLITE_FULL)
        return 0;
    return known ? known : why_is_shortage(error) ? error : 0;
}

static const char expected[] =
    "a results database, which 'halcyon run', 'random' and 'conform' write";

int database_failed(sqlite3 *db, const char *path, struct why *w)
{
    int error = system_error(db, errno), code = sqlite3_errcode(db);
    bool bad_file = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_READONLY ||
                    code == SQLITE_CANTOPEN || code == SQLITE_ERROR;
    enum why_code kind = bad_file && !why_is_shortage(error) ? WHY_INVALID : WHY_SYSTEM;
    if (code == SQLITE_NOTADB)
        return why_fail(w, kind, "%s: not a database; expected %s", path, expected);
    if (error)
        return why_fail(w, kind, "%s: %s (%s)", path, sqlite3_errmsg(db), strerror(error));
    return why_fail(w, kind, "%s: %s", path, sqlite3_errmsg(db));
}

static int fail(const char *path, sqlite3 *db, struct why *w)
{
    if (db)
        database_failed(db, path, w);
    else
        why_no_memory(w);
    sqlite3_close(db);
    return -1;
}

/* Reads the file's header, which takes the locks.  Returns an SQLite status. */
static int read_header(sqlite3 *db)
{
    sqlite3_busy_timeout(db, BUSY_MS);
    int code = packed_text_functions(db);
    if (code != SQLITE_OK)
        return code;
    return sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
}

/* "file:PATH?immutable=1" with PATH escaped, malloced; NULL: out of memory. */
static char *immutable_uri(const char *path)
{
    char *uri = malloc(3 * strlen(path) + 32), *at = uri;
    if (!uri)
        return NULL;
    at = stpcpy(at, "file:");
    for (; *path; path++)
        if (isalnum((unsigned char) *path) || strchr("/._-", *path))
            *at++ = *path;
        else
            at += sprintf(at, "%%%02X", (unsigned char) *path);
    strcpy(at, "?immutable=1");
    return uri;
}

/* Whether a write-ahead log with content lies beside the file: opening it as immutable would miss
 * that content. */
static bool has_journal(const char *path)
{
    char *wal = NULL;
    struct stat about;
    if (asprintf(&wal, "%s-wal", path) < 0)
        return true;
    bool has = stat(wal, &about) == 0 && about.st_size > 0;
    free(wal);
    return has;
}

static int read_immutable(const char *path, sqlite3 **ret_db, struct why *w)
{
    char *uri = immutable_uri(path);
    sqlite3 *db = NULL;
    if (!uri)
        return why_no_memory(w);
    int code = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(uri);
    if (code != SQLITE_OK || read_header(db) != SQLITE_OK)
        return fail(path, db, w);
    *ret_db = db;
    return 0;
}

int database_check_path(const char *path, struct why *w)
{
    struct stat s;
    REQUIRE(w, stat(path, &s) < 0 || !S_ISDIR(s.st_mode),
            "%s: is a folder; expected the file of a results database", path);
    return 0;
}

/* ---- compressed files */

/* The bytes of a file, for free(). */
static int read_bytes(const char *path, char **ret_bytes, size_t *ret_n, struct why *w)
{
    struct stat about;
    FILE *from = fopen(path, "rbe");
    if (!from || fstat(fileno(from), &about) < 0) {
        int error = errno;
        if (from)
            fclose(from);
        return why_file(w, path, error);
    }
    const size_t n = about.st_size > 0 ? (size_t) about.st_size : 0;
    char *bytes = malloc(n + 1);
    errno = 0;
    bool read = bytes && fread(bytes, 1, n, from) == n;
    int failed = read ? 0 : bytes ? why_file(w, path, errno ? errno : EIO) : why_no_memory(w);
    fclose(from);
    if (failed) {
        free(bytes);
        return failed;
    }
    *ret_bytes = bytes;
    *ret_n = n;
    return 0;
}

bool database_is_packed(const char *path)
{
    char head[4];
    FILE *from = fopen(path, "rbe");
    bool is_packed =
        from && fread(head, sizeof head, 1, from) == 1 && bytes_are_packed(head, sizeof head);
    if (from)
        fclose(from);
    return is_packed;
}

/* The database in a compressed file, for sqlite3_free(); NULL: the file is not compressed. */
static int unpack_file(const char *path, char **ret_bytes, size_t *ret_n, struct why *w)
{
    char *bytes = NULL;
    size_t n = 0;
    *ret_bytes = NULL;
    if (!database_is_packed(path))
        return 0;
    TRY(read_bytes(path, &bytes, &n, w));
    *ret_bytes = bytes_unpacked(bytes, n, ret_n);
    free(bytes);
    REQUIRE(w, *ret_bytes, "%s: a compressed database that is damaged, or larger than 512 MB",
            path);
    return 0;
}

int database_pack(const char *path, struct why *w)
{
    char *bytes = NULL;
    size_t n = 0, size = 0;
    TRY(read_bytes(path, &bytes, &n, w));
    char *packed = bytes_packed(bytes, n, PACKED_SMALL, &size);
    int failed = packed ? output_file_write(path, packed, size, w) : why_no_memory(w);
    sqlite3_free(packed);
    free(bytes);
    return failed;
}

/* Opens a copy in memory of a compressed database; its bytes are the connection's from then on. */
static int read_packed(const char *path, char *bytes, size_t n, sqlite3 **ret_db, struct why *w)
{
    enum { FLAGS = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY };
    sqlite3 *db = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
        sqlite3_free(bytes);
        return fail(path, db, w);
    }
    if (sqlite3_deserialize(db, "main", (unsigned char *) bytes, (sqlite3_int64) n,
                            (sqlite3_int64) n, FLAGS) != SQLITE_OK || /* which frees the bytes */
        read_header(db) != SQLITE_OK)
        return fail(path, db, w);
    *ret_db = db;
    return 0;
}

int database_read(const char *path, sqlite3 **ret_db, struct why *w)
{
    sqlite3 *db = NULL;
    char *bytes;
    size_t n = 0;
    TRY(database_check_path(path, w));
    if (access(path, R_OK) < 0)
        return why_file(w, path, errno);
    TRY(unpack_file(path, &bytes, &n, w));
    if (bytes)
        return read_packed(path, bytes, n, ret_db, w);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return fail(path, db, w);
    int code = read_header(db);
    if ((code == SQLITE_READONLY || code == SQLITE_CANTOPEN) && !has_journal(path)) {
        sqlite3_close(db);
        return read_immutable(path, ret_db, w);
    }
    if (code != SQLITE_OK)
        return fail(path, db, w);
    *ret_db = db;
    return 0;
}

int database_version(sqlite3 *db, const char *path, int *ret_version, struct why *w)
{
    static const char sql[] = "SELECT application_id, user_version, (SELECT count(*) FROM "
                              "sqlite_schema) FROM pragma_application_id, pragma_user_version";
    sqlite3_stmt *row;
    int64_t id = 0, version = 0, tables = 0;
    int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        id = sqlite3_column_int64(row, 0);
        version = sqlite3_column_int64(row, 1);
        tables = sqlite3_column_int64(row, 2);
    }
    sqlite3_finalize(row);
    if (code != SQLITE_ROW)
        return database_failed(db, path, w);
    if (!tables && !id && !version) {
        *ret_version = 0;
        return 0;
    }
    REQUIRE(w, id == APPLICATION, "%s: the file of another program, not %s", path, expected);
    REQUIRE(w, version >= 1 && version <= DATABASE_VERSION,
            "%s: has schema version %lld, expected 1 to %d", path, (long long) version,
            DATABASE_VERSION);
    *ret_version = (int) version;
    return 0;
}

int database_unpack(const char *path, struct why *w)
{
    char *bytes;
    size_t n = 0;
    sqlite3 *db = NULL;
    int version;
    TRY(unpack_file(path, &bytes, &n, w));
    if (!bytes)
        return 0;
    int failed = database_read(path, &db, w);
    if (!failed)
        failed = database_version(db, path, &version, w);
    sqlite3_close(db);
    if (!failed)
        failed = output_file_write(path, bytes, n, w);
    sqlite3_free(bytes);
    return failed;
}

int database_check_version(sqlite3 *db, const char *path, int *ret_version, struct why *w)
{
    TRY(database_version(db, path, ret_version, w));
    REQUIRE(w, *ret_version, "%s: the database is empty; expected %s", path, expected);
    return 0;
}

int database_check_run(sqlite3 *db, const char *path, int64_t run, struct why *w)
{
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FILTER (WHERE run = ?1), max(run) FROM main.runs",
                           -1, &row, NULL) != SQLITE_OK)
        return database_failed(db, path, w);
    sqlite3_bind_int64(row, 1, run);
    const bool read = sqlite3_step(row) == SQLITE_ROW;
    const int64_t n = sqlite3_column_int64(row, 0), newest = sqlite3_column_int64(row, 1);
    sqlite3_finalize(row);
    if (!read)
        return database_failed(db, path, w);
    REQUIRE(w, n, "%s: has no run %lld; the newest is %lld", path, (long long) run,
            (long long) newest);
    return 0;
}
