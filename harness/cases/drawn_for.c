#include "harness/cases/drawn_for.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/cases/mutated.h"
#include "harness/cases/steered.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"

static void digest_text(uint64_t digest, char text[SET_DIGEST])
{
    snprintf(text, SET_DIGEST, "%016" PRIx64, digest);
}

/* ---- from a file, from the database */

static int read_file(const char *path, struct randgraph_support **ret, struct why *w)
{
    enum { MOST_BYTES = 16 << 20 };
    FILE *f = fopen(path, "re");
    if (!f)
        return why_file(w, path, errno);
    char *text = malloc(MOST_BYTES + 1);
    size_t n = text ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    bool failed = ferror(f);
    fclose(f);
    int rc = 0;
    if (!text)
        rc = why_no_memory(w);
    else if (failed || n > MOST_BYTES || memchr(text, 0, n))
        rc = why_fail(w, WHY_INVALID, "%s: not a support set", path);
    if (rc == 0) {
        text[n] = 0;
        rc = randgraph_support_parse(text, ret, w) < 0 ? why_prefix(w, "%s", path) : 0;
    }
    free(text);
    return rc;
}

/* 1: found; 0: there is no such database, or it does not have it. */
static int read_database(const char *path, const char *digest, struct randgraph_support **ret,
                         struct why *w)
{
    struct results *r;
    char *text = NULL;
    if (access(path, F_OK) != 0)
        return 0;
    TRY(results_open(path, RESULTS_READ, &r, w));
    int found = results_find_set(r, SET_SUPPORT, digest, &text, w);
    results_close(r);
    if (found == 1 && randgraph_support_parse(text, ret, w) < 0)
        found = why_prefix(w, "%s: support set %s", path, digest);
    free(text);
    return found;
}

static int find_support(const struct options *o, struct cases *cases, struct why *w)
{
    struct randgraph_support *set = NULL;
    char digest[SET_DIGEST], found[SET_DIGEST];
    digest_text(cases->graphs.support_digest, digest);
    if (o->support_file) {
        TRY(read_file(o->support_file, &set, w));
        digest_text(randgraph_support_digest(set), found);
        if (strcmp(found, digest) != 0) {
            randgraph_support_free(set);
            return why_fail(w, WHY_INVALID, "%s: is the support set %s, the case was drawn for %s",
                            o->support_file, found, digest);
        }
    } else {
        int n = read_database(o->db, digest, &set, w);
        TRY(n);
        REQUIRE(w, n,
                "the case was drawn for the support set %s, which %s does not have; expected --db "
                "with the database of the run, or --support with the file ('halcyon probe')",
                digest, o->db);
    }
    cases->graphs.support = cases->own_support = set;
    return 0;
}

int drawn_for_name(const struct options *o, struct cases *cases, struct why *w)
{
    struct randgraph_options *graphs = &cases->graphs;
    TRY(mutated_name(o, cases, w));
    if (!cases_are_random(cases))
        return 0;
    if (graphs->support_digest)
        TRY(find_support(o, cases, w));
    if (!graphs->steering_digest)
        return 0;
    TRY(steered_name(o, graphs->steering_digest, &cases->own_steering, w));
    graphs->steering = cases->own_steering;
    return 0;
}

void drawn_for_use_steering(struct drawn_for *d, const json_t *digests)
{
    d->n_steering = 0;
    for (size_t i = 0; i < json_array_size(digests) && i < MAX_TARGETS; i++) {
        const char *digest = json_string_value(json_array_get(digests, i));
        snprintf(d->steering_digest[d->n_steering++], SET_DIGEST, "%s", digest ? digest : "");
    }
}

/* ---- from the target */

bool target_needs_no_probe(const char *uri)
{
    return strcmp(uri, "golden") == 0 || strcmp(uri, "null") == 0;
}

static void print_probe(const struct options *o, uint32_t t, const struct support_probe *p)
{
    uint32_t ops, rows;
    if (o->verbosity < 1 || !p->set)
        return;
    randgraph_support_count(p->set, &ops, &rows);
    fprintf(stderr, "halcyon %s: ", o->command);
    text_put(stderr, TEXT_TERMINAL, o->target[t], 0);
    fprintf(stderr,
            ": supports calls of %u operations, in %u of %u combinations of form and types (asked "
            "about %llu models in %.2f s)\n",
            ops, rows, randgraph_probe_rows(), (unsigned long long) p->asked, p->seconds);
}

/* A target that cannot be opened gets no set: the campaign reports why. */
static int ask_target(struct drawn_for *d, const struct options *o, uint32_t t, struct why *w)
{
    const struct support_probe_options options = { o->timeout, o->jobs, o->in_process };
    struct support_probe p;
    struct why why;
    if (target_needs_no_probe(o->target[t]))
        return 0;
    if (support_probe(o->target[t], &options, &p, &why) < 0) {
        return why.code == WHY_MEMORY ? why_no_memory(w) : 0;
    }
    print_probe(o, t, &p);
    d->set[t] = p.set;
    d->asked[t] = p.asked;
    d->seconds[t] = p.seconds;
    snprintf(d->note[t], PROBE_NOTE, "%.*s%s", PROBE_NOTE - 60, p.note,
             p.set ? "" : "; its graphs are drawn for any driver");
    return 0;
}

static int find_recorded(struct drawn_for *d, const struct options *o, struct why *w)
{
    for (uint32_t i = 0; i < d->n; i++) {
        if (!d->digest[i][0])
            continue;
        int found = read_database(o->db, d->digest[i], &d->set[i], w);
        TRY(found);
        REQUIRE(w, found, "%s: lacks the support set %s of the run", o->db, d->digest[i]);
    }
    return 0;
}

static int find_sets(struct drawn_for *d, const struct options *o, struct why *w)
{
    if (d->is_recorded)
        return find_recorded(d, o, w);
    if (o->no_probe)
        return 0;
    d->n = o->n_targets;
    for (uint32_t t = 0; t < d->n; t++) {
        if (o->support_file)
            TRY(read_file(o->support_file, &d->set[t], w));
        else
            TRY(ask_target(d, o, t, w));
    }
    return 0;
}

/* Generates the first case for each target, to detect contradictory options (an operation that does
 * not have the --types) before the campaign starts: any case shows them. */
static int check_graphs(struct drawn_for *d, struct cases *cases, struct why *w)
{
    for (uint32_t t = 0; t < (d->n ? d->n : 1); t++) {
        struct arena *arena = arena_new(0);
        struct example e;
        int rc = arena ? cases_get(cases, t, arena, &e, w) : why_no_memory(w);
        if (rc < 0 && d->n && d->use[t] && w->code == WHY_INVALID) {
            d->use[t] = NULL;
            snprintf(
                d->note[t], PROBE_NOTE,
                "it supports no graph with these options: its graphs are drawn for any driver");
            rc = cases_get(cases, t, arena, &e, w);
        }
        arena_free(arena);
        TRY(rc);
    }
    return 0;
}

int drawn_for_targets(struct drawn_for *d, const struct options *o, struct cases *cases,
                      struct why *w)
{
    bool any = false;
    if (o->from.n) {
        TRY(mutated_examples(o, cases, w));
        return check_graphs(d, cases, w);
    }
    TRY(find_sets(d, o, w));
    for (uint32_t t = 0; t < d->n; t++) {
        d->use[t] = d->set[t];
        any |= d->set[t] != NULL;
    }
    cases->support = d->use;
    cases->n_supports = any ? d->n : 0;
    TRY(steered_targets(d, o, w));
    cases->steering = d->steering;
    cases->n_steerings = d->n_steering;
    return check_graphs(d, cases, w);
}

int drawn_for_keep(const struct drawn_for *d, struct results *r, struct why *w)
{
    char digest[SET_DIGEST];
    for (uint32_t t = 0; t < d->n; t++) {
        if (!d->use[t])
            continue;
        digest_text(randgraph_support_digest(d->use[t]), digest);
        TRY(results_keep_set(r, SET_SUPPORT, digest, randgraph_support_text(d->use[t]), w));
    }
    for (uint32_t t = 0; t < d->n_steering; t++) {
        if (!d->steering[t])
            continue;
        digest_text(randgraph_steering_digest(d->steering[t]), digest);
        TRY(results_keep_set(r, SET_STEERING, digest, randgraph_steering_text(d->steering[t]), w));
    }
    return 0;
}

static json_t *target_json(const struct drawn_for *d, uint32_t t, const char *uri)
{
    json_t *o = json_object();
    char digest[SET_DIGEST];
    uint32_t ops, rows;
    json_object_set_new(o, "target", json_value_text(uri));
    json_object_set_new(o, "support_set", json_null());
    if (d->use[t]) {
        digest_text(randgraph_support_digest(d->use[t]), digest);
        randgraph_support_count(d->use[t], &ops, &rows);
        json_object_set_new(o, "support_set", json_string(digest));
        json_object_set_new(o, "operations", json_integer(ops));
        json_object_set_new(o, "combinations", json_integer(rows));
        json_object_set_new(o, "of", json_integer(randgraph_probe_rows()));
    }
    if (d->asked[t]) {
        json_object_set_new(o, "models", json_integer((json_int_t) d->asked[t]));
        json_object_set_new(o, "seconds", json_real(round(d->seconds[t] * 1e3) / 1e3));
    }
    if (d->note[t][0])
        json_object_set_new(o, "note", json_value_text(d->note[t]));
    return o;
}

struct json_t *drawn_for_json(const struct drawn_for *d, const char *const *target)
{
    bool any = false;
    for (uint32_t t = 0; t < d->n; t++)
        any |= d->use[t] || d->note[t][0];
    json_t *list = any ? json_array() : NULL;
    for (uint32_t t = 0; list && t < d->n; t++)
        json_array_append_new(list, target_json(d, t, target[t]));
    return list;
}

void drawn_for_done(struct drawn_for *d)
{
    for (uint32_t t = 0; t < MAX_TARGETS; t++)
        randgraph_support_free(d->set[t]);
    for (uint32_t t = 0; t < MAX_TARGETS; t++)
        randgraph_steering_free(d->steering[t]);
    *d = (struct drawn_for){ 0 };
}
