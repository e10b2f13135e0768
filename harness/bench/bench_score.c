#include "harness/bench/bench_score.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- differences */

/* Elements as stored: integers as such. */
static double stored(const struct tensor *t, size_t i)
{
    const struct codec *codec = dtype_info[t->dtype].codec;
    double x;

    codec->widen((const uint8_t *) t->data + i * codec->size, 1, 0, 1, &x);
    return x;
}

/* Two NaN are equal, one is infinitely wrong. */
static double apart(double a, double e)
{
    if (isnan(a) || isnan(e))
        return isnan(a) && isnan(e) ? 0 : INFINITY;
    return a == e ? 0 : fabs(a - e);
}

static void add_difference(const struct tensor *a, const struct tensor *e,
                           struct bench_difference *d)
{
    const size_t n = tensor_count(a);
    double squares = 0;

    if (memcmp(a->data, e->data, tensor_bytes(a)) == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const double x = apart(stored(a, i), stored(e, i));
        squares += x * x;
        d->most = fmax(d->most, x);
    }
    d->squares += squares / (double) n;
}

/* ---- top k */

static uint32_t rank_of(const struct tensor *t, size_t true_class)
{
    const size_t n = tensor_count(t);
    const double of_true = true_class < n ? stored(t, true_class) : NAN;
    uint32_t rank = 1;

    if (isnan(of_true))
        return (uint32_t) n + 1;
    for (size_t i = 0; i < n; i++) {
        const double x = stored(t, i);
        rank += x > of_true || (x == of_true && i < true_class);
    }
    return rank;
}

/* ---- speech: 4 frames of 40 amplitudes, 7 aperiodicities, log F0 and voicing */

enum { FRAMES = 4, FRAME = 49, AMPLITUDES = 40, LOG_F0 = 47, VOICING = 48 };

void bench_speech_score(const float *a, const float *golden, uint32_t n, const double *mean_std,
                        double *ret_mel_cep, double *ret_log_f0)
{
    double cep = 0, f0 = 0;
    uint64_t n_voiced = 0;

    for (uint32_t i = 0; i < n * FRAMES; i++) {
        const double *of = mean_std + (size_t) (i % FRAMES) * FRAME * 2;
        double x[FRAME], e[FRAME];
        for (size_t k = 0; k < FRAME; k++) {
            x[k] = (double) a[(size_t) i * FRAME + k] * of[2 * k + 1] + of[2 * k];
            e[k] = (double) golden[(size_t) i * FRAME + k] * of[2 * k + 1] + of[2 * k];
        }
        for (size_t k = 1; k < AMPLITUDES; k++)
            cep += (x[k] - e[k]) * (x[k] - e[k]);
        if (x[VOICING] > 0 && e[VOICING] > 0) {
            f0 += (x[LOG_F0] - e[LOG_F0]) * (x[LOG_F0] - e[LOG_F0]);
            n_voiced++;
        }
    }
    *ret_mel_cep = sqrt(cep / ((double) n * FRAMES * (AMPLITUDES - 1)));
    *ret_log_f0 = n_voiced ? sqrt(f0 / (double) n_voiced) : 0;
}

/* ---- phones */

/* The first largest element. */
static int32_t phone_of(const struct tensor *t)
{
    const size_t n = tensor_count(t);
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (stored(t, i) > stored(t, best))
            best = i;
    return (int32_t) best;
}

double bench_phone_errors(const int32_t *a, const int32_t *golden, uint32_t n)
{
    uint32_t *row = malloc(((size_t) n + 1) * sizeof(*row));

    if (!row)
        return -1;
    for (uint32_t k = 0; k <= n; k++)
        row[k] = k;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = row[0];
        row[0] = i + 1;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t least = before + (a[i] != golden[k]);
            before = row[k + 1];
            least = before + 1 < least ? before + 1 : least;
            row[k + 1] = row[k] + 1 < least ? row[k] + 1 : least;
        }
    }
    const double percent = n ? 100.0 * row[n] / n : 0;
    free(row);
    return percent;
}

/* ---- detections */

double bench_overlap(const double a[4], const double b[4])
{
    const double height = fmin(a[2], b[2]) - fmax(a[0], b[0]);
    const double width = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    const double both = height > 0 && width > 0 ? height * width : 0;
    const double sum = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);

    return both > 0 ? both / (sum - both) : 0;
}

/* Outputs as of TensorFlow Lite's detection models: boxes [1,N,4], classes [1,N], scores [1,N], and
 * how many of the N are valid. */
static int take_boxes(const struct tensor *t, struct arena *a, struct bench_score *s)
{
    const size_t room = tensor_count(&t[1]);
    const double count = tensor_at(&t[3], 0);
    const size_t n = count > 0 ? (size_t) fmin(count, (double) room) : 0;

    s->found = (struct bench_boxes){ (uint32_t) n, arena_alloc(a, n, sizeof(struct bench_box)) };
    s->sure = arena_alloc(a, n, sizeof(double));
    if (!s->found.box || !s->sure)
        return -1;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 4; k++)
            s->found.box[i].side[k] = tensor_at(&t[0], 4 * i + k);
        s->found.box[i].class = (int32_t) rint(tensor_at(&t[1], i));
        s->sure[i] = tensor_at(&t[2], i);
    }
    return 0;
}

static int check_detections(const struct bench_model *m, struct why *w)
{
    const struct tensor *t[4];

    REQUIRE(w, m->n_results == 4,
            "MeanAveragePrecision needs a model with 4 outputs: boxes [1,N,4], classes [1,N], "
            "scores [1,N] and their number; it has %u",
            m->n_results);
    for (uint32_t k = 0; k < 4; k++)
        t[k] = &m->out[m->results[k]];
    const size_t n = tensor_count(t[1]);
    REQUIRE(w, tensor_count(t[0]) == 4 * n && tensor_count(t[2]) == n && tensor_count(t[3]) == 1,
            "MeanAveragePrecision needs outputs of 4 N, N, N and 1 elements; they have %zu, %zu, "
            "%zu and %zu",
            tensor_count(t[0]), n, tensor_count(t[2]), tensor_count(t[3]));
    return 0;
}

/* ---- a sequence */

struct scoring {
    struct bench_driver *driver;
    const struct bench_data *data;
    const struct bench_scores *reference;
    struct bench_scores *scores;
    bool keep;
    atomic_uint next;
    atomic_bool stop;
    pthread_mutex_t lock; /* of what follows, and the scores' arena */
    struct bench_end end;
    struct why why;
    bool failed;
};

static size_t results_bytes(const struct bench_model *m)
{
    size_t bytes = 0;

    for (uint32_t k = 0; k < m->n_results; k++)
        bytes += tensor_bytes(&m->out[m->results[k]]);
    return bytes;
}

/* The results of an inference as tensors, which lie one after the other at `at`. */
static void results_at(const struct bench_model *m, const uint8_t *at, struct tensor *ret)
{
    for (uint32_t k = 0; k < m->n_results; k++) {
        ret[k] = m->out[m->results[k]];
        ret[k].data = (void *) (uintptr_t) at;
        at += tensor_bytes(&ret[k]);
    }
}

static void compare(const struct scoring *g, uint32_t i, const struct bench_sequence *q,
                    const uint8_t *all, struct tensor *t, struct tensor *e, struct bench_score *s)
{
    const struct bench_model *m = g->data->model;
    const size_t bytes = results_bytes(m);

    for (uint32_t j = 0; j < q->n; j++) {
        results_at(m, all + j * bytes, t);
        for (uint32_t k = 0; q->golden && k < m->n_results; k++) {
            e[k] = t[k];
            e[k].data = (void *) (uintptr_t) (q->golden[k] + j * tensor_bytes(&t[k]));
            add_difference(&t[k], &e[k], &s->golden);
        }
        if (!g->reference || !g->reference->output)
            continue;
        results_at(m, g->reference->output[i] + j * bytes, e);
        for (uint32_t k = 0; k < m->n_results; k++)
            add_difference(&t[k], &e[k], &s->reference);
    }
}

static int evaluate_phones(const struct bench_model *m, const struct bench_sequence *q,
                           const uint8_t *all, struct arena *a, struct tensor *t,
                           struct bench_score *s)
{
    int32_t *said = arena_alloc(a, q->n, sizeof(*said)),
            *right = arena_alloc(a, q->n, sizeof(*right));
    const size_t bytes = results_bytes(m);

    if (!said || !right)
        return -1;
    for (uint32_t j = 0; j < q->n; j++) {
        results_at(m, all + j * bytes, t);
        said[j] = phone_of(&t[0]);
        t[0].data = (void *) (uintptr_t) (q->golden[0] + j * tensor_bytes(&t[0]));
        right[j] = phone_of(&t[0]);
    }
    s->phone_errors = bench_phone_errors(said, right, q->n);
    return s->phone_errors < 0 ? -1 : 0;
}

static int evaluate(struct scoring *g, const struct bench_sequence *q, const uint8_t *all,
                    struct arena *a, struct tensor *t, struct bench_score *s)
{
    const struct bench_data *d = g->data;
    int failed = 0;

    results_at(d->model, all, t);
    switch (d->entry->evaluator) {
    case EVALUATE_TOPK: s->rank = rank_of(&t[0], (size_t) d->class[q->index]); break;
    case EVALUATE_SPEECH:
        bench_speech_score((const float *) (const void *) all,
                           (const float *) (const void *) q->golden[0], q->n, d->mean_std,
                           &s->mel_cep, &s->log_f0);
        break;
    case EVALUATE_PHONES: failed = evaluate_phones(d->model, q, all, a, t, s); break;
    case EVALUATE_DETECTION:
        pthread_mutex_lock(&g->lock);
        failed = take_boxes(t, g->scores->arena, s);
        pthread_mutex_unlock(&g->lock);
        break;
    default: break;
    }
    return failed;
}

static int keep_outputs(struct scoring *g, uint32_t i, const uint8_t *all, size_t bytes)
{
    pthread_mutex_lock(&g->lock);
    g->scores->output[i] = arena_copy(g->scores->arena, all, bytes);
    pthread_mutex_unlock(&g->lock);
    return g->scores->output[i] ? 0 : -1;
}

/* Runs the inferences of a sequence.  Their results go to `all`, one after the other. */
static bool run(struct scoring *g, struct bench_slot *slot, const struct bench_sequence *q,
                uint8_t *all, struct bench_end *e)
{
    const struct bench_model *m = g->data->model;
    uint64_t ns[BENCH_CLOCKS];

    for (uint32_t j = 0; j < q->n; j++) {
        bench_slot_put(slot, q, j);
        if (!bench_slot_execute(slot, BENCH_SYNCHRONOUS, ns, e))
            return false;
        for (uint32_t k = 0; k < m->n_results; k++) {
            const size_t bytes = tensor_bytes(&m->out[m->results[k]]);
            memcpy(all, slot->out[m->results[k]], bytes);
            all += bytes;
        }
    }
    return true;
}

static bool score_one(struct scoring *g, struct bench_slot *slot, uint32_t i, struct arena *a,
                      struct bench_end *e, struct why *w)
{
    const struct bench_model *m = g->data->model;
    struct bench_score *s = &g->scores->score[i];
    struct bench_sequence q;

    if (bench_data_get(g->data, i, a, &q, w) < 0)
        return false;
    const size_t bytes = results_bytes(m) * q.n;
    uint8_t *all = arena_alloc_raw(a, bytes, 1);
    struct tensor *t = arena_alloc(a, m->n_results, sizeof(*t));
    struct tensor *expected = arena_alloc(a, m->n_results, sizeof(*expected));
    if (!all || !t || !expected) {
        why_no_memory(w);
        return false;
    }
    if (!run(g, slot, &q, all, e))
        return false;
    compare(g, i, &q, all, t, expected, s);
    if (evaluate(g, &q, all, a, t, s) < 0 || (g->keep && keep_outputs(g, i, all, bytes) < 0)) {
        why_no_memory(w);
        return false;
    }
    s->n = q.n;
    return true;
}

static void *score_some(void *user)
{
    struct scoring *g = user;
    struct arena *a = arena_new(0);
    struct bench_end end = { .verdict = VERDICT_PASS };
    struct why why;
    struct bench_slot slot;
    bool ok = a ? bench_slot_init(&slot, g->driver, &why) == 0 : why_no_memory(&why) > 0;
    const bool has_slot = ok;

    while (ok && !atomic_load(&g->stop)) {
        const uint32_t i = atomic_fetch_add(&g->next, 1);
        if (i >= g->data->n_used)
            break;
        arena_empty(a, (size_t) 64 << 20);
        ok = score_one(g, &slot, i, a, &end, &why);
    }
    if (!ok) {
        atomic_store(&g->stop, true);
        pthread_mutex_lock(&g->lock);
        if (end.verdict != VERDICT_PASS && g->end.verdict == VERDICT_PASS)
            g->end = end;
        if (end.verdict == VERDICT_PASS && !g->failed) {
            g->failed = true;
            g->why = why;
        }
        pthread_mutex_unlock(&g->lock);
    }
    if (has_slot)
        bench_slot_done(&slot);
    arena_free(a);
    return NULL;
}

/* The calling thread is one of them; a thread that cannot be created is done without. */
static void score_all(struct scoring *g, unsigned jobs)
{
    enum { MOST_THREADS = 64 };
    pthread_t thread[MOST_THREADS];
    unsigned n = 0;

    while (n + 1 < jobs && n + 1 < g->data->n_used && n < MOST_THREADS &&
           pthread_create(&thread[n], NULL, score_some, g) == 0)
        n++;
    score_some(g);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

int bench_scores_make(struct bench_driver *d, const struct bench_data *data,
                      const struct bench_scores *reference, bool keep, unsigned jobs,
                      struct bench_scores *ret_scores, struct bench_end *ret_end, struct why *w)
{
    struct bench_scores s = { .data = data };

    if (data->entry->evaluator == EVALUATE_DETECTION)
        TRY(check_detections(data->model, w));
    s.arena = arena_new(0);
    if (s.arena) {
        s.score = arena_alloc(s.arena, data->n_used, sizeof(*s.score));
        s.output = keep ? arena_alloc(s.arena, data->n_used, sizeof(*s.output)) : NULL;
    }
    if (!s.score || (keep && !s.output)) {
        arena_free(s.arena);
        return why_no_memory(w);
    }
    struct scoring g = { .driver = d,
                         .data = data,
                         .reference = reference,
                         .scores = &s,
                         .keep = keep,
                         .end = { .verdict = VERDICT_PASS } };
    pthread_mutex_init(&g.lock, NULL);
    score_all(&g, jobs);
    pthread_mutex_destroy(&g.lock);
    if (g.failed) {
        *w = g.why;
        arena_free(s.arena);
        return -1;
    }
    for (uint32_t i = 0; i < data->n_used; i++)
        s.n_inferences += s.score[i].n;
    *ret_end = g.end;
    *ret_scores = s;
    return 0;
}

void bench_scores_done(struct bench_scores *s)
{
    arena_free(s->arena);
    *s = (struct bench_scores){ 0 };
}
