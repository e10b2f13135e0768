/* Runs in the results database: starting, resuming, finishing; and finding a recorded case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/check/nearest_case.h"
#include "harness/store/results_internal.h"

/* Runs a statement that returns no rows, and finalizes it. */
static int run_once(struct results *r, sqlite3_stmt *s, struct why *w)
{
    int step = sqlite3_step(s);
    int failed = step == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}

static void bind(sqlite3_stmt *s, int i, const char *text)
{
    sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

int results_set_owner(struct results *r, struct run_owner owner, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "UPDATE runs SET owner_pid = ?2, owner_start = ?3, owner_place = ?4, "
                        "heartbeat = ?5 WHERE run = ?1",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    if (owner.pid) {
        sqlite3_bind_int64(s, 2, owner.pid);
        sqlite3_bind_int64(s, 3, owner.start);
        bind(s, 4, owner.place);
        sqlite3_bind_int64(s, 5, owner.heartbeat);
    }
    TRY(run_once(r, s, w));
    r->owner = owner;
    return 0;
}

/* Replaces the list of files that could not be loaded. */
static int write_unloaded(struct results *r, const struct run_row *run, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "DELETE FROM unloaded_files WHERE run = ?1", &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    TRY(run_once(r, s, w));
    for (size_t i = 0; i < run->n_unloaded; i++) {
        TRY(results_prepare(r, "INSERT INTO unloaded_files VALUES (?1, ?2, ?3, ?4)", &s, w));
        sqlite3_bind_int64(s, 1, r->run);
        sqlite3_bind_int64(s, 2, (int64_t) i);
        bind(s, 3, run->unloaded[i].file);
        bind(s, 4, run->unloaded[i].why);
        TRY(run_once(r, s, w));
    }
    return 0;
}

int results_start_run(struct results *r, const struct run_row *run,
                      const struct target_row *targets, uint32_t n_targets, struct why *w)
{
    REQUIRE(w, n_targets <= MAX_TARGETS, "more than %d targets", MAX_TARGETS);
    TRY(results_begin(r, w));
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "INSERT INTO runs (kind, command, options, version, judge, n_cases, "
                        "started) VALUES (?1, ?2, ?3, '" HALCYON_VERSION "', ?4, ?5, "
                        "strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
                        &s, w));
    bind(s, 1, run->kind);
    bind(s, 2, run->command);
    bind(s, 3, run->options);
    bind(s, 4, run->judge);
    sqlite3_bind_int64(s, 5, (int64_t) run->n_cases);
    TRY(run_once(r, s, w));
    r->run = sqlite3_last_insert_rowid(r->db);
    for (uint32_t i = 0; i < n_targets; i++) {
        TRY(results_prepare(r,
                            "INSERT INTO targets (run, ordinal, uri, name, version, type, hal) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                            &s, w));
        sqlite3_bind_int64(s, 1, r->run);
        sqlite3_bind_int64(s, 2, i);
        bind(s, 3, targets[i].uri);
        bind(s, 4, targets[i].name);
        bind(s, 5, targets[i].version);
        bind(s, 6, targets[i].type);
        bind(s, 7, targets[i].hal);
        TRY(run_once(r, s, w));
        r->target[i] = sqlite3_last_insert_rowid(r->db);
    }
    r->n_targets = n_targets;
    TRY(write_unloaded(r, run, w));
    TRY(results_set_owner(r, run_owner_self(), w));
    return results_commit(r, w);
}

int results_set_performance(struct results *r, uint32_t target, const char *what, double time,
                            double power, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_begin(r, w));
    TRY(results_prepare(r, "INSERT OR REPLACE INTO target_performance VALUES (?1, ?2, ?3, ?4, ?5)",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->target[target]);
    bind(s, 3, what);
    sqlite3_bind_double(s, 4, time);
    sqlite3_bind_double(s, 5, power);
    return run_once(r, s, w);
}

/* Fails if the run has another owner by now. */
static int beat(struct results *r, int64_t now, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_begin(r, w));
    TRY(results_prepare(r,
                        "UPDATE runs SET heartbeat = ?5 WHERE run = ?1 AND owner_pid = ?2 AND "
                        "owner_start = ?3 AND owner_place = ?4",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->owner.pid);
    sqlite3_bind_int64(s, 3, r->owner.start);
    bind(s, 4, r->owner.place);
    sqlite3_bind_int64(s, 5, now);
    TRY(run_once(r, s, w));
    r->owner.heartbeat = now;
    if (sqlite3_changes(r->db))
        return 0;
    r->broken = true;
    return why_fail(w, WHY_SYSTEM, "%s: another process has taken over run %lld", r->path,
                    (long long) r->run);
}

int results_heartbeat(struct results *r, struct why *w)
{
    enum { SECONDS = 10 };
    int64_t now = (int64_t) time(NULL);
    bool recent = now >= r->owner.heartbeat && now < r->owner.heartbeat + SECONDS;
    return recent ? 0 : beat(r, now, w);
}

/* ---- resuming */

/* Loads the ids of the run's targets.  1: they are these, in this order; 0: they are others. */
static int load_targets(struct results *r, int64_t run, const struct target_row *targets,
                        uint32_t n_targets, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT target, uri FROM targets WHERE run = ?1 ORDER BY ordinal", &s,
                        w));
    sqlite3_bind_int64(s, 1, run);
    uint32_t n = 0;
    bool same = true;
    int step;
    for (; (step = sqlite3_step(s)) == SQLITE_ROW && same; n++) {
        const char *uri = (const char *) sqlite3_column_text(s, 1);
        same = n < n_targets && uri && !strcmp(uri, targets[n].uri);
        if (same)
            r->target[n] = sqlite3_column_int64(s, 0);
    }
    bool failed = step != SQLITE_DONE && step != SQLITE_ROW;
    sqlite3_finalize(s);
    return failed ? results_failed(r, w) : same && n == n_targets;
}

/* Finds the newest unfinished run of this kind, with these options and targets. */
static int find_run(struct results *r, const struct run_row *run, const struct target_row *targets,
                    uint32_t n_targets, int64_t *ret_run, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT run FROM runs WHERE finished IS NULL AND kind = ?1 AND "
                        "options = ?2 ORDER BY run DESC",
                        &s, w));
    bind(s, 1, run->kind);
    bind(s, 2, run->options);
    int found = 0, step = SQLITE_DONE;
    while (!found && (step = sqlite3_step(s)) == SQLITE_ROW) {
        *ret_run = sqlite3_column_int64(s, 0);
        found = load_targets(r, *ret_run, targets, n_targets, w);
    }
    sqlite3_finalize(s);
    return found || step == SQLITE_DONE ? found : results_failed(r, w);
}

int results_check_owner(struct results *r, int64_t run, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT owner_pid, owner_start, owner_place, heartbeat FROM runs "
                        "WHERE run = ?1 AND owner_pid IS NOT NULL",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = sqlite3_step(s);
    struct run_owner o = { .pid = sqlite3_column_int64(s, 0),
                           .start = sqlite3_column_int64(s, 1),
                           .heartbeat = sqlite3_column_int64(s, 3) };
    const char *place = (const char *) sqlite3_column_text(s, 2);
    snprintf(o.place, sizeof o.place, "%s", place ? place : "");
    sqlite3_finalize(s);
    if (step != SQLITE_ROW)
        return step == SQLITE_DONE ? 0 : results_failed(r, w);
    REQUIRE(w, !run_owner_is_alive(&o), "%s: run %lld is being written by process %lld on %.*s",
            r->path, (long long) run, (long long) o.pid, (int) strcspn(o.place, " "), o.place);
    return 0;
}

/* Removes the cases that are to be run again.  A rule has no specification, and is not run on
 * targets of other versions. */
static int remove_incomplete(struct results *r, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(
        r,
        "DELETE FROM cases WHERE run = ?1 AND suite IS NULL AND ((SELECT count(*) "
        "FROM verdicts v WHERE v.case_id = cases.case_id) <> ?2 OR (spec IS NULL AND EXISTS "
        "(SELECT 1 FROM failures f WHERE f.case_id = cases.case_id)))",
        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->n_targets);
    return run_once(r, s, w);
}

int results_resume_run(struct results *r, const struct run_row *run,
                       const struct target_row *targets, uint32_t n_targets, struct why *w)
{
    int64_t id = 0;
    /* The first pass only reads, so that a run in progress is rejected without waiting for its
     * writer; the second one is in a write transaction, so that no other process resumes the run.
     */
    for (int i = 0; i < 2; i++) {
        int found = find_run(r, run, targets, n_targets, &id, w);
        if (found <= 0)
            return found;
        TRY(results_check_owner(r, id, w));
        TRY(results_begin(r, w));
    }
    r->run = id;
    r->n_targets = n_targets;
    TRY(results_set_owner(r, run_owner_self(), w));
    TRY(write_unloaded(r, run, w));
    TRY(remove_incomplete(r, w));
    TRY(results_load_counted(r, w));
    TRY(results_commit(r, w));
    return 1;
}

int results_finish_run(struct results *r, double seconds, struct why *w)
{
    sqlite3_stmt *s;
    TRY(beat(r, r->owner.heartbeat, w));
    TRY(results_prepare(r,
                        "UPDATE runs SET finished = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), "
                        "seconds = ?2 WHERE run = ?1",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_double(s, 2, seconds);
    TRY(run_once(r, s, w));
    TRY(results_write_counted(r, true, w));
    TRY(results_set_owner(r, (struct run_owner){ 0 }, w));
    return results_commit(r, w);
}

int results_each_verdict(struct results *r,
                         void (*each)(uint64_t ordinal, uint32_t target, enum verdict v,
                                      void *user),
                         void *user, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT ordinal, target_ordinal, verdict FROM details WHERE run = ?1",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(s, 2);
        int v = name ? verdict_by_name(name) : -1;
        if (v >= 0)
            each((uint64_t) sqlite3_column_int64(s, 0), (uint32_t) sqlite3_column_int(s, 1),
                 (enum verdict) v, user);
    }
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_each_target(struct results *r,
                        void (*each)(uint32_t target, uint64_t compared, void *user), void *user,
                        struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT target_ordinal, sum(checked) FROM details WHERE run = ?1 "
                        "GROUP BY target_ordinal",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        each((uint32_t) sqlite3_column_int(s, 0), (uint64_t) sqlite3_column_int64(s, 1), user);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_each_note(struct results *r,
                      int (*each)(uint32_t target, const char *text, void *user, struct why *w),
                      void *user, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT t.ordinal, n.text FROM run_notes n JOIN targets t USING (target) "
                        "WHERE n.run = ?1 ORDER BY 1, 2",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = each((uint32_t) sqlite3_column_int(s, 0), (const char *) sqlite3_column_text(s, 1),
                      user, w);
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

/* ---- finding a case again */

static char *column_copy(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return text ? strdup(text) : NULL;
}

/* Names of a database before version 4 lack the options of random cases: several cases, of runs
 * with different options, may have one name. */
static int check_old_name(struct results *r, const char *name, struct why *w)
{
    sqlite3_stmt *s;
    if (!randgraph_is_old_name(name))
        return 0;
    TRY(results_prepare(r,
                        "SELECT count(DISTINCT CASE WHEN json_valid(options) THEN options ->> "
                        "'$.graphs' END) FROM cases JOIN runs USING (run) WHERE name = ?1 AND "
                        "file IS NULL",
                        &s, w));
    bind(s, 1, name);
    int n = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : -1;
    sqlite3_finalize(s);
    if (n < 0)
        return results_failed(r, w);
    REQUIRE(w, n <= 1,
            "%s: has %d cases %s, generated with different options; 'halcyon run' or 'halcyon "
            "random' with this database upgrades it, and gives each a name of its own",
            r->path, n, name);
    return 0;
}

static int find_row(struct results *r, const char *name, struct recorded_case *f, int64_t *ret_case,
                    struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT r.run, r.kind, r.options, text_of(c.spec), c.file, c.seed, c.idx, "
                        "r.judge, c.case_id FROM cases c JOIN runs r USING (run) "
                        "WHERE c.name = ?1 ORDER BY c.spec IS NULL, r.run DESC LIMIT 1",
                        &s, w));
    bind(s, 1, name);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *f = (struct recorded_case){ .run = sqlite3_column_int64(s, 0),
                                     .kind = column_copy(s, 1),
                                     .options = column_copy(s, 2),
                                     .spec = column_copy(s, 3),
                                     .file = column_copy(s, 4),
                                     .judge = column_copy(s, 7),
                                     .seed = (uint64_t) sqlite3_column_int64(s, 5),
                                     .index = (uint64_t) sqlite3_column_int64(s, 6) };
        *ret_case = sqlite3_column_int64(s, 8);
    }
    sqlite3_finalize(s);
    if (step == SQLITE_ROW)
        return 1;
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_find_case(struct results *r, const char *name, struct recorded_case *ret_case,
                      struct why *w)
{
    struct recorded_case f = { 0 };
    int64_t case_id = 0;
    TRY(check_old_name(r, name, w));
    int found = find_row(r, name, &f, &case_id, w);
    if (found <= 0)
        return found;
    sqlite3_stmt *s;
    int failed = results_prepare(
        r, "SELECT uri FROM failures WHERE case_id = ?1 ORDER BY target_ordinal", &s, w);
    if (!failed) {
        sqlite3_bind_int64(s, 1, case_id);
        while (f.n_targets < 32 && sqlite3_step(s) == SQLITE_ROW) {
            char *uri = column_copy(s, 0);
            if (uri)
                f.target[f.n_targets++] = uri;
        }
        sqlite3_finalize(s);
    }
    if (failed || !f.kind || !f.options || !f.judge) {
        recorded_case_done(&f);
        return why_no_memory(w);
    }
    *ret_case = f;
    return 1;
}

const char *results_nearest_case(struct results *r, const char *name, char text[])
{
    struct nearest_case n = nearest_case_to(name);
    sqlite3_stmt *s;

    if (results_prepare(r, "SELECT DISTINCT name FROM cases ORDER BY name LIMIT 100000", &s,
                        NULL) == 0) {
        while (sqlite3_step(s) == SQLITE_ROW)
            nearest_case_consider(&n, (const char *) sqlite3_column_text(s, 0));
        sqlite3_finalize(s);
    }
    return nearest_case_text(&n, text);
}

void recorded_case_done(struct recorded_case *f)
{
    free(f->kind);
    free(f->options);
    free(f->spec);
    free(f->file);
    free(f->judge);
    for (uint32_t i = 0; i < f->n_targets; i++)
        free(f->target[i]);
    *f = (struct recorded_case){ 0 };
}
