/* Which buckets of different runs are one bug.
 *
 * A bucket is named after the operations and types that its failures are of, "fail ADD, MUL
 * (TENSOR_FLOAT32; broadcast): wrap-around" (harness/shrink/bucket.c), so that a fault may be named
 * differently in the next run, whose cases are others.  Two names are of one bug if they share a
 * target, an operation and a type, have the same verdict, attributes and hypothesis, and no run has
 * both.  The bug's key is the name that it had first, so that its address stays the same.
 *
 * Buckets of summaries are named after one operation and type; those of one cause, the bucket that
 * shrinking found for their first cases, are one bug. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "reports/database.h"
#include "reports/site/site_queries.h"

struct bucket_name {
    char *text, *key; /* key: the text of another one, or of this one */
    int64_t run;      /* the first one */
    /* Parts of text, whose ends are set to 0 in a copy: "fail", "ADD, MUL", ... */
    char *copy, *head, *operations, *types, *attributes, *rest;
};

/* Splits "HEAD OPERATIONS(TYPES; ATTRIBUTES)REST"; other names have no operations. */
static int split(struct bucket_name *b)
{
    b->copy = strdup(b->text);
    if (!b->copy)
        return -1;
    char *open = strchr(b->copy, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close || strchr(close, '(') || open == b->copy)
        return 0;
    *open = *close = 0;
    char *end = strchr(b->copy, ','), *others = strstr(b->copy, " and "), *first;
    if (others)
        *others = 0;
    if (end)
        *end = 0;
    first = strrchr(b->copy, ' ');
    if (end)
        *end = ',';
    if (!first)
        return 0;
    *first = 0;
    b->head = b->copy;
    b->operations = first + 1;
    b->types = open + 1;
    b->attributes = strchr(b->types, ';');
    if (b->attributes)
        *b->attributes++ = 0;
    else
        b->attributes = "";
    b->rest = close + 1;
    return 0;
}

/* Whether two lists, "A, B", share an item. */
static bool share_item(const char *x, const char *y)
{
    while (*x) {
        size_t length = strcspn(x, ",");
        for (const char *at = y; *at;) {
            size_t other = strcspn(at, ",");
            if (other == length && !memcmp(x, at, length))
                return true;
            at += other + strspn(at + other, ", ");
        }
        x += length + strspn(x + length, ", ");
    }
    return false;
}

static bool are_alike(const struct bucket_name *a, const struct bucket_name *b)
{
    return a->operations && b->operations && !strcmp(a->rest, b->rest) &&
           !strcmp(a->head, b->head) && !strcmp(a->attributes, b->attributes) &&
           share_item(a->operations, b->operations) && share_item(a->types, b->types);
}

/* ?1: a name, ?2: the key of another one: whether they share a target, and no run has both. */
static const char select_separate[] =
    "SELECT EXISTS (SELECT 1 FROM bucket_seen a JOIN bucket_seen b ON a.uri = b.uri "
    "  JOIN bucket_bug g ON g.bucket = b.bucket WHERE a.bucket = ?1 AND g.key = ?2)"
    "AND NOT EXISTS (SELECT 1 FROM bucket_seen a JOIN bucket_seen b ON a.run = b.run "
    "  JOIN bucket_bug g ON g.bucket = b.bucket WHERE a.bucket = ?1 AND g.key = ?2)";

static bool are_separate(sqlite3_stmt *separate, const char *name, const char *key)
{
    sqlite3_reset(separate);
    sqlite3_bind_text(separate, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(separate, 2, key, -1, SQLITE_STATIC);
    return sqlite3_step(separate) == SQLITE_ROW && sqlite3_column_int(separate, 0);
}

struct bucket_names {
    struct bucket_name *of;
    size_t n;
};

static int add_name(struct bucket_names *all, sqlite3_stmt *row)
{
    struct bucket_name *of = array_room(all->of, all->n, sizeof *of);
    if (!of)
        return -1;
    all->of = of;
    struct bucket_name *b = &all->of[all->n];
    *b = (struct bucket_name){ .run = sqlite3_column_int64(row, 1) };
    b->text = strdup((const char *) sqlite3_column_text(row, 0));
    if (!b->text)
        return -1;
    all->n++;
    return split(b);
}

static int find_key(struct bucket_names *all, size_t i, sqlite3_stmt *separate,
                    sqlite3_stmt *insert)
{
    struct bucket_name *b = &all->of[i];
    b->key = b->text;
    for (size_t k = 0; k < i && b->key == b->text; k++)
        if (all->of[k].run < b->run && are_alike(&all->of[k], b) &&
            are_separate(separate, b->text, all->of[k].key))
            b->key = all->of[k].key;
    sqlite3_reset(insert);
    sqlite3_bind_text(insert, 1, b->text, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, b->key, -1, SQLITE_STATIC);
    return sqlite3_step(insert) == SQLITE_DONE ? 0 : -1;
}

static int find_keys(sqlite3 *db, struct bucket_names *all)
{
    sqlite3_stmt *row = NULL, *separate = NULL, *insert = NULL;
    int failed = -1;
    if (sqlite3_prepare_v2(db, "SELECT bucket, min(run) FROM bucket_seen GROUP BY 1 ORDER BY 2, 1",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, select_separate, -1, &separate, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO bucket_bug VALUES (?1, ?2)", -1, &insert, NULL) ==
            SQLITE_OK)
        failed = 0;
    while (!failed && sqlite3_step(row) == SQLITE_ROW)
        failed = add_name(all, row);
    for (size_t i = 0; !failed && i < all->n; i++)
        failed = find_key(all, i, separate, insert);
    sqlite3_finalize(row);
    sqlite3_finalize(separate);
    sqlite3_finalize(insert);
    return failed;
}

static const char join_by_cause[] =
    "CREATE TEMP TABLE bucket_cause AS SELECT bucket, cause, row_number() OVER (PARTITION BY "
    "bucket "
    "  ORDER BY n DESC, cause) AS place FROM (SELECT key AS bucket, cause, sum(n) AS n FROM "
    "  summary_buckets WHERE cause IS NOT NULL GROUP BY key, cause);"
    "UPDATE bucket_bug SET key = coalesce((SELECT g.key FROM bucket_bug g WHERE g.bucket = "
    "c.cause), "
    "  c.cause) FROM bucket_cause c WHERE c.bucket = bucket_bug.bucket AND c.place = 1;";

int site_join_buckets(sqlite3 *db, const char *path, struct why *w)
{
    static const char create[] =
        "CREATE TEMP TABLE bucket_seen (run, bucket TEXT, uri TEXT);"
        "INSERT INTO bucket_seen SELECT DISTINCT run, bucket, uri FROM details"
        "  WHERE bucket IS NOT NULL;"
        "CREATE INDEX temp.seen_by_bucket ON bucket_seen (bucket, uri, run);"
        "CREATE TEMP TABLE bucket_bug (bucket TEXT PRIMARY KEY, key TEXT);"
        "CREATE INDEX temp.bucket_by_key ON bucket_bug (key);";
    struct bucket_names all = { 0 };
    int failed = sqlite3_exec(db, create, NULL, NULL, NULL) == SQLITE_OK ? find_keys(db, &all) : -1;
    if (!failed && sqlite3_exec(db, join_by_cause, NULL, NULL, NULL) != SQLITE_OK)
        failed = -1;
    for (size_t i = 0; i < all.n; i++) {
        free(all.of[i].copy);
        free(all.of[i].text);
    }
    free(all.of);
    return failed ? database_failed(db, path, w) : 0;
}
