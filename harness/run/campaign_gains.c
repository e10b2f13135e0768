/* Results that are too large or too small by a common factor, each within its bound: counted over
 * the random graphs of a run, by operation and type of the output (golden/judge/gain.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden/base/array.h"
#include "harness/run/campaign_internal.h"

enum { ANY_OPERATION = -1 };

struct gain_count {
    uint32_t target;
    int32_t code, dtype;
    struct gain_sum sum;
    /* The most telling cases: the largest sample, too large and too small. */
    struct {
        double excess;
        uint64_t ordinal;
    } most[2];
};

static struct gain_count *find_count(struct campaign *c, uint32_t target, int32_t code,
                                     int32_t dtype)
{
    for (uint32_t i = 0; i < c->n_gains; i++) {
        struct gain_count *g = &c->gain[i];
        if (g->target == target && g->code == code && g->dtype == dtype)
            return g;
    }
    struct gain_count *gain = array_room(c->gain, c->n_gains, sizeof *gain);
    if (!gain)
        return NULL;
    c->gain = gain;
    gain[c->n_gains] = (struct gain_count){ .target = target, .code = code, .dtype = dtype };
    return &gain[c->n_gains++];
}

/* Of equal samples the case with the smaller number: the order of the cases does not matter. */
static void keep_most(struct gain_count *g, int side, double excess, uint64_t ordinal)
{
    bool first = g->sum.n == 1;

    if (first || excess > g->most[side].excess ||
        (excess >= g->most[side].excess && ordinal < g->most[side].ordinal)) {
        g->most[side].excess = excess;
        g->most[side].ordinal = ordinal;
    }
}

static int add_gain(struct campaign *c, uint64_t ordinal, uint32_t target, int32_t code,
                    const struct check_gain *from, struct why *w)
{
    struct gain_count *g = find_count(c, target, code, from->dtype);
    double t = from->sample.product / sqrt(from->sample.square);

    if (!g)
        return why_no_memory(w);
    gain_add(&g->sum, &from->sample);
    keep_most(g, 0, t, ordinal);
    keep_most(g, 1, -t, ordinal);
    return 0;
}

int campaign_add_gains(struct campaign *c, uint64_t ordinal, uint32_t target,
                       const struct check_result *r, struct why *w)
{
    if (!cases_are_random(c->cases)) /* those of files are often variants of one another */
        return 0;
    for (uint32_t i = 0; i < r->n_gains; i++) {
        if (!gain_is_measured(&r->gain[i].sample))
            continue;
        TRY(add_gain(c, ordinal, target, r->gain[i].code, &r->gain[i], w));
        TRY(add_gain(c, ordinal, target, ANY_OPERATION, &r->gain[i], w));
    }
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct gain_count *p = a, *q = b;

    if (p->target != q->target)
        return p->target < q->target ? -1 : 1;
    if (p->code != q->code)
        return p->code < q->code ? -1 : 1;
    return (p->dtype > q->dtype) - (p->dtype < q->dtype);
}

static int note_gain(struct campaign *c, const struct gain_count *g, struct why *w)
{
    const struct dtype_info *d = dtype_find(g->dtype);
    bool floats = d && !d->codec->integer;
    int verdict = gain_verdict(&g->sum, floats);
    struct buffer text = { 0 };
    char name[48];

    if (!verdict)
        return 0;
    buffer_printf(&text,
                  "%s, %s: results are %.2g %% too %s on average of %" PRIu64
                  " results, each within its bound (allowed: %.2g %%); most in: ",
                  g->code < 0 ? "sums of products" : operation_name(g->code, name),
                  d ? d->name : "?", 100 * fabs(gain_of(&g->sum)), verdict > 0 ? "large" : "small",
                  g->sum.n, 100 * GAIN_ALLOWED);
    campaign_put_replay(c, g->most[verdict < 0].ordinal, g->target, &text);
    int failed = campaign_keep_note(c, g->target, buffer_text(&text), w);
    buffer_done(&text);
    return failed;
}

int campaign_note_gains(struct campaign *c, struct why *w)
{
    if (c->n_gains)
        qsort(c->gain, c->n_gains, sizeof *c->gain, by_key);
    for (uint32_t i = 0; i < c->n_gains; i++)
        TRY(note_gain(c, &c->gain[i], w));
    return 0;
}
