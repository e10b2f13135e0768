#include "harness/cases/steered.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"

/* ---- recorded sets */

/* 1: found; 0: the database does not have it. */
static int read_set(struct results *r, const struct options *o, const char *digest,
                    struct randgraph_steering **ret, struct why *w)
{
    char *text = NULL;
    int found = results_find_set(r, SET_STEERING, digest, &text, w);
    if (found == 1 && randgraph_steering_parse(text, ret, w) < 0)
        found = why_prefix(w, "%s: steering set %s", o->db, digest);
    free(text);
    return found;
}

int steered_name(const struct options *o, uint64_t digest, struct randgraph_steering **ret_set,
                 struct why *w)
{
    struct results *r;
    char text[SET_DIGEST];
    int found = 0;
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    if (access(o->db, F_OK) == 0) {
        TRY(results_open(o->db, RESULTS_READ, &r, w));
        found = read_set(r, o, text, ret_set, w);
        results_close(r);
    }
    TRY(found);
    REQUIRE(w, found,
            "the case was drawn by the steering set %s, which %s does not have; expected --db with "
            "the database of the run",
            text, o->db);
    return 0;
}

static int read_recorded(struct drawn_for *d, const struct options *o, struct results *r,
                         struct why *w)
{
    for (uint32_t t = 0; t < d->n_steering; t++) {
        struct randgraph_steering *set = NULL;
        if (!d->steering_digest[t][0])
            continue;
        int found = read_set(r, o, d->steering_digest[t], &set, w);
        TRY(found);
        REQUIRE(w, found, "%s: lacks the steering set %s of the run", o->db, d->steering_digest[t]);
        d->steering[t] = set;
    }
    return 0;
}

/* The digests of the unfinished run of these graphs, if there is one. */
static int find_unfinished(struct drawn_for *d, const struct options *o, struct results *r,
                           struct why *w)
{
    struct buffer graphs = { 0 };
    struct recorded_run run = { 0 };
    options_put_graphs(&graphs, &o->graphs);
    json_t *like = json_pack(
        "{s:o, s:I, s:s, s:i}", "seed", json_sprintf("%llu", (unsigned long long) o->seed), "count",
        (json_int_t) o->count, "graphs", buffer_text(&graphs), "generator", RANDGRAPH_VERSION);
    char *text = like ? json_dumps(like, JSON_COMPACT) : NULL;
    int found = text ? results_find_unfinished(r, "random", text, &run, w) : why_no_memory(w);
    json_t *options = found == 1 ? json_loads(run.options, 0, NULL) : NULL;
    if (options)
        drawn_for_use_steering(d, json_object_get(options, "cov"));
    json_decref(options);
    json_decref(like);
    free(text);
    buffer_done(&graphs);
    recorded_run_done(&run);
    return found < 0 ? -1 : 0;
}

/* ---- new sets */

static int count_target(struct results *r, const char *uri, struct randgraph_coverage *c,
                        struct why *w)
{
    json_t *list = json_pack("[s]", uri);
    char *targets = list ? json_dumps(list, 0) : NULL;
    struct coverage_filter filter = { .targets = targets, .kind = "random" };
    int failed = targets ? results_read_coverage(r, &filter, c, w) : why_no_memory(w);
    free(targets);
    json_decref(list);
    return failed;
}

static int make_set(struct drawn_for *d, const struct options *o, uint32_t t, struct results *r,
                    struct why *w)
{
    const struct randgraph_support *support = t < d->n ? d->use[t] : NULL;
    struct randgraph_coverage *c = randgraph_coverage_new();
    struct randgraph_steering *set = NULL;
    int failed = c ? count_target(r, o->target[t], c, w) : why_no_memory(w);
    if (!failed && !randgraph_coverage_is_empty(c))
        failed = randgraph_steering_new(c, support, &set, w);
    randgraph_coverage_free(c);
    d->steering[t] = set;
    return failed;
}

static void print_unknown(const struct drawn_for *d, const struct options *o)
{
    for (uint32_t t = 0; t < d->n_steering; t++) {
        if (d->steering[t])
            continue;
        fprintf(stderr, "halcyon %s: --steer: ", o->command);
        text_put(stderr, TEXT_TERMINAL, o->db_shown, 0);
        fputs(" has no coverage by random graphs of ", stderr);
        text_put(stderr, TEXT_TERMINAL, o->target[t], 0);
        fputs(" yet: its graphs are drawn as without --steer\n", stderr);
    }
}

int steered_targets(struct drawn_for *d, const struct options *o, struct why *w)
{
    struct results *r;
    int failed = 0;
    if (!o->steer && !d->n_steering)
        return 0;
    REQUIRE(w, !o->steer || o->n_shards == 1,
            "--steer and --shard: shards would draw by what others have recorded until they start; "
            "expected one of them");
    bool exists = access(o->db, F_OK) == 0;
    if (exists)
        TRY(results_open(o->db, RESULTS_READ, &r, w));
    if (exists && o->steer && o->resume)
        failed = find_unfinished(d, o, r, w);
    if (exists && !failed && d->n_steering) {
        failed = read_recorded(d, o, r, w);
    } else {
        d->n_steering = o->n_targets;
        for (uint32_t t = 0; exists && !failed && t < d->n_steering; t++)
            failed = make_set(d, o, t, r, w);
        if (!failed)
            print_unknown(d, o);
    }
    if (exists)
        results_close(r);
    return failed;
}
