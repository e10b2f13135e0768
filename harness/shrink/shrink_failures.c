#include "harness/shrink/shrink_failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/blame.h"
#include "harness/cli/screen.h"
#include "harness/shrink/bucket.h"

/* Failures of one target, verdict, operation and type. */
struct kind {
    char text[FAILURE_KIND];
    size_t n_operation; /* length of the operation in it */
    uint32_t target;
    enum verdict verdict;
    uint64_t ordinal; /* of the first one */
    char *bucket;     /* NULL: not shrunk */
    char *structure;  /* of the shrunk case; NULL: not shrunk in this run */
    struct symptom symptom;
    /* As in struct bucket_count. */
    uint32_t n_operations;
    size_t n_elements;
    uint64_t executions;
    double seconds;
};

struct failure {
    uint64_t ordinal;
    uint32_t kind;
};

struct failures {
    struct campaign *c;
    struct kind *kind;
    uint32_t n_kinds;
    struct failure *failure;
    size_t n, capacity;
};

static void failures_done(struct failures *f)
{
    for (uint32_t i = 0; i < f->n_kinds; i++) {
        free(f->kind[i].bucket);
        free(f->kind[i].structure);
    }
    free(f->kind);
    free(f->failure);
}

/* ---- sorting into kinds */

/* NULL: out of memory. */
static struct kind *find_kind(struct failures *f, const struct failure_row *row)
{
    struct kind k = { .target = row->target,
                      .verdict = (enum verdict) row->verdict,
                      .ordinal = row->ordinal };
    k.n_operation = failure_kind(row->operation, row->type, row->must_fail, k.text);
    for (uint32_t i = 0; i < f->n_kinds; i++)
        if (f->kind[i].target == k.target && f->kind[i].verdict == k.verdict &&
            !strcmp(f->kind[i].text, k.text))
            return &f->kind[i];
    struct kind *larger = realloc(f->kind, (f->n_kinds + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    f->kind = larger;
    larger[f->n_kinds] = k;
    return &larger[f->n_kinds++];
}

/* A run that was left while its failures were shrunk has recorded some buckets, but not what
 * decides whether kinds share one: all are shrunk again. */
static int take_failure(const struct failure_row *row, void *user, struct why *w)
{
    struct failures *f = user;
    if (row->verdict == VERDICT_FLAKY || row->verdict == VERDICT_ERROR)
        return 0;
    if (f->n == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : 64;
        struct failure *larger = realloc(f->failure, capacity * sizeof *larger);
        if (!larger)
            return why_no_memory(w);
        f->failure = larger;
        f->capacity = capacity;
    }
    struct kind *k = find_kind(f, row);
    if (!k)
        return why_no_memory(w);
    f->failure[f->n++] =
        (struct failure){ .ordinal = row->ordinal, .kind = (uint32_t) (k - f->kind) };
    return 0;
}

/* ---- shrinking */

static int record(struct failures *f, struct kind *k, const struct shrunk *s,
                  const struct shrink_request *request, const char *name, struct why *w)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    struct why
        unwritable; /* a model that specifications cannot express has a bucket all the same */
    bool written = shrunk_write(s, request, name, NULL, memory, &unwritable) == 0;
    int failed = fclose(memory) != 0 ? why_no_memory(w) : 0;
    k->bucket = strdup(s->structure);
    k->structure = strdup(s->structure);
    k->symptom = s->symptom;
    k->n_operations = s->n_operations;
    k->n_elements = s->n_elements;
    k->executions = s->executions;
    k->seconds = s->seconds;
    if (!failed && (!k->bucket || !k->structure))
        failed = why_no_memory(w);
    if (!failed)
        failed = results_set_bucket(f->c->results, k->ordinal, k->target, s->structure,
                                    written ? text : NULL, w);
    free(text);
    return failed;
}

/* Between two executions. */
static void show_progress(void *user)
{
    struct campaign *c = user;
    console_progress(&c->console, c->done, c->totals, c->n_targets);
}

/* A case that does not fail alone keeps its kind without a bucket. */
static int shrink_kind(struct failures *f, struct kind *k, double seconds,
                       const volatile sig_atomic_t *stop, struct why *w)
{
    const struct campaign *c = f->c;
    struct arena *arena = arena_new(0);
    struct example e;
    struct shrunk s;
    char name[CASE_NAME];
    cases_name(c->cases, k->ordinal, name);
    struct shrink_request request = { .example = &e,
                                      .judge = c->judge,
                                      .ways = c->cases->ways,
                                      .target = c->target[k->target],
                                      .timeout = c->options->timeout,
                                      .executions = SHRINK_RUN_EXECUTIONS,
                                      .seconds = seconds,
                                      .stop = stop,
                                      .tick = show_progress,
                                      .user = f->c };
    int failed = arena ? cases_get(c->cases, k->ordinal, arena, &e, w) : why_no_memory(w);
    if (!failed) {
        struct why why; /* of a case that cannot be shrunk */
        int r = shrink_case(&request, &s, &why);
        if (r == 0 && s.end != SHRINK_STOPPED)
            failed = record(f, k, &s, &request, name, w);
        shrunk_done(&s);
    }
    arena_free(arena);
    return failed;
}

/* Whether several operations are blamed, only together. */
static bool is_together(const struct kind *k)
{
    return memchr(k->text, ',', k->n_operation) != NULL;
}

/* Whether one operation is blamed, and no kind before has the same target, verdict and operation,
 * in another type. */
static bool is_first_of_operation(const struct failures *f, uint32_t i)
{
    const struct kind *k = &f->kind[i];
    if (is_together(k))
        return false;
    for (const struct kind *other = f->kind; other < k; other++)
        if (other->target == k->target && other->verdict == k->verdict &&
            other->n_operation == k->n_operation && !memcmp(other->text, k->text, k->n_operation))
            return false;
    return true;
}

/* One type of each operation, then the others: where there are more kinds than are shrunk, the
 * operations tell most. */
static int shrink_kinds(struct failures *f, const volatile sig_atomic_t *stop, struct why *w)
{
    struct progress *p = &f->c->console.progress;
    const double begun = console_now();
    const uint32_t most = f->n_kinds < SHRINK_RUN_KINDS ? f->n_kinds : SHRINK_RUN_KINDS;
    uint32_t n = 0;
    for (uint32_t at = 0; at < 2 * f->n_kinds && n < SHRINK_RUN_KINDS && !*stop; at++) {
        const uint32_t i = at % f->n_kinds;
        const double left = SHRINK_RUN_TOTAL - (console_now() - begun);
        if (is_first_of_operation(f, i) != (at < f->n_kinds) || left <= 0)
            continue;
        progress_shrinking(p, n++, most);
        TRY(shrink_kind(f, &f->kind[i], left < SHRINK_RUN_SECONDS ? left : SHRINK_RUN_SECONDS, stop,
                        w));
        if (f->kind[i].bucket)
            progress_bucket(p, f->c->target[f->kind[i].target], f->kind[i].verdict, f->kind[i].text,
                            f->kind[i].bucket);
        TRY(results_heartbeat(f->c->results, w));
        TRY(results_commit(f->c->results, w));
    }
    return 0;
}

/* ---- buckets of several kinds */

static int set_bucket(struct kind *k, const struct bucket_member *m, uint32_t n, uint32_t bucket,
                      struct why *w)
{
    char name[SHRINK_BUCKET];
    bucket_name(m, n, bucket, name);
    free(k->bucket);
    k->bucket = strdup(name);
    return k->bucket ? 0 : why_no_memory(w);
}

/* Of a kind that is beyond the limits, or whose case does not fail alone. */
static int set_bucket_of_rest(struct kind *k, const struct bucket_member *m, uint32_t n,
                              struct why *w)
{
    const struct bucket_rest rest = { .target = k->target,
                                      .verdict = k->verdict,
                                      .is_together = is_together(k) };
    uint32_t bucket;
    return bucket_of_rest(m, n, &rest, &bucket) ? set_bucket(k, m, n, bucket, w) : 0;
}

static int find_buckets(struct failures *f, struct why *w)
{
    struct bucket_member *m = calloc(f->n_kinds + (size_t) 1, sizeof *m);
    uint32_t n = 0, at = 0;
    int failed = m ? 0 : why_no_memory(w);
    for (uint32_t i = 0; !failed && i < f->n_kinds; i++) {
        const struct kind *k = &f->kind[i];
        if (k->structure)
            m[n++] = (struct bucket_member){ .target = k->target,
                                             .structure = k->structure,
                                             .symptom = &k->symptom };
    }
    if (!failed)
        buckets_find(m, n);
    for (uint32_t i = 0; !failed && i < f->n_kinds; i++)
        if (f->kind[i].structure) {
            failed = set_bucket(&f->kind[i], m, n, m[at].bucket, w);
            at++;
        } else {
            failed = set_bucket_of_rest(&f->kind[i], m, n, w);
        }
    free(m);
    return failed;
}

static int record_buckets(struct failures *f, struct why *w)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct kind *k = &f->kind[f->failure[i].kind];
        if (k->bucket)
            TRY(results_set_bucket(f->c->results, f->failure[i].ordinal, k->target, k->bucket, NULL,
                                   w));
    }
    return results_commit(f->c->results, w);
}

/* ---- counting */

/* Whether the shrunk case of k is smaller than the one that stands for the bucket. */
static bool is_smaller(const struct kind *k, const struct bucket_count *b)
{
    if (!k->n_operations || !b->n_operations)
        return k->n_operations > b->n_operations;
    return k->n_operations != b->n_operations ? k->n_operations < b->n_operations
                                              : k->n_elements < b->n_elements;
}

/* The smallest shrunk case stands for the bucket, the first one of these. */
static int take_case(struct campaign *c, const struct kind *k, struct bucket_count *b,
                     struct why *w)
{
    char name[CASE_NAME];
    if (!k->bucket || (b->first && !is_smaller(k, b)))
        return 0;
    cases_name(c->cases, k->ordinal, name);
    free(b->first);
    b->first = strdup(name);
    b->n_operations = k->n_operations;
    b->n_elements = k->n_elements;
    b->executions = k->executions;
    b->seconds = k->seconds;
    return b->first ? 0 : why_no_memory(w);
}

/* NULL: out of memory. */
static struct bucket_count *find_count(struct campaign *c, const struct kind *k)
{
    for (uint32_t i = 0; i < c->n_buckets; i++) {
        struct bucket_count *b = &c->bucket[i];
        bool same = b->bucket && k->bucket ? !strcmp(b->bucket, k->bucket) : b->bucket == k->bucket;
        if (b->target == k->target && same)
            return b;
    }
    struct bucket_count *larger = realloc(c->bucket, (c->n_buckets + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    c->bucket = larger;
    larger[c->n_buckets] = (struct bucket_count){ .target = k->target,
                                                  .bucket = k->bucket ? strdup(k->bucket) : NULL };
    struct bucket_count *b = &larger[c->n_buckets++];
    return k->bucket && !b->bucket ? NULL : b;
}

static int by_count(const void *a, const void *b)
{
    const struct bucket_count *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return strcmp(x->first ? x->first : "", y->first ? y->first : "");
}

static int count_buckets(struct failures *f, struct why *w)
{
    struct campaign *c = f->c;
    for (size_t i = 0; i < f->n; i++) {
        const struct kind *k = &f->kind[f->failure[i].kind];
        struct bucket_count *b = find_count(c, k);
        if (!b)
            return why_no_memory(w);
        TRY(take_case(c, k, b, w));
        b->n++;
        b->n_not_shrunk += !k->structure;
    }
    if (c->n_buckets)
        qsort(c->bucket, c->n_buckets, sizeof *c->bucket, by_count);
    return 0;
}

int shrink_failures(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w)
{
    struct failures f = { .c = c };
    if (c->options->no_shrink || c->options->in_process || !c->results || *stop)
        return 0;
    int failed = results_each_failure(c->results, take_failure, &f, w);
    if (!failed)
        failed = shrink_kinds(&f, stop, w);
    screen_clear();
    if (!failed)
        failed = find_buckets(&f, w);
    if (!failed)
        failed = record_buckets(&f, w);
    if (!failed)
        failed = count_buckets(&f, w);
    failures_done(&f);
    return failed;
}
