#include "harness/campaigns/sharded_estimate.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/campaigns/sharded_folder.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/check/verdict.h"
#include "reports/database.h"

/* Cases that were run here. */
struct estimate_sample {
    double cases, seconds;
    double bytes; /* of a case in the database; with --summary of the whole */
};

/* The first cases, with limits that end it within 1.4 seconds.  Its last line is the summary. */
static void put_sample_command(const struct sharded_plan *p, const char *db, struct buffer *b)
{
    buffer_puts(b, "cd ");
    buffer_put_quoted(b, p->home);
    buffer_puts(b, " && timeout -k 1 1.4 ");
    buffer_put_quoted(b, p->program);
    for (uint32_t i = 0; i < p->n_words; i++) {
        buffer_puts(b, " ");
        buffer_put_quoted(b, p->word[i]);
    }
    buffer_printf(b, "%s --count %llu --for 1s --no-shrink -q --json --db ",
                  p->summary ? " --summary" : "",
                  (unsigned long long) (p->n_cases < 1000 ? p->n_cases : 1000));
    buffer_put_quoted(b, db);
    buffer_puts(b, " </dev/null 2>/dev/null | tail -n 1");
}

static bool run_sample(const struct sharded_plan *p, const char *db, struct estimate_sample *ret)
{
    struct buffer b = { 0 };
    json_error_t error;
    put_sample_command(p, db, &b);
    fflush(NULL);
    FILE *f = b.failed ? NULL : popen(buffer_text(&b), "re");
    json_t *line = f ? json_loadf(f, 0, &error) : NULL;
    const json_t *summary = json_object_get(line, "summary");
    double verdicts = 0;
    buffer_done(&b);
    if (f)
        pclose(f);
    for (int v = 0; v < VERDICT_COUNT; v++)
        verdicts += json_number_value(json_object_get(summary, verdict_name[v]));
    ret->cases = verdicts / (double) json_array_size(json_object_get(p->identity, "targets"));
    ret->seconds = json_number_value(json_object_get(summary, "seconds"));
    json_decref(line);
    return ret->cases > 0 && ret->seconds > 0;
}

/* Bytes of the tables that grow with the cases, and of their indices; of a summary, of the whole,
 * compressed as a shard is.  0: not known. */
static double measure_database(const struct sharded_plan *p, const char *path)
{
    static const char rows[] =
        "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE "
        "tbl_name IN ('cases', 'case_operations', 'verdicts'))";
    struct why ignored;
    struct stat file;
    sqlite3 *db;
    sqlite3_stmt *row;
    double bytes = 0;
    if (p->summary)
        return database_pack(path, &ignored) == 0 && stat(path, &file) == 0 ? (double) file.st_size
                                                                            : 0;
    if (database_read(path, &db, &ignored) < 0)
        return 0;
    if (sqlite3_prepare_v2(db, rows, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        bytes = sqlite3_column_double(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return bytes;
}

static bool take_sample(const struct sharded_plan *p, struct estimate_sample *ret)
{
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX], path[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/halcyon-estimate-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof path, "%s/r.db", folder);
    bool good = run_sample(p, path, ret);
    if (good)
        ret->bytes = measure_database(p, path);
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (int i = 0; i < COUNT(endings); i++) {
        snprintf(path, sizeof path, "%s/r.db%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
    return good;
}

struct sharded_estimate sharded_estimate_make(const struct sharded_plan *p, uint64_t n)
{
    struct sharded_estimate e = { 0 };
    struct estimate_sample s = { 0 };
    if (!p->n_cases)
        snprintf(e.why_not, sizeof e.why_not, "halcyon %s counts its cases when it loads them",
                 p->command->name);
    else if (!take_sample(p, &s))
        snprintf(e.why_not, sizeof e.why_not, "no case ended within a second here");
    if (*e.why_not)
        return e;
    const double cases = (double) p->n_cases / (double) p->n_shards * (double) n;
    e.sample = s.cases;
    e.per_second = s.cases / s.seconds;
    e.core_seconds = cases / e.per_second;
    e.jobs = (double) (p->jobs < n ? p->jobs : n ? n : 1);
    e.seconds = e.core_seconds / e.jobs;
    e.bytes = p->summary ? s.bytes * (double) n : s.bytes / s.cases * cases;
    return e;
}

/* ---- output */

static void print_size(double bytes, FILE *to)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    int i = 0;
    for (; bytes >= 1000 && i < COUNT(units) - 1; i++)
        bytes /= 1000;
    fprintf(to, "%.3g %s", bytes, units[i]);
}

void sharded_estimate_print(const struct sharded_estimate *e, FILE *to)
{
    char time[32];
    fputs("estimate  ", to);
    if (*e->why_not) {
        fprintf(to, "not known: %s\n", e->why_not);
        return;
    }
    fprintf(to, "%.0f cases a second in one process here (%.0f cases): ", e->per_second, e->sample);
    fprintf(to, "%s of one core, ", text_duration(e->core_seconds, time));
    fprintf(to, "%s with %.0f at a time; ", text_duration(e->seconds, time), e->jobs);
    print_size(e->bytes, to);
    fputs(" of databases\n", to);
}

json_t *sharded_estimate_json(const struct sharded_estimate *e)
{
    json_t *j = json_object();
    if (*e->why_not) {
        json_object_set_new(j, "not_known", json_string(e->why_not));
        return j;
    }
    json_object_set_new(j, "sample", json_value_number(e->sample));
    json_object_set_new(j, "cases_per_second", json_value_number(e->per_second));
    json_object_set_new(j, "core_seconds", json_value_number(e->core_seconds));
    json_object_set_new(j, "seconds", json_value_number(e->seconds));
    json_object_set_new(j, "bytes", json_value_number(e->bytes));
    return j;
}
