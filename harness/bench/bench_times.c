#include "harness/bench/bench_times.h"

#include <math.h>
#include <stdlib.h>

#include "golden/base/array.h"
#include "reports/bench_change.h"

const char *const bench_what_name[BENCH_WHATS] = {
    [BENCH_SYNCHRONOUS] = "synchronous",
    [BENCH_BURST] = "burst",
    [BENCH_COMPILE] = "compile",
    [BENCH_COMPILE_SAVE] = "save to cache",
    [BENCH_COMPILE_LOAD] = "prepare from cache",
};
const char *const bench_clock_name[BENCH_CLOCKS] = { "wall", "device", "driver" };

int bench_durations_add(struct bench_durations *d, uint64_t ns, struct why *w)
{
    uint64_t *larger = array_room(d->ns, d->n, sizeof *larger);
    if (!larger)
        return why_no_memory(w);
    d->ns = larger;
    d->ns[d->n++] = ns;
    return 0;
}

void bench_durations_done(struct bench_durations *d)
{
    free(d->ns);
    *d = (struct bench_durations){ 0 };
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

static double percentile(const struct bench_durations *d, size_t p)
{
    return (double) d->ns[(p * d->n + 99) / 100 - 1];
}

static double median(const uint64_t *sorted, size_t n)
{
    return ((double) sorted[(n - 1) / 2] + (double) sorted[n / 2]) / 2;
}

/* Sorts each part. */
static void add_parts(struct bench_durations *d, struct bench_times *t)
{
    const size_t parts = d->n < BENCH_PARTS ? d->n : BENCH_PARTS;

    for (size_t i = 0; i < parts; i++) {
        const size_t first = i * d->n / parts, n = (i + 1) * d->n / parts - first;
        qsort(d->ns + first, n, sizeof(*d->ns), by_value);
        const double m = median(d->ns + first, n);
        t->low = i ? fmin(t->low, m) : m;
        t->high = i ? fmax(t->high, m) : m;
    }
    t->parts = (int64_t) parts;
}

struct bench_times bench_times_of(struct bench_durations *d)
{
    struct bench_times t = { .n = d->n };
    double squares = 0;

    if (!d->n)
        return t;
    add_parts(d, &t);
    qsort(d->ns, d->n, sizeof(*d->ns), by_value);
    for (size_t i = 0; i < d->n; i++)
        t.total += (double) d->ns[i];
    t.mean = t.total / (double) d->n;
    for (size_t i = 0; i < d->n; i++)
        squares += ((double) d->ns[i] - t.mean) * ((double) d->ns[i] - t.mean);
    t.deviation = sqrt(squares / (double) d->n);
    t.median = median(d->ns, d->n);
    t.p90 = percentile(d, 90);
    t.p99 = percentile(d, 99);
    t.least = t.start = (double) d->ns[0];
    t.most = (double) d->ns[d->n - 1];
    t.step = (t.most - t.least) / (BENCH_BUCKETS - 1);
    for (size_t i = 0; i < d->n; i++)
        t.bucket[t.step > 0 ? (size_t) (((double) d->ns[i] - t.start) / t.step) : 0]++;
    return t;
}
