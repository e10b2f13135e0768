#include "harness/policy/expectations.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/base/text_escape.h"
#include "harness/check/blame.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"
#include "randgraph/randgraph.h"

enum { MOST_SUITES = 64, SUITE_NAME = 64 };

/* What a run gave for an entry. */
struct entry_use {
    uint64_t cases, met, conforming, other; /* other: failures that it does not expect */
};

/* A baseline and what the run gave for it. */
struct held_baseline {
    struct baseline *baseline;
    struct entry_use *use; /* per entry */
    struct expectation_totals totals;
    bool is_used; /* for one of the targets */
};

struct expectations {
    struct held_baseline *held;
    uint32_t n;
    const char *const *target;
    uint32_t n_targets;
    int32_t today;
    struct finding *finding;
    size_t n_findings;
    char suite[MOST_SUITES][SUITE_NAME]; /* first components of the names of the run's cases */
    int n_suites;
    bool partial;
};

const char *const finding_name[FINDING_KINDS] = {
    [FINDING_EXPIRED] = "expired waiver",
    [FINDING_STALE] = "stale waiver",
    [FINDING_LOST] = "lost pass",
    [FINDING_CHANGED] = "changed failure",
    [FINDING_UNEXPECTED] = "unexpected pass",
    [FINDING_MISSING] = "missing case",
};

bool finding_fails(enum finding_kind k)
{
    return k <= FINDING_CHANGED;
}

/* ---- loading */

/* Fails if an entry can match no random case. */
static int check_names(const struct baseline *b, struct why *w)
{
    for (uint32_t i = 0; i < b->n; i++)
        REQUIRE(w, !randgraph_is_old_name(b->entry[i].name),
                "%.150s:%u: '%.150s' matches no random case: their names begin with the version of "
                "the generator and have its options, such as random/v%d/s7/i123 or "
                "random/v%d/op=ADD/s7/i123",
                b->path, b->entry[i].line, b->entry[i].name, RANDGRAPH_VERSION, RANDGRAPH_VERSION);
    return 0;
}

static int load_one(struct expectations *x, struct held_baseline *h, const char *path, bool random,
                    struct why *w)
{
    TRY(baseline_load(path, &h->baseline, w));
    if (random)
        TRY(check_names(h->baseline, w));
    h->use = calloc((size_t) h->baseline->n + 1, sizeof *h->use);
    if (!h->use)
        return why_no_memory(w);
    for (uint32_t t = 0; t < x->n_targets; t++)
        h->is_used = h->is_used || baseline_is_for(h->baseline, x->target[t]);
    REQUIRE(w, h->is_used,
            "%s: the target %s is none of this run (%s%s); expected a URI or a glob such as "
            "'lib:*.so', or no line 'target'",
            path, h->baseline->target, x->target[0], x->n_targets > 1 ? ", ..." : "");
    return 0;
}

int expectations_load(const char *const *path, uint32_t n, const char *const *target,
                      uint32_t n_targets, bool random, struct expectations **ret, struct why *w)
{
    *ret = NULL;
    if (!n)
        return 0;
    struct expectations *x = calloc(1, sizeof *x);
    int failed = x && (x->held = calloc(n, sizeof *x->held)) ? 0 : why_no_memory(w);
    if (!failed) {
        x->n = n;
        x->target = target;
        x->n_targets = n_targets;
        x->today = baseline_today();
    }
    for (uint32_t i = 0; !failed && i < n; i++)
        failed = load_one(x, &x->held[i], path[i], random, w);
    if (failed) {
        expectations_free(x);
        return -1;
    }
    *ret = x;
    return 0;
}

void expectations_free(struct expectations *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        baseline_free(x->held[i].baseline);
        free(x->held[i].use);
    }
    for (size_t i = 0; i < x->n_findings; i++)
        free(x->finding[i].name);
    free(x->finding);
    free(x->held);
    free(x);
}

/* The entry that applies to a case, and its baseline; NULL: none. */
static const struct baseline_entry *find(const struct expectations *x, uint32_t target,
                                         const char *name, uint32_t *ret_baseline)
{
    const struct baseline_entry *found = NULL;
    for (uint32_t i = 0; x && i < x->n; i++) {
        const struct baseline *b = x->held[i].baseline;
        if (!baseline_is_for(b, x->target[target]))
            continue;
        const struct baseline_entry *e = baseline_find(b, name);
        if (!e || baseline_nearer(found, e) != e)
            continue;
        found = e;
        *ret_baseline = i;
    }
    return found;
}

/* ---- during the run */

bool expectations_skip(const struct expectations *x, uint32_t target, const char *name,
                       struct check_result *ret)
{
    uint32_t i;
    const struct baseline_entry *e = find(x, target, name, &i);
    if (!e || !entry_is_skip(e) || entry_is_expired(e, x->today))
        return false;
    *ret = check_without_outcome(VERDICT_WAIVED, JUDGE_AUTO);
    ret->was = VERDICT_WAIVED;
    snprintf(ret->why, sizeof ret->why, "%.300s (skipped by %.150s:%u)", e->reason,
             x->held[i].baseline->path, e->line);
    return true;
}

static struct verdict_class class_of(const struct check_result *r)
{
    return (struct verdict_class){ r->verdict, r->stage, r->status,
                                   blamed_operation(&r->blamed, r->operation), r->was };
}

void expectations_apply(const struct expectations *x, uint32_t target, const char *name,
                        struct check_result *r)
{
    uint32_t i = 0;
    if (verdict_conforming(r->verdict))
        return;
    const struct baseline_entry *e = find(x, target, name, &i);
    struct verdict_class found = class_of(r);
    if (!e || entry_is_expired(e, x->today) || !entry_expects(e, &found))
        return;
    char was[sizeof r->why], reason[260];
    const char *verdict = verdict_name[r->verdict];
    memcpy(was, r->why, sizeof was);
    if (e->reason)
        snprintf(reason, sizeof reason, "%.200s", e->reason);
    else
        snprintf(reason, sizeof reason, "expected by %.150s:%u", x->held[i].baseline->path,
                 e->line);
    if (r->verdict != VERDICT_FLAKY) /* which has that of the first run */
        r->was = r->verdict;
    r->verdict = VERDICT_WAIVED;
    r->why[0] = 0;
    text_append(r->why, sizeof r->why, "%.200s (%s: %s", reason, verdict, was);
    text_append(r->why, sizeof r->why, ")");
}

/* ---- after the run */

static int add_finding(struct expectations *x, enum finding_kind kind, uint32_t held,
                       const struct baseline_entry *e, const struct finding *more, struct why *w)
{
    struct finding *finding = array_room(x->finding, x->n_findings, sizeof *finding);
    if (!finding)
        return why_no_memory(w);
    x->finding = finding;
    struct finding f = *more;
    f.kind = kind;
    f.baseline = x->held[held].baseline;
    f.entry = e;
    if (more->name && !(f.name = strdup(more->name)))
        return why_no_memory(w);
    x->finding[x->n_findings++] = f;
    x->held[held].totals.n[kind]++;
    return 0;
}

static void put_class(const struct verdict_class *c, char *text, size_t size)
{
    snprintf(text, size, "%s", verdict_name[c->verdict]);
    if (verdict_conforming(c->verdict))
        return;
    text_append(text, size, " stage=%s%s%s", c->stage, *c->status ? " status=" : "", c->status);
    if (c->operation && *c->operation)
        text_append(text, size, " op=%s", c->operation);
}

/* Keeps the first component of a case's name: entries of other suites are none of this run. */
static void note_suite(struct expectations *x, const char *name)
{
    char suite[SUITE_NAME];
    snprintf(suite, sizeof suite, "%.*s", (int) strcspn(name, "/"), name);
    for (int i = 0; i < x->n_suites; i++)
        if (!strcmp(x->suite[i], suite))
            return;
    if (x->n_suites < MOST_SUITES)
        memcpy(x->suite[x->n_suites++], suite, sizeof suite);
}

static bool may_match(const struct expectations *x, const struct baseline_entry *e)
{
    char suite[SUITE_NAME];
    size_t n = strcspn(e->name, "/*?[\\");
    if (e->name[n] != '/')
        return true;
    snprintf(suite, sizeof suite, "%.*s", (int) n, e->name);
    for (int i = 0; i < x->n_suites; i++)
        if (!strcmp(x->suite[i], suite))
            return true;
    return x->n_suites == MOST_SUITES;
}

/* Holds a verdict that the entry does not expect against it. */
static int hold_unexpected(struct expectations *x, uint32_t held, const struct baseline_entry *e,
                           const struct verdict_class *c, const struct finding *f, struct why *w)
{
    struct entry_use *use = &x->held[held].use[e - x->held[held].baseline->entry];
    if (!verdict_conforming(c->verdict)) {
        use->other++;
        return entry_expects_failure(e) && !entry_is_expired(e, x->today)
                   ? add_finding(x, FINDING_CHANGED, held, e, f, w)
                   : 0;
    }
    use->conforming++;
    if (e->verdicts >> VERDICT_PASS & 1)
        return add_finding(x, FINDING_LOST, held, e, f, w);
    return e->exact && !entry_is_waiver(e) ? add_finding(x, FINDING_UNEXPECTED, held, e, f, w) : 0;
}

static int hold_verdict(const struct recorded_verdict *v, void *user, struct why *w)
{
    struct expectations *x = user;
    uint32_t target = 0, held = 0;
    note_suite(x, v->name);
    while (target < x->n_targets && strcmp(v->target, x->target[target]) != 0)
        target++;
    const struct baseline_entry *e = target < x->n_targets ? find(x, target, v->name, &held) : NULL;
    if (!e)
        return 0;
    struct expectation_totals *totals = &x->held[held].totals;
    struct entry_use *use = &x->held[held].use[e - x->held[held].baseline->entry];
    struct verdict_class c = { v->was, v->stage, v->status,
                               blamed_operation(&v->blamed, v->operation), v->first };
    use->cases++;
    if (c.verdict == VERDICT_WAIVED) {
        totals->skipped++;
        return 0;
    }
    if (entry_is_skip(e))
        return 0;
    if (entry_expects(e, &c)) {
        use->met++;
        if (entry_is_expired(e, x->today))
            return 0;
        if (entry_expects_conforming(e) && entry_expects_failure(e))
            totals->flakes++;
        else
            totals->expected += !verdict_conforming(c.verdict);
        return 0;
    }
    struct finding f = { .target = target, .name = (char *) v->name };
    put_class(&c, f.found, sizeof f.found);
    return hold_unexpected(x, held, e, &c, &f, w);
}

/* What only the whole run shows about an entry. */
static int hold_entry(struct expectations *x, uint32_t held, const struct baseline_entry *e,
                      bool partial, struct why *w)
{
    const struct entry_use *use = &x->held[held].use[e - x->held[held].baseline->entry];
    bool fails = use->met || use->other, whole = e->exact || !partial;
    struct finding f = { 0 };
    if (entry_is_expired(e, x->today)) {
        snprintf(f.found, sizeof f.found, "%llu verdict%s that it no longer covers",
                 (unsigned long long) use->met, use->met == 1 ? "" : "s");
        return add_finding(x, FINDING_EXPIRED, held, e, &f, w);
    }
    if (!use->cases)
        return partial || !may_match(x, e) ? 0 : add_finding(x, FINDING_MISSING, held, e, &f, w);
    if (entry_is_skip(e) || fails || !whole)
        return 0;
    snprintf(f.found, sizeof f.found, "%s",
             use->cases == 1 ? "its case conforms" : "all its cases conform");
    if (entry_is_waiver(e))
        return add_finding(x, FINDING_STALE, held, e, &f, w);
    return e->exact ? 0 : add_finding(x, FINDING_UNEXPECTED, held, e, &f, w);
}

int expectations_check(struct expectations *x, struct results *r,
                       const struct recorded_filter *filter, bool partial, struct why *w)
{
    if (!x)
        return 0;
    x->partial = partial;
    TRY(results_each_recorded(r, filter, hold_verdict, x, w));
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < x->held[i].baseline->n; k++)
            TRY(hold_entry(x, i, &x->held[i].baseline->entry[k], partial, w));
    return 0;
}

bool expectations_fail(const struct expectations *x)
{
    for (size_t i = 0; x && i < x->n_findings; i++)
        if (finding_fails(x->finding[i].kind))
            return true;
    return false;
}

/* ---- output */

/* The entry as its line has it, escaped for a medium; malloced, NULL: out of memory. */
static char *entry_text(const struct baseline_entry *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    entry_put(to, e);
    fclose(to);
    return text;
}

static void print_finding(const struct expectations *x, const struct finding *f, FILE *to)
{
    char *entry = entry_text(f->entry);
    fprintf(to, "    %s: ", finding_name[f->kind]);
    if (f->name) {
        text_put(to, TEXT_TERMINAL, f->name, 0);
        fputs(" on ", to);
        text_put(to, TEXT_TERMINAL, x->target[f->target], 0);
        fprintf(to, ": %s; ", f->found);
    }
    fprintf(to, "line %u: ", f->entry->line);
    text_put(to, TEXT_TERMINAL, entry, 0);
    if (!f->name && *f->found)
        fprintf(to, ": %s", f->found);
    putc('\n', to);
    free(entry);
}

static int put_note(const struct finding *f,
                    int (*each)(uint32_t target, const char *text, void *user, struct why *w),
                    void *user, struct why *w)
{
    char *text = NULL, *entry = entry_text(f->entry);
    int n = entry ? asprintf(&text, FINDING_NOTE "%s: %s%s%s%s%s; line %u: %s", f->baseline->path,
                             finding_name[f->kind], f->name ? ": " : "", f->name ? f->name : "",
                             *f->found ? ": " : "", f->found, f->entry->line, entry)
                  : -1;
    free(entry);
    if (n < 0)
        return why_no_memory(w);
    int failed = each(f->target, text, user, w);
    free(text);
    return failed;
}

int expectations_each_note(const struct expectations *x,
                           int (*each)(uint32_t target, const char *text, void *user,
                                       struct why *w),
                           void *user, struct why *w)
{
    for (uint32_t i = 0; x && i < x->n; i++) {
        uint64_t n[FINDING_KINDS] = { 0 };
        for (size_t k = 0; k < x->n_findings; k++) {
            const struct finding *f = &x->finding[k];
            if (f->baseline == x->held[i].baseline && finding_fails(f->kind) &&
                n[f->kind]++ < MOST_FINDINGS)
                TRY(put_note(f, each, user, w));
        }
    }
    return 0;
}

void expectations_print(const struct expectations *x, FILE *to, uint64_t most)
{
    for (uint32_t i = 0; x && i < x->n; i++) {
        const struct held_baseline *h = &x->held[i];
        fputs("baseline ", to);
        text_put(to, TEXT_TERMINAL, h->baseline->path, 0);
        fprintf(to, ": %llu expected failure%s, %llu verdict%s of flakes, %llu skipped",
                (unsigned long long) h->totals.expected, h->totals.expected == 1 ? "" : "s",
                (unsigned long long) h->totals.flakes, h->totals.flakes == 1 ? "" : "s",
                (unsigned long long) h->totals.skipped);
        for (int k = 0; k < FINDING_KINDS; k++)
            if (h->totals.n[k])
                fprintf(to, "; %llu %s%s", (unsigned long long) h->totals.n[k], finding_name[k],
                        h->totals.n[k] == 1                            ? ""
                        : k == FINDING_LOST || k == FINDING_UNEXPECTED ? "es"
                                                                       : "s");
        fputs(x->partial ? "; only a part of the cases was run, so missing cases and stale globs "
                           "were not looked for\n"
                         : "\n",
              to);
        for (int k = 0; k < FINDING_KINDS; k++) {
            uint64_t shown = 0;
            for (size_t f = 0; f < x->n_findings; f++)
                if (x->finding[f].baseline == h->baseline && (int) x->finding[f].kind == k &&
                    (!most || shown++ < most))
                    print_finding(x, &x->finding[f], to);
            if (most && shown > most)
                fprintf(to, "    ... and %llu more (-v and --json list them)\n",
                        (unsigned long long) (shown - most));
        }
    }
}

static json_t *finding_json(const struct expectations *x, const struct finding *f)
{
    char *entry = entry_text(f->entry);
    json_t *j = json_object();
    json_object_set_new(j, "kind", json_string(finding_name[f->kind]));
    json_object_set_new(j, "fails", json_boolean(finding_fails(f->kind)));
    json_object_set_new(j, "line", json_integer(f->entry->line));
    json_object_set_new(j, "entry", json_value_text(entry));
    if (f->name) {
        json_object_set_new(j, "case", json_value_text(f->name));
        json_object_set_new(j, "target", json_value_text(x->target[f->target]));
    }
    if (*f->found)
        json_object_set_new(j, "found", json_value_text(f->found));
    free(entry);
    return j;
}

struct json_t *expectations_json(const struct expectations *x)
{
    json_t *all = x ? json_array() : NULL;
    for (uint32_t i = 0; x && i < x->n; i++) {
        const struct held_baseline *h = &x->held[i];
        json_t *j = json_object(), *findings = json_array();
        json_object_set_new(j, "file", json_value_text(h->baseline->path));
        json_object_set_new(j, "expected", json_integer((json_int_t) h->totals.expected));
        json_object_set_new(j, "flakes", json_integer((json_int_t) h->totals.flakes));
        json_object_set_new(j, "skipped", json_integer((json_int_t) h->totals.skipped));
        for (size_t f = 0; f < x->n_findings; f++)
            if (x->finding[f].baseline == h->baseline)
                json_array_append_new(findings, finding_json(x, &x->finding[f]));
        json_object_set_new(j, "findings", findings);
        json_array_append_new(all, j);
    }
    return all;
}
