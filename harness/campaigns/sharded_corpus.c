#include "harness/campaigns/sharded_corpus.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/campaigns/sharded_folder.h"
#include "harness/campaigns/sharded_keys.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/store/merge.h"
#include "reports/database.h"

/* Options of the campaign's command that also change what a driver does with a specification. */
static const char *const shared[] = { "timeout",       "memory-limit", "isolate",
                                      "allow-devices", "realtime",     "extensions-allowlist",
                                      "run-as" };

/* Whether the corpus has a bucket. */
static bool has_buckets(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    bool found = false;
    while (d && !found && (e = readdir(d)))
        found = *e->d_name != '.' && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN);
    if (d)
        closedir(d);
    return found;
}

/* ---- commands of this program */

static void begin_command(const struct sharded_plan *p, struct buffer *b)
{
    buffer_puts(b, "cd ");
    buffer_put_quoted(b, p->home);
    buffer_puts(b, " && exec ");
    buffer_put_quoted(b, p->self);
}

/* Runs a command whose statuses 0 and 1 are success, and frees it; its output goes to a log. */
static int run_command(const struct sharded_plan *p, struct buffer *b, struct why *w)
{
    char log[PATH_MAX];
    sharded_folder_path(p, "logs/corpus", log);
    buffer_puts(b, " </dev/null >");
    buffer_put_quoted(b, log);
    buffer_puts(b, " 2>&1");
    fflush(NULL);
    int status = b->failed ? -1 : system(buffer_text(b));
    buffer_done(b);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_NOT_CONFORMING)
        return 0;
    return why_fail(w, WHY_SYSTEM, "%s: cannot be used, status %d; %s has the reason", p->corpus,
                    WIFEXITED(status) ? WEXITSTATUS(status) : status, log);
}

static void put_shared(const struct sharded_plan *p, struct buffer *b)
{
    const json_t *options = json_object_get(p->json, "options");
    for (int i = 0; i < COUNT(shared); i++) {
        const json_t *value = json_object_get(options, shared[i]);
        const char *text = value ? sharded_value_text(p, value) : NULL;
        if (!text && !json_is_true(value))
            continue;
        buffer_printf(b, " --%s ", shared[i]);
        if (text)
            buffer_put_quoted(b, text);
    }
}

/* Renamed when it is complete, so that a campaign that was killed meanwhile begins again.  Not with
 * --atomic: replays of an unchanged corpus would be copies of one shard when they are merged. */
static int run_corpus(const struct sharded_plan *p, const char *db, struct why *w)
{
    const json_t *targets = json_object_get(p->json, "targets");
    static const char *const endings[] = { "-wal", "-shm", "" };
    char part[PATH_MAX + 8], old[PATH_MAX + 16];
    struct buffer b = { 0 };
    snprintf(part, sizeof part, "%s.part", db);
    for (int i = 0; i < COUNT(endings); i++) {
        snprintf(old, sizeof old, "%s%s", part, endings[i]);
        unlink(old);
    }
    begin_command(p, &b);
    buffer_puts(&b, " run ");
    buffer_put_quoted(&b, p->corpus);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        buffer_puts(&b, " --target ");
        buffer_put_quoted(&b, json_string_value(json_array_get(targets, i)));
    }
    put_shared(p, &b);
    buffer_puts(&b, " --judge bound --skip-bad --no-shrink --quiet --db ");
    buffer_put_quoted(&b, part);
    TRY(run_command(p, &b, w));
    return rename(part, db) < 0 ? why_file(w, db, errno) : 0;
}

int sharded_corpus_add(const struct sharded_plan *p, const char *merged, struct why *w)
{
    struct buffer b = { 0 };
    begin_command(p, &b);
    buffer_puts(&b, " db corpus ");
    buffer_put_quoted(&b, p->corpus);
    buffer_puts(&b, " --db ");
    buffer_put_quoted(&b, merged);
    return run_command(p, &b, w);
}

/* ---- earlier replays */

/* Adds this replay to those of earlier campaigns; a second time changes nothing. */
static int keep_replay(const char *db, const char *all, struct why *w)
{
    char made[PATH_MAX + 8];
    const char *const both[] = { db, all };
    struct merge_counts counts;
    snprintf(made, sizeof made, "%s.new", all);
    unlink(made);
    TRY(results_merge(both, access(all, F_OK) == 0 ? 2 : 1, made, &counts, w));
    free(counts.missing); /* replays are no shards */
    return rename(made, all) < 0 ? why_file(w, all, errno) : 0;
}

/* Of the newest run each verdict, whether it conforms, and whether the same case did in the run
 * before that has it. */
static const char replay_sql[] =
    "WITH all_verdicts AS (SELECT c.run, c.name, t.uri, v.verdict, n.conforming FROM verdicts v "
    "JOIN cases c USING (case_id) JOIN targets t USING (target) "
    "JOIN verdict_names n ON n.name = v.verdict) "
    "SELECT name, uri, verdict, conforming, (SELECT conforming FROM all_verdicts b "
    "WHERE b.name = a.name AND b.uri = a.uri AND b.run < a.run ORDER BY b.run DESC LIMIT 1) AS was "
    "FROM all_verdicts a WHERE run = (SELECT max(run) FROM runs) "
    "ORDER BY conforming, was IS NULL OR NOT was, name, uri";

static void keep_failure(sqlite3_stmt *row, bool anew, json_t *failures)
{
    static const char *const key[] = { "case", "target", "verdict" };
    json_t *j = json_object();
    for (int i = 0; i < COUNT(key); i++)
        json_object_set_new(j, key[i], json_value_text((const char *) sqlite3_column_text(row, i)));
    json_object_set_new(j, "anew", json_boolean(anew));
    json_array_append_new(failures, j);
}

static void take_verdict(sqlite3_stmt *row, struct corpus_counts *n)
{
    enum { MOST_SHOWN = 20 };
    const bool conforms = sqlite3_column_int(row, 3),
               known = sqlite3_column_type(row, 4) != SQLITE_NULL,
               conformed = known && sqlite3_column_int(row, 4);
    n->n++;
    n->mended += conforms && known && !conformed;
    if (conforms)
        return;
    n->anew += conformed;
    n->failing++;
    if (n->failures)
        keep_failure(row, conformed, n->failures);
    if (n->failures || n->failing > MOST_SHOWN)
        return;
    printf("%s  ", conformed ? "fails anew " : "still fails");
    for (int i = 2; i >= 0; i--) {
        text_put(stdout, TEXT_TERMINAL, (const char *) sqlite3_column_text(row, i), 0);
        fputs(i ? "  " : "\n", stdout);
    }
}

static int read_replay(const char *all, struct corpus_counts *n, struct why *w)
{
    sqlite3_stmt *row;
    sqlite3 *db;
    TRY(database_read(all, &db, w));
    int step = sqlite3_prepare_v2(db, replay_sql, -1, &row, NULL);
    while (step == SQLITE_OK || step == SQLITE_ROW)
        if ((step = sqlite3_step(row)) == SQLITE_ROW)
            take_verdict(row, n);
    sqlite3_finalize(row);
    int failed = step == SQLITE_DONE ? 0 : database_failed(db, all, w);
    sqlite3_close(db);
    return failed;
}

int sharded_corpus_replay(const struct sharded_plan *p, struct corpus_counts *n, struct why *w)
{
    char db[PATH_MAX], all[PATH_MAX];
    sharded_folder_path(p, "corpus.db", db);
    snprintf(all, sizeof all, "%s/replays.db", p->corpus);
    if (access(db, F_OK) < 0) {
        if (!has_buckets(p->corpus))
            return 0;
        TRY(run_corpus(p, db, w));
    }
    TRY(keep_replay(db, all, w));
    TRY(read_replay(all, n, w));
    if (n->failures)
        return 0;
    printf("corpus: %llu verdicts on known failures: %llu do not conform, %llu of them anew; %llu "
           "are mended\n",
           (unsigned long long) n->n, (unsigned long long) n->failing, (unsigned long long) n->anew,
           (unsigned long long) n->mended);
    fflush(stdout);
    return 0;
}
