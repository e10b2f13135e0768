#include "harness/cases/found_case.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "harness/cases/chosen_cases.h"
#include "harness/cases/drawn_for.h"

/* ---- the database */

int found_case_look_up(struct found_case *p, const char *name, struct why *w)
{
    const struct options *o = p->o;
    if (!o->db_given && access(o->db, F_OK) != 0)
        return 0;
    struct results *r;
    struct why why;
    if (results_open(o->db, RESULTS_READ, &r, &why) < 0) {
        if (o->db_given) {
            *w = why;
            return -1;
        }
        return 0; /* an unreadable default database counts as none */
    }
    int found = results_find_case(r, name, &p->found, w);
    if (found == 0 && strncmp(name, "random/", 7) != 0)
        results_nearest_case(r, name, p->near);
    results_close(r);
    p->in_database = found == 1;
    return found < 0 ? -1 : 0;
}

/* How the case was run: by which rule it was judged, through which entry points, and on which
 * targets it did not conform. */
int found_case_use_options(struct found_case *p, struct why *w)
{
    json_error_t error;
    json_t *j = json_loads(p->found.options, 0, &error);
    REQUIRE(w, j, "%s: recorded options: %s", p->o->db, error.text);
    const char *judge = json_string_value(json_object_get(j, "judge"));
    if (p->o->judge == JUDGE_AUTO && judge && strcmp(judge, "auto"))
        p->effective.judge = !strcmp(judge, "cts") ? JUDGE_CTS : JUDGE_BOUND;
    if (!ways_any(&p->effective.ways))
        recorded_ways(j, &p->effective.ways);
    recorded_entry(j, &p->effective);
    json_decref(j);
    for (uint32_t t = 0; !p->o->n_targets && t < p->found.n_targets; t++)
        p->effective.target[p->effective.n_targets++] = p->found.target[t];
    return 0;
}

static void print_use(const struct found_case *p, const char *name)
{
    text_put(stderr, TEXT_TERMINAL, name, 0);
    fprintf(stderr, ": using the spec stored by run %lld in ", (long long) p->found.run);
    text_put(stderr, TEXT_TERMINAL, p->o->db_shown, 0);
    putc('\n', stderr);
}

int cases_load_text(struct cases *c, const char *spec, const char *what, struct why *w)
{
    char path[] = "/tmp/halcyon-XXXXXX.mod.py";
    int fd = mkstemps(path, 7);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return why_fail(w, WHY_SYSTEM, "cannot create a temporary file in /tmp");
    fputs(spec, file);
    int failed = fclose(file) == 0 ? cases_load(c, path, NULL, w)
                                   : why_fail(w, WHY_SYSTEM, "%s: cannot be written", path);
    unlink(path);
    if (failed < 0)
        return why_prefix(w, "stored spec of %s", what);
    REQUIRE(w, c->n == 1, "stored spec of %s: expected 1 example, found %llu", what,
            (unsigned long long) c->n);
    c->spec[0].file = NULL;
    return 0;
}

static int load_stored(struct found_case *p, const char *name, struct why *w)
{
    if (cases_load_text(&p->cases, p->found.spec, name, w) < 0)
        return why_prefix(w, "%s", p->o->db);
    if (p->o->verbosity >= 0)
        print_use(p, name);
    p->cases.spec[0].example.name = name;
    return 0;
}

/* ---- where the case comes from */

static int load_file(struct found_case *p, struct why *w)
{
    const struct options *o = p->o;
    const char *what = o->argument[0];
    TRY(cases_load(&p->cases, what, o->case_glob, w));
    return cases_check_found(&p->cases, what, o->case_glob, w);
}

/* A case that is not recorded, or recorded without its spec: its name is enough to generate it. */
static int generate(struct found_case *p, struct why *w)
{
    const char *what = p->o->argument[0];
    struct randgraph_options graphs;
    uint64_t seed, index;
    char near_file[SUGGEST_FILE];
    suggest_file(what, near_file);
    REQUIRE(w, p->in_database || !strncmp(what, "random/", 7),
            "expected a file, the name of a random case, such as random/v%d/s7/i123, or of a case "
            "in %s, found '%s'%s",
            RANDGRAPH_VERSION, p->o->db, what, *p->near ? p->near : near_file);
    if (randgraph_parse_name(what, &graphs, &seed, &index, w) < 0)
        return p->in_database ? why_prefix(w, "%s: has no spec of this case", p->o->db) : -1;
    p->cases = cases_random(&graphs, seed, index, 1);
    return drawn_for_name(p->o, &p->cases, w);
}

int found_case_find(struct found_case *p, struct why *w)
{
    const char *what = p->o->argument[0];

    if (access(what, F_OK) == 0)
        return load_file(p, w);
    TRY(found_case_look_up(p, what, w));
    if (p->in_database)
        TRY(found_case_use_options(p, w));
    if (p->found.spec)
        return load_stored(p, what, w);
    if (!p->found.file)
        return generate(p, w);
    TRY(cases_load(&p->cases, p->found.file, what, w));
    REQUIRE(w, p->cases.n, "%s: the file no longer has the case '%s'", p->found.file, what);
    return 0;
}

void found_case_done(struct found_case *p)
{
    cases_done(&p->cases);
    recorded_case_done(&p->found);
}
