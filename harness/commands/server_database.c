#include "harness/commands/server_database.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/server/pull.h"
#include "harness/server/server_url.h"

enum { MOST_RUNS = 64 };

/* What a command reads. */
struct needed {
    int64_t run[MOST_RUNS];
    struct pull_filter filter;
};

/* The runs that all arguments name: "3", and for `diff` also "3@TARGET"; else all runs. */
static void need_arguments(struct needed *n, const struct options *o)
{
    for (int i = 0; i < o->n_arguments && i < MOST_RUNS; i++) {
        char *end = o->argument[i];
        n->run[i] = isdigit((unsigned char) *end) ? strtoll(end, &end, 10) : 0;
        if (end == o->argument[i] || (*end && *end != '@') || n->run[i] <= 0)
            return;
    }
    n->filter.n_runs = o->n_arguments <= MOST_RUNS ? (size_t) o->n_arguments : 0;
}

static void need_cases(struct needed *n, const struct options *o, int first)
{
    n->filter.case_name = (const char *const *) o->argument + first;
    n->filter.n_cases = o->n_arguments > first ? (size_t) (o->n_arguments - first) : 0;
}

static void need_run(struct needed *n, const struct options *o)
{
    n->run[0] = o->run;
    n->filter.n_runs = o->run != 0;
}

/* 1: the action itself asks the server. */
static int need_of_db(struct needed *n, const struct options *o, struct why *w)
{
    const char *action = o->n_arguments ? o->argument[0] : "";
    if (!strcmp(action, "spec"))
        need_cases(n, o, 1);
    else if (!strcmp(action, "export") || !strcmp(action, "check"))
        need_run(n, o);
    else if (!strcmp(action, "prune") || !strcmp(action, "compact"))
        return why_fail(w, WHY_INVALID,
                        "'halcyon db %s' changes files only; on a server its administrator removes "
                        "runs, by SELECT remove_run(RUN) (docs/postgresql.md)",
                        action);
    else if (!strcmp(action, "push"))
        return why_fail(w, WHY_INVALID,
                        "--db: expected the file to copy from; the server is the argument of "
                        "'halcyon db push'");
    else
        return 1;
    return 0;
}

static int need(const struct command *c, const struct options *o, struct needed *ret_needed,
                struct why *w)
{
    struct needed *n = ret_needed;
    *n = (struct needed){ .filter.run = n->run };
    switch (c->bit) {
    case CMD_REPORT:
    case CMD_BASELINE: need_run(n, o); return 0;
    case CMD_COVERAGE:
        need_arguments(n, o);
        n->filter.no_cases = true;
        return 0;
    case CMD_DIFF: need_arguments(n, o); return 0;
    case CMD_REPLAY:
    case CMD_EXPLAIN:
    case CMD_SHRINK:
    case CMD_DUMP:
    case CMD_LEVELS:
    case CMD_PLAN: need_cases(n, o, 0); return 0;
    case CMD_DB: return need_of_db(n, o, w);
    default:
        return why_fail(
            w, WHY_INVALID,
            "--db: 'halcyon %s' writes to a file; 'halcyon db push URL' copies its runs "
            "to a server afterwards",
            c->name);
    }
}

static int pull(struct needed *n, const char *url, struct server_database *d, struct why *w)
{
    scratch_folder_remove_stale();
    TRY(scratch_folder_make(&d->folder, w));
    d->shown = server_shown_url(url);
    if (!d->shown || asprintf(&d->path, "%s/halcyon.db", d->folder.path) < 0) {
        d->path = NULL;
        return why_no_memory(w);
    }
    n->filter.replayed_with = d->shown;
    return server_pull(url, &n->filter, d->path, w);
}

int server_database_use(const struct command *c, struct options *o, struct server_database *d,
                        struct why *w)
{
    struct needed n;
    if (!server_is_url(o->db))
        return 0;
    int itself = need(c, o, &n, w);
    TRY(itself);
    if (itself)
        return 0;
    TRY(pull(&n, o->db, d, w));
    o->db = d->path;
    o->db_shown = d->shown;
    return 0;
}

void server_database_done(struct server_database *d)
{
    scratch_folder_remove(&d->folder);
    free(d->path);
    free(d->shown);
}
