/* Which scores are combined how, and what is too bad:
 *
 *    published limits  top_1: 5 points below the published expectation, on the whole data set;
 *                      mel-cepstral distortion 4, log F0 0.01, phone error rate 5 %
 *    the reference     top_1: fewer images are right, and by more than chance explains (sign test
 * on the images that only one of both gets right, p < 0.001); mean average precision: 1 point
 * worse; others: the public page's steps */
#include "harness/bench/bench_metrics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED_LOSS 0.05
#define CHANCE        0.001
#define MOST_MEL_CEP  4.0
#define MOST_LOG_F0   0.01
#define MOST_PHONES   5.0

static struct bench_metric *add(struct bench_result *r, const char *key, bool more_is_better,
                                double value)
{
    struct bench_metric *m = &r->metric[r->n_metrics++];

    *m = (struct bench_metric){ .key = key,
                                .more_is_better = more_is_better,
                                .value = value,
                                .reference = NAN,
                                .expected = NAN,
                                .limit = NAN };
    return m;
}

__attribute__((format(printf, 2, 3))) static void worse(struct bench_metric *m, const char *fmt,
                                                        ...)
{
    va_list args;

    if (m->why[0])
        return;
    va_start(args, fmt);
    vsnprintf(m->why, sizeof m->why, fmt, args);
    va_end(args);
}

/* The published limit. */
static void check_limit(struct bench_metric *m, double limit)
{
    m->limit = limit;
    if (m->more_is_better ? !(m->value >= limit) : !(m->value <= limit))
        worse(m, "%s is %.6g, %s than the published limit %.6g", m->key, m->value,
              m->more_is_better ? "less" : "more", limit);
}

/* step: how much worse than the reference is too much. */
static void check_reference(struct bench_metric *m, double reference, double step)
{
    const double loss = m->more_is_better ? reference - m->value : m->value - reference;

    m->reference = reference;
    if (!(loss < step))
        worse(m, "%s is %.6g, that of the reference %.6g; it may be %g worse", m->key, m->value,
              reference, step);
}

/* ---- differences of outputs */

static void put_differences(const struct bench_scores *s, const struct bench_scores *reference,
                            struct bench_result *r)
{
    struct bench_difference golden = { 0, 0 }, other = { 0, 0 };
    const double n = (double) s->n_inferences;

    for (uint32_t i = 0; i < s->data->n_used; i++) {
        golden.squares += s->score[i].golden.squares;
        golden.most = fmax(golden.most, s->score[i].golden.most);
        other.squares += s->score[i].reference.squares;
        other.most = fmax(other.most, s->score[i].reference.most);
    }
    if (s->data->entry->n_golden) {
        add(r, "mean_square_error", false, golden.squares / n);
        add(r, "max_single_error", false, golden.most);
    }
    if (reference && reference->output) {
        add(r, "reference_mean_square_error", false, other.squares / n);
        add(r, "reference_max_single_error", false, other.most);
    }
}

/* ---- top k */

double bench_sign_test(uint32_t worse_ones, uint32_t better)
{
    const double n = (double) worse_ones + better;
    double p = 0;

    for (double k = worse_ones; k <= n; k++)
        p += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
    return fmin(p, 1);
}

static uint32_t right_among(const struct bench_scores *s, uint32_t k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->data->n_used; i++)
        n += s->score[i].rank >= 1 && s->score[i].rank <= k;
    return n;
}

static void check_by_signs(const struct bench_scores *s, const struct bench_scores *reference,
                           struct bench_metric *m)
{
    uint32_t lost = 0, won = 0;

    for (uint32_t i = 0; i < s->data->n_used; i++) {
        const bool is_right = s->score[i].rank == 1, was_right = reference->score[i].rank == 1;
        lost += was_right && !is_right;
        won += is_right && !was_right;
    }
    const double p = bench_sign_test(lost, won);
    if (lost > won && p < CHANCE)
        worse(m,
              "%s is %.4f, that of the reference %.4f: %u images that it gets right are wrong, "
              "%u the other way round (p = %.2g, at least %g is allowed)",
              m->key, m->value, m->reference, lost, won, p, CHANCE);
}

static void put_top(const struct bench_scores *s, const struct bench_scores *reference,
                    struct bench_result *r)
{
    static const char *const key[BENCH_TOP] = { "top_1", "top_2", "top_3", "top_4", "top_5" };
    const struct bench_data *d = s->data;

    for (uint32_t k = 1; k <= BENCH_TOP; k++) {
        struct bench_metric *m = add(r, key[k - 1], true, right_among(s, k) / (double) d->n_used);
        if (reference)
            m->reference = right_among(reference, k) / (double) d->n_used;
        if (k > 1)
            continue;
        if (d->entry->expected_top1 > 0) {
            m->expected = d->entry->expected_top1;
            if (d->n_used == d->n)
                check_limit(m, m->expected - EXPECTED_LOSS);
        }
        if (reference)
            check_by_signs(s, reference, m);
    }
}

/* ---- speech, phones */

/* The largest of all sequences. */
static double most(const struct bench_scores *s, size_t member)
{
    double largest = 0;

    for (uint32_t i = 0; i < s->data->n_used; i++) {
        const double x = *(const double *) (const void *) ((const char *) &s->score[i] + member);
        largest = isnan(x) || isnan(largest) ? NAN : fmax(largest, x);
    }
    return largest;
}

/* step: by which the public page calls a result worse than that of the CPU. */
static void put_most(const struct bench_scores *s, const struct bench_scores *reference,
                     const char *key, size_t member, double limit, double step,
                     struct bench_result *r)
{
    struct bench_metric *m = add(r, key, false, most(s, member));

    check_limit(m, limit);
    if (reference)
        check_reference(m, most(reference, member), step);
}

/* ---- detections */

struct found {
    double sure;
    uint32_t image, box;
};

static int surest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->sure != y->sure)
        return x->sure > y->sure ? -1 : 1;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* The true box that a detection matches best, among those that are free; -1: none. */
static int64_t match(const struct bench_boxes *truth, const bool *taken,
                     const struct bench_box *found, double iou)
{
    int64_t best = -1;
    double most_overlap = iou;

    for (uint32_t k = 0; k < truth->n; k++) {
        const double overlap = bench_overlap(truth->box[k].side, found->side);
        if (truth->box[k].class != found->class || taken[k] || overlap < most_overlap)
            continue;
        if (best >= 0 && !(overlap > most_overlap))
            continue;
        best = k;
        most_overlap = overlap;
    }
    return best;
}

/* Area under the envelope: at each recall the best precision at this or a greater one. */
static double area(const bool *is_right, uint32_t n, uint32_t n_true)
{
    double sum = 0, best = 0;
    uint32_t right = 0;

    for (uint32_t i = 0; i < n; i++)
        right += is_right[i];
    for (uint32_t i = n; i-- > 0;) {
        best = fmax(best, right / (i + 1.0));
        if (is_right[i]) {
            sum += best;
            right--;
        }
    }
    return sum / n_true;
}

static double precision_of(int32_t class, const struct bench_boxes *truth,
                           const struct bench_score *score, const struct found *found,
                           uint32_t n_found, bool **taken, bool *is_right, double iou,
                           uint32_t n_true)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_found; i++) {
        const struct bench_box *box = &score[found[i].image].found.box[found[i].box];
        if (box->class != class)
            continue;
        const uint32_t image = found[i].image;
        const int64_t k = match(&truth[image], taken[image], box, iou);
        is_right[n++] = k >= 0;
        if (k >= 0)
            taken[image][k] = true;
    }
    return area(is_right, n, n_true);
}

static int by_class(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
    return (x > y) - (x < y);
}

int bench_mean_precision(const struct bench_boxes *truth, const struct bench_score *score,
                         uint32_t n, double iou, double *ret, struct why *w)
{
    struct arena *a = arena_new(0);
    uint32_t n_found = 0, n_true = 0, n_classes = 0;

    if (!a)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        n_found += score[i].found.n;
        n_true += truth[i].n;
    }
    struct found *found = arena_alloc(a, n_found, sizeof(*found));
    int32_t *class = arena_alloc(a, n_true, sizeof(*class));
    bool **taken = arena_alloc(a, n, sizeof(*taken)), *is_right = arena_alloc(a, n_found, 1);
    bool *taken_boxes = arena_alloc(a, n_true, 1);
    if (!found || !class || !taken || !is_right || !taken_boxes) {
        arena_free(a);
        return why_no_memory(w);
    }
    n_found = n_true = 0;
    for (uint32_t i = 0; i < n; i++) {
        taken[i] = taken_boxes + n_true;
        for (uint32_t k = 0; k < score[i].found.n; k++)
            found[n_found++] = (struct found){ score[i].sure[k], i, k };
        for (uint32_t k = 0; k < truth[i].n; k++)
            class[n_true++] = truth[i].box[k].class;
    }
    qsort(found, n_found, sizeof(*found), surest_first);
    qsort(class, n_true, sizeof(*class), by_class);
    double sum = 0;
    for (uint32_t i = 0, k; i < n_true; i = k) {
        for (k = i + 1; k < n_true && class[k] == class[i];)
            k++;
        sum += precision_of(class[i], truth, score, found, n_found, taken, is_right, iou, k - i);
        n_classes++;
    }
    *ret = n_classes ? sum / n_classes : NAN;
    arena_free(a);
    return 0;
}

static int mean_precision(const struct bench_scores *s, double *ret, struct why *w)
{
    const struct bench_data *d = s->data;
    struct bench_boxes *truth = arena_alloc(s->arena, d->n_used, sizeof(*truth));

    if (!truth)
        return why_no_memory(w);
    for (uint32_t i = 0; i < d->n_used; i++)
        truth[i] = d->boxes[(uint64_t) i * d->n / d->n_used];
    return bench_mean_precision(truth, s->score, d->n_used, d->entry->iou, ret, w);
}

static int put_precision(const struct bench_scores *s, const struct bench_scores *reference,
                         struct bench_result *r, struct why *w)
{
    double value, of_reference;

    TRY(mean_precision(s, &value, w));
    struct bench_metric *m = add(r, "mean_average_precision", true, value);
    if (!reference)
        return 0;
    TRY(mean_precision(reference, &of_reference, w));
    if (!isnan(of_reference))
        check_reference(m, of_reference, 0.01);
    return 0;
}

int bench_metrics_make(const struct bench_scores *s, const struct bench_scores *reference,
                       struct bench_result *ret_result, struct why *w)
{
    struct bench_result *r = ret_result;

    r->n_metrics = 0;
    switch (s->data->entry->evaluator) {
    case EVALUATE_TOPK: put_top(s, reference, r); break;
    case EVALUATE_SPEECH:
        put_most(s, reference, "max_mel_cep_distortion", offsetof(struct bench_score, mel_cep),
                 MOST_MEL_CEP, 1, r);
        put_most(s, reference, "max_log_f0_error", offsetof(struct bench_score, log_f0),
                 MOST_LOG_F0, 1, r);
        break;
    case EVALUATE_PHONES:
        put_most(s, reference, "max_phone_error_rate", offsetof(struct bench_score, phone_errors),
                 MOST_PHONES, 1, r);
        break;
    case EVALUATE_DETECTION: TRY(put_precision(s, reference, r, w)); break;
    default: break;
    }
    put_differences(s, reference, r);
    return 0;
}
